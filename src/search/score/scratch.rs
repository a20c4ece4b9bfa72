//! Scratch buffers for scores.

use std::cell::Cell;

use super::vectors::{Vector, cosine};
use crate::search::ids::QueryTermIdx;

thread_local! {
    /// The buffer of vectors between two uses, all 0: clearing as many terms for a few vectors would take longer than these.
    static DENSE: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// Scratch buffers of one thread, for one note at a time.
pub(crate) struct Scratch {
    /// The weighted frequency of each query term.
    amounts: Vec<f64>,
    /// The query terms whose frequency is not 0, in any order.
    query_terms: Vec<QueryTermIdx>,
    /// The weights of one document vector, by term.
    dense: Vec<u32>,
}

impl Scratch {
    /// Returns buffers for so many query terms, and for vectors of so many terms.
    pub(crate) fn new(query_terms: usize, terms: usize) -> Self {
        let mut dense = if terms == 0 { Vec::new() } else { DENSE.take() };
        dense.resize(terms.max(dense.len()), 0);
        Self { amounts: vec![0.0; query_terms], query_terms: Vec::new(), dense }
    }

    pub(super) fn add(&mut self, query_term: QueryTermIdx, amount: f64) {
        if let Some(sum) = self.amounts.get_mut(query_term.index())
            && amount > 0.0
        {
            if *sum == 0.0 {
                self.query_terms.push(query_term);
            }
            *sum += amount;
        }
    }

    /// Returns the query terms whose frequency is not 0, with their frequencies, in the order of the query.
    pub(super) fn amounts(&mut self) -> impl Iterator<Item = (QueryTermIdx, f64)> {
        self.query_terms.sort_unstable();
        self.query_terms.iter().filter_map(|query_term| Some((*query_term, *self.amounts.get(query_term.index())?)))
    }

    pub(super) fn clear(&mut self) {
        for query_term in self.query_terms.drain(..) {
            if let Some(amount) = self.amounts.get_mut(query_term.index()) {
                *amount = 0.0;
            }
        }
    }

    /// Writes a vector to the dense buffer, which is all 0, so that others can be compared with it.
    pub(crate) fn set_dense(&mut self, vector: &Vector) {
        for (term, weight) in vector.entries() {
            if let Some(dense) = self.dense.get_mut(term.index()) {
                *dense = weight;
            }
        }
    }

    /// Removes a vector from the dense buffer, which other scratch buffers of the thread get.
    pub(crate) fn clear_dense(&mut self, vector: &Vector) {
        for (term, _) in vector.entries() {
            if let Some(dense) = self.dense.get_mut(term.index()) {
                *dense = 0;
            }
        }
    }

    /// Returns the cosine of `own`, which is in the dense buffer, and another vector.
    pub(crate) fn cosine(&self, own: &Vector, other: &Vector) -> f64 {
        let dense = |term: usize| self.dense.get(term).copied().unwrap_or_default();
        let products = other.entries().map(|(term, weight)| u64::from(dense(term.index())) * u64::from(weight));
        cosine(products.sum(), own, other)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A panic may have left a vector in it.
        if !self.dense.is_empty() && !std::thread::panicking() {
            DENSE.set(std::mem::take(&mut self.dense));
        }
    }
}
