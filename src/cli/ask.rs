//! The words of `qipu ask`, and of `qipu show ID --query`: both are a `context` that shows passages.

use clap::Args;
use jiff::civil::Date;

use super::context::QuestionArgs;
use super::search::word;
use crate::error::Error;
use crate::request::{Budget, ContextRequest, Format, NeedOptions, Selectors};
use crate::store::Location;

/// The most characters of an answer where nobody names a number.
const MAX_CHARS: usize = 4000;

#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question, in words that the answer would use (identifiers, error text, synonyms)
    #[arg(required = true, value_name = "WORDS", value_parser = word)]
    words: Vec<String>,
    /// Only passages of this note (repeatable)
    #[arg(long, value_name = "ID")]
    note: Vec<String>,
    #[command(flatten)]
    question: QuestionArgs,
}

/// Returns the budget of an answer: the usual one where none is given.
pub(super) fn budget(given: Budget) -> Budget {
    if given.is_limited() { given } else { Budget { max_chars: Some(MAX_CHARS), ..given } }
}

impl AskArgs {
    pub(super) fn into_request(
        self,
        location: Location,
        format: Format,
        budget: Budget,
        today: &dyn Fn() -> Date,
    ) -> Result<ContextRequest, Error> {
        let question = self.words.join(" ");
        if question.trim().is_empty() {
            return Err(Error::usage("there is nothing to ask: the words are empty"));
        }
        let mut context = passages(location, question, self.note, format, budget);
        context.selection.asking = Some(self.question.into_asking(true, today)?);
        Ok(context)
    }
}

/// Returns the request for the passages that answer a question, of some notes or of all.
pub(super) fn passages(
    location: Location,
    question: String,
    notes: Vec<String>,
    format: Format,
    budget: Budget,
) -> ContextRequest {
    let within_notes = !notes.is_empty();
    ContextRequest {
        location,
        selection: Selectors { query: Some(question), notes, within_notes, ..Selectors::default() },
        with_body: Some(true),
        passages_within: budget.most_chars(),
        need: (format == Format::Prompt).then(NeedOptions::passages),
        max_candidates: budget.max_candidates(),
        ..ContextRequest::default()
    }
}
