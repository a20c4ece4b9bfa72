//! `qipu graph`: notes and the links between them.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::context::{Selection, Session, edge_entry, select};
use crate::error::Error;
use crate::graph::{Compactions, Edge, other_end};
use crate::report::{ChangeEntry, EdgeEntry, Entry, EntryRole, NoteEntry, Report, ReportHead, ReportKind};
use crate::request::{GraphRequest as Request, OutputFile};
use crate::store::Store;

/// Reports the selected notes, or all of them by value, each with its links to those before it.
pub(super) fn run(request: &Request, desk: &Session<'_>) -> Result<Report, Error> {
    let store = desk.store;
    let selection = match &request.selection {
        Some(selectors) => select(desk, selectors, request.max_hits, request.max_notes)?,
        None => everything(request, store),
    };
    let Selection { notes: places, digests, matched, spellings, .. } = selection;
    let graph = desk.graph().compacted(&digests);
    let number_of: HashMap<usize, usize> = places.iter().enumerate().map(|(number, place)| (*place, number)).collect();
    let entry = |(number, place): (usize, &usize)| {
        let before = |edge: &Edge<'_>| number_of.get(&other_end(edge, *place)).is_some_and(|other| *other < number);
        let edges = graph.outgoing(*place).chain(graph.incoming(*place));
        let edges = edges.filter(before).filter(|edge| graph.is_followed(edge, &request.follow));
        let mut edges: Vec<EdgeEntry> =
            edges.map(|edge| edge_entry(store, &edge, number_of[&other_end(&edge, *place)])).collect();
        edges.sort_by(|a, b| (&a.from, &a.to, &a.kind).cmp(&(&b.from, &b.to, &b.kind)));
        Entry::Note(NoteEntry { edges, ..super::note_entry(store, &digests, *place, EntryRole::Selected) })
    };
    let entries: Vec<Entry> = places.iter().enumerate().map(entry).collect();
    let head = ReportHead {
        matched,
        is_limited: entries.len() < matched,
        spellings: super::search::spellings(spellings),
        ..ReportHead::new(ReportKind::Graph, Some(&store.shown_path))
    };
    Ok(Report::new(head, entries))
}

/// Selects every note for which no other stands, the most valuable first.
fn everything(request: &Request, store: &Store) -> Selection {
    let digests = Compactions::for_answer(store.notes(), request.no_compaction);
    let mut notes: Vec<usize> =
        (0..store.notes().len()).filter(|place| digests.representative(*place) == *place).collect();
    notes.sort_by_key(|place| (Reverse(store.notes()[*place].value_or_default()), *place));
    let matched = notes.len();
    notes.truncate(request.max_notes.unwrap_or(usize::MAX));
    Selection { notes, matched, digests, ..Selection::default() }
}

/// Reports that a picture was saved. `action`: what happened to its file.
pub fn saved_file(output: &OutputFile, store: Option<&str>, action: &'static str) -> Report {
    let path = output.file.to_string_lossy().into_owned();
    let change = ChangeEntry { id: None, action, path, diff: None };
    Report::new(
        ReportHead::new(ReportKind::Change { command: "graph.save", is_dry_run: false }, store),
        vec![Entry::Change(change)],
    )
}
