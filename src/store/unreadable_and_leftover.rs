//! The files of a store that can't be read or are ignored, and those that crashed commands left.

use std::path::{Path, PathBuf};

use super::index::location::FOLDER as CACHE;
use crate::error::{Error, ErrorKind};
use crate::note::NoteId;
use crate::store::collections::layout::PENDING_FILE;
use crate::store::fs::dir_handle::FileType;
use crate::store::fs::skipped::{IgnoredEntry, is_skipped};
use crate::store::fs::stat::FileStat;
use crate::store::fs::{files, in_progress_writes};
use crate::store::{Location, MAX_CANDIDATES, SettingFinding, Store, load, redo_log};

/// The findings about settings that may hide a collection for a while only.
const MISSING_COLLECTION: [&str; 4] = ["source-missing", "store-missing", "store-unreadable", "settings-invalid"];

/// Lists the first of the shown paths of unreadable files and folders, with the number of the others.
fn listed(paths: impl Iterator<Item = String> + Clone) -> String {
    let named = paths.clone().take(MAX_CANDIDATES).collect::<Vec<_>>().join(", ");
    match paths.skip(MAX_CANDIDATES).count() {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Returns a warning that lists notes that could not be read, by their shown paths; `None` if there are none.
pub(super) fn unreadable_warning(paths: impl Iterator<Item = String> + Clone) -> Option<String> {
    let hint = "answers omit them; `qipu doctor` lists all";
    let warning = || format!("some notes can't be read: {}; {hint}", listed(paths.clone()));
    paths.clone().next().map(|_| warning())
}

impl Store {
    /// Returns a warning that lists the notes that could not be read; `None` if there are none.
    pub fn unreadable_warning(&self) -> Option<String> {
        unreadable_warning(self.unreadable_paths())
    }

    /// Iterates over the files and folders that can't be read, without files of sources that are skipped.
    fn unreadable(&self) -> impl Iterator<Item = &IgnoredEntry> + Clone {
        let all = self.collections.iter().flat_map(|collection| &collection.unreadable);
        all.filter(|(_, reason)| !is_skipped(reason))
    }

    /// Iterates over the shown paths of the same.
    fn unreadable_paths(&self) -> impl Iterator<Item = String> + Clone {
        self.unreadable().map(|(path, _)| self.shown(path))
    }

    /// Expects that every note in a folder of the store can be read, and makes the plan depend on all of them.
    ///
    /// # Errors
    /// `Store`, naming one that can't.
    pub fn expect_readable_in(&self, folder: &str) -> Result<(), Error> {
        self.in_progress.need_all_in(&format!("{folder}/"));
        let inside =
            |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        match self.unreadable().find(|(path, _)| inside(path)) {
            None => Ok(()),
            Some((path, _)) => {
                let message = format!("{} can't be read, and may be the note to change", self.shown(path));
                Err(Error::new(ErrorKind::Store, message).hint("make it readable first; `qipu doctor` lists all"))
            }
        }
    }

    /// Expects that a name means the note with an id, and can't be that of a note that can't be read.
    ///
    /// # Errors
    /// `Store`, listing the files and folders that can't.
    pub(super) fn expect_meant(&self, name: &str, found: &NoteId) -> Result<(), Error> {
        if self.unreadable().next().is_none() {
            return Ok(());
        }
        let message =
            format!("`{name}` may be the name of a note that can't be read: {}", listed(self.unreadable_paths()));
        Err(Error::new(ErrorKind::Store, message).hint(format!("if {found} is meant, give that id")))
    }

    /// Expects that every collection that settings name was found, and that it and every note of it can be read.
    ///
    /// # Errors
    /// `Store`, naming a setting or a collection, or listing files and folders that can't.
    pub fn expect_complete(&self) -> Result<(), Error> {
        let is_missing = |finding: &&SettingFinding| MISSING_COLLECTION.contains(&finding.code);
        let missing = self.setting_findings.iter().filter(is_missing);
        let missing = missing.map(|finding| format!("{}: {}", finding.file, finding.message));
        match missing.chain(Self::failed_warnings(&self.failed)).next() {
            Some(message) => Err(Error::new(ErrorKind::Store, format!("this needs all collections; {message}"))
                .hint("make it readable, or remove it from the settings; `qipu where` lists all")),
            None => self.expect_all_readable(),
        }
    }

    /// Expects that every note of the store can be read.
    ///
    /// # Errors
    /// `Store`, listing files and folders that can't.
    pub fn expect_all_readable(&self) -> Result<(), Error> {
        if self.unreadable().next().is_none() {
            return Ok(());
        }
        let message =
            format!("this needs all notes of the store, and some can't be read: {}", listed(self.unreadable_paths()));
        Err(Error::new(ErrorKind::Store, message).hint("make them readable first; `qipu doctor` lists all"))
    }

    /// Lists the entries of the note folders that are not read, with the reason; paths are in the store.
    pub fn ignored_entries(&self) -> Vec<IgnoredEntry> {
        let mut all: Vec<IgnoredEntry> = Vec::new();
        for collection in self.collections.iter().filter(|collection| !collection.about.is_source()) {
            let ignored = collection.dir.iter().flat_map(|dir| load::ignored_entries(dir));
            all.extend(ignored.map(|(path, reason)| (format!("{}{path}", collection.about.prefix), reason)));
        }
        all.extend(self.collections.iter().flat_map(|collection| collection.unreadable.iter().cloned()));
        all.sort_unstable();
        all.dedup();
        all
    }

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
        cached.chain(self.first().dir.iter().flat_map(|dir| load::stale_temp_files(dir))).collect()
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
}
