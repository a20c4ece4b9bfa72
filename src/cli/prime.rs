//! The words of `qipu prime`.

use clap::Args;

use crate::error::Error;
use crate::request::{Budget, Format, PrimeRequest};
use crate::store::Location;

/// The most characters of a primer for which nobody names a limit.
const DEFAULT_MAX_CHARS: usize = 8_000;

/// The most characters that a hook answers with: tools cut what is longer than 10,000.
const MAX_HOOK_CHARS: usize = 9_500;

/// Tools that read the answer of a hook as JSON.
const HOOK_TOOLS: [&str; 3] = ["claude", "codex", "gemini"];

/// How many edits a name may be away from that of a tool that is suggested.
const MAX_SLIPS: usize = 2;

#[derive(Debug, Args)]
pub(super) struct PrimeArgs {
    /// For session-start hooks: fail at nothing, say nothing where there is no store; for claude,
    /// codex and gemini the answer is the JSON that they read
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
    /// Refuses, for a person at a terminal, a name that is nearly that of a tool: its answer would not be JSON. A hook
    /// has no terminal, and must not fail.
    pub(super) fn check(&self, is_terminal: bool) -> Result<(), Error> {
        let Some(Some(name)) = self.hook.as_ref().filter(|_| is_terminal) else { return Ok(()) };
        let near = HOOK_TOOLS.iter().find(|tool| *tool != name && strsim::osa_distance(tool, name) <= MAX_SLIPS);
        near.map_or(Ok(()), |tool| {
            Err(Error::usage(format!("--hook: there is no tool `{name}`")).hint(format!("did you mean `{tool}`?")))
        })
    }

    /// Returns the budget, which a primer always has.
    pub(super) fn default_budget(&self, budget: Budget) -> Budget {
        let budget = match budget {
            Budget { max_chars: None, max_tokens: None, .. } if !self.answers_hook() => {
                Budget { max_chars: Some(DEFAULT_MAX_CHARS), ..budget }
            }
            given => given,
        };
        let most = budget.max_chars.map_or(MAX_HOOK_CHARS, |most| most.min(MAX_HOOK_CHARS));
        if self.answers_hook() { Budget { max_chars: Some(most), ..budget } } else { budget }
    }

    /// Returns the format: that of a tool's hooks, where one is named.
    pub(super) fn format(&self, given: Format) -> Format {
        if self.answers_hook() { Format::Hook } else { given }
    }

    fn answers_hook(&self) -> bool {
        matches!(&self.hook, Some(Some(tool)) if HOOK_TOOLS.contains(&tool.as_str()))
    }

    pub(super) fn into_request(self, location: Location) -> PrimeRequest {
        PrimeRequest {
            location,
            banner: super::context::choice(self.banner, self.no_banner),
            is_hook: self.hook.is_some(),
            no_compaction: self.no_compaction,
        }
    }
}
