//! `qipu link add` and `qipu link remove`: typed links.

use super::{Planned, plan_edits};
use crate::error::Error;
use crate::note::edit::Edit;
use crate::request::Change;
use crate::store::Store;

/// How alike two words are from which one may be meant by the other, 0 to 1.
const NEAR: f64 = 0.7;

pub(super) fn plan_add(
    store: &Store,
    request: &Change,
    from: &str,
    to: &str,
    kind: &str,
) -> Result<Vec<Planned>, Error> {
    check_kind(store, kind)?;
    let (from, to) = (store.resolve(from)?, store.resolve(to)?);
    if from == to {
        return Err(Error::usage("a note can't be linked to itself"));
    }
    let (note, target) = (&store.notes()[from], &store.notes()[to]);
    let entries = vec![("type", kind.to_owned()), ("id", target.id.to_string())];
    let is_there = note.links.iter().any(|link| link.kind == kind && store.named(&link.target) == Some(to));
    let edits = if is_there { Vec::new() } else { vec![Edit::AddMap { key: "links", entries }] };
    Ok(vec![plan_edits(store, note, &edits, &request.now)?])
}

pub(super) fn plan_remove(
    store: &Store,
    request: &Change,
    from: &str,
    to: &str,
    kind: Option<&str>,
) -> Result<Vec<Planned>, Error> {
    let (from, to) = (store.resolve(from)?, store.resolve(to)?);
    let (note, target) = (&store.notes()[from], &store.notes()[to]);
    let mut entries = vec![("id", target.id.to_string())];
    entries.extend(kind.map(|kind| ("type", kind.to_owned())));
    Ok(vec![plan_edits(store, note, &[Edit::RemoveMap { key: "links", entries }], &request.now)?])
}

/// Refuses a link type that nobody configured, and names those that may be meant.
pub(super) fn check_kind(store: &Store, kind: &str) -> Result<(), Error> {
    let types = &store.config.link_types;
    if types.knows(kind) {
        return Ok(());
    }
    let near: Vec<&str> = types.names().filter(|name| strsim::jaro_winkler(name, kind) >= NEAR).collect();
    let known = if near.is_empty() { types.names().collect() } else { near };
    Err(Error::usage(format!("there is no link type `{kind}`")).hint(format!("types: {}", known.join(", "))))
}
