//! `qipu doctor --fix`: repairs notes whose meaning is not in doubt.

use super::PlannedChange;
use crate::note::edit::{Edit, apply};
use crate::note::{Diagnostic, DiagnosticCode, Note, conflict_line, yaml_quoted};
use crate::store::{Change, NoteHandle, Store};

/// The fields with plain text, in which a colon can only be part of the text.
const TEXT_FIELDS: [&str; 2] = ["title", "summary"];

/// Plans the repairs: quotes for plain text that YAML needs them for, and ids for notes that have none, derived from their
/// paths. No repair changes how a note is parsed.
pub(crate) fn plan(store: &Store) -> Vec<PlannedChange> {
    store.notes().iter().filter_map(|note| plan_note(store, note)).collect()
}

/// Plans the repair of one note; `None` if it needs none or can't be repaired.
pub(crate) fn plan_note(store: &Store, note: &NoteHandle) -> Option<PlannedChange> {
    if !note.has_finding(DiagnosticCode::FrontmatterBroken) && !note.has_finding(DiagnosticCode::NoId) {
        return None;
    }
    let old = store.text_of(note).ok().filter(|text| conflict_line(text).is_none())?;
    let quoted = if note.has_finding(DiagnosticCode::FrontmatterBroken) {
        with_quoted_texts(note.parsed().ok()?, &old)?
    } else {
        old.clone()
    };
    let has_frontmatter = quoted.trim_start_matches('\u{feff}').starts_with("---");
    // An id that can't be one may be a slip in one that links name, which only its author knows.
    let lacks_id = note.has_finding(DiagnosticCode::NoId)
        && !note.has_finding(DiagnosticCode::ImpossibleId)
        && !note.has_finding(DiagnosticCode::DuplicateId);
    let new = if lacks_id && has_frontmatter {
        apply(&quoted, &[Edit::SetText { key: "id".into(), text: note.id.to_string() }]).ok()?
    } else {
        quoted
    };
    let is_new = new != old;
    let change = Change::Replace { path: note.path.clone(), old: old.into_bytes(), new: new.into_bytes() };
    is_new.then(|| PlannedChange::new(&note.id, &note.path, Some(change)))
}

/// Quotes the plain text in the frontmatter; `None` if the result is not YAML or is parsed differently.
fn with_quoted_texts(note: &Note, text: &str) -> Option<String> {
    let mut fences = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        fences += usize::from(line.trim_end() == "---");
        if fences == 1 { with_quoted_text(line) } else { line.to_owned() }
    });
    let new: String = lines.collect();
    let read = Note::parse(&note.path, new.clone().into_bytes());
    let is_broken = |finding: &Diagnostic| finding.code == DiagnosticCode::FrontmatterBroken;
    let is_same =
        (&read.title, &read.kind, &read.tags, &read.links, &read.aliases, &read.sources, read.value, read.body())
            == (
                &note.title,
                &note.kind,
                &note.tags,
                &note.links,
                &note.aliases,
                &note.sources,
                note.value,
                note.body(),
            )
            && (&read.created, &read.updated, &read.custom, &read.unknown, read.summary())
                == (&note.created, &note.updated, &note.custom, &note.unknown, note.summary());
    (is_same && !read.findings.iter().any(is_broken)).then_some(new)
}

/// Quotes the plain text in the line of a field; returns any other line as it is.
fn with_quoted_text(line: &str) -> String {
    let Some((key, rest)) = line.split_once(':').filter(|(key, _)| TEXT_FIELDS.contains(key)) else {
        return line.to_owned();
    };
    let text = rest.trim();
    if text.is_empty() || text.starts_with(['"', '\'', '|', '>', '&', '!']) {
        return line.to_owned();
    }
    let end = rest.get(rest.trim_end().len()..).unwrap_or_default();
    format!("{key}: {}{end}", yaml_quoted(text))
}
