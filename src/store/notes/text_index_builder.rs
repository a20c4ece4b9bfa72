//! The interface between the store, which reads notes, and the index of their texts, which is built meanwhile.

use std::sync::Arc;

use super::note_idx::NoteIdx;
use crate::codec::blobs::{BlobSource, ByteChunks};
use crate::note::Note;
use crate::store::collections::config::Config;
use crate::store::index::sidecar::IndexFingerprint;

/// Creates the builder of a text index.
pub type IndexBuilderFactory = fn(&Config) -> Box<dyn TextIndexBuilder>;

/// The number of notes that are read before their postings are merged. More would be a little faster and take more memory.
pub const NOTES_PER_BATCH: usize = 10_240;

/// Builds an index from notes, batch by batch, so that no note is read twice or kept in memory.
pub trait TextIndexBuilder: Send {
    /// Returns the key of what is built. Blobs that were stored under another key are not read.
    fn key(&self) -> String;

    /// Returns the workers for the next batch, one for each thread. They read consecutive notes in their order.
    fn workers(&mut self) -> Vec<&mut dyn TextIndexWorker>;

    /// Ends a batch: adds the notes that the workers have read since the last one.
    fn end_batch(&mut self);

    /// Returns the blobs of the index.
    fn finish(self: Box<Self>) -> Vec<ByteChunks>;
}

/// A per-thread worker of an [`TextIndexBuilder`]. It receives each note once; the note is dropped afterwards.
pub trait TextIndexWorker: Send {
    /// Reads the next note.
    fn read(&mut self, note: &Note);
}

/// A stored index of texts, and the notes of the store that it covers.
#[derive(Debug, Clone)]
pub struct TextIndex {
    /// The blobs that [`TextIndexBuilder::finish`] returned.
    pub blobs: Arc<dyn BlobSource>,
    /// For each indexed document, the position of its note in the store; `None` if the note was changed or deleted.
    pub notes: Vec<Option<NoteIdx>>,
    /// The identity of the file that it is stored in; `None` if it is in memory only.
    pub(in crate::store) fingerprint: Option<IndexFingerprint>,
}
