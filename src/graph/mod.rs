//! Links between notes, seen from both ends.
//!
//! Notes are known here by their place in the store's list, which is the order of their ids.

mod compactions;
mod link_targets;
mod links;
mod resolve;
mod resolve_links;
mod walk;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

pub use compactions::Compactions;
pub use walk::{Reached, Walk, WalkLimits};

use crate::note::{EncodedTarget, InlineLink, LinkTypes, Note};
use crate::timings;
pub(crate) use link_targets::{LinkTarget, TargetComparison};
use links::{AdjacencyLists, INLINE, OutLink, TYPED};
pub(crate) use resolve::NameIndex;
pub(crate) use resolve::{PathTarget, join_path, rebase_path, relative_path};

/// A link from one note to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge<'g> {
    /// The note at its beginning, as it is seen.
    pub from: usize,
    /// The note at its end, as it is seen.
    pub to: usize,
    /// The link type, as it is seen from `from`.
    pub kind: Cow<'g, str>,
    /// Where it comes from.
    pub sources: EdgeSources,
}

/// Where an edge comes from; more than one may be true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EdgeSources {
    /// The frontmatter of `from`.
    pub is_typed: bool,
    /// The body of `from`.
    pub is_inline: bool,
    /// A link of `to`, seen through its inverse type.
    pub is_virtual: bool,
}

impl EdgeSources {
    /// Says where a link stands.
    fn of(link: &OutLink) -> Self {
        Self { is_typed: link.places() & TYPED != 0, is_inline: link.places() & INLINE != 0, is_virtual: false }
    }
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
    pub is_typed_only: bool,
    /// Only links that stand in a body.
    pub is_inline_only: bool,
    /// Show links towards a note as they are written, not under their inverse type.
    pub is_raw: bool,
}

impl Follow {
    fn matches(&self, kind: &str, written: EdgeSources) -> bool {
        let has = |kinds: &[String]| kinds.iter().any(|have| have == kind);
        (self.kinds.is_empty() || has(&self.kinds))
            && !has(&self.except_kinds)
            && (!self.is_typed_only || written.is_typed)
            && (!self.is_inline_only || written.is_inline)
    }
}

/// Names what [`Graph::to_bytes`] writes down; the number is raised when links are read in another way.
pub const CACHE_KEY: &str = "links 2";

/// Every link of a store.
#[derive(Debug, Clone)]
pub struct Graph<'a> {
    notes: &'a [Arc<Note>],
    types: &'a LinkTypes,
    /// Made when something has to be resolved.
    names: OnceLock<NameIndex<'a>>,
    /// Each note's links as written, in the order of frontmatter, then body.
    links: AdjacencyLists,
    /// The links that lead to each note, by their places among all; and where those of each note begin.
    in_edges: Vec<u32>,
    in_offsets: Vec<u32>,
    /// See [`Graph::ordered_lists`].
    lists: OnceLock<Vec<Vec<u32>>>,
}

impl<'a> Graph<'a> {
    /// Reads the links of all notes, which must be in the order of their ids.
    pub fn new(notes: &'a [Arc<Note>], types: &'a LinkTypes) -> Self {
        let names = NameIndex::new(notes);
        let links = resolve_links::links(&names, notes);
        let graph = Self { names: OnceLock::from(names), ..Self::of(notes, types, links) };
        timings::end("links resolved");
        graph
    }

    /// Takes the links of all notes as [`Graph::to_bytes`] wrote them down; `None` where these can't be
    /// links of so many notes.
    pub fn from_bytes(notes: &'a [Arc<Note>], types: &'a LinkTypes, bytes: &[u8]) -> Option<Self> {
        let (links, lists): (AdjacencyLists, Vec<Vec<u32>>) = postcard::from_bytes(bytes).ok()?;
        if !links.are_of(notes.len()) || lists.iter().flatten().any(|place| *place as usize >= notes.len()) {
            return None;
        }
        let graph = Self { lists: OnceLock::from(lists), ..Self::of(notes, types, links) };
        timings::end("links taken from the index");
        Some(graph)
    }

    /// Writes down the links of all notes. They say nothing of other notes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Writing into memory can't fail; were it to, nothing could be read.
        postcard::to_allocvec(&(&self.links, self.ordered_lists())).unwrap_or_default()
    }

    fn of(notes: &'a [Arc<Note>], types: &'a LinkTypes, links: AdjacencyLists) -> Self {
        let (in_edges, in_offsets) = transpose(&links, notes.len());
        Self { notes, types, names: OnceLock::new(), links, in_edges, in_offsets, lists: OnceLock::new() }
    }

    /// Lets digests have the links of the notes that they stand for: a digest's own come first; a link
    /// inside one digest is none.
    pub fn compacted(&self, digests: &Compactions) -> Cow<'_, Self> {
        if digests.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut links: Vec<Vec<OutLink>> = vec![Vec::new(); self.notes.len()];
        for is_own in [true, false] {
            for from in 0..self.notes.len() {
                let above = digests.representative(from);
                if (above == from) == is_own {
                    let stands_for = |link: &OutLink| digests.representative(link.to as usize);
                    let edges_at = |link: &OutLink| OutLink::new(stands_for(link), link.kind(), link.places());
                    let seen = self.links.of(from).iter().map(edges_at).filter(|link| link.to as usize != above);
                    seen.for_each(|link| add_link(&mut links[above], link));
                }
            }
        }
        let AdjacencyLists { kinds, unresolved, outside, .. } = self.links.clone();
        let mut compacted = AdjacencyLists { kinds, unresolved, outside, ..AdjacencyLists::default() };
        links.into_iter().for_each(|links| compacted.push(links));
        Cow::Owned(Self::of(self.notes, self.types, compacted))
    }

    /// Returns a note's own links in the order in which it makes them: frontmatter, then body.
    pub fn outgoing(&self, from: usize) -> impl ExactSizeIterator<Item = Edge<'_>> {
        self.links.of(from).iter().map(move |link| self.edge(from, link))
    }

    /// Returns the links that lead to a note as they are written, in the order of the ids of the
    /// notes that make them.
    pub fn incoming(&self, to: usize) -> impl Iterator<Item = Edge<'_>> {
        self.links_to(to).map(|(from, link)| self.edge(from, link))
    }

    fn links_to(&self, to: usize) -> impl Iterator<Item = (usize, &OutLink)> {
        let range = self.in_offsets[to] as usize..self.in_offsets[to + 1] as usize;
        let places = self.in_edges.get(range).unwrap_or_default();
        places.iter().filter_map(|place| self.links.with_note(*place as usize))
    }

    fn edge(&self, from: usize, link: &OutLink) -> Edge<'_> {
        let kind = Cow::Borrowed(self.links.kinds.text(link.kind()));
        Edge { from, to: link.to as usize, kind, sources: EdgeSources::of(link) }
    }

    /// Returns the ordered lists in the bodies of maps of content, in the order of the maps, each as the
    /// notes that its items begin with.
    pub fn ordered_lists(&self) -> &[Vec<u32>] {
        self.lists.get_or_init(|| {
            let maps = self.notes.iter().filter(|note| note.is_moc());
            maps.flat_map(|map| self.resolved(map)).collect()
        })
    }

    fn resolved(&self, map: &Note) -> Vec<Vec<u32>> {
        let lists = map.ordered_lists();
        if lists.is_empty() {
            return Vec::new();
        }
        let names = self.names.get_or_init(|| NameIndex::new(self.notes));
        let note = |link: &InlineLink| match names.resolve_link(&map.path, EncodedTarget::of(link)) {
            PathTarget::Note(to) => Some(to),
            PathTarget::Nothing | PathTarget::Outside => None,
        };
        let places = |list: &Vec<InlineLink>| list.iter().filter_map(note).map(|to| to as u32).collect();
        lists.iter().map(places).collect()
    }

    /// Tells whether a link is one of those that are followed, from either of its ends.
    pub fn is_followed(&self, edge: &Edge<'_>, follow: &Follow) -> bool {
        let from_its_end = || !follow.kinds.is_empty() && follow.matches(&self.types.inverse(&edge.kind), edge.sources);
        follow.matches(&edge.kind, edge.sources) || from_its_end()
    }

    /// Returns the notes that link to a note, in the order of their ids.
    pub fn backlinks(&self, to: usize) -> impl Iterator<Item = usize> {
        self.links_to(to).map(|(from, _)| from)
    }

    /// Returns the targets that a note names and that do not exist, in the order it names them.
    pub fn unresolved(&self, from: usize) -> &[String] {
        self.links.unresolved.of(from)
    }

    /// Returns the paths by which a note links to files outside the store.
    pub fn outside(&self, from: usize) -> &[String] {
        self.links.outside.of(from)
    }

    /// Returns the links at a note as they are seen from it, each with the link as written that
    /// it stands for. The most valuable neighbours come first, then ids, then types.
    fn seen(&self, at: usize, follow: &Follow) -> Vec<(Edge<'_>, LinkKey)> {
        let mut seen = Vec::new();
        let takes = |edge: &Edge<'_>, link: &OutLink| follow.matches(&edge.kind, EdgeSources::of(link));
        if follow.direction != Direction::In {
            let out = self.links.of(at).iter().map(|link| (self.edge(at, link), at, link));
            seen.extend(out.filter(|(edge, _, link)| takes(edge, link)));
        }
        if follow.direction != Direction::Out {
            let into =
                self.links_to(at).map(|(from, link)| (self.seen_from_target(from, link, follow.is_raw), from, link));
            seen.extend(into.filter(|(edge, _, link)| takes(edge, link)));
        }
        seen.sort_by(|(a, ..), (b, ..)| {
            let rank = |edge: &Edge<'_>| self.rank(other_end(edge, at));
            rank(a).cmp(&rank(b)).then_with(|| a.kind.cmp(&b.kind))
        });
        seen.into_iter().map(|(edge, from, link)| (edge, LinkKey { from, to: link.to, kind: link.kind() })).collect()
    }

    fn seen_from_target(&self, from: usize, link: &OutLink, raw: bool) -> Edge<'_> {
        let edge = self.edge(from, link);
        if raw {
            return edge;
        }
        Edge {
            from: edge.to,
            to: edge.from,
            kind: self.types.inverse(self.links.kinds.text(link.kind())),
            sources: EdgeSources { is_virtual: true, ..EdgeSources::default() },
        }
    }

    /// The order among notes at the same distance: value, highest first, then id.
    fn rank(&self, note: usize) -> (u8, usize) {
        (u8::MAX - self.notes[note].value_or_default(), note)
    }
}

/// Names a link as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct LinkKey {
    from: usize,
    to: u32,
    kind: u32,
}

/// Finds for each note the links that lead to it, and where those of each begin.
fn transpose(links: &AdjacencyLists, notes: usize) -> (Vec<u32>, Vec<u32>) {
    let mut ends = vec![0; notes + 1];
    for link in &links.all {
        ends[link.to as usize] += 1;
    }
    let mut end = 0;
    for have in &mut ends {
        end += *have;
        *have = end;
    }
    let mut into = vec![0; end as usize];
    // From the last to the first: what is an end becomes a beginning.
    for (place, link) in links.all.iter().enumerate().rev() {
        let end = &mut ends[link.to as usize];
        *end -= 1;
        into[*end as usize] = place as u32;
    }
    (into, ends)
}

/// Adds a link to those of a note, unless there is one of its type to the same one.
fn add_link(links: &mut Vec<OutLink>, link: OutLink) {
    match links.iter_mut().find(|have| have.to == link.to && have.kind() == link.kind()) {
        Some(have) => have.add_places(link.places()),
        None => links.push(link),
    }
}

/// Returns the end of an edge that is not `at`.
pub(crate) fn other_end(edge: &Edge<'_>, at: usize) -> usize {
    if edge.from == at { edge.to } else { edge.from }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes that link in every way, with links that lead nowhere and a map of content.
    fn notes() -> Vec<Arc<Note>> {
        let texts = [
            "---\nid: a\ntitle: A\nlinks: [{type: supports, id: b}, {type: odd kind, id: c}, {id: nowhere}]\n---\n[[b]] [[c]]",
            "---\nid: b\ntitle: B\n---\n[[A]] [[gone]] [[gone]] [up](../../x.md)",
            "---\nid: c\ntitle: C\ntype: moc\n---\n1. [[b]]\n2. [[a]]\n3. [[nobody]]\n\ntext\n\n1. [[a]]\n2. [[B]]\n",
            "---\nid: d\ntitle: D\nlinks: [{type: follows, id: c}]\n---\n",
        ];
        let note = |text: &str| Arc::new(Note::parse("notes/x.md", text.as_bytes().to_vec()));
        texts.into_iter().map(note).collect()
    }

    /// Everything that a graph says.
    fn said(graph: &Graph<'_>) -> String {
        let mut said = format!("{:?}\n", graph.ordered_lists());
        for note in 0..graph.notes.len() {
            let (written, into): (Vec<_>, Vec<_>) = (graph.outgoing(note).collect(), graph.incoming(note).collect());
            let lost = (graph.unresolved(note), graph.outside(note));
            let seen: Vec<_> = graph.seen(note, &Follow::default()).into_iter().map(|(edge, _)| edge).collect();
            said.push_str(&format!("{note} {written:?} {into:?} {lost:?} {seen:?}\n"));
        }
        said
    }

    #[test]
    fn links_that_were_written_down_say_the_same() {
        let (notes, types) = (notes(), LinkTypes::default());
        let graph = Graph::new(&notes, &types);
        let right = said(&graph);
        for part in ["odd kind", "\"supports\"", "\"gone\"]", "\"nowhere\"", "../../x.md", "[[1, 0], [0, 1]]"] {
            assert!(right.contains(part), "{part} in {right}");
        }
        assert_eq!(said(&Graph::from_bytes(&notes, &types, &graph.to_bytes()).unwrap()), right);
    }

    #[test]
    fn bytes_that_make_no_sense_are_no_links_and_do_no_harm() {
        let (notes, types) = (notes(), LinkTypes::default());
        let good = Graph::new(&notes, &types).to_bytes();
        for place in 0..good.len() {
            for byte in [0, 1, 2, 4, 5, 127, 128, 255] {
                let mut bad = good.clone();
                bad[place] = byte;
                // Whatever these are, they lead to notes that there are.
                Graph::from_bytes(&notes, &types, &bad).as_ref().map(said);
            }
            assert!(Graph::from_bytes(&notes, &types, &good[..place]).is_none(), "{place}");
        }
        assert!(Graph::from_bytes(&notes[..3], &types, &good).is_none());
    }
}
