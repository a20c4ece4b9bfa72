//! The folders of markdown in a project, and those of the user for it, that are probably worth reading in place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::Config;
use super::discover::{Location, folders_of_project, open_root, project_root};
use super::find::find_collections;
use super::guessed_dialect::vault_dialect;
use super::init::{in_home, shown_settings, toml_string};
use super::user_settings::{self, UserSettings, absolute};
use crate::escape::one_line;
use crate::note::Dialect;
use crate::store::fs::dir_handle::{DirHandle, FileType};
use crate::store::fs::file_tree::FileTree;
use crate::store::git::ref_state;
use crate::store::index::source_scan::{KnownPatterns, SourceRules, patterns_above};

/// The folders by which projects name their documents, and what they contain.
const FOLDERS: [(&str, Dialect); 11] = [
    ("docs/adr", Dialect::Adr),
    ("docs/adrs", Dialect::Adr),
    ("docs/decisions", Dialect::Adr),
    ("docs/architecture/decisions", Dialect::Adr),
    ("doc/adr", Dialect::Adr),
    ("doc/decisions", Dialect::Adr),
    ("adr", Dialect::Adr),
    ("docs", Dialect::Markdown),
    ("doc", Dialect::Markdown),
    ("documentation", Dialect::Markdown),
    ("wiki", Dialect::Markdown),
];

/// A folder of markdown in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedSource {
    /// Its path in the project.
    pub path: String,
    /// For which application its files are written.
    pub dialect: Dialect,
    /// The number of its files that no collection reads, those of other suggested folders in it included.
    pub files: usize,
}

/// Whether the project of a store has commits, and its config does not say whether they are read.
pub fn suggests_commits(store: &Path, location: &Location) -> bool {
    let config = open_root(&location.files, store).and_then(|dir| Config::load(&dir));
    let history = config.map(|config| config.history).unwrap_or_default();
    let is_open = history.commits.is_none() && !history.reads_commits(location.settings.as_deref());
    is_open && location.files.repository_root(store).is_some_and(|root| ref_state::head(root).is_some())
}

/// Lists the folders of markdown in the project of a store: those with usual names, and vaults, that have files which no
/// source reads yet.
pub fn suggested_sources(store: &Path, location: &Location, current_dir: &Path) -> Vec<SuggestedSource> {
    let folder = store.parent().unwrap_or(store);
    let project = if folder.exists() { folder.to_path_buf() } else { project_root(&location.files, folder) };
    // Those of settings have canonical paths.
    let project = project.canonicalize().unwrap_or(project);
    let known = known_sources(location, current_dir);
    let Ok(dir) = DirHandle::new(&project) else { return Vec::new() };
    let vaults = dir.entries().into_iter().flatten().flatten().filter(|entry| entry.kind == FileType::Folder);
    let vaults = vaults.filter_map(|entry| {
        let name = entry.name.to_str().filter(|name| !name.starts_with('.'))?.to_owned();
        let below = dir.folder(Path::new(&name)).ok()?;
        Some((name, vault_dialect(&below)?))
    });
    let mut all: Vec<(String, Dialect)> = vaults.collect();
    all.sort();
    if let Some(dialect) = vault_dialect(&dir) {
        all.insert(0, (".".to_owned(), dialect));
    }
    let is_new = |all: &[(String, Dialect)], name: &str| !all.iter().any(|(known, _)| known == name || known == ".");
    for (name, dialect) in FOLDERS {
        if is_new(&all, name) {
            all.push((name.to_owned(), dialect));
        }
    }
    let suggested = all.into_iter().filter_map(|(path, dialect)| {
        let files = count(&location.files, &project, &dir, &path, &known)?;
        (files > 0).then_some(SuggestedSource { path, dialect, files })
    });
    suggested.collect()
}

/// The lines of the user's settings that make the projects in a folder read another folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedSettings {
    /// The lines, those of one table.
    pub lines: [String; 3],
    /// The path of the file to which they belong, as a shell expands it.
    pub file: String,
}

/// Returns the folder by which the user's settings name the project of a directory in all working trees of its repository.
pub fn main_folder(dir: &Path) -> PathBuf {
    folders_of_project(None, dir).pop().unwrap_or_default()
}

/// Suggests settings that make a project alone read a folder of the user's as documents: `None` if it has no documents, or
/// if something in the project reads them or the user's settings name the folder already.
pub fn suggested_settings(folder: &Path, project: &Path, location: &Location) -> Option<SuggestedSettings> {
    let (settings, home) = (location.settings.as_deref()?, location.home.as_deref());
    let real = folder.canonicalize().ok()?;
    let dir = DirHandle::new(&real).ok()?;
    let user = UserSettings::load(Some(settings)).ok()?;
    let is_real = |path: PathBuf| path.canonicalize().is_ok_and(|path| path == real);
    let mut named = user.all_documents().filter_map(|documents| absolute(Path::new(&documents.table.path), home));
    if named.any(is_real) {
        return None;
    }
    // The project as it is on disk, with all that counts there.
    let Location { settings: files, home: own, data, .. } = location.clone();
    let here = Location { settings: files, home: own, data, ..Location::default() };
    let found = find_collections(&here, project).unwrap_or_default().all;
    if found.iter().any(|one| one.rules.is_none() && real.starts_with(&one.root)) {
        return None;
    }
    let sources: Vec<Arc<SourceRules>> = found.into_iter().filter_map(|one| one.rules).collect();
    count(&here.files, &real, &dir, ".", &sources).filter(|files| *files > 0)?;
    let [path, project] =
        [folder, project].map(|path| Some(toml_string(in_home(path, home).as_deref().unwrap_or(path).to_str()?)));
    let lines = ["[[documents]]".to_owned(), format!("path = {}", path?), format!("for = [{}]", project?)];
    let file = one_line(&shown_settings(settings, home, user_settings::FILE));
    Some(SuggestedSettings { lines, file })
}

/// Returns the sources that settings name; none if the store can't be read.
fn known_sources(location: &Location, current_dir: &Path) -> Vec<Arc<SourceRules>> {
    let found = find_collections(location, current_dir).unwrap_or_default();
    found.all.into_iter().filter_map(|one| one.rules).collect()
}

/// Counts the files of a source that no known one has; `None` without such a folder.
fn count(tree: &FileTree, project: &Path, dir: &DirHandle, path: &str, sources: &[Arc<SourceRules>]) -> Option<usize> {
    let is_project = path == ".";
    let root = if is_project { project.to_path_buf() } else { project.join(path) };
    let below = if is_project { None } else { Some(dir.folder(Path::new(path)).ok()?) };
    let known = &mut KnownPatterns::new();
    let above = tree.repository_root(&root).map(|repository| patterns_above(tree, repository, &root, known));
    let above = above.unwrap_or_default();
    let rules = SourceRules { root, above, before: sources.to_vec(), ..SourceRules::default() };
    Some(rules.scan(below.as_ref().unwrap_or(dir)).ok()?.files.len())
}
