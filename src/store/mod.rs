//! The store: the only reader and writer of files.

mod attachments;
mod built_index;
mod change;
mod collections;
mod commit_authors;
mod external_dir;
mod fs;
pub(crate) mod git;
mod in_progress_notes;
mod index;
mod journal_day;
mod linked_files;
mod load;
mod lock;
mod names;
mod note_fields;
mod note_file;
mod note_handle;
mod note_history;
mod note_idx;
mod open_collection;
mod open_for_write;
mod other_collections;
mod overlay;
mod project_files;
mod redo_log;
mod shown_notes;
mod shown_record;
mod text_index_builder;
mod unfreed;
mod unreadable_and_leftover;
mod user_file;
mod watch;

use collections::discover::open_root;
use collections::layout::TEMPLATES;
use collections::trusted_stores;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

pub use change::Change;
pub(crate) use change::diff;
pub use collections::collection::{Authority, Collection, CollectionReason, PROJECT};
pub use collections::config::{BlocksSetting, Config, ContextConfig, UnknownKey};
pub use collections::discover::{CollectionScope, Location, expect_inside, find_root, project_root};
pub(crate) use collections::discover::{normalize_lexically, relative_to, shown_in};
use collections::find::{FoundCollections, find_collections, find_target_with_names};
pub use collections::find::{SettingFinding, user_store};
pub use collections::init::{InitPlan, InitResult, MadeFile, init};
pub use collections::suggest::{SuggestedSource, suggested_sources};
use collections::user_settings::UserSettings;
pub use collections::user_settings::UserTrust;
pub use external_dir::{ExternalDir, ExternalFile};
use fs::dir_handle::DirHandle;
pub use fs::file_tree::FileTree;
#[cfg(test)]
pub(crate) use fs::in_progress_writes::QUIET_IN_TESTS;
pub use fs::skipped::{IgnoredEntry, is_skipped};
pub(crate) use fs::{atomic_write, files};
pub use git::history::{Blob, BlobChange, FileCommit, GitHistory};
pub use git::revision::CommitName;
pub use git::source_text::{SourceText, words};
use in_progress_notes::InProgressNotes;
use index::location::IndexLocation;
pub use index::record_fields::{IdentityFields, LinkFields, ListFields, RelationFields};
pub(crate) use index::source_scan::is_ignored_by_git;
#[cfg(test)]
pub(crate) use lock::HELD;
pub use lock::Lock;
pub(crate) use lock::{FolderLock, LockState, lock_folder};
pub use names::similar_own_fields;
pub(crate) use names::{naming_collection, position_of};
pub use note_fields::OWN_FIELDS;
pub use note_handle::NoteHandle;
pub use note_history::{CommitInfo, NoteVersion};
pub use note_idx::{NoteIdx, NoteSet};
use open_collection::CollectionReader;
pub use open_for_write::{Dependence, Planned};
pub use project_files::{MAX_SOURCE, ProjectFiles};
pub use shown_notes::ShownNotes;
pub use shown_record::{ShownRecord, hash_of_part};
pub use text_index_builder::{NOTES_PER_BATCH, TextIndex, TextIndexBuilder, TextIndexWorker};
pub use user_file::{StateFile, export, export_folder, export_stream, read_user_file};
pub use watch::{ChangeWatcher, fingerprint};

use crate::env::Today;
use crate::error::{Error, ErrorKind};
use crate::note::{Diagnostic, Note, NoteId};
use crate::timings;
use crate::warnings;

/// The greatest length of a template that is read, in bytes: a parser takes many times as much memory.
const MAX_TEMPLATE: u64 = 256 * 1024;

/// The most ids or paths that an error lists.
const MAX_CANDIDATES: usize = 10;

/// An open store with the collections that are read with it: their notes, sorted by collection and id.
#[derive(Debug)]
pub struct Store {
    /// The store's path relative to the current directory, ending in `/`.
    pub shown_path: String,
    /// The store's config.toml.
    pub config: Config,
    /// The day that counts as today.
    pub today: Today,
    /// The files that paths lead to.
    files: FileTree,
    settings: Option<PathBuf>,
    cache: Option<PathBuf>,
    current_dir: PathBuf,
    notes: Vec<Arc<NoteHandle>>,
    /// The collections, at least one.
    collections: Vec<CollectionReader>,
    /// The settings without effect.
    setting_findings: Vec<SettingFinding>,
    /// The collections that could not be read, each with the reason.
    failed: Vec<(String, Error)>,
    /// The location of all collections, if only the one that a command changes is open.
    target: Option<Box<Location>>,
    /// The number of files that were changed from the redo log before the notes were read.
    recovered: usize,
    /// The positions of the notes by path, computed at the first use.
    by_path: OnceLock<HashMap<String, NoteIdx>>,
    /// All collections, of a store that a command changes; `None` if they can't be read.
    all: OnceLock<Option<Box<Self>>>,
    /// Whether the process ends with the answer from this store.
    is_only_call: bool,
    /// The notes whose texts count in place of their files, by path: see [`Store::with_texts`].
    unsaved: HashMap<String, Arc<NoteHandle>>,
    /// The notes that another program may be saving, of a store that a command changes.
    in_progress: InProgressNotes,
}

/// Named numbers.
pub type Facts = Vec<(&'static str, u64)>;

/// Creates the builder of a text index.
pub type IndexBuilderFactory = fn(&Config) -> Box<dyn TextIndexBuilder>;

fn index_location<'a>(location: &'a Location, root: &'a Path, dir: &'a Arc<DirHandle>) -> IndexLocation<'a> {
    IndexLocation {
        root,
        dir,
        cache: location.cache.as_deref(),
        uses_index: !location.no_index,
        since: None,
        source: None,
    }
}

/// Returns the shown path of a store and facts about its index, which a builder rebuilds first if there is one.
///
/// # Errors
/// As [`Store::open`]; `Failure` if the index is to be rebuilt and can't be written.
pub fn index_facts(
    location: &Location,
    current_dir: &Path,
    rebuilt_with: Option<IndexBuilderFactory>,
) -> Result<(String, Facts), Error> {
    let root = find_root(location, current_dir)?;
    let dir = open_root(&location.files, &root)?;
    let builder = rebuilt_with.map(|factory| Ok::<_, Error>(factory(&Config::load(&dir)?))).transpose()?;
    let (facts, unreadable) = load::index_facts(&index_location(location, &root, &dir), builder)?;
    let shown_path = relative_to(&root, current_dir);
    let paths = unreadable.iter().map(|(path, _)| shown_in(&shown_path, path));
    unreadable_and_leftover::unreadable_warning(paths).into_iter().for_each(warnings::add);
    Ok((shown_path, facts))
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

    fn open_target_since(
        location: &Location,
        current_dir: &Path,
        builder: Option<IndexBuilderFactory>,
        since: Option<i64>,
    ) -> Result<(Self, load::RecentFiles), Error> {
        let (target, other_names) = find_target_with_names(location, current_dir)?;
        let found = FoundCollections { all: vec![target], other_names, ..FoundCollections::default() };
        let (store, recent) = Self::open_found(found, location, current_dir, builder, since)?;
        Ok((Self { target: Some(Box::new(location.clone())), ..store }, recent))
    }

    /// Opens the store again: with all its collections, or only the one that a command changes.
    fn reopen(&self, location: &Location, current_dir: &Path) -> Result<Self, Error> {
        match self.target {
            Some(_) => Self::open_target(location, current_dir, None),
            None => Self::open(location, current_dir),
        }
    }

    /// Reads the collections that were found. Returns also the files of notes that were modified since a time, with their
    /// stats from before they were read.
    fn open_found(
        found: FoundCollections,
        location: &Location,
        current_dir: &Path,
        builder: Option<IndexBuilderFactory>,
        since: Option<i64>,
    ) -> Result<(Self, load::RecentFiles), Error> {
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
            cache: location.cache.clone(),
            current_dir: current_dir.canonicalize().unwrap_or_else(|_| current_dir.to_path_buf()),
            notes: opened.notes,
            collections: opened.all,
            setting_findings,
            failed: opened.failed,
            target: None,
            recovered: 0,
            by_path: OnceLock::new(),
            all: OnceLock::new(),
            is_only_call: location.is_only_call,
            unsaved: HashMap::new(),
            in_progress: InProgressNotes::default(),
        };
        store.unreadable_warning().into_iter().for_each(warnings::add);
        store.settings_warning().into_iter().for_each(warnings::add);
        Ok((store, opened.recent))
    }

    /// Returns the text indexes. A collection that is too small for an index has none, as all of a store that was opened
    /// without a builder.
    pub fn text_indexes(&self) -> Vec<&TextIndex> {
        self.collections.iter().filter_map(|collection| collection.text_index.as_ref()).collect()
    }

    /// Reads data that was derived from exactly the notes of a collection and cached under a key; `None` if there is none.
    pub fn cached(&self, collection: usize, key: &str) -> Option<Vec<u8>> {
        self.collections.get(collection)?.sidecar.as_ref()?.read(key)
    }

    /// Computes data that is derived from the notes of a collection and caches it under one key. Returns whether it was
    /// written.
    pub fn put_cached(&self, collection: usize, key: &str, compute: impl FnOnce() -> Vec<u8>) -> bool {
        // The index may turn out to be damaged only while the data is computed.
        let compute = || Some(compute()).filter(|_| !self.is_index_corrupt());
        let sidecar = self.collections.get(collection).and_then(|collection| collection.sidecar.as_ref());
        sidecar.is_some_and(|sidecar| sidecar.write(key, compute).is_some())
    }

    /// Returns the settings that have no effect.
    pub fn setting_findings(&self) -> &[SettingFinding] {
        &self.setting_findings
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

    /// Removes the indexes that are damaged.
    pub fn discard_index(&self, location: &Location) {
        for collection in self.collections.iter().filter(|collection| collection.errors.is_index_corrupt()) {
            if let Some(dir) = &collection.dir {
                let source = collection.rules.as_ref().map(|_| collection.about.dialect);
                index::discard(&IndexLocation { source, ..index_location(location, &collection.root, dir) });
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
        let reopened = self.reopen(&without, current_dir)?;
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

    fn from_shared(shown_path: String, config: Config, notes: Vec<Arc<NoteHandle>>) -> Self {
        let (notes, _) = sorted(notes, None);
        let collection = CollectionReader { notes: 0..notes.len(), ..CollectionReader::default() };
        Self {
            shown_path,
            config,
            today: Today::default(),
            files: FileTree::default(),
            settings: None,
            cache: None,
            current_dir: PathBuf::new(),
            notes,
            collections: vec![collection],
            setting_findings: Vec::new(),
            failed: Vec::new(),
            target: None,
            recovered: 0,
            by_path: OnceLock::new(),
            all: OnceLock::new(),
            is_only_call: false,
            unsaved: HashMap::new(),
            in_progress: InProgressNotes::default(),
        }
    }

    /// Whether the user trusts what the notes and config of each collection state about reliability. A source is trusted as
    /// the first store if it lies in the same repository, or if the user names it. A store in memory is trusted.
    pub fn trusted_collections(&self) -> Vec<bool> {
        let settings = self.settings.as_deref();
        let is_trusted = |one: &CollectionReader| {
            !one.about.is_source()
                && (one.root.as_os_str().is_empty() || trusted_stores::is_trusted(&one.root, settings))
        };
        let stores: Vec<bool> = self.collections.iter().map(is_trusted).collect();
        let is_first_trusted = stores.first() == Some(&true);
        let trusted = self.collections.iter().zip(&stores).map(|(one, is_trusted)| match one.about.reason {
            CollectionReason::UserSettings => true,
            _ if one.about.is_source() => is_first_trusted && one.about.is_in_repository,
            _ => *is_trusted,
        });
        trusted.collect()
    }

    /// Returns what the user trusts in every store.
    ///
    /// # Errors
    /// `Store` if the user's settings are not valid.
    pub fn user_trust(&self) -> Result<UserTrust, Error> {
        Ok(UserSettings::load(self.settings.as_deref())?.trust)
    }

    /// Returns all notes, sorted by id.
    pub fn notes(&self) -> &[Arc<NoteHandle>] {
        &self.notes
    }

    /// Moves the items whose notes are retired behind the others; both keep their order.
    pub fn retired_last<T>(&self, all: impl IntoIterator<Item = T>, note_of: impl Fn(&T) -> NoteIdx) -> Vec<T> {
        let (retired, mut sorted): (Vec<T>, Vec<T>) = all.into_iter().partition(|item| self.is_retired(note_of(item)));
        sorted.extend(retired);
        sorted
    }

    /// Whether the note at a position is retired.
    pub fn is_retired(&self, position: NoteIdx) -> bool {
        self.notes()[position].retired(|| self.today.day()).is_some()
    }

    /// Whether `context`, `prime` and hooks show a note only if the request names it: it was turned down, or it is a draft
    /// and the store hides those.
    pub fn is_withheld(&self, position: NoteIdx) -> bool {
        self.notes()[position].is_turned_down() || self.is_hidden_draft(position)
    }

    /// Whether a note is a draft, and its store or, in collections with the same authority, the first store hides those.
    pub fn is_hidden_draft(&self, position: NoteIdx) -> bool {
        let collection = self.collection_of(position);
        let is_of_first = collection.authority == self.first().about.authority;
        let hides = collection.hides_drafts || (is_of_first && self.config.review.hides_drafts());
        hides && self.notes()[position].is_draft()
    }

    /// Whether answers mark a note as a draft.
    pub fn marks_as_draft(&self, note: &NoteHandle) -> bool {
        self.config.review.marks_drafts() && note.is_draft()
    }

    /// Returns the ids of the notes that hooks have shown; `None` if that is not known.
    pub fn shown_notes(&self) -> Option<BTreeSet<String>> {
        ShownNotes::of_store(self.cache.as_deref()?, &self.first().root).read()
    }

    /// Returns a file's path relative to the current directory, from its path in the store.
    pub fn shown(&self, path: &str) -> String {
        shown_in(&self.shown_path, path)
    }

    /// Returns the number of files that were changed from the redo log when the store was opened to write.
    pub fn recovered(&self) -> usize {
        self.recovered
    }

    /// Returns the directory that shown paths are relative to.
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// Reads the template for new notes of a type; `None` if there is none.
    ///
    /// # Errors
    /// `Failure` if it can't be read.
    pub fn template(&self, kind: &str) -> Result<Option<String>, Error> {
        if self.is_source() || NoteId::parse(kind).is_none() {
            return Ok(None);
        }
        let path = format!("{TEMPLATES}/{kind}.md");
        let Some(bytes) = self.file_of(&path, MAX_TEMPLATE)? else { return Ok(None) };
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|_| Error::new(ErrorKind::Store, format!("{} is not UTF-8", self.shown(&path))))
    }
}

/// Compares notes of one collection by id, then by path.
fn in_order(a: &NoteHandle, b: &NoteHandle) -> Ordering {
    (&a.id, &a.path).cmp(&(&b.id, &b.path))
}

/// Sorts the notes of one collection by id, each with an id of its own, and changes the positions of a text index to match.
fn sorted(
    mut notes: Vec<Arc<NoteHandle>>,
    mut text_index: Option<TextIndex>,
) -> (Vec<Arc<NoteHandle>>, Option<TextIndex>) {
    let mut order: Vec<usize> = (0..notes.len()).collect();
    if !notes.is_sorted_by(|a, b| in_order(a, b).is_le()) {
        order.par_sort_by(|a, b| in_order(&notes[*a], &notes[*b]));
    }
    let mut sorted: Vec<Arc<NoteHandle>> = order.iter().map(|position| Arc::clone(&notes[*position])).collect();
    // One may get another id, which takes an exclusive reference.
    notes.clear();
    if disambiguate_ids(&mut sorted) {
        let mut by_id: Vec<usize> = (0..sorted.len()).collect();
        by_id.sort_by(|a, b| sorted[*a].id.cmp(&sorted[*b].id));
        sorted = by_id.iter().map(|position| Arc::clone(&sorted[*position])).collect();
        order = by_id.iter().map(|position| order[*position]).collect();
    }
    if let Some(text_index) = &mut text_index {
        let mut sorted_idx = vec![NoteIdx::default(); order.len()];
        NoteIdx::all(order.len()).zip(order).for_each(|(note, before)| sorted_idx[before] = note);
        text_index.notes.iter_mut().flatten().for_each(|note| *note = sorted_idx[note.index()]);
    }
    (sorted, text_index)
}

/// Gives each note but one of those that share an id, which are adjacent, an id of its own, and returns whether there were
/// any. The first note whose frontmatter names the id keeps it. The others with that field get the numbers from 2, which
/// depend on each other; those whose paths give the id get a hash of the path, so that no other file changes their ids.
fn disambiguate_ids(notes: &mut [Arc<NoteHandle>]) -> bool {
    let mut is_any = false;
    for same in notes.chunk_by_mut(|a, b| a.id == b.id).filter(|same| same.len() > 1) {
        is_any = true;
        let keeper = same.iter().position(|note| note.names_its_id()).unwrap_or_default();
        let message = format!("{} has the id `{}` too", same[keeper].path, same[keeper].id);
        let (mut ordinal, mut hashed) = (1, HashSet::new());
        for (_, note) in same.iter_mut().enumerate().filter(|(position, _)| *position != keeper) {
            // Paths that are not UTF-8 may be shown alike and then have the same hash.
            let by_path = Some(note.id.disambiguated(&note.path)).filter(|_| !note.names_its_id());
            let id = by_path.filter(|id| hashed.insert(id.clone())).unwrap_or_else(|| {
                ordinal += 1;
                note.id.duplicate(ordinal)
            });
            Arc::make_mut(note).set_duplicate_id(id, Diagnostic::new("duplicate-id", message.clone()));
        }
    }
    is_any
}
