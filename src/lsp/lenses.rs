//! Lines above a note with the number of notes that link to it, and above code with the notes about it.

use lsp_types::{CodeLens, CodeLensParams, Command, Position, Range};
use serde_json::json;

use super::capabilities::SHOW_NOTE;
use super::documents::Document;
use super::navigation::linking_notes;
use super::view::View;
use crate::code_refs::line_of_symbol;
use crate::error::Error;
use crate::escape::abbreviated;
use crate::note::{CodeRef, code_refs_in};
use crate::report::counted;
use crate::request::{self, ContextRequest, MentionTarget, Selectors};
use crate::store::{NoteHandle, SourceText};

/// The most notes about a file.
const MAX_NOTES: usize = 10;

/// Returns the lenses of an open text: a note, or a file of the project.
pub(super) fn lenses(view: &View<'_>, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>, Error> {
    let uri = params.text_document.uri;
    if let Some(note) = view.open_note(&uri) {
        let title = counted(linking_notes(view, note).len(), "backlink");
        return Ok(Some(vec![lens(0, title, None)]));
    }
    match view.documents.get(&uri) {
        Some(document) => notes_about(view, document).map(Some),
        None => Ok(None),
    }
}

fn lens(line: usize, title: String, note: Option<lsp_types::Uri>) -> CodeLens {
    let start = Position::new(line as u32, 0);
    let (command, arguments) = match note {
        Some(uri) => (SHOW_NOTE.to_owned(), Some(vec![json!(uri)])),
        None => (String::new(), None),
    };
    CodeLens { range: Range::new(start, start), command: Some(Command { title, command, arguments }), data: None }
}

/// Returns a lens for each note that `qipu about` lists for a file: at the line that it refers to, else at the first one.
fn notes_about(view: &View<'_>, document: &Document) -> Result<Vec<CodeLens>, Error> {
    let Some(path) = document.path.to_str().and_then(|path| view.saved.project_path(path)) else {
        return Ok(Vec::new());
    };
    let mentions = vec![MentionTarget::File(document.path.to_string_lossy().into_owned())];
    let selection = Selectors { mentions, max_notes: Some(MAX_NOTES), ..Selectors::default() };
    let request = ContextRequest { selection, with_body: Some(false), ..ContextRequest::default() };
    let mut report = (view.run_saved)(&request::ReadCommand::Context(request))?;
    let text = SourceText::new(document.text.as_bytes());
    let mut lenses = Vec::new();
    for entry in report.note_entries_mut() {
        let note = &entry.note;
        let Some(uri) = view.uri(&note.path) else { continue };
        let title = format!("note: {}", abbreviated(note.title()));
        let lines = lines_about(note, &path, &text);
        lenses.extend(lines.into_iter().map(|line| lens(line, title.clone(), Some(uri.clone()))));
    }
    Ok(lenses)
}

/// Returns the lines of a file that a note refers to, from 0 and ascending; the first one if it names the file alone.
fn lines_about(note: &NoteHandle, path: &str, text: &SourceText) -> Vec<usize> {
    let references = note.code_refs().into_iter().chain(code_refs_in(note.parsed_or_empty().body()));
    let own = references.filter(|reference| reference.path == path);
    let mut lines: Vec<usize> = own.filter_map(|reference| line_of(&reference, text)).collect();
    lines.sort_unstable();
    lines.dedup();
    if lines.is_empty() { vec![0] } else { lines }
}

/// Returns the line that a reference means now, from 0: that with its recorded text, else that of its symbol, else its own.
fn line_of(reference: &CodeRef, text: &SourceText) -> Option<usize> {
    let recorded = reference.text.as_deref().and_then(|line| text.nearest(line, reference.line.unwrap_or(1)));
    let symbol = || line_of_symbol(text, &reference.path, reference.symbol.as_deref()?).map(|(line, _)| line);
    recorded.or_else(symbol).or(reference.line)?.checked_sub(1)
}
