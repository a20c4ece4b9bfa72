//! What the folders of a store held when they were listed last, kept beside the index: a folder that
//! looks as it did is not listed again, which is half of what it costs to look at its files.
//!
//! A folder's own moments change when a file in it is made, removed or renamed, not when one is
//! written to. Not every file system keeps to that: see [`tells_of_changes`].

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;

use rayon::iter::IndexedParallelIterator;
use serde::{Deserialize, Serialize};

use super::beside;
use super::index::{self, Index};
use super::scan::{Found, Look};

/// How this file is written; another number where that changes.
const KEPT: &str = "folders 1";

/// What a folder held: what the index says, and what is otherwise.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Held {
    /// The path in the store, with `/` between names.
    pub(super) path: String,
    look: Look,
    /// The names of the folders in it.
    pub(super) folders: Vec<String>,
    /// The names of files that the index does not have. Those that it has and that are gone are not found.
    pub(super) added: Vec<String>,
}

/// A folder that was come by.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) path: String,
    /// Whether it looks as it did, and was not listed.
    pub(super) is_held: bool,
    /// How it looked before it was listed, and the folders in it, where it can be known again.
    pub(super) listed: Option<(Look, Vec<String>)>,
}

/// What is known of the folders of a store.
pub(super) struct Memory<'a> {
    root: &'a Path,
    index: &'a Index,
    /// In the order of their paths.
    folders: Vec<Held>,
    /// The moment before the first folder was listed.
    moment: OnceLock<Option<i64>>,
}

impl<'a> Memory<'a> {
    /// Reads what is kept beside an index.
    pub(super) fn of(root: &'a Path, index: &'a Index) -> Self {
        let read = || postcard::from_bytes(&index.beside(beside::FOLDERS).read(KEPT)?).ok();
        let mut folders: Vec<Held> = read().unwrap_or_default();
        // Whoever wrote it, it names nothing outside of the store.
        folders.retain(|held| held.folders.iter().chain(&held.added).all(|name| is_plain(name)));
        Self { root, index, folders, moment: OnceLock::new() }
    }

    /// Returns what a folder holds, where it looks as it did.
    pub(super) fn held(&self, path: &str, look: Look) -> Option<&Held> {
        let at = self.folders.binary_search_by(|held| held.path.as_str().cmp(path)).ok()?;
        self.folders.get(at).filter(|held| held.look == look)
    }

    /// Goes through the files that the index has, many at once.
    pub(super) fn parts_of_files(&self) -> impl IndexedParallelIterator<Item = index::Files<'_>> {
        self.index.parts_of_files()
    }

    /// To be said before a folder is looked at that will be listed.
    pub(super) fn begin(&self) {
        self.moment.get_or_init(|| index::now(self.root));
    }

    /// Tells whether a folder that was listed can be known by how it looked before: whatever happens to it from
    /// then on leaves it looking otherwise.
    pub(super) fn is_settled(&self, folder: &Path, look: Look) -> bool {
        let begun = self.moment.get().copied().flatten();
        let is_old = |begun: i64| look.latest().saturating_add(index::tick_at(begun)) < begun;
        begun.is_some_and(is_old) && tells_of_changes(folder)
    }

    /// Keeps what folders held that were listed just now; all that was found are `files`. Nothing depends on
    /// whether it works out.
    pub(super) fn keep(self, seen: Vec<Seen>, files: &[Found]) {
        if seen.iter().all(|seen| seen.listed.is_none()) {
            return;
        }
        // What is known of folders that are gone is of no use any more.
        let as_before = seen.iter().filter(|seen| seen.is_held).map(|seen| seen.path.as_str());
        let as_before: HashSet<&str> = as_before.collect();
        let mut folders = self.folders;
        folders.retain(|held| as_before.contains(held.path.as_str()));
        folders.extend(held_now(seen, files, self.index.files()));
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        self.index.beside(beside::FOLDERS).write(KEPT, || postcard::to_allocvec(&folders).ok());
    }
}

/// Says what the folders hold that were listed, and an index does not have.
fn held_now(seen: Vec<Seen>, files: &[Found], mut index: index::Files<'_>) -> Vec<Held> {
    let mut new: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut is_kept = index.step().is_some();
    for found in files {
        while is_kept && *index.path < *found.path {
            is_kept = index.step().is_some();
        }
        if let Some((folder, name)) = parent(&found.path).filter(|_| !is_kept || *index.path != *found.path) {
            new.entry(folder).or_default().push(name.to_owned());
        }
    }
    let held = |Seen { path, listed, .. }| {
        let (look, folders) = listed?;
        Some(Held { added: new.remove(path.as_str()).unwrap_or_default(), path, look, folders })
    };
    seen.into_iter().filter_map(held).collect()
}

/// Splits a path into its folder and its name.
pub(super) fn parent(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once('/')
}

/// Tells whether something is the name of a note or of a folder of notes, and of nothing else.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// Tells whether a folder is on a file system of which it is known that a folder's moments change
/// whenever something in it is made, removed or renamed, and at once: on others it is listed each time.
#[cfg(target_os = "linux")]
fn tells_of_changes(folder: &Path) -> bool {
    /// The numbers of `linux/magic.h`: ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS, bcachefs.
    const KNOWN: [u32; 8] =
        [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];
    rustix::fs::statfs(folder).is_ok_and(|found| KNOWN.contains(&(found.f_type as u32)))
}

/// Tells whether a folder can be known by its moments: on other systems nobody has tried it yet.
#[cfg(not(target_os = "linux"))]
fn tells_of_changes(_: &Path) -> bool {
    false
}
