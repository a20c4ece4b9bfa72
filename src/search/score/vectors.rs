//! Document vectors, and their similarity.

use std::cell::RefCell;
use std::sync::OnceLock;

use super::bm25f::{LengthNorms, WeightedFreqs, idf, k1, saturate};
use crate::search::ids::TermId;
use crate::search::postings::FieldTermFreqs;
use crate::search::read::composite_index::CompositeIndex;
use crate::store::NoteIdx;

/// The factor of the weights, which are integers, so that sums of products are the same in any order. A weight is below
/// 32 before: the products of a million terms fit into 64 bits.
const SCALE: f64 = 4096.0;

thread_local! {
    /// The positions of the terms of one note at a time; all 0 between.
    static POSITIONS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// The number of document frequencies, from 0 on, whose inverses are computed once.
const CACHED_FREQS: u32 = 1024;

/// The document vectors of an index, each computed on first use.
pub(crate) struct Vectors {
    /// The inverse of each of the first [`CACHED_FREQS`] document frequencies.
    idf_of_freq: Vec<f64>,
    vectors: Vec<OnceLock<Box<Vector>>>,
}

/// A document vector: the terms of a note with their weights.
#[derive(Default)]
pub(crate) struct Vector {
    weights: Box<[(TermId, u32)]>,
    norm: f64,
}

impl Vectors {
    pub(crate) fn new(index: &CompositeIndex) -> Self {
        let vectors = (0..index.note_count()).map(|_| OnceLock::new()).collect();
        let idf_of_freq = (0..CACHED_FREQS).map(|doc_freq| idf_of(doc_freq, index)).collect();
        Self { idf_of_freq, vectors }
    }

    /// Returns the vector of a note of the index; an empty one if there is no such note.
    pub(crate) fn of(&self, note: NoteIdx, index: &CompositeIndex) -> &Vector {
        static EMPTY: OnceLock<Vector> = OnceLock::new();
        match self.vectors.get(note.index()) {
            Some(vector) => vector.get_or_init(|| Box::new(self.compute(note, index))),
            None => EMPTY.get_or_init(Vector::default),
        }
    }

    /// Computes a document vector. The weight of a term is `SCALE · idf · (k1 + 1) · x / (x + k1)`, rounded, with `x` its
    /// frequency over all fields, each by its norm and weight.
    fn compute(&self, note: NoteIdx, index: &CompositeIndex) -> Vector {
        let freqs = POSITIONS.with_borrow_mut(|positions| {
            positions.resize(index.term_count().max(positions.len()), 0);
            index.term_freqs(note, positions)
        });
        let (k1, norms) = (k1(index), LengthNorms::of(note, index));
        let weight = |(term, freqs): &(TermId, FieldTermFreqs)| {
            let doc_freq = index.doc_freq(*term);
            let idf = self.idf_of_freq.get(doc_freq as usize).copied().unwrap_or_else(|| idf_of(doc_freq, index));
            let x = WeightedFreqs::new(freqs, &norms).total();
            // A conversion truncates, and is faster than `round`.
            (*term, (saturate(SCALE * idf, x, k1) + 0.5) as u32)
        };
        let mut weights = Vec::with_capacity(freqs.len());
        weights.extend(freqs.iter().map(weight).filter(|(_, weight)| *weight > 0));
        Vector::of_weights(weights)
    }
}

fn idf_of(doc_freq: u32, index: &CompositeIndex) -> f64 {
    idf(index.note_count() as f64, f64::from(doc_freq))
}

impl Vector {
    pub(crate) fn of_weights(weights: Vec<(TermId, u32)>) -> Self {
        let square: u64 = weights.iter().map(|(_, weight)| u64::from(*weight) * u64::from(*weight)).sum();
        Self { weights: weights.into(), norm: (square as f64).sqrt() }
    }

    /// Returns the terms with their weights, in the order of their first occurrences.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (TermId, u32)> {
        self.weights.iter().copied()
    }
}

/// Returns the cosine of two vectors, 0 to 1, from their dot product; 0 if one is empty.
pub(crate) fn cosine(dot_product: u64, a: &Vector, b: &Vector) -> f64 {
    let norms = a.norm * b.norm;
    if norms > 0.0 { (dot_product as f64 / norms).min(1.0) } else { 0.0 }
}
