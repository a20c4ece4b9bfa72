//! The links between the shown notes.

use crate::context::assessment::confidence::{DERIVED_FROM, SUPPORTED_BY};
use crate::context::{Session, edge_entry};
use crate::graph::{CONTRADICTS, Edge, other_end};
use crate::report::EdgeEntry;
use crate::request::RelatedKind;
use crate::store::NoteIdx;

/// The kinds of links that are shown as reasons why a note is next to another, in either direction.
#[derive(Clone, Copy)]
pub(super) struct LinkFilter {
    pub(super) derivation: bool,
    pub(super) evidence: bool,
    pub(super) contradictions: bool,
}

impl LinkFilter {
    pub(super) fn new(include: &[RelatedKind]) -> Self {
        let kinds = [RelatedKind::Derivation, RelatedKind::Evidence, RelatedKind::Contradictions];
        let [derivation, evidence, contradictions] = kinds.map(|kind| include.contains(&kind));
        Self { derivation, evidence, contradictions }
    }

    fn has(self, edge: &Edge<'_>) -> bool {
        match &*edge.kind {
            DERIVED_FROM | "source-of" => self.derivation,
            "supports" | SUPPORTED_BY => self.evidence,
            kind => self.contradictions && CONTRADICTS.contains(&kind),
        }
    }
}

/// Returns the links of a note, as they are written, to the notes for which `entry_of` returns an entry.
pub(super) fn link_entries(
    session: &Session<'_>,
    index: NoteIdx,
    filter: LinkFilter,
    entry_of: impl Fn(NoteIdx) -> Option<usize>,
) -> Vec<EdgeEntry> {
    let (graph, store) = (session.graph(), session.store);
    let links = graph.outgoing(index).chain(graph.incoming(index)).filter(|edge| filter.has(edge));
    let entry = |edge: Edge<'_>| Some(edge_entry(store, &edge, entry_of(other_end(&edge, index))?));
    links.filter_map(entry).collect()
}
