//! Notes as vectors of their terms, and how like two of them are.

use std::sync::OnceLock;

use super::corpus::{Corpus, Count, Document};
use super::lexicon::Term;
use super::ranking::{Weights, inverse_frequency};

/// Weights are whole numbers, so that sums of their products are the same in any order. A weight
/// is below 32 before it is multiplied with this: products of a million terms fit into 64 bits.
const SCALE: f64 = 4096.0;

/// The vectors of a store's notes, each made when somebody asks for it.
pub(super) struct Vectors<'a> {
    corpus: &'a Corpus,
    weights: &'a Weights,
    /// What each term says; nothing for those that say nothing.
    idf: Vec<f64>,
    made: Vec<OnceLock<Vector<'a>>>,
}

/// One note's vector: for each of its counts a weight.
#[derive(Default)]
pub(super) struct Vector<'a> {
    counts: &'a [Count],
    weights: Box<[u32]>,
    length: f64,
}

impl<'a> Vectors<'a> {
    pub(super) fn new(corpus: &'a Corpus, weights: &'a Weights) -> Self {
        let says = |term: &Term| match term.is_stop {
            true => 0.0,
            false => inverse_frequency(corpus.len(), f64::from(term.documents)),
        };
        let idf = corpus.lexicon.terms.iter().map(says).collect();
        Self { corpus, weights, idf, made: corpus.documents.iter().map(|_| OnceLock::new()).collect() }
    }

    /// Returns a note's vector; an empty one where there is no such note.
    pub(super) fn of(&self, note: usize) -> &Vector<'a> {
        static NONE: OnceLock<Vector<'static>> = OnceLock::new();
        match (self.made.get(note), self.corpus.documents.get(note)) {
            (Some(place), Some(document)) => place.get_or_init(|| self.vector(document)),
            _ => NONE.get_or_init(Vector::default),
        }
    }

    /// A term's weight is what it says times how much of it there is: `idf · 2.6 x / (x + 1.6)`.
    fn vector(&self, document: &'a Document) -> Vector<'a> {
        let Weights { saturation: k, body_length, title_length, title, tag, heading, .. } = *self.weights;
        let norm = |share: f64, len: u32, average: f64| 1.0 - share + share * f64::from(len) / average;
        let body_norm = norm(body_length, document.body_len, self.corpus.body_average());
        let title_norm = norm(title_length, document.title_len, self.corpus.title_average());
        let weight = |count: &Count| {
            let idf = self.idf.get(count.term as usize).copied().unwrap_or_default();
            if idf == 0.0 {
                return 0;
            }
            let amount = f64::from(count.body) / body_norm
                + title * f64::from(count.title) / title_norm
                + heading * f64::from(count.headings)
                + tag * f64::from(count.tags);
            (SCALE * idf * (k + 1.0) * amount / (amount + k)).round() as u32
        };
        let counts = self.corpus.counts(document);
        let weights: Box<[u32]> = counts.iter().map(weight).collect();
        let square: u64 = weights.iter().map(|weight| u64::from(*weight) * u64::from(*weight)).sum();
        Vector { counts, weights, length: (square as f64).sqrt() }
    }
}

impl Vector<'_> {
    /// Returns the terms with their weights.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, u32)> {
        self.counts.iter().map(|count| count.term).zip(self.weights.iter().copied())
    }
}

/// Returns a cosine from the sum of the products; 0 where a vector is empty.
pub(super) fn cosine(product: u64, a: &Vector<'_>, b: &Vector<'_>) -> f64 {
    let lengths = a.length * b.length;
    if lengths > 0.0 { (product as f64 / lengths).min(1.0) } else { 0.0 }
}
