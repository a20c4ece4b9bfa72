//! The matches of a query in all notes.

use super::bm25f::{LengthNorms, WeightedFreqs, idf};
use crate::codec::offsets::Offsets;
use crate::search::ids::{QueryTermIdx, TermId};
use crate::search::postings::FieldTermFreqs;
use crate::search::query::plan::Plan;
use crate::search::read::composite_index::CompositeIndex;
use crate::store::NoteIdx;

/// All matches of the query, as a ragged array by note.
pub(super) struct QueryMatches {
    /// The query terms in each note, in the order of the notes, then of the query.
    matches: Vec<WeightedMatch>,
    /// The matches of each note.
    by_note: Offsets,
    /// The terms of the query that are whole tags, in the order of the notes.
    pub(super) tags: Vec<TagMatch>,
}

/// The weighted frequencies of one query term in one note.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeightedMatch {
    pub(super) query_term: QueryTermIdx,
    pub(super) freqs: WeightedFreqs,
}

/// A term of the query that is a whole tag of a note.
#[derive(Debug, Clone, Copy)]
pub(super) struct TagMatch {
    pub(super) note: NoteIdx,
    pub(super) term: TermId,
    /// Whether the body contains the term too.
    pub(super) is_in_body: bool,
}

impl QueryMatches {
    pub(super) fn new(index: &CompositeIndex, plan: &Plan) -> Self {
        let found = index.find(&plan.query_term_of);
        // A common word may be in a million notes.
        let (mut matches, mut tags) = (Vec::with_capacity(found.len()), Vec::new());
        let mut by_note = Offsets::with_capacity(index.note_count());
        for same in found.chunk_by(|a, b| (a.note, a.query_term) == (b.note, b.query_term)) {
            let Some(first) = same.first() else { continue };
            let note = first.note;
            while by_note.row_count() < note.index() {
                by_note.push(matches.len() as u32);
            }
            let whole_tags = same.iter().filter(|found| found.freqs.is_tag);
            tags.extend(whole_tags.map(|found| TagMatch { note, term: found.term, is_in_body: found.freqs.body > 0 }));
            let freqs = sum(same.iter().map(|found| &found.freqs));
            let freqs = WeightedFreqs::new(&freqs, &LengthNorms::of(note, index));
            matches.push(WeightedMatch { query_term: first.query_term, freqs });
        }
        while by_note.row_count() < index.note_count() {
            by_note.push(matches.len() as u32);
        }
        Self { matches, by_note, tags }
    }

    pub(super) fn of(&self, note: NoteIdx) -> &[WeightedMatch] {
        self.by_note.row(note.index(), &self.matches)
    }

    pub(super) fn notes(&self) -> Vec<NoteIdx> {
        NoteIdx::all(self.by_note.row_count()).filter(|note| !self.of(*note).is_empty()).collect()
    }

    /// Returns the inverse document frequency of each query term; one that no note contains counts as in one note.
    pub(super) fn idf(&self, index: &CompositeIndex, plan: &Plan) -> Vec<f64> {
        let mut doc_freqs = vec![0_u32; plan.query_terms.len()];
        for found in &self.matches {
            if let Some(doc_freq) = doc_freqs.get_mut(found.query_term.index()) {
                *doc_freq += 1;
            }
        }
        let total = index.note_count() as f64;
        doc_freqs.into_iter().map(|doc_freq| idf(total, f64::from(doc_freq.max(1)))).collect()
    }
}

/// Returns the sum of the frequencies of the terms of one class.
fn sum<'a>(freqs: impl Iterator<Item = &'a FieldTermFreqs>) -> FieldTermFreqs {
    freqs.fold(FieldTermFreqs::default(), |sum, freqs| FieldTermFreqs {
        body: sum.body.saturating_add(freqs.body),
        title: sum.title.saturating_add(freqs.title),
        tags: sum.tags.saturating_add(freqs.tags),
        headings: sum.headings.saturating_add(freqs.headings),
        is_tag: sum.is_tag || freqs.is_tag,
    })
}
