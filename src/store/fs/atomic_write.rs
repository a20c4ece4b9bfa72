//! Atomic writes: a reader or a crash finds the old content or the new one. Errors name the file, which is unchanged.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use tempfile::{PathPersistError, TempPath};

use super::dir_handle::{TEMPORARY, TEMPORARY_CHARS};
use super::files::{failpoint_write, folder_of, read_bytes_if_there, remove_stale, sync_folder, synced};
use super::in_progress_writes::{self, FileVersion};
use super::rename_noreplace::{self, rename_noreplace};
use super::stat::FileStat;
use crate::env::WaitPolicy;

/// The precondition of replacing or removing a file: it has the bytes that were read, and no program is saving it.
pub(in crate::store) struct ExpectedFile<'a> {
    pub(in crate::store) bytes: &'a [u8],
    /// Whether another program may still be saving a version.
    pub(in crate::store) is_racy: &'a dyn Fn(&FileVersion) -> bool,
    /// How an error names the file.
    pub(in crate::store) shown: &'a str,
}

impl ExpectedFile<'_> {
    /// Returns the version at a path, if it meets the precondition.
    pub(in crate::store) fn find(&self, path: &Path) -> Result<FileVersion> {
        let version = FileVersion::at(path).filter(|version| !(self.is_racy)(version));
        version.filter(|_| has_content(path, self.bytes)).ok_or_else(|| self.changed())
    }

    fn changed(&self) -> anyhow::Error {
        anyhow!("{} changed in the meantime; nothing was done, try again", self.shown)
    }
}

fn has_content(path: &Path, bytes: &[u8]) -> bool {
    read_bytes_if_there(path).is_ok_and(|now| now.is_some_and(|now| now == bytes))
}

/// A staged file: the new content of a file, durable in a temporary file in the same folder, which is removed on drop.
pub(in crate::store) struct StagedFile {
    /// Closed, since there may be more of them than a process can open.
    file: TempPath,
    path: PathBuf,
    /// The version of the new file; its modification time is the file system's now.
    pub(in crate::store) version: FileVersion,
}

impl StagedFile {
    /// Writes the temporary file, with the mode of the file that it is to replace.
    pub(in crate::store) fn new(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::written(path, false, |file| file.write_all(bytes))
    }

    /// The same, readable by the user only.
    pub(in crate::store) fn private(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::written(path, true, |file| file.write_all(bytes))
    }

    /// Writes the temporary file by a function.
    fn written(path: &Path, is_private: bool, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<Self> {
        let written = write_temporary(path, is_private, write);
        let (file, version) = written.with_context(|| format!("can't write {}", path.display()))?;
        Ok(Self { file, path: path.to_path_buf(), version })
    }

    /// Replaces any file at the path; for qipu's own files.
    pub(in crate::store) fn put(self) -> Result<()> {
        let path = self.path;
        persisted(self.file.persist(&path)).with_context(|| format!("can't write {}", path.display()))?;
        failpoint_write();
        Ok(())
    }

    /// Replaces a file that meets the precondition. The two files exchange their names, and the old one is checked again under
    /// its temporary name: if another program saved it meanwhile, the exchange is undone. On a file system that can't exchange
    /// names, the file is renamed directly after the first check.
    ///
    /// The name is durable once the folder is synced.
    pub(in crate::store) fn replace(self, expected: &ExpectedFile<'_>) -> Result<Displaced> {
        let Self { file, path, version } = self;
        let failed = || format!("can't write {}", path.display());
        failpoint_write();
        let old_version = expected.find(&path)?;
        failpoint_write();
        let old = match rename_noreplace::exchange(&file, &path) {
            Ok(true) => Some(file),
            Ok(false) => {
                persisted(file.persist(&path)).with_context(failed)?;
                None
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(expected.changed()),
            Err(error) => return Err(error).with_context(failed),
        };
        failpoint_write();
        Displaced { path, old, old_version, new: Some(version) }.checked(expected)
    }

    /// Creates the file, on any file system; fails if there is one.
    pub(in crate::store) fn create(self) -> Result<()> {
        let Self { file, path, .. } = self;
        failpoint_write();
        rename_noreplace(&file, &path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                anyhow!("{} exists already, or a name that differs by case alone", path.display())
            }
            _ => anyhow!(error).context(format!("can't create {}", path.display())),
        })?;
        // The temporary name is gone, and may be that of another process by now.
        drop(file.keep());
        failpoint_write();
        Ok(())
    }
}

/// The old version of a replaced or removed file, under a temporary name; removed on drop.
pub(in crate::store) struct Displaced {
    path: PathBuf,
    /// `None` on a file system that can't exchange names.
    old: Option<TempPath>,
    old_version: FileVersion,
    /// The version that replaced it; `None` if the file was removed.
    new: Option<FileVersion>,
}

impl Displaced {
    /// Removes a file that meets the precondition.
    pub(in crate::store) fn remove(path: &Path, expected: &ExpectedFile<'_>) -> Result<Self> {
        let failed = || format!("can't remove {}", path.display());
        failpoint_write();
        let old_version = expected.find(path)?;
        let mut builder = tempfile::Builder::new();
        let name = builder.prefix(TEMPORARY).rand_bytes(TEMPORARY_CHARS).tempfile_in(folder_of(path));
        let name = name.map_err(|error| without_path(&error)).with_context(failed)?.into_temp_path();
        failpoint_write();
        fs::rename(path, &name).with_context(failed)?;
        failpoint_write();
        Self { path: path.to_path_buf(), old: Some(name), old_version, new: None }.checked(expected)
    }

    /// Returns the old version if no program wrote to it since; else puts it back.
    fn checked(self, expected: &ExpectedFile<'_>) -> Result<Self> {
        match self.expect_unchanged(expected) {
            Ok(()) => Ok(self),
            Err(error) => self.put_back(expected.bytes).and(Err(error)),
        }
    }

    /// Expects that no program wrote to the old version through a descriptor that was opened before.
    pub(in crate::store) fn expect_unchanged(&self, expected: &ExpectedFile<'_>) -> Result<()> {
        let Some(old) = &self.old else { return Ok(()) };
        failpoint_write();
        let is_same_version = FileVersion::at(old) == Some(self.old_version);
        let is_unchanged = is_same_version && has_content(old, expected.bytes);
        if is_unchanged { Ok(()) } else { Err(expected.changed()) }
    }

    /// Renames the old version back. If another program replaced the new version meanwhile, its file stays. An error names
    /// also the temporary file if that has content which is in no other file.
    pub(in crate::store) fn put_back(mut self, bytes: &[u8]) -> Result<()> {
        let failed = format!("can't restore {}", self.path.display());
        failpoint_write();
        let Some(old) = self.old.take() else {
            if FileVersion::at(&self.path) != self.new {
                return Ok(());
            }
            return StagedFile::new(&self.path, bytes).and_then(StagedFile::put).context(failed);
        };
        let is_back = match self.new {
            Some(new) => exchange_back(&old, &self.path, new),
            None => rename_noreplace(&old, &self.path).map(|()| true),
        };
        match is_back {
            Ok(true) => Ok(()),
            // Another program replaced the new version, which supersedes the old one.
            Ok(false) if has_content(&old, bytes) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && has_content(&old, bytes) => Ok(()),
            failure => {
                let kept = old.keep().map(|kept| format!("{failed}: its text is in {}", rename_kept(kept).display()));
                Err(failure
                    .err()
                    .map_or_else(|| anyhow!("it was saved twice in the meantime"), Into::into)
                    .context(kept.unwrap_or(failed)))
            }
        }
    }
}

/// Renames a file that a person may need, since temporary files are removed. Returns its path.
fn rename_kept(kept: PathBuf) -> PathBuf {
    let name = kept.file_name().unwrap_or_default().to_string_lossy().replacen(TEMPORARY, ".qipu-kept-", 1);
    let apart = kept.with_file_name(name);
    if rename_noreplace(&kept, &apart).is_ok() { apart } else { kept }
}

/// Exchanges an old version with the one that replaced it; `false` without a change if that was replaced meanwhile.
fn exchange_back(old: &Path, path: &Path, new: FileVersion) -> io::Result<bool> {
    match rename_noreplace::exchange(old, path) {
        Err(error) if error.kind() == ErrorKind::NotFound => rename_noreplace(old, path).map(|()| true),
        exchanged => {
            exchanged?;
            let is_ours = FileVersion::at(old) == Some(new);
            if !is_ours {
                rename_noreplace::exchange(old, path)?;
            }
            Ok(is_ours)
        }
    }
}

/// Replaces a file of qipu's own, or creates it. Keeps the file's mode.
pub(crate) fn replace_unconditionally(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = StagedFile::new(path, bytes)?;
    remove_stale(folder_of(path), new.version.mtime);
    new.put()?;
    sync_folder(folder_of(path))
}

/// Replaces a file that another program may be saving, or creates it if `expected`, the content that was read, is `None`.
/// No save of the other program is lost: see `specs/internals/reliability.md`.
pub(crate) fn replace_if_unchanged(
    path: &Path,
    expected: Option<&[u8]>,
    bytes: &[u8],
    waits: WaitPolicy,
) -> Result<()> {
    let Some(old) = expected else { return create(path, bytes) };
    let new = StagedFile::new(path, bytes)?;
    remove_stale(folder_of(path), new.version.mtime);
    let now = new.version.mtime;
    displace_when_complete(path, old, now, waits, |expected| new.replace(expected))
}

/// Removes a file that another program may be saving.
pub(crate) fn remove_if_unchanged(path: &Path, expected: &[u8], waits: WaitPolicy) -> Result<()> {
    let now = in_progress_writes::now(folder_of(path)).unwrap_or(i64::MAX);
    displace_when_complete(path, expected, now, waits, |expected| Displaced::remove(path, expected))
}

/// Replaces or removes a file by `displace` once it is no longer racy.
fn displace_when_complete(
    path: &Path,
    bytes: &[u8],
    now: i64,
    waits: WaitPolicy,
    displace: impl FnOnce(&ExpectedFile<'_>) -> Result<Displaced>,
) -> Result<()> {
    let version = FileVersion::at(path);
    let rest = version.map(|version| version.remaining_quiet_time(now)).unwrap_or_default();
    if !rest.is_zero() {
        (waits.pause)(rest);
    }
    let is_racy = |found: &FileVersion| Some(*found) != version;
    let shown = path.display().to_string();
    let expected = ExpectedFile { bytes, is_racy: &is_racy, shown: &shown };
    let displaced = displace(&expected)?;
    sync_folder(folder_of(path))?;
    displaced.checked(&expected).map(drop)
}

pub(in crate::store) fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = StagedFile::new(path, bytes)?;
    remove_stale(folder_of(path), new.version.mtime);
    new.create()?;
    sync_folder(folder_of(path))
}

/// Creates a file, or replaces one that no other program writes to, while its content is made by a function.
pub(in crate::store) fn stream(
    path: &Path,
    is_new: bool,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let new = StagedFile::written(path, false, write)?;
    remove_stale(folder_of(path), new.version.mtime);
    if is_new {
        new.create()?
    } else {
        new.put()?
    }
    sync_folder(folder_of(path))
}

/// Writes a temporary file in the folder of the target and makes it durable.
fn write_temporary(
    path: &Path,
    is_private: bool,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<(TempPath, FileVersion)> {
    failpoint_write();
    let old = path.symlink_metadata().ok().filter(|old| old.is_file() && !is_private);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY).rand_bytes(TEMPORARY_CHARS);
    if old.is_none() && !is_private {
        with_usual_mode(&mut builder);
    }
    let mut new = builder.tempfile_in(folder_of(path)).map_err(|error| without_path(&error))?;
    failpoint_write();
    write(new.as_file_mut())?;
    failpoint_write();
    if let Some(old) = old {
        keep_access(new.as_file(), &old)?;
    }
    synced(new.as_file().sync_all())?;
    let version = FileVersion::of(&FileStat::of(&new.as_file().metadata()?));
    failpoint_write();
    Ok((new.into_temp_path(), version))
}

/// Gives a new file the mode of the one that it replaces, and its owner and group if that is permitted. A group that could
/// not read the old file can't read the new one.
#[cfg(unix)]
fn keep_access(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = new.metadata()?;
    let mut mode = old.permissions().mode();
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        let kept = fchown(new, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(new, None, Some(old.gid())));
        if kept.is_err() {
            mode = (mode & !0o070) | (mode & 0o007) << 3;
        }
    }
    new.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_access(new: &File, old: &Metadata) -> io::Result<()> {
    new.set_permissions(old.permissions())
}

/// Returns an error without the random path of a temporary file, which differs in each call.
fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}

/// Returns the error of the system, without the words that [`tempfile`] puts before it.
fn persisted(result: std::result::Result<(), PathPersistError>) -> io::Result<()> {
    result.map_err(io::Error::from)
}

/// Requests the usual mode of new files, which the umask restricts.
#[cfg(unix)]
fn with_usual_mode(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn with_usual_mode(_: &mut tempfile::Builder<'_, '_>) {}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::concurrent_save_tests::{self, Point};

    #[test]
    fn nobody_else_reads_a_private_text_while_it_is_written() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (file, root) = (dir.path().join("a.md"), dir.path().to_path_buf());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        for private in [0o600, 0o400, 0o640] {
            fs::write(&file, "old").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(private)).unwrap();
            let (root, seen) = (root.clone(), std::rc::Rc::new(Cell::new(0)));
            let noted = std::rc::Rc::clone(&seen);
            let looks = move |_: Point| {
                for entry in fs::read_dir(&root).unwrap().map(Result::unwrap) {
                    assert_eq!(mode(&entry.path()) & !private & 0o077, 0, "{entry:?}");
                    noted.set(noted.get() + 1);
                }
            };
            let waits = WaitPolicy { pause: |_| (), ..WaitPolicy::default() };
            concurrent_save_tests::beside(Box::new(looks), || replace_if_unchanged(&file, Some(b"old"), b"new", waits))
                .unwrap();
            assert!(seen.get() > 3 && mode(&file) == private, "{} {:o}", seen.get(), mode(&file));
            fs::remove_file(&file).unwrap();
        }
        StagedFile::private(&file, b"list").unwrap().put().unwrap();
        assert_eq!(mode(&file), 0o600);
    }
}
