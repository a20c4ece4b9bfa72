//! The files of the project that notes refer to: regular files that git tracks, read without following symbolic links.
//! Without git, the regular files below the project's folder.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::store::Store;
use crate::note::is_project_path;
use crate::store::collections::discover::{STORE_NAMES, in_linked_worktree, project_root, repository_of};
use crate::store::fs::dir_handle::{DirHandle, is_unreadable};
use crate::store::fs::file_tree::FileTree;
use crate::store::git::history::GitHistory;
use crate::store::git::plumbing::Repository;
use crate::store::git::source_text::SourceText;
use crate::store::git::tracked_files::TrackedFiles;
use crate::store::git::worktree::{has_own_repository, named_git_dir};

/// The longest file that is read, in bytes; longer ones are no sources.
pub const MAX_SOURCE: u64 = 1024 * 1024;
/// The longest index of git that is read without starting git, in bytes.
const MAX_INDEX: u64 = 16 * 1024 * 1024;

/// The files of the project of a store.
#[derive(Debug)]
pub struct ProjectFiles {
    root: DirHandle,
    repository: Option<Repository>,
    /// The files that git tracks; `None` if that is not known.
    tracked: Option<TrackedFiles>,
    /// The bytes that may still be read.
    room: RefCell<u64>,
    read: RefCell<HashMap<String, Option<Rc<SourceText>>>>,
    /// The paths of those that are there and can't be read, for another reason than their length.
    unreadable: RefCell<BTreeSet<String>>,
}

impl Store {
    /// Returns the files of the project. `None` for a store in memory, and a project that can't be read. Starts no
    /// process. `max_bytes`: the most bytes of files that are read.
    pub fn project_files(&self, max_bytes: u64) -> Option<ProjectFiles> {
        let first = self.first();
        first.dir.as_ref()?;
        let folder = self.project_folder()?;
        let root = self.files.dir(&folder).ok()?;
        let repository = repository_of(&self.files, &folder);
        let tracked = repository.as_ref().and_then(|repository| tracked_files(&self.files, &folder, repository));
        let (room, read, unreadable) = (RefCell::new(max_bytes), RefCell::default(), RefCell::default());
        Some(ProjectFiles { root, repository, tracked, room, read, unreadable })
    }

    /// Returns the folder of the project: where the store lies, or, if that is in the main working tree and the current
    /// directory in a linked one, the same folder of the linked one.
    pub fn project_folder(&self) -> Option<PathBuf> {
        let root = &self.first().root;
        let folder = project_root(&self.files, if self.first().about.is_source() { root } else { root.parent()? });
        Some(in_linked_worktree(&self.files, &folder, &self.current_dir).unwrap_or(folder))
    }

    /// Returns the path of a file in the project, from one relative to the current directory or absolute; `.` and `..` are
    /// resolved without accessing the disk. `None` for a path outside the project.
    pub fn project_path(&self, path: &str) -> Option<String> {
        let folder = self.project_folder()?;
        let path = crate::store::collections::discover::normalize_lexically(&self.current_dir.join(path));
        let below = path.strip_prefix(folder).ok()?;
        let names = below.components().map(|part| part.as_os_str().to_str());
        Some(names.collect::<Option<Vec<_>>>()?.join("/"))
    }
}

impl ProjectFiles {
    /// Whether the project is in a working tree of git.
    pub fn has_git(&self) -> bool {
        self.repository.is_some()
    }

    /// Whether it is known which files count: git's index could be read, or there is no git.
    pub fn is_known(&self) -> bool {
        self.tracked.is_some() || self.repository.is_none()
    }

    /// Asks git for the tracked files, if its index is of a form that is not read here. Starts a process.
    pub fn ask_git(&mut self) {
        if !self.is_known() {
            self.tracked = self.repository.as_ref().and_then(Repository::tracked);
        }
    }

    /// Whether git tracks a regular file; without git, whether the path may be that of a file of the project.
    pub fn is_listed(&self, path: &str) -> bool {
        match (&self.repository, &self.tracked) {
            (Some(_), Some(tracked)) => tracked.contains(path),
            (Some(_), None) => false,
            (None, _) => path.split('/').all(|name| !STORE_NAMES.contains(&name)),
        }
    }

    /// Reads a file that counts; `None` if there is none, or it is longer than [`MAX_SOURCE`].
    pub fn read(&self, path: &str) -> Option<Rc<SourceText>> {
        if let Some(known) = self.read.borrow().get(path) {
            return known.clone();
        }
        let bytes = if is_project_path(path) && self.is_listed(path) {
            let read = self.root.read(Path::new(path), MAX_SOURCE.min(*self.room.borrow()));
            if read.as_ref().is_err_and(|error| is_unreadable(error) && error.kind() != ErrorKind::FileTooLarge) {
                self.unreadable.borrow_mut().insert(path.to_owned());
            }
            read.ok()
        } else {
            None
        };
        *self.room.borrow_mut() -= bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let text = bytes.map(|bytes| Rc::new(SourceText::new(&bytes)));
        self.read.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }

    /// Returns the paths of the files that were to be read and can't be, for another reason than their length.
    pub fn unreadable(&self) -> Vec<String> {
        self.unreadable.borrow().iter().cloned().collect()
    }

    /// Whether a file that counts is there, of any length.
    pub fn has(&self, path: &str) -> bool {
        let is_too_long = || self.is_listed(path) && self.root.expect_file(Path::new(path)).is_ok();
        self.read(path).is_some() || (is_project_path(path) && is_too_long())
    }

    /// Reads the history of files from git; `None` without git, or if git fails. `paths`: the files, without renames;
    /// `None` for all files with their renames. Starts processes.
    pub fn history(&self, paths: Option<&[String]>) -> Option<GitHistory<'_>> {
        GitHistory::read(self.repository.as_ref()?, paths)
    }

    /// Returns the commit that is checked out. Starts a process.
    pub fn head(&self) -> Option<String> {
        self.repository.as_ref()?.head()
    }
}

/// Returns the regular files that git tracks: those of the commit, or of git's index.
fn tracked_files(files: &FileTree, folder: &Path, repository: &Repository) -> Option<TrackedFiles> {
    let Some(commit) = files.commit().filter(|commit| commit.root == repository.root) else {
        return read_index(folder, repository);
    };
    let paths = commit.regular_files(Path::new(repository.prefix.trim_end_matches('/')));
    let paths = paths.iter().map(|path| path.as_os_str().as_encoded_bytes());
    Some(TrackedFiles::of_paths(paths, &repository.prefix))
}

/// Reads git's index without starting git. An absent index is that of a repository without files.
fn read_index(folder: &Path, repository: &Repository) -> Option<TrackedFiles> {
    if !has_own_repository(&repository.root) {
        return None;
    }
    let root = DirHandle::new(&repository.root).ok()?;
    debug_assert!(folder.starts_with(&repository.root), "the folder is in the working tree");
    let index = match root.folder(Path::new(".git")) {
        Ok(git) => git.read(Path::new("index"), MAX_INDEX),
        // In a linked working tree and a submodule, `.git` is a file that names the folder.
        Err(_) => DirHandle::new(&named_git_dir(&repository.root)?).ok()?.read(Path::new("index"), MAX_INDEX),
    };
    match index {
        Ok(bytes) => TrackedFiles::parse(&bytes, &repository.prefix),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(TrackedFiles::default()),
        Err(_) => None,
    }
}
