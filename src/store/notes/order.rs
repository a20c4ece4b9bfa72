//! The order of the notes of one collection: by id, each with an id of its own.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::note_handle::NoteHandle;
use super::note_idx::NoteIdx;
use super::text_index_builder::TextIndex;
use crate::codec::sort_key::sort_key;
use crate::note::{Diagnostic, DiagnosticCode};

/// Compares notes of one collection by id, then by path.
pub(super) fn in_order(a: &NoteHandle, b: &NoteHandle) -> Ordering {
    (&a.id, &a.path).cmp(&(&b.id, &b.path))
}

/// Sorts the notes of one collection by id, each with an id of its own, and changes the positions of a text index to match.
pub(super) fn sorted(
    notes: Vec<Arc<NoteHandle>>,
    mut text_index: Option<TextIndex>,
) -> (Vec<Arc<NoteHandle>>, Option<TextIndex>) {
    let mut order: Vec<usize> = (0..notes.len()).collect();
    if !notes.is_sorted_by(|a, b| in_order(a, b).is_le()) {
        // The first bytes of an id decide most comparisons, without waiting for the memory of the notes.
        let key = |note: &Arc<NoteHandle>| sort_key(note.id.as_str().as_bytes());
        let mut keyed: Vec<(u64, usize)> = notes.par_iter().map(key).zip(0..notes.len()).collect();
        keyed.par_sort_unstable_by(|(a_key, a), (b_key, b)| {
            a_key.cmp(b_key).then_with(|| in_order(&notes[*a], &notes[*b])).then(a.cmp(b))
        });
        order = keyed.into_iter().map(|(_, position)| position).collect();
    }
    let mut notes: Vec<Option<Arc<NoteHandle>>> = notes.into_iter().map(Some).collect();
    let mut sorted: Vec<Arc<NoteHandle>> = order.iter().filter_map(|position| notes[*position].take()).collect();
    if disambiguate_ids(&mut sorted) {
        let mut by_id: Vec<usize> = (0..sorted.len()).collect();
        by_id.sort_by(|a, b| sorted[*a].id.cmp(&sorted[*b].id));
        sorted = by_id.iter().map(|position| Arc::clone(&sorted[*position])).collect();
        order = by_id.iter().map(|position| order[*position]).collect();
    }
    if let Some(text_index) = &mut text_index {
        let mut sorted_idx = vec![NoteIdx::default(); order.len()];
        NoteIdx::all(order.len()).zip(order).for_each(|(note, before)| sorted_idx[before] = note);
        text_index.notes.iter_mut().flatten().for_each(|note| *note = sorted_idx[note.index()]);
    }
    (sorted, text_index)
}

/// Gives each note but one of those that share an id, which are adjacent, an id of its own, and returns whether there were
/// any. The first note whose frontmatter names the id keeps it. The others with that field get the numbers from 2, which
/// depend on each other; those whose paths give the id get a hash of the path, so that no other file changes their ids.
fn disambiguate_ids(notes: &mut [Arc<NoteHandle>]) -> bool {
    let mut is_any = false;
    for same in notes.chunk_by_mut(|a, b| a.id == b.id).filter(|same| same.len() > 1) {
        is_any = true;
        let keeper = same.iter().position(|note| note.names_its_id()).unwrap_or_default();
        let message = format!("{} has the id `{}` too", same[keeper].path, same[keeper].id);
        let (mut ordinal, mut hashed) = (1, HashSet::new());
        for (_, note) in same.iter_mut().enumerate().filter(|(position, _)| *position != keeper) {
            // Paths that are not UTF-8 may be shown alike and then have the same hash.
            let by_path = Some(note.id.disambiguated(&note.path)).filter(|_| !note.names_its_id());
            let id = by_path.filter(|id| hashed.insert(id.clone())).unwrap_or_else(|| {
                ordinal += 1;
                note.id.duplicate(ordinal)
            });
            Arc::make_mut(note).set_duplicate_id(id, Diagnostic::new(DiagnosticCode::DuplicateId, message.clone()));
        }
    }
    is_any
}
