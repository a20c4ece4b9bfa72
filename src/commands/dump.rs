//! `qipu export pack`: packs notes and their attachments into one text.

use std::collections::BTreeSet;
use std::path::Path;

use super::secrets::SecretSearch;
use crate::context::{Outdated, Session, select};
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::note::{Note, file_links, join_path};
use crate::pack::{self, Pack, PackedFile, PackedLink, PackedNote};
use crate::progress;
use crate::report::{ChangeEntry, DiagnosticEntry, Entry, Report, ReportHead};
use crate::request::{DumpRequest, Selectors};
use crate::store::{self, IgnoredEntry, Location, NoteIdx, Store};

/// Packs the selected notes, or the whole store, into a file or into the answer.
pub(super) fn run(request: &DumpRequest, location: &Location, current_dir: &Path) -> Result<Report, Error> {
    let selection = request.selection.as_ref();
    let store = Store::open_target(location, current_dir, None)?;
    let (store, all) = store.with_corruption_retry(location, current_dir, |store| pack_selection(store, selection))?;
    let (store, (pack, skipped)) = (&*store.leaked_at_exit(), all?);
    if !request.is_secret_allowed {
        expect_no_secrets(store, &pack)?;
    }
    let text = pack::write(&pack);
    let head = ReportHead::of_change("dump", false, Some(&store.shown_path));
    let Some(file) = &request.file else {
        return Ok(Report::new(head, vec![Entry::Text(text)]));
    };
    let is_pack = |old: &[u8]| old.is_empty() || old.starts_with(pack::MAGIC.as_bytes());
    let action = store::export(location, current_dir, file, text.as_bytes(), "a qipu pack", is_pack)?;
    let path = file.to_string_lossy().into_owned();
    let mut entries = vec![Entry::Change(ChangeEntry::of_file(action, path))];
    let ignored = if selection.is_none() { store.ignored_entries() } else { Vec::new() };
    entries.extend(ignored.into_iter().chain(skipped).map(|(path, why)| {
        let message = format!("not in the pack: {why}");
        Entry::Finding(DiagnosticEntry::warning("not-dumped", store.shown(&path), message))
    }));
    Ok(Report::new(head, entries))
}

/// Refuses a pack with a secret: packs are for others.
fn expect_no_secrets(store: &Store, pack: &Pack) -> Result<(), Error> {
    let mut search = SecretSearch::default();
    let notes = pack.notes.iter().map(|note| (&note.file, true));
    for (file, is_note) in notes.chain(pack.attachments.iter().map(|file| (file, false))) {
        search.add_file(&store.shown(&file.path), &file.bytes, is_note);
    }
    search.expect_none("the pack")
}

/// Returns the pack, and the files among the wanted attachments that can't be packed, with the reasons.
fn pack_selection(store: &Store, selection: Option<&Selectors>) -> Result<(Pack, Vec<IgnoredEntry>), Error> {
    let positions = selected(store, selection)?;
    let graph = Graph::of_store(store);
    let work = progress::begin("packing notes", positions.len());
    let notes: Result<Vec<PackedNote>, Error> =
        positions.iter().map(|position| pack_note(store, &graph, *position)).collect();
    drop(work);
    let (wanted, skipped) = selected_attachments(store, selection, &positions)?;
    let _work = progress::begin("packing attachments", wanted.len());
    let attachments: Result<Vec<PackedFile>, Error> = wanted.into_iter().map(|path| pack_file(store, path)).collect();
    let pack = Pack { store: store.shown_path.clone(), notes: notes?, attachments: attachments? };
    Ok((pack, skipped))
}

/// Returns the selected notes, or all.
fn selected(store: &Store, selection: Option<&Selectors>) -> Result<BTreeSet<NoteIdx>, Error> {
    match selection {
        None => {
            store.expect_all_readable()?;
            Ok(NoteIdx::all(store.notes().len()).collect())
        }
        Some(selectors) => Ok(select(&Session::new(store), selectors, Outdated::Shown)?.notes.into_iter().collect()),
    }
}

/// Returns the attachments of the selected notes, or all, and the files that are none, with the reasons.
fn selected_attachments(
    store: &Store,
    selection: Option<&Selectors>,
    positions: &BTreeSet<NoteIdx>,
) -> Result<(Vec<String>, Vec<IgnoredEntry>), Error> {
    let (mut wanted, mut skipped) = (store.attachments()?, store.ignored_attachments());
    if selection.is_some() {
        let linked: BTreeSet<String> =
            positions.iter().flat_map(|position| linked_files(store.notes()[*position].parsed_or_empty())).collect();
        wanted.retain(|path| linked.contains(path));
        let is_below = |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        skipped.retain(|(path, _)| linked.iter().any(|link| link == path || is_below(link, path)));
    }
    Ok((wanted, skipped))
}

fn pack_note(store: &Store, graph: &Graph<'_>, position: NoteIdx) -> Result<PackedNote, Error> {
    progress::advance();
    let known = &store.notes()[position];
    expect_loadable_path(store, &known.path, true)?;
    let bytes = store.read_bytes(&known.path)?;
    // The fields must be those of these bytes: an editor may have changed the file since it was opened.
    let note = Note::parse(&known.path, bytes.clone());
    if note.id.as_str() != known.id.claimed() {
        let message = format!("{} changed while it was being read", store.shown(&known.path));
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
        links: graph.outgoing(position).map(link).collect(),
        file: PackedFile { path: note.path, bytes },
    })
}

fn pack_file(store: &Store, path: String) -> Result<PackedFile, Error> {
    progress::advance();
    expect_loadable_path(store, &path, false)?;
    let gone = || Error::new(ErrorKind::Failure, format!("{} was removed while it was being read", store.shown(&path)));
    let bytes = store.file(&path)?.ok_or_else(gone)?;
    Ok(PackedFile { path, bytes })
}

/// Refuses a path that `qipu import` would refuse.
fn expect_loadable_path(store: &Store, path: &str, is_note: bool) -> Result<(), Error> {
    match pack::path_fault(path, is_note) {
        None => Ok(()),
        Some(fault) => {
            Err(Error::new(ErrorKind::Store, format!("{} can't be packed: its path {fault}", store.shown(path)))
                .hint("rename the file"))
        }
    }
}

/// Returns the paths in the store that a note's links may mean: relative to the note's folder, and for `[[file]]` also to
/// the store and to the folder of attachments, as editors write them.
fn linked_files(note: &Note) -> Vec<String> {
    let paths = |(path, is_wiki): (String, bool)| {
        let bases = [note.path.as_str(), "", "attachments/"];
        let bases = bases.into_iter().take(if is_wiki { 3 } else { 1 });
        bases.filter_map(|base| join_path(base, &path)).collect::<Vec<String>>()
    };
    file_links(note.body()).into_iter().flat_map(paths).collect()
}
