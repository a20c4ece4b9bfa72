//! From notes to the bytes of a segment.

pub(crate) mod indexer;
pub(crate) mod interner;
pub(crate) mod inverter;
pub(crate) mod postings;
pub(crate) mod token_stream;
pub(crate) mod vocabulary;
