//! `qipu supersede`: says that a note replaces others, which no longer hold.

use std::sync::Arc;

use super::links::links_to;
use super::user_fields::{STATUS, set_where_written};
use super::{PlannedChange, changes_of, link_entry, plan_edits};
use crate::commands::note_warning;
use crate::error::Error;
use crate::graph::Successions;
use crate::note::edit::Edit;
use crate::note::{NoteId, SUPERSEDES, Status};
use crate::report::DiagnosticEntry;
use crate::store::{NoteHandle, NoteIdx, Store};

/// Plans the links from the new note and the status of the old ones.
pub(super) fn plan(store: &Store, now: &str, old: &[String], new: &str) -> Result<Vec<PlannedChange>, Error> {
    let (replaced, new) = (store.positions_to_change(old)?, store.resolve_to_change(new)?);
    let notes = store.notes();
    if replaced.contains(&new) {
        return Err(Error::usage("a note can't supersede itself"));
    }
    expect_in_force(&notes[new])?;
    let successions = Successions::as_written(notes);
    if let Some(old) = replaced.iter().find(|old| successions.supersedes(**old, new)) {
        let (old, new) = (&notes[*old].id, &notes[new].id);
        return Err(Error::usage(format!("`{new}` can't supersede `{old}`, which supersedes it")));
    }
    let old_changes = replaced.iter().map(|old| plan_old(store, &successions, now, *old, Some(new)));
    let old_changes = old_changes.collect::<Result<Vec<_>, Error>>()?;
    let is_linked = |old: &&NoteIdx| links_to(store, &notes[new], &notes[**old].id).any(|(kind, _)| kind == SUPERSEDES);
    let unlinked = replaced.iter().filter(|old| !is_linked(old));
    let links: Vec<Edit> = unlinked.map(|old| link(&notes[*old].id)).collect();
    Ok(std::iter::once(plan_edits(store, &notes[new], &links, now)?).chain(old_changes).collect())
}

/// Whether a link that is added changes the status of the notes it leads to: those of another collection keep theirs, and a
/// draft replaces nothing until it is accepted.
pub(super) fn has_effect(store: &Store, new: &str, old: &[String]) -> Result<bool, Error> {
    let is_draft = store.notes()[store.resolve_to_change(new)?].status() == Some(Status::Draft);
    Ok(!is_draft && old.iter().any(|old| store.resolve_to_change(old).is_ok()))
}

/// Plans the status of notes that a note which is created replaces. A draft replaces nothing until it is accepted.
pub(super) fn plan_replaced(
    store: &Store,
    now: &str,
    replaced: &[NoteIdx],
    new: &NoteHandle,
) -> Result<Vec<PlannedChange>, Error> {
    if replaced.is_empty() || new.status() == Some(Status::Draft) {
        return Ok(Vec::new());
    }
    expect_in_force(new)?;
    let successions = Successions::as_written(store.notes());
    replaced.iter().map(|old| plan_old(store, &successions, now, *old, None)).collect()
}

/// Returns the edit that adds the link to a replaced note.
pub(super) fn link(old: &NoteId) -> Edit {
    Edit::AddMap { key: "links", entries: link_entry(SUPERSEDES, old.as_str()) }
}

/// Expects that a note may replace others: what nobody accepted must not hide what was accepted.
fn expect_in_force(new: &NoteHandle) -> Result<(), Error> {
    match new.status() {
        Some(status @ (Status::Draft | Status::Rejected | Status::Deprecated)) => {
            let message = format!("`{}` can't supersede a note: its status is {}", new.id, status.name());
            Err(Error::usage(message).hint("change its status first"))
        }
        _ => Ok(()),
    }
}

/// Plans the status of a replaced note, unless another one than `new` replaces it.
fn plan_old(
    store: &Store,
    successions: &Successions,
    now: &str,
    old: NoteIdx,
    new: Option<NoteIdx>,
) -> Result<PlannedChange, Error> {
    store.expect_own_id(old)?;
    let note = &store.notes()[old];
    if let Some(other) = successions.successors(old).iter().find(|other| Some(**other) != new) {
        let other = &store.notes()[*other].id;
        return Err(Error::usage(format!("`{other}` already supersedes `{}`", note.id))
            .hint(format!("supersede `{other}` instead, or remove that link first")));
    }
    let is_marked = note.status() == Some(Status::Superseded);
    let edit = (!is_marked).then(|| set_where_written(note, STATUS, Status::Superseded.name()));
    plan_edits(store, note, edit.as_slice(), now)
}

/// Reports the notes that stay superseded although changes remove the last note that replaces them.
pub(super) fn without_successor(store: &Store, planned: &[PlannedChange]) -> Vec<DiagnosticEntry> {
    let before = Successions::as_written(store.notes());
    let after = store.after(&changes_of(planned));
    let successions = Successions::as_written(after.notes());
    let lost = NoteIdx::enumerate(after.notes()).filter(|(index, note)| {
        let had_one = store.named(note.id.as_str()).is_some_and(|old| !before.successors(old).is_empty());
        note.status() == Some(Status::Superseded) && had_one && successions.successors(*index).is_empty()
    });
    let finding = |(_, note): (NoteIdx, &Arc<NoteHandle>)| {
        let message = format!(
            "its status is still superseded, but no note supersedes it any more; `qipu update {} --status stable` shows it again",
            note.id
        );
        note_warning(store, note, "no-successor", message)
    };
    lost.map(finding).collect()
}
