//! Text of notes on a screen: made harmless, measured in cells, cut and wrapped.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

use crate::escape;

/// The most characters of what is seen as one: no letter, sign or emoji that people write has more. Marked that
/// are piled up beyond that would run over the lines around them.
const MAX_CLUSTER: usize = 12;

/// Stands where a text was cut.
const CUT: &str = "…";

/// Puts a text on one line in which nothing steers a terminal.
pub(super) fn one_line(text: &str) -> String {
    thinned(escape::one_line(text))
}

/// Takes marks away that are piled up.
pub(super) fn thinned(text: String) -> String {
    let is_piled = |cluster: &str| cluster.len() > MAX_CLUSTER && cluster.chars().nth(MAX_CLUSTER).is_some();
    if text.is_ascii() || !text.graphemes(true).any(is_piled) {
        return text;
    }
    text.graphemes(true).flat_map(|cluster| cluster.chars().take(MAX_CLUSTER)).collect()
}

/// Returns what is seen as one character each, with its place in bytes and its width in cells.
pub(super) fn clusters(text: &str) -> impl Iterator<Item = (usize, &str, usize)> {
    text.grapheme_indices(true).map(|(at, cluster)| (at, cluster, usize::from(cluster.cell_width())))
}

/// Returns how many cells a text takes.
pub(super) fn width(text: &str) -> usize {
    match is_plain(text) {
        true => text.len(),
        false => clusters(text).map(|(.., width)| width).sum(),
    }
}

/// Tells whether every byte takes one cell.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..0x7f).contains(&byte))
}

/// Cuts a text so that it takes no more cells than there are.
pub(super) fn cut(text: &str, cells: usize) -> Cow<'_, str> {
    if width(text) <= cells {
        return text.into();
    }
    let mut taken = 0;
    let room = cells.saturating_sub(1);
    let end = clusters(text).find(|(.., width)| {
        taken += width;
        taken > room
    });
    let kept = end.and_then(|(at, ..)| text.get(..at)).unwrap_or_default();
    match cells {
        0 => "".into(),
        _ => format!("{kept}{CUT}").into(),
    }
}

/// Returns the pieces that a line is wrapped into: at spaces where there are any. All but the first are
/// `hang` cells shorter.
pub(super) fn wrap(line: &str, cells: usize, hang: usize) -> Vec<Range<usize>> {
    let cells = cells.max(1);
    let is_plain = is_plain(line);
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut room = cells;
    loop {
        let rest = line.get(start..).unwrap_or_default();
        let end = start + if is_plain { plain_end(rest, room) } else { end(rest, room) };
        pieces.push(start..end);
        if end >= line.len() {
            return pieces;
        }
        start = end;
        room = cells - hang.min(cells - 1);
    }
}

/// Returns how many bytes of a text go into so many cells. Spaces at the end may stand beyond them.
fn end(text: &str, cells: usize) -> usize {
    let mut column = 0;
    let mut after_space = None;
    for (at, cluster, width) in clusters(text) {
        column += width;
        if cluster == " " {
            after_space = Some(at + 1);
        } else if column > cells && at > 0 {
            return after_space.unwrap_or(at);
        }
    }
    text.len()
}

/// The same where every byte takes one cell.
fn plain_end(text: &str, cells: usize) -> usize {
    let bytes = text.as_bytes();
    let Some((within, beyond)) = bytes.split_at_checked(cells) else { return bytes.len() };
    match beyond.iter().position(|byte| *byte != b' ') {
        None => bytes.len(),
        Some(0) => within.iter().rposition(|byte| *byte == b' ').map_or(cells, |space| space + 1),
        Some(spaces) => cells + spaces,
    }
}

/// Returns how far the later lines of a wrapped one are indented: below the text of an item or quote.
pub(super) fn hang(line: &str) -> usize {
    let text = line.trim_start_matches([' ', '>']);
    let before = line.len() - text.len();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = text.get(digits..).and_then(|rest| rest.get(..2));
    match (digits, mark) {
        (0, Some("- " | "* " | "+ ")) => before + 2,
        (1..=4, Some(". " | ") ")) => before + digits + 2,
        _ => before,
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
    fn lines_break_at_spaces_and_long_words_where_they_must() {
        assert_eq!(wrapped("one two three", 8, 0), ["one two ", "three"]);
        assert_eq!(wrapped("abcdefghij", 4, 0), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("ab abcdefghij", 4, 0), ["ab ", "abcd", "efgh", "ij"]);
        assert_eq!(wrapped("- one two", 6, 2), ["- one ", "two"]);
        assert_eq!(wrapped("日本語", 4, 0), ["日本", "語"]);
        assert_eq!(wrapped("", 4, 0), [""]);
        assert_eq!((hang("  - x"), hang("12. x"), hang("> x"), hang("x - y")), (4, 4, 2, 0));
    }

    #[test]
    fn texts_are_cut_by_cells() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("e\u{301}a", 2), "e\u{301}a");
        assert_eq!((cut("ab", 0).as_ref(), cut("ab", 1).as_ref()), ("", "…"));
    }

    #[test]
    fn piled_up_marks_are_thinned() {
        let piled = format!("a{}b", "\u{301}".repeat(100));
        assert_eq!(one_line(&piled).chars().count(), MAX_CLUSTER + 1);
        let family = "👨🏽\u{200d}👩🏽\u{200d}👧🏽\u{200d}👦🏽";
        assert_eq!(one_line(family), family);
    }

    proptest! {
        #[test]
        fn pieces_are_the_line_and_fit(line in "[a-c 日\u{301}\u{200b}😀-]{0,60}", cells in 2_usize..20, hang in 0_usize..8) {
            let pieces = wrap(&line, cells, hang);
            let joined: String = pieces.iter().map(|piece| line.get(piece.clone()).unwrap()).collect();
            prop_assert_eq!(joined, &*line);
            for (number, piece) in pieces.iter().enumerate() {
                let indent = if number == 0 { 0 } else { hang.min(cells - 1) };
                let text = line.get(piece.clone()).unwrap().trim_end_matches(' ');
                let fits = indent + width(text) <= cells;
                prop_assert!(fits || clusters(text).filter(|(.., width)| *width > 0).count() <= 1, "{:?} in {cells}", text);
            }
        }

        #[test]
        fn a_cut_text_fits(text in "[a 日\u{301}😀]{0,20}", cells in 0_usize..20) {
            prop_assert!(width(&cut(&text, cells)) <= cells);
        }
    }
}
