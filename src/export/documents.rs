//! The documents of a note: one JSON object for each of its passages.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::state::{DIGEST_BYTES, ExportedNote};
use crate::error::Error;
use crate::escape::escape_json;
use crate::graph::Graph;
use crate::note::{Fragment, STANDALONE};

use crate::store::{NoteHandle, NoteIdx, Store};

/// The passages of a note.
pub(super) struct NoteDocuments {
    /// The name of the note's collection, a colon, and its id there; neither has characters that JSON escapes.
    pub(super) key: String,
    /// JSON objects, at least one.
    pub(super) documents: Vec<String>,
}

impl NoteDocuments {
    /// Reads a note and divides it. One without text has a single passage without text, so that its title is found.
    ///
    /// # Errors
    /// `Store` if the file can't be read.
    pub(super) fn new(store: &Store, graph: &Graph<'_>, position: NoteIdx) -> Result<Self, Error> {
        let note = store.notes()[position].reparsed()?;
        let parsed = note.parsed()?;
        let fields = note_fields(store, graph, position, &note);
        let document = |heading_path: &[String], lines: (usize, usize), text: &str| {
            let mut document = fields.clone();
            document["heading_path"] = json!(heading_path);
            document["lines"] = json!([lines.0, lines.1]);
            document["text"] = json!(text);
            escape_json(document.to_string())
        };
        let fragments = parsed.fragments(note.title(), &STANDALONE);
        let of_fragment = |part: &Fragment| document(&part.heading_path, part.lines, part.text(parsed.body()));
        let mut documents: Vec<String> = fragments.iter().map(of_fragment).collect();
        if documents.is_empty() {
            let begin = parsed.body_line();
            documents.push(document(&[], (begin, begin), ""));
        }
        let key = format!("{}:{}", note.collection_name(), note.id.local());
        Ok(Self { key, documents })
    }

    /// Returns what the state records: a digest of all documents, and their number.
    pub(super) fn exported(&self) -> ExportedNote {
        let mut hash = Sha256::new();
        for document in &self.documents {
            hash.update(document.as_bytes());
            hash.update(b"\n");
        }
        let mut digest = [0; DIGEST_BYTES];
        digest.iter_mut().zip(hash.finalize()).for_each(|(to, byte)| *to = byte);
        ExportedNote { digest, passages: self.documents.len() }
    }
}

/// Returns the id of a passage: unique among all passages, and at most 300 bytes long.
pub(super) fn passage_id(key: &str, ordinal: usize) -> String {
    format!("{key}#{ordinal}")
}

/// Returns the fields that all passages of a note have.
fn note_fields(store: &Store, graph: &Graph<'_>, position: NoteIdx, note: &NoteHandle) -> Value {
    let list_fields = note.list_fields();
    let links = graph
        .outgoing(position)
        .map(|edge| json!({"type": edge.kind, "id": store.notes()[edge.to].id}))
        .collect::<Vec<_>>();
    let mut fields = json!({
        "id": note.id,
        "in": note.collection_name(),
        "path": note.local_path(),
        "title": note.title(),
        "type": list_fields.kind,
        "tags": note.tags(),
        "value": note.value_or_default(),
        "created": list_fields.created_as_written().as_ref().map(|stamp| stamp.as_str()),
        "updated": list_fields.updated_as_written().as_ref().map(|stamp| stamp.as_str()),
        "links": links,
    });
    if let Some(status) = note.status() {
        fields["status"] = json!(status.name());
    }
    fields
}
