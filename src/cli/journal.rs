//! The words of `qipu journal`.

use clap::Args;
use jiff::civil::Date;

use super::days::day;
use crate::env::Env;
use crate::error::Error;
use crate::request::{Action, JournalRequest};
use crate::store::Location;

#[derive(Debug, Args)]
pub(super) struct JournalArgs {
    /// A bullet to add; `-` reads it from standard input. Without it the journal is shown
    #[arg(value_name = "TEXT", value_parser = super::search::word)]
    text: Option<String>,
    /// Another day than today: 2025-03-05, yesterday, last Wednesday
    #[arg(long, value_name = "DAY")]
    date: Option<String>,
}

/// What the words ask for.
pub(super) enum ParsedJournal {
    View(JournalRequest),
    Action(Action),
}

impl JournalArgs {
    pub(super) fn into_request(self, location: Location, today: Date, env: &Env) -> Result<ParsedJournal, Error> {
        let day = self.date.map_or(Ok(today), |text| day("--date", &text, today))?;
        match super::change::text(self.text, env)? {
            None => Ok(ParsedJournal::View(JournalRequest { location, day })),
            Some(text) => Ok(ParsedJournal::Action(Action::Journal { day, text })),
        }
    }
}
