//! The paths that new files may have.

use std::collections::HashSet;

/// The paths of files and of the folders above them. Compared without case, since some file systems ignore it.
#[derive(Debug, Default)]
pub(super) struct TakenPaths {
    files: HashSet<String>,
    folders: HashSet<String>,
}

impl TakenPaths {
    /// Tells whether a file can be created at a path.
    pub(super) fn is_free(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        let is_folder = self.folders.contains(&path);
        !is_folder && !self.files.contains(&path) && !folders(&path).any(|folder| self.files.contains(folder))
    }

    pub(super) fn insert(&mut self, path: &str) {
        let path = path.to_lowercase();
        self.folders.extend(folders(&path).map(str::to_owned));
        self.files.insert(path);
    }
}

/// Returns the folders above a path, the outermost first.
pub(super) fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(offset, _)| path.get(..offset))
}
