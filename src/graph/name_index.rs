//! Resolves link targets to notes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;

use crate::note::{COLLECTION_MARK, Dialect, EncodedTarget, MARKDOWN_ENDINGS, join_path, normalize_path};
use crate::store::{Collection, CollectionReason, NoteHandle, NoteIdx, Store, naming_collection};

/// Finds notes by their names: ids, titles, aliases, file stems and paths. A name means a note of the collection of the
/// note that contains it, or, behind the name of a collection and a colon, one of that.
#[derive(Debug, Clone)]
pub(crate) struct NameIndex<'a> {
    notes: &'a [Arc<NoteHandle>],
    collections: Vec<CollectionNames<'a>>,
    /// A collection that knows the other names of all.
    about: Option<&'a Collection>,
    /// Whether a name may begin with that of a collection.
    has_names: bool,
    /// The notes of all collections by path; empty if there is one.
    by_path: OnceLock<HashMap<&'a str, NoteIdx, RandomState>>,
}

/// The names of the notes of one collection.
#[derive(Debug, Clone)]
struct CollectionNames<'a> {
    /// The notes of all collections, and the positions of those of this one.
    notes: &'a [Arc<NoteHandle>],
    range: Range<usize>,
    name: &'a str,
    /// Whether it is the user's own store.
    is_users_own: bool,
    /// Whether it is that, or the user's settings name it.
    is_of_user: bool,
    dialect: Dialect,
    by_id: HashMap<&'a str, NoteIdx, RandomState>,
    /// The names of the notes that are no drafts, then those of drafts.
    by_text: OnceLock<[TextNames<'a>; 2]>,
    by_path: OnceLock<HashMap<&'a str, NoteIdx, RandomState>>,
}

/// Names other than ids; of several notes with one name, the first by id has it.
#[derive(Debug, Clone, Default)]
struct TextNames<'a> {
    titles: HashMap<&'a str, NoteIdx, RandomState>,
    titles_any_case: HashMap<String, NoteIdx, RandomState>,
    aliases: HashMap<String, NoteIdx, RandomState>,
    stems: HashMap<&'a str, NoteIdx, RandomState>,
}

/// The result of resolving a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathTarget {
    /// The index of a note.
    Note(NoteIdx),
    /// Nothing: no note has that name or path.
    Nothing,
    /// A path outside the store.
    Outside,
    /// A path from the root, where no note is, or another link that may mean something else: it is none in the store.
    NoLink,
}

impl PathTarget {
    /// Returns the note.
    pub(crate) fn note(self) -> Option<NoteIdx> {
        if let Self::Note(note) = self { Some(note) } else { None }
    }
}

impl<'a> NameIndex<'a> {
    /// Indexes the names of notes that are sorted by collection.
    pub(crate) fn new(notes: &'a [Arc<NoteHandle>]) -> Self {
        let mut collections = Vec::new();
        let mut first = 0;
        for same in notes.chunk_by(|a, b| a.collection_ordinal() == b.collection_ordinal()) {
            collections.push(CollectionNames::new(notes, first..first + same.len()));
            first += same.len();
        }
        Self { notes, collections, about: naming_collection(notes), has_names: true, by_path: OnceLock::new() }
    }

    /// Indexes the names of the notes of a store, whose first collection knows the other names of all.
    pub(crate) fn of(store: &'a Store) -> Self {
        Self::new(store.notes()).with_names_of(Some(store.first_collection()))
    }

    /// Indexes the names of the notes of one collection, in which no name begins with that of a collection.
    pub(super) fn of_unnamed(notes: &'a [Arc<NoteHandle>]) -> Self {
        Self { has_names: false, ..Self::new(notes) }
    }

    /// Returns the index with the other names of all collections, which one of them knows.
    pub(super) fn with_names_of(self, about: Option<&'a Collection>) -> Self {
        Self { about: about.or(self.about), ..self }
    }

    /// Finds a note by a name in a note of the first collection: see [`NameIndex::resolve_from`].
    pub(crate) fn resolve(&self, target: &str) -> Option<NoteIdx> {
        self.resolve_from(NoteIdx::new(0), target)
    }

    /// Finds a note by id, title, title in any case, alias, or file stem, in this order. A draft has only names that no
    /// other note has: what nobody accepted takes no link from what was accepted. If the whole text names nothing, a
    /// `#heading` at its end is ignored. `from` is the note that contains the name.
    pub(crate) fn resolve_from(&self, from: NoteIdx, target: &str) -> Option<NoteIdx> {
        let target = target.trim();
        let own = self.collection_of(from)?;
        own.resolve(target).or_else(|| {
            let (name, rest) = target.split_once(COLLECTION_MARK).filter(|_| self.has_names)?;
            let current = self.about.map_or(name, |about| about.current_name(name));
            let named = self.collections.iter().find(|collection| collection.name == current)?;
            // The notes of the user's own store count in every project, and the other names mean others in each.
            let is_stable = match self.about {
                Some(about) if name != current => about.is_other_name_of_user(name),
                _ => named.is_of_user,
            };
            if own.is_users_own && !is_stable { None } else { named.resolve(rest.trim()) }
        })
    }

    fn collection_of(&self, note: NoteIdx) -> Option<&CollectionNames<'a>> {
        let behind = self.collections.partition_point(|collection| collection.range.end <= note.index());
        self.collections.get(behind)
    }

    /// Resolves a link in the body of the note at path `from` of the first collection.
    pub(crate) fn resolve_link(&self, from: &str, link: EncodedTarget<'_>) -> PathTarget {
        match link {
            EncodedTarget::Wiki(target) => self.resolve(target).map_or(PathTarget::Nothing, PathTarget::Note),
            EncodedTarget::Path(path) => self.resolve_path(from, path),
        }
    }

    /// Resolves a link in the body of a note. In a document, one that leads to no note may be none: see
    /// [`Dialect::can_break`].
    pub(crate) fn resolve_link_in(&self, from: NoteIdx, link: EncodedTarget<'_>) -> PathTarget {
        match link {
            EncodedTarget::Wiki(target) => {
                self.resolve_from(from, target).map_or(PathTarget::Nothing, PathTarget::Note)
            }
            EncodedTarget::Path(path) => {
                let note = &self.notes[from];
                let own = self.collection_of(from);
                let found = own.map_or(PathTarget::Nothing, |own| own.resolve_path(note.local_path(), path));
                match found {
                    PathTarget::Note(_) => found,
                    other => self.find_in_other(note, path).map_or(other, PathTarget::Note),
                }
            }
        }
    }

    /// Finds the note of any collection whose file a path in a note leads to, relative to its folder.
    fn find_in_other(&self, from: &NoteHandle, path: &str) -> Option<NoteIdx> {
        if self.collections.len() < 2 || path.starts_with('/') {
            return None;
        }
        let by_path = self.by_path.get_or_init(|| {
            let paths = NoteIdx::enumerate(self.notes);
            paths.map(|(index, note)| (note.path.as_str(), index)).collect()
        });
        let inside = normalize_path(from.local_path(), path).join("/");
        // A path of a note is relative to the first collection, which the link may enter from outside.
        let from_first = match from.collection() {
            None => inside,
            Some(own) => match inside.strip_prefix(own.way_to_first.as_str()) {
                Some(below) => below.to_owned(),
                None => normalize_path(&own.prefix, &inside).join("/"),
            },
        };
        document_paths(from_first).find_map(|path| by_path.get(path.as_str()).copied())
    }

    /// Finds the note of the first collection whose file a path leads to: see [`CollectionNames::resolve_path`].
    pub(crate) fn resolve_path(&self, from: &str, path: &str) -> PathTarget {
        self.collections.first().map_or(PathTarget::Nothing, |first| first.resolve_path(from, path))
    }
}

impl<'a> CollectionNames<'a> {
    fn new(notes: &'a [Arc<NoteHandle>], range: Range<usize>) -> Self {
        let first = &notes[NoteIdx::new(range.start)];
        let (name, dialect) = (first.collection_name(), first.dialect());
        let reason = first.collection().map(|own| &own.reason);
        let is_users_own = reason == Some(&CollectionReason::User);
        let is_of_user = reason.is_some_and(CollectionReason::is_of_user);
        let mut names = Self {
            notes,
            range,
            name,
            is_users_own,
            is_of_user,
            dialect,
            by_id: HashMap::default(),
            by_text: OnceLock::new(),
            by_path: OnceLock::new(),
        };
        names.by_id = names.own_notes().map(|(index, note)| (note.id.local(), index)).collect();
        names
    }

    fn own_notes(&self) -> impl Iterator<Item = (NoteIdx, &'a Arc<NoteHandle>)> + use<'a> {
        let positions = self.range.clone().map(NoteIdx::new);
        positions.zip(self.notes.get(self.range.clone()).unwrap_or_default())
    }

    fn resolve(&self, target: &str) -> Option<NoteIdx> {
        self.find_by_name(target).or_else(|| {
            let (name, _heading) = target.split_once('#')?;
            self.find_by_name(name.trim())
        })
    }

    fn find_by_name(&self, name: &str) -> Option<NoteIdx> {
        if name.is_empty() {
            return None;
        }
        if let Some(found) = self.by_id.get(name) {
            return Some(*found);
        }
        let texts =
            self.by_text.get_or_init(|| [false, true].map(|is_draft| TextNames::new(self.own_notes(), is_draft)));
        let by_text = texts.iter().find_map(|texts| texts.find(name));
        by_text.or_else(|| self.find_by_path_in_source(name))
    }

    /// Finds a note by its path from the folder of a source, as `[[folder/note]]` has it.
    fn find_by_path_in_source(&self, name: &str) -> Option<NoteIdx> {
        let is_source = self.dialect != Dialect::Qipu;
        let inside = join_path("", name).filter(|_| is_source && name.contains('/'))?;
        document_paths(inside).find_map(|path| self.find_by_path(&path))
    }

    /// Finds the note whose file a path leads to, relative to the folder of the note at path `from`. A path that begins
    /// with `/` is relative to the collection, else to one of its folders of notes, as in a bundle of Open Knowledge Format.
    /// In a source, a document may be named without its ending, by its folder, or as the web page that is made of it.
    fn resolve_path(&self, from: &str, path: &str) -> PathTarget {
        let is_source = self.dialect != Dialect::Qipu;
        if path.starts_with('/') {
            let Some(inside) = join_path("", path) else { return PathTarget::NoLink };
            let roots = if is_source { [""].as_slice() } else { &["", "notes/", "mocs/", "journals/"] };
            let found = roots.iter().map(|root| format!("{root}{inside}")).find_map(|path| self.find_document(&path));
            return found.map_or(PathTarget::NoLink, PathTarget::Note);
        }
        let Some(path) = join_path(from, path) else {
            return PathTarget::Outside;
        };
        self.find_document(&path).map_or(PathTarget::Nothing, PathTarget::Note)
    }

    fn find_document(&self, path: &str) -> Option<NoteIdx> {
        let is_source = self.dialect != Dialect::Qipu;
        let exact = self.find_by_path(path);
        exact
            .or_else(|| document_paths(path.to_owned()).filter(|_| is_source).find_map(|path| self.find_by_path(&path)))
    }

    fn find_by_path(&self, path: &str) -> Option<NoteIdx> {
        let by_path =
            self.by_path.get_or_init(|| self.own_notes().map(|(index, note)| (note.local_path(), index)).collect());
        by_path.get(path).copied()
    }
}

/// Yields the paths of the files that a link to a document may mean: its own, with the ending of markdown, the first page of
/// a folder, and the source of a web page.
fn document_paths(path: String) -> impl Iterator<Item = String> {
    let stem = [".html", ".htm"].iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(&path).to_owned();
    let endings = MARKDOWN_ENDINGS.map(|ending| format!("{stem}.{ending}"));
    let folder = if stem.is_empty() { String::new() } else { format!("{stem}/") };
    let pages = ["index.md", "README.md", "_index.md", "index.mdx"].map(|page| format!("{folder}{page}"));
    std::iter::once(path).chain(endings).chain(pages)
}

impl<'a> TextNames<'a> {
    /// Collects the names of drafts, or those of all other notes.
    fn new(notes: impl Iterator<Item = (NoteIdx, &'a Arc<NoteHandle>)>, is_draft: bool) -> Self {
        let mut texts = Self::default();
        for (index, note) in notes.filter(|(_, note)| note.is_draft() == is_draft) {
            texts.titles.entry(note.title()).or_insert(index);
            texts.titles_any_case.entry(note.title().to_lowercase()).or_insert(index);
            texts.stems.entry(note.stem()).or_insert(index);
            for alias in note.aliases() {
                texts.aliases.entry(alias.to_lowercase()).or_insert(index);
            }
        }
        texts
    }

    fn find(&self, name: &str) -> Option<NoteIdx> {
        let lower = || name.to_lowercase();
        let stem = name.strip_suffix(".md").unwrap_or(name);
        self.titles
            .get(name)
            .or_else(|| self.titles_any_case.get(&lower()))
            .or_else(|| self.aliases.get(&lower()))
            .or_else(|| self.stems.get(stem))
            .copied()
    }
}
