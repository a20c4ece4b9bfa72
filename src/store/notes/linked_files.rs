//! The files to which links lead: by their paths, and in an Obsidian vault by their names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::note_handle::NoteHandle;
use super::store::Store;
use crate::note::Dialect;
use crate::store::collections::discover;
use crate::store::collections::discover::project_root;
use crate::store::fs::dir_handle::{DirHandle, FileType};
use crate::store::fs::tree::{is_hidden, items};
use crate::store::index::source_scan::is_markdown;

impl Store {
    /// Whether a link of a note that leads to no note leads nowhere. Documents may link to files that are no notes.
    pub fn leads_nowhere(&self, note: &NoteHandle, link: &str) -> bool {
        let is_found = || self.has_linked_file(note, link) || self.has_file_named(note, link);
        note.dialect() == Dialect::Qipu || !is_found()
    }

    /// Whether the path of a link of a note is in the project of the store, whether or not a file is there.
    pub fn is_in_project(&self, note: &NoteHandle, link: &str) -> bool {
        let root = &self.first().root;
        let folder = if self.is_source() { root } else { root.parent().unwrap_or(root) };
        self.link_path(note, link).starts_with(project_root(&self.files, folder))
    }

    /// Whether a link of a note leads to a file or folder in its collection or in the project.
    fn has_linked_file(&self, note: &NoteHandle, link: &str) -> bool {
        let target = self.link_path(note, link);
        let is_inside = target.starts_with(&self.locate(&note.path).0.root) || self.is_in_project(note, link);
        is_inside && self.files.has(&target)
    }

    /// Whether a link in an Obsidian vault names a file of the vault with its ending, in whatever folder, as `[[Board.canvas]]`
    /// does. Lists the files once.
    fn has_file_named(&self, note: &NoteHandle, link: &str) -> bool {
        let name = link.split('#').next().unwrap_or_default();
        let has_ending = name.rsplit('/').next().is_some_and(|name| name.contains('.'));
        // A page is a note, or not one of this source.
        if note.dialect() != Dialect::Obsidian || !has_ending || is_markdown(name.as_bytes()) {
            return false;
        }
        let (collection, _) = self.locate(&note.path);
        let Some(dir) = &collection.dir else { return false };
        collection.files_by_name.get_or_init(|| FilesByName::of(dir)).has(name)
    }

    /// Returns the path of the file to which a relative link of a note leads.
    fn link_path(&self, note: &NoteHandle, link: &str) -> PathBuf {
        let file = discover::normalize_lexically(&self.first().root.join(&note.path));
        discover::normalize_lexically(&file.parent().unwrap_or(&file).join(link))
    }
}

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
