//! `qipu import FILE`: writes the notes and attachments of a pack into the store, all or none.
//!
//! The whole pack is parsed and checked before the store is opened, and all changes are planned before the first file
//! is written.

mod counterparts;
mod merge;

use std::collections::HashSet;
use std::path::Path;

use super::change::{WordsFrom, as_program, expect_held_files, expect_no_conflict};
use super::change_store;
use super::secrets::SecretSearch;
use crate::env::{AgentSession, Env};
use crate::error::{Error, ErrorKind};
use crate::note::{Note, NoteId};
use crate::pack::{self, Pack, PackedFile, PackedNote};
use crate::progress;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead};
use crate::request::{LoadRequest, Strategy, TextSource};
use crate::store::{self, Change, Dependence, Location, Store};
use counterparts::Counterpart;
use merge::merge;

/// Loads a pack, or reports what that would change.
pub(super) fn run(request: &LoadRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    let current_dir = &env.current_dir;
    let pack = read(&request.pack, current_dir)?;
    let agent = env.agent_session();
    let paths = (location, current_dir.as_path());
    let (_, _, report) = change_store(request.is_dry_run, paths, None, Dependence::AllNotes, |store| {
        store.expect_store()?;
        let plan = LoadPlan::of(store, &pack, request, agent.as_ref())?;
        if !request.is_secret_allowed {
            plan.expect_no_secrets()?;
        }
        expect_held_files(store, &plan.changes, env)?;
        Ok((plan.changes.clone(), plan.into_report()))
    })?;
    Ok(report)
}

fn read(source: &TextSource, current_dir: &Path) -> Result<Pack, Error> {
    let read = match source {
        TextSource::File(file) => pack::parse(&store::read_user_file(file, current_dir).map_err(with_hint)?),
        TextSource::Text(text) => pack::parse(text.as_bytes()),
    };
    read.map_err(|broken| {
        let message = format!("this pack can't be loaded: line {}: {}", broken.line, broken.reason);
        Error::new(ErrorKind::Store, message).hint("nothing was written; create the pack again with `qipu export pack`")
    })
}

/// Adds to an error of reading what to do with a folder, which people who leave another tool have.
fn with_hint(error: Error) -> Error {
    match error.hint {
        Some(_) => error,
        None => error.hint(
            "a pack is a file; `qipu init --documents DIR` reads a folder where it lies, `qipu import obsidian DIR` and \
             `qipu import logseq DIR` copy it",
        ),
    }
}

/// The planned changes, and the entries of the report.
struct LoadPlan<'a> {
    store: &'a Store,
    request: &'a LoadRequest,
    /// The session that loads the pack.
    agent: Option<&'a AgentSession>,
    changes: Vec<Change>,
    /// The paths of the changes.
    taken: HashSet<String>,
    entries: Vec<Entry>,
    findings: Vec<DiagnosticEntry>,
}

impl<'a> LoadPlan<'a> {
    fn of(
        store: &'a Store,
        pack: &Pack,
        request: &'a LoadRequest,
        agent: Option<&'a AgentSession>,
    ) -> Result<Self, Error> {
        store.expect_all_readable()?;
        let (changes, taken, entries, findings) = (Vec::new(), HashSet::new(), Vec::new(), Vec::new());
        let mut plan = Self { store, request, agent, changes, taken, entries, findings };
        let notes = pack.notes.iter().map(parsed).collect::<Result<Vec<Note>, Error>>()?;
        let counterparts = counterparts::find(store, &pack.notes)?;
        let _work = progress::begin("comparing with the store", pack.notes.len() + pack.attachments.len());
        for (packed, theirs) in pack.notes.iter().zip(&notes) {
            progress::advance();
            match counterparts.get(&packed.id) {
                None => plan.plan_creation(packed, theirs)?,
                Some(ours) => plan.plan_conflict(packed, theirs, ours)?,
            }
        }
        for file in &pack.attachments {
            progress::advance();
            plan.plan_attachment(file)?;
        }
        Ok(plan)
    }

    /// Plans a note that the store does not have: at its own path, or at a derived one if that is taken.
    fn plan_creation(&mut self, packed: &PackedNote, theirs: &Note) -> Result<(), Error> {
        let path = self.free_path(packed, theirs)?;
        self.add_change(Some(&packed.id), Change::Create { path, new: packed.file.bytes.clone() })
    }

    fn free_path(&self, packed: &PackedNote, theirs: &Note) -> Result<String, Error> {
        let is_taken = |path: &str| self.taken.contains(path) || self.store.is_taken(path);
        let path = &packed.file.path;
        if !is_taken(path) {
            return Ok(path.clone());
        }
        let derived = format!("{}-{}.md", path.strip_suffix(".md").unwrap_or(path), packed.id);
        // A note without an id in its frontmatter has it from its path.
        let keeps_id = || Note::parse(&derived, packed.file.bytes.clone()).id == theirs.id;
        if is_taken(&derived) || !keeps_id() {
            let message = format!("can't add `{}`: {} exists already", packed.id, self.store.shown(path));
            return Err(Error::new(ErrorKind::Store, message).hint("rename that file; nothing was written"));
        }
        Ok(derived)
    }

    /// Plans the change of a note that the store has too.
    fn plan_conflict(&mut self, packed: &PackedNote, theirs: &Note, ours: &Counterpart) -> Result<(), Error> {
        let note = &self.store.notes()[ours.index];
        let new = match self.request.strategy {
            _ if ours.bytes == packed.file.bytes => None,
            Strategy::Skip => {
                self.add_change_entry(Some(&note.id), "skipped", &note.path, None);
                return Ok(());
            }
            Strategy::Overwrite => self.overwritten(packed, theirs, ours),
            Strategy::Merge => self.merged(packed, theirs, ours)?,
        };
        match new.filter(|new| *new != ours.bytes) {
            None => self.add_change_entry(Some(&note.id), "unchanged", &note.path, None),
            Some(new) => {
                let change = Change::Replace { path: note.path.clone(), old: ours.bytes.clone(), new };
                self.add_change(Some(&note.id), change)?;
            }
        }
        Ok(())
    }

    /// Returns the packed bytes; `None`, with a diagnostic, if the note would get another id at the store's path.
    fn overwritten(&mut self, packed: &PackedNote, theirs: &Note, ours: &Counterpart) -> Option<Vec<u8>> {
        let note = &self.store.notes()[ours.index];
        let keeps_id = Note::parse(&note.path, packed.file.bytes.clone()).id == theirs.id;
        if !keeps_id {
            let message = format!("not overwritten: the packed note has its id from its path, {}", theirs.path);
            self.add_diagnostic(Some(&note.id), &note.path, "not-overwritten", message);
        }
        keeps_id.then(|| packed.file.bytes.clone())
    }

    /// Returns the merged text; `None`, with a diagnostic, if the two can't be merged.
    fn merged(&mut self, packed: &PackedNote, theirs: &Note, ours: &Counterpart) -> Result<Option<Vec<u8>>, Error> {
        let note = &self.store.notes()[ours.index];
        let text = match self.store.text_of(note) {
            Err(error) if error.kind == ErrorKind::Store => Err(error.message),
            Err(error) => return Err(error),
            Ok(_) if theirs.is_cut || std::str::from_utf8(&packed.file.bytes).is_err() => {
                Err("the packed note is not UTF-8 or is too long".to_owned())
            }
            Ok(text) => match expect_no_conflict(note, &text) {
                Ok(()) => merge(note.parsed()?, &text, theirs),
                Err(error) => Err(error.message),
            },
        };
        match text {
            Ok(merged) => {
                for (code, message) in merged.findings {
                    self.add_diagnostic(Some(&note.id), &note.path, code, message);
                }
                Ok(Some(merged.text.into_bytes()))
            }
            Err(reason) => {
                self.add_diagnostic(Some(&note.id), &note.path, "not-merged", format!("not merged: {reason}"));
                Ok(None)
            }
        }
    }

    fn plan_attachment(&mut self, file: &PackedFile) -> Result<(), Error> {
        let path = file.path.clone();
        match self.store.file(&path)? {
            None => self.add_change(None, Change::Create { path, new: file.bytes.clone() })?,
            Some(old) if old == file.bytes => self.add_change_entry(None, "unchanged", &path, None),
            Some(old) if self.request.strategy == Strategy::Overwrite => {
                self.add_change(None, Change::Replace { path, old, new: file.bytes.clone() })?;
            }
            Some(_) => {
                self.add_change_entry(None, "skipped", &path, None);
                let message = "the pack's attachment differs; the store's was kept".to_owned();
                self.add_diagnostic(None, &path, "attachment-differs", message);
            }
        }
        Ok(())
    }

    /// Refuses secrets that the store does not have yet.
    fn expect_no_secrets(&self) -> Result<(), Error> {
        let mut search = SecretSearch::among(self.changes.iter(), self.agent.is_some());
        for (path, new) in self.changes.iter().filter_map(|change| change.files()[1]) {
            search.add_file(&self.store.shown(path), new, path.ends_with(".md"));
        }
        search.expect_none("the store")
    }

    fn add_change(&mut self, id: Option<&NoteId>, change: Change) -> Result<(), Error> {
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

    fn add_change_entry(&mut self, id: Option<&NoteId>, action: &'static str, path: &str, diff: Option<String>) {
        let path = self.store.shown(path);
        self.entries.push(Entry::Change(ChangeEntry { id: id.cloned(), diff, ..ChangeEntry::of_file(action, path) }));
    }

    fn add_diagnostic(&mut self, id: Option<&NoteId>, path: &str, code: &'static str, message: String) {
        let path = self.store.shown(path);
        self.findings.push(DiagnosticEntry { id: id.cloned(), ..DiagnosticEntry::warning(code, path, message) });
    }

    fn into_report(self) -> Report {
        let head = ReportHead::of_change("load", self.request.is_dry_run, Some(&self.store.shown_path));
        let findings = self.findings.into_iter().map(Entry::Finding);
        let entries = self.entries.into_iter().chain(findings).collect();
        Report::new(head, entries)
    }
}

/// Parses a packed note, and checks that the lines of the pack agree with its file: what readers of the pack see is
/// what is loaded.
fn parsed(packed: &PackedNote) -> Result<Note, Error> {
    let note = Note::parse(&packed.file.path, packed.file.bytes.clone());
    let rejected = |what: String| {
        Err(Error::new(ErrorKind::Store, format!("this pack can't be loaded: {what}")).hint("nothing was written"))
    };
    if note.id.as_str() != packed.id.claimed() {
        return rejected(format!("the file of `{}` has the id `{}`", packed.id, note.id));
    }
    let agreements = [
        ("type", note.kind == packed.kind),
        ("title", note.title == packed.title),
        ("tags", note.tags == packed.tags),
        ("sources", note.sources == packed.sources),
    ];
    let is_text = std::str::from_utf8(&packed.file.bytes).is_ok();
    match agreements.into_iter().find(|(_, is_equal)| !is_equal).filter(|_| is_text) {
        Some((part, _)) => rejected(format!("the {part} of `{}` in its lines differs from its file", packed.id)),
        None => Ok(note),
    }
}
