//! Folders of other programs: listed and read, never written, and never left.

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::Store;
use super::files;
use crate::error::{Error, ErrorKind};

/// The longest file of settings that is read, in bytes.
const MAX_SETTINGS: u64 = 1024 * 1024;

/// The files of a folder.
#[derive(Debug)]
pub struct Foreign {
    /// The folder's own name.
    pub name: String,
    /// Its plain files, in the order of their paths. Hidden ones are not among them.
    pub files: Vec<ForeignFile>,
    /// What can't be read: its path in the folder, and why.
    pub passed_over: Vec<(String, String)>,
    root: PathBuf,
}

/// A file of a folder.
#[derive(Debug)]
pub struct ForeignFile {
    /// Its path in the folder, with `/` between names.
    pub path: String,
    real: PathBuf,
}

impl Foreign {
    /// Lists the files of a folder. Symbolic links in it are not followed.
    ///
    /// # Errors
    /// `Usage` when there is no such folder.
    pub fn open(dir: &Path, current_dir: &Path) -> Result<Self, Error> {
        let root = current_dir.join(dir).canonicalize().ok().filter(|root| root.is_dir());
        let Some(root) = root else {
            return Err(Error::usage(format!("there is no folder {}", dir.display())).hint("give the folder to import"));
        };
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut found = Self { name, files: Vec::new(), passed_over: Vec::new(), root: root.clone() };
        let is_shown =
            |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".");
        // A store in the folder is no part of it.
        let is_store = |entry: &walkdir::DirEntry| {
            entry.depth() > 0
                && entry.file_name() == "qipu"
                && entry.path().join("config.toml").is_file()
                && entry.path().join("notes").is_dir()
        };
        let walk = WalkDir::new(&root).follow_links(false).sort_by_file_name().into_iter();
        for entry in walk.filter_entry(|entry| is_shown(entry) && !is_store(entry)) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => found.take(entry.path(), entry.file_type()),
                Err(error) => {
                    let path =
                        error.path().map(|path| found.inside(path).unwrap_or_else(|path| path)).unwrap_or_default();
                    found.passed_over.push((path, "it can't be read".to_owned()));
                }
            }
        }
        found.files.sort_by(|a, b| a.path.cmp(&b.path));
        found.passed_over.sort();
        Ok(found)
    }

    fn take(&mut self, path: &Path, kind: fs::FileType) {
        let why = match self.inside(path) {
            Ok(inside) if kind.is_file() => {
                return self.files.push(ForeignFile { path: inside, real: path.to_path_buf() });
            }
            Ok(inside) if kind.is_symlink() => (inside, "a symbolic link is not followed".to_owned()),
            Ok(inside) => (inside, "it is no plain file".to_owned()),
            Err(inside) => (inside, "its name is not UTF-8".to_owned()),
        };
        self.passed_over.push(why);
    }

    /// Returns a path in the folder; as it shows where it is not UTF-8.
    fn inside(&self, path: &Path) -> Result<String, String> {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let names: Option<Vec<&str>> = inside.components().map(|part| part.as_os_str().to_str()).collect();
        names.map(|names| names.join("/")).ok_or_else(|| inside.to_string_lossy().into_owned())
    }

    /// Reads a file of settings, hidden or not; nothing where there is none that can be read.
    pub fn settings(&self, path: &str) -> String {
        let whole = self.root.join(path);
        let is_inside = whole
            .parent()
            .and_then(|folder| folder.canonicalize().ok())
            .is_some_and(|folder| folder.starts_with(&self.root));
        let is_plain =
            || fs::symlink_metadata(&whole).is_ok_and(|found| found.is_file() && found.len() <= MAX_SETTINGS);
        if is_inside && is_plain() { fs::read_to_string(&whole).unwrap_or_default() } else { String::new() }
    }

    /// Tells whether there is a folder of a name in it, hidden or not. A symbolic link is none.
    pub fn has_folder(&self, name: &str) -> bool {
        fs::symlink_metadata(self.root.join(name)).is_ok_and(|found| found.is_dir())
    }

    /// Tells whether the folder contains a store.
    pub fn contains(&self, store: &Store) -> bool {
        store.root.starts_with(&self.root)
    }

    /// Tells whether the folder is a store or lies in one, or holds nothing but one.
    pub fn is_in(&self, store: &Store) -> bool {
        self.root.starts_with(&store.root)
    }
}

impl ForeignFile {
    /// Reads the file's bytes.
    ///
    /// # Errors
    /// A sentence that says why not: it is longer than this, or can't be read.
    pub fn read(&self, max_bytes: u64) -> Result<Vec<u8>, String> {
        match fs::symlink_metadata(&self.real) {
            Ok(found) if found.len() > max_bytes => return Err(format!("it is longer than {max_bytes} bytes")),
            Ok(_) => {}
            Err(error) => return Err(format!("it can't be read: {error}")),
        }
        match files::read_bytes_if_there(&self.real) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err("it is gone".to_owned()),
            Err(error) => Err(match error.downcast_ref::<std::io::Error>() {
                Some(error) => format!("it can't be read: {error}"),
                None => "it can't be read".to_owned(),
            }),
        }
    }
}

/// Refuses to import a store, or a part of one, into itself.
///
/// # Errors
/// `Usage`.
pub fn expect_apart(foreign: &Foreign, store: &Store) -> Result<(), Error> {
    if foreign.is_in(store) {
        return Err(
            Error::new(ErrorKind::Usage, "the folder lies in the store").hint("notes of the store are there already")
        );
    }
    Ok(())
}
