//! Atomic writes of files: a reader or a crash finds the old content or the new one.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use tempfile::TempPath;

use super::racy::{self, Version};
use super::rename::{self, is_unsupported, rename_noreplace};
use super::walk::dir_handle::{TEMPORARY, TEMPORARY_CHARS, is_link, is_temporary, open_plain, read_whole};
use super::walk::stat::FileStat;
use crate::env::Waits;

/// The greatest length of a text file that is parsed, in bytes: a parser takes many times as much memory.
const MAX_TEXT: u64 = 1024 * 1024;

/// The age in nanoseconds from which on a temporary file is stale: no process is still writing it.
const STALE: i64 = 3_600_000_000_000;

/// The precondition of replacing or removing a file: it has exactly the bytes that were read, and no other program is
/// saving it.
pub(super) struct ExpectedFile<'a> {
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// Whether another program may still be saving a version.
    pub(super) is_racy: &'a dyn Fn(&Version) -> bool,
    /// How an error names the file.
    pub(super) shown: &'a str,
}

impl ExpectedFile<'_> {
    /// Returns the version at a path, if it meets the precondition.
    ///
    /// # Errors
    /// If the file was changed.
    pub(super) fn find(&self, path: &Path) -> Result<Version> {
        let version = Version::at(path).filter(|version| !(self.is_racy)(version));
        version.filter(|_| has_content(path, self.bytes)).ok_or_else(|| self.changed())
    }

    fn changed(&self) -> anyhow::Error {
        anyhow!("{} changed in the meantime; nothing was done, try again", self.shown)
    }
}

/// Whether a file has exactly these bytes.
fn has_content(path: &Path, bytes: &[u8]) -> bool {
    read_bytes_if_there(path).is_ok_and(|now| now.is_some_and(|now| now == bytes))
}

/// A staged file: the new content of a file, durable in a temporary file in the same folder, which is removed on drop.
pub(super) struct StagedFile {
    /// Closed, since there may be more of them than a process can open.
    file: TempPath,
    path: PathBuf,
    /// The version of the new file; its modification time is the file system's now.
    pub(super) version: Version,
}

impl StagedFile {
    /// Writes the temporary file, with the mode of the file that it is to replace.
    ///
    /// # Errors
    /// Names the file if it can't be written.
    pub(super) fn new(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::with_access(path, bytes, Access::OfTarget)
    }

    /// The same, readable by the user only.
    ///
    /// # Errors
    /// As [`StagedFile::new`].
    pub(super) fn private(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::with_access(path, bytes, Access::Private)
    }

    fn with_access(path: &Path, bytes: &[u8], access: Access) -> Result<Self> {
        let written = write_temporary(path, bytes, access);
        let (file, version) = written.with_context(|| format!("can't write {}", path.display()))?;
        Ok(Self { file, path: path.to_path_buf(), version })
    }

    /// Replaces any file at the path; for qipu's own files.
    pub(super) fn put(self) -> Result<()> {
        let path = self.path;
        self.file.persist(&path).with_context(|| format!("can't write {}", path.display()))?;
        step();
        Ok(())
    }

    /// Replaces a file that meets the precondition. The two files exchange their names, and the old one is checked again under
    /// its temporary name: if another program saved it meanwhile, the exchange is undone. On a file system that can't exchange
    /// names, the file is renamed directly after the first check.
    ///
    /// The name is durable once the folder is synced.
    ///
    /// # Errors
    /// Names the file if it was changed or can't be written; it is then unchanged.
    pub(super) fn replace(self, expected: &ExpectedFile<'_>) -> Result<Displaced> {
        let Self { file, path, version } = self;
        let failed = || format!("can't write {}", path.display());
        step();
        let old_version = expected.find(&path)?;
        step();
        let old = match rename::exchange(&file, &path) {
            Ok(true) => Some(file),
            Ok(false) => {
                file.persist(&path).with_context(failed)?;
                None
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(expected.changed()),
            Err(error) => return Err(error).with_context(failed),
        };
        step();
        Displaced { path, old, old_version, new: Some(version) }.checked(expected)
    }

    /// Creates the file.
    ///
    /// # Errors
    /// Names the file if it exists or can't be created.
    pub(super) fn create(self) -> Result<()> {
        let path = self.path;
        step();
        self.file.persist_noclobber(&path).with_context(|| format!("can't create {}", path.display()))?;
        step();
        Ok(())
    }
}

/// The old version of a replaced or removed file, under a temporary name; removed on drop.
pub(super) struct Displaced {
    path: PathBuf,
    /// `None` on a file system that can't exchange names.
    old: Option<TempPath>,
    old_version: Version,
    /// The version that replaced it; `None` if the file was removed.
    new: Option<Version>,
}

impl Displaced {
    /// Removes a file that meets the precondition.
    ///
    /// # Errors
    /// Names the file if it was changed or can't be removed; it is then unchanged.
    pub(super) fn remove(path: &Path, expected: &ExpectedFile<'_>) -> Result<Self> {
        let failed = || format!("can't remove {}", path.display());
        step();
        let old_version = expected.find(path)?;
        let mut builder = tempfile::Builder::new();
        let name = builder.prefix(TEMPORARY).rand_bytes(TEMPORARY_CHARS).tempfile_in(folder_of(path));
        let name = name.with_context(failed)?.into_temp_path();
        step();
        fs::rename(path, &name).with_context(failed)?;
        step();
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
    ///
    /// # Errors
    /// If it was changed.
    pub(super) fn expect_unchanged(&self, expected: &ExpectedFile<'_>) -> Result<()> {
        let Some(old) = &self.old else { return Ok(()) };
        step();
        let is_same_version = Version::at(old) == Some(self.old_version);
        let is_unchanged = is_same_version && has_content(old, expected.bytes);
        if is_unchanged { Ok(()) } else { Err(expected.changed()) }
    }

    /// Renames the old version back. If another program replaced the new version meanwhile, its file stays.
    ///
    /// # Errors
    /// Names the file, and the temporary one if that has content which is in no other file.
    pub(super) fn put_back(mut self, bytes: &[u8]) -> Result<()> {
        let failed = format!("can't restore {}", self.path.display());
        step();
        let Some(old) = self.old.take() else {
            if Version::at(&self.path) != self.new {
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

/// Exchanges an old version with the one that replaced it. Returns `false` without a change if another program replaced
/// that one.
fn exchange_back(old: &Path, path: &Path, new: Version) -> io::Result<bool> {
    match rename::exchange(old, path) {
        Err(error) if error.kind() == ErrorKind::NotFound => rename_noreplace(old, path).map(|()| true),
        exchanged => {
            exchanged?;
            let is_ours = Version::at(old) == Some(new);
            if !is_ours {
                rename::exchange(old, path)?;
            }
            Ok(is_ours)
        }
    }
}

/// Replaces a file of qipu's own, or creates it. Keeps the file's mode.
///
/// # Errors
/// Names the file if it can't be written; it is then unchanged.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = StagedFile::new(path, bytes)?;
    remove_stale(folder_of(path), new.version.mtime);
    new.put()?;
    sync_folder(folder_of(path))
}

/// Replaces a file that another program may be saving, or creates it if `expected`, the content that was read, is `None`.
/// No save of the other program is lost: see `specs/changes.md`.
///
/// # Errors
/// Names the file if it was changed or can't be written; it is then unchanged.
pub(crate) fn replace_if_unchanged(path: &Path, expected: Option<&[u8]>, bytes: &[u8], waits: Waits) -> Result<()> {
    let new = StagedFile::new(path, bytes)?;
    remove_stale(folder_of(path), new.version.mtime);
    let Some(old) = expected else {
        new.create()?;
        return sync_folder(folder_of(path));
    };
    let now = new.version.mtime;
    displace_when_complete(path, old, now, waits, |expected| new.replace(expected))
}

/// Removes a file that another program may be saving.
///
/// # Errors
/// Names the file if it was changed or can't be removed; it is then unchanged.
pub(crate) fn remove_if_unchanged(path: &Path, expected: &[u8], waits: Waits) -> Result<()> {
    let now = racy::now(folder_of(path)).unwrap_or(i64::MAX);
    displace_when_complete(path, expected, now, waits, |expected| Displaced::remove(path, expected))
}

/// Replaces or removes a file by `displace` once it is no longer racy.
fn displace_when_complete(
    path: &Path,
    bytes: &[u8],
    now: i64,
    waits: Waits,
    displace: impl FnOnce(&ExpectedFile<'_>) -> Result<Displaced>,
) -> Result<()> {
    let version = Version::at(path);
    let rest = version.map(|version| version.rest(now)).unwrap_or_default();
    if !rest.is_zero() {
        (waits.pause)(rest);
    }
    let is_racy = |found: &Version| Some(*found) != version;
    let shown = path.display().to_string();
    let expected = ExpectedFile { bytes, is_racy: &is_racy, shown: &shown };
    let displaced = displace(&expected)?;
    sync_folder(folder_of(path))?;
    displaced.checked(&expected).map(drop)
}

/// Creates a file atomically.
///
/// # Errors
/// Names the file if it exists or can't be written.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = StagedFile::new(path, bytes)?;
    remove_stale(folder_of(path), new.version.mtime);
    new.create()?;
    sync_folder(folder_of(path))
}

/// Removes the stale temporary files in a folder.
pub(super) fn remove_stale(folder: &Path, now: i64) {
    stale(folder, now, FileStat::latest).iter().for_each(|path| drop(fs::remove_file(path)));
}

/// Lists the user's own stale temporary files in a folder, sorted. `time` is the time of a file by which its age is
/// computed. The old version of a file has a temporary name while it is being replaced, however old its modification time;
/// in a folder where that can happen, `time` includes the change time.
pub(super) fn stale(folder: &Path, now: i64, time: fn(&FileStat) -> i64) -> Vec<PathBuf> {
    let is_stale = |entry: &fs::DirEntry| {
        let is_old = |metadata: &Metadata| time(&FileStat::of(metadata)).saturating_add(STALE) < now;
        is_temporary(&entry.file_name())
            && entry.metadata().is_ok_and(|metadata| metadata.is_file() && is_own(&metadata) && is_old(&metadata))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(io::Result::ok);
    let mut paths: Vec<PathBuf> = entries.filter(is_stale).map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths
}

#[cfg(unix)]
fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

/// Counts the missing folders on the way to a file.
pub(crate) fn count_missing_folders(path: &Path) -> usize {
    path.ancestors().skip(1).take_while(|folder| folder.symlink_metadata().is_err()).count()
}

/// Creates the folders on the way to a file.
///
/// # Errors
/// Names the folder that can't be created.
pub(crate) fn make_folders(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).with_context(|| format!("can't create {}", folder.display()))
}

/// Removes so many folders above a file that is gone, as long as they are empty.
pub(crate) fn remove_empty_folders(path: &Path, count: usize) {
    for folder in path.ancestors().skip(1).take(count) {
        // One that is not empty belongs to the user.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Gives a file another name that nothing has. That is durable when the folders are synced.
///
/// # Errors
/// Names the file when that can't be done.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    step();
    rename_noreplace(from, to).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow!("{} exists already", to.display()),
        _ => anyhow::Error::from(error).context(format!("can't rename {} to {}", from.display(), to.display())),
    })?;
    step();
    Ok(())
}

/// The access rights of a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Those of the file that it replaces; without one, those that the umask allows.
    OfTarget,
    /// Only the user can read it.
    Private,
}

/// Writes bytes to a temporary file in the folder of the target and makes it durable.
fn write_temporary(path: &Path, bytes: &[u8], access: Access) -> io::Result<(TempPath, Version)> {
    step();
    let old = path.symlink_metadata().ok().filter(|old| old.is_file() && access == Access::OfTarget);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY).rand_bytes(TEMPORARY_CHARS);
    if old.is_none() && access == Access::OfTarget {
        with_usual_mode(&mut builder);
    }
    let mut new = builder.tempfile_in(folder_of(path))?;
    step();
    new.write_all(bytes)?;
    step();
    if let Some(old) = old {
        keep_access(new.as_file(), &old)?;
    }
    synced(new.as_file().sync_all())?;
    let version = Version::of(&FileStat::of(&new.as_file().metadata()?));
    step();
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

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable, if the system can sync folders.
///
/// # Errors
/// Names the folder.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let opened = match File::open(folder) {
        // A folder may be writable and not readable.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
        opened => opened,
    };
    let result = opened.and_then(|folder| synced(folder.sync_all()));
    result.with_context(|| format!("can't write {}", folder.display()))
}

/// Returns the result of an fsync; a file system without fsync (9p, some of FUSE and SMB) counts as success, since the
/// caller can't do better.
fn synced(result: io::Result<()>) -> io::Result<()> {
    #[cfg(test)]
    let result = if CANT_SYNC.get() { Err(rustix::io::Errno::INVAL.into()) } else { result };
    match result {
        Err(error) if is_unsupported(&error) => Ok(()),
        result => result,
    }
}

/// Requests the usual mode of new files, which the umask restricts.
#[cfg(unix)]
fn with_usual_mode(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn with_usual_mode(_: &mut tempfile::Builder<'_, '_>) {}

/// Reads a text file of settings or instructions; `None` if there is none.
///
/// # Errors
/// Names the file if it is not a regular file, is too long, or is not UTF-8.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read(path, MAX_TEXT)? else { return Ok(None) };
    let text = String::from_utf8(bytes).context("it is not UTF-8");
    text.map(Some).with_context(|| format!("can't read {}", path.display()))
}

/// Reads a file of any length; `None` if there is none.
///
/// # Errors
/// Names the file if it is not a regular file or can't be read.
pub(crate) fn read_bytes_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    read(path, u64::MAX)
}

/// Reads a regular file; `None` if there is none. A symbolic link is not followed and a pipe is not waited for, even if it
/// replaces the file while it is opened.
fn read(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>> {
    match open_plain(path).and_then(|file| read_whole(file, max_bytes)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            bail!("{} is longer than {max_bytes} bytes", path.display())
        }
        Err(error) if is_link(&error) || error.kind() == ErrorKind::InvalidInput => {
            bail!("{} is not a regular file", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("can't read {}", path.display())),
    }
}

/// Removes a file.
///
/// # Errors
/// Names the file if it can't be removed.
pub(crate) fn remove(path: &Path) -> Result<()> {
    step();
    fs::remove_file(path).with_context(|| format!("can't remove {}", path.display()))?;
    step();
    sync_folder(folder_of(path))
}

/// A point between two steps of a write, for tests.
#[cfg(not(test))]
fn step() {}

/// A point before a note that is to be changed is read, for tests.
#[cfg(not(test))]
pub(super) fn read_step() {}

#[cfg(test)]
use tests::step;
#[cfg(test)]
pub(super) use tests::{CANT_SYNC, read_step};

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::saves::{self, Point};

    thread_local! {
        /// Whether this thread finds a file system whose files and folders can't be synced.
        pub(in crate::store) static CANT_SYNC: Cell<bool> = const { Cell::new(false) };
    }

    /// The tests make a process die here, or another program save a file.
    pub(super) fn step() {
        crate::crash_points::here();
        saves::here(Point::Write);
    }

    pub(in crate::store) fn read_step() {
        saves::here(Point::Read);
    }

    #[cfg(unix)]
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
            let waits = Waits { pause: |_| (), ..Waits::default() };
            saves::beside(Box::new(looks), || replace_if_unchanged(&file, Some(b"old"), b"new", waits)).unwrap();
            assert!(seen.get() > 3 && mode(&file) == private, "{} {:o}", seen.get(), mode(&file));
            fs::remove_file(&file).unwrap();
        }
        StagedFile::private(&file, b"list").unwrap().put().unwrap();
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn only_what_was_left_long_ago_under_our_names_is_stale() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".qipu-tmp-aZ09xy", ".qipu-tmp-aZ09x", ".qipu-tmp-aZ09x/", ".qipu-pending", "a.md"] {
            fs::write(dir.path().join(name.replace('/', ".")), "").unwrap();
        }
        fs::create_dir(dir.path().join(".qipu-tmp-folder")).unwrap();
        let now = FileStat::of(&dir.path().join("a.md").metadata().unwrap()).mtime;
        let found = |now| stale(dir.path(), now, FileStat::latest);
        assert_eq!(found(now + STALE - 1_000_000_000), [] as [PathBuf; 0]);
        assert_eq!(found(now + STALE + 1_000_000_000), [dir.path().join(".qipu-tmp-aZ09xy")]);
        remove_stale(dir.path(), now + STALE + 1_000_000_000);
        assert_eq!((found(i64::MAX).len(), fs::read_dir(dir.path()).unwrap().count()), (0, 5));
    }
}
