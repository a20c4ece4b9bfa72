//! A managed section: our lines between two markers inside a file that belongs to the user.
//!
//! The opening marker remembers what installing added around the section, so that taking it out
//! gives back the bytes that were there before.

use std::ops::Range;

use anyhow::{Result, bail};

/// How a kind of file writes the lines around a section.
#[derive(Debug)]
pub(super) struct Marks {
    /// How the opening line begins.
    begin: &'static str,
    /// How it ends.
    close: &'static str,
    /// The closing line.
    end: &'static str,
    /// Whether lines in a fenced block are none of ours.
    has_fences: bool,
}

/// Markdown: comments of HTML.
pub(super) static MARKDOWN: Marks =
    Marks { begin: "<!-- qipu:begin", close: " -->", end: "<!-- qipu:end -->", has_fences: true };
/// Files in which `#` begins a comment.
pub(super) static HASH: Marks = Marks { begin: "# qipu:begin", close: "", end: "# qipu:end", has_fences: false };

/// Said by the opening marker when the file did not exist before.
const MADE_FILE: &str = "made=file";
/// Said by the opening marker when the user's last line had no line end.
const MADE_LINE_END: &str = "made=line-end";

/// A section that was found, with the text around it.
#[derive(Debug)]
pub(super) struct Section<'a> {
    before: &'a str,
    /// The opening marker's line, line end included.
    opening: &'a str,
    /// The closing marker's line, line end included where it has one.
    closing: &'a str,
    after: &'a str,
    line_end: &'static str,
}

/// Returns the text of a file with the section added at its end.
pub(super) fn insert(marks: &Marks, old: Option<&str>, text: &str) -> String {
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
    let text = text.replace('\n', line_end);
    let Marks { begin, close, end, .. } = marks;
    new.push_str(&format!("{begin} version=1{made}{close}{line_end}{text}{end}{line_end}"));
    new
}

fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next();
    if first.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

impl<'a> Section<'a> {
    /// Finds the section; `None` when there is none. Markers count at the beginning of a line, and
    /// not in a fenced block.
    ///
    /// # Errors
    /// When the markers are not one opening and then one closing: whose text would be whose?
    pub(super) fn find(marks: &Marks, text: &'a str) -> Result<Option<Self>> {
        let markers = markers(marks, text);
        let Marks { begin, end, .. } = marks;
        let [(opening, true), (closing, false)] = markers.as_slice() else {
            if markers.is_empty() {
                return Ok(None);
            }
            bail!("expected one line that begins with `{begin}` and one line `{end}` after it");
        };
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        let section = Self {
            before: part(0..opening.start),
            opening: part(opening.clone()),
            closing: part(closing.clone()),
            after: part(closing.end..text.len()),
            line_end: line_end(text),
        };
        if section.closing.trim_end() != *end {
            bail!("there is text behind `{end}` on its line");
        }
        Ok(Some(section))
    }

    /// Returns the whole file with the section's text replaced.
    pub(super) fn with_text(&self, text: &str) -> String {
        let text = text.replace('\n', self.line_end);
        format!("{}{}{text}{}{}", self.before, self.opening, self.closing, self.after)
    }

    /// Returns the file without the section and what installing added around it; `None` when
    /// nothing is left of a file that we made.
    pub(super) fn taken_out(&self) -> Option<String> {
        let mut before = self.before;
        let blank = before.strip_suffix(self.line_end).filter(|rest| rest.is_empty() || rest.ends_with('\n'));
        if let Some(rest) = blank {
            before = rest;
            if self.opening.contains(MADE_LINE_END) && self.after.is_empty() {
                before = before.strip_suffix(self.line_end).unwrap_or(before);
            }
        }
        let rest = format!("{before}{}", self.after);
        let is_nothing = rest.is_empty() && self.opening.contains(MADE_FILE);
        (!is_nothing).then_some(rest)
    }
}

/// Returns the lines that are markers, and whether each is an opening one. A fence that never ends
/// hides nothing.
fn markers(marks: &Marks, text: &str) -> Vec<(Range<usize>, bool)> {
    let mut found = Vec::new();
    let mut fenced = Vec::new();
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let mark = ["```", "~~~"].into_iter().find(|mark| marks.has_fences && line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                fenced.clear();
            }
            _ if line.starts_with(marks.begin) || line.starts_with(marks.end) => {
                let list = if fence.is_some() { &mut fenced } else { &mut found };
                list.push((range, line.starts_with(marks.begin)));
            }
            _ => {}
        }
    }
    found.extend(fenced);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_out_gives_back_what_was_there() {
        for old in
            [Some(""), Some("x"), Some("x\n"), Some("x\n\n"), Some("x\r\ny"), Some("x\r\ny\r\n"), Some("\n"), None]
        {
            for marks in [&MARKDOWN, &HASH] {
                let new = insert(marks, old, "ours\n");
                let section = Section::find(marks, &new).unwrap().unwrap();
                assert_eq!(section.with_text("ours\n"), new);
                assert_eq!(section.taken_out().as_deref(), old, "{old:?}");
            }
        }
    }

    #[test]
    fn text_that_the_user_adds_around_it_stays() {
        let new = insert(&MARKDOWN, Some("mine"), "ours\n");
        let edited = format!("top\n{new}below\n");
        let section = Section::find(&MARKDOWN, &edited).unwrap().unwrap();
        assert_eq!(section.with_text("other\n"), edited.replace("ours", "other"));
        assert_eq!(section.taken_out().as_deref(), Some("top\nmine\nbelow\n"));
    }

    #[test]
    fn text_of_the_user_is_never_taken_for_ours() {
        let (begin, end) = ("<!-- qipu:begin version=1 -->\n", "<!-- qipu:end -->\n");
        for damaged in [
            format!("a\n{begin}text\n"),
            format!("{end}text\n{begin}"),
            format!("{begin}old\n# My own rules\n{begin}x\n{end}"),
            format!("{begin}x\n{end}\n{begin}x\n{end}"),
            format!("{begin}x\n<!-- qipu:end --> my words\n"),
        ] {
            assert!(Section::find(&MARKDOWN, &damaged).is_err(), "{damaged}");
        }
        for none in ["see <!-- qipu:begin --> in docs\n".to_owned(), format!("```\n{begin}x\n{end}```\n")] {
            assert!(Section::find(&MARKDOWN, &none).unwrap().is_none(), "{none}");
        }
    }

    #[test]
    fn small_edits_around_it_cost_nothing() {
        let new = insert(&MARKDOWN, Some("# Mine\n"), "ours\n");
        let joined = new.replacen("# Mine\n\n", "# Mine\n", 1) + "Below it.\n";
        assert_eq!(
            Section::find(&MARKDOWN, &joined).unwrap().unwrap().taken_out().as_deref(),
            Some("# Mine\nBelow it.\n")
        );
        let cut = new.trim_end();
        assert_eq!(
            Section::find(&MARKDOWN, cut).unwrap().unwrap().with_text("ours\n"),
            cut,
            "no line end is no change"
        );
    }
}
