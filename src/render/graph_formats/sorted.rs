//! The renderer of graphs whose lines are independent of one another.

use super::super::level_text::NoteView;
use super::super::{EntryText, Frame, FrameState, Included, Renderer, ShownPart};
use super::{counts, node_and_edges};
use crate::report::{EdgeEntry, NoteEntry, Report};

/// Writes a report as sorted lines of nodes and of edges, so that two graphs can be compared line by line.
pub(super) struct SortedGraph<'a> {
    pub(super) report: &'a Report,
    /// The text before the counts.
    pub(super) beginning: &'static str,
    /// The text between the counts and the nodes.
    pub(super) head: &'static str,
    /// The text after the edges.
    pub(super) end: &'static str,
    pub(super) node: fn(&NoteEntry) -> String,
    pub(super) edge: fn(&EdgeEntry) -> String,
}

impl Renderer for SortedGraph<'_> {
    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let before = format!("{}{}{}", self.beginning, counts(self.report, shown), self.head);
        Frame(vec![before, String::new(), self.end.to_owned()])
    }

    fn render(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let view = NoteView::of(self.report, index, shown_part, included);
        view.map(|view| node_and_edges(view, self.node, self.edge)).unwrap_or_default()
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn assemble(&self, frame: &Frame, texts: &[(usize, EntryText)]) -> String {
        let mut document = String::new();
        for (section, before) in frame.0.iter().enumerate() {
            document.push_str(before);
            let items = texts.iter().flat_map(|(_, text)| &text.items);
            let items = items.filter(|item| item.section == section);
            let mut lines: Vec<&str> = items.map(|item| item.text.as_str()).collect();
            lines.sort_unstable();
            document.extend(lines);
        }
        document
    }
}
