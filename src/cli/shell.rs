//! The words of `qipu completions` and `qipu man`: texts for the shell and for `man`, made of the command
//! line itself.

use clap::{Args, CommandFactory};
use clap_complete::env::Shells;

use super::Cli;
use crate::error::{Error, ErrorKind};

/// The variable by which a shell asks for completions. Its value is the shell's name.
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
}

/// Returns the command line as clap knows it.
pub fn command() -> clap::Command {
    Cli::command()
}

impl CompletionsArgs {
    /// Returns what the shell runs once to complete from then on.
    pub(super) fn text(&self) -> Result<String, Error> {
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell).ok_or_else(|| Error::usage("there is no such shell"))?;
        let mut text = Vec::new();
        shell.write_registration(COMPLETE, "qipu", "qipu", "qipu", &mut text)?;
        String::from_utf8(text).map_err(|error| Error::new(ErrorKind::Failure, error.to_string()))
    }
}

impl ManArgs {
    /// Returns a page, in the form that `man` reads.
    pub(super) fn text(&self) -> Result<String, Error> {
        let mut root = Cli::command();
        root.build();
        let mut command = &root;
        for word in &self.command {
            let unknown = || {
                Error::usage(format!("there is no command `{}`", self.command.join(" ")))
                    .hint("`qipu --help` lists the commands")
            };
            command = command.find_subcommand(word).filter(|found| !found.is_hide_set()).ok_or_else(unknown)?;
        }
        let name = command.get_display_name().unwrap_or("qipu").to_owned();
        let mut page = Vec::new();
        // The date of a page would be that of the call.
        let version = format!("qipu {}", env!("CARGO_PKG_VERSION"));
        let man = clap_mangen::Man::new(command.clone()).title(name).source(version).manual("qipu").date("");
        man.render(&mut page)?;
        String::from_utf8(page).map_err(|error| Error::new(ErrorKind::Failure, error.to_string()))
    }
}
