//! A line editor.

use super::text;
use crate::escape;

/// The most bytes of a line. Typed text is shorter.
const MAX_BYTES: usize = 1000;

/// A line of text with a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) text: String,
    /// The byte offset of the cursor.
    cursor: usize,
}

impl Input {
    /// Creates a line with a text and the cursor at its end. Control characters are replaced.
    pub(super) fn new(text: &str) -> Self {
        let mut input = Self::default();
        text::one_line(text).chars().for_each(|c| input.insert(c));
        input
    }

    /// Inserts a character at the cursor, unless it is a control character or the line is full.
    pub(super) fn insert(&mut self, c: char) {
        if self.text.len() < MAX_BYTES && escape::EscapeFilter::default().shown(c, None) == Some(c) {
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
        }
    }

    pub(super) fn move_left(&mut self) {
        self.cursor = self.before_cursor().char_indices().next_back().map_or(0, |(offset, _)| offset);
    }

    pub(super) fn move_right(&mut self) {
        let next = self.text.get(self.cursor..).and_then(|rest| rest.chars().next());
        self.cursor += next.map_or(0, char::len_utf8);
    }

    pub(super) fn move_home(&mut self) {
        self.cursor = 0;
    }

    pub(super) fn move_end(&mut self) {
        self.cursor = self.text.len();
    }

    pub(super) fn backspace(&mut self) {
        let end = self.cursor;
        self.move_left();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Removes the character at the cursor.
    pub(super) fn delete(&mut self) {
        let start = self.cursor;
        self.move_right();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(super) fn delete_word(&mut self) {
        let before = self.before_cursor().trim_end();
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the part of the line that fits into a number of cells and contains the cursor, and the cell of the cursor.
    pub(super) fn visible(&self, cells: usize) -> (&str, usize) {
        let cursor_cell = text::width(self.before_cursor());
        let mut skipped = 0;
        let mut start = 0;
        for (offset, cluster, width) in text::clusters(&self.text) {
            if cursor_cell.saturating_sub(skipped) < cells.max(1) || offset >= self.cursor {
                break;
            }
            skipped += width;
            start = offset + cluster.len();
        }
        (self.text.get(start..).unwrap_or_default(), cursor_cell.saturating_sub(skipped))
    }

    fn before_cursor(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_at_the_cursor() {
        let mut input = Input::new("one two");
        input.delete_word();
        assert_eq!(input.text, "one ");
        input.insert('é');
        input.move_left();
        input.insert('x');
        assert_eq!(input.text, "one xé");
        input.delete();
        input.backspace();
        assert_eq!(input.text, "one ");
        input.move_home();
        input.backspace();
        input.delete();
        input.move_end();
        input.move_right();
        assert_eq!((input.text.as_str(), input.visible(10)), ("ne ", ("ne ", 3)));
        input.insert('\u{1b}');
        input.insert('\u{202e}');
        assert_eq!(input.text, "ne ");
        input.clear();
        assert!(input.text.is_empty());
    }

    #[test]
    fn the_visible_part_contains_the_cursor() {
        let input = Input::new("日本語 and more");
        let (text, cursor) = input.visible(6);
        assert_eq!((text, cursor), (" more", 5));
        assert_eq!(Input::default().visible(0), ("", 0));
    }
}
