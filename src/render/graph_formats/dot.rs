//! DOT, the language of Graphviz (graphviz.org/doc/info/lang.html).

use super::sorted::SortedGraph;
use super::{is_inline, tags, title};
use crate::escape::one_line;
use crate::report::{EdgeEntry, NoteEntry, Report};

pub(super) const BEGINNING: &str = "// qipu graph: ";

const STYLE: &str = "
digraph qipu {
  graph [overlap=false, splines=true];
  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f1f5f9\", color=\"#94a3b8\", fontname=\"sans-serif\"];
  edge [color=\"#64748b\", fontname=\"sans-serif\", fontsize=10];
";

pub(super) fn renderer(report: &Report) -> SortedGraph<'_> {
    SortedGraph { report, beginning: BEGINNING, head: STYLE, end: "}\n", node, edge: arrow }
}

/// Returns the colour of a note type; `None` for other types than the usual ones.
fn fill(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "moc" => "#fde68a",
        "permanent" => "#bfdbfe",
        "literature" => "#bbf7d0",
        "fleeting" => "#fecaca",
        "journal" => "#ddd6fe",
        _ => return None,
    })
}

fn node(entry: &NoteEntry) -> String {
    let note = &entry.note;
    let fill = fill(note.list_fields().kind).map_or(String::new(), |fill| format!(", fillcolor=\"{fill}\""));
    let (title, kind, tags) = (quoted(&title(entry)), quoted(note.list_fields().kind), quoted(&tags(entry)));
    let value = note.value_or_default();
    format!("  \"{}\" [label={title}, type={kind}, tags={tags}, value={value}{fill}];\n", note.id)
}

fn arrow(edge: &EdgeEntry) -> String {
    let style = if is_inline(edge) { ", style=dashed" } else { "" };
    format!("  \"{}\" -> \"{}\" [label={}{style}];\n", edge.from, edge.to, quoted(&edge.kind))
}

/// Returns a string of DOT. A backslash would begin an escape, an ampersand an entity.
fn quoted(text: &str) -> String {
    let text = one_line(text).replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;");
    format!("\"{text}\"")
}
