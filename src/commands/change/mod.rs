//! The commands that change notes. Each plans its changes from the store under the lock; they are then made or, in a dry
//! run, shown.

mod compact;
mod create;
mod delete;
mod edit;
mod journal;
mod links;
mod merge;
mod rename;
pub(super) mod repair;
mod tags;
mod update;

use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::note::edit::{Edit, apply};
use crate::note::{MAX_BYTES, NoteId};
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead, ReportKind};
use crate::request::{Action, ChangeRequest};
use crate::store::NoteHandle;
use crate::store::{self, Location, Store};

/// A planned change of a file, and the note that it affects. `change` is `None` if the note is in the wanted state already.
pub(super) struct PlannedChange {
    id: NoteId,
    path: String,
    change: Option<store::Change>,
}

/// The changes of an action, and the diagnostics about the store after them.
struct ChangePlan {
    changes: Vec<PlannedChange>,
    findings: Vec<DiagnosticEntry>,
}

/// Plans an action, makes the changes unless this is a dry run, and reports every file.
pub(super) fn run(request: &ChangeRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    if request.is_dry_run {
        let store = Store::open(location, &env.current_dir)?;
        let (store, plan) = plan_with_retry(store, request, location, env)?;
        return Ok(report(&store, request, plan));
    }
    let (store, lock) = Store::open_to_write(location, &env.current_dir)?;
    let (store, mut plan) = plan_with_retry(store, request, location, env)?;
    store.apply(&changes_of(&plan.changes), &lock)?;
    // The lock must not be held while the editor is open.
    drop(lock);
    if let ([created], Action::Create { is_opened: true, .. }) = (plan.changes.as_slice(), &request.action) {
        let edited = edit::open(&store, &created.path, location, &request.now, env);
        // The note exists, so its id is reported even if the editor failed.
        let (findings, verdict) = match edited {
            Ok(edited) => (edited.findings, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        plan.findings = findings;
        return Ok(Report { verdict, ..report(&store, request, plan) });
    }
    Ok(report(&store, request, plan))
}

/// Opens a note in the user's editor and reports its change.
pub(super) fn edit(id: &str, now: &str, location: &Location, env: &Env) -> Result<Report, Error> {
    let store = Store::open(location, &env.current_dir)?;
    let path = &store.notes()[store.resolve(id)?].path;
    let plan = edit::open(&store, path, location, now, env)?;
    Ok(report_as(&store, ReportKind::Change { command: "edit", is_dry_run: false }, plan))
}

/// Plans an action; if the index turns out to be corrupt, plans it again from the files.
fn plan_with_retry(
    store: Store,
    request: &ChangeRequest,
    location: &Location,
    env: &Env,
) -> Result<(Store, ChangePlan), Error> {
    let (store, plan) = store.with_corruption_retry(location, &env.current_dir, |store| plan(store, request))?;
    Ok((store, plan?))
}

fn plan(store: &Store, request: &ChangeRequest) -> Result<ChangePlan, Error> {
    if needs_all_notes(&request.action) {
        store.expect_all_readable()?;
    }
    if matches!(request.action, Action::Journal { .. }) {
        // A day whose journal can't be read must not get a second one.
        store.expect_readable_in("journals")?;
    }
    let now = &request.now;
    let changes = match &request.action {
        Action::Delete { ids, is_forced } => return delete::plan(store, ids, *is_forced),
        Action::Update { ids, fields } => return update::plan(store, now, ids, fields),
        Action::Merge { into, from } => return merge::plan(store, now, into, from),
        Action::Rename { id, title } => rename::plan(store, now, id, title),
        Action::RenameTag { from, to } => tags::plan_rename(store, now, from, to),
        Action::Compact { digest, ids, is_undone: false } => compact::plan(store, now, digest, ids),
        Action::Compact { digest, ids, is_undone: true } => compact::plan_undo(store, now, digest, ids),
        Action::Create { fields, is_generated, .. } => create::plan(store, request, fields, *is_generated),
        Action::Journal { day, text } => journal::plan(store, request, *day, text),
        Action::AddLink { from, to, kind } => links::plan_add(store, now, from, to, kind),
        Action::RemoveLink { from, to, kind } => links::plan_remove(store, now, from, to, kind.as_deref()),
    };
    Ok(ChangePlan { changes: changes?, findings: Vec::new() })
}

/// Tells whether an action needs every note to be readable: an unreadable one could mention the note or tag in question.
fn needs_all_notes(action: &Action) -> bool {
    match action {
        Action::Delete { is_forced, .. } => !is_forced,
        Action::Merge { .. } | Action::Rename { .. } | Action::RenameTag { .. } => true,
        Action::Compact { is_undone, .. } => !is_undone,
        Action::Update { .. }
        | Action::Create { .. }
        | Action::Journal { .. }
        | Action::AddLink { .. }
        | Action::RemoveLink { .. } => false,
    }
}

/// Plans edits of a note; sets `updated` if they change the text.
fn plan_edits(store: &Store, note: &NoteHandle, edits: &[Edit], now: &str) -> Result<PlannedChange, Error> {
    plan_text(store, note, |old| {
        let edited = apply(old, edits)?;
        let stamp = Edit::SetPlain { key: "updated", text: now.to_owned() };
        if edited == old { Ok(edited) } else { apply(&edited, &[stamp]) }
    })
}

/// Plans a rewrite of a note's text, and then edits. Leaves `updated` as it is.
fn plan_rewritten(
    store: &Store,
    note: &NoteHandle,
    rewrite: impl FnOnce(&str) -> Result<String, String>,
    edits: &[Edit],
) -> Result<PlannedChange, Error> {
    plan_text(store, note, |old| apply(&rewrite(old)?, edits))
}

/// Plans a new text for a note.
///
/// # Errors
/// `Store` for the reason that `new_text` gives; `Failure` for a text of more than [`MAX_BYTES`].
fn plan_text(
    store: &Store,
    note: &NoteHandle,
    new_text: impl FnOnce(&str) -> Result<String, String>,
) -> Result<PlannedChange, Error> {
    let old = store.text_of(note)?;
    let new = new_text(&old).map_err(|reason| refuse_change(note, &reason))?;
    if new.len() > MAX_BYTES {
        let message = format!("`{}` would be longer than {MAX_BYTES} bytes", note.id);
        return Err(Error::new(ErrorKind::Failure, message).hint("nothing was changed"));
    }
    let change = (new != old).then(|| store::Change::Replace {
        path: note.path.clone(),
        old: old.into_bytes(),
        new: new.into_bytes(),
    });
    Ok(PlannedChange { id: note.id.clone(), path: note.path.clone(), change })
}

/// Returns the error for a note that can't be changed as planned.
fn refuse_change(note: &NoteHandle, reason: &str) -> Error {
    let message = format!("can't change `{}`: {reason}", note.id);
    Error::new(ErrorKind::Store, message).hint("nothing was changed; edit the file by hand")
}

fn report(store: &Store, request: &ChangeRequest, plan: ChangePlan) -> Report {
    report_as(store, ReportKind::Change { command: request.action.name(), is_dry_run: request.is_dry_run }, plan)
}

/// Reports a plan as an answer of this kind, with a diff of each file in a dry run.
fn report_as(store: &Store, mode: ReportKind, plan: ChangePlan) -> Report {
    let shows_diffs = matches!(mode, ReportKind::Change { is_dry_run: true, .. });
    let head = ReportHead::new(mode, Some(&store.shown_path));
    let mut entries: Vec<Entry> = plan.changes.iter().map(|planned| entry(store, planned, shows_diffs)).collect();
    entries.extend(finished(store).into_iter().chain(plan.findings).map(Entry::Finding));
    Report::new(head, entries)
}

/// Reports that the changes of a killed writer were finished first.
pub(super) fn finished(store: &Store) -> Option<DiagnosticEntry> {
    let count = store.recovered();
    let message =
        format!("a change that an earlier command did not finish was completed first; files changed: {count}");
    (count > 0).then(|| DiagnosticEntry::warning("finished-change", store.redo_log_path(), message))
}

pub(super) fn changes_of(planned: &[PlannedChange]) -> Vec<store::Change> {
    planned.iter().filter_map(|planned| planned.change.clone()).collect()
}

pub(super) fn entry(store: &Store, planned: &PlannedChange, shows_diff: bool) -> Entry {
    let path = planned.change.as_ref().map_or(planned.path.as_str(), store::Change::path);
    Entry::Change(ChangeEntry {
        id: Some(planned.id.clone()),
        action: planned.change.as_ref().map_or("unchanged", store::Change::name),
        path: store.shown(path),
        diff: planned.change.as_ref().filter(|_| shows_diff).map(|change| change.diff(&store.shown_path)),
    })
}
