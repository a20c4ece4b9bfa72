//! Search: which notes answer a question, best first; which notes are like a note.
//!
//! One engine for everything that compares texts. Layers, each only on those before it: words and
//! stems (text to terms), chunks, reading, lexicon, counting and corpus (what is known of a store's
//! texts), query and plan (what is looked for), passages, vectors and ranking (how well notes answer).

mod chunks;
mod corpus;
mod counting;
mod duplicates;
mod english;
mod lexicon;
mod near;
mod other_languages;
mod passages;
mod plan;
mod query;
mod ranking;
mod reading;
mod related;
mod snippet;
mod stems;
mod stop_words;
mod vectors;
mod words;

use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

pub use corpus::Corpus;
pub use duplicates::Alike;
pub use plan::Spelling;
pub use query::Query;
pub use ranking::{Hit, Parts, Surroundings, Weights};
pub use related::Relative;
pub use snippet::{Marker, Snippet};
pub use stop_words::StopWords;

use crate::note::{Language, Note};
use passages::holds;
use plan::{Known, Plan};
use ranking::Ranker;

/// The notes of a store, ready to be searched.
pub struct Engine<'a> {
    notes: &'a [Arc<Note>],
    language: Language,
    corpus: Corpus,
    weights: Weights,
}

/// What a query found.
#[derive(Default)]
pub struct Found {
    /// The notes, the best first.
    pub hits: Vec<Hit>,
    /// Words of the query that no note holds, with what was looked for in their place.
    pub spellings: Vec<Spelling>,
    /// Finds the places in texts that answer.
    pub marker: Option<Marker>,
}

impl<'a> Engine<'a> {
    /// Reads the texts of notes.
    pub fn new(notes: &'a [Arc<Note>], language: Language) -> Self {
        Self { notes, language, corpus: Corpus::new(notes, language), weights: Weights::default() }
    }

    /// Finds the notes that answer a query. What stands around notes counts where it is given.
    pub fn search(&self, query: &Query, around: Option<&Surroundings>) -> Found {
        let known = Known {
            has_tag: &|tag| self.notes.iter().any(|note| has_tag(note, tag)),
            has_kind: &|kind| self.notes.iter().any(|note| note.kind.eq_ignore_ascii_case(kind)),
        };
        let mut plan = Plan::new(query, &self.corpus, self.language, &known);
        self.drop_unheld_phrases(&mut plan);
        let ranker = Ranker { corpus: &self.corpus, notes: self.notes, around, plan: &plan, weights: &self.weights };
        let passes = |note: usize| self.passes(note, &plan);
        let mut hits = match plan.slots.is_empty() {
            false => ranker.run(&passes),
            true if plan.demands() => self.by_value(&passes),
            true => Vec::new(),
        };
        self.put_titles_first(query, &mut hits, &passes);
        let marker = Marker::new(&plan, &self.corpus, self.language);
        Found { hits, spellings: plan.spellings, marker: Some(marker) }
    }

    /// Finds the notes that are most like one and not linked with it, so many at most; and how many
    /// there are in all.
    pub fn related(&self, note: usize, around: &Surroundings, limit: usize) -> (Vec<Relative>, usize) {
        related::related(&self.corpus, &self.weights, around, note, limit)
    }

    /// Finds notes that say almost the same: each with the first one that it is like.
    pub fn near_duplicates(&self) -> Vec<Alike> {
        duplicates::near_duplicates(&self.corpus)
    }

    /// Takes phrases that no note holds for words.
    fn drop_unheld_phrases(&self, plan: &mut Plan) {
        let is_held = |terms: &Vec<u32>| {
            self.corpus
                .documents
                .iter()
                .any(|document| holds(&document.title, terms) || holds(self.corpus.body(document), terms))
        };
        plan.phrases.retain(is_held);
    }

    /// Tells whether a note is what the query demands, whatever its score.
    fn passes(&self, place: usize, plan: &Plan) -> bool {
        let (Some(note), Some(document)) = (self.notes.get(place), self.corpus.documents.get(place)) else {
            return false;
        };
        let holds_in_text =
            |terms: &Vec<u32>| holds(&document.title, terms) || holds(self.corpus.body(document), terms);
        let holds = |terms: &Vec<u32>| match terms.as_slice() {
            [only] => self.corpus.counts(document).iter().any(|count| count.term == *only),
            _ => holds_in_text(terms),
        };
        plan.tags.iter().all(|(tag, is_wanted)| has_tag(note, tag) == *is_wanted)
            && plan.kinds.iter().all(|(kind, is_wanted)| note.kind.eq_ignore_ascii_case(kind) == *is_wanted)
            && plan.titles.iter().all(|terms| passages::holds(&document.title, terms))
            && plan.phrases.iter().all(holds_in_text)
            && !plan.without.iter().any(holds)
    }

    /// Returns all notes that pass, for a query that demands but names no word: by value.
    fn by_value(&self, passes: &(dyn Fn(usize) -> bool + Sync)) -> Vec<Hit> {
        let hit = |note| Hit { note, score: 0.0, relevance: 1.0, parts: Parts::default() };
        let mut hits: Vec<Hit> = (0..self.notes.len()).filter(|note| passes(*note)).map(hit).collect();
        hits.sort_by_key(|hit| (std::cmp::Reverse(self.notes[hit.note].value_or_default()), hit.note));
        hits
    }

    /// Puts notes first whose title or alias is the whole query.
    fn put_titles_first(&self, query: &Query, hits: &mut Vec<Hit>, passes: &dyn Fn(usize) -> bool) {
        let (whole, raw) = (query.whole(), query.text.trim());
        if whole.is_empty() {
            return;
        }
        let is_named = |note: &Note, name: &str| {
            std::iter::once(&note.title).chain(&note.aliases).any(|title| is_same(title, name))
        };
        // Whoever writes a title means that note, whatever the title would ask for as a query.
        let is_meant = |place: &usize| {
            let note = &self.notes[*place];
            is_named(note, raw) || (raw != whole && is_named(note, whole) && passes(*place))
        };
        let named: Vec<usize> = (0..self.notes.len()).filter(is_meant).collect();
        // Many notes may share a title; their places are in order.
        let mut is_found = vec![false; named.len()];
        for hit in hits.iter_mut() {
            if let Ok(at) = named.binary_search(&hit.note) {
                hit.relevance = 1.0;
                is_found[at] = true;
            }
        }
        let others = named.iter().zip(&is_found).filter(|(_, is_found)| !**is_found);
        hits.extend(others.map(|(note, _)| Hit { note: *note, score: 0.0, relevance: 1.0, parts: Parts::default() }));
        // Stable: among themselves they stay in their order.
        hits.sort_by_key(|hit| named.binary_search(&hit.note).is_err());
    }
}

fn has_tag(note: &Note, tag: &str) -> bool {
    note.tags.iter().any(|have| is_same(have, tag))
}

/// Compares two texts on one line each, in any case.
fn is_same(a: &str, b: &str) -> bool {
    if a.is_ascii() != b.is_ascii() {
        return false;
    }
    if a.is_ascii() {
        let (mut a, mut b) = (a.split_ascii_whitespace(), b.split_ascii_whitespace());
        return std::iter::from_fn(|| Some((a.next(), b.next()))).find_map(|pair| match pair {
            (Some(a), Some(b)) if a.eq_ignore_ascii_case(b) => None,
            (a, b) => Some(a == b),
        }) == Some(true);
    }
    let chars = |text: &str| {
        let words = text.split_whitespace().flat_map(|word| word.chars().chain([' ']));
        words.nfc().flat_map(char::to_lowercase).nfc().collect::<String>()
    };
    chars(a) == chars(b)
}
