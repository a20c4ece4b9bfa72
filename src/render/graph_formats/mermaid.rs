//! Mermaid (mermaid.js.org), which many sites draw from markdown.

use super::super::level_text::NoteView;
use super::super::{EntryText, Frame, FrameState, Included, Renderer, ShownPart};
use super::{counts, is_inline, node_and_edges, title};
use crate::escape::one_line;
use crate::report::{EdgeEntry, NoteEntry, Report};

pub(super) const BEGINNING: &str = "%% qipu graph: ";
/// The beginning of a markdown file.
pub(super) const FENCED: &str = "```mermaid\n%% qipu graph: ";

/// Writes a report as a flow chart. Nodes are named by the index of their entry, since ids may be keywords.
pub(super) struct Mermaid<'a> {
    pub(super) report: &'a Report,
    /// Whether the chart is a block of markdown.
    pub(super) is_fenced: bool,
}

impl Renderer for Mermaid<'_> {
    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let (beginning, end) = if self.is_fenced { (FENCED, "```\n") } else { (BEGINNING, "") };
        let before = format!("{beginning}{}\nflowchart LR\n", counts(self.report, shown));
        Frame(vec![before, String::new(), end.to_owned()])
    }

    fn render(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let view = NoteView::of(self.report, index, shown_part, included);
        let parts = |view: NoteView<'_>| {
            node_and_edges(view, |entry| node(index, entry), |edge| arrow(index, view.entry, edge))
        };
        view.map(parts).unwrap_or_default()
    }
}

/// Returns the node of a note, in a shape for its type.
fn node(index: usize, entry: &NoteEntry) -> String {
    let note = &entry.note;
    let (open, close) = match note.list_fields().kind {
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

/// Escapes a text for a quoted label: characters with a meaning in Mermaid, markdown or HTML become numeric entities.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = one_line(text);
    // The last character of the first word could end the mark of a list item.
    let first_word = text.split(' ').next().map_or(0, str::len);
    for (offset, c) in text.char_indices() {
        let is_plain = match c {
            ' ' | ',' | '/' | '\'' | '!' | '?' | '(' => true,
            '.' | '-' | '=' | ')' => offset + 1 != first_word,
            _ => c.is_alphanumeric() || !c.is_ascii(),
        };
        if is_plain {
            out.push(c);
        } else {
            out.push_str(&format!("#{};", u32::from(c)));
        }
    }
    if out.is_empty() { "#8203;".to_owned() } else { out }
}
