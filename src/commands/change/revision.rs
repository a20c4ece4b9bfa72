//! Changes that depend on the revision of a note: they are refused if another writer was faster.

use crate::diff::changed_lines;
use crate::env::Env;
use crate::error::{Error, ErrorKind, Remedy};
use crate::note::{Note, NoteChange, Revision, changes};
use crate::request::{Action, ChangeRequest};
use crate::store::{Location, NoteHandle, NoteVersion, Store};

/// The most versions in git among which the wanted one is sought.
const MAX_VERSIONS: usize = 50;
/// The most changed fields that an error names.
const MAX_FIELDS: usize = 8;

/// Returns the only note that an action names.
///
/// # Errors
/// `Usage` if it names several; as for every name.
pub(super) fn named_note<'s>(store: &'s Store, action: &Action) -> Result<&'s NoteHandle, Error> {
    match action {
        Action::Update { ids, .. } | Action::Delete { ids, .. } if ids.len() == 1 => {
            Ok(&store.notes()[store.resolve_to_change(&ids[0])?])
        }
        _ => Err(Error::usage("a revision is for one note")),
    }
}

/// Expects that the file of a note, with these bytes, has the wanted revision.
///
/// # Errors
/// `Conflict`, with the revision that it has.
pub(super) fn expect(note: &NoteHandle, bytes: &[u8], wanted: Revision) -> Result<(), Error> {
    let revision = Revision::of(bytes);
    if revision == wanted {
        return Ok(());
    }
    let message = format!("`{}` is no longer revision {wanted}: it is {revision} now", note.id);
    let (id, revision) = (note.id.to_string(), revision.to_string());
    Err(Error::new(ErrorKind::Conflict, message).remedy(Remedy::ReadAgain { id, revision }))
}

/// Adds to the error of [`expect`] what changed since the wanted revision, if git has it. Git is asked now that the lock is
/// released: it starts processes.
pub(super) fn explained(error: Error, request: &ChangeRequest, location: &Location, env: &Env) -> Error {
    let since = |wanted: Revision| {
        let store = Store::open_target(location, &env.current_dir, None).ok()?;
        let position = store.position(&named_note(&store, &request.action).ok()?.id)?;
        let (versions, _) = store.note_history(position, None, MAX_VERSIONS).ok()?;
        let former = versions.iter().flat_map(|NoteVersion { before, after, .. }| [after, before]).flatten();
        let former = former.into_iter().find(|note| note.revision() == Some(wanted))?;
        let difference = difference(former, store.notes()[position].parsed().ok()?);
        (!difference.is_empty()).then_some(difference)
    };
    match request.revision.filter(|_| error.kind == ErrorKind::Conflict).and_then(since) {
        Some(difference) => Error { message: format!("{}; changed since: {difference}", error.message), ..error },
        None => error,
    }
}

/// Returns the names of the fields in which two versions of a note differ, and how many lines of the text do.
fn difference(before: &Note, after: &Note) -> String {
    let mut parts: Vec<String> = Vec::new();
    for change in changes(before, after) {
        if let NoteChange::Field { name, .. } = change
            && name != "updated"
            && !parts.contains(&name)
            && parts.len() < MAX_FIELDS
        {
            parts.push(name);
        }
    }
    match changed_lines(before.body(), after.body()) {
        (0, 0) => {}
        (new, old) => parts.push(format!("the text (+{new} −{old} lines)")),
    }
    parts.join(", ")
}
