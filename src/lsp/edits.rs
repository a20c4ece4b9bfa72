//! Changes of files as edits that the client makes, so that it can undo them and unsaved texts stay unsaved.

use std::collections::HashMap;
use std::ops::Range;

use lsp_types::{
    CreateFile, DocumentChangeOperation, DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, RenameFile,
    ResourceOp, TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};

use super::view::{OpenNotes, View};
use crate::error::Error;
use crate::store::{Change, Location, NoteIdx, Store};

/// The store that a command would change for a note: its collection alone, with the open texts.
pub(super) enum TargetStore<'a> {
    /// The only collection.
    Whole(&'a Store),
    One(Box<Store>),
}

impl TargetStore<'_> {
    /// Opens the collection of a note.
    ///
    /// # Errors
    /// `Usage` if it is only read; as [`Store::open_target`].
    pub(super) fn of<'a>(view: &View<'a>, note: NoteIdx) -> Result<TargetStore<'a>, Error> {
        let store = view.store();
        let collection = store.collection_of(note);
        if !collection.is_writable {
            let (name, way) = (&collection.name, collection.reason.how_to_write());
            return Err(Error::usage(format!("the notes of `{name}` are only read: {way}")));
        }
        if !store.has_several_collections() {
            return Ok(TargetStore::Whole(store));
        }
        let to = (collection.ordinal > 0).then(|| collection.name.clone());
        let location = Location { to, only: Vec::new(), ..view.settings.location.clone() };
        let saved = Store::open_target(&location, &view.settings.current_dir, None)?;
        let mut open = OpenNotes::default();
        open.update(&view.documents, &saved);
        Ok(TargetStore::One(Box::new(saved.with_texts(&open.notes()))))
    }

    pub(super) fn store(&self) -> &Store {
        match self {
            Self::Whole(store) => store,
            Self::One(store) => store,
        }
    }
}

/// Returns the edit that makes changes of the files of a store.
///
/// # Errors
/// `Usage` if the client can't create or rename files and a change does; `Failure` for a change that no edit makes.
pub(super) fn workspace_edit(view: &View<'_>, store: &Store, changes: &[Change]) -> Result<WorkspaceEdit, Error> {
    let mut operations = Vec::new();
    for change in changes {
        let uri = |path: &str| {
            let file = store.file_at(path);
            view.uri_of_file(&file).ok_or_else(|| Error::failure(format!("no address for {}", file.display())))
        };
        match change {
            Change::Replace { path, old, new } => operations.push(text_edit(view, uri(path)?, old, new)),
            Change::Create { path, new } => {
                expect(view.client.can_create_files, "create")?;
                let create = CreateFile { uri: uri(path)?, options: None, annotation_id: None };
                operations.push(DocumentChangeOperation::Op(ResourceOp::Create(create)));
                operations.push(text_edit(view, uri(path)?, b"", new));
            }
            Change::Move { from, to, old, new } => {
                expect(view.client.can_rename_files, "rename")?;
                operations.push(text_edit(view, uri(from)?, old, new));
                let (old_uri, new_uri) = (uri(from)?, uri(to)?);
                let rename = RenameFile { old_uri, new_uri, options: None, annotation_id: None };
                operations.push(DocumentChangeOperation::Op(ResourceOp::Rename(rename)));
            }
            Change::Delete { .. } => return Err(Error::failure("internal error: an edit deletes no file")),
        }
    }
    Ok(as_edit(view, operations))
}

fn expect(can: bool, what: &str) -> Result<(), Error> {
    let refusal = || Error::usage(format!("this editor can't {what} files for a language server"));
    if can { Ok(()) } else { Err(refusal().hint("use the command line of qipu")) }
}

fn text_edit(view: &View<'_>, uri: Uri, old: &[u8], new: &[u8]) -> DocumentChangeOperation {
    let [old, new] = [old, new].map(String::from_utf8_lossy);
    let lines = view.lines(&old);
    let edit = |(range, text): (Range<usize>, &str)| TextEdit::new(lines.range(range), text.to_owned());
    let edits = replacements(&old, &new).into_iter().map(edit).map(OneOf::Left).collect();
    let version = view.documents.get(&uri).map(|document| document.version);
    let text_document = OptionalVersionedTextDocumentIdentifier { uri, version };
    DocumentChangeOperation::Edit(TextDocumentEdit { text_document, edits })
}

/// Returns replacements of disjoint ranges that turn a text into another, by lines if both have as many.
pub(super) fn replacements<'n>(old: &str, new: &'n str) -> Vec<(Range<usize>, &'n str)> {
    let (old_lines, new_lines) = (old.split_inclusive('\n'), new.split_inclusive('\n'));
    if old_lines.clone().count() != new_lines.clone().count() {
        return replacement(old, new, 0).into_iter().collect();
    }
    let mut offset = 0;
    let mut all = Vec::new();
    for (old_line, new_line) in old_lines.zip(new_lines) {
        all.extend(replacement(old_line, new_line, offset));
        offset += old_line.len();
    }
    all
}

/// Returns the replacement of what lies between the common beginning and the common end of two texts; `None` if they are
/// equal. A line ending is never divided: a position inside of one is none.
fn replacement<'n>(old: &str, new: &'n str, offset: usize) -> Option<(Range<usize>, &'n str)> {
    if old == new {
        return None;
    }
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b && *a != '\r');
    let start: usize = same.map(|(c, _)| c.len_utf8()).sum();
    let (old_rest, new_rest) = (old.get(start..)?, new.get(start..)?);
    let same = old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(|(a, b)| a == b);
    let mut end: usize = same.map(|(c, _)| c.len_utf8()).sum();
    if old_rest.get(old_rest.len() - end..)?.starts_with('\n') && old_rest.len() > end {
        let is_divided = |rest: &str| rest.get(..rest.len() - end).is_some_and(|before| before.ends_with('\r'));
        end -= usize::from(is_divided(old_rest) || is_divided(new_rest));
    }
    Some((offset + start..offset + old.len() - end, new_rest.get(..new_rest.len() - end)?))
}

/// Returns an edit in the form that the client takes: older ones know no versions.
#[allow(clippy::mutable_key_type, reason = "the type of the protocol")]
fn as_edit(view: &View<'_>, operations: Vec<DocumentChangeOperation>) -> WorkspaceEdit {
    if view.client.has_versions {
        let document_changes = Some(DocumentChanges::Operations(operations));
        return WorkspaceEdit { document_changes, ..WorkspaceEdit::default() };
    }
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for operation in operations {
        if let DocumentChangeOperation::Edit(edit) = operation {
            let edits = edit.edits.into_iter().filter_map(|edit| match edit {
                OneOf::Left(edit) => Some(edit),
                OneOf::Right(_) => None,
            });
            changes.entry(edit.text_document.uri).or_default().extend(edits);
        }
    }
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn replacements_turn_a_text_into_another(old in "[ab\r\né😀]{0,20}", new in "[ab\r\né😀]{0,20}") {
            let mut text = old.clone();
            let all = replacements(&old, &new);
            prop_assert!(all.windows(2).all(|two| two[0].0.end <= two[1].0.start));
            for (range, replacement) in all.into_iter().rev() {
                for end in [range.start, range.end] {
                    let (before, after) = old.split_at(end);
                    let is_divided = before.ends_with('\r') && after.starts_with('\n');
                    prop_assert!(!is_divided, "{:?} {:?} {:?}", old, new, range);
                }
                text.replace_range(range, replacement);
            }
            prop_assert_eq!(text, new);
        }
    }
}
