//! The arguments of `qipu prime`.

use clap::Args;

use super::context::choice;
use super::globals::Invocation;
use crate::request::{Budget, Command, PrimeRequest, ReadCommand};

/// The most characters of a primer without a given budget.
const DEFAULT_MAX_CHARS: usize = 8_000;

#[derive(Debug, Args)]
pub(super) struct PrimeArgs {
    /// Begin with the warning that notes are reference material
    #[arg(long, overrides_with = "no_banner")]
    banner: bool,
    /// Omit the warning
    #[arg(long)]
    no_banner: bool,
}

impl PrimeArgs {
    /// Returns the request, and sets the budget, which a primer always has.
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Command {
        let budget = invocation.budget;
        if !budget.is_limited() {
            invocation.budget = Budget { max_chars: Some(DEFAULT_MAX_CHARS), ..budget };
        }
        Command::Read(ReadCommand::Prime(PrimeRequest {
            banner: choice(self.banner, self.no_banner),
            ..PrimeRequest::default()
        }))
    }
}
