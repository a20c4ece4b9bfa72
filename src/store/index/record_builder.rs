//! Builds the records of notes and compresses them for the column store.

use rayon::prelude::*;
use serde::Serialize;

use super::column_store::{COLUMN_GROUPS, NOTES_PER_CHUNK};
use super::record_fields::{ColdFields, IdentityFields, KeyFields, LinkFields, ListFields, RelationFields};
use crate::codec::lz4::compress;
use crate::note::{EncodedTarget, Note, shown_chars};

/// A builder of record columns, fed note by note: for each column group the rows of the notes added so far.
#[derive(Debug, Default)]
pub(in crate::store) struct RecordColumnsBuilder([Vec<Vec<u8>>; COLUMN_GROUPS]);

impl RecordColumnsBuilder {
    /// Appends the record of a note. Counts the characters of its body and parses the body for links.
    pub(crate) fn add(&mut self, note: &Note) {
        let lists = if note.is_moc() { note.ordered_lists() } else { Vec::new() };
        let lists = lists.iter().map(|list| list.iter().map(EncodedTarget::of).collect()).collect();
        let identity = IdentityFields {
            body_chars: Some(note.body_chars()),
            summary_chars: note.summary().map(shown_chars),
            ..IdentityFields::of(note)
        };
        let rows = [
            row(&KeyFields::of(note)),
            row(&identity),
            row(&ListFields::of(note)),
            row(&LinkFields::of(note)),
            row(&RelationFields { lists, ..RelationFields::of(note) }),
            ColdFields::to_bytes(note),
        ];
        self.0.iter_mut().zip(rows).for_each(|(column, row)| column.push(row));
    }
}

/// Serialises a column group of a note. Writing into memory can't fail; if it did, the record would be unreadable and the
/// note would be read from its file.
fn row(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).unwrap_or_default()
}

/// Encodes one column group of some records: the lengths of the rows, then the rows.
fn chunk(rows: &[Vec<u8>]) -> Vec<u8> {
    let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
    [row(&lengths), rows.concat()].concat()
}

#[derive(Default)]
pub(in crate::store) struct ColumnStoreWriter {
    chunks: [Vec<Vec<u8>>; COLUMN_GROUPS],
    /// The records that do not fill a chunk yet.
    waiting: RecordColumnsBuilder,
}

impl ColumnStoreWriter {
    /// Takes the records of workers, in the order of their notes.
    pub(crate) fn add<'a>(&mut self, batches: impl Iterator<Item = &'a mut RecordColumnsBuilder>) {
        for records in batches {
            self.waiting.0.iter_mut().zip(&mut records.0).for_each(|(column, rows)| column.append(rows));
        }
        self.compress(|count| count / NOTES_PER_CHUNK * NOTES_PER_CHUNK);
    }

    /// Returns the compressed chunks of all records, by column group.
    pub(crate) fn finish(mut self) -> [Vec<Vec<u8>>; COLUMN_GROUPS] {
        self.compress(|count| count);
        self.chunks
    }

    /// Compresses as many of the waiting records as `some` says of their number.
    fn compress(&mut self, some: impl Fn(usize) -> usize) {
        for (column, chunks) in self.waiting.0.iter_mut().zip(&mut self.chunks) {
            let rows: Vec<Vec<u8>> = column.drain(..some(column.len())).collect();
            chunks.par_extend(rows.par_chunks(NOTES_PER_CHUNK).map(|rows| compress(&chunk(rows))));
        }
    }
}
