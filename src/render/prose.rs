//! The text of notes in answers for people and models: escaped, without what could be mistaken for the frame of the answer
//! or of a tool, and closed. Code can't be mistaken for a frame as long as it is closed, and stays as it is.

use std::borrow::Cow;

use super::CUT_MARK;
use super::frame_guard::{Framing, guarded};
use super::tool_marks::{without_marks_in_lines, without_tool_marks};
use crate::escape::{escape_lines, one_line};
use crate::note::{Enclosures, Surroundings};

/// A backslash may end a list or begin code, which changes what is code behind it. After so many rounds, code is guarded
/// like other text.
const MAX_ROUNDS: usize = 4;
/// The most `<details>` in one another that stay; each has to be closed.
const MAX_DETAILS: usize = 8;

/// A text for an answer.
#[derive(Default)]
pub(super) struct Prose {
    /// The text, and what closes it.
    pub(super) text: String,
    /// What closes a text that lacks its end, which its length without this does not depend on.
    pub(super) closing: String,
}

impl Prose {
    /// Prepares a text of several lines. One that is cut gets its [`CUT_MARK`] behind what closes it.
    pub(super) fn new(text: &str, is_cut: bool, framing: Framing, surroundings: Surroundings) -> Self {
        let cut = text.strip_suffix(CUT_MARK).filter(|_| is_cut);
        // Escaping may remove characters that hide a line of the frame.
        let mut text = escape_lines(cut.unwrap_or(text));
        if surroundings == Surroundings::Quote {
            text = quoted(&text);
        }
        let enclosures = guard(&mut text, framing, surroundings);
        let mut closing = closing(&text, &enclosures);
        if cut.is_none() {
            return Self { text: text + &closing, closing: String::new() };
        }
        let is_apart = !closing.is_empty() || (enclosures.ends_with_code && !text.ends_with('\n'));
        if is_apart {
            closing.extend(["\n", surroundings.prefix()]);
        }
        Self { text: format!("{text}{closing}{CUT_MARK}"), closing }
    }
}

impl From<String> for Prose {
    /// Takes a text that is prepared.
    fn from(text: String) -> Self {
        Self { text, closing: String::new() }
    }
}

/// Puts backslashes into what could be mistaken, until nothing is left; returns the enclosures.
fn guard(text: &mut String, framing: Framing, surroundings: Surroundings) -> Enclosures {
    let mut enclosures = Enclosures::of(text, surroundings);
    // The last two rounds find nothing new.
    for round in 0..MAX_ROUNDS + 3 {
        let is_code = |offset: usize| round < MAX_ROUNDS && enclosures.is_in_code(offset);
        let changed = match guarded(text, framing, is_code) {
            Cow::Owned(changed) => changed,
            Cow::Borrowed(text) => {
                match without_tool_marks(text, enclosures.details > MAX_DETAILS, |offset| !is_code(offset)) {
                    Cow::Owned(changed) => changed,
                    Cow::Borrowed(_) => break,
                }
            }
        };
        *text = changed;
        enclosures = Enclosures::of(text, surroundings);
    }
    enclosures
}

/// Returns the lines that close a text.
fn closing(text: &str, enclosures: &Enclosures) -> String {
    let mut closing = String::new();
    for mark in &enclosures.missing {
        if !(closing.is_empty() && (text.is_empty() || text.ends_with('\n'))) {
            closing.push('\n');
        }
        closing.push_str(mark);
    }
    closing
}

/// Returns a text as a block quote of markdown, in which no line is a heading or an item of the answer.
pub(super) fn quoted(text: &str) -> String {
    let line = |line: &str| if line.trim().is_empty() { ">".to_owned() } else { format!("> {line}") };
    text.trim_end_matches('\n').lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a text on one line that stands at the beginning of a line of an answer.
pub(super) fn prose_line(text: &str) -> String {
    guarded_lines(&one_line(text)).into_owned()
}

/// Guards each line of a text whose lines are apart: none of them begins code or HTML either.
pub(super) fn guarded_lines(text: &str) -> Cow<'_, str> {
    match guarded(text, Framing::Lines, |_| false) {
        Cow::Owned(changed) => Cow::Owned(without_marks_in_lines(&changed).into_owned()),
        Cow::Borrowed(text) => without_marks_in_lines(text),
    }
}
