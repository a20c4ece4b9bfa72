//! Opens collections and puts their notes into one list: by collection, then by id.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::collection_reader::{CollectionReader, OpenedNotes, RecentFiles};
use super::load;
use super::note_handle::NoteHandle;
use super::note_idx::NoteIdx;
use super::text_index_builder::IndexBuilderFactory;
use crate::error::Error;
use crate::note::{COLLECTION_MARK, Dialect, normalize_path};
use crate::store::collections::collection::Collection;
use crate::store::collections::discover::{CollectionScope, Location, relative_to};
use crate::store::collections::find::{FoundCollection, FoundCollections};
use crate::store::index::location::IndexLocation;

/// The least notes of a collection that one task puts into it.
const MIN_NOTES_PER_TASK: usize = 1_000;

/// The notes of all collections, and what was read with them.
#[derive(Debug, Default)]
pub(in crate::store) struct OpenCollections {
    pub(in crate::store) notes: Vec<Arc<NoteHandle>>,
    pub(in crate::store) all: Vec<CollectionReader>,
    id_hashes: Vec<u64>,
    /// The files of notes that were modified since a time, with their stats from before they were read.
    pub(in crate::store) recent: RecentFiles,
    /// The names of collections that could not be read, with the reason.
    pub(in crate::store) failed: Vec<(String, Error)>,
}

/// Reads collections, the first one's notes first.
///
/// # Errors
/// As [`load::notes`] for the first collection; others that can't be read are listed.
pub(in crate::store) fn open(
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
    let source = rules.as_ref().map(|_| dialect);
    let index = IndexLocation { since, source, ..load::index_location(location, &root, &dir) };
    let loaded = load::notes(&index, rules.as_deref(), builder.map(|factory| factory(&config)))?;
    let OpenedNotes { notes, mut collection, .. } = loaded;
    let (mut notes, text_index) = super::order::sorted(notes, collection.text_index);
    if !about.is_project() {
        notes
            .par_iter_mut()
            .with_min_len(MIN_NOTES_PER_TASK)
            .for_each(|note| Arc::make_mut(note).set_collection(about));
        collection.unreadable.iter_mut().for_each(|(path, _)| *path = normalize_path(&about.prefix, path).join("/"));
    }
    // The file keeps the terms of all collections; those of a part would only replace them.
    let terms = collection.terms.filter(|_| location.scope != CollectionScope::Own);
    let (about, dir) = (Arc::clone(about), Some(dir));
    let collection = CollectionReader { about, root, dir, rules, text_index, terms, ..collection };
    Ok(OpenedNotes { notes, collection, ..loaded })
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
    let prefix = match found.dialect {
        // A commit has no path: it is named by its id.
        Dialect::Commit => format!("{}{COLLECTION_MARK}", found.name),
        _ if found.root == first => String::new(),
        _ => prefix,
    };
    Collection {
        name: found.name.clone(),
        ordinal,
        prefix,
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
    pub(in crate::store) fn add(&mut self, opened: OpenedNotes) {
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
