//! A note's text as frontmatter fields with their source lines, so that it can be written again with other fields.

use std::collections::HashMap;
use std::ops::Range;

use super::super::frontmatter::split;
use super::super::verified_edit::FieldText;
use super::super::yaml_document::YamlDocument;

/// The parts of a note's text, which concatenated are the text.
#[derive(Default)]
pub(super) struct FieldLines<'a> {
    /// The text before the first field: the opening marker, and a byte order mark before it.
    pub(super) head: &'a str,
    pub(super) fields: Vec<FieldSource<'a>>,
    /// The index of each field in `fields`.
    index_by_key: HashMap<String, usize>,
    /// Comments and blank lines after the last field.
    pub(super) tail: &'a str,
    pub(super) closing: &'a str,
    pub(super) body: &'a str,
}

/// A top-level field and its source lines.
pub(super) struct FieldSource<'a> {
    pub(super) key: String,
    /// Comments and blank lines above the field.
    pub(super) above: &'a str,
    pub(super) text: FieldText,
}

impl<'a> FieldLines<'a> {
    /// Splits a text; without frontmatter it has no fields. `line_end` is the line ending of new lines. An error says that
    /// the frontmatter is not closed, is not YAML, has a field twice, or has two fields on one line.
    pub(super) fn read(text: &'a str, line_end: &'static str) -> Result<Self, String> {
        let parts = split(text);
        if parts.is_unclosed {
            return Err("the frontmatter has no closing `---`".to_owned());
        }
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        let body = part(parts.body.clone());
        let Some(range) = parts.yaml else {
            return Ok(Self { body, ..Self::default() });
        };
        let (fields, tail) = fields(part(range.clone()), line_end)?;
        let index_by_key: HashMap<String, usize> =
            fields.iter().enumerate().map(|(index, field)| (field.key.clone(), index)).collect();
        let is_repeated = |(index, field): &(usize, &FieldSource<'_>)| index_by_key.get(&field.key) != Some(index);
        if let Some((_, field)) = fields.iter().enumerate().find(is_repeated) {
            return Err(format!("`{}` is given twice", field.key));
        }
        let (head, closing) = (part(0..range.start), part(range.end..parts.body.start));
        Ok(Self { head, fields, index_by_key, tail, closing, body })
    }

    pub(super) fn has_frontmatter(&self) -> bool {
        !self.closing.is_empty()
    }

    pub(super) fn field(&self, key: &str) -> Option<&FieldSource<'a>> {
        self.index_by_key.get(key).and_then(|index| self.fields.get(*index))
    }
}

/// Splits frontmatter into its fields and the lines after the last one.
fn fields<'a>(yaml: &'a str, line_end: &'static str) -> Result<(Vec<FieldSource<'a>>, &'a str), String> {
    let document = YamlDocument::parse(yaml, line_end)?;
    let starts: Vec<usize> = document.entries.iter().map(|(key, _)| document.line_start(key.span.start)).collect();
    let ends = starts.iter().copied().skip(1).chain([yaml.len()]);
    let mut fields = Vec::new();
    let mut above = yaml.get(..starts.first().copied().unwrap_or(yaml.len())).unwrap_or_default();
    for ((key, value), (start, end)) in document.values().into_iter().zip(starts.iter().copied().zip(ends)) {
        let chunk = yaml.get(start..end).filter(|chunk| !chunk.is_empty()).ok_or("two fields share a line")?;
        if !above.lines().all(is_blank_or_comment) {
            return Err(format!("the text before `{key}` is not a field"));
        }
        let own = chunk.split_inclusive('\n').rev().skip_while(|line| is_blank_or_comment(line)).map(str::len).sum();
        let (lines, below) = chunk.split_at_checked(own).unwrap_or((chunk, ""));
        fields.push(FieldSource { key, above, text: FieldText { lines: lines.to_owned(), value, line_end } });
        above = below;
    }
    let has_only_fields = above.lines().all(is_blank_or_comment);
    if has_only_fields { Ok((fields, above)) } else { Err("a line is not part of a field".to_owned()) }
}

/// Tells whether a line is blank or a comment without indentation. An indented comment belongs to the field above it.
fn is_blank_or_comment(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}
