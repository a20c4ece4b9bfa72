//! The store with the open texts in place of their files, as requests see it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lsp_types::{Location, TextDocumentPositionParams, Uri};

use super::documents::{Document, Documents};
use super::file_uri::uri_of;
use super::text_position::LineStarts;
use super::{Client, LspSettings};
use crate::context::Session;
use crate::error::Error;
use crate::graph::{Graph, NameIndex};
use crate::note::Note;
use crate::report::Report;
use crate::request::ReadCommand;
use crate::store::{NoteHandle, NoteIdx, Store};

/// The parsed open texts by their paths in the store, each with the text that it was parsed from.
#[derive(Default)]
pub(super) struct OpenNotes(BTreeMap<String, (Arc<Document>, Arc<NoteHandle>)>);

impl OpenNotes {
    /// Parses the open texts that are notes and have changed; forgets those that are no longer open.
    pub(super) fn update(&mut self, documents: &Documents, store: &Store) {
        let mut known = std::mem::take(&mut self.0);
        for document in documents.iter() {
            let Some(path) = store.note_path(&document.path) else { continue };
            let unchanged = known.remove(&path).filter(|(parsed, _)| Arc::ptr_eq(parsed, document));
            let note = unchanged.map(|(_, note)| note);
            let note = note.unwrap_or_else(|| Arc::new(store.parse_at(&path, &document.text)));
            self.0.insert(path, (Arc::clone(document), note));
        }
    }

    /// Returns the notes, in the order of their paths.
    pub(super) fn notes(&self) -> Vec<Arc<NoteHandle>> {
        self.0.values().map(|(_, note)| Arc::clone(note)).collect()
    }
}

/// What requests are answered from, until a text or a file changes.
pub(super) struct View<'a> {
    /// The store as it would be if the open texts were saved.
    pub(super) session: Session<'a>,
    /// The store as it is on disk.
    pub(super) saved: &'a Store,
    /// Runs a command on the store as it is on disk, with its text index.
    pub(super) run_saved: &'a dyn Fn(&ReadCommand) -> Result<Report, Error>,
    pub(super) documents: Documents,
    pub(super) client: &'a Client,
    pub(super) settings: &'a LspSettings<'a>,
    pub(super) open: &'a OpenNotes,
    pub(super) names: OnceLock<NameIndex<'a>>,
}

impl<'a> View<'a> {
    pub(super) fn store(&self) -> &'a Store {
        self.session.store
    }

    pub(super) fn graph(&self) -> &Graph<'a> {
        self.session.graph()
    }

    pub(super) fn names(&self) -> &NameIndex<'a> {
        self.names.get_or_init(|| NameIndex::of(self.store()))
    }

    pub(super) fn handle(&self, note: NoteIdx) -> &'a Arc<NoteHandle> {
        &self.store().notes()[note]
    }

    pub(super) fn note(&self, note: NoteIdx) -> Result<&'a Note, Error> {
        self.handle(note).parsed()
    }

    /// Returns the note of an open text; `None` for a file that is no note.
    pub(super) fn open_note(&self, uri: &Uri) -> Option<NoteIdx> {
        let document = self.documents.get(uri)?;
        self.store().position_at(&self.store().note_path(&document.path)?)
    }

    /// Returns the lines of a text in the unit of the client.
    pub(super) fn lines<'t>(&self, text: &'t str) -> LineStarts<'t> {
        LineStarts::new(text, self.client.unit)
    }

    /// Returns the address of the file at a path in the store: that of the client, if it is open.
    pub(super) fn uri(&self, path: &str) -> Option<Uri> {
        let open = self.open.0.get(path).map(|(document, _)| document.uri.clone());
        open.or_else(|| uri_of(&self.client_path(&self.store().file_at(path))))
    }

    /// Returns the address of a file by its absolute path, as [`View::uri`].
    pub(super) fn uri_of_file(&self, file: &Path) -> Option<Uri> {
        let path = self.store().note_path(file);
        path.map_or_else(|| uri_of(&self.client_path(file)), |path| self.uri(&path))
    }

    /// Returns a path below the folder of the client as the client writes it, which may lead through symbolic links.
    fn client_path(&self, path: &Path) -> PathBuf {
        let below = path.strip_prefix(&self.settings.real_dir);
        below.map_or_else(|_| path.to_path_buf(), |below| self.settings.current_dir.join(below))
    }

    /// Returns a range of bytes in a note as a location.
    pub(super) fn location(&self, note: NoteIdx, bytes: Range<usize>) -> Result<Option<Location>, Error> {
        let range = if bytes == (0..0) {
            lsp_types::Range::default()
        } else {
            self.lines(self.note(note)?.text()).range(bytes)
        };
        Ok(self.uri(&self.handle(note).path).map(|uri| Location::new(uri, range)))
    }

    /// Returns the note and the byte offset in its text of a position in an open text.
    pub(super) fn offset(&self, at: &TextDocumentPositionParams) -> Result<Option<(NoteIdx, usize)>, Error> {
        let Some(note) = self.open_note(&at.text_document.uri) else { return Ok(None) };
        let offset = self.lines(self.note(note)?.text()).offset(at.position);
        Ok(Some((note, offset)))
    }
}
