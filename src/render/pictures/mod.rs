//! Pictures of notes and links, one file per form. Each says in its first line what it is and how much of the
//! selection it shows.

mod dot;
mod graphml;
mod html;
mod markdown;
mod mermaid;

use super::{EntryText, Frame, FrameState, Included, Renderer};
use crate::escape::one_line;
use crate::report::{EdgeEntry, NoteEntry, Picture, Report};

/// The sections of every picture.
const NOTES: usize = 0;
const LINKS: usize = 1;

/// Returns the renderer for a form.
pub(super) fn renderer(report: &Report, picture: Picture) -> Box<dyn Renderer + '_> {
    match picture {
        Picture::Dot => Box::new(dot::Dot { report }),
        Picture::Mermaid => Box::new(mermaid::Mermaid { report, is_fenced: false }),
        Picture::Markdown => Box::new(mermaid::Mermaid { report, is_fenced: true }),
        Picture::Graphml => Box::new(graphml::Graphml { report }),
        Picture::Html => Box::new(html::Html::new(report)),
    }
}

/// Tells whether a file holds a picture, or nothing: such a one may be replaced.
pub(crate) fn is_picture(bytes: &[u8]) -> bool {
    let beginnings = [dot::BEGINNING, mermaid::BEGINNING, mermaid::FENCED, graphml::BEGINNING, html::BEGINNING];
    bytes.is_empty() || beginnings.iter().any(|beginning| bytes.starts_with(beginning.as_bytes()))
}

/// Says how much is shown.
fn counts(report: &Report, shown: FrameState<'_>) -> String {
    format!("notes={} matched={} truncated={}", shown.notes, report.head.matched, shown.is_truncated)
}

/// Puts a text on one line on which every character stands where it is.
fn label(text: &str) -> String {
    one_line(text)
}

/// Returns a note's title, and why it no longer holds, where it doesn't.
fn title(entry: &NoteEntry) -> String {
    let retired = entry.retired.map_or(String::new(), |retired| format!(" [{}]", retired.words()));
    label(&entry.note.title) + &retired
}

fn tags(entry: &NoteEntry) -> String {
    let tags: Vec<String> = entry.note.tags.iter().map(|tag| label(tag)).collect();
    tags.join(", ")
}

/// Returns the links of a note with notes that are shown.
fn shown_edges<'a>(entry: &'a NoteEntry, included: &'a Included) -> impl Iterator<Item = &'a EdgeEntry> {
    entry.edges.iter().filter(|edge| included.has(edge.other))
}

/// Tells whether a link stands in a body only.
fn is_inline(edge: &EdgeEntry) -> bool {
    !edge.sources.contains(&"typed")
}

/// Puts a document together whose lines stand in the order of the ids they begin with, so that two pictures can
/// be compared line by line.
fn join_sorted(frame: &Frame, texts: &[(usize, EntryText)]) -> String {
    let mut text = String::new();
    for (section, around) in frame.0.iter().enumerate() {
        text.push_str(around);
        let items = texts.iter().flat_map(|(_, out)| &out.items);
        let mut items: Vec<&str> =
            items.filter(|item| item.section == section).map(|item| item.text.as_str()).collect();
        items.sort_unstable();
        text.extend(items);
    }
    text
}
