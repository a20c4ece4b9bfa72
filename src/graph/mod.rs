//! Links between notes, seen from both ends.
//!
//! The position of a note in the store's list, which is sorted by id, identifies the note here.

mod adjacency;
mod collection_links;
mod compactions;
mod contradictions;
mod link_resolution;
mod name_index;
mod replacements;
mod successions;
mod target_comparison;
mod walk;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use clap::{Args, ValueEnum};

pub use collection_links::CollectionLinks;
pub use compactions::Compactions;
pub use contradictions::{CONTRADICTS, Conflict, Contradiction, SETTLED, contradictions};
pub use replacements::Replacements;
pub use successions::Successions;
pub use walk::{Reached, Walk, WalkLimits};

use crate::codec::named::named;
use crate::note::{EncodedTarget, InlineLink, LinkTypes};
use crate::store::{NoteHandle, NoteIdx, Store};
use crate::timings;
use adjacency::{AdjacencyLists, INLINE, OutLink, TYPED};
pub(crate) use name_index::{NameIndex, PathTarget};
pub(crate) use target_comparison::{LinkTarget, TargetComparison};

/// A link from one note to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge<'g> {
    /// The index of the source note, as seen from the note that was asked about.
    pub from: NoteIdx,
    /// The index of the target note, as seen from the note that was asked about.
    pub to: NoteIdx,
    /// The link type as seen from `from`: an inverse type where the link is followed backwards.
    pub kind: Cow<'g, str>,
    /// How the notes state the edge.
    pub sources: EdgeSources,
}

/// How the notes state an edge; several may be true at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EdgeSources {
    /// Whether the frontmatter of `from` has the link.
    pub is_typed: bool,
    /// Whether the body of `from` has the link.
    pub is_inline: bool,
    /// Whether `to` has the link and `from` sees it under the inverse type.
    pub is_virtual: bool,
}

impl EdgeSources {
    fn of(link: &OutLink) -> Self {
        Self { is_typed: link.origins() & TYPED != 0, is_inline: link.origins() & INLINE != 0, is_virtual: false }
    }
}

named! {
    /// The direction in which links are followed: from a note to what it links to, to what links to it, or both.
    #[allow(missing_docs, reason = "a doc comment of a variant would become help")]
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
    pub enum Direction {
        Out = "out",
        In = "in",
        #[default]
        Both = "both",
    }
}

/// The links that have one type as seen from an end, as indices of their stored types.
#[derive(Debug, Clone, Default)]
pub struct SeenType {
    outgoing: Vec<u32>,
    incoming: Vec<u32>,
}

/// Selects the links that a query follows. Types are compared as seen from the note at which the link is found. The doc
/// comments of the fields are the help of the flags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Follow {
    /// The direction in which links are followed
    #[arg(long, value_name = "WAY", default_value = "both")]
    pub direction: Direction,
    /// Only links of this type, as shown; `typed`: those in frontmatter, `inline`: those in bodies (repeatable, or
    /// comma-separated)
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub via: Vec<String>,
    /// Whether incoming links keep their stored direction and type instead of appearing under the inverse type.
    #[arg(skip)]
    pub is_raw: bool,
}

impl Follow {
    fn matches(&self, kind: &str, sources: EdgeSources) -> bool {
        let is_wanted = |via: &String| match via.as_str() {
            "typed" => sources.is_typed,
            "inline" => sources.is_inline,
            via => via == kind,
        };
        self.via.is_empty() || self.via.iter().any(is_wanted)
    }
}

/// The cache key of [`CollectionLinks::to_bytes`] with its format version; raise the version when links are resolved differently.
pub const CACHE_KEY: &str = "links 9";

/// All links of a store, as adjacency lists in both directions.
#[derive(Debug, Clone)]
pub struct Graph<'a> {
    notes: &'a [Arc<NoteHandle>],
    types: &'a LinkTypes,
    /// Built when a name must be resolved for the first time.
    names: OnceLock<NameIndex<'a>>,
    /// The out-edges of each note, in the order of its frontmatter, then its body.
    links: AdjacencyLists,
    /// The in-edges of all notes, as indices into the out-edges, grouped by target (compressed sparse row).
    in_edges: Vec<u32>,
    /// The offset of each note's first in-edge in `in_edges`; length: number of notes + 1.
    in_offsets: Vec<u32>,
    /// See [`Graph::ordered_lists`].
    lists: OnceLock<Vec<Vec<NoteIdx>>>,
}

impl<'a> Graph<'a> {
    /// Resolves the links of all notes, which must be sorted by id.
    pub fn new(notes: &'a [Arc<NoteHandle>], types: &'a LinkTypes) -> Self {
        Self::resolved(notes, types, NameIndex::new(notes))
    }

    /// Resolves the links of all notes of a store, also those by its other names.
    pub fn of_store(store: &'a Store) -> Self {
        Self::resolved(store.notes(), &store.config.link_types, NameIndex::of(store))
    }

    fn resolved(notes: &'a [Arc<NoteHandle>], types: &'a LinkTypes, names: NameIndex<'a>) -> Self {
        let links = link_resolution::links(&names, notes);
        let graph = Self { names: OnceLock::from(names), ..Self::of(notes, types, links) };
        timings::end("links resolved");
        graph
    }

    fn of(notes: &'a [Arc<NoteHandle>], types: &'a LinkTypes, links: AdjacencyLists) -> Self {
        let (in_edges, in_offsets) = transpose(&links, notes.len());
        Self { notes, types, names: OnceLock::new(), links, in_edges, in_offsets, lists: OnceLock::new() }
    }

    /// Returns the graph in which each digest has the links of the notes it replaces. A digest's own links come first;
    /// links inside one digest are dropped.
    pub fn compacted(&self, digests: &Compactions) -> Cow<'_, Self> {
        if digests.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut links: Vec<Vec<OutLink>> = vec![Vec::new(); self.notes.len()];
        for is_own in [true, false] {
            for from in NoteIdx::all(self.notes.len()) {
                let representative = digests.representative(from);
                if (representative == from) == is_own {
                    let target = |link: &OutLink| digests.representative(link.to);
                    let redirected = |link: &OutLink| OutLink::new(target(link), link.kind(), link.origins());
                    let own = self.links.of(from).iter().map(redirected);
                    let own = own.filter(|link| link.to != representative);
                    own.for_each(|link| add_link(&mut links[representative.index()], link));
                }
            }
        }
        let AdjacencyLists { kinds, unresolved, outside, .. } = self.links.clone();
        let mut compacted = AdjacencyLists { kinds, unresolved, outside, ..AdjacencyLists::default() };
        links.into_iter().for_each(|links| compacted.push(links));
        Cow::Owned(Self::of(self.notes, self.types, compacted))
    }

    /// Returns a note's own links: those of its frontmatter, then those of its body.
    pub fn outgoing(&self, from: NoteIdx) -> impl ExactSizeIterator<Item = Edge<'_>> {
        self.links.of(from).iter().map(move |link| self.edge(from, link))
    }

    /// Returns the links of some types of all notes, in the order of their source notes.
    pub fn links_of_types<'g>(&'g self, types: &[&str]) -> impl Iterator<Item = Edge<'g>> {
        let types: Vec<u32> = types.iter().filter_map(|kind| self.links.kinds.index(kind)).collect();
        // Few stores have links of a given type.
        let count = if types.is_empty() { 0 } else { self.notes.len() };
        let links = NoteIdx::all(count).flat_map(|from| self.links.of(from).iter().map(move |link| (from, link)));
        links.filter(move |(_, link)| types.contains(&link.kind())).map(|(from, link)| self.edge(from, link))
    }

    /// Returns the links that lead to a note with their stored types, in the order of the source notes' ids.
    pub fn incoming(&self, to: NoteIdx) -> impl Iterator<Item = Edge<'_>> {
        self.links_to(to).map(|(from, link)| self.edge(from, link))
    }

    fn links_to(&self, to: NoteIdx) -> impl Iterator<Item = (NoteIdx, &OutLink)> {
        self.in_edges_of(to).iter().filter_map(|index| self.links.with_source(*index as usize))
    }

    /// Returns the links that lead to a note, as indices into the out-edges.
    fn in_edges_of(&self, to: NoteIdx) -> &[u32] {
        let offset = |index: usize| self.in_offsets.get(index).map_or(0, |offset| *offset as usize);
        self.in_edges.get(offset(to.index())..offset(to.index() + 1)).unwrap_or_default()
    }

    fn edge(&self, from: NoteIdx, link: &OutLink) -> Edge<'_> {
        let kind = Cow::Borrowed(self.links.kinds.name(link.kind()));
        Edge { from, to: link.to, kind, sources: EdgeSources::of(link) }
    }

    /// Returns the links whose type is `kind` as seen from one of their ends.
    pub fn seen_type(&self, kind: &str) -> SeenType {
        let names = || (0..self.links.kinds.len()).map(|index| (index, self.links.kinds.name(index)));
        let indices =
            |is: &dyn Fn(&str) -> bool| names().filter(|(_, name)| is(name)).map(|(index, _)| index).collect();
        SeenType {
            outgoing: indices(&|name| name == kind),
            incoming: indices(&|name| self.types.inverse(name) == kind),
        }
    }

    /// Returns the notes at the other ends of a note's links that have a type as seen from it, in no order.
    pub fn linked_as<'g>(&'g self, note: NoteIdx, seen: &'g SeenType) -> impl Iterator<Item = NoteIdx> + 'g {
        let outgoing = self.links.of(note).iter().filter(|link| seen.outgoing.contains(&link.kind()));
        // Finding the source of a link takes a search.
        let is_seen = |index: &&u32| {
            self.links.all.get(**index as usize).is_some_and(|link| seen.incoming.contains(&link.kind()))
        };
        let incoming =
            self.in_edges_of(note).iter().filter(is_seen).filter_map(|index| self.links.with_source(*index as usize));
        outgoing.map(|link| link.to).chain(incoming.map(|(from, _)| from))
    }

    /// Returns the ordered lists in the bodies of maps of content, in the order of the maps, each as the indices of the
    /// notes that its items begin with.
    pub fn ordered_lists(&self) -> &[Vec<NoteIdx>] {
        self.lists.get_or_init(|| {
            if !self.notes.iter().any(|note| note.flags.is_moc) {
                return Vec::new();
            }
            lists_in_maps(self.names.get_or_init(|| NameIndex::new(self.notes)), self.notes)
        })
    }

    /// Tells whether `follow` selects a link when seen from its source or from its target.
    pub fn is_followed(&self, edge: &Edge<'_>, follow: &Follow) -> bool {
        follow.matches(&edge.kind, edge.sources) || follow.matches(&self.types.inverse(&edge.kind), edge.sources)
    }

    /// Returns the notes that link to a note, in the order of their ids, a note with several links several times.
    pub fn backlinks(&self, to: NoteIdx) -> impl Iterator<Item = NoteIdx> {
        self.links_to(to).map(|(from, _)| from)
    }

    /// Whether a note has links, in either direction.
    pub fn is_linked(&self, note: NoteIdx) -> bool {
        self.outgoing(note).len() > 0 || self.backlinks(note).next().is_some()
    }

    /// Returns the link targets of a note that do not exist, in the order of the note.
    pub fn unresolved(&self, from: NoteIdx) -> impl Iterator<Item = &str> + Clone {
        self.links.unresolved.of(from)
    }

    /// Returns the paths of a note's links to files outside the store.
    pub fn outside(&self, from: NoteIdx) -> impl Iterator<Item = &str> {
        self.links.outside.of(from)
    }

    /// Returns the edges at a note as seen from it, each with the key of the stored link. Sorted by the neighbour's
    /// value (highest first), its id, and the link type.
    fn edges_at(&self, note_index: NoteIdx, follow: &Follow) -> Vec<(Edge<'_>, LinkKey)> {
        let mut edges = Vec::new();
        let takes = |edge: &Edge<'_>, link: &OutLink| follow.matches(&edge.kind, EdgeSources::of(link));
        if follow.direction != Direction::In {
            let out = self.links.of(note_index).iter().map(|link| (self.edge(note_index, link), note_index, link));
            edges.extend(out.filter(|(edge, _, link)| takes(edge, link)));
        }
        if follow.direction != Direction::Out {
            let in_edges = self
                .links_to(note_index)
                .map(|(from, link)| (self.seen_from_target(from, link, follow.is_raw), from, link));
            edges.extend(in_edges.filter(|(edge, _, link)| takes(edge, link)));
        }
        edges.sort_by(|(a, ..), (b, ..)| {
            let rank = |edge: &Edge<'_>| self.rank(other_end(edge, note_index));
            rank(a).cmp(&rank(b)).then_with(|| a.kind.cmp(&b.kind))
        });
        edges.into_iter().map(|(edge, from, link)| (edge, LinkKey { from, to: link.to, kind: link.kind() })).collect()
    }

    fn seen_from_target(&self, from: NoteIdx, link: &OutLink, is_raw: bool) -> Edge<'_> {
        let edge = self.edge(from, link);
        if is_raw {
            return edge;
        }
        Edge {
            from: edge.to,
            to: edge.from,
            kind: self.types.inverse(self.links.kinds.name(link.kind())),
            sources: EdgeSources { is_virtual: true, ..EdgeSources::default() },
        }
    }

    /// Returns the sort key of a note among those at the same distance: value, highest first, then id.
    fn rank(&self, note_index: NoteIdx) -> (u8, NoteIdx) {
        (u8::MAX - self.notes[note_index].value_or_default(), note_index)
    }
}

/// Returns the ordered lists in maps of content: see [`Graph::ordered_lists`].
fn lists_in_maps(names: &NameIndex<'_>, notes: &[Arc<NoteHandle>]) -> Vec<Vec<NoteIdx>> {
    let note = |map: NoteIdx, link: &InlineLink| match names.resolve_link_in(map, EncodedTarget::of(link)) {
        PathTarget::Note(to) => Some(to),
        PathTarget::Nothing | PathTarget::Outside | PathTarget::NoLink => None,
    };
    let maps = NoteIdx::enumerate(notes).filter(|(_, note)| note.flags.is_moc);
    let lists = maps.flat_map(|(index, map)| map.ordered_lists().into_iter().map(move |list| (index, list)));
    lists.map(|(map, list)| list.iter().filter_map(|link| note(map, link)).collect()).collect()
}

/// Identifies a stored link: source, target and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct LinkKey {
    from: NoteIdx,
    to: NoteIdx,
    kind: u32,
}

/// Transposes adjacency lists with a counting sort in O(notes + links). Returns the in-edges as indices into
/// `links.all`, and the offset of each note's first one (`notes` + 1 offsets).
fn transpose(links: &AdjacencyLists, notes: usize) -> (Vec<u32>, Vec<u32>) {
    let mut ends = vec![0; notes + 1];
    for link in &links.all {
        ends[link.to.index()] += 1;
    }
    let mut end = 0;
    for count in &mut ends {
        end += *count;
        *count = end;
    }
    let mut in_edges = vec![0; end as usize];
    // Filling from the back turns each end offset into a start offset.
    for (index, link) in links.all.iter().enumerate().rev() {
        let end = &mut ends[link.to.index()];
        *end -= 1;
        in_edges[*end as usize] = index as u32;
    }
    (in_edges, ends)
}

/// Adds a link, or merges its origins into a link of the same type to the same note.
fn add_link(links: &mut Vec<OutLink>, link: OutLink) {
    match links.iter_mut().find(|have| have.to == link.to && have.kind() == link.kind()) {
        Some(have) => have.add_origins(link.origins()),
        None => links.push(link),
    }
}

/// Returns the end of an edge that is not `note_index`.
pub(crate) fn other_end(edge: &Edge<'_>, note_index: NoteIdx) -> NoteIdx {
    if edge.from == note_index { edge.to } else { edge.from }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes with links of every kind: typed, inline, unresolved, outside the store, and in a map of content.
    fn notes() -> Vec<Arc<NoteHandle>> {
        let texts = [
            "---\nid: a\ntitle: A\nlinks: [{type: supports, id: b}, {type: odd kind, id: c}, {id: nowhere}]\n---\n[[b]] [[c]]",
            "---\nid: b\ntitle: B\n---\n[[A]] [[gone]] [[gone]] [up](../../x.md)",
            "---\nid: c\ntitle: C\ntype: moc\n---\n1. [[b]]\n2. [[a]]\n3. [[nobody]]\n\ntext\n\n1. [[a]]\n2. [[B]]\n",
            "---\nid: d\ntitle: D\nlinks: [{type: follows, id: c}]\n---\n",
        ];
        let note = |text: &str| Arc::new(NoteHandle::parse("notes/x.md", text.as_bytes().to_vec()));
        texts.into_iter().map(note).collect()
    }

    /// Formats everything that a graph contains.
    fn formatted(graph: &Graph<'_>) -> String {
        let mut formatted = format!("{:?}\n", graph.ordered_lists());
        for note in NoteIdx::all(graph.notes.len()) {
            let (stored, in_edges): (Vec<_>, Vec<_>) = (graph.outgoing(note).collect(), graph.incoming(note).collect());
            let lost: [Vec<&str>; 2] = [graph.unresolved(note).collect(), graph.outside(note).collect()];
            let edges: Vec<_> = graph.edges_at(note, &Follow::default()).into_iter().map(|(edge, _)| edge).collect();
            formatted.push_str(&format!("{note:?} {stored:?} {in_edges:?} {lost:?} {edges:?}\n"));
        }
        formatted
    }

    /// Returns the graph of links from the cache.
    fn decoded<'a>(notes: &'a [Arc<NoteHandle>], types: &'a LinkTypes, bytes: &[u8]) -> Option<Graph<'a>> {
        let links = CollectionLinks::from_bytes(bytes, notes.len())?;
        Some(Graph::of_collections(notes, types, None, vec![links]))
    }

    #[test]
    fn links_that_were_written_down_say_the_same() {
        let (notes, types) = (notes(), LinkTypes::default());
        let graph = Graph::new(&notes, &types);
        let right = formatted(&graph);
        for part in [
            "odd kind",
            "\"supports\"",
            "\"gone\"]",
            "\"nowhere\"",
            "../../x.md",
            "[[NoteIdx(1), NoteIdx(0)], [NoteIdx(0), NoteIdx(1)]]",
        ] {
            assert!(right.contains(part), "{part} in {right}");
        }
        assert_eq!(formatted(&decoded(&notes, &types, &CollectionLinks::new(&notes).to_bytes()).unwrap()), right);
    }

    #[test]
    fn bytes_that_make_no_sense_are_no_links_and_do_no_harm() {
        let (notes, types) = (notes(), LinkTypes::default());
        let good = CollectionLinks::new(&notes).to_bytes();
        for index in 0..good.len() {
            for byte in [0, 1, 2, 4, 5, 127, 128, 255] {
                let mut bad = good.clone();
                bad[index] = byte;
                // Corrupt bytes may decode to other links, but never to an index out of range.
                decoded(&notes, &types, &bad).as_ref().map(formatted);
            }
            assert!(decoded(&notes, &types, &good[..index]).is_none(), "{index}");
        }
        assert!(decoded(&notes[..3], &types, &good).is_none());
    }
}
