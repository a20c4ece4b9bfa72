//! The column store: the compressed chunks of the records, so that a command decompresses only the columns that it reads.

use std::sync::Arc;

use rayon::prelude::*;

use super::container::Container;
use super::records::{COLUMN_GROUPS, NOTES_PER_CHUNK, RecordColumnsBuilder};
use crate::codec::lz4::{compress, decompress};

/// Compressed chunks by column group, in memory or in a file.
#[derive(Debug)]
pub(crate) enum ColumnStore {
    Memory([Vec<Vec<u8>>; COLUMN_GROUPS]),
    /// A section of a container. For each column group the offset of its first chunk, then the end of each chunk.
    Section(Arc<Container>, usize, [Vec<u64>; COLUMN_GROUPS]),
}

impl ColumnStore {
    /// Opens the chunks in a section; `lengths` are their compressed lengths in bytes, by column group.
    pub(crate) fn in_section(container: Arc<Container>, section: usize, lengths: &[Vec<u32>; COLUMN_GROUPS]) -> Self {
        let mut end = 0;
        let offsets = lengths.each_ref().map(|lengths| {
            let mut offsets = vec![end];
            for length in lengths {
                end += u64::from(*length);
                offsets.push(end);
            }
            offsets
        });
        Self::Section(container, section, offsets)
    }

    /// Decompresses a chunk of a column group; `None` if it does not exist or is damaged.
    pub(crate) fn chunk(&self, group: usize, ordinal: usize) -> Option<Vec<u8>> {
        match self {
            Self::Memory(chunks) => decompress(chunks.get(group)?.get(ordinal)?),
            Self::Section(container, section, offsets) => {
                let offsets = offsets.get(group)?;
                decompress(&container.read(*section, *offsets.get(ordinal)?..*offsets.get(ordinal + 1)?)?)
            }
        }
    }
}

/// The writer of a column store.
#[derive(Default)]
pub(crate) struct ColumnStoreWriter {
    chunks: [Vec<Vec<u8>>; COLUMN_GROUPS],
    /// The records that do not fill a chunk yet.
    waiting: RecordColumnsBuilder,
}

impl ColumnStoreWriter {
    /// Appends records.
    pub(crate) fn add<'a>(&mut self, batches: impl Iterator<Item = &'a RecordColumnsBuilder>) {
        batches.for_each(|records| self.waiting.append(records));
        self.compress(self.waiting.count() / NOTES_PER_CHUNK * NOTES_PER_CHUNK);
    }

    /// Returns the compressed chunks of all records, by column group.
    pub(crate) fn finish(mut self) -> [Vec<Vec<u8>>; COLUMN_GROUPS] {
        self.compress(self.waiting.count());
        self.chunks
    }

    /// Compresses the first `count` waiting records, in parallel.
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
