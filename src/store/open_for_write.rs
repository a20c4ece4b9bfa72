//! Changing a store: under its lock, with the redo log, each file atomically.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

use super::change::{Change, ChangedFolder};
use super::collection::CollectionReason;
use super::find_collections::find_target;
use super::lock::{self, Lock};
use super::note_handle::NoteHandle;
use super::redo_log;
use super::{IndexBuilderFactory, Location, PENDING_FILE, Store, files, find_root, in_progress_writes, relative_to};
use crate::error::{Error, ErrorKind};
use crate::escape::one_line;
use crate::note::{MAX_BYTES, Note};
use crate::warnings;

/// The most times that a store is read until no other program seems to be saving a note. A file that is written all the
/// time is read, and refused when it is to be changed.
const MAX_READS: usize = 5;

fn recover(folder: ChangedFolder<'_>, location: &Location, current_dir: &Path) -> Result<usize, Error> {
    let cache = location.cache.as_deref();
    redo_log::recover(folder, cache).map_err(|error| {
        let shown = relative_to(&folder.own_dir(cache), current_dir);
        let message = format!("the changes listed in {shown}{PENDING_FILE} can't be completed: {error:#}");
        // Without the log, a change that failed for want of space would stay half made.
        let hint = if error.chain().any(|cause| cause.is::<io::Error>()) {
            "solve that, for example by freeing space, then repeat the command: it completes the changes first"
        } else {
            "inspect it (its texts are in base64), then remove it, for example with `qipu doctor --fix`"
        };
        Error::new(ErrorKind::Store, message).hint(hint)
    })
}

/// Returns the folder whose lock guards a collection.
fn lock_dir(folder: ChangedFolder<'_>, location: &Location) -> Result<PathBuf, Error> {
    let dir = folder.own_dir(location.cache.as_deref());
    files::make_folders(&dir.join("lock"))?;
    Ok(dir)
}

impl Store {
    /// Opens a store to change it: takes the lock, applies a redo log, and loads the notes.
    ///
    /// # Errors
    /// As [`Store::open`]; `Busy` if another command holds the lock for too long, `Failure` if it can't be taken.
    pub fn open_to_write(location: &Location, current_dir: &Path) -> Result<(Self, Lock), Error> {
        Self::open_to_write_with(location, current_dir, None)
    }

    /// Opens a store to change it, with the text index of its notes if a builder is given.
    ///
    /// # Errors
    /// As [`Store::open_to_write`].
    pub fn open_to_write_with(
        location: &Location,
        current_dir: &Path,
        builder: Option<IndexBuilderFactory>,
    ) -> Result<(Self, Lock), Error> {
        let target = find_target(location, current_dir)?;
        let root = target.root.clone();
        let shown = relative_to(&root, current_dir);
        let folder = ChangedFolder { root: &root, is_source: target.rules.is_some() };
        let lock = Lock::take(&lock_dir(folder, location)?, &shown, location)?;
        let recovered = recover(folder, location, current_dir)?;
        let store = Self::open_settled(location, current_dir, &root, &lock, builder)?;
        Ok((Self { recovered, ..store }, lock))
    }

    /// Opens a store to write, but first removes a redo log that is not this user's. Returns the names of such files.
    ///
    /// # Errors
    /// As there; `Failure` if such a log can't be removed.
    pub fn open_to_repair(location: &Location, current_dir: &Path) -> Result<(Self, Lock, Vec<String>), Error> {
        let root = find_root(location, current_dir)?;
        let lock = Lock::take(&root, &relative_to(&root, current_dir), location)?;
        let folder = ChangedFolder { root: &root, is_source: false };
        let is_removed = redo_log::remove_foreign(folder, location.cache.as_deref())?;
        drop(lock);
        let (store, lock) = Self::open_to_write(location, current_dir)?;
        Ok((store, lock, is_removed.then(|| PENDING_FILE.to_owned()).into_iter().collect()))
    }

    /// Opens a store once no other program is saving its files, and waits for that: a plan may depend on every note.
    fn open_settled(
        location: &Location,
        current_dir: &Path,
        root: &Path,
        lock: &Lock,
        builder: Option<IndexBuilderFactory>,
    ) -> Result<Self, Error> {
        let mut reads = 1;
        loop {
            let now = in_progress_writes::now(root);
            let (store, recent) = Self::open_target_since(location, current_dir, builder, now.map(lock::since))?;
            if reads == MAX_READS || now.is_none_or(|now| lock.wait_for_racy(&recent, now, location.waits)) {
                return Ok(store);
            }
            reads += 1;
        }
    }

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
        if let Some(note) = self.unsaved.get(path) {
            return Ok(note.parsed()?.text().as_bytes().to_vec());
        }
        let (collection, local_path) = self.locate(path);
        let dir = collection.dir.as_ref().ok_or(io::ErrorKind::NotFound);
        let bytes = dir.map_err(io::Error::from).and_then(|dir| dir.read(Path::new(local_path), u64::MAX));
        Ok(bytes.with_context(|| format!("can't read {}", self.shown(path)))?)
    }

    /// Removes the temporary files that crashed commands left. The lock guarantees that no command is writing them.
    ///
    /// # Errors
    /// `Failure`, naming a file that can't be removed.
    pub fn remove_stale_temp_files(&self, _lock: &Lock) -> Result<Vec<String>, Error> {
        let paths = self.stale_temp_files();
        for path in &paths {
            files::remove(&self.first().root.join(path))?;
        }
        Ok(paths)
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

    /// Applies changes in their order, all or none. After a crash the next command that writes applies the rest.
    ///
    /// # Errors
    /// `Failure`, naming a file that could not be written; `Store`, naming a note that could not be read for the plan.
    pub fn apply(&self, changes: &[Change], lock: &Lock) -> Result<(), Error> {
        self.expect_read_notes()?;
        redo_log::apply(self.changed_folder(), changes, lock)?;
        if !changes.is_empty() && self.first().about.reason == CollectionReason::MainWorktree {
            let note = format!("note: this changed the store of the main worktree, {}", self.shown_path);
            warnings::add_line(one_line(&note));
        }
        Ok(())
    }

    /// Returns the folder of the first collection, which commands change.
    pub(super) fn changed_folder(&self) -> ChangedFolder<'_> {
        ChangedFolder { root: &self.first().root, is_source: self.is_source() }
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
