//! The arguments of `qipu search`.

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
    #[arg(required_unless_present = "like", value_name = "WORDS")]
    words: Vec<String>,
    /// Notes that are similar to this one and not linked with it
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["words", "without", "min_relevance", "explains", "no_graph", "no_compaction"]
    )]
    like: Option<String>,
    #[command(flatten)]
    only: FilterArgs,
    #[command(flatten)]
    search: SearchRequest,
}

impl SearchArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let (query, filters) = (self.words.join(" "), self.only.into_filters(invocation.location.today)?);
        let limit = self.search.limit.or(invocation.budget.max_entries()).or(Some(DEFAULT_LIMIT));
        Ok(match self.like {
            Some(id) => Command::Related(RelatedRequest { id, filters, limit }),
            None => Command::Search(SearchRequest { query, filters, limit, ..self.search }),
        })
    }
}
