//! The correction of a misspelt word, and the words of an unknown compound.

use super::english_words;
use super::expansion::{MIN_COMPOUND_PART, spellings};
use crate::search::analysis::stems::fold;
use crate::search::ids::TermId;
use crate::search::read::composite_index::CompositeIndex;

/// The least length of a word that is corrected, in characters: most short words are one edit away from others.
const MIN_LENGTH: usize = 5;

/// Returns the term of the word that a word in no note was meant to be: the most frequent one at an edit distance of 1
/// (optimal string alignment) with the same first letter. None for a word of English and for a name: of 207 words that a
/// nearest word replaced in questions, 174 were English and most others names. Both are missing, not misspelt, and a note
/// about another word is no answer. `is_first`: whether a capital may be the one of a sentence. O(words).
pub(super) fn correction(index: &CompositeIndex, written: &str, is_first: bool) -> Option<TermId> {
    if !is_ordinary(written, is_first) {
        return None;
    }
    let word = fold(&written.to_lowercase());
    let (first, length) = (word.chars().next(), word.chars().count());
    let is_candidate = |text: &str| text.chars().next() == first && text.chars().count().abs_diff(length) <= 1;
    let close = spellings(index).filter(|(text, _)| is_candidate(text) && strsim::osa_distance(text, &word) == 1);
    let known = close.filter_map(|(_, id)| Some((id, index.term(id)?)));
    known.max_by(|(_, a), (_, b)| a.doc_freq.cmp(&b.doc_freq).then_with(|| b.text.cmp(a.text))).map(|(id, _)| id)
}

/// Whether a word is written as an ordinary one, and English does not have it.
fn is_ordinary(written: &str, is_first: bool) -> bool {
    let mut chars = written.chars();
    let begins = chars.next().is_some_and(|c| c.is_lowercase() || (is_first && c.is_uppercase()));
    begins
        && chars.all(char::is_lowercase)
        && written.chars().count() >= MIN_LENGTH
        && !english_words::contains(&written.to_lowercase())
}

/// Splits an unknown compound that is no word of English into two words that notes contain, with or without a linking s.
pub(super) fn compound_parts(index: &CompositeIndex, written: &str) -> Vec<TermId> {
    let word = fold(&written.to_lowercase());
    if !word.chars().all(char::is_alphabetic) || english_words::contains(&word) {
        return Vec::new();
    }
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
