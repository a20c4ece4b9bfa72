//! Corrections of misspelt words.

use super::expansion::{MIN_COMPOUND_PART, compounds_with, sorted, spellings};
use crate::search::analysis::stems::fold;
use crate::search::ids::TermId;
use crate::search::read::composite_index::CompositeIndex;

/// The most corrections of one word.
const MAX_CORRECTIONS: usize = 3;

/// Returns corrections of a word that no note contains: words at the least edit distance; else compounds with it; else
/// its parts, if it is a compound. `term` is its term.
pub(crate) fn corrections(index: &CompositeIndex, word: &str, term: &str) -> Vec<TermId> {
    let word = fold(&word.to_lowercase());
    if !word.chars().all(char::is_alphabetic) {
        return Vec::new();
    }
    let closest = closest_words(index, &word);
    if !closest.is_empty() {
        return most_frequent(index, closest);
    }
    let compounds = compounds_with(index, term);
    if !compounds.is_empty() {
        return most_frequent(index, compounds);
    }
    compound_parts(index, &word)
}

/// Returns the largest edit distance of a correction of a word with so many characters.
fn max_distance(chars: usize) -> usize {
    match chars {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// Returns the terms of the words nearest by optimal string alignment, within [`max_distance`], that share the first
/// character or the last two.
fn closest_words(index: &CompositeIndex, word: &str) -> Vec<TermId> {
    let length = word.chars().count();
    let max = max_distance(length);
    if max == 0 {
        return Vec::new();
    }
    let first = word.chars().next();
    let end: Vec<char> = word.chars().rev().take(2).collect();
    let is_candidate = |text: &str| {
        text.chars().count().abs_diff(length) <= max
            && (text.chars().next() == first || text.chars().rev().take(2).eq(end.iter().copied()))
    };
    let distances = spellings(index).filter(|(text, _)| is_candidate(text));
    let distances = distances.map(|(text, term)| (strsim::osa_distance(text, word), term));
    let close: Vec<(usize, TermId)> = distances.filter(|(distance, _)| *distance <= max).collect();
    let least = close.iter().map(|(distance, _)| *distance).min().unwrap_or_default();
    close.into_iter().filter(|(distance, _)| *distance == least).map(|(_, term)| term).collect()
}

/// Returns the [`MAX_CORRECTIONS`] terms with the highest document frequency.
fn most_frequent(index: &CompositeIndex, terms: Vec<TermId>) -> Vec<TermId> {
    let mut entries: Vec<_> = sorted(terms).into_iter().filter_map(|id| Some((id, index.term(id)?))).collect();
    entries.sort_by(|(_, a), (_, b)| b.doc_freq.cmp(&a.doc_freq).then_with(|| a.text.cmp(b.text)));
    entries.into_iter().take(MAX_CORRECTIONS).map(|(id, _)| id).collect()
}

/// Splits a compound into two words that notes contain, with or without a linking s.
fn compound_parts(index: &CompositeIndex, word: &str) -> Vec<TermId> {
    let term_of = |text: &str| {
        let mut found = None;
        index.stems.for_each_term(text, |term| found = found.or_else(|| index.term_id(term)));
        found.filter(|id| index.term(*id).is_some_and(|term| !term.is_stop))
    };
    let boundaries: Vec<usize> = word.char_indices().map(|(offset, _)| offset).collect();
    let end = boundaries.len().saturating_sub(MIN_COMPOUND_PART - 1);
    let splits = boundaries.get(MIN_COMPOUND_PART..end).unwrap_or_default().iter().filter_map(|offset| {
        let (head, tail) = word.split_at_checked(*offset)?;
        let head_term = term_of(head).or_else(|| term_of(head.strip_suffix('s')?))?;
        Some((head_term, term_of(tail)?))
    });
    let least_doc_freq = |(a, b): &(TermId, TermId)| index.doc_freq(*a).min(index.doc_freq(*b));
    splits.max_by_key(least_doc_freq).map_or_else(Vec::new, |(head, tail)| vec![head, tail])
}
