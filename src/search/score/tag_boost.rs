//! The boost for tags that the query names.

use std::collections::HashMap;

use super::matches::{QueryMatches, TagMatch};
use crate::search::ids::TermId;
use crate::search::query::plan::{Plan, QueryTerm};
use crate::store::NoteIdx;

/// The boost for tags that are terms of the query. The name of a person is seldom in the body of a note; a subject is,
/// and counts there already. So a tag's boost is the share of its notes whose body does not contain it.
pub(super) struct TagBoost {
    /// The number of notes with each tag, and of those whose body does not contain it.
    counts: HashMap<TermId, (u32, u32)>,
    /// The weights of the query terms that are no tags; 0 for the others.
    other_weights: Vec<f64>,
    other_weight_sum: f64,
}

impl TagBoost {
    /// Computes the boost of each tag that is a term of the query. `idf` is that of the query terms.
    pub(super) fn new(matches: &QueryMatches, plan: &Plan, idf: &[f64]) -> Self {
        let mut counts: HashMap<TermId, (u32, u32)> = HashMap::new();
        for TagMatch { term, is_in_body, .. } in &matches.tags {
            let (all, without) = counts.entry(*term).or_default();
            *all += 1;
            *without += u32::from(!is_in_body);
        }
        let is_tag = |query_term: &QueryTerm| query_term.terms.iter().any(|term| counts.contains_key(term));
        let weight = |(query_term, idf): (&QueryTerm, &f64)| {
            if is_tag(query_term) { 0.0 } else { query_term.weight * idf }
        };
        let other_weights: Vec<f64> = plan.query_terms.iter().zip(idf).map(weight).collect();
        Self { counts, other_weight_sum: other_weights.iter().sum(), other_weights }
    }

    /// Returns the boost of a note, 0 to 1: that of its best tag, half of it by its share, by weight, of the other
    /// query terms.
    pub(super) fn of(&self, note: NoteIdx, matches: &QueryMatches) -> f64 {
        let boost = |(all, without): &(u32, u32)| f64::from(*without) / f64::from(*all);
        let first = matches.tags.partition_point(|tag| tag.note < note);
        let tags = matches.tags.iter().skip(first).take_while(|tag| tag.note == note);
        let boosts = tags.filter_map(|tag| self.counts.get(&tag.term)).map(boost);
        let Some(boost) = boosts.max_by(f64::total_cmp).filter(|boost| *boost > 0.0) else { return 0.0 };
        let others = matches.of(note).iter().filter_map(|found| self.other_weights.get(found.query_term.index()));
        let others: f64 = others.sum();
        boost * if self.other_weight_sum > 0.0 { 0.5 + 0.5 * others / self.other_weight_sum } else { 1.0 }
    }
}
