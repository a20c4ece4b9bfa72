//! `qipu link add` and `qipu link remove`: change typed links.

use super::{PlannedChange, compact, link_entry, plan_edits};
use crate::error::Error;
use crate::escape::one_line;
use crate::graph::NameIndex;
use crate::note::edit::Edit;
use crate::note::{COMPACTS, NoteId, RELATED};
use crate::store::{NoteHandle, Store};

/// The largest edit distance of a link type that is suggested.
const MAX_DISTANCE: usize = 2;

/// Plans typed links, unless they exist.
pub(super) fn plan_add(
    store: &Store,
    now: &str,
    from: &str,
    to: &[String],
    kind: Option<&str>,
) -> Result<Vec<PlannedChange>, Error> {
    let added = kind.unwrap_or(RELATED);
    check_kind(store, added).map_err(|error| or_a_note(error, store, "add", (from, added, to)))?;
    let note = &store.notes()[store.resolve_to_change(from)?];
    let mut targets: Vec<NoteId> = Vec::new();
    for name in to {
        let target = store.link_target(name).map_err(|error| or_a_type(error, store, from, name, kind))?;
        if note.id == target {
            return Err(Error::usage("a note can't be linked to itself"));
        }
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets.retain(|target| !links_to(store, note, target).any(|(kind, _)| kind == added));
    let edit = |target: NoteId| Edit::AddMap { key: "links", entries: link_entry(added, target.as_str()) };
    Ok(vec![plan_edits(store, note, &targets.into_iter().map(edit).collect::<Vec<_>>(), now)?])
}

/// Plans to remove typed links, whichever name of the notes they use; without a type, also the notes from a digest.
pub(super) fn plan_remove(
    store: &Store,
    now: &str,
    from: &str,
    to: &[String],
    kind: Option<&str>,
) -> Result<Vec<PlannedChange>, Error> {
    let note = &store.notes()[store.resolve_to_change(from)?];
    let has_kind = |kind: &str| kind == COMPACTS || note.link_fields().typed.iter().any(|(other, _)| *other == kind);
    if let Some(kind) = kind.filter(|kind| !has_kind(kind)) {
        check_kind(store, kind).map_err(|error| or_a_note(error, store, "remove", (from, kind, to)))?;
    }
    let names = NameIndex::of(store);
    let mut edits = Vec::new();
    for name in to {
        let member = store.resolve_to_change(name).ok();
        let target = match member {
            Some(member) => store.notes()[member].id.clone(),
            None => store.link_target(name).map_err(|error| or_a_type(error, store, from, name, kind))?,
        };
        let unwanted = links_to(store, note, &target).filter(|(other, _)| kind.is_none_or(|kind| *other == kind));
        let edit = |(kind, target): (&str, &str)| Edit::RemoveMap { key: "links", entries: link_entry(kind, target) };
        edits.extend(unwanted.map(edit));
        let member = member.filter(|_| kind.is_none_or(|kind| kind == COMPACTS));
        edits.extend(member.map_or_else(Vec::new, |member| compact::removals(&names, note, member)));
    }
    Ok(vec![plan_edits(store, note, &edits, now)?])
}

/// Explains the error of an unknown type that is the name of a note: the call names several notes, and no type.
fn or_a_note(error: Error, store: &Store, action: &str, (from, kind, to): (&str, &str, &[String])) -> Error {
    if store.resolve_to_change(kind).is_err() {
        return error;
    }
    let call = one_line(&format!("qipu link {action} {from} {RELATED} {kind} {}", to.join(" ")));
    Error::usage(format!("`{}` is a note, and no type of a link", one_line(kind)))
        .hint(format!("the type of the links stands before the notes: `{call}`"))
}

/// Explains the error of an unknown note that is a type: the call names no note after it.
fn or_a_type(error: Error, store: &Store, from: &str, name: &str, kind: Option<&str>) -> Error {
    if kind.is_some() || !(name == COMPACTS || store.config.link_types.knows(name)) {
        return error;
    }
    let hint = format!("name the note after it, as in `qipu link add {} {name} ID2`", one_line(from));
    Error::usage(format!("`{name}` is a type of a link, and no note")).hint(hint)
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
