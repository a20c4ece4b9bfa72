//! Own notes beside documents: what a project wrote down itself precedes what it was given to read.
//!
//! Documents are many and long, and repeat the words of any question, so that by score alone they hide the one short note
//! that answers it. Both rules are for hits of both kinds: among own notes alone, and among documents alone, the order stays
//! as it is.

use std::collections::HashSet;
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use super::hit::Hit;
use super::matches::QueryMatches;
use super::proximity::paragraph_coverage;
use crate::search::ids::{QueryTermIdx, TermId};
use crate::search::query::plan::{Plan, all_terms};
use crate::search::read::composite_index::CompositeIndex;
use crate::store::{NoteHandle, NoteIdx, Tier};

/// The factor on the scores of own notes. On questions about own notes, the best of them has at least 0.48 of the score of the
/// best document in 95 of 100 cases; on questions about documents it has less than 0.45 in three quarters. A factor of 2 finds
/// 2 points more notes in 1,000 characters, and loses 12 points of the questions about documents; 1.5 loses 4.
const OWN_NOTE_FACTOR: f64 = 1.5;
/// The most own notes whose sentences are read, the best first. Those behind them would not be shown.
const MAX_READ: usize = 200;

/// Multiplies the scores of own notes. The order is as before.
pub(super) fn boost_own_notes(hits: &mut [Hit], notes: &[Arc<NoteHandle>]) {
    for hit in hits.iter_mut().filter(|hit| is_own(notes, hit.note)) {
        hit.breakdown.factor *= OWN_NOTE_FACTOR as f32;
        hit.score *= OWN_NOTE_FACTOR;
    }
}

pub(super) fn has_documents(hits: &[Hit], notes: &[Arc<NoteHandle>]) -> bool {
    hits.iter().any(|hit| !is_own(notes, hit.note))
}

fn is_own(notes: &[Arc<NoteHandle>], note: NoteIdx) -> bool {
    notes.get(note.index()).is_some_and(|note| note.tier() == Tier::Own)
}

/// Marks own notes that contain every word of the query in one sentence: a note that says just what is asked precedes all
/// documents, however many of these repeat the words.
pub(super) fn mark_full_sentences(
    hits: &mut [Hit],
    notes: &[Arc<NoteHandle>],
    (plan, index, matches): (&Plan, &CompositeIndex, &QueryMatches),
) {
    let words: HashSet<QueryTermIdx> = plan.words().map(|(index, _)| index).collect();
    if words.is_empty() {
        return;
    }
    let weights: Vec<f64> =
        QueryTermIdx::all(plan.query_terms.len()).map(|term| f64::from(words.contains(&term))).collect();
    // The index tells most of the notes without such a sentence from others, without reading their files.
    let has_all_words = |note| {
        matches.of(note).iter().filter(|found| words.contains(&found.query_term)).count() == words.len()
            && paragraph_coverage(&index.text(note), plan, &weights) >= words.len() as f64
    };
    let candidates = hits.iter_mut().filter(|hit| is_own(notes, hit.note) && has_all_words(hit.note));
    for hit in candidates.take(MAX_READ) {
        let Some(note) = notes.get(hit.note.index()) else { continue };
        hit.has_full_sentence = has_full_sentence(note, &words, plan, index);
    }
}

/// Whether a sentence of a note's title, summary or text contains every one of some words.
fn has_full_sentence(note: &NoteHandle, words: &HashSet<QueryTermIdx>, plan: &Plan, index: &CompositeIndex) -> bool {
    let is_full = |text: &str| {
        let terms = all_terms(text, index).into_iter().filter(|term| *term != TermId::UNKNOWN);
        let found: HashSet<QueryTermIdx> = terms.filter_map(|term| plan.query_term(term)).collect();
        words.is_subset(&found)
    };
    let parsed = note.parsed_or_empty();
    let lines = [Some(note.title()), parsed.written_summary()];
    lines.into_iter().flatten().any(is_full)
        || parsed
            .blocks()
            .iter()
            .any(|block| is_full(&block.text) && sentences(&block.text).iter().any(|one| is_full(one)))
}

/// Splits a block into sentences (Unicode Standard Annex 29). A line break within a sentence is white space.
fn sentences(block: &str) -> Vec<String> {
    let joined = block.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.unicode_sentences().map(str::to_owned).collect()
}
