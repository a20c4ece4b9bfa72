//! Splits a text into words and the separators between them.

use std::ops::Range;

/// The separator before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    Space,
    /// A comma, with optional white space.
    Comma,
    /// A full stop and white space.
    Stop,
    /// `-` without white space.
    Dash,
    Underscore,
    Slash,
    /// `..`, with optional white space.
    Dots,
    Apostrophe,
    /// A full stop or colon without white space.
    Point,
    /// The start of the text, or anything else.
    Other,
}

/// A run of letters and digits.
struct Token {
    /// In lower case.
    word: String,
    range: Range<usize>,
    separator: Separator,
}

/// The tokens of a text.
pub(crate) struct Tokens<'a> {
    pub(super) text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Tokens<'a> {
    /// Tokenizes a text in one pass.
    pub(crate) fn new(text: &'a str) -> Self {
        let (mut tokens, mut end, mut offset) = (Vec::new(), 0, 0);
        let is_separator = |c: char| !c.is_alphanumeric();
        for piece in text.split_inclusive(is_separator) {
            let word = piece.trim_end_matches(is_separator);
            let range = offset..offset + word.len();
            offset += piece.len();
            if word.is_empty() {
                continue;
            }
            let gap = text.get(end..range.start).filter(|_| range.start > 0);
            end = range.end;
            let separator = gap.map_or(Separator::Other, parse_separator);
            tokens.push(Token { word: word.to_lowercase(), range, separator });
        }
        Self { text, tokens }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns a word in lower case; empty behind the last one.
    pub(crate) fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &token.word)
    }

    /// Returns the original text of tokens, with the separators between them.
    pub(crate) fn text_between(&self, from: usize, to: usize) -> &str {
        self.text.get(self.range(from, to)).unwrap_or_default()
    }

    /// Returns the original text of a word.
    pub(crate) fn original(&self, index: usize) -> &str {
        self.tokens.get(index).and_then(|token| self.text.get(token.range.clone())).unwrap_or_default()
    }

    /// Returns the separator before a word.
    pub(crate) fn separator(&self, index: usize) -> Separator {
        self.tokens.get(index).map_or(Separator::Other, |token| token.separator)
    }

    /// Tells whether a token is this word with only white space before it.
    pub(crate) fn follows(&self, index: usize, word: &str) -> bool {
        self.word(index) == word && self.separator(index) == Separator::Space
    }

    /// Returns the range of tokens in the text, in bytes; `to` is exclusive.
    pub(crate) fn range(&self, from: usize, to: usize) -> Range<usize> {
        let start = self.tokens.get(from).map_or(self.text.len(), |token| token.range.start);
        let end = to.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(start, |token| token.range.end);
        start..end.max(start)
    }

    /// Tells whether the tokens before `end` span the whole text.
    pub(super) fn is_whole(&self, end: usize) -> bool {
        self.range(0, end) == (0..self.text.len())
    }

    /// Tells whether a word is joined to the one before it, and so is part of something longer.
    pub(super) fn is_joined(&self, index: usize) -> bool {
        matches!(self.separator(index), Separator::Dash | Separator::Underscore | Separator::Slash | Separator::Point)
    }
}

fn parse_separator(text: &str) -> Separator {
    match text {
        "-" => Separator::Dash,
        "_" => Separator::Underscore,
        "/" => Separator::Slash,
        "'" | "’" => Separator::Apostrophe,
        "." | ":" => Separator::Point,
        _ => match text.trim() {
            "" => Separator::Space,
            "," => Separator::Comma,
            "." => Separator::Stop,
            ".." => Separator::Dots,
            _ => Separator::Other,
        },
    }
}
