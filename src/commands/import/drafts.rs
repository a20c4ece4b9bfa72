//! Which note a page becomes, or is already.

use std::collections::{HashMap, HashSet};

use super::SourceFolder;
use crate::error::{Error, ErrorKind};
use crate::import::{
    AddedFields, ComposedNote, ImportedPage, Provenance, ReferenceTarget, ResolvedName, compose, is_as_written,
    note_path, page_hash,
};
use crate::note::{Note, NoteId};
use crate::progress;
use crate::request::ImportRequest;
use crate::store::Store;

/// A page, and the note that it becomes.
pub(super) struct Draft<'a> {
    pub(super) page: &'a ImportedPage,
    /// What the note calls the folder that it comes from.
    name: String,
    pub(super) id: NoteId,
    /// The note's file in the store.
    pub(super) path: String,
    pub(super) fate: ImportAction,
    /// What the note says beside what the page does.
    pub(super) extra: AddedFields,
    pub(super) composed: ComposedNote,
    /// What is odd: a code and a sentence.
    pub(super) odd: Vec<(&'static str, String)>,
}

/// What becomes of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ImportAction {
    /// It is made.
    New,
    /// It was imported before and nobody changed it since: it says what its page says.
    Follows {
        /// Its text.
        old: String,
    },
    /// Somebody changed it, so it stays.
    Kept {
        /// Whether its page was changed too.
        is_conflict: bool,
    },
}

impl Draft<'_> {
    /// Returns the text whose links are adapted.
    pub(super) fn text(&self) -> &str {
        if self.extra.as_text.is_some() { &self.page.whole } else { self.page.body() }
    }

    /// Writes the note's text anew.
    pub(super) fn write(&mut self, request: &ImportRequest) {
        if !matches!(self.fate, ImportAction::Kept { .. }) {
            self.composed = compose(self.page, &self.id, request.from, &self.name, &self.extra);
        }
    }
}

/// Paths that are taken, by files and by the folders they lie in. Names that differ in case only are
/// one to some file systems.
#[derive(Debug, Default)]
pub(super) struct TakenPaths {
    files: HashSet<String>,
    folders: HashSet<String>,
}

impl TakenPaths {
    /// Tells whether a file can have a path.
    pub(super) fn is_free(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        let is_folder = self.folders.contains(&path);
        !is_folder && !self.files.contains(&path) && !folders(&path).any(|folder| self.files.contains(folder))
    }

    /// Takes a path.
    pub(super) fn take(&mut self, path: &str) {
        let path = path.to_lowercase();
        self.folders.extend(folders(&path).map(str::to_owned));
        self.files.insert(path);
    }
}

/// Returns the folders on the way to a file.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// Notes that were imported from an app, by the paths of their pages.
struct ImportedNotes {
    by_path: HashMap<String, Vec<(usize, Provenance)>>,
}

impl ImportedNotes {
    fn find(store: &Store, request: &ImportRequest) -> Self {
        let mut by_path: HashMap<String, Vec<(usize, Provenance)>> = HashMap::new();
        for (place, note) in store.notes().iter().enumerate() {
            if let Some(stamp) = Provenance::of(note).filter(|stamp| stamp.from == request.from.name()) {
                by_path.entry(stamp.path.clone()).or_default().push((place, stamp));
            }
        }
        Self { by_path }
    }

    /// Returns the note that a page was imported as: from a folder of this name, else one with this very
    /// text.
    fn of(&self, page: &ImportedPage, name: &str) -> Option<&(usize, Provenance)> {
        let all = self.by_path.get(&page.source)?;
        let read = page.digest();
        all.iter().find(|(_, stamp)| stamp.name == name).or_else(|| all.iter().find(|(_, stamp)| stamp.read == read))
    }
}

/// Makes a draft of every page, with its place in the store.
pub(super) fn make<'a>(
    store: &Store,
    source: &'a SourceFolder,
    request: &ImportRequest,
) -> Result<Vec<Draft<'a>>, Error> {
    let imported = ImportedNotes::find(store, request);
    let pages = &source.vault.pages;
    let known: Vec<_> = pages.iter().map(|page| imported.of(page, &source.name)).collect();
    let ours: HashSet<usize> = known.iter().flatten().map(|(place, _)| *place).collect();
    let mut maker = DraftMaker::new(store, source, request, &ours);
    let mut drafts = Vec::with_capacity(pages.len());
    let _work = progress::begin("comparing with the store", pages.len());
    for (page, known) in pages.iter().zip(known) {
        progress::advance();
        drafts.push(match known {
            Some((place, stamp)) => maker.again(page, &store.notes()[*place], stamp)?,
            None => maker.fresh(page),
        });
    }
    Ok(drafts)
}

/// Gives pages ids and places.
struct DraftMaker<'s, 'a> {
    store: &'s Store,
    source: &'a SourceFolder,
    request: &'s ImportRequest,
    ids: HashSet<String>,
    taken: TakenPaths,
    /// Titles and aliases of notes that are not of this folder.
    names: HashMap<String, NoteId>,
    /// Ids that more than one page gives itself.
    claimed: HashMap<&'a str, usize>,
}

impl<'s, 'a> DraftMaker<'s, 'a> {
    fn new(store: &'s Store, source: &'a SourceFolder, request: &'s ImportRequest, ours: &HashSet<usize>) -> Self {
        let (mut names, mut taken, mut claimed) = (HashMap::new(), TakenPaths::default(), HashMap::new());
        for (place, note) in store.notes().iter().enumerate() {
            taken.take(&note.path);
            if !ours.contains(&place) {
                for name in note.aliases.iter().chain([&note.title]) {
                    names.entry(name.to_lowercase()).or_insert_with(|| note.id.clone());
                }
            }
        }
        let ids = store.notes().iter().map(|note| note.id.claimed().to_owned()).collect();
        for id in source.vault.pages.iter().filter_map(|page| page.own_id.as_deref()) {
            *claimed.entry(id).or_insert(0) += 1;
        }
        Self { store, source, request, ids, taken, names, claimed }
    }

    /// A page that is no note yet.
    fn fresh(&mut self, page: &'a ImportedPage) -> Draft<'a> {
        let mut odd = Vec::new();
        let id = self.id(page, &mut odd);
        self.ids.insert(id.to_string());
        let path = self.path(page, &id);
        self.taken.take(&path);
        if let Some(other) = self.names.get(&page.title.to_lowercase()) {
            odd.push((
                "name-clash",
                format!("`{other}` in the store is called `{}` too; rename one of them", page.title),
            ));
        }
        if self.request.from == crate::request::ImportFrom::Logseq && self.source.vault.count(&page.title) > 1 {
            odd.push(("name-clash", format!("another page is called `{}` too; links lead to one of them", page.title)));
        }
        let name = self.source.name.clone();
        Draft {
            page,
            name,
            id,
            path,
            fate: ImportAction::New,
            extra: AddedFields::default(),
            composed: ComposedNote::default(),
            odd,
        }
    }

    /// A page that was imported before.
    fn again(&mut self, page: &'a ImportedPage, note: &Note, stamp: &Provenance) -> Result<Draft<'a>, Error> {
        let old = match self.store.text_of(note) {
            Ok(text) => Some(text),
            Err(error) if error.kind == ErrorKind::Store => None,
            Err(error) => return Err(error),
        };
        let fate = match old.filter(|text| is_as_written(text, &stamp.wrote) && !note.id.as_str().contains('~')) {
            Some(old) => ImportAction::Follows { old },
            None => ImportAction::Kept { is_conflict: stamp.read != page.digest() },
        };
        let (id, path) = (note.id.clone(), note.path.clone());
        let name = stamp.name.clone();
        Ok(Draft {
            page,
            name,
            id,
            path,
            fate,
            extra: AddedFields::default(),
            composed: ComposedNote::default(),
            odd: Vec::new(),
        })
    }

    /// Returns the id that a page gives itself where nothing else goes by that name, else one that stands
    /// for its place in the folder.
    fn id(&self, page: &ImportedPage, odd: &mut Vec<(&'static str, String)>) -> NoteId {
        if let Some(own) = &page.own_id {
            let names_other = match self.source.vault.resolve("", &ReferenceTarget::Wiki(own.clone())) {
                Some(ResolvedName::Page(place)) => {
                    self.source.vault.pages.get(place).is_some_and(|other| other.source != page.source)
                }
                _ => false,
            };
            let is_free = self.claimed.get(own.as_str()) == Some(&1) && !self.ids.contains(own) && !names_other;
            match NoteId::parse(own).filter(|_| is_free) {
                Some(id) => return id,
                None => odd.push(("id-taken", format!("something else is called `{own}`; the note gets another id"))),
            }
        }
        let mut random = page_hash(self.request.from, &self.source.name, &page.source);
        loop {
            let id = NoteId::generated(random);
            if !self.ids.contains(id.as_str()) && !self.claimed.contains_key(id.as_str()) {
                return id;
            }
            random = random.wrapping_add(1);
        }
    }

    fn path(&self, page: &ImportedPage, id: &NoteId) -> String {
        let wanted = note_path(&self.source.settings, page);
        let is_free = |path: &String| self.taken.is_free(path) && !self.is_there(path);
        let beside = || wanted.as_ref().map(|path| format!("{}-{id}.md", path.strip_suffix(".md").unwrap_or(path)));
        let folder = wanted.as_deref().and_then(|path| path.split('/').next()).unwrap_or("notes");
        let plain = || format!("{folder}/{id}.md");
        wanted.clone().filter(is_free).or_else(|| beside().filter(is_free)).unwrap_or_else(plain)
    }

    /// Tells whether something has a path in the store, or a file stands where its folder would.
    fn is_there(&self, path: &str) -> bool {
        let is_file = |folder: &str| folder.contains('/') && self.store.file(folder).is_ok_and(|file| file.is_some());
        self.store.is_taken(path) || folders(path).any(is_file)
    }
}
