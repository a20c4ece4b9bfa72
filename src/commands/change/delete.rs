//! `qipu delete`: deletes notes.

use std::collections::BTreeSet;

use super::{ChangePlan, PlannedChange};
use crate::commands::note_warning;
use crate::error::{Error, ErrorKind};
use crate::graph::{Compactions, Graph};
use crate::store::{Change, NoteHandle, NoteIdx, Store};

/// The most notes that an error names.
const MAX_NAMED: usize = 10;

/// Plans to delete notes that no others link to. If forced, deletes them anyway and reports the links that break.
pub(super) fn plan(store: &Store, ids: &[String], is_forced: bool) -> Result<ChangePlan, Error> {
    let positions: BTreeSet<NoteIdx> = store.positions_to_change(ids)?.into_iter().collect();
    let notes = store.notes();
    let graph = Graph::of_store(store);
    let digests = Compactions::new(notes);
    let mut plan = ChangePlan { changes: Vec::new(), findings: Vec::new() };
    for position in &positions {
        let note = &notes[*position];
        let stays = |other: &NoteIdx| !positions.contains(other);
        let linking: BTreeSet<NoteIdx> = graph.backlinks(*position).filter(stays).collect();
        if !is_forced {
            expect_unused(store, note, digests.digest_of(*position).filter(stays), &linking)?;
        }
        let change = Change::Delete { path: note.path.clone(), old: store.read_bytes(&note.path)? };
        plan.changes.push(PlannedChange::new(&note.id, &note.path, Some(change)));
        let message = format!("its link to `{}` is now broken", note.id);
        let broken_link = |from: NoteIdx| note_warning(store, &notes[from], "broken-link", message.clone());
        plan.findings.extend(linking.into_iter().map(broken_link));
    }
    Ok(plan)
}

/// Refuses to delete a note that a digest replaces or that other notes link to.
fn expect_unused(
    store: &Store,
    note: &NoteHandle,
    digest: Option<NoteIdx>,
    linking: &BTreeSet<NoteIdx>,
) -> Result<(), Error> {
    let id_of = |position: NoteIdx| store.notes()[position].id.as_str();
    if let Some(digest) = digest.map(id_of) {
        return Err(Error::new(ErrorKind::Failure, format!("`{digest}` is a digest of `{}`", note.id))
            .hint(format!("run `qipu link remove {digest} compacts {}` first, or use --force", note.id)));
    }
    if linking.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = linking.iter().take(MAX_NAMED).map(|position| id_of(*position)).collect();
    let verb = if linking.len() == 1 { "1 note links to" } else { &format!("{} notes link to", linking.len()) };
    let message = format!("{verb} `{}`: {}", note.id, ids.join(", "));
    Err(Error::new(ErrorKind::Failure, message).hint("change their links first, or use --force"))
}
