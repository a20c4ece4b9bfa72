//! Queries: from their text to the terms that are looked up.

mod english_words;
pub(crate) mod expansion;
pub(crate) mod parser;
pub(crate) mod plan;
mod spelling_correction;
