//! Looks which files of a store are notes, and how each file looks from outside.

use std::fs::{DirEntry, Metadata};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::NOTE_FOLDERS;
use crate::error::{Error, ErrorKind};

/// A file that is a note, and how it looked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Found {
    /// The path in the store, with `/` between names.
    pub(super) path: String,
    /// How the file looked.
    pub(super) look: Look,
}

/// What shows that a file was changed or replaced. A moment is in nanoseconds of the file system's
/// clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Look {
    size: u64,
    /// When the content changed.
    pub(super) modified: i128,
    /// When anything about the file changed; users can't set it.
    changed: i128,
    /// The number of the file: another one took its place where that differs.
    number: u64,
}

impl Look {
    /// Takes what a file system says of a file.
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let moment = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
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
        let modified = metadata.modified().ok().and_then(since).map_or(0, |time| time.as_nanos() as i128);
        Self { size: metadata.len(), modified, changed: 0, number: 0 }
    }

    /// The later of both moments.
    pub(super) fn latest(&self) -> i128 {
        self.modified.max(self.changed)
    }
}

/// Lists the notes under a store's folders, in the order of their paths' bytes. Hidden files and
/// symbolic links are passed over. A file whose name is no UTF-8 is read as the path that it shows.
///
/// # Errors
/// `Store` when one of the folders can't be listed.
pub(super) fn notes(root: &Path) -> Result<Vec<(PathBuf, Found)>, Error> {
    let mut files = Vec::new();
    for folder in NOTE_FOLDERS {
        let path = root.join(folder);
        if !path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            continue;
        }
        let listed = list(&path, folder, &mut files);
        listed.map_err(|error| Error::new(ErrorKind::Store, format!("{} can't be read: {error}", path.display())))?;
    }
    files.sort_unstable_by(|a, b| a.1.cmp(&b.1));
    let look = |(entry, path): &(DirEntry, String)| {
        let found = Found { path: path.clone(), look: Look::of(&entry.metadata().ok()?) };
        Some((entry.path(), found))
    };
    Ok(files.par_iter().with_min_len(256).filter_map(look).collect())
}

/// Lists the note files of a folder and the folders in it, which may be as deep as they like.
fn list(folder: &Path, inside: &str, files: &mut Vec<(DirEntry, String)>) -> std::io::Result<()> {
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
            let path = format!("{inside}/{}", name.to_string_lossy());
            if kind.is_dir() {
                folders.push((entry.path(), path));
            } else if kind.is_file() && Path::new(&name).extension().is_some_and(|ending| ending == "md") {
                files.push((entry, path));
            }
        }
    }
    Ok(())
}
