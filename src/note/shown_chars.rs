//! Counts of characters that are shown, for bounds of what a text takes in any format.

use crate::escape::kept_chars;

/// Counts the characters of a text that every format keeps.
pub(crate) fn shown_chars(text: &str) -> usize {
    let (mut count, mut rest) = (0, text);
    while !rest.is_empty() {
        let (some, behind) = rest.split_at(rest.floor_char_boundary(SPAN));
        let is_ascii = some.is_ascii();
        count += if is_ascii { some.len() - usize::from(spaces(some.as_bytes())) } else { kept_chars(some) };
        rest = behind;
    }
    count
}

/// The number of bytes that are counted at once, at most 255: the counter is a `u8`.
const SPAN: usize = 240;

/// Counts the bytes of ASCII white space and U+001C to U+001E among at most [`SPAN`]. The counter can't overflow, and
/// without branches and checks for it many bytes are looked at at once.
fn spaces(bytes: &[u8]) -> u8 {
    let is_space = |byte: u8| (byte.wrapping_sub(b'\t') < 5) | (byte.wrapping_sub(0x1c) < 3) | (byte == b' ');
    bytes.iter().fold(0, |count: u8, byte| count.wrapping_add(u8::from(is_space(*byte))))
}
