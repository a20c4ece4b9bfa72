//! `qipu link`: the links at a note, the notes around it, a way between two notes.

use crate::context::{Session, edge_entry};
use crate::error::Error;
use crate::graph::{Compactions, Direction, Edge, Reached, WalkLimits, other_end};
use crate::note::NoteId;
use crate::report::{Body, Entry, EntryRole, NoteEntry, Report, ReportHead, ReportKind, ShownFields};
use crate::request::{LinkRequest, LinkView};
use crate::store::Store;

/// Walks along links and reports who is reached, the root first.
pub(super) fn run(request: &LinkRequest, desk: &Session<'_>) -> Result<Report, Error> {
    match &request.view {
        LinkView::List(id) => list(request, desk, id),
        LinkView::Tree(id) => tree(request, desk, id),
        LinkView::Path(from, to) => path(request, desk, from, to),
    }
}

fn list(request: &LinkRequest, desk: &Session<'_>, id: &str) -> Result<Report, Error> {
    let store = desk.store;
    let digests = digests(request, store);
    let (place, id) = find(store, &digests, id)?;
    let graph = desk.graph().compacted(&digests);
    let limits = WalkLimits { max_hops: 1, ..request.limits };
    let walk = graph.walk(place, &request.follow, &limits);
    let mode = ReportKind::LinkList { id: id.clone(), direction: request.follow.direction.name() };
    let mut entries = entries(store, &digests, &walk.reached);
    let follow = &request.follow;
    let is_narrowed = follow.direction == Direction::In
        || !follow.kinds.is_empty()
        || !follow.except_kinds.is_empty()
        || follow.is_typed_only
        || follow.is_inline_only;
    let targets = graph.unresolved(place).iter().filter(|_| !is_narrowed);
    entries.extend(targets.map(|target| Entry::Unresolved { from: id.clone(), target: target.clone(), under: 0 }));
    Ok(report(store, mode, entries, walk.matched, walk.is_limited()))
}

fn tree(request: &LinkRequest, desk: &Session<'_>, root: &str) -> Result<Report, Error> {
    let store = desk.store;
    let digests = digests(request, store);
    let (place, root) = find(store, &digests, root)?;
    let graph = desk.graph().compacted(&digests);
    let walk = graph.walk(place, &request.follow, &request.limits);
    let mode =
        ReportKind::LinkTree { root, direction: request.follow.direction.name(), max_hops: request.limits.max_hops };
    Ok(report(store, mode, entries(store, &digests, &walk.reached), walk.matched, walk.is_limited()))
}

fn path(request: &LinkRequest, desk: &Session<'_>, from: &str, to: &str) -> Result<Report, Error> {
    let store = desk.store;
    let digests = digests(request, store);
    let ((from_place, from), (to_place, to)) = (find(store, &digests, from)?, find(store, &digests, to)?);
    let graph = desk.graph().compacted(&digests);
    let (path, is_limited) = graph.path(from_place, to_place, &request.follow, &request.limits);
    let mode = ReportKind::LinkPath {
        from,
        to,
        direction: request.follow.direction.name(),
        length: path.as_ref().map(|path| path.len() - 1),
    };
    let path = path.unwrap_or_default();
    Ok(report(store, mode, entries(store, &digests, &path), path.len(), is_limited))
}

fn digests(request: &LinkRequest, store: &Store) -> Compactions {
    Compactions::for_answer(store.notes(), request.no_compaction)
}

/// Finds a note, or the digest that stands for it.
fn find(store: &Store, digests: &Compactions, id: &str) -> Result<(usize, NoteId), Error> {
    let place = digests.representative(store.resolve(id)?);
    Ok((place, store.notes()[place].id.clone()))
}

fn report(store: &Store, mode: ReportKind, entries: Vec<Entry>, matched: usize, is_limited: bool) -> Report {
    let head = ReportHead {
        show: ShownFields { body: Body::Hidden, ..ShownFields::default() },
        matched,
        is_limited,
        ..ReportHead::new(mode, Some(&store.shown_path))
    };
    Report::new(head, entries)
}

fn entries(store: &Store, digests: &Compactions, reached: &[Reached<'_>]) -> Vec<Entry> {
    let place_of: std::collections::HashMap<usize, usize> =
        reached.iter().enumerate().map(|(number, step)| (step.note, number)).collect();
    let entry = |step: &Reached| {
        let edge = |edge: &Edge<'_>| edge_entry(store, edge, place_of[&other_end(edge, step.note)]);
        Entry::Note(NoteEntry {
            hop: step.hop,
            parent: step.parent,
            edges: step.edges.iter().map(edge).collect(),
            ..super::note_entry(store, digests, step.note, EntryRole::Selected)
        })
    };
    reached.iter().map(entry).collect()
}
