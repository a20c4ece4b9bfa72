//! GraphML: XML for tools that work with graphs.

use super::sorted::SortedGraph;
use super::{tags, title};
use crate::escape::one_line;
use crate::report::{EdgeEntry, NoteEntry, Report};

pub(super) const BEGINNING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- qipu graph: ";

const KEYS: &str = " -->
<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">
  <key id=\"title\" for=\"node\" attr.name=\"title\" attr.type=\"string\"/>
  <key id=\"type\" for=\"node\" attr.name=\"type\" attr.type=\"string\"/>
  <key id=\"tags\" for=\"node\" attr.name=\"tags\" attr.type=\"string\"/>
  <key id=\"value\" for=\"node\" attr.name=\"value\" attr.type=\"int\"/>
  <key id=\"link\" for=\"edge\" attr.name=\"type\" attr.type=\"string\"/>
  <key id=\"source\" for=\"edge\" attr.name=\"source\" attr.type=\"string\"/>
  <graph id=\"qipu\" edgedefault=\"directed\">
";

pub(super) fn renderer(report: &Report) -> SortedGraph<'_> {
    SortedGraph { report, beginning: BEGINNING, head: KEYS, end: "  </graph>\n</graphml>\n", node, edge: arrow }
}

fn node(entry: &NoteEntry) -> String {
    let note = &entry.note;
    let data = data("title", &title(entry)) + &data("type", note.list_fields().kind) + &data("tags", &tags(entry));
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

/// Escapes a text. XML forbids two characters that are no control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
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
