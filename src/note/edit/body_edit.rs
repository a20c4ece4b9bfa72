//! Edits of a part of the body: an appended paragraph, a replaced passage, the new text of a section.

use std::ops::Range;

use super::super::headings::{Heading, headings, with_name};
use super::super::markdown::{MAX_PARSED, is_closed};
use super::super::splice::splice;
use super::{line_end, read, with_line_ends, with_lines};

/// A change of a part of the body. Line endings of new text become those of the file's first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyEdit {
    /// Appends a paragraph.
    Append(String),
    /// Replaces a passage that occurs exactly once.
    Replace {
        /// The passage.
        old: String,
        /// The text in its position.
        new: String,
    },
    /// Replaces the text below a heading, up to the next heading of the same or a higher level.
    Section {
        /// The text of the heading, or the end of its path: `A › B`.
        heading: String,
        /// The text; blank to remove the old one.
        text: String,
    },
}

const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// Applies an edit to the text of a note.
pub(super) fn with_body_edit(text: &str, edit: &BodyEdit) -> Result<String, String> {
    let (fields, range) = read(text);
    let body = text.get(range.clone()).unwrap_or_default();
    let line_end = line_end(text);
    let in_file = |new: &str| with_line_ends(new, line_end);
    let new_body = match edit {
        BodyEdit::Append(_) if !is_closed(body) => {
            return Err("its text ends inside a code block or a comment".to_owned());
        }
        BodyEdit::Append(lines) => {
            return with_lines(text, lines.trim_start_matches(['\r', '\n']).trim_end(), true);
        }
        BodyEdit::Replace { old, new } => {
            // Text in the line endings of the file, unless the passage occurs with those that were given.
            let old = if body.contains(old.as_str()) { old.clone() } else { in_file(old) };
            splice(body, only_occurrence(body, &old)?, &in_file(new))
        }
        BodyEdit::Section { heading, text } => with_section_text(body, heading, &in_file(text), line_end)?,
    };
    let new = splice(text, range.clone(), &new_body);
    let (new_fields, new_range) = read(&new);
    let is_body_alone = new_fields == fields && new_range == (range.start..new.len());
    is_body_alone.then_some(new).ok_or_else(|| "its fields would change their meaning with that text".to_owned())
}

/// Returns the byte range of a passage.
fn only_occurrence(body: &str, passage: &str) -> Result<Range<usize>, String> {
    let count = passage.chars().next().map_or(0, |first| {
        let after_first = body.find(passage).and_then(|start| body.get(start + first.len_utf8()..));
        // A second occurrence may overlap the first.
        let has_second = after_first.is_some_and(|rest| rest.contains(passage));
        body.matches(passage).count().max(if has_second { 2 } else { 0 })
    });
    match body.find(passage).filter(|_| count == 1) {
        Some(start) => Ok(start..start + passage.len()),
        None if count == 0 => Err("its text does not contain the text to replace (0 occurrences)".to_owned()),
        None => Err(format!("the text to replace occurs {count} times; give more of the text around it")),
    }
}

/// Returns the body with another text in the section of a heading.
fn with_section_text(body: &str, heading: &str, text: &str, line_end: &str) -> Result<String, String> {
    if body.len().max(text.len()) > MAX_PARSED {
        return Err(format!("its text is longer than {MAX_PARSED} bytes, and headings beyond that are not read"));
    }
    let old = headings(body);
    let index = match with_name(&old, heading).as_slice() {
        [index] => *index,
        [] => return Err(format!("it has no heading `{heading}` (0 headings)")),
        more => {
            let count = more.len();
            return Err(format!("it has {count} headings `{heading}`; name the heading above too: `A › B`"));
        }
    };
    let Some(target) = old.get(index) else { return Err("its headings can't be read".to_owned()) };
    // Who gives the section as it stands means its text.
    let own_heading = body.get(target.start..target.section.start).unwrap_or_default().trim_end();
    let after_heading = text.trim_start_matches(BLANK).strip_prefix(own_heading);
    let below =
        after_heading.filter(|rest| !own_heading.is_empty() && (rest.is_empty() || rest.starts_with(['\n', '\r'])));
    let text = without_blank_ends(below.unwrap_or(text));
    let mut reason = String::new();
    for (range, new) in section_texts(body, &target.section, text, line_end) {
        let new_body = splice(body, range, &new);
        match check_headings(&old, index, &headings(&new_body), new_body.len().wrapping_sub(body.len())) {
            Ok(()) if new_body.len() <= MAX_PARSED => return Ok(new_body),
            Ok(()) => reason = format!("its text would be longer than {MAX_PARSED} bytes"),
            Err(error) => reason = error.to_owned(),
        }
    }
    Err(reason)
}

/// Returns the ways to write the text of a section, the smallest change first: with the blank lines around the old text,
/// or with a blank line before and after it.
fn section_texts(body: &str, section: &Range<usize>, text: &str, line_end: &str) -> Vec<(Range<usize>, String)> {
    let old = body.get(section.clone()).unwrap_or_default();
    let is_last = section.end == body.len();
    let before = if body.get(..section.start).is_some_and(|head| head.ends_with(['\n', '\r'])) { "" } else { line_end };
    let after = if is_last { "" } else { line_end };
    if text.is_empty() {
        let kept = if is_last && old.trim_matches(BLANK).is_empty() { old } else { after };
        return vec![(section.clone(), kept.to_owned())];
    }
    let apart = (section.clone(), format!("{before}{line_end}{text}{line_end}{after}"));
    let kept = without_blank_ends(old);
    if kept.is_empty() {
        return vec![apart];
    }
    let start = section.start + first_text_line(old);
    let rest = body.get(start + kept.len()..).unwrap_or_default();
    let end = start + kept.len() + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    vec![(start..end, text.to_owned()), apart]
}

/// Returns the length of the blank lines before a text.
fn first_text_line(text: &str) -> usize {
    let first = text.find(|c| !BLANK.contains(&c)).unwrap_or(text.len());
    text.get(..first).and_then(|blank| blank.rfind(['\n', '\r'])).map_or(0, |line_end| line_end + 1)
}

/// Removes blank lines before a text, and white space after it. The indentation of its first line stays.
fn without_blank_ends(text: &str) -> &str {
    text.get(first_text_line(text)..).unwrap_or_default().trim_end_matches(BLANK)
}

/// Checks that all headings outside of a section are the same after a change by `shift` bytes (modulo 2⁶⁴), and that the
/// new headings are inside of it.
fn check_headings(old: &[Heading], index: usize, new: &[Heading], shift: usize) -> Result<(), &'static str> {
    const OTHERS_CHANGE: &str = "its other headings would change their meaning with that text";
    let level = old.get(index).map_or(0, |heading| heading.level);
    let after = old.iter().skip(index + 1).skip_while(|heading| heading.level > level);
    let after_count = after.clone().count();
    let start = new.len().checked_sub(after_count).filter(|start| *start > index).ok_or(OTHERS_CHANGE)?;
    let is_same = |old: &Heading, new: &Heading, shift: usize| {
        (old.level, &old.path, old.start.wrapping_add(shift)) == (new.level, &new.path, new.start)
    };
    let are_same_before = old.iter().zip(new).take(index + 1).all(|(old, new)| is_same(old, new, 0));
    let mut last = after.zip(new.iter().skip(start));
    if new.iter().skip(index + 1).take(start - index - 1).any(|heading| heading.level <= level) {
        return Err("the text has a heading that would end the section");
    }
    (are_same_before && last.all(|(old, new)| is_same(old, new, shift))).then_some(()).ok_or(OTHERS_CHANGE)
}
