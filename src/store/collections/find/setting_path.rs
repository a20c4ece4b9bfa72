//! The paths of settings: their wildcards, the folders that they lead to, and the names that these give to collections.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use super::setting_finding::SettingCode;
use crate::store::collections::collection::CollectionReason;
use crate::store::collections::config::Config;
use crate::store::collections::discover;
use crate::store::collections::user_settings::UserTable;
use crate::store::fs::dir_handle::{DirHandle, FileType};
use crate::store::fs::file_tree::FileTree;

/// The most folders that a path with wildcards is compared with.
const MAX_EXPANDED: usize = 10_000;

/// The longest path of a setting, in bytes, as of Linux. Matching takes memory in proportion to it.
const MAX_PATH: usize = 4_096;

/// Why a path of a repository is not read, as the end of a sentence.
const OUTSIDE: &str = "leads out of the repository, and has no effect unless your own settings list the repository under \
                       `allowed-repositories`";

/// Why a relative path in the user's settings has no effect, as the end of a sentence.
pub(super) const RELATIVE: &str = "is relative; in your settings, a path begins with `/` or `~/`";

/// Why a path of stores that matches at any depth has no effect, as the end of a sentence.
pub(super) const DEEP_STORES: &str = "has `**`, which only [[documents]] may have; name each level with `*`";

/// Who names a collection.
#[derive(Clone)]
pub(super) struct Namer {
    /// The folder that paths are relative to.
    pub(super) base: PathBuf,
    /// The folder that they must not leave; `None` for the user.
    pub(super) boundary: Option<PathBuf>,
    /// The file of the setting, as it is shown.
    pub(super) file: String,
    pub(super) reason: CollectionReason,
    pub(super) config: Arc<Config>,
    /// In which other projects the collection counts, as the end of a sentence; `None` if it counts in this one.
    pub(super) elsewhere: Option<String>,
    /// The home of a user whose settings name the collection.
    pub(super) home: Option<PathBuf>,
    /// The files that its paths lead to.
    pub(super) files: FileTree,
}

impl Namer {
    /// Returns the namer of a table of the user, whose settings this one names, in a project with these folders.
    pub(super) fn for_table<'p, T>(&self, table: &UserTable<T>, project: impl FnOnce() -> &'p [PathBuf]) -> Self {
        if table.projects.is_none() {
            return self.clone();
        }
        let elsewhere = table.expect_to_count(project(), self.home.as_deref()).err();
        Self { reason: CollectionReason::UserSettingsForProject, elsewhere, ..self.clone() }
    }

    /// Expects that the collection counts in the project of the call.
    pub(super) fn expect_here(&self) -> Result<(), NoEffect> {
        self.elsewhere.clone().map_or(Ok(()), |elsewhere| Err((SettingCode::OtherProject, elsewhere)))
    }
}

/// A path in a setting, divided before its first name with a wildcard.
pub(super) struct SplitPath {
    pub(super) literal: PathBuf,
    /// The names with wildcards, and those behind them.
    pub(super) pattern: Option<String>,
}

/// Why a setting has no effect: the code of the finding, and the end of its sentence.
pub(super) type NoEffect = (SettingCode, String);

/// Opens a folder. One that a repository names is opened from the repository's root without following links.
///
/// # Errors
/// The first code for a folder outside of the repository, the second for one that can't be opened.
pub(super) fn open_folder(
    folder: &Path,
    namer: &Namer,
    [outside, missing]: [SettingCode; 2],
) -> Result<(PathBuf, Arc<DirHandle>), NoEffect> {
    let opened = match &namer.boundary {
        None => namer.files.canonicalize(folder).and_then(|root| Ok((namer.files.dir(&root)?, root))),
        Some(boundary) => {
            let below = folder.strip_prefix(boundary).map_err(|_| (outside, OUTSIDE.to_owned()))?;
            let dir = namer.files.dir(boundary);
            let dir = if below.as_os_str().is_empty() { dir } else { dir.and_then(|dir| dir.folder(below)) };
            dir.map(|dir| (dir, folder.to_path_buf()))
        }
    };
    let failed = |error| (missing, format!("is not read: {}", why_missing(folder, namer, &error)));
    opened.map(|(dir, root)| (root, Arc::new(dir))).map_err(failed)
}

/// Returns why the folder of a setting can't be opened, as the end of a sentence.
fn why_missing(folder: &Path, namer: &Namer, error: &std::io::Error) -> String {
    let is_below = |path: &&Path| namer.boundary.as_ref().is_some_and(|boundary| path.starts_with(boundary));
    // From the top, so that no link is followed.
    let below: Vec<&Path> = folder.ancestors().take_while(is_below).collect();
    match below.iter().rev().find(|path| namer.files.is_link(path)) {
        Some(link) if *link == folder => return "it is a symbolic link, which is not followed".to_owned(),
        Some(_) => return "a folder above it is a symbolic link, which is not followed".to_owned(),
        None if namer.boundary.is_none() && namer.files.is_link(folder) => {
            return "it is a symbolic link that leads to no folder".to_owned();
        }
        None => {}
    }
    let is_in_home = namer.home.is_none() && folder.strip_prefix(&namer.base).is_ok_and(|path| path.starts_with("~"));
    match error.kind() {
        std::io::ErrorKind::NotFound if is_in_home => {
            "there is no such folder; `~/` is your home only in your own settings".to_owned()
        }
        std::io::ErrorKind::NotFound => "there is no such folder".to_owned(),
        _ => format!("it can't be opened as a folder ({error})"),
    }
}

/// Divides a path of a setting. `~/` is the user's home, in the user's settings only.
///
/// # Errors
/// The end of a sentence for a path that is empty, too long, or not in the form of a path, and for one whose wildcards
/// are before a `..`.
pub(super) fn split_path(path: &str, namer: &Namer) -> Result<SplitPath, &'static str> {
    let home = namer.home.as_ref().filter(|_| path.starts_with("~/"));
    let (base, path) = home.map_or((&namer.base, path), |home| (home, path.get(2..).unwrap_or_default()));
    if path.is_empty() || path.contains('\0') || path.len() > MAX_PATH {
        return Err("is not a path");
    }
    // The settings of a user belong to no project that a path could begin in.
    if namer.reason.is_of_settings() && home.is_none() && !path.starts_with('/') {
        return Err(RELATIVE);
    }
    let names: Vec<&str> = path.split('/').collect();
    let is_file = |path: &Path| namer.files.is_file(path) && !namer.files.is_link(path);
    let mut first = first_wildcard(&names, base, &namer.files);
    if names.iter().skip(first).any(|name| *name == "..") {
        return Err("has `..` behind a wildcard, which is not allowed");
    }
    let whole = discover::normalize_lexically(&base.join(path));
    let is_whole_file = first == names.len() && is_file(&whole);
    if is_whole_file {
        first -= 1;
    }
    let literal = names.get(..first).unwrap_or_default().join("/");
    let literal = if path.starts_with('/') && literal.is_empty() { "/".to_owned() } else { literal };
    let pattern = names.get(first..).filter(|rest| !rest.is_empty()).map(|rest| rest.join("/"));
    // The name of a file that exists means this file alone.
    let literal_pattern = |name: String| globset::escape(&name).replace('\\', "\\\\");
    let pattern = if is_whole_file { pattern.map(literal_pattern) } else { pattern };
    Ok(SplitPath { literal: discover::normalize_lexically(&base.join(literal)), pattern })
}

/// Returns the index of the first name of a path with a wildcard; the number of names if there is none. Brackets and braces
/// in the name of a folder or file that exists are none.
fn first_wildcard(names: &[&str], base: &Path, files: &FileTree) -> usize {
    let is_there = |index: usize| {
        let path = names.get(..=index).map(|names| base.join(names.join("/")));
        path.is_some_and(|path| if index + 1 == names.len() { files.exists(&path) } else { files.is_dir(&path) })
    };
    let is_wildcard =
        |index: usize, name: &str| name.contains(['*', '?']) || (name.contains(['[', '{']) && !is_there(index));
    names.iter().enumerate().position(|(index, name)| is_wildcard(index, name)).unwrap_or(names.len())
}

pub(super) fn compile(pattern: &str) -> Option<GlobMatcher> {
    Some(GlobBuilder::new(pattern).literal_separator(true).build().ok()?.compile_matcher())
}

/// Returns the folders that a pattern matches name by name, sorted; hidden ones only if the pattern names them. `None` for
/// a pattern that is not valid.
pub(super) fn expand(dir: &DirHandle, pattern: &str) -> Option<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    for name in pattern.split('/').filter(|name| !name.is_empty() && *name != ".") {
        if name.contains("**") {
            return None;
        }
        let (matcher, mut next) = (compile(name)?, Vec::new());
        for path in &found {
            let below = if path.as_os_str().is_empty() { None } else { dir.folder(path).ok() };
            let handle = if path.as_os_str().is_empty() { Some(dir) } else { below.as_ref() };
            for entry in handle.and_then(|handle| handle.entries().ok()).into_iter().flatten().flatten() {
                let is_hidden = entry.name.as_encoded_bytes().starts_with(b".") && !name.starts_with('.');
                if entry.kind == FileType::Folder && !is_hidden && matcher.is_match(&entry.name) {
                    next.push(path.join(&entry.name));
                }
            }
        }
        next.sort_unstable();
        next.truncate(MAX_EXPANDED);
        found = next;
    }
    Some(found)
}

/// Returns the name of a collection without one: that of its folder, or `files` for the folder that contains the store.
pub(super) fn own_name(folder: &Path, base: &Path) -> String {
    let named = folder.components().next_back().filter(|_| folder != base);
    match named {
        Some(Component::Normal(name)) => name.to_string_lossy().into_owned(),
        _ => "files".to_owned(),
    }
}

/// Returns the name that the store of a folder has in the folders below it.
pub(super) fn parent_store_name(folder: &Path, repository: &Path) -> String {
    if folder == repository {
        return "root".to_owned();
    }
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Replaces what a name can't contain.
pub(super) fn valid_name(name: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let name: String = name.chars().take(60).map(valid).collect();
    let name = name.trim_start_matches(['-', '.']);
    if name.is_empty() { "files".to_owned() } else { name.to_owned() }
}
