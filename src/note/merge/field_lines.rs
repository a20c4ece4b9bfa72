//! A note's text taken apart into fields, each with its own lines, so that it can be put together
//! again in other ways.

use std::collections::HashMap;

use super::super::frontmatter::split;
use super::super::value::Value;
use super::super::yaml_document::YamlDocument;

/// The parts of a note's text. Written one after the other they are the text.
pub(super) struct FieldLines<'a> {
    /// All before the first field: the opening marker, and a byte order mark before it.
    pub(super) head: &'a str,
    pub(super) fields: Vec<FieldSource<'a>>,
    /// Where each field is in `fields`.
    places: HashMap<String, usize>,
    /// Comments and blank lines after the last field.
    pub(super) tail: &'a str,
    /// The closing marker's line.
    pub(super) closing: &'a str,
    pub(super) body: &'a str,
}

/// A top-level field and where it stands.
pub(super) struct FieldSource<'a> {
    pub(super) key: String,
    /// Comments and blank lines above it.
    pub(super) above: &'a str,
    pub(super) piece: FieldText,
}

/// One way in which a field is written.
#[derive(Debug, Clone)]
pub(super) struct FieldText {
    /// Its lines, from its key's to the last of its value.
    pub(super) lines: String,
    pub(super) value: Value,
}

impl<'a> FieldLines<'a> {
    /// Takes a text apart. One without frontmatter has no fields.
    ///
    /// # Errors
    /// A sentence that says why that can't be done: the frontmatter has no end, is not YAML, holds
    /// a field twice, or two fields on one line.
    pub(super) fn read(text: &'a str) -> Result<Self, String> {
        let parts = split(text);
        if parts.unclosed {
            return Err("the frontmatter has no closing `---`".to_owned());
        }
        let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
        let body = part(parts.body.clone());
        let Some(range) = parts.yaml else {
            let (fields, places) = (Vec::new(), HashMap::new());
            return Ok(Self { head: "", fields, places, tail: "", closing: "", body });
        };
        let (fields, tail) = fields(part(range.clone()))?;
        let places: HashMap<String, usize> =
            fields.iter().enumerate().map(|(place, field)| (field.key.clone(), place)).collect();
        if let Some(field) = fields.iter().enumerate().find(|(place, field)| places.get(&field.key) != Some(place)) {
            return Err(format!("`{}` is given twice", field.1.key));
        }
        let (head, closing) = (part(0..range.start), part(range.end..parts.body.start));
        Ok(Self { head, fields, places, tail, closing, body })
    }

    pub(super) fn has_frontmatter(&self) -> bool {
        !self.closing.is_empty()
    }

    pub(super) fn field(&self, key: &str) -> Option<&FieldSource<'a>> {
        self.places.get(key).and_then(|place| self.fields.get(*place))
    }
}

/// Cuts frontmatter into fields and what stands below the last.
fn fields(yaml: &str) -> Result<(Vec<FieldSource<'_>>, &str), String> {
    let document = YamlDocument::parse(yaml, "\n")?;
    let starts: Vec<usize> = document.entries.iter().map(|(key, _)| document.line_start(key.span.start)).collect();
    let ends = starts.iter().copied().skip(1).chain([yaml.len()]);
    let mut fields = Vec::new();
    let mut above = yaml.get(..starts.first().copied().unwrap_or(yaml.len())).unwrap_or_default();
    for ((key, value), (start, end)) in document.values().into_iter().zip(starts.iter().copied().zip(ends)) {
        let chunk = yaml.get(start..end).filter(|chunk| !chunk.is_empty()).ok_or("two fields share a line")?;
        if !above.lines().all(is_nothing) {
            return Err(format!("something stands before `{key}` that is no field"));
        }
        let own = chunk.split_inclusive('\n').rev().skip_while(|line| is_nothing(line)).map(str::len).sum();
        let (lines, below) = chunk.split_at_checked(own).unwrap_or((chunk, ""));
        fields.push(FieldSource { key, above, piece: FieldText { lines: lines.to_owned(), value } });
        above = below;
    }
    if above.lines().all(is_nothing) { Ok((fields, above)) } else { Err("there is a line that is no field".to_owned()) }
}

/// Tells whether a line says nothing of its own: it is blank, or a comment that is not indented
/// (one that is belongs to the field above it).
fn is_nothing(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}
