//! Files and folders by their paths: reading, durable names, stale temporary files. Every error names the file.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::dir_handle::{is_link, is_temporary};
use super::rename_noreplace::{is_unsupported, rename_noreplace};
use super::stat::FileStat;
use crate::store::git::plain_file::{open_plain, read_whole};

/// The greatest length of a text file that is parsed, in bytes: a parser takes many times as much memory.
const MAX_TEXT: u64 = 1024 * 1024;

/// The age in nanoseconds from which on a temporary file is stale: no process is still writing it.
const STALE: i64 = 3_600_000_000_000;

pub(in crate::store) fn remove_stale(folder: &Path, now: i64) {
    stale(folder, now, FileStat::latest).iter().for_each(|path| drop(fs::remove_file(path)));
}

/// Lists the user's own stale temporary files in a folder, sorted. `time` is the time of a file by which its age is
/// computed. The old version of a file has a temporary name while it is being replaced, however old its modification time;
/// in a folder where that can happen, `time` includes the change time.
pub(in crate::store) fn stale(folder: &Path, now: i64, time: fn(&FileStat) -> i64) -> Vec<PathBuf> {
    let is_stale = |entry: &fs::DirEntry| {
        let is_old = |metadata: &Metadata| time(&FileStat::of(metadata)).saturating_add(STALE) < now;
        is_temporary(&entry.file_name())
            && entry.metadata().is_ok_and(|metadata| metadata.is_file() && is_own(&metadata) && is_old(&metadata))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(io::Result::ok);
    let mut paths: Vec<PathBuf> = entries.filter(is_stale).map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths
}

#[cfg(unix)]
fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

/// Returns a folder and those above it, from below, up to one that is there.
///
/// # Errors
/// If that is not known of one.
pub(crate) fn missing_folders(folder: &Path) -> Result<Vec<&Path>> {
    let mut missing = Vec::new();
    for folder in folder.ancestors() {
        if is_there(folder)? {
            break;
        }
        missing.push(folder);
    }
    Ok(missing)
}

/// Returns the nearest of a folder and those above it that is there.
pub(crate) fn nearest_folder(folder: &Path) -> Result<&Path> {
    let missing = missing_folders(folder)?;
    Ok(missing.last().and_then(|missing| missing.parent()).unwrap_or(folder))
}

/// Creates the folders on the way to a file. The names of new ones are durable.
pub(crate) fn make_folders(path: &Path) -> Result<()> {
    make_folder(folder_of(path))
}

/// Returns the absolute path of an existing file or folder without symbolic links.
pub(in crate::store) fn canonical(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("can't read {}", path.display()))
}

/// Whether there is a file, a folder or a symbolic link, which is not followed.
pub(crate) fn is_there(path: &Path) -> Result<bool> {
    Ok(look_up(path)?.is_some())
}

/// Looks a path up without following a symbolic link; `None` if nothing is there.
pub(in crate::store) fn look_up(path: &Path) -> Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(anyhow!(error).context(format!("can't read {}", path.display()))),
    }
}

/// Creates a folder and those above it. The names of new ones are durable.
pub(in crate::store) fn make_folder(folder: &Path) -> Result<()> {
    let missing = missing_folders(folder)?;
    fs::create_dir_all(folder).with_context(|| format!("can't create {}", folder.display()))?;
    missing.into_iter().try_for_each(|made| sync_folder(folder_of(made)))
}

/// Removes so many folders above a file that is gone, as long as they are empty.
pub(crate) fn remove_empty_folders(path: &Path, count: usize) {
    for folder in path.ancestors().skip(1).take(count) {
        // One that is not empty belongs to the user.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Whether two names that differ by case alone are one file since the file system ignores case: the folder has no entry with
/// the second one. Two hard links with such names have an entry each.
pub(in crate::store) fn differ_by_case_alone(from: &Path, to: &Path) -> bool {
    let folded = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let inode = |path: &Path| path.symlink_metadata().ok().map(|found| FileStat::of(&found).inode);
    if from == to || from.parent() != to.parent() || folded(from) != folded(to) || inode(from) != inode(to) {
        return false;
    }
    let mut entries = fs::read_dir(folder_of(to)).into_iter().flatten().filter_map(io::Result::ok);
    !entries.any(|entry| Some(&*entry.file_name()) == to.file_name())
}

/// Gives a file another name that nothing has, unless it is its own in another case. That is durable when the folders are
/// synced.
pub(in crate::store) fn rename(from: &Path, to: &Path) -> Result<()> {
    failpoint_write();
    let renamed = if differ_by_case_alone(from, to) { fs::rename(from, to) } else { rename_noreplace(from, to) };
    renamed.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow!("{} exists already", to.display()),
        _ => anyhow::Error::from(error).context(format!("can't rename {} to {}", from.display(), to.display())),
    })?;
    failpoint_write();
    Ok(())
}

pub(in crate::store) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable, if the system can sync folders.
pub(in crate::store) fn sync_folder(folder: &Path) -> Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let opened = match File::open(folder) {
        // A folder may be writable and not readable.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
        opened => opened,
    };
    let result = opened.and_then(|folder| synced(folder.sync_all()));
    result.with_context(|| format!("can't write {}", folder.display()))
}

/// Returns the result of an fsync; a file system without fsync (9p, some of FUSE and SMB) counts as success.
pub(in crate::store) fn synced(result: io::Result<()>) -> io::Result<()> {
    #[cfg(test)]
    let result = if CANT_SYNC.get() { Err(rustix::io::Errno::INVAL.into()) } else { result };
    match result {
        Err(error) if is_unsupported(&error) => Ok(()),
        result => result,
    }
}

/// Reads a text file of settings or instructions; `None` if there is none.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read(path, MAX_TEXT)? else { return Ok(None) };
    let text = String::from_utf8(bytes).context("it is not UTF-8");
    text.map(Some).with_context(|| format!("can't read {}", path.display()))
}

/// Reads a file of any length; `None` if there is none.
pub(crate) fn read_bytes_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    read(path, u64::MAX)
}

/// Reads a regular file; `None` if there is none. No symbolic link is followed and no pipe waited for, even if it
/// replaces the file while it is opened.
fn read(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>> {
    match open_plain(path).and_then(|file| read_whole(file, max_bytes)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            bail!("{} is longer than {max_bytes} bytes", path.display())
        }
        Err(error) if is_link(&error) || error.kind() == ErrorKind::InvalidInput => {
            bail!("{} is not a regular file", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("can't read {}", path.display())),
    }
}

pub(crate) fn remove(path: &Path) -> Result<()> {
    failpoint_write();
    fs::remove_file(path).with_context(|| format!("can't remove {}", path.display()))?;
    failpoint_write();
    sync_folder(folder_of(path))
}

/// A point between two steps of a write, for tests.
#[cfg(not(test))]
pub(in crate::store) fn failpoint_write() {}

/// A point before a note that is to be changed is read, for tests.
#[cfg(not(test))]
pub(in crate::store) fn failpoint_read() {}

#[cfg(test)]
pub(in crate::store) use tests::{CANT_SYNC, failpoint_read, failpoint_write};

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::concurrent_save_tests::{self, Point};

    thread_local! {
        /// Whether this thread finds a file system whose files and folders can't be synced.
        pub(in crate::store) static CANT_SYNC: Cell<bool> = const { Cell::new(false) };
    }

    /// The tests make a process die here, or another program save a file.
    pub(in crate::store) fn failpoint_write() {
        crate::crash_tests::here();
        concurrent_save_tests::here(Point::Write);
    }

    pub(in crate::store) fn failpoint_read() {
        concurrent_save_tests::here(Point::Read);
    }

    #[test]
    fn two_files_whose_names_differ_by_case_are_two() {
        let dir = tempfile::tempdir().unwrap();
        let [from, to, other] = ["Apple.md", "apple.md", "pear.md"].map(|name| dir.path().join(name));
        fs::write(&from, "x").unwrap();
        // Where the file system ignores case, the second name leads to the first file.
        assert_eq!(differ_by_case_alone(&from, &to), to.exists());
        if !to.exists() {
            for text in ["another file", "a hard link"] {
                if text == "a hard link" {
                    fs::hard_link(&from, &to).unwrap()
                } else {
                    fs::write(&to, text).unwrap()
                }
                assert!(!differ_by_case_alone(&from, &to), "{text}");
                assert!(rename(&from, &to).is_err() && from.exists(), "{text}");
                fs::remove_file(&to).unwrap();
            }
        }
        rename(&from, &to).unwrap();
        assert!(!differ_by_case_alone(&to, &other));
        let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["apple.md"]);
    }

    #[test]
    fn only_what_was_left_long_ago_under_our_names_is_stale() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".qipu-tmp-aZ09xy", ".qipu-tmp-aZ09x", ".qipu-tmp-aZ09x/", ".qipu-pending", "a.md"] {
            fs::write(dir.path().join(name.replace('/', ".")), "").unwrap();
        }
        fs::create_dir(dir.path().join(".qipu-tmp-folder")).unwrap();
        let now = FileStat::of(&dir.path().join("a.md").metadata().unwrap()).mtime;
        let found = |now| stale(dir.path(), now, FileStat::latest);
        assert_eq!(found(now + STALE - 1_000_000_000), [] as [PathBuf; 0]);
        assert_eq!(found(now + STALE + 1_000_000_000), [dir.path().join(".qipu-tmp-aZ09xy")]);
        remove_stale(dir.path(), now + STALE + 1_000_000_000);
        assert_eq!((found(i64::MAX).len(), fs::read_dir(dir.path()).unwrap().count()), (0, 5));
    }
}
