//! The shapes of tokens: sequences of literals and of runs of characters from an alphabet.

use std::ops::Range;

use super::Attempt;

/// The characters of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// `0-9`
    Digit,
    /// `A-Za-z`
    Letter,
    /// `0-9a-f`
    LowerHex,
    /// `0-9A-Fa-f`
    Hex,
    /// `0-9a-z`
    LowerAlnum,
    /// `0-9A-Z`
    UpperAlnum,
    /// `A-Z2-7`, base32 of RFC 4648
    Base32,
    /// `0-9A-Za-z`
    Alnum,
    /// `0-9A-Za-z+/`, base64 of RFC 4648
    Base64,
    /// `0-9A-Za-z_-`, base64url of RFC 4648
    Url,
    /// `0-9A-Za-z_.~-`, the unreserved characters of RFC 3986
    Unreserved,
    /// `0-9A-Za-z_.=-`
    UrlPadded,
}

impl Alphabet {
    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Letter => byte.is_ascii_alphabetic(),
            Self::LowerHex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::LowerAlnum => matches!(byte, b'0'..=b'9' | b'a'..=b'z'),
            Self::UpperAlnum => matches!(byte, b'0'..=b'9' | b'A'..=b'Z'),
            Self::Base32 => matches!(byte, b'A'..=b'Z' | b'2'..=b'7'),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
            Self::Url => is_word(byte) || byte == b'-',
            Self::Unreserved => is_word(byte) || matches!(byte, b'-' | b'.' | b'~'),
            Self::UrlPadded => is_word(byte) || matches!(byte, b'-' | b'.' | b'='),
        }
    }
}

/// A part of a shape.
#[derive(Debug, Clone, Copy)]
pub(super) enum ShapePart {
    Literal(&'static str),
    /// At least `least` and at most `most` characters, as many as there are.
    Run {
        alphabet: Alphabet,
        least: usize,
        most: usize,
    },
}

pub(super) const fn literal(text: &'static str) -> ShapePart {
    ShapePart::Literal(text)
}

/// Returns a run of exactly `length` characters.
pub(super) const fn exactly(alphabet: Alphabet, length: usize) -> ShapePart {
    ShapePart::Run { alphabet, least: length, most: length }
}

pub(super) const fn between(alphabet: Alphabet, least: usize, most: usize) -> ShapePart {
    ShapePart::Run { alphabet, least, most }
}

/// Matches the segments behind an anchor, and a run before it. Neither a letter, digit or `_` nor a further character of the
/// last run may follow.
pub(super) fn attempt(text: &[u8], anchor: Range<usize>, before: Option<ShapePart>, shape: &[ShapePart]) -> Attempt {
    let mut attempt = Attempt { matched: None, end: anchor.end };
    let Some(start) = start_of(text, anchor.start, before) else { return attempt };
    let mut last = None;
    for segment in shape {
        let rest = text.get(attempt.end..).unwrap_or_default();
        let length = match segment {
            ShapePart::Literal(literal) => rest.starts_with(literal.as_bytes()).then_some(literal.len()),
            ShapePart::Run { alphabet, least, most } => {
                last = Some(alphabet);
                let length = run_length(rest.iter(), *alphabet, *most);
                (length >= *least).then_some(length)
            }
        };
        let Some(length) = length else { return attempt };
        attempt.end += length;
    }
    let continues = |byte: &u8| is_word(*byte) || last.is_some_and(|alphabet| alphabet.contains(*byte));
    // A full stop or hyphen that follows may end a sentence.
    let next = text.get(attempt.end).filter(|byte| !matches!(byte, b'.' | b'='));
    if !next.is_some_and(continues) {
        attempt.matched = Some(start..attempt.end);
    }
    attempt
}

/// Returns where a match with an anchor at `anchor` begins; `None` in the middle of a word.
fn start_of(text: &[u8], anchor: usize, before: Option<ShapePart>) -> Option<usize> {
    let head = text.get(..anchor)?;
    let start = match before {
        Some(ShapePart::Run { alphabet, least, most }) => {
            let length = run_length(head.iter().rev(), alphabet, most + 1);
            (least..=most).contains(&length).then_some(anchor - length)?
        }
        _ => anchor,
    };
    is_boundary(text, start).then_some(start)
}

fn run_length<'t>(bytes: impl Iterator<Item = &'t u8>, alphabet: Alphabet, most: usize) -> usize {
    bytes.take(most).take_while(|byte| alphabet.contains(**byte)).count()
}

/// Tells whether a value may begin at an offset: not inside a word, but behind an escape sequence such as `\n`, or behind
/// `/bot`, which the addresses of Telegram's interface have before a token.
pub(super) fn is_boundary(text: &[u8], offset: usize) -> bool {
    match text.get(..offset).unwrap_or_default() {
        [.., b'\\', b'n' | b'r' | b't'] | [.., b'/', b'b', b'o', b't'] => true,
        [.., byte] => !is_word(*byte),
        [] => true,
    }
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
