//! `qipu dump`: notes and their attachments as one text.

use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::path::Path;

use crate::context::{Session, select};
use crate::error::{Error, ErrorKind};
use crate::graph::{Graph, join_path};
use crate::note::Note;
use crate::pack::{self, Pack, PackedFile, PackedLink, PackedNote};
use crate::progress;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead, ReportKind};
use crate::request::DumpRequest;
use crate::store::{self, PassedOver, Store};

/// Packs the selected notes, or the whole store, into a file or into the answer itself.
pub(super) fn run(request: &DumpRequest, current_dir: &Path) -> Result<Report, Error> {
    let store = Store::open(&request.location, current_dir)?;
    let (store, all) = store.trusted(&request.location, current_dir, |store| packed(store, request))?;
    let (store, (pack, odd)) = (&*ManuallyDrop::new(store), all?);
    let text = pack::write(&pack);
    let mode = ReportKind::Change { command: "dump", is_dry_run: false };
    let head = ReportHead::new(mode, Some(&store.shown_path));
    let Some(file) = &request.file else {
        return Ok(Report::new(head, vec![Entry::Text(text)]));
    };
    let is_pack = |old: &[u8]| old.is_empty() || old.starts_with(pack::MAGIC.as_bytes());
    let action = store::export(&request.location, current_dir, file, text.as_bytes(), "a qipu pack", is_pack)?;
    let path = file.to_string_lossy().into_owned();
    let mut entries = vec![Entry::Change(ChangeEntry { id: None, action, path, diff: None })];
    let odd_notes = if request.selection.is_none() { store.passed_over() } else { Vec::new() };
    entries.extend(odd_notes.into_iter().chain(odd).map(|(path, why)| left_out(store, &path, why)));
    Ok(Report::new(head, entries))
}

fn left_out(store: &Store, path: &str, why: &str) -> Entry {
    Entry::Finding(DiagnosticEntry {
        is_error: false,
        code: "not-dumped",
        id: None,
        path: store.shown(path),
        line: None,
        message: format!("it is not in the pack: {why}"),
    })
}

/// Returns the pack, and what stands among the attachments that it should hold and is none.
fn packed(store: &Store, request: &DumpRequest) -> Result<(Pack, Vec<PassedOver>), Error> {
    if request.selection.is_none() {
        store.expect_all_readable()?;
    }
    let places: BTreeSet<usize> = match &request.selection {
        None => (0..store.notes().len()).collect(),
        Some(selectors) => {
            select(&Session::new(store), selectors, request.max_hits, request.max_notes)?.notes.into_iter().collect()
        }
    };
    let graph = Graph::new(store.notes(), &store.config.link_types);
    let work = progress::begin("packing notes", places.len());
    let notes: Result<Vec<PackedNote>, Error> = places.iter().map(|place| packed_note(store, &graph, *place)).collect();
    drop(work);
    let (mut wanted, mut odd) = (store.attachments()?, store.passed_over_attachments());
    if request.selection.is_some() {
        let linked: BTreeSet<String> = places.iter().flat_map(|place| linked_files(&store.notes()[*place])).collect();
        wanted.retain(|path| linked.contains(path));
        let is_below = |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        odd.retain(|(path, _)| linked.iter().any(|link| link == path || is_below(link, path)));
    }
    let _work = progress::begin("packing attachments", wanted.len());
    let attachments: Result<Vec<PackedFile>, Error> = wanted.into_iter().map(|path| packed_file(store, path)).collect();
    let pack = Pack { store: store.shown_path.clone(), notes: notes?, attachments: attachments? };
    Ok((pack, odd))
}

fn packed_note(store: &Store, graph: &Graph<'_>, place: usize) -> Result<PackedNote, Error> {
    progress::advance();
    let known = &store.notes()[place];
    check_path(store, &known.path, true)?;
    let bytes = store.bytes_of(known)?;
    // What is said of the note is said of these bytes, whatever an editor did in the meantime.
    let note = Note::parse(&known.path, bytes.clone());
    if note.id.as_str() != known.id.claimed() {
        let message = format!("{} was changed while it was read", store.shown(&known.path));
        return Err(Error::new(ErrorKind::Failure, message).hint("try again"));
    }
    let link = |edge: crate::graph::Edge<'_>| PackedLink {
        to: store.notes()[edge.to].id.clone(),
        kind: edge.kind.into_owned(),
        is_inline: !edge.sources.is_typed,
    };
    Ok(PackedNote {
        id: known.id.clone(),
        kind: note.kind.clone(),
        title: note.title.clone(),
        tags: note.tags.clone(),
        sources: note.sources.clone(),
        links: graph.outgoing(place).map(link).collect(),
        file: PackedFile { path: note.path, bytes },
    })
}

fn packed_file(store: &Store, path: String) -> Result<PackedFile, Error> {
    progress::advance();
    check_path(store, &path, false)?;
    let gone = || Error::new(ErrorKind::Failure, format!("{} went away while it was read", store.shown(&path)));
    let bytes = store.file(&path)?.ok_or_else(gone)?;
    Ok(PackedFile { path, bytes })
}

/// Refuses a path that no store would take back.
fn check_path(store: &Store, path: &str, is_note: bool) -> Result<(), Error> {
    match pack::path_fault(path, is_note) {
        None => Ok(()),
        Some(fault) => {
            Err(Error::new(ErrorKind::Store, format!("{} can't be packed: its path {fault}", store.shown(path)))
                .hint("rename the file"))
        }
    }
}

/// Returns the paths in the store that a note's links may mean: from the note's folder, and for
/// `[[file]]` also from the store's and from that of attachments, as editors write them.
fn linked_files(note: &Note) -> Vec<String> {
    let places = |(path, is_wiki): (String, bool)| {
        let bases = [note.path.as_str(), "", "attachments/"];
        let bases = bases.into_iter().take(if is_wiki { 3 } else { 1 });
        bases.filter_map(|base| join_path(base, &path)).collect::<Vec<String>>()
    };
    note.linked_files().into_iter().flat_map(places).collect()
}
