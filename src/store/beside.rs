//! What belongs to one index, in files beside it.
//!
//! Each names the notes that it was made of: those of the index, and what was changed since.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::files::{TEMPORARY, TEMPORARY_CHARS};
use super::index::FILE as INDEX;
use super::sections::{Sections, Writer};

/// The files in the index's folder: what was made of all notes, and what the store's folders hold.
pub(super) const LINKS: &str = "links.index";
pub(super) const FOLDERS: &str = "folders.index";
pub(super) const FILES: [&str; 2] = [LINKS, FOLDERS];

/// The sections of the file.
const HEAD: usize = 0;
const MADE: usize = 1;

/// What tells an index from every other one: when it was begun, the length of its file, and the checksum of
/// its table, which holds all others.
type Identity = (i64, u64, u32);

/// A place beside an index.
#[derive(Debug)]
pub(super) struct Beside {
    folder: PathBuf,
    file: &'static str,
    index: Identity,
    /// Tells the notes that were changed since from all others.
    changes: [u8; 32],
}

impl Beside {
    /// Names one of the places beside an index.
    pub(super) fn new(folder: PathBuf, file: &'static str, index: Identity) -> Self {
        Self { folder, file, index, changes: [0; 32] }
    }

    /// Says in what the notes differ from those of the index: the paths of files that were read, with
    /// the hash of each, and the places of notes in the index that are not there as it knows them.
    /// `None` where that can't be told.
    pub(super) fn with_changes(self, read: &[(&str, Box<[u8; 32]>)], gone: Vec<usize>) -> Option<Self> {
        let changes = postcard::to_allocvec(&(read, gone)).ok()?;
        Some(Self { changes: Sha256::digest(&changes).into(), ..self })
    }

    /// Returns what was written under a name; `None` where there is none that can be used.
    pub(super) fn read(&self, key: &str) -> Option<Vec<u8>> {
        let sections = Sections::open(&self.folder.join(self.file))?;
        let head = self.head(key)?;
        let is_it = sections.len(HEAD) == head.len() as u64 && sections.whole(HEAD)? == head;
        is_it.then(|| sections.whole(MADE))?
    }

    /// Writes what is made under a name, in place of what is there. `None` where it did not work out.
    pub(super) fn write(&self, key: &str, make: impl FnOnce() -> Option<Vec<u8>>) -> Option<()> {
        // Beside another index, it would only be in the way.
        let index = Sections::open(&self.folder.join(INDEX))?;
        if self.index != (self.index.0, index.file_len(), index.sum()) {
            return None;
        }
        let file = tempfile::Builder::new().prefix(TEMPORARY).rand_bytes(TEMPORARY_CHARS).tempfile_in(&self.folder);
        let mut file = file.ok()?;
        let mut writer = Writer::new(file.as_file_mut()).ok()?;
        writer.section(&self.head(key)?).ok()?;
        writer.section(&make()?).ok()?;
        writer.finish().ok()?;
        file.persist(self.folder.join(self.file)).ok()?;
        Some(())
    }

    /// Names what is in the file.
    fn head(&self, key: &str) -> Option<Vec<u8>> {
        postcard::to_allocvec(&(self.index, self.changes, key)).ok()
    }
}

/// Returns how long the files in a folder are together.
pub(super) fn len(folder: &Path) -> u64 {
    let files = FILES.iter().filter_map(|file| folder.join(file).symlink_metadata().ok());
    files.filter(Metadata::is_file).map(|found| found.len()).sum()
}

/// Removes the files in a folder.
pub(super) fn remove(folder: &Path) {
    FILES.iter().for_each(|file| drop(fs::remove_file(folder.join(file))));
}
