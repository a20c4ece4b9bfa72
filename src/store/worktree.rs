//! Linked working trees of git (git-worktree(1)), by the files that git keeps; git itself is not run.

use std::path::{Path, PathBuf};

use super::file_tree::FileTree;
use super::walk::dir_handle::{open_plain, read_whole};

/// The longest of those files that is read, in bytes.
const MAX_LEN: u64 = 8 * 1024;
/// The folder in which a repository keeps what it knows of its linked working trees.
const WORKTREES: &str = "worktrees";

/// Returns the nearest folder that contains a `.git`, from a folder upwards.
pub(super) fn repository_root<'d>(files: &FileTree, dir: &'d Path) -> Option<&'d Path> {
    dir.ancestors().find(|dir| files.may_have(&dir.join(".git")))
}

/// Returns the root of the main working tree of a repository, from that of a linked one; `None` if `root` is not the root
/// of a linked one, if the repository is bare, or if the files of a commit are read, which are in no other working tree.
pub(super) fn main_worktree(files: &FileTree, root: &Path) -> Option<PathBuf> {
    let common = common_git_dir(root).filter(|_| !files.is_commit())?;
    let main = common.parent().filter(|_| common.file_name().is_some_and(|name| name == ".git"))?;
    Some(main.to_path_buf())
}

/// Returns git's folder of a repository, from the root of a linked working tree; `None` if `root` is not that of one. The
/// repository must know the working tree: a file `.git`, and the folder that it names, could name any repository.
pub(super) fn common_git_dir(root: &Path) -> Option<PathBuf> {
    let git_dir = named_git_dir(root)?.canonicalize().ok()?;
    let known = git_dir.join(line(&git_dir.join("gitdir"))?).canonicalize().ok()?;
    if known != root.join(".git").canonicalize().ok()? {
        return None;
    }
    let common = git_dir.join(line(&git_dir.join("commondir"))?).canonicalize().ok()?;
    (git_dir.parent()? == common.join(WORKTREES)).then_some(common)
}

/// Returns the folder that the file `.git` names, as that of a linked working tree or a submodule does; `None` if `.git` is
/// no such file.
pub(super) fn named_git_dir(root: &Path) -> Option<PathBuf> {
    Some(root.join(line(&root.join(".git"))?.strip_prefix("gitdir:")?.trim()))
}

/// Reads the one line of a regular file, without blocking.
fn line(path: &Path) -> Option<String> {
    let text = String::from_utf8(read_whole(open_plain(path).ok()?, MAX_LEN).ok()?).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}
