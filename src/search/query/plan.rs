//! From a query to the terms that are looked for in a index.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::note::Language;
use crate::search::analysis::stems::STOP_MARK;
use crate::search::analysis::tokenizer::{MarkdownToken, SubtokenKind, for_each_piece, for_each_term};
use crate::search::query::expansion;
use crate::search::query::parser::{Query, QueryPart};
use crate::search::read::composite_index::CompositeIndex;

/// The most words of a query that expansion spellings are looked for.
const MAX_UNKNOWN: usize = 8;
/// The most pairs of neighbouring terms that are looked for.
const MAX_PAIRS: usize = 256;
/// How much a compound counts that holds a word of the query, the word itself being 1.
const COMPOUND_WEIGHT: f64 = 0.4;
/// No slot.
pub(crate) const NO_TERM: u32 = u32::MAX;

/// The query as it is executed: terms, phrases and conditions.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) slots: Vec<QueryTerm>,
    /// For each term of the index, the slot that it counts for, or [`NO_TERM`].
    pub(crate) slot_of: Vec<u32>,
    /// Slots that follow one another in the query, each pair once.
    pub(crate) pairs: Vec<(u32, u32)>,
    /// Terms that must stand side by side.
    pub(crate) phrases: Vec<Vec<u32>>,
    /// Terms that must not stand side by side; one term alone must not stand there.
    pub(crate) without: Vec<Vec<u32>>,
    /// Terms that must stand side by side in the title.
    pub(crate) titles: Vec<Vec<u32>>,
    pub(crate) tags: Vec<(String, bool)>,
    pub(crate) kinds: Vec<(String, bool)>,
    /// Words that no note holds, each with what is looked for in its place.
    pub(crate) spellings: Vec<Spelling>,
    /// Whether the query asks for a time.
    pub(crate) asks_when: bool,
}

/// A query term: a class of equivalent term ids.
#[derive(Debug, Clone)]
pub(crate) struct QueryTerm {
    pub(crate) terms: Vec<u32>,
    /// How often the query names it.
    pub(crate) weight: f64,
    /// Whether other words stand in for one that no note holds.
    pub(crate) is_guess: bool,
}

/// A word of the query that no note contains, with its corrections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    /// The word, or the words of a phrase.
    pub word: String,
    /// What notes hold; for a phrase nothing, since its words are looked for each by itself.
    pub shown: Vec<String>,
    /// Whether it is a phrase.
    pub is_phrase: bool,
}

/// Predicates for the names that filters may use: tags and types of the store.
pub(crate) struct KnownNames<'a> {
    pub(crate) has_tag: &'a dyn Fn(&str) -> bool,
    pub(crate) has_kind: &'a dyn Fn(&str) -> bool,
}

impl Plan {
    /// Tells whether notes are turned away for what they are, whatever words they hold.
    pub(crate) fn demands(&self) -> bool {
        !self.tags.is_empty() || !self.kinds.is_empty() || !self.without.is_empty()
    }

    pub(crate) fn new(query: &Query, index: &CompositeIndex, language: Language, known: &KnownNames<'_>) -> Self {
        let mut planner = Planner {
            index,
            language,
            plan: Self { asks_when: asks_when(&query.text), ..Self::default() },
            slot_of_text: HashMap::new(),
            stream: Vec::new(),
            stop_words: Vec::new(),
            is_prose: false,
        };
        for part in &query.parts {
            planner.add(part, known);
        }
        planner.finish()
    }
}

/// Verbs behind `when` with which a question asks for a time.
const TIME_VERBS: [&str; 13] =
    ["did", "was", "were", "is", "are", "am", "do", "does", "will", "has", "have", "had", "s"];

/// Tells whether a question asks for a time.
fn asks_when(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(64).collect();
    let units = ["year", "month", "day", "date", "week", "time"];
    // "When should I use it" asks for a case, not for a time.
    let is_time = |two: &[&str]| matches!(two, ["when", verb] if TIME_VERBS.contains(verb));
    words == ["when"]
        || words.windows(2).any(is_time)
        || words
            .windows(2)
            .any(|two| two == ["how", "long"] || (matches!(two, ["what" | "which", unit] if units.contains(unit))))
}

struct Planner<'a> {
    index: &'a CompositeIndex,
    language: Language,
    plan: Plan,
    slot_of_text: HashMap<String, u32>,
    /// The slots in the order of the query.
    stream: Vec<u32>,
    /// Terms that say nothing, for a query that holds no others.
    stop_words: Vec<String>,
    /// Whether words outside of quotes say nothing, as they do in sentences. There quotes are
    /// punctuation: no note has to hold what stands in them.
    is_prose: bool,
}

/// A term of a query in its original spelling.
struct WrittenTerm {
    term: String,
    written: String,
    is_whole: bool,
}

fn given(text: &str, index: &CompositeIndex) -> Vec<WrittenTerm> {
    let mut found = Vec::new();
    for_each_piece(text, |piece| {
        let MarkdownToken::RawToken(chunk) = piece else { return };
        for_each_term(chunk.text, &index.stems, |term, range, part| {
            let written = chunk.text.get(range).unwrap_or_default().to_owned();
            found.push(WrittenTerm { term: term.to_owned(), written, is_whole: part == SubtokenKind::Whole });
        });
    });
    found
}

/// Finds words that are written like names: with a capital and small letters behind it, not at the beginning of a
/// sentence.
pub(crate) fn proper_names(text: &str) -> impl Iterator<Item = &str> {
    let mut begins = true;
    text.split_whitespace().filter_map(move |word| {
        let (was_beginning, bare) = (begins, word.trim_matches(|c: char| !c.is_alphanumeric()));
        begins = word.ends_with(['.', '!', '?', ':']);
        let bare = bare.trim_end_matches("'s").trim_end_matches("’s");
        let mut chars = bare.chars();
        let has_capital = chars.next().is_some_and(char::is_uppercase);
        let is_name = has_capital && bare.chars().count() > 1 && chars.all(char::is_lowercase);
        (is_name && !was_beginning).then_some(bare)
    })
}

/// Returns the terms of a text, stop words included; [`NO_TERM`] for those that no note holds.
pub(crate) fn all_terms(text: &str, index: &CompositeIndex) -> Vec<u32> {
    given(text, index).iter().map(|given| index.id(&given.term).unwrap_or(NO_TERM)).collect()
}

impl Planner<'_> {
    fn add(&mut self, part: &QueryPart, known: &KnownNames<'_>) {
        match part {
            QueryPart::Words(text) => {
                let before = self.stop_words.len();
                self.add_words(text);
                self.is_prose |= self.stop_words.len() > before;
            }
            QueryPart::Phrase(text) => {
                let terms = self.known_terms(text);
                self.add_words(text);
                if let Some(terms) = terms.filter(|terms| terms.len() > 1) {
                    self.plan.phrases.push(terms);
                } else if given(text, self.index).len() > 1 {
                    self.plan.spellings.push(Spelling { word: text.clone(), shown: Vec::new(), is_phrase: true });
                }
            }
            QueryPart::Prefix(text) => self.add_prefix(text),
            QueryPart::Without(text) => self.plan.without.extend(self.known_terms(text)),
            QueryPart::Title(text) => {
                let terms = self.known_terms(text);
                self.add_words(text);
                self.plan.titles.push(terms.unwrap_or_else(|| vec![NO_TERM]));
            }
            QueryPart::Tag(tag, is_wanted) if (known.has_tag)(tag) => self.plan.tags.push((tag.clone(), *is_wanted)),
            QueryPart::Kind(kind, is_wanted) if (known.has_kind)(kind) => {
                self.plan.kinds.push((kind.clone(), *is_wanted))
            }
            QueryPart::Tag(text, true) | QueryPart::Kind(text, true) => self.add_words(text),
            QueryPart::Tag(..) | QueryPart::Kind(..) => {}
        }
    }

    /// Returns a text's terms, stop words included, where notes hold each of them.
    fn known_terms(&self, text: &str) -> Option<Vec<u32>> {
        let terms: Option<Vec<u32>> = given(text, self.index).iter().map(|given| self.index.id(&given.term)).collect();
        terms.filter(|terms| !terms.is_empty())
    }

    fn add_words(&mut self, text: &str) {
        for given in given(text, self.index) {
            if given.term.starts_with(STOP_MARK) {
                self.stop_words.push(given.term);
                continue;
            }
            self.add_term(given);
        }
    }

    fn add_term(&mut self, given: WrittenTerm) {
        let terms: Vec<u32> = match self.index.id(&given.term) {
            Some(id) => vec![id],
            // What joins words is not missed where the words are looked for.
            None if given.is_whole => return,
            None => expansion::holding(self.index, &given.term),
        };
        let is_known = !terms.is_empty();
        let is_new = self.push(&given.term, 1.0, terms);
        if is_new && !is_known {
            self.guess(&given);
        }
        if is_new && is_known && expansion::writes_compounds(self.language) {
            let compounds = expansion::compounds(self.index, &given.term);
            if !compounds.is_empty() {
                let slot = QueryTerm { terms: compounds, weight: COMPOUND_WEIGHT, is_guess: false };
                self.plan.slots.push(slot);
            }
        }
    }

    /// Looks for other words in the place of one that no note holds.
    fn guess(&mut self, given: &WrittenTerm) {
        let guesses = self.plan.spellings.iter().filter(|spelling| !spelling.is_phrase).count();
        if guesses >= MAX_UNKNOWN {
            return;
        }
        let found = expansion::spellings(self.index, &given.written, &given.term);
        if found.is_empty() {
            return;
        }
        let shown = found.iter().map(|expansion| expansion.word.clone()).collect();
        let word = given.written.clone();
        self.plan.spellings.push(Spelling { word, shown, is_phrase: false });
        let terms = found.into_iter().map(|expansion| expansion.term).collect();
        self.plan.slots.push(QueryTerm { terms, weight: 1.0, is_guess: true });
    }

    fn add_prefix(&mut self, text: &str) {
        let terms = expansion::beginning_with(self.index, text);
        self.push(&format!("{text}*"), 1.0, terms);
    }

    /// Adds terms that count as one, or counts them once more; tells whether they are new.
    fn push(&mut self, text: &str, weight: f64, terms: Vec<u32>) -> bool {
        let next = self.plan.slots.len() as u32;
        match self.slot_of_text.entry(text.to_owned()) {
            Entry::Occupied(slot) => {
                self.stream.push(*slot.get());
                if let Some(slot) = self.plan.slots.get_mut(*slot.get() as usize) {
                    slot.weight += weight;
                }
                false
            }
            Entry::Vacant(place) => {
                place.insert(next);
                self.stream.push(next);
                self.plan.slots.push(QueryTerm { terms, weight, is_guess: false });
                true
            }
        }
    }

    fn finish(mut self) -> Plan {
        if self.plan.slots.is_empty() {
            for term in std::mem::take(&mut self.stop_words) {
                let terms = self.index.id(&term).into_iter().collect();
                self.push(&term, 1.0, terms);
            }
        }
        let mut plan = self.plan;
        if self.is_prose {
            plan.phrases.clear();
            plan.spellings.retain(|spelling| !spelling.is_phrase);
        }
        let mut seen = HashMap::new();
        for pair in self.stream.windows(2) {
            if let [first, second] = *pair
                && first != second
                && plan.pairs.len() < MAX_PAIRS
                && seen.insert((first, second), ()).is_none()
            {
                plan.pairs.push((first, second));
            }
        }
        plan.slot_of = vec![NO_TERM; self.index.terms()];
        for (number, slot) in plan.slots.iter().enumerate() {
            for term in &slot.terms {
                if let Some(place) = plan.slot_of.get_mut(*term as usize).filter(|place| **place == NO_TERM) {
                    *place = number as u32;
                }
            }
        }
        plan
    }
}
