//! Writing files: whole or not at all.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempPath;

use super::opened::{is_link, open_plain, read_whole};

/// The longest text file that is read and parsed, in bytes: a parser takes many times as much memory.
const MAX_TEXT: u64 = 1024 * 1024;

/// How the names of temporary files begin; so many characters follow.
pub(super) const TEMPORARY: &str = ".qipu-tmp-";
pub(super) const TEMPORARY_CHARS: usize = 6;

/// Tells whether a name is that of a temporary file.
pub(super) fn is_temporary(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
    rest.is_some_and(|rest| rest.len() == TEMPORARY_CHARS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// A file's new text, durable in a temporary file beside it. Without more it goes away again.
pub(super) struct Beside {
    /// Not held open: there may be more of them than a process can hold.
    file: TempPath,
    path: PathBuf,
}

impl Beside {
    /// Writes it, with the mode of the file that is there.
    ///
    /// # Errors
    /// Names the file when it can't be written.
    pub(super) fn new(path: &Path, bytes: &[u8]) -> Result<Self> {
        let file = written_beside(path, bytes).with_context(|| format!("can't write {}", path.display()))?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// Puts it in the place of the file, so that a reader (or a crash) finds the old text or the new
    /// one. The name is durable when the folder is synced.
    pub(super) fn replace(self) -> Result<()> {
        let path = self.path;
        self.file.persist(&path).with_context(|| format!("can't write {}", path.display()))?;
        step();
        Ok(())
    }

    /// The same where there is no file yet.
    pub(super) fn create(self) -> Result<()> {
        let path = self.path;
        self.file.persist_noclobber(&path).with_context(|| format!("can't make {}", path.display()))?;
        step();
        Ok(())
    }
}

/// Replaces a file by way of a temporary one beside it, so that a reader (or a crash) finds the
/// old text or the new one. Keeps the file's mode.
///
/// # Errors
/// Names the file and what could not be done; the file is then as it was.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    Beside::new(path, bytes)?.replace()?;
    sync_folder(folder_of(path))
}

/// Makes a file that is not there yet, whole or not at all.
///
/// # Errors
/// Names the file when it is there already or can't be written.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    Beside::new(path, bytes)?.create()?;
    sync_folder(folder_of(path))
}

/// Counts the folders on the way to a file that are not there.
pub(crate) fn count_missing_folders(path: &Path) -> usize {
    path.ancestors().skip(1).take_while(|folder| folder.symlink_metadata().is_err()).count()
}

/// Makes the folders on the way to a file.
///
/// # Errors
/// Names the folder that can't be made.
pub(crate) fn make_folders(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))
}

/// Removes so many folders above a file that is gone, as long as they are empty.
pub(crate) fn remove_empty_folders(path: &Path, count: usize) {
    for folder in path.ancestors().skip(1).take(count) {
        // One that is not empty is somebody's.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Gives a file another name. That is durable when the folders are synced.
///
/// # Errors
/// Names the file when that can't be done.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    step();
    fs::rename(from, to).with_context(|| format!("can't rename {} to {}", from.display(), to.display()))?;
    step();
    Ok(())
}

/// Writes a text to a temporary file beside the one that it is for, and makes it durable.
fn written_beside(path: &Path, bytes: &[u8]) -> std::io::Result<TempPath> {
    step();
    let mut builder = tempfile::Builder::new();
    let mut new =
        with_usual_mode(builder.prefix(TEMPORARY).rand_bytes(TEMPORARY_CHARS)).tempfile_in(folder_of(path))?;
    step();
    new.write_all(bytes)?;
    step();
    if let Ok(old) = fs::metadata(path) {
        new.as_file().set_permissions(old.permissions())?;
    }
    new.as_file().sync_all()?;
    step();
    Ok(new.into_temp_path())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable. Where folders can't be opened, names are safe without.
///
/// # Errors
/// Names the folder.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let synced = fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.with_context(|| format!("can't write {}", folder.display()))
}

/// Asks for the mode that new files have, less what the user's umask takes away.
#[cfg(unix)]
fn with_usual_mode<'b, 'p, 's>(builder: &'b mut tempfile::Builder<'p, 's>) -> &'b mut tempfile::Builder<'p, 's> {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn with_usual_mode<'b, 'p, 's>(builder: &'b mut tempfile::Builder<'p, 's>) -> &'b mut tempfile::Builder<'p, 's> {
    builder
}

/// Reads a text file that somebody's settings or instructions are in; `None` when there is none.
///
/// # Errors
/// Names the file when it is a link, a folder or a pipe, too long, or not UTF-8.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read(path, MAX_TEXT)? else { return Ok(None) };
    let text = String::from_utf8(bytes).context("it is not UTF-8");
    text.map(Some).with_context(|| format!("can't read {}", path.display()))
}

/// Reads a file of any length; `None` when there is none.
///
/// # Errors
/// Names the file when it is a link, a folder or a pipe, or can't be read.
pub(crate) fn read_bytes_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    read(path, u64::MAX)
}

/// Reads a file; `None` when there is none. What is no plain file is neither followed nor waited for, also where it
/// takes the file's place at the last moment.
fn read(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>> {
    match open_plain(path).and_then(|file| read_whole(file, max_bytes)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            bail!("{} is longer than {max_bytes} bytes", path.display())
        }
        Err(error) if is_link(&error) || error.kind() == ErrorKind::InvalidInput => {
            bail!("{} is not a plain file", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("can't read {}", path.display())),
    }
}

/// Removes a file.
///
/// # Errors
/// Names the file when it can't be removed.
pub(crate) fn remove(path: &Path) -> Result<()> {
    remove_unsynced(path)?;
    sync_folder(folder_of(path))
}

/// The same; it is durable when the folder is synced.
///
/// # Errors
/// Names the file when it can't be removed.
pub(super) fn remove_unsynced(path: &Path) -> Result<()> {
    step();
    fs::remove_file(path).with_context(|| format!("can't remove {}", path.display()))?;
    step();
    Ok(())
}

/// A point between two of the things that writing is made of.
#[cfg(not(test))]
fn step() {}

#[cfg(test)]
use tests::step;

#[cfg(test)]
mod tests {
    /// The tests make a process die here.
    pub(super) fn step() {
        crate::crash::here();
    }
}
