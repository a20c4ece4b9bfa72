//! Drafts of a store that holds what agents write. An agent can change their text, but decide nothing about them.

use super::user_fields::STATUS;
use crate::env::AgentSession;
use crate::error::{Error, ErrorKind};
use crate::note::Status;
use crate::note::edit::Edit;
use crate::request::{Action, GENERATED_BY, NewFields, SESSION, UNKNOWN_TOOL};
use crate::store::{NoteIdx, Store};

/// Takes what says who wrote a new note out of its fields, with its status, and returns the edits that make it a draft.
pub(super) fn draft_edits(fields: &mut NewFields, agent: Option<&AgentSession>, now: &str) -> Vec<Edit> {
    let mut take = |key: &str| {
        let position = fields.custom.iter().position(|(name, _)| name == key)?;
        Some(fields.custom.remove(position).1)
    };
    while take(STATUS).is_some() {}
    let tool = agent.map_or(UNKNOWN_TOOL, |agent| agent.tool);
    let by = take(GENERATED_BY).unwrap_or_else(|| tool.to_owned());
    let session = take(SESSION).or_else(|| agent.map(|agent| agent.id.clone()));
    let mut entries = vec![("by", by), ("at", now.to_owned())];
    entries.extend(session.map(|id| (SESSION, id)));
    vec![
        Edit::RemoveCustom(STATUS),
        Edit::SetText { key: STATUS.to_owned(), text: Status::Draft.name().to_owned() },
        Edit::SetMap { key: "generated", entries },
    ]
}

/// Expects that an agent which makes a change decides nothing about a draft, if the store holds what agents write.
pub(super) fn expect_no_decision(store: &Store, action: &Action, agent: Option<&AgentSession>) -> Result<(), Error> {
    if !store.config.review.hold || (agent.is_none() && !is_of_program(action)) {
        return Ok(());
    }
    let decided: Vec<NoteIdx> = match action {
        Action::Update { ids, fields, .. } if decides(fields) => store.positions(ids)?,
        Action::Accept { id, .. } => vec![store.resolve(id)?],
        Action::Supersede { old, .. } => vec![store.resolve(old)?],
        Action::Merge { into, from } => {
            let merged = [store.resolve(into)?, store.resolve(from)?];
            // A draft that is merged into another stays one.
            if merged.iter().all(|note| store.notes()[*note].is_draft()) { Vec::new() } else { merged.to_vec() }
        }
        _ => Vec::new(),
    };
    match decided.into_iter().map(|note| &store.notes()[note]).find(|note| note.is_draft()) {
        Some(draft) => {
            let message = format!("`{}` is a draft, and an agent can't decide whether it is accepted", draft.id);
            Err(Error::new(ErrorKind::Failure, message)
                .hint("a person decides, with the commands of `qipu review` or in `qipu browse`"))
        }
        None => Ok(()),
    }
}

/// Whether new values of fields accept a note or turn it down.
fn decides(fields: &NewFields) -> bool {
    fields.verified.is_some() || fields.custom.iter().any(|(key, _)| key == STATUS)
}

fn is_of_program(action: &Action) -> bool {
    matches!(action, Action::Update { is_generated: true, .. })
}
