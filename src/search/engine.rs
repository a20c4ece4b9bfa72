//! The search engine of a store.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::bounded_cache::BoundedCache;
use super::highlighter::Highlighter;
use super::ids::{QueryTermIdx, TermId};
use super::query::parser::Query;
use super::query::plan::{Plan, QueryTerm, Spelling, all_terms, word_terms};
use super::read::composite_index::CompositeIndex;
use super::read::forward::DocText;
use super::score::block_scorer::BlockScorer;
use super::score::duplicates::{self, NearDuplicate};
use super::score::hit::Hit;
use super::score::lookalikes::{self, Lookalike};
use super::score::neighbourhood::Neighbourhood;
use super::score::proximity::contains_sequence;
use super::score::query_performance::QueryPerformance;
use super::score::ranking::Ranker;
use super::score::related::{self, SimilarNote};
use super::score::vectors::Vectors;
use crate::note::{FoldedName, Language};
use crate::report::{MAX_WORDS, MatchLevel, QuestionMatch};
use crate::store::{NoteHandle, NoteIdx, TextIndex};
use crate::timings;

/// The least share of the notes, and number of them, that have the name of what a store is about.
const MIN_SUBJECT_SHARE: f64 = 0.2;
const MIN_SUBJECT_NOTES: f64 = 5.0;
/// The most notes whose terms are kept: about ten megabytes, of notes of a usual length.
const MAX_NOTE_TERMS: usize = 16_384;
/// Words after "how" that ask for a measure.
const MEASURES: [&str; 8] = ["big", "far", "fast", "large", "long", "often", "old", "soon"];

/// The distinct content terms of a note, and their density.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NoteTerms {
    /// The distinct content terms of its title and body, by their ids in this engine, in ascending order.
    pub terms: Vec<u32>,
    /// The number of distinct content terms of the body as a share of its words, 0 to 1.
    pub density: f64,
}

/// The notes of a store, ready to be searched.
pub struct Engine<'a> {
    notes: &'a [Arc<NoteHandle>],
    language: Language,
    index: CompositeIndex,
    vectors: OnceLock<Vectors>,
    note_terms: BoundedCache<NoteIdx, Arc<NoteTerms>>,
}

/// The hits of a query, and what later steps need.
#[derive(Default)]
pub struct SearchResults {
    /// The hits, the best first.
    pub hits: Vec<Hit>,
    /// The words of the query that were read as others, and its phrases that no note contains.
    pub spellings: Vec<Spelling>,
    /// The words of the query, as they are written.
    pub words: Vec<String>,
    /// Those that no shown note has.
    pub unknown: Vec<String>,
    /// Finds the parts of texts that answer.
    pub highlighter: Option<Highlighter>,
    /// Scores the blocks of texts.
    pub scorer: Option<BlockScorer>,
    /// How well the hits answer the query as a whole.
    pub best: QueryPerformance,
}

impl SearchResults {
    /// Returns how well the hits answer the query as a question.
    pub fn question_match(&self) -> QuestionMatch {
        let level = self.best.match_level(self.unknown.is_empty());
        let words = self.words.iter().take(MAX_WORDS).cloned().collect();
        QuestionMatch { level, score: self.best.match_score, unknown: self.unknown.clone(), words, model: None }
    }

    /// Whether the hits answer the query, be it weakly.
    pub fn is_answer(&self) -> bool {
        self.best.match_level(true) != MatchLevel::Nothing
    }
}

impl<'a> Engine<'a> {
    /// Reads the given notes and returns an engine for them. O(bytes).
    pub fn new(notes: &'a [Arc<NoteHandle>], language: Language) -> Self {
        Self::open(notes, language, &[], None)
    }

    /// Returns an engine for notes, with the stored indexes of their texts; notes that these lack are read.
    /// `merged_terms`: the output of [`Engine::merged_terms`] for these indexes, if it is cached.
    pub fn open(
        notes: &'a [Arc<NoteHandle>],
        language: Language,
        stored: &[&TextIndex],
        merged_terms: Option<&[u8]>,
    ) -> Self {
        let index = CompositeIndex::new(notes, language, stored, merged_terms);
        timings::end("text index opened");
        let note_terms = BoundedCache::new(MAX_NOTE_TERMS);
        Self { notes, language, index, vectors: OnceLock::new(), note_terms }
    }

    /// Returns the merged terms of several stored indexes for the cache; `None` if they came from there.
    pub fn merged_terms(&self) -> Option<&[u8]> {
        self.index.encoded_terms.as_deref()
    }

    /// Returns the notes that answer a query. Scores are propagated along `neighbourhood`, if it is given.
    pub fn search(&self, query: &Query, neighbourhood: Option<&Neighbourhood<'_>>) -> SearchResults {
        self.search_for(query, neighbourhood, &|_| true)
    }

    /// Returns the notes that contain words of a query, as [`search`](Self::search) does; how well they answer it is
    /// judged by the notes that the answer may show, and by those whose title is the query if a person asks it.
    pub fn search_for(
        &self,
        query: &Query,
        neighbourhood: Option<&Neighbourhood<'_>>,
        is_shown: &(dyn Fn(NoteIdx) -> bool + Sync),
    ) -> SearchResults {
        let mut plan = Plan::new(query, &self.index, self.language);
        self.drop_missing_phrases(&mut plan);
        timings::end("query understood");
        let (index, notes) = (&self.index, self.notes);
        let excluded = self.excluded_notes(&plan);
        let passes = |note| self.passes(note, &plan, &excluded);
        let (mut hits, mut best) = if !plan.query_terms.is_empty() {
            Ranker { index, notes, neighbourhood, plan: &plan, vectors: self.vectors() }.rank(&passes, is_shown)
        } else {
            Default::default()
        };
        self.put_titles_first(query, &mut hits, &excluded, &passes);
        hits.sort_by_key(|hit| !(hit.has_full_sentence && is_shown(hit.note)));
        best.names_subject = self.names_subject(&query.text, &plan);
        let is_counted = |hit: &&Hit| is_shown(hit.note) || (hit.relevance >= 1.0 && !query.is_verbatim);
        let is_named = hits.iter().find(is_counted).is_some_and(|hit| hit.relevance >= 1.0);
        if is_named {
            best = QueryPerformance::CERTAIN;
        }
        let unknown = if is_named { Vec::new() } else { self.unknown_words(&query.text, &plan, is_shown) };
        timings::end("titles checked");
        let highlighter = Highlighter::new(&plan, index);
        let scorer = BlockScorer::new(&plan, index);
        let words = plan.words().map(|(_, word)| word.written.clone()).collect();
        SearchResults {
            hits,
            spellings: plan.spellings,
            words,
            unknown,
            highlighter: Some(highlighter),
            scorer: Some(scorer),
            best,
        }
    }

    /// Returns, for each name, the notes that contain all its words, in any field and any order. A compound such as
    /// `src/main.rs` has the words `src`, `main` and `rs`.
    pub fn notes_with_words(&self, names: &[&str]) -> Vec<Vec<NoteIdx>> {
        let terms: Vec<Vec<TermId>> = names.iter().map(|name| word_terms(name, &self.index)).collect();
        self.index.notes_with_each(&terms)
    }

    /// Whether a question names what the store is about: a word with a capital, not at its beginning, that a fifth of the notes
    /// have, or one of letters and digits that any note has. Of 766 questions to talks about their speakers 31 would get
    /// nothing without this rule, and 3 with it.
    fn names_subject(&self, question: &str, plan: &Plan) -> bool {
        let least = (self.notes.len() as f64 * MIN_SUBJECT_SHARE).max(MIN_SUBJECT_NOTES);
        let first = question.split_whitespace().next().unwrap_or_default();
        let is_name = |word: &str| word.starts_with(char::is_uppercase) && !first.starts_with(word);
        let count = |term: &TermId| self.index.count_notes_with(*term) as f64;
        let count = |word: &QueryTerm| word.terms.iter().map(count).sum::<f64>();
        let has = |word: &str, is: fn(char) -> bool| word.contains(is);
        let is_code = |word: &str| has(word, char::is_alphabetic) && has(word, |c| c.is_ascii_digit());
        let is_subject = |word: &QueryTerm| {
            (is_name(&word.written) && count(word) >= least) || (is_code(&word.written) && count(word) > 0.0)
        };
        plan.words().any(|(_, word)| is_subject(word))
    }

    /// Returns the words of a query that no note has for which `is_shown` is true, as they are written.
    fn unknown_words(&self, question: &str, plan: &Plan, is_shown: &dyn Fn(NoteIdx) -> bool) -> Vec<String> {
        let has_it = |term: &TermId| self.index.has_note_with(*term, is_shown);
        let is_in_parts = |word: QueryTermIdx| {
            let next = plan.query_terms.get(word.index() + 1).filter(|next| next.weight < 1.0);
            next.is_some_and(|next| next.terms.iter().any(has_it))
        };
        let lowercase: Vec<String> = question.split_whitespace().map(str::to_lowercase).collect();
        // "How long" asks; no answer needs its words.
        let is_asking =
            |word: &str| lowercase.windows(2).any(|two| two[0] == "how" && two[1] == word && MEASURES.contains(&word));
        let unknown = plan.words().filter(|(idx, word)| !word.terms.iter().any(has_it) && !is_in_parts(*idx));
        let unknown = unknown.filter(|(_, word)| !is_asking(&word.written.to_lowercase()));
        let mut seen = HashSet::new();
        unknown.map(|(_, word)| word.written.clone()).filter(|word| seen.insert(word.clone())).collect()
    }

    /// Returns the notes that are most similar to one and not linked with it, at most `limit`, and the number of all.
    /// Those for which `is_last` is true follow the others.
    pub fn related(
        &self,
        note: NoteIdx,
        neighbourhood: &Neighbourhood<'_>,
        is_last: &dyn Fn(NoteIdx) -> bool,
        limit: usize,
    ) -> (Vec<SimilarNote>, usize) {
        related::related(&self.index, self.vectors(), neighbourhood, note, is_last, limit)
    }

    fn vectors(&self) -> &Vectors {
        self.vectors.get_or_init(|| Vectors::new(&self.index))
    }

    /// Returns the near-duplicates among the notes, each with the first note that it is similar to.
    pub fn near_duplicates(&self) -> Vec<NearDuplicate> {
        duplicates::near_duplicates(&self.index)
    }

    /// Returns the notes that may say the same as a note, the most alike first.
    pub fn lookalikes(&self, note: NoteIdx) -> Vec<Lookalike> {
        lookalikes::lookalikes(&self.index, note)
    }

    /// Returns the content terms of a note.
    pub fn note_terms(&self, note: NoteIdx) -> Arc<NoteTerms> {
        self.note_terms.get_or_insert(&note, || {
            let (terms, density) = self.index.content_terms(note);
            Arc::new(NoteTerms { terms: terms.into_iter().map(|term| term.0).collect(), density })
        })
    }

    /// Removes phrases that no note contains: their words are searched one by one.
    fn drop_missing_phrases(&self, plan: &mut Plan) {
        plan.phrases.retain(|terms| {
            let notes = self.index.notes_with_all(terms).into_par_iter();
            notes.any(|note| self.contains_phrase(&self.notes[note], &self.index.text(note), terms))
        });
    }

    /// Returns whether terms are adjacent in a note: its title, an alias, its body, or a summary in its frontmatter.
    fn contains_phrase(&self, note: &NoteHandle, text: &DocText<TermId>, terms: &[TermId]) -> bool {
        let (body, summary) = text.body.split_at_checked(text.body_len).unwrap_or((&text.body, &[]));
        contains_sequence(body, terms)
            || contains_sequence(summary, terms)
            || self.title_contains_phrase(note, text, terms)
    }

    /// Returns whether terms are adjacent in a note's title or in one of its aliases, which are one text in the index.
    fn title_contains_phrase(&self, note: &NoteHandle, text: &DocText<TermId>, terms: &[TermId]) -> bool {
        if !contains_sequence(&text.title, terms) {
            return false;
        }
        let is_one_text = terms.len() < 2 || !note.flags.has_aliases;
        let contains = |name: &str| contains_sequence(&all_terms(name, &self.index), terms);
        is_one_text || contains(note.title()) || note.aliases().iter().any(|alias| contains(alias))
    }

    fn excluded_notes(&self, plan: &Plan) -> HashSet<NoteIdx> {
        let contains = |note, terms: &[TermId]| match terms {
            [only] if !self.index.is_stop(*only) => true,
            [only] => contains_term(&self.index.text(note), *only),
            terms => self.contains_phrase(&self.notes[note], &self.index.text(note), terms),
        };
        let excluded = plan.excluded.iter().map(|terms| {
            let notes = self.index.notes_with_all(terms).into_par_iter();
            notes.filter(|note| contains(*note, terms)).collect::<Vec<NoteIdx>>()
        });
        excluded.flatten().collect()
    }

    /// Returns whether a note meets the conditions of a query, whatever its score.
    fn passes(&self, position: NoteIdx, plan: &Plan, excluded: &HashSet<NoteIdx>) -> bool {
        let Some(note) = self.notes.get(position.index()) else { return false };
        if excluded.contains(&position) || plan.phrases.is_empty() {
            return !excluded.contains(&position);
        }
        let text = self.index.text(position);
        plan.phrases.iter().all(|terms| self.contains_phrase(note, &text, terms))
    }

    /// Moves notes whose title, alias, id or file name is the whole query to the front.
    fn put_titles_first(
        &self,
        query: &Query,
        hits: &mut Vec<Hit>,
        excluded: &HashSet<NoteIdx>,
        passes: &(dyn Fn(NoteIdx) -> bool + Sync),
    ) {
        let (unquoted, raw) = (query.unquoted_text(), query.text.trim());
        if unquoted.is_empty() {
            return;
        }
        let (folded, folded_unquoted) = (FoldedName::of(raw), FoldedName::of(unquoted));
        let is_named = |note: &NoteHandle, name: &str, folded: &FoldedName| {
            (note.flags.title_hash == folded.hash && folded.is(note.title()))
                || note.aliases().iter().any(|alias| folded.is(alias))
                || note.id.is_named(name)
                || ends_with_path(&note.path, name)
        };
        // A query that is a title names that note, even if it could be parsed as a phrase.
        let is_meant = |position: &NoteIdx| {
            let note = &self.notes[*position];
            let is_meant = is_named(note, raw, &folded)
                || (raw != unquoted && is_named(note, unquoted, &folded_unquoted) && passes(*position));
            is_meant && !excluded.contains(position)
        };
        // The title of a commit has no words that the query lacks, and looking at all of them takes longer than the search.
        let is_of_commits = self.notes.first().is_some_and(|note| note.is_commit());
        let named: Vec<NoteIdx> = if is_of_commits {
            let mut found: Vec<NoteIdx> = hits.iter().map(|hit| hit.note).filter(is_meant).collect();
            found.sort_unstable();
            found
        } else {
            (0..self.notes.len()).into_par_iter().map(NoteIdx::new).filter(is_meant).collect()
        };
        // Many notes may share a title: `named` is searched by bisection.
        let mut is_found = vec![false; named.len()];
        for hit in hits.iter_mut() {
            if let Ok(index) = named.binary_search(&hit.note) {
                hit.relevance = 1.0;
                is_found[index] = true;
            }
        }
        let others = named.iter().zip(&is_found).filter(|(_, is_found)| !**is_found);
        hits.extend(others.map(|(note, _)| Hit { note: *note, relevance: 1.0, ..Hit::default() }));
        // The sort is stable: the order of the scores remains in both groups.
        hits.sort_by_key(|hit| named.binary_search(&hit.note).is_err());
    }
}

fn contains_term(text: &DocText<TermId>, term: TermId) -> bool {
    text.title.contains(&term) || text.body.contains(&term) || text.tags.iter().flatten().any(|tag| *tag == term)
}

/// Returns whether a name is that of a file with a path, be it with its last folders, in any case of ASCII.
fn ends_with_path(path: &str, name: &str) -> bool {
    let before = path.len().checked_sub(name.len()).and_then(|start| path.split_at_checked(start));
    before.is_some_and(|(folders, file)| {
        file.eq_ignore_ascii_case(name) && (folders.is_empty() || folders.ends_with('/'))
    })
}
