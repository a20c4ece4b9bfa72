//! The files of a bundle that notes and attachments become: each keeps its path below its folder of the store.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::super::taken_paths::TakenPaths;
use crate::import::okf::{INDEX, LOG, log_days, trimmed};
use crate::import::sanitized;
use crate::store::{NoteHandle, NoteIdx, Store};

/// The longest path in bytes, as in an import.
const MAX_PATH_BYTES: usize = 600;

/// What a note becomes, with the path of the file in the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A concept.
    Concept(String),
    /// The map of a folder.
    Index(String),
    /// An entry of a log.
    Log(String, Date),
}

impl Place {
    pub(super) fn path(&self) -> &str {
        let (Self::Concept(path) | Self::Index(path) | Self::Log(path, _)) = self;
        path
    }
}

#[derive(Debug, Default)]
pub(super) struct Places {
    notes: BTreeMap<NoteIdx, Place>,
    attachments: BTreeMap<String, String>,
    logs: BTreeSet<String>,
}

impl Places {
    /// Assigns a file to all notes of a store and to its attachments. Depends on nothing but their paths and texts.
    pub(super) fn new(store: &Store, attachments: &[String]) -> Self {
        let (mut places, mut taken) = (Self::default(), TakenPaths::default());
        let mut order: Vec<NoteIdx> = NoteIdx::all(store.notes().len()).collect();
        order.sort_by_key(|index| &store.notes()[*index].path);
        for index in &order {
            if let Some(place) = reserved_place(&store.notes()[*index]) {
                places.insert_reserved(*index, place, &mut taken);
            }
        }
        for index in order {
            if let Entry::Vacant(entry) = places.notes.entry(index) {
                let path = concept_path(&store.notes()[index], &taken);
                taken.insert(&path);
                entry.insert(Place::Concept(path));
            }
        }
        for attachment in attachments {
            let path = attachment_path(attachment, &taken);
            taken.insert(&path);
            places.attachments.insert(attachment.clone(), path);
        }
        places
    }

    /// Inserts a note that becomes a file with a reserved name, unless another note becomes that file. A log may have
    /// several.
    fn insert_reserved(&mut self, index: NoteIdx, place: Place, taken: &mut TakenPaths) {
        let is_log = matches!(place, Place::Log(..));
        if (is_log && self.logs.contains(place.path()))
            || (place.path().len() <= MAX_PATH_BYTES && taken.is_free(place.path()))
        {
            taken.insert(place.path());
            self.logs.extend(is_log.then(|| place.path().to_owned()));
            self.notes.insert(index, place);
        }
    }

    pub(super) fn of_note(&self, index: NoteIdx) -> Option<&Place> {
        self.notes.get(&index)
    }

    /// Returns the path in the bundle of an attachment of the store.
    pub(super) fn of_attachment(&self, path: &str) -> Option<&str> {
        self.attachments.get(path).map(String::as_str)
    }

    /// Tells whether a file of the bundle has this path.
    pub(super) fn contains(&self, path: &str) -> bool {
        self.notes.values().any(|place| place.path() == path) || self.attachments.values().any(|other| other == path)
    }
}

/// Returns the file with a reserved name that a note becomes: the map of a folder, or a journal whose text stays apart
/// from other days in a log.
fn reserved_place(note: &NoteHandle) -> Option<Place> {
    let inside = below_folder(&note.path);
    let (folder, name) = inside.rsplit_once('/').map_or(("", inside.as_str()), |(folder, name)| (folder, name));
    let path = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    if note.is_moc() && name == INDEX {
        return Some(Place::Index(path(INDEX)));
    }
    let day = note.journal_day().filter(|_| note.is_journal())?;
    let text = trimmed(note.parsed_or_empty().body());
    let is_apart =
        log_days(&format!("## 2000-01-02\n{text}\n## 2000-01-01\n")).iter().map(|(_, text)| text).eq(["", &text]);
    is_apart.then(|| Place::Log(path(LOG), day))
}

/// Returns a path in the store without its first folder, in a form that an import keeps.
fn below_folder(path: &str) -> String {
    sanitized(path.split_once('/').map_or(path, |(_, inside)| inside))
}

fn concept_path(note: &NoteHandle, taken: &TakenPaths) -> String {
    let inside = below_folder(&note.path);
    let stem = inside.strip_suffix(".md").unwrap_or(&inside);
    let name = stem.rsplit('/').next().unwrap_or(stem).to_lowercase();
    let stem = if ["index", "log"].contains(&name.as_str()) { format!("{stem}-note") } else { stem.to_owned() };
    let id = &note.id;
    first_free([stem.clone(), format!("{stem}-{id}"), id.to_string()], id.as_str(), ".md", taken)
}

/// A markdown file that is no note gets another extension: every markdown file of a bundle is a concept.
fn attachment_path(path: &str, taken: &TakenPaths) -> String {
    let inside = below_folder(path);
    let inside = if inside.to_lowercase().ends_with(".md") { format!("{inside}.txt") } else { inside };
    let in_folder = format!("attachments/{inside}");
    first_free([inside, in_folder.clone(), "attachments/file".to_owned()], &in_folder, "", taken)
}

fn first_free(wanted: [String; 3], base: &str, extension: &str, taken: &TakenPaths) -> String {
    let numbered = (2_usize..).map(|number| format!("{base}-{number}"));
    let mut paths = wanted.into_iter().chain(numbered).map(|path| format!("{path}{extension}"));
    let is_usable = |path: &String| path.len() <= MAX_PATH_BYTES && taken.is_free(path);
    let free = paths.find(is_usable);
    debug_assert!(free.is_some(), "numbers never end");
    free.unwrap_or_default()
}
