//! The constants of the ranking formula, which specs/ranking.md explains.

use crate::search::read::composite_index::CompositeIndex;

/// The constants of the ranking formula.
#[derive(Debug, Clone)]
pub struct RankingParams {
    /// BM25's `k1`: how soon further occurrences of a term stop adding to the score.
    pub k1: f64,
    /// BM25's `b` for bodies, 0 to 1.
    pub b_body: f64,
    /// BM25's `b` for titles, 0 to 1.
    pub b_title: f64,
    /// The weight of an occurrence in a title, relative to one in a body.
    pub title: f64,
    /// The weight of an occurrence in a tag, relative to one in a body.
    pub tag: f64,
    /// The weight of an occurrence in a heading, relative to one in a body.
    pub heading: f64,
    /// The shares of the notes before in a sequence that are propagated, the nearest first.
    pub before: [f64; 3],
    /// The shares of the notes after in a sequence that are propagated, the nearest first.
    pub after: [f64; 3],
    /// The share of all linked notes together that is propagated.
    pub linked: f64,
    /// The similarity from which on all of a linked note's share is propagated.
    pub full_similarity: f64,
    /// The weight of query terms that are adjacent as in the query.
    pub adjacent: f64,
    /// The weight of adjacent query terms that are within the window.
    pub close: f64,
    /// The largest distance of close terms, in content terms.
    pub window: u32,
    /// The weight of the best paragraph.
    pub paragraph: f64,
    /// The share by which scores are smoothed in a large store.
    pub smoothing: f64,
    /// The number of notes of a store in which half of that share applies.
    pub half_smoothing_notes: f64,
    /// The number of similar notes by which a score is smoothed.
    pub neighbours: usize,
    /// The number of best hits whose scores are smoothed.
    pub smoothed: usize,
    /// The number of best hits that are reranked.
    pub reranked: usize,
    /// The gain of a note, as a share, for a tag that is a term of the query.
    pub tag_boost: f64,
    /// The gain of a note, as a share, whose body names a time if the query asks for one.
    pub time_boost: f64,
    /// The loss of a note of a sequence, as a share, that consists of questions: the answer follows it.
    pub question_penalty: f64,
}

/// The bounds of `k1`.
const K1_BOUNDS: (f64, f64) = (1.2, 2.0);
/// The length of the average body, in content terms, for each unit of `k1`.
const TERMS_PER_K1: f64 = 25.0;

impl RankingParams {
    /// Returns the default weights with the `k1` that suits the length of a store's texts: in short texts, a second
    /// occurrence means little.
    pub(crate) fn for_index(index: &CompositeIndex) -> Self {
        let k1 = (index.average_body_len() / TERMS_PER_K1).clamp(K1_BOUNDS.0, K1_BOUNDS.1);
        Self { k1, ..Self::default() }
    }
}

impl Default for RankingParams {
    fn default() -> Self {
        Self {
            k1: 2.0,
            b_body: 0.5,
            b_title: 0.75,
            title: 2.0,
            tag: 2.0,
            heading: 0.5,
            before: [0.5, 0.3, 0.2],
            after: [0.4, 0.2, 0.1],
            linked: 0.5,
            full_similarity: 0.1,
            adjacent: 0.10,
            close: 0.05,
            window: 7,
            paragraph: 0.3,
            smoothing: 0.5,
            half_smoothing_notes: 20.0,
            neighbours: 8,
            smoothed: 100,
            reranked: 200,
            tag_boost: 0.8,
            time_boost: 0.3,
            question_penalty: 0.4,
        }
    }
}
