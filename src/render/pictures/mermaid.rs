//! Mermaid, which many sites draw from markdown.

use super::super::{EntryText, Extent, Frame, FrameState, Included, Renderer};
use super::{LINKS, NOTES, counts, is_inline, label, shown_edges, title};
use crate::report::{Detail, EdgeEntry, Entry, NoteEntry, Report};

pub(super) const BEGINNING: &str = "%% qipu graph: ";
/// How it begins in a file of markdown.
pub(super) const FENCED: &str = "```mermaid\n%% qipu graph: ";

/// Renders a report as a flow chart. Notes go by the numbers of their places: ids may be words of the language.
pub(super) struct Mermaid<'a> {
    pub(super) report: &'a Report,
    /// Whether it stands in markdown.
    pub(super) is_fenced: bool,
}

impl Renderer for Mermaid<'_> {
    fn separator(&self) -> &'static str {
        ""
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let (beginning, end) = if self.is_fenced { (FENCED, "```\n") } else { (BEGINNING, "") };
        let before = format!("{beginning}{}\nflowchart LR\n", counts(self.report, shown));
        Frame(vec![before, String::new(), end.to_owned()])
    }

    fn render(&self, index: usize, _extent: Extent, included: &Included) -> EntryText {
        let mut out = EntryText::default();
        if let Some(entry) = self.report.entries.get(index).and_then(Entry::note) {
            out.add(NOTES, node(index, entry));
            shown_edges(entry, included).for_each(|edge| out.add(LINKS, arrow(index, entry, edge)));
        }
        out
    }

    fn detail(&self, _entry: &Entry) -> Detail {
        Detail::Name
    }
}

/// A note's shape tells of its type.
fn node(index: usize, entry: &NoteEntry) -> String {
    let note = &entry.note;
    let (open, close) = match note.kind.as_str() {
        "moc" => ("{{", "}}"),
        "journal" => ("[/", "/]"),
        "permanent" => ("[", "]"),
        _ => ("(", ")"),
    };
    format!("  n{index}{open}\"{} ({})\"{close}\n", escaped(&title(entry)), escaped(note.id.as_str()))
}

fn arrow(index: usize, entry: &NoteEntry, edge: &EdgeEntry) -> String {
    let is_outward = edge.from == entry.note.id;
    let (from, to) = if is_outward { (index, edge.other) } else { (edge.other, index) };
    let line = if is_inline(edge) { "-.->" } else { "-->" };
    format!("  n{from} {line}|\"{}\"| n{to}\n", escaped(&edge.kind))
}

/// Writes a text between quotes. Whatever could mean something to Mermaid, to markdown or to HTML, which labels
/// may hold, is written as the number of the character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = label(text);
    // What ends the first word could be the mark of a list's item.
    let begins = text.split(' ').next().map_or(0, str::len);
    for (place, c) in text.char_indices() {
        let is_plain = match c {
            ' ' | ',' | '/' | '\'' | '!' | '?' | '(' => true,
            '.' | '-' | '=' | ')' => place + 1 != begins,
            _ => c.is_alphanumeric() || !c.is_ascii(),
        };
        match is_plain {
            true => out.push(c),
            false => out.push_str(&format!("#{};", u32::from(c))),
        }
    }
    if out.is_empty() { "#8203;".to_owned() } else { out }
}
