//! The term dictionary of a segment.

use std::ops::Range;

use crate::codec::offsets::Offsets;
use crate::codec::varint::VarintReader;
use crate::search::format::MAX_SHARED_PREFIX;
use crate::search::ids::TermOrd;

/// The terms of a segment in the order of their texts, decoded as a whole when the segment is opened.
#[derive(Default)]
pub(crate) struct Dictionary {
    terms: Vec<TermInfo>,
    texts: String,
    text_ends: Offsets,
    /// The offsets of the postings lists in their blob.
    list_ends: Offsets,
}

#[derive(Clone, Copy)]
struct TermInfo {
    doc_freq: u32,
    paragraph_freq: u32,
    is_stop: bool,
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
    /// Decodes `count` terms from their rows and the suffixes of their texts; `None` if these are corrupt. Without suffixes,
    /// the terms have no texts.
    pub(crate) fn decode(rows: &[u8], suffixes: Option<&[u8]>, count: usize) -> Option<Self> {
        let (mut rest, capacity) = (VarintReader(rows), bounded_capacity(count, rows, 5));
        let (mut terms, mut list_ends) = (Vec::with_capacity(capacity), Offsets::with_capacity(capacity));
        let mut texts = suffixes.map(|suffixes| TextDecoder::new(suffixes, capacity));
        let mut list_end = 0_u32;
        while !rest.0.is_empty() {
            let (shared, own) = (rest.read_u32()? as usize, rest.read_u32()? as usize);
            let (doc_freq, paragraph_freq) = (rest.read_u32()?, rest.read_u32()?);
            list_end = list_end.checked_add(rest.read_u32()?)?;
            if let Some(texts) = &mut texts {
                texts.push(shared, own)?;
            }
            list_ends.push(list_end);
            terms.push(TermInfo { doc_freq: doc_freq >> 1, paragraph_freq, is_stop: doc_freq & 1 == 1 });
        }
        if terms.len() != count {
            return None;
        }
        let (texts, text_ends) = texts.map_or(Some(Default::default()), TextDecoder::finish)?;
        Some(Self { terms, texts, text_ends, list_ends })
    }

    pub(crate) fn term_count(&self) -> usize {
        self.terms.len()
    }

    /// Returns the length of all postings lists in bytes.
    pub(crate) fn postings_len(&self) -> u64 {
        u64::from(self.list_ends.total())
    }

    /// Returns the entry of a term; an empty one if it does not exist.
    pub(crate) fn entry(&self, term: TermOrd) -> TermEntry<'_> {
        let Some(TermInfo { doc_freq, paragraph_freq, is_stop }) = self.terms.get(term.index()).copied() else {
            return TermEntry::default();
        };
        TermEntry { text: self.text(term), doc_freq, paragraph_freq, is_stop }
    }

    /// Returns the document and the paragraph frequencies of all terms.
    pub(crate) fn freqs(&self) -> (Vec<u32>, Vec<u32>) {
        self.terms.iter().map(|info| (info.doc_freq, info.paragraph_freq)).unzip()
    }

    /// Returns whether a term is a stop word. A term that does not exist is one.
    pub(crate) fn is_stop(&self, term: TermOrd) -> bool {
        self.terms.get(term.index()).is_none_or(|info| info.is_stop)
    }

    /// Returns the document frequency of a content term and the range of its postings list; `None` for a stop word.
    pub(crate) fn postings(&self, term: TermOrd) -> Option<(u32, Range<u64>)> {
        let info = self.terms.get(term.index()).filter(|info| !info.is_stop)?;
        let range = self.list_ends.range(term.index())?;
        Some((info.doc_freq, u64::from(range.start)..u64::from(range.end)))
    }

    /// Finds a term by its text. O(log terms).
    pub(crate) fn find(&self, text: &str) -> Option<TermOrd> {
        let (mut low, mut high) = (0, self.terms.len() as u32);
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

/// Decodes front-coded texts.
struct TextDecoder<'a> {
    suffixes: &'a [u8],
    texts: Vec<u8>,
    ends: Offsets,
    /// The offset of the text before.
    before: usize,
}

impl<'a> TextDecoder<'a> {
    fn new(suffixes: &'a [u8], capacity: usize) -> Self {
        let texts = Vec::with_capacity(suffixes.len() * 2);
        Self { suffixes, texts, ends: Offsets::with_capacity(capacity), before: 0 }
    }

    /// Appends a text of `shared` bytes of the one before and `own` bytes of the suffixes; `None` if there are not as many.
    fn push(&mut self, shared: usize, own: usize) -> Option<()> {
        let start = self.texts.len();
        let (suffix, others) = self.suffixes.split_at_checked(own)?;
        // The bound keeps corrupt rows from expanding to more than the memory.
        if shared > start - self.before || shared > MAX_SHARED_PREFIX {
            return None;
        }
        self.suffixes = others;
        self.texts.extend_from_within(self.before..self.before + shared);
        self.texts.extend_from_slice(suffix);
        self.before = start;
        self.ends.push(u32::try_from(self.texts.len()).ok()?);
        Some(())
    }

    /// Returns the texts and their ends; `None` if suffixes are left or the texts are not UTF-8.
    fn finish(self) -> Option<(String, Offsets)> {
        let texts = String::from_utf8(self.texts).ok().filter(|_| self.suffixes.is_empty())?;
        Some((texts, self.ends))
    }
}

/// Returns the capacity for `count` rows of at least `least` bytes: a corrupt count can't exhaust the memory.
pub(super) fn bounded_capacity(count: usize, bytes: &[u8], least: usize) -> usize {
    count.min(bytes.len() / least)
}
