//! Query expansion: terms of the index that are related to a word by their spelling.

use crate::note::Language;
use crate::search::analysis::stems::fold;
use crate::search::ids::TermId;
use crate::search::read::composite_index::CompositeIndex;

/// The least length of a word that is looked up in compounds, in characters.
const MIN_IN_COMPOUND: usize = 5;
/// The least length of the parts of a compound, in characters.
pub(super) const MIN_COMPOUND_PART: usize = 4;

/// Returns the spellings of all content terms, each with its term: the terms themselves, then other surface forms.
pub(super) fn spellings(index: &CompositeIndex) -> impl Iterator<Item = (&str, TermId)> {
    let terms = index.terms().filter(|(_, term)| !term.is_stop).map(|(id, term)| (term.text, id));
    terms.chain(index.surface_forms())
}

fn sorted(mut terms: Vec<TermId>) -> Vec<TermId> {
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Returns the terms of words with a prefix, in order. O(words).
pub(crate) fn with_prefix(index: &CompositeIndex, prefix: &str) -> Vec<TermId> {
    let prefix = fold(&prefix.to_lowercase());
    sorted(spellings(index).filter(|(word, _)| word.starts_with(&prefix)).map(|(_, term)| term).collect())
}

/// Returns the bigrams that contain a character of a script without spaces; none for other texts. O(terms).
pub(crate) fn bigrams_with(index: &CompositeIndex, character: &str) -> Vec<TermId> {
    let mut chars = character.chars();
    let (Some(only), None) = (chars.next(), chars.next()) else { return Vec::new() };
    if only.is_ascii() {
        return Vec::new();
    }
    let is_bigram = |text: &str| text.chars().count() == 2 && text.contains(only);
    index.terms().filter(|(_, term)| is_bigram(term.text)).map(|(id, _)| id).collect()
}

/// Returns whether a language writes compounds as one word.
pub(crate) fn has_compounds(language: Language) -> bool {
    use Language::{Danish, Dutch, Estonian, Finnish, German, Hungarian, Norwegian, Swedish};
    matches!(language, Danish | Dutch | Estonian | Finnish | German | Hungarian | Norwegian | Swedish)
}

/// Returns the terms of longer words that begin or end with a word, in order. O(words).
pub(crate) fn compounds_with(index: &CompositeIndex, word: &str) -> Vec<TermId> {
    if word.chars().count() < MIN_IN_COMPOUND {
        return Vec::new();
    }
    let is_compound = |text: &str| {
        text.len() >= word.len() + MIN_COMPOUND_PART - 1 && (text.starts_with(word) || text.ends_with(word))
    };
    sorted(spellings(index).filter(|(text, _)| is_compound(text)).map(|(_, term)| term).collect())
}

/// Returns a word for a term: the term itself if notes contain it, else its shortest spelling, the first of these.
pub(crate) fn shown_word(index: &CompositeIndex, term: TermId) -> String {
    let text = index.term(term).map(|term| term.text).unwrap_or_default();
    if index.is_word(term) {
        return text.to_owned();
    }
    let spellings = index.surface_forms().filter(|(_, of)| *of == term).map(|(word, _)| word);
    spellings.min_by_key(|word| (word.len(), *word)).unwrap_or(text).to_owned()
}
