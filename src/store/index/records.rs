//! The records of notes in the index: everything about a note but its text.
//!
//! A column group of [`NOTES_PER_CHUNK`] notes is compressed together and decompressed when the first of them is read.

use std::sync::{Arc, OnceLock};

use super::column_store::{COLUMN_GROUPS, ColumnChunk, ColumnGroup, ColumnStore, NOTES_PER_CHUNK};
use super::location::IndexLocation;
use super::record_fields::{ColdFields, IdentityFields, KeyFields, LinkFields, ListFields, RelationFields};
use crate::note::Dialect;
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::read_errors::ReadErrors;

/// The records of an index, or of an index being built.
#[derive(Debug)]
pub(in crate::store) struct RecordColumns {
    store: ColumnStore,
    /// The store's folder, where the files of the notes are.
    pub(crate) dir: Arc<DirHandle>,
    /// The dialect of the notes' files.
    pub(crate) dialect: Dialect,
    pub(in crate::store) errors: Arc<ReadErrors>,
}

/// The records of consecutive notes. References to one count apart from those to others: threads that make them would
/// wait for each other.
#[derive(Debug)]
pub(in crate::store) struct RecordChunk {
    columns: Arc<RecordColumns>,
    ordinal: usize,
    /// For each column group its chunk, decompressed when it is first read.
    groups: [OnceLock<ColumnChunk>; COLUMN_GROUPS],
}

/// A reference to the record of one note.
#[derive(Debug, Clone)]
pub(in crate::store) struct RecordRef {
    chunk: Arc<RecordChunk>,
    row: usize,
}

impl RecordColumns {
    /// Returns the records of `count` notes.
    pub(crate) fn chunks(
        count: usize,
        store: ColumnStore,
        location: &IndexLocation<'_>,
        errors: &Arc<ReadErrors>,
    ) -> Vec<Arc<RecordChunk>> {
        let (dir, errors) = (Arc::clone(location.dir), Arc::clone(errors));
        let columns = Arc::new(Self { store, dir, dialect: location.dialect(), errors });
        let chunk = |ordinal| RecordChunk { columns: Arc::clone(&columns), ordinal, groups: Default::default() };
        (0..count.div_ceil(NOTES_PER_CHUNK)).map(|ordinal| Arc::new(chunk(ordinal))).collect()
    }
}

impl RecordChunk {
    /// Returns one column group of a record; empty if there is none or it can't be read.
    fn row(&self, row: usize, group: ColumnGroup) -> &[u8] {
        let read = || self.columns.store.chunk(group, self.ordinal).unwrap_or_default();
        self.groups[group as usize].get_or_init(read).row(row)
    }
}

/// Each method decodes one column group, O(length of the row) after the first read of its chunk. `None` means that the
/// index is damaged, which is recorded in [`ReadErrors`].
impl RecordRef {
    /// Returns a reference to the record with a slot; `None` if there is none.
    pub(crate) fn new(chunks: &[Arc<RecordChunk>], slot: usize) -> Option<Self> {
        let chunk = chunks.get(slot / NOTES_PER_CHUNK)?;
        Some(Self { chunk: Arc::clone(chunk), row: slot % NOTES_PER_CHUNK })
    }

    pub(crate) fn columns(&self) -> &RecordColumns {
        &self.chunk.columns
    }

    pub(crate) fn key_fields(&self) -> Option<KeyFields<'_>> {
        self.checked(postcard::from_bytes(self.row(ColumnGroup::KeyFields)).ok())
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
        self.chunk.row(self.row, group)
    }

    fn checked<T>(&self, read: Option<T>) -> Option<T> {
        if read.is_none() {
            self.columns().errors.mark_corrupt();
        }
        read
    }
}
