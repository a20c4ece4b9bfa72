//! The directory cache: the stats of directories, with their content as a delta against the index, in a sidecar file. An
//! unchanged directory is not listed again, which is half of the cost of the walk over its files.
//!
//! The times of a directory change when a file in it is created, removed or renamed, not when one is written to. Not
//! every file system updates them reliably: see [`DirHandle::has_reliable_mtime`].

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::file_table::FileCursor;
use super::{Index, racy_timestamps, sidecar};
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::stat::{DirStat, FileEntry};

/// The switch of the cache. Without it every directory is listed by every command.
const IS_ENABLED: bool = true;

/// The key of the sidecar file, with the version of its format.
const CACHE_KEY: &str = "folders 2";

/// A cached directory: its stat, and its content as a delta against the index.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CachedDir {
    /// The path in the store, with `/` between names.
    pub(crate) path: String,
    stat: DirStat,
    /// The names of the directories in it, sorted.
    pub(crate) dirs: Vec<String>,
    /// The names of files that the index does not have, sorted.
    pub(in crate::store) added: Vec<String>,
    /// The slots of files that only the index has, ascending; a file system that folds names may open one of these.
    removed: Vec<u32>,
}

impl CachedDir {
    /// Whether the file with a slot of the index, which is in this directory there, still exists.
    pub(crate) fn contains(&self, slot: usize) -> bool {
        u32::try_from(slot).is_ok_and(|slot| self.removed.binary_search(&slot).is_err())
    }

    /// Whether the names can be in a directory and are sorted and unique. The file may come with a repository.
    fn has_plain_names(&self) -> bool {
        let in_order = |names: &[String]| names.is_sorted_by(|a, b| a < b);
        let is_plain = |name: &String| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        in_order(&self.dirs)
            && in_order(&self.added)
            && self.dirs.iter().chain(&self.added).all(is_plain)
            && self.added.iter().all(|name| name.ends_with(".md"))
    }
}

/// A directory that the walk visited.
#[derive(Debug)]
pub(in crate::store) struct VisitedDir {
    pub(crate) path: String,
    /// Whether its stat equals the cached one, so that it was not listed.
    pub(in crate::store) is_cached: bool,
    /// Its content, if it was listed and can be cached.
    pub(super) listing: Option<DirListing>,
}

/// The content of a directory that was listed.
#[derive(Debug)]
pub(super) struct DirListing {
    /// The stat from before the listing.
    pub(in crate::store) stat: DirStat,
    /// The names of the directories in it, sorted.
    pub(crate) dirs: Vec<String>,
    pub(crate) notes: usize,
}

pub(in crate::store) struct DirCache<'a> {
    root: &'a Arc<DirHandle>,
    pub(super) index: &'a Index,
    /// Sorted by path.
    dirs: Vec<CachedDir>,
    /// The time of the file system before the first directory was listed, in nanoseconds.
    begun: OnceLock<Option<i64>>,
}

impl<'a> DirCache<'a> {
    /// Reads the cache of an index; `None` if the cache is switched off.
    pub(crate) fn open(root: &'a Arc<DirHandle>, index: &'a Index) -> Option<Self> {
        let read = || postcard::from_bytes(&index.sidecar(sidecar::FOLDERS).read(CACHE_KEY)?).ok();
        IS_ENABLED.then(|| {
            let mut dirs: Vec<CachedDir> = read().unwrap_or_default();
            dirs.retain(CachedDir::has_plain_names);
            Self { root, index, dirs, begun: OnceLock::new() }
        })
    }

    /// Returns a cached directory whose stat has not changed. One stat of the directory.
    pub(super) fn get_if_unchanged(&self, path: &str, real_path: &Path) -> Option<&CachedDir> {
        let position = self.dirs.binary_search_by(|dir| dir.path.as_str().cmp(path)).ok()?;
        let stat = self.root.folder(real_path).ok()?.dir_stat()?;
        self.dirs.get(position).filter(|dir| dir.stat == stat)
    }

    /// Notes the time before a directory is listed; to be called before its stat is taken.
    pub(super) fn begin_listing(&self) {
        self.begun.get_or_init(|| self.root.now().ok());
    }

    /// Whether a listed directory can be recognised by its stat from before the listing: any later change alters it.
    pub(super) fn can_cache(&self, dir: &DirHandle, before: DirStat) -> bool {
        let begun = self.begun.get().copied().flatten();
        begun.is_some_and(|begun| racy_timestamps::racy_until(before.stat, begun, 0) < begun)
            && dir.has_reliable_mtime()
    }

    /// Writes the directories that were listed to the cache and drops those that no longer exist. `files` are all files
    /// that the walk found. Failures are ignored: the directories are listed again next time.
    pub(crate) fn update(self, visited: Vec<VisitedDir>, files: &[FileEntry]) {
        if visited.iter().all(|dir| dir.listing.is_none()) {
            return;
        }
        let unchanged: HashSet<String> =
            visited.iter().filter(|dir| dir.is_cached).map(|dir| dir.path.clone()).collect();
        let listed = deltas(visited, files, self.index.files());
        if listed.is_empty() {
            return;
        }
        let mut dirs = self.dirs;
        dirs.retain(|dir| unchanged.contains(&dir.path));
        dirs.extend(listed);
        dirs.sort_by(|a, b| a.path.cmp(&b.path));
        self.index.sidecar(sidecar::FOLDERS).write(CACHE_KEY, || postcard::to_allocvec(&dirs).ok());
    }
}

/// Computes, for each listed directory, its delta against the index: names added, slots removed. Directories with an
/// unreadable note are omitted, so that they are listed again next time.
fn deltas(visited: Vec<VisitedDir>, files: &[FileEntry], mut index: FileCursor<'_>) -> Vec<CachedDir> {
    // With the number of notes that `files` lacks.
    let mut all: BTreeMap<String, (CachedDir, usize)> = BTreeMap::new();
    for VisitedDir { path, listing, .. } in visited {
        let Some(DirListing { stat, dirs, notes }) = listing else { continue };
        let dir = CachedDir { path: path.clone(), stat, dirs, added: Vec::new(), removed: Vec::new() };
        all.insert(path, (dir, notes));
    }
    let mut new: HashSet<&str> = files.iter().map(|entry| &*entry.path).collect();
    while index.step().is_some() {
        let is_there = new.remove(index.path.as_str());
        let dir = index.path.rsplit_once('/').filter(|_| !is_there).and_then(|(dir, _)| all.get_mut(dir));
        if let (Some((dir, _)), Ok(slot)) = (dir, u32::try_from(index.slot())) {
            dir.removed.push(slot);
        }
    }
    for entry in files {
        let Some((dir, name)) = entry.path.rsplit_once('/') else { continue };
        if let Some((dir, missing)) = all.get_mut(dir) {
            *missing = missing.wrapping_sub(1);
            dir.added.extend(new.contains(&*entry.path).then(|| name.to_owned()));
        }
    }
    all.into_values().filter(|(_, missing)| *missing == 0).map(|(dir, _)| dir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fs::stat::FileStat;

    fn cached(dirs: &[&str], added: &[&str]) -> CachedDir {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let stat = DirStat { stat: FileStat::default(), device: 0 };
        CachedDir { path: "notes".into(), stat, dirs: names(dirs), added: names(added), removed: vec![2, 7] }
    }

    #[test]
    fn only_names_of_what_can_be_in_a_folder_are_taken() {
        assert!(cached(&["a", "b.md"], &["a.md", "a\\b.md", "b.md"]).has_plain_names());
        for name in ["", ".", "..", ".hidden", "a/b", "/etc", "a\0b"] {
            assert!(!cached(&[name], &[]).has_plain_names(), "{name}");
            assert!(!cached(&[], &[name]).has_plain_names(), "{name}");
        }
        for names in [["a", "a"], ["b", "a"]] {
            assert!(!cached(&names, &[]).has_plain_names());
            assert!(
                !cached(&[], &names.map(|name| format!("{name}.md")).each_ref().map(String::as_str)).has_plain_names()
            );
        }
        assert!(!cached(&[], &["readme.txt"]).has_plain_names());
    }

    #[test]
    fn what_is_gone_is_not_there() {
        let dir = cached(&[], &[]);
        assert_eq!([1, 2, 6, 7, 8].map(|slot| dir.contains(slot)), [true, false, true, false, true]);
    }
}
