//! Plans a query: maps its words to terms of the index.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::parser::{Query, QueryPart};
use super::{english_words, expansion, spelling_correction};
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
/// What encloses words that are meant as they are.
const QUOTES: [char; 5] = ['"', '“', '”', '„', '`'];
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
    /// The words that are read as others, and the phrases that no note contains.
    pub(crate) spellings: Vec<Spelling>,
    /// Whether the query asks for a time.
    pub(crate) asks_when: bool,
}

/// A query term: a class of equivalent term ids.
#[derive(Debug, Clone)]
pub(crate) struct QueryTerm {
    pub(crate) terms: Vec<TermId>,
    /// How often the query contains it; below 1 for what a word of the query may be composed of or part of.
    pub(crate) weight: f64,
    /// How the query has it.
    pub(crate) written: String,
    /// The stem of a word of English prose, for which a text may have another word; not of a name, of code or of quoted words.
    pub(crate) stem: Option<String>,
}

/// A word of the query that is read as another, or a phrase that no note contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    /// The word, or the words of the phrase.
    pub word: String,
    /// The word in its place; `None` for a phrase, whose words are searched one by one.
    pub read_as: Option<String>,
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
            unknown_words_left: if query.is_verbatim { 0 } else { MAX_CORRECTED },
            is_first: true,
        };
        for part in &query.parts {
            planner.add(part);
        }
        planner.finish()
    }

    /// Returns the query terms that are words of the query, each with its index.
    pub(crate) fn words(&self) -> impl Iterator<Item = (QueryTermIdx, &QueryTerm)> {
        let terms = QueryTermIdx::all(self.query_terms.len()).zip(&self.query_terms);
        terms.filter(|(_, term)| term.weight >= 1.0)
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

/// Whether a question asks for a time.
pub fn asks_when(text: &str) -> bool {
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
    /// The number of words that no note contains for which others may still be searched.
    unknown_words_left: usize,
    /// Whether no word was added yet.
    is_first: bool,
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

/// Returns the words of a text for which another text may have other words: not names, code or words in quotes. A name has a
/// capital that begins no sentence.
fn prose_words(text: &str) -> HashSet<&str> {
    let mut begins_sentence = true;
    let unquoted = text.split(QUOTES).step_by(2).flat_map(str::split_whitespace);
    let words = unquoted.filter_map(|word| {
        let bare = word.trim_start_matches('(').trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
        let is_first = std::mem::replace(&mut begins_sentence, word.ends_with(['.', '!', '?', ':']));
        let mut chars = bare.chars();
        let begins = chars.next().is_some_and(|c| c.is_lowercase() || (is_first && c.is_uppercase()));
        (begins && chars.all(char::is_lowercase)).then_some(bare)
    });
    words.collect()
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
                self.add_words(written_terms(text, self.index), &prose_words(text));
                self.is_prose |= self.stop_words.len() > before;
            }
            QueryPart::Phrase(text) => {
                let words = written_terms(text, self.index);
                let (terms, count) = (self.known_terms(&words), words.len());
                self.add_words(words, &HashSet::new());
                if let Some(terms) = terms.filter(|terms| terms.len() > 1) {
                    self.plan.phrases.push(terms);
                } else if count > 1 {
                    self.plan.spellings.push(Spelling { word: text.clone(), read_as: None });
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

    fn add_words(&mut self, terms: Vec<WrittenTerm>, prose: &HashSet<&str>) {
        for term in terms {
            let is_first = std::mem::take(&mut self.is_first);
            if term.term.starts_with(STOP_MARK) {
                self.stop_words.push(term.term);
            } else {
                let is_prose = self.language == Language::English && prose.contains(term.written.as_str());
                self.add_term(term, is_first, is_prose);
            }
        }
    }

    fn add_term(&mut self, term: WrittenTerm, is_first: bool, is_prose: bool) {
        let mut terms: Vec<TermId> = match self.index.term_id(&term.term) {
            Some(id) => vec![id],
            // The words of a compound token are searched anyway.
            None if term.is_whole => return,
            None => expansion::bigrams_with(self.index, &term.term),
        };
        if self.query_term_of_text.contains_key(&term.term) {
            return self.push(&term.term, &term.written, terms, is_prose);
        }
        let is_looked_for = terms.is_empty() && self.unknown_words_left > 0;
        self.unknown_words_left -= usize::from(is_looked_for);
        let correction = is_looked_for.then(|| self.correct(&term.written, is_first)).flatten();
        let related = if correction.is_some() { Vec::new() } else { self.related(&term, is_looked_for) };
        terms.extend(correction);
        self.push(&term.term, &term.written, terms, is_prose);
        if !related.is_empty() {
            let related = QueryTerm { terms: related, weight: COMPOUND_WEIGHT, written: String::new(), stem: None };
            self.plan.query_terms.push(related);
        }
    }

    /// Returns the word that an unknown one is read as.
    fn correct(&mut self, written: &str, is_first: bool) -> Option<TermId> {
        let correction = spelling_correction::correction(self.index, written, is_first)?;
        let read_as = Some(expansion::shown_word(self.index, correction));
        self.plan.spellings.push(Spelling { word: written.to_owned(), read_as });
        Some(correction)
    }

    /// Returns the terms of compounds with a word, else of the words that an unknown one is composed of.
    fn related(&self, term: &WrittenTerm, is_unknown: bool) -> Vec<TermId> {
        let is_foreign = is_unknown && !english_words::contains(&term.written.to_lowercase());
        let with = if is_foreign || expansion::has_compounds(self.language) {
            expansion::compounds_with(self.index, &term.term)
        } else {
            Vec::new()
        };
        if with.is_empty() && is_unknown {
            spelling_correction::compound_parts(self.index, &term.written)
        } else {
            with
        }
    }

    fn add_prefix(&mut self, prefix: &str) {
        let terms = expansion::with_prefix(self.index, prefix);
        let written = format!("{prefix}*");
        self.push(&written, &written, terms, false);
    }

    /// Adds a query term, or increments the weight of the one with the same text.
    fn push(&mut self, text: &str, written: &str, terms: Vec<TermId>, is_prose: bool) {
        let stem = is_prose.then(|| text.to_owned());
        let next = QueryTermIdx(self.plan.query_terms.len() as u32);
        match self.query_term_of_text.entry(text.to_owned()) {
            Entry::Occupied(known) => {
                self.stream.push(*known.get());
                if let Some(query_term) = self.plan.query_terms.get_mut(known.get().index()) {
                    query_term.weight += 1.0;
                    query_term.stem = query_term.stem.take().or(stem);
                }
            }
            Entry::Vacant(entry) => {
                entry.insert(next);
                self.stream.push(next);
                self.plan.query_terms.push(QueryTerm { terms, weight: 1.0, written: written.to_owned(), stem });
            }
        }
    }

    fn finish(mut self) -> Plan {
        if self.plan.query_terms.is_empty() {
            for term in std::mem::take(&mut self.stop_words) {
                let terms = self.index.term_id(&term).into_iter().collect();
                self.push(&term, term.trim_start_matches(STOP_MARK), terms, false);
            }
        }
        let mut plan = self.plan;
        if !self.is_prose {
            // Who lists keywords has chosen them. With the neighbours of keywords, answers of 1,000 characters to 60 lists of agents
            // lose 3 passages.
            plan.query_terms.iter_mut().for_each(|term| term.stem = None);
        }
        if self.is_prose {
            plan.phrases.clear();
            plan.spellings.retain(|spelling| spelling.read_as.is_some());
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
