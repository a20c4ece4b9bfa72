//! The arguments of `qipu prime`.

use clap::Args;

use super::context::choice;
use super::globals::Invocation;
use crate::error::Error;
use crate::report::HookEnvelope;
use crate::request::{Budget, Command, Format, PrimeRequest};

/// The most characters of a primer without a given budget.
const DEFAULT_MAX_CHARS: usize = 8_000;

/// The most characters of a hook's answer: tools cut one that is longer than 10,000.
const MAX_HOOK_CHARS: usize = 9_500;

/// The tools that read the answer of a hook as JSON.
const HOOK_TOOLS: [&str; 3] = ["claude", "codex", "gemini"];

/// The largest edit distance of a name from that of a tool that is suggested.
const MAX_DISTANCE: usize = 2;

#[derive(Debug, Args)]
pub(super) struct PrimeArgs {
    /// For session-start hooks: never fail, and print nothing without a store; for claude, codex
    /// and gemini, print the JSON that they read
    #[arg(long, value_name = "TOOL", num_args = 0..=1)]
    hook: Option<Option<String>>,
    /// Begin with the warning that notes are reference material
    #[arg(long, overrides_with = "no_banner")]
    banner: bool,
    /// Omit the warning
    #[arg(long)]
    no_banner: bool,
    /// Ignore digests: show the notes that they replace
    #[arg(long)]
    no_compaction: bool,
}

impl PrimeArgs {
    /// Refuses, on a terminal, a misspelt name of a tool, since the answer would not be JSON. A hook has no terminal and
    /// must not fail.
    fn check(&self, is_terminal: bool) -> Result<(), Error> {
        let Some(Some(name)) = self.hook.as_ref().filter(|_| is_terminal) else { return Ok(()) };
        let near = HOOK_TOOLS.iter().find(|tool| *tool != name && strsim::osa_distance(tool, name) <= MAX_DISTANCE);
        near.map_or(Ok(()), |tool| {
            Err(Error::usage(format!("--hook: unknown tool `{name}`")).hint(format!("did you mean `{tool}`?")))
        })
    }

    /// Returns the request; sets the budget, which a primer always has, and the format of a tool's hook.
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        self.check(invocation.env.is_terminal)?;
        let budget = invocation.budget;
        if matches!(&self.hook, Some(Some(tool)) if HOOK_TOOLS.contains(&tool.as_str())) {
            invocation.format = Format::Hook(HookEnvelope::SESSION_START);
            let max_chars = budget.max_chars.map_or(MAX_HOOK_CHARS, |most| most.min(MAX_HOOK_CHARS));
            invocation.budget = Budget { max_chars: Some(max_chars), ..budget };
        } else if !budget.is_limited() {
            invocation.budget = Budget { max_chars: Some(DEFAULT_MAX_CHARS), ..budget };
        }
        Ok(Command::Prime(PrimeRequest {
            banner: choice(self.banner, self.no_banner),
            is_hook: self.hook.is_some(),
            no_compaction: self.no_compaction,
            is_brief: false,
        }))
    }
}
