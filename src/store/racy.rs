//! Tells files that another program may be saving just now from those that are complete.
//!
//! A program that saves in place truncates the file and then writes it, so what is read in between is not its text.
//! As with git's racily clean entries (Documentation/technical/racy-git.txt) the modification time decides: a file
//! counts as complete once it has been left alone for a while by the clock of its file system.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::dir_handle::DirHandle;
use super::scan::FileStat;

/// How long a file must be left alone.
pub(super) const QUIET: Duration = Duration::from_millis(200);
/// How long an empty one must be: it was most likely truncated to be written.
pub(super) const QUIET_EMPTY: Duration = Duration::from_secs(1);

/// Returns the moment that it is now for the file system of a folder; `None` where no file can be made there.
pub(super) fn now(folder: &Path) -> Option<i64> {
    Arc::new(DirHandle::new(folder).ok()?).moment().ok()
}

/// One version of a file, known by its modification time, inode number and size. The youngest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    /// In nanoseconds of the file system's clock.
    pub(super) modified: i64,
    pub(super) inode: u64,
    pub(super) size: u64,
}

impl Version {
    pub(super) fn of(look: &FileStat) -> Self {
        Self { modified: look.modified, inode: look.number, size: look.size }
    }

    /// Returns the version that is at a path; `None` where there is no file.
    pub(super) fn at(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().map(|found| Self::of(&FileStat::of(&found)))
    }

    /// Returns how much longer the file must be left alone at a moment; zero for one that is complete.
    pub(super) fn rest(&self, now: i64) -> Duration {
        let quiet = if self.size == 0 { QUIET_EMPTY } else { QUIET };
        // A time in the future, as of a clock that was set back, is as good as now.
        let age = Duration::from_nanos(u64::try_from(now.saturating_sub(self.modified)).unwrap_or_default());
        quiet.saturating_sub(age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_complete_once_it_was_left_alone() {
        let version = |size, modified| Version { inode: 1, size, modified };
        let second = 1_000_000_000;
        assert_eq!(version(1, 0).rest(second), Duration::ZERO);
        assert_eq!(version(1, 0).rest(50_000_000), QUIET - Duration::from_millis(50));
        assert_eq!(version(0, 0).rest(250_000_000), QUIET_EMPTY - Duration::from_millis(250));
        assert_eq!(version(1, 2 * second).rest(second), QUIET);
        assert_eq!(version(0, 0).rest(i64::MAX), Duration::ZERO);
    }
}
