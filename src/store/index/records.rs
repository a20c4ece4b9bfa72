//! The records of notes in the index: everything about a note but its text.
//!
//! A column group of [`NOTES_PER_CHUNK`] notes is compressed together and decompressed when the first of them is read.

use std::sync::{Arc, OnceLock};

use super::column_store::{COLUMN_GROUPS, ColumnChunk, ColumnGroup, ColumnStore, NOTES_PER_CHUNK};
use super::location::IndexLocation;
use super::record_fields::{ColdFields, IdentityFields, LinkFields, ListFields, RelationFields};
use crate::note::Dialect;
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::read_errors::ReadErrors;

/// The records of an index, or of an index being built.
#[derive(Debug)]
pub(in crate::store) struct RecordColumns {
    /// For each column group its chunks, decompressed when first read.
    chunks: [Vec<OnceLock<ColumnChunk>>; COLUMN_GROUPS],
    store: ColumnStore,
    /// The store's folder, where the files of the notes are.
    pub(crate) dir: Arc<DirHandle>,
    /// The dialect of the notes' files.
    pub(crate) dialect: Dialect,
    pub(in crate::store) errors: Arc<ReadErrors>,
}

/// A reference to the record of one note.
#[derive(Debug, Clone)]
pub(in crate::store) struct RecordRef {
    pub(crate) columns: Arc<RecordColumns>,
    slot: usize,
}

impl RecordColumns {
    pub(crate) fn new(
        count: usize,
        store: ColumnStore,
        location: &IndexLocation<'_>,
        errors: &Arc<ReadErrors>,
    ) -> Self {
        let dialect = location.dialect();
        let chunks = || (0..count.div_ceil(NOTES_PER_CHUNK)).map(|_| OnceLock::new()).collect();
        Self {
            chunks: std::array::from_fn(|_| chunks()),
            store,
            dir: Arc::clone(location.dir),
            dialect,
            errors: Arc::clone(errors),
        }
    }

    /// Returns one column group of a record; empty if there is none or it can't be read.
    fn row(&self, slot: usize, group: ColumnGroup) -> &[u8] {
        let ordinal = slot / NOTES_PER_CHUNK;
        let Some(chunk) = self.chunks[group as usize].get(ordinal) else { return &[] };
        chunk.get_or_init(|| self.store.chunk(group, ordinal).unwrap_or_default()).row(slot % NOTES_PER_CHUNK)
    }
}

/// Each method decodes one column group, O(length of the row) after the first read of its chunk. `None` means that the
/// index is damaged, which is recorded in [`ReadErrors`].
impl RecordRef {
    pub(crate) fn new(columns: &Arc<RecordColumns>, slot: usize) -> Self {
        Self { columns: Arc::clone(columns), slot }
    }

    pub(crate) fn identity(&self) -> Option<IdentityFields<'_>> {
        self.checked(postcard::from_bytes(self.row(ColumnGroup::IdentityFields)).ok())
    }

    pub(crate) fn list_fields(&self) -> Option<ListFields<'_>> {
        self.checked(postcard::from_bytes(self.row(ColumnGroup::ListFields)).ok())
    }

    pub(crate) fn link_fields(&self) -> Option<LinkFields<'_>> {
        self.checked(postcard::from_bytes(self.row(ColumnGroup::Links)).ok())
    }

    pub(crate) fn relations(&self) -> Option<RelationFields<'_>> {
        self.checked(postcard::from_bytes(self.row(ColumnGroup::RelationFields)).ok())
    }

    /// Decodes the tags alone, which are first.
    pub(crate) fn tags(&self) -> Option<Vec<&str>> {
        let fields: Option<(Vec<&str>, _)> = postcard::take_from_bytes(self.row(ColumnGroup::RelationFields)).ok();
        self.checked(fields).map(|(tags, _rest)| tags)
    }

    /// Decodes the aliases alone, which are behind the tags.
    pub(crate) fn aliases(&self) -> Option<Vec<&str>> {
        let fields: Option<((Vec<&str>, Vec<&str>), _)> =
            postcard::take_from_bytes(self.row(ColumnGroup::RelationFields)).ok();
        self.checked(fields).map(|((_tags, aliases), _rest)| aliases)
    }

    pub(in crate::store) fn cold_fields(&self) -> Option<ColdFields> {
        self.checked(postcard::from_bytes(self.row(ColumnGroup::Cold)).ok())
    }

    fn row(&self, group: ColumnGroup) -> &[u8] {
        self.columns.row(self.slot, group)
    }

    fn checked<T>(&self, read: Option<T>) -> Option<T> {
        if read.is_none() {
            self.columns.errors.mark_corrupt();
        }
        read
    }
}
