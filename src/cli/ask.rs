//! The arguments of `qipu ask`.

use clap::Args;

use super::globals::Invocation;
use super::note_filters::FilterArgs;
use super::values::share;
use crate::env::Today;
use crate::error::Error;
use crate::request::{
    AssessmentOptions, Budget, Command, ContextRequest, Filters, Format, QuestionOptions, ReadCommand, Score, Selectors,
};

/// The most characters of an answer without a given budget.
pub(super) const MAX_CHARS: usize = 4000;

#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question, in words that the answer would use (identifiers, error text, synonyms)
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// Only passages from this note (repeatable)
    #[arg(long, value_name = "ID", help_heading = "Only these notes")]
    note: Vec<String>,
    #[command(flatten)]
    only: FilterArgs,
    /// Only notes with at least this relevance, 0 to 1
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = share)]
    min_relevance: Option<Score>,
    /// Leave out what an answer of N characters shows (the next page)
    #[arg(long, value_name = "N")]
    after: Option<usize>,
    /// Treat the question as plain words: no note names, dates or intents
    #[arg(long, help_heading = "The question")]
    plain: bool,
}

impl AskArgs {
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        let words = self.words.join(" ");
        if words.trim().is_empty() {
            return Err(Error::usage("the question is empty"));
        }
        let mut request = passages(invocation, words, self.note);
        let today = invocation.location.today;
        let max_notes = self.only.limit();
        let filters = self.only.into_filters(today)?;
        let asking = Some(question(self.plain, self.min_relevance, &filters, true, today));
        request.after = self.after;
        request.selection = Selectors { max_notes, filters, asking, ..request.selection };
        Ok(Command::Read(ReadCommand::Context(request)))
    }
}

/// Returns how a question is understood. The day is looked up only if a text may name days.
pub(super) fn question(
    is_plain: bool,
    min_relevance: Option<Score>,
    filters: &Filters,
    has_text: bool,
    today: Today,
) -> QuestionOptions {
    let Filters { since, until, .. } = *filters;
    let today = if has_text { today.day() } else { jiff::civil::Date::default() };
    QuestionOptions { is_plain, today, since, until, min_relevance, ..QuestionOptions::default() }
}

/// Returns the request for the passages of `notes`, or of all notes if there are none, that answer a question. Sets the
/// default budget if none is given.
pub(super) fn passages(invocation: &mut Invocation<'_>, question: String, notes: Vec<String>) -> ContextRequest {
    if !invocation.budget.is_limited() {
        invocation.budget = Budget { max_chars: Some(MAX_CHARS), ..invocation.budget };
    }
    let within_notes = !notes.is_empty();
    ContextRequest {
        selection: Selectors { query: Some(question), notes, within_notes, ..Selectors::default() },
        with_body: Some(true),
        room: invocation.budget.room(),
        shows_passages: true,
        has_pages: true,
        assessment: (invocation.format == Format::Prompt).then(AssessmentOptions::default),
        ..ContextRequest::default()
    }
}
