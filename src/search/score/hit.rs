//! Hits of a query.

use crate::store::NoteIdx;

/// The most tasks, where each needs memory for all terms.
pub(super) const TASKS: usize = 8;

/// The components of a score, rounded: there may be a million hits. Their sum times `factor` is the score.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreBreakdown {
    /// The terms of the note's own title, tags, headings and body.
    pub words: f32,
    /// The share of its neighbours in a sequence.
    pub sequence: f32,
    /// The share of linked notes.
    pub links: f32,
    /// Query terms that are adjacent, or close, as in the query.
    pub proximity: f32,
    /// The best paragraph.
    pub paragraph: f32,
    /// The gain or loss by the scores of similar notes.
    pub smoothing: f32,
    /// The factor for tags, times, questions and own notes.
    pub factor: f32,
}

/// A note that a query finds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Hit {
    /// The position of the note among those that were searched.
    pub note: NoteIdx,
    /// How well the note answers; comparable within one query only.
    pub score: f64,
    /// How well the note answers, 0 to 1; comparable between queries.
    pub relevance: f64,
    /// Whether it is an own note beside documents that contains every word of the query in one sentence.
    pub has_full_sentence: bool,
    /// The components of the score.
    pub breakdown: ScoreBreakdown,
}
