//! Word wrap for terminals, by the display width of grapheme clusters (Unicode Standard Annex 11 and 29).
//!
//! A text may contain the colours of `paint`. No other escape character occurs in it: those of notes were replaced by
//! visible ones before.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

const ESCAPE: char = '\u{1b}';
const RESET: &str = "\u{1b}[0m";
/// The least columns for text beside an indent.
const MIN_TEXT_COLUMNS: usize = 20;

/// The widest indent of continuation lines on a screen without room for the full one.
const MAX_NARROW_HANG: usize = 4;

/// A unit of a line: a grapheme cluster, or a change of colour.
struct Cell<'a> {
    text: &'a str,
    width: usize,
}

impl Cell<'_> {
    fn is_space(&self) -> bool {
        self.text == " "
    }

    fn is_color(&self) -> bool {
        self.text.starts_with(ESCAPE)
    }
}

/// Returns the display width of a text in columns.
pub(super) fn width(text: &str) -> usize {
    cells(text).iter().map(|cell| cell.width).sum()
}

/// Returns the least columns with which a broken line keeps its indent.
pub(super) fn least_columns(line: &str, hang: usize) -> usize {
    indent(line) + hang + MIN_TEXT_COLUMNS
}

/// Returns the number of spaces before a line.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Breaks every line wider than `columns`. Continuation lines have the indent of their line and `hang` columns more.
pub(super) fn wrap(text: &str, columns: usize, hang: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.replace('\t', "    ").split_inclusive('\n') {
        // The width never exceeds the number of bytes.
        if line.len() <= columns || width(line.trim_end_matches('\n')) <= columns {
            out.push_str(line);
            continue;
        }
        let indent = indent(line) + hang;
        let indent = if indent + MIN_TEXT_COLUMNS > columns { (columns / 8).min(MAX_NARROW_HANG) } else { indent };
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        wrap_line(line, columns.max(1), indent, &mut out);
        out.push_str(end);
    }
    out
}

/// Splits a text into cells.
fn cells(text: &str) -> Vec<Cell<'_>> {
    let mut cells = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (plain, colored) = rest.split_at(rest.find(ESCAPE).unwrap_or(rest.len()));
        cells.extend(plain.graphemes(true).map(|text| Cell { text, width: text.width() }));
        let end = colored.find('m').map_or(colored.len(), |end| end + 1);
        let (color, after) = colored.split_at(end);
        if !color.is_empty() {
            cells.push(Cell { text: color, width: 0 });
        }
        rest = after;
    }
    cells
}

/// Breaks one line at spaces, beside characters of two columns, or between any two cells if there is neither.
fn wrap_line(line: &str, columns: usize, indent: usize, out: &mut String) {
    let cells = cells(line);
    let mut colors = String::new();
    let mut start = 0;
    let mut room = columns;
    while start < cells.len() {
        let end = line_end(&cells, start, room);
        let line = cells.get(start..end).unwrap_or_default();
        let is_last = end >= cells.len();
        let kept = if is_last {
            line.len()
        } else {
            line.iter().rposition(|cell| !cell.is_space()).map_or(0, |last| last + 1)
        };
        for (index, cell) in line.iter().enumerate() {
            if cell.is_color() && cell.text == RESET {
                colors.clear();
            } else if cell.is_color() {
                colors.push_str(cell.text);
            }
            if index < kept || cell.is_color() {
                out.push_str(cell.text);
            }
        }
        if is_last {
            return;
        }
        start = end + cells.iter().skip(end).take_while(|cell| cell.is_space()).count();
        let reset = if colors.is_empty() { "" } else { RESET };
        out.push_str(&format!("{reset}\n{}{colors}", " ".repeat(indent)));
        room = columns - indent;
    }
}

/// Returns the index behind the last cell of the line that starts at a cell.
fn line_end(cells: &[Cell<'_>], start: usize, room: usize) -> usize {
    let mut used = 0;
    let mut last_break = None;
    let mut has_text = false;
    for (index, cell) in cells.iter().enumerate().skip(start) {
        used += cell.width;
        if used > room {
            // A space beyond the edge is invisible. A character wider than the room gets a line of its own.
            return if cell.is_space() { index } else { last_break.unwrap_or(index.max(start + 1)) };
        }
        has_text |= !cell.is_space() && !cell.is_color();
        if has_text && (cell.is_space() || cell.width > 1 || cells.get(index + 1).is_some_and(|next| next.width > 1)) {
            last_break = Some(index + 1);
        }
    }
    cells.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_break_at_words_and_hang() {
        assert_eq!(wrap("one two three\n", 7, 0), "one two\nthree\n");
        assert_eq!(wrap("one two three four five six seven\n", 24, 2), "one two three four five\n  six seven\n");
        assert_eq!(wrap("abcdefgh", 3, 0), "abc\ndef\ngh");
        assert_eq!(wrap("日本語のノート", 6, 0), "日本語\nのノー\nト");
        assert_eq!(wrap("a\tb", 80, 0), "a    b");
    }

    #[test]
    fn colours_end_with_a_line_and_go_on_in_the_next() {
        assert_eq!(wrap("\u{1b}[1mone two\u{1b}[0m", 4, 0), "\u{1b}[1mone\u{1b}[0m\n\u{1b}[1mtwo\u{1b}[0m");
        assert_eq!(width("\u{1b}[1mone\u{1b}[0m"), 3);
        assert_eq!(width("\u{1b}[1m日\u{1b}[0m"), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_line_is_too_long_and_no_word_is_lost(text in "([a-z日é👍 ]{0,12}(\u{1b}\\[1m|\u{1b}\\[0m)?){0,8}", columns in 4_usize..40) {
            let wrapped = wrap(&text, columns, 0);
            for line in wrapped.lines() {
                prop_assert!(width(line.trim_end()) <= columns, "{line:?}");
            }
            let letters = |text: &str| {
                cells(text).iter().filter(|cell| !cell.is_color()).map(|cell| cell.text).collect::<String>()
                    .replace([' ', '\n'], "")
            };
            prop_assert_eq!(letters(&wrapped), letters(&text));
        }
    }
}
