//! The notes that another program may still be saving while a command changes their store, and which of them its plan
//! depends on.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::lock::Lock;
use crate::store::fs::in_progress_writes::{self, FileVersion};
use crate::store::fs::stat::FileStat;

/// The notes of a store that another program may still be saving, by path.
#[derive(Debug, Default)]
pub(super) struct InProgressNotes(HashMap<String, InProgressNote>);

#[derive(Debug)]
struct InProgressNote {
    version: FileVersion,
    /// Whether the plan of a command depends on it.
    is_needed: AtomicBool,
}

impl InProgressNotes {
    /// Finds them among the files with the stats from before they were read. What lies in the future counts as complete.
    pub(super) fn find(root: &Path, recent: &[(PathBuf, FileStat)], now: Option<i64>, lock: &Lock) -> Self {
        let Some(now) = now.filter(|_| !recent.is_empty()) else { return Self::default() };
        // Reading takes time, and notes may be saved meanwhile.
        let until = in_progress_writes::now(root).unwrap_or(now);
        let versions = recent.iter().map(|(path, stat)| (path, FileVersion::of(stat)));
        let (future, past): (Vec<_>, Vec<_>) = versions.partition(|(_, version)| version.is_of_the_future(until));
        lock.count_as_complete(future.into_iter().map(|(_, version)| version));
        let racy = past.into_iter().filter(|(_, version)| lock.is_racy(version, now));
        let notes = racy.map(|(path, version)| {
            let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
            // Of an empty one not even the name is known.
            (path, InProgressNote { version, is_needed: AtomicBool::new(version.size == 0) })
        });
        Self(notes.collect())
    }

    /// Records that the plan depends on a note.
    pub(super) fn need(&self, path: &str) {
        self.0.get(path).iter().for_each(|note| note.is_needed.store(true, Ordering::Relaxed));
    }

    /// Records that the plan depends on all notes whose paths begin so.
    pub(super) fn need_all_in(&self, prefix: &str) {
        let inside = self.0.iter().filter(|(path, _)| path.starts_with(prefix));
        inside.for_each(|(_, note)| note.is_needed.store(true, Ordering::Relaxed));
    }

    /// Returns the versions of the notes that the plan depends on.
    pub(super) fn needed(&self) -> BTreeSet<FileVersion> {
        let needed = self.0.values().filter(|note| note.is_needed.load(Ordering::Relaxed));
        needed.map(|note| note.version).collect()
    }
}
