//! The arguments of `qipu review`.

use super::globals::Invocation;
use crate::request::{Command, ReviewRequest};

/// The most entries without a budget and a given limit.
const DEFAULT_LIMIT: usize = 20;

/// The least characters of an entry in any format, by which a budget bounds the number of entries.
const MIN_ENTRY_CHARS: usize = 40;

/// Returns the request of the command.
pub(super) fn command(given: ReviewRequest, invocation: &Invocation<'_>) -> Command {
    let by_budget = invocation.budget.most_chars().map(|chars| chars / MIN_ENTRY_CHARS + 1);
    let limit = given.limit.or(by_budget).or(Some(DEFAULT_LIMIT));
    Command::Review(ReviewRequest { limit, ..given })
}
