//! Reads the links of notes: which notes they lead to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::links::{AdjacencyLists, INLINE, OutLink, TYPED};
use super::{NameIndex, PathTarget};
use crate::note::{EncodedTarget, Note};

/// The type that a link has when nothing says more.
const RELATED: &str = "related";

/// How many notes are read one after the other.
const RUN: usize = 512;

/// Reads the links of all notes.
pub(super) fn links(names: &NameIndex<'_>, notes: &[Arc<Note>]) -> AdjacencyLists {
    let run = |first: usize| {
        let mut run = AdjacencyLists::default();
        (first..notes.len().min(first + RUN)).for_each(|from| add_note(&mut run, first, names, notes, from));
        run
    };
    let runs: Vec<AdjacencyLists> = (0..notes.len()).into_par_iter().step_by(RUN).map(run).collect();
    let mut links = AdjacencyLists::default();
    links.ends.reserve_exact(notes.len());
    links.all.reserve_exact(runs.iter().map(|run| run.all.len()).sum());
    runs.into_iter().for_each(|run| links.append(run));
    links
}

/// Adds a note's links and the targets that lead nowhere; `first` is the first note of the run. Repeated
/// links are one, and so are a typed and an inline link to the same note. A link of a note to itself
/// says nothing.
fn add_note(run: &mut AdjacencyLists, first: usize, names: &NameIndex<'_>, notes: &[Arc<Note>], from: usize) {
    let mut own: Vec<OutLink> = Vec::new();
    let mut seen_lost: HashSet<String, RandomState> = HashSet::default();
    let (kinds, unresolved) = (&mut run.kinds, &mut run.unresolved);
    let mut lost = |target: &str| {
        if seen_lost.insert(target.to_owned()) {
            unresolved.push(from - first, target);
        }
    };
    let links = notes[from].all_links();
    for (kind, target) in &links.typed {
        match names.resolve(target) {
            Some(to) if to == from => {}
            Some(to) => {
                let link = OutLink::new(to, kinds.number(kind), TYPED);
                if !own.contains(&link) {
                    own.push(link);
                }
            }
            None => lost(target),
        }
    }
    let mut first_to = FirstLinks::default();
    for link in links.inline {
        let (EncodedTarget::Wiki(target) | EncodedTarget::Path(target)) = link;
        let to = match names.resolve_link(&notes[from].path, link) {
            PathTarget::Note(to) => to,
            // A file beside the store is no note, and whether it is there is not ours to say.
            PathTarget::Outside => {
                run.outside.push(from - first, target);
                continue;
            }
            // `[[#heading]]` is a place in the note itself.
            PathTarget::Nothing if target.starts_with('#') => continue,
            PathTarget::Nothing => {
                lost(target);
                continue;
            }
        };
        if to == from {
            continue;
        }
        let place = first_to.place(&own, to as u32).unwrap_or_else(|| {
            own.push(OutLink::new(to, kinds.number(RELATED), INLINE));
            own.len() - 1
        });
        own[place].add_places(INLINE);
    }
    run.push(own);
}

/// The first of a note's links to each note. Few links are gone through; where they are many, their
/// places are looked up.
#[derive(Default)]
struct FirstLinks {
    places: HashMap<u32, usize, RandomState>,
    /// How many links are in `places`.
    known: usize,
}

/// From how many links on their places are looked up.
const MANY_LINKS: usize = 16;

impl FirstLinks {
    fn place(&mut self, links: &[OutLink], to: u32) -> Option<usize> {
        if links.len() < MANY_LINKS {
            return links.iter().position(|link| link.to == to);
        }
        for (place, link) in links.iter().enumerate().skip(self.known) {
            self.places.entry(link.to).or_insert(place);
        }
        self.known = links.len();
        self.places.get(&to).copied()
    }
}
