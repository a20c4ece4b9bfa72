//! What agent tools read from a session-start hook: JSON with the human text as one string.

use super::human::Human;
use super::{EntryText, Extent, Frame, FrameState, Included, Renderer, join};
use crate::escape::json_string;
use crate::report::{Detail, Entry};

/// What stands around the text.
const BEFORE: &str = "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"";
const AFTER: &str = "\"}}\n";

/// Renders a report as the answer of a hook. Every part of the text becomes a part of the string.
pub(super) struct HookRenderer<'a> {
    pub(super) text: Human<'a>,
}

/// Writes a text as it stands inside a JSON string.
fn inside(text: &str) -> String {
    let quoted = json_string(text);
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

impl Renderer for HookRenderer<'_> {
    fn separator(&self) -> &'static str {
        ""
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let mut parts: Vec<String> = self.text.frame(shown).0.iter().map(|part| inside(part)).collect();
        if let Some(first) = parts.first_mut() {
            first.insert_str(0, BEFORE);
        }
        if let Some(last) = parts.last_mut() {
            last.push_str(AFTER);
        }
        Frame(parts)
    }

    fn render(&self, index: usize, extent: Extent, included: &Included) -> EntryText {
        let mut out = self.text.render(index, extent, included);
        out.items.iter_mut().for_each(|item| item.text = inside(&item.text));
        out
    }

    fn detail(&self, entry: &Entry) -> Detail {
        self.text.detail(entry)
    }

    fn assemble(&self, frame: &Frame, texts: &[(usize, EntryText)]) -> String {
        join(frame, texts, self.separator())
    }
}
