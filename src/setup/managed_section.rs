//! A managed section: our lines between two markers inside a file that belongs to the user.
//!
//! The opening marker remembers what installing added around the section, so that taking it out
//! gives back the bytes that were there before.

use std::ops::Range;

use anyhow::{Result, bail};
use sha2::{Digest, Sha256};

/// How a kind of file writes the lines around a section.
#[derive(Debug)]
pub(super) struct MarkerStyle {
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
pub(super) static MARKDOWN: MarkerStyle =
    MarkerStyle { begin: "<!-- qipu:begin", close: " -->", end: "<!-- qipu:end -->", has_fences: true };
/// Files in which `#` begins a comment.
pub(super) static HASH: MarkerStyle =
    MarkerStyle { begin: "# qipu:begin", close: "", end: "# qipu:end", has_fences: false };

/// Said by the opening marker when the file did not exist before.
const MADE_FILE: &str = "made=file";
/// Said by the opening marker when the user's last line had no line end.
const MADE_LINE_END: &str = "made=line-end";

/// What an opening marker says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OpeningMarker {
    /// A sum of the text that was written.
    pub(super) hash: String,
    /// The recipes that want the section, where several share it.
    pub(super) users: Vec<String>,
    /// Whether there was no file before.
    pub(super) is_file_made: bool,
    /// Whether the user's last line had no line end.
    pub(super) is_line_ended: bool,
    /// How many folders were made for the file.
    pub(super) folders: usize,
    /// For each recipe with a file of settings, how much of what it needs that held before, and how many
    /// folders were made for it. A recipe that has the section for itself is not named.
    pub(super) settings: Vec<(String, (u8, usize))>,
}

impl OpeningMarker {
    /// Returns what the settings of a recipe held before.
    pub(super) fn settings_of(&self, user: &str) -> Option<(u8, usize)> {
        let named = |name: &str| self.settings.iter().find(|(user, _)| user == name).map(|(_, found)| *found);
        named(user).or_else(|| named(""))
    }

    /// Remembers what the settings of a recipe hold.
    pub(super) fn remember(&mut self, user: &str, found: (u8, usize)) {
        self.settings.retain(|(name, _)| name != user);
        self.settings.push((user.to_owned(), found));
    }

    /// Forgets a recipe that no longer wants the section.
    pub(super) fn forget(&mut self, user: &str) {
        self.users.retain(|name| name != user);
        self.settings.retain(|(name, _)| name != user);
    }

    /// Reads a marker's line. What is not known is passed over.
    fn read(line: &str) -> Self {
        let mut marker = Self::default();
        for word in line.split_whitespace() {
            match word.split_once('=') {
                Some(("hash", hash)) => marker.hash = hash.to_owned(),
                Some(("for", users)) => marker.users = users.split(',').map(str::to_owned).collect(),
                Some(("folders", count)) => marker.folders = count.parse().unwrap_or_default(),
                Some(("settings", given)) => {
                    marker.settings = given.split(',').filter_map(read_settings).collect();
                }
                _ => {}
            }
        }
        Self { is_file_made: line.contains(MADE_FILE), is_line_ended: line.contains(MADE_LINE_END), ..marker }
    }

    /// Writes the line, without its end, for a section of this text.
    fn written(&self, marks: &MarkerStyle, text: &str) -> String {
        let mut line = format!("{} version=1 hash={}", marks.begin, sum(text));
        let mut add = |word: String| line.push_str(&format!(" {word}"));
        if !self.users.is_empty() {
            add(format!("for={}", self.users.join(",")));
        }
        if self.is_file_made {
            add(MADE_FILE.to_owned());
        }
        if self.is_line_ended {
            add(MADE_LINE_END.to_owned());
        }
        if self.folders > 0 {
            add(format!("folders={}", self.folders));
        }
        let settings = self.settings.iter().map(|(user, (level, folders))| match user.as_str() {
            "" => format!("{level}/{folders}"),
            user => format!("{user}:{level}/{folders}"),
        });
        let settings: Vec<String> = settings.collect();
        if !settings.is_empty() {
            add(format!("settings={}", settings.join(",")));
        }
        line + marks.close
    }
}

/// Reads what a recipe's settings held before.
fn read_settings(given: &str) -> Option<(String, (u8, usize))> {
    let (user, given) = given.split_once(':').unwrap_or(("", given));
    let (level, folders) = given.split_once('/').unwrap_or((given, "0"));
    level.parse().ok().zip(folders.parse().ok()).map(|found| (user.to_owned(), found))
}

/// Returns a short sum of a text, whatever its line ends.
fn sum(text: &str) -> String {
    let sum = Sha256::digest(text.replace("\r\n", "\n").as_bytes());
    sum.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// A section that was found, with the text around it.
#[derive(Debug)]
pub(super) struct ManagedSection<'a> {
    whole: &'a str,
    marks: &'static MarkerStyle,
    before: &'a str,
    /// What the opening marker says.
    pub(super) marker: OpeningMarker,
    text: &'a str,
    /// The closing marker's line, line end included where it has one.
    closing: &'a str,
    after: &'a str,
    line_end: &'static str,
}

/// Returns the text of a file with the section added at its end; `head` begins a file that is made.
pub(super) fn insert(marks: &MarkerStyle, old: Option<&str>, head: &str, text: &str, marker: OpeningMarker) -> String {
    let line_end = line_end(old.unwrap_or_default());
    let is_line_ended = old.is_some_and(|old| !old.is_empty() && !old.ends_with('\n'));
    let marker = OpeningMarker { is_file_made: old.is_none(), is_line_ended, ..marker };
    let mut new = old.unwrap_or_default().to_owned();
    if is_line_ended {
        new.push_str(line_end);
    }
    if !new.is_empty() {
        new.push_str(line_end);
    }
    if old.is_none() {
        new.push_str(head);
    }
    let opening = marker.written(marks, text);
    let text = text.replace('\n', line_end);
    new.push_str(&format!("{opening}{line_end}{text}{}{line_end}", marks.end));
    new
}

pub(super) fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next();
    if first.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

impl<'a> ManagedSection<'a> {
    /// Finds the section; `None` when there is none. Markers count at the beginning of a line, and
    /// not in a fenced block.
    ///
    /// # Errors
    /// When the markers are not one opening and then one closing: whose text would be whose?
    pub(super) fn find(marks: &'static MarkerStyle, text: &'a str) -> Result<Option<Self>> {
        let markers = markers(marks, text);
        let MarkerStyle { begin, end, .. } = marks;
        let [(opening, true), (closing, false)] = markers.as_slice() else {
            if markers.is_empty() {
                return Ok(None);
            }
            bail!("expected one line that begins with `{begin}` and one line `{end}` after it");
        };
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        let section = Self {
            whole: text,
            marks,
            before: part(0..opening.start),
            marker: OpeningMarker::read(part(opening.clone()).trim_end().trim_end_matches(marks.close)),
            text: part(opening.end..closing.start),
            closing: part(closing.clone()),
            after: part(closing.end..text.len()),
            line_end: line_end(text.get(opening.start..).unwrap_or_default()),
        };
        if section.closing.trim_end() != *end {
            bail!("there is text behind `{end}` on its line");
        }
        Ok(Some(section))
    }

    /// Returns the whole file as it is.
    pub(super) fn whole(&self) -> String {
        self.whole.to_owned()
    }

    /// Tells whether its text is this one.
    pub(super) fn says(&self, text: &str) -> bool {
        self.text.replace("\r\n", "\n") == text
    }

    /// Tells whether somebody changed its text since it was written.
    pub(super) fn is_edited(&self) -> bool {
        !self.marker.hash.is_empty() && self.marker.hash != sum(self.text)
    }

    /// Returns the whole file with another text and marker in the section's place.
    pub(super) fn with_text(&self, text: &str, marker: &OpeningMarker) -> String {
        let opening = marker.written(self.marks, text);
        let text = text.replace('\n', self.line_end);
        format!("{}{opening}{}{text}{}{}", self.before, self.line_end, self.closing, self.after)
    }

    /// Returns the whole file with another marker above the text as it is.
    pub(super) fn with_marker(&self, marker: &OpeningMarker) -> String {
        let hash = self.marker.hash.clone();
        let opening = marker.written(self.marks, self.text).replacen(&sum(self.text), &hash, 1);
        format!("{}{opening}{}{}{}{}", self.before, self.line_end, self.text, self.closing, self.after)
    }

    /// Returns the file without the section and what installing added around it; `None` when
    /// nothing is left of a file that we made, which began with `head`.
    pub(super) fn taken_out(&self, head: &str) -> Option<String> {
        let mut before = self.before;
        let blank = before.strip_suffix(self.line_end).filter(|rest| rest.is_empty() || rest.ends_with('\n'));
        if let Some(rest) = blank {
            before = rest;
            if self.marker.is_line_ended && self.after.is_empty() {
                before = before.strip_suffix(self.line_end).unwrap_or(before);
            }
        }
        let rest = format!("{before}{}", self.after);
        let is_nothing = (rest.is_empty() || rest == head) && self.marker.is_file_made;
        (!is_nothing).then_some(rest)
    }
}

/// Returns the lines that are markers, and whether each is an opening one. A fence that never ends
/// hides nothing.
fn markers(marks: &MarkerStyle, text: &str) -> Vec<(Range<usize>, bool)> {
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
                let new = insert(marks, old, "", "ours\n", OpeningMarker::default());
                let section = ManagedSection::find(marks, &new).unwrap().unwrap();
                assert_eq!(section.with_text("ours\n", &section.marker), new);
                assert!(section.says("ours\n") && !section.is_edited());
                assert_eq!(section.taken_out("").as_deref(), old, "{old:?}");
            }
        }
    }

    #[test]
    fn text_that_the_user_adds_around_it_stays() {
        let new = insert(&MARKDOWN, Some("mine"), "", "ours\n", OpeningMarker::default());
        let edited = format!("top\n{new}below\n");
        let section = ManagedSection::find(&MARKDOWN, &edited).unwrap().unwrap();
        let other = section.with_text("other\n", &section.marker);
        assert_eq!(ManagedSection::find(&MARKDOWN, &other).unwrap().unwrap().taken_out(""), section.taken_out(""));
        assert!(other.starts_with("top\nmine\n") && other.ends_with("other\n<!-- qipu:end -->\nbelow\n"));
        let changed = edited.replace("ours", "his");
        assert!(ManagedSection::find(&MARKDOWN, &changed).unwrap().unwrap().is_edited());
        assert_eq!(section.taken_out("").as_deref(), Some("top\nmine\nbelow\n"));
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
            assert!(ManagedSection::find(&MARKDOWN, &damaged).is_err(), "{damaged}");
        }
        for none in ["see <!-- qipu:begin --> in docs\n".to_owned(), format!("```\n{begin}x\n{end}```\n")] {
            assert!(ManagedSection::find(&MARKDOWN, &none).unwrap().is_none(), "{none}");
        }
    }

    #[test]
    fn small_edits_around_it_cost_nothing() {
        let new = insert(&MARKDOWN, Some("# Mine\n"), "", "ours\n", OpeningMarker::default());
        let joined = new.replacen("# Mine\n\n", "# Mine\n", 1) + "Below it.\n";
        assert_eq!(
            ManagedSection::find(&MARKDOWN, &joined).unwrap().unwrap().taken_out("").as_deref(),
            Some("# Mine\nBelow it.\n")
        );
        let cut = new.trim_end();
        let section = ManagedSection::find(&MARKDOWN, cut).unwrap().unwrap();
        assert_eq!(section.with_text("ours\n", &section.marker), cut, "no line end is no change");
    }
}
