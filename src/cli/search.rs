//! The arguments of `qipu search` and `qipu related`.

use clap::Args;

use super::globals::Invocation;
use super::list::FilterArgs;
use crate::error::Error;
use crate::request::{Command, RelatedRequest, SearchRequest};

/// The most notes that are found without a budget and a given limit.
const DEFAULT_LIMIT: usize = 10;

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Words; also "a phrase", prefix*, tag:TAG, type:TYPE, title:WORD
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    only: FilterArgs,
    #[command(flatten)]
    search: SearchRequest,
}

impl SearchArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let (query, filters) = (self.words.join(" "), self.only.into_filters(invocation.location.today)?);
        Ok(Command::Search(SearchRequest {
            query,
            filters,
            limit: limit(self.search.limit, invocation),
            ..self.search
        }))
    }
}

/// Returns the request for the notes that are similar to one.
pub(super) fn related(given: RelatedRequest, invocation: &Invocation<'_>) -> Command {
    Command::Related(RelatedRequest { limit: limit(given.limit, invocation), ..given })
}

/// Returns the most notes that are shown.
fn limit(given: Option<usize>, invocation: &Invocation<'_>) -> Option<usize> {
    given.or(invocation.budget.max_entries()).or(Some(DEFAULT_LIMIT))
}
