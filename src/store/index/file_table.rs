//! The file table of the index: the front-coded paths of the notes, sorted, and their stats.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::container::Container;
use crate::codec::lz4::decompress;
use crate::store::fs::stat::{FileEntry, FileStat};

/// The number of files in a block; the last block may have fewer.
pub(super) const FILES_PER_BLOCK: usize = 512;

/// A block of the file table.
#[derive(Default, Serialize, Deserialize)]
pub(in crate::store) struct PathBlock {
    /// The suffixes of the paths, concatenated: each path without the prefix that it shares with the one before it.
    suffixes: String,
    /// For each path the lengths of the shared prefix and of the suffix, in bytes.
    prefix_lens: Vec<(u16, u16)>,
    /// The stats, with times relative to the time at which the index was begun.
    stats: Vec<FileStat>,
}

impl PathBlock {
    /// Encodes files whose times are stored relative to `base`; `None` if a path is longer than a `u16` counts.
    pub(crate) fn of(files: &[FileEntry], base: i64) -> Option<Self> {
        let (mut block, mut before) = (Self::default(), "");
        for entry in files {
            let common = before.bytes().zip(entry.path.bytes()).take_while(|(a, b)| a == b).count();
            let common = entry.path.floor_char_boundary(common);
            let suffix = entry.path.get(common..)?;
            block.suffixes.push_str(suffix);
            block.prefix_lens.push((u16::try_from(common).ok()?, u16::try_from(suffix.len()).ok()?));
            block.stats.push(entry.stat.encode_deltas(base));
            before = &entry.path;
        }
        Some(block)
    }

    /// Reads all blocks of a section; `lengths` are their compressed lengths in bytes. `None` if one is damaged.
    pub(in crate::store) fn read_all(container: &Container, section: usize, lengths: &[u32]) -> Option<Vec<Self>> {
        let mut end = 0;
        let range = |length: &u32| {
            let start = end;
            end += u64::from(*length);
            start..end
        };
        let ranges: Vec<Range<u64>> = lengths.iter().map(range).collect();
        let read = |(ordinal, range)| {
            let block: Self = postcard::from_bytes(&decompress(&container.read(section, range)?)?).ok()?;
            let is_full = block.stats.len() == FILES_PER_BLOCK || ordinal + 1 == lengths.len();
            (is_full && block.prefix_lens.len() == block.stats.len()).then_some(block)
        };
        ranges.into_par_iter().enumerate().map(read).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.stats.len()
    }

    /// Returns the stat of a file by its position in the block; `begun` is the time that its times are relative to.
    pub(in crate::store) fn stat(&self, position: usize, begun: i64) -> Option<FileStat> {
        Some(self.stats.get(position)?.decode_deltas(begun))
    }
}

/// A cursor over the file table. Decodes one path at a time: all together would take as much memory as those of the store.
pub(in crate::store) struct FileCursor<'a> {
    begun: i64,
    blocks: std::slice::Iter<'a, PathBlock>,
    /// The current block, the suffixes behind the current one, and the position of the next file in the block.
    block: Option<&'a PathBlock>,
    suffixes: &'a str,
    position: usize,
    pub(crate) path: String,
    next_slot: usize,
}

impl<'a> FileCursor<'a> {
    /// Makes a cursor before `blocks`, whose first file has the slot `slot`. Stats are relative to the time `begun`.
    pub(crate) fn new(blocks: &'a [PathBlock], slot: usize, begun: i64) -> Self {
        let (blocks, path) = (blocks.iter(), String::new());
        Self { begun, blocks, block: None, suffixes: "", position: 0, path, next_slot: slot }
    }

    /// Moves to the next file and returns its stat; `None` behind the last one.
    pub(crate) fn step(&mut self) -> Option<FileStat> {
        if self.block.is_none_or(|block| self.position == block.len()) {
            let block = self.blocks.next()?;
            (self.block, self.suffixes, self.position) = (Some(block), &block.suffixes, 0);
            self.path.clear();
        }
        let block = self.block?;
        let (common, length) = *block.prefix_lens.get(self.position)?;
        let stat = block.stat(self.position, self.begun)?;
        let (suffix, rest) = self.suffixes.split_at_checked(usize::from(length))?;
        self.path.get(usize::from(common)..)?;
        self.path.truncate(usize::from(common));
        self.path.push_str(suffix);
        self.suffixes = rest;
        self.position += 1;
        self.next_slot += 1;
        Some(stat)
    }

    /// Returns the slot of the current file; only after [`FileCursor::step`] returned one.
    pub(in crate::store) fn slot(&self) -> usize {
        self.next_slot - 1
    }
}
