//! Drafts of a store that holds what agents write. An agent can change their text, but decide nothing about them.

use super::is_of_program;
use super::user_fields::STATUS;
use crate::env::{AgentSession, Env};
use crate::error::{Error, ErrorKind};
use crate::graph::StandIns;
use crate::note::edit::Edit;
use crate::note::{NoteId, Status};
use crate::request::{Action, GENERATED_BY, NewFields, SESSION, UNKNOWN_TOOL};
use crate::store::{Change, NoteHandle, NoteIdx, Store};

/// Removes the origin and the status from the fields of a new note, and returns the edits that make it a draft.
pub(super) fn draft_edits(fields: &mut NewFields, agent: Option<&AgentSession>, now: &str) -> Vec<Edit> {
    let mut removed = |key: &str| {
        let position = fields.custom.iter().position(|(name, _)| name == key)?;
        Some(fields.custom.remove(position).1)
    };
    while removed(STATUS).is_some() {}
    let tool = agent.map_or(UNKNOWN_TOOL, |agent| agent.tool);
    let by = removed(GENERATED_BY).unwrap_or_else(|| tool.to_owned());
    let session = removed(SESSION).or_else(|| agent.and_then(|agent| agent.id.clone()));
    let mut entries = vec![("by", by), ("at", now.to_owned())];
    entries.extend(session.map(|id| (SESSION, id)));
    vec![
        Edit::RemoveCustom(STATUS),
        Edit::SetText { key: STATUS.to_owned(), text: Status::Draft.name().to_owned() },
        Edit::SetMap { key: "generated", entries },
    ]
}

/// Expects that an agent decides nothing about a draft by an action or by its planned changes, if the store holds what
/// agents write. A note that is merged with a draft counts as decided, since one of the two origins is lost.
pub(super) fn expect_no_decision(
    store: &Store,
    action: &Action,
    changes: &[Change],
    agent: Option<&AgentSession>,
) -> Result<(), Error> {
    let is_agent = agent.is_some() || is_of_program(action);
    if !is_agent || !store.config.review.hold {
        return Ok(());
    }
    // A person may name a program as the author of a note and open it.
    if agent.is_some() && matches!(action, Action::Create { is_opened: true, .. }) {
        return Err(refusal("the new note"));
    }
    if let Action::Merge { into, from } = action {
        let merged = [store.resolve_to_change(into)?, store.resolve_to_change(from)?].map(|note| &store.notes()[note]);
        merged.into_iter().find(|note| note.is_draft()).map_or(Ok(()), |draft| Err(refusal(&quoted(&draft.id))))?;
    }
    expect_undecided(store, changes)
}

/// Expects that the changes of a session of an agent tool decide nothing about a draft, if the store holds what agents
/// write.
pub(in crate::commands) fn expect_no_decision_in(store: &Store, changes: &[Change], env: &Env) -> Result<(), Error> {
    if store.config.review.hold && env.agent_session().is_some() { expect_undecided(store, changes) } else { Ok(()) }
}

/// Expects that the user's editor opens no draft in a session of an agent tool, if the store holds what agents write: in
/// the editor, the status can be changed too.
pub(super) fn expect_no_editor(store: &Store, note: &NoteHandle, env: &Env) -> Result<(), Error> {
    let is_refused = store.config.review.hold && note.is_draft() && env.agent_session().is_some();
    if is_refused { Err(refusal(&quoted(&note.id))) } else { Ok(()) }
}

/// Expects that every draft which changes leave in the store is still a draft, with no other statement on who verified
/// it, and that no note supersedes it which did not before.
fn expect_undecided(store: &Store, changes: &[Change]) -> Result<(), Error> {
    let drafts: Vec<NoteIdx> =
        NoteIdx::enumerate(store.notes()).filter(|(_, note)| note.is_draft()).map(|(note, _)| note).collect();
    // Attachments are no notes.
    let changes: Vec<Change> = changes.iter().filter(|change| change.path().ends_with(".md")).cloned().collect();
    if drafts.is_empty() || changes.is_empty() {
        return Ok(());
    }
    let after = store.after(&changes);
    let [before_changes, after_changes] =
        [store, &after].map(|store| StandIns::for_answer(store.notes(), true).successions);
    let is_decided = |draft: &&NoteIdx| {
        let old = &store.notes()[**draft];
        let Some(position) = after.position(&old.id) else { return false };
        let new = &after.notes()[position];
        let is_verified_anew = new.verified().is_some()
            && (new.verified() != old.verified() || new.verifications() != old.verifications());
        let is_superseded_anew = after_changes.is_superseded(position) && !before_changes.is_superseded(**draft);
        !new.is_draft() || is_verified_anew || is_superseded_anew
    };
    match drafts.iter().find(is_decided) {
        Some(draft) => Err(refusal(&quoted(&store.notes()[*draft].id))),
        None => Ok(()),
    }
}

fn quoted(id: &NoteId) -> String {
    format!("`{id}`")
}

fn refusal(draft: &str) -> Error {
    let message = format!("{draft} is a draft, and an agent can't decide whether it is accepted");
    Error::new(ErrorKind::Failure, message)
        .hint("a person decides, with the commands of `qipu review` or in `qipu browse`")
}
