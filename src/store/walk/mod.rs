//! The walk over the folders of a store: which files are notes, and the stat of each.

pub(crate) mod dir_cache;
pub(crate) mod scan;
pub(crate) mod source_scan;
