//! The commits of the repository, a collection that is read where it is asked for: see [`CollectionScope::History`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::found::{FoundCollection, FoundCollections};
use super::setting_finding::{SettingCode, SettingFinding};
use crate::error::Error;
use crate::note::Dialect;
use crate::store::collections::collection::{COMMITS, CollectionReason};
use crate::store::collections::config::Config;
use crate::store::collections::discover::{
    self, CollectionScope, Location, in_linked_worktree, normalize_lexically, open_root, project_folder, repository_of,
};
use crate::store::collections::layout::CONFIG_FILE;
use crate::store::fs::dir_handle::{DirHandle, HistoryDir};
use crate::store::fs::tree::shown;
use crate::store::index::source_scan::SourceRules;

/// Adds the commits as the last collection, if they are asked for or switched on.
///
/// # Errors
/// `Usage` if they are asked for and there is no repository.
pub(super) fn add_history(
    found: &mut FoundCollections,
    (location, current_dir): (&Location, &Path),
    is_on_for_user: bool,
) -> Result<(), Error> {
    let is_asked = location.asks_for_commits();
    let config = found.all.first().filter(|first| first.rules.is_none()).map(|first| Arc::clone(&first.config));
    let is_on = config.as_ref().and_then(|config| config.history.commits).unwrap_or(is_on_for_user);
    let is_read = location.scope == CollectionScope::History;
    if !(is_on || (is_asked && is_read)) {
        return Ok(());
    }
    let Some(repository) = repository_of(&location.files, &folder(found, location, current_dir)) else {
        if is_asked && is_read {
            let error = Error::usage("there is no git repository here, so there are no commits");
            return Err(error.hint("leave `commits` out, or ask in a repository"));
        }
        if config.as_ref().and_then(|config| config.history.commits).is_none() {
            // The user's settings are for projects with a repository.
            return Ok(());
        }
        let message = "`commits = true` under [history] has no effect: there is no git repository".to_owned();
        let (code, collection) = (SettingCode::HistoryMissing, Some(COMMITS.to_owned()));
        found.findings.push(SettingFinding { file: CONFIG_FILE.to_owned(), code, message, collection });
        return Ok(());
    };
    if !is_read {
        return Ok(());
    }
    // Records name files of the project, so that each project of a repository has an index of its own.
    let root = repository.project_folder();
    let rules = SourceRules { root: root.clone(), is_in_notes: true, ..SourceRules::default() };
    let dir = Arc::new(DirHandle::History(Box::new(HistoryDir::new(repository, location.only_commits.clone()))));
    let (name, config) = (COMMITS.to_owned(), config.unwrap_or_default());
    let store = FoundCollection::of_store(name, root, dir, &config, CollectionReason::History);
    let (dialect, rules) = (Dialect::Commit, Some(Arc::new(rules)));
    found.all.push(FoundCollection { dialect, is_writable: false, rules, ..store });
    Ok(())
}

/// A piece of code, by a path that is absolute or relative to the current directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeTarget {
    /// A file or a folder.
    Path(String),
    /// A line of a file, from 1.
    Line(String, usize),
}

/// Whether questions read the commits of the repository, by the settings of the store or else of the user.
pub fn reads_commits(location: &Location, current_dir: &Path) -> bool {
    let root = discover::find_root(location, current_dir).ok();
    let config = root.and_then(|root| Config::load(&*open_root(&location.files, &root).ok()?).ok());
    config.unwrap_or_default().history.reads_commits(location.settings.as_deref())
}

/// Returns the ids of the commits that touched pieces of code of the project, those with the longest messages first, and those
/// that last wrote its lines; none if the commits are not read. Starts processes.
pub fn commits_of_code(location: &Location, current_dir: &Path, places: &[CodeTarget]) -> Vec<String> {
    if !location.asks_for_commits() && !reads_commits(location, current_dir) {
        return Vec::new();
    }
    let root = discover::find_root(location, current_dir).ok();
    let folder = folder_of(root.as_deref(), location, current_dir);
    let Some(repository) = repository_of(&location.files, &folder) else { return Vec::new() };
    let in_project = |path: &String| {
        let path = normalize_lexically(&current_dir.join(path));
        Some(shown(path.strip_prefix(&folder).ok()?))
    };
    let of_place = |place: &CodeTarget| match place {
        CodeTarget::Path(path) => in_project(path).map(|path| repository.commits_of_path(&path)).unwrap_or_default(),
        CodeTarget::Line(path, line) => {
            in_project(path).and_then(|path| repository.commit_of_line(&path, *line)).into_iter().collect()
        }
    };
    places.iter().flat_map(of_place).collect()
}

/// Returns the folder of the project whose commits count: see [`folder_of`].
fn folder(found: &FoundCollections, location: &Location, current_dir: &Path) -> PathBuf {
    let first = found.all.first().filter(|first| first.rules.is_none() && !first.reason.is_of_user());
    folder_of(first.map(|first| first.root.as_path()), location, current_dir)
}

/// Returns the folder of the project of a store, or the same one in the linked working tree that the current directory is in;
/// the current directory without a store.
fn folder_of(store: Option<&Path>, location: &Location, current_dir: &Path) -> PathBuf {
    let own = current_dir.canonicalize().unwrap_or_else(|_| current_dir.to_path_buf());
    let Some(store) = store else { return own };
    let folder = project_folder(store);
    in_linked_worktree(&location.files, folder, &own).unwrap_or_else(|| folder.to_path_buf())
}
