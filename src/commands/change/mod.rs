//! Commands that change notes: each plans its changes from the store as it is, under the lock; they
//! are carried out or, in a dry run, only shown.

mod compact;
mod create;
mod delete;
mod links;
mod merge;
mod rename;
mod tags;
mod update;

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::note::edit::{self, Edit};
use crate::note::{Note, NoteId};
use crate::report::{ChangeEntry, Entry, FindingEntry, Head, Mode, Report};
use crate::request::{self, Action};
use crate::store::{self, Store};

/// A change of a file, and the note that it is about. No change is a note that is already so.
struct Planned {
    id: NoteId,
    path: String,
    change: Option<store::Change>,
}

/// What an action comes to: changes, and what is odd once they are done.
struct Plan {
    changes: Vec<Planned>,
    findings: Vec<FindingEntry>,
}

/// Plans an action, carries it out unless this is a dry run, and reports every file.
pub(super) fn run(request: &request::Change, current_dir: &Path) -> Result<Report, Error> {
    if request.is_dry_run {
        let store = Store::open(&request.location, current_dir)?;
        let plan = plan(&store, request)?;
        return Ok(report(&store, request, plan));
    }
    let (store, lock) = Store::open_to_write(&request.location, current_dir)?;
    let plan = plan(&store, request)?;
    let changes: Vec<store::Change> = plan.changes.iter().filter_map(|planned| planned.change.clone()).collect();
    store.apply(&changes, &lock)?;
    Ok(report(&store, request, plan))
}

fn plan(store: &Store, request: &request::Change) -> Result<Plan, Error> {
    let changes = match &request.action {
        Action::Delete { id, is_forced } => return delete::plan(store, id, *is_forced),
        Action::Merge { into, from } => return merge::plan(store, request, into, from),
        Action::Rename { id, title } => rename::plan(store, request, id, title),
        Action::RenameTag { from, to } => tags::plan_rename(store, request, from, to),
        Action::Compact { digest, ids, is_undone: false } => compact::plan(store, request, digest, ids),
        Action::Compact { digest, ids, is_undone: true } => compact::plan_undo(store, request, digest, ids),
        Action::Create(note) => create::plan(store, request, note),
        Action::Update { ids, fields } => update::plan(store, request, ids, fields),
        Action::AddLink { from, to, kind } => links::plan_add(store, request, from, to, kind),
        Action::RemoveLink { from, to, kind } => links::plan_remove(store, request, from, to, kind.as_deref()),
    };
    Ok(Plan { changes: changes?, findings: Vec::new() })
}

/// Plans edits of a note; `updated` follows when they change anything.
fn plan_edits(store: &Store, note: &Note, edits: &[Edit], now: &str) -> Result<Planned, Error> {
    let planned = plan_edits_undated(store, note, edits)?;
    if planned.change.is_none() {
        return Ok(planned);
    }
    let stamp = Edit::SetPlain { key: "updated", text: now.to_owned() };
    plan_edits_undated(store, note, &[edits, &[stamp]].concat())
}

/// Plans edits that change nothing of what a note says, such as another name in its links.
fn plan_edits_undated(store: &Store, note: &Note, edits: &[Edit]) -> Result<Planned, Error> {
    plan_rewritten(store, note, str::to_owned, edits)
}

/// Plans another text for a note, and then edits of that.
fn plan_rewritten(
    store: &Store,
    note: &Note,
    rewrite: impl FnOnce(&str) -> String,
    edits: &[Edit],
) -> Result<Planned, Error> {
    let old = store.text_of(note)?;
    let new = edit::apply(&rewrite(&old), edits).map_err(|reason| {
        let message = format!("can't change `{}`: {reason}", note.id);
        Error::new(ErrorKind::Store, message).hint("nothing was changed; edit the file by hand")
    })?;
    let change = (new != old).then(|| store::Change::Replace {
        path: note.path.clone(),
        old: old.into_bytes(),
        new: new.into_bytes(),
    });
    Ok(Planned { id: note.id.clone(), path: note.path.clone(), change })
}

fn report(store: &Store, request: &request::Change, plan: Plan) -> Report {
    let entry = |planned: &Planned| {
        let path = planned.change.as_ref().map_or(planned.path.as_str(), store::Change::path);
        Entry::Change(ChangeEntry {
            id: Some(planned.id.clone()),
            action: planned.change.as_ref().map_or("unchanged", store::Change::name),
            path: store.shown(path),
            diff: planned.change.as_ref().filter(|_| request.is_dry_run).map(|change| change.diff(&store.shown_path)),
        })
    };
    let mode = Mode::Change { command: request.action.name(), is_dry_run: request.is_dry_run };
    let head = Head::new(mode, Some(&store.shown_path));
    let mut entries: Vec<Entry> = plan.changes.iter().map(entry).collect();
    entries.extend(plan.findings.into_iter().map(Entry::Finding));
    Report::new(head, entries)
}
