//! How long a text may be, and how long one is.

use crate::request::Budget;
use crate::tokens::{CHARS_PER_TOKEN, Tokenizer};

/// No token of an encoding has more characters.
const MAX_CHARS_PER_TOKEN: usize = 256;

/// How long a text may be: both limits count.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutputLimits {
    /// The most characters; tokens of four characters are counted here.
    pub(super) chars: usize,
    /// The most tokens of a real encoding.
    pub(super) tokens: Option<usize>,
    /// What counts them.
    pub(super) tokenizer: Tokenizer,
}

/// How long a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextSize {
    pub(super) chars: usize,
    /// Its tokens, where an encoding counts them and the whole text is known.
    pub(super) tokens: Option<usize>,
}

impl OutputLimits {
    pub(super) fn new(budget: Budget) -> Self {
        let is_encoding = budget.tokenizer.is_encoding();
        let tokens = budget.max_tokens.filter(|_| is_encoding);
        let as_chars = budget.max_tokens.filter(|_| !is_encoding).map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
        let chars = [budget.max_chars, as_chars].into_iter().flatten().min().unwrap_or(usize::MAX);
        Self { chars, tokens, tokenizer: budget.tokenizer }
    }

    pub(super) fn are_there(&self) -> bool {
        self.chars != usize::MAX || self.tokens.is_some()
    }

    /// Returns a number of characters that no text has which is short enough.
    pub(super) fn most_chars(&self) -> usize {
        let by_tokens = self.tokens.map_or(usize::MAX, |tokens| tokens.saturating_mul(MAX_CHARS_PER_TOKEN));
        self.chars.min(by_tokens)
    }

    /// Tells whether a text is short enough.
    pub(super) fn allow(&self, text: &str) -> bool {
        text.chars().count() <= self.chars && self.tokens.is_none_or(|most| self.tokenizer.count(text) <= most)
    }

    pub(super) fn size(&self, text: &str) -> TextSize {
        let tokens = self.tokenizer.is_encoding().then(|| self.tokenizer.count(text));
        TextSize { chars: text.chars().count(), tokens }
    }

    /// Returns the smaller of two sizes, by tokens where an encoding counts them.
    pub(super) fn smaller(&self, a: TextSize, b: TextSize) -> TextSize {
        let of = |size: &TextSize| match self.tokens {
            Some(_) => (size.tokens.unwrap_or(usize::MAX), size.chars),
            None => (size.chars, 0),
        };
        if of(&b) < of(&a) { b } else { a }
    }

    /// Measures a text in the unit of the limit that is the narrower: tokens where an encoding counts
    /// them, else characters.
    pub(super) fn measure(&self, text: &str) -> usize {
        if self.tokens.is_some() { self.tokenizer.count(text) } else { text.chars().count() }
    }

    /// Returns the limit in that unit.
    pub(super) fn most(&self) -> usize {
        self.tokens.unwrap_or(self.chars)
    }
}
