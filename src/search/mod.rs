//! Search: which notes answer a question, best first; which notes are like a note.
//!
//! One engine for everything that compares texts. Layers, each only on those before it: words and
//! stems (text to terms), chunks, reading, lexicon, counting and gather (what is kept of texts), segment
//! and index (what is known of a store's texts), query and plan (what is looked for), passages, vectors and ranking (how well notes answer).

mod analysis;
mod build;
mod highlighter;
mod query;
mod read;
mod score;

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;
use unicode_normalization::UnicodeNormalization;

pub use analysis::stop_words::StopWords;
pub use build::indexer::TextIndexer;
pub use highlighter::{Highlighter, Snippet};
pub use query::parser::Query;
pub use query::plan::Spelling;
pub use read::composite_index::CompositeIndex;
pub use score::block_scorer::{BlockScorer, BlockText, TokenCache};
pub use score::duplicates::Alike;
pub use score::ranking::{BestAnswer, Hit, Linked, Neighbourhood, ScoreBreakdown, Sequences, Weights};
pub use score::related::SimilarNote;

use crate::codec::blobs::TextIndex;
use crate::note::{Language, Note};
use crate::timings;
use query::plan::{KnownNames, Plan};
use read::segment::DocText;
use score::proximity::holds;
use score::ranking::Ranker;
use score::vectors::{VectorCache, Vectors};

/// The distinct content terms of a note, and their density.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NoteTerms {
    /// The terms of its title and body that say something, each once, by their numbers in this engine.
    pub terms: Vec<u32>,
    /// How many of the words of its body are such terms, each counted once: 0 to 1.
    pub density: f64,
}

/// The notes of a store, ready to be searched.
pub struct Engine<'a> {
    notes: &'a [Arc<Note>],
    language: Language,
    index: CompositeIndex,
    weights: Weights,
    made: VectorCache,
}

/// The hits of a query, and what later steps need of it.
#[derive(Default)]
pub struct SearchResults {
    /// The notes, the best first.
    pub hits: Vec<Hit>,
    /// TextIndexer of the query that no note holds, with what was looked for in their place.
    pub spellings: Vec<Spelling>,
    /// Finds the places in texts that answer.
    pub highlighter: Option<Highlighter>,
    /// Scores the blocks of texts.
    pub scorer: Option<BlockScorer>,
    /// How well the hits answer the query as a whole.
    pub best: BestAnswer,
}

impl<'a> Engine<'a> {
    /// Reads the texts of notes.
    pub fn new(notes: &'a [Arc<Note>], language: Language) -> Self {
        Self::open(notes, language, None)
    }

    /// Takes what [`TextIndexer`] gathered of notes, and reads the texts of the others.
    pub fn open(notes: &'a [Arc<Note>], language: Language, gathered: Option<&TextIndex>) -> Self {
        let index = CompositeIndex::new(notes, language, gathered);
        let weights = Weights::of(&index);
        timings::end("words opened");
        Self { notes, language, index, weights, made: VectorCache::default() }
    }

    /// Finds the notes that answer a query. What stands around notes counts where it is given.
    pub fn search(&self, query: &Query, around: Option<&Neighbourhood<'_>>) -> SearchResults {
        let known = KnownNames {
            has_tag: &|tag| self.notes.iter().any(|note| has_tag(note, tag)),
            has_kind: &|kind| self.notes.iter().any(|note| note.head().kind.eq_ignore_ascii_case(kind)),
        };
        let mut plan = Plan::new(query, &self.index, self.language, &known);
        self.drop_unheld_phrases(&mut plan);
        timings::end("query understood");
        let (index, notes, weights) = (&self.index, self.notes, &self.weights);
        let ranker = Ranker { index, notes, around, plan: &plan, weights, vectors: self.vectors() };
        let barred = self.barred(&plan);
        let passes = |note: usize| self.passes(note, &plan, &barred);
        let (mut hits, mut best) = match plan.slots.is_empty() {
            false => ranker.run(&passes),
            true if plan.demands() => (self.by_value(&passes), BestAnswer::CERTAIN),
            true => Default::default(),
        };
        self.put_titles_first(query, &mut hits, &passes);
        // Whatever has what a query demands is meant, and so is a note whose title is the query.
        let is_exact = plan.demands() || !plan.phrases.is_empty() || !plan.titles.is_empty();
        // Of somebody or something that notes name, something is known.
        let names_known = || query::plan::proper_names(&query.text).any(|name| self.holds_content(name));
        if hits.first().is_some_and(|hit| is_exact || hit.relevance >= 1.0 || names_known()) {
            best = BestAnswer::CERTAIN;
        }
        timings::end("titles looked at");
        let highlighter = Highlighter::new(&plan, &self.index);
        let scorer = BlockScorer::new(&plan, &self.index);
        SearchResults { hits, spellings: plan.spellings, highlighter: Some(highlighter), scorer: Some(scorer), best }
    }

    /// Tells whether a note holds a word that is no stop word.
    fn holds_content(&self, word: &str) -> bool {
        let terms = query::plan::all_terms(word, &self.index);
        terms.iter().any(|term| *term != query::plan::NO_TERM && !self.index.is_stop(*term))
    }

    /// Finds the notes that are most like one and not linked with it, so many at most, those last of which
    /// `is_last` is true; and how many there are in all.
    pub fn related(
        &self,
        note: usize,
        around: &Neighbourhood<'_>,
        is_last: &dyn Fn(usize) -> bool,
        limit: usize,
    ) -> (Vec<SimilarNote>, usize) {
        score::related::related(&self.index, &self.vectors(), around, note, is_last, limit)
    }

    fn vectors(&self) -> Vectors<'_> {
        Vectors::new(&self.index, &self.weights, &self.made)
    }

    /// Finds notes that say almost the same: each with the first one that it is like.
    pub fn near_duplicates(&self) -> Vec<Alike> {
        score::duplicates::near_duplicates(&self.index)
    }

    /// Returns what a note is about.
    pub fn content(&self, note: usize) -> NoteTerms {
        let text = self.index.text(note);
        let said = |terms: &[u32]| {
            let mut terms: Vec<u32> = terms.iter().copied().filter(|term| !self.index.is_stop(*term)).collect();
            terms.sort_unstable();
            terms.dedup();
            terms
        };
        let body = if text.own == 0 { &text.title } else { text.body.get(..text.own).unwrap_or_default() };
        let density = said(body).len() as f64 / body.len().max(1) as f64;
        NoteTerms { terms: said(&[text.title.as_slice(), &text.body].concat()), density }
    }

    /// Takes phrases that no note holds for words.
    fn drop_unheld_phrases(&self, plan: &mut Plan) {
        plan.phrases.retain(|terms| {
            self.index.holding(terms).into_par_iter().any(|note| self.is_in(note, &self.index.text(note), terms))
        });
    }

    /// Tells whether terms stand side by side in a note: in its title, one of its aliases, its body, or a summary in
    /// its frontmatter.
    fn is_in(&self, note: usize, text: &DocText, terms: &[u32]) -> bool {
        let (body, summary) = text.body.split_at_checked(text.own).unwrap_or((&text.body, &[]));
        holds(body, terms) || holds(summary, terms) || self.is_in_name(note, text, terms)
    }

    /// Tells whether terms stand side by side in a note's title or in one of its aliases, which were counted as one
    /// text.
    fn is_in_name(&self, place: usize, text: &DocText, terms: &[u32]) -> bool {
        let Some(note) = self.notes.get(place).filter(|_| holds(&text.title, terms)) else { return false };
        let is_one_text = terms.len() < 2 || !note.has_aliases();
        let has = |name: &str| holds(&query::plan::all_terms(name, &self.index), terms);
        is_one_text || has(note.title()) || note.ties().aliases.iter().any(|alias| has(alias))
    }

    /// Returns the notes that hold what no note may hold.
    fn barred(&self, plan: &Plan) -> HashSet<usize> {
        let holding = plan.without.iter().map(|terms| (terms, self.index.holding(terms)));
        let holds = |terms: &[u32], note: usize| match terms {
            [only] if !self.index.is_stop(*only) => true,
            [only] => holds_term(&self.index.text(note), *only),
            terms => self.is_in(note, &self.index.text(note), terms),
        };
        let barred = holding
            .map(|(terms, notes)| notes.into_par_iter().filter(|note| holds(terms, *note)).collect::<Vec<usize>>());
        barred.flatten().collect()
    }

    /// Tells whether a note is what the query demands, whatever its score.
    fn passes(&self, place: usize, plan: &Plan, barred: &HashSet<usize>) -> bool {
        let Some(note) = self.notes.get(place) else { return false };
        let has_kind = |kind: &str| note.head().kind.eq_ignore_ascii_case(kind);
        let is_in_place = !barred.contains(&place)
            && plan.tags.iter().all(|(tag, is_wanted)| has_tag(note, tag) == *is_wanted)
            && plan.kinds.iter().all(|(kind, is_wanted)| has_kind(kind) == *is_wanted);
        if !is_in_place || (plan.titles.is_empty() && plan.phrases.is_empty()) {
            return is_in_place;
        }
        let text = self.index.text(place);
        plan.titles.iter().all(|terms| self.is_in_name(place, &text, terms))
            && plan.phrases.iter().all(|terms| self.is_in(place, &text, terms))
    }

    /// Returns all notes that pass, for a query that demands but names no word: by value.
    fn by_value(&self, passes: &(dyn Fn(usize) -> bool + Sync)) -> Vec<Hit> {
        let hit = |note| Hit { note, score: 0.0, relevance: 1.0, parts: ScoreBreakdown::default() };
        let mut hits: Vec<Hit> = (0..self.notes.len()).filter(|note| passes(*note)).map(hit).collect();
        hits.sort_by_key(|hit| (std::cmp::Reverse(self.notes[hit.note].value_or_default()), hit.note));
        hits
    }

    /// Puts notes first whose title or alias is the whole query.
    fn put_titles_first(&self, query: &Query, hits: &mut Vec<Hit>, passes: &(dyn Fn(usize) -> bool + Sync)) {
        let (whole, raw) = (query.whole(), query.text.trim());
        if whole.is_empty() {
            return;
        }
        let is_named = |note: &Note, name: &str| {
            is_same(note.title(), name)
                || (note.has_aliases() && note.ties().aliases.iter().any(|alias| is_same(alias, name)))
        };
        // Whoever writes a title means that note, whatever the title would ask for as a query.
        let is_meant = |place: &usize| {
            let note = &self.notes[*place];
            is_named(note, raw) || (raw != whole && is_named(note, whole) && passes(*place))
        };
        let named: Vec<usize> = (0..self.notes.len()).into_par_iter().filter(is_meant).collect();
        // Many notes may share a title; their places are in order.
        let mut is_found = vec![false; named.len()];
        for hit in hits.iter_mut() {
            if let Ok(at) = named.binary_search(&hit.note) {
                hit.relevance = 1.0;
                is_found[at] = true;
            }
        }
        let others = named.iter().zip(&is_found).filter(|(_, is_found)| !**is_found);
        hits.extend(others.map(|(note, _)| Hit {
            note: *note,
            score: 0.0,
            relevance: 1.0,
            parts: ScoreBreakdown::default(),
        }));
        // Stable: among themselves they stay in their order.
        hits.sort_by_key(|hit| named.binary_search(&hit.note).is_err());
    }
}

fn has_tag(note: &Note, tag: &str) -> bool {
    note.ties().tags.iter().any(|have| is_same(have, tag))
}

/// Tells whether a term stands somewhere in a note.
fn holds_term(text: &DocText, term: u32) -> bool {
    text.title.contains(&term) || text.body.contains(&term) || text.tags.iter().flatten().any(|tag| *tag == term)
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
