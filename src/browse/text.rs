//! Text on a screen: escaped, measured in cells, truncated and wrapped.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

use crate::escape;

/// The most characters of a grapheme cluster. No letter or emoji in use has more, and a longer stack of combining marks
/// would cover the lines above and below.
const MAX_CLUSTER_CHARS: usize = 12;

/// The last character of a truncated text.
const ELLIPSIS: &str = "…";

/// Escapes a text for a terminal, on one line.
pub(super) fn one_line(text: &str) -> String {
    limit_combining_marks(escape::one_line(text))
}

/// Limits each grapheme cluster to [`MAX_CLUSTER_CHARS`].
pub(super) fn limit_combining_marks(text: String) -> String {
    let is_too_long =
        |cluster: &str| cluster.len() > MAX_CLUSTER_CHARS && cluster.chars().nth(MAX_CLUSTER_CHARS).is_some();
    if text.is_ascii() || !text.graphemes(true).any(is_too_long) {
        return text;
    }
    text.graphemes(true).flat_map(|cluster| cluster.chars().take(MAX_CLUSTER_CHARS)).collect()
}

/// Returns the grapheme clusters of a text (UAX #29), each with its byte offset and its width in cells.
pub(super) fn clusters(text: &str) -> impl Iterator<Item = (usize, &str, usize)> {
    text.grapheme_indices(true).map(|(offset, cluster)| (offset, cluster, usize::from(cluster.cell_width())))
}

/// Returns the width of a text in cells.
pub(super) fn width(text: &str) -> usize {
    if is_printable_ascii(text) { text.len() } else { clusters(text).map(|(.., width)| width).sum() }
}

/// Returns whether every byte of a text is one cell wide.
fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..0x7f).contains(&byte))
}

/// Truncates a text to a width in cells; the last one is then an ellipsis.
pub(super) fn truncated(text: &str, cells: usize) -> Cow<'_, str> {
    if width(text) <= cells {
        return text.into();
    }
    if cells == 0 {
        return "".into();
    }
    let mut column = 0;
    let first_dropped = clusters(text).find(|(.., width)| {
        column += width;
        column > cells - 1
    });
    let kept = first_dropped.and_then(|(offset, ..)| text.get(..offset)).unwrap_or_default();
    format!("{kept}{ELLIPSIS}").into()
}

/// Wraps a line, at spaces where possible. Returns the byte ranges of its parts. The first part is at most `cells` wide,
/// the others `hanging_indent` less; spaces at the end of a part don't count.
pub(super) fn wrap(line: &str, cells: usize, hanging_indent: usize) -> Vec<Range<usize>> {
    let cells = cells.max(1);
    let is_ascii = is_printable_ascii(line);
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut room = cells;
    loop {
        let rest = line.get(start..).unwrap_or_default();
        let end = start + if is_ascii { ascii_wrap_offset(rest, room) } else { wrap_offset(rest, room) };
        ranges.push(start..end);
        if end >= line.len() {
            return ranges;
        }
        start = end;
        room = cells - hanging_indent.min(cells - 1);
    }
}

/// Returns the byte offset at which a text breaks to fit into a number of cells. Spaces before it may exceed them.
fn wrap_offset(text: &str, cells: usize) -> usize {
    let mut column = 0;
    let mut after_space = None;
    for (offset, cluster, width) in clusters(text) {
        column += width;
        if cluster == " " {
            after_space = Some(offset + 1);
        } else if column > cells && offset > 0 {
            return after_space.unwrap_or(offset);
        }
    }
    text.len()
}

/// Returns the same as [`wrap_offset`] for a text of printable ASCII characters, in less time.
fn ascii_wrap_offset(text: &str, cells: usize) -> usize {
    let bytes = text.as_bytes();
    let Some((within, beyond)) = bytes.split_at_checked(cells) else { return bytes.len() };
    match beyond.iter().position(|byte| *byte != b' ') {
        None => bytes.len(),
        Some(0) => within.iter().rposition(|byte| *byte == b' ').map_or(cells, |space| space + 1),
        Some(spaces) => cells + spaces,
    }
}

/// Returns the indent, in cells, of the second and later parts of a wrapped line: below the text of a list item or quote.
pub(super) fn hanging_indent(line: &str) -> usize {
    let text = line.trim_start_matches([' ', '>']);
    let indent = line.len() - text.len();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let list_marker = text.get(digits..).and_then(|rest| rest.get(..2));
    match (digits, list_marker) {
        (0, Some("- " | "* " | "+ ")) => indent + 2,
        (1..=4, Some(". " | ") ")) => indent + digits + 2,
        _ => indent,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wrapped(line: &str, cells: usize, hang: usize) -> Vec<&str> {
        wrap(line, cells, hang).into_iter().map(|piece| line.get(piece).unwrap()).collect()
    }

    #[test]
    fn lines_break_at_spaces_and_within_words_longer_than_a_line() {
        assert_eq!(wrapped("one two three", 8, 0), ["one two ", "three"]);
        assert_eq!(wrapped("abcdefghij", 4, 0), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("ab abcdefghij", 4, 0), ["ab ", "abcd", "efgh", "ij"]);
        assert_eq!(wrapped("- one two", 6, 2), ["- one ", "two"]);
        assert_eq!(wrapped("日本語", 4, 0), ["日本", "語"]);
        assert_eq!(wrapped("", 4, 0), [""]);
        assert_eq!(
            (hanging_indent("  - x"), hanging_indent("12. x"), hanging_indent("> x"), hanging_indent("x - y")),
            (4, 4, 2, 0)
        );
    }

    #[test]
    fn texts_are_truncated_by_width() {
        assert_eq!(truncated("abcdef", 4), "abc…");
        assert_eq!(truncated("日本語", 4), "日…");
        assert_eq!(truncated("e\u{301}a", 2), "e\u{301}a");
        assert_eq!((truncated("ab", 0).as_ref(), truncated("ab", 1).as_ref()), ("", "…"));
    }

    #[test]
    fn stacked_combining_marks_are_limited() {
        let piled = format!("a{}b", "\u{301}".repeat(100));
        assert_eq!(one_line(&piled).chars().count(), MAX_CLUSTER_CHARS + 1);
        let family = "👨🏽\u{200d}👩🏽\u{200d}👧🏽\u{200d}👦🏽";
        assert_eq!(one_line(family), family);
    }

    proptest! {
        #[test]
        fn wrapped_parts_join_to_the_line_and_fit(line in "[a-c 日\u{301}\u{200b}😀-]{0,60}", cells in 2_usize..20, hang in 0_usize..8) {
            let ranges = wrap(&line, cells, hang);
            let joined: String = ranges.iter().map(|range| line.get(range.clone()).unwrap()).collect();
            prop_assert_eq!(joined, &*line);
            for (part_idx, range) in ranges.iter().enumerate() {
                let indent = if part_idx == 0 { 0 } else { hang.min(cells - 1) };
                let text = line.get(range.clone()).unwrap().trim_end_matches(' ');
                let fits = indent + width(text) <= cells;
                prop_assert!(fits || clusters(text).filter(|(.., width)| *width > 0).count() <= 1, "{:?} in {cells}", text);
            }
        }

        #[test]
        fn a_truncated_text_fits(text in "[a 日\u{301}😀]{0,20}", cells in 0_usize..20) {
            prop_assert!(width(&truncated(&text, cells)) <= cells);
        }
    }
}
