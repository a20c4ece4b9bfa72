//! The page of a note: its fields and body in wrapped lines, and its links in both directions.

use std::ops::Range;

use super::text::{self, one_line};
use crate::env::Today;
use crate::escape;
use crate::note::{NoteId, StyleSet, style_spans};
use crate::report::{Entry, Report};
use crate::store::NoteHandle;

/// The most bytes of a body that are shown. It bounds the cost of wrapping.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The distance between tab stops, in cells.
const TAB_WIDTH: usize = 4;

/// The kind of a line, which determines its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Title,
    /// Fields of the frontmatter, such as id, type and dates.
    Field,
    Tags,
    /// A diagnostic, or a reason not to rely on the note.
    Warning,
    Body,
}

/// A line before it is wrapped.
#[derive(Debug, Clone)]
pub(super) struct LogicalLine {
    pub(super) kind: LineKind,
    pub(super) text: String,
    /// The styles of the text, each from its byte offset to the next one; ascending.
    pub(super) style_changes: Vec<(usize, StyleSet)>,
}

/// A part of a line that fits on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrappedLine {
    /// The index of the line in [`NotePage::lines`].
    pub(super) line_idx: usize,
    /// The byte range of the part in the line.
    pub(super) range: Range<usize>,
    /// The indent, in cells.
    pub(super) indent: usize,
}

/// The direction of a link, as seen from the note of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkDirection {
    /// A link of the note.
    Out,
    /// A backlink.
    In,
    /// A link of the note whose target does not exist.
    Unresolved,
}

/// A link of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkLine {
    pub(super) direction: LinkDirection,
    /// The type as written, escaped for a terminal.
    pub(super) kind: String,
    /// The title of the other note, or the unresolved target; escaped for a terminal.
    pub(super) title: String,
    /// The other note; `None` if the target is unresolved.
    pub(super) to: Option<NoteId>,
}

/// A note, laid out for reading.
#[derive(Debug)]
pub(super) struct NotePage {
    pub(super) id: NoteId,
    pub(super) lines: Vec<LogicalLine>,
    /// The links; `None` until they are loaded.
    pub(super) links: Option<Vec<LinkLine>>,
    /// The lines as [`Self::wrap`] wrapped them for `width` cells.
    pub(super) wrapped_lines: Vec<WrappedLine>,
    width: usize,
}

impl NotePage {
    /// Lays out a note. `today` decides whether it has expired.
    pub(super) fn new(note: &NoteHandle, today: Today) -> Self {
        let mut lines = fields(note);
        if let Some(retired) = note.retired(|| today.day()) {
            lines.insert(1, unstyled(LineKind::Warning, format!("! {}", retired.words())));
        }
        if note.has_conflict() {
            lines.insert(1, unstyled(LineKind::Warning, "! unresolved merge conflict".to_owned()));
        }
        lines.push(unstyled(LineKind::Body, String::new()));
        let parsed = note.parsed_or_empty();
        let failure =
            note.read_failure().map(|error| unstyled(LineKind::Warning, format!("! {}", one_line(&error.message))));
        lines.extend(failure);
        let body = parsed.body().trim_end();
        lines.extend(body_lines(body, &style_spans(parsed.body())));
        if body.len() > MAX_BODY_BYTES {
            lines.push(unstyled(LineKind::Warning, format!("…truncated; the file has all {} bytes", body.len())));
        }
        Self { id: note.id.clone(), lines, links: None, wrapped_lines: Vec::new(), width: 0 }
    }

    /// Wraps the lines for a width in cells, unless they are wrapped for it. O(text).
    pub(super) fn wrap(&mut self, width: usize) {
        if self.width == width && !self.wrapped_lines.is_empty() {
            return;
        }
        self.width = width;
        self.wrapped_lines.clear();
        for (line_idx, line) in self.lines.iter().enumerate() {
            let hanging_indent = text::hanging_indent(&line.text).min(width / 2);
            for range in text::wrap(&line.text, width, hanging_indent) {
                let indent = if range.start == 0 { 0 } else { hanging_indent };
                self.wrapped_lines.push(WrappedLine { line_idx, range, indent });
            }
        }
    }
}

/// Returns the links in the report of `link list` for a note: its links, its backlinks, then unresolved ones.
pub(super) fn links(id: &NoteId, report: &Report) -> Vec<LinkLine> {
    let mut links = Vec::new();
    for entry in &report.entries {
        match entry {
            Entry::Note(entry) => links.extend(entry.edges.iter().map(|edge| {
                let direction = if edge.from == *id { LinkDirection::Out } else { LinkDirection::In };
                LinkLine {
                    direction,
                    kind: one_line(&edge.kind),
                    title: one_line(entry.note.title()),
                    to: Some(entry.note.id.clone()),
                }
            })),
            Entry::Unresolved { target, .. } => {
                let title = one_line(target);
                links.push(LinkLine { direction: LinkDirection::Unresolved, kind: String::new(), title, to: None });
            }
            _ => {}
        }
    }
    // The sort is stable: links of one direction keep the order of the report.
    links.sort_by_key(|link| link.direction as u8);
    links
}

fn unstyled(kind: LineKind, text: String) -> LogicalLine {
    LogicalLine { kind, text, style_changes: Vec::new() }
}

/// Returns the lines above the body: title, fields, tags and diagnostics.
fn fields(note: &NoteHandle) -> Vec<LogicalLine> {
    let (fields, extra) = (note.list_fields(), note.extra_fields());
    let mut lines = vec![unstyled(LineKind::Title, one_line(note.title()))];
    let mut facts = vec![note.id.to_string(), one_line(fields.kind)];
    facts.extend(note.identity().value.map(|value| format!("value {value}")));
    facts.extend(note.verified().map(|verified| if verified { "verified" } else { "not verified" }.to_owned()));
    facts.extend(fields.created_as_written().map(|stamp| format!("created {}", one_line(stamp.as_str()))));
    facts.extend(fields.updated_as_written().map(|stamp| format!("updated {}", one_line(stamp.as_str()))));
    let mut field = |text: String| lines.push(unstyled(LineKind::Field, text));
    field(facts.join(" · "));
    for alias in note.aliases() {
        field(format!("alias: {}", one_line(alias)));
    }
    for source in note.sources() {
        let title = source.title.as_deref().map(one_line).unwrap_or_default();
        field(format!("source: {} {title}", one_line(&source.url)).trim_end().to_owned());
    }
    for (key, value) in extra.custom.iter().chain(extra.unknown) {
        field(format!("{}: {}", one_line(key), one_line(&value.to_line())));
    }
    if let Some(summary) = fields.summary {
        field(format!("summary: {}", one_line(summary)));
    }
    let tags = note.tags();
    if !tags.is_empty() {
        let tags: Vec<String> = tags.iter().map(|tag| format!("#{}", one_line(tag))).collect();
        lines.push(unstyled(LineKind::Tags, tags.join(" ")));
    }
    let warnings = note.findings().map(|finding| format!("! {}", one_line(&finding.message)));
    lines.extend(warnings.map(|text| unstyled(LineKind::Warning, text)));
    lines
}

/// Returns the first [`MAX_BODY_BYTES`] of a body as lines, escaped for a terminal. `changes` are the styles of the body,
/// each from its byte offset to the next one.
fn body_lines(body: &str, changes: &[(usize, StyleSet)]) -> Vec<LogicalLine> {
    let body = body.get(..body.floor_char_boundary(MAX_BODY_BYTES)).unwrap_or(body);
    let mut changes = changes.iter().peekable();
    let mut styles = StyleSet::default();
    let mut lines = vec![unstyled(LineKind::Body, String::new())];
    let mut chars = body.char_indices().peekable();
    let mut column = 0;
    let mut filter = escape::EscapeFilter::default();
    while let Some((offset, c)) = chars.next() {
        while let Some((_, next)) = changes.next_if(|(from, _)| *from <= offset) {
            styles = *next;
        }
        if c == '\n' || c == '\r' {
            if c == '\r' {
                chars.next_if(|(_, next)| *next == '\n');
            }
            lines.push(unstyled(LineKind::Body, String::new()));
            column = 0;
            continue;
        }
        let Some(line) = lines.last_mut() else { continue };
        if line.style_changes.last().map_or(StyleSet::default(), |(_, last)| *last) != styles {
            line.style_changes.push((line.text.len(), styles));
        }
        if c == '\t' {
            let count = TAB_WIDTH - column % TAB_WIDTH;
            line.text.extend(std::iter::repeat_n(' ', count));
            column += count;
        } else if let Some(shown) = filter.shown(c, chars.peek().map(|(_, next)| *next)) {
            line.text.push(shown);
            column += 1;
        }
    }
    for line in &mut lines {
        line.limit_combining_marks();
    }
    lines
}

impl LogicalLine {
    /// Drops excess combining marks. Also drops the styles if their offsets no longer fit the text.
    fn limit_combining_marks(&mut self) {
        let text = text::limit_combining_marks(std::mem::take(&mut self.text));
        if self.style_changes.iter().any(|(offset, _)| !text.is_char_boundary(*offset)) {
            self.style_changes.clear();
        }
        self.text = text;
    }

    /// Splits a byte range of the text into runs of one style each.
    pub(super) fn styled_runs(&self, range: &Range<usize>) -> Vec<(&str, StyleSet)> {
        let mut runs = Vec::new();
        let mut start = range.start;
        let first = self.style_changes.partition_point(|(offset, _)| *offset <= start);
        let (before, after) = self.style_changes.split_at_checked(first).unwrap_or_default();
        let mut styles = before.last().map_or(StyleSet::default(), |(_, styles)| *styles);
        for (offset, next) in after.iter().take_while(|(offset, _)| *offset < range.end) {
            runs.extend(self.text.get(start..*offset).map(|text| (text, styles)));
            start = *offset;
            styles = *next;
        }
        runs.extend(self.text.get(start..range.end).map(|text| (text, styles)));
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::InlineStyle;

    fn page(text: &str) -> NotePage {
        let mut page =
            NotePage::new(&NoteHandle::parse("notes/qp-aaaa.md", text.as_bytes().to_vec()), Today::default());
        page.wrap(20);
        page
    }

    #[test]
    fn a_body_keeps_its_text_and_is_styled() {
        let page = page("---\nid: qp-aaaa\ntitle: T\n---\n# Head\n\nsome *text* `code`\n");
        let texts: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["T", "qp-aaaa · fleeting", "", "# Head", "", "some *text* `code`"]);
        assert!(page.lines[3].style_changes[0].1.has(InlineStyle::Heading));
        let runs = page.lines[5].styled_runs(&(0..page.lines[5].text.len()));
        let runs: Vec<(&str, bool, bool)> = runs
            .into_iter()
            .map(|(text, styles)| (text, styles.has(InlineStyle::Emphasis), styles.has(InlineStyle::Code)))
            .collect();
        assert_eq!(
            runs,
            [("some ", false, false), ("*text*", true, false), (" ", false, false), ("`code`", false, true)]
        );
    }
}
