//! The history of a repository as a directory: a file for each commit, by its time and its whole id, with what git says of
//! it.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use super::not_found;
use crate::note::{CommitFields, hash_in};
use crate::store::fs::stat::FileStat;
use crate::store::git::commit_list::{CommitList, CommitState};
use crate::store::git::commit_reader::{CommitReader, CommitRecord};
use crate::store::git::plumbing::Repository;

/// The commits of a repository.
#[derive(Debug)]
pub(in crate::store) struct HistoryDir {
    pub(in crate::store) repository: Repository,
    /// Those that count, once they are listed.
    pub(in crate::store) list: OnceLock<CommitList>,
    /// The checksum of the references when they were listed.
    pub(in crate::store) checksum: OnceLock<u32>,
    /// Those of them that are read, by their whole ids; `None` for all.
    pub(in crate::store) only: Option<Vec<String>>,
    reader: CommitReader,
}

impl HistoryDir {
    pub(in crate::store) fn new(repository: Repository, only: Option<Vec<String>>) -> Self {
        Self { repository, list: OnceLock::new(), checksum: OnceLock::new(), only, reader: CommitReader::default() }
    }

    /// Returns the stat of a commit: it never changes, but its state may.
    pub(in crate::store) fn stat(state: CommitState<'_>) -> FileStat {
        let release = state.release.map_or(0, |release| u64::from(crc32fast::hash(release.as_bytes())));
        FileStat::of_commit(release << 1 | u64::from(state.is_first))
    }

    /// Reads a commit as a text, with its stat.
    ///
    /// # Errors
    /// If git can't read it.
    pub(super) fn read(&self, path: &Path) -> io::Result<(Vec<u8>, FileStat)> {
        let path = path.to_str().ok_or_else(not_found)?;
        let record = self.reader.read(&self.repository, hash_in(path))?;
        let state = self.list.get().and_then(|list| list.state(path)).unwrap_or_default();
        Ok((self.text(&record, state.release).into_bytes(), Self::stat(state)))
    }

    fn text(&self, record: &CommitRecord, release: Option<&str>) -> String {
        let prefix = self.repository.prefix.as_str();
        let paths: Vec<&str> = record.paths.iter().filter_map(|path| path.strip_prefix(prefix)).collect();
        let CommitRecord { date, subject, message, .. } = record;
        CommitFields { date, subject, message, paths, release }.to_text()
    }

    /// Lets git read commits while others are parsed.
    pub(super) fn announce<'p>(&self, paths: impl Iterator<Item = &'p Path>) {
        self.reader.announce(&self.repository, paths.filter_map(Path::to_str).map(hash_in));
    }
}
