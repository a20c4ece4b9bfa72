//! Notes as vectors of their terms, and how like two of them are.

use std::cell::RefCell;
use std::sync::OnceLock;

use crate::search::build::postings::FieldTermFreqs;
use crate::search::read::composite_index::CompositeIndex;
use crate::search::score::ranking::{Weights, inverse_frequency};

/// Weights are whole numbers, so that sums of their products are the same in any order. A weight
/// is below 32 before it is multiplied with this: products of a million terms fit into 64 bits.
const SCALE: f64 = 4096.0;

thread_local! {
    /// Room to count the terms of one note at a time; all 0 between.
    static COUNTED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Caches the document vectors of an index.
#[derive(Default)]
pub(crate) struct VectorCache {
    /// What each term says; nothing for those that say nothing.
    idf: OnceLock<Vec<f64>>,
    vectors: OnceLock<Vec<OnceLock<Box<Vector>>>>,
}

/// The document vectors of a store, each computed on first use.
pub(crate) struct Vectors<'a> {
    index: &'a CompositeIndex,
    weights: &'a Weights,
    idf: &'a [f64],
    vectors: &'a [OnceLock<Box<Vector>>],
}

/// A document vector: the terms of a note with their weights.
#[derive(Default)]
pub(crate) struct Vector {
    weights: Box<[(u32, u32)]>,
    length: f64,
}

impl<'a> Vectors<'a> {
    /// Takes what was made of the same index with the same weights.
    pub(crate) fn new(index: &'a CompositeIndex, weights: &'a Weights, made: &'a VectorCache) -> Self {
        let idf = made.idf.get_or_init(|| frequencies(index));
        let vectors = made.vectors.get_or_init(|| (0..index.len()).map(|_| OnceLock::new()).collect());
        Self { index, weights, idf, vectors }
    }

    /// Returns a note's vector; an empty one where there is no such note.
    pub(crate) fn of(&self, note: usize) -> &'a Vector {
        static NONE: OnceLock<Vector> = OnceLock::new();
        match self.vectors.get(note) {
            Some(place) => place.get_or_init(|| Box::new(self.vector(note))),
            None => NONE.get_or_init(Vector::default),
        }
    }

    /// Computes a document vector. The weight of a term is `idf · (k1 + 1) · x / (x + k1)`, with `x` its frequency over all
    /// fields, each by its norm and weight.
    fn vector(&self, note: usize) -> Vector {
        let Weights { k1: k, b_body, b_title, title, tag, heading, .. } = *self.weights;
        let norm = |share: f64, len: u32, average: f64| 1.0 - share + share * f64::from(len) / average;
        let lengths = self.index.lengths(note);
        let body_norm = norm(b_body, lengths.body, self.index.body_average());
        let title_norm = norm(b_title, lengths.title, self.index.title_average());
        let counts = COUNTED.with_borrow_mut(|places| {
            places.resize(self.index.terms().max(places.len()), 0);
            self.index.counts(note, places)
        });
        let weight = |count: &FieldTermFreqs| {
            let idf = self.idf.get(count.term as usize).copied().unwrap_or_default();
            let amount = f64::from(count.body) / body_norm
                + title * f64::from(count.title) / title_norm
                + heading * f64::from(count.headings)
                + tag * f64::from(count.tags);
            (count.term, (SCALE * idf * (k + 1.0) * amount / (amount + k)).round() as u32)
        };
        let weights: Box<[(u32, u32)]> = counts.iter().map(weight).filter(|(_, weight)| *weight > 0).collect();
        let square: u64 = weights.iter().map(|(_, weight)| u64::from(*weight) * u64::from(*weight)).sum();
        Vector { weights, length: (square as f64).sqrt() }
    }
}

/// Returns what each term says; nothing for those that say nothing. Many terms have as many holders.
fn frequencies(index: &CompositeIndex) -> Vec<f64> {
    let mut known: Vec<Option<f64>> = vec![None; index.len() + 1];
    let mut says = |term: u32| {
        let holders = index.doc_freq(term);
        let says = || inverse_frequency(index.len() as f64, f64::from(holders));
        known.get_mut(holders as usize).map_or_else(says, |known| *known.get_or_insert_with(says))
    };
    (0..index.terms() as u32).map(|term| if index.is_stop(term) { 0.0 } else { says(term) }).collect()
}

impl Vector {
    /// Returns the terms with their weights.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, u32)> {
        self.weights.iter().copied()
    }
}

/// Returns a cosine from the sum of the products; 0 where a vector is empty.
pub(crate) fn cosine(product: u64, a: &Vector, b: &Vector) -> f64 {
    let lengths = a.length * b.length;
    if lengths > 0.0 { (product as f64 / lengths).min(1.0) } else { 0.0 }
}
