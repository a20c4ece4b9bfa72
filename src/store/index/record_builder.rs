//! Builds the records of notes and compresses them for the column store.

use rayon::prelude::*;
use serde::Serialize;

use super::column_store::{COLUMN_GROUPS, NOTES_PER_CHUNK};
use super::record_fields::{ColdFields, IdentityFields, KeyFields, LinkFields, ListFields, RelationFields};
use crate::codec::lz4::compress;
use crate::note::{EncodedTarget, Note, shown_chars};

/// A builder of record columns, fed note by note: for each column group the rows of the notes added so far.
#[derive(Debug, Default)]
pub(in crate::store) struct RecordColumnsBuilder([Rows; COLUMN_GROUPS]);

/// The rows of a column group, one after another.
#[derive(Debug, Default)]
struct Rows {
    lengths: Vec<usize>,
    bytes: Vec<u8>,
}

impl Rows {
    /// Appends a row. Writing into memory can't fail; if it did, the record would be unreadable and the note would be read
    /// from its file.
    fn push(&mut self, value: &impl Serialize) {
        let start = self.bytes.len();
        if postcard::to_extend(value, Appender(&mut self.bytes)).is_err() {
            self.bytes.truncate(start);
        }
        self.lengths.push(self.bytes.len() - start);
    }

    /// Moves the rows of another to the end. Its memory is freed.
    fn append(&mut self, rows: &mut Self) {
        let Self { lengths, bytes } = std::mem::take(rows);
        self.lengths.extend(lengths);
        self.bytes.extend(bytes);
    }

    /// Removes the first rows and returns their compressed chunks.
    fn compress(&mut self, count: usize) -> Vec<Vec<u8>> {
        let (mut chunks, mut rest) = (Vec::new(), self.bytes.as_slice());
        for lengths in self.lengths.get(..count).unwrap_or_default().chunks(NOTES_PER_CHUNK) {
            let (rows, behind) = rest.split_at_checked(lengths.iter().sum()).unwrap_or_default();
            chunks.push((lengths, rows));
            rest = behind;
        }
        let compressed = chunks.into_par_iter().map(|(lengths, rows)| compress(&chunk(lengths, rows))).collect();
        let end = self.bytes.len() - rest.len();
        self.lengths.drain(..count);
        self.bytes.drain(..end);
        compressed
    }
}

/// Appends what is serialized to bytes.
struct Appender<'a>(&'a mut Vec<u8>);

impl Extend<u8> for Appender<'_> {
    fn extend<T: IntoIterator<Item = u8>>(&mut self, bytes: T) {
        self.0.extend(bytes);
    }
}

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
        let [of_key, of_identity, of_lists, of_links, of_relations, of_rest] = &mut self.0;
        of_key.push(&KeyFields::of(note));
        of_identity.push(&identity);
        of_lists.push(&ListFields::of(note));
        of_links.push(&LinkFields::of(note));
        of_relations.push(&RelationFields { lists, ..RelationFields::of(note) });
        of_rest.push(&ColdFields::of(note));
    }
}

/// Encodes one column group of some records: the lengths of the rows, then the rows.
fn chunk(lengths: &[usize], rows: &[u8]) -> Vec<u8> {
    let mut bytes = postcard::to_allocvec(lengths).unwrap_or_default();
    bytes.extend_from_slice(rows);
    bytes
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
            chunks.extend(column.compress(some(column.lengths.len())));
        }
    }
}
