//! `qipu export passages`: writes the passages of all notes for a search engine, while they are read.
//!
//! The answer may be larger than memory, so it is no report: notes are divided in batches, and each batch is written before
//! the next one is read.

mod documents;
mod state;

use std::io::Write;

use rayon::prelude::*;

use crate::commands;
use crate::context::Session;
use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::report::Report;
use crate::request::PassagesRequest;
use crate::store::{self, Location, NoteIdx, StateFile, Store};
use crate::timings;
use documents::{NoteDocuments, passage_id};
use state::{EarlierState, StateWriter};

/// The number of notes that are in memory at a time.
const BATCH: usize = 512;

/// The bytes of deletions after which they are written.
const MAX_BUFFERED: usize = 64 * 1024;

/// The beginnings of a file of passages.
const BEGINNINGS: [&str; 3] = ["{\"_id\":\"", "{\"index\":{\"_index\":\"", "{\"delete\":{\"_index\":\""];

/// Runs `qipu export passages`. Writes to `out` if the request names no file; else returns what was done with that file.
///
/// # Errors
/// `Usage` or `Store` for a file of state that is not valid; `Store` if a note can't be read; `ClosedPipe` when the reader of
/// `out` closed it. The file of state is written only if everything else succeeded.
pub(crate) fn run(
    request: &PassagesRequest,
    location: &Location,
    env: &Env,
    out: &mut dyn Write,
) -> Result<Option<Report>, Error> {
    env.join_thread_pool();
    let store = Store::open(location, &env.current_dir)?.leaked_at_exit();
    let state_file = request.state_file.as_deref().map(|file| StateFile::open(&store, file, location)).transpose()?;
    if state_file.is_some() {
        // What can't be read now would be deleted.
        store.expect_complete()?;
    }
    let bytes = state_file.as_ref().and_then(StateFile::bytes);
    let earlier = bytes.zip(request.state_file.as_deref()).map(|(bytes, file)| EarlierState::parse(bytes, file));
    let earlier = earlier.transpose()?.unwrap_or_default();
    let mut after = state_file.is_some().then(StateWriter::new);
    let write =
        |out: &mut dyn Write| write_lines(&store, location, earlier, after.as_mut(), &mut LineWriter { request, out });
    let report = match &request.file {
        None => write(out).map(|()| None)?,
        Some(file) => {
            let is_export =
                |old: &[u8]| old.is_empty() || BEGINNINGS.iter().any(|beginning| old.starts_with(beginning.as_bytes()));
            let action =
                store::export_stream(location, &env.current_dir, file, "an export of passages", is_export, write)?;
            Some(commands::saved_file(file, Some(&store.shown_path), action))
        }
    };
    timings::end("export");
    if let Some((state_file, after)) = state_file.zip(after) {
        state_file.write(&after.finish())?;
    }
    Ok(report)
}

/// Writes all lines.
fn write_lines(
    store: &Store,
    location: &Location,
    earlier: EarlierState<'_>,
    after: Option<&mut StateWriter>,
    writer: &mut LineWriter<'_>,
) -> Result<(), Error> {
    export_notes(store, Session::new(store).graph(), earlier, after, writer)?;
    if store.is_index_corrupt() {
        store.discard_index(location);
        return Err(Error::new(ErrorKind::Store, "the index was damaged and has been removed")
            .hint("what was written may be wrong: export again"));
    }
    Ok(writer.out.flush()?)
}

/// Writes what differs from an earlier state, and adds all notes to the state after it.
fn export_notes(
    store: &Store,
    graph: &Graph<'_>,
    mut earlier: EarlierState<'_>,
    mut after: Option<&mut StateWriter>,
    writer: &mut LineWriter<'_>,
) -> Result<(), Error> {
    let positions: Vec<NoteIdx> = NoteIdx::all(store.notes().len()).collect();
    for batch in positions.chunks(BATCH) {
        let divided = batch.par_iter().map(|position| NoteDocuments::new(store, graph, *position));
        let mut text = String::new();
        for note in divided.collect::<Result<Vec<_>, Error>>()? {
            let exported = note.exported();
            let old = earlier.take(&note.key);
            if old != Some(exported) {
                for (ordinal, document) in note.documents.iter().enumerate() {
                    writer.add_document(&passage_id(&note.key, ordinal), document, &mut text);
                }
            }
            for ordinal in exported.passages..old.map_or(0, |old| old.passages) {
                writer.add_deletion(&passage_id(&note.key, ordinal), &mut text);
            }
            if let Some(after) = &mut after {
                after.add(&note.key, exported);
            }
        }
        writer.out.write_all(text.as_bytes())?;
    }
    let mut text = String::new();
    for (key, old) in earlier.rest() {
        (0..old.passages).for_each(|ordinal| writer.add_deletion(&passage_id(key, ordinal), &mut text));
        if text.len() >= MAX_BUFFERED {
            writer.out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    Ok(writer.out.write_all(text.as_bytes())?)
}

/// Writes lines in the format of a request.
struct LineWriter<'a> {
    request: &'a PassagesRequest,
    out: &'a mut dyn Write,
}

impl LineWriter<'_> {
    /// Adds a passage. `document` is a JSON object with at least one field.
    fn add_document(&self, id: &str, document: &str, text: &mut String) {
        match &self.request.bulk_index {
            None => {
                let fields = document.strip_prefix('{').unwrap_or(document);
                text.push_str(&format!("{{\"_id\":\"{id}\",{fields}\n"));
            }
            Some(index) => text.push_str(&format!("{}{document}\n", action("index", index, id))),
        }
    }

    /// Adds that a passage no longer exists.
    fn add_deletion(&self, id: &str, text: &mut String) {
        text.push_str(&match &self.request.bulk_index {
            None => format!("{{\"_id\":\"{id}\",\"deleted\":true}}\n"),
            Some(index) => action("delete", index, id),
        });
    }
}

/// Returns the line of an action of the bulk format.
fn action(name: &str, index: &str, id: &str) -> String {
    format!("{{\"{name}\":{{\"_index\":\"{index}\",\"_id\":\"{id}\"}}}}\n")
}
