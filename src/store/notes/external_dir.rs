//! Folders of other applications: listed and read, never written. Symbolic links are not followed.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::store::Store;
use crate::error::Error;
use crate::store::collections::layout::CONFIG_FILE;
use crate::store::fs::dir_handle::{DirHandle, FileType, is_unreadable};
use crate::store::fs::tree::{self, TreeItem};

/// The greatest length of a file of settings that is read, in bytes.
const MAX_SETTINGS: u64 = 1024 * 1024;

/// A folder of another application, with its files.
#[derive(Debug)]
pub struct ExternalDir {
    /// The folder's own name.
    pub name: String,
    /// Its regular files, sorted by path, without hidden ones.
    pub files: Vec<ExternalFile>,
    /// The entries that are not read: their paths in the folder, with the reason.
    pub skipped: Vec<(String, String)>,
    root: PathBuf,
    dir: Arc<DirHandle>,
}

/// A file of a folder.
#[derive(Debug)]
pub struct ExternalFile {
    /// Its path in the folder, with `/` between names.
    pub path: String,
    /// Its real path there.
    real: PathBuf,
    dir: Arc<DirHandle>,
}

impl ExternalDir {
    /// Lists the files of a folder.
    ///
    /// # Errors
    /// `Usage` if there is no such folder; `Failure` if it can't be read.
    pub fn open(dir: &Path, current_dir: &Path) -> Result<Self, Error> {
        let opened = current_dir.join(dir).canonicalize().and_then(|root| Ok((DirHandle::new(&root)?, root)));
        let shown = dir.display();
        let (opened, root) = opened.map_err(|error| match is_unreadable(&error) {
            true => Error::failure(format!("can't read {shown}: {error}")),
            false => Error::usage(format!("there is no folder {shown}")).hint("give the folder to import"),
        })?;
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let dir = Arc::new(opened);
        let mut found = Self { name, files: Vec::new(), skipped: Vec::new(), root, dir: Arc::clone(&dir) };
        // A store in the folder is excluded.
        let is_store = |path: &Path| {
            let below = path.file_name().filter(|name| *name == "qipu").and_then(|_| dir.folder(path).ok());
            let is = |below: &DirHandle, name: &str, kind| below.kind(name.as_ref()) == Some(kind);
            below.is_some_and(|below| is(&below, CONFIG_FILE, FileType::File) && is(&below, "notes", FileType::Folder))
        };
        for item in tree::items(&dir, "", |path| !tree::is_hidden(path) && !is_store(path)) {
            if item.path.as_os_str().is_empty() {
                return Err(Error::failure(format!("can't list {shown}")));
            }
            if !tree::is_hidden(&item.path) {
                found.take(item);
            }
        }
        found.files.sort_by(|a, b| a.path.cmp(&b.path));
        found.skipped.sort();
        Ok(found)
    }

    fn take(&mut self, item: TreeItem) {
        let why = match (inside(&item.path), item.kind) {
            (_, Some(FileType::Folder)) => return,
            (Ok(path), Some(FileType::File)) => {
                return self.files.push(ExternalFile { path, real: item.path, dir: Arc::clone(&self.dir) });
            }
            (Ok(path) | Err(path), None) => (path, "it can't be read"),
            (Ok(path), Some(FileType::Link)) => (path, "a symbolic link is not followed"),
            (Ok(path), Some(FileType::Other)) => (path, "it is not a regular file"),
            (Err(path), Some(_)) => (path, "its name is not UTF-8"),
        };
        self.skipped.push((why.0, why.1.to_owned()));
    }

    /// Reads a file of settings, hidden or not; empty if it can't be read.
    pub fn settings(&self, path: &str) -> String {
        let bytes = self.dir.read(Path::new(path), MAX_SETTINGS).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Whether it contains a folder, hidden or not. A symbolic link does not count.
    pub fn has_folder(&self, name: &str) -> bool {
        self.dir.folder(Path::new(name)).is_ok()
    }

    /// Whether the folder contains a store.
    pub fn contains(&self, store: &Store) -> bool {
        store.first().root.starts_with(&self.root)
    }

    /// Expects that the folder is neither the store nor inside it.
    ///
    /// # Errors
    /// `Usage` if it is.
    pub fn expect_apart(&self, store: &Store) -> Result<(), Error> {
        if self.root.starts_with(&store.first().root) {
            return Err(Error::usage("the folder is inside the store").hint("its notes are already in the store"));
        }
        Ok(())
    }
}

impl ExternalFile {
    /// Reads the file's bytes.
    ///
    /// # Errors
    /// A sentence with the reason: the file is longer than `max_bytes`, or can't be read.
    pub fn read(&self, max_bytes: u64) -> Result<Vec<u8>, String> {
        self.dir.read(&self.real, max_bytes).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => error.to_string(),
            ErrorKind::NotFound => "it no longer exists".to_owned(),
            _ => format!("it can't be read: {error}"),
        })
    }
}

/// Returns a path with `/` between names; as it is displayed if it is not UTF-8.
fn inside(path: &Path) -> Result<String, String> {
    let names: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    names.map(|names| names.join("/")).ok_or_else(|| path.to_string_lossy().into_owned())
}
