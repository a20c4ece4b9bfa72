//! The arguments of `qipu completions` and `qipu man`, and the texts that are generated from the command line itself.

use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Args, CommandFactory};
use clap_complete::env::Shells;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::Cli;
use super::command_properties::with_applicable_flags;
use crate::error::{Error, ErrorKind};
use crate::request::ManPagesRequest;

/// The variable with which a shell asks for completions. Its value is the name of the shell.
pub const COMPLETE: &str = "QIPU_COMPLETE";

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish", "elvish", "powershell"])]
    shell: String,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The command, as in `qipu man link tree`; without it, the page of qipu
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write all pages to a folder, one file each
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// Returns the command line as clap knows it; each command hides the flags that do not apply to it.
pub fn command() -> clap::Command {
    with_applicable_flags(Cli::command())
}

impl CompletionsArgs {
    /// Returns the script that the shell runs once to complete from then on.
    pub(super) fn text(&self) -> Result<String, Error> {
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell).ok_or_else(|| Error::usage("unknown shell"))?;
        let mut text = Vec::new();
        shell.write_registration(COMPLETE, "qipu", "qipu", "qipu", &mut text)?;
        String::from_utf8(text).map_err(|error| Error::new(ErrorKind::Failure, error.to_string()))
    }
}

impl ManArgs {
    /// Returns a page in the format of `man` (roff); `None` if all pages are written to a folder.
    pub(super) fn text(&self) -> Option<Result<String, Error>> {
        self.dir.is_none().then(|| page(self.named()?))
    }

    /// Returns the request to write all pages.
    pub(super) fn into_request(self, is_dry_run: bool) -> Result<ManPagesRequest, Error> {
        let mut pages = Vec::new();
        add_pages(root(), &mut pages)?;
        Ok(ManPagesRequest { dir: self.dir.unwrap_or_default(), pages, is_dry_run })
    }

    /// Finds the named command, with or without the program's name before it.
    fn named(&self) -> Result<clap::Command, Error> {
        let words = self.command.strip_prefix(&["qipu".to_owned()]).unwrap_or(&self.command);
        let unknown =
            || Error::usage(format!("unknown command `{}`", words.join(" "))).hint("`qipu --help` lists the commands");
        words.iter().try_fold(root(), |command, word| {
            let found = command.find_subcommand(word).filter(|found| !found.is_hide_set());
            found.cloned().ok_or_else(unknown)
        })
    }
}

/// Returns the command line without the `help` commands, which pages leave out.
fn root() -> clap::Command {
    fn without_help(command: clap::Command) -> clap::Command {
        command.disable_help_subcommand(true).mut_subcommands(without_help)
    }
    with_applicable_flags(without_help(Cli::command()))
}

/// Adds the pages of a command and of its subcommands.
fn add_pages(command: clap::Command, pages: &mut Vec<(String, String)>) -> Result<(), Error> {
    let below: Vec<_> = command.get_subcommands().filter(|below| !below.is_hide_set()).cloned().collect();
    pages.push((format!("{}.1", name(&command)), page(command)?));
    below.into_iter().try_for_each(|command| add_pages(command, pages))
}

/// Returns the name of a command's page, such as `qipu-link-tree`.
fn name(command: &clap::Command) -> String {
    command.get_display_name().unwrap_or("qipu").to_owned()
}

/// Returns the page of a command. It has no date, which would be that of the call.
fn page(command: clap::Command) -> Result<String, Error> {
    let version = format!("qipu {}", env!("CARGO_PKG_VERSION"));
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let is_root = command.get_version().is_some();
    let man = Man::new(command.clone().after_help(Resettable::Reset)).title(name(&command));
    let man = man.source(version).manual("qipu").date("");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    examples(&help).to_writer(&mut page)?;
    if is_root {
        man.render_version_section(&mut page)?;
    }
    String::from_utf8(page).map_err(|error| Error::new(ErrorKind::Failure, error.to_string()))
}

/// Returns the section of examples, with the text below a command's help: prose is filled, examples keep their lines.
fn examples(help: &str) -> Roff {
    let lines = help.lines().filter(|line| !matches!(*line, "Examples:" | "Common tasks:"));
    let mut section = Roff::new();
    section.control("SH", ["EXAMPLES"]);
    let mut is_filled = true;
    for line in lines {
        let is_prose = !line.is_empty() && !line.starts_with(' ');
        if is_prose != is_filled {
            section.control(if is_prose { "fi" } else { "nf" }, []);
            is_filled = is_prose;
        }
        section.text([roman(line)]);
    }
    section.control("fi", []);
    section
}
