//! The limits of an answer, and the size of a text.

use crate::request::Budget;
use crate::tokens::{CHARS_PER_TOKEN, Tokenizer};

/// An upper bound for the characters of a token in every encoding.
const MAX_CHARS_PER_TOKEN: usize = 256;

/// The limits of an answer. Both apply.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutputLimits {
    /// The most characters, also for tokens that are estimated from characters.
    pub(super) chars: usize,
    /// The most tokens of an encoding.
    pub(super) tokens: Option<usize>,
    /// The encoding, or the estimate.
    pub(super) tokenizer: Tokenizer,
    /// The tokens of a document to which no more entries are added.
    pub(super) target_tokens: Option<usize>,
}

/// The size of a text. As an error, that of a text that exceeds the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextSize {
    pub(super) chars: usize,
    /// The tokens of an encoding; `None` without an encoding, or if the text is not known as a whole.
    pub(super) tokens: Option<usize>,
}

impl OutputLimits {
    pub(super) fn new(budget: Budget) -> Self {
        let is_encoding = budget.tokenizer.is_encoding();
        let tokens = budget.max_tokens.filter(|_| is_encoding);
        let as_chars = budget.max_tokens.filter(|_| !is_encoding).map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
        let chars = [budget.max_chars, as_chars].into_iter().flatten().min().unwrap_or(usize::MAX);
        Self { chars, tokens, tokenizer: budget.tokenizer, target_tokens: budget.target_tokens }
    }

    /// Returns the limit of so many characters alone.
    pub(super) fn of_chars(self, chars: usize) -> Self {
        Self { chars, tokens: None, target_tokens: None, ..self }
    }

    pub(super) fn is_limited(&self) -> bool {
        self.chars != usize::MAX || self.tokens.is_some()
    }

    /// Returns an upper bound for the characters of any text within the limits:
    /// `min(chars, tokens * MAX_CHARS_PER_TOKEN)`.
    pub(super) fn max_chars(&self) -> usize {
        let by_tokens = self.tokens.map_or(usize::MAX, |tokens| tokens.saturating_mul(MAX_CHARS_PER_TOKEN));
        self.chars.min(by_tokens)
    }

    pub(super) fn has_room(&self, text: &str) -> bool {
        text.chars().count() <= self.chars && self.tokens.is_none_or(|limit| self.tokenizer.count(text) <= limit)
    }

    pub(super) fn size(&self, text: &str) -> TextSize {
        let tokens = self.tokenizer.is_encoding().then(|| self.tokenizer.count(text));
        TextSize { chars: text.chars().count(), tokens }
    }

    /// Returns the smaller of two sizes, by tokens if an encoding counts them.
    pub(super) fn smaller(&self, a: TextSize, b: TextSize) -> TextSize {
        let key = |size: &TextSize| match self.tokens {
            Some(_) => (size.tokens.unwrap_or(usize::MAX), size.chars),
            None => (size.chars, 0),
        };
        if key(&b) < key(&a) { b } else { a }
    }

    /// Measures a text in tokens if an encoding counts them, else in characters.
    pub(super) fn measure(&self, text: &str) -> usize {
        if self.tokens.is_some() { self.tokenizer.count(text) } else { text.chars().count() }
    }

    /// Returns the limit in the unit of [`OutputLimits::measure`].
    pub(super) fn limit(&self) -> usize {
        self.tokens.unwrap_or(self.chars)
    }
}
