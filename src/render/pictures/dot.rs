//! DOT, the language of Graphviz.

use super::super::{EntryText, Extent, Frame, FrameState, Included, Renderer};
use super::{LINKS, NOTES, counts, is_inline, join_sorted, label, shown_edges, tags, title};
use crate::report::{Detail, EdgeEntry, Entry, NoteEntry, Report};

pub(super) const BEGINNING: &str = "// qipu graph: ";

const STYLE: &str = "digraph qipu {
  graph [overlap=false, splines=true];
  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f1f5f9\", color=\"#94a3b8\", fontname=\"sans-serif\"];
  edge [color=\"#64748b\", fontname=\"sans-serif\", fontsize=10];
";

/// Renders a report for Graphviz.
pub(super) struct Dot<'a> {
    pub(super) report: &'a Report,
}

impl Renderer for Dot<'_> {
    fn separator(&self) -> &'static str {
        ""
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let before = format!("{BEGINNING}{}\n{STYLE}", counts(self.report, shown));
        Frame(vec![before, String::new(), "}\n".to_owned()])
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

/// Fills a note by its type; other types have no colour of their own.
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
    let fill = fill(&note.kind).map_or(String::new(), |fill| format!(", fillcolor=\"{fill}\""));
    let (title, kind, tags) = (quoted(&title(entry)), quoted(&note.kind), quoted(&tags(entry)));
    let value = note.value_or_default();
    format!("  \"{}\" [label={title}, type={kind}, tags={tags}, value={value}{fill}];\n", note.id)
}

fn arrow(edge: &EdgeEntry) -> String {
    let style = if is_inline(edge) { ", style=dashed" } else { "" };
    format!("  \"{}\" -> \"{}\" [label={}{style}];\n", edge.from, edge.to, quoted(&edge.kind))
}

/// Writes a string. A backslash would begin an escape, an ampersand an entity.
fn quoted(text: &str) -> String {
    let text = label(text).replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;");
    format!("\"{text}\"")
}
