//! Writing files: whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use tempfile::TempPath;

use super::dir_handle::{is_link, open_plain, read_whole};
use super::racy::{self, Version};
use super::rename::{self, is_unsupported, rename_noreplace};
use super::scan::FileStat;
use crate::env::Waits;

/// The longest text file that is read and parsed, in bytes: a parser takes many times as much memory.
const MAX_TEXT: u64 = 1024 * 1024;

/// How the names of temporary files begin; so many characters follow.
pub(super) const TEMPORARY: &str = ".qipu-tmp-";
pub(super) const TEMPORARY_CHARS: usize = 6;

/// The age in nanoseconds from which on a temporary file belongs to no process that is still writing it.
const STALE: i64 = 3_600_000_000_000;

/// Tells whether a name is that of a temporary file.
pub(super) fn is_temporary(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
    rest.is_some_and(|rest| rest.len() == TEMPORARY_CHARS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The precondition of replacing or removing a file: it has exactly the bytes that were read, and no other program is
/// saving it.
pub(super) struct ExpectedFile<'a> {
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// Tells whether another program may be saving a version just now.
    pub(super) is_racy: &'a dyn Fn(&Version) -> bool,
    /// How an error names the file.
    pub(super) shown: &'a str,
}

impl ExpectedFile<'_> {
    /// Returns the version that is at a path, if it is what is expected.
    ///
    /// # Errors
    /// Says that it was changed.
    pub(super) fn find(&self, path: &Path) -> Result<Version> {
        let version = Version::at(path).filter(|version| !(self.is_racy)(version));
        version.filter(|_| holds(path, self.bytes)).ok_or_else(|| self.changed())
    }

    fn changed(&self) -> anyhow::Error {
        anyhow!("{} was changed meanwhile; nothing was done, try again", self.shown)
    }
}

/// Tells whether a file holds exactly these bytes.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    read_bytes_if_there(path).is_ok_and(|now| now.is_some_and(|now| now == bytes))
}

/// A staged file: the new text of a file, durable in a temporary file beside it. Dropping it removes the temporary file.
pub(super) struct StagedFile {
    /// Not held open: there may be more of them than a process can hold.
    file: TempPath,
    path: PathBuf,
    /// The version of the new file; its modification time is the file system's now.
    pub(super) version: Version,
}

impl StagedFile {
    /// Writes it. It is never more readable than the file that is there, whose mode it gets.
    ///
    /// # Errors
    /// Names the file when it can't be written.
    pub(super) fn new(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::with_access(path, bytes, Access::OfTarget)
    }

    /// The same, for the user alone to read.
    ///
    /// # Errors
    /// As [`StagedFile::new`].
    pub(super) fn private(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::with_access(path, bytes, Access::Private)
    }

    fn with_access(path: &Path, bytes: &[u8], access: Access) -> Result<Self> {
        let written = written_beside(path, bytes, access);
        let (file, version) = written.with_context(|| format!("can't write {}", path.display()))?;
        Ok(Self { file, path: path.to_path_buf(), version })
    }

    /// Puts it in the place of whatever is there, for files that are qipu's own.
    pub(super) fn put(self) -> Result<()> {
        let path = self.path;
        self.file.persist(&path).with_context(|| format!("can't write {}", path.display()))?;
        step();
        Ok(())
    }

    /// Puts it in the place of a file that is what is expected, so that a reader (or a crash) finds the old text or
    /// the new one. The two files exchange their names, and the old one is looked at once more under its
    /// temporary name: a save that came in the very last moment is put back. A file system that can't exchange
    /// names gets a plain rename directly after a look.
    ///
    /// The name is durable when the folder is synced.
    ///
    /// # Errors
    /// Names the file when it was changed, or can't be written; it is then as it was.
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

    /// Makes the file where there is none yet.
    pub(super) fn create(self) -> Result<()> {
        let path = self.path;
        step();
        self.file.persist_noclobber(&path).with_context(|| format!("can't make {}", path.display()))?;
        step();
        Ok(())
    }
}

/// The old version of a replaced or removed file, under a temporary name. Dropping it removes that file.
pub(super) struct Displaced {
    path: PathBuf,
    /// `None` on a file system that can't exchange names.
    old: Option<TempPath>,
    old_version: Version,
    /// The version that took its place; `None` where the file was removed.
    new: Option<Version>,
}

impl Displaced {
    /// Removes a file that is what is expected.
    ///
    /// # Errors
    /// Names the file when it was changed, or can't be removed; it is then as it was.
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

    /// Returns it, if nobody wrote into it up to now; else puts it back.
    fn checked(self, expected: &ExpectedFile<'_>) -> Result<Self> {
        match self.expect_unchanged(expected) {
            Ok(()) => Ok(self),
            Err(error) => self.put_back(expected.bytes).and(Err(error)),
        }
    }

    /// Expects that nobody wrote into the old version, through a file that was opened before.
    ///
    /// # Errors
    /// Says that it was changed.
    pub(super) fn expect_unchanged(&self, expected: &ExpectedFile<'_>) -> Result<()> {
        let Some(old) = &self.old else { return Ok(()) };
        step();
        let is_same_version = Version::at(old) == Some(self.old_version);
        let is_it = is_same_version && holds(old, expected.bytes);
        if is_it { Ok(()) } else { Err(expected.changed()) }
    }

    /// Gives the old version its name back. What a person saved in place of the new one meanwhile stays there.
    ///
    /// # Errors
    /// Names the file, and the temporary one that holds a text which is nowhere else.
    pub(super) fn put_back(mut self, bytes: &[u8]) -> Result<()> {
        let failed = format!("can't put {} back", self.path.display());
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
            // A person saved another text in the place, which replaces the old one.
            Ok(false) if holds(&old, bytes) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && holds(&old, bytes) => Ok(()),
            failure => {
                let kept = old.keep().map(|kept| format!("{failed}: its text is in {}", set_apart(kept).display()));
                Err(failure
                    .err()
                    .map_or_else(|| anyhow!("it was saved twice"), Into::into)
                    .context(kept.unwrap_or(failed)))
            }
        }
    }
}

/// Gives a text that a person may need a name that is not one of temporary files, which are removed. Returns where it is.
fn set_apart(kept: PathBuf) -> PathBuf {
    let name = kept.file_name().unwrap_or_default().to_string_lossy().replacen(TEMPORARY, ".qipu-kept-", 1);
    let apart = kept.with_file_name(name);
    if rename_noreplace(&kept, &apart).is_ok() { apart } else { kept }
}

/// Exchanges an old version with the new one that took its place. Returns whether it did: what a person saved over
/// the new version stays.
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

/// Replaces a file of qipu's own by way of a temporary one beside it, so that a reader (or a crash) finds the
/// old text or the new one. Keeps the file's mode.
///
/// # Errors
/// Names the file and what could not be done; the file is then as it was.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = StagedFile::new(path, bytes)?;
    remove_stale(folder_of(path), new.version.modified);
    new.put()?;
    sync_folder(folder_of(path))
}

/// Replaces a file that a person may be saving, or makes it where `expected`, what was read of it, is `None`. No
/// save of the file is lost, whenever it comes: see `specs/changes.md`.
///
/// # Errors
/// Names the file when it is not what was read, or can't be written; it is then as it was.
pub(crate) fn replace_if_unchanged(path: &Path, expected: Option<&[u8]>, bytes: &[u8], waits: Waits) -> Result<()> {
    let new = StagedFile::new(path, bytes)?;
    remove_stale(folder_of(path), new.version.modified);
    let Some(old) = expected else {
        new.create()?;
        return sync_folder(folder_of(path));
    };
    let now = new.version.modified;
    racy_until(path, old, now, waits, |expected| new.replace(expected))
}

/// Removes a file that a person may be saving.
///
/// # Errors
/// Names the file when it is not what was read, or can't be removed; it is then as it was.
pub(crate) fn remove_if_unchanged(path: &Path, expected: &[u8], waits: Waits) -> Result<()> {
    let now = racy::now(folder_of(path)).unwrap_or(i64::MAX);
    racy_until(path, expected, now, waits, |expected| Displaced::remove(path, expected))
}

/// Displaces a file once it was left alone for a while.
fn racy_until(
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

/// Makes a file that is not there yet, whole or not at all.
///
/// # Errors
/// Names the file when it is there already or can't be written.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = StagedFile::new(path, bytes)?;
    remove_stale(folder_of(path), new.version.modified);
    new.create()?;
    sync_folder(folder_of(path))
}

/// Removes the temporary files of processes that died in a folder.
pub(super) fn remove_stale(folder: &Path, now: i64) {
    stale(folder, now, FileStat::latest).iter().for_each(|path| drop(fs::remove_file(path)));
}

/// Lists the user's own temporary files in a folder that are so old that no process still writes them. What was
/// replaced or removed lies under such a name for a moment, old as it is: where that can be, `moment` is not only the
/// time of the last modification.
pub(super) fn stale(folder: &Path, now: i64, moment: fn(&FileStat) -> i64) -> Vec<PathBuf> {
    let is_stale = |entry: &fs::DirEntry| {
        let is_old = |found: &Metadata| moment(&FileStat::of(found)).saturating_add(STALE) < now;
        is_temporary(&entry.file_name())
            && entry.metadata().is_ok_and(|found| found.is_file() && is_own(&found) && is_old(&found))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(io::Result::ok);
    let mut paths: Vec<PathBuf> = entries.filter(is_stale).map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths
}

#[cfg(unix)]
fn is_own(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
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

/// Gives a file another name that nothing has. That is durable when the folders are synced.
///
/// # Errors
/// Names the file when that can't be done.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    step();
    rename_noreplace(from, to).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow!("{} is there already", to.display()),
        _ => anyhow::Error::from(error).context(format!("can't rename {} to {}", from.display(), to.display())),
    })?;
    step();
    Ok(())
}

/// Who can read a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Whoever can read the file that it replaces; everybody whom the umask lets, where there is none.
    OfTarget,
    /// The user alone.
    Private,
}

/// Writes a text to a temporary file beside the one that it is for, and makes it durable.
fn written_beside(path: &Path, bytes: &[u8], access: Access) -> io::Result<(TempPath, Version)> {
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

/// Gives a new file the mode of the one that it replaces, and where that is allowed its owner and group. A group
/// that could not read the old file can't read the new one.
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

/// Makes the names in a folder durable. Where folders can't be opened or synced, names are as safe as they get.
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

/// Passes a result of fsync on, unless the file system has no such thing (9p, some of FUSE and SMB): there is nothing
/// that the caller could do about it, and the file is written.
fn synced(result: io::Result<()>) -> io::Result<()> {
    #[cfg(test)]
    let result = if CANT_SYNC.get() { Err(rustix::io::Errno::INVAL.into()) } else { result };
    match result {
        Err(error) if is_unsupported(&error) => Ok(()),
        result => result,
    }
}

/// Asks for the mode that new files have, less what the user's umask takes away.
#[cfg(unix)]
fn with_usual_mode(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn with_usual_mode(_: &mut tempfile::Builder<'_, '_>) {}

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
    step();
    fs::remove_file(path).with_context(|| format!("can't remove {}", path.display()))?;
    step();
    sync_folder(folder_of(path))
}

/// A point between two of the things that writing is made of.
#[cfg(not(test))]
fn step() {}

/// A point before a note is read that is to be changed.
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
        let now = FileStat::of(&dir.path().join("a.md").metadata().unwrap()).modified;
        let found = |now| stale(dir.path(), now, FileStat::latest);
        assert_eq!(found(now + STALE - 1_000_000_000), [] as [PathBuf; 0]);
        assert_eq!(found(now + STALE + 1_000_000_000), [dir.path().join(".qipu-tmp-aZ09xy")]);
        remove_stale(dir.path(), now + STALE + 1_000_000_000);
        assert_eq!((found(i64::MAX).len(), fs::read_dir(dir.path()).unwrap().count()), (0, 5));
    }
}
