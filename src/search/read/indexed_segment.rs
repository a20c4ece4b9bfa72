//! A segment as a part of the composite index.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::forward::DocText;
use super::segment::Segment;
use crate::codec::blobs::BlobSource;
use crate::search::format::{Totals, WordKind};
use crate::search::ids::{DocId, QueryTermIdx, TermId, TermOrd, WordId};
use crate::search::postings::FieldTermFreqs;
use crate::store::NoteIdx;

/// In place of a note's position: the note was deleted, or changed since it was indexed.
const DELETED: NoteIdx = NoteIdx(u32::MAX);

/// A segment with its maps from document ids to notes and from term ordinals to term ids.
#[derive(Default)]
pub(super) struct IndexedSegment {
    pub(super) segment: Segment,
    /// The position in the store of the note of each document, or [`DELETED`].
    notes: Vec<NoteIdx>,
    /// The id of each term in the composite index; empty if it equals the ordinal.
    pub(super) term_ids: Vec<TermId>,
    /// The number of notes that contain each word; computed on first use.
    word_doc_freqs: OnceLock<Vec<u32>>,
}

/// The statistics of a segment without its deleted documents; frequencies by the ordinals of its terms.
#[derive(Default)]
pub(super) struct SegmentStats {
    pub(super) doc_freqs: Vec<u32>,
    pub(super) paragraph_freqs: Vec<u32>,
    pub(super) totals: Totals,
}

/// The terms of a query.
pub(super) struct QueryTerms<'q> {
    /// The query term of each term of the composite index, or [`QueryTermIdx::NONE`].
    of_term: &'q [QueryTermIdx],
    /// The terms with a query term, in ascending order.
    terms: Vec<(TermId, QueryTermIdx)>,
}

impl<'q> QueryTerms<'q> {
    pub(super) fn new(of_term: &'q [QueryTermIdx]) -> Self {
        let terms = TermId::all(of_term.len()).zip(of_term.iter().copied());
        Self { of_term, terms: terms.filter(|(_, query_term)| *query_term != QueryTermIdx::NONE).collect() }
    }
}

/// The frequencies of one query term in one note.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermMatch {
    /// The position of the note in the store.
    pub(crate) note: NoteIdx,
    pub(crate) query_term: QueryTermIdx,
    /// The term: one of the class of the query term.
    pub(crate) term: TermId,
    pub(crate) freqs: FieldTermFreqs,
}

impl IndexedSegment {
    /// Opens a segment, with the texts of its terms if `has_texts`. `notes` has the position in the store of the note of each document. Returns `None` if the segment
    /// is corrupt, or has another number of documents.
    pub(super) fn open(
        blobs: Arc<dyn BlobSource>,
        has_texts: bool,
        notes: impl ExactSizeIterator<Item = Option<NoteIdx>>,
    ) -> Option<Self> {
        let segment = Segment::open(blobs, has_texts).filter(|segment| segment.doc_count() == notes.len())?;
        let notes = notes.map(|note| note.unwrap_or(DELETED)).collect();
        Some(Self { segment, notes, term_ids: Vec::new(), word_doc_freqs: OnceLock::new() })
    }

    /// Returns the documents that are not deleted, each with the position of its note.
    pub(super) fn live_docs(&self) -> impl Iterator<Item = (DocId, NoteIdx)> {
        let docs = DocId::all(self.notes.len()).zip(&self.notes);
        docs.filter(|(_, note)| **note != DELETED).map(|(doc, note)| (doc, *note))
    }

    pub(super) fn deleted_docs(&self) -> impl Iterator<Item = DocId> {
        DocId::all(self.notes.len()).zip(&self.notes).filter(|(_, note)| **note == DELETED).map(|(doc, _)| doc)
    }

    /// Returns the number of notes that contain each word, without deleted ones.
    fn word_doc_freqs(&self) -> &[u32] {
        self.word_doc_freqs.get_or_init(|| {
            let mut doc_freqs = self.segment.surface_forms().doc_freqs.clone();
            self.deleted_docs().for_each(|doc| {
                let words = self.segment.text(doc).all();
                decrement_counts(&mut doc_freqs, words.into_iter().map(WordId::index));
            });
            doc_freqs
        })
    }

    /// Returns the id of a term in the composite index.
    #[inline]
    pub(super) fn term_id(&self, term: TermOrd) -> TermId {
        self.term_ids.get(term.index()).copied().unwrap_or(TermId(term.0))
    }

    /// Returns the text of a document as terms of the composite index.
    pub(super) fn text(&self, doc: DocId) -> DocText<TermId> {
        self.segment.text(doc).map(|word| self.term_id(self.segment.term_of(word)))
    }

    /// Yields the text and the term of each word of a kind that notes contain.
    pub(super) fn words(&self, kind: WordKind) -> impl Iterator<Item = (&str, TermId)> {
        let doc_freqs = self.word_doc_freqs();
        let words = WordId::all(doc_freqs.len()).zip(doc_freqs).filter(|(_, doc_freq)| **doc_freq > 0);
        words.filter_map(move |(word, _)| {
            let text = self.segment.surface_forms().text(word, kind)?;
            Some((text, self.term_id(self.segment.term_of(word))))
        })
    }

    /// Returns the matches of query terms in this segment, unsorted.
    pub(super) fn find(&self, query_terms: &QueryTerms<'_>) -> Vec<TermMatch> {
        let terms = self.ordinals_of(query_terms).into_iter();
        let (stop_words, terms): (Vec<_>, Vec<_>) = terms.partition(|(term, _)| self.segment.dictionary.is_stop(*term));
        let mut matches: Vec<TermMatch> = terms
            .into_par_iter()
            .flat_map_iter(|(term, query_term)| {
                let doc_freq = self.segment.dictionary.entry(term).doc_freq as usize;
                let mut matches = Vec::with_capacity(doc_freq.min(self.notes.len()));
                self.segment.for_each_posting(term, |doc, freqs| {
                    matches.extend(self.term_match(doc, query_term, term, freqs));
                });
                matches
            })
            .collect();
        if !stop_words.is_empty() {
            matches.extend(self.scan_stop_words(&stop_words));
        }
        matches
    }

    /// Returns the terms of this segment that belong to a query term, in ascending order.
    fn ordinals_of(&self, query_terms: &QueryTerms<'_>) -> Vec<(TermOrd, QueryTermIdx)> {
        if self.term_ids.is_empty() {
            let own = query_terms.terms.iter().filter(|(id, _)| id.index() < self.segment.term_count());
            return own.map(|(id, query_term)| (TermOrd(id.0), *query_term)).collect();
        }
        let query_term = |id: &TermId| query_terms.of_term.get(id.index()).copied().unwrap_or(QueryTermIdx::NONE);
        let terms = TermOrd::all(self.term_ids.len()).zip(self.term_ids.iter().map(query_term));
        terms.filter(|(_, query_term)| *query_term != QueryTermIdx::NONE).collect()
    }

    /// Returns the notes that contain a content term, in order.
    pub(super) fn notes_with(&self, term: TermId) -> Vec<NoteIdx> {
        let ordinal = if self.term_ids.is_empty() {
            Some(term.index()).filter(|ordinal| *ordinal < self.segment.term_count())
        } else {
            self.term_ids.iter().position(|id| *id == term)
        };
        let mut notes = Vec::new();
        if let Some(ordinal) = ordinal {
            self.segment.for_each_posting(TermOrd(ordinal as u32), |doc, _| {
                notes.extend(self.notes.get(doc.index()).filter(|note| **note != DELETED));
            });
        }
        notes
    }

    /// Returns a match; `None` if the document is deleted.
    fn term_match(
        &self,
        doc: DocId,
        query_term: QueryTermIdx,
        term: TermOrd,
        freqs: FieldTermFreqs,
    ) -> Option<TermMatch> {
        let note = self.notes.get(doc.index()).copied().filter(|note| *note != DELETED)?;
        Some(TermMatch { note, query_term, term: self.term_id(term), freqs })
    }

    /// Finds stop words, which have no postings, in the forward index. `terms` are in ascending order.
    fn scan_stop_words(&self, terms: &[(TermOrd, QueryTermIdx)]) -> Vec<TermMatch> {
        self.segment.scan(|entry, matches| {
            let mut counts = vec![FieldTermFreqs::default(); terms.len()];
            entry.visit(|field, word| {
                let term = self.segment.term_of(word);
                if let Ok(index) = terms.binary_search_by_key(&term, |(term, _)| *term) {
                    counts[index].add(field);
                }
            })?;
            let counts = terms.iter().zip(counts).filter(|(_, freqs)| *freqs != FieldTermFreqs::default());
            matches.extend(
                counts.filter_map(|((term, query_term), freqs)| self.term_match(entry.doc, *query_term, *term, freqs)),
            );
            Some(())
        })
    }

    /// Computes the statistics without deleted documents.
    pub(super) fn live_stats(&self) -> SegmentStats {
        let (doc_freqs, paragraph_freqs) = self.segment.dictionary.freqs();
        let mut stats = SegmentStats { doc_freqs, paragraph_freqs, totals: self.segment.totals };
        for doc in self.deleted_docs() {
            let subtracted = self.subtract_document(doc, &mut stats.doc_freqs, &mut stats.paragraph_freqs);
            stats.totals.subtract(subtracted);
        }
        stats
    }

    /// Subtracts a deleted document from the frequencies of this segment's terms. Returns its share of the totals.
    fn subtract_document(&self, doc: DocId, doc_freqs: &mut [u32], paragraph_freqs: &mut [u32]) -> Totals {
        let text = self.segment.text(doc).map(|word| self.segment.term_of(word));
        let index_of = |term: &TermOrd| term.index();
        decrement_counts(doc_freqs, text.all().iter().map(index_of));
        let own = text.own_body();
        let rest = own.get(text.paragraphs.total() as usize..).unwrap_or_default();
        for paragraph in text.paragraphs().chain([rest]) {
            decrement_counts(paragraph_freqs, paragraph.iter().map(index_of));
        }
        Totals {
            paragraphs: text.paragraphs.row_count() as u64,
            paragraph_words: own.iter().filter(|term| !self.segment.dictionary.is_stop(**term)).count() as u64,
            ..Totals::of(self.segment.norms(doc))
        }
    }
}

/// Decrements the count of each distinct index by one.
fn decrement_counts(counts: &mut [u32], indices: impl Iterator<Item = usize>) {
    let mut indices: Vec<usize> = indices.collect();
    indices.sort_unstable();
    indices.dedup();
    for index in indices {
        // A count may be 0: a damaged section reads as zeros until the answer is made again without the index.
        if let Some(count) = counts.get_mut(index) {
            *count = count.saturating_sub(1);
        }
    }
}
