//! The arguments of `qipu import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::examples::examples;
use crate::request::{ImportFrom, ImportRequest};

#[derive(Debug, Subcommand)]
pub(super) enum ImportSub {
    /// Import the pages and journals of a Logseq graph
    #[command(after_help = examples(&["qipu import logseq ../graph", "qipu import logseq ../graph --dry-run"]))]
    Logseq(ImportArgs),
    /// Import the notes of an Obsidian vault
    #[command(after_help = examples(&[
        "qipu import obsidian ../vault",
        "qipu import obsidian ../vault --name notes --dry-run",
    ]))]
    Obsidian(ImportArgs),
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The folder of the graph or vault
    dir: PathBuf,
    /// The name of the folder in the imported notes (default: its own name)
    #[arg(long)]
    name: Option<String>,
    /// Import a folder that contains this store, even if it has no .obsidian folder
    #[arg(long)]
    force: bool,
}

impl ImportSub {
    pub(super) fn into_request(self, is_dry_run: bool) -> ImportRequest {
        let (from, args) = match self {
            Self::Logseq(args) => (ImportFrom::Logseq, args),
            Self::Obsidian(args) => (ImportFrom::Obsidian, args),
        };
        let name = args.name.filter(|name| !name.is_empty());
        ImportRequest { from, dir: args.dir, name, is_forced: args.force, is_dry_run }
    }
}
