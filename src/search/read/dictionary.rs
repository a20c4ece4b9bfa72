//! The term dictionary of a segment.

use std::ops::Range;

use crate::codec::columns::ColumnReader;
use crate::codec::offsets::Offsets;
use crate::search::format::MAX_SHARED_PREFIX;
use crate::search::ids::TermOrd;

/// The terms of a segment in the order of their texts, decoded as a whole when the segment is opened.
#[derive(Default)]
pub(crate) struct Dictionary {
    /// The document frequency of each term, above a bit that tells whether it is a stop word.
    doc_freqs: Vec<u32>,
    paragraph_freqs: Vec<u32>,
    texts: String,
    text_ends: Offsets,
    /// The offsets of the postings lists in their blob.
    list_ends: Offsets,
}

/// A dictionary entry: a term and its document frequencies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TermEntry<'a> {
    pub(crate) text: &'a str,
    /// The number of notes that contain the term.
    pub(crate) doc_freq: u32,
    /// The number of paragraphs that contain the term.
    pub(crate) paragraph_freq: u32,
    pub(crate) is_stop: bool,
}

impl Dictionary {
    /// Decodes `count` terms from their numbers and their texts; `None` if these are corrupt. The texts may be left out.
    pub(crate) fn decode(numbers: &[u8], texts: Option<&[u8]>, count: usize) -> Option<Self> {
        let mut columns = ColumnReader(numbers);
        let (doc_freqs, paragraph_freqs) = (columns.read(count)?, columns.read(count)?);
        let list_ends = Offsets::of_lengths(columns.read(count)?)?;
        let (texts, text_ends) = texts.map_or(Some(Default::default()), |texts| decode_texts(texts, count))?;
        columns.0.is_empty().then_some(Self { doc_freqs, paragraph_freqs, texts, text_ends, list_ends })
    }

    pub(crate) fn term_count(&self) -> usize {
        self.doc_freqs.len()
    }

    /// Returns the length of all postings lists in bytes.
    pub(crate) fn postings_len(&self) -> u64 {
        u64::from(self.list_ends.total())
    }

    /// Returns the entry of a term; an empty one if it does not exist.
    pub(crate) fn entry(&self, term: TermOrd) -> TermEntry<'_> {
        let Some((doc_freq, paragraph_freq)) =
            self.doc_freqs.get(term.index()).zip(self.paragraph_freqs.get(term.index()))
        else {
            return TermEntry::default();
        };
        let is_stop = doc_freq & 1 == 1;
        TermEntry { text: self.text(term), doc_freq: doc_freq >> 1, paragraph_freq: *paragraph_freq, is_stop }
    }

    /// Returns the document and the paragraph frequencies of all terms.
    pub(crate) fn freqs(&self) -> (Vec<u32>, Vec<u32>) {
        (self.doc_freqs.iter().map(|doc_freq| doc_freq >> 1).collect(), self.paragraph_freqs.clone())
    }

    /// Returns whether a term is a stop word. A term that does not exist is one.
    pub(crate) fn is_stop(&self, term: TermOrd) -> bool {
        self.doc_freqs.get(term.index()).is_none_or(|doc_freq| doc_freq & 1 == 1)
    }

    /// Returns the document frequency of a content term and the range of its postings list; `None` for a stop word.
    pub(crate) fn postings(&self, term: TermOrd) -> Option<(u32, Range<u64>)> {
        let doc_freq = self.doc_freqs.get(term.index()).filter(|doc_freq| *doc_freq & 1 == 0)?;
        let range = self.list_ends.range(term.index())?;
        Some((doc_freq >> 1, u64::from(range.start)..u64::from(range.end)))
    }

    /// Finds a term by its text. O(log terms).
    pub(crate) fn find(&self, text: &str) -> Option<TermOrd> {
        let (mut low, mut high) = (0, self.term_count() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.text(TermOrd(middle)).cmp(text) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(TermOrd(middle)),
            }
        }
        None
    }

    /// Finds the terms of another dictionary: by its ordinals, the ordinal of the same term here.
    pub(crate) fn find_all(&self, other: &Self) -> Vec<Option<TermOrd>> {
        let texts = TermOrd::all(other.term_count()).map(|term| other.text(term));
        // A merge takes a step for each term of both, a search log2(terms) steps for each term of the other.
        if other.term_count() * (usize::BITS - self.term_count().leading_zeros()) as usize <= self.term_count() {
            return texts.map(|text| self.find(text)).collect();
        }
        let mut own = 0;
        let find = |text: &str| {
            while own < self.term_count() {
                match self.text(TermOrd(own as u32)).cmp(text) {
                    std::cmp::Ordering::Less => own += 1,
                    std::cmp::Ordering::Greater => return None,
                    std::cmp::Ordering::Equal => return Some(TermOrd(own as u32)),
                }
            }
            None
        };
        texts.map(find).collect()
    }

    fn text(&self, term: TermOrd) -> &str {
        self.text_ends.text(term.index(), &self.texts)
    }
}

/// Decodes front-coded texts: each has a number of bytes of the one before, then its own bytes of the suffixes. Returns them
/// and their ends; `None` if the suffixes are not as many bytes, or the texts are not UTF-8.
fn decode_texts(bytes: &[u8], count: usize) -> Option<(String, Offsets)> {
    let mut columns = ColumnReader(bytes);
    let (shared, own) = (columns.read(count)?, columns.read(count)?);
    let mut suffixes = columns.0;
    let (mut texts, mut before) = (Vec::with_capacity(suffixes.len() * 2), 0);
    let mut ends = Offsets::with_capacity(own.len());
    for (shared, own) in shared.iter().zip(&own) {
        let (start, shared) = (texts.len(), *shared as usize);
        let (suffix, others) = suffixes.split_at_checked(*own as usize)?;
        // The bound keeps a corrupt index from expanding to more than the memory.
        if shared > start - before || shared > MAX_SHARED_PREFIX {
            return None;
        }
        suffixes = others;
        texts.extend_from_within(before..before + shared);
        texts.extend_from_slice(suffix);
        before = start;
        ends.push(u32::try_from(texts.len()).ok()?);
    }
    Some((String::from_utf8(texts).ok().filter(|_| suffixes.is_empty())?, ends))
}

/// Returns the capacity for `count` rows of at least `least` bytes: a corrupt count can't exhaust the memory.
pub(super) fn bounded_capacity(count: usize, bytes: &[u8], least: usize) -> usize {
    count.min(bytes.len() / least)
}
