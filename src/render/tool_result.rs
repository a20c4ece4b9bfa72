//! The result of an MCP tool: one JSON object with a text for the model and, if programs asked for it, the JSON format.

use super::hook::escaped;
use super::json::Json;
use super::{EntryText, Frame, FrameState, Included, Renderer, ShownPart};
use crate::report::{Entry, FormatDetail};

const BEFORE: &str = "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"";
const AFTER_TEXT: &str = "\"}]";
const BEFORE_STRUCTURED: &str = ",\"structuredContent\":";
const AFTER: &str = ",\"isError\":false}";

/// The section of the text. Those of the JSON format follow.
const TEXT: usize = 0;

/// Writes a report as the result of a tool. Each part of the text is escaped by itself, so that lengths add up.
pub(super) struct ToolResult<'a> {
    /// The text for the model, in one section.
    pub(super) text: Box<dyn Renderer + 'a>,
    pub(super) structured: Option<Json<'a>>,
}

impl Renderer for ToolResult<'_> {
    fn separator(&self, section: usize) -> &'static str {
        match self.text.separator(TEXT) {
            _ if section != TEXT => ",",
            "\n" => "\\n",
            separator => separator,
        }
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let mut parts = vec![BEFORE.to_owned()];
        append(&mut parts, self.text.frame(shown).0.iter().map(|part| escaped(part)));
        append(&mut parts, [AFTER_TEXT.to_owned()]);
        if let Some(json) = &self.structured {
            append(&mut parts, [BEFORE_STRUCTURED.to_owned()]);
            append(&mut parts, json.frame(shown).0.iter().map(|part| part.trim_end_matches('\n').to_owned()));
        }
        append(&mut parts, [AFTER.to_owned()]);
        Frame(parts)
    }

    fn render(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let mut out = self.text.render(index, shown_part, included);
        out.items.iter_mut().for_each(|item| item.text = escaped(&item.text));
        out.closing = escaped(&out.closing);
        if let Some(json) = &self.structured {
            let structured = json.render(index, shown_part, included);
            out.is_cut |= structured.is_cut;
            structured.items.into_iter().for_each(|item| out.add(TEXT + 1 + item.section, item.text));
        }
        out
    }

    fn detail(&self, entry: &Entry) -> FormatDetail {
        self.text.detail(entry)
    }

    fn is_linear(&self) -> bool {
        false
    }
}

/// Appends texts, the first of them to the last part.
fn append(parts: &mut Vec<String>, texts: impl IntoIterator<Item = String>) {
    let mut texts = texts.into_iter();
    parts.iter_mut().last().into_iter().for_each(|last| last.extend(texts.next()));
    parts.extend(texts);
}
