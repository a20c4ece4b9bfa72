//! The files of a commit, read through git's plumbing: no checkout, and nothing is written.

pub(super) mod blob_reader;
pub(super) mod commit_tree;
pub(super) mod revision;
