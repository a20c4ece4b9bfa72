//! What a repository's references lead to, by the files that git keeps; git itself is not run.

use std::path::{Path, PathBuf};

use super::plain_file::{open_plain, read_whole};
use super::plumbing::is_object_id;
use super::worktree::{common_git_dir, has_own_repository, named_git_dir};

/// The longest of those files that is read, in bytes.
const MAX_LEN: u64 = 64 * 1024 * 1024;
/// The most tags that are read one by one.
const MAX_TAGS: usize = 100_000;

/// The folders in which a repository keeps its references.
struct GitDirs {
    /// That of the working tree.
    own: PathBuf,
    /// That of all working trees.
    common: PathBuf,
}

impl GitDirs {
    fn of(root: &Path) -> Option<Self> {
        if !has_own_repository(root) {
            return None;
        }
        let own = named_git_dir(root).unwrap_or_else(|| root.join(".git"));
        let common = common_git_dir(root).unwrap_or_else(|| own.clone());
        Some(Self { own, common })
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    read_whole(open_plain(path).ok()?, MAX_LEN).ok()
}

/// Returns the id of the commit that is checked out; `None` if there is none, or its name is kept in another form
/// (git-reftable(5)).
pub(in crate::store) fn head(root: &Path) -> Option<String> {
    let dirs = GitDirs::of(root)?;
    let text = |path: &Path| String::from_utf8(read(path)?).ok();
    let id = |text: String| Some(text.trim_end().to_owned()).filter(|id| is_object_id(id));
    let head = text(&dirs.own.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref: ").map(str::trim_end) else { return id(head) };
    if !name.starts_with("refs/") || name.split('/').any(|part| part == "..") {
        return None;
    }
    if let Some(loose) = text(&dirs.common.join(name)) {
        return id(loose);
    }
    let packed = read(&dirs.common.join("packed-refs"))?;
    let of_line = |line: &[u8]| {
        let (id, packed) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        (packed == name).then(|| id.to_owned())
    };
    packed.split(|byte| *byte == b'\n').find_map(of_line).and_then(id)
}

/// Returns a checksum of all beside the commits that decides which commits are there and what their tags are: tags, and the
/// files by which a repository lacks or replaces parents.
pub(in crate::store) fn checksum(root: &Path) -> Option<u32> {
    let dirs = GitDirs::of(root)?;
    let mut hasher = crc32fast::Hasher::new();
    for name in ["packed-refs", "reftable/tables.list", "shallow", "info/grafts"] {
        hasher.update(name.as_bytes());
        hasher.update(&read(&dirs.common.join(name)).unwrap_or_default());
    }
    let (mut waiting, mut count) = (vec![dirs.common.join("refs/tags")], 0);
    while let Some(folder) = waiting.pop() {
        let mut entries: Vec<_> = folder.read_dir().into_iter().flatten().flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries.into_iter().take(MAX_TAGS - count) {
            count += 1;
            hasher.update(entry.path().as_os_str().as_encoded_bytes());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                _ => hasher.update(&read(&entry.path()).unwrap_or_default()),
            }
        }
    }
    Some(hasher.finalize())
}

/// Returns whether a repository lacks the beginning of its history, and whether it was cloned in part, so that it may lack the
/// files of commits (git-clone(1), `--depth` and `--filter`).
pub(in crate::store) fn lacks(root: &Path) -> (bool, bool) {
    let Some(dirs) = GitDirs::of(root) else { return (false, false) };
    let mut packs = dirs.common.join("objects/pack").read_dir().into_iter().flatten().flatten();
    let is_partial = packs.any(|pack| pack.path().extension().is_some_and(|ending| ending == "promisor"));
    (dirs.common.join("shallow").exists(), is_partial)
}
