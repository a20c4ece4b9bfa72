//! The commands that change notes. Each plans its changes from the store under the lock; they are then made or, in a dry
//! run, shown.

mod accept;
mod agent_words;
mod claims;
pub(super) mod code_reference;
mod compact;
mod create;
mod delete;
mod edit;
mod held_drafts;
mod journal;
mod links;
mod merge;
mod offers;
mod passage;
mod rename;
pub(super) mod repair;
mod repeated_notes;
mod revision;
mod slug;
mod supersede;
mod tasks;
mod update;
mod user_fields;

pub(super) use accept::next_review;
pub(super) use agent_words::{WordsFrom, as_program};
pub use claims::CLAIMS;
pub(super) use held_drafts::expect_held;

use super::secrets::expect_no_new_secrets;
use super::{change_store, text_index_builder};
use crate::env::{AgentSession, Env};
use crate::error::{Error, ErrorKind};
use crate::graph::NameIndex;
use crate::note::edit::{Edit, apply, has_yaml, relink};
use crate::note::{COMPACTS, InlineLink, MAX_BYTES, NoteId, Revision, SUPERSEDES, conflict_line};
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead};
use crate::request::{Action, ChangeRequest, MCP, NewFields, UNKNOWN_TOOL, generated_by};
use crate::store::{self, Dependence, IndexBuilderFactory, Location, NoteHandle, NoteIdx, ShownRecord, Store};

/// The most notes of one change that are recorded for its session.
const MAX_RECORDED: usize = 8;

/// A planned change of a file, and the note that it affects. `change` is `None` if the note is in the wanted state already.
pub(super) struct PlannedChange {
    id: NoteId,
    path: String,
    change: Option<store::Change>,
    /// Whether it only lets links follow the change of another note.
    is_relinking: bool,
    /// The old title of the note, if it becomes an alias.
    alias: Option<String>,
}

impl PlannedChange {
    fn new(id: &NoteId, path: &str, change: Option<store::Change>) -> Self {
        Self { id: id.clone(), path: path.to_owned(), change, is_relinking: false, alias: None }
    }
}

/// The changes of an action, and the diagnostics about the store after them.
struct ChangePlan {
    changes: Vec<PlannedChange>,
    findings: Vec<DiagnosticEntry>,
}

/// Plans an action, makes the changes unless this is a dry run, and reports every file. If the index turns out to be
/// corrupt, plans again from the files.
pub fn run(request: &ChangeRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    // The text of a new note is compared with those of the others.
    let builder = has_new_text(request).then_some(text_index_builder as IndexBuilderFactory);
    let agent = env.agent_session();
    let needs_all = needs_all_notes(&request.action);
    let dependence = if needs_all { Dependence::AllNotes } else { Dependence::Named };
    let paths = (location, env.current_dir.as_path());
    let session = session_record(agent.as_ref(), env);
    let changed = change_store(request.is_dry_run, paths, builder, dependence, |store| {
        let request = passage::filled(store, request)?;
        let edited = offers::edited_files(store, &request.action, session.as_ref());
        let (request, is_unknown) = &offers::with_edited_files(&request, &edited);
        let mut plan = plan(store, request, agent.as_ref())?;
        if let Some(first) = plan.changes.first() {
            plan.findings.extend(is_unknown.then(|| offers::nothing_edited(store, first)));
            if let Action::Create { fields, .. } = &request.action {
                plan.findings.extend(offers::findings(store, first, fields, &edited));
            }
        }
        expect_no_secrets(request, &plan, agent.as_ref())?;
        Ok((changes_of(&plan.changes), plan))
    });
    let (store, lock, mut plan) = changed.map_err(|error| revision::explained(error, request, location, env))?;
    let mut verdict = None;
    if let Some(lock) = lock {
        // The lock must not be held while the editor is open.
        drop(lock);
        add_to_session(session.as_ref(), &plan.changes, env);
        if let ([created, ..], Action::Create { is_opened: true, .. }) = (plan.changes.as_slice(), &request.action) {
            match edit::open(&store, &created.path, location, &request.now, env) {
                Ok(edited) => {
                    plan.findings.extend(edited.findings);
                    let text = edited.changes.first().and_then(|planned| planned.change.as_ref()?.files()[1]);
                    // The revision is that of what the editor left.
                    if let (Some((_, text)), Some(store::Change::Create { new, .. })) =
                        (text, plan.changes.first_mut().and_then(|planned| planned.change.as_mut()))
                    {
                        *new = text.to_vec();
                    }
                }
                // The note exists, so its id is reported even if the editor failed.
                Err(error) => verdict = Some(error),
            }
        }
    }
    Ok(Report { verdict, ..report(&store, request.action.name(), request.is_dry_run, plan) })
}

/// Returns the record of the session of an agent tool, which may not exist yet.
fn session_record(agent: Option<&AgentSession>, env: &Env) -> Option<ShownRecord> {
    let (id, cache) = agent?.id.as_deref().zip(env.cache_dir.as_deref())?;
    Some(ShownRecord::of_session(cache, id))
}

/// Whether a tool of MCP creates a note with these fields.
fn is_of_tool(fields: &NewFields) -> bool {
    fields.custom.contains(&generated_by(MCP))
}

/// Adds the notes that the session of an agent tool saved or changed to its record, from which the session learns of them
/// after a compaction. Without that it only learns less, and sandboxes forbid it: a failure is not reported.
fn add_to_session(record: Option<&ShownRecord>, changes: &[PlannedChange], env: &Env) {
    let Some(record) = record else { return };
    let is_of_session = |planned: &&PlannedChange| planned.change.is_some() && !planned.is_relinking;
    let ids = changes.iter().filter(is_of_session).map(|planned| planned.id.as_str());
    let ids: Vec<&str> = ids.take(MAX_RECORDED).collect();
    if !ids.is_empty() && record.read().is_ok() {
        let _ = record.add_saved(&ids, env.now.as_second());
    }
}

/// Returns the changes that [`run`] would make to the files of a store, for a program that makes them itself.
///
/// # Errors
/// As there.
pub fn plan_changes(
    store: &Store,
    request: &ChangeRequest,
    agent: Option<&AgentSession>,
) -> Result<Vec<store::Change>, Error> {
    let plan = plan(store, request, agent)?;
    expect_no_secrets(request, &plan, agent)?;
    Ok(changes_of(&plan.changes))
}

/// Refuses a plan that writes new secrets into notes.
fn expect_no_secrets(request: &ChangeRequest, plan: &ChangePlan, agent: Option<&AgentSession>) -> Result<(), Error> {
    if !has_new_words(&request.action) || request.is_secret_allowed {
        return Ok(());
    }
    let is_of_program = program(&request.action, agent).is_some();
    expect_no_new_secrets(plan.changes.iter().filter_map(|planned| planned.change.as_ref()), is_of_program)
}

/// Opens a note in the user's editor and reports its change.
pub fn edit(id: &str, now: &str, location: &Location, env: &Env) -> Result<Report, Error> {
    let store = Store::open_target(location, &env.current_dir, None)?;
    let path = &store.notes()[store.resolve_to_change(id)?].path;
    let plan = edit::open(&store, path, location, now, env)?;
    Ok(report(&store, "update", false, plan))
}

/// Plans an action, unless it decides about a draft for a person. `agent`: the session of an agent tool that makes the
/// call.
fn plan(store: &Store, request: &ChangeRequest, agent: Option<&AgentSession>) -> Result<ChangePlan, Error> {
    let Some(program) = program(&request.action, agent) else { return plan_action(store, request, agent) };
    held_drafts::expect_place(store)?;
    let mut plan = plan_action(store, request, agent)?;
    let is_journal = matches!(request.action, Action::Journal { .. });
    let from = if is_journal { WordsFrom::Journal } else { WordsFrom::Call };
    for planned in plan.changes.iter_mut().filter(|planned| !planned.is_relinking) {
        let Some(change) = planned.change.take() else { continue };
        planned.change = as_program(store, change, program, from)?;
    }
    held_drafts::expect_no_decision(store, &request.action, &changes_of(&plan.changes))?;
    Ok(plan)
}

/// Returns the program that makes the call of an action; `None` if a person does.
fn program<'a>(action: &Action, agent: Option<&'a AgentSession>) -> Option<&'a str> {
    match action {
        Action::Create { is_generated: true, .. } => Some(UNKNOWN_TOOL),
        Action::Update { is_generated: true, .. } | Action::AddLink { is_generated: true, .. } => Some(MCP),
        _ => agent.map(|agent| agent.tool),
    }
}

/// Plans an action on a note of the wanted revision, if the request names one.
fn plan_action(store: &Store, request: &ChangeRequest, agent: Option<&AgentSession>) -> Result<ChangePlan, Error> {
    let Some(wanted) = request.revision else { return plan_any(store, request, agent) };
    let note = revision::named_note(store, &request.action)?;
    // Before the plan, since what another writer changed may be why it fails.
    revision::expect(note, &store.read_bytes(&note.path)?, wanted)?;
    let plan = plan_any(store, request, agent)?;
    // An editor knows no lock. What it saves after the plan has read the file, the redo log refuses.
    let before = plan.changes.iter().filter_map(|planned| planned.change.as_ref()?.files()[0]);
    before.filter(|(path, _)| *path == note.path).try_for_each(|(_, old)| revision::expect(note, old, wanted))?;
    Ok(plan)
}

fn plan_any(store: &Store, request: &ChangeRequest, agent: Option<&AgentSession>) -> Result<ChangePlan, Error> {
    if needs_all_notes(&request.action) {
        store.expect_all_readable()?;
    }
    if matches!(request.action, Action::Journal { .. }) {
        // A day whose journal can't be read must not get a second one.
        store.expect_readable_in("journals")?;
    }
    let now = &request.now;
    let changes = match &request.action {
        Action::Delete { ids, is_forced } => {
            let mut plan = delete::plan(store, ids, *is_forced)?;
            plan.findings.extend(supersede::without_successor(store, &plan.changes));
            return Ok(plan);
        }
        Action::Update { ids, filters, fields, body_edit, is_confirmed, .. } => {
            let notes = match filters.as_slice() {
                [] => store.positions_to_change(ids)?,
                filters => update::selected(store, filters, *is_confirmed || request.is_dry_run)?,
            };
            update::plan(store, now, &notes, fields, body_edit.as_ref(), program(&request.action, agent))
        }
        Action::Merge { into, from } => return merge::plan(store, now, into, from),
        Action::CompleteTasks { tasks } => tasks::plan_done(store, tasks),
        Action::Create { fields, is_generated, supersedes, .. } => {
            let changes = create::plan(store, request, fields, *is_generated, supersedes, agent)?;
            let findings = repeated_notes::warnings(store, &changes, has_new_text(request), is_of_tool(fields));
            return Ok(ChangePlan { changes, findings });
        }
        Action::Accept { .. } if agent.is_some() => {
            Err(Error::failure("an agent can't say that a person accepted a note")
                .hint("accept it outside of the session of an agent"))
        }
        Action::Accept { id, by } => accept::plan(store, now, id, by),
        Action::Supersede { old, new } => supersede::plan(store, now, old, new),
        Action::Journal { day, text } => journal::plan(store, request, *day, text, agent),
        Action::AddLink { from, to, kind, .. } => match kind.as_deref() {
            Some(COMPACTS) => compact::plan(store, now, from, to),
            Some(SUPERSEDES) if supersede::has_effect(store, from, to)? => supersede::plan(store, now, to, from),
            kind => links::plan_add(store, now, from, to, kind),
        },
        Action::RemoveLink { from, to, kind } => {
            let changes = links::plan_remove(store, now, from, to, kind.as_deref())?;
            let findings = supersede::without_successor(store, &changes);
            return Ok(ChangePlan { changes, findings });
        }
    };
    Ok(ChangePlan { changes: changes?, findings: Vec::new() })
}

/// Tells whether a request gives a new note a text.
fn has_new_text(request: &ChangeRequest) -> bool {
    match &request.action {
        Action::Create { fields, from, .. } => {
            from.is_some() || fields.body.as_ref().is_some_and(|body| !body.trim().is_empty())
        }
        _ => false,
    }
}

/// Tells whether an action writes words of the caller into notes. The others only move what is there, and remove it.
fn has_new_words(action: &Action) -> bool {
    match action {
        Action::Create { .. } | Action::Update { .. } | Action::Journal { .. } => true,
        Action::AddLink { .. }
        | Action::RemoveLink { .. }
        | Action::CompleteTasks { .. }
        | Action::Supersede { .. }
        | Action::Accept { .. }
        | Action::Delete { .. }
        | Action::Merge { .. } => false,
    }
}

/// Tells whether an action needs every note to be readable: an unreadable one could mention the note or tag in question.
fn needs_all_notes(action: &Action) -> bool {
    match action {
        Action::Delete { is_forced, .. } => !is_forced,
        Action::Merge { .. } => true,
        Action::Update { filters, fields, .. } => !filters.is_empty() || fields.title.is_some(),
        // Another digest of the notes may be among those that can't be read.
        Action::AddLink { kind, .. } => kind.as_deref() == Some(COMPACTS),
        Action::Create { .. }
        | Action::Supersede { .. }
        | Action::Accept { .. }
        | Action::CompleteTasks { .. }
        | Action::Journal { .. }
        | Action::RemoveLink { .. } => false,
    }
}

/// Plans edits of a note; sets `updated` if they change the text.
fn plan_edits(store: &Store, note: &NoteHandle, edits: &[Edit], now: &str) -> Result<PlannedChange, Error> {
    plan_text(store, note, |old| {
        let edited = apply(old, edits)?;
        if edited == old { Ok(edited) } else { stamped(store, &edited, now) }
    })
}

/// Returns a text with `updated` set, unless it is that of a document without frontmatter, which gets none for that.
fn stamped(store: &Store, text: &str, now: &str) -> Result<String, String> {
    if store.is_source() && !has_yaml(text) {
        return Ok(text.to_owned());
    }
    apply(text, &[Edit::SetPlain { key: "updated", text: now.to_owned() }])
}

/// Returns the notes that replace the one at `position` as digests, by any of its names.
fn digests_of(store: &Store, names: &NameIndex<'_>, position: NoteIdx) -> impl Iterator<Item = NoteIdx> {
    let notes = NoteIdx::enumerate(store.notes()).filter(|(_, note)| note.flags.has_compacts);
    let is_digest =
        move |note: &NoteHandle| note.relations().compacts.iter().any(|name| names.resolve(name) == Some(position));
    notes.filter(move |(_, note)| is_digest(note)).map(|(digest, _)| digest)
}

/// Plans new targets for the inline links of a note, and new names in its fields; leaves `updated` as it is. `None` if all
/// stay as they are.
fn plan_linking(
    store: &Store,
    note: &NoteHandle,
    new_target: impl Fn(&InlineLink) -> Option<String>,
    renamed: impl Fn(&str) -> Option<String>,
) -> Result<Option<PlannedChange>, Error> {
    let edits = retargets(note, renamed);
    let planned = plan_text(store, note, |old| apply(&relink(old, new_target)?, &edits))?;
    Ok(planned.change.is_some().then_some(PlannedChange { is_relinking: true, ..planned }))
}

/// Returns the edits by which the fields of a note refer to new names.
fn retargets(note: &NoteHandle, renamed: impl Fn(&str) -> Option<String>) -> Vec<Edit> {
    let retarget = |key, entries, name: &str| renamed(name).map(|to| Edit::Retarget { key, entries, to });
    let links = note.link_fields().typed.into_iter();
    let links = links.filter_map(|(kind, target)| retarget("links", link_entry(kind, target), target));
    let compacts = note.relations().compacts.into_iter();
    links.chain(compacts.filter_map(|name| retarget("compacts", vec![("id", name.to_owned())], name))).collect()
}

/// Returns the fields of a typed link.
fn link_entry(kind: &str, target: &str) -> Vec<(&'static str, String)> {
    vec![("type", kind.to_owned()), ("id", target.to_owned())]
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
    expect_no_conflict(note, &old)?;
    let new = new_text(&old).map_err(|reason| refuse_change(note, &reason))?;
    if let Some(reason) = store.dialect().bars_change(&old, &new) {
        return Err(refuse_change(note, reason));
    }
    if new.len() > MAX_BYTES {
        let message = format!("`{}` would be longer than {MAX_BYTES} bytes", note.id);
        return Err(Error::new(ErrorKind::Failure, message).hint("nothing was changed"));
    }
    let change = (new != old).then(|| store::Change::Replace {
        path: note.path.clone(),
        old: old.into_bytes(),
        new: new.into_bytes(),
    });
    Ok(PlannedChange::new(&note.id, &note.path, change))
}

/// Expects that no merge left a conflict in a text: an edit would be one of both sides, and may lose the markers of one.
///
/// # Errors
/// `Store`, with the line.
pub(in crate::commands) fn expect_no_conflict(note: &NoteHandle, text: &str) -> Result<(), Error> {
    let Some(line) = conflict_line(text) else { return Ok(()) };
    let message = format!("can't change `{}`: a merge left a conflict in line {line}", note.id);
    let hint = format!("nothing was changed; resolve it first: `qipu update {}` opens your editor", note.id);
    Err(Error::new(ErrorKind::Store, message).hint(hint))
}

/// Returns the error for a note that can't be changed as planned.
fn refuse_change(note: &NoteHandle, reason: &str) -> Error {
    let message = format!("can't change `{}`: {reason}", note.id);
    Error::new(ErrorKind::Store, message).hint("nothing was changed; edit the file by hand")
}

/// Reports the plan of a command, with a diff of each file in a dry run.
fn report(store: &Store, command: &'static str, is_dry_run: bool, plan: ChangePlan) -> Report {
    let head = ReportHead::of_change(command, is_dry_run, Some(&store.shown_path));
    let mut entries: Vec<Entry> = plan.changes.iter().map(|planned| entry(store, planned, is_dry_run)).collect();
    entries.extend(finished(store).into_iter().chain(plan.findings).map(Entry::Finding));
    Report::new(head, entries)
}

/// Reports that the changes of a killed writer were finished first.
pub(super) fn finished(store: &Store) -> Option<DiagnosticEntry> {
    let count = store.recovered;
    let message =
        format!("a change that an earlier command did not finish was completed first; files changed: {count}");
    (count > 0).then(|| DiagnosticEntry::warning("finished-change", store.redo_log_path(), message))
}

pub(super) fn changes_of(planned: &[PlannedChange]) -> Vec<store::Change> {
    planned.iter().filter_map(|planned| planned.change.clone()).collect()
}

pub(super) fn entry(store: &Store, planned: &PlannedChange, shows_diff: bool) -> Entry {
    let path = planned.change.as_ref().map_or(planned.path.as_str(), store::Change::path);
    let new = planned.change.as_ref().filter(|_| !shows_diff).and_then(|change| change.files()[1]);
    Entry::Change(ChangeEntry {
        id: Some(planned.id.clone()),
        revision: new.map(|(_, text)| Revision::of(text).to_string()),
        action: planned.change.as_ref().map_or("unchanged", store::Change::name),
        path: store.shown(path),
        diff: planned.change.as_ref().filter(|_| shows_diff).map(|change| change.diff(&store.shown_path)),
        alias: planned.alias.clone(),
    })
}
