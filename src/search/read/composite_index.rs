//! The segments of a store as one index.
//!
//! The first segments are the stored ones of the collections without their deleted documents, the last is built from the
//! notes not in them. All statistics are integers and equal those of one segment with all notes.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::dictionary::{Dictionary, TermEntry};
use super::forward::DocText;
use super::indexed_segment::{IndexedSegment, QueryTerms, SegmentStats, TermMatch};
use super::merged_terms::{MergedTerms, OtherTerms};
use crate::codec::blobs::{BlobSource, MemoryBlobs};
use crate::note::Language;
use crate::search::analysis::stems::Stems;
use crate::search::build::indexer::TextIndexer;
use crate::search::format::{FieldLengths, Totals, WordKind};
use crate::search::ids::{DocAddress, DocId, QueryTermIdx, TermId, TermOrd, WordId};
use crate::search::postings::FieldTermFreqs;
use crate::store::{NOTES_PER_BATCH, NoteHandle, NoteIdx, TextIndex, TextIndexBuilder, TextIndexWorker};

/// The stored segments of a store without deleted notes, and one of notes read in this call, seen as one index.
pub struct CompositeIndex {
    pub(crate) stems: Arc<Stems>,
    /// The stored segments, and the one in memory.
    segments: Vec<IndexedSegment>,
    /// The address of each note of the store.
    addresses: Vec<DocAddress>,
    /// The number of notes, and of paragraphs, that contain each term.
    doc_freqs: Vec<u32>,
    paragraph_freqs: Vec<u32>,
    /// The terms that the first segment lacks; their ids follow those of the first.
    others: OtherTerms,
    /// The merged terms of the stored indexes for the cache, if there are several and they were merged in this call.
    pub(crate) encoded_terms: Option<Vec<u8>>,
    pub(crate) totals: Totals,
}

impl CompositeIndex {
    /// Opens the stored indexes of a store that are intact, and indexes the notes that they lack. `merged_terms`: the output
    /// of [`CompositeIndex::encoded_terms`] for these indexes, if it is cached.
    pub fn new(
        notes: &[Arc<NoteHandle>],
        language: Language,
        stored: &[&TextIndex],
        merged_terms: Option<&[u8]>,
    ) -> Self {
        let (mut segments, merged) = opened_segments(stored, merged_terms);
        let mut addresses = vec![DocAddress::NONE; notes.len()];
        for (ordinal, segment) in (0..).zip(&segments) {
            for (doc, note) in segment.live_docs() {
                if let Some(address) = addresses.get_mut(note.index()) {
                    *address = DocAddress { segment: ordinal, doc };
                }
            }
        }
        let is_missing = |note: &NoteIdx| addresses[note.index()] == DocAddress::NONE;
        let missing: Vec<NoteIdx> = NoteIdx::all(notes.len()).filter(is_missing).collect();
        let missing_notes: Vec<Arc<NoteHandle>> = missing.iter().map(|note| Arc::clone(&notes[*note])).collect();
        let in_memory = build_in_memory(&missing_notes, language);
        for (doc, note) in DocId::all(missing.len()).zip(&missing) {
            addresses[note.index()] = DocAddress { segment: segments.len() as u16, doc };
        }
        segments.push(IndexedSegment::open(in_memory, true, missing.iter().copied().map(Some)).unwrap_or_default());
        let index = Self {
            stems: Arc::new(Stems::with_cache(language)),
            segments,
            addresses,
            doc_freqs: Vec::new(),
            paragraph_freqs: Vec::new(),
            others: OtherTerms::default(),
            encoded_terms: None,
            totals: Totals::default(),
        };
        index.with_merged_stats(merged)
    }

    /// Merges the terms, if that was not done before, and the statistics of the segments, without deleted documents.
    fn with_merged_stats(mut self, merged: Option<MergedTerms>) -> Self {
        let is_cached = merged.is_some();
        let dictionaries: Vec<&Dictionary> = self.segments.iter().map(|segment| &segment.segment.dictionary).collect();
        let Some((in_memory, stored)) = dictionaries.split_last() else { return self };
        let mut terms = merged.unwrap_or_else(|| MergedTerms::of(stored));
        // What was decoded is cached already.
        self.encoded_terms = (stored.len() > 1 && !is_cached).then(|| terms.encode());
        if let Some(first) = stored.first() {
            terms.add(first, in_memory);
        }
        let MergedTerms { ids, others } = terms;
        self.others = others;
        for (segment, ids) in self.segments.iter_mut().skip(1).zip(ids) {
            segment.term_ids = ids;
        }
        let mut stats = self.segments.par_iter().map(IndexedSegment::live_stats).collect::<Vec<_>>().into_iter();
        SegmentStats { doc_freqs: self.doc_freqs, paragraph_freqs: self.paragraph_freqs, totals: self.totals } =
            stats.next().unwrap_or_default();
        let count = self.doc_freqs.len() + self.others.len();
        self.doc_freqs.resize(count, 0);
        self.paragraph_freqs.resize(count, 0);
        for (segment, stats) in self.segments.iter().skip(1).zip(stats) {
            self.totals.add(stats.totals);
            for (id, (doc_freq, paragraph_freq)) in
                segment.term_ids.iter().zip(stats.doc_freqs.iter().zip(&stats.paragraph_freqs))
            {
                self.doc_freqs[id.index()] += doc_freq;
                self.paragraph_freqs[id.index()] += paragraph_freq;
            }
        }
        self
    }

    /// Returns the id of a term; `None` if no note contains it.
    pub(crate) fn term_id(&self, term: &str) -> Option<TermId> {
        let first = &self.segments.first()?.segment.dictionary;
        let other = || Some(TermId((first.term_count() + self.others.find(term)?) as u32));
        let id = first.find(term).map(|term| TermId(term.0)).or_else(other)?;
        (self.doc_freq(id) > 0).then_some(id)
    }

    /// Returns the entry of a term, with its frequencies in the store; `None` if it does not exist.
    pub(crate) fn term(&self, id: TermId) -> Option<TermEntry<'_>> {
        let (doc_freq, paragraph_freq) = (*self.doc_freqs.get(id.index())?, *self.paragraph_freqs.get(id.index())?);
        let (segment, term) = self.locate(id)?;
        let entry = TermEntry { doc_freq, paragraph_freq, ..segment.segment.dictionary.entry(term) };
        // Other segments than the first may have been opened without texts.
        let text = self.position_in_others(id).map_or(entry.text, |position| self.others.text(position));
        Some(TermEntry { text, ..entry })
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
        match self.position_in_others(id) {
            None => Some((self.segments.first()?, TermOrd(id.0))),
            Some(position) => {
                let (segment, term) = self.others.owner(position)?;
                Some((self.segments.get(usize::from(segment))?, term))
            }
        }
    }

    /// Returns the position of a term among those that the first segment lacks.
    fn position_in_others(&self, id: TermId) -> Option<usize> {
        id.index().checked_sub(self.segments.first()?.segment.term_count())
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
        let query_terms = QueryTerms::new(query_term_of);
        let mut matches: Vec<TermMatch> = self.segments.iter().flat_map(|segment| segment.find(&query_terms)).collect();
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

    /// Yields each note that contains one of `terms`, in any field, with the term, by note and term.
    pub(crate) fn occurrences(&self, terms: &[TermId]) -> impl Iterator<Item = (NoteIdx, TermId)> {
        self.find_terms(terms).into_iter().map(|found| (found.note, found.term))
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

    /// Returns the distinct content terms of a note's title and body, a summary included, in ascending order, and the number of
    /// those of its own body as a share of the words there; of the title, if it has no body.
    pub(crate) fn content_terms(&self, note: NoteIdx) -> (Vec<TermId>, f64) {
        let Some((segment, doc)) = self.document(note) else { return Default::default() };
        let text = segment.segment.text(doc);
        let content = |words: &[WordId]| -> Vec<TermId> {
            let terms = words.iter().filter_map(|word| segment.segment.content_term_of(*word));
            terms.map(|term| segment.term_id(term)).collect()
        };
        let make_distinct = |terms: &mut Vec<TermId>| {
            terms.sort_unstable();
            terms.dedup();
        };
        let body = if text.body_len == 0 { text.title.as_slice() } else { text.own_body() };
        let mut terms = content(body);
        make_distinct(&mut terms);
        let density = terms.len() as f64 / body.len().max(1) as f64;
        terms.extend(content(&text.title));
        terms.extend(content(text.body.get(text.body_len..).unwrap_or_default()));
        make_distinct(&mut terms);
        (terms, density)
    }

    /// Whether a note that `test` selects contains a term. A stop word counts as in all notes, as in
    /// [`CompositeIndex::notes_with_all`].
    pub(crate) fn has_note_with(&self, term: TermId, test: impl Fn(NoteIdx) -> bool) -> bool {
        if self.is_stop(term) {
            return NoteIdx::all(self.note_count()).any(test);
        }
        self.segments.iter().any(|segment| segment.notes_with(term).into_iter().any(&test))
    }

    /// Counts the notes that contain a term, as [`CompositeIndex::has_note_with`] does.
    pub(crate) fn count_notes_with(&self, term: TermId) -> usize {
        if self.is_stop(term) { self.note_count() } else { self.doc_freq(term) as usize }
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

/// Opens the stored segments, and decodes their merged terms if these are cached: then only the first
/// segment needs the texts of its terms.
fn opened_segments(stored: &[&TextIndex], merged_terms: Option<&[u8]>) -> (Vec<IndexedSegment>, Option<MergedTerms>) {
    let open = |stored: &TextIndex, has_texts: bool| {
        let notes = stored.notes.iter().copied();
        let opened = IndexedSegment::open(Arc::clone(&stored.blobs), has_texts, notes);
        if opened.is_none() {
            stored.blobs.mark_corrupt();
        }
        opened.unwrap_or_default()
    };
    if let [one] = stored {
        return (vec![open(one, true)], None);
    }
    let open_all = |has_texts: bool| -> Vec<IndexedSegment> {
        let all = stored.par_iter().enumerate();
        all.map(|(ordinal, stored)| open(stored, has_texts || ordinal == 0)).collect()
    };
    if let Some(bytes) = merged_terms {
        let segments = open_all(false);
        let counts: Vec<usize> = segments.iter().map(|segment| segment.segment.term_count()).collect();
        if let Some(merged) = MergedTerms::decode(bytes, &counts) {
            return (segments, Some(merged));
        }
    }
    (open_all(true), None)
}

fn build_in_memory(notes: &[Arc<NoteHandle>], language: Language) -> Arc<dyn BlobSource> {
    let mut indexer = Box::new(TextIndexer::new(language));
    for batch in notes.chunks(NOTES_PER_BATCH) {
        let workers = indexer.workers();
        let shares = batch.par_chunks(batch.len().div_ceil(workers.len()).max(1));
        let read = |(worker, notes): (&mut dyn TextIndexWorker, &[Arc<NoteHandle>])| {
            notes.iter().for_each(|note| note.read_once(|note| worker.read(note)))
        };
        workers.into_par_iter().zip(shares).for_each(read);
        indexer.end_batch();
    }
    Arc::new(MemoryBlobs(indexer.finish()))
}
