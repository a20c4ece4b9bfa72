//! Counts of characters that are shown, for bounds of what a text takes in any format.

use crate::escape::kept_chars;

/// Counts the characters of a text that every format keeps.
pub(crate) fn shown_chars(text: &str) -> usize {
    let is_shown = |byte: &u8| !matches!(byte, b'\t'..=b'\r' | 0x1c..=0x1e | b' ');
    let (mut count, mut rest) = (0, text);
    while !rest.is_empty() {
        let (some, behind) = rest.split_at(rest.floor_char_boundary(SPAN));
        count += match some.is_ascii() {
            // So few that one byte can count them: many are looked at at once.
            true => usize::from(some.bytes().map(|byte| u8::from(is_shown(&byte))).sum::<u8>()),
            false => kept_chars(some),
        };
        rest = behind;
    }
    count
}

/// The number of bytes that are counted at once, at most 255: the counter is a `u8`.
const SPAN: usize = 240;
