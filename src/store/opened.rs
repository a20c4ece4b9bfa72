//! A folder that is open: what it holds, and how it and its files look. All of that is asked of one and the same
//! folder, whatever takes its place under its path meanwhile.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use super::scan::{FolderLook, Look};

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// Symbolic links too.
    Other,
}

/// What a folder holds under a name.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) kind: Kind,
    /// Whether the folder itself says of what kind it is; else it is what is mounted there now.
    pub(super) is_told: bool,
}

/// A folder.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct Opened(std::os::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl Opened {
    /// Opens a folder itself, not what a link leads to.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags};
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(folder, how, Mode::empty())?))
    }

    /// Goes through what the folder holds; once.
    pub(super) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<Entry>>> {
        use std::os::unix::ffi::OsStrExt;
        let entry = |entry: Result<rustix::fs::DirEntry, rustix::io::Errno>| {
            let entry = entry?;
            let is_told = entry.file_type() != rustix::fs::FileType::Unknown;
            // Not every file system tells.
            let kind = if is_told { entry.file_type() } else { kind_of(&self.stat(entry.file_name())?) };
            let kind = match kind {
                rustix::fs::FileType::RegularFile => Kind::File,
                rustix::fs::FileType::Directory => Kind::Folder,
                _ => Kind::Other,
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            Ok(Entry { name, kind, is_told })
        };
        // Not opened anew, which asks for other rights.
        Ok(rustix::fs::Dir::new(self.0.try_clone()?)?.map(entry))
    }

    /// Returns how a plain file in it looks; `None` where there is none, or it can't be told.
    pub(super) fn look(&self, name: &OsStr) -> Option<Look> {
        let stat = self.stat(name).ok()?;
        kind_of(&stat).is_file().then(|| Look::of_stat(&stat))
    }

    /// Returns how the folder looks.
    pub(super) fn own_look(&self) -> Option<FolderLook> {
        let stat = rustix::fs::fstat(&self.0).ok()?;
        Some(FolderLook { look: Look::of_stat(&stat), device: stat.st_dev })
    }

    /// Tells whether the folder is of a kind of which it is known that its moments change whenever something in
    /// it is made, removed or renamed, and at once: others are listed each time.
    pub(super) fn tells_of_changes(&self) -> bool {
        use rustix::fs::{AtFlags, StatxAttributes, StatxFlags};
        /// The numbers of `linux/magic.h`: ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, ZFS, bcachefs. Of what overlayfs
        /// puts together, a folder's moments are those of one layer.
        const KNOWN: [u32; 7] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];
        let is_known = rustix::fs::fstatfs(&self.0).is_ok_and(|found| KNOWN.contains(&(found.f_type as u32)));
        // What an encrypted folder shows depends on who has a key.
        let statx = rustix::fs::statx(&self.0, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS);
        is_known && statx.is_ok_and(|found| !found.stx_attributes.contains(StatxAttributes::ENCRYPTED))
    }

    fn stat(&self, name: impl rustix::path::Arg) -> rustix::io::Result<rustix::fs::Stat> {
        rustix::fs::statat(&self.0, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
    }
}

#[cfg(target_os = "linux")]
fn kind_of(stat: &rustix::fs::Stat) -> rustix::fs::FileType {
    rustix::fs::FileType::from_raw_mode(stat.st_mode)
}

/// A folder, by its path.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(super) struct Opened(std::path::PathBuf);

#[cfg(not(target_os = "linux"))]
impl Opened {
    /// Takes a folder itself, not what a link leads to.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        match folder.symlink_metadata()?.is_dir() {
            true => Ok(Self(folder.to_path_buf())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Goes through what the folder holds.
    pub(super) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<Entry>>> {
        let entry = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry?;
            let kind = match entry.file_type()? {
                kind if kind.is_file() => Kind::File,
                kind if kind.is_dir() => Kind::Folder,
                _ => Kind::Other,
            };
            Ok(Entry { name: entry.file_name(), kind, is_told: true })
        };
        Ok(self.0.read_dir()?.map(entry))
    }

    /// Returns how a plain file in it looks; `None` where there is none, or it can't be told.
    pub(super) fn look(&self, name: &OsStr) -> Option<Look> {
        let metadata = self.0.join(name).symlink_metadata().ok()?;
        metadata.is_file().then(|| Look::of(&metadata))
    }

    /// How the folder looks tells nothing: on other systems nobody has tried yet what changes its moments.
    pub(super) fn own_look(&self) -> Option<FolderLook> {
        None
    }

    /// See [`Self::own_look`].
    pub(super) fn tells_of_changes(&self) -> bool {
        false
    }
}
