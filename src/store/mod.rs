//! The store: the only reader and writer of files.

pub(crate) mod atomic_write;
mod attachments;
mod change;
mod claim_trust;
mod commit_authors;
mod config;
mod discover;
mod external_dir;
pub(crate) mod files;
pub(crate) mod git;
mod git_history;
mod git_index;
mod in_progress_writes;
mod index;
mod init;
mod load;
mod lock;
mod names;
mod note_file;
mod note_handle;
mod note_idx;
mod open_for_write;
mod project_files;
mod read_errors;
mod redo_log;
mod rename_noreplace;
mod shown_notes;
mod shown_record;
mod source_text;
mod text_index_builder;
mod unreadable_and_leftover;
mod user_file;
mod user_trust;
mod walk;
mod watch;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

pub use change::Change;
pub(crate) use change::diff;
pub use config::{BlocksSetting, Config, ContextConfig, UnknownKey};
pub(crate) use discover::relative_to;
pub use discover::{Location, find_root, project_root};
pub use external_dir::{ExternalDir, ExternalFile};
pub use git_history::{Blob, BlobChange, FileCommit, GitHistory};
use index::location::IndexLocation;
pub use index::record_fields::{IdentityFields, LinkFields, ListFields, RelationFields};
use index::sidecar::SidecarFile;
pub use init::{InitPlan, InitResult, MadeFile, init};
pub use lock::Lock;
pub(crate) use lock::{FolderLock, lock_folder};
pub use note_handle::NoteHandle;
pub use note_idx::NoteIdx;
pub use project_files::{MAX_SOURCE, ProjectFiles};
use read_errors::ReadErrors;
pub use shown_notes::ShownNotes;
pub use shown_record::{ShownRecord, hash_of_part};
pub use source_text::{SourceText, words};
pub use text_index_builder::{TextIndex, TextIndexBuilder, TextIndexWorker};
pub use user_file::{export, export_folder, read_user_file};
pub use user_trust::UserTrust;
use walk::dir_handle::DirHandle;
pub use watch::{ChangeWatcher, fingerprint};

use crate::env::Today;
use crate::error::{Error, ErrorKind};
pub use crate::note::NOTE_FOLDERS;
use crate::note::{Diagnostic, Note, NoteId};
use crate::timings;
use crate::warnings;

/// A file or folder of the store that is not read: its path in the store, and the reason.
pub type IgnoredEntry = (String, &'static str);

/// The reasons for files and folders that can't be read.
const FILE_UNREADABLE: &str = "the file can't be read";
const FOLDER_UNREADABLE: &str = "the folder can't be read, so its notes are missing";

const PENDING_FILE: &str = ".qipu-pending";

/// The greatest lengths of a config and a template that are read, in bytes: a parser takes many times as much memory.
const MAX_CONFIG: u64 = 256 * 1024;
const MAX_TEMPLATE: u64 = 256 * 1024;

/// The most ids or paths that an error lists.
const MAX_CANDIDATES: usize = 10;

/// An open store: its notes, sorted by id.
#[derive(Debug, Default)]
pub struct Store {
    /// The store's path relative to the current directory, ending in `/`.
    pub shown_path: String,
    /// The store's config.toml.
    pub config: Config,
    /// The day that counts as today.
    pub today: Today,
    /// The store's folder; empty for a store that is only in memory.
    root: PathBuf,
    /// The store's folder, open; everything in the store is read through it.
    dir: Option<Arc<DirHandle>>,
    settings: Option<PathBuf>,
    cache: Option<PathBuf>,
    current_dir: PathBuf,
    notes: Vec<Arc<NoteHandle>>,
    /// The files and folders among the notes that could not be read, sorted by path.
    unreadable: Vec<IgnoredEntry>,
    /// The number of files that were changed from the redo log before the notes were read.
    recovered: usize,
    /// The positions of the notes by path, computed at the first use.
    by_path: OnceLock<HashMap<String, NoteIdx>>,
    /// The text index, with positions in `notes`.
    text_index: Option<TextIndex>,
    errors: Arc<ReadErrors>,
    /// The cache for data that is derived from exactly these notes.
    sidecar: Option<SidecarFile>,
}

/// Named numbers.
pub type Facts = Vec<(&'static str, u64)>;

/// Creates the builder of a text index.
pub type IndexBuilderFactory = fn(&Config) -> Box<dyn TextIndexBuilder>;

fn index_location<'a>(location: &'a Location, root: &'a Path, dir: &'a Arc<DirHandle>) -> IndexLocation<'a> {
    IndexLocation { root, dir, cache: location.cache.as_deref(), uses_index: !location.no_index, since: None }
}

fn open_root(root: &Path) -> Result<Arc<DirHandle>, Error> {
    let opened = DirHandle::new(root).map(Arc::new);
    opened.map_err(|error| Error::new(ErrorKind::Store, format!("the store can't be read: {error}")))
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
    let dir = open_root(&root)?;
    let builder = rebuilt_with.map(|factory| Ok::<_, Error>(factory(&Config::load(&dir)?))).transpose()?;
    let facts = load::index_facts(&index_location(location, &root, &dir), builder)?;
    Ok((relative_to(&root, current_dir), facts))
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
        Ok(Self::open_since(location, current_dir, builder, None)?.0)
    }

    /// Opens the store. Returns also the files of notes that were modified since a time, with their stats from
    /// before they were read.
    fn open_since(
        location: &Location,
        current_dir: &Path,
        builder: Option<IndexBuilderFactory>,
        since: Option<i64>,
    ) -> Result<(Self, load::RecentFiles), Error> {
        let root = find_root(location, current_dir)?;
        let dir = open_root(&root)?;
        let config = Config::load(&dir)?;
        let builder = builder.map(|factory| factory(&config));
        let loaded = load::notes(&IndexLocation { since, ..index_location(location, &root, &dir) }, builder)?;
        let load::Loaded { notes, text_index, errors, sidecar, unreadable, recent, .. } = loaded;
        let shown_path = relative_to(&root, current_dir);
        let current_dir = current_dir.canonicalize().unwrap_or_else(|_| current_dir.to_path_buf());
        let store = Self::from_shared(shown_path, config, notes, text_index);
        timings::end("notes sorted");
        let (dir, settings, cache) = (Some(dir), location.settings.clone(), location.cache.clone());
        let today = location.today;
        let store = Self { root, dir, settings, cache, current_dir, today, errors, sidecar, unreadable, ..store };
        store.unreadable_warning().into_iter().for_each(warnings::add);
        Ok((store, recent))
    }

    /// Returns the text index. `None` if the store is too small for an index, or was opened without a builder.
    pub fn text_index(&self) -> Option<&TextIndex> {
        self.text_index.as_ref()
    }

    /// Reads data that was derived from exactly these notes and cached under a key; `None` if there is none.
    pub fn cached(&self, key: &str) -> Option<Vec<u8>> {
        self.sidecar.as_ref()?.read(key)
    }

    /// Computes data that is derived from these notes and caches it under one key. Returns whether it was written.
    pub fn put_cached(&self, key: &str, compute: impl FnOnce() -> Vec<u8>) -> bool {
        // The index may turn out to be damaged only while the data is computed.
        let compute = || Some(compute()).filter(|_| !self.is_index_corrupt());
        self.sidecar.as_ref().is_some_and(|sidecar| sidecar.write(key, compute).is_some())
    }

    /// Removes the index of the store, since it is damaged.
    pub fn discard_index(&self, location: &Location) {
        if let Some(dir) = &self.dir {
            index::discard(&index_location(location, &self.root, dir));
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
        let store = Self { recovered: self.recovered, ..Self::open(&without, current_dir)? };
        let result = work(&store);
        store.expect_read_notes()?;
        Ok((store, result))
    }

    /// Whether a part of the index could not be read, so that answers may be wrong.
    pub fn is_index_corrupt(&self) -> bool {
        self.errors.is_index_corrupt()
    }

    /// Expects that every note whose file was needed could be read.
    ///
    /// # Errors
    /// `Store`, naming the first file that could not be read.
    pub fn expect_read_notes(&self) -> Result<(), Error> {
        self.errors.note().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Makes a store in memory of parsed notes, in any order.
    pub fn from_notes(shown_path: String, config: Config, notes: Vec<Note>) -> Self {
        Self::from_shared(shown_path, config, notes.into_iter().map(|note| Arc::new(note.into())).collect(), None)
    }

    fn from_shared(
        shown_path: String,
        config: Config,
        mut notes: Vec<Arc<NoteHandle>>,
        mut text_index: Option<TextIndex>,
    ) -> Self {
        let mut order: Vec<usize> = (0..notes.len()).collect();
        order.par_sort_by(|a, b| {
            let (a, b) = (&notes[*a], &notes[*b]);
            (&a.id, &a.path).cmp(&(&b.id, &b.path))
        });
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
            let mut sorted_position = vec![0; order.len()];
            order.iter().enumerate().for_each(|(position, before)| sorted_position[*before] = position);
            text_index.notes.iter_mut().flatten().for_each(|position| *position = sorted_position[*position]);
        }
        Self { shown_path, config, notes: sorted, text_index, ..Self::default() }
    }

    /// Whether the user trusts what notes and config state about reliability. A store in memory is trusted.
    pub fn is_trusted(&self) -> bool {
        self.root.as_os_str().is_empty() || claim_trust::is_trusted(&self.root, self.settings.as_deref())
    }

    /// Returns what the user trusts in every store.
    ///
    /// # Errors
    /// `Store` if the user's settings are not valid.
    pub fn user_trust(&self) -> Result<UserTrust, Error> {
        UserTrust::load(self.settings.as_deref())
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

    /// Whether a note is a draft and the store hides those.
    pub fn is_hidden_draft(&self, position: NoteIdx) -> bool {
        self.config.review.hides_drafts() && self.notes()[position].is_draft()
    }

    /// Returns the ids of the notes that hooks have shown; `None` if that is not known.
    pub fn shown_notes(&self) -> Option<BTreeSet<String>> {
        ShownNotes::of_store(self.cache.as_deref()?, &self.root).read()
    }

    /// Returns a file's path relative to the current directory, from its path in the store.
    pub fn shown(&self, path: &str) -> String {
        format!("{}{path}", self.shown_path.strip_prefix("./").unwrap_or(&self.shown_path))
    }

    /// Whether the path of a link of a note is in the project of the store. Does not access the disk.
    pub fn is_in_project(&self, note: &NoteHandle, link: &str) -> bool {
        let file = self.root.join(&note.path);
        let target = discover::normalize_lexically(&file.parent().unwrap_or(&file).join(link));
        target.starts_with(project_root(self.root.parent().unwrap_or(&self.root)))
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
        if NoteId::parse(kind).is_none() {
            return Ok(None);
        }
        let path = format!("templates/{kind}.md");
        let Some(bytes) = self.file_of(&path, MAX_TEMPLATE)? else { return Ok(None) };
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|_| Error::new(ErrorKind::Store, format!("{} is not UTF-8", self.shown(&path))))
    }
}

/// Gives each note but one of those that share an id, which are adjacent, an id of its own, and returns whether there were
/// any. The first note whose frontmatter names the id keeps it. The others with that field get the numbers from 2, which
/// depend on each other; those whose paths give the id get a hash of the path, so that no other file changes their ids.
fn disambiguate_ids(notes: &mut [Arc<NoteHandle>]) -> bool {
    let mut is_any = false;
    for same in notes.chunk_by_mut(|a, b| a.id == b.id).filter(|same| same.len() > 1) {
        is_any = true;
        let keeper = same.iter().position(|note| note.names_its_id()).unwrap_or_default();
        let (mut ordinal, mut hashed) = (1, HashSet::new());
        for (_, note) in same.iter_mut().enumerate().filter(|(position, _)| *position != keeper) {
            // Paths that are not UTF-8 may be shown alike and then have the same hash.
            let by_path = Some(note.id.disambiguated(&note.path)).filter(|_| !note.names_its_id());
            let id = by_path.filter(|id| hashed.insert(id.clone())).unwrap_or_else(|| {
                ordinal += 1;
                note.id.duplicate(ordinal)
            });
            let message = format!("another note has the id `{}`", note.id);
            Arc::make_mut(note).set_duplicate_id(id, Diagnostic::new("duplicate-id", message));
        }
    }
    is_any
}
