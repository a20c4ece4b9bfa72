//! Stat fingerprints of files and directories.

use std::fs::Metadata;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file of a note, with its stat.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::store) struct FileEntry {
    /// The path in the store, with `/` between names. Bytes that are not UTF-8 are replaced.
    pub(crate) path: Box<str>,
    /// The real path in the store, if `path` may differ from it.
    pub(crate) real_path: Option<Box<Path>>,
    /// The stat; zero until the file is read if it was only listed.
    pub(in crate::store) stat: FileStat,
    /// The slot in the index, if the walk took the file from there.
    pub(in crate::store) slot: Option<usize>,
}

impl FileEntry {
    pub(crate) fn order(&self) -> (&str, Option<&Path>) {
        (&self.path, self.real_path.as_deref())
    }

    pub(crate) fn real_path(&self) -> &Path {
        self.real_path.as_deref().unwrap_or(Path::new(&*self.path))
    }
}

/// The stat of a file, by which a change or replacement is recognised. Times are in nanoseconds since 1970 by the clock of
/// the file system. Serialised in the order of the fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::store) struct FileStat {
    /// In bytes.
    pub(crate) size: u64,
    /// When the content changed.
    pub(in crate::store) mtime: i64,
    /// When anything about the file changed; users can't set it.
    ctime: i64,
    /// Differs if another file replaced this one.
    pub(in crate::store) inode: u64,
}

#[cfg(unix)]
fn nanoseconds(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

impl FileStat {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            size: metadata.len(),
            mtime: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// Extracts the stat from the result of fstatat(2).
    #[cfg(unix)]
    #[allow(clippy::unnecessary_cast, reason = "the types differ between platforms")]
    pub(super) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        Self {
            size: stat.st_size as u64,
            mtime: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            inode: stat.st_ino as u64,
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let since = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).ok();
        let mtime = metadata
            .modified()
            .ok()
            .and_then(since)
            .map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        Self { size: metadata.len(), mtime, ctime: 0, inode: 0 }
    }

    /// Returns the stat of a file of a commit, or of a commit, which have no times.
    pub(in crate::store) fn of_commit(size: u64) -> Self {
        Self { size, ..Self::default() }
    }

    /// Returns the later of both times.
    pub(in crate::store) fn latest(&self) -> i64 {
        self.mtime.max(self.ctime)
    }

    /// Encodes the times as deltas, which are short varints: `mtime` to `base`, `ctime` to `mtime`.
    pub(in crate::store) fn encode_deltas(self, base: i64) -> Self {
        Self { mtime: self.mtime.wrapping_sub(base), ctime: self.ctime.wrapping_sub(self.mtime), ..self }
    }

    /// Decodes what [`FileStat::encode_deltas`] encoded.
    pub(in crate::store) fn decode_deltas(self, base: i64) -> Self {
        let mtime = self.mtime.wrapping_add(base);
        Self { mtime, ctime: self.ctime.wrapping_add(mtime), ..self }
    }
}

/// The stat of a directory, by which creating, removing and renaming in it is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct DirStat {
    pub(in crate::store) stat: FileStat,
    /// The number of the file system: another one may be mounted at the path, with an equal stat otherwise.
    pub(in crate::store) device: u64,
}
