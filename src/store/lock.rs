//! The lock that a command holds on a store while it changes notes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Location;
use super::in_progress_writes::{FileVersion, QUIET_EMPTY};
use super::walk::stat::FileStat;
use crate::env::WaitPolicy;
use crate::error::{Error, ErrorKind};

/// The file that writers lock; the kernel releases the lock when the process ends.
const LOCK_FILE: &str = ".lock";

/// The most bytes of the file that are read.
const MAX_LOCK_FILE: u64 = 1 << 16;

/// The most versions of files that are recorded for the next writer.
const MAX_VERSIONS: usize = 512;

/// How long a command waits for the lock before it prints a warning, and the longest pause between two attempts.
const SILENCE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_millis(50);

/// The exclusive right to change a store. Readers never wait for it.
///
/// The lock is on the store's folder, which is not removed by mistake, and on `.lock`, since a network file system may lock
/// only files that are open for writing. That file has the process id while the lock is held, and below it the versions of
/// files that qipu wrote last: they are complete, however recent.
#[derive(Debug)]
pub struct Lock {
    file: File,
    _folder: Option<File>,
    complete: RefCell<BTreeSet<FileVersion>>,
    pub(super) cache: Option<PathBuf>,
    pub(super) waits: WaitPolicy,
}

impl Lock {
    /// Takes the lock; `shown` is the store's path in messages.
    ///
    /// # Errors
    /// `Busy` if another process holds it for too long; `Failure` if it can't be taken, as on a read-only disk.
    pub(super) fn take(root: &Path, shown: &str, location: &Location) -> Result<Self, Error> {
        let mut attempt = LockAttempt::new(root, shown, location.waits);
        let folder = attempt.lock_folder()?;
        let mut file = loop {
            let file = open(root)?;
            attempt.lock(&file)?;
            // Another process may have replaced the file after it was opened.
            if folder.is_some() || is_at(&file, &root.join(LOCK_FILE)) {
                break file;
            }
            attempt.wait()?;
        };
        let mut text = String::new();
        // Without the recorded versions this command only waits longer.
        let _ = (&mut file).take(MAX_LOCK_FILE).read_to_string(&mut text);
        let complete = RefCell::new(text.lines().filter_map(version).collect());
        let (cache, waits) = (location.cache.clone(), location.waits);
        let lock = Self { file, _folder: folder, complete, cache, waits };
        lock.record(Some(std::process::id()));
        Ok(lock)
    }

    pub(super) fn is_racy(&self, version: &FileVersion, now: i64) -> bool {
        !version.remaining_quiet_time(now).is_zero() && !self.complete.borrow().contains(version)
    }

    /// Records versions that qipu is about to put in place, so that they don't count as racy.
    pub(super) fn wrote(&self, versions: impl Iterator<Item = FileVersion>) {
        self.complete.borrow_mut().extend(versions);
        self.record(Some(std::process::id()));
    }

    /// Waits until files that were modified recently are no longer racy. Returns whether they are unchanged; if not, the
    /// content that was read of them may be incomplete.
    pub(super) fn wait_for_racy(&self, recent: &[(PathBuf, FileStat)], now: i64, waits: WaitPolicy) -> bool {
        let versions = recent.iter().map(|(path, stat)| (path, FileVersion::of(stat)));
        let racy: Vec<_> = versions.filter(|(_, version)| self.is_racy(version, now)).collect();
        let Some(rest) = racy.iter().map(|(_, version)| version.remaining_quiet_time(now)).max() else { return true };
        (waits.pause)(rest);
        let is_same = racy.iter().all(|(path, version)| FileVersion::at(path) == Some(*version));
        if is_same {
            self.complete.borrow_mut().extend(racy.into_iter().map(|(_, version)| version));
        }
        is_same
    }

    fn record(&self, process: Option<u32>) {
        let complete = self.complete.borrow();
        let youngest = complete.last().map_or(0, |version| version.mtime);
        let is_young = |version: &&FileVersion| !version.remaining_quiet_time(youngest).is_zero();
        let mut text = process.map_or(String::new(), |process| process.to_string()) + "\n";
        for FileVersion { mtime, inode, size } in complete.iter().rev().filter(is_young).take(MAX_VERSIONS) {
            text += &format!("{mtime} {inode} {size}\n");
        }
        let mut file = &self.file;
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
        // If that fails, the next writer waits longer.
        drop(written);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.record(None);
    }
}

/// A folder, not a file in it, that is locked until this is dropped.
pub(crate) type FolderLock = File;

/// Locks a folder that is not a store; `shown` is the folder in messages. `None` if folders can't be locked.
///
/// # Errors
/// `Busy` if another process holds the lock for too long.
pub(crate) fn lock_folder(folder: &Path, shown: &str, waits: WaitPolicy) -> Result<Option<FolderLock>, Error> {
    LockAttempt::new(folder, shown, waits).lock_folder()
}

fn version(line: &str) -> Option<FileVersion> {
    let mut numbers = line.split(' ');
    let mtime = numbers.next()?.parse().ok()?;
    let (inode, size) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    Some(FileVersion { mtime, inode, size })
}

/// Opens the lock file without blocking on a pipe or following a symbolic link.
fn open(root: &Path) -> Result<File> {
    let path = root.join(LOCK_FILE);
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        bail!("{LOCK_FILE} in the store is not a regular file; remove it");
    }
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    }
    options.open(path).with_context(|| format!("can't lock the store with {LOCK_FILE}"))
}

fn is_at(file: &File, path: &Path) -> bool {
    let inode = |found: io::Result<std::fs::Metadata>| found.ok().map(|found| FileStat::of(&found).inode);
    inode(file.metadata()) == inode(path.symlink_metadata())
}

/// An attempt to take a lock, with the time waited so far.
struct LockAttempt<'a> {
    root: &'a Path,
    shown: &'a str,
    waits: WaitPolicy,
    /// The sum of the pauses; no clock is read.
    waited: Duration,
    pause: Duration,
}

impl<'a> LockAttempt<'a> {
    fn new(root: &'a Path, shown: &'a str, waits: WaitPolicy) -> Self {
        Self { root, shown, waits, waited: Duration::ZERO, pause: Duration::ZERO }
    }

    /// Locks the folder; `None` if folders can't be locked.
    fn lock_folder(&mut self) -> Result<Option<File>, Error> {
        let Ok(folder) = File::open(self.root) else { return Ok(None) };
        match self.lock(&folder) {
            Err(error) if error.kind == ErrorKind::Busy => Err(error),
            locked => Ok(locked.ok().map(|()| folder)),
        }
    }

    fn lock(&mut self, file: &File) -> Result<(), Error> {
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => self.wait()?,
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::Error(error)) => {
                    return Err(Error::failure(format!("can't lock the store with {LOCK_FILE}: {error}")));
                }
            }
        }
    }

    /// Pauses, longer each time. Prints a warning that names the holder after [`SILENCE`].
    fn wait(&mut self) -> Result<(), Error> {
        let before = self.waited;
        if before >= self.waits.patience {
            let message = format!("{} still holds the lock on {}; nothing was changed", self.holder(), self.shown);
            return Err(Error::new(ErrorKind::Busy, message).hint("try again later"));
        }
        self.pause = (self.pause * 2).clamp(Duration::from_millis(1), MAX_PAUSE).min(self.waits.patience - before);
        (self.waits.pause)(self.pause);
        self.waited += self.pause;
        if before < SILENCE && self.waited >= SILENCE {
            (self.waits.warn)(&format!("waiting for {}, which holds the lock on {}", self.holder(), self.shown));
        }
        Ok(())
    }

    /// Returns the words for the process that holds the lock, whose id is in the file.
    fn holder(&self) -> String {
        let mut text = String::new();
        if self.root.join(LOCK_FILE).symlink_metadata().is_err() {
            return "another process".to_owned();
        }
        let read = open(self.root).and_then(|file| Ok(file.take(MAX_LOCK_FILE).read_to_string(&mut text)?));
        let process = read.ok().and_then(|_| text.lines().next()?.parse().ok()).filter(|process| is_alive(*process));
        process.map_or("another process".to_owned(), |process| format!("process {process}"))
    }
}

#[cfg(unix)]
fn is_alive(process: i32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let found = Pid::from_raw(process).filter(|_| process > 0).map(test_kill_process);
    matches!(found, Some(Ok(()) | Err(rustix::io::Errno::PERM)))
}

#[cfg(not(unix))]
fn is_alive(_: i32) -> bool {
    true
}

/// Returns the modification time in nanoseconds from which on files may be racy at the time `now`.
pub(super) fn since(now: i64) -> i64 {
    now.saturating_sub(i64::try_from(QUIET_EMPTY.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::*;

    thread_local! {
        static WAITED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static WARNED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    fn location(patience: u64) -> Location {
        let pause = |time: Duration| WAITED.set(WAITED.get() + time);
        let warn = |text: &str| WARNED.with_borrow_mut(|warned| warned.push(text.to_owned()));
        Location { waits: WaitPolicy { pause, warn, patience: Duration::from_secs(patience) }, ..Location::default() }
    }

    #[test]
    fn a_writer_says_for_whom_it_waits_and_gives_up() {
        let dir = tempfile::tempdir().unwrap();
        let take = |patience| Lock::take(dir.path(), ".qipu/", &location(patience));
        let lock = take(30).unwrap();
        assert_eq!(WAITED.get(), Duration::ZERO);
        let error = take(30).unwrap_err();
        assert_eq!((error.kind, WAITED.get()), (ErrorKind::Busy, Duration::from_secs(30)));
        let own = std::process::id();
        assert_eq!(error.message, format!("process {own} still holds the lock on .qipu/; nothing was changed"));
        let warned = WARNED.take();
        assert_eq!(warned, [format!("waiting for process {own}, which holds the lock on .qipu/")]);
        WAITED.set(Duration::ZERO);
        assert!(take(0).is_err() && WAITED.get().is_zero() && WARNED.take().is_empty());
        drop(lock);
        take(0).unwrap();
        // Anybody who can read the file can hold a lock on it, and need not say so.
        let file = File::open(dir.path().join(LOCK_FILE)).unwrap();
        file.lock_shared().unwrap();
        assert!(take(0).unwrap_err().message.starts_with("another process still"));
    }

    #[test]
    fn a_lock_whose_file_is_removed_still_holds() {
        let dir = tempfile::tempdir().unwrap();
        let take = || Lock::take(dir.path(), ".qipu/", &location(0));
        let lock = take().unwrap();
        fs::remove_file(dir.path().join(LOCK_FILE)).unwrap();
        assert_eq!(take().unwrap_err().kind, ErrorKind::Busy);
        drop(lock);
        take().unwrap();
    }

    #[test]
    fn what_the_last_writer_wrote_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let take = || Lock::take(dir.path(), ".qipu/", &location(0)).unwrap();
        let [ours, old, other] = [100, 1, 101].map(|time| FileVersion { mtime: time * 10_000_000, inode: 7, size: 3 });
        take().wrote([ours, old].into_iter());
        let lock = take();
        assert!(!lock.is_racy(&ours, ours.mtime) && lock.is_racy(&other, other.mtime));
        assert!(lock.is_racy(&FileVersion { size: 0, ..ours }, ours.mtime));
        // What a repository brings in its place is no more than that.
        drop(lock);
        fs::write(dir.path().join(LOCK_FILE), "x\n1 2\n-1 a b\n\u{1b}[0m").unwrap();
        assert!(take().is_racy(&ours, ours.mtime));
    }

    #[test]
    fn a_file_that_changes_while_it_is_waited_for_is_not_what_was_read() {
        let dir = tempfile::tempdir().unwrap();
        let (file, lock) = (dir.path().join("a"), Lock::take(dir.path(), "", &location(0)).unwrap());
        fs::write(&file, "").unwrap();
        let seen = |file: &Path| [(file.to_path_buf(), FileStat::of(&file.metadata().unwrap()))];
        let found = seen(&file);
        let now = found[0].1.mtime;
        WAITED.set(Duration::ZERO);
        assert!(lock.wait_for_racy(&found, now, location(0).waits));
        assert_eq!(WAITED.get(), QUIET_EMPTY);
        // It was looked at: that does for the same version.
        assert!(lock.wait_for_racy(&found, now, location(0).waits) && WAITED.get() == QUIET_EMPTY);
        fs::write(&file, "half").unwrap();
        let found = seen(&file);
        fs::write(&file, "saved").unwrap();
        assert!(!lock.wait_for_racy(&found, now, location(0).waits));
    }
}
