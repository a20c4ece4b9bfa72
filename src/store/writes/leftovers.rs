//! What crashed commands left: an unfinished change, and temporary files.

use std::path::{Path, PathBuf};

use super::change::ChangedFolder;
use super::lock::Lock;
use super::redo_log;
use crate::error::Error;
use crate::store::collections::discover::{Location, find_root, relative_to};
use crate::store::collections::layout::PENDING_FILE;
use crate::store::fs::dir_handle::{DirHandle, FileType, is_temporary};
use crate::store::fs::stat::FileStat;
use crate::store::fs::tree::{self, TreeItem};
use crate::store::fs::{files, in_progress_writes};
use crate::store::index::location::FOLDER as CACHE;
use crate::store::notes::store::Store;

impl Store {
    /// Describes the redo log that a crashed command left, in a sentence; `None` if there is none, as in a commit.
    pub fn unfinished_changes(&self, location: &Location) -> Option<String> {
        if self.files.is_commit() {
            return None;
        }
        match redo_log::unfinished(self.changed_folder(), location.cache.as_deref()) {
            Ok(None) => None,
            Ok(Some(files)) => Some(format!(
                "an earlier command was interrupted while it was changing files (in all: {files}); the next command that changes notes will finish the change"
            )),
            Err(error) => Some(format!(
                "this redo log can't be used ({error:#}), and no command can change notes until it is removed: inspect it, then remove it"
            )),
        }
    }

    /// Returns the shown path of the redo log.
    pub fn redo_log_path(&self) -> String {
        self.shown(PENDING_FILE)
    }

    /// Lists the temporary files that crashed commands left in the store; paths are in the store.
    pub fn stale_temp_files(&self) -> Vec<String> {
        // A symbolic link is not followed.
        let has_cache = self.first().dir.as_ref().is_some_and(|dir| dir.kind(CACHE.as_ref()) == Some(FileType::Folder));
        let cache = has_cache.then(|| self.first().root.join(CACHE));
        let cached = self.file_time().zip(cache);
        let cached = cached.iter().flat_map(|(now, cache)| files::stale(cache, *now, |stat| stat.mtime));
        let cached = cached.filter_map(|path| Some(format!("{CACHE}/{}", path.file_name()?.to_str()?)));
        cached.chain(self.first().dir.iter().flat_map(|dir| stale_temp_files(dir))).collect()
    }

    /// Lists the temporary files that crashed commands left an hour ago or more in a folder outside the store.
    pub fn stale_files(&self, folder: &Path) -> Vec<PathBuf> {
        self.file_time().map_or_else(Vec::new, |now| files::stale(folder, now, FileStat::latest))
    }

    /// Returns the time of the file system of the first collection in nanoseconds, `i64::MIN` if it can't be written to;
    /// `None` if the files are those of a commit, among which no command left any.
    fn file_time(&self) -> Option<i64> {
        let now = || in_progress_writes::now(&self.first().root).unwrap_or(i64::MIN);
        (!self.files.is_commit()).then(now)
    }

    /// Returns the name of a redo log that is not this user's, and is never applied; `None` if there is none.
    pub fn foreign_redo_log(&self, location: &Location) -> Option<String> {
        let is_foreign = redo_log::is_foreign(self.changed_folder(), location.cache.as_deref());
        is_foreign.is_ok_and(|is_foreign| is_foreign).then(|| PENDING_FILE.to_owned())
    }

    /// Removes a redo log of a store that is not this user's. Returns the names of such files.
    ///
    /// # Errors
    /// `Busy` as [`Store::change`]; `Failure` if such a log can't be removed.
    pub fn remove_foreign_redo_log(location: &Location, current_dir: &Path) -> Result<Vec<String>, Error> {
        let root = find_root(location, current_dir)?;
        let _lock = Lock::take(&root, &relative_to(&root, current_dir), location)?;
        let folder = ChangedFolder { root: &root, is_source: false };
        let is_removed = redo_log::remove_foreign(folder, location.cache.as_deref())?;
        Ok(is_removed.then(|| PENDING_FILE.to_owned()).into_iter().collect())
    }

    /// Removes the temporary files that crashed commands left. The lock guarantees that no command is writing them.
    ///
    /// # Errors
    /// `Failure`, naming a file that can't be removed.
    pub fn remove_stale_temp_files(&self, _lock: &Lock) -> Result<Vec<String>, Error> {
        let paths = self.stale_temp_files();
        for path in &paths {
            files::remove(&self.first().root.join(path))?;
        }
        Ok(paths)
    }
}

/// Lists the temporary files in the store but for those in its cache folder, where an index may be being written; stale
/// ones there are removed by the next writer of an index.
fn stale_temp_files(dir: &DirHandle) -> Vec<String> {
    let all = tree::items(dir, "", |path| path != Path::new(CACHE));
    let is_ours =
        |item: &TreeItem| item.kind == Some(FileType::File) && item.path.file_name().is_some_and(is_temporary);
    all.into_iter().filter(is_ours).map(|item| item.shown()).collect()
}
