//! `qipu browse`: a full-screen browser for people, which makes the requests of the command line.
//!
//! `update` applies keys to the model, `view` draws the model; only this file uses the terminal.

mod areas;
mod browser;
mod finder;
mod input;
mod key_help;
mod model;
mod page;
mod store_client;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod update;
mod view;
mod watch;
mod worklist;

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use ratatui::layout::Size;

use crate::commands;
use crate::env::{self, Env, WaitPolicy, parse_name};
use crate::error::Error;
use crate::note::NoteId;
use crate::report::{Entry, Report};
use crate::store::{Location, Store, git};
use browser::Browser;
use store_client::StoreClient;
use theme::Theme;
use update::Effect;
use worklist::Decision;

/// The pause without a key after which the links of a note are loaded.
const LINKS_DELAY: Duration = Duration::from_millis(40);

/// The interval between two checks for a reopened store.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// How long a decision waits for the lock on the store.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Runs the browser, with an initial query, until the user quits. Notes that are edited get the date `today`, else the
/// current second.
///
/// # Errors
/// `Usage` without a terminal; the errors of [`Store::open`]; I/O errors of the terminal.
pub(crate) fn run(query: &str, today: Option<&str>, location: &Location, env: &Env) -> Result<(), Error> {
    if !env.is_terminal || !io::stdin().is_terminal() {
        return Err(Error::usage("`qipu browse` needs a terminal as its standard input and output")
            .hint("`qipu list` and `qipu search WORDS` print notes anywhere"));
    }
    let location = &Location { is_only_call: false, ..location.clone() };
    let client = StoreClient::open(location, &env.current_dir)?;
    let theme = Theme { has_color: env.has_color };
    let mut browser = Browser::new(client, Size::default(), theme, query)?;
    let reopened_stores = watch::watch(location.clone(), env.current_dir.clone());
    // `try_init` first installs a hook that restores the terminal on a panic.
    let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
    let result = App { browser: &mut browser, today, location, env, terminal, reopened_stores }.run();
    let restored = ratatui::try_restore();
    result?;
    Ok(restored?)
}

struct App<'a> {
    browser: &'a mut Browser,
    today: Option<&'a str>,
    location: &'a Location,
    env: &'a Env,
    terminal: DefaultTerminal,
    /// Receives the store, reopened, after each change on disk.
    reopened_stores: Receiver<Store>,
}

impl App<'_> {
    /// Handles events until the user quits.
    fn run(mut self) -> Result<(), Error> {
        self.draw()?;
        loop {
            let timeout = if self.browser.has_pending_links() { LINKS_DELAY } else { POLL_INTERVAL };
            if event::poll(timeout)? {
                // Handle all waiting events before drawing, so that fast typing is drawn once.
                loop {
                    if let Event::Key(key) = event::read()? {
                        let effect = self.browser.handle_key(key);
                        if !self.apply(effect)? {
                            return Ok(());
                        }
                    }
                    if !event::poll(Duration::ZERO)? {
                        break;
                    }
                }
            } else if self.browser.has_pending_links() {
                self.browser.load_links();
            } else if let Some(store) = self.reopened_stores.try_iter().last() {
                self.browser.replace_store(store);
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
            model.clamp_to_screen();
            view::draw(model, frame);
        })?;
        Ok(())
    }

    /// Does what a key needs of the terminal. Returns whether the browser stays open.
    fn apply(&mut self, effect: Effect) -> Result<bool, Error> {
        match effect {
            Effect::Quit => return Ok(false),
            Effect::Edit(id) => self.edit(&id)?,
            Effect::Decide(decision) => self.decide(&decision),
            Effect::Suspend => self.suspend()?,
            Effect::Copy(id) => {
                copy_to_clipboard(&mut io::stdout(), id.as_str())?;
                self.browser.set_status(&format!("copied {id}, if your terminal takes it (OSC 52)"));
            }
            Effect::Nothing
            | Effect::List
            | Effect::Search(_)
            | Effect::OpenPicker(_)
            | Effect::OpenWorklist
            | Effect::Reload => {}
        }
        Ok(true)
    }

    /// Restores the terminal and stops the process until the shell continues it: sends `SIGTSTP` to the process group, as
    /// the terminal does for Ctrl-Z in a program that doesn't read keys. The signal has no effect in an orphaned process
    /// group, which no shell could continue.
    fn suspend(&mut self) -> Result<(), Error> {
        ratatui::try_restore()?;
        #[cfg(unix)]
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
        self.reopen_terminal()
    }

    /// Sets the terminal up again and clears it.
    fn reopen_terminal(&mut self) -> Result<(), Error> {
        self.terminal = ratatui::try_init()?;
        Ok(self.terminal.clear()?)
    }

    /// Opens a note in the user's editor, as `qipu update ID` does, and reopens the store.
    fn edit(&mut self, id: &NoteId) -> Result<(), Error> {
        let now = self.today.map_or_else(env::now, str::to_owned);
        ratatui::try_restore()?;
        let report = commands::run_edit(id.as_str(), &now, self.location, self.env);
        self.reopen_terminal()?;
        self.show_result(report);
        Ok(())
    }

    /// Carries out a decision about a note, and reopens the store.
    fn decide(&mut self, decision: &Decision) {
        let now = self.today.map_or_else(env::now, str::to_owned);
        let report = person(self.env).and_then(|person| {
            // Without its screen, the user would take a long wait for a crash, and a warning would damage the screen.
            let waits = WaitPolicy { patience: MAX_WAIT, warn: |_| (), ..self.location.waits };
            commands::run_change(
                &decision.request(&person, now),
                &Location { waits, ..self.location.clone() },
                self.env,
            )
        });
        self.show_result(report);
    }

    /// Reopens the store after a change, and shows the result in the status line.
    fn show_result(&mut self, report: Result<Report, Error>) {
        let message = match report {
            Ok(report) => summary_line(&report),
            Err(error) => [Some(error.message), error.hint].into_iter().flatten().collect::<Vec<_>>().join("; "),
        };
        let status = self.browser.reload().map_or_else(|error| error.message, |()| message);
        self.browser.set_status(&status);
    }
}

/// Returns the name of the user: that of git's global configuration, else that of the account. The configuration of a
/// repository may name anyone.
fn person(env: &Env) -> Result<String, Error> {
    let name = git::user_name(&env.current_dir).or_else(|| env.user.clone());
    name.and_then(|name| parse_name(&name).ok()).ok_or_else(|| {
        Error::failure("your name is not known").hint("set it with `git config --global user.name NAME`")
    })
}

/// Returns the changes and diagnostics of a report in one line.
fn summary_line(report: &Report) -> String {
    let parts = report.entries.iter().filter_map(|entry| match entry {
        Entry::Change(change) => Some(format!("{} {}", change.action, change.path)),
        Entry::Finding(finding) => Some(format!("{}: {}", finding.severity.name(), finding.message)),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// Copies a text to the clipboard with the escape sequence OSC 52 (xterm, ctlseqs). Not all terminals support it, and
/// none reports whether it did.
fn copy_to_clipboard(terminal: &mut dyn Write, text: &str) -> io::Result<()> {
    write!(terminal, "\u{1b}]52;c;{}\u{7}", BASE64_STANDARD.encode(text))?;
    terminal.flush()
}
