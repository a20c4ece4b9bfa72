//! An open store: opened, read again where its index is damaged, and made in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::collection_reader::{CollectionReader, RecentFiles};
use super::in_progress_notes::InProgressNotes;
use super::load;
use super::note_handle::NoteHandle;
use super::note_idx::NoteIdx;
use super::open_collection;
use super::order::sorted;
use super::text_index_builder::IndexBuilderFactory;
use crate::env::Today;
use crate::error::Error;
use crate::note::Note;
use crate::store::collections::collection::{Collection, PROJECT};
use crate::store::collections::config::Config;
use crate::store::collections::discover::{Location, shown_in};
use crate::store::collections::find::{FoundCollections, SettingFinding, find_collections, find_target_with_names};
use crate::store::fs::file_tree::FileTree;
use crate::store::index;
use crate::store::index::location::IndexLocation;
use crate::timings;
use crate::warnings;

/// An open store with the collections that are read with it: their notes, sorted by collection and id.
#[derive(Debug, Default)]
pub struct Store {
    /// The store's path relative to the current directory, ending in `/`.
    pub shown_path: String,
    /// The store's config.toml.
    pub config: Config,
    /// The day that counts as today.
    pub today: Today,
    /// The files that paths lead to.
    pub(in crate::store) files: FileTree,
    pub(super) settings: Option<PathBuf>,
    /// Whether the embedder of the settings takes no part.
    pub(super) no_embedder: bool,
    pub(in crate::store) cache: Option<PathBuf>,
    /// The directory that shown paths are relative to.
    pub current_dir: PathBuf,
    pub(in crate::store) notes: Vec<Arc<NoteHandle>>,
    /// The collections, at least one.
    pub(in crate::store) collections: Vec<CollectionReader>,
    /// The settings without effect.
    pub setting_findings: Vec<SettingFinding>,
    /// The collections that could not be read, each with the reason.
    pub(super) failed: Vec<(String, Error)>,
    /// The location of all collections, if only the one that a command changes is open.
    pub(super) target: Option<Box<Location>>,
    /// The number of files that were changed from the redo log before the notes were read.
    pub recovered: usize,
    /// The positions of the notes by path, computed at the first use.
    pub(super) by_path: OnceLock<HashMap<String, NoteIdx>>,
    /// All collections, of a store that a command changes; `None` if they can't be read.
    pub(super) all: OnceLock<Option<Box<Self>>>,
    /// Whether the process ends with the answer from this store.
    pub(super) is_only_call: bool,
    /// The notes whose texts count in place of their files, by path: see [`Store::with_texts`].
    pub(in crate::store) unsaved: HashMap<String, Arc<NoteHandle>>,
    /// The notes that another program may be saving, of a store that a command changes.
    pub(in crate::store) in_progress: InProgressNotes,
}

impl Store {
    /// Finds the store and loads every note in it.
    ///
    /// # Errors
    /// `NoStore` if there is none, `Store` if its folders or its config can't be read. A malformed note is never an error.
    pub fn open(location: &Location, current_dir: &Path) -> Result<Self, Error> {
        Self::open_with(location, current_dir, None)
    }

    /// Finds the store and loads every note in it, with their text index if a builder is given.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(
        location: &Location,
        current_dir: &Path,
        builder: Option<IndexBuilderFactory>,
    ) -> Result<Self, Error> {
        let found = find_collections(location, current_dir)?;
        Ok(Self::open_found(found, location, current_dir, builder, None)?.0)
    }

    /// Opens a folder of Markdown as documents, alone and from its files; `None` if there is no such folder.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_folder(folder: &Path, location: &Location, current_dir: &Path) -> Result<Option<Self>, Error> {
        if !location.files.is_dir(&current_dir.join(folder)) {
            return Ok(None);
        }
        let alone = Location { store: Some(folder.to_path_buf()), no_index: true, ..Location::default() };
        Self::open(&alone, current_dir).map(Some)
    }

    /// Opens the collection that a command changes, without its lock, with its text index if a builder is given.
    ///
    /// # Errors
    /// As [`Store::open`]; `Usage` if it is not writable.
    pub fn open_target(
        location: &Location,
        current_dir: &Path,
        builder: Option<IndexBuilderFactory>,
    ) -> Result<Self, Error> {
        Ok(Self::open_target_since(location, current_dir, builder, None)?.0)
    }

    pub(in crate::store) fn open_target_since(
        location: &Location,
        current_dir: &Path,
        builder: Option<IndexBuilderFactory>,
        since: Option<i64>,
    ) -> Result<(Self, RecentFiles), Error> {
        let (target, other_names) = find_target_with_names(location, current_dir)?;
        let found = FoundCollections { all: vec![target], other_names, ..FoundCollections::default() };
        let (store, recent) = Self::open_found(found, location, current_dir, builder, since)?;
        Ok((Self { target: Some(Box::new(location.clone())), ..store }, recent))
    }

    /// Reads the collections that were found. Returns also the files of notes that were modified since a time, with their
    /// stats from before they were read.
    fn open_found(
        found: FoundCollections,
        location: &Location,
        current_dir: &Path,
        builder: Option<IndexBuilderFactory>,
        since: Option<i64>,
    ) -> Result<(Self, RecentFiles), Error> {
        let setting_findings = found.findings.clone();
        let mut config = found.all.first().map(|first| Config::clone(&first.config)).unwrap_or_default();
        found.all.iter().skip(1).for_each(|other| config.link_types.add_missing(&other.config.link_types));
        let opened = open_collection::open(found, location, current_dir, builder, since)?;
        timings::end("notes sorted");
        Self::failed_warnings(&opened.failed).for_each(warnings::add);
        let shown_path = opened.all.first().map(|first| first.about.shown_path.clone()).unwrap_or_default();
        let store = Self {
            shown_path,
            config,
            today: location.today,
            files: location.files.clone(),
            settings: location.settings.clone(),
            no_embedder: location.no_embedder,
            cache: location.cache.clone(),
            current_dir: current_dir.canonicalize().unwrap_or_else(|_| current_dir.to_path_buf()),
            notes: opened.notes,
            collections: opened.all,
            setting_findings,
            failed: opened.failed,
            is_only_call: location.is_only_call,
            ..Self::default()
        };
        store.unreadable_warning().into_iter().for_each(warnings::add);
        store.settings_warning().into_iter().for_each(warnings::add);
        Ok((store, opened.recent))
    }

    /// Removes the indexes that are damaged.
    pub fn discard_index(&self, location: &Location) {
        for collection in self.collections.iter().filter(|collection| collection.errors.is_index_corrupt()) {
            if let Some(dir) = &collection.dir {
                let source = collection.rules.as_ref().map(|_| collection.about.dialect);
                index::discard(&IndexLocation { source, ..load::index_location(location, &collection.root, dir) });
            }
        }
    }

    /// Returns the store and the result of `work` on it. If the index turns out to be damaged, it is removed, and `work` runs
    /// again on a store that was read from the files.
    ///
    /// # Errors
    /// `Store`, naming a note whose file could not be read; as [`Store::open`] if the store has to be opened again.
    pub fn with_corruption_retry<T>(
        self,
        location: &Location,
        current_dir: &Path,
        work: impl Fn(&Self) -> T,
    ) -> Result<(Self, T), Error> {
        let result = work(&self);
        if !self.is_index_corrupt() {
            self.expect_read_notes()?;
            return Ok((self, result));
        }
        self.discard_index(location);
        let without = Location { no_index: true, ..location.clone() };
        let reopened = match self.target {
            Some(_) => Self::open_target(&without, current_dir, None)?,
            None => Self::open(&without, current_dir)?,
        };
        let store = Self { recovered: self.recovered, in_progress: self.in_progress, ..reopened };
        let result = work(&store);
        store.expect_read_notes()?;
        Ok((store, result))
    }

    /// Whether a part of the index could not be read, so that answers may be wrong.
    pub fn is_index_corrupt(&self) -> bool {
        self.collections.iter().any(|collection| collection.errors.is_index_corrupt())
    }

    /// Expects that every note whose file was needed could be read.
    ///
    /// # Errors
    /// `Store`, naming the first file that could not be read.
    pub fn expect_read_notes(&self) -> Result<(), Error> {
        let mut errors = self.collections.iter().filter_map(|collection| collection.errors.note());
        errors.next().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Makes a store in memory of parsed notes, in any order.
    pub fn from_notes(shown_path: String, config: Config, notes: Vec<Note>) -> Self {
        Self::from_shared(shown_path, config, notes.into_iter().map(|note| Arc::new(note.into())).collect())
    }

    pub(in crate::store) fn from_shared(shown_path: String, config: Config, notes: Vec<Arc<NoteHandle>>) -> Self {
        let (notes, _) = sorted(notes, None);
        let name = PROJECT.to_owned();
        let about = Collection { name, is_writable: true, is_in_repository: true, ..Collection::default() };
        let (about, range) = (Arc::new(about), 0..notes.len());
        let collection = CollectionReader { about, notes: range, ..CollectionReader::default() };
        Self { shown_path, config, notes, collections: vec![collection], ..Self::default() }
    }

    /// Returns all notes, sorted by id.
    pub fn notes(&self) -> &[Arc<NoteHandle>] {
        &self.notes
    }

    /// Returns a file's path relative to the current directory, from its path in the store.
    pub fn shown(&self, path: &str) -> String {
        shown_in(&self.shown_path, path)
    }
}
