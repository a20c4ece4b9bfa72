//! The arguments of `qipu import`.

use clap::{Args, Subcommand};

use super::examples::examples;
use super::globals::Invocation;
use super::pack::LoadArgs;
use crate::error::Error;
use crate::request::{Command, ImportFrom, ImportRequest, WriteCommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct ImportArgs {
    #[command(subcommand)]
    folder: Option<ImportSub>,
    #[command(flatten)]
    pack: Option<LoadArgs>,
}

impl ImportArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        match (self.folder, self.pack) {
            (Some(folder), _) => Ok(Command::Write(WriteCommand::Import(folder.into_request(invocation)))),
            (None, Some(pack)) => pack.into_command(invocation),
            (None, None) => Err(Error::usage("`qipu import` needs a pack")),
        }
    }
}

#[derive(Debug, Subcommand)]
enum ImportSub {
    /// Import the pages and journals of a Logseq graph
    #[command(after_help = examples!("qipu import logseq ../graph", "qipu import logseq ../graph --dry-run"))]
    Logseq(ImportRequest),
    /// Import the notes of an Obsidian vault
    #[command(after_help = examples!(
        "qipu import obsidian ../vault",
        "qipu import obsidian ../vault --name notes --dry-run",
    ))]
    Obsidian(ImportRequest),
}

impl ImportSub {
    fn into_request(self, invocation: &Invocation<'_>) -> ImportRequest {
        let (from, given) = match self {
            Self::Logseq(given) => (ImportFrom::Logseq, given),
            Self::Obsidian(given) => (ImportFrom::Obsidian, given),
        };
        let name = given.name.filter(|name| !name.is_empty());
        let Invocation { is_dry_run, is_secret_allowed, .. } = *invocation;
        ImportRequest { from, name, is_dry_run, is_secret_allowed, ..given }
    }
}
