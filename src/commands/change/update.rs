//! `qipu update`: changes fields and texts of notes.

use super::anchor;
use super::claims::expect_no_claims;
use super::links::check_kind;
use super::user_fields::with_effect;
use super::{ChangePlan, PlannedChange, changes_of, link_entry, plan_edits};
use crate::commands::note_warning;
use crate::context::{NoteFilter, Session};
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::note::Verification;
use crate::note::edit::{BodyEdit, Edit};
use crate::report::DiagnosticEntry;
use crate::request::{Filters, NewFields};
use crate::store::Store;
use crate::store::{NoteHandle, NoteIdx};

/// Plans the same changes for each note. `program`: the one that makes them, if it is no person.
pub(super) fn plan(
    store: &Store,
    now: &str,
    ids: &[String],
    fields: &NewFields,
    body_edit: Option<&BodyEdit>,
    program: Option<&str>,
) -> Result<ChangePlan, Error> {
    if *fields == NewFields::default() && body_edit.is_none() {
        return Err(Error::usage("nothing to change").hint("`qipu update --help` lists the fields"));
    }
    if program.is_some() {
        expect_no_claims(fields, false)?;
    }
    // A summary of a replaced text is one of the former text.
    let is_summary_lost = program.is_some() && fields.body.is_some() && fields.summary.is_none();
    let summary = is_summary_lost.then_some(Edit::RemoveField("summary"));
    let body_edit = body_edit.cloned().map(Edit::ChangeBody);
    let edits: Vec<Edit> = summary.into_iter().chain(edits(store, fields)?).chain(body_edit).collect();
    let mut seen = std::collections::HashSet::new();
    let positions: Vec<NoteIdx> =
        store.positions_to_change(ids)?.into_iter().filter(|position| seen.insert(*position)).collect();
    let changes = positions.iter().map(|position| {
        let note = &store.notes()[*position];
        let edits = edits.iter().flat_map(|edit| match program {
            Some(program) if *edit == verified(true) => verified_by(note, program, now),
            _ if let Some(tag) = new_tag(note, edit) => vec![add_tag(tag)],
            _ => Vec::from_iter((!is_kept(note, edit)).then(|| edit.clone())),
        });
        let anchors = if fields.verified == Some(true) { anchor::verified(store, note) } else { Vec::new() };
        let edits: Vec<Edit> = edits.map(|edit| with_effect(note, edit)).chain(anchors).collect();
        plan_edits(store, note, &edits, now)
    });
    let changes = changes.collect::<Result<Vec<_>, Error>>()?;
    let findings = if fields.title.is_some() { broken_links(store, &changes) } else { Vec::new() };
    Ok(ChangePlan { changes, findings })
}

/// Returns the ids of the notes that pass all filters.
pub(super) fn selected(store: &Store, filters: &[String]) -> Result<Vec<String>, Error> {
    let session = Session::new(store);
    let filters = Filters { expressions: filters.to_vec(), ..Filters::default() };
    let filter = NoteFilter::new(&session, &filters)?;
    let passing = NoteIdx::enumerate(store.notes()).filter(|(note, _)| filter.matches(*note));
    let ids: Vec<String> = passing.map(|(_, note)| note.id.to_string()).collect();
    if ids.is_empty() {
        return Err(Error::new(ErrorKind::NoNote, "no note matches the filter")
            .hint("`qipu list FILTER` shows the notes that match one, `qipu status --tags` the tags"));
    }
    Ok(ids)
}

/// Returns the tag that comes, if an edit renames one that the note does not have.
fn new_tag<'e>(note: &NoteHandle, edit: &'e Edit) -> Option<&'e str> {
    match edit {
        Edit::RenameItem { key: "tags", from, to } => (!note.tags().contains(&from.as_str())).then_some(to),
        _ => None,
    }
}

/// Whether an edit would lose what the note still says: a list of who verified a note says more than `true`.
fn is_kept(note: &NoteHandle, edit: &Edit) -> bool {
    note.verifications().iter().any(Verification::is_human) && *edit == verified(true)
}

/// Returns the edits that say that a program checked a note: `true` would say that a person did. What persons said stays.
fn verified_by(note: &NoteHandle, program: &str, now: &str) -> Vec<Edit> {
    if note.verified() == Some(true) && note.verifications().is_empty() {
        return Vec::new();
    }
    let entries = vec![("by", program.to_owned()), ("at", now.to_owned())];
    vec![Edit::RemoveItem { key: "verified", text: "false".to_owned() }, Edit::AddMap { key: "verified", entries }]
}

fn verified(is_verified: bool) -> Edit {
    Edit::SetPlain { key: "verified", text: is_verified.to_string() }
}

/// Reports the links that new titles break.
fn broken_links(store: &Store, planned: &[PlannedChange]) -> Vec<DiagnosticEntry> {
    let after = store.after(&changes_of(planned));
    let (before, after) = (Graph::of_store(store), Graph::of_store(&after));
    let lost = |(position, note): (NoteIdx, &std::sync::Arc<NoteHandle>)| {
        let new = after.unresolved(position).filter(|target| {
            !before.unresolved(position).any(|old| old == *target) && store.leads_nowhere(note, target)
        });
        let finding = |target: &str| {
            let message = format!("its link to `{target}` is now broken; `qipu rename` updates links");
            note_warning(store, note, "broken-link", message)
        };
        new.map(finding).collect::<Vec<_>>()
    };
    NoteIdx::enumerate(store.notes()).flat_map(lost).collect()
}

/// Returns the edits that set fields, in the order of fields in a new note.
pub(super) fn edits(store: &Store, fields: &NewFields) -> Result<Vec<Edit>, Error> {
    for (name, text) in [("title", &fields.title), ("type", &fields.kind)] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Err(Error::usage(format!("the new {name} is empty")));
        }
    }
    if fields.custom.iter().any(|(key, value)| key == "status" && value.trim().is_empty()) {
        return Err(Error::usage("the new status is empty"));
    }
    let one_line = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let fields = &NewFields { title: fields.title.as_ref().map(one_line), ..fields.clone() };
    let mut edits = Vec::new();
    let text = |key: &str, text: &Option<String>| text.clone().map(|text| Edit::SetText { key: key.to_owned(), text });
    edits.extend(text("title", &fields.title));
    edits.extend(text("type", &fields.kind));
    edits.extend(tag_edits(fields));
    edits.extend(fields.value.map(|value| Edit::SetPlain { key: "value", text: value.to_string() }));
    edits.extend(fields.verified.map(verified));
    edits.extend(text("summary", &fields.summary));
    edits.extend(fields.sources.iter().map(|url| Edit::AddMap { key: "sources", entries: vec![("url", url.clone())] }));
    for (kind, target) in &fields.links {
        check_kind(store, kind).map_err(|error| or_without_type(error, store, kind, target))?;
        let entries = link_entry(kind, store.link_target(target)?.as_str());
        edits.push(Edit::AddMap { key: "links", entries });
    }
    edits.extend(fields.custom.iter().map(|(key, text)| Edit::SetCustom { key: key.clone(), text: text.clone() }));
    edits.extend(fields.body.as_ref().map(|body| Edit::SetBody(format!("{}\n", body.trim_end()))));
    Ok(edits)
}

/// Returns the edits of tags: one that comes as another goes takes its position.
fn tag_edits(fields: &NewFields) -> Vec<Edit> {
    if let ([from], [to]) = (fields.untags.as_slice(), fields.tags.as_slice())
        && from != to
    {
        return vec![Edit::RenameItem { key: "tags", from: from.clone(), to: to.clone() }];
    }
    let removed = fields.untags.iter().map(|tag| Edit::RemoveItem { key: "tags", text: tag.clone() });
    removed.chain(fields.tags.iter().map(|tag| add_tag(tag))).collect()
}

fn add_tag(tag: &str) -> Edit {
    Edit::AddItem { key: "tags", text: tag.to_owned() }
}

/// Adds to the error of an unknown link type that it is the name of a collection, before which a type is missing.
fn or_without_type(error: Error, store: &Store, kind: &str, target: &str) -> Error {
    if !store.is_collection(kind) {
        return error;
    }
    error.hint(format!("`{kind}` is a collection; with a type: `related:{kind}:{target}`"))
}
