//! What belongs to one index, in files beside it.
//!
//! Each names the notes that it was made of: those of the index, and what was changed since.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::container::{Container, ContainerWriter};
use super::dir_handle::{DirHandle, TempFile};
use super::index::FILE as INDEX;

/// The files in the index's folder: what was made of all notes, and what the store's folders hold.
pub(super) const LINKS: &str = "links.index";
pub(super) const FOLDERS: &str = "folders.index";
pub(super) const FILES: [&str; 2] = [LINKS, FOLDERS];

/// The sections of the file.
const HEAD: usize = 0;
const MADE: usize = 1;

/// What tells an index from every other one: when it was begun, the length of its file, and the checksum of
/// its table, which holds all others.
type IndexFingerprint = (i64, u64, u32);

/// A place beside an index.
#[derive(Debug)]
pub(super) struct SidecarFile {
    folder: Arc<DirHandle>,
    file: &'static str,
    index: IndexFingerprint,
    /// Tells the notes that were changed since from all others.
    changes: [u8; 32],
}

impl SidecarFile {
    /// Names one of the places beside an index.
    pub(super) fn new(folder: Arc<DirHandle>, file: &'static str, index: IndexFingerprint) -> Self {
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
        let sections = Container::open(&self.folder, self.file)?;
        let head = self.head(key)?;
        let is_it = sections.len(HEAD) == head.len() as u64 && sections.whole(HEAD)? == head;
        is_it.then(|| sections.whole(MADE))?
    }

    /// Writes what is made under a name, in place of what is there. `None` where it did not work out.
    pub(super) fn write(&self, key: &str, make: impl FnOnce() -> Option<Vec<u8>>) -> Option<()> {
        // Beside another index, it would only be in the way.
        let index = Container::open(&self.folder, INDEX)?;
        if self.index != (self.index.0, index.file_len(), index.sum()) {
            return None;
        }
        let mut staged = TempFile::new(Arc::clone(&self.folder)).ok()?;
        let mut writer = ContainerWriter::new(&mut staged.file).ok()?;
        writer.section(&self.head(key)?).ok()?;
        writer.section(&make()?).ok()?;
        writer.finish().ok()?;
        staged.replace(self.file).ok()
    }

    /// Names what is in the file.
    fn head(&self, key: &str) -> Option<Vec<u8>> {
        postcard::to_allocvec(&(self.index, self.changes, key)).ok()
    }
}

/// Returns how long the files in a folder are together.
pub(super) fn len(folder: &DirHandle) -> u64 {
    FILES.iter().filter_map(|file| folder.look(file.as_ref()).ok()?).map(|look| look.size).sum()
}

/// Removes the files in a folder.
pub(super) fn remove(folder: &DirHandle) {
    FILES.iter().for_each(|file| drop(folder.remove(file.as_ref())));
}
