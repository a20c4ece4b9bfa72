//! The arguments of `qipu search` and `qipu related`.

use clap::Args;

use super::globals::Invocation;
use super::list::FilterArgs;
use crate::error::Error;
use crate::request::{Command, RelatedRequest, Score, SearchRequest, count, share};

/// The most notes that are found without a budget and a given limit.
const DEFAULT_LIMIT: usize = 10;

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Words; also "a phrase", -without, prefix*, tag:TAG, type:TYPE, title:WORD
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    only: FilterArgs,
    /// Maximum number of notes (default: 10; with a budget, as many as fit)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    limit: Option<usize>,
    /// Only notes with at least this relevance, 0 to 1
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = share)]
    min_relevance: Option<Score>,
    /// Show how the scores were computed
    #[arg(long)]
    explain: bool,
    /// Rank by words only, ignoring links and sequences
    #[arg(long)]
    no_graph: bool,
    /// Ignore digests: show the notes that they replace
    #[arg(long)]
    no_compaction: bool,
}

#[derive(Debug, Args)]
pub(super) struct RelatedArgs {
    /// The note
    id: String,
    /// Maximum number of notes (default: 10; with a budget, as many as fit)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    limit: Option<usize>,
}

/// Returns the most notes that are found; `None` leaves it to the budget.
fn limit(given: Option<usize>, invocation: &Invocation<'_>) -> Option<usize> {
    given.or((!invocation.budget.is_limited()).then_some(DEFAULT_LIMIT))
}

impl SearchArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        Ok(Command::Search(SearchRequest {
            query: self.words.join(" "),
            only: self.only.into_list(invocation.location.today)?,
            limit: limit(self.limit, invocation),
            min_relevance: self.min_relevance.unwrap_or_default(),
            explains: self.explain,
            no_graph: self.no_graph,
            no_compaction: self.no_compaction,
        }))
    }
}

impl RelatedArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Command {
        Command::Related(RelatedRequest { id: self.id, limit: limit(self.limit, invocation) })
    }
}
