//! Splits markdown into raw tokens and marks of structure.
//!
//! A *raw token* is a run of characters between white space, brackets and the like; `subtokens` splits it into terms.

/// A token of markdown: a raw token, or a mark of structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MarkdownToken<'a> {
    Raw(RawToken<'a>),
    /// The line that begins is an ATX heading (`#` to `######`).
    HeadingStart,
    HeadingEnd,
    BlankLine,
}

/// A run of characters between separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawToken<'a> {
    /// Its characters without trailing full stops and the like, which are in no term.
    pub(crate) text: &'a str,
    /// Its byte offset in the text.
    pub(crate) start: usize,
    /// Whether it is one ASCII word whose letters are lower-case, except possibly the first one. Most tokens are, and
    /// their terms are those of the word in lower case.
    pub(crate) is_plain: bool,
}

/// The syntactic class of a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Separator,
    Word,
    Joiner,
}

const BYTE_CLASSES: [ByteClass; 256] = byte_classes();

const fn byte_classes() -> [ByteClass; 256] {
    let mut classes = [ByteClass::Separator; 256];
    let mut byte = 0;
    while byte < 256 {
        let is_word = (byte as u8).is_ascii_alphanumeric() || byte >= 128;
        if is_word {
            classes[byte] = ByteClass::Word;
        } else if matches!(byte as u8, b'_' | b'.' | b'/' | b'-' | b'\'' | b'+' | b'#') {
            classes[byte] = ByteClass::Joiner;
        }
        byte += 1;
    }
    classes
}

fn is_separator(byte: u8) -> bool {
    BYTE_CLASSES[usize::from(byte)] == ByteClass::Separator
}

/// Calls `emit` with each token of a markdown text, in order. O(bytes).
pub(crate) fn for_each_token<'a>(text: &'a str, mut emit: impl FnMut(MarkdownToken<'a>)) {
    let bytes = text.as_bytes();
    let mut offset = 0;
    let mut line = MarkdownLine::classify(bytes, 0, false);
    if line.is_heading {
        emit(MarkdownToken::HeadingStart);
    }
    while let Some(byte) = bytes.get(offset) {
        if is_separator(*byte) {
            offset += 1;
            if *byte == b'\n' {
                if line.is_heading {
                    emit(MarkdownToken::HeadingEnd);
                }
                line = MarkdownLine::classify(bytes, offset, line.is_in_fence);
                if line.is_heading {
                    emit(MarkdownToken::HeadingStart);
                } else if line.is_blank {
                    emit(MarkdownToken::BlankLine);
                }
            }
            continue;
        }
        let start = offset;
        let end_of_letters = end_of_lowercase(bytes, start + 1);
        offset = end_of_letters;
        while bytes.get(offset).is_some_and(|byte| !is_separator(*byte)) {
            offset += 1;
        }
        let mut end = offset;
        while end > start && bytes.get(end - 1).is_some_and(|byte| is_trailing(*byte)) {
            end -= 1;
        }
        if let Some(text) = text.get(start..end).filter(|text| !text.is_empty()) {
            let is_plain = end <= end_of_letters && byte.is_ascii_alphabetic();
            emit(MarkdownToken::Raw(RawToken { text, start, is_plain }));
        }
    }
    if line.is_heading {
        emit(MarkdownToken::HeadingEnd);
    }
}

/// Calls `emit` with each raw token of a markdown text, in order. O(bytes).
pub(crate) fn for_each_raw_token<'a>(text: &'a str, mut emit: impl FnMut(RawToken<'a>)) {
    for_each_token(text, |token| {
        if let MarkdownToken::Raw(token) = token {
            emit(token);
        }
    });
}

/// Returns the end of the run of lower-case ASCII letters that begins at `start`. Compares eight bytes at once: the end
/// of a word is unpredictable, and a branch for each byte would be mispredicted at each word.
fn end_of_lowercase(bytes: &[u8], start: usize) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    let mut offset = start;
    while let Some(eight) = bytes.get(offset..).and_then(|rest| rest.first_chunk::<8>()) {
        let eight = u64::from_le_bytes(*eight);
        let low = eight & !HIGH;
        // The highest bit of each byte that is `a` or above, and of each that is above `z`.
        let (from_a, above_z) = (low + ONES * (0x80 - u64::from(b'a')), low + ONES * (0x7f - u64::from(b'z')));
        let others = !(from_a & !above_z & !eight) & HIGH;
        if others != 0 {
            return offset + others.trailing_zeros() as usize / 8;
        }
        offset += 8;
    }
    let rest = bytes.get(offset..).unwrap_or_default();
    offset + rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count()
}

/// Returns whether a byte at the end of a raw token is in none of its terms.
pub(super) fn is_trailing(byte: u8) -> bool {
    matches!(byte, b'.' | b'-' | b'/' | b'_' | b'\'')
}

/// The class of a line of markdown, by its first characters.
struct MarkdownLine {
    is_heading: bool,
    is_blank: bool,
    is_in_fence: bool,
}

impl MarkdownLine {
    /// Classifies the line that begins at `start`; `was_in_fence` is whether the line before it is fenced code.
    fn classify(bytes: &[u8], start: usize, was_in_fence: bool) -> Self {
        let mut offset = start;
        while bytes.get(offset).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            offset += 1;
        }
        let rest = bytes.get(offset..).unwrap_or_default();
        // Most lines begin with a letter.
        if rest.first().is_some_and(u8::is_ascii_alphanumeric) {
            return Self { is_heading: false, is_blank: false, is_in_fence: was_in_fence };
        }
        let is_fence = rest.starts_with(b"```") || rest.starts_with(b"~~~");
        let is_in_fence = was_in_fence != is_fence;
        let level = rest.iter().take(7).take_while(|byte| **byte == b'#').count();
        let has_marks = (1..=6).contains(&level) && rest.get(level) == Some(&b' ') && offset < start + 4;
        let is_blank = rest.first().is_none_or(|byte| *byte == b'\n');
        Self { is_heading: !is_in_fence && has_marks, is_blank, is_in_fence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn lowercase_letters_end_where_a_bytewise_scan_ends() {
        let bytes =
            [b'a', b'z', b'm', b'q', b'`', b'{', b'A', b'Z', b' ', 0, 0x7f, 0x80, b'a' | 0x80, b'z' | 0x80, 0xff];
        let mut random = Random::new(1);
        for _ in 0..20_000 {
            let length = random.below(24);
            // Mostly letters, so that runs are long.
            let pick = |_| {
                let some = if random.below(8) < 7 { 4 } else { bytes.len() };
                bytes[random.below(some)]
            };
            let text: Vec<u8> = (0..length).map(pick).collect();
            for start in 0..=length {
                let slowly = start + text[start..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
                assert_eq!(end_of_lowercase(&text, start), slowly, "{text:?} {start}");
            }
        }
    }
}
