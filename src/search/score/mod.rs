//! Scores: how well notes and blocks of notes answer a query, and how similar notes are.

pub(crate) mod block_scorer;
pub(crate) mod bm25f;
pub(crate) mod duplicates;
pub(crate) mod hit;
pub(crate) mod lookalikes;
pub(crate) mod matches;
pub(crate) mod neighbourhood;
mod neighbours;
pub(crate) mod own_notes;
pub(crate) mod proximity;
pub(crate) mod query_performance;
pub(crate) mod ranking;
pub(crate) mod related;
pub(crate) mod scratch;
pub(crate) mod smoothing;
pub(crate) mod tag_boost;
pub(crate) mod vectors;
