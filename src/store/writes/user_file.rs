//! Export of an answer to a file, files of state, and reading of a file that the user names.

use std::fs;
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, anyhow, bail};

use crate::env::{MAX_STDIN_BYTES, WaitPolicy};
use crate::error::{self, Error};
use crate::note::{MARKDOWN_ENDINGS, NOTE_FOLDERS};
use crate::store::collections::discover::{Location, expect_inside, find_root};
use crate::store::collections::layout::{ATTACHMENTS, CONFIG_FILE, TEMPLATES};
use crate::store::fs::{atomic_write, files};
use crate::store::git::plain_file::{open_plain, read_whole};
use crate::store::index::location::FOLDER as CACHE;
use crate::store::notes::store::Store;

/// The most bytes of a file that the user names: a pack with all the attachments that one command reads, in base64.
const MAX_USER_FILE: u64 = 1 << 30;

/// The names in a store that belong to qipu, besides hidden ones and the folders of notes.
const OWN_NAMES: [&str; 4] = [ATTACHMENTS, CACHE, CONFIG_FILE, TEMPLATES];

/// The bytes at the beginning of an export that tell what it is.
const MAX_BEGINNING: u64 = 64;

/// Writes a file for the user atomically, anywhere but among the files of the store, and returns the word for what was
/// done. An existing file is replaced only if `can_replace` accepts its content; `what` names the kind of such files.
///
/// # Errors
/// `Usage` for a path in the store, a folder, a file in a folder that does not exist, or one that must not be replaced; `Failure` if it can't be written; `NoStore`.
pub fn export(
    location: &Location,
    current_dir: &Path,
    file: &Path,
    bytes: &[u8],
    what: &str,
    can_replace: impl FnOnce(&[u8]) -> bool,
) -> Result<&'static str, Error> {
    let path = path_of_export(location, current_dir, file)?;
    match files::read_bytes_if_there(&path).map_err(|error| failed("read", file, &error))? {
        None => atomic_write::create(&path, bytes).map(|()| "created"),
        Some(old) if old == bytes => Ok("unchanged"),
        Some(old) if can_replace(&old) => {
            atomic_write::replace_if_unchanged(&path, Some(&old), bytes, location.waits).map(|()| "changed")
        }
        Some(_) => return Err(not_replaced(file, what)),
    }
    .map_err(|error| failed("write", file, &error))
}

/// Writes a file as [`export`] does while its content is made, which may be larger than memory. `can_replace` gets the
/// beginning of an existing file.
///
/// # Errors
/// As there, and those of `write`.
pub fn export_stream(
    location: &Location,
    current_dir: &Path,
    file: &Path,
    what: &str,
    can_replace: impl FnOnce(&[u8]) -> bool,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<&'static str, Error> {
    let path = path_of_export(location, current_dir, file)?;
    let mut old = Vec::new();
    let is_new = match open_plain(&path).and_then(|file| file.take(MAX_BEGINNING).read_to_end(&mut old)) {
        Ok(_) => false,
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => return Err(failed("read", file, &error.into())),
    };
    if !is_new && !can_replace(&old) {
        return Err(not_replaced(file, what));
    }
    let mut cause = None;
    let written = atomic_write::stream(&path, is_new, |out| {
        let out = &mut BufWriter::new(out);
        let made = write(out).and_then(|()| Ok(out.flush()?));
        made.map_err(|error| {
            cause = Some(error);
            ErrorKind::Other.into()
        })
    });
    let named = |error: Error| match error.kind {
        error::ErrorKind::Failure => failed("write", file, &anyhow!(error.message)),
        _ => error,
    };
    written.map_err(|error| cause.map_or_else(|| failed("write", file, &error), named))?;
    Ok(if is_new { "created" } else { "changed" })
}

/// Returns the path of a file that the user names for an export.
fn path_of_export(location: &Location, current_dir: &Path, file: &Path) -> Result<PathBuf, Error> {
    let root = &find_root(location, current_dir)?;
    let path = current_dir.join(file);
    if is_own(root, &path)? {
        return Err(
            Error::usage(format!("{} belongs to the store", file.display())).hint("name a file outside the store")
        );
    }
    expect_inside(&location.files, current_dir, file)?;
    expect_folder_of(file, &path)?;
    if path.is_dir() {
        return Err(Error::usage(format!("{} is a folder", file.display())).hint("name a file in it"));
    }
    Ok(path)
}

fn not_replaced(file: &Path, what: &str) -> Error {
    Error::usage(format!("{} exists and is not {what}; not overwritten", file.display()))
        .hint("name another file, or remove this one")
}

/// Returns the error of a file. The chain of causes contains the path of this machine.
fn failed(verb: &str, file: &Path, error: &anyhow::Error) -> Error {
    Error::failure(format!("can't {verb} {}: {}", file.display(), error.root_cause()))
}

/// Expects that the folder exists in which a file or folder is made. `named`: the path as the user gave it.
fn expect_folder_of(named: &Path, path: &Path) -> Result<(), Error> {
    if files::folder_of(path).is_dir() {
        return Ok(());
    }
    let folder = files::folder_of(named).display();
    if let Err(error) = files::is_there(files::folder_of(path)) {
        return Err(Error::failure(format!("can't write {}: {}", named.display(), error.root_cause())));
    }
    Err(Error::usage(format!("can't write {}: there is no folder {folder}", named.display()))
        .hint("create it, or name another folder"))
}

/// Whether a path, or the nearest folder above it that exists, is in the folder of the store.
fn is_in(root: &Path, path: &Path) -> bool {
    path.ancestors().find_map(|folder| folder.canonicalize().ok()).is_some_and(|folder| folder.starts_with(root))
}

/// Whether a path is that of a file or folder of the store's own.
///
/// # Errors
/// If the folder of the path is there and can't be resolved.
fn is_own(root: &Path, path: &Path) -> Result<bool, Error> {
    let Some(folder) = path.parent() else { return Ok(false) };
    if !files::is_there(folder)? {
        return Ok(false);
    }
    let name = path.file_name().unwrap_or_default();
    let Ok(inside) = files::canonical(folder)?.strip_prefix(root).map(|inside| inside.join(name)) else {
        return Ok(false);
    };
    let Some(Component::Normal(first)) = inside.components().next() else { return Ok(true) };
    let is_hidden = first.as_encoded_bytes().starts_with(b".");
    Ok(is_hidden || NOTE_FOLDERS.iter().chain(&OWN_NAMES).any(|own| first == *own))
}

/// A file of the user's, outside of every store, in which a command records what the next call has to know.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    bytes: Option<Vec<u8>>,
    waits: WaitPolicy,
}

impl StateFile {
    /// Reads the file, if it exists.
    ///
    /// # Errors
    /// `Usage` for a path in a store, one that a source would read as a note, or one in a folder that does not exist;
    /// `Failure` if it can't be read.
    pub fn open(store: &Store, file: &Path, location: &Location) -> Result<Self, Error> {
        let path = store.current_dir.join(file);
        let shown = file.display();
        let stores = store.collections.iter().filter(|collection| !collection.about.is_source());
        if stores.into_iter().any(|collection| is_in(&collection.root, &path)) {
            return Err(Error::usage(format!("{shown} belongs to the store")).hint("name a file outside the store"));
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if MARKDOWN_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)) {
            return Err(Error::usage(format!("{shown} would be a document")).hint("name a file without this ending"));
        }
        expect_inside(&location.files, &store.current_dir, file)?;
        expect_folder_of(file, &path)?;
        let bytes = files::read_bytes_if_there(&path)?;
        Ok(Self { path, bytes, waits: location.waits })
    }

    /// Returns the content of the file; `None` if there is no file.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// Replaces the content atomically.
    ///
    /// # Errors
    /// `Failure` if the file was changed after it was read, or can't be written.
    pub fn write(self, bytes: &[u8]) -> Result<(), Error> {
        if self.bytes() == Some(bytes) {
            return Ok(());
        }
        atomic_write::replace_if_unchanged(&self.path, self.bytes(), bytes, self.waits).map_err(Error::from)
    }
}

/// Reads a file that the user names, anywhere.
///
/// # Errors
/// `Usage` if there is no such file; `Failure` if it can't be read.
pub fn read_user_file(file: &Path, current_dir: &Path) -> Result<Vec<u8>, Error> {
    let path = current_dir.join(file);
    if matches!(files::is_there(&path), Ok(false)) {
        let hint = "name a file that exists, or `-` for standard input";
        return Err(Error::usage(format!("there is no file {}", file.display())).hint(hint));
    }
    Ok(read_limited(&path).with_context(|| format!("can't read {}", file.display()))?)
}

/// Reads a regular file, or a pipe such as that of a process substitution, to its end; other devices may have none.
fn read_limited(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path.is_dir() {
        bail!("it is a folder");
    }
    let metadata = fs::metadata(path)?;
    let max_bytes = if metadata.is_file() {
        MAX_USER_FILE
    } else if is_pipe(&metadata) {
        MAX_STDIN_BYTES
    } else {
        bail!("it is not a regular file");
    };
    Ok(read_whole(fs::File::open(path)?, max_bytes)?)
}

#[cfg(unix)]
fn is_pipe(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}
