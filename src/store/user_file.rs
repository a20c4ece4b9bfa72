//! Export of an answer to a file, and reading of a file that the user names.

use std::fs;
use std::path::{Component, Path};

use anyhow::{Context, bail};

use super::attachments::ATTACHMENTS;
use super::{Location, NOTE_FOLDERS, atomic_write, files, find_root};
use crate::error::Error;

/// The names in a store that belong to qipu, besides hidden ones and the folders of notes.
const OWN_NAMES: [&str; 4] = [ATTACHMENTS, "cache", "config.toml", "templates"];

/// Writes a file for the user atomically, anywhere but among the files of the store, and returns the word for what was
/// done. An existing file is replaced only if `can_replace` accepts its content; `what` names the kind of such files.
///
/// # Errors
/// `Usage` for a path in the store or a file that must not be replaced; `Failure` if it can't be written; `NoStore`.
pub fn export(
    location: &Location,
    current_dir: &Path,
    file: &Path,
    bytes: &[u8],
    what: &str,
    can_replace: impl FnOnce(&[u8]) -> bool,
) -> Result<&'static str, Error> {
    let root = &find_root(location, current_dir)?;
    let path = current_dir.join(file);
    if is_own(root, &path) {
        return Err(
            Error::usage(format!("{} belongs to the store", file.display())).hint("name a file outside the store")
        );
    }
    match files::read_bytes_if_there(&path)? {
        None => atomic_write::create(&path, bytes).map(|()| "created"),
        Some(old) if old == bytes => Ok("unchanged"),
        Some(old) if can_replace(&old) => {
            atomic_write::replace_if_unchanged(&path, Some(&old), bytes, location.waits).map(|()| "changed")
        }
        Some(_) => {
            return Err(Error::usage(format!("{} exists and is not {what}; not overwritten", file.display()))
                .hint("name another file, or remove this one"));
        }
    }
    .map_err(Error::from)
}

/// Whether a path is that of a file or folder of the store's own.
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

/// Reads a file that the user names, anywhere.
///
/// # Errors
/// `Failure` if it can't be read.
pub fn read_user_file(file: &Path, current_dir: &Path) -> Result<Vec<u8>, Error> {
    let read = || {
        let path = current_dir.join(file);
        if path.is_dir() {
            bail!("it is a folder");
        }
        Ok(fs::read(path)?)
    };
    Ok(read().with_context(|| format!("can't read {}", file.display()))?)
}
