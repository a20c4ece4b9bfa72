//! Linked working trees of git (git-worktree(1)), by the files that git keeps; git itself is not run.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The longest of those files that is read, in bytes.
const MAX_LEN: u64 = 8 * 1024;

/// Returns the nearest folder that contains a `.git`, from a folder upwards.
pub(super) fn repository_root(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok())
}

/// Returns the root of the main working tree of a repository, from that of a linked one; `None` if `root` is not the root
/// of a linked one. The repository must know the linked one too: a file `.git` alone could name any repository.
pub(super) fn main_worktree(root: &Path) -> Option<PathBuf> {
    let link = root.join(".git");
    if !link.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let git_dir = root.join(line(&link)?.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let known = git_dir.join(line(&git_dir.join("gitdir"))?).canonicalize().ok()?;
    if known != link.canonicalize().ok()? {
        return None;
    }
    let common = git_dir.join(line(&git_dir.join("commondir"))?).canonicalize().ok()?;
    let main = common.parent().filter(|_| common.file_name().is_some_and(|name| name == ".git"))?;
    Some(main.to_path_buf())
}

/// Reads the one line of a file.
fn line(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_LEN).read_to_string(&mut text).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}
