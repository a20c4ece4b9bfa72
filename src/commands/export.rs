//! `qipu export page` and `qipu export links`: reports notes and the links between them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;

use crate::context::{Outdated, Selection, Session, edge_entry, select};
use crate::error::Error;
use crate::graph::{Edge, Replacements, other_end};
use crate::report::{ChangeEntry, EdgeEntry, Entry, EntryRole, NoteEntry, Report, ReportHead, layout};
use crate::request::Selectors;
use crate::store::{NoteIdx, Store};

/// Reports the selected notes, or all notes by value, each with its links to the notes before it. Takes O(notes + links).
pub(super) fn run(selectors: &Selectors, session: &Session<'_>) -> Result<Report, Error> {
    let store = session.store;
    let selection =
        if selectors.selects() { select(session, selectors, Outdated::Shown)? } else { all_notes(selectors, store) };
    let Selection { notes: positions, replacements: Replacements { digests, .. }, matched, spellings, .. } = selection;
    let graph = session.graph().compacted(&digests);
    let entry_of: HashMap<NoteIdx, usize> =
        positions.iter().enumerate().map(|(entry_index, position)| (*position, entry_index)).collect();
    let entry = |(entry_index, position): (usize, &NoteIdx)| {
        let before =
            |edge: &Edge<'_>| entry_of.get(&other_end(edge, *position)).is_some_and(|other| *other < entry_index);
        let edges = graph.outgoing(*position).chain(graph.incoming(*position));
        let edges = edges.filter(before).filter(|edge| graph.is_followed(edge, &selectors.follow));
        let mut edges: Vec<EdgeEntry> =
            edges.map(|edge| edge_entry(store, &edge, entry_of[&other_end(&edge, *position)])).collect();
        edges.sort_by(|a, b| (&a.from, &a.to, &a.kind).cmp(&(&b.from, &b.to, &b.kind)));
        Entry::Note(NoteEntry { edges, ..super::note_entry(store, &digests, *position, EntryRole::Selected) })
    };
    let entries: Vec<Entry> = positions.iter().enumerate().map(entry).collect();
    let head = ReportHead {
        matched,
        is_limited: entries.len() < matched,
        spellings: super::search::spellings(spellings),
        ..ReportHead::new(&layout::EXPORT_LINKS, Some(&store.shown_path))
    };
    Ok(Report::new(head, entries))
}

/// Selects the notes that no digest replaces, the most valuable first.
fn all_notes(selectors: &Selectors, store: &Store) -> Selection {
    let replacements = Replacements::only_digests(store.notes(), selectors.no_compaction);
    let mut notes: Vec<NoteIdx> = NoteIdx::all(store.notes().len())
        .filter(|position| replacements.representative(*position) == *position)
        .collect();
    notes.sort_by_key(|position| (Reverse(store.notes()[*position].value_or_default()), *position));
    let matched = notes.len();
    notes.truncate(selectors.max_notes.unwrap_or(usize::MAX));
    Selection { notes, matched, replacements, ..Selection::default() }
}

/// Reports that an export was saved. `action`: what happened to its file.
pub fn saved_file(file: &Path, store: Option<&str>, action: &'static str) -> Report {
    let path = file.to_string_lossy().into_owned();
    let change = ChangeEntry::of_file(action, path);
    Report::new(ReportHead::of_change("export.save", false, store), vec![Entry::Change(change)])
}
