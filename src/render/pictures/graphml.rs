//! GraphML: XML for tools that work with graphs.

use super::super::{EntryText, Extent, Frame, FrameState, Included, Renderer};
use super::{LINKS, NOTES, counts, join_sorted, label, shown_edges, tags, title};
use crate::report::{Detail, EdgeEntry, Entry, NoteEntry, Report};

pub(super) const BEGINNING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- qipu graph: ";

const KEYS: &str = "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">
  <key id=\"title\" for=\"node\" attr.name=\"title\" attr.type=\"string\"/>
  <key id=\"type\" for=\"node\" attr.name=\"type\" attr.type=\"string\"/>
  <key id=\"tags\" for=\"node\" attr.name=\"tags\" attr.type=\"string\"/>
  <key id=\"value\" for=\"node\" attr.name=\"value\" attr.type=\"int\"/>
  <key id=\"link\" for=\"edge\" attr.name=\"type\" attr.type=\"string\"/>
  <key id=\"source\" for=\"edge\" attr.name=\"source\" attr.type=\"string\"/>
  <graph id=\"qipu\" edgedefault=\"directed\">
";

/// Renders a report as GraphML.
pub(super) struct Graphml<'a> {
    pub(super) report: &'a Report,
}

impl Renderer for Graphml<'_> {
    fn separator(&self) -> &'static str {
        ""
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let before = format!("{BEGINNING}{} -->\n{KEYS}", counts(self.report, shown));
        Frame(vec![before, String::new(), "  </graph>\n</graphml>\n".to_owned()])
    }

    fn render(&self, index: usize, _extent: Extent, included: &Included) -> EntryText {
        let mut out = EntryText::default();
        if let Some(entry) = self.report.entries.get(index).and_then(Entry::note) {
            out.add(NOTES, node(entry));
            shown_edges(entry, included).for_each(|edge| out.add(LINKS, arrow(edge)));
        }
        out
    }

    fn detail(&self, _entry: &Entry) -> Detail {
        Detail::Name
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn assemble(&self, frame: &Frame, texts: &[(usize, EntryText)]) -> String {
        join_sorted(frame, texts)
    }
}

fn node(entry: &NoteEntry) -> String {
    let note = &entry.note;
    let data = data("title", &title(entry)) + &data("type", &note.kind) + &data("tags", &tags(entry));
    let value = note.value_or_default();
    format!("    <node id=\"{}\">{data}<data key=\"value\">{value}</data></node>\n", note.id)
}

fn arrow(edge: &EdgeEntry) -> String {
    let data = data("link", &edge.kind) + &data("source", &edge.sources.join(" "));
    format!("    <edge source=\"{}\" target=\"{}\">{data}</edge>\n", edge.from, edge.to)
}

fn data(key: &str, text: &str) -> String {
    format!("<data key=\"{key}\">{}</data>", escaped(text))
}

/// Writes a text. Two characters that are no control characters may not stand in XML either.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in label(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
