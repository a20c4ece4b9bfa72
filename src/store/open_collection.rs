//! Opens collections and puts their notes into one list: by collection, then by id.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::index::location::IndexLocation;
use super::index::sidecar::SidecarFile;
use super::linked_files::FilesByName;
use super::load::{self, Loaded, RecentFiles};
use super::note_handle::NoteHandle;
use super::text_index_builder::TextIndex;
use crate::error::Error;
use crate::note::{Dialect, normalize_path};
use crate::store::collections::collection::{Authority, Collection, CollectionReason, PROJECT};
use crate::store::collections::discover::{CollectionScope, relative_to};
use crate::store::collections::find::{FoundCollection, FoundCollections};
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::read_errors::ReadErrors;
use crate::store::fs::skipped::IgnoredEntry;
use crate::store::index::source_scan::SourceRules;
use crate::store::{IndexBuilderFactory, Location, NoteIdx};

/// A collection of an open store.
#[derive(Debug)]
pub(super) struct CollectionReader {
    pub(super) about: Arc<Collection>,
    /// Its folder; empty for a store that is only in memory.
    pub(super) root: PathBuf,
    /// The folder, open; everything in it is read through it.
    pub(super) dir: Option<Arc<DirHandle>>,
    /// The rules of a source.
    pub(super) rules: Option<Arc<SourceRules>>,
    /// The positions of its notes.
    pub(super) notes: Range<usize>,
    /// The files and folders among its notes that could not be read, sorted by path.
    pub(super) unreadable: Vec<IgnoredEntry>,
    /// The text index, with positions in the list of all notes.
    pub(super) text_index: Option<TextIndex>,
    pub(super) errors: Arc<ReadErrors>,
    /// The cache for data that is derived from exactly these notes.
    pub(super) sidecar: Option<SidecarFile>,
    /// The cache for the merged terms of several text indexes, this one first.
    pub(super) terms: Option<SidecarFile>,
    /// The files of an Obsidian vault, listed when a link names one.
    pub(super) files_by_name: OnceLock<FilesByName>,
}

impl Default for CollectionReader {
    /// Returns the collection of a store in memory, without notes.
    fn default() -> Self {
        let about = Collection {
            name: PROJECT.to_owned(),
            ordinal: 0,
            prefix: String::new(),
            way_to_first: String::new(),
            shown_path: String::new(),
            dialect: Dialect::Qipu,
            is_writable: true,
            reason: CollectionReason::Nearest,
            authority: Authority::Repository,
            hides_drafts: false,
            is_in_repository: true,
            other_names: Arc::default(),
        };
        Self {
            about: Arc::new(about),
            root: PathBuf::new(),
            dir: None,
            rules: None,
            notes: 0..0,
            unreadable: Vec::new(),
            text_index: None,
            errors: Arc::default(),
            sidecar: None,
            terms: None,
            files_by_name: OnceLock::new(),
        }
    }
}

/// The notes of all collections, and what was read with them.
#[derive(Debug, Default)]
pub(super) struct OpenCollections {
    pub(super) notes: Vec<Arc<NoteHandle>>,
    pub(super) all: Vec<CollectionReader>,
    id_hashes: Vec<u64>,
    /// The files of notes that were modified since a time, with their stats from before they were read.
    pub(super) recent: RecentFiles,
    /// The names of collections that could not be read, with the reason.
    pub(super) failed: Vec<(String, Error)>,
}

/// The notes of one collection, sorted, before they are put behind those of others.
#[derive(Default)]
pub(super) struct OpenedNotes {
    pub(super) notes: Vec<Arc<NoteHandle>>,
    /// The hash of the id of each note, by which few are compared with those of other collections.
    pub(super) id_hashes: Vec<u64>,
    pub(super) collection: CollectionReader,
    pub(super) recent: RecentFiles,
}

/// Reads collections, the first one's notes first.
///
/// # Errors
/// As [`load::notes`] for the first collection; others that can't be read are listed.
pub(super) fn open(
    found: FoundCollections,
    location: &Location,
    current_dir: &Path,
    builder: Option<IndexBuilderFactory>,
    since: Option<i64>,
) -> Result<OpenCollections, Error> {
    let FoundCollections { all: found, other_names, .. } = found;
    let Some(first) = found.first().map(|first| first.root.clone()) else { return Ok(OpenCollections::default()) };
    let repository = location.files.repository_root(&first);
    let hasher = RandomState::default();
    let hash = |note: &Arc<NoteHandle>| hasher.hash_one(note.id.as_str());
    let has_several = found.len() > 1;
    let open = |(ordinal, found): (usize, FoundCollection)| {
        let about = about(&found, ordinal, &first, repository, current_dir);
        let about = Arc::new(Collection { other_names: Arc::clone(&other_names), ..about });
        let opened = open_one(found, &about, location, builder, since).map_err(|error| (about, error))?;
        let id_hashes = if has_several { opened.notes.iter().map(hash).collect() } else { Vec::new() };
        Ok(OpenedNotes { id_hashes, ..opened })
    };
    let opened: Vec<_> = match found.len() {
        1 => found.into_iter().enumerate().map(open).collect(),
        _ => found.into_par_iter().enumerate().map(open).collect(),
    };
    let mut all = OpenCollections::default();
    for opened in opened {
        match opened {
            Ok(opened) => all.add(opened),
            Err((about, error)) if about.ordinal == 0 => return Err(error),
            Err((about, error)) => {
                all.failed.push((about.name.clone(), error));
                // The collections behind it keep their positions.
                let collection = CollectionReader { about, ..CollectionReader::default() };
                all.add(OpenedNotes { collection, ..OpenedNotes::default() });
            }
        }
    }
    all.qualify_ids();
    Ok(all)
}

fn open_one(
    found: FoundCollection,
    about: &Arc<Collection>,
    location: &Location,
    builder: Option<IndexBuilderFactory>,
    since: Option<i64>,
) -> Result<OpenedNotes, Error> {
    let FoundCollection { root, dir, dialect, config, rules, .. } = found;
    let index = IndexLocation {
        root: &root,
        dir: &dir,
        cache: location.cache.as_deref(),
        uses_index: !location.no_index,
        since,
        source: rules.as_ref().map(|_| dialect),
    };
    let Loaded { notes, text_index, errors, sidecar, terms, unreadable, recent, .. } =
        load::notes(&index, rules.as_deref(), builder.map(|factory| factory(&config)))?;
    let (mut notes, text_index) = super::sorted(notes, text_index);
    let mut unreadable = unreadable;
    if !about.is_project() {
        for note in &mut notes {
            Arc::make_mut(note).set_collection(about);
        }
        unreadable.iter_mut().for_each(|(path, _)| *path = normalize_path(&about.prefix, path).join("/"));
    }
    let range = 0..notes.len();
    // The file keeps the terms of all collections; those of a part would only replace them.
    let terms = terms.filter(|_| location.scope == CollectionScope::All);
    let (about, dir) = (Arc::clone(about), Some(dir));
    let collection = CollectionReader {
        about,
        root,
        dir,
        rules,
        notes: range,
        unreadable,
        text_index,
        errors,
        sidecar,
        terms,
        files_by_name: OnceLock::new(),
    };
    Ok(OpenedNotes { notes, collection, recent, ..OpenedNotes::default() })
}

fn about(
    found: &FoundCollection,
    ordinal: usize,
    first: &Path,
    repository: Option<&Path>,
    current_dir: &Path,
) -> Collection {
    let prefix = relative_to(&found.root, first);
    let way_to_first = match first.file_name() {
        Some(name) if found.root == first => format!("../{}/", name.to_string_lossy()),
        _ => relative_to(first, &found.root),
    };
    Collection {
        name: found.name.clone(),
        ordinal,
        prefix: if found.root == first { String::new() } else { prefix },
        way_to_first,
        shown_path: relative_to(&found.root, current_dir),
        dialect: found.dialect,
        is_writable: found.is_writable,
        reason: found.reason.clone(),
        authority: found.authority,
        hides_drafts: found.rules.is_none() && found.config.review.hides_drafts(),
        is_in_repository: ordinal == 0 || repository.is_some_and(|repository| found.root.starts_with(repository)),
        other_names: Arc::default(),
    }
}

impl OpenCollections {
    /// Puts the notes of a collection behind the others.
    pub(super) fn add(&mut self, opened: OpenedNotes) {
        let OpenedNotes { notes, id_hashes, mut collection, recent } = opened;
        self.id_hashes.extend(id_hashes);
        let first = self.notes.len();
        collection.notes = first..first + notes.len();
        if let Some(text_index) = &mut collection.text_index {
            text_index.notes.iter_mut().flatten().for_each(|note| *note = NoteIdx::new(note.index() + first));
        }
        if first == 0 {
            self.notes = notes
        } else {
            self.notes.extend(notes)
        }
        self.all.push(collection);
        self.recent.extend(recent);
    }

    /// Puts the name of its collection before each id that an earlier collection has.
    pub(super) fn qualify_ids(&mut self) {
        let hashes = std::mem::take(&mut self.id_hashes);
        let mut known: HashSet<u64, RandomState> =
            HashSet::with_capacity_and_hasher(hashes.len(), RandomState::default());
        // Reading the ids of many notes waits for memory: few stores have any id twice.
        if hashes.into_iter().all(|hash| known.insert(hash)) {
            return;
        }
        let mut taken: Vec<(usize, String)> = Vec::new();
        let mut known: HashSet<&str, RandomState> =
            HashSet::with_capacity_and_hasher(self.notes.len(), RandomState::default());
        for collection in &self.all {
            let notes = self.notes.get(collection.notes.clone()).unwrap_or_default();
            let repeated = (collection.notes.start..).zip(notes).filter(|(_, note)| known.contains(note.id.as_str()));
            taken.extend(repeated.map(|(position, _)| (position, collection.about.name.clone())));
            known.extend(notes.iter().map(|note| note.id.as_str()));
        }
        for (position, name) in taken {
            let note = Arc::make_mut(&mut self.notes[position]);
            note.id = note.id.qualified(&name);
        }
    }
}

impl super::Store {
    /// Returns the collections, in the order of their notes.
    pub fn collections(&self) -> impl ExactSizeIterator<Item = &Arc<Collection>> {
        self.collections.iter().map(|collection| &collection.about)
    }

    /// Whether there are several collections.
    pub fn has_several_collections(&self) -> bool {
        self.collections.len() > 1
    }

    /// Returns how the files of the first collection are read.
    pub fn dialect(&self) -> Dialect {
        self.first().about.dialect
    }

    /// Returns the name of the first collection.
    pub fn first_name(&self) -> &str {
        &self.first().about.name
    }

    /// Expects that the first collection is a store.
    ///
    /// # Errors
    /// `Usage` if it is a source.
    pub fn expect_store(&self) -> Result<(), Error> {
        if !self.is_source() {
            return Ok(());
        }
        let message = format!("`{}` is a source, and this command changes only stores", self.first_name());
        Err(Error::usage(message).hint("name a store with --to, see `qipu where`"))
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

    /// Returns the key of the merged terms of the text indexes, and where they are cached; `None` unless several are stored.
    fn terms_cache(&self) -> Option<(&SidecarFile, String)> {
        let fingerprints: Option<Vec<_>> = self.text_indexes().iter().map(|index| index.fingerprint).collect();
        let fingerprints = fingerprints.filter(|all| all.len() > 1)?;
        let first = self.collections.iter().find(|collection| collection.text_index.is_some())?;
        Some((first.terms.as_ref()?, format!("terms 2 {fingerprints:?}")))
    }

    /// Reads the merged terms of exactly these text indexes; `None` if they are not cached.
    pub fn cached_terms(&self) -> Option<Vec<u8>> {
        let (cache, key) = self.terms_cache()?;
        cache.read(&key)
    }

    /// Caches the merged terms of these text indexes.
    pub fn put_cached_terms(&self, terms: &[u8]) {
        if let Some((cache, key)) = self.terms_cache() {
            // Without the cache, the next call merges them again.
            let _ = cache.write(&key, || Some(terms.to_vec()).filter(|_| !self.is_index_corrupt()));
        }
    }

    /// Returns the notes of each collection.
    pub fn notes_by_collection(&self) -> Vec<&[Arc<NoteHandle>]> {
        self.collections.iter().map(|one| self.notes.get(one.notes.clone()).unwrap_or_default()).collect()
    }

    /// Returns the collection that a path belongs to, and the path in it. The path is relative to the first collection.
    pub(super) fn locate<'p>(&self, path: &'p str) -> (&CollectionReader, &'p str) {
        let prefix_of = |collection: &&CollectionReader| path.starts_with(&collection.about.prefix);
        let longest = self.collections.iter().filter(prefix_of).max_by_key(|one| one.about.prefix.len());
        let collection = longest.unwrap_or(&self.collections[0]);
        (collection, collection.about.local_path(path))
    }

    pub(super) fn first(&self) -> &CollectionReader {
        debug_assert!(!self.collections.is_empty(), "a store has a collection");
        &self.collections[0]
    }

    /// Describes the collections that could not be read; used as warnings.
    pub(super) fn failed_warnings(failed: &[(String, Error)]) -> impl Iterator<Item = String> {
        failed.iter().map(|(name, error)| format!("the collection `{name}` is not read: {}", error.message))
    }
}
