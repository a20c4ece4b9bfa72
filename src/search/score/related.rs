//! Which notes are like a note, in what they say and in what they are linked with.

use rayon::prelude::*;

use crate::search::query::expansion::written;
use crate::search::read::composite_index::CompositeIndex;
use crate::search::score::ranking::{Neighbourhood, Scratch};
use crate::search::score::vectors::{Vector, Vectors};

/// How much common neighbours count, likeness of content being 1.
const COMMON: f64 = 0.2;
/// Less than that is no relation.
const LEAST: f64 = 0.05;
/// The most terms, and neighbours, that are told.
const MAX_TOLD: usize = 5;

/// A similar note, with its similarity.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarNote {
    /// Its place.
    pub note: usize,
    /// How like it is, 0 to 1.
    pub relevance: f64,
    /// Words that both hold, those first that make them most alike.
    pub shared: Vec<String>,
    /// Notes that both are linked with, in order.
    pub common: Vec<usize>,
}

/// Finds the notes that are most like one and not linked with it, the nearest first, then by place; those
/// of which `is_last` is true stand behind the rest.
///
/// The measure is the cosine of the notes' vectors (see [`crate::search::score::vectors`]) plus a fifth of the cosine
/// of their neighbours: how many they share, over the root of the product of how many they have.
pub(crate) fn related(
    index: &CompositeIndex,
    vectors: &Vectors<'_>,
    around: &Neighbourhood<'_>,
    note: usize,
    is_last: &dyn Fn(usize) -> bool,
    limit: usize,
) -> (Vec<SimilarNote>, usize) {
    let own = vectors.of(note);
    let near = neighbours(around, note);
    let mut scratch = Scratch::new(0, index.terms());
    scratch.spread(own);
    let others = (0..index.len()).into_par_iter().filter(|other| *other != note && !near.contains(other));
    let mut found: Vec<(f64, usize)> = others
        .map(|other| {
            let others = neighbours(around, other);
            let common = common(&near, &others);
            let both = (near.len() * others.len()) as f64;
            let linked = if common.is_empty() { 0.0 } else { common.len() as f64 / both.sqrt() };
            ((scratch.cosine(own, vectors.of(other)) + COMMON * linked).min(1.0), other)
        })
        .filter(|(relevance, _)| *relevance >= LEAST)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let (last, mut found): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, other)| is_last(*other));
    found.extend(last);
    let matched = found.len();
    let tell = |(relevance, other): (f64, usize)| SimilarNote {
        note: other,
        relevance,
        shared: shared(index, own, vectors.of(other)),
        common: common(&near, &neighbours(around, other)).into_iter().take(MAX_TOLD).collect(),
    };
    (found.into_iter().take(limit).map(tell).collect(), matched)
}

/// Returns the notes that a note is linked with, or beside in a sequence, in order.
fn neighbours(around: &Neighbourhood<'_>, note: usize) -> Vec<usize> {
    let beside = [&around.sequences.before, &around.sequences.after]
        .into_iter()
        .filter_map(|step| step.get(note).copied().flatten());
    let mut near: Vec<usize> = (around.linked)(note).into_iter().chain(beside).collect();
    near.sort_unstable();
    near.dedup();
    near
}

fn common(a: &[usize], b: &[usize]) -> Vec<usize> {
    a.iter().filter(|note| b.binary_search(note).is_ok()).copied().collect()
}

/// Returns words that two notes share, those first that weigh most in both, then from a to z.
fn shared(index: &CompositeIndex, a: &Vector, b: &Vector) -> Vec<String> {
    let mut terms: Vec<(u64, u32)> = Vec::new();
    let own: std::collections::BTreeMap<u32, u32> = a.entries().collect();
    for (term, weight) in b.entries().filter(|(_, weight)| *weight > 0) {
        if let Some(other) = own.get(&term) {
            terms.push((u64::from(weight) * u64::from(*other), term));
        }
    }
    let text = |term: u32| index.term(term).map(|term| term.text).unwrap_or_default();
    terms.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| text(a.1).cmp(text(b.1))));
    // Ids and numbers tell a person nothing.
    terms.retain(|(_, term)| text(*term).chars().all(char::is_alphabetic));
    terms.iter().take(MAX_TOLD).map(|(_, term)| written(index, *term)).collect()
}
