//! Related notes: similar in content, or in the notes that they are linked with.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::neighbourhood::{Neighbourhood, neighbour_in};
use super::scratch::Scratch;
use super::vectors::{Vector, Vectors};
use crate::search::ids::TermId;
use crate::search::query::expansion::shown_word;
use crate::search::read::composite_index::CompositeIndex;
use crate::store::NoteIdx;

/// The weight of common neighbours, relative to the similarity of contents.
const NEIGHBOUR_WEIGHT: f64 = 0.2;
/// The least relevance of a related note.
const MIN_RELEVANCE: f64 = 0.05;
/// The most shared words, and common neighbours, that are returned for a note.
const MAX_SHARED: usize = 5;

/// A similar note, with its similarity.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarNote {
    /// The position of the note.
    pub note: NoteIdx,
    /// Its similarity, 0 to 1.
    pub relevance: f64,
    /// Words that both notes contain: those that contribute most to the similarity first.
    pub shared: Vec<String>,
    /// Notes that both are linked with, in order.
    pub common: Vec<NoteIdx>,
}

/// Returns the notes that are most similar to one and not linked with it, at most `limit`, and the number of all. They
/// are sorted by descending similarity, then by position; those for which `is_last` is true follow the others.
///
/// The similarity is the cosine of the document vectors plus `NEIGHBOUR_WEIGHT` times the cosine of the neighbourhoods:
/// the number of common neighbours over the geometric mean of the numbers of neighbours.
pub(crate) fn related(
    index: &CompositeIndex,
    vectors: &Vectors,
    neighbourhood: &Neighbourhood<'_>,
    note: NoteIdx,
    is_last: &dyn Fn(NoteIdx) -> bool,
    limit: usize,
) -> (Vec<SimilarNote>, usize) {
    let own = vectors.of(note, index);
    let own_neighbours = neighbours(neighbourhood, note);
    let mut scratch = Scratch::new(0, index.term_count());
    scratch.set_dense(own);
    let is_candidate = |other: &NoteIdx| *other != note && !own_neighbours.contains(other);
    let candidates = (0..index.note_count()).into_par_iter().map(NoteIdx::new).filter(is_candidate);
    let mut similar: Vec<(f64, NoteIdx)> = candidates
        .map(|other| {
            let others = neighbours(neighbourhood, other);
            let common = common(&own_neighbours, &others);
            let product = (own_neighbours.len() * others.len()) as f64;
            let linked = if common.is_empty() { 0.0 } else { common.len() as f64 / product.sqrt() };
            ((scratch.cosine(own, vectors.of(other, index)) + NEIGHBOUR_WEIGHT * linked).min(1.0), other)
        })
        .filter(|(relevance, _)| *relevance >= MIN_RELEVANCE)
        .collect();
    scratch.clear_dense(own);
    similar.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let (last, mut sorted): (Vec<_>, Vec<_>) = similar.into_iter().partition(|(_, other)| is_last(*other));
    sorted.extend(last);
    let count = sorted.len();
    let similar_note = |(relevance, other): (f64, NoteIdx)| SimilarNote {
        note: other,
        relevance,
        shared: shared_words(index, own, vectors.of(other, index)),
        common: common(&own_neighbours, &neighbours(neighbourhood, other)).into_iter().take(MAX_SHARED).collect(),
    };
    (sorted.into_iter().take(limit).map(similar_note).collect(), count)
}

/// Returns the notes that a note is linked with, or adjacent to in a sequence, in order.
fn neighbours(neighbourhood: &Neighbourhood<'_>, note: NoteIdx) -> Vec<NoteIdx> {
    let adjacent = [&neighbourhood.sequences.before, &neighbourhood.sequences.after]
        .into_iter()
        .filter_map(|steps| neighbour_in(steps, note));
    let mut neighbours: Vec<NoteIdx> = (neighbourhood.linked)(note).into_iter().chain(adjacent).collect();
    neighbours.sort_unstable();
    neighbours.dedup();
    neighbours
}

fn common(a: &[NoteIdx], b: &[NoteIdx]) -> Vec<NoteIdx> {
    a.iter().filter(|note| b.binary_search(note).is_ok()).copied().collect()
}

/// Returns words that two notes share, by the descending product of their weights, then alphabetically.
fn shared_words(index: &CompositeIndex, a: &Vector, b: &Vector) -> Vec<String> {
    let mut terms: Vec<(u64, TermId)> = Vec::new();
    let own: BTreeMap<TermId, u32> = a.entries().collect();
    for (term, weight) in b.entries().filter(|(_, weight)| *weight > 0) {
        if let Some(other) = own.get(&term) {
            terms.push((u64::from(weight) * u64::from(*other), term));
        }
    }
    let text = |term: TermId| index.term(term).map(|term| term.text).unwrap_or_default();
    terms.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| text(a.1).cmp(text(b.1))));
    // Ids and figures mean nothing to a reader.
    terms.retain(|(_, term)| text(*term).chars().all(char::is_alphabetic));
    terms.iter().take(MAX_SHARED).map(|(_, term)| shown_word(index, *term)).collect()
}
