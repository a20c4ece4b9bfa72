//! The arguments of `qipu journal`.

use clap::Args;

use super::days::day;
use super::globals::Invocation;
use super::values::text_or_stdin;
use crate::error::Error;
use crate::request::{Action, Command, ReadCommand};

#[derive(Debug, Args)]
pub(super) struct JournalArgs {
    /// The text to add as a list item; `-` reads it from standard input (default: show the journal)
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// A day other than today: 2025-03-05, yesterday, last Wednesday
    #[arg(long, value_name = "DAY")]
    date: Option<String>,
}

impl JournalArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let today = invocation.day();
        let day = self.date.map_or(Ok(today), |text| day("--date", &text, today))?;
        Ok(match text_or_stdin(self.text, invocation.env)? {
            None => Command::Read(ReadCommand::Journal(day)),
            Some(text) => invocation.change(Action::Journal { day, text }),
        })
    }
}
