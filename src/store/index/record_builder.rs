//! Builds the records of notes and compresses them for the column store.

use std::ops::Range;

use rayon::prelude::*;
use serde::Serialize;

use super::column_store::{COLUMN_GROUPS, NOTES_PER_CHUNK};
use super::record_fields::{ColdFieldsRef, IdentityFields, LinkFields, ListFields, RelationFields};
use crate::codec::lz4::compress;
use crate::note::{EncodedTarget, Note, NoteId, shown_chars};

/// A builder of record columns, fed note by note.
#[derive(Debug, Default)]
pub(in crate::store) struct RecordColumnsBuilder {
    columns: [ColumnBuilder; COLUMN_GROUPS],
    /// Reused for the rows of all notes.
    scratch: Vec<u8>,
}

/// One column group of the notes added so far.
#[derive(Debug, Default)]
struct ColumnBuilder {
    /// The end of each row in `bytes`.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl RecordColumnsBuilder {
    /// Appends the record of a note. Counts the characters of its body and parses the body for links.
    pub(crate) fn add(&mut self, note: &Note) {
        let lists = if note.is_moc() { note.ordered_lists() } else { Vec::new() };
        let lists = lists.iter().map(|list| list.iter().map(EncodedTarget::of).collect()).collect();
        let id = Some(note.id.as_str()).filter(|_| NoteId::from_path(&note.path) != note.id);
        let identity = IdentityFields {
            id,
            body_chars: Some(note.body_chars()),
            summary_chars: note.summary().map(shown_chars),
            ..IdentityFields::of(note)
        };
        let Self { columns: [identities, list_fields, links, relations, cold], scratch } = self;
        append(&identity, scratch, &mut identities.bytes);
        append(&ListFields::of(note), scratch, &mut list_fields.bytes);
        append(&LinkFields::of(note), scratch, &mut links.bytes);
        append(&RelationFields { lists, ..RelationFields::of(note) }, scratch, &mut relations.bytes);
        append(&ColdFieldsRef::of(note), scratch, &mut cold.bytes);
        self.columns.iter_mut().for_each(|column| column.ends.push(column.bytes.len()));
    }

    fn append(&mut self, other: &Self) {
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            let before = column.bytes.len();
            column.ends.extend(other.ends.iter().map(|end| before + end));
            column.bytes.extend_from_slice(&other.bytes);
        }
    }

    pub(crate) fn clear(&mut self) {
        for column in &mut self.columns {
            column.bytes.clear();
            column.ends.clear();
        }
    }

    fn remove_first(&mut self, count: usize) {
        for column in &mut self.columns {
            let start = column.row_start(count);
            column.bytes.drain(..start);
            column.ends.drain(..count.min(column.ends.len()));
            column.ends.iter_mut().for_each(|end| *end -= start);
        }
    }

    fn count(&self) -> usize {
        self.columns.first().map_or(0, |column| column.ends.len())
    }

    /// Encodes one column group of some records: the lengths of the rows, then the rows.
    fn chunk(&self, group: usize, records: Range<usize>) -> Vec<u8> {
        let Some(column) = self.columns.get(group) else { return Vec::new() };
        let length = |record| column.row_start(record + 1) - column.row_start(record);
        let lengths: Vec<usize> = records.clone().map(length).collect();
        let mut bytes = postcard::to_allocvec(&lengths).unwrap_or_default();
        let range = column.row_start(records.start)..column.row_start(records.end);
        bytes.extend_from_slice(column.bytes.get(range).unwrap_or_default());
        bytes
    }
}

impl ColumnBuilder {
    /// Returns the offset at which a row begins; for the ordinal behind the last row, the length of the column.
    fn row_start(&self, row: usize) -> usize {
        row.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(self.bytes.len()))
    }
}

/// Serialises a value with postcard and appends it to `to`; `scratch` is reused. Writing into memory can't fail; if it
/// did, the record would be unreadable and the note would be read from its file.
fn append(value: &impl Serialize, scratch: &mut Vec<u8>, to: &mut Vec<u8>) {
    scratch.clear();
    *scratch = postcard::to_extend(value, std::mem::take(scratch)).unwrap_or_default();
    to.extend_from_slice(scratch);
}

#[derive(Default)]
pub(in crate::store) struct ColumnStoreWriter {
    chunks: [Vec<Vec<u8>>; COLUMN_GROUPS],
    /// The records that do not fill a chunk yet.
    waiting: RecordColumnsBuilder,
}

impl ColumnStoreWriter {
    pub(crate) fn add<'a>(&mut self, batches: impl Iterator<Item = &'a RecordColumnsBuilder>) {
        batches.for_each(|records| self.waiting.append(records));
        self.compress(self.waiting.count() / NOTES_PER_CHUNK * NOTES_PER_CHUNK);
    }

    /// Returns the compressed chunks of all records, by column group.
    pub(crate) fn finish(mut self) -> [Vec<Vec<u8>>; COLUMN_GROUPS] {
        self.compress(self.waiting.count());
        self.chunks
    }

    fn compress(&mut self, count: usize) {
        let starts: Vec<usize> = (0..count).step_by(NOTES_PER_CHUNK).collect();
        for (group, chunks) in self.chunks.iter_mut().enumerate() {
            let chunk =
                |start: &usize| compress(&self.waiting.chunk(group, *start..count.min(start + NOTES_PER_CHUNK)));
            chunks.par_extend(starts.par_iter().map(chunk));
        }
        self.waiting.remove_first(count);
    }
}
