//! What an agent writes stands as an agent's: its words never stand under what a person said of the words before.

use super::claims::{ORIGINS, VOUCHING, without_claims};
use super::refuse_change;
use crate::error::Error;
use crate::note::Note;
use crate::note::edit::{Edit, apply};
use crate::request::GENERATED_BY;
use crate::store::{Change, NoteHandle, Store};

/// How the changes of a session were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum WordsFrom {
    /// The call: the agent wrote the words.
    Call,
    /// The call, for a journal, which has many authors.
    Journal,
    /// An editor, in which the agent can also write what vouches for a note.
    Editor,
    /// Files, such as a pack: nobody knows who wrote the words, and the agent can't say it.
    Files,
}

/// Returns a change that a program makes, without what would vouch for new words in the note; `None` if nothing is left
/// of the change.
///
/// # Errors
/// `Store` if the note's frontmatter can't be edited.
pub(in crate::commands) fn as_program(
    store: &Store,
    change: Change,
    program: &str,
    from: WordsFrom,
) -> Result<Option<Change>, Error> {
    let [before, after] = notes_of(store, &change);
    let Some(after) = after else { return Ok(Some(change)) };
    // A command that creates a note writes its origin itself.
    if before.is_none() && from != WordsFrom::Files {
        return Ok(Some(change));
    }
    let is_new = match &before {
        Some(before) => has_new_words(before.parsed()?, after.parsed()?),
        None => true,
    };
    let edits = match from {
        WordsFrom::Call | WordsFrom::Journal if !is_new => Vec::new(),
        WordsFrom::Journal => VOUCHING.into_iter().flat_map(removal).collect(),
        WordsFrom::Call | WordsFrom::Editor if is_new => with_origin(&after, program),
        _ => without_new_claims(before.as_ref(), &after, is_new, program),
    };
    if edits.is_empty() {
        return Ok(Some(change));
    }
    let text = apply(after.parsed()?.text(), &edits).map_err(|reason| refuse_change(&after, &reason))?;
    Ok(with_new_text(change, text.into_bytes()))
}

/// Returns a note before and after a change; `None` for a file that is none.
pub(super) fn notes_of(store: &Store, change: &Change) -> [Option<NoteHandle>; 2] {
    // In a store, other files are attachments.
    let is_note = |path: &str| store.is_source() || path.ends_with(".md");
    change
        .files()
        .map(|file| file.filter(|(path, _)| is_note(path)).map(|(path, new)| store.parse_handle(path, new.to_vec())))
}

/// Whether the title, the summary, the sources or the text differ. A task that is ticked off says the same.
fn has_new_words(before: &Note, after: &Note) -> bool {
    let words = |note: &Note| (note.title.clone(), note.summary_field.clone(), note.sources.clone());
    words(before) != words(after) || text_without_ticks(before) != text_without_ticks(after)
}

/// Returns the text of a note as if none of its tasks were done. Brackets in code, links and prose are words.
pub(super) fn text_without_ticks(note: &Note) -> Vec<u8> {
    let start = note.body_range().start;
    let mut text = note.body().as_bytes().to_vec();
    for task in note.tasks() {
        if let Some(mark) = task.mark.checked_sub(start).and_then(|mark| text.get_mut(mark)) {
            *mark = b' ';
        }
    }
    text
}

/// Returns the edits by which a program, and nothing else, is the origin of a note. A draft keeps the session that wrote it.
fn with_origin(note: &NoteHandle, program: &str) -> Vec<Edit> {
    let has_session = note.is_draft() && note.field("generated").is_some();
    let is_kept = |edit: &Edit| has_session && *edit == Edit::RemoveField("generated");
    let by = Edit::SetCustom { key: GENERATED_BY.to_owned(), text: program.to_owned() };
    without_claims().filter(|edit| !is_kept(edit)).chain((!has_session).then_some(by)).collect()
}

/// Returns the edits that remove what vouches for a note from a file, unless it stood under the same words before; and that
/// keep a note that a program wrote one of a program.
fn without_new_claims(before: Option<&NoteHandle>, after: &NoteHandle, is_new: bool, program: &str) -> Vec<Edit> {
    let stands = |key: &str| !is_new && before.is_some_and(|before| states_the_same(before, after, key));
    let removed = VOUCHING.into_iter().filter(|key| !stands(key)).flat_map(removal);
    let has_origin = |note: &NoteHandle| ORIGINS.iter().any(|key| note.field(key).is_some());
    let is_lost = before.is_some_and(has_origin) && !has_origin(after);
    let by = Edit::SetCustom { key: GENERATED_BY.to_owned(), text: program.to_owned() };
    removed.chain(is_lost.then_some(by)).collect()
}

fn removal(key: &'static str) -> [Edit; 2] {
    [Edit::RemoveField(key), Edit::RemoveCustom(key)]
}

/// Whether two versions of a note have the same value of a field that vouches for it.
pub(super) fn states_the_same(before: &NoteHandle, after: &NoteHandle, key: &str) -> bool {
    let is_verified_alike = || (before.verified(), before.verifications()) == (after.verified(), after.verifications());
    before.field(key) == after.field(key) && (key != "verified" || is_verified_alike())
}

/// Returns a change with another new text; `None` if that is the old one.
pub(in crate::commands) fn with_new_text(change: Change, new: Vec<u8>) -> Option<Change> {
    match change {
        Change::Create { path, .. } => Some(Change::Create { path, new }),
        Change::Replace { path, old, .. } => (old != new).then_some(Change::Replace { path, old, new }),
        Change::Move { from, to, old, .. } => Some(Change::Move { from, to, old, new }),
        Change::Delete { .. } => Some(change),
    }
}
