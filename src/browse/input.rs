//! A line that somebody types.

use super::text;
use crate::escape;

/// The most bytes of it: more is nobody's typing.
const MAX: usize = 1000;

/// A line that somebody types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Input {
    text: String,
    /// Where the cursor is, in bytes.
    cursor: usize,
}

impl Input {
    /// Makes a line of a text, with the cursor at its end.
    pub(super) fn new(text: &str) -> Self {
        let mut input = Self::default();
        text::one_line(text).chars().for_each(|c| input.insert(c));
        input
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Adds a character, unless it would steer a terminal.
    pub(super) fn insert(&mut self, c: char) {
        if self.text.len() < MAX && escape::EscapeFilter::default().shown(c, None) == Some(c) {
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
        }
    }

    pub(super) fn left(&mut self) {
        self.cursor = self.before().char_indices().next_back().map_or(0, |(at, _)| at);
    }

    pub(super) fn right(&mut self) {
        let next = self.text.get(self.cursor..).and_then(|rest| rest.chars().next());
        self.cursor += next.map_or(0, char::len_utf8);
    }

    pub(super) fn home(&mut self) {
        self.cursor = 0;
    }

    pub(super) fn end(&mut self) {
        self.cursor = self.text.len();
    }

    /// Removes the character before the cursor.
    pub(super) fn backspace(&mut self) {
        let end = self.cursor;
        self.left();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Removes the character at the cursor.
    pub(super) fn delete(&mut self) {
        let start = self.cursor;
        self.right();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Removes the word before the cursor.
    pub(super) fn delete_word(&mut self) {
        let before = self.before().trim_end();
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns what of the line fits into so many cells, and the cell of the cursor.
    pub(super) fn shown(&self, cells: usize) -> (&str, usize) {
        let before = text::width(self.before());
        let mut skipped = 0;
        let mut start = 0;
        for (at, cluster, width) in text::clusters(&self.text) {
            if before.saturating_sub(skipped) < cells.max(1) || at >= self.cursor {
                break;
            }
            skipped += width;
            start = at + cluster.len();
        }
        (self.text.get(start..).unwrap_or_default(), before.saturating_sub(skipped))
    }

    fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_at_its_cursor() {
        let mut input = Input::new("one two");
        input.delete_word();
        assert_eq!(input.text(), "one ");
        input.insert('é');
        input.left();
        input.insert('x');
        assert_eq!(input.text(), "one xé");
        input.delete();
        input.backspace();
        assert_eq!(input.text(), "one ");
        input.home();
        input.backspace();
        input.delete();
        input.end();
        input.right();
        assert_eq!((input.text(), input.shown(10)), ("ne ", ("ne ", 3)));
        input.insert('\u{1b}');
        input.insert('\u{202e}');
        assert_eq!(input.text(), "ne ");
        input.clear();
        assert!(input.is_empty());
    }

    #[test]
    fn the_cursor_is_always_seen() {
        let input = Input::new("日本語 and more");
        let (text, cursor) = input.shown(6);
        assert_eq!((text, cursor), (" more", 5));
        assert_eq!(Input::default().shown(0), ("", 0));
    }
}
