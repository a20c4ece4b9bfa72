//! Lookalikes: notes that may say the same as another one in other words.

use std::collections::{BTreeSet, HashMap};

use crate::search::analysis::english::number_words;
use crate::search::ids::TermId;
use crate::search::query::plan::word_terms;
use crate::search::read::composite_index::CompositeIndex;
use crate::store::NoteIdx;

/// The least likeness of a lookalike. None of 187 real notes in four stores, and 19 of 561 captures of one or two of their
/// sentences, are as alike to another note that does not say the same. Of 40 rewrites (other words, other numbers, shorter,
/// longer), the 20 that served to choose the rule and 19 of the 20 others are, and each to its note first.
const MIN_LIKENESS: f64 = 0.4;
/// The least number of terms that a lookalike shares: with fewer, texts of a few words are alike by chance.
const MIN_SHARED: usize = 4;
/// The notes with most in common that are compared.
const MAX_COMPARED: usize = 16;
/// The notes of an imagined larger store in which the weights of terms are computed: in a store of two notes, the terms
/// that both have would weigh next to nothing.
const PRIOR_NOTES: f64 = 100.0;
/// The factor of the weights, which are integers, so that sums are the same in any order.
const SCALE: f64 = 4096.0;

/// A note that may say the same as another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookalike {
    /// The position of the note.
    pub note: NoteIdx,
    /// The likeness, 0 to 1.
    pub likeness: f64,
}

/// Returns the notes that may say the same as `note`, the most alike first. O(postings of its terms).
pub(crate) fn lookalikes(index: &CompositeIndex, note: NoteIdx) -> Vec<Lookalike> {
    let compared = ComparedNote::new(index, note);
    let mut found: Vec<Lookalike> =
        compared.candidates().into_iter().filter_map(|other| compared.with(other)).collect();
    found.sort_by(|a, b| b.likeness.total_cmp(&a.likeness).then_with(|| a.note.cmp(&b.note)));
    found
}

/// The terms of a note that is compared with others.
struct ComparedNote<'i> {
    index: &'i CompositeIndex,
    note: NoteIdx,
    /// The terms of numbers as words, with those of their digits.
    digits: HashMap<TermId, TermId>,
    terms: BTreeSet<TermId>,
    weight: u64,
}

impl<'i> ComparedNote<'i> {
    fn new(index: &'i CompositeIndex, note: NoteIdx) -> Self {
        let ids = number_words().map(|(word, digits)| (word_terms(word, index), index.term_id(digits)));
        let digits = ids.filter_map(|(word, digits)| Some((*word.first()?, digits?)));
        let digits = digits.filter(|(word, _)| index.doc_freq(*word) > 0).collect();
        let mut own = Self { index, note, digits, terms: BTreeSet::new(), weight: 0 };
        own.terms = own.terms_of(note);
        own.weight = own.terms.iter().map(|term| own.weight_of(*term)).sum();
        own
    }

    /// Returns the distinct content terms of title and body, numbers as digits.
    fn terms_of(&self, note: NoteIdx) -> BTreeSet<TermId> {
        let text = self.index.text(note);
        let terms = text.title.iter().chain(text.own_body()).filter(|term| !self.index.is_stop(**term));
        terms.map(|term| self.digits.get(term).copied().unwrap_or(*term)).collect()
    }

    /// Returns the inverse document frequency of a term.
    fn weight_of(&self, term: TermId) -> u64 {
        let notes = self.index.note_count() as f64 + PRIOR_NOTES;
        // The note itself counts for nothing.
        let with_term = f64::from(self.index.doc_freq(term).saturating_sub(1).max(1));
        (SCALE * (notes / (with_term + 0.5)).ln()).round() as u64
    }

    /// Returns the notes that share the most weight of terms.
    fn candidates(&self) -> Vec<NoteIdx> {
        let words = self.digits.iter().filter(|(_, digits)| self.terms.contains(digits)).map(|(word, _)| *word);
        let terms: Vec<TermId> = self.terms.iter().copied().chain(words).collect();
        let mut shared: HashMap<NoteIdx, u64> = HashMap::new();
        for (note, term) in self.index.occurrences(&terms).filter(|(note, _)| *note != self.note) {
            *shared.entry(note).or_default() += self.weight_of(term);
        }
        // Of two notes with the same terms in common, the shorter one is more alike.
        let length = |note: NoteIdx| f64::from(self.index.norms(note).body).max(1.0);
        let score = |(note, weight): (NoteIdx, u64)| (weight as f64 / length(note).sqrt(), note);
        let mut scored: Vec<(f64, NoteIdx)> = shared.into_iter().map(score).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scored.into_iter().take(MAX_COMPARED).map(|(_, note)| note).collect()
    }

    /// Compares the note with another one.
    ///
    /// With `a` and `b` as the weights of the terms of the two notes, and `s` as that of those in both, the likeness is the
    /// geometric mean of the overlap coefficient `s / min(a, b)` and the cosine `s / √(a · b)`. The first finds shortened and
    /// lengthened rewrites, the second rules out a long note that has most words of a few sentences somewhere.
    fn with(&self, other: NoteIdx) -> Option<Lookalike> {
        let terms = self.terms_of(other);
        let both: Vec<TermId> = self.terms.intersection(&terms).copied().collect();
        let sum = |terms: &mut dyn Iterator<Item = TermId>| terms.map(|term| self.weight_of(term)).sum::<u64>() as f64;
        let (own, other_weight) = (self.weight as f64, sum(&mut terms.into_iter()));
        let shared = sum(&mut both.iter().copied());
        let likeness = (shared / own.min(other_weight) * shared / (own * other_weight).sqrt()).sqrt();
        (both.len() >= MIN_SHARED && likeness >= MIN_LIKENESS).then_some(Lookalike { note: other, likeness })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::note::Language;
    use crate::store::NoteHandle;

    /// Returns the likeness of the first two texts among all.
    fn likeness(texts: &[&str]) -> f64 {
        let note = |(n, text): (usize, &&str)| {
            Arc::new(NoteHandle::parse(&format!("notes/n{n}.md"), format!("---\ntitle: T\n---\n{text}").into_bytes()))
        };
        let notes: Vec<_> = texts.iter().enumerate().map(note).collect();
        let index = CompositeIndex::new(&notes, Language::English, &[], None);
        let found = lookalikes(&index, NoteIdx(0));
        found.iter().find(|found| found.note == NoteIdx(1)).map_or(0.0, |found| found.likeness)
    }

    #[test]
    fn equal_content_words_are_alike_in_any_order_and_form() {
        let text = "The limit of retries is three, because the provider bans keys after five failures.";
        let other = "Keys are banned by providers after 5 failed calls: failures. Because of that, limit retry to 3.";
        assert!((likeness(&[text, text]) - 1.0).abs() < 1e-9);
        assert!(likeness(&[text, other]) > 0.5 && likeness(&[other, text]) > 0.5);
        let numbers = ["Wait two three four seconds.", "Wait 2 3 4 seconds."];
        assert!((likeness(&numbers) - 1.0).abs() < 1e-9, "{}", likeness(&numbers));
    }

    #[test]
    fn few_words_and_long_texts_are_alike_by_chance() {
        assert_eq!(likeness(&["Fix the build.", "Fix the build."]), 0.0);
        let long: String = (0..400).map(|n| format!("word{n} ")).collect();
        assert_eq!(likeness(&["word1 word2 word30 word40 other1 other2", &long]), 0.0);
        assert_eq!(likeness(&["", ""]), 0.0);
    }
}
