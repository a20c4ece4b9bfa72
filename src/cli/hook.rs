//! The arguments of `qipu hook`.

use std::path::PathBuf;

use clap::Args;

use super::globals::Invocation;
use crate::error::Error;
use crate::request::{Command, HookRequest, HookTool, Program, ShownInSession};

#[derive(Debug, Args)]
pub(super) struct HookArgs {
    /// The agent tool
    #[arg(value_name = "TOOL")]
    tool: HookTool,
    /// The event, in the tool's own spelling
    #[arg(value_name = "EVENT")]
    event: String,
    /// Record what the session was shown in this file (default: one file per session in the user's cache folder)
    #[arg(long, value_name = "FILE")]
    seen: Option<PathBuf>,
    /// Keep no record, so notes may be shown again in the session
    #[arg(long, conflicts_with = "seen")]
    no_seen: bool,
}

impl HookArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let env = invocation.env;
        let input = env.stdin.read_json(env.waits.input);
        let in_file = self.seen.map_or(ShownInSession::InCache, ShownInSession::In);
        let shown = if self.no_seen { ShownInSession::Nowhere } else { in_file };
        let budget = invocation.budget;
        Ok(Command::Run(Program::Hook(HookRequest { tool: self.tool, event: self.event, input, budget, shown })))
    }
}
