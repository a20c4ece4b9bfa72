//! The texts that the client has open.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, TextDocumentContentChangeEvent,
    Uri,
};

use super::file_uri::path_of;
use super::text_position::{ColumnUnit, LineStarts};
use crate::note::MAX_BYTES;

/// An open text.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) uri: Uri,
    pub(super) path: PathBuf,
    pub(super) version: i32,
    pub(super) text: String,
}

/// The open texts by their addresses. A copy shares them.
#[derive(Debug, Clone, Default)]
pub(super) struct Documents(BTreeMap<Uri, Arc<Document>>);

impl Documents {
    pub(super) fn get(&self, uri: &Uri) -> Option<&Arc<Document>> {
        self.0.get(uri)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Document>> {
        self.0.values()
    }

    /// Adds a text. One that is no file, or longer than a note may be, is ignored.
    pub(super) fn open(&mut self, opened: DidOpenTextDocumentParams) {
        let item = opened.text_document;
        if let Some(path) = path_of(&item.uri).filter(|_| item.text.len() <= MAX_BYTES) {
            let document = Document { uri: item.uri.clone(), path, version: item.version, text: item.text };
            self.0.insert(item.uri, Arc::new(document));
        }
    }

    /// Applies changes, each to the text after the one before.
    pub(super) fn change(&mut self, changed: DidChangeTextDocumentParams, unit: ColumnUnit) {
        let uri = changed.text_document.uri;
        let Some(document) = self.0.get_mut(&uri) else { return };
        let document = Arc::make_mut(document);
        document.version = changed.text_document.version;
        changed.content_changes.into_iter().for_each(|change| apply(&mut document.text, change, unit));
        if document.text.len() > MAX_BYTES {
            self.0.remove(&uri);
        }
    }

    /// Removes a text: that of its file counts again.
    pub(super) fn close(&mut self, closed: &DidCloseTextDocumentParams) {
        self.0.remove(&closed.text_document.uri);
    }
}

fn apply(text: &mut String, change: TextDocumentContentChangeEvent, unit: ColumnUnit) {
    match change.range {
        None => *text = change.text,
        Some(range) => {
            let bytes = LineStarts::new(text, unit).bytes(range);
            text.replace_range(bytes, &change.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A client that sends the range that differs, and one that sends the whole text.
        #[test]
        fn changes_of_ranges_come_to_the_whole_text(
            pieces in prop::collection::vec(prop::sample::select(vec!["a", "é", "😀", "\n", "\r\n", "\r", "xy"]), 0..20),
            edits in prop::collection::vec((0_usize..40, 0_usize..40, "[a-c😀é\n]{0,4}"), 1..8),
        ) {
            for unit in [ColumnUnit::Utf8, ColumnUnit::Utf16] {
                let mut expected = pieces.concat();
                let mut text = expected.clone();
                for (start, end, new) in &edits {
                    let bounds = |offset: &usize| expected.floor_char_boundary(*offset);
                    let (start, end) = (bounds(start.min(end)), bounds(start.max(end)));
                    let lines = LineStarts::new(&expected, unit);
                    let range = lines.range(start..end);
                    // The position of an offset inside of a line ending is that of its beginning.
                    let bytes = lines.bytes(range);
                    expected.replace_range(bytes, new);
                    apply(&mut text, TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: new.clone() }, unit);
                    prop_assert_eq!(&text, &expected);
                }
                apply(&mut text, TextDocumentContentChangeEvent { range: None, range_length: None, text: "all".into() }, unit);
                prop_assert_eq!(&text, "all");
            }
        }
    }

    #[test]
    fn a_range_behind_the_end_appends() {
        let mut text = "a\nb".to_owned();
        let range = Range::new(Position::new(7, 3), Position::new(9, 9));
        apply(
            &mut text,
            TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: "c".into() },
            ColumnUnit::Utf16,
        );
        assert_eq!(text, "a\nbc");
    }
}
