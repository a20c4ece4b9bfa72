//! A segment: the inverted and the forward index of some notes.
//!
//! Term ordinals are in the order of the texts; frequent words have small ids. Word ids depend on which notes were
//! indexed in one batch: no answer may depend on them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::dictionary::{Dictionary, bounded_capacity};
use super::forward::{DocText, ForwardEntry};
use super::surface_forms::SurfaceForms;
use crate::codec::blobs::{BlobSource, MemoryBlobs};
use crate::codec::columns::ColumnReader;
use crate::codec::lz4::decompress;
use crate::codec::offsets::Offsets;
use crate::codec::varint::VarintReader;
use crate::search::analysis::questions::QUESTION_UNITS;
use crate::search::format::{BODY_FLAG_BITS, FieldLengths, IndexPart, SegmentCounts, Totals};
use crate::search::ids::{DocId, TermOrd, WordId};
use crate::search::postings::{self, FieldTermFreqs, TextField};

/// The number of documents that one task of a scan reads.
const SCAN_BATCH: usize = 256;

/// A segment, decoded except for the forward entries, the postings lists and the surface forms of words.
pub(crate) struct Segment {
    blobs: Arc<dyn BlobSource>,
    pub(crate) totals: Totals,
    pub(crate) dictionary: Dictionary,
    norms: Vec<FieldLengths>,
    /// The forward entries, in bytes.
    forward: Offsets<u64>,
    /// The term of each word, above a bit that tells whether it is a stop word.
    term_of: Vec<u32>,
    /// Decoded on first use: few queries need them.
    surface_forms: OnceLock<SurfaceForms>,
}

impl Default for Segment {
    fn default() -> Self {
        Self {
            blobs: Arc::new(MemoryBlobs::default()),
            totals: Totals::default(),
            dictionary: Dictionary::default(),
            norms: Vec::new(),
            forward: Offsets::default(),
            term_of: Vec::new(),
            surface_forms: OnceLock::new(),
        }
    }
}

impl Segment {
    /// Opens a stored segment, with the texts of its terms if they are not known otherwise; `None` if it is corrupt.
    pub(crate) fn open(blobs: Arc<dyn BlobSource>, has_texts: bool) -> Option<Self> {
        let read = |part: IndexPart| blobs.read_whole(part as usize);
        let decompressed = |part: IndexPart| decompress(&read(part)?);
        let SegmentCounts { terms, words, totals } = postcard::from_bytes(&read(IndexPart::Counts)?).ok()?;
        let (documents, terms_and_words) = rayon::join(
            || decode_documents(&decompressed(IndexPart::Documents)?, usize::try_from(totals.documents).ok()?),
            || {
                let numbers = read(IndexPart::Terms)?;
                let texts = if has_texts { Some(decompressed(IndexPart::TermTexts)?) } else { None };
                let dictionary = Dictionary::decode(&numbers, texts.as_deref(), terms)?;
                let term_of = decode_words(&read(IndexPart::Words)?, words, terms)?;
                Some((dictionary, term_of))
            },
        );
        let ((norms, forward), (dictionary, term_of)) = documents.zip(terms_and_words)?;
        let is_complete = forward.total() == blobs.len(IndexPart::Forward as usize)
            && dictionary.postings_len() == blobs.len(IndexPart::Postings as usize);
        let segment = Self { totals, dictionary, norms, forward, term_of, surface_forms: OnceLock::new(), blobs };
        is_complete.then_some(segment)
    }

    pub(crate) fn doc_count(&self) -> usize {
        self.norms.len()
    }

    pub(crate) fn term_count(&self) -> usize {
        self.dictionary.term_count()
    }

    pub(crate) fn norms(&self, doc: DocId) -> FieldLengths {
        self.norms.get(doc.index()).copied().unwrap_or_default()
    }

    pub(super) fn surface_forms(&self) -> &SurfaceForms {
        self.surface_forms.get_or_init(|| {
            let decompressed = |part: IndexPart| decompress(&self.blobs.read_whole(part as usize)?);
            let decode = || {
                let rows = decompressed(IndexPart::WordRows)?;
                SurfaceForms::decode(&rows, decompressed(IndexPart::WordTexts)?, self.term_of.len())
            };
            decode().unwrap_or_else(|| {
                self.blobs.mark_corrupt();
                SurfaceForms::default()
            })
        })
    }

    pub(crate) fn term_of(&self, word: WordId) -> TermOrd {
        debug_assert!(word.index() < self.term_of.len(), "forward entries have words of their segment only");
        TermOrd(self.term_of.get(word.index()).map_or(0, |term| term >> 1))
    }

    /// Returns the term of a word; `None` for a stop word.
    pub(crate) fn content_term_of(&self, word: WordId) -> Option<TermOrd> {
        self.term_of.get(word.index()).filter(|term| *term & 1 == 0).map(|term| TermOrd(term >> 1))
    }

    /// Calls `visit` with each posting of a term, in the order of the documents. Stop words have none.
    pub(crate) fn for_each_posting(&self, term: TermOrd, visit: impl FnMut(DocId, FieldTermFreqs)) {
        let Some((doc_freq, range)) = self.dictionary.postings(term) else { return };
        let list = self.read(IndexPart::Postings, range);
        if postings::decode(&list, doc_freq, self.totals.documents, visit).is_none() {
            self.blobs.mark_corrupt();
        }
    }

    /// Calls `visit` with the forward entry of each document, several batches in parallel, and returns what it adds, in
    /// the order of the documents. `visit` returns `None` if an entry is corrupt.
    pub(crate) fn scan<T: Send>(&self, visit: impl Fn(ForwardEntry<'_>, &mut Vec<T>) -> Option<()> + Sync) -> Vec<T> {
        let batches = (0..self.doc_count()).into_par_iter().step_by(SCAN_BATCH);
        let scan_batch = |first: usize| {
            let last = (first + SCAN_BATCH).min(self.doc_count());
            let start = self.forward.range(first).unwrap_or_default().start;
            let end = self.forward.range(last - 1).unwrap_or_default().end;
            let bytes = self.read(IndexPart::Forward, start..end);
            let mut found = Vec::new();
            for doc in first..last {
                let range = self.forward.range(doc).unwrap_or_default();
                let range = (range.start - start) as usize..(range.end - start) as usize;
                let bytes = bytes.get(range).unwrap_or_default();
                if visit(self.entry(DocId(doc as u32), bytes), &mut found).is_none() {
                    self.blobs.mark_corrupt();
                }
            }
            found
        };
        batches.flat_map_iter(scan_batch).collect()
    }

    pub(crate) fn text(&self, doc: DocId) -> DocText<WordId> {
        self.with_forward_entry(doc, |entry| entry.decode()).unwrap_or_default()
    }

    /// Calls `visit` with each word of each field of a document.
    pub(crate) fn visit(&self, doc: DocId, visit: impl FnMut(TextField, WordId)) {
        self.with_forward_entry(doc, |entry| entry.visit(visit));
    }

    /// Calls `read` with the forward entry of a document; it returns `None` if the entry is corrupt.
    fn with_forward_entry<T>(&self, doc: DocId, read: impl FnOnce(ForwardEntry<'_>) -> Option<T>) -> Option<T> {
        let bytes = self.read(IndexPart::Forward, self.forward.range(doc.index()).unwrap_or_default());
        let value = read(self.entry(doc, &bytes));
        if value.is_none() {
            self.blobs.mark_corrupt();
        }
        value
    }

    fn entry<'a>(&self, doc: DocId, bytes: &'a [u8]) -> ForwardEntry<'a> {
        ForwardEntry { doc, bytes, word_count: self.term_of.len() }
    }

    fn read(&self, part: IndexPart, range: Range<u64>) -> Vec<u8> {
        if range.is_empty() {
            return Vec::new();
        }
        self.blobs.read(part as usize, range).unwrap_or_else(|| {
            self.blobs.mark_corrupt();
            Vec::new()
        })
    }
}

/// Decodes the field norms of documents and the offsets of their forward entries; `None` if they are corrupt.
fn decode_documents(bytes: &[u8], count: usize) -> Option<(Vec<FieldLengths>, Offsets<u64>)> {
    let mut rest = VarintReader(bytes);
    let capacity = bounded_capacity(count, bytes, 3);
    let (mut norms, mut forward) = (Vec::with_capacity(capacity), Offsets::with_capacity(capacity));
    while !rest.0.is_empty() {
        forward.push(forward.total() + u64::from(rest.read_u32()?));
        let body = rest.read_u32()?;
        let (has_time, questions) = (body & 1 == 1, (body >> 1) as u8 & QUESTION_UNITS);
        norms.push(FieldLengths { body: body >> BODY_FLAG_BITS, has_time, questions, title: rest.read_u32()? });
    }
    (norms.len() == count).then_some((norms, forward))
}

/// Decodes the terms of words: see [`Segment::term_of`]. `None` if they are corrupt.
fn decode_words(bytes: &[u8], words: usize, terms: usize) -> Option<Vec<u32>> {
    let mut columns = ColumnReader(bytes);
    let term_of = columns.read(words).filter(|_| columns.0.is_empty())?;
    let last = term_of.iter().copied().max().unwrap_or_default() >> 1;
    (term_of.is_empty() || (last as usize) < terms).then_some(term_of)
}
