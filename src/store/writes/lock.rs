//! The lock that a command holds on a store while it changes notes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};

use crate::env::WaitPolicy;
use crate::error::{Error, ErrorKind};
use crate::store::collections::discover::Location;
use crate::store::fs::in_progress_writes::{self, FileVersion};
use crate::store::fs::stat::FileStat;

/// The file that writers lock; the kernel releases the lock when the process ends.
const LOCK_FILE: &str = ".lock";

/// The most bytes of the file that are read.
const MAX_LOCK_FILE: u64 = 1 << 16;

/// The most versions of files that are recorded for the next writer.
const MAX_VERSIONS: usize = 512;

/// How long a command waits for the lock before it prints a warning.
const SILENCE: Duration = Duration::from_secs(1);

/// The shortest and the longest pause between two attempts, in microseconds. Pauses that grow would let newcomers overtake
/// those who wait longest; pauses of one length could miss the same short gap again and again.
const PAUSES: (u64, u64) = (1_000, 4_000);

/// The exclusive right to change a store. Readers never wait for it, and nobody sleeps who has it: a command that waits
/// for a program which saves a note gives it back first.
///
/// The lock is on the store's folder, which is not removed by mistake, and on `.lock`, since a network file system may lock
/// only files that are open for writing. That file has the process id while the lock is held, and below it the versions of
/// files that qipu wrote last: they are complete, however recent.
#[derive(Debug)]
pub struct Lock {
    file: File,
    _folder: Option<File>,
    complete: RefCell<BTreeSet<FileVersion>>,
    /// The last known time of the file system.
    now: Cell<i64>,
    pub(in crate::store) cache: Option<PathBuf>,
    #[cfg(test)]
    _held: LockCount,
}

impl Lock {
    /// Takes the lock; `shown` is the store's path in messages.
    ///
    /// # Errors
    /// `Busy` if another process holds it for too long; `Failure` if it can't be taken, as on a read-only disk.
    pub(in crate::store) fn take(root: &Path, shown: &str, location: &Location) -> Result<Self, Error> {
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
        let lock = Self {
            file,
            _folder: folder,
            complete,
            now: Cell::new(i64::MIN),
            cache: location.cache.clone(),
            #[cfg(test)]
            _held: LockCount::new(),
        };
        lock.record(Some(std::process::id()));
        Ok(lock)
    }

    pub(in crate::store) fn is_racy(&self, version: &FileVersion, now: i64) -> bool {
        !version.remaining_quiet_time(now).is_zero() && !self.complete.borrow().contains(version)
    }

    /// Whether another program may be saving a file that is there now. One dated in the future counts as complete from now on.
    pub(super) fn is_in_progress(&self, version: &FileVersion) -> bool {
        if version.is_of_the_future(self.now()) {
            self.count_as_complete([*version]);
        }
        self.is_racy(version, self.now())
    }

    /// Records versions that qipu is about to put in place, so that they don't count as racy.
    pub(super) fn wrote(&self, versions: impl Iterator<Item = FileVersion>) {
        let versions: Vec<_> = versions.collect();
        self.set_now(versions.iter().map(|version| version.mtime).max().unwrap_or(i64::MIN));
        self.complete.borrow_mut().extend(versions);
        self.record(Some(std::process::id()));
    }

    /// Counts versions as complete that were waited for, or that nobody can be saving.
    pub(super) fn count_as_complete(&self, versions: impl IntoIterator<Item = FileVersion>) {
        self.complete.borrow_mut().extend(versions);
    }

    /// Sets the time of the file system, by which versions are recorded for the next writer.
    pub(super) fn set_now(&self, now: i64) {
        self.now.set(self.now.get().max(now));
    }

    pub(in crate::store) fn now(&self) -> i64 {
        self.now.get()
    }

    /// Returns the sign of life that those who wait look for.
    pub(super) fn heartbeat(&self) -> Heartbeat<'_> {
        Heartbeat(&self.file)
    }

    fn record(&self, process: Option<u32>) {
        let complete = self.complete.borrow();
        // Before the time is known, what the last writer recorded stays.
        let latest = || complete.last().map_or(i64::MIN, |version| version.mtime);
        let now = Some(self.now.get()).filter(|now| *now != i64::MIN).unwrap_or_else(latest);
        let is_young = |version: &&FileVersion| version.mtime <= now && !version.remaining_quiet_time(now).is_zero();
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

/// The state of a lock, which changes with every progress of its holder and with the holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LockState(FileVersion);

impl LockState {
    /// Looks at the lock in the folder that has it; `None` if it was never taken.
    pub(in crate::store) fn at(folder: &Path) -> Option<Self> {
        FileVersion::at(&folder.join(LOCK_FILE)).map(Self)
    }
}

/// A sign that the holder of a lock makes progress: the patience of those who wait begins again.
#[derive(Clone, Copy)]
pub(super) struct Heartbeat<'a>(&'a File);

impl Heartbeat<'_> {
    pub(super) fn beat(self) {
        // Without it, the others may give up earlier.
        let _ = self.0.set_modified(SystemTime::now());
    }
}

/// Counts the locks of this thread, so that tests can tell whether it sleeps while it has one.
#[cfg(test)]
#[derive(Debug)]
struct LockCount;

#[cfg(test)]
impl LockCount {
    fn new() -> Self {
        HELD.set(HELD.get() + 1);
        Self
    }
}

#[cfg(test)]
impl Drop for LockCount {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
    }
}

#[cfg(test)]
pub(crate) use tests::HELD;

/// The lock on a folder, not on a file in it; `None` if folders can't be locked.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _folder: Option<File>,
    #[cfg(test)]
    _held: LockCount,
}

/// The most times that files are looked at before their folder is locked although another program keeps saving them.
const MAX_LOOKS: usize = 5;

/// Locks a folder that is not a store, once no other program seems to be saving files that are to be changed; `shown` is the
/// folder in messages.
///
/// # Errors
/// `Busy` if another process holds the lock for too long.
pub(crate) fn lock_folder(
    folder: &Path,
    shown: &str,
    waits: WaitPolicy,
    files: &[PathBuf],
) -> Result<FolderLock, Error> {
    let mut waited_for = BTreeSet::new();
    let mut looks = 0;
    loop {
        looks += 1;
        let lock = LockAttempt::new(folder, shown, waits).lock_folder()?;
        let now = in_progress_writes::now(folder).unwrap_or(i64::MAX);
        let rest = |version: &FileVersion| version.remaining_quiet_time(now);
        let versions = files.iter().filter_map(|file| FileVersion::at(file));
        let versions = versions.filter(|version| !version.is_of_the_future(now) && !rest(version).is_zero());
        let in_progress: Vec<_> = versions.filter(|version| !waited_for.contains(version)).collect();
        let Some(rest) = in_progress.iter().map(rest).max().filter(|_| looks < MAX_LOOKS) else {
            return Ok(FolderLock {
                _folder: lock,
                #[cfg(test)]
                _held: LockCount::new(),
            });
        };
        drop(lock);
        (waits.pause)(rest);
        waited_for.extend(in_progress);
    }
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
    let file = options.open(path).with_context(|| format!("can't lock the store with {LOCK_FILE}"))?;
    share(&file, root);
    Ok(file)
}

/// Lets all those write to an own lock file who may write to the folder, whatever the umask: they change notes too.
#[cfg(unix)]
fn share(file: &File, root: &Path) {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (Ok(own), Ok(folder)) = (file.metadata(), root.metadata()) else { return };
    let writers = folder.mode() & 0o022;
    // Who writes reads too.
    let mode = own.mode() & 0o777;
    let wanted = mode | writers | (writers << 1);
    let is_shared = wanted == mode && (own.gid() == folder.gid() || writers & 0o020 == 0);
    if is_shared || own.uid() != rustix::process::geteuid().as_raw() {
        return;
    }
    // Only a member of the group may do that; without it, others may be unable to write notes.
    let _ = fchown(file, None, Some(folder.gid()));
    let _ = file.set_permissions(Permissions::from_mode(wanted));
}

#[cfg(not(unix))]
fn share(_: &File, _: &Path) {}

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
    /// The pauses since the holder made progress, or another one got the lock.
    unmoved: Duration,
    /// The lock file when that was seen last.
    seen: Option<LockState>,
    random: u64,
}

impl<'a> LockAttempt<'a> {
    fn new(root: &'a Path, shown: &'a str, waits: WaitPolicy) -> Self {
        let random = u64::from(std::process::id());
        Self { root, shown, waits, waited: Duration::ZERO, unmoved: Duration::ZERO, seen: None, random }
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

    /// Pauses. Prints a warning that names the holder after [`SILENCE`]. Fails once the holder has made no progress for as
    /// long as the patience lasts.
    fn wait(&mut self) -> Result<(), Error> {
        let found = LockState::at(self.root);
        if found != self.seen {
            (self.seen, self.unmoved) = (found, Duration::ZERO);
        }
        if self.unmoved >= self.waits.patience {
            let message = format!("{} still holds the lock on {}; nothing was changed", self.holder(), self.shown);
            return Err(Error::new(ErrorKind::Busy, message).hint("try again later"));
        }
        let (before, pause) = (self.waited, self.next_pause().min(self.waits.patience - self.unmoved));
        (self.waits.pause)(pause);
        self.unmoved += pause;
        self.waited += pause;
        if before < SILENCE && self.waited >= SILENCE {
            (self.waits.warn)(&format!("waiting for {}, which holds the lock on {}", self.holder(), self.shown));
        }
        Ok(())
    }

    /// Returns a length among [`PAUSES`], by a linear congruential generator (Knuth's MMIX).
    fn next_pause(&mut self) -> Duration {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_micros(PAUSES.0 + (self.random >> 33) % (PAUSES.1 - PAUSES.0))
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    thread_local! {
        /// The locks on stores that this thread has.
        pub(crate) static HELD: Cell<usize> = const { Cell::new(0) };
        static WAITED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static WARNED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    fn location(patience: u64) -> Location {
        let pause = |time: Duration| WAITED.set(WAITED.get() + time);
        let warn = |text: &str| WARNED.with_borrow_mut(|warned| warned.push(text.to_owned()));
        let patience = Duration::from_secs(patience);
        Location { waits: WaitPolicy { pause, warn, patience, ..WaitPolicy::default() }, ..Location::default() }
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
    fn patience_begins_again_with_the_progress_of_the_holder() {
        thread_local! {
            static HOLDER: RefCell<Option<Lock>> = const { RefCell::new(None) };
        }
        /// Lets the holder work for 100 seconds, and then stand still.
        fn work(time: Duration) {
            let before = WAITED.get().as_secs();
            WAITED.set(WAITED.get() + time);
            if WAITED.get().as_secs() > before && before < 100 {
                HOLDER.with_borrow(|lock| lock.as_ref().unwrap().heartbeat().beat());
            }
        }
        let dir = tempfile::tempdir().unwrap();
        HOLDER.set(Some(Lock::take(dir.path(), "", &location(0)).unwrap()));
        WAITED.set(Duration::ZERO);
        let waits = WaitPolicy { pause: work, ..location(30).waits };
        let error = Lock::take(dir.path(), "", &Location { waits, ..Location::default() }).unwrap_err();
        assert_eq!((error.kind, WAITED.get().as_secs()), (ErrorKind::Busy, 130));
        HOLDER.take();
    }

    #[test]
    fn pauses_stay_short_however_long_a_command_waits() {
        thread_local! {
            static PAUSES_SEEN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
        }
        let dir = tempfile::tempdir().unwrap();
        let _lock = Lock::take(dir.path(), "", &location(0)).unwrap();
        let pause = |time: Duration| PAUSES_SEEN.with_borrow_mut(|seen| seen.push(time.as_micros() as u64));
        let waits = WaitPolicy { pause, ..location(5).waits };
        Lock::take(dir.path(), "", &Location { waits, ..Location::default() }).unwrap_err();
        let mut seen = PAUSES_SEEN.take();
        // The last one is what is left of the patience.
        seen.pop();
        assert!(seen.len() > 1_200 && seen.iter().all(|pause| (PAUSES.0..PAUSES.1).contains(pause)), "{seen:?}");
        assert!(seen.iter().collect::<BTreeSet<_>>().len() > 500, "they differ");
    }

    #[cfg(unix)]
    #[test]
    fn a_user_who_may_write_to_the_folder_may_lock_it() {
        use std::os::unix::fs::PermissionsExt;
        for (folder, expected) in [(0o777, 0o666), (0o775, 0o660), (0o755, 0o600), (0o700, 0o600), (0o1777, 0o666)] {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join(LOCK_FILE);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            fs::set_permissions(dir.path(), fs::Permissions::from_mode(folder)).unwrap();
            drop(Lock::take(dir.path(), "", &location(0)).unwrap());
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, expected, "{folder:o}");
        }
    }

    #[test]
    fn a_version_of_the_future_drives_no_other_out() {
        let dir = tempfile::tempdir().unwrap();
        let take = || Lock::take(dir.path(), "", &location(0)).unwrap();
        let [ours, future] = [1_000_000_000, 3_600_000_000_000].map(|mtime| FileVersion { mtime, inode: 7, size: 3 });
        let lock = take();
        lock.count_as_complete([future]);
        lock.wrote([ours].into_iter());
        drop(lock);
        assert!(!take().is_racy(&ours, ours.mtime) && take().is_racy(&future, future.mtime));
    }
}
