//! The scan, which finds the files of notes and those that changed, and the index: their stats and records and the index of
//! their texts, so that unchanged files are not read again.
//!
//! The index can be deleted at any time. A file whose stat differs or was racy is read again; a damaged index counts as none.

pub(in crate::store) mod column_store;
pub(in crate::store) mod commit_scan;
pub(crate) mod container;
pub(in crate::store) mod dir_cache;
pub(super) mod excluded_files;
pub(crate) mod file_table;
pub(in crate::store) mod location;
pub(crate) mod racy_timestamps;
pub(in crate::store) mod record_builder;
pub(crate) mod record_fields;
pub(in crate::store) mod records;
pub(in crate::store) mod scan;
pub(in crate::store) mod sidecar;
pub(crate) mod source_scan;
mod stat_diff;
pub(in crate::store) mod writer;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::codec::blobs::BlobSource;
use crate::codec::lz4::decompress;
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::read_errors::ReadErrors;
use column_store::{COLUMN_GROUPS, ColumnStore};
use container::Container;
use file_table::{FILES_PER_BLOCK, FileCursor, PathBlock};
use location::{FILE, IndexLocation};
use sidecar::{IndexFingerprint, SidecarFile};

/// An index is written from this number of notes, or of bytes, on: fewer are read as fast.
pub(in crate::store) const MIN_NOTES: usize = 256;
pub(in crate::store) const MIN_BYTES: u64 = 512 * 1024;
/// The same number of commits, which are read by a process.
pub(in crate::store) const MIN_COMMITS: usize = 16;
/// An index is rewritten if more files changed than this, and more than one in [`CHANGED_SHARE`].
const MAX_CHANGED: usize = 100;
const CHANGED_SHARE: usize = 50;

/// The sections of the file. Those of the text index begin at the last one.
const HEADER_SECTION: usize = 0;
const FILES_SECTION: usize = 1;
const RECORDS_SECTION: usize = 2;
const TEXT_SECTION: usize = 3;

/// The longest header that is read, in bytes; that of 100,000 notes takes a few thousand.
const MAX_HEADER: u64 = 1 << 24;

/// The header of the index. Serialised in the order of the fields.
#[derive(Default, Serialize, Deserialize)]
struct IndexHeader {
    /// The time of the file system before the first stat, in nanoseconds.
    begun: i64,
    /// The assumed granularity of timestamps, in nanoseconds.
    granularity: i64,
    /// The key of the text index; empty if there is none.
    text_index: String,
    /// The compressed lengths of the blocks of the file table, in bytes.
    block_lens: Vec<u32>,
    /// For each column group of the records the compressed lengths of its chunks, in bytes.
    chunk_lens: [Vec<u32>; COLUMN_GROUPS],
}

pub(in crate::store) struct Index {
    header: IndexHeader,
    files: Vec<PathBlock>,
    container: Arc<Container>,
    errors: Arc<ReadErrors>,
    dir: Arc<DirHandle>,
}

impl Index {
    pub(crate) fn open(location: &IndexLocation<'_>) -> Option<Self> {
        location::dirs(location).find_map(Self::open_in)
    }

    fn open_in(dir: Arc<DirHandle>) -> Option<Self> {
        let container = Container::open(&dir, FILE)?;
        if container.len(HEADER_SECTION) > MAX_HEADER {
            return None;
        }
        let header: IndexHeader = postcard::from_bytes(&decompress(&container.whole(HEADER_SECTION)?)?).ok()?;
        let files = PathBlock::read_all(&container, FILES_SECTION, &header.block_lens)?;
        Some(Self { header, files, container: Arc::new(container), errors: Arc::default(), dir })
    }

    pub(in crate::store) fn sidecar(&self, file: &'static str) -> SidecarFile {
        SidecarFile::new(Arc::clone(&self.dir), file, self.fingerprint())
    }

    pub(crate) fn fingerprint(&self) -> IndexFingerprint {
        (self.header.begun, self.container.file_len, self.container.footer_crc)
    }

    /// Iterates over the files, sorted by path.
    pub(crate) fn files(&self) -> FileCursor<'_> {
        FileCursor::new(&self.files, 0, self.header.begun)
    }

    /// Iterates over the files block by block in parallel.
    pub(crate) fn parallel_files(&self) -> impl IndexedParallelIterator<Item = FileCursor<'_>> {
        let cursor = |(ordinal, block)| {
            FileCursor::new(std::slice::from_ref(block), ordinal * FILES_PER_BLOCK, self.header.begun)
        };
        self.files.par_iter().enumerate().map(cursor)
    }

    /// Returns the time of the file system with the index, in nanoseconds; `None` if it can't be written.
    pub(crate) fn now(&self) -> Option<i64> {
        self.dir.now().ok()
    }

    pub(in crate::store) fn errors(&self) -> Arc<ReadErrors> {
        Arc::clone(&self.errors)
    }

    pub(crate) fn records(&self) -> ColumnStore {
        ColumnStore::in_section(Arc::clone(&self.container), RECORDS_SECTION, &self.header.chunk_lens)
    }

    pub(crate) fn count(&self) -> usize {
        self.files.iter().map(PathBlock::len).sum()
    }

    /// Returns the text index if it has this key.
    pub(in crate::store) fn text_index(&self, key: &str) -> Option<Arc<dyn BlobSource>> {
        let (container, errors) = (Arc::clone(&self.container), self.errors());
        (self.header.text_index == key).then(|| Arc::new(TextSections { container, errors }) as Arc<dyn BlobSource>)
    }

    /// Whether so many files of a store changed that the index should be rewritten.
    pub(in crate::store) fn needs_rewrite(notes: usize, changed: usize) -> bool {
        changed > MAX_CHANGED.max(notes / CHANGED_SHARE)
    }
}

/// Removes the indexes of a store with their sidecar files, since one of them is damaged.
pub(in crate::store) fn discard(location: &IndexLocation<'_>) {
    for dir in location::dirs(location) {
        drop(dir.remove(FILE.as_ref()));
        sidecar::remove(&dir);
    }
}

#[derive(Debug)]
struct TextSections {
    container: Arc<Container>,
    errors: Arc<ReadErrors>,
}

impl BlobSource for TextSections {
    fn len(&self, part: usize) -> u64 {
        self.container.len(TEXT_SECTION + part)
    }

    fn read(&self, part: usize, range: Range<u64>) -> Option<Vec<u8>> {
        let bytes = self.container.read(TEXT_SECTION + part, range);
        if bytes.is_none() {
            self.mark_corrupt();
        }
        bytes
    }

    fn mark_corrupt(&self) {
        self.errors.mark_corrupt();
    }
}
