//! Warnings about the notes that a new note repeats: one with its title, one with its text.

use std::sync::Arc;

use super::PlannedChange;
use crate::commands::note_warning;
use crate::escape::abbreviated;
use crate::report::DiagnosticEntry;
use crate::search::Engine;
use crate::store::{Change, NoteHandle, NoteIdx, Store};

/// Returns the warnings about the notes of a store that planned new notes repeat, each about the note that exists. Texts are
/// compared if `has_text`; otherwise the text is that of a template.
pub(super) fn warnings(store: &Store, planned: &[PlannedChange], has_text: bool) -> Vec<DiagnosticEntry> {
    let mut warnings = Vec::new();
    for planned in planned {
        let Some(Change::Create { path, new }) = &planned.change else { continue };
        let note = Arc::new(store.parse_handle(path, new.clone()));
        warnings.extend(same_title(store, &note));
        if has_text {
            warnings.extend(same_text(store, &note));
        }
    }
    warnings
}

/// Warns about the first note with the title in any case: as a name, it is ambiguous from now on.
fn same_title(store: &Store, new: &NoteHandle) -> Option<DiagnosticEntry> {
    let folded = new.title().to_lowercase();
    let note = store.notes().iter().find(|note| note.title().to_lowercase() == folded)?;
    let message = format!("`{}` has the title of the new note too: {}", note.id, abbreviated(note.title()));
    Some(note_warning(store, note, "duplicate-title", message))
}

/// Warns about the note with the most similar text, if they are near-duplicates.
fn same_text(store: &Store, new: &Arc<NoteHandle>) -> Option<DiagnosticEntry> {
    let notes = [store.notes(), &[Arc::clone(new)]].concat();
    let engine = Engine::open(&notes, store.config.language, &store.text_indexes(), None);
    let found = engine.near_duplicate_of(NoteIdx::new(notes.len() - 1))?;
    let (note, percent) = (&store.notes()[found.first], (found.share * 100.0).floor());
    let message =
        format!("{percent} % of the text of the new note is also in `{}`: {}", note.id, abbreviated(note.title()));
    Some(note_warning(store, note, "near-duplicate", message))
}
