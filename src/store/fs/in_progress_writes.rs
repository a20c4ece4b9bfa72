//! Racy files: files that another program may still be saving.
//!
//! A program that saves in place truncates the file and then writes it; what is read in between is incomplete. As with
//! git's racily clean entries ([git, racy-git](https://git-scm.com/docs/racy-git)) the modification time decides: a file
//! counts as complete once it has not changed for [`QUIET`] by the clock of its file system.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::dir_handle::DirHandle;
use super::stat::FileStat;

/// How long a file must not have changed to be complete.
const QUIET: Duration = Duration::from_millis(200);
/// The same for an empty file, which was most likely truncated to be written.
const QUIET_EMPTY: Duration = Duration::from_secs(1);

/// Returns the time of the file system of a folder in nanoseconds; `None` if no file can be created there.
pub(in crate::store) fn now(folder: &Path) -> Option<i64> {
    Arc::new(DirHandle::new(folder).ok()?).now().ok()
}

/// Returns the modification time in nanoseconds from which on files may be racy at the time `now`.
pub(in crate::store) fn since(now: i64) -> i64 {
    now.saturating_sub(in_nanoseconds(quiet(true)))
}

fn quiet(is_empty: bool) -> Duration {
    #[cfg(test)]
    if let Some(quiet) = QUIET_IN_TESTS.get() {
        return quiet;
    }
    if is_empty { QUIET_EMPTY } else { QUIET }
}

fn in_nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// A version of a file: its modification time, inode and size. Ordered by modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::store) struct FileVersion {
    /// In nanoseconds by the clock of the file system.
    pub(in crate::store) mtime: i64,
    pub(in crate::store) inode: u64,
    pub(in crate::store) size: u64,
}

impl FileVersion {
    pub(in crate::store) fn of(stat: &FileStat) -> Self {
        Self { mtime: stat.mtime, inode: stat.inode, size: stat.size }
    }

    pub(in crate::store) fn at(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().map(|metadata| Self::of(&FileStat::of(&metadata)))
    }

    /// Returns the version of a folder: another one after a file in it was created, renamed or removed. Its size, which may
    /// be 0, does not count.
    pub(in crate::store) fn of_folder(path: &Path) -> Option<Self> {
        Self::at(path).map(|version| Self { size: 1, ..version })
    }

    /// Returns how much longer than `now` the file must stay unchanged to be complete; zero if it is complete.
    pub(in crate::store) fn remaining_quiet_time(&self, now: i64) -> Duration {
        // A time that is a little later than `now` is that of a save since.
        let age = Duration::from_nanos(u64::try_from(now.saturating_sub(self.mtime)).unwrap_or_default());
        quiet(self.size == 0).saturating_sub(age)
    }

    /// Whether the time is later than any save until `now` can have been, as after a clock was set back: nobody is saving
    /// the file, since that would give it the time of today.
    pub(in crate::store) fn is_of_the_future(&self, now: i64) -> bool {
        self.mtime > now.saturating_add(in_nanoseconds(quiet(false)))
    }
}

/// How long files count as racy in a test that must not depend on the speed of the machine.
#[cfg(test)]
pub(crate) use tests::QUIET_IN_TESTS;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        pub(crate) static QUIET_IN_TESTS: Cell<Option<Duration>> = const { Cell::new(None) };
    }

    #[test]
    fn a_file_is_complete_once_it_was_left_alone() {
        let version = |size, mtime| FileVersion { inode: 1, size, mtime };
        let second = 1_000_000_000;
        assert_eq!(version(1, 0).remaining_quiet_time(second), Duration::ZERO);
        assert_eq!(version(1, 0).remaining_quiet_time(50_000_000), QUIET - Duration::from_millis(50));
        assert_eq!(version(0, 0).remaining_quiet_time(250_000_000), QUIET_EMPTY - Duration::from_millis(250));
        assert_eq!(version(1, second + 1).remaining_quiet_time(second), QUIET);
        assert!(!version(1, second + 1).is_of_the_future(second) && version(1, 2 * second).is_of_the_future(second));
        assert_eq!(version(0, 0).remaining_quiet_time(i64::MAX), Duration::ZERO);
    }
}
