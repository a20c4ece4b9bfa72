//! Score smoothing: similar notes get similar scores (Kurland and Lee, *Corpus structure, language models, and ad hoc
//! information retrieval*, 2004; Diaz, *Regularizing query-based retrieval scores*, 2007).

use rayon::prelude::*;

use super::hit::{Hit, TASKS};
use super::scratch::Scratch;
use super::vectors::{Vector, Vectors};
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
    let best_vectors: Vec<_> = best.iter().map(|hit| vectors.of(hit.note, index)).collect();
    let scores: Vec<f64> = best.iter().map(|hit| hit.score).collect();
    let similarities = similarities(&best_vectors, index.term_count());
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

/// Returns, for each vector, its similarities to those behind it.
fn similarities(vectors: &[&Vector], terms: usize) -> Vec<Vec<f64>> {
    let with_others = |scratch: &mut Scratch, first: usize| {
        let Some((own, others)) = vectors.get(first..).and_then(<[_]>::split_first) else { return Vec::new() };
        scratch.set_dense(own);
        let similarities = others.iter().map(|other| scratch.cosine(own, other)).collect();
        scratch.clear_dense(own);
        similarities
    };
    let firsts = (0..vectors.len()).into_par_iter().with_min_len(vectors.len().div_ceil(TASKS));
    firsts.map_init(|| Scratch::new(0, terms), with_others).collect()
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
