//! Score smoothing: similar notes get similar scores (Kurland and Lee, *Corpus structure, language models, and ad hoc
//! information retrieval*, 2004; Diaz, *Regularizing query-based retrieval scores*, 2007).

use rayon::prelude::*;

use super::hit::Hit;
use super::vectors::{Vector, Vectors, cosine};
use crate::search::ids::TermId;
use crate::search::read::composite_index::CompositeIndex;

/// The share by which scores are smoothed in a large store.
const SMOOTHING: f64 = 0.5;
/// The number of notes of a store in which half of that share applies.
const HALF_SMOOTHING_NOTES: f64 = 20.0;
/// The number of similar notes by which a score is smoothed.
const NEIGHBOURS: usize = 8;

/// Draws the scores of the first `count` hits towards those of similar ones. The others get at most the lowest.
pub(super) fn smooth(hits: &mut [Hit], count: usize, index: &CompositeIndex, vectors: &Vectors) {
    let size = index.note_count() as f64;
    let share = SMOOTHING * size / (size + HALF_SMOOTHING_NOTES);
    let (best, rest) = hits.split_at_mut(count);
    let best_vectors: Vec<_> = best.par_iter().map(|hit| vectors.of(hit.note, index)).collect();
    let scores: Vec<f64> = best.iter().map(|hit| hit.score).collect();
    let similarities = similarities(&best_vectors);
    for (rank, hit) in best.iter_mut().enumerate() {
        let mean = mean_of_similar(rank, &similarities, &scores);
        let smoothing = share * (mean - hit.score);
        hit.breakdown.smoothing = smoothing as f32;
        hit.score += smoothing;
    }
    let least = best.iter().map(|hit| hit.score).min_by(f64::total_cmp).unwrap_or_default();
    for hit in rest.iter_mut().filter(|hit| hit.score > least) {
        hit.breakdown.smoothing = (least - hit.score) as f32;
        hit.score = least;
    }
}

/// Returns, for each vector, its similarities to those behind it: from the products of the terms that two of them share,
/// since most pairs share few. At most 256 vectors.
fn similarities(vectors: &[&Vector]) -> Vec<Vec<f64>> {
    // The term, the place and the weight in one integer, which sorts fast: the vectors are few and a weight has fewer than 24 bits.
    let mut entries: Vec<u64> = Vec::new();
    for (place, vector) in (0_u64..).zip(vectors) {
        let packed = |(term, weight): (TermId, u32)| u64::from(term.0) << 32 | place << 24 | u64::from(weight);
        entries.extend(vector.entries().map(packed));
    }
    entries.sort_unstable();
    let (place, weight) = (|entry: u64| (entry >> 24 & 0xff) as usize, |entry: u64| entry & 0xff_ffff);
    let mut products: Vec<Vec<u64>> = (0..vectors.len()).map(|first| vec![0; vectors.len() - first - 1]).collect();
    for of_term in entries.chunk_by(|a, b| a >> 32 == b >> 32) {
        let mut rest = of_term;
        while let Some((first, others)) = rest.split_first() {
            let row = &mut products[place(*first)];
            for other in others {
                row[place(*other) - place(*first) - 1] += weight(*first) * weight(*other);
            }
            rest = others;
        }
    }
    let of_vector = |(first, products): (usize, Vec<u64>)| {
        let others = vectors.iter().skip(first + 1).zip(products);
        others.map(|(other, product)| cosine(product, vectors[first], other)).collect()
    };
    products.into_iter().enumerate().map(of_vector).collect()
}

/// Returns the mean score of the [`NEIGHBOURS`] notes that are most similar to one, weighted by their similarity; its own
/// score if there are none. `similarities` are as [`similarities`] returns them.
fn mean_of_similar(rank: usize, similarities: &[Vec<f64>], scores: &[f64]) -> f64 {
    let similarity = |other: usize| {
        let distance = rank.abs_diff(other).checked_sub(1)?;
        similarities.get(rank.min(other))?.get(distance).copied()
    };
    let others = scores.iter().enumerate().filter_map(|(other, score)| Some((similarity(other)?, other, *score)));
    let mut similar: Vec<(f64, usize, f64)> = others.filter(|(similarity, ..)| *similarity > 0.0).collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    similar.truncate(NEIGHBOURS);
    let weight: f64 = similar.iter().map(|(similarity, ..)| similarity).sum();
    let sum: f64 = similar.iter().map(|(similarity, _, score)| similarity * score).sum();
    if weight > 0.0 { sum / weight } else { scores.get(rank).copied().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::score::scratch::Scratch;

    #[test]
    fn similarities_are_those_of_each_pair() {
        let vectors: Vec<Vector> = (0..40_u32)
            .map(|seed| {
                let terms = (0..60).filter(|term| (term * 7 + seed * 5) % 11 < 4);
                Vector::of_weights(terms.map(|term| (TermId(term), 1 + (term * seed) % 131_071)).collect())
            })
            .collect();
        let all: Vec<&Vector> = vectors.iter().collect();
        for (first, similarities) in similarities(&all).into_iter().enumerate() {
            let mut scratch = Scratch::new(0, 60);
            scratch.set_dense(all[first]);
            let others = all.iter().skip(first + 1).map(|other| scratch.cosine(all[first], other));
            assert_eq!(similarities, others.collect::<Vec<f64>>());
            scratch.clear_dense(all[first]);
        }
    }
}
