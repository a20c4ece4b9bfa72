//! A managed section: our lines between two markers in a file that belongs to the user.
//!
//! The opening marker stores what was added around the section, so that removing it restores every byte of the file.

use std::ops::Range;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::codec::hex::hex;
use crate::note::edit::line_end;

/// The syntax of the markers in one kind of file.
#[derive(Debug)]
pub(super) struct MarkerStyle {
    /// The prefix of the opening line.
    begin: &'static str,
    /// The suffix of the opening line.
    close: &'static str,
    /// The closing line.
    end: &'static str,
    /// Whether markers in fenced code blocks are ignored.
    has_fences: bool,
}

/// Markdown: markers are HTML comments.
pub(super) static MARKDOWN: MarkerStyle =
    MarkerStyle { begin: "<!-- qipu:begin", close: " -->", end: "<!-- qipu:end -->", has_fences: true };
/// Files in which `#` starts a comment.
pub(super) static HASH: MarkerStyle =
    MarkerStyle { begin: "# qipu:begin", close: "", end: "# qipu:end", has_fences: false };

/// The word in an opening marker for a file that did not exist before.
const MADE_FILE: &str = "made=file";
/// The word in an opening marker for a file whose last line had no line end.
const MADE_LINE_END: &str = "made=line-end";

/// What existed of a settings file before hooks were installed. The default is that of a file of the user's without hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PriorSettings {
    /// 0 for no file, 1 for a file without a value, 2 for a map, 3 for a map with `hooks`.
    pub(super) depth: usize,
    /// The number of folders created for the file.
    pub(super) folders: usize,
    /// The events whose lists existed.
    pub(super) events: Vec<String>,
}

impl Default for PriorSettings {
    fn default() -> Self {
        Self { depth: 2, folders: 0, events: Vec::new() }
    }
}

/// The content of an opening marker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OpeningMarker {
    /// The first 4 bytes of the text's SHA-256, as hex digits; see [`checksum`].
    pub(super) hash: String,
    /// The recipes that use the section, if several share it.
    pub(super) users: Vec<String>,
    /// Whether the file was created for the section.
    pub(super) is_file_made: bool,
    /// Whether a line end was added to the user's last line.
    pub(super) is_line_ended: bool,
    /// The number of folders created for the file.
    pub(super) folders: usize,
    /// For each recipe with a hook, what existed before the hook was installed. The name is empty if the recipe is the
    /// only user of the section.
    pub(super) settings: Vec<(String, PriorSettings)>,
}

impl OpeningMarker {
    /// Returns what existed before the hook of a recipe was installed.
    pub(super) fn settings_of(&self, user: &str) -> Option<PriorSettings> {
        let find = |name: &str| self.settings.iter().find(|(user, _)| user == name).map(|(_, prior)| prior.clone());
        find(user).or_else(|| find(""))
    }

    /// Parses a marker's line without the suffix. Unknown words are ignored.
    fn parse(line: &str) -> Self {
        let mut marker = Self::default();
        for word in line.split_whitespace() {
            match word.split_once('=') {
                Some(("hash", hash)) => marker.hash = hash.to_owned(),
                Some(("for", users)) => marker.users = users.split(',').map(str::to_owned).collect(),
                Some(("folders", count)) => marker.folders = count.parse().unwrap_or_default(),
                Some(("settings", given)) => {
                    marker.settings = given.split(',').filter_map(parse_settings).collect();
                }
                _ => {}
            }
        }
        Self { is_file_made: line.contains(MADE_FILE), is_line_ended: line.contains(MADE_LINE_END), ..marker }
    }

    /// Formats the marker line, without line end, for a section with this text.
    fn format(&self, style: &MarkerStyle, text: &str) -> String {
        let mut line = format!("{} version=1 hash={}", style.begin, checksum(text));
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
        let settings: Vec<String> = self.settings.iter().map(|(user, prior)| format_settings(user, prior)).collect();
        if !settings.is_empty() {
            add(format!("settings={}", settings.join(",")));
        }
        line + style.close
    }
}

/// Formats `user:depth/folders/event/event`.
fn format_settings(user: &str, prior: &PriorSettings) -> String {
    let user = if user.is_empty() { String::new() } else { format!("{user}:") };
    let events: String = prior.events.iter().map(|event| format!("/{event}")).collect();
    format!("{user}{}/{}{events}", prior.depth, prior.folders)
}

/// Parses `user:depth/folders/event/event`; user, folders and events may be missing.
fn parse_settings(given: &str) -> Option<(String, PriorSettings)> {
    let (user, given) = given.split_once(':').unwrap_or(("", given));
    let mut parts = given.split('/');
    let depth: u8 = parts.next()?.parse().ok()?;
    let folders = parts.next().unwrap_or("0").parse().ok()?;
    let events = parts.map(str::to_owned).collect();
    Some((user.to_owned(), PriorSettings { depth: usize::from(depth.min(3)), folders, events }))
}

/// Returns the first 4 bytes of a text's SHA-256 as 8 hex digits. CRLF counts as LF.
fn checksum(text: &str) -> String {
    let digest = Sha256::digest(text.replace("\r\n", "\n").as_bytes());
    hex(digest.get(..4).unwrap_or_default())
}

/// A section in a file, and the text around it.
#[derive(Debug)]
pub(super) struct ManagedSection<'a> {
    /// The text of the file.
    pub(super) file: &'a str,
    style: &'static MarkerStyle,
    before: &'a str,
    /// The opening marker.
    pub(super) marker: OpeningMarker,
    text: &'a str,
    /// The closing marker's line, with its line end if it has one.
    closing: &'a str,
    after: &'a str,
    line_end: &'static str,
}

/// Returns the text of a file with a section appended; `head` is the beginning of a new file.
pub(super) fn insert(style: &MarkerStyle, old: Option<&str>, head: &str, text: &str, marker: OpeningMarker) -> String {
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
    let opening = marker.format(style, text);
    let text = text.replace('\n', line_end);
    new.push_str(&format!("{opening}{line_end}{text}{}{line_end}", style.end));
    new
}

impl<'a> ManagedSection<'a> {
    /// Finds the section as [`ManagedSection::find`] does; errors name the file.
    pub(super) fn find_in(path: &str, style: &'static MarkerStyle, text: &'a str) -> Result<Option<Self>> {
        Self::find(style, text).with_context(|| format!("{path} contains a damaged qipu section"))
    }

    /// Finds the section; `None` if there is none. Markers count at the start of a line and outside of fenced blocks.
    ///
    /// # Errors
    /// If the markers are not one opening and then one closing marker: the text between others may be the user's.
    pub(super) fn find(style: &'static MarkerStyle, text: &'a str) -> Result<Option<Self>> {
        let markers = markers(style, text);
        let MarkerStyle { begin, end, .. } = style;
        let [(opening, true), (closing, false)] = markers.as_slice() else {
            if markers.is_empty() {
                return Ok(None);
            }
            bail!("expected one line that begins with `{begin}` and one line `{end}` after it");
        };
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        let section = Self {
            file: text,
            style,
            before: part(0..opening.start),
            marker: OpeningMarker::parse(part(opening.clone()).trim_end().trim_end_matches(style.close)),
            text: part(opening.end..closing.start),
            closing: part(closing.clone()),
            after: part(closing.end..text.len()),
            line_end: line_end(text.get(opening.start..).unwrap_or_default()),
        };
        if section.closing.trim_end() != *end {
            bail!("there is text after `{end}` on its line");
        }
        Ok(Some(section))
    }

    /// Tells whether the section has this text, whatever its line ends.
    pub(super) fn has_text(&self, text: &str) -> bool {
        self.text.replace("\r\n", "\n") == text
    }

    /// Tells whether the section was edited after it was written.
    pub(super) fn is_edited(&self) -> bool {
        !self.marker.hash.is_empty() && self.marker.hash != checksum(self.text)
    }

    /// Returns the text of the file with another text and marker in the section.
    pub(super) fn with_text(&self, text: &str, marker: &OpeningMarker) -> String {
        let opening = marker.format(self.style, text);
        let text = text.replace('\n', self.line_end);
        format!("{}{opening}{}{text}{}{}", self.before, self.line_end, self.closing, self.after)
    }

    /// Returns the text of the file with another marker above the unchanged section text.
    pub(super) fn with_marker(&self, marker: &OpeningMarker) -> String {
        let hash = self.marker.hash.clone();
        let opening = marker.format(self.style, self.text).replacen(&checksum(self.text), &hash, 1);
        format!("{}{opening}{}{}{}{}", self.before, self.line_end, self.text, self.closing, self.after)
    }

    /// Returns the text of the file without the section and without what was added around it; `None` if nothing is left
    /// of a file that was created with the beginning `head`.
    pub(super) fn removed(&self, head: &str) -> Option<String> {
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

/// Returns the ranges of the marker lines, and whether each is an opening one. A fence that is never closed hides
/// nothing.
fn markers(style: &MarkerStyle, text: &str) -> Vec<(Range<usize>, bool)> {
    let mut markers = Vec::new();
    let mut fenced = Vec::new();
    let mut fence: Option<&str> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let range = offset..offset + line.len();
        offset = range.end;
        let mark = ["```", "~~~"].into_iter().find(|mark| style.has_fences && line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                fenced.clear();
            }
            _ if line.starts_with(style.begin) || line.starts_with(style.end) => {
                let list = if fence.is_some() { &mut fenced } else { &mut markers };
                list.push((range, line.starts_with(style.begin)));
            }
            _ => {}
        }
    }
    markers.extend(fenced);
    markers
}
