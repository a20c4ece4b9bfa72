//! What a plan of changes reads of the notes to change, and the store as it would be after it.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

use super::change::Change;
use crate::error::{Error, ErrorKind};
use crate::note::{MAX_BYTES, Note};
use crate::store::fs::files;
use crate::store::notes::note_handle::NoteHandle;
use crate::store::notes::store::Store;

impl Store {
    /// Reads the whole text of a note's file, to change it.
    ///
    /// # Errors
    /// `Store` if the file is not UTF-8 or too long, so that it can't be changed without loss.
    pub fn text_of(&self, note: &NoteHandle) -> Result<String, Error> {
        let shown = format!("{}{}", self.shown_path, note.path);
        let bytes = self.read_bytes(&note.path)?;
        if bytes.len() > MAX_BYTES {
            return Err(Error::new(ErrorKind::Store, format!("{shown} is longer than {MAX_BYTES} bytes")));
        }
        String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            Error::new(ErrorKind::Store, format!("{shown} is not UTF-8 (first invalid byte: {offset})"))
                .hint("convert the file to UTF-8 first; qipu does not change bytes that it can't read")
        })
    }

    /// Reads a file of the store, by its path in the store.
    pub(crate) fn read_bytes(&self, path: &str) -> Result<Vec<u8>, Error> {
        files::failpoint_read();
        self.in_progress.need(path);
        if let Some(note) = self.unsaved.get(path) {
            return Ok(note.parsed()?.text().as_bytes().to_vec());
        }
        let (collection, local_path) = self.locate(path);
        let dir = collection.dir.as_ref().ok_or(io::ErrorKind::NotFound);
        let bytes = dir.map_err(io::Error::from).and_then(|dir| dir.read(Path::new(local_path), u64::MAX));
        Ok(bytes.with_context(|| format!("can't read {}", self.shown(path)))?)
    }

    /// Returns the real path of a note's file, for a program that edits it.
    pub(crate) fn real_path(&self, path: &str) -> PathBuf {
        self.first().root.join(path)
    }

    /// Returns the store as it would be after changes, in memory.
    pub(crate) fn after(&self, changes: &[Change]) -> Self {
        let (mut removed, mut added) = (HashSet::new(), Vec::new());
        for change in changes {
            let [before, after] = change.files();
            removed.extend(before.map(|(path, _)| path));
            added.extend(after);
        }
        let mut notes = self.notes.clone();
        notes.retain(|note| !removed.contains(&*note.path));
        notes.extend(added.into_iter().map(|(path, bytes)| Arc::new(self.parse_handle(path, bytes.to_vec()))));
        let mut after = Self::from_shared(self.shown_path.clone(), self.config.clone(), notes);
        after.collections.iter_mut().for_each(|one| one.about = Arc::clone(&self.first().about));
        after
    }

    /// Parses a file of the first collection as it is read there.
    pub(crate) fn parse(&self, path: &str, bytes: Vec<u8>) -> Note {
        Note::parse_as(self.first().about.dialect, path, bytes)
    }

    /// Parses a file of the first collection as [`Store::parse`] does, with the collection.
    pub(crate) fn parse_handle(&self, path: &str, bytes: Vec<u8>) -> NoteHandle {
        let mut note = NoteHandle::from(self.parse(path, bytes));
        if !self.first().about.is_project() {
            note.set_collection(&self.first().about);
        }
        note
    }
}
