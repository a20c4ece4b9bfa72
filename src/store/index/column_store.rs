//! What is kept of notes, packed some hundred at a time, so that a call unpacks what it looks at.

use std::sync::Arc;

use rayon::prelude::*;

use super::container::Container;
use crate::codec::lz4::{compress, decompress};
use crate::note::{CHUNK, PARTS, RecordColumnsBuilder};

/// Packed chunks by part, in memory or in a file.
#[derive(Debug)]
pub(super) enum ColumnStore {
    DirCache([Vec<Vec<u8>>; PARTS]),
    /// In a section, one behind the other, and where each ends.
    File(Arc<Container>, usize, [Vec<u64>; PARTS]),
}

impl ColumnStore {
    /// Takes chunks that are as long as `lengths` says from a section.
    pub(super) fn of_file(sections: Arc<Container>, section: usize, lengths: &[Vec<u32>; PARTS]) -> Self {
        let mut end = 0;
        let mut next = |length: &u32| {
            end += u64::from(*length);
            end
        };
        let ends = std::array::from_fn(|part| {
            // The first is where the chunks of the part begin.
            let ends: Vec<u64> =
                std::iter::once(&0).chain(lengths.get(part).into_iter().flatten()).map(&mut next).collect();
            ends
        });
        Self::File(sections, section, ends)
    }

    /// Returns a chunk as [`Keeping::chunk`] made it.
    pub(super) fn chunk(&self, part: usize, number: usize) -> Option<Vec<u8>> {
        match self {
            Self::DirCache(chunks) => decompress(chunks.get(part)?.get(number)?),
            Self::File(sections, section, ends) => {
                let ends = ends.get(part)?;
                decompress(&sections.read(*section, *ends.get(number)?..*ends.get(number + 1)?)?)
            }
        }
    }
}

/// Chunks in the making.
#[derive(Default)]
pub(super) struct ColumnStoreWriter {
    chunks: [Vec<Vec<u8>>; PARTS],
    /// The notes that do not fill a chunk yet.
    waiting: RecordColumnsBuilder,
}

impl ColumnStoreWriter {
    /// Takes what is kept of the next notes.
    pub(super) fn add<'a>(&mut self, notes: impl Iterator<Item = &'a RecordColumnsBuilder>) {
        notes.for_each(|notes| self.waiting.append(notes));
        self.pack(self.waiting.count() / CHUNK * CHUNK);
    }

    /// Returns the chunks of all notes.
    pub(super) fn finish(mut self) -> [Vec<Vec<u8>>; PARTS] {
        self.pack(self.waiting.count());
        self.chunks
    }

    fn pack(&mut self, count: usize) {
        let starts: Vec<usize> = (0..count).step_by(CHUNK).collect();
        for (part, chunks) in self.chunks.iter_mut().enumerate() {
            let chunk = |start: &usize| compress(&self.waiting.chunk(part, *start..count.min(start + CHUNK)));
            chunks.par_extend(starts.par_iter().map(chunk));
        }
        self.waiting.remove_first(count);
    }
}
