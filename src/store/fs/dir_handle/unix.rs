//! Directory handles on Unix: file descriptors, and system calls that resolve names below them.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
pub(super) use std::os::fd::OwnedFd as Directory;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::{DirEntry, DiskDir, FileType, expect_below};
use crate::store::fs::stat::{DirStat, FileStat};
use crate::store::git::plain_file::plain_file;

const FOLDER_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FILE_FLAGS: OFlags = OFlags::RDWR.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW);

impl DiskDir {
    /// Opens a directory. Symbolic links on the way to it are followed; one in its place is an error.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self(retry_on_intr(|| rustix::fs::open(folder, FOLDER_FLAGS, Mode::empty()))?))
    }

    /// Opens a directory below it; a symbolic link on the way or in its place is an error.
    pub(super) fn folder(&self, path: &Path) -> io::Result<Self> {
        Ok(Self(self.open(path, FOLDER_FLAGS)?))
    }

    /// Opens a regular file below it for reading, with its metadata; anything else is an error, without blocking.
    pub(super) fn file_and_metadata(&self, path: &Path) -> io::Result<(File, Metadata)> {
        plain_file(|flags| self.open(path, flags))
    }

    /// Opens a path below it: by one openat2(2) where the kernel has it (Linux 5.6), else component by component.
    fn open(&self, path: &Path, flags: OFlags) -> rustix::io::Result<Directory> {
        expect_below(path).map_err(|_| Errno::INVAL)?;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let how = ResolveFlags::NO_SYMLINKS;
            let opened = retry_on_intr(|| rustix::fs::openat2(&self.0, path, flags, Mode::empty(), how));
            // Filters for system calls answer either to one that they do not know.
            if !matches!(opened, Err(Errno::NOSYS | Errno::PERM)) {
                return opened;
            }
        }
        self.open_stepwise(path, flags)
    }

    fn open_stepwise(&self, path: &Path, flags: OFlags) -> rustix::io::Result<Directory> {
        let (mut names, mut folder) = (path.components().peekable(), None::<Directory>);
        while let Some(name) = names.next() {
            let parent = folder.as_ref().unwrap_or(&self.0);
            let flags = if names.peek().is_some() { FOLDER_FLAGS } else { flags };
            folder = Some(retry_on_intr(|| rustix::fs::openat(parent, name.as_os_str(), flags, Mode::empty()))?);
        }
        folder.ok_or(Errno::INVAL)
    }

    /// Iterates over the entries; only one iterator of a handle at a time.
    pub(super) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        let entry = |entry: rustix::io::Result<rustix::fs::DirEntry>| {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            let has_file_type = entry.file_type() != rustix::fs::FileType::Unknown;
            // Not every file system sets `d_type`.
            let kind = if has_file_type { file_type(entry.file_type()) } else { self.stat(&name)?.0 };
            Ok(DirEntry { name, kind, has_file_type })
        };
        let is_own = |entry: &rustix::io::Result<rustix::fs::DirEntry>| {
            entry.as_ref().is_ok_and(|entry| [b".".as_slice(), b".."].contains(&entry.file_name().to_bytes()))
        };
        // A duplicate of the descriptor: opening the directory by path may need other permissions.
        let mut folder = rustix::fs::Dir::new(self.0.try_clone()?)?;
        folder.rewind();
        Ok(folder.filter(move |entry| !is_own(entry)).map(entry))
    }

    pub(super) fn stat(&self, name: &OsStr) -> io::Result<(FileType, FileStat)> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((file_type(rustix::fs::FileType::from_raw_mode(stat.st_mode)), FileStat::of_stat(&stat)))
    }

    /// Returns the stat of the directory; `None` on other systems than Linux, where it is not known what changes its times.
    pub(super) fn dir_stat(&self) -> Option<DirStat> {
        let stat = rustix::fs::fstat(&self.0).ok().filter(|_| cfg!(target_os = "linux"))?;
        #[allow(clippy::unnecessary_cast, reason = "the types differ between platforms")]
        Some(DirStat { stat: FileStat::of_stat(&stat), device: stat.st_dev as u64 })
    }

    pub(super) fn make_folder(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
    }

    /// Creates a file in it that only its owner can read; an existing one is an error.
    pub(super) fn create_new(&self, name: &str) -> io::Result<File> {
        let flags = NEW_FILE_FLAGS | OFlags::CLOEXEC;
        Ok(retry_on_intr(|| rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR))?.into())
    }

    /// Creates a file without a name in it; an error if the file system does not support that.
    pub(super) fn unnamed(&self) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
            if let Ok(file) = retry_on_intr(|| rustix::fs::openat(&self.0, ".", flags, Mode::RUSR | Mode::WUSR)) {
                return Ok(file.into());
            }
        }
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }
}

fn file_type(kind: rustix::fs::FileType) -> FileType {
    match kind {
        rustix::fs::FileType::RegularFile => FileType::File,
        rustix::fs::FileType::Directory => FileType::Folder,
        rustix::fs::FileType::Symlink => FileType::Link,
        _ => FileType::Other,
    }
}

pub(super) fn set_shared(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(0o644))?)
}

/// Returns the error of a path at which, or on the way to which, is a symbolic link.
pub(in crate::store) fn link_error() -> io::Error {
    Errno::LOOP.into()
}

/// Returns the error of a path with no file.
pub(in crate::store) fn not_found() -> io::Error {
    Errno::NOENT.into()
}

/// Returns the error of a path that leads through something else than a folder.
pub(in crate::store) fn not_folder() -> io::Error {
    Errno::NOTDIR.into()
}

/// Whether an error means that a symbolic link is at a path or on the way to it.
pub(in crate::store) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// The magic numbers (`linux/magic.h`) of file systems that update the times of a directory synchronously on create, unlink
/// and rename: ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, ZFS, bcachefs.
#[cfg(target_os = "linux")]
const LOCAL: [u32; 7] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];

/// The magic number of overlayfs, where the times of a directory are those of one of its layers.
#[cfg(target_os = "linux")]
const OVERLAY: u32 = 0x794C_7630;

#[cfg(target_os = "linux")]
impl DiskDir {
    /// Whether this file system updates the times of a directory synchronously on create, unlink and rename.
    /// Directories on others (network, overlay, encrypted) are listed each time.
    pub(super) fn has_reliable_mtime(&self) -> bool {
        use rustix::fs::{StatxAttributes, StatxFlags};
        // The names in an encrypted directory depend on whether its key is loaded.
        let statx = rustix::fs::statx(&self.0, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS);
        self.is_on(&LOCAL) && statx.is_ok_and(|found| !found.stx_attributes.contains(StatxAttributes::ENCRYPTED))
    }

    /// Whether all changes of the directory go through this kernel, which can then report them.
    pub(super) fn has_local_changes(&self) -> bool {
        self.is_on(&LOCAL) || self.is_on(&[OVERLAY])
    }

    fn is_on(&self, file_systems: &[u32]) -> bool {
        rustix::fs::fstatfs(&self.0).is_ok_and(|found| file_systems.contains(&(found.f_type as u32)))
    }
}

#[cfg(not(target_os = "linux"))]
impl DiskDir {
    /// Whether the times of a directory are known to change with its content.
    pub(super) fn has_reliable_mtime(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::DirHandle;
    use super::super::tests::hostile;
    use super::*;
    use crate::store::git::plain_file::FILE_FLAGS;

    #[test]
    fn kernels_that_resolve_step_by_step_find_the_same() {
        let (_dir, store) = hostile();
        for (path, is_there) in
            [("sub/deep/x.md", true), ("link.md", false), ("link/deep/x.md", false), ("none", false)]
        {
            let (path, is_open) = (Path::new(path), |opened: rustix::io::Result<Directory>| opened.is_ok());
            let DirHandle::Disk(store) = store.as_ref() else { unreachable!("it is on disk") };
            assert_eq!(is_open(store.open_stepwise(path, FILE_FLAGS)), is_there, "{path:?}");
            assert_eq!(is_open(store.open(path, FILE_FLAGS)), is_there, "{path:?}");
        }
    }
}
