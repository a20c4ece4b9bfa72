//! Failures while the notes of an open store are read.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, ErrorKind};

/// The failures of the reads that can't return an error themselves, since they happen behind a value that an answer is
/// made of. They are checked before the answer is written.
#[derive(Debug, Default)]
pub(in crate::store) struct ReadErrors {
    is_index_corrupt: AtomicBool,
    /// The first note that could not be read.
    note: OnceLock<Error>,
}

impl ReadErrors {
    pub(crate) fn mark_corrupt(&self) {
        self.is_index_corrupt.store(true, Ordering::Relaxed);
    }

    /// Whether a part of the index could not be read, so that answers may be wrong.
    pub(crate) fn is_index_corrupt(&self) -> bool {
        self.is_index_corrupt.load(Ordering::Relaxed)
    }

    /// Records that the file of a note could not be read, and returns the error that names it.
    pub(crate) fn add_note(&self, path: &str, error: &io::Error) -> Error {
        let message = match error.kind() {
            io::ErrorKind::NotFound => format!("{path} was removed or renamed during the call"),
            _ => format!("{path} could not be read during the call: {error}"),
        };
        let error = Error::new(ErrorKind::Store, message).hint("try again");
        self.note.get_or_init(|| error.clone());
        error
    }

    pub(crate) fn note(&self) -> Option<&Error> {
        self.note.get()
    }
}
