//! Scores that need the text of a note: adjacent terms, the best paragraph, sequences of terms.

use std::collections::BTreeSet;

use super::bm25f::{B_BODY, idf, length_norm, saturate};
use crate::search::ids::{QueryTermIdx, TermId};
use crate::search::query::plan::Plan;
use crate::search::read::composite_index::CompositeIndex;
use crate::search::read::forward::DocText;

/// The most occurrences of one query term in a text that count.
const MAX_OCCURRENCES: usize = 512;
/// The weight of query terms that are adjacent as in the query.
const ADJACENT: f64 = 0.10;
/// The weight of adjacent query terms that are within the window.
const CLOSE: f64 = 0.05;
/// The largest distance of close terms, in content terms.
const WINDOW: u32 = 7;

/// Returns the proximity score of a text: the sum over the pairs of adjacent query terms of
/// `idf · (k1 + 1) · (adjacent · o / (o + k1 · K) + close · w / (w + k1 · K))`, where `o` counts how often the second
/// directly follows the first, `w` how often they occur within the window, `K` is the length norm of the body, and `idf`
/// that of the rarer term. Stop words are skipped. `body_len` is the length of the body in content terms.
pub(crate) fn proximity_score(
    index: &CompositeIndex,
    (text, body_len): (&DocText<TermId>, u32),
    plan: &Plan,
    idf: &[f64],
    k1: f64,
) -> f64 {
    if plan.pairs.is_empty() {
        return 0.0;
    }
    let occurrences = occurrences(index, text, plan);
    let norm = k1 * length_norm(B_BODY, body_len, index.average_body_len());
    let mut score = 0.0;
    for (first, second) in &plan.pairs {
        let of = |query_term: &QueryTermIdx| occurrences.get(query_term.index()).map(Vec::as_slice).unwrap_or_default();
        let (ordered, close) = count_pairs(of(first), of(second));
        if close == 0 {
            continue;
        }
        let idf_of = |query_term: &QueryTermIdx| idf.get(query_term.index()).copied().unwrap_or_default();
        let saturated = |count: u32| f64::from(count) / (f64::from(count) + norm);
        let gain = ADJACENT * saturated(ordered) + CLOSE * saturated(close);
        score += idf_of(first).max(idf_of(second)) * (k1 + 1.0) * gain;
    }
    score
}

/// Returns the positions of each query term in the body, counted in content terms, in ascending order.
fn occurrences(index: &CompositeIndex, text: &DocText<TermId>, plan: &Plan) -> Vec<Vec<u32>> {
    let mut occurrences = vec![Vec::new(); plan.query_terms.len()];
    let mut position = 0;
    for term in &text.body {
        let Some(query_term) = plan.query_term(*term) else {
            position += u32::from(!index.is_stop(*term));
            continue;
        };
        if let Some(positions) = occurrences.get_mut(query_term.index()).filter(|all| all.len() < MAX_OCCURRENCES) {
            positions.push(position);
        }
        position += 1;
    }
    occurrences
}

/// Returns how often `second` directly follows `first`, and how often it is within [`WINDOW`] around it.
fn count_pairs(first: &[u32], second: &[u32]) -> (u32, u32) {
    let (mut ordered, mut close) = (0, 0);
    let mut begin = 0;
    for position in first {
        while second.get(begin).is_some_and(|other| other + WINDOW < *position) {
            begin += 1;
        }
        for other in second.iter().skip(begin).take_while(|other| **other <= position + WINDOW) {
            close += 1;
            ordered += u32::from(*other == position + 1);
        }
    }
    (ordered, close)
}

/// Returns the score of the best paragraph by BM25 over all paragraphs of the store. The only paragraph of a note has a
/// share of it.
pub(crate) fn best_paragraph_score(index: &CompositeIndex, text: &DocText<TermId>, plan: &Plan, k1: f64) -> f64 {
    let share = if text.paragraphs.row_count() < 2 { only_paragraph_share(index) } else { 1.0 };
    if share == 0.0 {
        return 0.0;
    }
    let total = index.totals.paragraphs as f64;
    let average = index.average_paragraph_len();
    let mut counts: Vec<u32> = vec![0; plan.query_terms.len()];
    let mut best: f64 = 0.0;
    for paragraph in text.paragraphs() {
        let (mut len, mut query_terms) = (0_u32, Vec::new());
        for term in paragraph {
            len += u32::from(!index.is_stop(*term));
            let Some(query_term) = plan.query_term(*term) else { continue };
            if let Some(count) = counts.get_mut(query_term.index()) {
                if *count == 0 {
                    query_terms.push(query_term);
                }
                *count += 1;
            }
        }
        query_terms.sort_unstable();
        let norm = length_norm(B_BODY, len, average);
        let mut score = 0.0;
        for query_term in query_terms {
            let position = query_term.index();
            let (Some(query_term), Some(count)) = (plan.query_terms.get(position), counts.get_mut(position)) else {
                continue;
            };
            let freq = f64::from(std::mem::take(count)) / norm;
            let entries = query_term.terms.iter().filter_map(|term| index.term(*term));
            let paragraph_freq: u64 = entries.map(|term| u64::from(term.paragraph_freq)).sum();
            let idf = idf(total, (paragraph_freq as f64).min(total));
            score += saturate(query_term.weight * idf, freq, k1);
        }
        best = best.max(score);
    }
    best * share
}

/// Returns the weight of a note's only paragraph as its best one: `1 − notes / paragraphs`. Beside notes that
/// offer the best of many paragraphs, a short note needs its own; among notes of one paragraph it would only repeat the score
/// of the words.
fn only_paragraph_share(index: &CompositeIndex) -> f64 {
    (1.0 - index.note_count() as f64 / index.totals.paragraphs.max(1) as f64).max(0.0)
}

/// Returns the largest sum of the weights of the query terms that one paragraph of a text contains together with its
/// title and tags. `weights` has one for each query term.
pub(crate) fn paragraph_coverage(text: &DocText<TermId>, plan: &Plan, weights: &[f64]) -> f64 {
    let query_terms = |terms: &[TermId]| -> BTreeSet<QueryTermIdx> {
        terms.iter().filter_map(|term| plan.query_term(*term)).collect()
    };
    let mut in_every_paragraph = query_terms(&text.title);
    text.tags.iter().for_each(|tag| in_every_paragraph.extend(query_terms(tag)));
    let mut best: f64 = 0.0;
    // The summary of the frontmatter follows the last paragraph.
    let summary = text.body.get(text.paragraphs.total() as usize..).unwrap_or_default();
    for paragraph in text.paragraphs().chain([summary]) {
        let found = query_terms(paragraph);
        let covered = found.union(&in_every_paragraph);
        best = best.max(covered.filter_map(|query_term| weights.get(query_term.index())).sum());
    }
    best
}

/// Returns whether terms are adjacent in a text, in this order; of a single term, whether it occurs.
pub(crate) fn contains_sequence(text: &[TermId], terms: &[TermId]) -> bool {
    !terms.is_empty() && text.windows(terms.len()).any(|window| window == terms)
}
