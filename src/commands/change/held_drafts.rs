//! Stores that hold what agents write. An agent can change the text of drafts, but decide nothing about them; of an accepted
//! note it changes no word.

use super::agent_words::{notes_of, states_the_same, text_without_ticks};
use super::claims::{ORIGINS, VOUCHING};
use super::user_fields::STATUS;
use crate::env::{AgentSession, Env};
use crate::error::{Error, ErrorKind};
use crate::graph::Replacements;
use crate::note::edit::Edit;
use crate::note::{Note, NoteId, Status, Value, is_human};
use crate::request::{Action, GENERATED_BY, NewFields, SESSION, UNKNOWN_TOOL};
use crate::store::{Authority, Change, NoteHandle, NoteIdx, Store};

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

/// Expects that a program may write to a collection: where the project holds what agents write, only to one in which answers
/// hide it.
pub(super) fn expect_place(store: &Store) -> Result<(), Error> {
    let collection = store.first_collection();
    if store.config.review.hold || collection.authority == Authority::Repository || !store.holds_drafts() {
        return Ok(());
    }
    let message =
        format!("an agent can't write to `{}`: this project holds what agents write, and it does not", collection.name);
    Err(Error::failure(message).hint("leave out --in: the note is a draft of the project until a person accepts it"))
}

/// Expects that a program decides nothing about a draft by an action or by its planned changes, and changes no word of an
/// accepted note, if the store holds what agents write. A note that is merged with a draft counts as decided, since one of
/// the two origins is lost.
pub(super) fn expect_no_decision(store: &Store, action: &Action, changes: &[Change]) -> Result<(), Error> {
    if !store.holds_drafts() {
        return Ok(());
    }
    if let Action::Merge { into, from } = action {
        let merged = [store.resolve_to_change(into)?, store.resolve_to_change(from)?].map(|note| &store.notes()[note]);
        merged.into_iter().find(|note| note.is_draft()).map_or(Ok(()), |draft| Err(refusal(&quoted(&draft.id))))?;
    }
    expect_undecided(store, changes)?;
    changes.iter().try_for_each(|change| expect_accepted_words(store, change, true))
}

/// Expects that a session of an agent tool brings drafts alone and changes no word of an accepted note, if the store holds
/// what agents write. `is_surgical`: see [`expect_accepted_words`].
pub(in crate::commands) fn expect_held(
    store: &Store,
    changes: &[Change],
    env: &Env,
    is_surgical: bool,
) -> Result<(), Error> {
    if env.agent_session().is_none() {
        return Ok(());
    }
    expect_place(store)?;
    if !store.holds_drafts() {
        return Ok(());
    }
    expect_undecided(store, changes)?;
    changes.iter().try_for_each(|change| expect_accepted_words(store, change, is_surgical))
}

/// Expects that the user's editor opens no note in a session of an agent tool, if the store holds what agents write: in the
/// editor, the status can be changed too.
pub(super) fn expect_no_editor(store: &Store, note: &NoteHandle, env: &Env) -> Result<(), Error> {
    if env.agent_session().is_none() || !store.holds_drafts() {
        return Ok(());
    }
    Err(if note.is_draft() { refusal(&quoted(&note.id)) } else { refusal_of_words(&note.id) })
}

/// Expects that a change leaves no word of an agent in a note that is no draft. `is_surgical`: what the change does not name
/// stays as it is, and links lead to notes.
fn expect_accepted_words(store: &Store, change: &Change, is_surgical: bool) -> Result<(), Error> {
    match notes_of(store, change) {
        [None, Some(new)] if !is_unvouched_draft(&new) => {
            let message = format!("`{}` is no draft, and an agent can't decide whether it is accepted", new.id);
            Err(Error::failure(message).hint("a person runs this command, outside of the session of an agent"))
        }
        [Some(old), Some(new)] if old.is_draft() && !has_same_origin(&old, &new) => Err(refusal(&quoted(&old.id))),
        [Some(old), Some(new)] if !old.is_draft() => {
            let is_same_file = is_surgical && old.path == new.path && old.id == new.id;
            let says_the_same = is_same_file && has_same_words(&old, old.parsed()?, new.parsed()?);
            let is_unchanged = old.path == new.path && old.parsed()?.text() == new.parsed()?.text();
            if says_the_same || is_unchanged { Ok(()) } else { Err(refusal_of_words(&old.id)) }
        }
        _ => Ok(()),
    }
}

/// Whether a new note is a draft for which nobody vouches, and that does not say a person wrote it.
fn is_unvouched_draft(new: &NoteHandle) -> bool {
    let by = |origin: &Value| is_human(&origin.entry("by").unwrap_or(origin).to_line());
    let is_of_person = ORIGINS.iter().filter_map(|key| new.field(key)).any(by);
    let is_vouched = VOUCHING.iter().any(|key| new.field(key).is_some()) || new.verified().is_some();
    new.is_draft() && !is_vouched && !is_of_person
}

/// Whether a draft still says who wrote it, and nothing new vouches for it.
fn has_same_origin(old: &NoteHandle, new: &NoteHandle) -> bool {
    let has_origin = ORIGINS.iter().all(|key| old.field(key).is_none() || old.field(key) == new.field(key));
    has_origin && VOUCHING.iter().all(|key| new.field(key).is_none() || states_the_same(old, new, key))
}

/// Whether two versions of an accepted note differ in no word: only in links, tasks that are done, and a status by which the
/// note no longer holds.
fn has_same_words(handle: &NoteHandle, old: &Note, new: &Note) -> bool {
    let named = |note: &Note| (note.title.clone(), note.kind.clone(), note.tags.clone(), note.aliases.clone());
    let stated = |note: &Note| (note.value, note.verified, note.verifications.clone(), note.summary_field.clone());
    let has_same_texts = named(old) == named(new) && stated(old) == stated(new) && old.sources == new.sources;
    let has_same_fields = [(&old.custom, &new.custom), (&old.unknown, &new.unknown)].into_iter().all(|(old, new)| {
        let without_status = |fields: &[(String, Value)]| -> Vec<(String, Value)> {
            fields.iter().filter(|(key, _)| key != STATUS).cloned().collect()
        };
        let status =
            |fields: &[(String, Value)]| fields.iter().find(|(key, _)| key == STATUS).map(|(_, value)| value.to_line());
        let is_retiring =
            |status: String| Status::ALL.iter().any(|known| *known != Status::Draft && known.name() == status);
        let has_same_status = status(old) == status(new) || status(new).is_some_and(is_retiring);
        has_same_status && without_status(old) == without_status(new)
    });
    let has_status =
        handle.field(STATUS).is_none() || new.custom.iter().chain(&new.unknown).any(|(key, _)| key == STATUS);
    has_same_texts && has_same_fields && has_status && text_without_ticks(old) == text_without_ticks(new)
}

/// Expects that every draft which changes leave in the store is still a draft, with no other statement on who verified
/// it, and that no note supersedes it which did not before.
fn expect_undecided(store: &Store, changes: &[Change]) -> Result<(), Error> {
    let drafts: Vec<NoteIdx> =
        NoteIdx::enumerate(store.notes()).filter(|(_, note)| note.is_draft()).map(|(note, _)| note).collect();
    let is_note = |change: &&Change| notes_of(store, change).iter().any(Option::is_some);
    let changes: Vec<Change> = changes.iter().filter(is_note).cloned().collect();
    if drafts.is_empty() || changes.is_empty() {
        return Ok(());
    }
    let after = store.after(&changes);
    let [before_changes, after_changes] =
        [store, &after].map(|store| Replacements::for_answer(store.notes(), true).successions);
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

/// Returns the error for a change of an accepted note by an agent.
fn refusal_of_words(id: &NoteId) -> Error {
    let message =
        format!("an agent can't change what `{id}` says: this store holds what agents write, and it is no draft");
    Error::failure(message).hint(format!(
        "capture the new text as a draft that replaces it, with `--supersedes {id}`, over MCP `supersedes`; a person accepts it with `qipu review`"
    ))
}
