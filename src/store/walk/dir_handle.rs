//! Directory handles ([openat(2)](https://man7.org/linux/man-pages/man2/open.2.html)): listing, stats, reads and writes
//! below an open directory, which stays the same directory whatever replaces it at its path.
//!
//! Paths below a handle are resolved without following a symbolic link in any of their components. A file is opened
//! without blocking and then checked to be a regular file: another process could replace it between check and use.

#[cfg_attr(unix, path = "dir_handle/unix.rs")]
#[cfg_attr(not(unix), path = "dir_handle/portable.rs")]
mod os;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};
use std::sync::Arc;

pub(crate) use os::{is_link, open_plain};

use super::stat::FileStat;

/// The prefix of the names of temporary files, and the number of random characters behind it.
pub(crate) const TEMPORARY: &str = ".qipu-tmp-";
pub(crate) const TEMPORARY_CHARS: usize = 6;

pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
    rest.is_some_and(|rest| rest.len() == TEMPORARY_CHARS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

const NAME_TRIES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileType {
    File,
    Folder,
    /// A symbolic link.
    Link,
    Other,
}

#[derive(Debug)]
pub(crate) struct DirEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
    /// Whether the listing gave the type (`d_type` of readdir(3)); else it is that of what is mounted there now.
    pub(crate) has_file_type: bool,
}

/// An open directory; where the system has no handles for that, its path.
#[derive(Debug)]
pub(crate) struct DirHandle(os::Directory);

impl DirHandle {
    /// Opens a regular file below it for reading; anything else is an error, without blocking.
    pub(crate) fn file(&self, path: &Path) -> io::Result<File> {
        self.file_and_metadata(path).map(|(file, _)| file)
    }

    /// Returns the stat of a regular file in it; `None` if there is none.
    pub(crate) fn file_stat(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match self.stat(name) {
            Ok((kind, stat)) => Ok((kind == FileType::File).then_some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn kind(&self, name: &OsStr) -> Option<FileType> {
        Some(self.stat(name).ok()?.0)
    }

    /// Whether the times of a directory are known to change with its content.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn has_reliable_mtime(&self) -> bool {
        false
    }

    /// Reads a regular file below it.
    ///
    /// # Errors
    /// `FileTooLarge` if it is longer than `max_bytes`; any other error of opening or reading it.
    pub(crate) fn read(&self, path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
        read_whole(self.file(path)?, max_bytes)
    }

    /// Returns the time of the file system in nanoseconds: that of a file that is created in the directory and removed.
    pub(crate) fn now(self: &Arc<Self>) -> io::Result<i64> {
        let of = |file: &File| Ok(FileStat::of(&file.metadata()?).mtime);
        match self.unnamed() {
            Ok(file) => of(&file),
            Err(_) => of(&TempFile::new(Arc::clone(self))?.file),
        }
    }
}

/// Reads an open file.
///
/// # Errors
/// `FileTooLarge` if it is longer than `max_bytes`.
pub(crate) fn read_whole(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {max_bytes} bytes"));
    let len = file.metadata()?.len();
    if len > max_bytes {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(len).unwrap_or_default())?;
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_long()) } else { Ok(bytes) }
}

/// A file with a temporary name in a directory. It replaces another file, or is removed when dropped.
#[derive(Debug)]
pub(crate) struct TempFile {
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
            match folder.create_new(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < NAME_TRIES => tries += 1,
                file => return Ok(Self { file: file?, folder, name: Some(name) }),
            }
        }
    }

    /// Lets every user read the file.
    pub(crate) fn set_shared(&self) -> io::Result<()> {
        os::set_shared(&self.file)
    }

    /// Renames the file, replacing a file or symbolic link with that name.
    pub(crate) fn replace(mut self, name: &str) -> io::Result<()> {
        if let Some(temporary) = &self.name {
            self.folder.rename(temporary, name)?;
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

fn not_plain() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Whether an error means that a file exists and can't be read: it was neither removed nor replaced by another type.
pub(crate) fn is_unreadable(error: &io::Error) -> bool {
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
