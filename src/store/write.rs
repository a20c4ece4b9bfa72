//! Changing a store: under a lock, inside its folder, each file whole or not at all.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::lock::{self, Lock};
use super::redo_log::{self, base64_bytes};
use super::{
    Config, Location, NOTE_FOLDERS, PENDING_FILE, Store, exchange::ATTACHMENTS, files, find_root, open_root, racy,
    relative_to,
};
use crate::error::{Error, ErrorKind};
use crate::note::{MAX_BYTES, Note};

/// How often a store is read until no other program seems to be saving a note. A file that is written all the time can
/// be read, and is not changed.
const MAX_READS: usize = 5;

/// One change of a file. Paths are inside the store, with `/` between names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// A file that is not there yet.
    Create {
        /// Where.
        path: String,
        /// Its bytes.
        #[serde(with = "base64_bytes")]
        new: Vec<u8>,
    },
    /// Another text for a file.
    Replace {
        /// Which.
        path: String,
        /// Its bytes before.
        #[serde(with = "base64_bytes")]
        old: Vec<u8>,
        /// Its bytes after.
        #[serde(with = "base64_bytes")]
        new: Vec<u8>,
    },
    /// Another place, and maybe another text, for a file.
    Move {
        /// From where.
        from: String,
        /// To where; nothing is there.
        to: String,
        /// Its bytes before.
        #[serde(with = "base64_bytes")]
        old: Vec<u8>,
        /// Its bytes after.
        #[serde(with = "base64_bytes")]
        new: Vec<u8>,
    },
    /// A file that goes away.
    Delete {
        /// Which.
        path: String,
        /// Its bytes.
        #[serde(with = "base64_bytes")]
        old: Vec<u8>,
    },
}

impl Change {
    /// Returns the file's path when the change is done.
    pub fn path(&self) -> &str {
        match self {
            Self::Create { path, .. } | Self::Replace { path, .. } | Self::Delete { path, .. } => path,
            Self::Move { to, .. } => to,
        }
    }

    /// Returns the file's path before the change is done.
    pub(super) fn source(&self) -> &str {
        match self {
            Self::Create { path, .. } | Self::Replace { path, .. } | Self::Delete { path, .. } => path,
            Self::Move { from, .. } => from,
        }
    }

    /// Returns the word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "created",
            Self::Replace { .. } => "changed",
            Self::Move { .. } => "renamed",
            Self::Delete { .. } => "deleted",
        }
    }

    /// Writes the change as a unified diff; `store` is the store's path as it is shown.
    pub fn diff(&self, store: &str) -> String {
        let (from, to, old, new) = match self {
            Self::Create { path, new } => (None, Some(path), [].as_slice(), new.as_slice()),
            Self::Replace { path, old, new } => (Some(path), Some(path), old.as_slice(), new.as_slice()),
            Self::Move { from, to, old, new } => (Some(from), Some(to), old.as_slice(), new.as_slice()),
            Self::Delete { path, old } => (Some(path), None, old.as_slice(), [].as_slice()),
        };
        let name = |path: Option<&String>| path.map_or("/dev/null".to_owned(), |path| format!("{store}{path}"));
        unified(&name(from), &name(to), &String::from_utf8_lossy(old), &String::from_utf8_lossy(new))
    }
}

/// Writes the difference between two texts of a file as a unified diff; none is no file.
pub(crate) fn diff(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    unified(name(old), name(new), old.unwrap_or_default(), new.unwrap_or_default())
}

fn unified(from: &str, to: &str, old: &str, new: &str) -> String {
    similar::TextDiff::from_lines(old, new).unified_diff().header(from, to).to_string()
}

/// Finishes what a writer that died had begun.
fn finish(root: &Path, shown: &str, cache: Option<&Path>) -> Result<usize, Error> {
    redo_log::finish(root, cache).map_err(|error| {
        let message = format!("{shown}{PENDING_FILE}, a list of changes, can't be carried out: {error:#}");
        Error::new(ErrorKind::Store, message)
            .hint("look into it (its texts are in base64), then remove it; `qipu doctor --fix` does that too")
    })
}

impl Store {
    /// Opens a store to change it: takes the lock, then loads what is there.
    ///
    /// # Errors
    /// As [`Store::open`]; `Busy` when another command holds the lock for too long, `Failure` when it can't be had, as
    /// on a read-only disk.
    pub fn open_to_write(location: &Location, current_dir: &Path) -> Result<(Self, Lock), Error> {
        let root = find_root(location, current_dir)?;
        Config::load(&*open_root(&root)?)?;
        let shown = relative_to(&root, current_dir);
        let lock = Lock::take(&root, &shown, location)?;
        let finished = finish(&root, &shown, location.cache.as_deref())?;
        let store = Self::open_settled(location, current_dir, &root, &lock)?;
        Ok((Self { finished, ..store }, lock))
    }

    /// Opens a store to mend it: as [`Store::open_to_write`], but a list of changes that nobody carries out is
    /// removed. Returns the paths of what was removed, in the store.
    ///
    /// # Errors
    /// As there; `Failure` when such a list can't be removed.
    pub fn open_to_mend(location: &Location, current_dir: &Path) -> Result<(Self, Lock, Vec<String>), Error> {
        let root = find_root(location, current_dir)?;
        let lock = Lock::take(&root, &relative_to(&root, current_dir), location)?;
        let is_removed = redo_log::remove_foreign(&root, location.cache.as_deref())?;
        drop(lock);
        let (store, lock) = Self::open_to_write(location, current_dir)?;
        Ok((store, lock, is_removed.then(|| PENDING_FILE.to_owned()).into_iter().collect()))
    }

    /// Opens a store whose files no other program is saving. It waits for that: a plan may depend on every note.
    fn open_settled(location: &Location, current_dir: &Path, root: &Path, lock: &Lock) -> Result<Self, Error> {
        let mut reads = 1;
        loop {
            let now = racy::now(root);
            let (store, recent) = Self::open_since(location, current_dir, None, now.map(lock::since))?;
            if reads == MAX_READS || now.is_none_or(|now| lock.settle(&recent, now, location.waits)) {
                return Ok(store);
            }
            reads += 1;
        }
    }

    /// Reads the whole text of a note's file, to change it.
    ///
    /// # Errors
    /// `Store` when the file is not UTF-8 or too long, and so can't be changed without loss.
    pub fn text_of(&self, note: &Note) -> Result<String, Error> {
        let shown = format!("{}{}", self.shown_path, note.path);
        let bytes = self.bytes_of(note)?;
        if bytes.len() > MAX_BYTES {
            return Err(Error::new(ErrorKind::Store, format!("{shown} is longer than {MAX_BYTES} bytes")));
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Error::new(ErrorKind::Store, format!("{shown} is not UTF-8 from byte {at} on"))
                .hint("convert the file to UTF-8 first; qipu does not change bytes that it can't read")
        })
    }

    /// Reads a note's file as it is.
    ///
    /// # Errors
    /// `Failure` when it can't be read.
    pub fn bytes_of(&self, note: &Note) -> Result<Vec<u8>, Error> {
        self.read_bytes(&note.path)
    }

    /// Reads a file of the store, by its path in the store.
    ///
    /// # Errors
    /// `Failure` when it can't be read.
    pub(crate) fn read_bytes(&self, path: &str) -> Result<Vec<u8>, Error> {
        files::read_step();
        let dir = self.dir.as_ref().ok_or(io::ErrorKind::NotFound);
        let bytes = dir.map_err(io::Error::from).and_then(|dir| dir.read(Path::new(path), u64::MAX));
        Ok(bytes.with_context(|| format!("can't read {}", self.shown(path)))?)
    }

    /// Removes what writers that died left behind; nobody else writes while the lock is held.
    ///
    /// # Errors
    /// `Failure`, naming the file that can't be removed.
    pub fn remove_left_over(&self, _lock: &Lock) -> Result<Vec<String>, Error> {
        let paths = self.left_over();
        for path in &paths {
            files::remove(&self.root.join(path))?;
        }
        Ok(paths)
    }

    /// Returns the real path of a note's file, for a program that edits it.
    pub(crate) fn real_path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns the store as it would be after changes, in memory.
    pub(crate) fn after(&self, changes: &[Change]) -> Self {
        let (mut gone, mut come) = (HashSet::new(), Vec::new());
        for change in changes {
            let (old, new) = match change {
                Change::Create { path, new } => (None, Some((path, new))),
                Change::Replace { path, new, .. } => (Some(path), Some((path, new))),
                Change::Move { from, to, new, .. } => (Some(from), Some((to, new))),
                Change::Delete { path, .. } => (Some(path), None),
            };
            gone.extend(old);
            come.extend(new);
        }
        let mut notes = self.notes.clone();
        notes.retain(|note| !gone.contains(&note.path));
        notes.extend(come.into_iter().map(|(path, bytes)| Arc::new(Note::parse(path, bytes.clone()))));
        Self::from_shared(self.shown_path.clone(), self.config.clone(), notes, None)
    }

    /// Carries changes out in their order, all or none. Each file is the old one or the new one at
    /// every moment; what a crash interrupts, the next writer finishes.
    ///
    /// # Errors
    /// `Failure`, naming the file that could not be written; nothing is changed then.
    pub fn apply(&self, changes: &[Change], lock: &Lock) -> Result<(), Error> {
        Ok(redo_log::apply(&self.root, changes, lock)?)
    }
}

/// Returns the real path of a file inside the store, and makes its folder.
pub(super) fn inside(root: &Path, path: &str) -> Result<PathBuf> {
    let is_plain = |part: Component<'_>| match part {
        Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    let mut names = Path::new(path).components();
    let folder = names.clone().next().map(|first| first.as_os_str().to_owned()).unwrap_or_default();
    let is_note = NOTE_FOLDERS.iter().any(|name| folder == *name) && path.ends_with(".md");
    let is_ours = is_note || folder == ATTACHMENTS;
    if !is_ours || names.clone().count() < 2 || !names.all(is_plain) {
        bail!("`{path}` is no place for a note or an attachment");
    }
    let path = root.join(path);
    let folder = path.parent().unwrap_or(root);
    // Nothing is made before it is clear where it would be.
    let there = folder.ancestors().find(|folder| folder.symlink_metadata().is_ok()).unwrap_or(root);
    if !there.canonicalize().is_ok_and(|there| there.starts_with(root)) {
        bail!("{} leads out of the store", folder.display());
    }
    fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))?;
    Ok(path)
}
