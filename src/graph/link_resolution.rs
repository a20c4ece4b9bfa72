//! Resolves the links of all notes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::adjacency::{AdjacencyLists, INLINE, OutLink, TYPED};
use super::{NameIndex, PathTarget};
use crate::note::{COLLECTION_MARK, EncodedTarget, RELATED};
use crate::store::{NoteHandle, NoteIdx};

/// The number of notes that one task resolves.
const RUN_LENGTH: usize = 512;

pub(super) fn links(names: &NameIndex<'_>, notes: &[Arc<NoteHandle>]) -> AdjacencyLists {
    let run = |first: usize| {
        let mut run = AdjacencyLists::default();
        (first..notes.len().min(first + RUN_LENGTH))
            .for_each(|from| add_note(&mut run, names, notes, NoteIdx::new(from)));
        run
    };
    let runs: Vec<AdjacencyLists> = (0..notes.len()).into_par_iter().step_by(RUN_LENGTH).map(run).collect();
    let mut links = AdjacencyLists::default();
    links.ends.reserve_exact(notes.len());
    links.all.reserve_exact(runs.iter().map(|run| run.all.len()).sum());
    runs.into_iter().for_each(|run| links.append(run));
    links
}

/// Adds the links and lost targets of the next note of a run. Repeated links are merged, and so are a typed and an
/// inline link to the same note. Links of a note to itself are dropped.
pub(super) fn add_note(run: &mut AdjacencyLists, names: &NameIndex<'_>, notes: &[Arc<NoteHandle>], from: NoteIdx) {
    let row = NoteIdx::new(run.ends.row_count());
    let mut own: Vec<OutLink> = Vec::new();
    let mut seen_lost: HashSet<String, RandomState> = HashSet::default();
    let (kinds, unresolved, outside) = (&mut run.kinds, &mut run.unresolved, &mut run.outside);
    let mut is_first = |target: &str| seen_lost.insert(target.to_owned());
    let (dialect, links) = (notes[from].dialect(), notes[from].link_fields());
    let (mut is_open, mut is_qualified) = (false, false);
    for (kind, target) in &links.typed {
        match names.resolve_from(from, target) {
            Some(to) if to == from => {}
            Some(to) => {
                let link = OutLink::new(to, kinds.intern(kind), TYPED);
                if !own.contains(&link) {
                    own.push(link);
                }
            }
            None => {
                is_qualified |= target.contains(COLLECTION_MARK);
                if is_first(target) {
                    unresolved.push(row, target);
                }
            }
        }
    }
    let mut first_links = FirstLinks::default();
    for link in links.inline {
        let (EncodedTarget::Wiki(target) | EncodedTarget::Path(target)) = link;
        let to = match names.resolve_link_in(from, link) {
            PathTarget::Note(to) => to,
            lost => {
                match link {
                    EncodedTarget::Wiki(name) => is_qualified |= name.contains(COLLECTION_MARK),
                    EncodedTarget::Path(path) => is_open |= !path.starts_with('/'),
                }
                match lost {
                    _ if !dialect.can_break(link) => {}
                    // Files outside the store are not checked for existence.
                    PathTarget::Outside if is_first(target) => outside.push(row, target),
                    // `[[#heading]]` leads to a heading of the note itself.
                    PathTarget::Nothing if !target.starts_with('#') && is_first(target) => unresolved.push(row, target),
                    _ => {}
                }
                continue;
            }
        };
        if to == from {
            continue;
        }
        let position = first_links.position(&own, to).unwrap_or_else(|| {
            own.push(OutLink::new(to, kinds.intern(RELATED), INLINE));
            own.len() - 1
        });
        own[position].add_origins(INLINE);
    }
    run.open.extend((is_open || is_qualified).then_some(row));
    run.qualified.extend(is_qualified.then_some(row));
    run.push(own);
}

/// Finds the first of a note's links to each target: by linear search in a short list, by hash table in a long one.
#[derive(Default)]
struct FirstLinks {
    positions: HashMap<NoteIdx, usize, RandomState>,
    /// The number of links already in `positions`.
    known: usize,
}

/// The number of links from which on the hash table is used.
const MIN_HASHED_LINKS: usize = 16;

impl FirstLinks {
    fn position(&mut self, links: &[OutLink], to: NoteIdx) -> Option<usize> {
        if links.len() < MIN_HASHED_LINKS {
            return links.iter().position(|link| link.to == to);
        }
        for (position, link) in links.iter().enumerate().skip(self.known) {
            self.positions.entry(link.to).or_insert(position);
        }
        self.known = links.len();
        self.positions.get(&to).copied()
    }
}
