//! The arguments of `qipu search`.

use clap::Args;

use super::globals::Invocation;
use super::note_filters::FilterArgs;
use super::values::share;
use crate::error::Error;
use crate::request::{Command, ReadCommand, RelatedRequest, Score, SearchRequest};

/// The most notes that are found without a budget and a given limit.
const DEFAULT_LIMIT: usize = 10;

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Words; also "a phrase" and prefix*
    #[arg(required_unless_present = "like", value_name = "WORDS")]
    words: Vec<String>,
    /// Notes that are similar to this one but not linked to it
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["words", "without", "min_relevance", "explain", "no_compaction"]
    )]
    like: Option<String>,
    #[command(flatten)]
    only: FilterArgs,
    /// Only notes without this word or phrase (repeatable)
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    without: Vec<String>,
    /// Only notes with at least this relevance, 0 to 1
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = share)]
    min_relevance: Option<Score>,
    /// Show how scores were computed
    #[arg(long)]
    explain: bool,
    /// Ignore digests: show the notes that they replace
    #[arg(long)]
    no_compaction: bool,
}

impl SearchArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let Self { words, like, only, without, min_relevance, explain: explains, no_compaction } = self;
        let limit = only.limit().or(invocation.budget.max_entries()).or(Some(DEFAULT_LIMIT));
        let filters = only.into_filters(invocation.location.today)?;
        if let Some(id) = like {
            return Ok(Command::Read(ReadCommand::Related(RelatedRequest { id, filters, limit })));
        }
        let (query, is_question) = (words.join(" "), false);
        let search =
            SearchRequest { query, is_question, without, filters, limit, min_relevance, explains, no_compaction };
        Ok(Command::Read(ReadCommand::Search(search)))
    }
}
