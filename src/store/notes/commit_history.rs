//! What is known of the commits that questions read, without reading them.

use std::path::Path;
use std::sync::Arc;

use super::store::Store;
use crate::error::Error;
use crate::note::Dialect;
use crate::store::collections::discover::repository_of;
use crate::store::fs::dir_handle::{DirHandle, HistoryDir};
use crate::store::git::ref_state;
use crate::store::index::commit_scan;
use crate::store::index::location::IndexLocation;

/// The commits that questions read.
#[derive(Debug)]
pub struct CommitHistory {
    /// Their number.
    ///
    /// # Errors
    /// `Store` if git can't list them.
    pub count: Result<usize, Error>,
    /// Whether the repository lacks the beginning of its history.
    pub is_shallow: bool,
    /// Whether it may lack the files of commits.
    pub is_partial: bool,
}

impl Store {
    /// Whether questions read the commits of the repository.
    pub fn reads_commits(&self) -> bool {
        self.config.history.reads_commits(self.settings.as_deref())
    }

    /// Whether commits came or went since the store was opened.
    pub fn has_new_commits(&self) -> bool {
        let dir = self.collections.last().and_then(|last| last.dir.as_deref());
        matches!(dir, Some(DirHandle::History(dir)) if commit_scan::has_moved(dir))
    }

    /// Returns what is known of the commits; `None` if questions read none. Starts no process if nothing moved.
    pub fn commit_history(&self) -> Option<CommitHistory> {
        if !self.reads_commits() {
            return None;
        }
        let repository = repository_of(&self.files, &self.project_folder()?)?;
        let root = repository.project_folder();
        let (is_shallow, is_partial) = ref_state::lacks(&repository.root);
        let dir = Arc::new(DirHandle::History(Box::new(HistoryDir::new(repository, None))));
        let location = IndexLocation {
            root: Path::new(&root),
            dir: &dir,
            cache: self.cache.as_deref(),
            uses_index: true,
            since: None,
            source: Some(Dialect::Commit),
        };
        let DirHandle::History(history) = &*dir else { return None };
        let count = commit_scan::count(&location, history);
        Some(CommitHistory { count, is_shallow, is_partial })
    }
}
