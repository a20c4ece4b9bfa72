//! The column store: the compressed chunks of the records, so that a command decompresses only the columns that it reads.

use std::sync::Arc;

use super::container::Container;
use crate::codec::lz4::decompress;
use crate::codec::offsets::Offsets;

/// The number of notes whose columns are compressed together.
pub(super) const NOTES_PER_CHUNK: usize = 256;

/// The column groups of a record, the most often read first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnGroup {
    KeyFields,
    IdentityFields,
    ListFields,
    Links,
    RelationFields,
    Cold,
}

pub(in crate::store) const COLUMN_GROUPS: usize = ColumnGroup::Cold as usize + 1;

/// Compressed chunks by column group, in memory or in a file.
#[derive(Debug)]
pub(in crate::store) enum ColumnStore {
    Memory([Vec<Vec<u8>>; COLUMN_GROUPS]),
    /// A section of a container. For each column group the offset of its first chunk, then the end of each chunk.
    Section(Arc<Container>, usize, [Vec<u64>; COLUMN_GROUPS]),
}

impl ColumnStore {
    /// Opens the chunks in a section; `lengths` are their compressed lengths in bytes, by column group.
    pub(super) fn in_section(container: Arc<Container>, section: usize, lengths: &[Vec<u32>; COLUMN_GROUPS]) -> Self {
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
    pub(super) fn chunk(&self, group: ColumnGroup, ordinal: usize) -> Option<ColumnChunk> {
        let bytes = match self {
            Self::Memory(chunks) => decompress(chunks[group as usize].get(ordinal)?),
            Self::Section(container, section, offsets) => {
                let offsets = &offsets[group as usize];
                decompress(&container.read(*section, *offsets.get(ordinal)?..*offsets.get(ordinal + 1)?)?)
            }
        };
        ColumnChunk::open(bytes?)
    }
}

/// One column group of [`NOTES_PER_CHUNK`] notes; the last chunk may have fewer.
#[derive(Debug, Default)]
pub(super) struct ColumnChunk {
    /// The offsets of the rows, relative to `start`.
    rows: Offsets,
    /// The offset of the first row in `bytes`.
    start: usize,
    bytes: Vec<u8>,
}

impl ColumnChunk {
    /// Decodes the offsets of a chunk: the lengths of the rows are in front of them.
    fn open(bytes: Vec<u8>) -> Option<Self> {
        let (lengths, rest): (Vec<u32>, _) = postcard::take_from_bytes(&bytes).ok()?;
        let start = bytes.len() - rest.len();
        Some(Self { rows: Offsets::of_lengths(lengths)?, start, bytes })
    }

    /// Returns a row; empty if the chunk has no such row.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        self.rows.row(row, self.bytes.get(self.start..).unwrap_or_default())
    }
}
