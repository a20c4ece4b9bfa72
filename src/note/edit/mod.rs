//! Edits of a note's text that change the bytes of one field and no others.
//!
//! An edit replaces the source range of a YAML node. The result is parsed again and its fields are compared with the
//! expected ones; a candidate with any other difference is refused, and the note stays unchanged.

mod batch;
mod body_edit;
mod candidates;
mod expected;
mod operation;

use std::ops::Range;

pub use body_edit::BodyEdit;
pub use operation::Edit;

use super::InlineLink;
use super::append_section::Section;
use super::destinations::relinked;
use super::frontmatter::{self, Frontmatter, range_without_bom, split};
use super::splice::splice;
use super::value::FieldValues;
use super::yaml_document::YamlDocument;
use batch::{BatchPlan, batch_len};
use body_edit::with_body_edit;
use candidates::candidates;
use expected::{are_same_fields, expected_fields};

/// Applies edits in order. Returns the new text.
///
/// # Errors
/// A sentence that says why an edit can't be made without changing anything else; most often, that the frontmatter is not
/// YAML, with its line.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, String> {
    let (mut text, mut rest) = (text.to_owned(), edits);
    let mut most = usize::MAX;
    while let Some(edit) = rest.first() {
        let count = batch_len(rest).min(most).max(1);
        if count > 1 {
            // A batch that can't be written is made in smaller ones; one edit then gives the reason.
            match with_batch(&text, rest.get(..count).unwrap_or_default()) {
                Some(new) => (text, rest, most) = (new, rest.get(count..).unwrap_or_default(), usize::MAX),
                None => most = count / 2,
            }
            continue;
        }
        text = match edit {
            Edit::SetBody(body) => with_body(&text, body)?,
            Edit::Append { lines, is_apart } => with_lines(&text, lines, *is_apart)?,
            Edit::ChangeBody(edit) => with_body_edit(&text, edit)?,
            edit => with_field(&text, edit)?,
        };
        (rest, most) = (rest.get(1..).unwrap_or_default(), usize::MAX);
    }
    Ok(text)
}

/// Makes several edits of one field at once; `None` if no candidate has exactly their result.
fn with_batch(text: &str, edits: &[Edit]) -> Option<String> {
    let parts = split(text);
    let range = parts.yaml.clone()?;
    let document = YamlDocument::parse(text.get(range.clone())?, line_end(text)).ok()?;
    let fields = document.values();
    let BatchPlan { expected, candidates } = batch::plan(&document, &fields, edits)?;
    let is_copy = edits.iter().any(|edit| matches!(edit, Edit::SetCustomValue { .. }));
    if are_same_fields(&fields, &expected, is_copy) {
        return Some(text.to_owned());
    }
    verified(text, &range, parts.body.len(), &expected, candidates)
}

/// Returns the text with the first candidate for its frontmatter that has exactly the expected fields.
fn verified(
    text: &str,
    yaml: &Range<usize>,
    body_len: usize,
    expected: &FieldValues,
    candidates: Vec<String>,
) -> Option<String> {
    candidates.into_iter().find_map(|candidate| {
        let has_expected_fields =
            YamlDocument::parse(&candidate, "\n").is_ok_and(|new| are_same_fields(&new.values(), expected, true));
        let new_text = splice(text, yaml.clone(), &candidate);
        (has_expected_fields && split(&new_text).body.len() == body_len).then_some(new_text)
    })
}

/// Replaces the body; line endings are those of the file. If a body would be read as frontmatter, empty frontmatter is
/// inserted before it.
fn with_body(text: &str, body: &str) -> Result<String, String> {
    let line_end = line_end(text);
    let body = with_line_ends(body, line_end);
    let (fields, old) = read(text);
    let front = text.get(..old.start).unwrap_or_default();
    let has_front = old.start > range_without_bom(text).start;
    let is_cut = has_front && !front.ends_with('\n') && !body.is_empty();
    let front = format!("{front}{}", if is_cut { line_end } else { "" });
    let empty = if has_front { String::new() } else { format!("---{line_end}---{line_end}") };
    for between in ["", &empty] {
        let new = format!("{front}{between}{body}");
        let parts = split(&new);
        let is_well_formed = !parts.is_unclosed && parts.yaml.is_some() == (has_front || !between.is_empty());
        let (new_fields, range) = read(&new);
        if is_well_formed && new_fields == fields && new.get(range) == Some(&body) {
            return Ok(new);
        }
    }
    Err("its fields would change their meaning with that body".to_owned())
}

/// Whether a text has frontmatter in YAML.
pub(crate) fn has_yaml(text: &str) -> bool {
    split(text).yaml.is_some()
}

/// Replaces the targets of the links in the body of a note; see [`relinked`].
pub(crate) fn relink(text: &str, new_target: impl Fn(&InlineLink) -> Option<String>) -> Result<String, String> {
    let (_, body) = read(text);
    let new = relinked(text.get(body.clone()).unwrap_or_default(), new_target)?;
    Ok(splice(text, body, &new))
}

/// Replaces the names in `[[name#heading|label]]` in frontmatter, as Obsidian's properties have them; no other byte changes.
pub(crate) fn relink_properties(text: &str, new_name: impl Fn(&str) -> Option<String>) -> String {
    let (_, body) = read(text);
    let (head, body) = text.split_at_checked(body.start).unwrap_or((text, ""));
    let mut pieces = head.split("[[");
    let mut new = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        new.push_str("[[");
        let target = piece.split_once("]]").map(|(link, _)| link.split('|').next().unwrap_or(link));
        match target.and_then(|target| Some((target, new_name(target.trim())?))) {
            Some((target, name)) => new.extend([name.as_str(), piece.get(target.len()..).unwrap_or_default()]),
            None => new.push_str(piece),
        }
    }
    new + body
}

/// Appends a section to a note; line endings are those of the file.
pub(crate) fn with_section(text: &str, section: &Section) -> Result<String, String> {
    let (_, body) = read(text);
    let new = section.below(text.get(body.clone()).unwrap_or_default(), line_end(text))?;
    Ok(splice(text, body, &new))
}

/// Appends lines to the body, with the line ending of its last line.
fn with_lines(text: &str, lines: &str, is_apart: bool) -> Result<String, String> {
    let (fields, old) = read(text);
    let body = text.get(old.clone()).unwrap_or_default();
    let line_end = match body.rfind('\n') {
        Some(last) if body.get(..last).is_some_and(|before| before.ends_with('\r')) => "\r\n",
        Some(_) => "\n",
        None => line_end(text),
    };
    let has_line_end = matches!(text.chars().next_back(), None | Some('\n' | '\r'));
    let line_rest = if has_line_end { "" } else { line_end };
    let has_blank_line = body.lines().next_back().is_none_or(|last| last.trim().is_empty());
    let between = if is_apart && !has_blank_line { line_end } else { "" };
    let lines = with_line_ends(lines, line_end);
    let new = format!("{text}{line_rest}{between}{lines}{line_end}");
    let (new_fields, range) = read(&new);
    if new_fields == fields && (range.start == old.start || body.is_empty()) {
        return Ok(new);
    }
    Err("its fields would change their meaning with these lines".to_owned())
}

fn read(text: &str) -> (Frontmatter, Range<usize>) {
    let parts = split(text);
    let fields = frontmatter::read(text, &parts, &mut Vec::new());
    let body = if fields.is_text { range_without_bom(text) } else { parts.body };
    (Frontmatter { is_text: false, ..fields }, body)
}

/// Replaces the line endings of a text. Several carriage returns before a line feed are one line ending.
fn with_line_ends(text: &str, line_end: &str) -> String {
    let replaced =
        |line: &str| line.strip_suffix('\n').map(|line| format!("{}{line_end}", line.trim_end_matches('\r')));
    text.split_inclusive('\n').map(|line| replaced(line).unwrap_or_else(|| line.to_owned())).collect()
}

pub(crate) fn line_end(text: &str) -> &'static str {
    if text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

fn with_field(text: &str, edit: &Edit) -> Result<String, String> {
    let parts = split(text);
    let Some(range) = parts.yaml.clone() else {
        if parts.is_unclosed {
            return Err("the frontmatter has no closing `---`".to_owned());
        }
        let (line_end, start) = (line_end(text), parts.body.start);
        return with_field(&splice(text, start..start, &format!("---{line_end}---{line_end}")), edit);
    };
    let yaml = text.get(range.clone()).unwrap_or_default();
    let document = YamlDocument::parse(yaml, line_end(text))?;
    let fields = document.values();
    let expected = expected_fields(&fields, edit);
    let is_copy = matches!(edit, Edit::SetCustomValue { .. } | Edit::SetEntries { .. });
    if are_same_fields(&fields, &expected, is_copy) {
        return Ok(text.to_owned());
    }
    verified(text, &range, parts.body.len(), &expected, candidates(&document, edit)).ok_or_else(|| {
        format!("`{}` is written in a way that can't be changed without touching other fields", edit.key())
    })
}

#[cfg(test)]
mod tests;
