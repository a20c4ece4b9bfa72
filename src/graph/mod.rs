//! Links between notes, seen from both ends.
//!
//! Notes are known here by their place in the store's list, which is the order of their ids.

mod digests;
mod resolve;
mod walk;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use rayon::prelude::*;

pub use digests::Digests;
pub use walk::{Limits, Reached, Walk};

use crate::note::{InlineLink, LinkTypes, Note, Target};
use crate::phases;
pub(crate) use resolve::Names;
pub(crate) use resolve::{PathTarget, joined};

/// The type that a link has when nothing says more.
const RELATED: &str = "related";

/// A link from one note to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The note at its beginning, as it is seen.
    pub from: usize,
    /// The note at its end, as it is seen.
    pub to: usize,
    /// The link type, as it is seen from `from`.
    pub kind: String,
    /// Where it comes from.
    pub sources: EdgeSources,
}

/// Where an edge comes from; more than one may be true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EdgeSources {
    /// The frontmatter of `from`.
    pub typed: bool,
    /// The body of `from`.
    pub inline: bool,
    /// A link of `to`, seen through its inverse type.
    pub virtually: bool,
}

/// Which way links are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// From a note to what it links to.
    Out,
    /// From a note to what links to it.
    In,
    /// Both.
    #[default]
    Both,
}

impl Direction {
    /// Returns the name that flags and answers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
            Self::Both => "both",
        }
    }
}

/// Which links are followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Follow {
    /// Which way.
    pub direction: Direction,
    /// Only these types, as they are seen; empty for all.
    pub kinds: Vec<String>,
    /// None of these types, as they are seen.
    pub except_kinds: Vec<String>,
    /// Only links that stand in frontmatter.
    pub typed_only: bool,
    /// Only links that stand in a body.
    pub inline_only: bool,
    /// Show links towards a note as they are written, not under their inverse type.
    pub raw: bool,
}

impl Follow {
    fn takes(&self, kind: &str, written: EdgeSources) -> bool {
        let has = |kinds: &[String]| kinds.iter().any(|have| have == kind);
        (self.kinds.is_empty() || has(&self.kinds))
            && !has(&self.except_kinds)
            && (!self.typed_only || written.typed)
            && (!self.inline_only || written.inline)
    }
}

/// Every link of a store.
#[derive(Debug)]
pub struct Graph<'a> {
    notes: &'a [Arc<Note>],
    names: Names<'a>,
    types: &'a LinkTypes,
    /// Each note's links as written, in the order of frontmatter, then body.
    out: Vec<Vec<Edge>>,
    /// The links that lead to each note, as their places in `out`, and where those of each begin.
    into: Vec<(u32, u32)>,
    into_starts: Vec<usize>,
    unresolved: Vec<Vec<String>>,
    outside: Vec<Vec<String>>,
}

/// What a note's links come to.
struct Written {
    edges: Vec<Edge>,
    unresolved: Vec<String>,
    /// Paths of links that lead out of the store.
    outside: Vec<String>,
}

impl<'a> Graph<'a> {
    /// Reads the links of all notes, which must be in the order of their ids.
    pub fn new(notes: &'a [Arc<Note>], types: &'a LinkTypes) -> Self {
        let names = Names::new(notes);
        let links: Vec<Written> =
            (0..notes.len()).into_par_iter().map(|from| written_edges(&names, notes, from)).collect();
        let mut graph = Self {
            notes,
            names,
            types,
            out: Vec::with_capacity(notes.len()),
            into: Vec::new(),
            into_starts: Vec::new(),
            unresolved: Vec::with_capacity(notes.len()),
            outside: Vec::with_capacity(notes.len()),
        };
        for Written { edges, unresolved, outside } in links {
            graph.out.push(edges);
            graph.unresolved.push(unresolved);
            graph.outside.push(outside);
        }
        graph.turn_around();
        phases::end("links resolved");
        graph
    }

    /// Reads the links of all notes and lets digests have those of the notes that they stand for:
    /// a digest's own come first; a link inside one digest is none.
    pub fn compacted(notes: &'a [Arc<Note>], types: &'a LinkTypes, digests: &Digests) -> Self {
        let mut graph = Self::new(notes, types);
        if digests.is_empty() {
            return graph;
        }
        let written = std::mem::replace(&mut graph.out, vec![Vec::new(); notes.len()]);
        let (own, lent): (Vec<Edge>, Vec<Edge>) =
            written.into_iter().flatten().partition(|edge| digests.stand_in(edge.from) == edge.from);
        for edge in own.into_iter().chain(lent) {
            let (from, to) = (digests.stand_in(edge.from), digests.stand_in(edge.to));
            if from != to {
                add_edge(&mut graph.out[from], Edge { from, to, ..edge });
            }
        }
        graph.turn_around();
        graph
    }

    /// Finds for each note the links that lead to it.
    fn turn_around(&mut self) {
        let mut ends = vec![0; self.out.len() + 1];
        for edge in self.out.iter().flatten() {
            ends[edge.to] += 1;
        }
        let mut end = 0;
        for have in &mut ends {
            end += *have;
            *have = end;
        }
        self.into = vec![(0, 0); end];
        // From the last to the first: what is an end becomes a beginning.
        for (from, edges) in self.out.iter().enumerate().rev() {
            for (place, edge) in edges.iter().enumerate().rev() {
                ends[edge.to] -= 1;
                self.into[ends[edge.to]] = (from as u32, place as u32);
            }
        }
        self.into_starts = ends;
    }

    fn into(&self, to: usize) -> &[(u32, u32)] {
        self.into.get(self.into_starts[to]..self.into_starts[to + 1]).unwrap_or_default()
    }

    /// Returns a note's own links in the order in which it makes them: frontmatter, then body.
    pub fn written(&self, from: usize) -> &[Edge] {
        &self.out[from]
    }

    /// Returns the links that lead to a note as they are written, in the order of the ids of the
    /// notes that make them.
    pub fn leading_to(&self, to: usize) -> impl Iterator<Item = &Edge> {
        self.into(to).iter().map(|&(from, place)| &self.out[from as usize][place as usize])
    }

    /// Returns the ordered lists in a note's body, each as the notes that its items begin with.
    pub fn ordered_lists(&self, from: usize) -> Vec<Vec<usize>> {
        let lists = self.notes[from].ordered_lists();
        if lists.is_empty() {
            return Vec::new();
        }
        let note = |link: &InlineLink| match link {
            InlineLink::Wiki(target) => self.names.resolve(target),
            InlineLink::Path(path) => match self.names.resolve_path(&self.notes[from].path, path) {
                PathTarget::Note(to) => Some(to),
                PathTarget::Nothing | PathTarget::Outside => None,
            },
        };
        lists.iter().map(|list| list.iter().filter_map(note).collect()).collect()
    }

    /// Tells whether a link is one of those that are followed, from either of its ends.
    pub fn draws(&self, edge: &Edge, follow: &Follow) -> bool {
        let from_its_end = || !follow.kinds.is_empty() && follow.takes(&self.types.inverse(&edge.kind), edge.sources);
        follow.takes(&edge.kind, edge.sources) || from_its_end()
    }

    /// Returns the notes that link to a note, in the order of their ids.
    pub fn backlinks(&self, to: usize) -> impl Iterator<Item = usize> {
        self.into(to).iter().map(|(from, _)| *from as usize)
    }

    /// Returns the targets that a note names and that do not exist, in the order it names them.
    pub fn unresolved(&self, from: usize) -> &[String] {
        &self.unresolved[from]
    }

    /// Returns the paths by which a note links to files outside the store.
    pub fn outside(&self, from: usize) -> &[String] {
        &self.outside[from]
    }

    /// Returns the links at a note as they are seen from it, each with the link as written that
    /// it stands for. The most valuable neighbours come first, then ids, then types.
    fn seen(&self, at: usize, follow: &Follow) -> Vec<(Edge, &Edge)> {
        let mut seen = Vec::new();
        if follow.direction != Direction::In {
            seen.extend(self.out[at].iter().map(|edge| (edge.clone(), edge)));
        }
        if follow.direction != Direction::Out {
            seen.extend(self.leading_to(at).map(|edge| (self.seen_from_target(edge, follow.raw), edge)));
        }
        seen.retain(|(edge, written)| follow.takes(&edge.kind, written.sources));
        seen.sort_by(|(a, _), (b, _)| {
            let rank = |edge: &Edge| self.rank(other_end(edge, at));
            rank(a).cmp(&rank(b)).then_with(|| a.kind.cmp(&b.kind))
        });
        seen
    }

    fn seen_from_target(&self, edge: &Edge, raw: bool) -> Edge {
        if raw {
            return edge.clone();
        }
        Edge {
            from: edge.to,
            to: edge.from,
            kind: self.types.inverse(&edge.kind).into_owned(),
            sources: EdgeSources { virtually: true, ..EdgeSources::default() },
        }
    }

    /// The order among notes at the same distance: value, highest first, then id.
    fn rank(&self, note: usize) -> (u8, usize) {
        (u8::MAX - self.notes[note].value_or_default(), note)
    }
}

/// Adds a link, or what it comes from to the same one.
fn add_edge(edges: &mut Vec<Edge>, edge: Edge) {
    match edges.iter_mut().find(|have| have.to == edge.to && have.kind == edge.kind) {
        Some(have) => {
            have.sources.typed |= edge.sources.typed;
            have.sources.inline |= edge.sources.inline;
        }
        None => edges.push(edge),
    }
}

/// Returns the end of an edge that is not `at`.
pub(crate) fn other_end(edge: &Edge, at: usize) -> usize {
    if edge.from == at { edge.to } else { edge.from }
}

/// Returns a note's links and the targets that lead nowhere. Repeated links are one edge, and so
/// are a typed and an inline link to the same note. A link of a note to itself says nothing.
fn written_edges(names: &Names<'_>, notes: &[Arc<Note>], from: usize) -> Written {
    let mut edges: Vec<Edge> = Vec::new();
    let mut unresolved: Vec<String> = Vec::new();
    let mut outside: Vec<String> = Vec::new();
    let mut seen_lost: HashSet<String, RandomState> = HashSet::default();
    let mut lost = |target: &str| {
        if seen_lost.insert(target.to_owned()) {
            unresolved.push(target.to_owned());
        }
    };
    let links = notes[from].all_links();
    for (kind, target) in &links.typed {
        match names.resolve(target) {
            Some(to) if to == from => {}
            Some(to) if edges.iter().any(|edge| edge.to == to && edge.kind == *kind) => {}
            Some(to) => edges.push(Edge {
                from,
                to,
                kind: (*kind).to_owned(),
                sources: EdgeSources { typed: true, ..EdgeSources::default() },
            }),
            None => lost(target),
        }
    }
    let mut first_to = FirstTo::default();
    for link in links.inline {
        let to = match link {
            Target::Wiki(target) => names.resolve(target).ok_or(target),
            Target::Path(path) => match names.resolve_path(&notes[from].path, path) {
                PathTarget::Note(to) => Ok(to),
                PathTarget::Nothing => Err(path),
                // A file beside the store is no note, and whether it is there is not ours to say.
                PathTarget::Outside => {
                    outside.push(path.to_owned());
                    continue;
                }
            },
        };
        let to = match to {
            Ok(to) => to,
            // `[[#heading]]` is a place in the note itself.
            Err(target) if target.starts_with('#') => continue,
            Err(target) => {
                lost(target);
                continue;
            }
        };
        if to == from {
            continue;
        }
        let place = first_to.place(&edges, to).unwrap_or_else(|| {
            edges.push(Edge { from, to, kind: RELATED.to_owned(), sources: EdgeSources::default() });
            edges.len() - 1
        });
        edges[place].sources.inline = true;
    }
    Written { edges, unresolved, outside }
}

/// The first of a note's links to each note. Few links are gone through; where they are many, their
/// places are looked up.
#[derive(Default)]
struct FirstTo {
    places: HashMap<usize, usize, RandomState>,
    /// How many links are in `places`.
    known: usize,
}

/// From how many links on their places are looked up.
const MANY_LINKS: usize = 16;

impl FirstTo {
    fn place(&mut self, edges: &[Edge], to: usize) -> Option<usize> {
        if edges.len() < MANY_LINKS {
            return edges.iter().position(|edge| edge.to == to);
        }
        for (place, edge) in edges.iter().enumerate().skip(self.known) {
            self.places.entry(edge.to).or_insert(place);
        }
        self.known = edges.len();
        self.places.get(&to).copied()
    }
}
