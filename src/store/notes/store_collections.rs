//! The collections of an open store, and which of them a note or a path belongs to.

use std::sync::Arc;

use super::collection_reader::CollectionReader;
use super::note_handle::NoteHandle;
use super::note_idx::NoteIdx;
use super::store::Store;
use crate::error::Error;
use crate::note::Dialect;
use crate::store::collections::collection::{Collection, Tier};

impl Store {
    /// Returns the collections, in the order of their notes.
    pub fn collections(&self) -> impl ExactSizeIterator<Item = &Arc<Collection>> {
        self.collections.iter().map(|collection| &collection.about)
    }

    /// Whether there are several collections beside the commits, whose ids tell them from notes.
    pub fn has_several_collections(&self) -> bool {
        self.collections().filter(|collection| collection.tier() != Tier::History).count() > 1
    }

    /// Returns how the files of the first collection are read.
    pub fn dialect(&self) -> Dialect {
        self.first().about.dialect
    }

    /// Expects that the first collection is a store.
    ///
    /// # Errors
    /// `Usage` if it is one of documents.
    pub fn expect_store(&self) -> Result<(), Error> {
        if !self.is_source() {
            return Ok(());
        }
        let message = format!("`{}` are documents, and this command changes only stores", self.first().about.name);
        Err(Error::usage(message).hint("name a store of those that `qipu status` lists"))
    }

    /// Whether the first collection would read a new file, by its path there.
    pub fn has_place_for(&self, path: &str) -> bool {
        self.first().rules.as_ref().is_none_or(|rules| rules.reads(path.as_ref()))
    }

    /// Whether the first collection is a source.
    pub fn is_source(&self) -> bool {
        self.first().about.is_source()
    }

    /// Returns the first collection.
    pub fn first_collection(&self) -> &Collection {
        &self.first().about
    }

    /// Returns the collection of the note at a position.
    pub fn collection_of(&self, position: NoteIdx) -> &Collection {
        &self.collections[self.notes()[position].collection_ordinal()].about
    }

    /// Returns the number of notes in each collection.
    pub fn collection_sizes(&self) -> impl Iterator<Item = (&Arc<Collection>, usize)> {
        self.collections.iter().map(|collection| (&collection.about, collection.notes.len()))
    }

    /// Returns how many notes are in an index, and the bytes of all indexes; `None` without any.
    pub fn indexed(&self) -> Option<(usize, u64)> {
        let uses = self.collections.iter().filter_map(|collection| collection.index);
        uses.map(|index| (index.notes, index.bytes)).reduce(|all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// Returns the notes of each collection.
    pub fn notes_by_collection(&self) -> Vec<&[Arc<NoteHandle>]> {
        self.collections.iter().map(|one| self.notes.get(one.notes.clone()).unwrap_or_default()).collect()
    }

    /// Returns the collection that a path belongs to, and the path in it. The path is relative to the first collection.
    pub(in crate::store) fn locate<'p>(&self, path: &'p str) -> (&CollectionReader, &'p str) {
        let prefix_of = |collection: &&CollectionReader| path.starts_with(&collection.about.prefix);
        let longest = self.collections.iter().filter(prefix_of).max_by_key(|one| one.about.prefix.len());
        let collection = longest.unwrap_or(&self.collections[0]);
        (collection, collection.about.local_path(path))
    }

    pub(in crate::store) fn first(&self) -> &CollectionReader {
        debug_assert!(!self.collections.is_empty(), "a store has a collection");
        &self.collections[0]
    }

    /// Describes the collections that could not be read; used as warnings.
    pub(super) fn failed_warnings(failed: &[(String, Error)]) -> impl Iterator<Item = String> {
        failed.iter().map(|(name, error)| format!("the collection `{name}` is not read: {}", error.message))
    }

    /// Returns a warning that settings have no effect; `None` if all have.
    pub fn settings_warning(&self) -> Option<String> {
        let first = self.setting_findings.first()?;
        let more = match self.setting_findings.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some(format!("{}: {}{more}; `qipu doctor` lists all", first.file, first.message))
    }
}
