//! `qipu show`: notes whole, for reading them.

use crate::context::{Session, edge_entry};
use crate::error::Error;
use crate::graph::{Follow, Graph, WalkLimits};
use crate::report::{Entry, EntryRole, NoteEntry, Report, ReportHead, ReportKind};
use crate::request::ShowRequest;
use crate::store::Store;

/// Reports the notes that are named, with their links where these are asked for; or their files
/// as they are.
pub(super) fn run(request: &ShowRequest, desk: &Session<'_>) -> Result<Report, Error> {
    let store = desk.store;
    let places = store.positions(&request.ids)?;
    if request.is_raw {
        let texts: Result<Vec<String>, Error> =
            places.iter().map(|place| store.text_of(&store.notes()[*place])).collect();
        return Ok(report(store, vec![Entry::Text(texts?.concat())], 0));
    }
    let graph = request.with_links.then(|| desk.graph());
    let mut entries = Vec::new();
    for place in &places {
        let number = entries.len();
        entries.push(Entry::Note(NoteEntry::alone(&store.notes()[*place], EntryRole::Selected)));
        if let Some(graph) = graph {
            entries.extend(links(store, graph, *place, number));
        }
    }
    Ok(report(store, entries, places.len()))
}

/// Returns a note's links both ways; `number` is the note's entry.
fn links(store: &Store, graph: &Graph<'_>, place: usize, number: usize) -> Vec<Entry> {
    let limits = WalkLimits { max_hops: 1, max_nodes: None, max_fanout: None, min_value: 0 };
    let walk = graph.walk(place, &Follow::default(), &limits);
    let notes = store.notes();
    let entry = |edge: &crate::graph::Edge<'_>| Entry::Link {
        edge: edge_entry(store, edge, number),
        title: notes[edge.to].title.clone(),
    };
    let edges = walk.reached.iter().flat_map(|step| &step.edges).map(entry).collect::<Vec<_>>();
    let from = &notes[place].id;
    edges
        .into_iter()
        .chain(graph.unresolved(place).iter().map(|target| Entry::Unresolved {
            from: from.clone(),
            target: target.clone(),
            under: number,
        }))
        .collect()
}

fn report(store: &Store, entries: Vec<Entry>, matched: usize) -> Report {
    let head = ReportHead {
        show: crate::report::ShownFields { sources: true, custom: true, ..Default::default() },
        matched,
        ..ReportHead::new(ReportKind::Show, Some(&store.shown_path))
    };
    Report::new(head, entries)
}
