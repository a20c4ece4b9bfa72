//! Finds the note that each page becomes or was imported as.

use std::collections::{HashMap, HashSet};

use super::super::taken_paths::{TakenPaths, folders};
use super::SourceFolder;
use crate::error::{Error, ErrorKind};
use crate::import::{
    AddedFields, ComposedNote, ImportedPage, Provenance, ReferenceTarget, ResolvedName, compose, is_as_written,
    note_path, page_hash,
};
use crate::note::NoteId;
use crate::progress;
use crate::request::ImportRequest;
use crate::store::{NoteHandle, Store};

/// A page, and the note that it becomes.
pub(super) struct Draft<'a> {
    pub(super) page: &'a ImportedPage,
    /// The name of the folder in the note's provenance.
    name: String,
    pub(super) id: NoteId,
    /// The path of the note's file in the store.
    pub(super) path: String,
    pub(super) action: ImportAction,
    /// Fields that the note gets in addition to those of the page.
    pub(super) extra: AddedFields,
    pub(super) composed: ComposedNote,
    /// Remarks: codes and sentences.
    pub(super) remarks: Vec<(&'static str, String)>,
}

/// What an import does with the note of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ImportAction {
    /// It is created.
    New,
    /// It was imported before and not edited since: it is updated.
    Follows {
        /// Its current text.
        old: String,
    },
    /// It was edited, and stays.
    Kept {
        /// Whether its page was edited too.
        is_conflict: bool,
    },
}

impl<'a> Draft<'a> {
    fn new(page: &'a ImportedPage, name: &str, id: NoteId, path: String, action: ImportAction) -> Self {
        let (extra, composed) = (AddedFields::default(), ComposedNote::default());
        Self { page, name: name.to_owned(), id, path, action, extra, composed, remarks: Vec::new() }
    }

    /// Returns the text in which links are replaced.
    pub(super) fn text(&self) -> &str {
        if self.extra.as_text.is_some() { &self.page.file_text } else { self.page.body() }
    }

    pub(super) fn compose_again(&mut self, request: &ImportRequest) {
        if !matches!(self.action, ImportAction::Kept { .. }) {
            self.composed = compose(self.page, &self.id, request.from, &self.name, &self.extra);
        }
    }
}

/// Returns the notes imported from an app, as their indices and provenance, by the paths of their pages.
fn imported_notes(store: &Store, request: &ImportRequest) -> HashMap<String, Vec<(usize, Provenance)>> {
    let mut by_path: HashMap<String, Vec<(usize, Provenance)>> = HashMap::new();
    for (index, note) in store.notes().iter().enumerate() {
        if let Some(stamp) = Provenance::of(note.extra_fields()).filter(|stamp| stamp.from == request.from.name()) {
            by_path.entry(stamp.path.clone()).or_default().push((index, stamp));
        }
    }
    by_path
}

/// Creates a draft for every page, with its path in the store.
pub(super) fn create<'a>(
    store: &Store,
    source: &'a SourceFolder,
    request: &ImportRequest,
) -> Result<Vec<Draft<'a>>, Error> {
    let imported = imported_notes(store, request);
    let pages = &source.vault.pages;
    // A page was imported as the note from a folder with this name, else as one with the same text.
    let known = |page: &ImportedPage| {
        let (all, read) = (imported.get(&page.source)?, page.digest());
        let named = all.iter().find(|(_, stamp)| stamp.name == source.name);
        named.or_else(|| all.iter().find(|(_, stamp)| stamp.read == read))
    };
    let known: Vec<_> = pages.iter().map(known).collect();
    let ours: HashSet<usize> = known.iter().flatten().map(|(index, _)| *index).collect();
    let mut maker = DraftMaker::new(store, source, request, &ours);
    let mut drafts = Vec::with_capacity(pages.len());
    let _work = progress::begin("comparing with the store", pages.len());
    for (page, known) in pages.iter().zip(known) {
        progress::advance();
        drafts.push(match known {
            Some((index, stamp)) => maker.again(page, &store.notes()[*index], stamp)?,
            None => maker.new_draft(page),
        });
    }
    Ok(drafts)
}

/// Assigns ids and paths to pages.
struct DraftMaker<'s, 'a> {
    store: &'s Store,
    source: &'a SourceFolder,
    request: &'s ImportRequest,
    ids: HashSet<String>,
    taken: TakenPaths,
    /// Titles and aliases, in lower case, of notes that are not imported from this folder.
    names: HashMap<String, NoteId>,
    /// For each id in the frontmatter of a page, the number of pages that have it.
    claimed: HashMap<&'a str, usize>,
}

impl<'s, 'a> DraftMaker<'s, 'a> {
    fn new(store: &'s Store, source: &'a SourceFolder, request: &'s ImportRequest, ours: &HashSet<usize>) -> Self {
        let (mut names, mut taken, mut claimed) = (HashMap::new(), TakenPaths::default(), HashMap::new());
        for (index, note) in store.notes().iter().enumerate() {
            taken.insert(&note.path);
            if !ours.contains(&index) {
                for name in note.aliases().into_iter().chain([note.title()]) {
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

    /// Creates the draft of a page that is no note yet.
    fn new_draft(&mut self, page: &'a ImportedPage) -> Draft<'a> {
        let mut remarks = Vec::new();
        let id = self.id(page, &mut remarks);
        self.ids.insert(id.to_string());
        let path = self.path(page, &id);
        self.taken.insert(&path);
        if let Some(other) = self.names.get(&page.title.to_lowercase()) {
            let message = format!("`{other}` in the store is also called `{}`; rename one of them", page.title);
            remarks.push(("name-clash", message));
        }
        if self.request.from == crate::request::ImportFrom::Logseq && self.source.vault.count(&page.title) > 1 {
            let message = format!("another page is also called `{}`; links lead to one of them", page.title);
            remarks.push(("name-clash", message));
        }
        Draft { remarks, ..Draft::new(page, &self.source.name, id, path, ImportAction::New) }
    }

    /// Creates the draft of a page that was imported before.
    fn again(&mut self, page: &'a ImportedPage, note: &NoteHandle, stamp: &Provenance) -> Result<Draft<'a>, Error> {
        let old = match self.store.text_of(note) {
            Ok(text) => Some(text),
            Err(error) if error.kind == ErrorKind::Store => None,
            Err(error) => return Err(error),
        };
        let action = match old.filter(|text| is_as_written(text, &stamp.wrote) && !note.id.as_str().contains('~')) {
            Some(old) => ImportAction::Follows { old },
            None => ImportAction::Kept { is_conflict: stamp.read != page.digest() },
        };
        Ok(Draft::new(page, &stamp.name, note.id.clone(), note.path.clone(), action))
    }

    /// Returns the id in a page's frontmatter if nothing else has that name, else one derived from its path in the
    /// folder.
    fn id(&self, page: &ImportedPage, remarks: &mut Vec<(&'static str, String)>) -> NoteId {
        if let Some(own) = &page.own_id {
            let vault = &self.source.vault;
            let names_other = matches!(
                vault.resolve("", &ReferenceTarget::Wiki(own.clone())),
                Some(ResolvedName::Page(index)) if vault.pages[index].source != page.source
            );
            let is_free = self.claimed.get(own.as_str()) == Some(&1) && !self.ids.contains(own) && !names_other;
            if let Some(id) = NoteId::parse(own).filter(|_| is_free) {
                return id;
            }
            let message = format!("the id `{own}` can't be kept: it is invalid or in use; the note gets another id");
            remarks.push(("id-taken", message));
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
        let is_free = |path: &String| self.taken.is_free(path) && !self.exists(path);
        let derived = || wanted.as_ref().map(|path| format!("{}-{id}.md", path.strip_suffix(".md").unwrap_or(path)));
        let folder = wanted.as_deref().and_then(|path| path.split('/').next()).unwrap_or("notes");
        let plain = || format!("{folder}/{id}.md");
        wanted.clone().filter(is_free).or_else(|| derived().filter(is_free)).unwrap_or_else(plain)
    }

    /// Tells whether a path exists in the store, or a file exists where its folder would be.
    fn exists(&self, path: &str) -> bool {
        let is_file = |folder: &str| folder.contains('/') && self.store.file(folder).is_ok_and(|file| file.is_some());
        self.store.is_taken(path) || folders(path).any(is_file)
    }
}
