//! Queries: from their text to the terms that are looked up.

pub(crate) mod expansion;
pub(crate) mod parser;
pub(crate) mod plan;
pub(crate) mod spelling_correction;
