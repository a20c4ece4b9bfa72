//! An index that was built in this call: written, and read from its file or from memory.

use std::sync::Arc;

use super::note_idx::NoteIdx;
use super::text_index_builder::TextIndex;
use crate::codec::blobs::{BlobSource, ByteChunks, MemoryBlobs};
use crate::store::fs::read_errors::ReadErrors;
use crate::store::fs::stat::FileEntry;
use crate::store::index::Index;
use crate::store::index::column_store::{COLUMN_GROUPS, ColumnStore};
use crate::store::index::location::IndexLocation;
use crate::store::index::sidecar::{IndexFingerprint, LINKS, SidecarFile, TERMS};
use crate::store::index::writer::IndexWriter;

/// An index that was built in this call, of all notes.
pub(super) struct BuiltIndex {
    /// The compressed chunks of each column group.
    pub(in crate::store) records: [Vec<Vec<u8>>; COLUMN_GROUPS],
    /// The key of the text index and its parts.
    pub(in crate::store) text_index: Option<(String, Vec<ByteChunks>)>,
}

/// Where the fields and texts of notes are read from.
pub(super) struct IndexSource {
    pub(in crate::store) records: ColumnStore,
    pub(in crate::store) text_index: Option<TextIndex>,
    pub(in crate::store) errors: Arc<ReadErrors>,
    /// The caches for data that is derived from exactly these notes, and for merged terms.
    pub(in crate::store) sidecar: Option<SidecarFile>,
    pub(in crate::store) terms: Option<SidecarFile>,
}

impl BuiltIndex {
    /// Writes the index. `None` if it can't be written.
    pub(in crate::store) fn write(&self, writer: IndexWriter, files: &[FileEntry]) -> Option<IndexFingerprint> {
        let parts = self.text_index.as_ref().map(|(key, parts)| (key.clone(), parts.as_slice()));
        writer.write(files, &self.records, parts)
    }

    /// Returns the index of `notes` notes in memory.
    pub(super) fn in_memory(self, notes: usize) -> IndexSource {
        let blobs = self.text_index.map(|(_, parts)| Arc::new(MemoryBlobs(parts)) as Arc<dyn BlobSource>);
        IndexSource {
            records: ColumnStore::Memory(self.records),
            text_index: blobs.map(|blobs| of_all(notes, blobs, None)),
            errors: Arc::default(),
            sidecar: None,
            terms: None,
        }
    }

    /// Returns the index that was written, of `notes` notes: its file takes no memory. `None` if another process has
    /// replaced it.
    pub(in crate::store) fn in_file(
        &self,
        location: &IndexLocation<'_>,
        written: IndexFingerprint,
        notes: usize,
    ) -> Option<IndexSource> {
        let index = Index::open(location).filter(|index| index.fingerprint() == written)?;
        let blobs = self.text_index.as_ref().map(|(key, _)| index.text_index(key).ok_or(()));
        Some(IndexSource {
            records: index.records(),
            text_index: blobs.transpose().ok()?.map(|blobs| of_all(notes, blobs, Some(written))),
            errors: index.errors(),
            sidecar: index.sidecar(LINKS).for_delta(&[], Vec::new()),
            terms: Some(index.sidecar(TERMS)),
        })
    }
}

/// Returns a text index whose documents are the notes of a store in their order.
fn of_all(notes: usize, blobs: Arc<dyn BlobSource>, fingerprint: Option<IndexFingerprint>) -> TextIndex {
    TextIndex { blobs, notes: NoteIdx::all(notes).map(Some).collect(), fingerprint }
}
