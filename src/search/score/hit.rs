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

/// How many more commits than notes stand before a note that is less relevant. The first hundred hits are looked at for
/// the smallest answers, and notes are among them.
const MAX_AHEAD: usize = 50;

/// Merges two lists of hits by relevance, notes before commits that are as relevant; each keeps its order. No number of
/// commits pushes notes out.
pub fn by_relevance(notes: Vec<Hit>, commits: Vec<Hit>) -> Vec<Hit> {
    let mut commits = commits.into_iter().peekable();
    let mut merged = Vec::with_capacity(notes.len() + commits.len());
    for (place, hit) in notes.into_iter().enumerate() {
        let is_ahead = |commit: &Hit| commit.relevance > hit.relevance;
        while let Some(commit) = commits.next_if(|commit| is_ahead(commit) && merged.len() < MAX_AHEAD + 2 * place) {
            merged.push(commit);
        }
        merged.push(hit);
    }
    merged.extend(commits);
    merged
}
