//! Where a change writes a field that is not qipu's own: at the top of the frontmatter, which counts first, or under `custom`.

use crate::note::edit::Edit;
use crate::note::{Dialect, STALE_AFTER, VALID_UNTIL, Value};
use crate::store::NoteHandle;

/// The field that says whether a note holds.
pub(super) const STATUS: &str = "status";

/// The fields with an effect of their own, in which a value without effect would mislead.
const WITH_EFFECT: [&str; 3] = [STATUS, VALID_UNTIL, STALE_AFTER];

/// Returns the edit that sets a field where the note has it. If it does not, that is under `custom`, but in a document at the
/// top: other applications know no fields in fields.
pub(super) fn set_where_written(note: &NoteHandle, key: &str, text: &str) -> Edit {
    let (key, text) = (key.to_owned(), text.to_owned());
    let fields = note.extra_fields();
    let has = |fields: &[(String, Value)]| fields.iter().any(|(name, _)| *name == key);
    let is_document = note.dialect() != Dialect::Qipu;
    if has(fields.unknown) || (is_document && !has(fields.custom)) {
        Edit::SetText { key, text }
    } else {
        Edit::SetCustom { key, text }
    }
}

/// Returns an edit of a note that sets a field with an effect where the note has it.
pub(super) fn with_effect(note: &NoteHandle, edit: Edit) -> Edit {
    match edit {
        Edit::SetCustom { key, text } if WITH_EFFECT.contains(&&*key) => set_where_written(note, &key, &text),
        other => other,
    }
}

/// Returns an edit of a new note that sets a field with an effect where notes of the dialect have it.
pub(super) fn of_new(dialect: Dialect, edit: Edit) -> Edit {
    match edit {
        Edit::SetCustom { key, text } if dialect != Dialect::Qipu && WITH_EFFECT.contains(&&*key) => {
            Edit::SetText { key, text }
        }
        other => other,
    }
}
