//! `qipu browse`: a full-screen browser for people. It stays open, makes the requests that the command
//! line makes, and hands them to the same commands.
//!
//! Keys change the model (`update`), the model is drawn (`view`); this file alone knows a terminal.

mod areas;
mod browser;
mod finder;
mod input;
mod keys;
mod store_client;
mod model;
mod page;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod update;
mod view;
mod watch;

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use ratatui::layout::Size;

use crate::commands;
use crate::env::{Env, moment};
use crate::error::Error;
use crate::note::NoteId;
use crate::report::{Entry, Report};
use crate::request::{BrowseRequest, Command, EditRequest};
use crate::store::Store;
use browser::{Browser, KeyOutcome};
use store_client::Library;
use theme::Theme;

/// How long the keys must rest before the links of a note are looked for.
const PAUSE: Duration = Duration::from_millis(40);

/// How often it is asked whether the store changed.
const TICK: Duration = Duration::from_millis(250);

/// Lets a person look around in a store, until they quit.
///
/// # Errors
/// `Usage` where there is no terminal; what keeps the store from being opened; what a terminal refuses.
pub(crate) fn run(request: &BrowseRequest, env: &Env) -> Result<(), Error> {
    if !env.is_terminal || !io::stdin().is_terminal() {
        return Err(Error::usage("`qipu browse` needs a terminal, for what it shows and for the keys")
            .hint("`qipu list` and `qipu search WORDS` print notes anywhere"));
    }
    let library = Library::open(&request.location, &env.current_dir)?;
    let theme = Theme { has_color: env.has_color };
    let mut browser = Browser::new(library, Size::default(), theme, &request.query)?;
    let news = watch::watch(request.location.clone(), env.current_dir.clone());
    // A panic restores the terminal too: that is what this sets up first.
    let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
    let ended = App { browser: &mut browser, request, env, terminal, news }.stay();
    let restored = ratatui::try_restore();
    ended?;
    Ok(restored?)
}

/// The browser on a terminal.
struct App<'a> {
    browser: &'a mut Browser,
    request: &'a BrowseRequest,
    env: &'a Env,
    terminal: DefaultTerminal,
    /// The store, whenever it changed.
    news: Receiver<Store>,
}

impl App<'_> {
    /// Takes keys until the user quits.
    fn stay(mut self) -> Result<(), Error> {
        self.draw()?;
        loop {
            let wait = if self.browser.owes_links() { PAUSE } else { TICK };
            if event::poll(wait)? {
                // All that wait, before anything is drawn: what is typed fast is drawn once.
                loop {
                    if let Event::Key(key) = event::read()? {
                        let outcome = self.browser.press(key);
                        if !self.carry_out(outcome)? {
                            return Ok(());
                        }
                    }
                    if !event::poll(Duration::ZERO)? {
                        break;
                    }
                }
            } else if self.browser.owes_links() {
                self.browser.look_for_links();
            } else if let Some(store) = self.news.try_iter().last() {
                self.browser.replace(store);
            } else {
                continue;
            }
            self.draw()?;
        }
    }

    fn draw(&mut self) -> Result<(), Error> {
        let model = &mut self.browser.model;
        self.terminal.draw(|frame| {
            model.size = frame.area().as_size();
            model.prepare();
            view::draw(model, frame);
        })?;
        Ok(())
    }

    /// Does what a key leaves to the terminal. Tells whether the browser stays open.
    fn carry_out(&mut self, outcome: KeyOutcome) -> Result<bool, Error> {
        match outcome {
            KeyOutcome::Stay => {}
            KeyOutcome::Quit => return Ok(false),
            KeyOutcome::Edit(id) => self.edit(&id)?,
            KeyOutcome::Suspend => self.suspend()?,
            KeyOutcome::Copy(id) => {
                copy(&mut io::stdout(), id.as_str())?;
                self.browser.say(&format!("copied {id}, if your terminal takes it (OSC 52)"));
            }
        }
        Ok(true)
    }

    /// Stops until the shell lets the browser go on.
    fn suspend(&mut self) -> Result<(), Error> {
        ratatui::try_restore()?;
        stop();
        self.take_terminal()
    }

    /// Takes the terminal again, whatever is on it now.
    fn take_terminal(&mut self) -> Result<(), Error> {
        self.terminal = ratatui::try_init()?;
        Ok(self.terminal.clear()?)
    }

    /// Lends the terminal to the user's editor, as `qipu edit` does, and reads the store again.
    fn edit(&mut self, id: &NoteId) -> Result<(), Error> {
        let now = self.request.today.clone().unwrap_or_else(second);
        let edit = Command::Edit(EditRequest { location: self.request.location.clone(), id: id.to_string(), now });
        ratatui::try_restore()?;
        let report = commands::run(&edit, self.env);
        self.take_terminal()?;
        let said = match report {
            Ok(report) => report.as_ref().map(told).unwrap_or_default(),
            Err(error) => [Some(error.message), error.hint].into_iter().flatten().collect::<Vec<_>>().join("; "),
        };
        match self.browser.reload() {
            Ok(()) => self.browser.say(&said),
            Err(error) => self.browser.say(&error.message),
        }
        Ok(())
    }
}

/// Stops this process and those that the shell started with it, as the terminal does for Ctrl-Z in a program that
/// doesn't read keys. Where no shell could let them go on, nothing stops.
fn stop() {
    #[cfg(unix)]
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
}

/// Returns this second, as it is written into notes.
fn second() -> String {
    let now = moment();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// Says in a line what was done to files.
fn told(report: &Report) -> String {
    let said = report.entries.iter().filter_map(|entry| match entry {
        Entry::Change(change) => Some(format!("{} {}", change.action, change.path)),
        Entry::Finding(finding) => Some(format!("{}: {}", finding.level(), finding.message)),
        _ => None,
    });
    said.collect::<Vec<_>>().join("; ")
}

/// Asks the terminal to put a text on the clipboard. Whether it does, it does not tell.
fn copy(terminal: &mut dyn Write, text: &str) -> io::Result<()> {
    write!(terminal, "\u{1b}]52;c;{}\u{7}", BASE64_STANDARD.encode(text))?;
    terminal.flush()
}
