//! The arguments of `qipu review`.

use clap::Args;

use super::globals::Invocation;
use super::note_filters::FilterArgs;
use crate::error::Error;
use crate::request::{Command, ReadCommand, ReviewRequest};

/// The most entries without a budget and a given limit.
const DEFAULT_LIMIT: usize = 20;

#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    #[command(flatten)]
    review: ReviewRequest,
    #[command(flatten)]
    only: FilterArgs,
}

impl ReviewArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let limit = self.only.limit().or(invocation.budget.max_entries()).or(Some(DEFAULT_LIMIT));
        let filters = self.only.into_filters(invocation.location.today)?;
        Ok(Command::Read(ReadCommand::Review(ReviewRequest {
            filters,
            limit,
            is_dry_run: invocation.is_dry_run,
            ..self.review
        })))
    }
}
