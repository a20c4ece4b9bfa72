//! The store: the only reader and writer of files.

mod config;
mod discover;
pub(crate) mod files;
mod load;

use std::path::Path;
use std::sync::Arc;

pub use config::Config;
pub use discover::{Location, find_root, project_root};

use crate::error::{Error, ErrorKind};
use crate::note::{Note, NoteId};

/// The folders of a store that hold notes.
pub const NOTE_FOLDERS: [&str; 3] = ["journals", "mocs", "notes"];

/// A store's notes in memory, in the order of their ids.
#[derive(Debug)]
pub struct Store {
    /// The store's path relative to the current directory, ending in `/`.
    pub shown_path: String,
    /// What the store's config.toml says.
    pub config: Config,
    notes: Vec<Arc<Note>>,
}

impl Store {
    /// Finds the store and loads every note in it.
    ///
    /// # Errors
    /// `NoStore` when there is none, `Store` when its folders or its config can't be read. A bad
    /// note is never an error.
    pub fn open(location: &Location, current_dir: &Path) -> Result<Self, Error> {
        let root = find_root(location, current_dir)?;
        let config = Config::load(&root)?;
        let files = load::read_notes(&root)?;
        let shown_path = discover::relative_to(&root, current_dir);
        Ok(Self::from_notes(shown_path, config, files))
    }

    /// Makes a store of notes that are already parsed, in any order.
    pub fn from_notes(shown_path: String, config: Config, mut notes: Vec<Note>) -> Self {
        notes.sort_by(|a, b| a.path.cmp(&b.path));
        let mut taken = std::collections::HashMap::new();
        for note in &mut notes {
            let claims = taken.entry(note.id.clone()).or_insert(0_usize);
            *claims += 1;
            if *claims > 1 {
                let message = format!("another note has the id `{}`", note.id);
                note.findings.push(crate::note::Finding::new("duplicate-id", message));
                note.id = note.id.duplicate(*claims);
            }
        }
        notes.sort_by(|a, b| a.id.cmp(&b.id));
        Self { shown_path, config, notes: notes.into_iter().map(Arc::new).collect() }
    }

    /// Returns all notes in the order of their ids.
    pub fn notes(&self) -> &[Arc<Note>] {
        &self.notes
    }

    /// Returns a note's place in [`Store::notes`].
    pub fn position(&self, id: &NoteId) -> Option<usize> {
        self.notes.binary_search_by(|note| note.id.cmp(id)).ok()
    }

    /// Returns the place of a note that is named by its id or its file.
    pub fn named(&self, name: &str) -> Option<usize> {
        if let Some(place) = NoteId::parse(name).and_then(|id| self.position(&id)) {
            return Some(place);
        }
        let is_file_of = |note: &Arc<Note>| {
            let folder = name.strip_suffix(&note.path);
            folder.is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        };
        let is_path = name.ends_with(".md");
        is_path.then(|| self.notes.iter().position(is_file_of)).flatten()
    }

    /// Returns the places of the notes that are named.
    ///
    /// # Errors
    /// `NoNote`, naming every one that does not exist.
    pub fn positions(&self, ids: &[String]) -> Result<Vec<usize>, Error> {
        let mut found = Vec::new();
        let mut unknown = Vec::new();
        for text in ids {
            match self.named(text) {
                Some(position) => found.push(position),
                None => unknown.push(format!("`{text}`")),
            }
        }
        if unknown.is_empty() {
            return Ok(found);
        }
        let message = format!("no such note: {} in {}", unknown.join(", "), self.shown_path);
        Err(Error::new(ErrorKind::NoNote, message).hint("`qipu context --query WORDS` finds notes and their ids"))
    }
}
