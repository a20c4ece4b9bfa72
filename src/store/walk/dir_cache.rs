//! What the folders of a store held when they were listed last, kept beside the index: a folder that
//! looks as it did is not listed again, which is half of what it costs to look at its files.
//!
//! A folder's own moments change when a file in it is made, removed or renamed, not when one is
//! written to. Not every file system keeps to that: see [`DirHandle::has_reliable_mtime`].

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rayon::iter::IndexedParallelIterator;
use serde::{Deserialize, Serialize};

use super::dir_handle::DirHandle;
use super::index::{self, Index};
use super::scan::{DirStat, FileEntry};
use super::sidecar;

/// How this file is written; another number where that changes.
const KEPT: &str = "folders 2";

/// What a folder held: what the index says, and what is otherwise.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CachedDir {
    /// The path in the store, with `/` between names.
    pub(super) path: String,
    look: DirStat,
    /// The names of the folders in it, in order.
    pub(super) folders: Vec<String>,
    /// The names of files that the index does not have, in order; and the places in the index of those that are
    /// gone. A file system may find one of these all the same, by another name that means the same there.
    pub(super) added: Vec<String>,
    gone: Vec<u32>,
}

impl CachedDir {
    /// Tells whether a file that the index has in this folder is there.
    pub(super) fn has(&self, place: usize) -> bool {
        u32::try_from(place).is_ok_and(|place| self.gone.binary_search(&place).is_err())
    }

    /// Tells whether it names what can be in a folder and nothing else, each once: whoever wrote it.
    fn is_sound(&self) -> bool {
        let in_order = |names: &[String]| names.is_sorted_by(|a, b| a < b);
        let is_plain = |name: &String| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        in_order(&self.folders)
            && in_order(&self.added)
            && self.folders.iter().chain(&self.added).all(is_plain)
            && self.added.iter().all(|name| name.ends_with(".md"))
    }
}

/// A folder that was come by.
#[derive(Debug)]
pub(super) struct VisitedDir {
    pub(super) path: String,
    /// Whether it looks as it did, and was not listed.
    pub(super) is_held: bool,
    /// What it was like, where it was listed and can be known again.
    pub(super) listed: Option<DirListing>,
}

/// A folder that was listed.
#[derive(Debug)]
pub(super) struct DirListing {
    /// How it looked before.
    pub(super) look: DirStat,
    /// The names of the folders in it, in order.
    pub(super) folders: Vec<String>,
    /// How many notes there are in it.
    pub(super) notes: usize,
}

/// The directory cache: the stats of directories, so that an unchanged one is not listed again.
pub(super) struct DirCache<'a> {
    root: &'a Arc<DirHandle>,
    index: &'a Index,
    /// In the order of their paths.
    folders: Vec<CachedDir>,
    /// The moment before the first folder was listed.
    moment: OnceLock<Option<i64>>,
}

impl<'a> DirCache<'a> {
    /// Reads what is kept beside an index.
    pub(super) fn of(root: &'a Arc<DirHandle>, index: &'a Index) -> Self {
        let read = || postcard::from_bytes(&index.beside(sidecar::FOLDERS).read(KEPT)?).ok();
        let mut folders: Vec<CachedDir> = read().unwrap_or_default();
        folders.retain(CachedDir::is_sound);
        Self { root, index, folders, moment: OnceLock::new() }
    }

    /// Returns what a folder holds, where it looks as it did.
    pub(super) fn held(&self, path: &str, folder: &Path) -> Option<&CachedDir> {
        let at = self.folders.binary_search_by(|held| held.path.as_str().cmp(path)).ok()?;
        let look = self.root.folder(folder).ok()?.own_look()?;
        self.folders.get(at).filter(|held| held.look == look)
    }

    /// Goes through the files that the index has, many at once.
    pub(super) fn parts_of_files(&self) -> impl IndexedParallelIterator<Item = index::FileCursor<'_>> {
        self.index.parts_of_files()
    }

    /// To be said before a folder is looked at that will be listed.
    pub(super) fn begin(&self) {
        self.moment.get_or_init(|| self.root.moment().ok());
    }

    /// Tells whether a folder that was listed can be known by how it looked before: whatever happens to it from
    /// then on leaves it looking otherwise.
    pub(super) fn is_settled(&self, folder: &DirHandle, before: DirStat) -> bool {
        let begun = self.moment.get().copied().flatten();
        begun.is_some_and(|begun| index::racy_until(before.look, begun, 0) < begun) && folder.has_reliable_mtime()
    }

    /// Keeps what folders held that were listed just now; all that was found are `files`. Nothing depends on
    /// whether it works out.
    pub(super) fn keep(self, seen: Vec<VisitedDir>, files: &[FileEntry]) {
        if seen.iter().all(|seen| seen.listed.is_none()) {
            return;
        }
        let as_before: HashSet<String> =
            seen.iter().filter(|seen| seen.is_held).map(|seen| seen.path.clone()).collect();
        let held = held_now(seen, files, self.index.files());
        if held.is_empty() {
            return;
        }
        // What is known of folders that are gone is of no use any more.
        let mut folders = self.folders;
        folders.retain(|held| as_before.contains(&held.path));
        folders.extend(held);
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        self.index.beside(sidecar::FOLDERS).write(KEPT, || postcard::to_allocvec(&folders).ok());
    }
}

/// Says in what the folders that were listed differ from an index. One of which not all notes could be looked at
/// is left out.
fn held_now(seen: Vec<VisitedDir>, files: &[FileEntry], mut index: index::FileCursor<'_>) -> Vec<CachedDir> {
    let mut all: BTreeMap<String, (CachedDir, usize)> = BTreeMap::new();
    for VisitedDir { path, listed, .. } in seen {
        let Some(DirListing { look, folders, notes }) = listed else { continue };
        all.insert(path.clone(), (CachedDir { path, look, folders, added: Vec::new(), gone: Vec::new() }, notes));
    }
    let mut new: HashSet<&str> = files.iter().map(|found| &*found.path).collect();
    while index.step().is_some() {
        let is_there = new.remove(index.path.as_str());
        let folder = parent(&index.path).filter(|_| !is_there).and_then(|(folder, _)| all.get_mut(folder));
        if let (Some((held, _)), Ok(place)) = (folder, u32::try_from(index.place - 1)) {
            held.gone.push(place);
        }
    }
    for found in files {
        let Some((folder, name)) = parent(&found.path) else { continue };
        if let Some((held, missing)) = all.get_mut(folder) {
            *missing = missing.wrapping_sub(1);
            held.added.extend(new.contains(&*found.path).then(|| name.to_owned()));
        }
    }
    all.into_values().filter(|(_, missing)| *missing == 0).map(|(held, _)| held).collect()
}

/// Splits a path into its folder and its name.
pub(super) fn parent(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(folders: &[&str], added: &[&str]) -> CachedDir {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let look = DirStat { look: super::super::scan::FileStat::default(), device: 0 };
        CachedDir { path: "notes".into(), look, folders: names(folders), added: names(added), gone: vec![2, 7] }
    }

    #[test]
    fn only_names_of_what_can_be_in_a_folder_are_taken() {
        assert!(held(&["a", "b.md"], &["a.md", "a\\b.md", "b.md"]).is_sound());
        for name in ["", ".", "..", ".hidden", "a/b", "/etc", "a\0b"] {
            assert!(!held(&[name], &[]).is_sound(), "{name}");
            assert!(!held(&[], &[name]).is_sound(), "{name}");
        }
        for names in [["a", "a"], ["b", "a"]] {
            assert!(!held(&names, &[]).is_sound());
            assert!(!held(&[], &names.map(|name| format!("{name}.md")).each_ref().map(String::as_str)).is_sound());
        }
        assert!(!held(&[], &["readme.txt"]).is_sound());
    }

    #[test]
    fn what_is_gone_is_not_there() {
        let held = held(&[], &[]);
        assert_eq!([1, 2, 6, 7, 8].map(|place| held.has(place)), [true, false, true, false, true]);
    }
}
