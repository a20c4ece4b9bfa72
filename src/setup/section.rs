//! A managed section: our lines between two markers inside a file that belongs to the user.
//!
//! The opening marker remembers what installing added around the section, so that taking it out
//! gives back the bytes that were there before.

use anyhow::{Result, bail};

const BEGIN: &str = "<!-- qipu:begin";
const END: &str = "<!-- qipu:end -->";
/// Said by the opening marker when the file did not exist before.
const MADE_FILE: &str = "made=file";
/// Said by the opening marker when the user's last line had no line end.
const MADE_LINE_END: &str = "made=line-end";

/// A section that was found, with the text around it.
pub(super) struct Section<'a> {
    before: &'a str,
    /// The opening marker's line, line end included.
    marker: &'a str,
    after: &'a str,
    line_end: &'static str,
}

/// Returns the text of a file with the section added at its end.
pub(super) fn insert(old: Option<&str>, text: &str) -> String {
    let line_end = line_end(old.unwrap_or_default());
    let lacks_line_end = old.is_some_and(|old| !old.is_empty() && !old.ends_with('\n'));
    let made = match old {
        None => format!(" {MADE_FILE}"),
        Some(_) if lacks_line_end => format!(" {MADE_LINE_END}"),
        Some(_) => String::new(),
    };
    let mut new = old.unwrap_or_default().to_owned();
    if lacks_line_end {
        new.push_str(line_end);
    }
    if !new.is_empty() {
        new.push_str(line_end);
    }
    let marker = format!("{BEGIN} version=1{made} -->{line_end}");
    new.push_str(&written(&marker, text, line_end));
    new
}

fn written(marker: &str, text: &str, line_end: &str) -> String {
    let text = text.replace('\n', line_end);
    format!("{marker}{text}{END}{line_end}")
}

fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next();
    if first.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

impl<'a> Section<'a> {
    /// Finds the section; `None` when there is no opening marker at the beginning of a line.
    pub(super) fn find(text: &'a str) -> Result<Option<Self>> {
        let Some(start) = line_starting_with(text, BEGIN) else {
            return Ok(None);
        };
        let (before, rest) = text.split_at(start);
        let (marker, inner) = rest.split_at(line_len(rest));
        let Some(end) = line_starting_with(inner, END) else {
            bail!("the line `{}` has no `{END}` after it", marker.trim_end());
        };
        let (_, tail) = inner.split_at(end);
        let (_, after) = tail.split_at(line_len(tail));
        Ok(Some(Self { before, marker, after, line_end: line_end(text) }))
    }

    /// Returns the whole file with the section's text replaced.
    pub(super) fn with_text(&self, text: &str) -> String {
        format!("{}{}{}", self.before, written(self.marker, text, self.line_end), self.after)
    }

    /// Returns the file without the section; `None` when nothing is left of a file that we made.
    pub(super) fn taken_out(&self) -> Option<String> {
        let mut before = self.before.strip_suffix(self.line_end).unwrap_or(self.before);
        if self.marker.contains(MADE_LINE_END) && self.after.is_empty() {
            before = before.strip_suffix(self.line_end).unwrap_or(before);
        }
        let rest = format!("{before}{}", self.after);
        let is_nothing = rest.is_empty() && self.marker.contains(MADE_FILE);
        (!is_nothing).then_some(rest)
    }
}

/// Returns where the first line begins that starts with a marker.
fn line_starting_with(text: &str, marker: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(marker) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Returns the length of the first line, line end included.
fn line_len(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_out_gives_back_what_was_there() {
        for old in
            [Some(""), Some("x"), Some("x\n"), Some("x\n\n"), Some("x\r\ny"), Some("x\r\ny\r\n"), Some("\n"), None]
        {
            let new = insert(old, "ours\n");
            let section = Section::find(&new).unwrap().unwrap();
            assert_eq!(section.with_text("ours\n"), new);
            assert_eq!(section.taken_out().as_deref(), old, "{old:?}");
        }
    }

    #[test]
    fn text_that_the_user_adds_around_it_stays() {
        let new = insert(Some("mine"), "ours\n");
        let edited = format!("top\n{new}below\n");
        let section = Section::find(&edited).unwrap().unwrap();
        assert_eq!(section.with_text("other\n"), edited.replace("ours", "other"));
        assert_eq!(section.taken_out().as_deref(), Some("top\nmine\nbelow\n"));
    }

    #[test]
    fn a_section_without_an_end_is_an_error() {
        assert!(Section::find("a\n<!-- qipu:begin version=1 -->\ntext\n").is_err());
        assert!(Section::find("see <!-- qipu:begin --> in docs\n").unwrap().is_none());
    }
}
