//! Links as answers show them.

use std::sync::Arc;

use crate::graph::{Edge, EdgeSources};
use crate::note::Note;
use crate::report::EdgeEntry;

/// Names the ends of an edge; `other` is the entry at its other end.
pub fn edge_entry(notes: &[Arc<Note>], edge: &Edge<'_>, other: usize) -> EdgeEntry {
    EdgeEntry {
        from: notes[edge.from].id.clone(),
        kind: edge.kind.clone().into_owned(),
        to: notes[edge.to].id.clone(),
        sources: source_words(edge.sources),
        other,
    }
}

fn source_words(sources: EdgeSources) -> Vec<&'static str> {
    let words = [(sources.typed, "typed"), (sources.inline, "inline"), (sources.virtually, "virtual")];
    words.into_iter().filter_map(|(is, word)| is.then_some(word)).collect()
}
