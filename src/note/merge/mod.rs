//! The three-way merge of the frontmatter of a note, field by field.
//!
//! The result is three texts whose frontmatter is equal except for fields in conflict. A line-based merge of these texts
//! then finds conflicts in the frontmatter only in those fields, and merges the body as usual.

mod comments;
mod field;
mod field_lines;
mod list;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::edit::line_end;
use super::list_fields::plain;
use super::verified_edit::FieldText;
use field::ThreeWay;
use field_lines::{FieldLines, FieldSource};

/// The three texts for a line-based merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeTexts {
    /// The common ancestor.
    pub base: String,
    /// Our side.
    pub ours: String,
    /// Their side.
    pub theirs: String,
}

/// Merges the frontmatter of three versions of a note. Line endings and the order of fields are those of ours.
///
/// # Errors
/// A sentence that says why the fields can't be separated: no frontmatter, or frontmatter that is not YAML. Only a
/// line-based merge is possible then.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<MergeTexts, String> {
    let (base, theirs) = (with_line_ends_of(ours, base), with_line_ends_of(ours, theirs));
    let (read, is_changed) = (|text| FieldLines::read(text, line_end(ours)), ours != base);
    let [base, ours, theirs] = [read(&base)?, read(ours)?, read(&theirs)?];
    if !ours.has_frontmatter() || !theirs.has_frontmatter() {
        return Err("one side has no frontmatter".to_owned());
    }
    let merged = MergedFields::new(&base, &ours, &theirs, is_changed);
    let text = |version: usize, side: &FieldLines<'_>| merged.written(version, &ours, side);
    Ok(MergeTexts { ours: text(0, &ours)?, base: text(1, &base)?, theirs: text(2, &theirs)? })
}

/// Tells whether the frontmatter of a text, if it has any, can be split into fields.
pub fn is_sound(text: &str) -> bool {
    FieldLines::read(text, "\n").is_ok()
}

/// Converts a text to the line endings of another, unless that one mixes them.
fn with_line_ends_of<'t>(model: &str, text: &'t str) -> Cow<'t, str> {
    let (all, crlf) = (model.matches('\n').count(), model.matches("\r\n").count());
    if all == 0 || (crlf != 0 && crlf != all) {
        return Cow::Borrowed(text);
    }
    let unix = text.replace("\r\n", "\n");
    Cow::Owned(if crlf == 0 { unix } else { unix.replace('\n', "\r\n") })
}

struct MergedField {
    key: String,
    /// Comments and blank lines above it, equal in all three texts.
    above: String,
    versions: ThreeWay,
}

/// The fields of the result, and the lines after the last one.
struct MergedFields {
    fields: Vec<MergedField>,
    tail: String,
}

impl MergedFields {
    /// Merges all fields. They have the order of ours; a field that only theirs has follows its predecessor in theirs.
    /// `is_changed`: whether ours changed anything.
    fn new(base: &FieldLines<'_>, ours: &FieldLines<'_>, theirs: &FieldLines<'_>, is_changed: bool) -> Self {
        let merged = |key: &str, sides: [Option<&FieldSource<'_>>; 3]| {
            field::merge(key, sides.map(|field| field.map(|field| &field.text)), is_changed)
        };
        // The fields with their positions in the order of ours.
        let mut fields = Vec::new();
        // Comments that a side added above a field that the merge removes.
        let mut orphaned = String::new();
        for field in &ours.fields {
            let (in_base, in_theirs) = (base.field(&field.key), theirs.field(&field.key));
            let versions = merged(&field.key, [in_base, Some(field), in_theirs]);
            let base_above = in_base.map_or("", |field| field.above);
            if versions.iter().all(Option::is_none) {
                if field.above != base_above {
                    orphaned.push_str(field.above);
                }
                continue;
            }
            let above = merged_comments(base_above, field.above, in_theirs.map_or(base_above, |field| field.above));
            let above = std::mem::take(&mut orphaned) + &above;
            fields.push((fields.len() + 1, MergedField { key: field.key.clone(), above, versions }));
        }
        let positions: HashMap<String, usize> =
            fields.iter().map(|(position, field)| (field.key.clone(), *position)).collect();
        let mut position = 0;
        for field in &theirs.fields {
            if let Some(own) = positions.get(&field.key) {
                position = *own;
                continue;
            }
            let in_base = base.field(&field.key);
            if ours.field(&field.key).is_some() {
                continue;
            }
            let versions = merged(&field.key, [in_base, None, Some(field)]);
            if versions.iter().all(Option::is_none) {
                orphaned.push_str(&added_comments(in_base.map_or("", |field| field.above), "", field.above));
                continue;
            }
            let above = field.above.to_owned();
            fields.push((position, MergedField { key: field.key.clone(), above, versions }));
        }
        // Equal positions keep their order.
        fields.sort_by_key(|(position, _)| *position);
        let fields = fields.into_iter().map(|(_, field)| field).collect();
        Self { fields, tail: orphaned + &merged_comments(base.tail, ours.tail, theirs.tail) }
    }

    /// Writes one of the three texts: the frontmatter with that version of each field, and the body of a side.
    fn written(&self, version: usize, ours: &FieldLines<'_>, side: &FieldLines<'_>) -> Result<String, String> {
        let mut expected: Vec<(&str, &FieldText)> = Vec::with_capacity(self.fields.len());
        let mut text = ours.head.to_owned();
        for field in &self.fields {
            text.push_str(&field.above);
            if let Some(field_text) = field.versions.get(version).and_then(Option::as_ref) {
                text.push_str(&field_text.lines);
                expected.push((&field.key, field_text));
            }
        }
        text.push_str(&self.tail);
        text.push_str(ours.closing.trim_end_matches(['\r', '\n']));
        let closing = if side.has_frontmatter() { side.closing } else { ours.closing };
        text.push_str(closing.get(closing.trim_end_matches(['\r', '\n']).len()..).unwrap_or_default());
        text.push_str(side.body);
        let parsed = FieldLines::read(&text, "\n")?;
        let is_expected = |(field, (key, expected)): (&FieldSource<'_>, &(&str, &FieldText))| {
            field.key == *key && plain(&field.text.value) == plain(&expected.value)
        };
        let is_verified = parsed.body == side.body
            && parsed.fields.len() == expected.len()
            && parsed.fields.iter().zip(&expected).all(is_expected);
        if is_verified { Ok(text) } else { Err("a field's meaning depends on others".to_owned()) }
    }
}

/// Merges comments and blank lines; if both sides changed them, new comments of theirs follow ours.
fn merged_comments(base: &str, ours: &str, theirs: &str) -> String {
    if theirs == base || theirs == ours {
        return ours.to_owned();
    }
    if ours == base {
        return theirs.to_owned();
    }
    format!("{ours}{}", added_comments(base, ours, theirs))
}

fn added_comments(base: &str, ours: &str, theirs: &str) -> String {
    let known: HashSet<&str> = base.lines().chain(ours.lines()).collect();
    let is_new = |line: &&str| line.starts_with('#') && !known.contains(line.trim_end());
    theirs.split_inclusive('\n').filter(is_new).collect()
}

#[cfg(test)]
mod tests;
