//! The words of `qipu prime`.

use clap::Args;

use crate::request::{Budget, Prime};
use crate::store::Location;

/// The most characters of a primer for which nobody names a limit.
const DEFAULT_MAX_CHARS: usize = 8_000;

#[derive(Debug, Args)]
pub(super) struct PrimeArgs {
    /// For session-start hooks: say nothing, and fail at nothing, where there is no store
    #[arg(long, value_name = "TOOL", num_args = 0..=1)]
    hook: Option<Option<String>>,
    /// Begin with the warning that notes are reference material
    #[arg(long, overrides_with = "no_banner")]
    banner: bool,
    /// Leave the warning out
    #[arg(long)]
    no_banner: bool,
    /// Show notes although a digest stands for them
    #[arg(long)]
    no_compaction: bool,
}

impl PrimeArgs {
    /// Returns the budget, which a primer always has.
    pub(super) fn default_budget(&self, budget: Budget) -> Budget {
        match budget {
            Budget { max_chars: None, max_tokens: None } => {
                Budget { max_chars: Some(DEFAULT_MAX_CHARS), max_tokens: None }
            }
            given => given,
        }
    }

    pub(super) fn into_request(self, location: Location) -> Prime {
        Prime {
            location,
            banner: super::context::choice(self.banner, self.no_banner),
            is_hook: self.hook.is_some(),
            no_compaction: self.no_compaction,
        }
    }
}
