//! One page for a browser, which needs nothing but itself: find, filter, read notes and walk along their links.
//!
//! Notes are data in it, never code: JSON in an element that browsers don't run. Besides, the page's own policy lets
//! only the scripts and styles run whose hashes it names, and lets nothing out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::super::{EntryText, Extent, Frame, FrameState, Included, Renderer, body_text, shows_body, summary_text};
use super::{LINKS, NOTES, counts, label, markdown, shown_edges, title};
use crate::escape::harmless_json;
use crate::report::{Detail, Entry, NoteEntry, Report};

pub(super) const BEGINNING: &str = "<!doctype html>\n<!-- qipu graph: ";

/// The library that lays out and draws, as it is published (assets/README.md).
const LIBRARY: &str = include_str!("assets/force-graph.min.js");
const LICENCES: &str = include_str!("assets/licences.txt");
const SCRIPT: &str = include_str!("assets/page.js");
const STYLE: &str = include_str!("assets/page.css");
const BODY: &str = include_str!("assets/page.html");
/// What the library adds to the page's styles.
const LIBRARY_STYLES: [&str; 2] = [include_str!("assets/force-graph.css"), include_str!("assets/float-tooltip.css")];

/// Renders a report as a page.
pub(super) struct Html<'a> {
    report: &'a Report,
    /// What stands before and behind the data; the same whatever is shown.
    before: String,
    behind: String,
    constant_chars: usize,
}

impl<'a> Html<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let before = before();
        let behind = format!(
            "]}}</script>\n<script>{LIBRARY}</script>\n<script>{SCRIPT}</script>\n<!--\n{LICENCES}-->\n</body>\n</html>\n"
        );
        let constant_chars = before.chars().count() + behind.chars().count();
        Self { report, before, behind, constant_chars }
    }

    /// Returns what is said of the whole, up to the list of notes.
    fn head(&self, shown: FrameState<'_>) -> [String; 2] {
        let head = &self.report.head;
        let facts = json!({
            "store": head.store.as_deref().map(label),
            "matched": head.matched,
            "truncated": shown.is_truncated,
        });
        let facts = data(&facts);
        let facts = facts.strip_suffix('}').unwrap_or_default();
        [format!("{BEGINNING}{} -->\n", counts(self.report, shown)), format!("{facts},\"notes\":[\n")]
    }

    fn note(&self, entry: &NoteEntry, extent: Extent) -> (Value, bool) {
        let note = &entry.note;
        let (summary, mut is_cut) = summary_text(entry.summary().as_deref(), extent);
        let mut object = json!({
            "id": note.id.as_str(),
            "title": title(entry),
            "type": label(&note.kind),
            "tags": note.tags.iter().map(|tag| label(tag)).collect::<Vec<_>>(),
            "value": note.value_or_default(),
            "path": label(&self.report.head.path_from_current_dir(&note.path)),
            "changed": note.changed().map(|stamp| label(stamp.as_str())),
        });
        if !entry.compacted.is_empty() {
            object["compacts"] = entry.compacted.iter().map(|id| json!(id.as_str())).collect();
        }
        match body_text(entry, extent, shows_body(self.report, true)) {
            Some((body, body_cut)) => {
                is_cut |= body_cut;
                object["html"] = markdown::to_html(&body).into();
            }
            None => object["summary"] = summary.into(),
        }
        (object, is_cut)
    }
}

impl Renderer for Html<'_> {
    fn separator(&self) -> &'static str {
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

    fn render(&self, index: usize, extent: Extent, included: &Included) -> EntryText {
        let mut out = EntryText::default();
        if let Some(entry) = self.report.entries.get(index).and_then(Entry::note) {
            let (note, is_cut) = self.note(entry, extent);
            out.add(NOTES, data(&note));
            out.is_cut = is_cut;
            for edge in shown_edges(entry, included) {
                let (from, to) = (edge.from.as_str(), edge.to.as_str());
                let link = json!({"from": from, "to": to, "type": label(&edge.kind), "source": edge.sources});
                out.add(LINKS, data(&link));
            }
        }
        out
    }

    fn detail(&self, _entry: &Entry) -> Detail {
        // Markdown may be longer than what is seen of it.
        Detail::Name
    }
}

/// Writes data that can't end the element in which it stands.
fn data(value: &Value) -> String {
    harmless_json(value.to_string()).replace('<', "\\u003c")
}

/// Returns the page up to the data.
fn before() -> String {
    // The library adds its styles as empty elements and fills them then.
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
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>qipu graph</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n{BODY}<script type=\"application/json\" id=\"data\">"
    )
}

/// Returns how a policy names a script or style.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the library puts into the page is what the policy allows.
    #[test]
    fn the_styles_of_the_library_are_known() {
        for style in LIBRARY_STYLES {
            let literal = Value::from(style).to_string();
            assert!(LIBRARY.contains(&literal), "{literal}");
        }
        assert_eq!(LIBRARY.matches("createElement(\"style\")").count(), LIBRARY_STYLES.len());
    }

    /// An element ends where its end tag stands, whatever it holds.
    #[test]
    fn no_asset_ends_its_own_element() {
        for asset in [LIBRARY, SCRIPT] {
            assert!(!asset.to_ascii_lowercase().contains("</script") && !asset.contains("<!--"));
        }
        assert!(!STYLE.contains("</style") && !LICENCES.contains("--"));
    }
}
