//! Postings lists: the documents that contain a term, with its frequency in each of their fields.
//!
//! A list has for each document the gap from the one before it, in Rice's code, and a bit: without it the term occurs
//! once, in the body, else frequencies follow (specs/internals/index.md). Stop words have no list: it would be too long.
//!
//! While notes are indexed, postings are [buffered](buffer), and those of each batch are [sorted by term](run); the lists
//! are encoded in the end.

mod buffer;
mod run;

use rayon::prelude::*;

pub(crate) use buffer::PostingsBuffer;
use buffer::{SHARDS, shard};
use run::{RunsCursor, ShardRuns, SortedRun};

use crate::codec::bits::{BitReader, BitWriter};
use crate::codec::offsets::Offsets;
use crate::codec::varint::{self, VarintReader};
use crate::search::ids::{DocId, TermId};

/// The width of packed frequencies.
const PACKED_BITS: u32 = 7;
/// The width of the body's frequency in these, at their low end.
const PACKED_BODY_BITS: u32 = 3;
/// In place of packed frequencies that overflow: the frequencies follow in full. No document has frequency 0.
const LONG: u64 = 0;
/// The packed frequencies of a term that occurs once, in the body.
const ONCE_IN_BODY: u64 = 1;

/// The share of the mean gap, `GAP_NUMERATOR / GAP_DENOMINATOR`, whose power of two is the divisor of Rice's code: about
/// ln 2, which is optimal for gaps with a geometric distribution.
const GAP_NUMERATOR: u128 = 11;
const GAP_DENOMINATOR: u128 = 16;

/// The field of a note that a word belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextField {
    Title,
    Tag {
        /// Whether the word is the whole tag.
        is_whole: bool,
    },
    Heading,
    Body,
}

/// The frequencies of a term in a document, by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FieldTermFreqs {
    /// In the body, headings included, and in a summary of the frontmatter.
    pub(crate) body: u32,
    /// In title and aliases; at most 255, like the next two.
    pub(crate) title: u8,
    pub(crate) tags: u8,
    /// In headings other than the title.
    pub(crate) headings: u8,
    /// Whether the term is a whole tag.
    pub(crate) is_tag: bool,
}

impl FieldTermFreqs {
    pub(crate) fn add(&mut self, field: TextField) {
        match field {
            TextField::Title => self.title = self.title.saturating_add(1),
            TextField::Tag { is_whole } => {
                self.tags = self.tags.saturating_add(1);
                self.is_tag |= is_whole;
            }
            TextField::Heading => self.headings = self.headings.saturating_add(1),
            TextField::Body => self.body = self.body.saturating_add(1),
        }
    }

    /// Returns the frequencies in [`PACKED_BITS`] bits; [`LONG`] if they overflow.
    fn pack(&self) -> u64 {
        let is_small = self.body < 1 << PACKED_BODY_BITS && self.title < 2 && self.tags < 2 && self.headings < 2;
        let bit = |value: u8, index: u32| u64::from(value) << (PACKED_BODY_BITS + index);
        let bits = bit(self.title, 0) | bit(self.tags, 1) | bit(self.headings, 2) | bit(u8::from(self.is_tag), 3);
        if is_small { bits | u64::from(self.body) } else { LONG }
    }

    fn unpack(packed: u64) -> Self {
        let bit = |index: u32| (packed >> (PACKED_BODY_BITS + index) & 1) as u8;
        let body = (packed & ((1 << PACKED_BODY_BITS) - 1)) as u32;
        Self { body, title: bit(0), tags: bit(1), headings: bit(2), is_tag: bit(3) == 1 }
    }

    /// Writes the frequencies in full, behind [`LONG`].
    fn write_long(&self, bits: &mut BitWriter) {
        bits.write(u64::from(self.body), u32::BITS);
        for frequency in [self.title, self.tags, self.headings, u8::from(self.is_tag)] {
            bits.write(u64::from(frequency), u8::BITS);
        }
    }

    /// Appends the frequencies in full, in whole bytes.
    fn write_bytes(&self, bytes: &mut Vec<u8>) {
        varint::write(bytes, self.body);
        bytes.extend([self.title, self.tags, self.headings, u8::from(self.is_tag)]);
    }

    fn read_bytes(bytes: &mut VarintReader<'_>) -> Option<Self> {
        let body = bytes.read_u32()?;
        let mut byte = || bytes.read_byte();
        Some(Self { body, title: byte()?, tags: byte()?, headings: byte()?, is_tag: byte()? != 0 })
    }

    fn read(bits: &mut BitReader<'_>) -> Option<Self> {
        let packed = bits.read(PACKED_BITS)?;
        if packed != LONG {
            return Some(Self::unpack(packed));
        }
        let body = bits.read(u32::BITS)? as u32;
        let mut byte = || bits.read(u8::BITS).map(|byte| byte as u8);
        Some(Self { body, title: byte()?, tags: byte()?, headings: byte()?, is_tag: byte()? != 0 })
    }
}

/// The number of postings lists that one task encodes. It is small because frequent terms have small ids: the first lists
/// are long, and one task should not have them all.
const LISTS_PER_TASK: usize = 64;

/// Collects postings, and encodes the lists of all terms.
#[derive(Default)]
pub(crate) struct PostingsWriter {
    shards: [ShardRuns; SHARDS],
}

impl PostingsWriter {
    /// Adds postings: `terms` is the size of the vocabulary, `buffers` are in order, each with its first document.
    pub(crate) fn add(&mut self, terms: usize, buffers: &[(u32, &PostingsBuffer)]) {
        let Some((first, _)) = buffers.first() else { return };
        self.shards.par_iter_mut().enumerate().for_each(|(shard, runs)| {
            let buffers: Vec<_> = buffers.iter().map(|(start, buffer)| (*start, &buffer.shards[shard])).collect();
            runs.push(SortedRun::new(terms.div_ceil(SHARDS), *first, &buffers));
        });
    }

    /// Encodes the lists of all terms, several lists in one task. `doc_freq` returns the document frequency of a term,
    /// `terms` is the size of the vocabulary, `documents` the number of all documents. Each shard is freed when it is encoded.
    pub(crate) fn encode(
        self,
        terms: usize,
        documents: u64,
        doc_freq: impl Fn(TermId) -> u32 + Sync,
    ) -> EncodedPostings {
        let encode = |shard: usize, runs: ShardRuns| {
            let terms: Vec<TermId> = TermId::all(terms).skip(shard).step_by(SHARDS).collect();
            let task = |terms: &[TermId]| {
                let mut task = TaskWriter::new(&runs, documents);
                terms.iter().for_each(|term| task.encode(*term, doc_freq(*term)));
                task.finish()
            };
            terms.par_chunks(LISTS_PER_TASK).map(task).collect()
        };
        let mut shards = 0..;
        EncodedPostings(self.shards.map(|runs| encode(shards.next().unwrap_or_default(), runs)))
    }
}

/// Encodes postings lists of a shard, one after another, in the order of the term ids.
struct TaskWriter<'a> {
    cursor: RunsCursor<'a>,
    documents: u64,
    bits: BitWriter,
    ends: Offsets<usize>,
}

impl<'a> TaskWriter<'a> {
    fn new(runs: &'a ShardRuns, documents: u64) -> Self {
        Self { cursor: runs.cursor(), documents, bits: BitWriter::default(), ends: Offsets::default() }
    }

    fn encode(&mut self, term: TermId, doc_freq: u32) {
        let Self { cursor, bits, .. } = self;
        let ((_, term), low_bits, mut next) = (shard(term), low_bits(doc_freq, self.documents), 0);
        cursor.visit(term, |doc, packed, long| {
            let gap = doc.saturating_sub(next);
            if packed == ONCE_IN_BODY {
                bits.write_rice(gap, low_bits, 0, 1);
            } else {
                bits.write_rice(gap, low_bits, packed << 1 | 1, 1 + PACKED_BITS);
            }
            long.iter().for_each(|freqs| freqs.write_long(bits));
            next = doc + 1;
        });
        self.ends.push(bits.align_to_byte());
    }

    fn finish(self) -> EncodedLists {
        EncodedLists { bytes: self.bits.finish(), ends: self.ends }
    }
}

/// The encoded postings lists of all terms.
pub(crate) struct EncodedPostings([Vec<EncodedLists>; SHARDS]);

impl EncodedPostings {
    /// Returns the list of a term; empty if there is none.
    pub(crate) fn list(&self, term: TermId) -> &[u8] {
        let (shard, position) = shard(term);
        let lists = self.0.get(shard).and_then(|shard| shard.get(position as usize / LISTS_PER_TASK));
        lists.map(|lists| lists.ends.row(position as usize % LISTS_PER_TASK, &lists.bytes)).unwrap_or_default()
    }
}

/// Encoded postings lists, one after another.
struct EncodedLists {
    bytes: Vec<u8>,
    ends: Offsets<usize>,
}

/// Decodes a postings list and calls `visit` with each posting, in the order of the documents. `doc_freq` is the
/// document frequency of the term, `documents` the number of all documents. Returns `None` if the list is corrupt.
pub(crate) fn decode(
    list: &[u8],
    doc_freq: u32,
    documents: u64,
    mut visit: impl FnMut(DocId, FieldTermFreqs),
) -> Option<()> {
    let (mut bits, mut next) = (BitReader::new(list), 0_u32);
    let low_bits = low_bits(doc_freq, documents);
    for _ in 0..doc_freq {
        let doc = next.checked_add(bits.read_rice(low_bits)?)?;
        let has_freqs = bits.read(1)? == 1;
        let freqs = if has_freqs { FieldTermFreqs::read(&mut bits)? } else { FieldTermFreqs::unpack(ONCE_IN_BODY) };
        visit(DocId(doc), freqs);
        next = doc.checked_add(1)?;
    }
    Some(())
}

/// Returns the width of the remainder in Rice's code for the gaps of a list: the logarithm of the divisor, which is the
/// power of two at or below `GAP_NUMERATOR / GAP_DENOMINATOR` of the mean gap.
fn low_bits(doc_freq: u32, documents: u64) -> u32 {
    let gaps = u128::from(documents.saturating_sub(u64::from(doc_freq)));
    let divisor = gaps * GAP_NUMERATOR / (GAP_DENOMINATOR * u128::from(doc_freq.max(1)));
    divisor.max(1).ilog2().min(u32::BITS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_survive_encoding() {
        let full = FieldTermFreqs { body: u32::MAX >> 1, title: 255, tags: 255, headings: 1, is_tag: true };
        let title = FieldTermFreqs { title: 1, ..FieldTermFreqs::default() };
        let once = FieldTermFreqs { body: 1, ..FieldTermFreqs::default() };
        let postings = [(0, once), (1, full), (70, once), (71, title), (5000, once), (5001, full)];
        for split in 0..postings.len() {
            let first = postings[split].0;
            let buffer = |postings: &[(u32, FieldTermFreqs)], first: u32| {
                let mut buffer = PostingsBuffer::default();
                for (doc, freqs) in postings {
                    (buffer.documents..doc - first).for_each(|_| buffer.add([].into_iter()));
                    buffer.add([(TermId(1), freqs)].into_iter());
                }
                buffer
            };
            let (early, later) = (buffer(&postings[..split], 0), buffer(&postings[split..], first));
            let writer = |is_one_run: bool| {
                let mut writer = PostingsWriter::default();
                if is_one_run {
                    writer.add(3, &[(0, &early), (first, &later)]);
                } else {
                    writer.add(2, &[(0, &early)]);
                    writer.add(3, &[(first, &later)]);
                }
                writer
            };
            for (is_one_run, documents) in [(true, 6), (false, 6_000), (true, u64::MAX), (false, 7)] {
                let encoded = writer(is_one_run).encode(10, documents, |term| if term == TermId(1) { 6 } else { 0 });
                assert!([0, 2, 5, 9, 10, 999].iter().all(|term| encoded.list(TermId(*term)).is_empty()));
                let (list, mut found) = (encoded.list(TermId(1)), Vec::new());
                assert_eq!(decode(list, 6, documents, |doc, freqs| found.push((doc.0, freqs))), Some(()));
                assert_eq!(found, postings, "{documents}");
                (0..list.len()).for_each(|end| assert_eq!(decode(&list[..end], 6, documents, |_, _| {}), None));
            }
        }
        assert_eq!(decode(&[0xff; 24], 3, 9, |_, _| {}), None);
    }
}
