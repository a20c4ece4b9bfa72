//! The notes of other collections than the one that a command changes: commands link to them, and never write them.

use std::sync::Arc;

use super::note_handle::NoteHandle;
use super::note_idx::NoteIdx;
use super::store::Store;
use crate::error::{Error, ErrorKind, Remedy};
use crate::note::{COLLECTION_MARK, NoteId};
use crate::store::collections::collection::Collection;
use crate::store::collections::discover::{CollectionScope, Location};
use crate::store::collections::find::find_target;

impl Store {
    /// Whether drafts of agents wait for a person in this collection: its own config says so, or that of the project from
    /// which a command changes it.
    pub fn holds_drafts(&self) -> bool {
        self.config.review.hold || self.is_held_by_project()
    }

    fn is_held_by_project(&self) -> bool {
        let Some(named) = self.target.as_deref().filter(|location| location.to.is_some()) else { return false };
        let project = Location { only: Vec::new(), to: None, ..named.clone() };
        find_target(&project, &self.current_dir).is_ok_and(|project| project.config.review.hold)
    }

    /// Finds the note of another collection with a name, for a command that changes this one. Returns its id behind the name
    /// of the collection. Reads all collections.
    fn resolve_elsewhere(&self, name: &str) -> Option<(NoteId, Arc<Collection>)> {
        self.resolve_in_all(name).filter(|(_, other)| other.name != self.first().about.name)
    }

    /// Whether a collection has a name. Reads all collections.
    pub fn is_collection(&self, name: &str) -> bool {
        let all = self.with_all();
        all.is_some_and(|all| all.collections().any(|collection| collection.name == collection.current_name(name)))
    }

    /// Returns the name of the collection that reads a note of another store. Reads all collections.
    pub fn name_of_reader(&self, other: &Self) -> Option<&str> {
        let all = self.with_all()?;
        let path = other.notes().iter().find_map(|note| all.note_path(&other.file_at(&note.path)))?;
        Some(&all.locate(&path).0.about.name)
    }

    /// Finds a note of this collection behind another name of the collection, for a command that changes it.
    pub(super) fn resolve_by_other_name(&self, name: &str) -> Option<NoteIdx> {
        let (id, collection) = self.resolve_in_all(name).filter(|_| name.contains(COLLECTION_MARK))?;
        self.position(&id).filter(|_| collection.name == self.first().about.name)
    }

    fn resolve_in_all(&self, name: &str) -> Option<(NoteId, Arc<Collection>)> {
        let all = self.with_all()?;
        let note = Arc::clone(&all.notes()[all.resolve_whole(name).ok()?]);
        let collection = all.collections().nth(note.collection_ordinal())?;
        Some((note.id.qualified(&collection.name), Arc::clone(collection)))
    }

    /// Returns the store with all collections, for a command that changes this one. They are read once.
    fn with_all(&self) -> Option<&Self> {
        self.all.get_or_init(|| self.open_all(CollectionScope::All).ok().map(Box::new)).as_deref()
    }

    /// Opens the collections of a scope, for a command that makes a note of this one from a note of another one.
    ///
    /// # Errors
    /// As [`Store::open`]; `Failure` for a store in memory.
    pub fn open_all(&self, scope: CollectionScope) -> Result<Self, Error> {
        let target = self.target.as_deref().ok_or_else(|| Error::failure("this store has no other collections"))?;
        let names_commits = target.names_commits || scope == CollectionScope::History;
        let all = Location { only: Vec::new(), to: None, scope, names_commits, ..target.clone() };
        Self::open(&all, &self.current_dir)
    }

    /// Returns the path in the project of the file of a note of all collections; `None` for a note without a file there.
    pub fn file_in_project(&self, all: &Self, note: &NoteHandle) -> Option<String> {
        let file = all.file_at(&note.path);
        self.project_path(file.to_str()?).filter(|_| self.files.is_file(&file))
    }

    /// Returns the id by which a note's frontmatter names another note, of this collection or of another one.
    ///
    /// # Errors
    /// As [`Store::resolve_to_change`] and [`Store::expect_own_id`].
    pub fn link_target(&self, name: &str) -> Result<NoteId, Error> {
        let target = self.id_in_links(name)?;
        let is_elsewhere = self.position(&target).is_none();
        let is_exact_there = is_elsewhere && (name.contains(COLLECTION_MARK) || target.local() == name);
        if self.named(name).is_none() && !is_exact_there {
            self.expect_meant(name, &target)?;
        }
        Ok(target)
    }

    fn id_in_links(&self, name: &str) -> Result<NoteId, Error> {
        let position = match self.resolve_whole(name) {
            Err(error) if error.kind == ErrorKind::Usage || error.kind == ErrorKind::NoNote => {
                let Some((id, collection)) = self.resolve_elsewhere(name) else { return Err(error) };
                return collection.name_in_links_of(&self.first().about).map(|name| id.qualified(name)).ok_or(error);
            }
            position => position?,
        };
        self.in_progress.need(&self.notes()[position].path);
        self.expect_own_id(position)?;
        Ok(self.notes()[position].id.clone())
    }

    /// Whether a name in a note means the note of another collection that has an id, as [`Store::link_target`] returns it.
    pub fn is_id_elsewhere(&self, name: &str, id: &NoteId) -> bool {
        let name = name.trim();
        // Behind a collection's name, a title or an alias may stand too.
        let may_be = name.contains(COLLECTION_MARK)
            || NoteId::parse_qualified(name).is_some_and(|named| named.local() == id.local());
        name == id.as_str() || (may_be && self.id_in_links(name).is_ok_and(|target| target == *id))
    }

    /// Returns the error for a name that only a note of another collection has; `None` if none has it.
    pub(super) fn elsewhere_error(&self, name: &str) -> Option<Error> {
        let (id, collection) = self.resolve_elsewhere(name)?;
        let name = &collection.name;
        let error =
            Error::usage(format!("`{id}` belongs to the collection `{name}`, which this command does not change"));
        Some(if collection.is_writable {
            error.remedy(Remedy::ChangeIn(name.clone()))
        } else {
            error.hint(format!("it is only read: {}", collection.reason.how_to_write()))
        })
    }
}
