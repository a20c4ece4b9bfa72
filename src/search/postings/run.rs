//! Sorted runs: the postings of one batch by term. Those of all batches but the last are compressed, so that a large store
//! takes little more memory than its lists.

use super::buffer::{ID_LIMIT, LongPosting, PackedPosting, ShardBuffer};
use super::{FieldTermFreqs, LONG, ONCE_IN_BODY};
use crate::codec::offsets::Offsets;
use crate::codec::varint::{self, VarintReader};

/// The runs of a shard, in the order of their documents.
#[derive(Default)]
pub(super) struct ShardRuns {
    compressed: Vec<CompressedRun>,
    last: Option<SortedRun>,
}

/// Postings of consecutive documents, sorted by (term in the shard, document).
pub(super) struct SortedRun {
    /// The first document: ids in the run are relative to it.
    first: u32,
    /// The postings of each term.
    ends: Offsets,
    postings: Vec<PackedPosting>,
    /// Sorted like the postings.
    long: Vec<LongPosting>,
}

impl SortedRun {
    /// Sorts buffered postings by (term, document) with a counting sort. `terms` is the size of the shard's vocabulary.
    /// Each buffer comes with the id of its first document. O(terms + postings).
    pub(super) fn new(terms: usize, first: u32, buffers: &[(u32, &ShardBuffer)]) -> Self {
        let mut ends = vec![0; terms];
        for posting in buffers.iter().flat_map(|(_, buffer)| &buffer.postings) {
            ends[(posting % ID_LIMIT) as usize] += 1;
        }
        let mut sum = 0;
        for count in &mut ends {
            sum += std::mem::replace(count, sum);
        }
        // The starts of the terms; each becomes an end while its postings are written.
        let (mut postings, mut long) = (vec![0; sum as usize], Vec::new());
        for (start, buffer) in buffers {
            let start = start - first;
            for (doc, unsorted) in (start..).zip(buffer.documents()) {
                for posting in unsorted {
                    let end = &mut ends[(posting % ID_LIMIT) as usize];
                    postings[*end as usize] = posting / ID_LIMIT * ID_LIMIT + doc;
                    *end += 1;
                }
            }
            long.extend(buffer.long.iter().map(|(term, doc, freqs)| (*term, start + doc, *freqs)));
        }
        long.sort_unstable_by_key(|(term, doc, _)| (*term, *doc));
        Self { first, ends: Offsets::from_ends(ends), postings, long }
    }

    fn long_freqs(&self, term: u32, doc: u32) -> FieldTermFreqs {
        let found = self.long.binary_search_by_key(&(term, doc), |(term, doc, _)| (*term, *doc));
        debug_assert!(found.is_ok(), "each long posting has its frequencies");
        found.ok().and_then(|index| self.long.get(index)).map(|(_, _, freqs)| *freqs).unwrap_or_default()
    }

    /// Calls `visit` with each posting of a term: the document, the packed frequencies, and these in full if they overflow.
    #[inline]
    fn visit(&self, term: u32, mut visit: impl FnMut(u32, u64, Option<FieldTermFreqs>)) {
        for posting in self.ends.row(term as usize, &self.postings) {
            let (doc, packed) = (posting % ID_LIMIT, u64::from(posting / ID_LIMIT));
            let long = (packed == LONG).then(|| self.long_freqs(term, doc));
            visit(self.first + doc, packed, long);
        }
    }
}

/// A sorted run in few bytes.
struct CompressedRun {
    first: u32,
    /// The terms that occur, ascending.
    terms: Box<[u32]>,
    /// The list of each of these terms.
    ends: Offsets,
    /// For each posting the gap from the document before it and whether frequencies follow, as a varint; these if the term
    /// does not occur once, in the body: packed in a byte, or [`LONG`] and in full.
    bytes: Box<[u8]>,
}

impl CompressedRun {
    fn new(run: &SortedRun) -> Self {
        let (mut terms, mut ends, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for term in 0..run.ends.row_count() as u32 {
            let (before, mut next) = (bytes.len(), run.first);
            run.visit(term, |doc, packed, long| {
                varint::write(&mut bytes, u64::from(doc - next) << 1 | u64::from(packed != ONCE_IN_BODY));
                if packed != ONCE_IN_BODY {
                    bytes.push(packed as u8);
                }
                long.iter().for_each(|freqs| freqs.write_bytes(&mut bytes));
                next = doc + 1;
            });
            if bytes.len() > before {
                terms.push(term);
                ends.push(bytes.len() as u32);
            }
        }
        // Copied, since an allocation that only shrinks may keep its memory.
        let (terms, bytes) = (terms.as_slice().into(), bytes.as_slice().into());
        Self { first: run.first, terms, ends: Offsets::from_ends(ends.as_slice().to_vec()), bytes }
    }

    /// Calls `visit` with each posting of the term at a position, as [`SortedRun::visit`] does.
    fn visit(&self, position: usize, mut visit: impl FnMut(u32, u64, Option<FieldTermFreqs>)) {
        let (mut list, mut next) = (VarintReader(self.ends.row(position, &self.bytes)), self.first);
        while let Some(value) = list.read_u64() {
            let doc = next + (value >> 1) as u32;
            let packed = if value & 1 == 0 { ONCE_IN_BODY } else { u64::from(list.read_byte().unwrap_or_default()) };
            let long = (packed == LONG).then(|| FieldTermFreqs::read_bytes(&mut list).unwrap_or_default());
            visit(doc, packed, long);
            next = doc + 1;
        }
    }
}

impl ShardRuns {
    /// Adds the run behind those before it, whose documents come first.
    pub(super) fn push(&mut self, run: SortedRun) {
        if let Some(before) = self.last.replace(run) {
            self.compressed.push(CompressedRun::new(&before));
        }
    }

    /// Returns a reader of the postings of terms that ascend.
    pub(super) fn cursor(&self) -> RunsCursor<'_> {
        RunsCursor { runs: self, positions: Vec::new() }
    }
}

/// Reads the postings of a shard, for terms that ascend.
pub(super) struct RunsCursor<'a> {
    runs: &'a ShardRuns,
    /// The position of the next term in each compressed run; empty before the first term.
    positions: Vec<usize>,
}

impl RunsCursor<'_> {
    /// Calls `visit` with each posting of a term, in the order of the documents, as [`SortedRun::visit`] does.
    #[inline]
    pub(super) fn visit(&mut self, term: u32, mut visit: impl FnMut(u32, u64, Option<FieldTermFreqs>)) {
        let ShardRuns { compressed, last } = self.runs;
        if self.positions.is_empty() {
            let position = |run: &CompressedRun| run.terms.partition_point(|known| *known < term);
            self.positions = compressed.iter().map(position).collect();
        }
        for (run, position) in compressed.iter().zip(&mut self.positions) {
            while run.terms.get(*position).is_some_and(|known| *known < term) {
                *position += 1;
            }
            if run.terms.get(*position) == Some(&term) {
                run.visit(*position, &mut visit);
            }
        }
        last.iter().for_each(|run| run.visit(term, &mut visit));
    }
}
