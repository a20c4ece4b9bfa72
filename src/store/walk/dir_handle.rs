//! Directory handles ([openat(2)](https://man7.org/linux/man-pages/man2/open.2.html)): listing, stats, reads and writes
//! below an open directory, which stays the same directory whatever replaces it at its path.
//!
//! Paths below a handle are resolved without following a symbolic link in any of their components. A file is opened
//! without blocking and is then checked to be a regular file: between a check of a path and its use another process could
//! replace it.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::Duration;

use super::stat::{DirStat, FileStat};

/// The most attempts to open a file on which another process holds a lease, and the pause between them; the kernel breaks
/// a lease after 45 seconds (`/proc/sys/fs/lease-break-time`).
const LEASE_TRIES: usize = 6_000;
const LEASE_PAUSE: Duration = Duration::from_millis(10);

/// The prefix of the names of temporary files, and the number of random characters behind it.
pub(crate) const TEMPORARY: &str = ".qipu-tmp-";
pub(crate) const TEMPORARY_CHARS: usize = 6;

/// Whether a name is that of a temporary file.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
    rest.is_some_and(|rest| rest.len() == TEMPORARY_CHARS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The most temporary names that are tried.
const NAME_TRIES: usize = 16;

/// The type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileType {
    File,
    Folder,
    /// A symbolic link.
    Link,
    Other,
}

/// A directory entry.
#[derive(Debug)]
pub(crate) struct DirEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
    /// Whether the listing gave the type (`d_type` of readdir(3)); else it is that of what is mounted there now.
    pub(crate) has_file_type: bool,
}

/// An open directory.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct DirHandle(std::os::fd::OwnedFd);

#[cfg(unix)]
impl DirHandle {
    /// Opens a directory. Symbolic links on the way to it are followed; one in its place is an error.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        use rustix::fs::Mode;
        Ok(Self(rustix::fs::open(folder, folder_flags(), Mode::empty())?))
    }

    /// Opens a directory below it; a symbolic link on the way or in its place is an error.
    pub(crate) fn folder(&self, path: &Path) -> io::Result<Self> {
        Ok(Self(self.open(path, folder_flags())?))
    }

    /// Opens a regular file below it for reading; anything else is an error, without blocking.
    pub(crate) fn file(&self, path: &Path) -> io::Result<File> {
        self.file_and_metadata(path).map(|(file, _)| file)
    }

    /// Opens a regular file as [`Self::file`] does, and returns its metadata.
    pub(crate) fn file_and_metadata(&self, path: &Path) -> io::Result<(File, Metadata)> {
        plain_file(|flags| self.open(path, flags))
    }

    /// Opens a path below it: by one openat2(2) where the kernel has it (Linux 5.6), else component by component.
    fn open(&self, path: &Path, flags: rustix::fs::OFlags) -> rustix::io::Result<std::os::fd::OwnedFd> {
        expect_below(path).map_err(|_| rustix::io::Errno::INVAL)?;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, ResolveFlags};
            let opened = rustix::fs::openat2(&self.0, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
            // Filters for system calls answer either to one that they do not know.
            if !matches!(opened, Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM)) {
                return opened;
            }
        }
        self.open_stepwise(path, flags)
    }

    /// Opens a path below it component by component.
    fn open_stepwise(&self, path: &Path, flags: rustix::fs::OFlags) -> rustix::io::Result<std::os::fd::OwnedFd> {
        let (mut names, mut folder) = (path.components().peekable(), None::<std::os::fd::OwnedFd>);
        while let Some(name) = names.next() {
            let parent = folder.as_ref().unwrap_or(&self.0);
            let flags = if names.peek().is_some() { folder_flags() } else { flags };
            folder = Some(rustix::fs::openat(parent, name.as_os_str(), flags, rustix::fs::Mode::empty())?);
        }
        folder.ok_or(rustix::io::Errno::INVAL)
    }

    /// Iterates over the entries; only one iterator of a handle at a time.
    pub(crate) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        use std::os::unix::ffi::OsStrExt;
        let entry = |entry: Result<rustix::fs::DirEntry, rustix::io::Errno>| {
            let entry = entry?;
            let has_file_type = entry.file_type() != rustix::fs::FileType::Unknown;
            // Not every file system sets `d_type`.
            let kind = if has_file_type { entry.file_type() } else { kind_of(&self.stat(entry.file_name())?) };
            let kind = match kind {
                rustix::fs::FileType::RegularFile => FileType::File,
                rustix::fs::FileType::Directory => FileType::Folder,
                rustix::fs::FileType::Symlink => FileType::Link,
                _ => FileType::Other,
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            Ok(DirEntry { name, kind, has_file_type })
        };
        let is_own = |entry: &Result<rustix::fs::DirEntry, rustix::io::Errno>| {
            entry.as_ref().is_ok_and(|entry| [b".".as_slice(), b".."].contains(&entry.file_name().to_bytes()))
        };
        // A duplicate of the descriptor: opening the directory by path may need other permissions.
        let mut folder = rustix::fs::Dir::new(self.0.try_clone()?)?;
        folder.rewind();
        Ok(folder.filter(move |entry| !is_own(entry)).map(entry))
    }

    /// Returns the stat of a regular file in it; `None` if there is none.
    ///
    /// # Errors
    /// If the stat can't be taken.
    pub(crate) fn file_stat(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match self.stat(name) {
            Ok(stat) => Ok(kind_of(&stat).is_file().then(|| FileStat::of_stat(&stat))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the type of an entry; `None` if there is none.
    pub(crate) fn kind(&self, name: &OsStr) -> Option<FileType> {
        Some(match kind_of(&self.stat(name).ok()?) {
            rustix::fs::FileType::RegularFile => FileType::File,
            rustix::fs::FileType::Directory => FileType::Folder,
            rustix::fs::FileType::Symlink => FileType::Link,
            _ => FileType::Other,
        })
    }

    /// Returns the stat of the directory; `None` on other systems than Linux, where it is not known what changes its times.
    pub(crate) fn dir_stat(&self) -> Option<DirStat> {
        let stat = rustix::fs::fstat(&self.0).ok().filter(|_| cfg!(target_os = "linux"))?;
        #[allow(clippy::unnecessary_cast, reason = "the types differ between platforms")]
        Some(DirStat { stat: FileStat::of_stat(&stat), device: stat.st_dev as u64 })
    }

    /// Creates a directory in it.
    pub(crate) fn make_folder(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, rustix::fs::Mode::from_raw_mode(0o777))?)
    }

    /// Creates a file in it that only its owner can read; an existing one is an error.
    fn create_new(&self, name: &str) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Creates a file without a name in it; an error if the file system does not support that.
    fn unnamed(&self) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags};
            let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
            if let Ok(file) = rustix::fs::openat(&self.0, ".", flags, Mode::RUSR | Mode::WUSR) {
                return Ok(file.into());
            }
        }
        Err(io::ErrorKind::Unsupported.into())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Removes a file or a symbolic link in it.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, rustix::fs::AtFlags::empty())?)
    }

    fn stat(&self, name: impl rustix::path::Arg) -> rustix::io::Result<rustix::fs::Stat> {
        rustix::fs::statat(&self.0, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// Opens a regular file by its path for reading; anything else is an error. Symbolic links on the way to it are followed,
/// one in its place is an error.
#[cfg(unix)]
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    plain_file(|flags| rustix::fs::open(path, flags, rustix::fs::Mode::empty())).map(|(file, _)| file)
}

#[cfg(not(unix))]
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    if path.symlink_metadata()?.is_file() { File::open(path) } else { Err(not_plain()) }
}

/// Opens a regular file with flags that neither follow a symbolic link nor block on a pipe.
#[cfg(unix)]
fn plain_file(
    open: impl Fn(rustix::fs::OFlags) -> rustix::io::Result<std::os::fd::OwnedFd>,
) -> io::Result<(File, Metadata)> {
    use rustix::fs::OFlags;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut tries = 0;
    let file = loop {
        match open(flags) {
            // The attempt made the kernel ask the holder to give the lease back.
            Err(rustix::io::Errno::WOULDBLOCK) if tries < LEASE_TRIES => std::thread::sleep(LEASE_PAUSE),
            opened => break File::from(opened?),
        }
        tries += 1;
    };
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(not_plain()) }
}

#[cfg(unix)]
fn folder_flags() -> rustix::fs::OFlags {
    use rustix::fs::OFlags;
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

#[cfg(unix)]
fn kind_of(stat: &rustix::fs::Stat) -> rustix::fs::FileType {
    rustix::fs::FileType::from_raw_mode(stat.st_mode)
}

/// The magic numbers (`linux/magic.h`) of file systems that update the times of a directory synchronously on create, unlink
/// and rename: ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, ZFS, bcachefs.
#[cfg(target_os = "linux")]
const LOCAL: [u32; 7] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];

/// The magic number of overlayfs, where the times of a directory are those of one of its layers.
#[cfg(target_os = "linux")]
const OVERLAY: u32 = 0x794C_7630;

#[cfg(target_os = "linux")]
impl DirHandle {
    /// Whether this file system updates the times of a directory synchronously on create, unlink and rename.
    /// Directories on others (network, overlay, encrypted) are listed each time.
    pub(crate) fn has_reliable_mtime(&self) -> bool {
        use rustix::fs::{AtFlags, StatxAttributes, StatxFlags};
        // The names in an encrypted directory depend on whether its key is loaded.
        let statx = rustix::fs::statx(&self.0, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS);
        self.is_on(&LOCAL) && statx.is_ok_and(|found| !found.stx_attributes.contains(StatxAttributes::ENCRYPTED))
    }

    /// Whether all changes of the directory go through this kernel, which can then report them.
    pub(crate) fn has_local_changes(&self) -> bool {
        self.is_on(&LOCAL) || self.is_on(&[OVERLAY])
    }

    fn is_on(&self, file_systems: &[u32]) -> bool {
        rustix::fs::fstatfs(&self.0).is_ok_and(|found| file_systems.contains(&(found.f_type as u32)))
    }
}

#[cfg(not(target_os = "linux"))]
impl DirHandle {
    /// Whether the times of a directory are known to change with its content: see [`Self::dir_stat`].
    pub(crate) fn has_reliable_mtime(&self) -> bool {
        false
    }
}

/// A directory, by its path.
#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct DirHandle(std::path::PathBuf);

#[cfg(not(unix))]
impl DirHandle {
    /// Names a directory; a symbolic link in its place is an error.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        if folder.symlink_metadata()?.is_dir() {
            Ok(Self(folder.to_path_buf()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Names a directory below it; a symbolic link on the way or in its place is an error.
    pub(crate) fn folder(&self, path: &Path) -> io::Result<Self> {
        expect_below(path)?;
        let mut folder = self.0.clone();
        for name in path.components() {
            folder.push(name);
            Self::new(&folder)?;
        }
        Ok(Self(folder))
    }

    /// Opens a regular file below it for reading; anything else is an error.
    pub(crate) fn file(&self, path: &Path) -> io::Result<File> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.map_or_else(|| Self::new(&self.0), |folder| self.folder(folder))?;
        let file = folder.0.join(path.file_name().ok_or_else(not_below)?);
        if file.symlink_metadata()?.is_file() { File::open(file) } else { Err(not_plain()) }
    }

    /// Opens a regular file as [`Self::file`] does, and returns its metadata.
    pub(crate) fn file_and_metadata(&self, path: &Path) -> io::Result<(File, Metadata)> {
        let file = self.file(path)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }

    /// Iterates over the entries.
    pub(crate) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        let entry = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry?;
            Ok(DirEntry { name: entry.file_name(), kind: kind_of(entry.file_type()?), has_file_type: true })
        };
        Ok(self.0.read_dir()?.map(entry))
    }

    /// Returns the stat of a regular file in it; `None` if there is none.
    ///
    /// # Errors
    /// If the stat can't be taken.
    pub(crate) fn file_stat(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match self.0.join(name).symlink_metadata() {
            Ok(metadata) => Ok(metadata.is_file().then(|| FileStat::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the type of an entry; `None` if there is none.
    pub(crate) fn kind(&self, name: &OsStr) -> Option<FileType> {
        Some(kind_of(self.0.join(name).symlink_metadata().ok()?.file_type()))
    }

    /// Always `None`: on other systems it is not known what changes the times of a directory.
    pub(crate) fn dir_stat(&self) -> Option<DirStat> {
        None
    }

    /// Creates a directory in it.
    pub(crate) fn make_folder(&self, name: &str) -> io::Result<()> {
        std::fs::create_dir(self.0.join(name))
    }

    fn create_new(&self, name: &str) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    fn unnamed(&self) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Removes a file or a symbolic link in it.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }
}

#[cfg(not(unix))]
fn kind_of(kind: std::fs::FileType) -> FileType {
    match kind {
        kind if kind.is_symlink() => FileType::Link,
        kind if kind.is_file() => FileType::File,
        kind if kind.is_dir() => FileType::Folder,
        _ => FileType::Other,
    }
}

impl DirHandle {
    /// Reads a regular file below it.
    ///
    /// # Errors
    /// `FileTooLarge` if it is longer than `max_bytes`; any other error of opening or reading it.
    pub(crate) fn read(&self, path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
        read_whole(self.file(path)?, max_bytes)
    }

    /// Returns the time of the directory's file system in nanoseconds: the modification time of a file that is created in it
    /// and removed.
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
        #[cfg(unix)]
        rustix::fs::fchmod(&self.file, rustix::fs::Mode::from_raw_mode(0o644))?;
        Ok(())
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

/// Returns an unpredictable name for a temporary file.
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

/// Whether an error means that a symbolic link is at a path or on the way to it.
#[cfg(unix)]
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
pub(crate) fn is_link(_: &io::Error) -> bool {
    false
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
    fn hostile() -> (tempfile::TempDir, Arc<DirHandle>) {
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
    fn kernels_that_resolve_step_by_step_find_the_same() {
        let (_dir, store) = hostile();
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        for (path, is_there) in
            [("sub/deep/x.md", true), ("link.md", false), ("link/deep/x.md", false), ("none", false)]
        {
            let stepwise = store.open_stepwise(Path::new(path), flags);
            assert_eq!((stepwise.is_ok(), store.open(Path::new(path), flags).is_ok()), (is_there, is_there), "{path}");
        }
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
