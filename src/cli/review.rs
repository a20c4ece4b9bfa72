//! The arguments of `qipu review`.

use super::globals::Invocation;
use crate::request::{Command, ReviewRequest};

/// The most entries without a budget and a given limit.
const DEFAULT_LIMIT: usize = 20;

/// Returns the request of the command.
pub(super) fn command(given: ReviewRequest, invocation: &Invocation<'_>) -> Command {
    let limit = given.limit.or(invocation.budget.max_entries()).or(Some(DEFAULT_LIMIT));
    Command::Review(ReviewRequest { limit, is_dry_run: invocation.is_dry_run, ..given })
}
