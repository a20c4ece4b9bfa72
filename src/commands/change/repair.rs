//! `qipu doctor --fix`: what can be put right without a doubt about what was meant.

use super::PlannedChange;
use crate::note::edit::{Edit, apply};
use crate::note::{Diagnostic, Note};
use crate::store::{Change, Store};

/// The fields that hold plain text, so that a colon in them can only be part of it.
const TEXTS: [&str; 2] = ["title", "summary"];

/// Plans the repairs: plain texts that YAML needs quotes for get them, and notes that are known by
/// their file's path get that as their id. Every repair leaves the note saying what it was read as.
pub(crate) fn plan(store: &Store) -> Vec<PlannedChange> {
    store.notes().iter().filter_map(|note| planned(store, note)).collect()
}

fn planned(store: &Store, note: &Note) -> Option<PlannedChange> {
    let has = |code: &str| note.findings.iter().any(|finding| finding.code == code);
    if !has("frontmatter-broken") && !has("no-id") {
        return None;
    }
    let old = store.text_of(note).ok()?;
    let quoted = if has("frontmatter-broken") { quoted(note, &old)? } else { old.clone() };
    let has_frontmatter = quoted.trim_start_matches('\u{feff}').starts_with("---");
    let new = match has("no-id") && has_frontmatter && !has("duplicate-id") {
        true => apply(&quoted, &[Edit::SetText { key: "id".into(), text: note.id.to_string() }]).ok()?,
        false => quoted,
    };
    let is_new = new != old;
    let change = Change::Replace { path: note.path.clone(), old: old.into_bytes(), new: new.into_bytes() };
    is_new.then(|| PlannedChange { id: note.id.clone(), path: note.path.clone(), change: Some(change) })
}

/// Returns the text with quotes around its plain texts, where it is YAML then and says the same.
fn quoted(note: &Note, text: &str) -> Option<String> {
    let mut is_inside = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        is_inside += usize::from(line.trim_end() == "---");
        if is_inside == 1 { with_quotes(line) } else { line.to_owned() }
    });
    let new: String = lines.collect();
    let read = Note::parse(&note.path, new.clone().into_bytes());
    let left = |finding: &Diagnostic| finding.code == "frontmatter-broken";
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
    (is_same && !read.findings.iter().any(left)).then_some(new)
}

/// Puts a plain text behind a field's name into double quotes.
fn with_quotes(line: &str) -> String {
    let Some((key, rest)) = line.split_once(':').filter(|(key, _)| TEXTS.contains(key)) else {
        return line.to_owned();
    };
    let text = rest.trim();
    if text.is_empty() || text.starts_with(['"', '\'', '|', '>', '&', '!']) {
        return line.to_owned();
    }
    let end = rest.get(rest.trim_end().len()..).unwrap_or_default();
    format!("{key}: {}{end}", serde_json::Value::from(text))
}
