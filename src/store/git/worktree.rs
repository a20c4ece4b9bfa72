//! Linked working trees of git (git-worktree(1)), by the files that git keeps; git itself is not run.

use std::path::{Path, PathBuf};

use super::plain_file::{open_plain, read_whole};

/// The longest of those files that is read, in bytes.
const MAX_LEN: u64 = 8 * 1024;
/// The folder in which a repository keeps what it knows of its linked working trees.
const WORKTREES: &str = "worktrees";

/// Returns git's folder of a repository, from the root of a linked working tree; `None` if `root` is not that of one. The
/// repository must know the working tree: a file `.git`, and the folder that it names, could name any repository.
pub(in crate::store) fn common_git_dir(root: &Path) -> Option<PathBuf> {
    let git_dir = named_git_dir(root)?.canonicalize().ok()?;
    let known = git_dir.join(line(&git_dir.join("gitdir"))?).canonicalize().ok()?;
    if known != root.join(".git").canonicalize().ok()? {
        return None;
    }
    let common = git_dir.join(line(&git_dir.join("commondir"))?).canonicalize().ok()?;
    (git_dir.parent()? == common.join(WORKTREES)).then_some(common)
}

/// Returns the folder that the file `.git` names, as that of a linked working tree or a submodule does; `None` if `.git` is
/// no such file. Read exactly as git does, so that git reads no other folder.
pub(in crate::store) fn named_git_dir(root: &Path) -> Option<PathBuf> {
    Some(root.join(line(&root.join(".git"))?.strip_prefix("gitdir: ")?))
}

/// The files and folders of a repository that a link in them would make those of another.
const REPOSITORY_PARTS: [&str; 4] = ["HEAD", "objects", "packed-refs", "refs"];

/// Whether the repository of a working tree knows it: `.git` is a whole repository; or a file that names the folder of a
/// linked working tree or a submodule, if that folder names the working tree; or a folder that was made for this one
/// (`git init --separate-git-dir`) and names none. What an archive brings as `.git` could name any repository.
pub(in crate::store) fn has_own_repository(root: &Path) -> bool {
    let dot_git = root.join(".git");
    let named = named_git_dir(root);
    let git_dir = named.as_deref().unwrap_or(&dot_git);
    if git_dir.join("commondir").symlink_metadata().is_ok() {
        return common_git_dir(root).is_some();
    }
    let Ok(real) = git_dir.canonicalize() else { return false };
    let leads_out = |part: &&str| real.join(part).canonicalize().is_ok_and(|part| !part.starts_with(&real));
    if !real.is_dir() || REPOSITORY_PARTS.iter().any(leads_out) {
        return false;
    }
    let config = read_text(&real.join("config")).unwrap_or_default();
    match setting(&config, "worktree") {
        Some(worktree) => is_same(&real.join(worktree), root),
        None if named.is_none() && !dot_git.is_symlink() => true,
        // The folder `.git` of a repository belongs to the folder around it.
        None => !(real.file_name().is_some_and(|name| name == ".git") || setting(&config, "bare") == Some("true")),
    }
}

/// Returns the last value of a key of the section `core` of a configuration (git-config(1)).
fn setting<'c>(config: &'c str, key: &str) -> Option<&'c str> {
    let mut is_core = false;
    let mut last = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_core = section.trim_end_matches(']').trim().eq_ignore_ascii_case("core");
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_core) {
            last = if name.trim().eq_ignore_ascii_case(key) { Some(value.trim().trim_matches('"')) } else { last };
        }
    }
    last
}

fn is_same(first: &Path, second: &Path) -> bool {
    let [first, second] = [first, second].map(|path| path.canonicalize().ok());
    first.is_some() && first == second
}

/// Reads the one line of a regular file, without blocking.
fn line(path: &Path) -> Option<String> {
    Some(read_text(path)?.trim_end_matches(['\n', '\r']).to_owned())
}

fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_whole(open_plain(path).ok()?, MAX_LEN).ok()?).ok()
}
