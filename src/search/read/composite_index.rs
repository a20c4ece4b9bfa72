//! The segments of a store as one index.
//!
//! The first segment is the stored one without its deleted documents, the second is built from the notes not in it.
//! All statistics are integers and equal those of one segment with all notes.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::dictionary::TermEntry;
use super::forward::DocText;
use super::indexed_segment::{IndexedSegment, TermMatch};
use crate::codec::blobs::{BlobSource, MemoryBlobs};
use crate::note::Language;
use crate::search::analysis::stems::Stems;
use crate::search::build::indexer::TextIndexer;
use crate::search::format::{FieldLengths, Totals, WordKind};
use crate::search::ids::{DocAddress, DocId, QueryTermIdx, TermId, TermOrd};
use crate::search::postings::FieldTermFreqs;
use crate::store::{NoteHandle, NoteIdx, TextIndex, TextIndexBuilder};

/// The stored segment of a store without deleted notes, and one of notes read in this call, seen as one index.
pub struct CompositeIndex {
    pub(crate) stems: Arc<Stems>,
    /// The stored segment, and the one in memory.
    segments: [IndexedSegment; 2],
    /// The address of each note of the store.
    addresses: Vec<DocAddress>,
    /// The number of notes, and of paragraphs, that contain each term.
    doc_freqs: Vec<u32>,
    paragraph_freqs: Vec<u32>,
    /// The ordinals of the terms that only the second segment has; their ids follow those of the first.
    only_in_second: Vec<TermOrd>,
    pub(crate) totals: Totals,
}

impl CompositeIndex {
    /// Opens the stored index of a store, if there is one and it is intact, and indexes the notes that it lacks.
    pub fn new(notes: &[Arc<NoteHandle>], language: Language, stored: Option<&TextIndex>) -> Self {
        let first = stored.and_then(|stored| {
            let opened =
                IndexedSegment::open(Arc::clone(&stored.blobs), stored.notes.iter().map(|note| note.map(NoteIdx::new)));
            if opened.is_none() {
                stored.blobs.mark_corrupt();
            }
            opened
        });
        let first = first.unwrap_or_default();
        let mut addresses = vec![None; notes.len()];
        for (doc, note) in first.live_docs() {
            if let Some(address) = addresses.get_mut(note.index()) {
                *address = Some(DocAddress { segment: 0, doc });
            }
        }
        let missing: Vec<NoteIdx> =
            NoteIdx::all(notes.len()).filter(|note| addresses[note.index()].is_none()).collect();
        let missing_notes: Vec<Arc<NoteHandle>> = missing.iter().map(|note| Arc::clone(&notes[*note])).collect();
        let in_memory = build_in_memory(&missing_notes, language);
        let second = IndexedSegment::open(in_memory, missing.iter().copied().map(Some)).unwrap_or_default();
        for (doc, note) in DocId::all(missing.len()).zip(&missing) {
            addresses[note.index()] = Some(DocAddress { segment: 1, doc });
        }
        let index = Self {
            stems: Arc::new(Stems::new(language)),
            segments: [first, second],
            addresses: addresses.into_iter().flatten().collect(),
            doc_freqs: Vec::new(),
            paragraph_freqs: Vec::new(),
            only_in_second: Vec::new(),
            totals: Totals::default(),
        };
        index.with_merged_stats()
    }

    /// Merges the statistics of both segments, without deleted documents.
    fn with_merged_stats(mut self) -> Self {
        let [first, second] = &mut self.segments;
        self.totals = first.segment.totals;
        let entries = TermOrd::all(first.segment.term_count()).map(|term| first.segment.dictionary.entry(term));
        (self.doc_freqs, self.paragraph_freqs) = entries.map(|entry| (entry.doc_freq, entry.paragraph_freq)).unzip();
        for doc in first.deleted_docs() {
            self.totals.subtract(first.subtract_document(doc, &mut self.doc_freqs, &mut self.paragraph_freqs));
        }
        self.totals.add(second.segment.totals);
        for term in TermOrd::all(second.segment.term_count()) {
            let entry = second.segment.dictionary.entry(term);
            let id = first.segment.dictionary.find(entry.text).map(|term| TermId(term.0)).unwrap_or_else(|| {
                self.only_in_second.push(term);
                self.doc_freqs.push(0);
                self.paragraph_freqs.push(0);
                TermId(self.doc_freqs.len() as u32 - 1)
            });
            second.term_ids.push(id);
            self.doc_freqs[id.index()] += entry.doc_freq;
            self.paragraph_freqs[id.index()] += entry.paragraph_freq;
        }
        self
    }

    /// Returns the id of a term; `None` if no note contains it.
    pub(crate) fn term_id(&self, term: &str) -> Option<TermId> {
        let [first, second] = &self.segments;
        let in_second = || second.segment.dictionary.find(term).map(|term| second.term_id(term));
        let id = first.segment.dictionary.find(term).map(|term| first.term_id(term)).or_else(in_second)?;
        (self.doc_freq(id) > 0).then_some(id)
    }

    /// Returns the entry of a term, with its frequencies in the store; `None` if it does not exist.
    pub(crate) fn term(&self, id: TermId) -> Option<TermEntry<'_>> {
        let (doc_freq, paragraph_freq) = (*self.doc_freqs.get(id.index())?, *self.paragraph_freqs.get(id.index())?);
        let (segment, term) = self.locate(id)?;
        Some(TermEntry { doc_freq, paragraph_freq, ..segment.segment.dictionary.entry(term) })
    }

    /// Returns the number of term ids; some may belong to terms that no note contains any more.
    pub(crate) fn term_count(&self) -> usize {
        self.doc_freqs.len()
    }

    /// Returns whether a term is a stop word. A term that does not exist is one.
    pub(crate) fn is_stop(&self, id: TermId) -> bool {
        self.locate(id).is_none_or(|(segment, term)| segment.segment.dictionary.is_stop(term))
    }

    /// Returns the segment that has the text of a term, and its ordinal there.
    fn locate(&self, id: TermId) -> Option<(&IndexedSegment, TermOrd)> {
        let [first, second] = &self.segments;
        match id.index().checked_sub(first.segment.term_count()) {
            None => Some((first, TermOrd(id.0))),
            Some(beyond) => Some((second, *self.only_in_second.get(beyond)?)),
        }
    }

    pub(crate) fn doc_freq(&self, id: TermId) -> u32 {
        self.doc_freqs.get(id.index()).copied().unwrap_or_default()
    }

    /// Yields the terms that notes contain.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (TermId, TermEntry<'_>)> {
        let ids = TermId::all(self.term_count()).filter(|id| self.doc_freq(*id) > 0);
        ids.filter_map(|id| Some((id, self.term(id)?)))
    }

    /// Yields each word that notes contain and that differs from its term.
    pub(crate) fn surface_forms(&self) -> impl Iterator<Item = (&str, TermId)> {
        self.segments.iter().flat_map(|segment| segment.words(WordKind::Other))
    }

    /// Returns whether notes contain a term in its own spelling, as a word.
    pub(crate) fn is_word(&self, id: TermId) -> bool {
        self.segments.iter().flat_map(|segment| segment.words(WordKind::AsTerm)).any(|(_, term)| term == id)
    }

    /// Returns the matches of the query terms of `query_term_of`, by term, sorted by note, query term and term.
    pub(crate) fn find(&self, query_term_of: &[QueryTermIdx]) -> Vec<TermMatch> {
        let mut matches: Vec<TermMatch> =
            self.segments.iter().flat_map(|segment| segment.find(query_term_of)).collect();
        matches.par_sort_unstable_by_key(|found| (found.note, found.query_term, found.term));
        matches
    }

    /// Returns the notes that contain all content terms of `terms`, in any field, in order. Stop words are skipped.
    pub(crate) fn notes_with_all(&self, terms: &[TermId]) -> Vec<NoteIdx> {
        let mut terms: Vec<TermId> = terms.iter().copied().filter(|term| !self.is_stop(*term)).collect();
        terms.sort_unstable();
        terms.dedup();
        if terms.is_empty() {
            return NoteIdx::all(self.note_count()).collect();
        }
        let matches = self.find_terms(&terms);
        let notes = matches.chunk_by(|a, b| a.note == b.note).filter(|matches| matches.len() == terms.len());
        notes.filter_map(|matches| Some(matches.first()?.note)).collect()
    }

    /// Returns, for each list of terms, the notes that contain all its content terms, in any field, in order. No note for
    /// a list without content terms, or with a term that does not exist.
    pub(crate) fn notes_with_each(&self, lists: &[Vec<TermId>]) -> Vec<Vec<NoteIdx>> {
        let is_known = |terms: &Vec<TermId>| terms.iter().all(|term| self.doc_freq(*term) > 0);
        let content_terms = |terms: &Vec<TermId>| -> BTreeSet<TermId> {
            if is_known(terms) {
                terms.iter().copied().filter(|term| !self.is_stop(*term)).collect()
            } else {
                BTreeSet::new()
            }
        };
        let lists: Vec<BTreeSet<TermId>> = lists.iter().map(content_terms).collect();
        let all: Vec<TermId> = lists.iter().flatten().copied().collect();
        let mut notes = vec![Vec::new(); lists.len()];
        for matches in self.find_terms(&all).chunk_by(|a, b| a.note == b.note) {
            let [first, ..] = matches else { continue };
            let found: BTreeSet<TermId> = matches.iter().map(|found| found.term).collect();
            for (list, notes) in lists.iter().zip(&mut notes) {
                if !list.is_empty() && list.is_subset(&found) {
                    notes.push(first.note);
                }
            }
        }
        notes
    }

    /// Returns the notes that contain any of `terms`, in any field, in order.
    pub(crate) fn notes_with_any(&self, terms: &[TermId]) -> Vec<NoteIdx> {
        let mut notes: Vec<NoteIdx> = self.find_terms(terms).into_iter().map(|found| found.note).collect();
        notes.dedup();
        notes
    }

    /// Returns the matches of terms, sorted by note and term.
    fn find_terms(&self, terms: &[TermId]) -> Vec<TermMatch> {
        let mut query_term_of = vec![QueryTermIdx::NONE; self.term_count()];
        terms.iter().for_each(|term| query_term_of[term.index()] = QueryTermIdx(0));
        self.find(&query_term_of)
    }

    pub(crate) fn norms(&self, note: NoteIdx) -> FieldLengths {
        self.document(note).map_or_else(FieldLengths::default, |(segment, doc)| segment.segment.norms(doc))
    }

    pub(crate) fn text(&self, note: NoteIdx) -> DocText<TermId> {
        self.document(note).map_or_else(DocText::default, |(segment, doc)| segment.text(doc))
    }

    fn document(&self, note: NoteIdx) -> Option<(&IndexedSegment, DocId)> {
        let DocAddress { segment, doc } = *self.addresses.get(note.index())?;
        Some((self.segments.get(usize::from(segment))?, doc))
    }

    /// Returns the frequencies of the content terms of a note, in the order of their first occurrences. `positions` has
    /// an element for each term, all 0 before and after.
    pub(crate) fn term_freqs(&self, note: NoteIdx, positions: &mut [u32]) -> Vec<(TermId, FieldTermFreqs)> {
        let Some((segment, doc)) = self.document(note) else { return Vec::new() };
        let mut freqs: Vec<(TermId, FieldTermFreqs)> = Vec::with_capacity(128);
        segment.segment.visit(doc, |field, word| {
            let Some(term) = segment.segment.content_term_of(word) else { return };
            let term = segment.term_id(term);
            let Some(position) = positions.get_mut(term.index()) else { return };
            if *position == 0 {
                freqs.push((term, FieldTermFreqs::default()));
                *position = freqs.len() as u32;
            }
            if let Some((_, freqs)) = freqs.get_mut(*position as usize - 1) {
                freqs.add(field);
            }
        });
        for (term, _) in &freqs {
            positions[term.index()] = 0;
        }
        freqs
    }

    pub(crate) fn note_count(&self) -> usize {
        self.addresses.len()
    }

    /// Returns the average length of the bodies with a content term, in content terms; at least 1.
    pub(crate) fn average_body_len(&self) -> f64 {
        (self.totals.body as f64 / self.totals.bodies.max(1) as f64).max(1.0)
    }

    /// Returns the average length of the titles, in content terms; at least 1.
    pub(crate) fn average_title_len(&self) -> f64 {
        (self.totals.title as f64 / (self.note_count() as f64).max(1.0)).max(1.0)
    }

    /// Returns the average length of the paragraphs, in content terms; at least 1.
    pub(crate) fn average_paragraph_len(&self) -> f64 {
        (self.totals.paragraph_words as f64 / (self.totals.paragraphs as f64).max(1.0)).max(1.0)
    }
}

fn build_in_memory(notes: &[Arc<NoteHandle>], language: Language) -> Arc<dyn BlobSource> {
    let mut indexer = Box::new(TextIndexer::new(language));
    let workers = indexer.workers();
    let shares = notes.par_chunks(notes.len().div_ceil(workers.len()).max(1));
    workers
        .into_par_iter()
        .zip(shares)
        .for_each(|(worker, notes)| notes.iter().for_each(|note| worker.read(note.parsed_or_empty())));
    indexer.end_batch();
    Arc::new(MemoryBlobs(indexer.finish()))
}
