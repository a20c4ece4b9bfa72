//! Sidecar files: derived data beside an index, valid only for that index and the same changes of notes since.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::container::{Container, ContainerWriter};
use super::location::FILE as INDEX;
use crate::store::fs::dir_handle::{DirHandle, TempFile};

pub(in crate::store) const LINKS: &str = "links.index";
pub(in crate::store) const FOLDERS: &str = "folders.index";
pub(in crate::store) const TERMS: &str = "terms.index";
const FILES: [&str; 3] = [LINKS, FOLDERS, TERMS];

/// The sections of the file: the key, and the data.
const KEY_SECTION: usize = 0;
const PAYLOAD_SECTION: usize = 1;

/// The identity of an index: the time at which it was begun, its length, and the checksum of its footer.
pub(in crate::store) type IndexFingerprint = (i64, u64, u32);

#[derive(Debug)]
pub(in crate::store) struct SidecarFile {
    dir: Arc<DirHandle>,
    file: &'static str,
    index: IndexFingerprint,
    /// The SHA-256 of the changes of notes since the index was written.
    delta: [u8; 32],
}

impl SidecarFile {
    /// Names a sidecar file that does not depend on changes of notes.
    pub(crate) fn new(dir: Arc<DirHandle>, file: &'static str, index: IndexFingerprint) -> Self {
        Self { dir, file, index, delta: [0; 32] }
    }

    /// Binds the sidecar to index and delta: the paths and content hashes of the files that were read again, and the slots
    /// of the index that are not in use. `None` if the delta can't be serialised.
    pub(in crate::store) fn for_delta(self, read: &[(&str, Box<[u8; 32]>)], unused: Vec<usize>) -> Option<Self> {
        let delta = postcard::to_allocvec(&(read, unused)).ok()?;
        Some(Self { delta: Sha256::digest(&delta).into(), ..self })
    }

    /// Reads the data with a key; `None` if there is none for this index and delta.
    pub(crate) fn read(&self, key: &str) -> Option<Vec<u8>> {
        let container = Container::open(&self.dir, self.file)?;
        let key = self.full_key(key)?;
        let is_match = container.len(KEY_SECTION) == key.len() as u64 && container.whole(KEY_SECTION)? == key;
        is_match.then(|| container.whole(PAYLOAD_SECTION))?
    }

    /// Computes the data with a key and replaces the file. `None` if it can't be written, or there is nothing to write.
    pub(crate) fn write(&self, key: &str, compute: impl FnOnce() -> Option<Vec<u8>>) -> Option<()> {
        // Another process may have replaced the index.
        let index = Container::open(&self.dir, INDEX)?;
        if self.index != (self.index.0, index.file_len, index.footer_crc) {
            return None;
        }
        let mut staged = TempFile::new(Arc::clone(&self.dir)).ok()?;
        let mut writer = ContainerWriter::new(&mut staged.file).ok()?;
        writer.section(&self.full_key(key)?).ok()?;
        writer.section(&compute()?).ok()?;
        writer.finish().ok()?;
        staged.replace(self.file).ok()
    }

    fn full_key(&self, key: &str) -> Option<Vec<u8>> {
        postcard::to_allocvec(&(self.index, self.delta, key)).ok()
    }
}

pub(in crate::store) fn remove(dir: &DirHandle) {
    FILES.iter().for_each(|file| drop(dir.remove(file.as_ref())));
}
