//! Looks which files of a store are notes, and how each file looks from outside.

use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::NOTE_FOLDERS;
use crate::error::{Error, ErrorKind};

/// A file that is a note, and how it looked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Found {
    /// The path in the store, with `/` between names.
    pub(super) path: Box<str>,
    /// Its real path where that may be another, since it is no UTF-8.
    pub(super) name: Option<Box<Path>>,
    /// How the file looked.
    pub(super) look: Look,
}

impl Found {
    /// Returns the file's real path.
    pub(super) fn real_path(&self, root: &Path) -> PathBuf {
        self.name.as_deref().map_or_else(|| root.join(&*self.path), Path::to_path_buf)
    }
}

/// What shows that a file was changed or replaced. A moment is in nanoseconds of the file system's
/// clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Look {
    pub(super) size: u64,
    /// When the content changed.
    pub(super) modified: i64,
    /// When anything about the file changed; users can't set it.
    changed: i64,
    /// The number of the file: another one took its place where that differs.
    number: u64,
}

impl Look {
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

    /// The later of both moments.
    pub(super) fn latest(&self) -> i64 {
        self.modified.max(self.changed)
    }

    /// Returns it with moments that are counted from another one: smaller numbers take less room.
    pub(super) fn since(self, moment: i64) -> Self {
        let modified = self.modified.wrapping_sub(moment);
        Self { modified, changed: self.changed.wrapping_sub(self.modified), ..self }
    }

    /// Undoes [`Look::since`].
    pub(super) fn after(self, moment: i64) -> Self {
        let modified = self.modified.wrapping_add(moment);
        Self { modified, changed: self.changed.wrapping_add(modified), ..self }
    }
}

/// Lists the notes under a store's folders, in the order of their paths' bytes. Hidden files and
/// symbolic links are passed over. A file whose name is no UTF-8 is read as the path that it shows.
///
/// # Errors
/// `Store` when one of the folders can't be listed.
pub(super) fn notes(root: &Path) -> Result<Vec<Found>, Error> {
    let mut all = Vec::new();
    for folder in NOTE_FOLDERS {
        let found = sorted(in_folder(root, folder)?);
        // Most stores have one large folder.
        if all.is_empty() { all = found } else { all.extend(found) }
    }
    Ok(all)
}

fn in_folder(root: &Path, folder: &str) -> Result<Vec<Vec<Found>>, Error> {
    let (found, waiting) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    // Files are looked at while others are still being listed.
    let listed: Result<(), Error> = rayon::scope(|scope| {
        let mut batch = Vec::with_capacity(BATCH);
        let mut take = |entry: Option<(DirEntry, String)>| {
            let is_end = entry.is_none();
            batch.extend(entry);
            if batch.len() == BATCH || is_end {
                let batch = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                let (found, waiting) = (&found, &waiting);
                let look = move || {
                    look_at(batch, found);
                    waiting.fetch_sub(1, Ordering::Relaxed);
                };
                // What waits takes more memory than what was looked at.
                let may_wait = waiting.fetch_add(1, Ordering::Relaxed) < MAX_WAITING;
                if may_wait { scope.spawn(move |_| look()) } else { look() }
            }
        };
        list_folder(root, folder, &mut take)?;
        take(None);
        Ok(())
    });
    listed?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Puts the files of a folder in the order of their paths. These begin alike: what comes behind that
/// decides nearly always, and is compared as a number.
fn sorted(batches: Vec<Vec<Found>>) -> Vec<Found> {
    let all = || batches.iter().flatten();
    let first = all().next().map(|found| found.path.as_bytes()).unwrap_or_default();
    let common = |found: &Found| first.iter().zip(found.path.as_bytes()).take_while(|(a, b)| a == b).count();
    let common = all().map(common).min().unwrap_or_default();
    let key = |found: &Found| {
        let rest = found.path.as_bytes().get(common..).unwrap_or_default();
        let mut key = [0; 8];
        key.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
        u64::from_be_bytes(key)
    };
    let mut keyed: Vec<(u64, Found)> = Vec::with_capacity(batches.iter().map(Vec::len).sum());
    keyed.extend(batches.into_iter().flatten().map(|found| (key(&found), found)));
    keyed.par_sort_unstable_by(|(a, left), (b, right)| {
        a.cmp(b).then_with(|| (&left.path, &left.name).cmp(&(&right.path, &right.name)))
    });
    keyed.into_iter().map(|(_, found)| found).collect()
}

/// How many files are looked at together.
const BATCH: usize = 512;

/// How many batches wait until somebody looks at them; whoever lists looks at more of them itself.
const MAX_WAITING: usize = 16;

/// Looks at files; those that are gone by now are passed over.
fn look_at(batch: Vec<(DirEntry, String)>, found: &Mutex<Vec<Vec<Found>>>) {
    let look = |(entry, path): (DirEntry, String)| {
        let look = Look::of(&entry.metadata().ok()?);
        let is_odd = !path.is_ascii() && path.contains(char::REPLACEMENT_CHARACTER);
        let name = is_odd.then(|| entry.path().into());
        Some(Found { path: path.into(), name, look })
    };
    let looks: Vec<Found> = batch.into_iter().filter_map(look).collect();
    found.lock().unwrap_or_else(PoisonError::into_inner).push(looks);
}

/// Lists the note files of one of the store's folders, where there is such a folder.
fn list_folder(root: &Path, folder: &str, take: &mut impl FnMut(Option<(DirEntry, String)>)) -> Result<(), Error> {
    let path = root.join(folder);
    if !path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    let listed = list(&path, folder, &mut |entry, path| take(Some((entry, path))));
    listed.map_err(|error| Error::new(ErrorKind::Store, format!("{} can't be read: {error}", path.display())))
}

/// Lists the note files of a folder and the folders in it, which may be as deep as they like.
fn list(folder: &Path, inside: &str, take: &mut dyn FnMut(DirEntry, String)) -> std::io::Result<()> {
    let mut folders = vec![(folder.to_path_buf(), inside.to_owned())];
    let mut is_first = true;
    while let Some((folder, inside)) = folders.pop() {
        let entries = match folder.read_dir() {
            Ok(entries) => entries,
            Err(error) if is_first => return Err(error),
            Err(_) => continue,
        };
        is_first = false;
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            let Ok(kind) = entry.file_type() else { continue };
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let is_note = kind.is_file() && name.as_encoded_bytes().ends_with(b".md");
            if !is_note && !kind.is_dir() {
                continue;
            }
            // Said at once how long it gets, it is moved no more.
            let name = name.to_string_lossy();
            let mut path = String::with_capacity(inside.len() + 1 + name.len());
            [&inside, "/", &name].into_iter().for_each(|part| path.push_str(part));
            match is_note {
                true => take(entry, path),
                false => folders.push((entry.path(), path)),
            }
        }
    }
    Ok(())
}
