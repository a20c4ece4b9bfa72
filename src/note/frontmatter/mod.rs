//! Frontmatter as typed fields. Reading tolerates every defect, and reports each as a [`Diagnostic`].

mod foreign;
mod reader;
mod salvage;

use std::ops::Range;

use jiff::civil::Date;

use super::{ContentSource, Diagnostic, NoteId, Timestamp, TypedLink, Value, Verification};
pub(crate) use foreign::{has_toml, read_foreign};
use reader::FrontmatterReader;
pub(crate) use salvage::leading_fields;

#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Frontmatter {
    pub(crate) id: Option<NoteId>,
    pub(crate) title: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) updated: Option<Timestamp>,
    pub(crate) date: Option<Date>,
    pub(crate) tags: Vec<String>,
    pub(crate) summary: Option<String>,
    pub(crate) value: Option<u8>,
    pub(crate) verified: Option<bool>,
    pub(crate) verifications: Vec<Verification>,
    pub(crate) sources: Vec<ContentSource>,
    pub(crate) links: Vec<TypedLink>,
    pub(crate) aliases: Vec<String>,
    pub(crate) compacts: Vec<String>,
    pub(crate) custom: Vec<(String, Value)>,
    pub(crate) unknown: Vec<(String, Value)>,
    /// Whether the text between the markers is no YAML without any known field: body text between two thematic breaks.
    pub(crate) is_text: bool,
}

impl Frontmatter {
    fn has_known_field(&self) -> bool {
        let known = Self { unknown: Vec::new(), is_text: false, ..self.clone() };
        known != Self::default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextParts {
    pub(crate) yaml: Option<Range<usize>>,
    pub(crate) body: Range<usize>,
    /// Whether the opening marker has no closing one.
    pub(crate) is_unclosed: bool,
}

pub(crate) fn range_without_bom(text: &str) -> Range<usize> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    start..text.len()
}

/// Finds the frontmatter of a text that begins with a line `---`, after an optional byte order mark.
pub(crate) fn split(text: &str) -> TextParts {
    split_at(text, "---", &["---", "..."], may_be_fields)
}

fn split_at(text: &str, opening: &str, closing: &[&str], may_be_fields: impl Fn(&str) -> bool) -> TextParts {
    let none = |is_unclosed| TextParts { yaml: None, body: range_without_bom(text), is_unclosed };
    let mut lines = lines_from(text, range_without_bom(text).start);
    let Some(first) = lines.next().filter(|line| is_marker(text, line, opening)) else { return none(false) };
    for line in lines {
        if closing.iter().any(|marker| is_marker(text, &line, marker)) {
            if !may_be_fields(text.get(first.end..line.start).unwrap_or_default()) {
                return none(false);
            }
            return TextParts { yaml: Some(first.end..line.start), body: line.end..text.len(), is_unclosed: false };
        }
    }
    none(true)
}

/// Tells whether the text between two markers may be frontmatter: empty, only comments, or with a field.
fn may_be_fields(text: &str) -> bool {
    let mut lines =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    let is_field = |line: &str| line.starts_with('{') || line.contains(": ") || line.ends_with(':');
    lines.peek().is_none() || lines.any(is_field)
}

/// Yields the byte ranges of the lines from an offset on, line endings included.
fn lines_from(text: &str, start: usize) -> impl Iterator<Item = Range<usize>> {
    let mut offset = start;
    std::iter::from_fn(move || {
        let rest = text.as_bytes().get(offset..).filter(|rest| !rest.is_empty())?;
        // Fields are so short that a search made for long texts is slower.
        let length = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
        let line = offset..offset + length;
        offset = line.end;
        Some(line)
    })
}

fn is_marker(text: &str, line: &Range<usize>, marker: &str) -> bool {
    // Nearly all lines begin with another character.
    let may_be = text.as_bytes().get(line.start) == marker.as_bytes().first();
    let behind = || text.get(line.clone()).and_then(|line| line.strip_prefix(marker));
    may_be && behind().is_some_and(|behind| behind.trim_end().is_empty())
}

/// Reads the fields of a note's text. Diagnostics have line numbers of the whole file, from 1.
pub(crate) fn read(text: &str, parts: &TextParts, diagnostics: &mut Vec<Diagnostic>) -> Frontmatter {
    let mut reader = FrontmatterReader::new(diagnostics, None);
    reader.read_parts(text, parts);
    reader.fields
}

/// Returns the items of `links` or `sources` with all their entries, including those that qipu gives no meaning to.
pub(super) fn raw_items(text: &str, key: &'static str) -> Vec<Value> {
    let mut diagnostics = Vec::new();
    let mut reader = FrontmatterReader::new(&mut diagnostics, Some(key));
    reader.read_parts(text, &split(text));
    reader.raw_items
}
