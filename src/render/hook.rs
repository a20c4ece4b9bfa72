//! The format of the hooks of agent tools: JSON with the human format as one string, and a receipt for the user.

use super::human::Human;
use super::tool_marks::without_tool_marks;
use super::{EntryText, Frame, FrameState, Included, Renderer, ShownPart};
use crate::escape::{json_string, one_line};
use crate::report::{Entry, Format, FormatDetail, HookEnvelope, counted};

/// The most characters of a receipt, and of a title in it.
const MAX_RECEIPT: usize = 120;
const MAX_TITLE: usize = 80;

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

/// Yields an answer with each receipt for notes of these titles, the longest first: the number of notes with all titles, with
/// fewer, and alone. Yields nothing in a format without receipts.
pub(crate) fn with_receipts(answer: &str, titles: &[&str], format: Format) -> impl Iterator<Item = String> {
    let member = if let Format::Hook(envelope) = format { envelope.receipt } else { None };
    let object = answer.trim_end();
    let object = object.strip_suffix('}').unwrap_or(object);
    member.into_iter().flat_map(move |member| {
        receipts(titles).map(move |receipt| format!("{object},\"{member}\":\"{}\"}}\n", escaped_in_tags(&receipt)))
    })
}

fn receipts(titles: &[&str]) -> impl Iterator<Item = String> + use<> {
    let head = format!("qipu: {}", counted(titles.len(), "note"));
    let count = titles.len();
    let titles: Vec<String> = titles.iter().map(|title| short_title(title)).collect();
    let receipt = move |named: usize| match titles.get(..named).unwrap_or_default() {
        [] => head.clone(),
        named => format!("{head} ({}{})", named.join("; "), if named.len() < titles.len() { "; …" } else { "" }),
    };
    (0..=count).rev().map(receipt).filter(|receipt| receipt.chars().count() <= MAX_RECEIPT)
}

fn short_title(title: &str) -> String {
    let title = one_line(title);
    match title.char_indices().nth(MAX_TITLE) {
        // Again, since the cut may leave a joiner at the end.
        Some((end, _)) => format!("{}…", one_line(title.get(..end).unwrap_or_default())),
        None => title,
    }
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
