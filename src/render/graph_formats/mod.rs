//! Graphs of notes and links, one file per form. The first line of each names the format and the numbers of notes.

mod dot;
mod graphml;
mod html;
mod markdown;
mod mermaid;
mod sorted;

use super::level_text::NoteView;
use super::{EntryText, FrameState, Renderer, joined_lines};
use crate::escape::one_line;
use crate::report::{EdgeEntry, GraphFormat, NoteEntry, Report};

/// The index of the section of notes.
const NOTES: usize = 0;
/// The index of the section of links.
const LINKS: usize = 1;

pub(super) fn renderer(report: &Report, format: GraphFormat) -> Box<dyn Renderer + '_> {
    match format {
        GraphFormat::Dot => Box::new(dot::renderer(report)),
        GraphFormat::Mermaid => Box::new(mermaid::Mermaid { report, is_fenced: false }),
        GraphFormat::Markdown => Box::new(mermaid::Mermaid { report, is_fenced: true }),
        GraphFormat::Graphml => Box::new(graphml::renderer(report)),
        GraphFormat::Html => Box::new(html::Html::new(report)),
    }
}

/// Whether a file contains a graph, or nothing, so that it may be replaced.
pub(crate) fn is_graph_file(bytes: &[u8]) -> bool {
    let beginnings = [dot::BEGINNING, mermaid::BEGINNING, mermaid::FENCED, graphml::BEGINNING, html::BEGINNING];
    bytes.is_empty() || beginnings.iter().any(|beginning| bytes.starts_with(beginning.as_bytes()))
}

/// Returns the numbers of notes.
fn counts(report: &Report, shown: FrameState<'_>) -> String {
    format!("notes={} matched={} truncated={}", shown.notes, report.head.matched, shown.is_truncated)
}

/// Returns the title of a note, whether it holds and what it replaces.
fn title(entry: &NoteEntry) -> String {
    let state = entry.state_in_words().map_or(String::new(), |words| format!(" [{words}]"));
    one_line(entry.note.title()) + &state
}

fn tags(entry: &NoteEntry) -> String {
    joined_lines(&entry.note.tags(), ", ")
}

/// Returns the node of a note and its edges to included notes.
fn node_and_edges(
    view: NoteView<'_>,
    node: impl FnOnce(&NoteEntry) -> String,
    edge: impl Fn(&EdgeEntry) -> String,
) -> EntryText {
    let mut out = EntryText::default();
    out.add(NOTES, node(view.entry));
    view.edges().for_each(|shown| out.add(LINKS, edge(shown)));
    out
}

/// Whether a link is written in a body only.
fn is_inline(edge: &EdgeEntry) -> bool {
    !edge.sources.contains(&"typed")
}
