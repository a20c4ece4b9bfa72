//! Directory handles ([openat(2)](https://man7.org/linux/man-pages/man2/open.2.html)): listing, stats, reads and writes
//! below an open directory, which stays the same directory whatever replaces it at its path.
//!
//! Paths below a handle are resolved without following a symbolic link in any of their components. A file is opened
//! without blocking and then checked to be a regular file: another process could replace it between check and use.
//!
//! A handle may also be that of a directory of a commit, or of the commits of a repository, which are only read.

#[path = "dir_handle/commit.rs"]
mod commit;
#[path = "dir_handle/history.rs"]
mod history;
#[cfg_attr(unix, path = "dir_handle/unix.rs")]
#[cfg_attr(not(unix), path = "dir_handle/portable.rs")]
mod os;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};
use std::sync::Arc;

pub(in crate::store) use commit::CommitDir;
pub(in crate::store) use history::HistoryDir;
pub(in crate::store) use os::{is_link, link_error, not_folder, not_found};

use super::stat::{DirStat, FileStat};
use crate::store::git::plain_file::{read_whole, too_long};

/// The prefix of the names of temporary files, and the number of random characters behind it.
pub(in crate::store) const TEMPORARY: &str = ".qipu-tmp-";
pub(in crate::store) const TEMPORARY_CHARS: usize = 6;

pub(in crate::store) fn is_temporary(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
    rest.is_some_and(|rest| rest.len() == TEMPORARY_CHARS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

const NAME_TRIES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum FileType {
    File,
    Folder,
    /// A symbolic link.
    Link,
    Other,
}

#[derive(Debug)]
pub(in crate::store) struct DirEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
    /// Whether the listing gave the type (`d_type` of readdir(3)); else it is that of what is mounted there now.
    pub(in crate::store) has_file_type: bool,
}

impl FileType {
    /// Returns the type of a file on disk.
    pub(crate) fn of(kind: std::fs::FileType) -> Self {
        match kind {
            kind if kind.is_symlink() => Self::Link,
            kind if kind.is_file() => Self::File,
            kind if kind.is_dir() => Self::Folder,
            _ => Self::Other,
        }
    }
}

/// An open directory on disk; where the system has no handles for that, its path.
#[derive(Debug)]
pub(in crate::store) struct DiskDir(os::Directory);

/// An open directory.
#[derive(Debug)]
pub(in crate::store) enum DirHandle {
    /// One on disk.
    Disk(DiskDir),
    /// One of a commit.
    Commit(CommitDir),
    /// That of the commits of a repository.
    History(Box<HistoryDir>),
}

impl DirHandle {
    /// Opens a directory on disk. Symbolic links on the way to it are followed; one in its place is an error.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        DiskDir::new(folder).map(Self::Disk)
    }

    /// Opens a directory below it; a symbolic link on the way or in its place is an error.
    pub(crate) fn folder(&self, path: &Path) -> io::Result<Self> {
        match self {
            Self::Disk(dir) => dir.folder(path).map(Self::Disk),
            Self::Commit(dir) => dir.folder(path).map(Self::Commit),
            Self::History(_) => Err(not_found()),
        }
    }

    /// Iterates over the entries; only one iterator of a handle at a time.
    pub(crate) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        let (on_disk, in_commit) = match self {
            Self::Disk(dir) => (Some(dir.entries()?), None),
            Self::Commit(dir) => (None, Some(dir.entries()?)),
            Self::History(_) => (None, None),
        };
        Ok(on_disk.into_iter().flatten().chain(in_commit.into_iter().flatten().map(Ok)))
    }

    pub(in crate::store) fn stat(&self, name: &OsStr) -> io::Result<(FileType, FileStat)> {
        match self {
            Self::Disk(dir) => dir.stat(name),
            Self::Commit(dir) => dir.stat(name),
            Self::History(_) => Err(not_found()),
        }
    }

    /// Expects a regular file below it that can be opened; anything else is an error, without blocking.
    pub(in crate::store) fn expect_file(&self, path: &Path) -> io::Result<()> {
        match self {
            Self::Disk(dir) => dir.file_and_metadata(path).map(drop),
            Self::Commit(dir) => dir.blob(path).map(drop),
            Self::History(_) => Err(not_found()),
        }
    }

    /// Opens a regular file below it on disk for reading; anything else is an error, without blocking.
    pub(crate) fn file(&self, path: &Path) -> io::Result<File> {
        Ok(self.on_disk()?.file_and_metadata(path)?.0)
    }

    /// Returns the stat of a regular file in it; `None` if there is none.
    pub(in crate::store) fn file_stat(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match self.stat(name) {
            Ok((kind, stat)) => Ok((kind == FileType::File).then_some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn kind(&self, name: &OsStr) -> Option<FileType> {
        Some(self.stat(name).ok()?.0)
    }

    /// Returns the stat of the directory; `None` if it is not known what changes its times.
    pub(in crate::store) fn dir_stat(&self) -> Option<DirStat> {
        self.on_disk().ok()?.dir_stat()
    }

    /// Whether the times of a directory are known to change with its content.
    pub(in crate::store) fn has_reliable_mtime(&self) -> bool {
        self.on_disk().is_ok_and(DiskDir::has_reliable_mtime)
    }

    /// Whether all changes of the directory go through this kernel, which can then report them.
    #[cfg(target_os = "linux")]
    pub(in crate::store) fn has_local_changes(&self) -> bool {
        self.on_disk().is_ok_and(DiskDir::has_local_changes)
    }

    /// Reads a regular file below it.
    ///
    /// # Errors
    /// `FileTooLarge` if it is longer than `max_bytes`; any other error of opening or reading it.
    pub(crate) fn read(&self, path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
        match self {
            Self::Disk(dir) => read_whole(dir.file_and_metadata(path)?.0, max_bytes),
            Self::Commit(dir) => match dir.blob(path)? {
                blob if blob.size > max_bytes => Err(too_long(max_bytes)),
                blob => dir.content(blob, max_bytes),
            },
            Self::History(_) => Err(not_found()),
        }
    }

    /// Reads the first `max_bytes` bytes of a regular file below it into an empty buffer. Returns the stat from before the
    /// read.
    pub(in crate::store) fn read_start(
        &self,
        path: &Path,
        max_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> io::Result<FileStat> {
        match self {
            Self::Disk(dir) => {
                let (file, metadata) = dir.file_and_metadata(path)?;
                read_start(file, metadata.len(), max_bytes, buffer).map(|()| FileStat::of(&metadata))
            }
            Self::Commit(dir) => {
                let blob = dir.blob(path)?;
                *buffer = dir.content(blob, max_bytes)?;
                Ok(FileStat::of_commit(blob.size))
            }
            Self::History(dir) => {
                let (bytes, stat) = dir.read(path)?;
                *buffer = bytes;
                Ok(stat)
            }
        }
    }

    /// Announces the files below it that [`Self::read_start`] will read, in this order and with this limit.
    pub(in crate::store) fn announce<'p>(&self, paths: impl Iterator<Item = &'p Path>, max_bytes: u64) {
        match self {
            Self::Disk(_) => {}
            Self::Commit(dir) => dir.announce(paths, max_bytes),
            Self::History(dir) => dir.announce(paths),
        }
    }

    /// Returns the time of the file system in nanoseconds: that of a file that is created in the directory and removed.
    pub(crate) fn now(self: &Arc<Self>) -> io::Result<i64> {
        let of = |file: &File| Ok(FileStat::of(&file.metadata()?).mtime);
        match self.on_disk()?.unnamed() {
            Ok(file) => of(&file),
            Err(_) => of(&TempFile::new(Arc::clone(self))?.file),
        }
    }

    pub(in crate::store) fn make_folder(&self, name: &str) -> io::Result<()> {
        self.on_disk()?.make_folder(name)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.on_disk()?.remove(name)
    }

    /// Returns the directory on disk, which alone is written to.
    fn on_disk(&self) -> io::Result<&DiskDir> {
        match self {
            Self::Disk(dir) => Ok(dir),
            Self::Commit(_) | Self::History(_) => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
        }
    }
}

/// Reads the first `max_bytes` bytes of a file with an expected length into an empty buffer.
fn read_start(file: File, len: u64, max_bytes: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    // With room for one more byte than the stat says, most files are read by one call.
    let expected = usize::try_from(len.min(max_bytes.saturating_sub(1))).unwrap_or(usize::MAX);
    let mut file = file.take(max_bytes);
    buffer.resize(expected.saturating_add(1), 0);
    let read = match file.read(buffer) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        read => read?,
    };
    buffer.truncate(read);
    if read != expected || read == 0 {
        file.read_to_end(buffer)?;
    }
    Ok(())
}

/// A file with a temporary name in a directory. It replaces another file, or is removed when dropped.
#[derive(Debug)]
pub(in crate::store) struct TempFile {
    pub(crate) file: File,
    folder: Arc<DirHandle>,
    /// The temporary name; `None` once the file has its own.
    name: Option<String>,
}

impl TempFile {
    /// Creates an empty file that only its owner can read.
    pub(crate) fn new(folder: Arc<DirHandle>) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            let name = temporary_name()?;
            match folder.on_disk()?.create_new(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < NAME_TRIES => tries += 1,
                file => return Ok(Self { file: file?, folder, name: Some(name) }),
            }
        }
    }

    /// Lets every user read the file.
    pub(in crate::store) fn set_shared(&self) -> io::Result<()> {
        os::set_shared(&self.file)
    }

    /// Renames the file, replacing a file or symbolic link with that name.
    pub(crate) fn replace(mut self, name: &str) -> io::Result<()> {
        if let Some(temporary) = &self.name {
            self.folder.on_disk()?.rename(temporary, name)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // A file that can't be removed is removed later as stale.
        self.name.iter().for_each(|name| drop(self.folder.remove(name.as_ref())));
    }
}

fn temporary_name() -> io::Result<String> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let random = getrandom::u64().map_err(io::Error::other)?;
    let letter = |position: usize| char::from(LETTERS[(random >> (5 * position)) as usize % LETTERS.len()]);
    Ok(TEMPORARY.chars().chain((0..TEMPORARY_CHARS).map(letter)).collect())
}

/// Refuses a path that is empty, absolute or leads upwards.
fn expect_below(path: &Path) -> io::Result<()> {
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    if is_below && path.file_name().is_some() { Ok(()) } else { Err(not_below()) }
}

fn not_below() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a path in the folder")
}

/// Whether an error means that a file exists and can't be read: it was neither removed nor replaced by another type.
pub(in crate::store) fn is_unreadable(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    !matches!(error.kind(), NotFound | NotADirectory | InvalidInput) && !is_link(error)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;
    use crate::store::git::plain_file::open_plain;

    /// A folder with a note, links of all kinds and a pipe, beside a folder with a secret.
    pub(super) fn hostile() -> (tempfile::TempDir, Arc<DirHandle>) {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("store/sub/deep")).unwrap();
        fs::create_dir_all(at("outside/deep")).unwrap();
        fs::write(at("store/sub/deep/x.md"), "inside").unwrap();
        fs::write(at("outside/deep/x.md"), "secret").unwrap();
        symlink(at("outside"), at("store/link")).unwrap();
        symlink(at("outside/deep/x.md"), at("store/link.md")).unwrap();
        assert!(Command::new("mkfifo").arg(at("store/pipe.md")).status().unwrap().success());
        let opened = DirHandle::new(&at("store")).unwrap();
        (dir, Arc::new(opened))
    }

    #[test]
    fn only_plain_files_inside_are_read() {
        let (dir, store) = hostile();
        assert_eq!(store.read(Path::new("sub/deep/x.md"), 6).unwrap(), b"inside");
        assert_eq!(store.read(Path::new("sub/deep/x.md"), 5).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let outside = dir.path().join("outside/deep/x.md");
        let paths =
            ["link.md", "link/deep/x.md", "pipe.md", "sub", "", "..", "../outside/deep/x.md", "sub/../sub/deep/x.md"];
        for path in paths.map(PathBuf::from).into_iter().chain([outside]) {
            let error = store.read(&path, u64::MAX).unwrap_err();
            assert!(!is_unreadable(&error), "{path:?}: {error}");
        }
        assert!(store.folder(Path::new("link")).is_err() && store.folder(Path::new("link/deep")).is_err());
        assert!(DirHandle::new(&dir.path().join("store/link")).is_err());
        assert!(open_plain(&dir.path().join("store/pipe.md")).is_err());
        assert!(open_plain(&dir.path().join("store/link.md")).is_err());
    }

    #[test]
    fn a_folder_that_is_held_stays_what_it_was_when_a_link_takes_its_place() {
        let (dir, store) = hostile();
        let at = |path: &str| dir.path().join(path);
        let sub = store.folder(Path::new("sub")).unwrap();
        fs::rename(at("store/sub"), at("store/was")).unwrap();
        symlink(at("outside"), at("store/sub")).unwrap();
        assert!(store.read(Path::new("sub/deep/x.md"), 100).is_err());
        assert_eq!(sub.read(Path::new("deep/x.md"), 100).unwrap(), b"inside");
        // The same holds for the store's own folder.
        fs::rename(at("store"), at("moved")).unwrap();
        symlink(at("outside"), at("store")).unwrap();
        assert_eq!(store.read(Path::new("was/deep/x.md"), 100).unwrap(), b"inside");
        TempFile::new(Arc::clone(&store)).unwrap().replace("new").unwrap();
        assert!(at("moved/new").is_file() && !at("outside/new").exists());
    }

    #[test]
    fn a_staged_file_replaces_a_link_itself_or_goes_away() {
        let (dir, store) = hostile();
        let at = |path: &str| dir.path().join(path);
        let names = || fs::read_dir(at("store")).unwrap().count();
        let before = names();
        drop(TempFile::new(Arc::clone(&store)).unwrap());
        assert!(store.now().is_ok());
        assert_eq!(names(), before);
        TempFile::new(Arc::clone(&store)).unwrap().replace("link.md").unwrap();
        assert_eq!(fs::read(at("store/link.md")).unwrap(), b"");
        assert_eq!(fs::read(at("outside/deep/x.md")).unwrap(), b"secret");
        let name = temporary_name().unwrap();
        assert!(is_temporary(name.as_ref()) && name != temporary_name().unwrap());
    }
}
