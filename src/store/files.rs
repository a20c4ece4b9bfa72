//! Writing files: whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

/// Replaces a file by way of a temporary one beside it, so that a reader (or a crash) finds the
/// old text or the new one. Keeps the file's mode.
///
/// # Errors
/// Names the file and what could not be done; the file is then as it was.
pub(crate) fn replace(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let failed = || format!("can't write {}", path.display());
    let mut new = NamedTempFile::new_in(folder).with_context(failed)?;
    new.write_all(text.as_bytes()).with_context(failed)?;
    keep_mode(path, new.as_file()).with_context(failed)?;
    new.as_file().sync_all().with_context(failed)?;
    new.persist(path).with_context(failed)?;
    Ok(())
}

/// Gives the new file the mode of the old one, or the mode that new files have.
fn keep_mode(path: &Path, new: &fs::File) -> std::io::Result<()> {
    let mode = match fs::metadata(path) {
        Ok(old) => old.permissions(),
        Err(_) => new_file_mode(new)?,
    };
    new.set_permissions(mode)
}

#[cfg(unix)]
fn new_file_mode(_: &fs::File) -> std::io::Result<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn new_file_mode(new: &fs::File) -> std::io::Result<fs::Permissions> {
    Ok(new.metadata()?.permissions())
}

/// Reads a text file; `None` when there is none.
///
/// # Errors
/// Names the file when it can't be read or is not UTF-8.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("can't read {}", path.display())),
    }
}

/// Removes a file.
///
/// # Errors
/// Names the file when it can't be removed.
pub(crate) fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).with_context(|| format!("can't remove {}", path.display()))
}
