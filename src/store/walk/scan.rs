//! Looks which files of a store are notes, and how each file looks from outside.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::Scope;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::dir_cache::{CachedDir, DirCache, DirListing, VisitedDir, parent};
use super::dir_handle::{DirEntry, DirHandle, FileType, is_unreadable};
use super::index;
use super::{FILE_UNREADABLE, FOLDER_UNREADABLE, NOTE_FOLDERS, PassedOver};
use crate::error::{Error, ErrorKind};

/// A file of a note, with its stat.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct FileEntry {
    /// The path in the store, with `/` between names.
    pub(super) path: Box<str>,
    /// Its real path in the store where that may be another, since it is no UTF-8.
    pub(super) name: Option<Box<Path>>,
    /// How the file looked; nothing of one that was only listed until it is read.
    pub(super) look: FileStat,
    /// Its place in the index, where it was found there.
    pub(super) at: Option<usize>,
}

impl FileEntry {
    /// Returns what files are ordered by.
    fn order(&self) -> (&str, Option<&Path>) {
        (&self.path, self.name.as_deref())
    }

    /// Returns the file's real path in the store.
    pub(super) fn real_path(&self) -> &Path {
        self.name.as_deref().unwrap_or(Path::new(&*self.path))
    }
}

/// The stat of a file, by which a change or replacement is recognised. Times are in nanoseconds of the file system's
/// clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct FileStat {
    pub(super) size: u64,
    /// When the content changed.
    pub(super) modified: i64,
    /// When anything about the file changed; users can't set it.
    changed: i64,
    /// The number of the file: another one took its place where that differs.
    pub(super) number: u64,
}

impl FileStat {
    /// Takes what a file system says of a file.
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let moment = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            size: metadata.len(),
            modified: moment(metadata.mtime(), metadata.mtime_nsec()),
            changed: moment(metadata.ctime(), metadata.ctime_nsec()),
            number: metadata.ino(),
        }
    }

    /// Takes what the kernel says of a plain file.
    #[cfg(unix)]
    #[allow(clippy::unnecessary_cast, reason = "the types differ from machine to machine")]
    pub(super) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        let moment = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            size: stat.st_size as u64,
            modified: moment(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: moment(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            number: stat.st_ino as u64,
        }
    }

    /// Takes what a file system says of a file.
    #[cfg(not(unix))]
    pub(super) fn of(metadata: &Metadata) -> Self {
        let since = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).ok();
        let modified = metadata
            .modified()
            .ok()
            .and_then(since)
            .map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        Self { size: metadata.len(), modified, changed: 0, number: 0 }
    }

    /// Returns the number of the file in its file system.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The later of both moments.
    pub(super) fn latest(&self) -> i64 {
        self.modified.max(self.changed)
    }

    /// Returns it with moments that are counted from another one: smaller numbers take less room.
    pub(super) fn since(self, moment: i64) -> Self {
        let modified = self.modified.wrapping_sub(moment);
        Self { modified, changed: self.changed.wrapping_sub(self.modified), ..self }
    }

    /// Undoes [`FileStat::since`].
    pub(super) fn after(self, moment: i64) -> Self {
        let modified = self.modified.wrapping_add(moment);
        Self { modified, changed: self.changed.wrapping_add(modified), ..self }
    }
}

/// The stat of a directory, by which creating, removing and renaming in it is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DirStat {
    pub(super) look: FileStat,
    /// The number of the file system: another one may be mounted there, of which all else is the same.
    pub(super) device: u64,
}

/// What a scan of a store's folders found.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// The files that are notes, in the order of their paths' bytes.
    pub(super) files: Vec<FileEntry>,
    /// The folders that were come by.
    pub(super) folders: Vec<VisitedDir>,
    /// The folders and files that can't be read, in no order.
    pub(super) unreadable: Vec<PassedOver>,
}

/// Lists the notes under a store's folders, in the order of their paths' bytes. Hidden files and
/// symbolic links are passed over. A file whose name is no UTF-8 is read as the path that it shows.
///
/// # Errors
/// `Store` when one of the folders can't be listed.
pub(super) fn notes(root: &DirHandle) -> Result<Scanned, Error> {
    notes_with(root, None, true)
}

/// The same, but how each looks is asked when it is read: some may be gone by then, or turn out not to be plain files.
///
/// # Errors
/// As [`notes`].
pub(super) fn notes_to_read(root: &DirHandle) -> Result<Scanned, Error> {
    notes_with(root, None, false)
}

/// The same as [`notes`], where folders that look as they did are not listed.
///
/// # Errors
/// As [`notes`].
pub(super) fn notes_known(root: &DirHandle, memory: &DirCache<'_>) -> Result<Scanned, Error> {
    notes_with(root, Some(memory), true)
}

fn notes_with(root: &DirHandle, memory: Option<&DirCache<'_>>, looks: bool) -> Result<Scanned, Error> {
    let (mut listed, mut seen, mut held) = (Vec::new(), Vec::new(), BTreeMap::new());
    let unreadable = Mutex::default();
    for folder in NOTE_FOLDERS {
        let looking =
            StatQueue { looks, unreadable: &unreadable, found: Mutex::default(), waiting: AtomicUsize::new(0) };
        // Files are looked at while others are still being listed.
        rayon::scope(|scope| {
            let (seen, held) = (&mut seen, &mut held);
            DirWalk { root, memory, seen, held, looking: &looking, scope }.list_folder(folder)
        })?;
        let found = sorted(looking.found.into_inner().unwrap_or_else(PoisonError::into_inner));
        // Most stores have one large folder.
        if listed.is_empty() { listed = found } else { listed.extend(found) }
    }
    let scanned = |files, unreadable: UnreadableFile| {
        let unreadable = unreadable.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Scanned { files, folders: seen, unreadable })
    };
    let Some(memory) = memory.filter(|_| !held.is_empty()) else {
        return scanned(listed, unreadable);
    };
    let look = |files| look_at_kept(root, files, &held, &unreadable);
    let kept: Vec<Vec<FileEntry>> = memory.parts_of_files().map(look).collect();
    let added: Vec<Vec<FileEntry>> = held.par_iter().map(|(_, held)| look_at_added(root, held, &unreadable)).collect();
    let mut all = Vec::with_capacity(kept.iter().chain(&added).map(Vec::len).sum::<usize>() + listed.len());
    all.extend(kept.into_iter().flatten());
    let in_order = all.len();
    all.extend(listed.into_iter().chain(added.into_iter().flatten()));
    if all.len() > in_order {
        // This one is fast where most is in order.
        all.sort_by(|left, right| left.order().cmp(&right.order()));
        all.dedup_by(|left, right| left.order() == right.order());
    }
    scanned(all, unreadable)
}

/// Unreadable files and folders, collected by several threads.
type UnreadableFile = Mutex<Vec<PassedOver>>;

fn add_unreadable(unreadable: &UnreadableFile, path: &str, why: &'static str) {
    unreadable.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), why));
}

/// How long a path may be that can be opened, in bytes: `PATH_MAX` of Linux, less the NUL.
const MAX_PATH: usize = 4095;

/// How many files are looked at together.
const BATCH: usize = 512;

/// How many batches wait until somebody looks at them; whoever lists looks at more of them itself.
const MAX_WAITING: usize = 16;

/// A work queue of stats: the files of a folder in batches.
struct StatQueue<'a> {
    /// Whether they are looked at, not only listed.
    looks: bool,
    unreadable: &'a UnreadableFile,
    found: Mutex<Vec<Vec<FileEntry>>>,
    waiting: AtomicUsize,
}

impl StatQueue<'_> {
    /// Looks at files of a folder: soon, or at once.
    fn look<'scope>(&'scope self, scope: &Scope<'scope>, folder: &Arc<Listing>, files: Vec<(OsString, String)>) {
        let folder = Arc::clone(folder);
        let look = move || {
            let found = look_at_listed(&folder, files, self.looks, self.unreadable);
            self.found.lock().unwrap_or_else(PoisonError::into_inner).push(found);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        };
        // What waits takes more memory than what was looked at, and folders that are open.
        let may_wait = self.waiting.fetch_add(1, Ordering::Relaxed) < MAX_WAITING;
        if may_wait { scope.spawn(move |_| look()) } else { look() }
    }
}

/// Puts the files of a folder in the order of their paths. These begin alike: what comes behind that
/// decides nearly always, and is compared as a number.
fn sorted(batches: Vec<Vec<FileEntry>>) -> Vec<FileEntry> {
    let all = || batches.iter().flatten();
    let first = all().next().map(|found| found.path.as_bytes()).unwrap_or_default();
    let common = |found: &FileEntry| first.iter().zip(found.path.as_bytes()).take_while(|(a, b)| a == b).count();
    let common = all().map(common).min().unwrap_or_default();
    let key = |found: &FileEntry| {
        let rest = found.path.as_bytes().get(common..).unwrap_or_default();
        let mut key = [0; 8];
        key.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
        u64::from_be_bytes(key)
    };
    let mut keyed: Vec<(u64, FileEntry)> = Vec::with_capacity(batches.iter().map(Vec::len).sum());
    keyed.extend(batches.into_iter().flatten().map(|found| (key(&found), found)));
    keyed.par_sort_unstable_by(|(a, left), (b, right)| a.cmp(b).then_with(|| left.order().cmp(&right.order())));
    keyed.into_iter().map(|(_, found)| found).collect()
}

/// A folder that is being listed.
struct Listing {
    /// Its real path in the store.
    path: PathBuf,
    opened: DirHandle,
}

/// Takes files of a folder. Where it `looks` at them, those that are gone by now, or are no plain files, are passed over.
fn look_at_listed(
    folder: &Listing,
    files: Vec<(OsString, String)>,
    looks: bool,
    unreadable: &UnreadableFile,
) -> Vec<FileEntry> {
    let look = |(name, path): (OsString, String)| {
        let look = if looks { look_at(&folder.opened, &name, &path, unreadable)? } else { FileStat::default() };
        let name = is_odd(&path).then(|| folder.path.join(name).into());
        Some(FileEntry { path: path.into(), name, look, at: None })
    };
    files.into_iter().filter_map(look).collect()
}

/// Returns how a file looks; `None` where it is gone by now, or is no plain file, or can't be looked at.
fn look_at(folder: &DirHandle, name: &OsStr, path: &str, unreadable: &UnreadableFile) -> Option<FileStat> {
    folder.look(name).unwrap_or_else(|error| {
        if is_unreadable(&error) {
            add_unreadable(unreadable, path, FILE_UNREADABLE);
        }
        None
    })
}

/// Tells whether a path may not be the real one, since that is no UTF-8.
fn is_odd(path: &str) -> bool {
    !path.is_ascii() && path.contains(char::REPLACEMENT_CHARACTER)
}

/// Unchanged folders, by path.
type Folders<'a> = BTreeMap<&'a str, &'a CachedDir>;

/// Looks at files of the index that are in such folders; those that are gone are passed over.
fn look_at_kept(
    root: &DirHandle,
    mut files: index::FileCursor<'_>,
    held: &Folders<'_>,
    unreadable: &UnreadableFile,
) -> Vec<FileEntry> {
    let (mut all, mut inside, mut opened) = (Vec::with_capacity(BATCH), String::new(), None);
    while files.step().is_some() {
        let (folder, name) = parent(&files.path).unwrap_or_default();
        if folder != inside {
            folder.clone_into(&mut inside);
            let open = |held| Some((held, root.folder(Path::new(folder)).ok()?));
            opened = held.get(folder).and_then(open);
        }
        let Some((_, opened)) = opened.as_ref().filter(|(held, _)| held.has(files.place - 1)) else { continue };
        if let Some(look) = look_at(opened, name.as_ref(), &files.path, unreadable) {
            all.push(FileEntry { path: files.path.as_str().into(), name: None, look, at: Some(files.place - 1) });
        }
    }
    all
}

/// Looks at files of such a folder that the index does not have.
fn look_at_added(root: &DirHandle, held: &CachedDir, unreadable: &UnreadableFile) -> Vec<FileEntry> {
    if held.added.is_empty() {
        return Vec::new();
    }
    let path = PathBuf::from(&held.path);
    let Ok(opened) = root.folder(&path) else { return Vec::new() };
    let files = held.added.iter().map(|name| (name.into(), format!("{}/{name}", held.path)));
    look_at_listed(&Listing { path, opened }, files.collect(), true, unreadable)
}

/// A walk over one of the store's folders.
struct DirWalk<'w, 'm, 'scope> {
    root: &'scope DirHandle,
    memory: Option<&'m DirCache<'m>>,
    /// The folders that were come by.
    seen: &'w mut Vec<VisitedDir>,
    /// What those of them hold that look as they did.
    held: &'w mut Folders<'m>,
    looking: &'scope StatQueue<'scope>,
    scope: &'w Scope<'scope>,
}

impl<'scope> DirWalk<'_, '_, 'scope> {
    /// Lists one of the store's folders, where there is such a folder.
    fn list_folder(&mut self, folder: &str) -> Result<(), Error> {
        if self.root.kind(folder.as_ref()) != Some(FileType::Folder) {
            return Ok(());
        }
        let listed = self.list(Path::new(folder), folder);
        listed.map_err(|error| Error::new(ErrorKind::Store, format!("{folder}/ in the store can't be read: {error}")))
    }

    /// Lists a folder and the folders in it, which may be as deep as they like.
    fn list(&mut self, folder: &Path, inside: &str) -> std::io::Result<()> {
        let mut waiting = vec![(folder.to_path_buf(), inside.to_owned())];
        let mut is_first = true;
        while let Some((path, inside)) = waiting.pop() {
            let folders = self.held_before(&path, &inside);
            match folders.map_or_else(|| self.list_one(path, inside.clone()), Ok) {
                Ok(folders) => waiting.extend(folders),
                Err(error) if is_first => return Err(error),
                Err(error) if is_unreadable(&error) => {
                    add_unreadable(self.looking.unreadable, &inside, FOLDER_UNREADABLE);
                }
                Err(_) => {}
            }
            is_first = false;
        }
        Ok(())
    }

    /// Returns the folders in a folder that looks as it did.
    fn held_before(&mut self, path: &Path, inside: &str) -> Option<Vec<(PathBuf, String)>> {
        let held = self.memory?.held(inside, path)?;
        let folders = held.folders.iter().map(|name| (path.join(name), format!("{inside}/{name}")));
        self.seen.push(VisitedDir { path: inside.to_owned(), is_held: true, listed: None });
        self.held.insert(&held.path, held);
        Some(folders.collect())
    }

    /// Lists the files in a folder, and returns the folders in it.
    fn list_one(&mut self, path: PathBuf, inside: String) -> std::io::Result<Vec<(PathBuf, String)>> {
        self.memory.into_iter().for_each(DirCache::begin);
        let folder = Arc::new(Listing { opened: self.root.folder(&path)?, path });
        let before = folder.opened.own_look();
        let (mut folders, mut files, mut notes, mut is_sure) = (Vec::new(), Vec::new(), 0, !is_odd(&inside));
        for entry in folder.opened.entries()? {
            let Ok(DirEntry { name, kind, is_told }) = entry else {
                is_sure = false;
                add_unreadable(self.looking.unreadable, &inside, FOLDER_UNREADABLE);
                continue;
            };
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let is_note = kind == FileType::File && name.as_encoded_bytes().ends_with(b".md");
            if !is_note && kind != FileType::Folder {
                continue;
            }
            // Said at once how long it gets, it is moved no more.
            let shown = name.to_string_lossy();
            let mut path = String::with_capacity(inside.len() + 1 + shown.len());
            [&inside, "/", &shown].into_iter().for_each(|part| path.push_str(part));
            is_sure &= is_told && !is_odd(&shown);
            if !is_note {
                folders.push((folder.path.join(&name), path));
                continue;
            }
            if folder.path.as_os_str().len() + 1 + name.len() > MAX_PATH {
                is_sure = false;
                add_unreadable(self.looking.unreadable, &path, FILE_UNREADABLE);
                continue;
            }
            notes += 1;
            files.push((name, path));
            if files.len() == BATCH {
                self.looking.look(self.scope, &folder, std::mem::replace(&mut files, Vec::with_capacity(BATCH)));
            }
        }
        if !files.is_empty() {
            self.looking.look(self.scope, &folder, files);
        }
        let is_settled = |look: &DirStat| self.memory.is_some_and(|memory| memory.is_settled(&folder.opened, *look));
        let listed = before.filter(|look| is_sure && is_settled(look)).map(|look| {
            let mut names: Vec<String> =
                folders.iter().filter_map(|(_, path)| Some(parent(path)?.1.to_owned())).collect();
            names.sort_unstable();
            DirListing { look, folders: names, notes }
        });
        self.seen.push(VisitedDir { path: inside, is_held: false, listed });
        Ok(folders)
    }
}
