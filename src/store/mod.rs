//! The store: the only reader and writer of files.

mod config;
mod discover;
pub(crate) mod files;
mod init;
mod load;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use config::Config;
pub use discover::{Location, find_root, project_root};
pub use init::{Made, init};
pub use write::{Change, Lock};

use crate::error::{Error, ErrorKind};
use crate::note::{Finding, Note, NoteId};

/// The folders of a store that hold notes.
pub const NOTE_FOLDERS: [&str; 3] = ["journals", "mocs", "notes"];

/// The most ids that an error names.
const MAX_CANDIDATES: usize = 10;

/// A store's notes in memory, in the order of their ids.
#[derive(Debug)]
pub struct Store {
    /// The store's path relative to the current directory, ending in `/`.
    pub shown_path: String,
    /// What the store's config.toml says.
    pub config: Config,
    /// Where it is; empty for a store that is in memory only.
    root: PathBuf,
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
        let notes = load::read_notes(&root)?;
        let shown_path = discover::relative_to(&root, current_dir);
        Ok(Self { root, ..Self::from_shared(shown_path, config, notes) })
    }

    /// Makes a store of notes that are already parsed, in any order.
    pub fn from_notes(shown_path: String, config: Config, notes: Vec<Note>) -> Self {
        Self::from_shared(shown_path, config, notes.into_iter().map(Arc::new).collect())
    }

    fn from_shared(shown_path: String, config: Config, mut notes: Vec<Arc<Note>>) -> Self {
        notes.sort_unstable_by(|a, b| (&a.id, &a.path).cmp(&(&b.id, &b.path)));
        if tell_duplicates_apart(&mut notes) {
            notes.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        }
        Self { shown_path, config, root: PathBuf::new(), notes }
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
        let is_here = |folder: &str| {
            let shown = self.shown_path.strip_prefix("./").unwrap_or(&self.shown_path);
            let folder = folder.strip_prefix("./").unwrap_or(folder);
            folder.is_empty() || folder == shown || (folder.ends_with('/') && Path::new(folder) == self.root)
        };
        let is_file_of = |note: &Arc<Note>| name.strip_suffix(&note.path).is_some_and(is_here);
        let is_path = name.ends_with(".md");
        is_path.then(|| self.notes.iter().position(is_file_of)).flatten()
    }

    /// Returns the place of the note that a user means: its id, its file, or the beginning of its id.
    ///
    /// # Errors
    /// `NoNote` when there is none; `Usage`, naming the candidates, when several begin so.
    pub fn resolve(&self, name: &str) -> Result<usize, Error> {
        if let Some(place) = self.named(name) {
            return Ok(place);
        }
        let begins = |note: &&Arc<Note>| !name.is_empty() && note.id.as_str().starts_with(name);
        let candidates: Vec<&str> = self.notes.iter().filter(begins).map(|note| note.id.as_str()).collect();
        match candidates.as_slice() {
            [] => Err(self.unknown(&[format!("`{name}`")])),
            [id] => Ok(self.notes.iter().position(|note| note.id.as_str() == *id).unwrap_or_default()),
            many => {
                let shown: Vec<&str> = many.iter().take(MAX_CANDIDATES).copied().collect();
                Err(Error::usage(format!("`{name}` begins {} ids", many.len()))
                    .hint(format!("ids: {}", shown.join(", "))))
            }
        }
    }

    fn unknown(&self, names: &[String]) -> Error {
        let message = format!("no such note: {} in {}", names.join(", "), self.shown_path);
        Error::new(ErrorKind::NoNote, message).hint("`qipu context --query WORDS` finds notes and their ids")
    }

    /// Returns a file's path relative to the current directory, from its path in the store.
    pub fn shown(&self, path: &str) -> String {
        format!("{}{path}", self.shown_path.strip_prefix("./").unwrap_or(&self.shown_path))
    }

    /// Reads the template for new notes of a type; `None` when there is none.
    ///
    /// # Errors
    /// `Failure` when it can't be read.
    pub fn template(&self, kind: &str) -> Result<Option<String>, Error> {
        let is_name = NoteId::parse(kind).is_some();
        let path = self.root.join("templates").join(format!("{kind}.md"));
        if is_name && path.is_file() { Ok(files::read_if_there(&path)?) } else { Ok(None) }
    }

    /// Returns the places of the notes that are named; each may be the beginning of an id.
    ///
    /// # Errors
    /// `NoNote`, naming every one that does not exist; `Usage` for a beginning of several ids.
    pub fn positions(&self, ids: &[String]) -> Result<Vec<usize>, Error> {
        let mut found = Vec::new();
        let mut unknown = Vec::new();
        for text in ids {
            match self.resolve(text) {
                Ok(place) => found.push(place),
                Err(error) if error.kind == ErrorKind::NoNote => unknown.push(format!("`{text}`")),
                Err(error) => return Err(error),
            }
        }
        if unknown.is_empty() {
            return Ok(found);
        }
        Err(self.unknown(&unknown))
    }
}

/// Gives all but the first of the notes with one id, which stand side by side, ids of their own.
/// Returns whether there were any.
fn tell_duplicates_apart(notes: &mut [Arc<Note>]) -> bool {
    let mut found = false;
    for same in notes.chunk_by_mut(|a, b| a.id == b.id) {
        for (number, note) in same.iter_mut().enumerate().skip(1) {
            found = true;
            let message = format!("another note has the id `{}`", note.id);
            let id = note.id.duplicate(number + 1);
            let note = Arc::make_mut(note);
            note.findings.push(Finding::new("duplicate-id", message));
            note.id = id;
        }
    }
    found
}
