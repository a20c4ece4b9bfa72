//! Postings of one batch of documents, in the order of the documents.

use super::{FieldTermFreqs, LONG, PACKED_BITS};
use crate::search::ids::TermId;

/// The number of shards of the vocabulary: as many threads can sort postings.
pub(super) const SHARDS: usize = 4;

/// Returns the shard of a term and the id of the term in it.
pub(super) fn shard(term: TermId) -> (usize, u32) {
    (term.index() % SHARDS, (term.index() / SHARDS) as u32)
}

/// A packed posting: the low bits, below [`ID_LIMIT`], contain the id of the term in its shard (after sorting: the id of
/// the document in its run), the high [`PACKED_BITS`] bits the packed frequencies.
pub(super) type PackedPosting = u32;

/// The most documents of a run, and the most terms of a shard; more terms would exceed the memory.
pub(super) const ID_LIMIT: u32 = 1 << (u32::BITS - PACKED_BITS);

/// The frequencies that overflow a packed posting: the term in its shard, the document, and the frequencies.
pub(super) type LongPosting = (u32, u32, FieldTermFreqs);

/// Unsorted postings, by shard of the vocabulary.
#[derive(Default)]
pub(crate) struct PostingsBuffer {
    pub(super) shards: [ShardBuffer; SHARDS],
    pub(super) documents: u32,
}

/// Unsorted postings of one shard.
#[derive(Default)]
pub(super) struct ShardBuffer {
    pub(super) postings: Vec<PackedPosting>,
    /// The end of the postings of each document.
    ends: Vec<usize>,
    pub(super) long: Vec<LongPosting>,
}

impl ShardBuffer {
    pub(super) fn documents(&self) -> impl Iterator<Item = &[PackedPosting]> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |end| self.postings.get(std::mem::replace(&mut start, *end)..*end).unwrap_or_default())
    }
}

impl PostingsBuffer {
    /// Reserves capacity for about `postings` postings.
    pub(crate) fn reserve(&mut self, postings: usize) {
        self.shards.iter_mut().for_each(|buffer| buffer.postings.reserve_exact(postings / SHARDS));
    }

    /// Removes all documents, but keeps the capacity.
    pub(crate) fn clear(&mut self) {
        for ShardBuffer { postings, ends, long } in &mut self.shards {
            postings.clear();
            ends.clear();
            long.clear();
        }
        self.documents = 0;
    }

    pub(crate) fn add<'a>(&mut self, postings: impl Iterator<Item = (TermId, &'a FieldTermFreqs)>) {
        for (term, freqs) in postings {
            let (shard, term) = shard(term);
            debug_assert!(term < ID_LIMIT, "a shard has fewer terms");
            let buffer = &mut self.shards[shard];
            let packed = freqs.pack();
            buffer.postings.push(packed as u32 * ID_LIMIT + term);
            if packed == LONG {
                buffer.long.push((term, self.documents, *freqs));
            }
        }
        self.shards.iter_mut().for_each(|buffer| buffer.ends.push(buffer.postings.len()));
        self.documents += 1;
    }
}
