//! Parts: bytes that were made of notes and kept, so that they need not be made again.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use crate::note::Note;

/// How many bytes one byte can stand for in what is packed.
const MAX_PACKED: usize = 16;
/// Stands for the length where a section is not packed, since it would be packed more than that.
const NOT_PACKED: u32 = u32::MAX;

/// Parts that were kept, by their numbers.
pub trait BlobSource: Debug + Send + Sync {
    /// Returns the length of a part in bytes; 0 where there is none.
    fn len(&self, part: usize) -> u64;

    /// Returns bytes of a part; `None` where they can't be read as they were written.
    fn read(&self, part: usize, range: Range<u64>) -> Option<Vec<u8>>;

    /// Takes note that what was kept makes no sense: answers that were made of it are wrong.
    fn tell_broken(&self);

    /// Returns a whole part; none of it where it can't be read.
    fn whole(&self, part: usize) -> Option<Vec<u8>> {
        self.read(part, 0..self.len(part))
    }
}

/// Takes in notes, some at a time, and makes parts of them.
pub trait IndexBuilder: Send {
    /// Names what parts are made, and how. Parts of another name are of no use.
    fn key(&self) -> String;

    /// Returns what the next notes are given to, one for each thread: at the same time each takes some notes that
    /// follow one another, the first one the first of them.
    fn readers(&mut self) -> Vec<&mut dyn IndexWorker>;

    /// Takes in the notes that were read since it did so last.
    fn take(&mut self);

    /// Returns the parts.
    fn parts(self: Box<Self>) -> Vec<ByteChunks>;
}

/// Reads notes for whoever gathers something of them, one after the other: none is needed any longer then.
pub trait IndexWorker: Send {
    /// Reads the next note.
    fn read(&mut self, note: &Note);
}

/// What was gathered of a store's notes.
#[derive(Debug, Clone)]
pub struct TextIndex {
    /// The parts.
    pub parts: Arc<dyn BlobSource>,
    /// For each note that was taken in, in that order, its place in the store; `None` where it is no
    /// longer what it was.
    pub places: Vec<Option<usize>>,
}

/// Parts in memory, each in pieces that are one behind the other.
#[derive(Debug, Default)]
pub struct MemoryBlobs(pub Vec<ByteChunks>);

/// A part in pieces: one that is large need not be moved to be whole.
pub type ByteChunks = Vec<Vec<u8>>;

impl BlobSource for MemoryBlobs {
    fn len(&self, part: usize) -> u64 {
        self.0.get(part).map_or(0, |pieces| pieces.iter().map(|piece| piece.len() as u64).sum())
    }

    fn read(&self, part: usize, range: Range<u64>) -> Option<Vec<u8>> {
        let (mut start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        let mut missing = end.checked_sub(start)?;
        let mut bytes = Vec::new();
        for piece in self.0.get(part)? {
            if let Some(rest) = piece.get(start..) {
                let now = rest.get(..missing).unwrap_or(rest);
                bytes.extend_from_slice(now);
                missing -= now.len();
            }
            start = start.saturating_sub(piece.len());
        }
        (missing == 0 && start == 0).then_some(bytes)
    }

    fn tell_broken(&self) {}
}

/// Packs bytes.
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let packed = lz4_flex::block::compress(bytes);
    match u32::try_from(bytes.len()) {
        Ok(len) if len != NOT_PACKED && bytes.len() / MAX_PACKED <= packed.len() => {
            [&len.to_le_bytes(), packed.as_slice()].concat()
        }
        _ => [&NOT_PACKED.to_le_bytes(), bytes].concat(),
    }
}

/// Unpacks what [`pack`] made.
pub fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    let (len, packed) = bytes.split_first_chunk::<4>()?;
    if u32::from_le_bytes(*len) == NOT_PACKED {
        return Some(packed.to_vec());
    }
    let len = u32::from_le_bytes(*len) as usize;
    // No byte stands for more than this many: what is small stays small.
    (len / MAX_PACKED <= packed.len()).then(|| lz4_flex::block::decompress(packed, len).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_as_if_they_were_one() {
        let whole = b"one two three";
        let pieces = [&b"one"[..], b"", b" two", b" three"].map(<[u8]>::to_vec);
        let parts = MemoryBlobs(vec![Vec::new(), pieces.to_vec()]);
        assert_eq!((parts.len(0), parts.len(1), parts.len(2)), (0, 13, 0));
        for start in 0..=15 {
            for end in 0..=15 {
                let read = parts.read(1, start as u64..end as u64);
                assert_eq!(read.as_deref(), whole.get(start..end), "{start}..{end}");
            }
        }
        assert_eq!((parts.whole(0), parts.whole(2)), (Some(Vec::new()), None));
        assert_eq!(parts.read(0, 0..1), None);
    }
}
