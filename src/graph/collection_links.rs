//! The links of each collection by itself, which are cached with it, and their union with the links between collections.

use std::sync::Arc;

use super::adjacency::AdjacencyLists;
use super::{Graph, NameIndex, link_resolution};
use crate::note::LinkTypes;
use crate::store::{Collection, NoteHandle, NoteIdx};
use crate::timings;

/// The links inside one collection.
#[derive(Debug, Default)]
pub struct CollectionLinks {
    links: AdjacencyLists,
    /// See [`Graph::ordered_lists`].
    lists: Vec<Vec<NoteIdx>>,
}

impl CollectionLinks {
    /// Resolves the links inside a collection, whose notes are sorted by id.
    pub fn new(notes: &[Arc<NoteHandle>]) -> Self {
        // What the collection is called depends on the answer, and the links are cached.
        let names = NameIndex::of_unnamed(notes);
        let links = link_resolution::links(&names, notes);
        let lists = super::lists_in_maps(&names, notes);
        timings::end("links resolved");
        Self { links, lists }
    }

    /// Decodes the output of [`CollectionLinks::to_bytes`]; `None` if it is corrupt or is not of as many notes.
    pub fn from_bytes(bytes: &[u8], notes: usize) -> Option<Self> {
        let (lists, links): (Vec<Vec<NoteIdx>>, &[u8]) = postcard::take_from_bytes(bytes).ok()?;
        let links = AdjacencyLists::decode(links)?;
        let is_valid = links.is_in_bounds(notes) && lists.iter().flatten().all(|note| note.index() < notes);
        timings::end("links taken from the index");
        is_valid.then_some(Self { links, lists })
    }

    /// Encodes the links for the cache of the collection.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Writing into memory can't fail; without lists, the bytes would be rejected by `from_bytes`.
        let lists = postcard::to_allocvec(&self.lists).unwrap_or_default();
        [lists, self.links.encode()].concat()
    }
}

impl<'a> Graph<'a> {
    /// Returns the graph of all collections, from the links inside each of them in the order of their notes. The first
    /// collection, if it is given, knows the other names of all.
    pub fn of_collections(
        notes: &'a [Arc<NoteHandle>],
        types: &'a LinkTypes,
        first: Option<&'a Collection>,
        mut parts: Vec<CollectionLinks>,
    ) -> Self {
        if parts.len() == 1
            && parts.iter().all(|part| part.links.qualified.is_empty())
            && let Some(CollectionLinks { links, lists }) = parts.pop()
        {
            return Self { lists: lists.into(), ..Self::of(notes, types, links) };
        }
        let (mut links, mut lists) = (AdjacencyLists::default(), Vec::new());
        for mut part in parts {
            let first = links.ends.row_count();
            part.links.shift(first);
            let shifted = |note: NoteIdx| NoteIdx::new(note.index() + first);
            lists.extend(part.lists.into_iter().map(|list| list.into_iter().map(shifted).collect::<Vec<_>>()));
            links.append(part.links);
        }
        if links.open.is_empty() {
            return Self { lists: lists.into(), ..Self::of(notes, types, links) };
        }
        let names = NameIndex::new(notes).with_names_of(first);
        let mut resolved = AdjacencyLists::default();
        for note in NoteIdx::all(notes.len()) {
            if links.open.binary_search(&note).is_ok() {
                link_resolution::add_note(&mut resolved, &names, notes, note);
            } else {
                resolved.push_copy(&links, note);
            }
        }
        let has_open_map = links.open.iter().any(|note| notes[*note].flags.is_moc);
        let lists = if has_open_map { super::lists_in_maps(&names, notes) } else { lists };
        Self { names: names.into(), lists: lists.into(), ..Self::of(notes, types, resolved) }
    }
}
