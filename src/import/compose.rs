//! The note that a page becomes: frontmatter above its own text.
//!
//! Under `custom` the note keeps where it comes from, a sum of what was read and a sum of what was
//! written: so that another import knows it again, and knows whether somebody changed it since.

use std::ops::Range;

use super::{ImportedPage, digest};
use crate::note::edit::{self, Edit};
use crate::note::{DEFAULT_KIND, IMPORTED as FIELD, Note, NoteId, Value, with_spans, yaml_scalar};
use crate::request::ImportFrom;

/// What stands for a sum until it is known; as long as one.
const UNKNOWN: &str = "qipuqipuqipuqipu";

/// The type of a page that names none and is no journal. It is no fleeting thought: somebody kept it.
const KIND: &str = "permanent";

/// The most bytes of properties that become frontmatter; well within what is read as such.
const MAX_FRONT: usize = 128 * 1024;

/// The most aliases or links that are added to a note.
const MAX_ADDED: usize = 500;

/// Where a note comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// The app.
    pub from: String,
    /// The name of the folder.
    pub name: String,
    /// The path of the page's file in it.
    pub path: String,
    /// A sum of what was read.
    pub read: String,
    /// A sum of what was written.
    pub wrote: String,
}

impl Provenance {
    /// Returns what a note says of where it comes from.
    pub fn of(note: &Note) -> Option<Self> {
        let (_, Value::Map(entries)) = note.custom.iter().find(|(key, _)| key == FIELD)? else { return None };
        let text = |name: &str| Some(entries.iter().find(|(key, _)| key == name)?.1.to_line());
        let (from, name, path) = (text("from")?, text("name")?, text("path")?);
        Some(Self { from, name, path, read: text("read")?, wrote: text("wrote")? })
    }
}

/// Tells whether a note's text is as an import wrote it; `wrote` is the sum in it.
pub fn is_as_written(text: &str, wrote: &str) -> bool {
    digest(&text.replacen(&format!("wrote: {wrote}"), &format!("wrote: {UNKNOWN}"), 1)) == wrote
}

/// What a note says beside what its page does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedFields {
    /// Other names that links use.
    pub aliases: Vec<String>,
    /// Links that the text makes in a way that is none here: type, note, block.
    pub links: Vec<(String, NoteId, Option<String>)>,
    /// Bytes of the text that become others: of the text below frontmatter, or of all that the file says.
    pub replaced: Option<Vec<(Range<usize>, String)>>,
    /// Why all that the file says is kept as text, where it is.
    pub as_text: Option<String>,
}

/// A note's text, and what is odd about it.
#[derive(Debug, Clone, Default)]
pub struct ComposedNote {
    /// The text.
    pub text: String,
    /// What could not be said in frontmatter.
    pub refused: Vec<String>,
    /// Why all that the file says is kept as text, where it is.
    pub as_text: Option<String>,
}

/// Makes the note that a page becomes. Where its own frontmatter can't be added to, or its properties
/// are too many, everything that the file says is kept as text.
pub fn compose(page: &ImportedPage, id: &NoteId, from: ImportFrom, name: &str, extra: &AddedFields) -> ComposedNote {
    let stamp = stamp(page, from, name);
    let composed = match &extra.as_text {
        Some(reason) => Err(reason.clone()),
        None => with_fields(page, id, &stamp, extra),
    };
    composed.unwrap_or_else(|reason| {
        let (text, unadapted) = adapted(&page.whole, extra.replaced.clone().filter(|_| extra.as_text.is_some()));
        let text = sealed(&(front_of(page, id, &stamp, extra, false) + &text));
        let kept = format!("its fields are kept as text: {reason}");
        ComposedNote { text, refused: [kept].into_iter().chain(unadapted).collect(), as_text: Some(reason) }
    })
}

/// Makes the note with the fields of its page.
fn with_fields(
    page: &ImportedPage,
    id: &NoteId,
    stamp: &[(String, Value)],
    extra: &AddedFields,
) -> Result<ComposedNote, String> {
    let front = page.text.get(..page.body_start).unwrap_or_default();
    let (body, unadapted) = adapted(page.body(), extra.replaced.clone());
    let (text, mut refused) = if page.has_frontmatter {
        with_frontmatter(page, id, stamp, extra, &format!("{front}{body}"))?
    } else {
        let front = front_of(page, id, stamp, extra, true);
        if front.len() > MAX_FRONT {
            return Err("its properties are too long".to_owned());
        }
        (front + &body, Vec::new())
    };
    refused.extend(unadapted);
    let text = sealed(&text);
    if says(&text, page, id) {
        Ok(ComposedNote { text, refused, as_text: None })
    } else {
        Err("its fields would say something else".to_owned())
    }
}

/// Puts other targets in the places of links; returns why, where that can't be done.
fn adapted(text: &str, spans: Option<Vec<(Range<usize>, String)>>) -> (String, Option<String>) {
    match with_spans(text, spans.unwrap_or_default()) {
        Ok(text) => (text, None),
        Err(reason) => (text.to_owned(), Some(format!("its links stay as they are: {reason}"))),
    }
}

/// Writes the sum of a text into it.
fn sealed(text: &str) -> String {
    let sum = digest(text);
    text.replacen(&format!("wrote: {UNKNOWN}"), &format!("wrote: {sum}"), 1)
}

/// Tells whether a text is read as the note that it is to be.
fn says(text: &str, page: &ImportedPage, id: &NoteId) -> bool {
    let note = Note::parse("notes/x.md", text.as_bytes().to_vec());
    let is_broken = note.findings.iter().any(|finding| finding.code.starts_with("frontmatter-"));
    !is_broken && note.id == *id && note.title == page.title && Provenance::of(&note).is_some()
}

fn stamp(page: &ImportedPage, from: ImportFrom, name: &str) -> Vec<(String, Value)> {
    let entries =
        [("from", from.name()), ("name", name), ("path", &page.source), ("read", &page.digest()), ("wrote", UNKNOWN)];
    entries.iter().map(|(key, text)| ((*key).to_owned(), Value::text(*text))).collect()
}

/// Writes frontmatter for a text that has none.
fn front_of(
    page: &ImportedPage,
    id: &NoteId,
    stamp: &[(String, Value)],
    extra: &AddedFields,
    is_whole: bool,
) -> String {
    let text = |text: &str| yaml_scalar(text, false);
    let list = |texts: &[String]| format!("[{}]", texts.iter().map(|one| text(one)).collect::<Vec<_>>().join(", "));
    let mut lines = vec![
        "---".to_owned(),
        format!("id: {id}"),
        format!("title: {}", text(&page.title)),
        format!("type: {}", text(page.kind.as_deref().unwrap_or(KIND))),
    ];
    let mut field = |name: &str, value: Option<String>| lines.extend(value.map(|value| format!("{name}: {value}")));
    field("created", page.created.clone());
    field("updated", page.updated.clone());
    field("date", page.day.map(|day| day.to_string()));
    let tags: Vec<String> = page.tags.iter().filter(|_| is_whole).take(MAX_ADDED).cloned().collect();
    field("tags", (!tags.is_empty()).then(|| list(&tags)));
    let aliases: Vec<String> =
        page.aliases.iter().filter(|_| is_whole).chain(&extra.aliases).take(MAX_ADDED).cloned().collect();
    field("aliases", (!aliases.is_empty()).then(|| list(&aliases)));
    if !extra.links.is_empty() {
        lines.push("links:".to_owned());
    }
    for (kind, id, block) in extra.links.iter().take(MAX_ADDED) {
        let block = block.as_ref().map(|block| format!(", block: {}", text(block))).unwrap_or_default();
        lines.push(format!("  - {{type: {}, id: {id}{block}}}", text(kind)));
    }
    lines.push("custom:".to_owned());
    let pairs: Vec<String> = stamp.iter().map(|(key, value)| format!("{key}: {}", text(&value.to_line()))).collect();
    lines.push(format!("  {FIELD}: {{{}}}", pairs.join(", ")));
    for (key, value) in page.custom.iter().filter(|(key, _)| is_whole && key != FIELD) {
        lines.push(format!("  {}: {}", text(key), yaml_scalar(value, true)));
    }
    lines.push("---".to_owned());
    let end =
        if page.whole.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    lines.join(end) + end
}

/// Adds to frontmatter of a page's own; what it says already stays in every byte.
fn with_frontmatter(
    page: &ImportedPage,
    id: &NoteId,
    stamp: &[(String, Value)],
    extra: &AddedFields,
    text: &str,
) -> Result<(String, Vec<String>), String> {
    let note = |folder: &str| Note::parse(&format!("{folder}/x.md"), text.as_bytes().to_vec());
    let said = note("notes");
    if said.findings.iter().any(|finding| finding.code == "not-a-map" || finding.code.starts_with("frontmatter-")) {
        return Err("its frontmatter can't be added to".to_owned());
    }
    let lacks = |code: &str| said.findings.iter().any(|finding| finding.code == code);
    let set = |key: &str, text: &str| Edit::SetText { key: key.to_owned(), text: text.to_owned() };
    let mut needed = Vec::new();
    if said.id != *id || lacks("no-id") {
        needed.push(set("id", id.as_str()));
    }
    if said.title != page.title || lacks("no-title") {
        needed.push(set("title", &page.title));
    }
    let mut wanted = Vec::new();
    // A type that is not the folder's own was given.
    if said.kind == DEFAULT_KIND && note("mocs").kind != DEFAULT_KIND {
        wanted.push(set("type", page.kind.as_deref().unwrap_or(KIND)));
    }
    if let Some(day) = page.day.filter(|_| said.date.is_none()) {
        wanted.push(Edit::SetPlain { key: "date", text: day.to_string() });
    }
    let marked = said.tags.iter().filter(|tag| tag.starts_with('#'));
    wanted.extend(marked.map(|tag| Edit::RemoveItem { key: "tags", text: tag.clone() }));
    let item = |key: &'static str| move |text: &String| Edit::AddItem { key, text: text.clone() };
    let tags = page.tags.iter().filter(|tag| !said.tags.contains(tag)).take(MAX_ADDED);
    wanted.extend(tags.map(item("tags")));
    let aliases =
        page.aliases.iter().chain(&extra.aliases).filter(|alias| !said.aliases.contains(alias)).take(MAX_ADDED);
    wanted.extend(aliases.map(item("aliases")));
    for (kind, id, block) in extra.links.iter().take(MAX_ADDED) {
        let mut entries = vec![("type", kind.clone()), ("id", id.to_string())];
        entries.extend(block.clone().map(|block| ("block", block)));
        wanted.push(Edit::AddMap { key: "links", entries });
    }
    needed.push(Edit::SetCustomValue { key: FIELD.to_owned(), value: Value::Map(stamp.to_vec()) });
    let mut text = edit::apply(text, &needed)?;
    let mut refused = Vec::new();
    for edit in wanted {
        match edit::apply(&text, std::slice::from_ref(&edit)) {
            Ok(edited) => text = edited,
            Err(reason) => refused.push(reason),
        }
    }
    refused.dedup();
    Ok((text, refused))
}
