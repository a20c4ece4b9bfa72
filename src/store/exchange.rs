//! What goes between a store and the rest of the disk: attachments, and files that leave the store
//! or come from elsewhere.

use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Component, Path};

use anyhow::{Context, bail};

use super::dir_handle::{FileType, is_link};
use super::tree::{self, TreeItem};
use super::{FOLDER_UNREADABLE, Location, NOTE_FOLDERS, PassedOver, Store, files, find_root};
use crate::error::{Error, ErrorKind};

/// The folder of a store that holds files which are no notes.
pub(super) const ATTACHMENTS: &str = "attachments";

/// Names in a store that only qipu writes, beside hidden ones and the folders of notes.
const OWN_NAMES: [&str; 4] = [ATTACHMENTS, "cache", "config.toml", "templates"];

impl Store {
    /// Lists the attachments by their paths in the store, in the order of these. Hidden files and
    /// symbolic links are passed over.
    ///
    /// # Errors
    /// `Store` for a name that is not UTF-8, or a folder that can't be read.
    pub fn attachments(&self) -> Result<Vec<String>, Error> {
        let mut paths = Vec::new();
        for item in self.attached() {
            match item.kind {
                Some(FileType::File) => paths.push(self.path_inside(&item.path)?),
                None => {
                    let message = format!("{} can't be read", self.shown(&item.shown()));
                    return Err(Error::new(ErrorKind::Store, message).hint("it holds attachments"));
                }
                Some(_) => {}
            }
        }
        paths.sort_unstable();
        Ok(paths)
    }

    /// Lists what stands among the attachments and is none, hidden files aside: its path in the store,
    /// and why.
    pub fn passed_over_attachments(&self) -> Vec<PassedOver> {
        let why = |item: &TreeItem| match item.kind {
            Some(FileType::File | FileType::Folder) => None,
            Some(FileType::Link) => Some("a symbolic link is not followed"),
            Some(FileType::Other) => Some("it is not a plain file"),
            None => Some(FOLDER_UNREADABLE),
        };
        self.attached().iter().filter_map(|item| Some((item.shown(), why(item)?))).collect()
    }

    /// Everything among the attachments that is not hidden; where their folder is a link, that.
    fn attached(&self) -> Vec<TreeItem> {
        let all = self.dir.iter().flat_map(|dir| tree::items(dir, ATTACHMENTS, |path| !tree::is_hidden(path)));
        all.filter(|item| !tree::is_hidden(&item.path)).collect()
    }

    fn path_inside(&self, path: &Path) -> Result<String, Error> {
        let names: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
        let message = || format!("the name of {} is not UTF-8", path.display());
        names.map(|names| names.join("/")).ok_or_else(|| Error::new(ErrorKind::Store, message()))
    }

    /// Reads a file of the store, whatever it is; `None` when there is none.
    ///
    /// # Errors
    /// `Failure` when it can't be read, is no plain file, or a link is on the way to it.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        self.file_of(path, u64::MAX)
    }

    /// Reads a file of at most so many bytes, as [`Store::file`] does.
    pub(super) fn file_of(&self, path: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, Error> {
        let Some(dir) = &self.dir else { return Ok(None) };
        let why = match dir.read(Path::new(path), max_bytes) {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(None),
            Err(error) if is_link(&error) => "it is a symbolic link, or its folder leads out of the store".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(Error::new(ErrorKind::Failure, format!("can't read {}: {why}", self.shown(path))))
    }

    /// Tells whether anything has this path in the store.
    pub fn is_taken(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }
}

/// Writes a file for the user, whole or not at all, anywhere but among what the store holds. What is there is replaced
/// only where `may_replace` says so; `what` names in an error what it has to be. The store need not be open. Returns the
/// word for what was done.
///
/// # Errors
/// `Usage` for a place in the store, or a file that may not be replaced; `Failure` when it can't be written; `NoStore`
/// when there is none.
pub fn export(
    location: &Location,
    current_dir: &Path,
    file: &Path,
    bytes: &[u8],
    what: &str,
    may_replace: impl FnOnce(&[u8]) -> bool,
) -> Result<&'static str, Error> {
    let root = &find_root(location, current_dir)?;
    let path = current_dir.join(file);
    if is_own(root, &path) {
        return Err(Error::usage(format!("{} is a place of the store's own", file.display()))
            .hint("give a file outside the store"));
    }
    match files::read_bytes_if_there(&path)? {
        None => files::create(&path, bytes).map(|()| "created"),
        Some(old) if old == bytes => Ok("unchanged"),
        Some(old) if may_replace(&old) => {
            files::replace_if_unchanged(&path, Some(&old), bytes, location.waits).map(|()| "changed")
        }
        Some(_) => {
            return Err(Error::usage(format!("{} exists and is not {what}; not overwritten", file.display()))
                .hint("name another file, or remove that one"));
        }
    }
    .map_err(Error::from)
}

/// Tells whether a path leads to where a store keeps what is its own.
fn is_own(root: &Path, path: &Path) -> bool {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let name = path.file_name().unwrap_or_default();
    let Some(inside) = folder.and_then(|folder| Some(folder.strip_prefix(root).ok()?.join(name))) else {
        return false;
    };
    let Some(Component::Normal(first)) = inside.components().next() else { return true };
    let is_hidden = first.as_encoded_bytes().starts_with(b".");
    is_hidden || NOTE_FOLDERS.iter().chain(&OWN_NAMES).any(|own| first == *own)
}

/// Reads a file that the user names, wherever it is.
///
/// # Errors
/// `Failure` when it can't be read.
pub fn import(file: &Path, current_dir: &Path) -> Result<Vec<u8>, Error> {
    let read = || {
        let path = current_dir.join(file);
        if path.is_dir() {
            bail!("it is a folder");
        }
        Ok(fs::read(path)?)
    };
    Ok(read().with_context(|| format!("can't read {}", file.display()))?)
}
