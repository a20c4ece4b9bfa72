//! `qipu update`: changes fields and texts of notes.

use super::claims::expect_no_claims;
use super::links::check_kind;
use super::user_fields::with_effect;
use super::{PlannedChange, code_reference, link_entry, plan_edits, rename};
use crate::context::{NoteFilter, Session};
use crate::error::{Error, ErrorKind};
use crate::note::Verification;
use crate::note::edit::{BodyEdit, Edit};
use crate::request::{Filters, NewFields};
use crate::store::{NoteHandle, NoteIdx, Store};

/// The most notes that a filter changes without `--yes`: a slip in one must not rewrite a store.
const MAX_UNCONFIRMED: usize = 20;

/// Plans the same changes for each note. `program`: the one that makes them, if it is no person.
pub(super) fn plan(
    store: &Store,
    now: &str,
    notes: &[NoteIdx],
    fields: &NewFields,
    body_edit: Option<&BodyEdit>,
    program: Option<&str>,
) -> Result<Vec<PlannedChange>, Error> {
    if *fields == NewFields::default() && body_edit.is_none() {
        let hint = "`qipu update --help` lists the fields; on a terminal, a call with one note opens your editor";
        return Err(Error::usage("nothing to change").hint(hint));
    }
    if program.is_some() {
        expect_no_claims(fields, false)?;
    }
    // A summary of a replaced text is one of the former text.
    let is_summary_lost = program.is_some() && fields.body.is_some() && fields.summary.is_none();
    let summary = is_summary_lost.then_some(Edit::RemoveField("summary"));
    let body_edit = body_edit.cloned().map(Edit::ChangeBody);
    let edits: Vec<Edit> = summary.into_iter().chain(edits(store, fields)?).chain(body_edit).collect();
    let references = code_reference::read(store, &fields.codes)?;
    let edits_of = |note: &NoteHandle| {
        let edits = edits.iter().flat_map(|edit| match program {
            Some(program) if *edit == verified(true) => verified_by(note, program, now),
            _ if let Some(tag) = new_tag(note, edit) => vec![add_tag(tag)],
            _ => Vec::from_iter((!is_kept(note, edit)).then(|| edit.clone())),
        });
        let verified =
            if fields.verified == Some(true) { code_reference::verified(store, note, &references) } else { Vec::new() };
        let recorded = code_reference::recorded(&note.code_refs(), &references);
        edits.map(|edit| with_effect(note, edit)).chain(verified).chain(recorded).collect::<Vec<Edit>>()
    };
    match (&fields.title, notes) {
        (None, notes) => {
            let changes = notes.iter().map(|note| &store.notes()[*note]);
            changes.map(|note| plan_edits(store, note, &edits_of(note), now)).collect()
        }
        (Some(title), [note]) => rename::plan(store, now, *note, title, &edits_of(&store.notes()[*note])),
        (Some(_), _) => Err(Error::usage("a title is for one note")),
    }
}

/// Returns the notes that pass all filters, unless there are many and nobody said that these are meant.
pub(super) fn selected(store: &Store, filters: &[String], is_confirmed: bool) -> Result<Vec<NoteIdx>, Error> {
    let session = Session::new(store);
    let filters = Filters { expressions: filters.to_vec(), ..Filters::default() };
    let filter = NoteFilter::new(&session, &filters)?;
    let passing = NoteIdx::enumerate(store.notes()).map(|(note, _)| note).filter(|note| filter.matches(*note));
    let notes: Vec<NoteIdx> = passing.collect();
    if notes.is_empty() {
        return Err(Error::new(ErrorKind::NoNote, "no note matches the filter")
            .hint("`qipu list FILTER` shows the notes that match one, `qipu status --tags` the tags"));
    }
    if notes.len() > MAX_UNCONFIRMED && !is_confirmed {
        let message = format!("{} notes match the filter, more than {MAX_UNCONFIRMED}", notes.len());
        return Err(Error::usage(message).hint("`--dry-run` shows the changes, `--yes` makes them"));
    }
    Ok(notes)
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

/// Returns the edits that set fields but the title and the references to code, in the order of fields in a new note.
pub(super) fn edits(store: &Store, fields: &NewFields) -> Result<Vec<Edit>, Error> {
    if fields.kind.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Error::usage("the new type is empty"));
    }
    if fields.custom.iter().any(|(key, value)| key == "status" && value.trim().is_empty()) {
        return Err(Error::usage("the new status is empty"));
    }
    let mut edits = Vec::new();
    let text = |key: &str, text: &Option<String>| text.clone().map(|text| Edit::SetText { key: key.to_owned(), text });
    edits.extend(text("type", &fields.kind));
    edits.extend(tag_edits(fields));
    edits.extend(fields.value.map(|value| Edit::SetPlain { key: "value", text: value.to_string() }));
    edits.extend(fields.verified.map(verified));
    edits.extend(text("summary", &fields.summary));
    edits.extend(fields.sources.iter().map(|url| Edit::AddMap { key: "sources", entries: vec![("url", url.clone())] }));
    edits.extend(fields.origin.iter().map(|origin| {
        let entries = [("url", Some(&origin.url)), ("title", origin.title.as_ref())];
        let entries = entries.into_iter().filter_map(|(key, text)| Some((key, text?.clone()))).collect();
        Edit::AddMap { key: "sources", entries }
    }));
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
