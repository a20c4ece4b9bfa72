//! The frontmatter of a note as that of a concept.

use crate::import::Provenance;
use crate::note::edit::{self, Edit};
use crate::note::{IMPORTED, Note, NoteId, Value, yaml_scalar};

const VERIFIED: &str = "verified";

/// Returns the text of a concept: the note's fields in the names of the format, above a body. Also returns the reasons
/// why fields stay as they are.
pub(super) fn concept(note: &Note, id: &NoteId, body: &str) -> (String, Vec<String>) {
    let text = note.text().strip_prefix('\u{feff}').unwrap_or(note.text());
    let (mut text, mut reasons) = (text.to_owned(), Vec::new());
    if note.verified.is_some() && note.verifications.is_empty() && has_custom(note, VERIFIED) {
        reasons.push("`verified` stays, because `custom.verified` is in use".to_owned());
    }
    for edits in edits(note, id) {
        match edit::apply(&text, &edits) {
            Ok(edited) => text = edited,
            Err(reason) => reasons.push(reason),
        }
    }
    let front = text.len().checked_sub(note.body().len()).and_then(|end| text.get(..end)).unwrap_or_default();
    let whole = format!("{front}{body}");
    if is_concept(&whole, note) {
        return (whole, reasons);
    }
    // What can't be read as fields stays as text.
    let fields = [("type", note.kind.as_str()), ("id", id.as_str()), ("title", &note.title)];
    let fields: String = fields.iter().map(|(key, text)| format!("{key}: {}\n", yaml_scalar(text, false))).collect();
    let old = text_before(note);
    (format!("---\n{fields}---\n{old}{body}"), vec!["no fields can be added to its frontmatter".to_owned()])
}

fn has_custom(note: &Note, name: &str) -> bool {
    note.custom.iter().any(|(key, _)| key == name)
}

/// Returns the text of a note before its body.
fn text_before(note: &Note) -> &str {
    let text = note.text();
    let front = text.len().checked_sub(note.body().len()).and_then(|end| text.get(..end)).unwrap_or_default();
    front.strip_prefix('\u{feff}').unwrap_or(front)
}

fn is_concept(text: &str, note: &Note) -> bool {
    let new = Note::parse("notes/x.md", text.as_bytes().to_vec());
    let is_broken = |code: &str| code.starts_with("frontmatter-") || code == "no-title";
    !new.findings.iter().any(|finding| is_broken(finding.code.as_str()))
        && new.kind == note.kind
        && new.title == note.title
}

/// Returns the edits that give the fields their names in the format, in groups that are made or left out together.
fn edits(note: &Note, id: &NoteId) -> Vec<Vec<Edit>> {
    let has_finding = |code: &str| note.findings.iter().any(|finding| finding.code.as_str() == code);
    let text = |key: &str, text: &str| Edit::SetText { key: key.to_owned(), text: text.to_owned() };
    let mut groups = Vec::new();
    // A field of this name that an import did not write is the user's.
    if Provenance::of(note.extra_fields()).is_some() {
        let is_alone = note.custom.iter().all(|(key, _)| key == IMPORTED);
        groups.push(vec![if is_alone { Edit::RemoveField("custom") } else { Edit::RemoveCustom(IMPORTED) }]);
    }
    let kind_at = |path: &str| Note::parse(path, note.text().as_bytes().to_vec()).kind;
    if kind_at("notes/x.md") != kind_at("mocs/x.md") {
        groups.push(vec![text("type", &note.kind)]);
    }
    if has_finding("no-id") {
        groups.push(vec![text("id", id.as_str())]);
    }
    if has_finding("no-title") {
        groups.push(vec![text("title", &note.title)]);
    }
    let has_description = note.unknown.iter().any(|(key, _)| key == "description");
    if let Some(summary) = note.summary_field.as_deref().filter(|_| !has_description) {
        groups.push(vec![text("description", summary), Edit::RemoveField("summary")]);
    }
    // A boolean names nobody, so that it is no verification of the format.
    let is_convertible = note.verifications.is_empty() && !has_custom(note, VERIFIED);
    if let Some(verified) = note.verified.filter(|_| is_convertible) {
        let custom = Edit::SetCustom { key: VERIFIED.to_owned(), text: verified.to_string() };
        groups.push(vec![Edit::RemoveField(VERIFIED), custom]);
    }
    groups.extend(source_edits(note));
    groups
}

/// Returns the edits that name the address of each source `resource`; `None` if all are named so.
fn source_edits(note: &Note) -> Option<Vec<Edit>> {
    let sources = note.source_values();
    let converted: Vec<Value> = sources.iter().map(with_resource).collect();
    (converted != sources).then(|| {
        let add = converted.into_iter().map(|value| Edit::AddValue { key: "sources", value });
        [Edit::RemoveField("sources")].into_iter().chain(add).collect()
    })
}

fn with_resource(source: &Value) -> Value {
    let Value::Map(entries) = source else {
        return Value::Map(vec![("resource".to_owned(), source.clone())]);
    };
    if entries.iter().any(|(key, _)| key == "resource") {
        return source.clone();
    }
    let renamed = |(key, value): &(String, Value)| {
        (if key == "url" { "resource".to_owned() } else { key.clone() }, value.clone())
    };
    Value::Map(entries.iter().map(renamed).collect())
}
