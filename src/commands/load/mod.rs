//! `qipu load`: what a pack holds comes into the store, all of it or none.
//!
//! The whole pack is read and checked before the store is looked at, and everything is planned
//! before the first file is written.

mod counterparts;
mod merge;

use std::collections::HashSet;
use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::note::{Note, NoteId};
use crate::pack::{self, Pack, PackedFile, PackedNote};
use crate::progress;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead, ReportKind};
use crate::request::{LoadRequest, Strategy, TextSource};
use crate::store::{self, Change, Store};
use counterparts::{Counterpart, Counterparts};
use merge::merge;

/// Loads a pack, or shows what that would do.
pub(super) fn run(request: &LoadRequest, current_dir: &Path) -> Result<Report, Error> {
    let pack = read(&request.pack, current_dir)?;
    if request.is_dry_run {
        let store = Store::open(&request.location, current_dir)?;
        let plan = LoadPlan::of(&store, &pack, request)?;
        return Ok(plan.into_report());
    }
    let (store, lock) = Store::open_to_write(&request.location, current_dir)?;
    let plan = LoadPlan::of(&store, &pack, request)?;
    store.apply(&plan.changes, &lock)?;
    Ok(plan.into_report())
}

fn read(source: &TextSource, current_dir: &Path) -> Result<Pack, Error> {
    let read = match source {
        TextSource::File(file) => pack::parse(&store::import(file, current_dir)?),
        TextSource::Text(text) => pack::parse(text.as_bytes()),
    };
    read.map_err(|broken| {
        let message = format!("this pack can't be loaded: line {}: {}", broken.line, broken.reason);
        Error::new(ErrorKind::Store, message).hint("nothing was written; make the pack again with `qipu dump`")
    })
}

/// What is to be done, and what is told of it.
struct LoadPlan<'a> {
    store: &'a Store,
    request: &'a LoadRequest,
    changes: Vec<Change>,
    /// The paths that the changes take.
    taken: HashSet<String>,
    entries: Vec<Entry>,
    findings: Vec<DiagnosticEntry>,
}

impl<'a> LoadPlan<'a> {
    fn of(store: &'a Store, pack: &Pack, request: &'a LoadRequest) -> Result<Self, Error> {
        store.expect_all_readable()?;
        let (changes, taken, entries, findings) = (Vec::new(), HashSet::new(), Vec::new(), Vec::new());
        let mut plan = Self { store, request, changes, taken, entries, findings };
        let notes = pack.notes.iter().map(parsed).collect::<Result<Vec<Note>, Error>>()?;
        let counterparts = Counterparts::find(store, &pack.notes)?;
        let _work = progress::begin("comparing with the store", pack.notes.len() + pack.attachments.len());
        for (packed, theirs) in pack.notes.iter().zip(&notes) {
            progress::advance();
            match counterparts.of(packed) {
                None => plan.create(packed, theirs)?,
                Some(ours) => plan.meet(packed, theirs, ours)?,
            }
        }
        for file in &pack.attachments {
            progress::advance();
            plan.attach(file)?;
        }
        Ok(plan)
    }

    /// Plans a note that the store does not have, at its own path or beside what has it.
    fn create(&mut self, packed: &PackedNote, theirs: &Note) -> Result<(), Error> {
        let path = self.free_path(packed, theirs)?;
        self.change(Some(&packed.id), Change::Create { path, new: packed.file.bytes.clone() });
        Ok(())
    }

    fn free_path(&self, packed: &PackedNote, theirs: &Note) -> Result<String, Error> {
        let is_taken = |path: &str| self.taken.contains(path) || self.store.is_taken(path);
        let path = &packed.file.path;
        if !is_taken(path) {
            return Ok(path.clone());
        }
        let beside = format!("{}-{}.md", path.strip_suffix(".md").unwrap_or(path), packed.id);
        // A note may have its id from its file's path.
        let keeps_id = || Note::parse(&beside, packed.file.bytes.clone()).id == theirs.id;
        if is_taken(&beside) || !keeps_id() {
            let message = format!("there is no place for `{}`: {} is taken", packed.id, self.store.shown(path));
            return Err(Error::new(ErrorKind::Store, message).hint("rename that file; nothing was written"));
        }
        Ok(beside)
    }

    /// Plans what becomes of a note that both have.
    fn meet(&mut self, packed: &PackedNote, theirs: &Note, ours: &Counterpart) -> Result<(), Error> {
        let note = &self.store.notes()[ours.place];
        let new = match self.request.strategy {
            _ if ours.bytes == packed.file.bytes => None,
            Strategy::Skip => {
                self.tell(Some(&note.id), "skipped", &note.path, None);
                return Ok(());
            }
            Strategy::Overwrite => self.overwriting(packed, theirs, ours),
            Strategy::Merge => self.merged(packed, theirs, ours)?,
        };
        match new.filter(|new| *new != ours.bytes) {
            None => self.tell(Some(&note.id), "unchanged", &note.path, None),
            Some(new) => {
                let change = Change::Replace { path: note.path.clone(), old: ours.bytes.clone(), new };
                self.change(Some(&note.id), change);
            }
        }
        Ok(())
    }

    /// Returns the packed bytes; `None`, and a finding, where they would make another note there: one
    /// may have its id from its file's path.
    fn overwriting(&mut self, packed: &PackedNote, theirs: &Note, ours: &Counterpart) -> Option<Vec<u8>> {
        let note = &self.store.notes()[ours.place];
        let keeps_id = Note::parse(&note.path, packed.file.bytes.clone()).id == theirs.id;
        if !keeps_id {
            let message = format!("it is left as it was: the pack's has its id from its file's path, {}", theirs.path);
            self.find(Some(&note.id), &note.path, "not-overwritten", message);
        }
        keeps_id.then(|| packed.file.bytes.clone())
    }

    /// Returns the text that says what both notes say; `None`, and a finding, where there is none.
    fn merged(&mut self, packed: &PackedNote, theirs: &Note, ours: &Counterpart) -> Result<Option<Vec<u8>>, Error> {
        let note = &self.store.notes()[ours.place];
        let text = match self.store.text_of(note) {
            Err(error) if error.kind == ErrorKind::Store => Err(error.message),
            Err(error) => return Err(error),
            Ok(_) if theirs.is_cut || std::str::from_utf8(&packed.file.bytes).is_err() => {
                Err("the pack's is not UTF-8, or too long".to_owned())
            }
            Ok(text) => merge(note, &text, theirs),
        };
        match text {
            Ok(merged) => {
                merged
                    .findings
                    .into_iter()
                    .for_each(|(code, message)| self.find(Some(&note.id), &note.path, code, message));
                Ok(Some(merged.text.into_bytes()))
            }
            Err(reason) => {
                self.find(Some(&note.id), &note.path, "not-merged", format!("it is left as it was: {reason}"));
                Ok(None)
            }
        }
    }

    fn attach(&mut self, file: &PackedFile) -> Result<(), Error> {
        let path = file.path.clone();
        match self.store.file(&path)? {
            None => self.change(None, Change::Create { path, new: file.bytes.clone() }),
            Some(old) if old == file.bytes => self.tell(None, "unchanged", &path, None),
            Some(old) if self.request.strategy == Strategy::Overwrite => {
                self.change(None, Change::Replace { path, old, new: file.bytes.clone() });
            }
            Some(_) => {
                self.tell(None, "skipped", &path, None);
                self.find(None, &path, "attachment-differs", "the pack's is another; the store's is kept".to_owned());
            }
        }
        Ok(())
    }

    fn change(&mut self, id: Option<&NoteId>, change: Change) {
        // What an attachment holds is no text to be read.
        let shows_diff = self.request.is_dry_run && id.is_some();
        let diff = shows_diff.then(|| change.diff(&self.store.shown_path));
        self.tell(id, change.name(), change.path(), diff);
        self.taken.insert(change.path().to_owned());
        self.changes.push(change);
    }

    fn tell(&mut self, id: Option<&NoteId>, action: &'static str, path: &str, diff: Option<String>) {
        let path = self.store.shown(path);
        self.entries.push(Entry::Change(ChangeEntry { id: id.cloned(), action, path, diff }));
    }

    fn find(&mut self, id: Option<&NoteId>, path: &str, code: &'static str, message: String) {
        let path = self.store.shown(path);
        self.findings.push(DiagnosticEntry { is_error: false, code, id: id.cloned(), path, line: None, message });
    }

    fn into_report(self) -> Report {
        let mode = ReportKind::Change { command: "load", is_dry_run: self.request.is_dry_run };
        let findings = self.findings.into_iter().map(Entry::Finding);
        let entries = self.entries.into_iter().chain(findings).collect();
        Report::new(ReportHead::new(mode, Some(&self.store.shown_path)), entries)
    }
}

/// Reads a packed note, of which the pack must say what its file says: what a reader of the pack has
/// seen is what is loaded.
fn parsed(packed: &PackedNote) -> Result<Note, Error> {
    let note = Note::parse(&packed.file.path, packed.file.bytes.clone());
    let refused = |what: String| {
        Err(Error::new(ErrorKind::Store, format!("this pack can't be loaded: {what}")).hint("nothing was written"))
    };
    if note.id.as_str() != packed.id.claimed() {
        return refused(format!("the file of `{}` is that of `{}`", packed.id, note.id));
    }
    let says = [
        ("type", note.kind == packed.kind),
        ("title", note.title == packed.title),
        ("tags", note.tags == packed.tags),
        ("sources", note.sources == packed.sources),
    ];
    let is_text = std::str::from_utf8(&packed.file.bytes).is_ok();
    match says.into_iter().find(|(_, is_true)| !is_true).filter(|_| is_text) {
        Some((part, _)) => refused(format!("the {part} of `{}` in its lines is not what its file says", packed.id)),
        None => Ok(note),
    }
}
