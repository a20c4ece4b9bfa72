//! The arguments of `qipu export`: a word names what is written, a file where.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::examples::examples;
use super::globals::Invocation;
use super::pack::DumpArgs;
use super::selectors::SelectorArgs;
use crate::error::Error;
use crate::graph::Follow;
use crate::request::{Command, Format, OutputFile, PassagesRequest, Program, ReadCommand, Selectors};

/// The hint for a call without one of the words.
pub(super) const WORDS: &str = "`qipu export pack FILE` writes all notes for `qipu import`, `page FILE.html` a web page of \
                                notes and links, `links FILE.json` the same as JSON, `passages FILE` texts for a search engine; without FILE to standard output";

#[derive(Debug, Subcommand)]
pub(super) enum ExportSub {
    /// Write notes and attachments as a pack, one file for `qipu import`
    #[command(after_help = examples!("qipu export pack notes.pack", "qipu export pack --tag TAG"))]
    Pack(DumpArgs),
    /// Write notes and their links as a web page, one file that needs no network
    #[command(after_help = examples!(
        "qipu export page notes.html",
        "qipu export page notes.html --tag TAG",
        "qipu export page notes.html --note ID --max-hops 2",
    ))]
    Page(LinksArgs),
    /// Write notes and their links as JSON, for programs that draw or count them
    #[command(after_help = examples!(
        "qipu export links",
        "qipu export links links.json --via typed",
    ))]
    Links(LinksArgs),
    /// Write the passages of all notes for a search engine, one JSON object per line
    #[command(after_help = examples!(
        "qipu export passages",
        "qipu export passages --bulk notes",
        "qipu export passages ../changes.ndjson --since-index ../exported.state",
    ))]
    Passages(PassagesRequest),
}

#[derive(Debug, Args)]
pub(super) struct LinksArgs {
    /// The file to write (default, and `-`: standard output)
    file: Option<PathBuf>,
    #[command(flatten)]
    selectors: SelectorArgs,
    #[command(flatten)]
    follow: Follow,
    /// Ignore digests: show the notes that they replace
    #[arg(long)]
    no_compaction: bool,
}

impl ExportSub {
    pub(super) fn into_command(self, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        match self {
            Self::Pack(args) => args.into_command(invocation),
            Self::Page(args) => args.into_command(Format::Page, invocation),
            Self::Links(args) => args.into_command(Format::Json, invocation),
            Self::Passages(request) => passages(request, invocation),
        }
    }
}

impl LinksArgs {
    /// Returns the request, and sets the format to that of the export; the one that the user names is for the answer that
    /// tells of the file.
    fn into_command(self, format: Format, invocation: &mut Invocation<'_>) -> Result<Command, Error> {
        let file = named_file(self.file, Some(format), invocation)?;
        let saved = file.map(|file| OutputFile { file, confirmation_format: invocation.format });
        invocation.format = format;
        let (has_budget, today) = (invocation.budget.is_limited(), invocation.location.today);
        let selectors = self.selectors.into_selectors(has_budget, invocation.env, today)?;
        let selection = Selectors { no_compaction: self.no_compaction, follow: self.follow, ..selectors };
        Ok(Command::Read(ReadCommand::ExportLinks { selection, saved }))
    }
}

fn passages(request: PassagesRequest, invocation: &Invocation<'_>) -> Result<Command, Error> {
    let file = named_file(request.file, None, invocation)?;
    if request.state_file.as_deref() == Some(Path::new("-")) {
        return Err(Error::usage("--since-index needs a file that can be read and written again"));
    }
    Ok(Command::Run(Program::ExportPassages(PassagesRequest { file, ..request })))
}

/// Returns the file that is written; `None` for standard output, where no format can be named but that of the export.
fn named_file(
    file: Option<PathBuf>,
    own: Option<Format>,
    invocation: &Invocation<'_>,
) -> Result<Option<PathBuf>, Error> {
    let file = file.filter(|file| file != Path::new("-"));
    if file.is_none() && invocation.is_format_named && own != Some(invocation.format) {
        return Err(Error::usage("an export has its own format").hint("name a file, or omit the format"));
    }
    Ok(file)
}
