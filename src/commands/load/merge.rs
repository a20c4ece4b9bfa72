//! Merges two notes with the same id: lists are united, and the other fields come from the later note. The store's text
//! is edited, so that everything else in it stays.

use crate::note::edit::{self, Edit};
use crate::note::join::{OnConflict, is_life_link, is_same_source, join, kind_and_target};
use crate::note::{DiagnosticCode, Note, SUPERSEDED_BY, Value, is_life_field};

/// The result of a merge.
pub(super) struct MergedNote {
    /// The merged text.
    pub(super) text: String,
    /// What could not be merged: codes and sentences.
    pub(super) findings: Vec<(&'static str, String)>,
}

/// Merges a packed note into the store's text.
pub(super) fn merge(ours: &Note, our_text: &str, theirs: &Note) -> Result<MergedNote, String> {
    let is_later = theirs.changed() > ours.changed();
    let (mut edits, kept) = additions(ours, theirs, is_later);
    if is_later {
        edits.extend(newer_fields(ours, theirs));
    }
    edits.extend(custom_fields(ours, theirs, is_later));
    let bodies_differ = !same_text(ours.body(), theirs.body());
    if is_later && bodies_differ {
        edits.push(Edit::SetBody(theirs.body().to_owned()));
    }
    let text = edit::apply(our_text, &edits)?;
    check(ours, &text, if is_later { theirs } else { ours }, theirs)?;
    let mut findings = Vec::new();
    if bodies_differ {
        let (kept, why) = if is_later { ("pack", "it is later") } else { ("store", "the pack's is not later") };
        findings.push(("bodies-differ", format!("the bodies differ; the {kept}'s was kept: {why}")));
    }
    let mut left = unmerged_fields(ours, theirs, is_later);
    left.extend(kept);
    if !left.is_empty() {
        findings.push(("fields-differ", format!("the pack has other values for {}", left.join(", "))));
    }
    Ok(MergedNote { text, findings })
}

/// Returns the edits that add the packed note's list items, and the names of fields in which both differ and the
/// store's value is kept.
fn additions(ours: &Note, theirs: &Note, is_later: bool) -> (Vec<Edit>, Vec<String>) {
    let missing = |ours: &[String], theirs: &[String]| -> Vec<String> {
        theirs.iter().filter(|text| !ours.contains(text)).cloned().collect()
    };
    let add = |key| move |text| Edit::AddItem { key, text };
    let on_conflict = if is_later { OnConflict::TakeTheirs } else { OnConflict::KeepOurs };
    let sources = join("sources", ours.source_values(), theirs.source_values(), is_same_source, on_conflict);
    let is_one_link = |a: &Value, b: &Value| kind_and_target(a) == kind_and_target(b);
    let (life, their_links): (Vec<Value>, Vec<Value>) =
        theirs.link_values().into_iter().partition(|link| is_life_link(link) && !ours.link_values().contains(link));
    let links = join("links", ours.link_values(), their_links, is_one_link, on_conflict);
    let mut edits: Vec<Edit> = missing(&ours.tags, &theirs.tags).into_iter().map(add("tags")).collect();
    edits.extend(sources.edits.into_iter().chain(links.edits));
    edits.extend(missing(&ours.aliases, &theirs.aliases).into_iter().map(add("aliases")));
    edits.extend(missing(&ours.compacts, &theirs.compacts).into_iter().map(add("compacts")));
    let left = |field: &'static str| move |key: String| format!("`{field}.{key}`");
    let kept = sources.not_taken.into_iter().map(left("sources"));
    let life = life.iter().map(|link| format!("`links: {SUPERSEDED_BY} {}`", kind_and_target(link).1));
    (edits, kept.chain(links.not_taken.into_iter().map(left("links"))).chain(life).collect())
}

/// Returns the edits that set the fields of a later note; fields that it lacks stay.
fn newer_fields(ours: &Note, theirs: &Note) -> Vec<Edit> {
    let text = |key: &str, text: &str| Edit::SetText { key: key.to_owned(), text: text.to_owned() };
    let mut edits = Vec::new();
    let has_title = !theirs.has_finding(DiagnosticCode::NoTitle);
    if has_title && theirs.title != ours.title {
        edits.push(text("title", &theirs.title));
    }
    if theirs.kind != ours.kind {
        edits.push(text("type", &theirs.kind));
    }
    let summary = theirs.summary_field.as_deref().filter(|summary| ours.summary_field.as_deref() != Some(*summary));
    edits.extend(summary.map(|summary| text("summary", summary)));
    let plain = |key, text: String| Edit::SetPlain { key, text };
    let value = theirs.value.filter(|value| ours.value != Some(*value));
    edits.extend(value.map(|value| plain("value", value.to_string())));
    let updated = theirs.updated.as_ref().filter(|updated| ours.updated.as_ref() != Some(updated));
    edits.extend(updated.map(|updated| plain("updated", updated.as_str().to_owned())));
    edits
}

/// Returns the edits that add custom fields the store's note lacks, or replace those of an earlier one.
fn custom_fields(ours: &Note, theirs: &Note, is_later: bool) -> Vec<Edit> {
    let is_new = |(key, value): &&(String, Value)| {
        !is_life_field(key) && field(&ours.custom, key).is_none_or(|have| is_later && have != value)
    };
    let edit = |(key, value): &(String, Value)| Edit::SetCustomValue { key: key.clone(), value: value.clone() };
    theirs.custom.iter().filter(is_new).map(edit).collect()
}

/// Returns the names of the pack's fields that are not merged.
fn unmerged_fields(ours: &Note, theirs: &Note, is_later: bool) -> Vec<String> {
    let is_left = |(key, value): &&(String, Value)| match field(&ours.custom, key) {
        Some(have) => have != value && (!is_later || is_life_field(key)),
        None => is_life_field(key),
    };
    let custom = theirs.custom.iter().filter(is_left).map(|(key, _)| format!("`custom.{key}`"));
    let unknown = theirs.unknown.iter().filter(|(key, value)| field(&ours.unknown, key) != Some(value));
    let is_verified_else = theirs.verifications != ours.verifications
        || theirs.verified.is_some_and(|verified| ours.verified != Some(verified));
    let verified = is_verified_else.then(|| "`verified`".to_owned());
    custom.chain(unknown.map(|(key, _)| format!("`{key}`"))).chain(verified).collect()
}

fn field<'a>(fields: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    fields.iter().find(|(have, _)| have == key).map(|(_, value)| value)
}

/// Tells whether two texts differ only in line ends.
fn same_text(a: &str, b: &str) -> bool {
    a == b || a.replace("\r\n", "\n") == b.replace("\r\n", "\n")
}

/// Checks that the merged text parses as the intended note.
fn check(ours: &Note, text: &str, winner: &Note, theirs: &Note) -> Result<(), String> {
    let merged = Note::parse(&ours.path, text.as_bytes().to_vec());
    let has_all = |tags: &[String]| tags.iter().all(|tag| merged.tags.contains(tag));
    let is_right = merged.id.as_str() == ours.id.claimed()
        && same_text(merged.body(), winner.body())
        && has_all(&ours.tags)
        && has_all(&theirs.tags)
        && ours.links.iter().chain(&theirs.links).all(|link| link.kind == SUPERSEDED_BY || merged.links.contains(link));
    is_right.then_some(()).ok_or_else(|| "the two can't be merged without a change of meaning".to_owned())
}
