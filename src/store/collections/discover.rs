//! Discovery of the store, and the display of its path.

use std::fmt::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

use super::collection::COMMITS;
use super::config::Config;
use super::layout::CONFIG_FILE;
use crate::env::{Today, WaitPolicy};
use crate::error::{Error, ErrorKind, Remedy};
use crate::note::NOTE_FOLDERS;
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::file_tree::FileTree;
use crate::store::fs::files::{canonical, nearest_folder};
use crate::store::git::plumbing::Repository;
use crate::store::git::revision::CommitName;

/// The names of a store's folder in a project; the second counts only if it contains `notes/`.
pub(in crate::store) const STORE_NAMES: [&str; 2] = [".qipu", "qipu"];

/// The files and folders that mark the root of a project. No store is searched for above it.
const PROJECT_MARKS: [&str; 6] = [".git", ".hg", "Cargo.toml", "package.json", "go.mod", "pyproject.toml"];

/// Where the store is, by the user's options, and how it is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// The store, or a folder of documents, if named.
    pub store: Option<PathBuf>,
    /// Further stores and folders of documents that are named.
    pub more_stores: Vec<PathBuf>,
    /// Whether the commits of the repository are asked for, in place of or beside a path of a store.
    pub names_commits: bool,
    /// The commits that are read, by their whole ids; `None` for all.
    pub only_commits: Option<Vec<String>>,
    /// The names of the collections that count; empty for all.
    pub only: Vec<String>,
    /// Which of the collections count otherwise.
    pub scope: CollectionScope,
    /// The name of the collection that a command changes; `None` for the project's store.
    pub to: Option<String>,
    /// The commit from which the files of a repository are read; `None` for the files on disk.
    pub at: Option<CommitName>,
    /// The files that paths lead to: those on disk until [`Location::at`] is resolved.
    pub files: FileTree,
    /// Whether every file is read and no index is used.
    pub no_index: bool,
    /// Whether the embedder of the user's settings takes no part.
    pub no_embedder: bool,
    /// The user's cache folder.
    pub cache: Option<PathBuf>,
    /// How a command that writes waits for other programs.
    pub waits: WaitPolicy,
    /// The user's configuration folder.
    pub settings: Option<PathBuf>,
    /// The user's folder for data.
    pub data: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The day that counts as today.
    pub today: Today,
    /// Whether the process ends with the answer, so that the store is not freed.
    pub is_only_call: bool,
}

/// Which of the collections count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CollectionScope {
    /// All stores and documents.
    #[default]
    All,
    /// All of them, and the commits of the repository where they are switched on or asked for.
    History,
    /// Those that are the project's own word: own notes, folders of decision records, and what an option names. Other
    /// documents are not opened, so that their words count in no statistics either.
    Own,
}

impl Location {
    /// Whether the commits of the repository are asked for by their name.
    pub fn asks_for_commits(&self) -> bool {
        self.names_commits || self.only.iter().any(|name| name == COMMITS)
    }

    /// Iterates over the named paths of stores and folders of documents.
    pub(super) fn named(&self) -> impl Iterator<Item = &Path> {
        self.store.iter().chain(&self.more_stores).map(PathBuf::as_path)
    }
}

/// Finds the store: the first that is named, else the first in the current directory and those above it, up to the root of
/// the repository, or without one of the project; else, in a linked working tree, that of the main one. Returns its canonical
/// path.
///
/// # Errors
/// `NoStore` if there is none; `Store` if it is a symbolic link that was not named.
pub fn find_root(location: &Location, current_dir: &Path) -> Result<PathBuf, Error> {
    let files = &location.files;
    let found = if let Some(first) = &location.store {
        let named = location.named().find_map(|path| named_store(files, &current_dir.join(path)));
        named.ok_or_else(|| no_store_at(first))
    } else {
        nearest_store(files, current_dir)
            .ok_or_else(|| no_store("no store in this folder or its parents, up to the project's root"))
    };
    opened_root(location, found?, current_dir)
}

/// Finds the store that [`find_root`] finds, but not above the root of the project, and in no other working tree.
pub(super) fn find_own_root(location: &Location, current_dir: &Path) -> Result<PathBuf, Error> {
    if location.store.is_some() {
        return find_root(location, current_dir);
    }
    let files = &location.files;
    let found = project_dirs(files, current_dir).find_map(|dir| store_in(files, dir));
    opened_root(location, found.ok_or_else(|| no_store("no store in this project"))?, current_dir)
}

/// Finds the store in a folder.
pub(super) fn find_root_in(folder: &Path, current_dir: &Path) -> Result<PathBuf, Error> {
    let found = store_in(&FileTree::default(), folder).ok_or_else(|| no_store("no store in this folder"))?;
    opened_root(&Location::default(), found, current_dir)
}

fn nearest_store(files: &FileTree, current_dir: &Path) -> Option<PathBuf> {
    let repository = files.repository_root(current_dir);
    let store_in = |dir: &Path| store_in(files, dir);
    let own = match repository {
        Some(repository) => current_dir.ancestors().take_while(|dir| dir.starts_with(repository)).find_map(store_in),
        None => project_dirs(files, current_dir).find_map(store_in),
    };
    let main = || shared_store(files, repository?, current_dir);
    match &own {
        Some(store)
            if repository.is_some_and(|root| files.main_worktree(root).is_some()) && is_shared(files, store) =>
        {
            main().or(own)
        }
        Some(_) => own,
        None => main(),
    }
}

/// Whether a store says that linked working trees use that of the main one.
fn is_shared(files: &FileTree, store: &Path) -> bool {
    let config = open_root(files, store).and_then(|dir| Config::load(&dir));
    config.is_ok_and(|config| config.worktrees.share)
}

/// Returns the store of the main working tree, searched from the folder there that corresponds to the current directory.
fn shared_store(files: &FileTree, linked: &Path, current_dir: &Path) -> Option<PathBuf> {
    let main = files.main_worktree(linked)?;
    let same = main.join(current_dir.strip_prefix(linked).ok()?);
    same.ancestors().take_while(|dir| dir.starts_with(&main)).find_map(|dir| store_in(files, dir))
}

/// Whether a store is not in the linked working tree that the current directory is in.
pub(super) fn is_in_main_worktree(files: &FileTree, store: &Path, current_dir: &Path) -> bool {
    let linked = files.repository_root(current_dir).filter(|root| files.main_worktree(root).is_some());
    linked.and_then(|linked| linked.canonicalize().ok()).is_some_and(|linked| !store.starts_with(linked))
}

fn opened_root(location: &Location, root: PathBuf, current_dir: &Path) -> Result<PathBuf, Error> {
    let failed = |error| Error::new(ErrorKind::Store, format!("can't read {}: {error}", root.display()));
    if location.store.is_some() {
        return location.files.canonicalize(&root).map_err(failed);
    }
    // A repository may contain a link to any folder; it is followed only if the user names it.
    if location.files.is_link(&root) {
        return Err(Error::new(
            ErrorKind::Store,
            format!("{} is a symbolic link", relative_to(&root, current_dir).trim_end_matches('/')),
        )
        .hint("if you trust it, name the store that it points to"));
    }
    // The last name is not resolved: if it is replaced by a link meanwhile, that is not followed either.
    let above = location.files.canonicalize(root.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    Ok(above.join(root.file_name().unwrap_or_default()))
}

fn no_store(message: &str) -> Error {
    Error::new(ErrorKind::NoStore, message).remedy(Remedy::NameStore { has_own: false })
}

/// Returns the error of a named path with neither a store nor documents.
pub(super) fn no_store_at(path: &Path) -> Error {
    Error::new(ErrorKind::NoStore, format!("no store at {}", path.display()))
        .hint("a store is a folder that contains notes/, mocs/ or journals/")
}

/// Returns the root of the project of a directory: the nearest one above with a mark or a store, else itself.
pub fn project_root(files: &FileTree, dir: &Path) -> PathBuf {
    let root = dir.ancestors().find(|dir| is_project_root(files, dir) || store_in(files, dir).is_some());
    root.unwrap_or(dir).to_path_buf()
}

/// Finds the working tree that contains a folder: the nearest folder above with `.git`.
pub(in crate::store) fn repository_of(files: &FileTree, folder: &Path) -> Option<Repository> {
    let root = files.repository_root(folder)?;
    let mut prefix = String::new();
    for part in folder.strip_prefix(root).ok()?.components() {
        let Component::Normal(name) = part else { return None };
        write!(prefix, "{}/", name.to_str()?).ok()?;
    }
    let commit = files.commit().filter(|commit| commit.root == root).map(|commit| commit.id.clone());
    Some(Repository { root: root.to_path_buf(), prefix, commit })
}

/// Returns the folder of a linked working tree that corresponds to one of the main working tree, if the current directory is in
/// a linked one that does not contain the folder itself.
pub(in crate::store) fn in_linked_worktree(files: &FileTree, folder: &Path, current_dir: &Path) -> Option<PathBuf> {
    let linked = files.repository_root(current_dir).filter(|linked| !folder.starts_with(linked))?;
    Some(linked.join(folder.strip_prefix(files.main_worktree(linked)?).ok()?))
}

/// Returns the folders by which the user's settings name the project of a call: the root of the repository of the current
/// directory and, after that of a linked working tree, that of the main one; without a repository the folder of the first
/// store, else the current directory. Found on disk, since the project is the same when an earlier commit is read.
pub(super) fn folders_of_project(first: Option<&Path>, current_dir: &Path) -> Vec<PathBuf> {
    let (files, here) = (FileTree::default(), current_dir.canonicalize().unwrap_or_else(|_| current_dir.to_path_buf()));
    let Some(root) = files.repository_root(&here) else {
        return vec![first.map_or(here, |store| project_folder(store).to_path_buf())];
    };
    [root.to_path_buf()].into_iter().chain(files.main_worktree(root)).collect()
}

/// Expects that a path which the user names in the project is not led out of it by a symbolic link, which a repository may
/// bring. A path that begins outside is the user's choice.
///
/// # Errors
/// `Usage` if it is; `Failure` if that is not known.
pub fn expect_inside(files: &FileTree, current_dir: &Path, named: &Path) -> Result<(), Error> {
    let (root, path) = (project_root(files, current_dir), normalize_lexically(&current_dir.join(named)));
    if !path.starts_with(&root) {
        return Ok(());
    }
    // What can't be examined can't be written either, and the attempt says why.
    let Ok(folder) = nearest_folder(&path) else { return Ok(()) };
    let real = folder.canonicalize().with_context(|| format!("can't resolve {}", named.display()))?;
    if !real.starts_with(canonical(&root)?) {
        let message = format!("a symbolic link leads {} to a place outside the project", named.display());
        return Err(Error::usage(message).hint("name that place itself, if it is meant"));
    }
    Ok(())
}

/// Iterates over a directory and those above it, up to the project's root.
fn project_dirs<'d>(files: &FileTree, dir: &'d Path) -> impl Iterator<Item = &'d Path> {
    let mut passed_root = false;
    dir.ancestors().take_while(move |dir| {
        let is_inside = !passed_root;
        passed_root |= is_project_root(files, dir);
        is_inside
    })
}

fn is_project_root(files: &FileTree, dir: &Path) -> bool {
    PROJECT_MARKS.iter().any(|mark| files.exists(&dir.join(mark)))
}

/// Returns the store that a folder contains, else the folder if it is one: projects have files such as `config.toml` too.
/// A vault is none, although it may have a folder `journals`.
pub(super) fn named_store(files: &FileTree, path: &Path) -> Option<PathBuf> {
    let is_hidden_store = path.file_name().is_some_and(|name| name == STORE_NAMES[0]) && files.is_dir(path);
    let is_vault = || [".obsidian", "logseq"].iter().any(|mark| files.is_dir(&path.join(mark)));
    let has_folder = || NOTE_FOLDERS.iter().any(|folder| files.is_dir(&path.join(folder))) && !is_vault();
    let is_store = || files.is_file(&path.join(CONFIG_FILE)) || has_folder();
    let inside = store_in(files, path).filter(|_| !is_hidden_store);
    inside.or_else(|| (is_hidden_store || is_store()).then(|| path.to_path_buf()))
}

pub(super) fn store_in(files: &FileTree, dir: &Path) -> Option<PathBuf> {
    let [hidden, visible] = STORE_NAMES.map(|name| dir.join(name));
    // What can't be looked up in the folder tells when it is opened.
    let is_visible = || files.is_dir(&visible.join("notes")) || files.hides(&visible, "notes");
    if files.may_be_dir(&hidden) { Some(hidden) } else { is_visible().then_some(visible) }
}

/// Returns the folder that contains a store, if the last name of the path is that of a store.
pub(in crate::store) fn project_folder(path: &Path) -> &Path {
    let is_store = STORE_NAMES.iter().any(|name| path.ends_with(name));
    path.parent().filter(|_| is_store).unwrap_or(path)
}

/// Returns a path relative to the current directory, with `/` between names and at the end; `./` if they are equal.
pub(crate) fn relative_to(path: &Path, current_dir: &Path) -> String {
    let base = current_dir.canonicalize().unwrap_or_else(|_| current_dir.to_path_buf());
    let (path, base): (Vec<_>, Vec<_>) = (path.components().collect(), base.components().collect());
    let shared = path.iter().zip(&base).take_while(|(a, b)| a == b).count();
    let up = base.iter().skip(shared).map(|_| "..".into());
    let down = path.iter().skip(shared).map(|part: &Component<'_>| part.as_os_str().to_string_lossy());
    let mut text = String::new();
    for name in up.chain(down) {
        text.push_str(&name);
        text.push('/');
    }
    if text.is_empty() { "./".to_owned() } else { text }
}

/// Returns the shown path of a file: that of a folder, and the path of the file relative to it, which may lead upwards.
pub(crate) fn shown_in(folder: &str, path: &str) -> String {
    let (mut folder, mut path) = (folder.strip_prefix("./").unwrap_or(folder), path);
    while let Some(below) = path.strip_prefix("../") {
        let last = folder.strip_suffix('/').map(|folder| folder.rsplit('/').next().unwrap_or(folder));
        match last {
            Some(last) if last != ".." => {
                folder = folder.get(..folder.len() - last.len() - 1).unwrap_or_default();
                path = below;
            }
            _ => break,
        }
    }
    format!("{folder}{path}")
}

/// Resolves `.` and `..` in a path without accessing the disk.
pub(crate) fn normalize_lexically(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// Opens the folder of a store.
///
/// # Errors
/// `Store` if it can't be read.
pub(in crate::store) fn open_root(files: &FileTree, root: &Path) -> Result<Arc<DirHandle>, Error> {
    let opened = files.dir(root).map(Arc::new);
    opened.map_err(|error| Error::new(ErrorKind::Store, format!("can't read {}: {error}", root.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::create_dir_all;

    fn find(location: &Location, dir: &Path) -> Option<String> {
        let root = find_root(location, dir).ok()?;
        Some(relative_to(&root, dir))
    }

    #[test]
    fn walks_up_to_the_projects_root_and_no_further() {
        let tmp = tempfile::tempdir().unwrap();
        let at = |path: &str| tmp.path().join(path);
        create_dir_all(at("outer/.qipu")).unwrap();
        create_dir_all(at("outer/project/.git")).unwrap();
        create_dir_all(at("outer/project/src/deep")).unwrap();
        let here = Location::default();
        assert_eq!(find(&here, &at("outer")).as_deref(), Some(".qipu/"));
        assert_eq!(find(&here, &at("outer/project/src")), None);
        create_dir_all(at("outer/project/qipu")).unwrap();
        assert_eq!(find(&here, &at("outer/project")), None, "qipu/ without notes/ is no store");
        create_dir_all(at("outer/project/qipu/notes")).unwrap();
        assert_eq!(find(&here, &at("outer/project/src/deep")).as_deref(), Some("../../qipu/"));
        assert_eq!(find(&here, &at("outer/project/qipu")).as_deref(), Some("./"));
        create_dir_all(at("outer/project/.qipu")).unwrap();
        assert_eq!(find(&here, &at("outer/project")).as_deref(), Some(".qipu/"));

        let store = |path: &str| Location { store: Some(path.into()), ..Location::default() };
        assert_eq!(find(&store("project/qipu"), &at("outer")).as_deref(), Some("project/qipu/"));
        assert_eq!(find(&store("project"), &at("outer")).as_deref(), Some("project/.qipu/"));
        assert_eq!(find(&store("project/src"), &at("outer")), None);
        for beside in ["notes", "mocs", "journals"] {
            create_dir_all(at("outer/site").join(beside)).unwrap();
        }
        std::fs::write(at("outer/site/config.toml"), "").unwrap();
        assert_eq!(find(&store("site"), &at("outer")).as_deref(), Some("site/"));
        create_dir_all(at("outer/site/qipu/notes")).unwrap();
        assert_eq!(find(&store("site"), &at("outer")).as_deref(), Some("site/qipu/"));
        create_dir_all(at("outer/site/.qipu/.qipu")).unwrap();
        assert_eq!(find(&store("site"), &at("outer")).as_deref(), Some("site/.qipu/"));
        assert_eq!(find(&store("site/.qipu"), &at("outer")).as_deref(), Some("site/.qipu/"));
    }
}
