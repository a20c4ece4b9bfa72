//! `qipu link add` and `qipu link remove`: change typed links.

use super::{PlannedChange, link_entry, plan_edits};
use crate::error::Error;
use crate::graph::NameIndex;
use crate::note::NoteId;
use crate::note::edit::Edit;
use crate::store::NoteHandle;
use crate::store::Store;

/// The largest edit distance of a link type that is suggested.
const MAX_DISTANCE: usize = 2;

/// Plans a typed link, unless it exists.
pub(super) fn plan_add(
    store: &Store,
    now: &str,
    from: &str,
    to: &str,
    kind: &str,
) -> Result<Vec<PlannedChange>, Error> {
    check_kind(store, kind)?;
    let (note, target) = (&store.notes()[store.resolve_to_change(from)?], store.link_target(to)?);
    if note.id == target {
        return Err(Error::usage("a note can't be linked to itself"));
    }
    let entries = link_entry(kind, target.as_str());
    let is_there = links_to(store, note, &target).any(|(link_kind, _)| link_kind == kind);
    let edits = if is_there { Vec::new() } else { vec![Edit::AddMap { key: "links", entries }] };
    Ok(vec![plan_edits(store, note, &edits, now)?])
}

/// Plans to remove typed links, whichever name of the note they use.
pub(super) fn plan_remove(
    store: &Store,
    now: &str,
    from: &str,
    to: &str,
    kind: Option<&str>,
) -> Result<Vec<PlannedChange>, Error> {
    let note = &store.notes()[store.resolve_to_change(from)?];
    let to = match store.resolve_to_change(to) {
        Ok(to) => store.notes()[to].id.clone(),
        Err(_) => store.link_target(to)?,
    };
    let unwanted = links_to(store, note, &to).filter(|(link_kind, _)| kind.is_none_or(|kind| *link_kind == kind));
    let edit = |(kind, target): (&str, &str)| Edit::RemoveMap { key: "links", entries: link_entry(kind, target) };
    let edits: Vec<Edit> = unwanted.map(edit).collect();
    Ok(vec![plan_edits(store, note, &edits, now)?])
}

/// Returns a note's typed links to the note with an id; that of a note of another collection is behind its name.
pub(super) fn links_to<'a>(
    store: &'a Store,
    note: &'a NoteHandle,
    to: &'a NoteId,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let (names, position) = (NameIndex::of(store), store.position(to));
    let leads_there = move |target: &str| match position {
        Some(position) => names.resolve(target) == Some(position),
        None => store.is_id_elsewhere(target, to),
    };
    note.link_fields().typed.into_iter().filter(move |(_, target)| leads_there(target))
}

/// Refuses an unknown link type. The hint lists all types and tells how to add one.
pub(super) fn check_kind(store: &Store, kind: &str) -> Result<(), Error> {
    let types = &store.config.link_types;
    if types.knows(kind) {
        return Ok(());
    }
    let distance = |name: &&str| strsim::osa_distance(name, kind);
    let near = types.names().min_by_key(distance).filter(|name| distance(name) <= MAX_DISTANCE);
    let meant = near.map_or(String::new(), |name| format!("did you mean `{name}`? "));
    let names: Vec<&str> = types.names().collect();
    let config = store.shown("config.toml");
    Err(Error::usage(format!("unknown link type `{kind}`"))
        .hint(format!("{meant}types: {}; add one under [link-types] in {config}", names.join(", "))))
}
