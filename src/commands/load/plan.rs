//! The changes that an import plans, and its report.

use std::collections::{BTreeMap, HashSet};

use super::super::change::{WordsFrom, as_program};
use super::super::secrets::SecretSearch;
use crate::env::AgentSession;
use crate::error::Error;
use crate::note::NoteId;
use crate::pack::PackedFile;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead, layout};
use crate::request::{LoadRequest, Strategy};
use crate::store::{Change, Store};

/// The planned changes, and the entries of the report.
pub(super) struct LoadPlan<'a> {
    pub(super) store: &'a Store,
    pub(super) request: &'a LoadRequest,
    /// The session that imports.
    agent: Option<&'a AgentSession>,
    pub(super) changes: Vec<Change>,
    /// The paths of the changes.
    pub(super) taken: HashSet<String>,
    entries: Vec<Entry>,
    pub(super) findings: Vec<DiagnosticEntry>,
}

impl<'a> LoadPlan<'a> {
    pub(super) fn new(
        store: &'a Store,
        request: &'a LoadRequest,
        agent: Option<&'a AgentSession>,
    ) -> Result<Self, Error> {
        store.expect_all_readable()?;
        let (changes, taken, entries, findings) = (Vec::new(), HashSet::new(), Vec::new(), Vec::new());
        Ok(Self { store, request, agent, changes, taken, entries, findings })
    }

    /// Plans a file that the store has as `old`, or does not have.
    pub(super) fn plan_attachment(&mut self, file: &PackedFile, old: Option<Vec<u8>>) -> Result<(), Error> {
        let path = file.path.clone();
        match old {
            None => self.add_change(None, Change::Create { path, new: file.bytes.clone() })?,
            Some(old) if old == file.bytes => self.add_change_entry(None, "unchanged", &path, None),
            Some(old) if self.request.strategy == Strategy::Overwrite => {
                self.add_change(None, Change::Replace { path, old, new: file.bytes.clone() })?;
            }
            Some(_) => {
                self.add_change_entry(None, "skipped", &path, None);
                let message = "the attachment to import differs; the store's was kept".to_owned();
                self.add_diagnostic(None, &path, "attachment-differs", message);
            }
        }
        Ok(())
    }

    /// Refuses secrets that the store does not have yet.
    pub(super) fn expect_no_secrets(&self) -> Result<(), Error> {
        let mut search = SecretSearch::among(self.changes.iter(), self.agent.is_some());
        for (path, new) in self.changes.iter().filter_map(|change| change.files()[1]) {
            search.add_file(&self.store.shown(path), new, path.ends_with(".md"));
        }
        search.expect_none("the store")
    }

    pub(super) fn add_change(&mut self, id: Option<&NoteId>, change: Change) -> Result<(), Error> {
        let path = change.path().to_owned();
        let change = match self.agent {
            Some(agent) => as_program(self.store, change, agent.tool, WordsFrom::Files)?,
            None => Some(change),
        };
        let Some(change) = change else {
            self.add_change_entry(id, "unchanged", &path, None);
            return Ok(());
        };
        // Attachments are no text to be shown as a diff.
        let shows_diff = self.request.is_dry_run && id.is_some();
        let diff = shows_diff.then(|| change.diff(&self.store.shown_path));
        self.add_change_entry(id, change.name(), change.path(), diff);
        self.taken.insert(path);
        self.changes.push(change);
        Ok(())
    }

    pub(super) fn add_change_entry(
        &mut self,
        id: Option<&NoteId>,
        action: &'static str,
        path: &str,
        diff: Option<String>,
    ) {
        let path = self.store.shown(path);
        self.entries.push(Entry::Change(ChangeEntry { id: id.cloned(), diff, ..ChangeEntry::of_file(action, path) }));
    }

    pub(super) fn add_diagnostic(&mut self, id: Option<&NoteId>, path: &str, code: &'static str, message: String) {
        let path = self.store.shown(path);
        self.findings.push(DiagnosticEntry { id: id.cloned(), ..DiagnosticEntry::warning(code, path, message) });
    }

    pub(super) fn into_report(self, is_folder: bool) -> Report {
        let mode = if is_folder { "import" } else { "load" };
        let head = ReportHead::of_change(mode, self.request.is_dry_run, Some(&self.store.shown_path));
        let layout = if is_folder { &layout::IMPORT } else { head.layout };
        let totals = if is_folder { totals(&self.entries) } else { Vec::new() };
        let findings = self.findings.into_iter().map(Entry::Finding);
        let entries = self.entries.into_iter().chain(findings).chain(totals).collect();
        Report::new(ReportHead { layout, ..head }, entries)
    }
}

/// Counts notes and attachments by action.
fn totals(entries: &[Entry]) -> Vec<Entry> {
    let mut counts: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for entry in entries {
        if let Entry::Change(change) = entry {
            *counts.entry((change.id.is_none(), change.action)).or_default() += 1;
        }
    }
    let fact = |((is_attachment, action), count): ((bool, &str), usize)| {
        Entry::Fact(format!("{} {action}", if is_attachment { "attachments" } else { "notes" }), count)
    };
    counts.into_iter().map(fact).collect()
}
