//! What is known of a store's texts: which terms stand where, in whole numbers only.
//!
//! It is put together from what was kept of the notes that did not change since, and from what is
//! made of the others now: two segments, whose terms get numbers in common. SegmentCounts are those of the
//! first, without the notes that are gone or changed, and of the second: what comes out is as if all
//! had been read at once.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::codec::blobs::{BlobSource, IndexBuilder, MemoryBlobs, TextIndex};
use crate::note::{Language, Note};
use crate::search::analysis::stems::Stems;
use crate::search::build::indexer::TextIndexer;
use crate::search::build::inverter::Totals;
use crate::search::build::postings::FieldTermFreqs;
use crate::search::query::plan::NO_TERM;
use crate::search::read::segment::{DocText, FieldNorms, Segment, TermEntry, WordKind};

/// The segments of a store seen as one index: the stored segment without deleted notes, and one of notes read in this call.
pub struct CompositeIndex {
    pub(crate) stems: Arc<Stems>,
    /// What was kept, and what is made now.
    segments: [SegmentReader; 2],
    /// For each note of the store, in which segment it is, and its number there.
    documents: Vec<(u8, u32)>,
    /// How many notes, and how many paragraphs, hold each term.
    holders: Vec<u32>,
    paragraphs: Vec<u32>,
    /// For the terms that only the second segment has, their numbers there.
    only_second: Vec<u32>,
    pub(crate) totals: Totals,
}

/// A segment with its maps from document and term ids to those of the whole index.
#[derive(Default)]
struct SegmentReader {
    segment: Segment,
    /// For each of its notes, the place in the store, or [`NO_TERM`].
    places: Vec<u32>,
    /// For each of its terms, the number in common; empty where it is the same.
    terms: Vec<u32>,
    /// For each of its words, how many notes hold it, once somebody asked.
    words: OnceLock<Vec<u32>>,
}

impl CompositeIndex {
    /// Takes what was gathered of notes, where it makes sense, and reads the texts of those that it
    /// knows nothing of.
    pub fn new(notes: &[Arc<Note>], language: Language, gathered: Option<&TextIndex>) -> Self {
        let mut documents = vec![(1, NO_TERM); notes.len()];
        let first = gathered.and_then(|gathered| {
            let opened = SegmentReader::open(Arc::clone(&gathered.parts), &gathered.places);
            if opened.is_none() {
                gathered.parts.tell_broken();
            }
            opened
        });
        let first = first.unwrap_or_default();
        for (number, place) in first.places.iter().enumerate() {
            if let Some(document) = documents.get_mut(*place as usize) {
                *document = (0, number as u32);
            }
        }
        let others = (0..notes.len()).filter(|place| documents[*place].1 == NO_TERM);
        let others: Vec<Option<usize>> = others.map(Some).collect();
        let other_notes: Vec<Arc<Note>> = others.iter().flatten().map(|place| Arc::clone(&notes[*place])).collect();
        let second = SegmentReader::open(made_of(&other_notes, language), &others).unwrap_or_default();
        for (number, place) in others.iter().flatten().enumerate() {
            documents[*place] = (1, number as u32);
        }
        let index = Self {
            stems: Arc::new(Stems::new(language)),
            segments: [first, second],
            documents,
            holders: Vec::new(),
            paragraphs: Vec::new(),
            only_second: Vec::new(),
            totals: Totals::default(),
        };
        index.with_merged_stats()
    }

    /// Counts what both segments hold, without what is gone.
    fn with_merged_stats(mut self) -> Self {
        let [first, second] = &mut self.segments;
        let count = |section: &SegmentReader| section.segment.terms() as u32;
        self.totals = first.segment.totals;
        let terms = (0..count(first)).map(|term| first.segment.term(term));
        (self.holders, self.paragraphs) = terms.map(|term| (term.documents, term.paragraphs)).unzip();
        for number in first.gone() {
            self.totals.take(first.segment.forget(number, &mut self.holders, &mut self.paragraphs));
        }
        self.totals.add(second.segment.totals);
        for number in 0..count(second) {
            let term = second.segment.term(number);
            let id = first.segment.find(term.text).unwrap_or_else(|| {
                self.only_second.push(number);
                self.holders.push(0);
                self.paragraphs.push(0);
                self.holders.len() as u32 - 1
            });
            second.terms.push(id);
            self.holders[id as usize] += term.documents;
            self.paragraphs[id as usize] += term.paragraphs;
        }
        self
    }

    /// Returns a term's number, where a note holds it.
    pub(crate) fn id(&self, term: &str) -> Option<u32> {
        let [first, second] = &self.segments;
        let in_second = || second.segment.find(term).and_then(|number| second.terms.get(number as usize).copied());
        let id = first.segment.find(term).or_else(in_second)?;
        self.holders.get(id as usize).is_some_and(|holders| *holders > 0).then_some(id)
    }

    /// Returns what is known of a term.
    pub(crate) fn term(&self, id: u32) -> Option<TermEntry<'_>> {
        let (documents, paragraphs) = (*self.holders.get(id as usize)?, *self.paragraphs.get(id as usize)?);
        let [first, second] = &self.segments;
        let term = match (id as usize).checked_sub(first.segment.terms()) {
            None => first.segment.term(id),
            Some(beyond) => second.segment.term(*self.only_second.get(beyond)?),
        };
        Some(TermEntry { documents, paragraphs, ..term })
    }

    /// Returns how many numbers terms have; some may be of terms that no note holds any longer.
    pub(crate) fn terms(&self) -> usize {
        self.holders.len()
    }

    pub(crate) fn is_stop(&self, id: u32) -> bool {
        let [first, second] = &self.segments;
        match (id as usize).checked_sub(first.segment.terms()) {
            None => first.segment.is_stop(id),
            Some(beyond) => self.only_second.get(beyond).is_none_or(|number| second.segment.is_stop(*number)),
        }
    }

    /// Returns how many notes hold a term.
    pub(crate) fn doc_freq(&self, id: u32) -> u32 {
        self.holders.get(id as usize).copied().unwrap_or_default()
    }

    /// Calls `take` with each term that notes hold.
    pub(crate) fn for_each_term<'a>(&'a self, mut take: impl FnMut(u32, TermEntry<'a>)) {
        let held = (0..self.terms() as u32).filter(|id| self.doc_freq(*id) > 0);
        held.filter_map(|id| Some((id, self.term(id)?))).for_each(|(id, term)| take(id, term));
    }

    /// Calls `take` with each word that notes hold and that is written in another way than its term.
    pub(crate) fn for_each_spelling<'a>(&'a self, mut take: impl FnMut(&'a str, u32)) {
        for section in &self.segments {
            section.for_each_word(WordKind::Otherwise, |term, text| take(text, term));
        }
    }

    /// Tells whether a word that notes hold is written as a term.
    pub(crate) fn is_written(&self, id: u32) -> bool {
        let mut is_written = false;
        for section in &self.segments {
            section.for_each_word(WordKind::AsTerm, |term, _| is_written |= term == id);
        }
        is_written
    }

    /// Returns what notes hold of some terms, in the order of the notes' places, then of what the terms
    /// count as: `slot_of` says that for each term, [`NO_TERM`] for nothing.
    pub(crate) fn find(&self, slot_of: &[u32]) -> Vec<TermMatch> {
        let mut found: Vec<TermMatch> = self.segments.iter().flat_map(|section| section.find(slot_of)).collect();
        found.par_sort_unstable_by_key(|held| (held.place, held.slot, held.count.term));
        found
    }

    /// Returns the places of the notes that hold each of some terms somewhere, in order. Terms that say
    /// nothing are passed over.
    pub(crate) fn holding(&self, terms: &[u32]) -> Vec<usize> {
        let mut sought: Vec<u32> = terms.iter().copied().filter(|term| !self.is_stop(*term)).collect();
        sought.sort_unstable();
        sought.dedup();
        if sought.is_empty() {
            return (0..self.len()).collect();
        }
        let mut slot_of = vec![NO_TERM; self.terms()];
        sought.iter().for_each(|term| slot_of[*term as usize] = 0);
        let found = self.find(&slot_of);
        let holding = found.chunk_by(|a, b| a.place == b.place).filter(|held| held.len() == sought.len());
        holding.filter_map(|held| Some(held.first()?.place as usize)).collect()
    }

    /// Returns the lengths of a note's texts.
    pub(crate) fn lengths(&self, place: usize) -> FieldNorms {
        self.documents.get(place).map_or_else(FieldNorms::default, |(segment, number)| {
            self.segments[usize::from(*segment)].segment.lengths(*number as usize)
        })
    }

    /// Returns the terms of a note.
    pub(crate) fn text(&self, place: usize) -> DocText {
        let Some((segment, number)) = self.documents.get(place) else { return DocText::default() };
        let section = &self.segments[usize::from(*segment)];
        section.in_terms(section.segment.text(*number as usize))
    }

    /// Counts the terms of a note that say something, each once, in the order in which they are met.
    /// `places` has room for all terms, and is all 0 before and after.
    pub(crate) fn counts(&self, place: usize, places: &mut [u32]) -> Vec<FieldTermFreqs> {
        let Some((segment, number)) = self.documents.get(place) else { return Vec::new() };
        let section = &self.segments[usize::from(*segment)];
        let mut counts: Vec<FieldTermFreqs> = Vec::with_capacity(128);
        section.segment.visit(*number as usize, |field, word| {
            let Some(term) = section.segment.content_term_of(word) else { return };
            let term = section.common(term);
            let Some(at) = places.get_mut(term as usize) else { return };
            if *at == 0 {
                counts.push(FieldTermFreqs { term, ..FieldTermFreqs::default() });
                *at = counts.len() as u32;
            }
            if let Some(count) = counts.get_mut(*at as usize - 1) {
                count.add(field);
            }
        });
        for count in &counts {
            places[count.term as usize] = 0;
        }
        counts
    }

    /// Returns how many notes there are.
    pub(crate) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns the average length of the bodies that say something, in terms; at least 1.
    pub(crate) fn body_average(&self) -> f64 {
        (self.totals.body as f64 / self.totals.bodies.max(1) as f64).max(1.0)
    }

    /// Returns the average length of the titles, in terms; at least 1.
    pub(crate) fn title_average(&self) -> f64 {
        (self.totals.title as f64 / (self.len() as f64).max(1.0)).max(1.0)
    }
}

/// Makes in memory what is kept of notes.
fn made_of(notes: &[Arc<Note>], language: Language) -> Arc<dyn BlobSource> {
    let mut words = Box::new(TextIndexer::new(language));
    let readers = words.readers();
    let some = notes.par_chunks(notes.len().div_ceil(readers.len()).max(1));
    readers.into_par_iter().zip(some).for_each(|(reader, notes)| notes.iter().for_each(|note| reader.read(note)));
    words.take();
    Arc::new(MemoryBlobs(words.parts()))
}

impl SegmentReader {
    /// `None` where this can't be what was kept of as many notes as there are places.
    fn open(parts: Arc<dyn BlobSource>, places: &[Option<usize>]) -> Option<Self> {
        let segment = Segment::open(parts).filter(|segment| segment.documents() == places.len())?;
        let places = places.iter().map(|place| place.map_or(NO_TERM, |place| place as u32)).collect();
        Some(Self { segment, places, terms: Vec::new(), words: OnceLock::new() })
    }

    /// Returns its notes that are gone, or changed.
    fn gone(&self) -> impl Iterator<Item = usize> {
        self.places.iter().enumerate().filter(|(_, place)| **place == NO_TERM).map(|(number, _)| number)
    }

    /// Returns how many notes hold each word.
    fn word_holders(&self) -> &[u32] {
        self.words.get_or_init(|| {
            let mut words = self.segment.word_holders();
            self.gone().for_each(|number| less(&mut words, self.segment.text(number).all()));
            words
        })
    }

    /// Returns the number in common of a term.
    fn common(&self, term: u32) -> u32 {
        self.terms.get(term as usize).copied().unwrap_or(term)
    }

    /// Turns the words of a text into terms, by their numbers in common.
    fn in_terms(&self, mut text: DocText) -> DocText {
        text.for_each_mut(|word| *word = self.common(self.segment.term_of(*word)));
        text
    }

    fn for_each_word<'a>(&'a self, kind: WordKind, mut take: impl FnMut(u32, &'a str)) {
        let held = self.word_holders().iter().enumerate().filter(|(_, holders)| **holders > 0);
        let words = held.filter_map(|(number, _)| self.segment.word(number as u32));
        for word in words.filter(|word| word.kind == kind) {
            take(self.common(word.term), word.text);
        }
    }

    /// See [`CompositeIndex::find`]; here in no order.
    fn find(&self, slot_of: &[u32]) -> Vec<TermMatch> {
        let slot = |term: u32| slot_of.get(self.common(term) as usize).copied().filter(|slot| *slot != NO_TERM);
        let sought = (0..self.segment.terms() as u32).filter_map(|term| Some((term, slot(term)?)));
        let (silent, sought): (Vec<_>, Vec<_>) = sought.partition(|(term, _)| self.segment.is_stop(*term));
        let mut found: Vec<TermMatch> = sought
            .into_par_iter()
            .flat_map_iter(|(term, slot)| {
                let mut found = Vec::with_capacity((self.segment.term(term).documents as usize).min(self.places.len()));
                self.segment.for_each_posting(term, |document, count| found.extend(self.held(document, slot, count)));
                found
            })
            .collect();
        if !silent.is_empty() {
            found.extend(self.scan_stop_words(&silent));
        }
        found
    }

    fn held(&self, document: u32, slot: u32, count: FieldTermFreqs) -> Option<TermMatch> {
        let place = self.places.get(document as usize).copied().filter(|place| *place != NO_TERM)?;
        Some(TermMatch { place, slot, count: FieldTermFreqs { term: self.common(count.term), ..count } })
    }

    /// Finds terms that have no lists, since they say nothing: a question that holds no others is rare.
    fn scan_stop_words(&self, terms: &[(u32, u32)]) -> Vec<TermMatch> {
        self.segment.scan(|document, found| {
            let mut counts = vec![FieldTermFreqs::default(); terms.len()];
            document.visit(|field, word| {
                let term = self.segment.term_of(word);
                if let Ok(at) = terms.binary_search_by_key(&term, |(term, _)| *term) {
                    counts[at].add(field);
                }
            })?;
            let counts = terms.iter().zip(counts).filter(|(_, count)| *count != FieldTermFreqs::default());
            let number = document.number as u32;
            found.extend(
                counts.filter_map(|((term, slot), count)| {
                    self.held(number, *slot, FieldTermFreqs { term: *term, ..count })
                }),
            );
            Some(())
        })
    }
}

/// The frequencies of one query term in one note.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermMatch {
    /// The note's place in the store.
    pub(crate) place: u32,
    /// What the term counts as.
    pub(crate) slot: u32,
    pub(crate) count: FieldTermFreqs,
}

impl Segment {
    /// Takes away what a note holds: it is gone, or changed. Returns its part of the sums.
    fn forget(&self, document: usize, holders: &mut [u32], paragraphs: &mut [u32]) -> Totals {
        let mut text = self.text(document);
        text.for_each_mut(|word| *word = self.term_of(*word));
        less(holders, text.all());
        let own = text.body.get(..text.own).unwrap_or_default();
        let (mut start, mut rest) = (0, text.paragraphs.iter().map(|end| *end as usize).collect::<Vec<_>>());
        rest.push(own.len());
        for end in rest {
            less(paragraphs, own.get(start..end).unwrap_or_default().to_vec());
            start = end;
        }
        let lengths = self.lengths(document);
        Totals {
            documents: 1,
            title: u64::from(lengths.title),
            body: u64::from(lengths.body),
            bodies: u64::from(lengths.body > 0),
            paragraphs: text.paragraphs.len() as u64,
            paragraph_words: own.iter().filter(|term| !self.is_stop(**term)).count() as u64,
        }
    }
}

/// Counts each of some numbers once less.
fn less(counts: &mut [u32], mut numbers: Vec<u32>) {
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        if let Some(count) = counts.get_mut(number as usize) {
            *count = count.saturating_sub(1);
        }
    }
}
