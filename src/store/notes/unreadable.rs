//! The files of a store that can't be read or are ignored.

use super::load;
use super::names::MAX_CANDIDATES;
use super::store::Store;
use crate::error::{Error, ErrorKind};
use crate::note::NoteId;
use crate::store::collections::find::SettingFinding;
use crate::store::fs::skipped::{IgnoredEntry, is_skipped};

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
        let is_missing = |finding: &&SettingFinding| finding.code.is_missing_collection();
        let missing = self.setting_findings.iter().filter(is_missing);
        let missing = missing.map(|finding| format!("{}: {}", finding.file, finding.message));
        match missing.chain(Self::failed_warnings(&self.failed)).next() {
            Some(message) => Err(Error::new(ErrorKind::Store, format!("this needs all collections; {message}"))
                .hint("make it readable, or remove it from the settings; `qipu status` lists all")),
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
}
