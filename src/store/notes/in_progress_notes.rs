//! The notes that another program may still be saving while a command changes their store, and which of them its plan
//! depends on.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::store::fs::in_progress_writes::FileVersion;

/// The notes of a store that another program may still be saving, by path.
#[derive(Debug, Default)]
pub(in crate::store) struct InProgressNotes(HashMap<String, InProgressNote>);

#[derive(Debug)]
struct InProgressNote {
    version: FileVersion,
    /// Whether the plan of a command depends on it.
    is_needed: AtomicBool,
}

impl InProgressNotes {
    /// Collects notes from their paths in the store and the versions of their files.
    pub(in crate::store) fn new(notes: impl IntoIterator<Item = (String, FileVersion)>) -> Self {
        let note = |(path, version): (String, FileVersion)| {
            // Of an empty one not even the name is known.
            (path, InProgressNote { version, is_needed: AtomicBool::new(version.size == 0) })
        };
        Self(notes.into_iter().map(note).collect())
    }

    /// Records that the plan depends on a note.
    pub(in crate::store) fn need(&self, path: &str) {
        self.0.get(path).iter().for_each(|note| note.is_needed.store(true, Ordering::Relaxed));
    }

    /// Records that the plan depends on all notes whose paths begin so.
    pub(in crate::store) fn need_all_in(&self, prefix: &str) {
        let inside = self.0.iter().filter(|(path, _)| path.starts_with(prefix));
        inside.for_each(|(_, note)| note.is_needed.store(true, Ordering::Relaxed));
    }

    /// Returns the versions of the notes that the plan depends on.
    pub(in crate::store) fn needed(&self) -> BTreeSet<FileVersion> {
        let needed = self.0.values().filter(|note| note.is_needed.load(Ordering::Relaxed));
        needed.map(|note| note.version).collect()
    }
}
