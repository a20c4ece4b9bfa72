//! Warnings about the notes that a new note repeats: one with its title, and up to two that may say the same.

use std::sync::Arc;

use super::PlannedChange;
use crate::commands::note_warning;
use crate::escape::abbreviated;
use crate::note::Status;
use crate::report::DiagnosticEntry;
use crate::search::Engine;
use crate::store::{Change, NoteHandle, NoteIdx, Store};

/// The most notes that are named because they may say the same.
const MAX_ALIKE: usize = 2;

/// Returns the warnings about the notes of a store that planned new notes repeat, each about the note that exists. Texts are
/// compared if `has_text`; otherwise the text is that of a template. `is_tool`: whether a tool of MCP creates the note.
pub(super) fn warnings(
    store: &Store,
    planned: &[PlannedChange],
    has_text: bool,
    is_tool: bool,
) -> Vec<DiagnosticEntry> {
    let mut warnings = Vec::new();
    for planned in planned {
        let Some(Change::Create { path, new }) = &planned.change else { continue };
        let note = Arc::new(store.parse_handle(path, new.clone()));
        warnings.extend(same_title(store, &note));
        if has_text {
            warnings.extend(alike(store, &note, is_tool));
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

/// Warns about the notes that may say the same, with the calls that replace or correct one instead. Notes that the new one
/// links to are known to its writer; those that are superseded have a successor; journals and maps repeat what notes say.
fn alike(store: &Store, new: &Arc<NoteHandle>, is_tool: bool) -> Vec<DiagnosticEntry> {
    if new.journal_day().is_some() || new.flags.is_moc {
        return Vec::new();
    }
    let links = new.link_fields();
    let is_linked = |note: &NoteHandle| links.typed.iter().any(|(_, target)| *target == note.id.as_str());
    let is_named = |note: &NoteHandle| {
        note.journal_day().is_none()
            && !note.flags.is_moc
            && note.status() != Some(Status::Superseded)
            && !is_linked(note)
    };
    let notes = [store.notes(), &[Arc::clone(new)]].concat();
    let engine = Engine::open(&notes, store.config.language, &store.text_indexes(), None);
    let lookalikes = engine.lookalikes(NoteIdx::new(notes.len() - 1)).into_iter();
    let named = lookalikes.map(|found| (&store.notes()[found.note], found.likeness)).filter(|(note, _)| is_named(note));
    let warning = |(note, likeness): (&Arc<NoteHandle>, f64)| {
        let (id, percent, title) = (&note.id, (likeness * 100.0).round(), abbreviated(note.title()));
        let message = format!("`{id}` may say the same ({percent} % alike): {title}; {}", remedy(note, new, is_tool));
        note_warning(store, note, "similar-note", message)
    };
    named.take(MAX_ALIKE).map(warning).collect()
}

/// Returns how the new note replaces another one, and how that one is corrected instead. A draft replaces nothing.
fn remedy(note: &NoteHandle, new: &NoteHandle, is_tool: bool) -> String {
    let (old, new, is_draft) = (&note.id, &new.id, new.is_draft());
    match (is_tool, is_draft) {
        (false, false) => {
            format!("`qipu supersede {old} {new}` replaces it, or correct that one and `qipu delete {new}`")
        }
        (false, true) => format!("correct that one and `qipu delete {new}`"),
        (true, false) => format!("`link` from {new} to it with type supersedes replaces it, `update` corrects it"),
        (true, true) => "`update` corrects it".to_owned(),
    }
}
