//! Texts of notes that an editor has open and has not saved yet, in the place of their files.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::collection_reader::{CollectionReader, OpenedNotes};
use super::note_handle::NoteHandle;
use super::open_collection::OpenCollections;
use super::order::{in_order, sorted};
use super::store::Store;
use crate::note::{NOTE_FOLDERS, Note};
use crate::store::collections::layout::CONFIG_FILE;
use crate::store::fs::tree::is_hidden;

impl Store {
    /// Returns the path in the store of the note that a file is or would be, from its absolute path. `None` for a file that
    /// no collection would read as a note: outside all of them, hidden, a symbolic link, or reached through one that leads
    /// out.
    pub fn note_path(&self, file: &Path) -> Option<String> {
        let folder = file.parent()?.canonicalize().ok()?;
        let file = folder.join(file.file_name()?);
        if file.is_symlink() {
            return None;
        }
        let inside = self.collections.iter().filter(|one| one.dir.is_some() && file.starts_with(&one.root));
        let collection = inside.max_by_key(|one| one.root.as_os_str().len())?;
        let local = file.strip_prefix(&collection.root).ok()?;
        let names: Vec<&str> = local.iter().map(|name| name.to_str()).collect::<Option<_>>()?;
        let is_note = match &collection.rules {
            Some(rules) => rules.reads(local),
            None => names.first().is_some_and(|first| NOTE_FOLDERS.contains(first)) && is_note_file(local),
        };
        is_note.then(|| format!("{}{}", collection.about.prefix, names.join("/")))
    }

    /// Returns the path of the config of the first store, if a file is that.
    pub fn settings_path(&self, file: &Path) -> Option<String> {
        let real = file.canonicalize().ok()?;
        let is_config = !self.is_source() && real == self.first().root.join(CONFIG_FILE);
        is_config.then(|| CONFIG_FILE.to_owned())
    }

    /// Returns the absolute path of the file at a path in the store.
    pub fn file_at(&self, path: &str) -> PathBuf {
        let (collection, local) = self.locate(path);
        collection.root.join(local)
    }

    /// Parses a text as the note at a path in the store, as its collection reads it.
    pub(crate) fn parse_at(&self, path: &str, text: &str) -> NoteHandle {
        let (collection, local) = self.locate(path);
        let about = &collection.about;
        let mut note = NoteHandle::from(Note::parse_as(about.dialect, local, text.as_bytes().to_vec()));
        if !about.is_project() {
            note.set_collection(about);
        }
        note
    }

    /// Returns the store as it would be if the files of notes that [`Store::parse_at`] made had their texts. Nothing is read
    /// again; it has no text index and no cached links. O(notes).
    pub(crate) fn with_texts(&self, texts: &[Arc<NoteHandle>]) -> Self {
        let replaced: HashSet<&str> = texts.iter().map(|note| note.path.as_str()).collect();
        let hasher = RandomState::default();
        let mut all = OpenCollections::default();
        for (ordinal, collection) in self.collections.iter().enumerate() {
            let saved = self.notes.get(collection.notes.clone()).unwrap_or_default();
            let saved = saved.iter().filter(|note| !replaced.contains(note.path.as_str())).map(with_own_id);
            let unsaved = texts.iter().filter(|note| note.collection_ordinal() == ordinal).cloned();
            // Almost sorted, so that one thread is faster than several that wait for one another.
            let mut notes: Vec<Arc<NoteHandle>> = saved.chain(unsaved).collect();
            notes.sort_by(|a, b| in_order(a, b));
            let (notes, _) = sorted(notes, None);
            let id_hashes = notes.iter().map(|note| hasher.hash_one(note.id.as_str())).collect();
            let unreadable = collection.unreadable.iter().filter(|(path, _)| !replaced.contains(path.as_str()));
            let collection = CollectionReader {
                about: Arc::clone(&collection.about),
                root: collection.root.clone(),
                dir: collection.dir.clone(),
                rules: collection.rules.clone(),
                unreadable: unreadable.cloned().collect(),
                errors: Arc::clone(&collection.errors),
                notes: 0..notes.len(),
                ..CollectionReader::default()
            };
            all.add(OpenedNotes { notes, id_hashes, collection, ..OpenedNotes::default() });
        }
        all.qualify_ids();
        Self {
            shown_path: self.shown_path.clone(),
            config: self.config.clone(),
            today: self.today,
            settings: self.settings.clone(),
            cache: self.cache.clone(),
            files: self.files.clone(),
            current_dir: self.current_dir.clone(),
            notes: all.notes,
            collections: all.all,
            setting_findings: self.setting_findings.clone(),
            failed: self.failed.clone(),
            target: self.target.clone(),
            unsaved: texts.iter().map(|note| (note.path.clone(), Arc::clone(note))).collect(),
            ..Self::default()
        }
    }
}

/// Whether a file in a folder of notes counts as a note, by its path in the store.
fn is_note_file(path: &Path) -> bool {
    let is_markdown = path.extension().is_some_and(|ending| ending == "md");
    is_markdown && path.ancestors().all(|above| !is_hidden(above))
}

/// Returns the note with the id of its own file, which other files may have changed.
fn with_own_id(note: &Arc<NoteHandle>) -> Arc<NoteHandle> {
    note.with_own_id().map_or_else(|| Arc::clone(note), Arc::new)
}
