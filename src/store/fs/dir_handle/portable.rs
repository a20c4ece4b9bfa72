//! Directory handles on other systems than Unix: paths, whose components are checked before they are used.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
pub(super) use std::path::PathBuf as Directory;

use super::{DirEntry, DiskDir, FileType, expect_below, not_below};
use crate::store::fs::stat::{DirStat, FileStat};
use crate::store::git::plain_file::{not_plain, open_plain};

impl DiskDir {
    /// Names a directory; a symbolic link in its place is an error.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        if folder.symlink_metadata()?.is_dir() {
            Ok(Self(folder.to_path_buf()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Names a directory below it; a symbolic link on the way or in its place is an error.
    pub(super) fn folder(&self, path: &Path) -> io::Result<Self> {
        expect_below(path)?;
        let mut folder = self.0.clone();
        for name in path.components() {
            folder.push(name);
            Self::new(&folder)?;
        }
        Ok(Self(folder))
    }

    /// Opens a regular file below it for reading, with its metadata; anything else is an error, without blocking.
    pub(super) fn file_and_metadata(&self, path: &Path) -> io::Result<(File, Metadata)> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.map_or_else(|| Self::new(&self.0), |folder| self.folder(folder))?;
        let file = open_plain(&folder.0.join(path.file_name().ok_or_else(not_below)?))?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }

    pub(super) fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        let entry = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry?;
            Ok(DirEntry { name: entry.file_name(), kind: FileType::of(entry.file_type()?), has_file_type: true })
        };
        Ok(self.0.read_dir()?.map(entry))
    }

    pub(super) fn stat(&self, name: &OsStr) -> io::Result<(FileType, FileStat)> {
        let metadata = self.0.join(name).symlink_metadata()?;
        Ok((FileType::of(metadata.file_type()), FileStat::of(&metadata)))
    }

    /// Whether the times of a directory are known to change with its content.
    pub(super) fn has_reliable_mtime(&self) -> bool {
        false
    }

    /// Always `None`: on other systems it is not known what changes the times of a directory.
    pub(super) fn dir_stat(&self) -> Option<DirStat> {
        None
    }

    pub(super) fn make_folder(&self, name: &str) -> io::Result<()> {
        std::fs::create_dir(self.0.join(name))
    }

    pub(super) fn create_new(&self, name: &str) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    pub(super) fn unnamed(&self) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }
}

pub(super) fn set_shared(_: &File) -> io::Result<()> {
    Ok(())
}

pub(in crate::store) fn is_link(_: &io::Error) -> bool {
    false
}

/// Returns the error of a path at which, or on the way to which, is a symbolic link.
pub(in crate::store) fn link_error() -> io::Error {
    not_plain()
}

/// Returns the error of a path with no file.
pub(in crate::store) fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// Returns the error of a path that leads through something else than a folder.
pub(in crate::store) fn not_folder() -> io::Error {
    io::ErrorKind::NotADirectory.into()
}
