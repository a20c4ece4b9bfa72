//! The store: the only reader and writer of files.

mod attachments;
mod change;
mod config;
mod discover;
mod export;
mod external_dir;
pub(crate) mod files;
pub(crate) mod git;
mod index;
mod init;
mod load;
mod lock;
mod near;
mod note_file;
mod note_handle;
mod racy;
mod read_errors;
mod redo_log;
mod rename;
mod trusted;
mod walk;
mod watch;
mod write;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

pub use change::Change;
pub(crate) use change::diff;
pub use config::{BlocksSetting, Config, ContextConfig, UnknownKey};
pub(crate) use discover::relative_to;
pub use discover::{Location, find_root, project_root};
pub use export::{export, import};
pub use external_dir::{ExternalDir, ExternalFile, expect_apart};
use index::location::IndexLocation;
pub use index::records::{Identity, LinkFields, ListFields, Relations};
use index::sidecar::SidecarFile;
pub use init::{InitPlan, InitResult, MadeFile, init};
pub use lock::{FolderLock, Lock};
pub use note_handle::NoteHandle;
use read_errors::ReadErrors;
use walk::dir_handle::{DirHandle, FileType};
pub use watch::{ChangeWatcher, fingerprint};

use crate::env::Today;
use crate::error::{Error, ErrorKind};
use crate::index_builder::{IndexBuilder, TextIndex};
pub use crate::note::NOTE_FOLDERS;
use crate::note::{Diagnostic, Note, NoteId};
use crate::timings;
use crate::warnings;

/// A file or folder of the store that is not read: its path in the store, and the reason.
pub type IgnoredEntry = (String, &'static str);

/// The reasons for files and folders that can't be read.
const FILE_UNREADABLE: &str = "the file can't be read";
const FOLDER_UNREADABLE: &str = "the folder can't be read, so its notes are missing";

/// The name of the redo log.
const PENDING_FILE: &str = ".qipu-pending";

/// The greatest lengths of a config and a template that are read, in bytes: a parser takes many times as much memory.
const MAX_CONFIG: u64 = 256 * 1024;
const MAX_TEMPLATE: u64 = 256 * 1024;

/// The prefix of ids that qipu makes; a user may omit it.
const ID_PREFIX: &str = "qp-";

/// The most ids or paths that an error lists.
const MAX_CANDIDATES: usize = 10;

/// An open store: its notes, sorted by id.
#[derive(Debug)]
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
    /// The user's configuration folder.
    settings: Option<PathBuf>,
    current_dir: PathBuf,
    notes: Vec<Arc<NoteHandle>>,
    /// The files and folders among the notes that could not be read, sorted by path.
    unreadable: Vec<IgnoredEntry>,
    /// The number of files that were changed from the redo log before the notes were read.
    recovered: usize,
    /// The positions of the notes by path, computed at the first use.
    by_path: OnceLock<HashMap<String, usize>>,
    /// The text index, with positions in `notes`.
    text_index: Option<TextIndex>,
    errors: Arc<ReadErrors>,
    /// The cache for data that is derived from exactly these notes.
    sidecar: Option<SidecarFile>,
}

/// Removes a stale temporary file: see [`Store::stale_files`].
///
/// # Errors
/// `Failure` if it can't be removed.
pub fn remove_stale_file(path: &Path) -> Result<(), Error> {
    Ok(files::remove(path)?)
}

/// Named numbers.
pub type Facts = Vec<(&'static str, u64)>;

/// Creates the builder of a text index.
pub type IndexBuilderFactory = fn(&Config) -> Box<dyn IndexBuilder>;

fn index_location<'a>(location: &'a Location, root: &'a Path, dir: &'a Arc<DirHandle>) -> IndexLocation<'a> {
    IndexLocation { root, dir, cache: location.cache.as_deref(), uses_index: !location.no_index, since: None }
}

/// Opens the folder of a store.
fn open_root(root: &Path) -> Result<Arc<DirHandle>, Error> {
    let opened = DirHandle::new(root).map(Arc::new);
    opened.map_err(|error| Error::new(ErrorKind::Store, format!("the store can't be read: {error}")))
}

/// Returns the shown path of a store and facts about its index, which is first rebuilt with the text index of a builder if
/// there is one.
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

    /// Opens the store. Returns also the files of notes that were modified at the time `since` or later, with their stats
    /// from before they were read.
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
        let settings = location.settings.clone();
        let opened = Self { root, dir: Some(dir), settings, current_dir, today: location.today, ..store };
        let store = Self { errors, sidecar, unreadable, ..opened };
        store.unreadable_warning().into_iter().for_each(warnings::add);
        Ok((store, recent))
    }

    /// Returns a warning that lists the notes that could not be read; `None` if there are none.
    pub fn unreadable_warning(&self) -> Option<String> {
        let hint = "answers omit them; `qipu doctor` lists all";
        let warning = || format!("some notes can't be read: {}; {hint}", self.unreadable_list());
        (!self.unreadable.is_empty()).then(warning)
    }

    /// Lists the first unreadable files and folders, with the number of the others.
    fn unreadable_list(&self) -> String {
        let shown = self.unreadable.iter().take(MAX_CANDIDATES).map(|(path, _)| self.shown(path));
        let named = shown.collect::<Vec<_>>().join(", ");
        match self.unreadable.len().saturating_sub(MAX_CANDIDATES) {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }

    /// Expects that every note in a folder of the store can be read.
    ///
    /// # Errors
    /// `Store`, naming one that can't.
    pub fn expect_readable_in(&self, folder: &str) -> Result<(), Error> {
        let inside =
            |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        match self.unreadable.iter().find(|(path, _)| inside(path)) {
            None => Ok(()),
            Some((path, _)) => {
                let message = format!("{} can't be read, and may be the note to change", self.shown(path));
                Err(Error::new(ErrorKind::Store, message).hint("make it readable first; `qipu doctor` lists all"))
            }
        }
    }

    /// Expects that every note of the store can be read.
    ///
    /// # Errors
    /// `Store`, listing files and folders that can't.
    pub fn expect_all_readable(&self) -> Result<(), Error> {
        if self.unreadable.is_empty() {
            return Ok(());
        }
        let message = format!("this needs all notes of the store, and some can't be read: {}", self.unreadable_list());
        Err(Error::new(ErrorKind::Store, message).hint("make them readable first; `qipu doctor` lists all"))
    }

    /// Returns the text index. `None` if the store is too small for an index, or was opened without a builder.
    pub fn text_index(&self) -> Option<&TextIndex> {
        self.text_index.as_ref()
    }

    /// Reads data that was derived from exactly these notes and cached under a key; `None` if there is none.
    pub fn cached(&self, key: &str) -> Option<Vec<u8>> {
        self.sidecar.as_ref()?.read(key)
    }

    /// Computes data that is derived from these notes and caches it under a key, if there is an index. The cache has room
    /// for one key. Returns whether it was written.
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
        Self {
            shown_path,
            config,
            today: Today::default(),
            root: PathBuf::new(),
            dir: None,
            settings: None,
            current_dir: PathBuf::new(),
            notes: sorted,
            unreadable: Vec::new(),
            recovered: 0,
            by_path: OnceLock::new(),
            text_index,
            errors: Arc::default(),
            sidecar: None,
        }
    }

    /// Returns the store's folder; empty for a store that is only in memory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the user trusts what the notes and the config of the store state about the reliability of its notes. A store
    /// that is only in memory is trusted.
    pub fn is_trusted(&self) -> bool {
        self.root.as_os_str().is_empty() || trusted::is_trusted(&self.root, self.settings.as_deref())
    }

    /// Returns all notes, sorted by id.
    pub fn notes(&self) -> &[Arc<NoteHandle>] {
        &self.notes
    }

    /// Moves the items whose notes are retired behind the others; both keep their order.
    pub fn retired_last<T>(&self, all: impl IntoIterator<Item = T>, note_of: impl Fn(&T) -> usize) -> Vec<T> {
        let (retired, mut sorted): (Vec<T>, Vec<T>) = all.into_iter().partition(|item| self.is_retired(note_of(item)));
        sorted.extend(retired);
        sorted
    }

    /// Whether the note at a position is retired.
    pub fn is_retired(&self, position: usize) -> bool {
        self.notes[position].retired(|| self.today.day()).is_some()
    }

    /// Returns the position in [`Store::notes`] of the note with an id.
    pub fn position(&self, id: &NoteId) -> Option<usize> {
        self.notes.binary_search_by(|note| note.id.cmp(id)).ok()
    }

    /// Returns the position of the note with an id or a path.
    pub fn named(&self, name: &str) -> Option<usize> {
        let with_id = NoteId::parse(name).and_then(|id| self.position(&id));
        with_id.or_else(|| if name.ends_with(".md") { self.position_of_file(name) } else { None })
    }

    /// Returns the position of the note in a file, whose path is relative to the current directory or to the store.
    fn position_of_file(&self, name: &str) -> Option<usize> {
        let from_here = self.current_dir.join(name);
        let inside =
            discover::normal(&from_here).strip_prefix(&self.root).ok().map(|path| path.to_string_lossy().into_owned());
        let by_path = self.by_path.get_or_init(|| {
            let paths = self.notes.iter().enumerate();
            paths.map(|(position, note)| (note.path.clone(), position)).collect()
        });
        // A path that begins with `..` leads out of the store.
        let in_store =
            || Some(discover::normal(&self.root.join(name)).strip_prefix(&self.root).ok()?.to_str()?.to_owned());
        inside.and_then(|path| by_path.get(&path)).or_else(|| by_path.get(&in_store()?)).copied()
    }

    /// Returns the position of the note that a user names: by id, file, title, title in any case, alias (such as
    /// the id of a note that was merged into it), the file's name without its folder, or the beginning of its id, `qp-`
    /// included or not; in this order, which is that of links.
    ///
    /// # Errors
    /// `NoNote` if no note has the name; `Usage`, listing the candidates, if several notes have it.
    pub fn resolve(&self, name: &str) -> Result<usize, Error> {
        if let Some(position) = self.named(name) {
            return Ok(position);
        }
        if name.trim().is_empty() {
            return Err(self.unknown(&[format!("`{name}`")]));
        }
        let (title, folded) = (name.trim(), name.trim().to_lowercase());
        let titled = self.positions_where(|note| note.title() == title);
        let titled =
            if titled.is_empty() { self.positions_where(|note| note.title().to_lowercase() == folded) } else { titled };
        let has_alias = |note: &NoteHandle| {
            note.has_aliases() && note.relations().aliases.iter().any(|alias| alias.to_lowercase() == folded)
        };
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let whole = NoteId::parse(&format!("{ID_PREFIX}{name}")).and_then(|id| self.position(&id));
        let named = [
            ("is the title of", titled),
            ("is an alias of", self.positions_where(has_alias)),
            ("is the file name of", self.positions_where(|note| note.stem() == stem)),
            ("is a prefix of", whole.into_iter().collect()),
            ("is a prefix of", self.with_id_prefix(name)),
            ("is a prefix of", self.with_id_prefix(&format!("{ID_PREFIX}{name}"))),
        ];
        let found = named.into_iter().find(|(_, positions)| !positions.is_empty());
        match found.as_ref().map(|(what, positions)| (*what, positions.as_slice())) {
            None => Err(self.unknown(&[format!("`{name}`")])),
            Some((_, [position])) => Ok(*position),
            Some((what, positions)) => Err(self.ambiguous(name, what, positions)),
        }
    }

    /// Returns the positions of the notes that pass a test.
    fn positions_where(&self, test: impl Fn(&NoteHandle) -> bool) -> Vec<usize> {
        let notes = self.notes.iter().enumerate();
        notes.filter(|(_, note)| test(note)).map(|(position, _)| position).collect()
    }

    /// Returns the positions of the notes whose ids have a prefix.
    fn with_id_prefix(&self, prefix: &str) -> Vec<usize> {
        let first = self.notes.partition_point(|note| note.id.as_str() < prefix);
        let rest = self.notes.get(first..).unwrap_or_default();
        let count = rest.iter().take_while(|note| note.id.as_str().starts_with(prefix)).count();
        (first..first + count).collect()
    }

    fn ambiguous(&self, name: &str, what: &str, positions: &[usize]) -> Error {
        let candidates = positions.iter().take(MAX_CANDIDATES);
        let shown: Vec<&str> = candidates.map(|position| self.notes[*position].id.as_str()).collect();
        let things = if what == "is a prefix of" { "ids" } else { "notes" };
        Error::usage(format!("`{name}` {what} {} {things}", positions.len())).hint(format!("ids: {}", shown.join(", ")))
    }

    fn unknown(&self, names: &[String]) -> Error {
        let message = format!("no such note: {} in {}", names.join(", "), self.shown_path);
        let bare = names.iter().map(|name| name.trim_matches('`'));
        let near: Vec<String> = bare.take(MAX_CANDIDATES).flat_map(|name| near::notes(&self.notes, name)).collect();
        let meant = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(", ")) };
        let hint = format!("{meant}`qipu context --query WORDS` finds notes and their ids");
        Error::new(ErrorKind::NoNote, message).hint(hint)
    }

    /// Returns tags in use that are similar to one that is not.
    pub fn near_tags(&self, tag: &str) -> Vec<String> {
        near::names(self.notes.iter().flat_map(|note| note.relations().tags), tag)
    }

    /// Returns types in use that are similar to one that is not.
    pub fn near_kinds(&self, kind: &str) -> Vec<String> {
        near::names(self.notes.iter().map(|note| note.list_fields().kind), kind)
    }

    /// Expects that a note does not share its id with another: an id such as `x~2` names it only as long as both exist, so
    /// that nothing written to a file can refer to it.
    ///
    /// # Errors
    /// `Usage` if it does.
    pub fn expect_own_id(&self, position: usize) -> Result<(), Error> {
        let id = &self.notes[position].id;
        if !id.as_str().contains('~') {
            return Ok(());
        }
        Err(Error::usage(format!("another note has the same id as `{id}`, so no link can refer to it"))
            .hint("give one of the two another id in its file first"))
    }

    /// Returns a file's path relative to the current directory, from its path in the store.
    pub fn shown(&self, path: &str) -> String {
        format!("{}{path}", self.shown_path.strip_prefix("./").unwrap_or(&self.shown_path))
    }

    /// Whether the path of a link of a note is in the project of the store. Does not access the disk.
    pub fn is_in_project(&self, note: &NoteHandle, link: &str) -> bool {
        let file = self.root.join(&note.path);
        let target = discover::normal(&file.parent().unwrap_or(&file).join(link));
        target.starts_with(project_root(self.root.parent().unwrap_or(&self.root)))
    }

    /// Lists the entries of the note folders that are not read, with the reason; paths are in the store.
    pub fn ignored_entries(&self) -> Vec<IgnoredEntry> {
        let mut all: Vec<_> = self.dir.iter().flat_map(|dir| load::ignored_entries(dir)).collect();
        all.extend(self.unreadable.iter().cloned());
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the number of files that were changed from the redo log when the store was opened to write.
    pub fn recovered(&self) -> usize {
        self.recovered
    }

    /// Describes the redo log that a crashed command left, in a sentence; `None` if there is none.
    pub fn unfinished_changes(&self, location: &Location) -> Option<String> {
        match redo_log::unfinished(&self.root, location.cache.as_deref()) {
            Ok(None) => None,
            Ok(Some(files)) => Some(format!(
                "an earlier command was interrupted while it was changing {files} files; the next command that changes notes will finish the change"
            )),
            Err(error) => Some(format!(
                "this redo log can't be used ({error:#}), and no command can change notes until it is removed: inspect it, then run `qipu doctor --fix`"
            )),
        }
    }

    /// Returns the shown path of the redo log.
    pub fn redo_log_path(&self) -> String {
        self.shown(PENDING_FILE)
    }

    /// Lists the temporary files that crashed commands left in the store; paths are in the store.
    pub fn stale_temp_files(&self) -> Vec<String> {
        let now = racy::now(&self.root).unwrap_or(i64::MIN);
        // A symbolic link is not followed.
        let has_cache =
            self.dir.as_ref().is_some_and(|dir| dir.kind(index::location::FOLDER.as_ref()) == Some(FileType::Folder));
        let cache = has_cache.then(|| self.root.join(index::location::FOLDER));
        let cached = cache.iter().flat_map(|cache| files::stale(cache, now, |stat| stat.mtime));
        let cached =
            cached.filter_map(|path| Some(format!("{}/{}", index::location::FOLDER, path.file_name()?.to_str()?)));
        cached.chain(self.dir.iter().flat_map(|dir| load::stale_temp_files(dir))).collect()
    }

    /// Lists the temporary files that crashed commands left an hour ago or more in a folder outside the store.
    pub fn stale_files(&self, folder: &Path) -> Vec<PathBuf> {
        files::stale(folder, racy::now(&self.root).unwrap_or(i64::MIN), walk::stat::FileStat::latest)
    }

    /// Returns the name of a redo log that is not this user's, and is never applied; `None` if there is none.
    pub fn foreign_redo_log(&self, location: &Location) -> Option<String> {
        redo_log::is_foreign(&self.root, location.cache.as_deref()).then(|| PENDING_FILE.to_owned())
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

    /// Returns the positions of the notes with these names: see [`Store::resolve`].
    ///
    /// # Errors
    /// `NoNote`, listing the names that no note has; `Usage` for a name that several notes have.
    pub fn positions(&self, ids: &[String]) -> Result<Vec<usize>, Error> {
        let mut found = Vec::new();
        let mut unknown = Vec::new();
        for text in ids {
            match self.resolve(text) {
                Ok(position) => found.push(position),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn store(notes: &[(&str, &str, &str)]) -> Store {
        let note = |(id, title, aliases): &(&str, &str, &str)| {
            let text = format!("---\nid: {id}\ntitle: {title}\naliases: [{aliases}]\n---\n");
            Note::parse(&format!("notes/{id}.md"), text.into_bytes())
        };
        Store::from_notes("./".to_owned(), Config::default(), notes.iter().map(note).collect())
    }

    #[test]
    fn a_note_is_named_by_its_id_its_title_an_alias_or_the_beginning_of_its_id() {
        let store = store(&[
            ("Start", "Something else", ""),
            ("qp-77xv1a2b", "Start here", "qp-old1, Way in"),
            ("qp-78aa0000", "start HERE", ""),
            ("qp-9c9c9c9c", "Start", "Ambiguous, qp-77xv1a2b"),
            ("qp-9d9d9d9d", "Twice", "Ambiguous, Start here"),
            ("qp-9e9e9e9e", "Twice", ""),
            ("x7", "77xv1a2b and more", ""),
        ]);
        let resolved = |name: &str| match store.resolve(name) {
            Ok(position) => store.notes()[position].id.to_string(),
            Err(error) => format!("{}; {}", error.message, error.hint.unwrap_or_default()),
        };
        for (name, id) in [
            ("Start", "Start"),
            ("qp-77xv1a2b", "qp-77xv1a2b"),
            ("Start here", "qp-77xv1a2b"),
            (" start HERE ", "qp-78aa0000"),
            ("something ELSE", "Start"),
            ("qp-old1", "qp-77xv1a2b"),
            ("way in", "qp-77xv1a2b"),
            ("77xv1a2b", "qp-77xv1a2b"),
            ("77", "qp-77xv1a2b"),
            ("qp-78", "qp-78aa0000"),
            ("x", "x7"),
        ] {
            assert_eq!(resolved(name), id, "{name}");
        }
        assert_eq!(resolved("START here"), "`START here` is the title of 2 notes; ids: qp-77xv1a2b, qp-78aa0000");
        assert_eq!(resolved("Twice"), "`Twice` is the title of 2 notes; ids: qp-9d9d9d9d, qp-9e9e9e9e");
        assert_eq!(resolved("ambiguous"), "`ambiguous` is an alias of 2 notes; ids: qp-9c9c9c9c, qp-9d9d9d9d");
        assert_eq!(resolved("9"), "`9` is a prefix of 3 ids; ids: qp-9c9c9c9c, qp-9d9d9d9d, qp-9e9e9e9e");
        for name in ["", " ", "nobody", "start her", "~", "qp-"] {
            let error = store.resolve(name).unwrap_err();
            let several = name == "qp-";
            assert_eq!(error.kind, if several { ErrorKind::Usage } else { ErrorKind::NoNote }, "{name}");
        }
    }
}
