//! Blobs: byte strings that are read by ordinal and range, from memory or from a file.

use std::fmt::Debug;
use std::ops::Range;

/// A blob in consecutive chunks, so that a large one need not be copied to be contiguous.
pub type ByteChunks = Vec<Vec<u8>>;

/// Random access to blobs, which are numbered from 0.
pub trait BlobSource: Debug + Send + Sync {
    /// Returns the length of a blob in bytes; 0 if it does not exist.
    fn len(&self, blob: usize) -> u64;

    /// Returns a byte range of a blob; `None` if it is out of bounds or corrupt.
    fn read(&self, blob: usize, range: Range<u64>) -> Option<Vec<u8>>;

    /// Marks the source as corrupt: answers that were computed from it are wrong and must be discarded.
    fn mark_corrupt(&self);

    /// Returns a whole blob; `None` if it is corrupt.
    fn read_whole(&self, blob: usize) -> Option<Vec<u8>> {
        self.read(blob, 0..self.len(blob))
    }
}

/// Blobs in memory, each in consecutive chunks.
#[derive(Debug, Default)]
pub struct MemoryBlobs(pub Vec<ByteChunks>);

impl BlobSource for MemoryBlobs {
    fn len(&self, blob: usize) -> u64 {
        self.0.get(blob).map_or(0, |chunks| chunks.iter().map(|chunk| chunk.len() as u64).sum())
    }

    fn read(&self, blob: usize, range: Range<u64>) -> Option<Vec<u8>> {
        let (mut start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        let mut missing = end.checked_sub(start)?;
        let mut bytes = Vec::new();
        for chunk in self.0.get(blob)? {
            if let Some(rest) = chunk.get(start..) {
                let part = rest.get(..missing).unwrap_or(rest);
                bytes.extend_from_slice(part);
                missing -= part.len();
            }
            start = start.saturating_sub(chunk.len());
        }
        (missing == 0 && start == 0).then_some(bytes)
    }

    fn mark_corrupt(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_read_as_one_blob() {
        let whole = b"one two three";
        let chunks = [&b"one"[..], b"", b" two", b" three"].map(<[u8]>::to_vec);
        let blobs = MemoryBlobs(vec![Vec::new(), chunks.to_vec()]);
        assert_eq!((blobs.len(0), blobs.len(1), blobs.len(2)), (0, 13, 0));
        for start in 0..=15 {
            for end in 0..=15 {
                let read = blobs.read(1, start as u64..end as u64);
                assert_eq!(read.as_deref(), whole.get(start..end), "{start}..{end}");
            }
        }
        assert_eq!((blobs.read_whole(0), blobs.read_whole(2)), (Some(Vec::new()), None));
        assert_eq!(blobs.read(0, 0..1), None);
    }
}
