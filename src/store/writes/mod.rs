//! How a change reaches the disk: under a lock, with a redo log, each file atomically.

pub(super) mod change;
mod leftovers;
pub(super) mod lock;
pub(super) mod open_for_write;
mod plan_texts;
mod redo_log;
pub(super) mod shown_notes;
pub(super) mod shown_record;
pub(super) mod user_file;
