//! Opens the commit that a call names.

use std::path::Path;

use super::discover::Location;
use crate::error::Error;
use crate::store::fs::file_tree::FileTree;
use crate::store::git::commit_tree::CommitTree;
use crate::store::git::plumbing::Repository;
use crate::store::git::revision::find_commit;

impl Location {
    /// Replaces the files of a repository by those of the commit that the location names, if it names one. The repository
    /// is that of the store that is named, else of the current directory.
    ///
    /// # Errors
    /// `Usage` if there is no repository, or no such commit in it; `Failure` if git can't be asked.
    pub fn at_commit(self, current_dir: &Path) -> Result<Self, Error> {
        let Some(name) = self.at.clone() else { return Ok(self) };
        let none = || name.too_early().hint("`git log --reverse` begins with the first one");
        self.at_commit_if_any(current_dir)?.ok_or_else(none)
    }

    /// Does what [`Self::at_commit`] does; `None` if the location names a moment before the first commit.
    ///
    /// # Errors
    /// As there.
    pub fn at_commit_if_any(self, current_dir: &Path) -> Result<Option<Self>, Error> {
        let Some(name) = &self.at else { return Ok(Some(self)) };
        let repository = self.repository(current_dir)?;
        let Some(id) = find_commit(&repository, name)? else { return Ok(None) };
        let files = FileTree::of_commit(CommitTree::read(&repository, id)?);
        Ok(Some(Self { files, no_index: true, ..self }))
    }

    /// Returns the id of the commit whose files are read; `None` for the files on disk.
    pub fn commit_id(&self) -> Option<&str> {
        self.files.commit().map(|commit| commit.id.as_str())
    }

    /// Finds the repository of the store that is named, else of the current directory.
    ///
    /// # Errors
    /// `Usage` if there is none.
    fn repository(&self, current_dir: &Path) -> Result<Repository, Error> {
        let named = self.store.as_ref().map(|named| current_dir.join(named));
        let folder = named.as_deref().unwrap_or(current_dir);
        // A folder of an old commit may not exist today.
        let folder = folder.ancestors().find_map(|folder| folder.canonicalize().ok());
        let root = folder.as_ref().and_then(|folder| FileTree::default().repository_root(folder));
        let none = || {
            Error::usage("there is no git repository here")
                .hint("earlier notes are read from git's history: `git init`, and commit the notes")
        };
        Ok(Repository { root: root.ok_or_else(none)?.to_path_buf(), prefix: String::new(), commit: None })
    }
}
