//! Words of a index that are like a word: that begin as it does, hold it, or are spelled nearly so.

use crate::note::Language;
use crate::search::analysis::stems::fold;
use crate::search::read::composite_index::CompositeIndex;

/// The most words that stand in for one.
const MAX_SHOWN: usize = 3;
/// The least length of a word that is looked for in compounds, in characters.
const MIN_IN_COMPOUND: usize = 5;
/// The least length of the parts that a compound is taken apart into, in characters.
const MIN_PART: usize = 4;

/// A term that replaces or joins one of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TermExpansion {
    pub(crate) word: String,
    pub(crate) term: u32,
}

/// All words that say something, each with its term: as written, and the terms themselves.
fn words(index: &CompositeIndex) -> impl Iterator<Item = (&str, u32)> {
    let mut words = Vec::with_capacity(index.terms() * 2);
    index.for_each_term(|id, term| {
        if !term.is_stop {
            words.push((term.text, id));
        }
    });
    index.for_each_spelling(|text, term| words.push((text, term)));
    words.into_iter()
}

fn sorted(mut terms: Vec<u32>) -> Vec<u32> {
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Returns the terms of words that begin with a text.
pub(crate) fn beginning_with(index: &CompositeIndex, start: &str) -> Vec<u32> {
    let start = fold(&start.to_lowercase());
    sorted(words(index).filter(|(word, _)| word.starts_with(&start)).map(|(_, term)| term).collect())
}

/// Returns the pairs of characters that hold one character of a script without spaces.
pub(crate) fn holding(index: &CompositeIndex, character: &str) -> Vec<u32> {
    let mut chars = character.chars();
    let (Some(only), None) = (chars.next(), chars.next()) else { return Vec::new() };
    if only.is_ascii() {
        return Vec::new();
    }
    let is_pair = |text: &str| text.chars().count() == 2 && text.contains(only);
    let mut pairs = Vec::new();
    index.for_each_term(|id, term| {
        if is_pair(term.text) {
            pairs.push(id);
        }
    });
    pairs
}

/// Tells whether a language writes compounds as one word.
pub(crate) fn writes_compounds(language: Language) -> bool {
    use Language::{Danish, Dutch, Estonian, Finnish, German, Hungarian, Norwegian, Swedish};
    matches!(language, Danish | Dutch | Estonian | Finnish | German | Hungarian | Norwegian | Swedish)
}

/// Returns the terms of longer words that begin or end with a word.
pub(crate) fn compounds(index: &CompositeIndex, word: &str) -> Vec<u32> {
    if word.chars().count() < MIN_IN_COMPOUND {
        return Vec::new();
    }
    let holds =
        |text: &str| text.len() >= word.len() + MIN_PART - 1 && (text.starts_with(word) || text.ends_with(word));
    sorted(words(index).filter(|(text, _)| holds(text)).map(|(_, term)| term).collect())
}

/// Returns words that are spelled nearly as one that no note holds; else compounds with it; else
/// the parts that it is made of. `term` is the word's own term.
pub(crate) fn spellings(index: &CompositeIndex, word: &str, term: &str) -> Vec<TermExpansion> {
    let word = fold(&word.to_lowercase());
    if !word.chars().all(char::is_alphabetic) {
        return Vec::new();
    }
    let near = by_distance(index, &word);
    if !near.is_empty() {
        return near;
    }
    let compounds = compounds(index, term);
    if !compounds.is_empty() {
        return most_used(index, compounds.into_iter().map(|term| (0, term)).collect());
    }
    parts(index, &word)
}

/// How many letters may be wrong in a word of so many.
fn max_distance(chars: usize) -> usize {
    match chars {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

fn by_distance(index: &CompositeIndex, word: &str) -> Vec<TermExpansion> {
    let length = word.chars().count();
    let most = max_distance(length);
    if most == 0 {
        return Vec::new();
    }
    let first = word.chars().next();
    let end: Vec<char> = word.chars().rev().take(2).collect();
    let may_be = |text: &str| {
        let other = text.chars().count();
        other.abs_diff(length) <= most
            && (text.chars().next() == first || text.chars().rev().take(2).eq(end.iter().copied()))
    };
    let distances = words(index).filter(|(text, _)| may_be(text));
    let distances = distances.map(|(text, term)| (strsim::osa_distance(text, word), term));
    let near: Vec<(usize, u32)> = distances.filter(|(distance, _)| *distance <= most).collect();
    let least = near.iter().map(|(distance, _)| *distance).min().unwrap_or_default();
    most_used(index, near.into_iter().filter(|(distance, _)| *distance == least).collect())
}

/// Keeps the terms that most notes hold, and names each by a word that is written so.
fn most_used(index: &CompositeIndex, terms: Vec<(usize, u32)>) -> Vec<TermExpansion> {
    let terms = sorted(terms.into_iter().map(|(_, term)| term).collect());
    let mut known: Vec<_> = terms.into_iter().filter_map(|id| Some((id, index.term(id)?))).collect();
    known.sort_by(|(_, a), (_, b)| b.documents.cmp(&a.documents).then_with(|| a.text.cmp(b.text)));
    known.truncate(MAX_SHOWN);
    known.into_iter().map(|(id, _)| TermExpansion { word: written(index, id), term: id }).collect()
}

/// Returns the term itself where it is a word, else the shortest word that it is written as, the
/// first of these from a to z.
pub(crate) fn written(index: &CompositeIndex, term: u32) -> String {
    let text = index.term(term).map(|term| term.text).unwrap_or_default();
    if index.is_written(term) {
        return text.to_owned();
    }
    let mut spellings = Vec::new();
    index.for_each_spelling(|word, of| {
        if of == term {
            spellings.push(word);
        }
    });
    let shortest = spellings.into_iter().min_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    shortest.unwrap_or(text).to_owned()
}

/// Takes a compound apart into two words that notes hold, with or without an s between.
fn parts(index: &CompositeIndex, word: &str) -> Vec<TermExpansion> {
    let term_of = |text: &str| {
        let mut found = None;
        index.stems.for_each_term(text, |term| found = found.or_else(|| index.id(term)));
        found.filter(|id| index.term(*id).is_some_and(|term| !term.is_stop))
    };
    let places: Vec<usize> = word.char_indices().map(|(place, _)| place).collect();
    let inner = places.get(MIN_PART..places.len().saturating_sub(MIN_PART - 1)).unwrap_or_default();
    let splits = inner.iter().filter_map(|place| {
        let (head, tail) = word.split_at_checked(*place)?;
        let head_term = term_of(head).or_else(|| term_of(head.strip_suffix('s')?))?;
        Some((head_term, term_of(tail)?))
    });
    let holders = |(a, b): &(u32, u32)| index.doc_freq(*a).min(index.doc_freq(*b));
    let Some((head, tail)) = splits.max_by_key(holders) else { return Vec::new() };
    [head, tail].into_iter().map(|term| TermExpansion { word: written(index, term), term }).collect()
}
