//! The arguments of `qipu ask`, and the request for passages that `qipu show ID --query` makes too.

use clap::Args;

use super::context::QuestionArgs;
use super::globals::Invocation;
use crate::error::Error;
use crate::request::{AssessmentOptions, Budget, Command, ContextRequest, Format, Selectors};

/// The most characters of an answer without a given budget.
const MAX_CHARS: usize = 4000;

#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question, in words that the answer would use (identifiers, error text, synonyms)
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// Only passages from this note (repeatable)
    #[arg(long, value_name = "ID")]
    note: Vec<String>,
    #[command(flatten)]
    question: QuestionArgs,
}

impl AskArgs {
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        let question = self.words.join(" ");
        if question.trim().is_empty() {
            return Err(Error::usage("the question is empty"));
        }
        let mut request = passages(invocation, question, self.note);
        request.selection.asking = Some(self.question.into_options(true, invocation.location.today)?);
        Ok(Command::Context(request))
    }
}

/// Returns the request for the passages of `notes`, or of all notes if there are none, that answer a question. Sets the
/// default budget if none is given.
pub(super) fn passages(invocation: &mut Invocation<'_>, question: String, notes: Vec<String>) -> ContextRequest {
    if !invocation.budget.is_limited() {
        invocation.budget = Budget { max_chars: Some(MAX_CHARS), ..invocation.budget };
    }
    let budget = invocation.budget;
    let within_notes = !notes.is_empty();
    ContextRequest {
        selection: Selectors { query: Some(question), notes, within_notes, ..Selectors::default() },
        with_body: Some(true),
        passages_within: budget.most_chars(),
        has_brief_heads: true,
        assessment: (invocation.format == Format::Prompt).then(AssessmentOptions::default),
        max_candidates: budget.max_candidates(),
        max_entries: budget.max_entries(),
        ..ContextRequest::default()
    }
}
