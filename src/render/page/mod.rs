//! `qipu export page`: a page without external files, in which notes are found, filtered, read and followed along their
//! links. Its second line has the numbers of notes.
//!
//! Notes are data, never code: JSON in an element that browsers do not run. The content security policy of the page
//! allows only the scripts and styles whose hashes it lists, and no connection.

mod markdown;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::level_text::NoteView;
use super::{EntryText, Frame, FrameState, Included, Renderer, ShownPart, shows_body};
use crate::escape::{escape_json, one_line};
use crate::report::Report;

const BEGINNING: &str = "<!doctype html>\n<!-- qipu export page: ";
/// The index of the section of notes.
const NOTES: usize = 0;
/// The index of the section of links.
const LINKS: usize = 1;

/// The library that computes the layout and draws it, as published (assets/README.md).
const LIBRARY: &str = include_str!("assets/force-graph.min.js");
const LICENCES: &str = include_str!("assets/licences.txt");
const SCRIPT: &str = include_str!("assets/page.js");
const STYLE: &str = include_str!("assets/page.css");
const BODY: &str = include_str!("assets/page.html");
/// The styles that the library adds to the page.
const LIBRARY_STYLES: [&str; 2] = [include_str!("assets/force-graph.css"), include_str!("assets/float-tooltip.css")];

pub(super) fn is_page(bytes: &[u8]) -> bool {
    bytes.starts_with(BEGINNING.as_bytes())
}

/// Writes a report as a page.
pub(super) struct Page<'a> {
    report: &'a Report,
    /// The page up to the data, which depends on no report.
    before: String,
    /// The page behind the data, which depends on no report.
    behind: String,
    /// The characters of both.
    constant_chars: usize,
}

impl<'a> Page<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let before = before();
        let behind = format!(
            "]}}</script>\n<script>{LIBRARY}</script>\n<script>{SCRIPT}</script>\n<!--\n{LICENCES}-->\n</body>\n</html>\n"
        );
        let constant_chars = before.chars().count() + behind.chars().count();
        Self { report, before, behind, constant_chars }
    }

    /// Returns the first line, and the data up to the list of notes.
    fn head(&self, shown: FrameState<'_>) -> [String; 2] {
        let head = &self.report.head;
        let facts = json!({
            "store": head.store.as_deref().map(one_line),
            "matched": head.matched,
            "truncated": shown.is_truncated,
        });
        let facts = data(&facts);
        let facts = facts.strip_suffix('}').unwrap_or_default();
        let FrameState { notes, is_truncated, .. } = shown;
        let first = format!("{BEGINNING}notes={notes} matched={} truncated={is_truncated} -->\n", head.matched);
        [first, format!("{facts},\"notes\":[\n")]
    }

    /// Returns the data of a note, and whether its text lacks its end.
    fn note(&self, view: NoteView<'_>) -> (Value, bool) {
        let (entry, note) = (view.entry, &view.entry.note);
        let (summary, is_summary_cut) = view.summary();
        let state = entry.state_in_words().map_or(String::new(), |words| format!(" [{words}]"));
        let mut object = json!({
            "id": note.id,
            "title": one_line(note.title()) + &state,
            "type": one_line(note.list_fields().kind),
            "tags": note.tags().iter().map(|tag| one_line(tag)).collect::<Vec<_>>(),
            "value": note.value_or_default(),
            "path": one_line(&self.report.head.path_of(note)),
            "changed": note.list_fields().changed_as_written().map(|stamp| one_line(stamp.as_str())),
        });
        if !entry.compacted.is_empty() {
            object["compacts"] = json!(entry.compacted);
        }
        let body = view.body(shows_body(self.report, true));
        let is_cut = is_summary_cut || body.as_ref().is_some_and(|(_, is_cut)| *is_cut);
        match body {
            Some((body, _)) => object["html"] = markdown::to_html(&body).into(),
            None => object["summary"] = summary.into(),
        }
        (object, is_cut)
    }
}

impl Renderer for Page<'_> {
    fn separator(&self, _section: usize) -> &'static str {
        ",\n"
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let [first, facts] = self.head(shown);
        Frame(vec![first + &self.before + &facts, "\n],\"links\":[\n".to_owned(), format!("\n{}", self.behind)])
    }

    fn frame_chars(&self, shown: FrameState<'_>) -> usize {
        let changing: usize = self.head(shown).iter().map(|part| part.chars().count()).sum();
        self.constant_chars + changing + "\n],\"links\":[\n\n".len()
    }

    fn render(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let Some(view) = NoteView::of(self.report, index, shown_part, included) else { return EntryText::default() };
        let (note, is_cut) = self.note(view);
        let mut out = EntryText { is_cut, ..EntryText::default() };
        out.add(NOTES, data(&note));
        for edge in view.edges() {
            let link = json!({"from": edge.from, "to": edge.to, "type": one_line(&edge.kind), "source": edge.sources});
            out.add(LINKS, data(&link));
        }
        out
    }
}

/// Returns JSON that can't end the element around it.
fn data(value: &Value) -> String {
    escape_json(value.to_string()).replace('<', "\\u003c")
}

/// Returns the page up to the data.
fn before() -> String {
    // The library adds its styles as empty elements first, and fills them then.
    let styles: Vec<String> = [STYLE, ""].iter().chain(&LIBRARY_STYLES).map(|style| hash(style)).collect();
    let scripts = [LIBRARY, SCRIPT].map(hash);
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}",
        styles.join(" "),
        scripts.join(" ")
    );
    format!(
        "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>qipu</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n{BODY}<script type=\"application/json\" id=\"data\">"
    )
}

/// Returns the hash by which a policy allows a script or style.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The policy allows all styles that the library adds.
    #[test]
    fn the_styles_of_the_library_are_known() {
        for style in LIBRARY_STYLES {
            let literal = Value::from(style).to_string();
            assert!(LIBRARY.contains(&literal), "{literal}");
        }
        assert_eq!(LIBRARY.matches("createElement(\"style\")").count(), LIBRARY_STYLES.len());
    }

    /// An end tag ends its element wherever it occurs.
    #[test]
    fn no_asset_ends_its_own_element() {
        for asset in [LIBRARY, SCRIPT] {
            assert!(!asset.to_ascii_lowercase().contains("</script") && !asset.contains("<!--"));
        }
        assert!(!STYLE.contains("</style") && !LICENCES.contains("--"));
    }
}
