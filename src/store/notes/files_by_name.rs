//! The files of an Obsidian vault by their names.

use std::collections::HashMap;
use std::path::Path;

use crate::store::fs::dir_handle::{DirHandle, FileType};
use crate::store::fs::tree::{is_hidden, items};

/// The deepest folder of a vault whose files are found by name.
const MAX_DEPTH: usize = 64;

/// The files of a vault by their names in lower case, each with its paths in lower case.
#[derive(Debug, Default)]
pub(super) struct FilesByName(HashMap<String, Vec<String>>);

impl FilesByName {
    /// Lists the files of a vault that are not hidden. O(files).
    pub(super) fn of(dir: &DirHandle) -> Self {
        let mut files = Self::default();
        let is_entered = |path: &Path| !is_hidden(path) && path.components().count() <= MAX_DEPTH;
        for item in items(dir, "", is_entered) {
            if item.kind == Some(FileType::File) && !is_hidden(&item.path) {
                let path = item.shown().to_lowercase();
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                files.0.entry(name).or_default().push(path);
            }
        }
        files
    }

    /// Whether a file has a name, or a path that ends with these names.
    pub(super) fn has(&self, target: &str) -> bool {
        let target = target.trim().trim_start_matches('/').to_lowercase();
        let ends = |path: &String| {
            path.strip_suffix(target.as_str()).is_some_and(|above| above.is_empty() || above.ends_with('/'))
        };
        self.0.get(target.rsplit('/').next().unwrap_or_default()).is_some_and(|paths| paths.iter().any(ends))
    }
}
