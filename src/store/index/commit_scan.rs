//! The scan for the commits of a repository: the list of them, kept beside the index and updated when a reference moves.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::container::{Container, ContainerWriter};
use super::location::IndexLocation;
use super::scan::Scanned;
use crate::codec::lz4::{compress, decompress};
use crate::error::{Error, ErrorKind};
use crate::note::hash_in;
use crate::store::fs::dir_handle::{DirHandle, HistoryDir, TempFile};
use crate::store::fs::stat::FileEntry;
use crate::store::git::commit_list::{CommitList, CommitState};
use crate::store::git::plumbing::Repository;
use crate::store::git::ref_state;

/// The file with the list.
const FILE: &str = "commits.index";

/// The version of its form: one of another version counts as none.
const VERSION: &[u8] = b"2";

/// The checksum of the references, and the list of commits that was made with them.
type ListFile = (u32, CommitList);

/// Lists the commits of a repository, sorted by their paths. Starts no process if nothing moved since the last list was kept.
///
/// # Errors
/// `Store` if git can't list them.
pub(in crate::store) fn commits(location: &IndexLocation<'_>, dir: &HistoryDir) -> Result<Scanned, Error> {
    let list = current_list(location, dir)?;
    let list = dir.list.get_or_init(|| list);
    let only: Option<HashSet<&str>> = dir.only.as_ref().map(|only| only.iter().map(String::as_str).collect());
    let is_read = |path: &str| only.as_ref().is_none_or(|only| only.contains(hash_in(path)));
    let entry = |(path, state): (&str, CommitState<'_>)| {
        let stat = HistoryDir::stat(state);
        is_read(path).then(|| FileEntry { path: path.into(), real_path: None, stat, slot: None })
    };
    Ok(Scanned { files: list.commits().filter_map(entry).collect(), ..Scanned::default() })
}

/// Counts the commits of a repository, as [`commits`] lists them.
///
/// # Errors
/// As there.
pub(in crate::store) fn count(location: &IndexLocation<'_>, dir: &HistoryDir) -> Result<usize, Error> {
    current_list(location, dir).map(|list| list.commits().count())
}

/// Whether the commit that is checked out, or a tag, is another one than when the commits were listed. Starts no process,
/// where git keeps references in files.
pub(in crate::store) fn has_moved(dir: &HistoryDir) -> bool {
    let (repository, Some(listed)) = (&dir.repository, dir.list.get()) else { return false };
    repository.commit.is_none()
        && (listed.tip != tip(repository).unwrap_or_default()
            || dir.checksum.get().copied() != ref_state::checksum(&repository.root))
}

/// Returns the commit up to which commits are listed; `None` if there is none.
fn tip(repository: &Repository) -> Option<String> {
    repository.commit.clone().or_else(|| ref_state::head(&repository.root)).or_else(|| repository.head())
}

fn current_list(location: &IndexLocation<'_>, dir: &HistoryDir) -> Result<CommitList, Error> {
    let repository = &dir.repository;
    let checksum = ref_state::checksum(&repository.root);
    if let Some(checksum) = checksum {
        let _ = dir.checksum.set(checksum);
    }
    let Some(tip) = tip(repository) else {
        // A branch without a commit is no error.
        return repository.refused().map_or_else(|| Ok(CommitList::default()), Err);
    };
    let known = Some(location).filter(|location| location.uses_index).and_then(read);
    let known = known.filter(|(of_list, _)| Some(*of_list) == checksum).map(|(_, list)| list);
    let known = match known {
        Some(known) if known.tip == tip => return Ok(known),
        known => known,
    };
    let moved = known.and_then(|known| known.moved(repository, &tip));
    let list = moved.or_else(|| CommitList::read(repository, &tip)).ok_or_else(|| {
        let error = Error::new(ErrorKind::Store, "git can't list its commits");
        error.hint("`git log` in its folder says why")
    })?;
    // Another commit than the one that is checked out is asked for once.
    if location.uses_index && repository.commit.is_none() {
        checksum.and_then(|checksum| write(location, (checksum, &list)));
    }
    Ok(list)
}

fn read(location: &IndexLocation<'_>) -> Option<ListFile> {
    let dir = DirHandle::new(&location.user_cache_dir()?).ok()?;
    let container = Container::open(&dir, FILE)?;
    let is_current = container.whole(0)? == VERSION;
    is_current.then(|| postcard::from_bytes(&decompress(&container.whole(1)?)?).ok())?
}

/// Keeps a list; without it, the next call asks git again.
fn write(location: &IndexLocation<'_>, file: (u32, &CommitList)) -> Option<()> {
    let dir = location.user_cache_dir()?;
    std::fs::create_dir_all(&dir).ok()?;
    let mut staged = TempFile::new(Arc::new(DirHandle::new(Path::new(&dir)).ok()?)).ok()?;
    let mut writer = ContainerWriter::new(&mut staged.file).ok()?;
    writer.section(VERSION).ok()?;
    writer.section(&compress(&postcard::to_allocvec(&file).ok()?)).ok()?;
    writer.finish().ok()?;
    staged.replace(FILE).ok()
}
