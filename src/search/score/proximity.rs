//! What only a close look at one text shows: terms that stand together, the best paragraph, a
//! sequence of terms.

use std::collections::BTreeSet;

use crate::search::query::plan::{NO_TERM, Plan};
use crate::search::read::composite_index::CompositeIndex;
use crate::search::read::segment::DocText;
use crate::search::score::ranking::{Weights, inverse_frequency};

/// The most places of one term in a text that are looked at.
const MAX_PLACES: usize = 512;

/// Returns the proximity score of a text: for each pair of adjacent query terms
/// `idf · (k1 + 1) · (adjacent · o / (o + k1 · K) + close · w / (w + k1 · K))`, where `o` counts how often the second
/// directly follows the first, `w` how often they occur within the window, `K` is the length norm of the body, and `idf`
/// that of the rarer term. Stop words are skipped.
pub(crate) fn proximity_score(
    index: &CompositeIndex,
    (text, body_len): (&DocText, u32),
    plan: &Plan,
    idf: &[f64],
    weights: &Weights,
) -> f64 {
    if plan.pairs.is_empty() {
        return 0.0;
    }
    let places = places(index, text, plan);
    let k = weights.k1;
    let length = f64::from(body_len) / index.body_average();
    let norm = k * (1.0 - weights.b_body + weights.b_body * length);
    let mut sum = 0.0;
    for (first, second) in &plan.pairs {
        let at = |slot: &u32| places.get(*slot as usize).map(Vec::as_slice).unwrap_or_default();
        let (ordered, close) = together(at(first), at(second), weights.window);
        if close == 0 {
            continue;
        }
        let says = |slot: &u32| idf.get(*slot as usize).copied().unwrap_or_default();
        let share = |count: u32| f64::from(count) / (f64::from(count) + norm);
        let gain = weights.adjacent * share(ordered) + weights.close * share(close);
        sum += says(first).max(says(second)) * (k + 1.0) * gain;
    }
    sum
}

/// Returns for each slot where in the body it stands.
fn places(index: &CompositeIndex, text: &DocText, plan: &Plan) -> Vec<Vec<u32>> {
    let mut places = vec![Vec::new(); plan.slots.len()];
    let mut at = 0;
    for term in &text.body {
        let slot = plan.slot_of.get(*term as usize).copied().unwrap_or(NO_TERM);
        if slot == NO_TERM {
            at += u32::from(!index.is_stop(*term));
            continue;
        }
        if let Some(places) = places.get_mut(slot as usize).filter(|places| places.len() < MAX_PLACES) {
            places.push(at);
        }
        at += 1;
    }
    places
}

/// Counts how often `second` stands right after `first`, and how often within a window around it.
fn together(first: &[u32], second: &[u32], window: u32) -> (u32, u32) {
    let (mut ordered, mut close) = (0, 0);
    let mut begin = 0;
    for place in first {
        while second.get(begin).is_some_and(|other| other + window < *place) {
            begin += 1;
        }
        let near = second.iter().skip(begin).take_while(|other| **other <= place + window);
        for other in near {
            close += 1;
            ordered += u32::from(*other == place + 1);
        }
    }
    (ordered, close)
}

/// Returns the score of the best paragraph, as BM25 over all paragraphs of the store; 0 for a note of
/// one paragraph.
pub(crate) fn paragraph(index: &CompositeIndex, text: &DocText, plan: &Plan, weights: &Weights) -> f64 {
    if text.paragraphs.len() < 2 {
        return 0.0;
    }
    let total = index.totals.paragraphs as f64;
    let average = (index.totals.paragraph_words as f64 / total.max(1.0)).max(1.0);
    let mut counts: Vec<u32> = vec![0; plan.slots.len()];
    let mut best: f64 = 0.0;
    let mut start = 0;
    for end in &text.paragraphs {
        let terms = text.body.get(start..*end as usize).unwrap_or_default();
        start = *end as usize;
        let (mut length, mut slots) = (0_u32, Vec::new());
        for term in terms {
            length += u32::from(!index.is_stop(*term));
            let slot = plan.slot_of.get(*term as usize).copied().unwrap_or(NO_TERM);
            if let Some(count) = counts.get_mut(slot as usize) {
                if *count == 0 {
                    slots.push(slot);
                }
                *count += 1;
            }
        }
        slots.sort_unstable();
        let norm = 1.0 - weights.b_body + weights.b_body * f64::from(length) / average;
        let k = weights.k1;
        let mut score = 0.0;
        for slot in slots {
            let (Some(slot), Some(count)) = (plan.slots.get(slot as usize), counts.get_mut(slot as usize)) else {
                continue;
            };
            let amount = f64::from(std::mem::take(count)) / norm;
            let holders: u64 =
                slot.terms.iter().filter_map(|term| index.term(*term)).map(|term| u64::from(term.paragraphs)).sum();
            let idf = inverse_frequency(total, (holders as f64).min(total));
            score += slot.weight * idf * (k + 1.0) * amount / (amount + k);
        }
        best = best.max(score);
    }
    best
}

/// Returns the largest sum of the weights of the slots that one paragraph of a text holds together with its title and
/// tags.
pub(crate) fn covered(text: &DocText, plan: &Plan, weights: &[f64]) -> f64 {
    let slots = |terms: &[u32]| -> BTreeSet<u32> {
        let slots = terms.iter().filter_map(|term| plan.slot_of.get(*term as usize).copied());
        slots.filter(|slot| *slot != NO_TERM).collect()
    };
    let mut everywhere = slots(&text.title);
    text.tags.iter().for_each(|tag| everywhere.extend(slots(tag)));
    let (mut best, mut start): (f64, usize) = (0.0, 0);
    // What stands behind the last paragraph is the summary of the frontmatter.
    for end in text.paragraphs.iter().map(|end| *end as usize).chain([text.body.len()]) {
        let held = slots(text.body.get(start..end).unwrap_or_default());
        let sum = held.union(&everywhere).filter_map(|slot| weights.get(*slot as usize)).sum();
        (best, start) = (f64::max(best, sum), end);
    }
    best
}

/// Tells whether terms stand side by side in a text; one term alone, whether it stands there.
pub(crate) fn holds(text: &[u32], terms: &[u32]) -> bool {
    !terms.is_empty() && text.windows(terms.len()).any(|window| window == terms)
}
