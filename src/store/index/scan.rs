//! The scan for the notes of a store: lists the files and takes the stat of each.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::Scope;
use rayon::prelude::*;

use super::dir_cache::{CachedDir, DirCache, DirListing, VisitedDir};
use super::file_table::FileCursor;
use crate::codec::sort_key::sort_key;
use crate::error::{Error, ErrorKind};
use crate::note::NOTE_FOLDERS;
use crate::store::fs::dir_handle::{DirEntry, DirHandle, FileType, is_unreadable};
use crate::store::fs::skipped::{FILE_UNREADABLE, FOLDER_UNREADABLE, IgnoredEntry};
use crate::store::fs::stat::{DirStat, FileEntry, FileStat};

#[derive(Debug, Default)]
pub(in crate::store) struct Scanned {
    /// The files of notes, sorted by the bytes of their paths.
    pub(crate) files: Vec<FileEntry>,
    pub(crate) dirs: Vec<VisitedDir>,
    /// The directories and files that can't be read, in no order.
    pub(crate) unreadable: Vec<IgnoredEntry>,
}

/// Lists the notes in a store's folders, with their stats. Hidden files, symbolic links and unchanged directories of
/// `cache` are not listed. The path of a file whose name is not UTF-8 has replacement characters. Stats that are not taken
/// now are taken when the files are read: by then some may have been removed, or turn out not to be regular files.
///
/// # Errors
/// `Store` if one of the folders can't be listed.
pub(crate) fn notes(root: &DirHandle, cache: Option<&DirCache<'_>>, takes_stats: bool) -> Result<Scanned, Error> {
    let (mut listed, mut visited, mut unchanged) = (Vec::new(), Vec::new(), BTreeMap::new());
    let unreadable = Mutex::default();
    for folder in NOTE_FOLDERS {
        let queue =
            StatQueue { takes_stats, unreadable: &unreadable, done: Mutex::default(), waiting: AtomicUsize::new(0) };
        // Stats are taken while other directories are still being listed.
        rayon::scope(|scope| {
            let (visited, unchanged) = (&mut visited, &mut unchanged);
            DirWalk { root, cache, visited, unchanged, queue: &queue, scope }.walk_folder(folder)
        })?;
        let sorted = sorted(queue.done.into_inner().unwrap_or_else(PoisonError::into_inner));
        // Most stores have one large folder.
        if listed.is_empty() { listed = sorted } else { listed.extend(sorted) }
    }
    let files = match cache {
        Some(cache) if !unchanged.is_empty() => with_unchanged(root, listed, cache, &unchanged, &unreadable),
        _ => listed,
    };
    let unreadable = unreadable.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Scanned { files, dirs: visited, unreadable })
}

/// Adds the files of unchanged directories to those that were listed, sorted by path.
fn with_unchanged(
    root: &DirHandle,
    listed: Vec<FileEntry>,
    cache: &DirCache<'_>,
    unchanged: &UnchangedDirs<'_>,
    unreadable: &Unreadable,
) -> Vec<FileEntry> {
    let stat = |files| stat_indexed(root, files, unchanged, unreadable);
    let indexed: Vec<Vec<FileEntry>> = cache.index.parallel_files().map(stat).collect();
    let added: Vec<Vec<FileEntry>> = unchanged.par_iter().map(|(_, dir)| stat_added(root, dir, unreadable)).collect();
    let mut all = Vec::with_capacity(indexed.iter().chain(&added).map(Vec::len).sum::<usize>() + listed.len());
    all.extend(indexed.into_iter().flatten());
    let sorted = all.len();
    all.extend(listed.into_iter().chain(added.into_iter().flatten()));
    if all.len() > sorted {
        // A stable sort takes linear time where most is in order.
        all.sort_by(|left, right| left.order().cmp(&right.order()));
        all.dedup_by(|left, right| left.order() == right.order());
    }
    all
}

/// Unreadable files and directories, collected by several threads.
pub(in crate::store) type Unreadable = Mutex<Vec<IgnoredEntry>>;

pub(in crate::store) fn add_unreadable(unreadable: &Unreadable, path: &str, reason: &'static str) {
    unreadable.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), reason));
}

/// The longest path that can be opened, in bytes: `PATH_MAX` of Linux without the NUL.
const MAX_PATH: usize = 4095;

/// The number of files in a batch of the queue.
const BATCH: usize = 512;

/// The most batches that wait; beyond it the thread that lists takes the stats itself.
const MAX_WAITING: usize = 16;

/// A work queue of stats: the files of directories in batches.
struct StatQueue<'a> {
    /// Whether stats are taken; else the files are only listed.
    takes_stats: bool,
    unreadable: &'a Unreadable,
    done: Mutex<Vec<Vec<FileEntry>>>,
    waiting: AtomicUsize,
}

impl StatQueue<'_> {
    /// Takes the stats of files of a directory: in another thread, or at once if too many batches wait.
    fn push<'scope>(&'scope self, scope: &Scope<'scope>, dir: &Arc<OpenDir>, files: Vec<(OsString, String)>) {
        let dir = Arc::clone(dir);
        let work = move || {
            let entries = stat_listed(&dir, files, self.takes_stats, self.unreadable);
            self.done.lock().unwrap_or_else(PoisonError::into_inner).push(entries);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        };
        // A waiting batch takes more memory than its result, and an open directory.
        let can_wait = self.waiting.fetch_add(1, Ordering::Relaxed) < MAX_WAITING;
        if can_wait { scope.spawn(move |_| work()) } else { work() }
    }
}

/// Sorts files by path. The eight bytes behind the common prefix decide most comparisons, and are one integer.
pub(super) fn sorted(batches: Vec<Vec<FileEntry>>) -> Vec<FileEntry> {
    let all = || batches.iter().flatten();
    let first = all().next().map(|entry| entry.path.as_bytes()).unwrap_or_default();
    let common = |entry: &FileEntry| first.iter().zip(entry.path.as_bytes()).take_while(|(a, b)| a == b).count();
    let common = all().map(common).min().unwrap_or_default();
    let key = |entry: &FileEntry| sort_key(entry.path.as_bytes().get(common..).unwrap_or_default());
    let mut keyed: Vec<(u64, FileEntry)> = Vec::with_capacity(batches.iter().map(Vec::len).sum());
    keyed.extend(batches.into_iter().flatten().map(|entry| (key(&entry), entry)));
    keyed.par_sort_unstable_by(|(a, left), (b, right)| a.cmp(b).then_with(|| left.order().cmp(&right.order())));
    keyed.into_iter().map(|(_, entry)| entry).collect()
}

/// A directory that is being listed.
struct OpenDir {
    path: PathBuf,
    handle: DirHandle,
}

/// Makes entries of listed files. If stats are taken, files that were removed meanwhile or are not regular are skipped.
fn stat_listed(
    dir: &OpenDir,
    files: Vec<(OsString, String)>,
    takes_stats: bool,
    unreadable: &Unreadable,
) -> Vec<FileEntry> {
    let entry = |(name, path): (OsString, String)| {
        let stat = if takes_stats { stat(&dir.handle, &name, &path, unreadable)? } else { FileStat::default() };
        let real_path = may_differ_from_real(&path).then(|| dir.path.join(name).into());
        Some(FileEntry { path: path.into(), real_path, stat, slot: None })
    };
    files.into_iter().filter_map(entry).collect()
}

/// Returns the stat of a file; `None` if it was removed, is not a regular file, or its stat can't be taken.
fn stat(dir: &DirHandle, name: &OsStr, path: &str, unreadable: &Unreadable) -> Option<FileStat> {
    dir.file_stat(name).unwrap_or_else(|error| {
        if is_unreadable(&error) {
            add_unreadable(unreadable, path, FILE_UNREADABLE);
        }
        None
    })
}

/// Whether a path may differ from the real one, which may not be UTF-8.
pub(super) fn may_differ_from_real(path: &str) -> bool {
    !path.is_ascii() && path.contains(char::REPLACEMENT_CHARACTER)
}

/// Unchanged directories, by path.
type UnchangedDirs<'a> = BTreeMap<&'a str, &'a CachedDir>;

/// Takes the stats of files of the index that are in unchanged directories; removed ones are skipped.
fn stat_indexed(
    root: &DirHandle,
    mut files: FileCursor<'_>,
    unchanged: &UnchangedDirs<'_>,
    unreadable: &Unreadable,
) -> Vec<FileEntry> {
    let (mut all, mut current, mut opened) = (Vec::with_capacity(BATCH), String::new(), None);
    while files.step().is_some() {
        let (dir, name) = files.path.rsplit_once('/').unwrap_or_default();
        if dir != current {
            dir.clone_into(&mut current);
            let open = |cached| Some((cached, root.folder(Path::new(dir)).ok()?));
            opened = unchanged.get(dir).and_then(open);
        }
        let Some((_, handle)) = opened.as_ref().filter(|(cached, _)| cached.contains(files.slot())) else { continue };
        if let Some(stat) = stat(handle, name.as_ref(), &files.path, unreadable) {
            let path = files.path.as_str().into();
            all.push(FileEntry { path, real_path: None, stat, slot: Some(files.slot()) });
        }
    }
    all
}

/// Takes the stats of files of an unchanged directory that the index does not have.
fn stat_added(root: &DirHandle, dir: &CachedDir, unreadable: &Unreadable) -> Vec<FileEntry> {
    if dir.added.is_empty() {
        return Vec::new();
    }
    let path = PathBuf::from(&dir.path);
    let Ok(handle) = root.folder(&path) else { return Vec::new() };
    let files = dir.added.iter().map(|name| (name.into(), format!("{}/{name}", dir.path)));
    stat_listed(&OpenDir { path, handle }, files.collect(), true, unreadable)
}

/// A directory to visit: its real path, and its path as it is shown.
type WaitingDir = (PathBuf, String);

/// A walk over one of the store's folders.
struct DirWalk<'w, 'm, 'scope> {
    root: &'scope DirHandle,
    cache: Option<&'m DirCache<'m>>,
    visited: &'w mut Vec<VisitedDir>,
    /// Those of them that are cached and unchanged.
    unchanged: &'w mut UnchangedDirs<'m>,
    queue: &'scope StatQueue<'scope>,
    scope: &'w Scope<'scope>,
}

impl<'scope> DirWalk<'_, '_, 'scope> {
    fn walk_folder(&mut self, folder: &str) -> Result<(), Error> {
        let walked = match self.root.stat(folder.as_ref()) {
            Ok((FileType::Folder, _)) => self.walk(Path::new(folder), folder),
            Err(error) if is_unreadable(&error) => Err(error),
            Ok(_) | Err(_) => return Ok(()),
        };
        walked.map_err(|error| Error::new(ErrorKind::Store, format!("{folder}/ in the store can't be read: {error}")))
    }

    /// Visits a directory and those below it, to any depth.
    fn walk(&mut self, real_path: &Path, path: &str) -> std::io::Result<()> {
        let mut waiting = vec![(real_path.to_path_buf(), path.to_owned())];
        let mut is_first = true;
        while let Some((real_path, path)) = waiting.pop() {
            let cached = self.visit_cached(&real_path, &path);
            match cached.map_or_else(|| self.list(real_path, path.clone()), Ok) {
                Ok(dirs) => waiting.extend(dirs),
                Err(error) if is_first => return Err(error),
                Err(error) if is_unreadable(&error) => {
                    add_unreadable(self.queue.unreadable, &path, FOLDER_UNREADABLE);
                }
                Err(_) => {}
            }
            is_first = false;
        }
        Ok(())
    }

    /// Visits a directory that is cached and unchanged. Returns the directories in it.
    fn visit_cached(&mut self, real_path: &Path, path: &str) -> Option<Vec<WaitingDir>> {
        let cached = self.cache?.get_if_unchanged(path, real_path)?;
        let dirs = cached.dirs.iter().map(|name| (real_path.join(name), format!("{path}/{name}")));
        self.visited.push(VisitedDir { path: path.to_owned(), is_cached: true, listing: None });
        self.unchanged.insert(&cached.path, cached);
        Some(dirs.collect())
    }

    /// Lists a directory and queues its notes. Returns the directories in it.
    fn list(&mut self, real_path: PathBuf, path: String) -> std::io::Result<Vec<WaitingDir>> {
        self.cache.into_iter().for_each(DirCache::begin_listing);
        let dir = Arc::new(OpenDir { handle: self.root.folder(&real_path)?, path: real_path });
        let before = dir.handle.dir_stat();
        let mut listed = ListedDir { can_cache: !may_differ_from_real(&path), ..ListedDir::default() };
        for entry in dir.handle.entries()? {
            match entry {
                Ok(entry) => listed.add(entry, &dir.path, &path, self.queue.unreadable),
                Err(_) => {
                    listed.can_cache = false;
                    add_unreadable(self.queue.unreadable, &path, FOLDER_UNREADABLE);
                }
            }
            if listed.files.len() == BATCH {
                let batch = std::mem::replace(&mut listed.files, Vec::with_capacity(BATCH));
                self.queue.push(self.scope, &dir, batch);
            }
        }
        let ListedDir { dirs, files, notes, can_cache } = listed;
        if !files.is_empty() {
            self.queue.push(self.scope, &dir, files);
        }
        let is_recognisable = |stat: &DirStat| self.cache.is_some_and(|cache| cache.can_cache(&dir.handle, *stat));
        let listing = before.filter(|stat| can_cache && is_recognisable(stat)).map(|stat| {
            let mut names: Vec<String> =
                dirs.iter().filter_map(|(_, path)| Some(path.rsplit_once('/')?.1.to_owned())).collect();
            names.sort_unstable();
            DirListing { stat, dirs: names, notes }
        });
        self.visited.push(VisitedDir { path, is_cached: false, listing });
        Ok(dirs)
    }
}

/// The content of a directory while it is being listed.
#[derive(Default)]
struct ListedDir {
    dirs: Vec<WaitingDir>,
    /// The notes that are not queued yet: names and paths.
    files: Vec<(OsString, String)>,
    /// The number of all notes.
    notes: usize,
    /// Whether each entry could be read and has a name and a type that the cache can represent.
    can_cache: bool,
}

impl ListedDir {
    /// Adds an entry of the directory if it is a directory or a note.
    fn add(&mut self, entry: DirEntry, real_dir: &Path, dir: &str, unreadable: &Unreadable) {
        let DirEntry { name, kind, has_file_type } = entry;
        let is_note = kind == FileType::File && name.as_encoded_bytes().ends_with(b".md");
        if name.as_encoded_bytes().starts_with(b".") || (!is_note && kind != FileType::Folder) {
            return;
        }
        let shown = name.to_string_lossy();
        // The exact capacity makes the later conversion into a boxed path free.
        let mut path = String::with_capacity(dir.len() + 1 + shown.len());
        [dir, "/", &shown].into_iter().for_each(|part| path.push_str(part));
        self.can_cache &= has_file_type && !may_differ_from_real(&shown);
        if !is_note {
            self.dirs.push((real_dir.join(&name), path));
        } else if real_dir.as_os_str().len() + 1 + name.len() > MAX_PATH {
            self.can_cache = false;
            add_unreadable(unreadable, &path, FILE_UNREADABLE);
        } else {
            self.notes += 1;
            self.files.push((name, path));
        }
    }
}
