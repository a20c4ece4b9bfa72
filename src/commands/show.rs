//! `qipu show` and `qipu journal`: report notes in full.

use jiff::civil::Date;

use crate::context::{Journals, Session, edge_entry};
use crate::error::Error;
use crate::graph::{Edge, Follow, Graph, WalkLimits};
use crate::note::Status;
use crate::report::{Entry, EntryRole, LinkedNote, NoteEntry, Report, RowValue, layout};
use crate::request::ShowRequest;
use crate::store::{NoteIdx, Store};

/// Reports the named notes, with their links if these are requested; or their files as they are.
pub(super) fn run(request: &ShowRequest, session: &Session<'_>) -> Result<Report, Error> {
    let store = session.store;
    let positions = store.positions(&request.ids)?;
    if request.is_raw {
        let texts: Result<Vec<String>, Error> =
            positions.iter().map(|position| store.text_of(&store.notes()[*position])).collect();
        return Ok(report(store, vec![Entry::Text(texts?.concat())], 0));
    }
    let graph = request.with_links.then(|| session.graph());
    let mut entries = Vec::new();
    for position in &positions {
        let entry_index = entries.len();
        entries.push(Entry::Note(NoteEntry::alone(&store.notes()[*position], EntryRole::Selected)));
        if let Some(graph) = graph {
            entries.extend(link_entries(store, graph, *position, entry_index));
        }
    }
    Ok(report(store, entries, positions.len()))
}

/// Returns the links of the note at `position` in both directions. `entry_index`: the index of the note's entry.
fn link_entries(store: &Store, graph: &Graph<'_>, position: NoteIdx, entry_index: usize) -> Vec<Entry> {
    let limits = WalkLimits { max_hops: 1, max_nodes: None, min_value: 0 };
    let walk = graph.walk(position, &Follow::default(), &limits);
    let notes = store.notes();
    let has_several = store.has_several_collections();
    let entry = |edge: &Edge<'_>| {
        let note = &notes[edge.to];
        let collection = has_several.then(|| note.collection_name().to_owned());
        let status = store.marks_as_draft(note).then(|| Status::Draft.name());
        let linked = LinkedNote { title: note.title().to_owned(), collection, status };
        Entry::Link(edge_entry(store, edge, entry_index), linked)
    };
    let edges = walk.reached.iter().flat_map(|step| &step.edges).map(entry);
    let lost = graph.unresolved(position).filter(|target| store.leads_nowhere(&notes[position], target));
    let unresolved = lost.map(|target| Entry::Unresolved {
        from: notes[position].id.clone(),
        target: target.to_owned(),
        under: entry_index,
    });
    edges.chain(unresolved).collect()
}

fn report(store: &Store, entries: Vec<Entry>, matched: usize) -> Report {
    Report::new(super::head(store, &layout::SHOW, true, matched), entries)
}

/// Reports the journals of a day in full.
pub(super) fn run_journal(day: Date, store: &Store) -> Report {
    let journals = Journals::new(store.notes());
    let notes = journals.on(day).map(|position| &store.notes()[position]);
    let entries: Vec<Entry> = notes.map(|note| Entry::Note(NoteEntry::alone(note, EntryRole::Selected))).collect();
    let mut head = super::head(store, &layout::JOURNAL, true, entries.len());
    head.facts.push(("date", RowValue::name(day)));
    Report::new(head, entries)
}
