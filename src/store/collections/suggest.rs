//! The folders of markdown in a project that are probably worth reading in place.

use std::path::Path;
use std::sync::Arc;

use super::discover::{Location, project_root};
use super::find::find_collections;
use super::guessed_dialect::vault_dialect;
use crate::note::Dialect;
use crate::store::fs::dir_handle::{DirHandle, FileType};
use crate::store::fs::file_tree::FileTree;
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
