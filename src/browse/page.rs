//! A note as it is read on a screen: its fields and body in wrapped lines, its links both ways.

use std::ops::Range;

use super::text::{self, one_line};
use crate::env::Today;
use crate::escape;
use crate::note::{IMPORTED, Note, NoteId, StyleSet};
use crate::report::{Entry, Report};

/// The most bytes of a body that are shown: far more than anybody reads on a screen.
const MAX_BODY: usize = 1024 * 1024;

/// How far apart the columns are that a tab jumps to.
const TAB: usize = 4;

/// What a line of a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// The title.
    Title,
    /// Id, type, dates and other fields.
    Field,
    /// The tags.
    Tags,
    /// Something odd about the note, or that it no longer holds.
    Odd,
    /// A line of the body.
    Body,
}

/// A line before it is wrapped.
#[derive(Debug, Clone)]
pub(super) struct LogicalLine {
    pub(super) kind: LineKind,
    pub(super) text: String,
    /// Where its marks change, in bytes, and what they are from there on.
    pub(super) marks: Vec<(usize, StyleSet)>,
}

/// A piece of a line that fits on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrappedLine {
    /// The line.
    pub(super) line: usize,
    /// Its bytes that are shown.
    pub(super) range: Range<usize>,
    /// How many cells it is indented.
    pub(super) indent: usize,
}

/// Which way a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkDirection {
    /// From the note.
    Out,
    /// To the note.
    In,
    /// To nothing that exists.
    Nowhere,
}

/// A link of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkLine {
    pub(super) way: LinkDirection,
    /// The type as it is written, made harmless.
    pub(super) kind: String,
    /// The title at the other end, or what is named and does not exist, made harmless.
    pub(super) title: String,
    /// The note at the other end.
    pub(super) to: Option<NoteId>,
}

/// A note as it is read.
#[derive(Debug)]
pub(super) struct NotePage {
    pub(super) id: NoteId,
    pub(super) lines: Vec<LogicalLine>,
    /// The links; `None` until somebody looked for them.
    pub(super) links: Option<Vec<LinkLine>>,
    /// The pieces of the lines, and the width that they were made for.
    pieces: Vec<WrappedLine>,
    width: usize,
}

impl NotePage {
    /// Reads a note.
    pub(super) fn new(note: &Note, today: Today) -> Self {
        let mut lines = fields(note);
        if let Some(retired) = note.retired(|| today.day()) {
            lines.insert(1, plain(LineKind::Odd, format!("! {}", retired.words())));
        }
        lines.push(plain(LineKind::Body, String::new()));
        let body = note.body().trim_end();
        lines.extend(body_lines(body, &note.marked()));
        if body.len() > MAX_BODY {
            lines.push(plain(LineKind::Odd, format!("…the rest of {} bytes is in its file", body.len())));
        }
        Self { id: note.id.clone(), lines, links: None, pieces: Vec::new(), width: 0 }
    }

    /// Wraps the lines for a width, where that was not done yet.
    pub(super) fn wrap(&mut self, width: usize) {
        if self.width == width && !self.pieces.is_empty() {
            return;
        }
        self.width = width;
        self.pieces.clear();
        for (number, line) in self.lines.iter().enumerate() {
            let hang = text::hang(&line.text).min(width / 2);
            let pieces = text::wrap(&line.text, width, hang).into_iter().enumerate();
            self.pieces.extend(pieces.map(|(nth, range)| WrappedLine {
                line: number,
                range,
                indent: if nth == 0 { 0 } else { hang },
            }));
        }
    }

    /// Returns what fits on the screen, in pieces.
    pub(super) fn pieces(&self) -> &[WrappedLine] {
        &self.pieces
    }
}

/// Reads the links at a note out of the answer of `link list`.
pub(super) fn links(id: &NoteId, report: &Report) -> Vec<LinkLine> {
    let mut links = Vec::new();
    for entry in &report.entries {
        match entry {
            Entry::Note(entry) => links.extend(entry.edges.iter().map(|edge| {
                let way = if edge.from == *id { LinkDirection::Out } else { LinkDirection::In };
                LinkLine {
                    way,
                    kind: one_line(&edge.kind),
                    title: one_line(entry.note.title()),
                    to: Some(entry.note.id.clone()),
                }
            })),
            Entry::Unresolved { target, .. } => {
                let title = one_line(target);
                links.push(LinkLine { way: LinkDirection::Nowhere, kind: String::new(), title, to: None });
            }
            _ => {}
        }
    }
    // Stable: inside each way, the order of the answer.
    links.sort_by_key(|link| link.way as u8);
    links
}

fn plain(kind: LineKind, text: String) -> LogicalLine {
    LogicalLine { kind, text, marks: Vec::new() }
}

/// Returns what a note says of itself, a line each.
fn fields(note: &Note) -> Vec<LogicalLine> {
    let mut lines = vec![plain(LineKind::Title, one_line(&note.title))];
    let mut facts = vec![note.id.to_string(), one_line(&note.kind)];
    facts.extend(note.value.map(|value| format!("value {value}")));
    facts.extend(note.verified.map(|verified| if verified { "verified" } else { "not verified" }.to_owned()));
    facts.extend(note.created.as_ref().map(|stamp| format!("created {}", one_line(stamp.as_str()))));
    facts.extend(note.updated.as_ref().map(|stamp| format!("updated {}", one_line(stamp.as_str()))));
    let mut field = |text: String| lines.push(plain(LineKind::Field, text));
    field(facts.join(" · "));
    for alias in &note.aliases {
        field(format!("alias: {}", one_line(alias)));
    }
    for source in &note.sources {
        let title = source.title.as_deref().map(one_line).unwrap_or_default();
        field(format!("source: {} {title}", one_line(&source.url)).trim_end().to_owned());
    }
    for (key, value) in note.custom.iter().chain(&note.unknown).filter(|(key, _)| key != IMPORTED) {
        field(format!("{}: {}", one_line(key), one_line(&value.to_line())));
    }
    if let Some(summary) = note.summary_field() {
        field(format!("summary: {}", one_line(summary)));
    }
    if !note.tags.is_empty() {
        let tags: Vec<String> = note.tags.iter().map(|tag| format!("#{}", one_line(tag))).collect();
        lines.push(plain(LineKind::Tags, tags.join(" ")));
    }
    let odd = note.findings.iter().map(|finding| plain(LineKind::Odd, format!("! {}", one_line(&finding.message))));
    lines.extend(odd);
    lines
}

/// Returns the lines of a body, made harmless, with their marks.
fn body_lines(body: &str, changes: &[(usize, StyleSet)]) -> Vec<LogicalLine> {
    let body = body.get(..body.floor_char_boundary(MAX_BODY)).unwrap_or(body);
    let mut changes = changes.iter().peekable();
    let mut marks = StyleSet::default();
    let mut lines = vec![plain(LineKind::Body, String::new())];
    let mut chars = body.char_indices().peekable();
    let mut column = 0;
    let mut filter = escape::EscapeFilter::default();
    while let Some((at, c)) = chars.next() {
        while let Some((_, next)) = changes.next_if(|(from, _)| *from <= at) {
            marks = *next;
        }
        if c == '\n' || c == '\r' {
            if c == '\r' {
                chars.next_if(|(_, next)| *next == '\n');
            }
            lines.push(plain(LineKind::Body, String::new()));
            column = 0;
            continue;
        }
        let Some(line) = lines.last_mut() else { continue };
        if line.marks.last().map_or(StyleSet::default(), |(_, last)| *last) != marks {
            line.marks.push((line.text.len(), marks));
        }
        if c == '\t' {
            let count = TAB - column % TAB;
            line.text.extend(std::iter::repeat_n(' ', count));
            column += count;
        } else if let Some(sign) = filter.shown(c, chars.peek().map(|(_, next)| *next)) {
            line.text.push(sign);
            column += 1;
        }
    }
    for line in &mut lines {
        line.thin();
    }
    lines
}

impl LogicalLine {
    /// Takes piled-up marks away; a text so odd needs no looks.
    fn thin(&mut self) {
        let text = text::thinned(std::mem::take(&mut self.text));
        if self.marks.iter().any(|(at, _)| !text.is_char_boundary(*at)) {
            self.marks.clear();
        }
        self.text = text;
    }

    /// Returns the pieces of a range of the text that look alike.
    pub(super) fn looks(&self, range: &Range<usize>) -> Vec<(&str, StyleSet)> {
        let mut looks = Vec::new();
        let mut start = range.start;
        let first = self.marks.partition_point(|(at, _)| *at <= start);
        let (before, after) = self.marks.split_at_checked(first).unwrap_or_default();
        let mut marks = before.last().map_or(StyleSet::default(), |(_, marks)| *marks);
        for (at, next) in after.iter().take_while(|(at, _)| *at < range.end) {
            looks.extend(self.text.get(start..*at).map(|text| (text, marks)));
            (start, marks) = (*at, *next);
        }
        looks.extend(self.text.get(start..range.end).map(|text| (text, marks)));
        looks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::InlineStyle;

    fn page(text: &str) -> NotePage {
        let mut page = NotePage::new(&Note::parse("notes/qp-aaaa.md", text.as_bytes().to_vec()), Today::default());
        page.wrap(20);
        page
    }

    #[test]
    fn a_body_keeps_its_text_and_gets_looks() {
        let page = page("---\nid: qp-aaaa\ntitle: T\n---\n# Head\n\nsome *text* `code`\n");
        let texts: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["T", "qp-aaaa · fleeting", "", "# Head", "", "some *text* `code`"]);
        assert!(page.lines[3].marks[0].1.has(InlineStyle::Heading));
        let looks = page.lines[5].looks(&(0..page.lines[5].text.len()));
        let looks: Vec<(&str, bool, bool)> = looks
            .into_iter()
            .map(|(text, marks)| (text, marks.has(InlineStyle::Emphasis), marks.has(InlineStyle::Code)))
            .collect();
        assert_eq!(
            looks,
            [("some ", false, false), ("*text*", true, false), (" ", false, false), ("`code`", false, true)]
        );
    }

    #[test]
    fn nothing_in_a_note_steers_the_terminal() {
        let hostile = "---\nid: qp-aaaa\ntitle: \"a\\e[31mb\\u202ec\"\ntags: [\"x\\ny\"]\n---\na\u{1b}[2Jb\r\nc\u{202e}d\u{85}\te";
        let page = page(hostile);
        for line in &page.lines {
            assert!(!line.text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{:?}", line.text);
        }
        assert_eq!(page.lines[0].text, "a␛[31mb\u{fffd}c");
    }

    #[test]
    fn pieces_cover_every_line() {
        let page = page(&format!("{}\n", "word ".repeat(50)));
        for (number, line) in page.lines.iter().enumerate() {
            let pieces = page.pieces().iter().filter(|piece| piece.line == number);
            let text: String = pieces.map(|piece| line.text.get(piece.range.clone()).unwrap()).collect();
            assert_eq!(text, line.text);
        }
        assert!(page.pieces().len() > 10);
    }
}
