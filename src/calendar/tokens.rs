//! A text as words and what stands between them.

use std::ops::Range;

/// What stands before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// White space.
    Space,
    /// A comma, with white space perhaps.
    Comma,
    /// A full stop and white space.
    Stop,
    /// `-`, close on both sides.
    Dash,
    /// `_`.
    Underscore,
    /// `/`.
    Slash,
    /// `..`, with white space perhaps.
    Dots,
    /// An apostrophe.
    Apostrophe,
    /// A full stop or colon, close on both sides.
    Point,
    /// The beginning of the text, or anything else.
    Other,
}

/// A run of letters and digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The word in small letters.
    pub word: String,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// What stands before it.
    pub separator: Separator,
}

/// The words of a text.
#[derive(Debug)]
pub struct Tokens<'a> {
    pub(super) text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Tokens<'a> {
    /// Takes a text apart, in one pass.
    pub fn new(text: &'a str) -> Self {
        let mut tokens = Vec::new();
        let mut end = 0;
        let mut chars = text.char_indices().peekable();
        while let Some((start, first)) = chars.next() {
            if !first.is_alphanumeric() {
                continue;
            }
            let mut stop = start + first.len_utf8();
            while let Some((at, c)) = chars.next_if(|(_, c)| c.is_alphanumeric()) {
                stop = at + c.len_utf8();
            }
            let slice = |range: Range<usize>| text.get(range).unwrap_or_default();
            let gap = if start == 0 { Separator::Other } else { parse_separator(slice(end..start)) };
            tokens.push(Token { word: slice(start..stop).to_lowercase(), range: start..stop, separator: gap });
            end = stop;
        }
        Self { text, tokens }
    }

    /// Returns how many words there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Tells whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Returns a word with its place.
    pub fn get(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    /// Returns a word in small letters; nothing behind the last one.
    pub fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.word)
    }

    /// Returns words as they are written, with what stands between them.
    pub fn text_between(&self, from: usize, to: usize) -> &str {
        self.text.get(self.range(from, to)).unwrap_or_default()
    }

    /// Returns a word as it is written.
    pub fn original(&self, at: usize) -> &str {
        self.tokens.get(at).and_then(|token| self.text.get(token.range.clone())).unwrap_or_default()
    }

    /// Returns what stands before a word.
    pub fn separator(&self, at: usize) -> Separator {
        self.tokens.get(at).map_or(Separator::Other, |token| token.separator)
    }

    /// Tells whether a word stands behind the one before it with nothing but white space between.
    pub fn follows(&self, at: usize, word: &str) -> bool {
        self.word(at) == word && self.separator(at) == Separator::Space
    }

    /// Returns the bytes of words.
    pub fn range(&self, from: usize, to: usize) -> Range<usize> {
        let start = self.tokens.get(from).map_or(self.text.len(), |token| token.range.start);
        let end = to.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(start, |token| token.range.end);
        start..end.max(start)
    }

    /// Tells whether words are all of the text.
    pub(super) fn is_whole(&self, from: usize, to: usize) -> bool {
        self.range(from, to) == (0..self.text.len())
    }

    /// Tells whether a word hangs on the one before it, so that it is a part of something longer.
    pub(super) fn is_glued(&self, at: usize) -> bool {
        matches!(self.separator(at), Separator::Dash | Separator::Underscore | Separator::Slash | Separator::Point)
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
