//! The arguments of `qipu export pack` and `qipu import`, which are also `qipu dump` and `qipu load`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::globals::Invocation;
use super::selectors::SelectorArgs;
use super::values::file_or_stdin;
use crate::error::{Error, ErrorKind};
use crate::request::{Command, DumpRequest, Format, LoadRequest, Selectors, Strategy, WriteCommand};

#[derive(Debug, Args)]
pub(super) struct DumpArgs {
    /// The pack's file (default, and `-`: standard output)
    file: Option<PathBuf>,
    #[command(flatten)]
    selectors: SelectorArgs,
}

impl DumpArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let file = self.file.filter(|file| file != Path::new("-"));
        if file.is_none() && invocation.format != Format::Human {
            return Err(Error::usage("a pack has its own format").hint("name a file, or omit the format"));
        }
        let given = self.selectors.into_selectors(false, invocation.env, invocation.location.today)?;
        let is_partial = given.selects() || given.transitive || given.backlinks || given.max_notes.is_some();
        // A pack contains the notes themselves, not the digests in their place.
        let selectors = Selectors { no_compaction: true, ..given };
        let is_secret_allowed = invocation.is_secret_allowed;
        let selection = is_partial.then_some(selectors);
        Ok(Command::Write(WriteCommand::Dump(DumpRequest { selection, file, is_secret_allowed })))
    }
}

#[derive(Debug, Args)]
pub(super) struct LoadArgs {
    /// A pack, or a folder of Markdown; `-` for a pack on standard input
    #[arg(value_name = "FILE|DIR")]
    file: PathBuf,
    /// How to handle notes that both the store and the pack contain
    #[arg(long, value_name = "STRATEGY", default_value = "skip")]
    strategy: Strategy,
}

impl LoadArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let from = file_or_stdin(self.file, invocation.env, unreadable)?;
        let Invocation { is_dry_run, is_secret_allowed, .. } = *invocation;
        Ok(Command::Write(WriteCommand::Load(LoadRequest {
            from,
            strategy: self.strategy,
            is_dry_run,
            is_secret_allowed,
        })))
    }
}

/// Returns the error for a pack that can't be read. One that is not UTF-8 was altered, like one with a wrong checksum.
fn unreadable(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::InvalidData => {
            Error::new(ErrorKind::Store, "this pack can't be loaded: it is not UTF-8").hint("nothing was written")
        }
        _ => Error::usage(format!("can't read the pack from standard input: {error}")),
    }
}
