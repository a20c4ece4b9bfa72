//! `qipu link`: reports the links of a note, the notes around it, or a path between two notes.

use std::collections::HashMap;

use crate::context::{Session, edge_entry};
use crate::error::Error;
use crate::graph::{Compactions, Direction, Edge, Reached, WalkLimits, other_end};
use crate::note::NoteId;
use crate::report::{Entry, EntryRole, NoteEntry, Report, ReportHead, RowValue, layout};
use crate::request::{LinkRequest, LinkView};
use crate::store::{NoteIdx, Store};

/// Walks along links and reports the notes that are reached, the root first: the links of a note with its targets that do
/// not exist, the notes around it, or a path.
pub(super) fn run(request: &LinkRequest, session: &Session<'_>) -> Result<Report, Error> {
    let (store, follow) = (session.store, &request.follow);
    let digests = Compactions::for_answer(store.notes(), request.no_compaction);
    let resolve = |name: &str| -> Result<(NoteIdx, NoteId), Error> {
        let position = digests.representative(store.resolve(name)?);
        Ok((position, store.notes()[position].id.clone()))
    };
    let entries = |reached: &[Reached<'_>]| entries(store, &digests, reached);
    let direction = ("direction", RowValue::name(follow.direction.name()));
    let (layout, facts, entries, matched, is_limited) = match &request.view {
        LinkView::List(id) => {
            let (position, id) = resolve(id)?;
            let graph = session.graph().compacted(&digests);
            let walk = graph.walk(position, follow, &WalkLimits { max_hops: 1, ..request.limits });
            let mut entries = entries(&walk.reached);
            // If only some links are followed, those without a target are left out.
            let is_narrowed = follow.direction == Direction::In || !follow.via.is_empty();
            let is_lost = |target: &&str| !is_narrowed && store.leads_nowhere(&store.notes()[position], target);
            let unresolved = graph.unresolved(position).filter(is_lost);
            let entry = |target: &str| Entry::Unresolved { from: id.clone(), target: target.to_owned(), under: 0 };
            entries.extend(unresolved.map(entry));
            let facts = vec![("id", RowValue::name(&id)), direction];
            (&layout::LINK_LIST, facts, entries, walk.matched, walk.is_limited())
        }
        LinkView::Tree(root) => {
            let (position, root) = resolve(root)?;
            let graph = session.graph().compacted(&digests);
            let walk = graph.walk(position, follow, &request.limits);
            let max_hops = request.limits.max_hops;
            let facts = vec![("root", RowValue::name(&root)), direction, ("max_hops", RowValue::Count(max_hops))];
            let layout = if max_hops == 0 { &layout::LINK_ROOT } else { &layout::LINK_TREE };
            (layout, facts, entries(&walk.reached), walk.matched, walk.is_limited())
        }
        LinkView::Path(from, to) => {
            let ((start, from), (end, to)) = (resolve(from)?, resolve(to)?);
            let graph = session.graph().compacted(&digests);
            let (path, is_limited) = graph.path(start, end, follow, &request.limits);
            let length = path.as_ref().map_or(RowValue::Nothing, |path| RowValue::Count(path.len() - 1));
            let found = ("found", RowValue::Flag(path.is_some()));
            let facts = vec![
                ("from", RowValue::name(&from)),
                ("to", RowValue::name(&to)),
                direction,
                found,
                ("path_length", length),
            ];
            let layout = if path.is_some() { &layout::LINK_PATH } else { &layout::NO_LINK_PATH };
            let path = path.unwrap_or_default();
            (layout, facts, entries(&path), path.len(), is_limited)
        }
    };
    let mut head = ReportHead { is_limited, ..super::head(store, layout, false, matched) };
    head.facts.extend(facts);
    Ok(Report::new(head, entries))
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
