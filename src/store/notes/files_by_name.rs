//! The files of an Obsidian vault by their names.

use std::collections::HashMap;
use std::path::Path;

use crate::store::fs::dir_handle::{DirHandle, FileType};
use crate::store::fs::tree::{is_hidden, items};

/// The deepest folder of a vault whose files are found by name.
const MAX_DEPTH: usize = 64;

/// The paths of the files of a vault, by their names in lower case.
#[derive(Debug, Default)]
pub(super) struct FilesByName(HashMap<String, Vec<String>>);

impl FilesByName {
    /// Lists the files of a vault that are not hidden. O(files).
    pub(super) fn of(dir: &DirHandle) -> Self {
        let mut files = Self::default();
        let is_entered = |path: &Path| !is_hidden(path) && path.components().count() <= MAX_DEPTH;
        for item in items(dir, "", is_entered) {
            if item.kind == Some(FileType::File) && !is_hidden(&item.path) {
                let path = item.shown();
                let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
                files.0.entry(name).or_default().push(path);
            }
        }
        files
    }

    /// Returns the first file with a name, or with a path that ends with these names, in any case.
    pub(super) fn find(&self, target: &str) -> Option<&str> {
        let target = target.trim().trim_start_matches('/').to_lowercase();
        let ends = |path: &str| {
            let path = path.to_lowercase();
            path.strip_suffix(target.as_str()).is_some_and(|above| above.is_empty() || above.ends_with('/'))
        };
        let paths = self.0.get(target.rsplit('/').next().unwrap_or_default())?;
        paths.iter().map(String::as_str).find(|path| ends(path))
    }
}
