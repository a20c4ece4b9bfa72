//! `qipu update`: fields of notes that are there.

use super::links::check_kind;
use super::{Planned, plan_edits};
use crate::error::Error;
use crate::note::edit::Edit;
use crate::request::{Change, NewFields};
use crate::store::Store;

/// Plans the same changes for each note.
pub(super) fn plan(store: &Store, request: &Change, ids: &[String], fields: &NewFields) -> Result<Vec<Planned>, Error> {
    if *fields == NewFields::default() {
        return Err(Error::usage("nothing to change").hint("`qipu update --help` names the fields"));
    }
    let edits = edits(store, fields)?;
    let mut seen = std::collections::HashSet::new();
    let places: Vec<usize> = store.positions(ids)?.into_iter().filter(|place| seen.insert(*place)).collect();
    places.iter().map(|place| plan_edits(store, &store.notes()[*place], &edits, &request.now)).collect()
}

/// Returns the edits that fields stand for, in the order in which a new note has them.
pub(super) fn edits(store: &Store, fields: &NewFields) -> Result<Vec<Edit>, Error> {
    let mut edits = Vec::new();
    let text = |key: &str, text: &Option<String>| text.clone().map(|text| Edit::SetText { key: key.to_owned(), text });
    edits.extend(text("title", &fields.title));
    edits.extend(text("type", &fields.kind));
    edits.extend(fields.untags.iter().map(|tag| Edit::RemoveItem { key: "tags", text: tag.clone() }));
    edits.extend(fields.tags.iter().map(|tag| Edit::AddItem { key: "tags", text: tag.clone() }));
    edits.extend(fields.value.map(|value| Edit::SetPlain { key: "value", text: value.to_string() }));
    edits.extend(fields.verified.map(|verified| Edit::SetPlain { key: "verified", text: verified.to_string() }));
    edits.extend(text("summary", &fields.summary));
    edits.extend(fields.sources.iter().map(|url| Edit::AddMap { key: "sources", entries: vec![("url", url.clone())] }));
    for (kind, target) in &fields.links {
        check_kind(store, kind)?;
        let place = store.resolve(target)?;
        let id = store.notes()[place].id.to_string();
        edits.push(Edit::AddMap { key: "links", entries: vec![("type", kind.clone()), ("id", id)] });
    }
    edits.extend(fields.custom.iter().map(|(key, text)| Edit::SetCustom { key: key.clone(), text: text.clone() }));
    edits.extend(fields.body.as_ref().map(|body| Edit::SetBody(format!("{}\n", body.trim_end()))));
    Ok(edits)
}
