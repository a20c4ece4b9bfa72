//! The arguments of `qipu import`.

use clap::Subcommand;

use super::examples::examples;
use super::globals::Invocation;
use crate::request::{ImportFrom, ImportRequest};

#[derive(Debug, Subcommand)]
pub(super) enum ImportSub {
    /// Import the pages and journals of a Logseq graph
    #[command(after_help = examples!("qipu import logseq ../graph", "qipu import logseq ../graph --dry-run"))]
    Logseq(ImportRequest),
    /// Import the notes of an Obsidian vault
    #[command(after_help = examples!(
        "qipu import obsidian ../vault",
        "qipu import obsidian ../vault --name notes --dry-run",
    ))]
    Obsidian(ImportRequest),
    /// Import a bundle of Open Knowledge Format (OKF)
    #[command(after_help = examples!("qipu import okf ../bundle", "qipu import okf ../bundle --dry-run"))]
    Okf(ImportRequest),
}

impl ImportSub {
    pub(super) fn into_request(self, invocation: &Invocation<'_>) -> ImportRequest {
        let (from, given) = match self {
            Self::Logseq(given) => (ImportFrom::Logseq, given),
            Self::Obsidian(given) => (ImportFrom::Obsidian, given),
            Self::Okf(given) => (ImportFrom::Okf, given),
        };
        let name = given.name.filter(|name| !name.is_empty());
        let Invocation { is_dry_run, is_secret_allowed, .. } = *invocation;
        ImportRequest { from, name, is_dry_run, is_secret_allowed, ..given }
    }
}
