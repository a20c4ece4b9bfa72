//! The files to which links lead: by their paths, and in an Obsidian vault by their names.

use std::path::PathBuf;

use super::files_by_name::FilesByName;
use super::note_handle::NoteHandle;
use super::store::Store;
use crate::note::Dialect;
use crate::store::collections::discover;
use crate::store::collections::discover::project_root;
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

    /// Returns the real path of the file to which a link of a note leads; `None` for a document that is not read.
    pub fn linked_file(&self, note: &NoteHandle, link: &str) -> Option<PathBuf> {
        let name = link.split('#').next().unwrap_or_default();
        let by_path = || Some(self.link_path(note, name)).filter(|_| self.has_linked_file(note, name));
        let root = &self.locate(&note.path).0.root;
        let by_name = || Some(root.join(self.file_named(note, name)?));
        let found = by_path().filter(|file| self.files.is_file(file)).or_else(by_name)?;
        let is_document = is_markdown(found.as_os_str().as_encoded_bytes()) && found.starts_with(root);
        (!is_document).then_some(found)
    }

    /// Whether a link in an Obsidian vault names a file of the vault with its ending, in whatever folder, as `[[Board.canvas]]`
    /// does.
    fn has_file_named(&self, note: &NoteHandle, link: &str) -> bool {
        self.file_named(note, link.split('#').next().unwrap_or_default()).is_some()
    }

    /// Returns the path in an Obsidian vault of the file with a name. Lists the files once.
    fn file_named(&self, note: &NoteHandle, name: &str) -> Option<&str> {
        let has_ending = name.rsplit('/').next().is_some_and(|name| name.contains('.'));
        // A page is a note, or not one of this source.
        if note.dialect() != Dialect::Obsidian || !has_ending || is_markdown(name.as_bytes()) {
            return None;
        }
        let (collection, _) = self.locate(&note.path);
        let dir = collection.dir.as_ref()?;
        collection.files_by_name.get_or_init(|| FilesByName::of(dir)).find(name)
    }

    /// Returns the path of the file to which a relative link of a note leads.
    fn link_path(&self, note: &NoteHandle, link: &str) -> PathBuf {
        let file = discover::normalize_lexically(&self.first().root.join(&note.path));
        discover::normalize_lexically(&file.parent().unwrap_or(&file).join(link))
    }
}
