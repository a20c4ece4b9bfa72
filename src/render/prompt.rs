//! The prompt format: a section of a model's prompt, a note a list item. What notes say is indented so
//! far that nothing in it is a heading or an item.

use super::content::{Content, content};
use super::human::Human;
use super::{BANNER, Extent, Frame, Kept, Piece, Renderer, Shown};
use crate::escape::{lines, one_line};
use crate::report::{Belief, Detail, Entry, Level, NoteEntry, Report};
use crate::tokens::Tokenizer;

/// Deeper than an item's text by four: markdown sees no heading, rule, quote or list there.
const INDENT: &str = "      ";

/// Renders a report as a section of a prompt.
pub(super) struct Prompt<'a> {
    pub(super) report: &'a Report,
    pub(super) tokenizer: Tokenizer,
    /// What stands beside notes is written as for people.
    pub(super) human: Human<'a>,
}

impl Renderer for Prompt<'_> {
    fn separator(&self) -> &'static str {
        ""
    }

    fn frame(&self, shown: Shown<'_>) -> Frame {
        let mut before = String::from("## Relevant Knowledge (from qipu)\n\n");
        if self.report.head.banner.unwrap_or(true) {
            before.push_str(&format!("{BANNER}\n\n"));
        }
        let account = shown.account;
        let why = account.and_then(|account| account.insufficient.as_deref());
        if let Some(why) = why {
            before.push_str(&format!("({})\n", one_line(why)));
        } else if shown.is_empty && !self.report.entries.is_empty() {
            before.push_str("(nothing fitted)\n");
        }
        let mut after = String::new();
        let note = match shown.is_truncated || account.is_some_and(|account| !account.expandable.is_empty()) {
            true => "Additional context available on request.",
            false => "Full relevant context included.",
        };
        if self.report.head.matched > 0 {
            after.push_str(&format!("\nNote: {note}\n"));
        }
        // Where the last word counts, how much is covered is what may be missed.
        if let Some(account) = account.filter(|_| self.report.head.matched > 0 && !shown.is_brief) {
            after.push_str(&format!("Coverage: ~{:.0}% of relevant knowledge.\n", account.coverage * 100.0));
        }
        Frame(vec![before, after])
    }

    fn piece(&self, number: usize, extent: Extent, kept: &Kept) -> Piece {
        let mut piece = Piece::default();
        match &self.report.entries[number] {
            Entry::Note(entry) => match &entry.belief {
                Some(belief) => self.item(entry, belief, extent, kept, &mut piece),
                None => return self.human.piece(number, extent, kept),
            },
            _ => {
                let text = self.human.piece(number, extent, kept).items.into_iter().map(|item| item.text);
                piece.add(0, indented(&text.collect::<String>()) + "\n");
            }
        }
        piece
    }

    fn detail(&self, _: &Entry) -> Detail {
        Detail::Name
    }
}

impl Prompt<'_> {
    fn item(&self, entry: &NoteEntry, belief: &Belief, extent: Extent, kept: &Kept, piece: &mut Piece) {
        let content = content(entry, belief, extent);
        let (id, title) = (&entry.note.id, one_line(&entry.note.title));
        let said = indented(&lines(&content.text));
        let mut text = match content.text == title {
            true => format!("- [{id}] {title}"),
            false if said.contains('\n') => format!("- [{id}] {title}:\n{INDENT}{said}"),
            false => format!("- [{id}] {title}: {said}"),
        };
        text.push_str(&format!(" (confidence: {})\n", confidence(belief, &content)));
        if content.level == Level::Detailed && !belief.derived_from.is_empty() {
            text.push_str("  Derived from:\n");
            for (id, title, confidence) in &belief.derived_from {
                text.push_str(&format!("  - {} [{id}] (confidence: {confidence:.2})\n", one_line(title)));
            }
        }
        for edge in entry.edges.iter().filter(|edge| kept.has(edge.other)) {
            text.push_str(&format!("  [{}] {} [{}]\n", edge.from, one_line(&edge.kind), edge.to));
        }
        piece.say(&content, self.tokenizer);
        piece.add(0, text);
    }
}

/// Returns the confidence as a level tells it: an essence names it, others count it.
pub(super) fn confidence(belief: &Belief, content: &Content) -> String {
    match content.level {
        Level::Essence => belief.confidence.label().to_owned(),
        _ => format!("{:.2}", belief.confidence.overall),
    }
}

/// Indents all lines but the first; blank ones stay blank.
fn indented(text: &str) -> String {
    let mut indented = String::with_capacity(text.len());
    for (number, line) in text.trim_end().lines().enumerate() {
        if number > 0 {
            indented.push('\n');
        }
        if !line.trim().is_empty() {
            indented.push_str(if number > 0 { INDENT } else { "" });
            indented.push_str(line);
        }
    }
    indented
}
