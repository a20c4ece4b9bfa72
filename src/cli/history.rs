//! The arguments of `qipu history`.

use clap::Args;

use super::days::{commit_before, commit_name};
use super::globals::Invocation;
use crate::error::Error;
use crate::request::{Command, DiffRequest, HistoryRequest, ReadCommand, WriteCommand, count};

/// The most versions without a budget and a given limit.
const DEFAULT_LIMIT: usize = 20;
/// The least characters of an entry in any format, by which a budget bounds the number of entries.
const MIN_ENTRY_CHARS: usize = 30;
/// Since when notes are compared without `--since`.
const DEFAULT_SINCE: &str = "7 days ago";

/// The arguments of `qipu history`.
#[derive(Debug, Args)]
pub(super) struct HistoryArgs {
    /// The note: its id, title, alias or file (default: list the notes that changed)
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Changes since a day or period, or a commit (without ID, default: 7 days ago)
    #[arg(long, value_name = "DAY|REV")]
    since: Option<String>,
    /// Changes until the end of a day or period, or a commit (default: the files as they are now)
    #[arg(long, value_name = "DAY|REV")]
    until: Option<String>,
    /// Maximum number of results
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    limit: Option<usize>,
}

impl HistoryArgs {
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        let today = invocation.location.today;
        if self.until.is_some() && invocation.location.at.is_some() {
            return Err(Error::usage("--until and --at both name the last state: give one of them"));
        }
        let until = self.until.map(|text| commit_name(&text, today)).or(invocation.location.at.take());
        let since = self.since.map(|text| commit_before(&text, today));
        let Some(id) = self.id else {
            let from = since.unwrap_or_else(|| commit_before(DEFAULT_SINCE, today));
            return Ok(Command::Write(WriteCommand::Diff(DiffRequest { from, to: until, limit: self.limit })));
        };
        invocation.location.at = until;
        let by_budget = invocation.budget.most_chars().map(|chars| chars / MIN_ENTRY_CHARS + 1);
        let limit = self.limit.or(by_budget).or(Some(DEFAULT_LIMIT));
        Ok(Command::Read(ReadCommand::History(HistoryRequest { id, since, limit })))
    }
}
