//! Terms by which a text names a time.

use super::english;
use super::stems::Stems;

/// Returns the terms of the words by which a text names a time, beside years.
pub(crate) fn time_terms(stems: &Stems) -> Vec<String> {
    let mut terms = Vec::new();
    for word in english::time_words() {
        stems.for_each_term(word, |term| terms.push(term.to_owned()));
    }
    terms
}

/// Returns whether a term names a time: it is a year, or one of `time_terms`, as [`time_terms`] returns them.
pub(crate) fn is_time(term: &str, time_terms: &[String]) -> bool {
    is_year(term) || time_terms.iter().any(|time| time == term)
}

/// Returns whether a term is a year from 1900 to 2099.
fn is_year(term: &str) -> bool {
    term.len() == 4 && (term.starts_with("19") || term.starts_with("20")) && term.bytes().all(|b| b.is_ascii_digit())
}
