//! Reads stored segments, and joins them with notes that are not indexed yet.

pub(crate) mod composite_index;
pub(crate) mod dictionary;
pub(crate) mod forward;
pub(crate) mod indexed_segment;
mod merged_terms;
pub(crate) mod segment;
pub(crate) mod surface_forms;
