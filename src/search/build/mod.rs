//! Builds the blobs of a segment from notes.
//!
//! Per batch and thread: notes become [streams of token ids](token_stream), new tokens become [words and
//! terms](vocabulary), and the streams are [inverted](inverter) to forward entries and [postings]. The
//! [indexer] runs these steps and writes the segment.

pub(crate) mod indexer;
pub(crate) mod interner;
pub(crate) mod inverter;
pub(crate) mod token_stream;
pub(crate) mod token_words;
pub(crate) mod vocabulary;
