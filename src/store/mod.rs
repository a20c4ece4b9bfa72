//! The store: the only reader and writer of files.

#[path = "index/column_store.rs"]
mod column_store;
mod config;
#[path = "index/container.rs"]
mod container;
#[path = "walk/dir_cache.rs"]
mod dir_cache;
#[path = "walk/dir_handle.rs"]
mod dir_handle;
mod discover;
mod exchange;
mod external_dir;
pub(crate) mod files;
pub(crate) mod git;
mod index;
mod init;
mod load;
mod lock;
mod near;
mod racy;
mod redo_log;
mod rename;
#[path = "walk/scan.rs"]
mod scan;
#[path = "index/sidecar.rs"]
mod sidecar;
#[path = "walk/tree.rs"]
mod tree;
mod trusted;
mod watch;
mod write;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

pub use config::{BlocksSetting, Config, ContextConfig, UnknownKey};
use dir_handle::{DirHandle, FileType};
pub(crate) use discover::relative_to;
pub use discover::{Location, find_root, project_root};
pub use exchange::{export, import};
pub use external_dir::{ExternalDir, ExternalFile, expect_apart};
pub use init::{InitPlan, InitResult, MadeFile, init};
pub use lock::{FolderLock, Lock};
use sidecar::SidecarFile;
pub use watch::{ChangeWatcher, look};
pub use write::Change;
pub(crate) use write::diff;

use crate::env::Today;
use crate::error::{Error, ErrorKind};
use crate::index_builder::{IndexBuilder, TextIndex};
use crate::note::{Diagnostic, Note, NoteId};
use crate::timings;
use crate::warnings;

/// The folders of a store that hold notes.
pub const NOTE_FOLDERS: [&str; 3] = ["journals", "mocs", "notes"];

/// A skipped file or folder: its path in the store, and the reason.
pub type PassedOver = (String, &'static str);

/// Why files and folders among the notes are passed over that can't be read.
const FILE_UNREADABLE: &str = "the file can't be read";
const FOLDER_UNREADABLE: &str = "the folder can't be read, nor any note in it";

/// The list of changes that were begun and not finished.
const PENDING_FILE: &str = ".qipu-pending";

/// The longest config and template that are read, in bytes: a parser takes many times as much memory.
const MAX_CONFIG: u64 = 256 * 1024;
const MAX_TEMPLATE: u64 = 256 * 1024;

/// How ids that qipu makes begin; a user may leave it out.
const ID_PREFIX: &str = "qp-";

/// The most ids that an error names.
const MAX_CANDIDATES: usize = 10;

/// A store's notes in memory, in the order of their ids.
#[derive(Debug)]
pub struct Store {
    /// The store's path relative to the current directory, ending in `/`.
    pub shown_path: String,
    /// What the store's config.toml says.
    pub config: Config,
    /// The day that counts as today.
    pub today: Today,
    /// Where it is; empty for a store that is in memory only.
    root: PathBuf,
    /// The folder itself, held open; whatever is read of the store is found from it.
    dir: Option<Arc<DirHandle>>,
    /// The user's folder for settings.
    settings: Option<PathBuf>,
    current_dir: PathBuf,
    notes: Vec<Arc<Note>>,
    /// The files and folders among the notes that could not be read, in the order of their paths.
    unreadable: Vec<PassedOver>,
    /// How many files of a writer that died were changed before the notes were read.
    finished: usize,
    /// The notes' places by the paths of their files, once somebody asked for one.
    by_path: OnceLock<HashMap<String, usize>>,
    /// What was gathered of the notes; its places are those of `notes`.
    gathered: Option<TextIndex>,
    is_broken: Arc<AtomicBool>,
    /// Where something that is made of exactly these notes can be kept.
    beside: Option<SidecarFile>,
}

/// Removes a temporary file of a command that died; see [`Store::stale_files`].
///
/// # Errors
/// `Failure` when it can't be removed.
pub fn remove_stale_file(path: &Path) -> Result<(), Error> {
    Ok(files::remove(path)?)
}

/// Numbers with their names.
pub type Facts = Vec<(&'static str, u64)>;

/// Creates the builder of a text index.
pub type IndexBuilderFactory = fn(&Config) -> Box<dyn IndexBuilder>;

fn place<'a>(location: &'a Location, root: &'a Path, dir: &'a Arc<DirHandle>) -> load::IndexLocation<'a> {
    load::IndexLocation { root, dir, cache: location.cache.as_deref(), uses_index: !location.no_index, since: None }
}

/// Opens the folder of a store that was found.
fn open_root(root: &Path) -> Result<Arc<DirHandle>, Error> {
    let opened = DirHandle::new(root).map(Arc::new);
    opened.map_err(|error| Error::new(ErrorKind::Store, format!("the store can't be read: {error}")))
}

/// Tells of a store's index, after it was written anew, with what is gathered, where that is asked
/// for. Returns the store's path as it is shown, and numbers with their names.
///
/// # Errors
/// As [`Store::open`]; `Failure` when the index is to be written and can't be.
pub fn index_facts(
    location: &Location,
    current_dir: &Path,
    rebuilt_with: Option<IndexBuilderFactory>,
) -> Result<(String, Facts), Error> {
    let root = find_root(location, current_dir)?;
    let dir = open_root(&root)?;
    let gather = rebuilt_with.map(|gather| Ok::<_, Error>(gather(&Config::load(&dir)?))).transpose()?;
    let facts = load::index_facts(&place(location, &root, &dir), gather)?;
    Ok((relative_to(&root, current_dir), facts))
}

impl Store {
    /// Finds the store and loads every note in it.
    ///
    /// # Errors
    /// `NoStore` when there is none, `Store` when its folders or its config can't be read. A bad
    /// note is never an error.
    pub fn open(location: &Location, current_dir: &Path) -> Result<Self, Error> {
        Self::open_with(location, current_dir, None)
    }

    /// Finds the store, loads every note in it, and has something gathered of the notes, or takes what
    /// was gathered before.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(
        location: &Location,
        current_dir: &Path,
        gathering: Option<IndexBuilderFactory>,
    ) -> Result<Self, Error> {
        Ok(Self::open_since(location, current_dir, gathering, None)?.0)
    }

    /// Opens the store, and lists the files of notes that were modified at a moment or later, as they looked before
    /// they were read.
    fn open_since(
        location: &Location,
        current_dir: &Path,
        gathering: Option<IndexBuilderFactory>,
        since: Option<i64>,
    ) -> Result<(Self, load::RecentFiles), Error> {
        let root = find_root(location, current_dir)?;
        let dir = open_root(&root)?;
        let config = Config::load(&dir)?;
        let gather = gathering.map(|gathering| gathering(&config));
        let loaded = load::notes(&load::IndexLocation { since, ..place(location, &root, &dir) }, gather)?;
        let load::Loaded { notes, gathered, is_broken, beside, unreadable, recent, .. } = loaded;
        let shown_path = relative_to(&root, current_dir);
        let current_dir = current_dir.canonicalize().unwrap_or_else(|_| current_dir.to_path_buf());
        let store = Self::from_shared(shown_path, config, notes, gathered);
        timings::end("notes put in order");
        let settings = location.settings.clone();
        let opened = Self { root, dir: Some(dir), settings, current_dir, today: location.today, ..store };
        let store = Self { is_broken, beside, unreadable, ..opened };
        store.tell_unreadable();
        Ok((store, recent))
    }

    /// Warns of notes that could not be read, for answers are without them.
    fn tell_unreadable(&self) {
        self.unreadable_warning().into_iter().for_each(warnings::add);
    }

    /// Returns a warning that names notes that could not be read.
    pub fn unreadable_warning(&self) -> Option<String> {
        let hint = "answers are without them; `qipu doctor` lists all";
        let warning = || format!("notes can't be read: {}; {hint}", self.some_unreadable());
        (!self.unreadable.is_empty()).then(warning)
    }

    /// Names the first of what could not be read, and how many more there are.
    fn some_unreadable(&self) -> String {
        let shown = self.unreadable.iter().take(MAX_CANDIDATES).map(|(path, _)| self.shown(path));
        let named = shown.collect::<Vec<_>>().join(", ");
        match self.unreadable.len().saturating_sub(MAX_CANDIDATES) {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }

    /// Refuses what needs all notes of a folder of the store where some can't be read.
    ///
    /// # Errors
    /// `Store`, naming one that can't be read.
    pub fn expect_readable_in(&self, folder: &str) -> Result<(), Error> {
        let inside =
            |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        match self.unreadable.iter().find(|(path, _)| inside(path)) {
            None => Ok(()),
            Some((path, _)) => {
                let message = format!("{} can't be read, and may be what is to be changed", self.shown(path));
                Err(Error::new(ErrorKind::Store, message).hint("make it readable first; `qipu doctor` lists all"))
            }
        }
    }

    /// Refuses what needs all notes of the store where some can't be read.
    ///
    /// # Errors
    /// `Store`, naming files and folders that can't be read.
    pub fn expect_all_readable(&self) -> Result<(), Error> {
        if self.unreadable.is_empty() {
            return Ok(());
        }
        let message = format!("this takes all notes of the store, and some can't be read: {}", self.some_unreadable());
        Err(Error::new(ErrorKind::Store, message).hint("make them readable first; `qipu doctor` lists all"))
    }

    /// Returns what was gathered of the notes when the store was opened. `None` where the store is so
    /// small that it is not worth keeping, or where nothing was asked for.
    pub fn gathered(&self) -> Option<&TextIndex> {
        self.gathered.as_ref()
    }

    /// Returns what was made of exactly these notes and kept under a name.
    pub fn kept(&self, key: &str) -> Option<Vec<u8>> {
        self.beside.as_ref()?.read(key)
    }

    /// Keeps what is made of all notes under a name, where there is an index. There is room for one
    /// such thing. Returns whether it did; nothing depends on it.
    pub fn keep(&self, key: &str, make: impl FnOnce() -> Vec<u8>) -> bool {
        // What was kept of the notes may only now turn out to be damaged.
        let make = || Some(make()).filter(|_| !self.is_broken());
        self.beside.as_ref().is_some_and(|beside| beside.write(key, make).is_some())
    }

    /// Removes the index of the store at a location, since it can't be read.
    pub fn discard_index(&self, location: &Location) {
        if let Some(dir) = &self.dir {
            index::discard(&place(location, &self.root, dir));
        }
    }

    /// Returns the store and what `work` makes of it. Where something that was kept of the notes turns out to
    /// be damaged, the index is removed, and the work is done again on what the files say.
    ///
    /// # Errors
    /// As [`Store::open`], where the store has to be opened again.
    pub fn trusted<T>(
        self,
        location: &Location,
        current_dir: &Path,
        work: impl Fn(&Self) -> T,
    ) -> Result<(Self, T), Error> {
        let made = work(&self);
        if !self.is_broken() {
            return Ok((self, made));
        }
        self.discard_index(location);
        let without = Location { no_index: true, ..location.clone() };
        let store = Self { finished: self.finished, ..Self::open(&without, current_dir)? };
        let made = work(&store);
        Ok((store, made))
    }

    /// Tells whether something that was kept of the notes could not be read, so that answers may be
    /// wrong.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Makes a store of notes that are already parsed, in any order.
    pub fn from_notes(shown_path: String, config: Config, notes: Vec<Note>) -> Self {
        Self::from_shared(shown_path, config, notes.into_iter().map(Arc::new).collect(), None)
    }

    fn from_shared(
        shown_path: String,
        config: Config,
        mut notes: Vec<Arc<Note>>,
        mut gathered: Option<TextIndex>,
    ) -> Self {
        let mut order: Vec<usize> = (0..notes.len()).collect();
        order.par_sort_by(|a, b| {
            let (a, b) = (&notes[*a], &notes[*b]);
            (&a.id, &a.path).cmp(&(&b.id, &b.path))
        });
        let mut sorted: Vec<Arc<Note>> = order.iter().map(|place| Arc::clone(&notes[*place])).collect();
        // Nobody else may hold them: one may get an id of its own.
        notes.clear();
        if tell_duplicates_apart(&mut sorted) {
            let mut again: Vec<usize> = (0..sorted.len()).collect();
            again.sort_by(|a, b| sorted[*a].id.cmp(&sorted[*b].id));
            sorted = again.iter().map(|place| Arc::clone(&sorted[*place])).collect();
            order = again.iter().map(|place| order[*place]).collect();
        }
        if let Some(gathered) = &mut gathered {
            let mut now = vec![0; order.len()];
            order.iter().enumerate().for_each(|(place, before)| now[*before] = place);
            gathered.notes.iter_mut().flatten().for_each(|place| *place = now[*place]);
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
            finished: 0,
            by_path: OnceLock::new(),
            gathered,
            is_broken: Arc::default(),
            beside: None,
        }
    }

    /// Returns the store's folder; empty for a store that has none.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Tells whether the user lets count what the store says in favour of its own notes. One that is in memory is
    /// no stranger's.
    pub fn is_trusted(&self) -> bool {
        self.root.as_os_str().is_empty() || trusted::is_trusted(&self.root, self.settings.as_deref())
    }

    /// Returns all notes in the order of their ids.
    pub fn notes(&self) -> &[Arc<Note>] {
        &self.notes
    }

    /// Puts what belongs to notes that no longer hold behind the rest, each part in its order.
    pub fn retired_last<T>(&self, all: impl IntoIterator<Item = T>, note_of: impl Fn(&T) -> usize) -> Vec<T> {
        let (retired, mut sorted): (Vec<T>, Vec<T>) = all.into_iter().partition(|item| self.is_retired(note_of(item)));
        sorted.extend(retired);
        sorted
    }

    /// Tells whether the note at a place no longer holds.
    pub fn is_retired(&self, place: usize) -> bool {
        self.notes[place].retired(|| self.today.day()).is_some()
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
        let is_path = name.ends_with(".md");
        is_path.then(|| self.place_of_file(name)).flatten()
    }

    /// Returns the place of the note in a file, named from the current directory or from the store.
    fn place_of_file(&self, name: &str) -> Option<usize> {
        let from_here = self.current_dir.join(name);
        let inside =
            discover::normal(&from_here).strip_prefix(&self.root).ok().map(|path| path.to_string_lossy().into_owned());
        let by_path = self.by_path.get_or_init(|| {
            let paths = self.notes.iter().enumerate();
            paths.map(|(place, note)| (note.path.clone(), place)).collect()
        });
        // A path that begins with `..` is none in the store.
        let in_store =
            || Some(discover::normal(&self.root.join(name)).strip_prefix(&self.root).ok()?.to_str()?.to_owned());
        inside.and_then(|path| by_path.get(&path)).or_else(|| by_path.get(&in_store()?)).copied()
    }

    /// Returns the position of the note that a user names: by id, file, title, title in any case, alias (such as
    /// the id of a note that was merged into it), the file's name without its folder, or the beginning of its id, `qp-`
    /// included or not; in this order, which is that of links.
    ///
    /// # Errors
    /// `NoNote` when no note has the name; `Usage` with the candidates when several notes have it.
    pub fn resolve(&self, name: &str) -> Result<usize, Error> {
        if let Some(place) = self.named(name) {
            return Ok(place);
        }
        if name.trim().is_empty() {
            return Err(self.unknown(&[format!("`{name}`")]));
        }
        let (title, folded) = (name.trim(), name.trim().to_lowercase());
        let titled = self.with(|note| note.title() == title);
        let titled = if titled.is_empty() { self.with(|note| note.title().to_lowercase() == folded) } else { titled };
        let has_alias =
            |note: &Note| note.has_aliases() && note.aliases.iter().any(|alias| alias.to_lowercase() == folded);
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let whole = NoteId::parse(&format!("{ID_PREFIX}{name}")).and_then(|id| self.position(&id));
        let named = [
            ("is the title of", titled),
            ("is an alias of", self.with(has_alias)),
            ("is the file name of", self.with(|note| note.stem() == stem)),
            ("begins", whole.into_iter().collect()),
            ("begins", self.beginning(name)),
            ("begins", self.beginning(&format!("{ID_PREFIX}{name}"))),
        ];
        let found = named.into_iter().find(|(_, places)| !places.is_empty());
        match found.as_ref().map(|(what, places)| (*what, places.as_slice())) {
            None => Err(self.unknown(&[format!("`{name}`")])),
            Some((_, [place])) => Ok(*place),
            Some((what, places)) => Err(self.ambiguous(name, what, places)),
        }
    }

    /// Returns the positions of the notes that pass a test.
    fn with(&self, test: impl Fn(&Note) -> bool) -> Vec<usize> {
        let notes = self.notes.iter().enumerate();
        notes.filter(|(_, note)| test(note)).map(|(place, _)| place).collect()
    }

    /// Returns the positions of the notes whose ids begin with a text.
    fn beginning(&self, text: &str) -> Vec<usize> {
        let first = self.notes.partition_point(|note| note.id.as_str() < text);
        let rest = self.notes.get(first..).unwrap_or_default();
        let count = rest.iter().take_while(|note| note.id.as_str().starts_with(text)).count();
        (first..first + count).collect()
    }

    fn ambiguous(&self, name: &str, what: &str, places: &[usize]) -> Error {
        let shown: Vec<&str> = places.iter().take(MAX_CANDIDATES).map(|place| self.notes[*place].id.as_str()).collect();
        let things = if what == "begins" { "ids" } else { "notes" };
        Error::usage(format!("`{name}` {what} {} {things}", places.len())).hint(format!("ids: {}", shown.join(", ")))
    }

    fn unknown(&self, names: &[String]) -> Error {
        let message = format!("no such note: {} in {}", names.join(", "), self.shown_path);
        let bare = names.iter().map(|name| name.trim_matches('`'));
        let near: Vec<String> = bare.take(MAX_CANDIDATES).flat_map(|name| near::notes(&self.notes, name)).collect();
        let meant = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(", ")) };
        let hint = format!("{meant}`qipu context --query WORDS` finds notes and their ids");
        Error::new(ErrorKind::NoNote, message).hint(hint)
    }

    /// Returns tags in use that are like one that is not.
    pub fn near_tags(&self, tag: &str) -> Vec<String> {
        near::names(self.notes.iter().flat_map(|note| note.ties().tags), tag)
    }

    /// Returns types in use that are like one that is not.
    pub fn near_kinds(&self, kind: &str) -> Vec<String> {
        near::names(self.notes.iter().map(|note| note.head().kind), kind)
    }

    /// Refuses the id of a note that shares it with another: `x~2` names it only as long as both are
    /// there, so nothing can be written down that refers to it.
    ///
    /// # Errors
    /// `Usage` for such a note.
    pub fn expect_own_id(&self, place: usize) -> Result<(), Error> {
        let id = &self.notes[place].id;
        if !id.as_str().contains('~') {
            return Ok(());
        }
        Err(Error::usage(format!("`{id}` shares its id with another note, so nothing can refer to it"))
            .hint("give one of the two another id in its file first"))
    }

    /// Returns a file's path relative to the current directory, from its path in the store.
    pub fn shown(&self, path: &str) -> String {
        format!("{}{path}", self.shown_path.strip_prefix("./").unwrap_or(&self.shown_path))
    }

    /// Tells whether a link of a note leads to a place in the project that holds the store. The disk is not looked at.
    pub fn is_in_project(&self, note: &Note, link: &str) -> bool {
        let file = self.root.join(&note.path);
        let target = discover::normal(&file.parent().unwrap_or(&file).join(link));
        target.starts_with(project_root(self.root.parent().unwrap_or(&self.root)))
    }

    /// Lists what stands where notes are and is passed over, with the reason; paths are inside the
    /// store.
    pub fn passed_over(&self) -> Vec<PassedOver> {
        let mut all: Vec<_> = self.dir.iter().flat_map(|dir| load::passed_over(dir)).collect();
        all.extend(self.unreadable.iter().cloned());
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns how many files were changed, when the store was opened to write, to finish what a writer
    /// that died had begun.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Tells of a list of changes that a writer which died had begun: in a sentence.
    pub fn unfinished(&self, location: &Location) -> Option<String> {
        match redo_log::unfinished(&self.root, location.cache.as_deref()) {
            Ok(None) => None,
            Ok(Some(files)) => Some(format!(
                "a command died while it changed files ({files} in all); the next one that changes notes finishes it"
            )),
            Err(error) => Some(format!(
                "it keeps every command from changing notes, for {error:#}: look into it, then `qipu doctor --fix` removes it"
            )),
        }
    }

    /// Returns the path of the list of changes that were begun.
    pub fn pending_path(&self) -> String {
        self.shown(PENDING_FILE)
    }

    /// Lists what a writer that died left behind; paths are inside the store.
    pub fn left_over(&self) -> Vec<String> {
        let now = racy::now(&self.root).unwrap_or(i64::MIN);
        // What a link leads to is not ours to look through.
        let has_cache = self.dir.as_ref().is_some_and(|dir| dir.kind(index::FOLDER.as_ref()) == Some(FileType::Folder));
        let cache = has_cache.then(|| self.root.join(index::FOLDER));
        let cached = cache.iter().flat_map(|cache| files::stale(cache, now, |look| look.modified));
        let cached = cached.filter_map(|path| Some(format!("{}/{}", index::FOLDER, path.file_name()?.to_str()?)));
        cached.chain(self.dir.iter().flat_map(|dir| load::left_over(dir))).collect()
    }

    /// Lists the temporary files of commands that died, an hour ago or more, in a folder outside of the store.
    pub fn stale_files(&self, folder: &Path) -> Vec<PathBuf> {
        files::stale(folder, racy::now(&self.root).unwrap_or(i64::MIN), scan::FileStat::latest)
    }

    /// Returns the path of a list of changes that nobody carries out.
    pub fn foreign_list(&self, location: &Location) -> Option<String> {
        redo_log::is_foreign(&self.root, location.cache.as_deref()).then(|| PENDING_FILE.to_owned())
    }

    /// Returns the directory that shown paths are relative to.
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// Reads the template for new notes of a type; `None` when there is none.
    ///
    /// # Errors
    /// `Failure` when it can't be read.
    pub fn template(&self, kind: &str) -> Result<Option<String>, Error> {
        if NoteId::parse(kind).is_none() {
            return Ok(None);
        }
        let path = format!("templates/{kind}.md");
        let Some(bytes) = self.file_of(&path, MAX_TEMPLATE)? else { return Ok(None) };
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|_| Error::new(ErrorKind::Store, format!("{} is not UTF-8", self.shown(&path))))
    }

    /// Returns the positions of the notes that are named, each as in [`Store::resolve`].
    ///
    /// # Errors
    /// `NoNote` with every name that no note has; `Usage` for a name that several notes have.
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

/// Gives all but one of the notes with one id, which stand side by side, ids of their own, and returns whether there were
/// any. The first note whose frontmatter names the id keeps it. The others with that field get the numbers from 2, which
/// depend on each other; those whose paths give the id get a hash of the path, so that no other file changes their ids.
fn tell_duplicates_apart(notes: &mut [Arc<Note>]) -> bool {
    let mut is_any = false;
    for same in notes.chunk_by_mut(|a, b| a.id == b.id).filter(|same| same.len() > 1) {
        is_any = true;
        let holder = same.iter().position(|note| note.names_its_id()).unwrap_or_default();
        let (mut number, mut hashed) = (1, HashSet::new());
        for (_, note) in same.iter_mut().enumerate().filter(|(place, _)| *place != holder) {
            // Paths that are no UTF-8 may read alike, and have one hash then.
            let by_path = Some(note.id.disambiguated(&note.path)).filter(|_| !note.names_its_id());
            let id = by_path.filter(|id| hashed.insert(id.clone())).unwrap_or_else(|| {
                number += 1;
                note.id.duplicate(number)
            });
            let message = format!("another note has the id `{}`", note.id);
            let note = Arc::make_mut(note);
            note.add_finding(Diagnostic::new("duplicate-id", message));
            note.id = id;
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
            Ok(place) => store.notes()[place].id.to_string(),
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
        assert_eq!(resolved("9"), "`9` begins 3 ids; ids: qp-9c9c9c9c, qp-9d9d9d9d, qp-9e9e9e9e");
        for name in ["", " ", "nobody", "start her", "~", "qp-"] {
            let error = store.resolve(name).unwrap_err();
            let several = name == "qp-";
            assert_eq!(error.kind, if several { ErrorKind::Usage } else { ErrorKind::NoNote }, "{name}");
        }
    }
}
