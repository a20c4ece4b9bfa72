//! How well notes, and blocks of notes, answer a query, and how similar notes are.

pub(crate) mod block_scorer;
pub(crate) mod duplicates;
pub(crate) mod proximity;
pub(crate) mod ranking;
pub(crate) mod related;
pub(crate) mod vectors;
