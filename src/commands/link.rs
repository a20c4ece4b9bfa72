//! `qipu link`: reports the links of a note, the notes around it, or a path between two notes.

use std::collections::HashMap;

use crate::context::{Session, edge_entry};
use crate::error::Error;
use crate::graph::{Compactions, Direction, Edge, Reached, WalkLimits, other_end};
use crate::note::NoteId;
use crate::report::{Entry, EntryRole, Layout, NoteEntry, Report, ReportHead, RowValue, layout};
use crate::request::{LinkRequest, LinkView};
use crate::store::{NoteIdx, Store};

/// Walks along links and reports the notes that are reached, the root first.
pub(super) fn run(request: &LinkRequest, session: &Session<'_>) -> Result<Report, Error> {
    match &request.view {
        LinkView::List(id) => list(request, session, id),
        LinkView::Tree(id) => tree(request, session, id),
        LinkView::Path(from, to) => path(request, session, from, to),
    }
}

/// Reports the links of a note, and its targets that do not exist.
fn list(request: &LinkRequest, session: &Session<'_>, id: &str) -> Result<Report, Error> {
    let store = session.store;
    let digests = digests(request, store);
    let (position, id) = resolve(store, &digests, id)?;
    let graph = session.graph().compacted(&digests);
    let limits = WalkLimits { max_hops: 1, ..request.limits };
    let walk = graph.walk(position, &request.follow, &limits);
    let facts = vec![("id", name(&id)), ("direction", name(request.follow.direction.name()))];
    let mut entries = entries(store, &digests, &walk.reached);
    let follow = &request.follow;
    let is_narrowed = follow.direction == Direction::In
        || !follow.kinds.is_empty()
        || !follow.except_kinds.is_empty()
        || follow.is_typed_only
        || follow.is_inline_only;
    let targets = graph.unresolved(position).iter().filter(|_| !is_narrowed);
    entries.extend(targets.map(|target| Entry::Unresolved { from: id.clone(), target: target.clone(), under: 0 }));
    Ok(report(store, (&layout::LINK_LIST, facts), entries, walk.matched, walk.is_limited()))
}

fn tree(request: &LinkRequest, session: &Session<'_>, root: &str) -> Result<Report, Error> {
    let store = session.store;
    let digests = digests(request, store);
    let (position, root) = resolve(store, &digests, root)?;
    let graph = session.graph().compacted(&digests);
    let walk = graph.walk(position, &request.follow, &request.limits);
    let max_hops = request.limits.max_hops;
    let direction = name(request.follow.direction.name());
    let facts = vec![("root", name(&root)), ("direction", direction), ("max_hops", RowValue::Count(max_hops))];
    let layout = if max_hops == 0 { &layout::LINK_ROOT } else { &layout::LINK_TREE };
    Ok(report(store, (layout, facts), entries(store, &digests, &walk.reached), walk.matched, walk.is_limited()))
}

fn path(request: &LinkRequest, session: &Session<'_>, from: &str, to: &str) -> Result<Report, Error> {
    let store = session.store;
    let digests = digests(request, store);
    let ((from_place, from), (to_place, to)) = (resolve(store, &digests, from)?, resolve(store, &digests, to)?);
    let graph = session.graph().compacted(&digests);
    let (path, is_limited) = graph.path(from_place, to_place, &request.follow, &request.limits);
    let facts = vec![
        ("from", name(&from)),
        ("to", name(&to)),
        ("direction", name(request.follow.direction.name())),
        ("found", RowValue::Flag(path.is_some())),
        ("path_length", path.as_ref().map_or(RowValue::Nothing, |path| RowValue::Count(path.len() - 1))),
    ];
    let layout = if path.is_some() { &layout::LINK_PATH } else { &layout::NO_LINK_PATH };
    let path = path.unwrap_or_default();
    Ok(report(store, (layout, facts), entries(store, &digests, &path), path.len(), is_limited))
}

/// Returns the digests that replace notes in the answer.
fn digests(request: &LinkRequest, store: &Store) -> Compactions {
    Compactions::for_answer(store.notes(), request.no_compaction)
}

/// Returns the position and id of a note, or of the digest that replaces it.
fn resolve(store: &Store, digests: &Compactions, id: &str) -> Result<(NoteIdx, NoteId), Error> {
    let position = digests.representative(store.resolve(id)?);
    Ok((position, store.notes()[position].id.clone()))
}

fn name(text: impl ToString) -> RowValue {
    RowValue::Name(text.to_string())
}

/// Reports entries with the layout and the facts of a view.
fn report(
    store: &Store,
    (layout, facts): (&'static Layout, Vec<(&'static str, RowValue)>),
    entries: Vec<Entry>,
    matched: usize,
    is_limited: bool,
) -> Report {
    let mut head = ReportHead { is_limited, ..super::head(store, layout, false, matched) };
    head.facts.extend(facts);
    Report::new(head, entries)
}

/// Returns the entries of the notes that were reached, each with the links by which it was.
fn entries(store: &Store, digests: &Compactions, reached: &[Reached<'_>]) -> Vec<Entry> {
    let entry_of: HashMap<NoteIdx, usize> =
        reached.iter().enumerate().map(|(entry_index, step)| (step.note, entry_index)).collect();
    let entry = |step: &Reached| {
        let edge = |edge: &Edge<'_>| edge_entry(store, edge, entry_of[&other_end(edge, step.note)]);
        Entry::Note(NoteEntry {
            hop: step.hop,
            parent: step.parent,
            edges: step.edges.iter().map(edge).collect(),
            ..super::note_entry(store, digests, step.note, EntryRole::Selected)
        })
    };
    reached.iter().map(entry).collect()
}
