//! Where a change writes a field that is not qipu's own: at the top of the frontmatter, which counts first, or under `custom`.

use crate::note::edit::Edit;
use crate::note::{STALE_AFTER, VALID_UNTIL};
use crate::store::NoteHandle;

/// The field that says whether a note holds.
pub(super) const STATUS: &str = "status";

/// The fields with an effect of their own, in which a value without effect would mislead.
const WITH_EFFECT: [&str; 3] = [STATUS, VALID_UNTIL, STALE_AFTER];

/// Returns the edit that sets a field where the note has it, under `custom` if it does not.
pub(super) fn set_where_written(note: &NoteHandle, key: &str, text: &str) -> Edit {
    let (key, text) = (key.to_owned(), text.to_owned());
    let is_at_top = note.extra_fields().unknown.iter().any(|(name, _)| *name == key);
    if is_at_top { Edit::SetText { key, text } } else { Edit::SetCustom { key, text } }
}

/// Returns an edit of a note that sets a field with an effect where the note has it.
pub(super) fn with_effect(note: &NoteHandle, edit: Edit) -> Edit {
    match edit {
        Edit::SetCustom { key, text } if WITH_EFFECT.contains(&&*key) => set_where_written(note, &key, &text),
        other => other,
    }
}
