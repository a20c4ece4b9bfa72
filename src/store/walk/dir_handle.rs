//! A directory handle: what a folder holds, how it and its files look, and what is read and written in it. All of that
//! is asked of one and the same folder, whatever takes its place under its path meanwhile.
//!
//! Paths below a handle are resolved without following symbolic links, at any of their parts. A file is opened without
//! blocking, and what was opened is then checked to be a plain file: between a check of a path and its use, somebody
//! else could have replaced it.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::Duration;

use super::files::{TEMPORARY, TEMPORARY_CHARS};
use super::scan::{DirStat, FileStat};

/// How often a file that another process holds a lease on is tried again, and the pause between; the kernel breaks a
/// lease after 45 seconds (`/proc/sys/fs/lease-break-time`).
const LEASE_TRIES: usize = 6_000;
const LEASE_PAUSE: Duration = Duration::from_millis(10);

/// How many temporary names are tried.
const NAME_TRIES: usize = 16;

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileType {
    File,
    Folder,
    /// A symbolic link.
    Link,
    Other,
}

/// What a folder holds under a name.
#[derive(Debug)]
pub(super) struct DirEntry {
    pub(super) name: OsString,
    pub(super) kind: FileType,
    /// Whether the folder itself says of what kind it is; else it is what is mounted there now.
    pub(super) is_told: bool,
}

/// A folder.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct DirHandle(std::os::fd::OwnedFd);

#[cfg(unix)]
impl DirHandle {
    /// Opens a folder itself, not what a link leads to. Links on the way to it are followed.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        use rustix::fs::Mode;
        Ok(Self(rustix::fs::open(folder, folder_flags(), Mode::empty())?))
    }

    /// Opens a folder below it; a link on the way, or in its place, is an error.
    pub(super) fn folder(&self, path: &Path) -> io::Result<Self> {
        Ok(Self(self.open(path, folder_flags())?))
    }

    /// Opens a plain file below it for reading; anything else is an error, and never waited for.
    pub(super) fn file(&self, path: &Path) -> io::Result<File> {
        self.file_and_metadata(path).map(|(file, _)| file)
    }

    /// Opens a plain file as [`Self::file`] does, and returns what was asked of it for that.
    pub(super) fn file_and_metadata(&self, path: &Path) -> io::Result<(File, Metadata)> {
        plain_file(|flags| self.open(path, flags))
    }

    /// Opens what is below it in one step where the kernel can (Linux 5.6), else folder by folder.
    fn open(&self, path: &Path, flags: rustix::fs::OFlags) -> rustix::io::Result<std::os::fd::OwnedFd> {
        expect_below(path).map_err(|_| rustix::io::Errno::INVAL)?;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, ResolveFlags};
            let opened = rustix::fs::openat2(&self.0, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
            // Filters for system calls may say either where they do not know it.
            if !matches!(opened, Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM)) {
                return opened;
            }
        }
        self.open_stepwise(path, flags)
    }

    /// Opens what is below it folder by folder.
    fn open_stepwise(&self, path: &Path, flags: rustix::fs::OFlags) -> rustix::io::Result<std::os::fd::OwnedFd> {
        let (mut names, mut folder) = (path.components().peekable(), None::<std::os::fd::OwnedFd>);
        while let Some(name) = names.next() {
            let at = folder.as_ref().unwrap_or(&self.0);
            let flags = if names.peek().is_some() { folder_flags() } else { flags };
            folder = Some(rustix::fs::openat(at, name.as_os_str(), flags, rustix::fs::Mode::empty())?);
        }
        folder.ok_or(rustix::io::Errno::INVAL)
    }

    /// Goes through what the folder holds; one at a time may.
    pub(super) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        use std::os::unix::ffi::OsStrExt;
        let entry = |entry: Result<rustix::fs::DirEntry, rustix::io::Errno>| {
            let entry = entry?;
            let is_told = entry.file_type() != rustix::fs::FileType::Unknown;
            // Not every file system tells.
            let kind = if is_told { entry.file_type() } else { kind_of(&self.stat(entry.file_name())?) };
            let kind = match kind {
                rustix::fs::FileType::RegularFile => FileType::File,
                rustix::fs::FileType::Directory => FileType::Folder,
                rustix::fs::FileType::Symlink => FileType::Link,
                _ => FileType::Other,
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            Ok(DirEntry { name, kind, is_told })
        };
        let is_own = |entry: &Result<rustix::fs::DirEntry, rustix::io::Errno>| {
            entry.as_ref().is_ok_and(|entry| [b".".as_slice(), b".."].contains(&entry.file_name().to_bytes()))
        };
        // Not opened anew, which asks for other rights.
        let mut folder = rustix::fs::Dir::new(self.0.try_clone()?)?;
        folder.rewind();
        Ok(folder.filter(move |entry| !is_own(entry)).map(entry))
    }

    /// Returns how a plain file in it looks; `None` where there is none.
    ///
    /// # Errors
    /// When that can't be told.
    pub(super) fn look(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match self.stat(name) {
            Ok(stat) => Ok(kind_of(&stat).is_file().then(|| FileStat::of_stat(&stat))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns of what kind that is which has a name in it; `None` where nothing has.
    pub(super) fn kind(&self, name: &OsStr) -> Option<FileType> {
        Some(match kind_of(&self.stat(name).ok()?) {
            rustix::fs::FileType::RegularFile => FileType::File,
            rustix::fs::FileType::Directory => FileType::Folder,
            rustix::fs::FileType::Symlink => FileType::Link,
            _ => FileType::Other,
        })
    }

    /// Returns how the folder looks; on other systems than Linux nobody has tried yet what changes its moments.
    pub(super) fn own_look(&self) -> Option<DirStat> {
        let stat = rustix::fs::fstat(&self.0).ok().filter(|_| cfg!(target_os = "linux"))?;
        #[allow(clippy::unnecessary_cast, reason = "the types differ from machine to machine")]
        Some(DirStat { look: FileStat::of_stat(&stat), device: stat.st_dev as u64 })
    }

    /// Makes a folder in it.
    pub(super) fn make_folder(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, rustix::fs::Mode::from_raw_mode(0o777))?)
    }

    /// Makes a file in it that was not there, for its owner alone.
    fn create_new(&self, name: &str) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Makes a file in it that has no name, where the file system can.
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

    /// Removes a file in it, or a link itself.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, rustix::fs::AtFlags::empty())?)
    }

    fn stat(&self, name: impl rustix::path::Arg) -> rustix::io::Result<rustix::fs::Stat> {
        rustix::fs::statat(&self.0, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// Opens a plain file for reading, by its path; a link in its place is an error, and so is anything else. Links on the
/// way to it are followed.
#[cfg(unix)]
pub(super) fn open_plain(path: &Path) -> io::Result<File> {
    plain_file(|flags| rustix::fs::open(path, flags, rustix::fs::Mode::empty())).map(|(file, _)| file)
}

#[cfg(not(unix))]
pub(super) fn open_plain(path: &Path) -> io::Result<File> {
    if path.symlink_metadata()?.is_file() { File::open(path) } else { Err(not_plain()) }
}

/// Opens a plain file with flags that neither follow a link nor wait for a pipe.
#[cfg(unix)]
fn plain_file(
    open: impl Fn(rustix::fs::OFlags) -> rustix::io::Result<std::os::fd::OwnedFd>,
) -> io::Result<(File, Metadata)> {
    use rustix::fs::OFlags;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut tries = 0;
    let file = loop {
        match open(flags) {
            // The open told the holder of the lease to give it back.
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

/// The numbers of `linux/magic.h` of file systems whose folders' moments change whenever something in them is made,
/// removed or renamed, and at once: ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, ZFS, bcachefs.
#[cfg(target_os = "linux")]
const LOCAL: [u32; 7] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];

/// That of overlayfs: a folder's moments are those of one of its layers.
#[cfg(target_os = "linux")]
const OVERLAY: u32 = 0x794C_7630;

#[cfg(target_os = "linux")]
impl DirHandle {
    /// Tells whether this file system updates the times of a directory synchronously on create, unlink and rename.
    /// Directories on others (network, overlay, encrypted) are listed each time.
    pub(super) fn has_reliable_mtime(&self) -> bool {
        use rustix::fs::{AtFlags, StatxAttributes, StatxFlags};
        // What an encrypted folder shows depends on who has a key.
        let statx = rustix::fs::statx(&self.0, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS);
        self.is_on(&LOCAL) && statx.is_ok_and(|found| !found.stx_attributes.contains(StatxAttributes::ENCRYPTED))
    }

    /// Tells whether all changes of the folder go through this machine's kernel, which can then report them.
    pub(super) fn has_local_changes(&self) -> bool {
        self.is_on(&LOCAL) || self.is_on(&[OVERLAY])
    }

    fn is_on(&self, file_systems: &[u32]) -> bool {
        rustix::fs::fstatfs(&self.0).is_ok_and(|found| file_systems.contains(&(found.f_type as u32)))
    }
}

#[cfg(not(target_os = "linux"))]
impl DirHandle {
    /// See [`Self::own_look`].
    pub(super) fn has_reliable_mtime(&self) -> bool {
        false
    }
}

/// A folder, by its path.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct DirHandle(std::path::PathBuf);

#[cfg(not(unix))]
impl DirHandle {
    /// Takes a folder itself, not what a link leads to.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        match folder.symlink_metadata()?.is_dir() {
            true => Ok(Self(folder.to_path_buf())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Takes a folder below it; a link on the way, or in its place, is an error.
    pub(super) fn folder(&self, path: &Path) -> io::Result<Self> {
        expect_below(path)?;
        let mut folder = self.0.clone();
        for name in path.components() {
            folder.push(name);
            Self::new(&folder)?;
        }
        Ok(Self(folder))
    }

    /// Opens a plain file below it for reading; anything else is an error.
    pub(super) fn file(&self, path: &Path) -> io::Result<File> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.map_or_else(|| Self::new(&self.0), |folder| self.folder(folder))?;
        let file = folder.0.join(path.file_name().ok_or_else(not_below)?);
        if file.symlink_metadata()?.is_file() { File::open(file) } else { Err(not_plain()) }
    }

    /// Opens a plain file as [`Self::file`] does, and returns its metadata too.
    pub(super) fn file_and_metadata(&self, path: &Path) -> io::Result<(File, Metadata)> {
        let file = self.file(path)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }

    /// Goes through what the folder holds.
    pub(super) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        let entry = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry?;
            Ok(DirEntry { name: entry.file_name(), kind: kind_of(entry.file_type()?), is_told: true })
        };
        Ok(self.0.read_dir()?.map(entry))
    }

    /// Returns how a plain file in it looks; `None` where there is none.
    ///
    /// # Errors
    /// When that can't be told.
    pub(super) fn look(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match self.0.join(name).symlink_metadata() {
            Ok(metadata) => Ok(metadata.is_file().then(|| FileStat::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns of what kind that is which has a name in it; `None` where nothing has.
    pub(super) fn kind(&self, name: &OsStr) -> Option<FileType> {
        Some(kind_of(self.0.join(name).symlink_metadata().ok()?.file_type()))
    }

    /// How the folder looks tells nothing: on other systems nobody has tried yet what changes its moments.
    pub(super) fn own_look(&self) -> Option<DirStat> {
        None
    }

    /// Makes a folder in it.
    pub(super) fn make_folder(&self, name: &str) -> io::Result<()> {
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

    /// Removes a file in it, or a link itself.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
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
    /// Reads a plain file below it.
    ///
    /// # Errors
    /// `FileTooLarge` for one that is longer than `max_bytes`; whatever else keeps it from being read.
    pub(super) fn read(&self, path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
        read_whole(self.file(path)?, max_bytes)
    }

    /// Returns the moment that it is now for the folder's file system, by a file that is made there and goes away.
    pub(super) fn moment(self: &Arc<Self>) -> io::Result<i64> {
        let of = |file: &File| Ok(FileStat::of(&file.metadata()?).modified);
        match self.unnamed() {
            Ok(file) => of(&file),
            Err(_) => of(&TempFile::new(Arc::clone(self))?.file),
        }
    }
}

/// Reads an open file.
///
/// # Errors
/// `FileTooLarge` for one that is longer than `max_bytes`.
pub(super) fn read_whole(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
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

/// A file with a temporary name in a folder. It replaces another file, or goes away.
#[derive(Debug)]
pub(super) struct TempFile {
    pub(super) file: File,
    folder: Arc<DirHandle>,
    /// The temporary name; `None` when the file has its place.
    name: Option<String>,
}

impl TempFile {
    /// Makes an empty file for its owner alone, under a name that nothing had.
    pub(super) fn new(folder: Arc<DirHandle>) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            let name = temporary_name()?;
            match folder.create_new(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < NAME_TRIES => tries += 1,
                file => return Ok(Self { file: file?, folder, name: Some(name) }),
            }
        }
    }

    /// Lets everybody read the file.
    pub(super) fn set_shared(&self) -> io::Result<()> {
        #[cfg(unix)]
        rustix::fs::fchmod(&self.file, rustix::fs::Mode::from_raw_mode(0o644))?;
        Ok(())
    }

    /// Gives the file its name, in place of a file or link that has it.
    pub(super) fn replace(mut self, name: &str) -> io::Result<()> {
        if let Some(temporary) = &self.name {
            self.folder.rename(temporary, name)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // Whatever can't be removed is removed as left over later.
        self.name.iter().for_each(|name| drop(self.folder.remove(name.as_ref())));
    }
}

/// Returns a name for a temporary file that nobody can foresee.
fn temporary_name() -> io::Result<String> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let random = getrandom::u64().map_err(io::Error::other)?;
    let letter = |place: usize| char::from(LETTERS[(random >> (5 * place)) as usize % LETTERS.len()]);
    Ok(TEMPORARY.chars().chain((0..TEMPORARY_CHARS).map(letter)).collect())
}

/// Refuses a path that is empty, absolute or leads upwards.
fn expect_below(path: &Path) -> io::Result<()> {
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    if is_below && path.file_name().is_some() { Ok(()) } else { Err(not_below()) }
}

fn not_below() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no path in the folder")
}

fn not_plain() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file")
}

/// Tells whether something is there under a path and can't be read: neither gone, nor a link or the like by now.
pub(super) fn is_unreadable(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    !matches!(error.kind(), NotFound | NotADirectory | InvalidInput) && !is_link(error)
}

/// Tells whether a path could not be opened since a link stands there, or on the way.
#[cfg(unix)]
pub(super) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
pub(super) fn is_link(_: &io::Error) -> bool {
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
        // So with the store's own folder.
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
        assert!(store.moment().is_ok());
        assert_eq!(names(), before);
        TempFile::new(Arc::clone(&store)).unwrap().replace("link.md").unwrap();
        assert_eq!(fs::read(at("store/link.md")).unwrap(), b"");
        assert_eq!(fs::read(at("outside/deep/x.md")).unwrap(), b"secret");
        let name = temporary_name().unwrap();
        assert!(super::super::files::is_temporary(name.as_ref()) && name != temporary_name().unwrap());
    }
}
