//! The project that recipes are installed into: its root, its store, and the files that may be written there.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::env::WaitPolicy;
use crate::error::{Error, ErrorKind};
use crate::store::{
    FolderLock, Location, atomic_write, files, find_root, is_ignored_by_git, lock_folder, project_root, relative_to,
};

/// A file's text before and after a change; `None` where there is no file.
pub(super) type TextChange = (Option<String>, Option<String>);

/// A project, and how its files may be changed.
#[derive(Debug)]
pub struct Project<'a> {
    /// The project's root.
    pub(super) root: PathBuf,
    pub(super) location: &'a Location,
    current_dir: &'a Path,
    /// Whether edits by hand may be overwritten.
    pub(super) is_forced: bool,
}

impl<'a> Project<'a> {
    /// Returns the project around the current directory.
    pub fn find(location: &'a Location, current_dir: &'a Path, is_forced: bool) -> Self {
        let root = project_root(&location.files, current_dir);
        Self { root, location, current_dir, is_forced }
    }

    /// Finds the project of the store that a call names.
    ///
    /// # Errors
    /// As [`find_root`].
    pub fn of_store(location: &'a Location, current_dir: &'a Path, is_forced: bool) -> Result<Self, Error> {
        let store = find_root(location, current_dir)?;
        let root = project_root(&location.files, store.parent().unwrap_or(&store));
        Ok(Self { root, location, current_dir, is_forced })
    }

    /// Tells whether there is a store.
    pub fn has_store(&self) -> bool {
        self.store().is_ok()
    }

    /// Locks the project against other setups, once no other program seems to be saving the files of recipes. The lock is on
    /// the project's folder, so that no lock file is created.
    ///
    /// # Errors
    /// `Busy` if another process holds the lock for too long.
    pub(crate) fn lock(&self, paths: &[String]) -> Result<FolderLock, Error> {
        let files: Vec<PathBuf> = paths.iter().filter_map(|path| self.file(path).ok()).collect();
        lock_folder(&self.root, "the project", self.location.waits, &files)
    }

    /// Writes a change of a file: creates it with the folders it needs, replaces it, or deletes it with up to `folders`
    /// empty folders above it. Returns the word for the change, if there is one.
    ///
    /// # Errors
    /// If the file is read-only, or no longer has the text before the change.
    pub(super) fn write(
        &self,
        change: TextChange,
        file: impl FnOnce() -> Result<PathBuf, Error>,
        folders: usize,
    ) -> Result<Option<&'static str>, Error> {
        let Some(action) = action(&change) else { return Ok(None) };
        // It was waited for before the project was locked: a file that was saved since is refused.
        let (file, waits) = (file()?, WaitPolicy { pause: |_| (), ..self.location.waits });
        if change.0.is_none() {
            files::make_folders(&file)?;
        }
        expect_writable(&file)?;
        match change {
            (Some(old), None) => {
                atomic_write::remove_if_unchanged(&file, old.as_bytes(), waits)?;
                files::remove_empty_folders(&file, folders);
            }
            (old, new) => {
                let (old, new) = (old.as_deref().map(str::as_bytes), new.unwrap_or_default());
                atomic_write::replace_if_unchanged(&file, old, new.as_bytes(), waits)?;
            }
        }
        Ok(Some(action))
    }

    /// Returns the real path of a file of the project.
    pub(super) fn file(&self, path: &str) -> Result<PathBuf> {
        resolve_inside(&self.root, path, "project")
    }

    pub(super) fn read(&self, path: &str) -> Result<Option<String>> {
        files::read_if_there(&self.file(path)?)
    }

    /// Tells whether a file or folder exists, by its path relative to the root. Links are not followed.
    pub(super) fn has(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    /// As [`Project::has`], where a wrong answer would change a file.
    ///
    /// # Errors
    /// If that is not known.
    pub(super) fn is_there(&self, path: &str) -> Result<bool> {
        files::is_there(&self.root.join(path))
    }

    /// Whether git ignores a file, so that it stays on this machine.
    pub fn is_ignored(&self, path: &str) -> bool {
        let root = self.root.canonicalize();
        root.is_ok_and(|root| is_ignored_by_git(&self.location.files, &root.join(path)))
    }

    /// Tells whether two paths lead to one file.
    pub(super) fn is_same_file(&self, path: &str, other: &str) -> bool {
        let [path, other] = [path, other].map(|path| self.root.join(path).canonicalize().ok());
        path.is_some() && path == other
    }

    /// Returns the path of the project's own store, which is that of a new one if there is none.
    pub(super) fn own_store(&self) -> &'static str {
        if self.has("qipu/notes") && !self.has(".qipu") { "qipu/" } else { ".qipu/" }
    }

    pub(super) fn store(&self) -> Result<PathBuf, Error> {
        find_root(self.location, self.current_dir)
    }

    /// Returns the store's path relative to the project's root, ending in `/`.
    pub(super) fn shown_store(&self) -> String {
        self.store().map_or_else(|_| ".qipu/".to_owned(), |store| relative_to(&store, &self.root))
    }
}

/// Returns the word for a change; `None` if nothing changes.
pub(super) fn action(change: &TextChange) -> Option<&'static str> {
    match change {
        (None, Some(_)) => Some("created"),
        (Some(_), None) => Some("deleted"),
        (old, new) => (old != new).then_some("changed"),
    }
}

/// Rejects a read-only file, which a rename would replace nevertheless.
fn expect_writable(file: &Path) -> Result<(), Error> {
    if file.metadata().is_ok_and(|metadata| metadata.permissions().readonly()) {
        return Err(Error::failure(format!("{} is read-only", file.display())).hint("make it writable first"));
    }
    Ok(())
}

/// Returns the error for text that was edited by hand and is not overwritten.
pub(super) fn edited(what: String) -> Error {
    Error::new(ErrorKind::Failure, format!("{what} was edited by hand")).hint("use --force to change it anyway")
}

/// Returns a file's real path. A symbolic link must stay inside `folder`, and must not lead to files of version control
/// or to notes. `what` names the folder in errors.
pub(super) fn resolve_inside(folder: &Path, name: &str, what: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    let Ok(root) = folder.canonicalize() else { return Ok(path) };
    let above = files::nearest_folder(path.parent().unwrap_or(folder))?;
    let shown = || above.file_name().unwrap_or_default().to_string_lossy();
    let real_above =
        above.canonicalize().with_context(|| format!("can't resolve {}, the folder of {name}", shown()))?;
    expect_own(&real_above, &root).with_context(|| format!("the folder of {name} is outside the {what}"))?;
    if !files::is_there(&path)? || !path.is_symlink() {
        return Ok(path);
    }
    let target = path.canonicalize().with_context(|| format!("can't resolve {name}"))?;
    expect_own(&target, &root).with_context(|| format!("{name} is a symbolic link to a place outside the {what}"))?;
    Ok(target)
}

/// Folders of version control and of notes, which no recipe may write into. Compared without case, since some file
/// systems ignore it.
const FOREIGN_FOLDERS: [&str; 6] = [".git", ".hg", ".svn", ".jj", ".bzr", ".qipu"];

/// Fails if a real path is not below `root`, or is in one of the [`FOREIGN_FOLDERS`] there.
fn expect_own(real: &Path, root: &Path) -> Result<()> {
    let Ok(inside) = real.strip_prefix(root) else { bail!("it points to {}", real.display()) };
    let is_foreign = |name: &std::ffi::OsStr| FOREIGN_FOLDERS.iter().any(|foreign| name.eq_ignore_ascii_case(foreign));
    let folders = inside.ancestors().filter(|above| !above.as_os_str().is_empty()).map(|above| root.join(above));
    // A git folder may have any name (`git init --separate-git-dir`), and a store may be called `qipu`: both are
    // recognized by their content.
    let has = |folder: &Path, names: &[&str]| names.iter().all(|name| folder.join(name).exists());
    let is_inner =
        |folder: &PathBuf| has(folder, &["HEAD", "objects", "refs"]) || has(folder, &["config.toml", "notes"]);
    if inside.iter().any(is_foreign) || folders.into_iter().any(|folder| is_inner(&folder)) {
        bail!("{} belongs to version control or a store, and qipu writes nothing there", inside.display());
    }
    Ok(())
}
