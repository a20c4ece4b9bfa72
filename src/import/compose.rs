//! Composes the note that a page becomes: frontmatter above the page's own text.
//!
//! A field under `custom` stores the source of the note, a digest of what was read and one of what was written: the
//! next import recognizes the note, and knows whether it was edited since.

use std::ops::Range;

use super::{ImportedPage, digest};
use crate::note::edit::{self, Edit};
use crate::note::{
    DEFAULT_KIND, DiagnosticCode, IMPORTED as FIELD, Note, NoteId, UserFields, Value, with_spans, yaml_scalar,
};
use crate::request::ImportFrom;

/// The placeholder of a digest that is not known yet; it has the same length.
const PLACEHOLDER: &str = "qipuqipuqipuqipu";

/// The type of a page that has none and is no journal: its author kept the page, so that it is not fleeting.
const KIND: &str = "permanent";

/// The largest size in bytes of properties that become frontmatter, well below the limit for parsing frontmatter.
const MAX_FRONTMATTER_BYTES: usize = 128 * 1024;

/// The largest number of aliases or links that are added to a note.
const MAX_ADDED: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Provenance {
    pub(crate) from: String,
    pub(crate) name: String,
    pub(crate) path: String,
    /// The digest of the page's file.
    pub(crate) read: String,
    /// The digest of the note's file.
    pub(crate) wrote: String,
}

impl Provenance {
    /// Reads the source of a note; `None` if it was not imported.
    pub(crate) fn of(fields: UserFields<'_>) -> Option<Self> {
        let (_, Value::Map(entries)) = fields.custom.iter().find(|(key, _)| key == FIELD)? else { return None };
        let text = |name: &str| Some(entries.iter().find(|(key, _)| key == name)?.1.to_line());
        let (from, name, path) = (text("from")?, text("name")?, text("path")?);
        Some(Self { from, name, path, read: text("read")?, wrote: text("wrote")? })
    }
}

/// Tells whether a note's text is unchanged since the import; `wrote` is the digest in it.
pub(crate) fn is_as_written(text: &str, wrote: &str) -> bool {
    digest(&text.replacen(&format!("wrote: {wrote}"), &format!("wrote: {PLACEHOLDER}"), 1)) == wrote
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AddedFields {
    /// Names that links use for it.
    pub(crate) aliases: Vec<String>,
    /// Links that the text has in a form that is no link in a note: type, target, block.
    pub(crate) links: Vec<(String, NoteId, Option<String>)>,
    /// Replacements in the body, or in the text of the whole file: range in bytes, new text.
    pub(crate) replacements: Option<Vec<(Range<usize>, String)>>,
    /// The reason why the whole file becomes the body, if it does.
    pub(crate) as_text: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ComposedNote {
    pub(crate) text: String,
    /// What could not become frontmatter, as clauses.
    pub(crate) rejected: Vec<String>,
    /// The reason why the whole file becomes the body, if it does.
    pub(crate) as_text: Option<String>,
}

/// Composes the note of a page. If the page's own frontmatter can't be extended, or its properties are too large, the
/// whole file becomes the body.
pub(crate) fn compose(
    page: &ImportedPage,
    id: &NoteId,
    from: ImportFrom,
    name: &str,
    extra: &AddedFields,
) -> ComposedNote {
    let provenance_field = provenance_field(page, from, name);
    let composed = match &extra.as_text {
        Some(reason) => Err(reason.clone()),
        None => with_fields(page, id, &provenance_field, extra),
    };
    composed.unwrap_or_else(|reason| {
        let (text, link_remark) =
            with_replacements(&page.file_text, extra.replacements.clone().filter(|_| extra.as_text.is_some()));
        let text = with_checksum(&(format_frontmatter(page, id, &provenance_field, extra, false) + &text));
        let kept = format!("its fields are kept as text: {reason}");
        ComposedNote { text, rejected: [kept].into_iter().chain(link_remark).collect(), as_text: Some(reason) }
    })
}

fn with_fields(
    page: &ImportedPage,
    id: &NoteId,
    provenance_field: &[(String, Value)],
    extra: &AddedFields,
) -> Result<ComposedNote, String> {
    let front = page.text.get(..page.body_offset).unwrap_or_default();
    let (body, link_remark) = with_replacements(page.body(), extra.replacements.clone());
    let (text, mut rejected) = if page.has_frontmatter {
        extended_frontmatter(page, id, provenance_field, extra, &format!("{front}{body}"))?
    } else {
        let front = format_frontmatter(page, id, provenance_field, extra, true);
        if front.len() > MAX_FRONTMATTER_BYTES {
            return Err("its properties are too long".to_owned());
        }
        (front + &body, Vec::new())
    };
    rejected.extend(link_remark);
    let text = with_checksum(&text);
    if parses_as(&text, page, id) {
        Ok(ComposedNote { text, rejected, as_text: None })
    } else {
        Err("its fields would change their meaning".to_owned())
    }
}

/// Replaces the targets of links; if that fails, returns the unchanged text and the reason.
fn with_replacements(text: &str, spans: Option<Vec<(Range<usize>, String)>>) -> (String, Option<String>) {
    match with_spans(text, spans.unwrap_or_default()) {
        Ok(text) => (text, None),
        Err(reason) => (text.to_owned(), Some(format!("its links were not converted: {reason}"))),
    }
}

/// Returns the text of an imported note that was changed before it is written, with the digest of what is written.
pub(crate) fn with_new_checksum(text: &str) -> String {
    let note = Note::parse("notes/x.md", text.as_bytes().to_vec());
    match Provenance::of(note.extra_fields()) {
        Some(stamp) => {
            with_checksum(&text.replacen(&format!("wrote: {}", stamp.wrote), &format!("wrote: {PLACEHOLDER}"), 1))
        }
        None => text.to_owned(),
    }
}

fn with_checksum(text: &str) -> String {
    let sum = digest(text);
    text.replacen(&format!("wrote: {PLACEHOLDER}"), &format!("wrote: {sum}"), 1)
}

fn parses_as(text: &str, page: &ImportedPage, id: &NoteId) -> bool {
    let note = Note::parse("notes/x.md", text.as_bytes().to_vec());
    let is_broken = note.findings.iter().any(|finding| finding.code.as_str().starts_with("frontmatter-"));
    !is_broken && note.id == *id && note.title == page.title && Provenance::of(note.extra_fields()).is_some()
}

fn provenance_field(page: &ImportedPage, from: ImportFrom, name: &str) -> Vec<(String, Value)> {
    let entries = [
        ("from", from.name()),
        ("name", name),
        ("path", &page.source),
        ("read", &page.digest()),
        ("wrote", PLACEHOLDER),
    ];
    entries.iter().map(|(key, text)| ((*key).to_owned(), Value::text(*text))).collect()
}

/// Formats frontmatter for a text that has none.
fn format_frontmatter(
    page: &ImportedPage,
    id: &NoteId,
    provenance_field: &[(String, Value)],
    extra: &AddedFields,
    has_fields: bool,
) -> String {
    let text = |text: &str| yaml_scalar(text, false);
    let list = |texts: &mut dyn Iterator<Item = &String>| {
        let texts: Vec<String> = texts.take(MAX_ADDED).map(|one| text(one)).collect();
        (!texts.is_empty()).then(|| format!("[{}]", texts.join(", ")))
    };
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
    field("tags", list(&mut page.tags.iter().filter(|_| has_fields)));
    field("aliases", list(&mut page.aliases.iter().filter(|_| has_fields).chain(&extra.aliases)));
    if !extra.links.is_empty() {
        lines.push("links:".to_owned());
    }
    for (kind, id, block) in extra.links.iter().take(MAX_ADDED) {
        let block = block.as_ref().map(|block| format!(", block: {}", text(block))).unwrap_or_default();
        lines.push(format!("  - {{type: {}, id: {id}{block}}}", text(kind)));
    }
    lines.push("custom:".to_owned());
    let pairs: Vec<String> =
        provenance_field.iter().map(|(key, value)| format!("{key}: {}", text(&value.to_line()))).collect();
    lines.push(format!("  {FIELD}: {{{}}}", pairs.join(", ")));
    for (key, value) in page.custom.iter().filter(|(key, _)| has_fields && key != FIELD) {
        lines.push(format!("  {}: {}", text(key), yaml_scalar(value, true)));
    }
    lines.push("---".to_owned());
    let end = edit::line_end(&page.file_text);
    lines.join(end) + end
}

/// Returns the edits that remove the `#` of tags. A tag that is renamed keeps its comment.
fn without_hashes(parsed: &Note, page: &ImportedPage) -> impl Iterator<Item = Edit> {
    let hashed = parsed.tags.iter().filter(|tag| tag.starts_with('#') && !page.tags.contains(tag));
    hashed.take(MAX_ADDED).map(|tag| match tag.trim_start_matches('#') {
        bare if page.tags.iter().any(|tag| tag == bare) => {
            Edit::RenameItem { key: "tags", from: tag.clone(), to: bare.to_owned() }
        }
        _ => Edit::RemoveItem { key: "tags", text: tag.clone() },
    })
}

/// Extends the page's own frontmatter; every byte of it stays. Returns the text, and the reasons why fields could
/// not be added.
fn extended_frontmatter(
    page: &ImportedPage,
    id: &NoteId,
    provenance_field: &[(String, Value)],
    extra: &AddedFields,
    text: &str,
) -> Result<(String, Vec<String>), String> {
    let note = |folder: &str| Note::parse(&format!("{folder}/x.md"), text.as_bytes().to_vec());
    let parsed = note("notes");
    if parsed
        .findings
        .iter()
        .any(|finding| finding.code == DiagnosticCode::NotAMap || finding.code.as_str().starts_with("frontmatter-"))
    {
        return Err("no fields can be added to its frontmatter".to_owned());
    }
    let has_finding = |code: &str| parsed.findings.iter().any(|finding| finding.code.as_str() == code);
    let set = |key: &str, text: &str| Edit::SetText { key: key.to_owned(), text: text.to_owned() };
    let mut needed = Vec::new();
    if parsed.id != *id || has_finding("no-id") {
        needed.push(set("id", id.as_str()));
    }
    if parsed.title != page.title || has_finding("no-title") {
        needed.push(set("title", &page.title));
    }
    let mut wanted = Vec::new();
    // The parsed type depends on the folder only if the frontmatter has none.
    if parsed.kind == DEFAULT_KIND && note("mocs").kind != DEFAULT_KIND {
        wanted.push(set("type", page.kind.as_deref().unwrap_or(KIND)));
    }
    if let Some(day) = page.day.filter(|_| parsed.date.is_none()) {
        wanted.push(Edit::SetPlain { key: "date", text: day.to_string() });
    }
    if let Some(updated) = page.updated.clone().filter(|_| parsed.updated.is_none()) {
        wanted.push(Edit::SetPlain { key: "updated", text: updated });
    }
    wanted.extend(without_hashes(&parsed, page));
    let item = |key: &'static str| move |text: &String| Edit::AddItem { key, text: text.clone() };
    let tags = page.tags.iter().filter(|tag| !parsed.tags.contains(tag)).take(MAX_ADDED);
    wanted.extend(tags.map(item("tags")));
    let aliases =
        page.aliases.iter().chain(&extra.aliases).filter(|alias| !parsed.aliases.contains(alias)).take(MAX_ADDED);
    wanted.extend(aliases.map(item("aliases")));
    for (kind, id, block) in extra.links.iter().take(MAX_ADDED) {
        let mut entries = vec![("type", kind.clone()), ("id", id.to_string())];
        entries.extend(block.clone().map(|block| ("block", block)));
        wanted.push(Edit::AddMap { key: "links", entries });
    }
    needed.push(Edit::SetCustomValue { key: FIELD.to_owned(), value: Value::Map(provenance_field.to_vec()) });
    let mut text = edit::apply(text, &needed)?;
    let mut rejected = Vec::new();
    for edit in wanted {
        match edit::apply(&text, std::slice::from_ref(&edit)) {
            Ok(edited) => text = edited,
            Err(reason) => rejected.push(reason),
        }
    }
    rejected.dedup();
    Ok((text, rejected))
}
