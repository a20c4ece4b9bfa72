//! The files of a commit: what `git ls-tree` lists, and the contents of blobs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use super::blob_reader::{BLOBS, BlobReader};
use super::plumbing::{Repository, is_object_id};
use crate::error::Error;

/// The longest name of a file in most file systems, and the longest target of a symbolic link, in bytes: `NAME_MAX` and
/// `PATH_MAX` of Linux. A checkout can't create others.
const MAX_NAME: usize = 255;
const MAX_TARGET: u64 = 4_096;
/// The deepest folder, and the most folders: a small repository can name the same ones again and again.
const MAX_DEPTH: usize = 1_000;
const MAX_FOLDERS: usize = 200_000;

/// A file or folder of a commit.
#[derive(Debug)]
pub(in crate::store) enum TreeNode {
    /// A folder, or a submodule, which a checkout makes an empty folder.
    Folder(BTreeMap<OsString, TreeNode>),
    /// A regular file.
    File(TreeBlob),
    /// A symbolic link.
    Link(TreeBlob),
}

/// The content of a file or the target of a symbolic link, by the hexadecimal name of its object.
#[derive(Debug)]
pub(in crate::store) struct TreeBlob {
    object: String,
    /// In bytes.
    pub(in crate::store) size: u64,
}

/// The files of a commit, in place of those in the working tree of its repository.
#[derive(Debug)]
pub(in crate::store) struct CommitTree {
    /// The canonical path of the working tree.
    pub(in crate::store) root: PathBuf,
    /// The hexadecimal digits of the commit.
    pub(in crate::store) id: String,
    files: TreeNode,
    /// The process that reads blobs, started when it is first needed; `None` if it can't be started.
    blobs: OnceLock<Option<BlobReader>>,
}

impl PartialEq for CommitTree {
    fn eq(&self, other: &Self) -> bool {
        (&self.root, &self.id) == (&other.root, &other.id)
    }
}

impl Eq for CommitTree {}

impl CommitTree {
    /// Lists the files of a commit.
    ///
    /// # Errors
    /// `Failure` if git can't list them within the limits.
    pub(in crate::store) fn read(repository: &Repository, id: String) -> Result<Self, Error> {
        let list = repository.run(&["ls-tree", "-r", "-z", "--long", "--full-tree", &id], Vec::new(), Instant::now());
        let mut files = BTreeMap::new();
        let is_listed = list.is_some_and(|list| {
            let mut folders = 0;
            let mut nodes = list.split(|byte| *byte == 0).filter_map(parse_line);
            nodes.all(|(path, node)| {
                folders += add(&mut files, path, node);
                folders <= MAX_FOLDERS
            })
        });
        if !is_listed {
            let message = format!("git can't list the files of commit {id}, or they are too many");
            return Err(Error::failure(message));
        }
        Ok(Self { root: repository.root.clone(), id, files: TreeNode::Folder(files), blobs: OnceLock::new() })
    }

    /// Returns the file, folder or link at a path below the working tree; links on the way are not followed.
    pub(in crate::store) fn node(&self, path: &Path) -> Option<&TreeNode> {
        let mut node = &self.files;
        for part in path.components() {
            let (TreeNode::Folder(inside), Component::Normal(name)) = (node, part) else { return None };
            node = inside.get(name)?;
        }
        Some(node)
    }

    /// Iterates over the paths of the regular files below a folder, ascending by bytes.
    pub(in crate::store) fn regular_files(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        if let Some(node) = self.node(folder) {
            add_files(node, &mut folder.to_path_buf(), &mut found);
        }
        found.sort_unstable_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
        found
    }

    /// Reads the target of a symbolic link.
    pub(in crate::store) fn target(&self, link: &TreeBlob) -> io::Result<PathBuf> {
        let target = self.content(link, MAX_TARGET)?;
        Ok(PathBuf::from(os_name(&target).ok_or(io::ErrorKind::InvalidData)?))
    }

    /// Reads the content of a file, at most `limit` bytes of it.
    ///
    /// # Errors
    /// If git can't read it.
    pub(in crate::store) fn content(&self, blob: &TreeBlob, limit: u64) -> io::Result<Vec<u8>> {
        self.blobs()?.read(&blob.object, limit.min(blob.size))
    }

    /// Lets git read the contents of files while others are parsed; they are expected to be read in this order.
    pub(in crate::store) fn announce<'b>(&self, blobs: impl Iterator<Item = &'b TreeBlob>, limit: u64) {
        if let Ok(reader) = self.blobs() {
            reader.announce(blobs.map(|blob| (blob.object.clone(), limit.min(blob.size))));
        }
    }

    fn blobs(&self) -> io::Result<&BlobReader> {
        let reader = self.blobs.get_or_init(|| BlobReader::new(&self.root, BLOBS).ok());
        reader.as_ref().ok_or_else(|| io::Error::other("git can't be started"))
    }
}

/// Parses a line of `ls-tree --long`: mode, type, object and size, then behind a tab the path. A size that git does not
/// know counts as 0: reading the file will fail.
fn parse_line(line: &[u8]) -> Option<(&[u8], TreeNode)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (head, path) = (std::str::from_utf8(line.get(..tab)?).ok()?, line.get(tab + 1..)?);
    let mut words = head.split_ascii_whitespace();
    let (mode, kind, object, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let blob = || TreeBlob { object: object.to_owned(), size: size.parse().unwrap_or_default() };
    let node = match (kind, mode) {
        ("commit", _) => TreeNode::Folder(BTreeMap::new()),
        ("blob", "120000") => TreeNode::Link(blob()),
        ("blob", _) => TreeNode::File(blob()),
        _ => return None,
    };
    is_object_id(object).then_some((path, node))
}

/// Adds a file at a path, with its folders, and returns the number of those that are new. A path that git refuses to check
/// out is left out, as is a second one with a name.
fn add(files: &mut BTreeMap<OsString, TreeNode>, path: &[u8], node: TreeNode) -> usize {
    let names: Option<Vec<OsString>> = path.split(|byte| *byte == b'/').map(valid_name).collect();
    let Some(mut names) = names.filter(|names| names.len() <= MAX_DEPTH) else { return 0 };
    let Some(last) = names.pop() else { return 0 };
    let (mut folder, mut new) = (files, 0);
    for name in names {
        let below = folder.entry(name).or_insert_with(|| {
            new += 1;
            TreeNode::Folder(BTreeMap::new())
        });
        let TreeNode::Folder(inside) = below else { return new };
        folder = inside;
    }
    folder.entry(last).or_insert(node);
    new
}

/// Returns a name as the system writes it; `None` for one that git refuses to check out, or no file can have.
fn valid_name(name: &[u8]) -> Option<OsString> {
    let is_refused = name.eq_ignore_ascii_case(b".git") || [b".".as_slice(), b"..", b""].contains(&name);
    os_name(name).filter(|_| !is_refused && name.len() <= MAX_NAME)
}

#[cfg(unix)]
fn os_name(bytes: &[u8]) -> Option<OsString> {
    Some(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).to_os_string())
}

#[cfg(not(unix))]
fn os_name(bytes: &[u8]) -> Option<OsString> {
    std::str::from_utf8(bytes).ok().map(|name| OsStr::new(name).to_os_string())
}

fn add_files(node: &TreeNode, path: &mut PathBuf, found: &mut Vec<PathBuf>) {
    match node {
        TreeNode::File(_) => found.push(path.clone()),
        TreeNode::Link(_) => {}
        TreeNode::Folder(inside) => {
            for (name, node) in inside {
                path.push(name);
                add_files(node, path, found);
                path.pop();
            }
        }
    }
}
