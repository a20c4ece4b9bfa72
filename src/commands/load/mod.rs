//! `qipu import`: writes the notes and attachments of a pack, or of a folder of Markdown, into the store, all or none.
//!
//! A pack is parsed and checked as a whole before the store is opened, and all changes are planned before the first file is
//! written.

mod counterparts;
mod folder;
mod folder_links;
mod merge;
mod plan;

use std::path::Path;

use super::change::{expect_held, expect_no_conflict};
use super::change_store;
use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::note::Note;
use crate::pack::{self, Pack, PackedNote};
use crate::progress;
use crate::report::Report;
use crate::request::{LoadRequest, Strategy, TextSource};
use crate::store::{self, Change, Dependence, Location};
use counterparts::Counterpart;
use merge::merge;
use plan::LoadPlan;

/// Adds a pack or the notes of a folder, or reports what that would change.
pub(super) fn run(request: &LoadRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    let current_dir = &env.current_dir;
    let folder = folder::open(request, location, current_dir)?;
    let pack = if folder.is_some() { Pack::default() } else { read(&request.from, current_dir)? };
    let agent = env.agent_session();
    let paths = (location, current_dir.as_path());
    let (_, _, report) = change_store(request.is_dry_run, paths, None, Dependence::AllNotes, |store| {
        store.expect_store()?;
        let mut plan = LoadPlan::new(store, request, agent.as_ref())?;
        match &folder {
            Some(vault) => folder::plan(&mut plan, vault)?,
            None => plan.plan_pack(&pack)?,
        }
        if !request.is_secret_allowed {
            plan.expect_no_secrets()?;
        }
        expect_held(store, &plan.changes, env, false)?;
        let changes = std::mem::take(&mut plan.changes);
        Ok((changes, plan.into_report(folder.is_some())))
    })?;
    Ok(report)
}

fn read(source: &TextSource, current_dir: &Path) -> Result<Pack, Error> {
    let read = match source {
        TextSource::File(file) => pack::parse(&store::read_user_file(file, current_dir)?),
        TextSource::Text(text) => pack::parse(text.as_bytes()),
    };
    read.map_err(|broken| {
        if let TextSource::File(file) = source
            && file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
        {
            let shown = file.display();
            return Error::usage(format!("{shown} is one file of Markdown, and no pack"))
                .hint(format!("`qipu capture < {shown}` makes a note of it; `qipu import DIR` copies a folder"));
        }
        let message = format!("this pack can't be loaded: line {}: {}", broken.line, broken.reason);
        Error::new(ErrorKind::Store, message).hint("nothing was written; create the pack again with `qipu export pack`")
    })
}

impl LoadPlan<'_> {
    fn plan_pack(&mut self, pack: &Pack) -> Result<(), Error> {
        let notes = pack.notes.iter().map(parsed).collect::<Result<Vec<Note>, Error>>()?;
        let counterparts = counterparts::find(self.store, &pack.notes)?;
        let _work = progress::begin("comparing with the store", pack.notes.len() + pack.attachments.len());
        for (packed, theirs) in pack.notes.iter().zip(&notes) {
            progress::advance();
            match counterparts.get(&packed.id) {
                None => self.plan_creation(packed, theirs)?,
                Some(ours) => self.plan_conflict(packed, theirs, ours)?,
            }
        }
        for file in &pack.attachments {
            progress::advance();
            self.plan_attachment(file, self.store.file(&file.path)?)?;
        }
        Ok(())
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
