//! The findings of `qipu doctor` about the open texts, computed in the background.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString, PublishDiagnosticsParams, Uri};

use super::connection::{Connection, Event, EventSender};
use super::documents::Document;
use super::links;
use super::text_position::LineStarts;
use super::view::View;
use crate::commands;
use crate::error::Error;
use crate::escape::one_line;
use crate::report::{DiagnosticEntry, Severity};
use crate::store::{Location, Store};

/// How long the texts must not have changed.
pub(super) const DELAY: Duration = Duration::from_millis(250);

/// The code of a link that leads to nothing.
const BROKEN_LINK: &str = "broken-link";

/// Computes diagnostics on one thread, one state of the texts after the other.
pub(super) struct Diagnoser {
    events: EventSender,
    /// When the diagnostics are to be computed; `None` if nothing changed since.
    pub(super) due: Option<Instant>,
    /// The number of the state of the texts, which grows with each change.
    state: u64,
    is_running: bool,
}

impl Diagnoser {
    pub(super) fn new(events: EventSender) -> Self {
        Self { events, due: None, state: 0, is_running: false }
    }

    /// Notes that a text or a file changed.
    pub(super) fn change(&mut self, due: Instant) {
        self.state += 1;
        self.due = Some(due);
    }

    /// Starts to compute the diagnostics of a store, unless those of an earlier state are being computed; `None`: no note is
    /// open.
    pub(super) fn start(&mut self, store: Option<&Arc<Store>>, location: &Location) -> Result<(), Error> {
        self.due = None;
        let Some(store) = store.filter(|_| !self.is_running) else { return Ok(()) };
        let (store, location) = (Arc::clone(store), location.clone());
        let diagnosis = Diagnosis { events: self.events.clone(), state: self.state, found: Vec::new() };
        let work = move || {
            let mut diagnosis = diagnosis;
            // Of its own threads, one: completions use the others meanwhile.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            let found = pool.map(|pool| pool.install(|| commands::editor_diagnostics(&location, &store)));
            diagnosis.found = found.unwrap_or_default();
        };
        std::thread::Builder::new().spawn(work)?;
        self.is_running = true;
        Ok(())
    }

    /// Notes that the diagnostics of a state are known. Returns whether it is the current one; else they are computed again.
    pub(super) fn finish(&mut self, state: u64) -> bool {
        self.is_running = false;
        let is_current = state == self.state;
        if !is_current && self.due.is_none() {
            self.due = Some(Instant::now());
        }
        is_current
    }
}

/// The diagnostics of a state of the texts, which are sent at the end of their thread, also if it panics: without them no
/// others are computed.
struct Diagnosis {
    events: EventSender,
    state: u64,
    found: Vec<DiagnosticEntry>,
}

impl Drop for Diagnosis {
    fn drop(&mut self) {
        self.events.send(Event::Diagnosed(self.state, std::mem::take(&mut self.found)));
    }
}

/// Sends the diagnostics of each open text.
pub(super) fn publish(connection: &Connection, view: &View<'_>, found: &[DiagnosticEntry]) -> Result<(), Error> {
    for document in view.documents.iter() {
        let Some(shown) = shown_path(view, document) else { continue };
        let own = found.iter().filter(|entry| entry.path == shown);
        let places = FindingPlaces::of(view, document)?;
        let diagnostics = own.map(|entry| places.diagnostic(entry)).collect();
        let version = Some(document.version);
        let params = PublishDiagnosticsParams { uri: document.uri.clone(), diagnostics, version };
        connection.notify("textDocument/publishDiagnostics", params)?;
    }
    Ok(())
}

/// Removes the diagnostics of a text that was closed.
pub(super) fn clear(connection: &Connection, uri: &Uri) -> Result<(), Error> {
    let params = PublishDiagnosticsParams { uri: uri.clone(), diagnostics: Vec::new(), version: None };
    connection.notify("textDocument/publishDiagnostics", params)
}

/// Returns the path that findings about an open text have; `None` if it is not in the store.
fn shown_path(view: &View<'_>, document: &Document) -> Option<String> {
    let path = view.store().note_path(&document.path).or_else(|| view.store().settings_path(&document.path))?;
    Some(view.store().shown(&path))
}

/// Where the findings about an open text are.
struct FindingPlaces<'t> {
    text: &'t str,
    lines: LineStarts<'t>,
    /// The links that lead to nothing.
    broken: Vec<Range<usize>>,
}

impl<'t> FindingPlaces<'t> {
    fn of(view: &View<'_>, document: &'t Document) -> Result<Self, Error> {
        let links = match view.open_note(&document.uri) {
            Some(note) => links::links(view, note)?,
            None => Vec::new(),
        };
        let broken = links.into_iter().filter(|link| link.to.is_none()).map(|link| link.range).collect();
        Ok(Self { text: &document.text, lines: view.lines(&document.text), broken })
    }

    fn diagnostic(&self, entry: &DiagnosticEntry) -> Diagnostic {
        let severity = match entry.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Info => DiagnosticSeverity::INFORMATION,
        };
        Diagnostic {
            range: self.lines.range(self.place(entry)),
            severity: Some(severity),
            code: Some(NumberOrString::String(entry.code.to_owned())),
            source: Some("qipu".to_owned()),
            message: one_line(&entry.message),
            ..Diagnostic::default()
        }
    }

    /// Returns the bytes that a finding is about: its line, else the link or the first text that it quotes, else the first
    /// line.
    fn place(&self, entry: &DiagnosticEntry) -> Range<usize> {
        if let Some(line) = entry.line {
            return self.lines.line(line.saturating_sub(1));
        }
        let Some(quoted) = entry.message.split('`').nth(1).filter(|quoted| !quoted.is_empty()) else {
            return self.lines.line(0);
        };
        if entry.code == BROKEN_LINK {
            let is_meant =
                |range: &&Range<usize>| self.text.get((*range).clone()).is_some_and(|text| text.contains(quoted));
            if let Some(link) = self.broken.iter().find(is_meant) {
                return link.clone();
            }
        }
        let found = self.text.find(quoted).map(|start| start..start + quoted.len());
        found.unwrap_or_else(|| self.lines.line(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_a_diagnosis() {
        let (events, next) = EventSender::with_events();
        let diagnosis = Diagnosis { events, state: 3, found: Vec::new() };
        let panics = move || {
            let _diagnosis = diagnosis;
            panic!("a test");
        };
        assert!(std::thread::spawn(panics).join().is_err());
        assert!(matches!(next(), Some(Event::Diagnosed(3, found)) if found.is_empty()));
    }
}
