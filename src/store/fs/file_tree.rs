//! Where files are read: on disk or, inside the working tree of one repository, from a commit.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::dir_handle::{CommitDir, DirHandle, FileType, is_unreadable, link_error, not_folder, not_found};
use crate::store::git::commit_tree::{CommitTree, TreeNode};
use crate::store::git::worktree::common_git_dir;

/// The most symbolic links that are followed, as in Linux.
const MAX_LINKS: usize = 40;
/// The name of git's own folder, which no commit contains.
const GIT: &str = ".git";

/// The files that paths lead to: those on disk, or in place of those in a working tree the files of a commit. git's own
/// folder is that on disk in both cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileTree {
    commit: Option<Arc<CommitTree>>,
}

/// The place of a path.
enum ResolvedPath<'t> {
    OnDisk(PathBuf),
    /// A file, folder or link of the commit, with its path below the working tree.
    InCommit(&'t Arc<CommitTree>, &'t TreeNode, PathBuf),
}

impl FileTree {
    /// Replaces the files of a working tree by those of a commit.
    pub(in crate::store) fn of_commit(commit: CommitTree) -> Self {
        Self { commit: Some(Arc::new(commit)) }
    }

    /// Returns the commit whose files are read.
    pub(in crate::store) fn commit(&self) -> Option<&Arc<CommitTree>> {
        self.commit.as_ref()
    }

    /// Whether the files are those of a commit, which nothing can be written to.
    pub fn is_commit(&self) -> bool {
        self.commit.is_some()
    }

    /// Returns the nearest folder that contains a `.git`, from a folder upwards.
    pub(in crate::store) fn repository_root<'d>(&self, dir: &'d Path) -> Option<&'d Path> {
        dir.ancestors().find(|dir| self.may_have(&dir.join(GIT)))
    }

    /// Returns the root of the main working tree of a repository, from that of a linked one; `None` if `root` is not the
    /// root of a linked one, if the repository is bare, or if the files of a commit are read, which are in no other working
    /// tree.
    pub(in crate::store) fn main_worktree(&self, root: &Path) -> Option<PathBuf> {
        let common = common_git_dir(root).filter(|_| !self.is_commit())?;
        let main = common.parent().filter(|_| common.file_name().is_some_and(|name| name == GIT))?;
        Some(main.to_path_buf())
    }

    /// Opens a directory. Symbolic links on the way to it are followed; one in its place is an error.
    pub(in crate::store) fn dir(&self, path: &Path) -> io::Result<DirHandle> {
        match self.resolve(path, false)? {
            ResolvedPath::OnDisk(path) => DirHandle::new(&path),
            ResolvedPath::InCommit(commit, TreeNode::Folder(_), path) => {
                Ok(DirHandle::Commit(CommitDir::new(Arc::clone(commit), path)))
            }
            ResolvedPath::InCommit(_, TreeNode::Link(_), _) => Err(link_error()),
            ResolvedPath::InCommit(..) => Err(not_folder()),
        }
    }

    /// Whether a file, folder or symbolic link has a path; a link in its place is not followed.
    pub(in crate::store) fn has(&self, path: &Path) -> bool {
        self.kind(path, false).is_some()
    }

    /// Whether a path is that of a symbolic link.
    pub(in crate::store) fn is_link(&self, path: &Path) -> bool {
        self.kind(path, false) == Some(FileType::Link)
    }

    /// Whether a path leads to anything, through symbolic links too.
    pub(in crate::store) fn exists(&self, path: &Path) -> bool {
        self.kind(path, true).is_some()
    }

    /// Whether a path leads to a folder, through symbolic links too.
    pub(in crate::store) fn is_dir(&self, path: &Path) -> bool {
        self.kind(path, true) == Some(FileType::Folder)
    }

    /// Whether a path leads to a folder, or may do so: opening it tells why it could not be looked up.
    pub(in crate::store) fn may_be_dir(&self, path: &Path) -> bool {
        self.look_up(path, true).map_or_else(|error| may_be_there(&error), |kind| kind == FileType::Folder)
    }

    /// Whether a path leads to a folder in which a name can't be looked up.
    pub(in crate::store) fn hides(&self, folder: &Path, name: &str) -> bool {
        let found = || self.look_up(&folder.join(name), true);
        let is_denied = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        self.is_dir(folder) && found().is_err_and(|error| is_denied(&error) || may_be_there(&error))
    }

    /// Whether a file, folder or symbolic link has a path, or may have it.
    pub(super) fn may_have(&self, path: &Path) -> bool {
        self.look_up(path, false).map_or_else(|error| may_be_there(&error), |_| true)
    }

    /// Whether a path leads to a regular file, through symbolic links too.
    pub(in crate::store) fn is_file(&self, path: &Path) -> bool {
        self.kind(path, true) == Some(FileType::File)
    }

    fn kind(&self, path: &Path, follows: bool) -> Option<FileType> {
        self.look_up(path, follows).ok()
    }

    fn look_up(&self, path: &Path, follows: bool) -> io::Result<FileType> {
        match self.resolve(path, follows)? {
            ResolvedPath::OnDisk(path) => {
                let metadata = if follows { path.metadata() } else { path.symlink_metadata() };
                Ok(FileType::of(metadata?.file_type()))
            }
            ResolvedPath::InCommit(_, node, _) => Ok(FileType::of_node(node)),
        }
    }

    /// Returns the absolute path of an existing file or folder without symbolic links.
    pub(in crate::store) fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        match self.resolve(path, true)? {
            ResolvedPath::OnDisk(path) => path.canonicalize(),
            ResolvedPath::InCommit(commit, _, path) => Ok(commit.root.join(path)),
        }
    }

    /// Finds the place of a path, through the symbolic links on the way to it and, if it `follows` them, one in its place.
    fn resolve(&self, path: &Path, follows: bool) -> io::Result<ResolvedPath<'_>> {
        let Some(commit) = &self.commit else { return Ok(ResolvedPath::OnDisk(path.to_path_buf())) };
        let mut walk = PathWalk::new(path);
        while let Some(name) = walk.next_name() {
            let found = walk.reached.join(&name);
            let below = found.strip_prefix(&commit.root).ok().filter(|below| !below.starts_with(GIT));
            let is_last = walk.waiting.is_empty();
            let target = match below.map(|below| commit.node(below).ok_or_else(not_found)) {
                Some(node) => match node? {
                    TreeNode::Link(link) if follows || !is_last => Some(commit.target(link)?),
                    TreeNode::File(_) if !is_last => return Err(not_folder()),
                    _ => None,
                },
                None if follows || !is_last => found.read_link().ok(),
                None => None,
            };
            match target {
                Some(target) => walk.follow(&target)?,
                None => walk.reached = found,
            }
        }
        let reached = walk.reached;
        match reached.strip_prefix(&commit.root).ok().filter(|below| !below.starts_with(GIT)) {
            None => Ok(ResolvedPath::OnDisk(reached)),
            Some(below) => {
                let node = commit.node(below).ok_or_else(not_found)?;
                Ok(ResolvedPath::InCommit(commit, node, below.to_path_buf()))
            }
        }
    }
}

/// Whether looking up a path failed for another reason than that nothing can have it, or that the folder above it is another
/// user's.
fn may_be_there(error: &io::Error) -> bool {
    is_unreadable(error) && !matches!(error.kind(), io::ErrorKind::InvalidFilename | io::ErrorKind::PermissionDenied)
}

/// The way along the names of a path.
struct PathWalk {
    /// The path so far, without symbolic links.
    reached: PathBuf,
    /// The names behind it, the last one first.
    waiting: Vec<OsString>,
    links: usize,
}

impl PathWalk {
    fn new(path: &Path) -> Self {
        let mut walk = Self { reached: PathBuf::new(), waiting: Vec::new(), links: 0 };
        walk.push(path);
        walk
    }

    /// Puts the names of a path before those that wait.
    fn push(&mut self, path: &Path) {
        self.waiting.extend(path.components().rev().map(|part| part.as_os_str().to_owned()));
    }

    /// Returns the next name; the root of a path, `.` and `..` are taken into what is reached.
    fn next_name(&mut self) -> Option<OsString> {
        while let Some(name) = self.waiting.pop() {
            match Path::new(&name).components().next() {
                Some(Component::Normal(_)) => return Some(name),
                Some(Component::ParentDir) => drop(self.reached.pop()),
                Some(Component::CurDir) | None => {}
                // Pushing an absolute path discards what was reached, as a link to one must.
                Some(Component::RootDir | Component::Prefix(_)) => self.reached.push(name),
            }
        }
        None
    }

    fn follow(&mut self, target: &Path) -> io::Result<()> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(link_error());
        }
        self.push(target);
        Ok(())
    }
}
