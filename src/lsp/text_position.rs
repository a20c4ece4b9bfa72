//! Positions in texts: lines and columns of the protocol, and byte offsets.

use std::ops::Range;

use lsp_types::Position;

/// The unit of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnUnit {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16, which every client understands.
    Utf16,
}

/// After how many bytes the code units before them are kept: what a position costs at most.
const CHECKPOINT_BYTES: usize = 512;

/// The beginnings of the lines of a text.
#[derive(Debug)]
pub(super) struct LineStarts<'t> {
    text: &'t str,
    /// Ascending byte offsets, the first one 0.
    starts: Vec<usize>,
    unit: ColumnUnit,
    /// The code units of UTF-16 before every multiple of [`CHECKPOINT_BYTES`], the first one 0; only that for UTF-8.
    units: Vec<usize>,
}

impl<'t> LineStarts<'t> {
    /// Finds the lines of a text. They end with `\n`, `\r\n` or `\r`. O(bytes).
    pub(super) fn new(text: &'t str, unit: ColumnUnit) -> Self {
        let bytes = text.as_bytes();
        let is_end = |(offset, byte): (usize, &u8)| match byte {
            b'\n' => Some(offset + 1),
            b'\r' if bytes.get(offset + 1) != Some(&b'\n') => Some(offset + 1),
            _ => None,
        };
        let starts = std::iter::once(0).chain(bytes.iter().enumerate().filter_map(is_end)).collect();
        let mut units = vec![0];
        if unit == ColumnUnit::Utf16 {
            let mut sum = 0;
            units.extend(bytes.chunks_exact(CHECKPOINT_BYTES).map(|chunk| {
                sum += utf16_units(chunk);
                sum
            }));
        }
        Self { text, starts, unit, units }
    }

    /// Returns the byte range of a line without its ending; that of the end of the text for a line behind the last one.
    pub(super) fn line(&self, line: usize) -> Range<usize> {
        let Some(start) = self.starts.get(line).copied() else { return self.text.len()..self.text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let whole = self.text.get(start..end).unwrap_or_default();
        start..start + whole.trim_end_matches(['\r', '\n']).len()
    }

    /// Returns the byte offset of a position. A column behind the end of its line is that end, one inside a character its
    /// beginning.
    pub(super) fn offset(&self, position: Position) -> usize {
        let line = self.line(position.line as usize);
        let column = position.character as usize;
        let text = self.text.get(line.clone()).unwrap_or_default();
        let inside = match self.unit {
            ColumnUnit::Utf8 => text.floor_char_boundary(column),
            ColumnUnit::Utf16 => {
                let mut units = 0;
                let is_reached = |(_, c): &(usize, char)| {
                    units += c.len_utf16();
                    units > column
                };
                text.char_indices().find(is_reached).map_or(text.len(), |(offset, _)| offset)
            }
        };
        line.start + inside
    }

    /// Returns the position of a byte offset; that of the end for one behind it. O(log lines).
    pub(super) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let column = match self.unit {
            ColumnUnit::Utf8 => offset - start,
            ColumnUnit::Utf16 => self.units_before(offset) - self.units_before(start),
        };
        Position::new(line as u32, column as u32)
    }

    /// Returns the number of code units of UTF-16 before a byte offset. O(1).
    fn units_before(&self, offset: usize) -> usize {
        let checkpoint = offset / CHECKPOINT_BYTES;
        let rest = self.text.as_bytes().get(checkpoint * CHECKPOINT_BYTES..offset).unwrap_or_default();
        self.units.get(checkpoint).copied().unwrap_or_default() + utf16_units(rest)
    }

    /// Returns the range of bytes.
    pub(super) fn range(&self, bytes: Range<usize>) -> lsp_types::Range {
        lsp_types::Range::new(self.position(bytes.start), self.position(bytes.end))
    }

    /// Returns the bytes of a range; its ends may be in any order.
    pub(super) fn bytes(&self, range: lsp_types::Range) -> Range<usize> {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        start.min(end)..start.max(end)
    }
}

/// Returns the number of code units of UTF-16 of the characters that begin in bytes of UTF-8: two for one of four bytes.
fn utf16_units(bytes: &[u8]) -> usize {
    let units = |byte: &u8| match byte {
        0x80..0xC0 => 0,
        0xF0.. => 2,
        _ => 1,
    };
    bytes.iter().map(units).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNITS: [ColumnUnit; 2] = [ColumnUnit::Utf8, ColumnUnit::Utf16];

    fn text() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec!["a", "é", "😀", "日", "\n", "\r\n", "\r", " ", "e\u{301}", "\u{2028}"]);
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn an_offset_comes_back_from_its_position(text in text()) {
            for unit in UNITS {
                let lines = LineStarts::new(&text, unit);
                for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                    // Inside of a line ending, the position is that of its beginning.
                    let is_inside = text.get(..offset).unwrap().ends_with('\r') && text.get(offset..).unwrap().starts_with('\n');
                    let expected = if is_inside { offset - 1 } else { offset };
                    prop_assert_eq!(lines.offset(lines.position(offset)), expected);
                }
            }
        }

        #[test]
        fn columns_of_long_lines_are_those_that_are_counted(text in text(), times in 1..300_usize) {
            let text = text.repeat(times);
            let lines = LineStarts::new(&text, ColumnUnit::Utf16);
            for (offset, _) in text.char_indices().step_by(7).chain([(text.len(), ' ')]) {
                let position = lines.position(offset);
                let start = lines.line(position.line as usize).start;
                let counted = text.get(start..offset).unwrap().encode_utf16().count();
                prop_assert_eq!(position.character as usize, counted);
            }
        }

        #[test]
        fn any_position_is_a_place_in_its_line(text in text(), line in 0_u32..40, column in 0_u32..20) {
            for unit in UNITS {
                let lines = LineStarts::new(&text, unit);
                let offset = lines.offset(Position::new(line, column));
                let range = lines.line(line as usize);
                prop_assert!(text.is_char_boundary(offset));
                prop_assert!(range.start <= offset && offset <= range.end);
                let back = lines.position(offset);
                prop_assert!((line as usize) >= lines.starts.len() || (back.line == line && back.character <= column));
            }
        }
    }

    #[test]
    fn columns_count_units() {
        let text = "é😀x\r\ny";
        let offset = |unit, line, column| LineStarts::new(text, unit).offset(Position::new(line, column));
        assert_eq!([0, 1, 2, 3, 4, 9].map(|column| offset(ColumnUnit::Utf16, 0, column)), [0, 2, 2, 6, 7, 7]);
        assert_eq!([0, 1, 2, 3, 6, 7, 9].map(|column| offset(ColumnUnit::Utf8, 0, column)), [0, 0, 2, 2, 6, 7, 7]);
        assert_eq!((offset(ColumnUnit::Utf16, 1, 1), offset(ColumnUnit::Utf16, 9, 0)), (10, 10));
    }
}
