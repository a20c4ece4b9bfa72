//! `qipu update ID` and `qipu capture --title TITLE` on a terminal: open a note in the user's editor.
//!
//! The editor gets the file itself, so that no text is lost if this process dies. No lock is held meanwhile. When the editor
//! is closed, `updated` is set and the note's diagnostics are reported.

use std::fmt::Display;
use std::sync::Arc;

use super::{ChangePlan, PlannedChange, WordsFrom, as_program, held_drafts, stamped};
use crate::commands::note_findings;
use crate::commands::secrets::note_diagnostics;
use crate::env::Env;
use crate::error::Error;
use crate::note::{Diagnostic, DiagnosticCode};
use crate::report::DiagnosticEntry;
use crate::store::{Change, Dependence, Location, Store};

/// Opens a file of the store in the editor. Returns its change, which has been made, and the note's diagnostics.
pub(super) fn open(store: &Store, path: &str, location: &Location, now: &str, env: &Env) -> Result<ChangePlan, Error> {
    if let Some(note) = store.notes().iter().find(|note| note.path == path) {
        held_drafts::expect_no_editor(store, note, env)?;
    }
    let before = store.read_bytes(path)?;
    let failed = |reason: &dyn Display| {
        let message = format!("can't edit {}: {reason}", store.shown(path));
        Error::failure(message).hint("VISUAL, or else EDITOR, must contain the command of your editor")
    };
    let editor = env.editor.as_ref().ok_or_else(|| failed(&"neither VISUAL nor EDITOR is set"))?;
    editor(&store.real_path(path)).map_err(|error| failed(&error))?;
    let finish = |store: &Store| {
        let after = store.read_bytes(path)?;
        let note = store.notes().iter().find(|note| note.path == path);
        let note =
            Arc::clone(note.ok_or_else(|| Error::failure(format!("{} is no longer a note", store.shown(path))))?);
        let edited = edited(store, path, (&before, &after), now, env);
        let new = edited.as_ref().and_then(|change| change.files()[1]).map(|(_, new)| new.to_vec());
        let new = new.filter(|new| *new != after);
        let replaced = new.map(|new| Change::Replace { path: path.to_owned(), old: after, new });
        Ok((replaced.into_iter().collect(), (note, edited)))
    };
    let (store, _lock, (note, edited)) = Store::change(location, &env.current_dir, None, Dependence::Named, finish)?;
    let note = &*note;
    let mut findings: Vec<DiagnosticEntry> = note_findings(&store, note).collect();
    let old_id = &store.parse(path, before.clone()).id;
    findings.extend(note_diagnostics(&store, note));
    if note.id != *old_id {
        let message =
            format!("its id changed from `{old_id}` to `{}`: links to the old id no longer lead to it", note.id);
        let finding = Diagnostic { code: DiagnosticCode::IdChanged, line: None, message };
        findings.push(DiagnosticEntry::of_note(store.shown(path), note, &finding));
    }
    let planned = PlannedChange::new(&note.id, path, edited);
    Ok(ChangePlan { changes: vec![planned], findings })
}

/// Returns the change from the text before the editor was open, with `updated` set, and as one of the agent in whose session
/// it was. `None` without a change.
fn edited(store: &Store, path: &str, texts: (&[u8], &[u8]), now: &str, env: &Env) -> Option<Change> {
    let (before, after) = texts;
    let new = with_updated(store, before, after, path, now).unwrap_or_else(|| after.to_vec());
    let change = Change::Replace { path: path.to_owned(), old: before.to_vec(), new };
    let change = match env.agent_session() {
        // A note that can't be edited stays as the editor left it.
        Some(agent) => as_program(store, change.clone(), agent.tool, WordsFrom::Editor).unwrap_or(Some(change)),
        None => Some(change),
    };
    change.filter(|_| before != after)
}

/// Returns the text with `updated` set. `None` if the user changed nothing or that field, or if the frontmatter can't be
/// edited.
fn with_updated(store: &Store, before: &[u8], after: &[u8], path: &str, now: &str) -> Option<Vec<u8>> {
    let updated = |bytes: &[u8]| store.parse(path, bytes.to_vec()).updated;
    if before == after || updated(before) != updated(after) {
        return None;
    }
    let text = std::str::from_utf8(after).ok()?;
    stamped(store, text, now).ok().map(String::into_bytes)
}
