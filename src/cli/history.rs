//! The arguments of `qipu history` and `qipu diff`.

use clap::Args;

use super::days::{commit_before, commit_name};
use super::globals::Invocation;
use crate::request::{Command, DiffRequest, HistoryRequest, count};

/// The most versions without a budget and a given limit.
const DEFAULT_LIMIT: usize = 20;
/// The least characters of an entry in any format, by which a budget bounds the number of entries.
const MIN_ENTRY_CHARS: usize = 30;

/// The arguments of `qipu diff`.
#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// The earlier commit: a revision of git, or a date (the last commit until its end; until the beginning of several days)
    #[arg(value_name = "REV1")]
    from: String,
    /// The later commit (default: the files as they are)
    #[arg(value_name = "REV2")]
    to: Option<String>,
    /// Maximum number of notes
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    limit: Option<usize>,
}

impl DiffArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Command {
        let today = invocation.location.today;
        let to = self.to.as_deref().map(|text| commit_name(text, today));
        let from = commit_before(&self.from, today);
        Command::Diff(DiffRequest { from, to, limit: self.limit })
    }
}

/// Returns the request of `qipu history`.
pub(super) fn command(given: HistoryRequest, invocation: &Invocation<'_>) -> Command {
    let by_budget = invocation.budget.most_chars().map(|chars| chars / MIN_ENTRY_CHARS + 1);
    let limit = given.limit.or(by_budget).or(Some(DEFAULT_LIMIT));
    Command::History(HistoryRequest { limit, ..given })
}
