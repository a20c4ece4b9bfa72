//! The format of the hooks of agent tools: JSON with the human format as one string.

use super::human::Human;
use super::tool_marks::without_tool_marks;
use super::{EntryText, Frame, FrameState, Included, Renderer, ShownPart};
use crate::escape::json_string;
use crate::report::{Entry, FormatDetail, HookEnvelope};

/// Writes a report as the answer of a hook. Each part of the human text is escaped by itself, so that lengths add up.
pub(super) struct HookRenderer<'a> {
    pub(super) text: Human<'a>,
    pub(super) envelope: HookEnvelope,
}

/// Escapes a text for the inside of a JSON string, in which no mark ends what the tool wraps around it, not even in code.
fn escaped_in_tags(text: &str) -> String {
    escaped(&without_tool_marks(text, false, |_| true))
}

/// Escapes a text for the inside of a JSON string.
pub(super) fn escaped(text: &str) -> String {
    let quoted = json_string(text);
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

impl Renderer for HookRenderer<'_> {
    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let mut parts: Vec<String> = self.text.frame(shown).0.iter().map(|part| escaped_in_tags(part)).collect();
        if let Some(first) = parts.first_mut() {
            first.insert_str(0, self.envelope.before);
        }
        if let Some(last) = parts.last_mut() {
            last.push_str(self.envelope.after);
        }
        Frame(parts)
    }

    fn render(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let mut out = self.text.render(index, shown_part, included);
        out.items.iter_mut().for_each(|item| item.text = escaped_in_tags(&item.text));
        out.closing = escaped_in_tags(&out.closing);
        out
    }

    fn detail(&self, entry: &Entry) -> FormatDetail {
        self.text.detail(entry)
    }
}
