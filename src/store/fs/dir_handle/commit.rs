//! Directories of a commit: listing, stats and reads, as of a directory on disk.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{DirEntry, FileType, expect_below, link_error, not_folder, not_found};
use crate::store::fs::stat::FileStat;
use crate::store::git::commit_tree::{CommitTree, TreeBlob, TreeNode};
use crate::store::git::plain_file::not_plain;

/// A directory of a commit.
#[derive(Debug)]
pub(in crate::store) struct CommitDir {
    commit: Arc<CommitTree>,
    /// Its path below the working tree.
    path: PathBuf,
}

impl FileType {
    /// Returns the type of a file of a commit.
    pub(in crate::store) fn of_node(node: &TreeNode) -> Self {
        match node {
            TreeNode::Folder(_) => Self::Folder,
            TreeNode::File(_) => Self::File,
            TreeNode::Link(_) => Self::Link,
        }
    }
}

impl CommitDir {
    pub(in crate::store) fn new(commit: Arc<CommitTree>, path: PathBuf) -> Self {
        Self { commit, path }
    }

    pub(super) fn folder(&self, path: &Path) -> io::Result<Self> {
        match self.node(path)? {
            TreeNode::Folder(_) => Ok(Self::new(Arc::clone(&self.commit), self.path.join(path))),
            TreeNode::Link(_) => Err(link_error()),
            TreeNode::File(_) => Err(not_folder()),
        }
    }

    pub(super) fn entries(&self) -> io::Result<Vec<DirEntry>> {
        let Some(TreeNode::Folder(inside)) = self.commit.node(&self.path) else {
            return Err(not_found());
        };
        let entry =
            |(name, node)| DirEntry { name: OsStr::to_owned(name), kind: FileType::of_node(node), has_file_type: true };
        Ok(inside.iter().map(|(name, node)| (name.as_os_str(), node)).map(entry).collect())
    }

    pub(super) fn stat(&self, name: &OsStr) -> io::Result<(FileType, FileStat)> {
        let node = self.commit.node(&self.path.join(name)).ok_or_else(not_found)?;
        let size = if let TreeNode::File(blob) | TreeNode::Link(blob) = node { blob.size } else { 0 };
        Ok((FileType::of_node(node), FileStat::of_commit(size)))
    }

    /// Finds a regular file below it.
    pub(super) fn blob(&self, path: &Path) -> io::Result<&TreeBlob> {
        match self.node(path)? {
            TreeNode::File(blob) => Ok(blob),
            TreeNode::Link(_) => Err(link_error()),
            TreeNode::Folder(_) => Err(not_plain()),
        }
    }

    pub(super) fn content(&self, blob: &TreeBlob, limit: u64) -> io::Result<Vec<u8>> {
        self.commit.content(blob, limit)
    }

    pub(super) fn announce<'p>(&self, paths: impl Iterator<Item = &'p Path>, limit: u64) {
        self.commit.announce(paths.filter_map(|path| self.blob(path).ok()), limit);
    }

    /// Finds what is below it at a path that leads through no symbolic link.
    fn node(&self, path: &Path) -> io::Result<&TreeNode> {
        expect_below(path)?;
        let full = self.path.join(path);
        self.commit.node(&full).ok_or_else(|| {
            // From the top, as a system finds them.
            let above = full.ancestors().skip(1).collect::<Vec<_>>();
            let is_no_folder = |node: &&TreeNode| !matches!(node, TreeNode::Folder(_));
            match above.iter().rev().find_map(|path| self.commit.node(path).filter(is_no_folder)) {
                Some(TreeNode::Link(_)) => link_error(),
                Some(_) => not_folder(),
                None => not_found(),
            }
        })
    }
}
