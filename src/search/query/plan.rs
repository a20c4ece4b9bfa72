//! Plans a query: maps its words to terms of the index.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::parser::{Query, QueryPart};
use super::{expansion, spelling_correction};
use crate::note::Language;
use crate::search::analysis::stems::STOP_MARK;
use crate::search::analysis::subtokens::{SubtokenKind, for_each_term};
use crate::search::analysis::tokenizer::for_each_raw_token;
use crate::search::ids::{QueryTermIdx, TermId};
use crate::search::read::composite_index::CompositeIndex;

/// The most words of a query for which corrections are searched.
const MAX_CORRECTED: usize = 8;
/// The most pairs of adjacent query terms.
const MAX_PAIRS: usize = 256;
/// The weight of compounds with a word of the query, relative to the word itself.
const COMPOUND_WEIGHT: f64 = 0.4;
/// The most words of a question that are searched for the signs of a question for a time.
const MAX_TIME_WORDS: usize = 64;

/// The query as it is executed: terms, phrases and conditions.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) query_terms: Vec<QueryTerm>,
    /// For each term of the index, its query term, or [`QueryTermIdx::NONE`].
    pub(crate) query_term_of: Vec<QueryTermIdx>,
    /// The pairs of query terms that are adjacent in the query, each once.
    pub(crate) pairs: Vec<(QueryTermIdx, QueryTermIdx)>,
    /// Terms that must be adjacent.
    pub(crate) phrases: Vec<Vec<TermId>>,
    /// Terms that must not be adjacent; a single one must not occur.
    pub(crate) excluded: Vec<Vec<TermId>>,
    /// The words that no note contains, each with its corrections.
    pub(crate) spellings: Vec<Spelling>,
    /// Whether the query asks for a time.
    pub(crate) asks_when: bool,
}

/// A query term: a class of equivalent term ids.
#[derive(Debug, Clone)]
pub(crate) struct QueryTerm {
    pub(crate) terms: Vec<TermId>,
    /// How often the query contains it; below 1 for compounds.
    pub(crate) weight: f64,
    /// Whether the terms are corrections of a word that no note contains. Its query term, without terms, precedes.
    pub(crate) is_correction: bool,
}

/// A word of the query that no note contains, with its corrections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    /// The word, or the words of a phrase.
    pub word: String,
    /// The corrections; none for a phrase, whose words are searched one by one.
    pub shown: Vec<String>,
    /// Whether it is a phrase.
    pub is_phrase: bool,
}

impl Plan {
    pub(crate) fn new(query: &Query, index: &CompositeIndex, language: Language) -> Self {
        let mut planner = Planner {
            index,
            language,
            plan: Self { asks_when: asks_when(&query.text), ..Self::default() },
            query_term_of_text: HashMap::new(),
            stream: Vec::new(),
            stop_words: Vec::new(),
            is_prose: false,
            has_corrections: !query.is_verbatim,
        };
        for part in &query.parts {
            planner.add(part);
        }
        planner.finish()
    }

    /// Returns the query terms that are words of the query, and not compounds with one or corrections.
    pub(crate) fn words(&self) -> impl Iterator<Item = QueryTermIdx> {
        let terms = QueryTermIdx::all(self.query_terms.len()).zip(&self.query_terms);
        terms.filter(|(_, term)| term.weight >= 1.0 && !term.is_correction).map(|(index, _)| index)
    }

    /// Returns the query term of a term; `None` if it is not in the query.
    #[inline]
    pub(crate) fn query_term(&self, term: TermId) -> Option<QueryTermIdx> {
        self.query_term_of.get(term.index()).copied().filter(|query_term| *query_term != QueryTermIdx::NONE)
    }
}

/// Verbs behind `when` with which a question asks for a time.
const TIME_VERBS: [&str; 13] =
    ["did", "was", "were", "is", "are", "am", "do", "does", "will", "has", "have", "had", "s"];

fn asks_when(text: &str) -> bool {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.take(MAX_TIME_WORDS).collect();
    let units = ["year", "month", "day", "date", "week", "time"];
    // "When should I use it" asks for a case, not for a time.
    let is_time = |two: &[&str]| match two {
        ["when", verb] => TIME_VERBS.contains(verb),
        ["how", "long"] => true,
        ["what" | "which", unit] => units.contains(unit),
        _ => false,
    };
    words == ["when"] || words.windows(2).any(is_time)
}

struct Planner<'a> {
    index: &'a CompositeIndex,
    language: Language,
    plan: Plan,
    query_term_of_text: HashMap<String, QueryTermIdx>,
    /// The query terms in the order of the query, with repetitions.
    stream: Vec<QueryTermIdx>,
    /// The stop words, for a query without other words.
    stop_words: Vec<String>,
    /// Whether there are stop words outside of quotes, as in sentences, where quotes are punctuation and no note has to
    /// contain their words.
    is_prose: bool,
    /// Whether words that no note contains are corrected.
    has_corrections: bool,
}

/// A term of a query in its original spelling.
struct WrittenTerm {
    term: String,
    written: String,
    is_whole: bool,
}

fn written_terms(text: &str, index: &CompositeIndex) -> Vec<WrittenTerm> {
    let mut terms = Vec::new();
    for_each_raw_token(text, |token| {
        for_each_term(token.text, &index.stems, |term, range, kind| {
            let written = token.text.get(range).unwrap_or_default().to_owned();
            terms.push(WrittenTerm { term: term.to_owned(), written, is_whole: kind == SubtokenKind::Whole });
        });
    });
    terms
}

/// Returns words like names: a capital, then lower-case letters, not at the beginning of a sentence.
pub(crate) fn proper_names(text: &str) -> impl Iterator<Item = &str> {
    let mut begins_sentence = true;
    text.split_whitespace().filter_map(move |word| {
        let (is_first, bare) = (begins_sentence, word.trim_matches(|c: char| !c.is_alphanumeric()));
        begins_sentence = word.ends_with(['.', '!', '?', ':']);
        let bare = bare.trim_end_matches("'s").trim_end_matches("’s");
        let mut chars = bare.chars();
        let has_capital = chars.next().is_some_and(char::is_uppercase);
        let is_name = has_capital && bare.chars().count() > 1 && chars.all(char::is_lowercase);
        (is_name && !is_first).then_some(bare)
    })
}

/// Returns the terms of a text, stop words included; [`TermId::UNKNOWN`] for those that no note contains.
pub(crate) fn all_terms(text: &str, index: &CompositeIndex) -> Vec<TermId> {
    written_terms(text, index).iter().map(|term| index.term_id(&term.term).unwrap_or(TermId::UNKNOWN)).collect()
}

/// Returns the terms of the words of a text, without those of compounds as a whole; as [`all_terms`].
pub(crate) fn word_terms(text: &str, index: &CompositeIndex) -> Vec<TermId> {
    let words = written_terms(text, index).into_iter().filter(|term| !term.is_whole);
    words.map(|term| index.term_id(&term.term).unwrap_or(TermId::UNKNOWN)).collect()
}

impl Planner<'_> {
    fn add(&mut self, part: &QueryPart) {
        match part {
            QueryPart::Words(text) => {
                let before = self.stop_words.len();
                self.add_words(written_terms(text, self.index));
                self.is_prose |= self.stop_words.len() > before;
            }
            QueryPart::Phrase(text) => {
                let words = written_terms(text, self.index);
                let (terms, count) = (self.known_terms(&words), words.len());
                self.add_words(words);
                if let Some(terms) = terms.filter(|terms| terms.len() > 1) {
                    self.plan.phrases.push(terms);
                } else if count > 1 {
                    self.plan.spellings.push(Spelling { word: text.clone(), shown: Vec::new(), is_phrase: true });
                }
            }
            QueryPart::Prefix(text) => self.add_prefix(text),
            QueryPart::Without(text) => self.plan.excluded.extend(self.known_terms(&written_terms(text, self.index))),
        }
    }

    /// Returns the ids of terms, stop words included; `None` if there are none or a term is in no note.
    fn known_terms(&self, terms: &[WrittenTerm]) -> Option<Vec<TermId>> {
        let terms: Option<Vec<TermId>> = terms.iter().map(|term| self.index.term_id(&term.term)).collect();
        terms.filter(|terms| !terms.is_empty())
    }

    fn add_words(&mut self, terms: Vec<WrittenTerm>) {
        for term in terms {
            if term.term.starts_with(STOP_MARK) {
                self.stop_words.push(term.term);
            } else {
                self.add_term(term);
            }
        }
    }

    fn add_term(&mut self, term: WrittenTerm) {
        let terms: Vec<TermId> = match self.index.term_id(&term.term) {
            Some(id) => vec![id],
            // The words of a compound token are searched anyway.
            None if term.is_whole => return,
            None => expansion::bigrams_with(self.index, &term.term),
        };
        let is_known = !terms.is_empty();
        let is_new = self.push(&term.term, terms);
        if is_new && !is_known && self.has_corrections {
            self.add_corrections(&term);
        }
        if is_new && is_known && expansion::has_compounds(self.language) {
            let terms = expansion::compounds_with(self.index, &term.term);
            if !terms.is_empty() {
                self.plan.query_terms.push(QueryTerm { terms, weight: COMPOUND_WEIGHT, is_correction: false });
            }
        }
    }

    /// Adds corrections of a word that no note contains.
    fn add_corrections(&mut self, term: &WrittenTerm) {
        let corrected = self.plan.spellings.iter().filter(|spelling| !spelling.is_phrase).count();
        if corrected >= MAX_CORRECTED {
            return;
        }
        let terms = spelling_correction::corrections(self.index, &term.written, &term.term);
        if terms.is_empty() {
            return;
        }
        let shown = terms.iter().map(|term| expansion::shown_word(self.index, *term)).collect();
        self.plan.spellings.push(Spelling { word: term.written.clone(), shown, is_phrase: false });
        self.plan.query_terms.push(QueryTerm { terms, weight: 1.0, is_correction: true });
    }

    fn add_prefix(&mut self, prefix: &str) {
        let terms = expansion::with_prefix(self.index, prefix);
        self.push(&format!("{prefix}*"), terms);
    }

    /// Adds a query term, or increments the weight of the one with the same text. Returns whether it is new.
    fn push(&mut self, text: &str, terms: Vec<TermId>) -> bool {
        let next = QueryTermIdx(self.plan.query_terms.len() as u32);
        match self.query_term_of_text.entry(text.to_owned()) {
            Entry::Occupied(known) => {
                self.stream.push(*known.get());
                if let Some(query_term) = self.plan.query_terms.get_mut(known.get().index()) {
                    query_term.weight += 1.0;
                }
                false
            }
            Entry::Vacant(entry) => {
                entry.insert(next);
                self.stream.push(next);
                self.plan.query_terms.push(QueryTerm { terms, weight: 1.0, is_correction: false });
                true
            }
        }
    }

    fn finish(mut self) -> Plan {
        if self.plan.query_terms.is_empty() {
            for term in std::mem::take(&mut self.stop_words) {
                let terms = self.index.term_id(&term).into_iter().collect();
                self.push(&term, terms);
            }
        }
        let mut plan = self.plan;
        if self.is_prose {
            plan.phrases.clear();
            plan.spellings.retain(|spelling| !spelling.is_phrase);
        }
        let mut seen = HashSet::new();
        let pairs = self.stream.windows(2).filter_map(|two| Some((*two.first()?, *two.last()?)));
        let new = pairs.filter(|(first, second)| first != second && seen.insert((*first, *second)));
        plan.pairs = new.take(MAX_PAIRS).collect();
        plan.query_term_of = vec![QueryTermIdx::NONE; self.index.term_count()];
        for (query_term, class) in QueryTermIdx::all(plan.query_terms.len()).zip(&plan.query_terms) {
            for term in &class.terms {
                let of_term = plan.query_term_of.get_mut(term.index());
                // A term belongs to the first class that contains it.
                if let Some(of_term) = of_term.filter(|of_term| **of_term == QueryTermIdx::NONE) {
                    *of_term = query_term;
                }
            }
        }
        plan
    }
}
