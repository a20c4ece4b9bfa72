//! Reads segments, and joins them into one index.

pub(crate) mod composite_index;
pub(crate) mod segment;
