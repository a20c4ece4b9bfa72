//! A text as answers show it: without the characters that nobody sees, which could hide a secret from the search.

use std::borrow::Cow;

use crate::escape::is_invisible;

/// A text without invisible characters, and with a space for each other white space that is not ASCII.
pub(super) struct VisibleText<'t> {
    pub(super) text: Cow<'t, str>,
    /// Where the offsets of the two texts begin to differ by another number of bytes: offsets in this text and in the original,
    /// ascending.
    steps: Vec<(usize, usize)>,
}

impl<'t> VisibleText<'t> {
    /// Returns the visible part of a text. O(length).
    pub(super) fn of(text: &'t str) -> Self {
        let is_changed = |c: char| !c.is_ascii() && (is_invisible(c) || c.is_whitespace());
        if text.is_ascii() || !text.contains(is_changed) {
            return Self { text: Cow::Borrowed(text), steps: Vec::new() };
        }
        let (mut visible, mut steps) = (String::with_capacity(text.len()), Vec::new());
        for (offset, c) in text.char_indices() {
            if !is_changed(c) {
                visible.push(c);
                continue;
            }
            if !is_invisible(c) {
                visible.push(' ');
            }
            steps.push((visible.len(), offset + c.len_utf8()));
        }
        Self { text: Cow::Owned(visible), steps }
    }

    /// Returns the offset in the original text of an offset in this one.
    pub(super) fn original_offset(&self, offset: usize) -> usize {
        let index = self.steps.partition_point(|(visible, _)| *visible <= offset);
        let step = index.checked_sub(1).and_then(|index| self.steps.get(index));
        step.map_or(offset, |(visible, original)| original + offset - visible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_to_the_same_characters() {
        let text = "a\u{200b}b\u{a0}é\u{feff}\u{ad}c\u{2060}";
        let visible = VisibleText::of(text);
        assert_eq!(visible.text, "ab éc");
        for (offset, c) in visible.text.char_indices().filter(|(_, c)| *c != ' ') {
            let rest = text.get(visible.original_offset(offset)..);
            assert!(rest.is_some_and(|rest| rest.starts_with(c)), "{c}");
        }
        assert!(matches!(VisibleText::of("é ok").text, Cow::Borrowed(_)));
    }
}
