//! Links as entries of an answer.

use crate::graph::{Edge, EdgeSources};
use crate::report::EdgeEntry;
use crate::store::Store;

/// Returns the entry of an edge; `other` is the entry at its other end.
pub fn edge_entry(store: &Store, edge: &Edge<'_>, other: usize) -> EdgeEntry {
    let notes = store.notes();
    let EdgeSources { is_typed, is_inline, is_virtual } = edge.sources;
    let words = [(is_typed, "typed"), (is_inline, "inline"), (is_virtual, "virtual")];
    let is_symmetric = || store.config.link_types.inverse(&edge.kind) == edge.kind;
    EdgeEntry {
        is_backward: is_virtual && !is_typed && !is_inline && is_symmetric(),
        from: notes[edge.from].id.clone(),
        kind: edge.kind.clone().into_owned(),
        to: notes[edge.to].id.clone(),
        sources: words.into_iter().filter_map(|(has_source, word)| has_source.then_some(word)).collect(),
        other,
    }
}
