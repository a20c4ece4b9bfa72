//! How files are opened, listed and replaced.

pub(crate) mod atomic_write;
pub(super) mod dir_handle;
pub(super) mod file_tree;
pub(crate) mod files;
pub(super) mod in_progress_writes;
pub(super) mod read_errors;
pub(super) mod rename_noreplace;
pub(super) mod skipped;
pub(super) mod stat;
pub(super) mod tree;
