//! The limits of an answer's length, and what follows from them for selection.

use clap::Args;

use super::values::whole;
use crate::tokens::{CHARS_PER_TOKEN, Tokenizer};

/// The tokens of a budget for each note that is assessed: no note is shown in fewer.
const TOKENS_PER_CANDIDATE: usize = 10;
/// The least number of notes that are assessed.
pub const MIN_CANDIDATES: usize = 100;

/// The limits of an answer's length; if both are given, both apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct Budget {
    /// Maximum number of characters to print
    // Unicode scalar values, final newline included.
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub max_chars: Option<usize>,
    /// Maximum number of tokens to print, as counted by --tokenizer
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub max_tokens: Option<usize>,
    /// The tokens at which selection by purpose stops; the last note may exceed it.
    #[arg(skip)]
    pub target_tokens: Option<usize>,
    /// How tokens are counted (default: estimate)
    #[arg(long, global = true, value_name = "ENCODING", default_value = "estimate", hide_default_value = true)]
    pub tokenizer: Tokenizer,
}

impl Budget {
    /// Returns the room of an answer, for the selection of its notes.
    pub fn room(&self) -> Room {
        let tokens = [self.max_tokens, self.max_chars.map(|chars| chars / CHARS_PER_TOKEN)];
        let candidates = |tokens: usize| (tokens / TOKENS_PER_CANDIDATE).max(MIN_CANDIDATES);
        let entries = self.max_entries();
        Room { chars: self.most_chars(), candidates: tokens.into_iter().flatten().min().map(candidates), entries }
    }

    /// Returns the most notes from which an answer is filled, one for each character; `None` for no limit.
    pub fn max_entries(&self) -> Option<usize> {
        self.most_chars().map(|chars| chars.max(MIN_CANDIDATES))
    }

    /// Returns the approximate limit in characters, tokens counted as [`CHARS_PER_TOKEN`]; `None` without a limit.
    pub fn most_chars(&self) -> Option<usize> {
        let by_tokens = self.max_tokens.map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
        [self.max_chars, by_tokens].into_iter().flatten().min()
    }

    /// Returns the budget with at most so many characters.
    pub fn at_most(self, chars: usize) -> Self {
        Self { max_chars: Some(self.max_chars.map_or(chars, |max| max.min(chars))), ..self }
    }

    /// Tells whether there is a limit in characters or tokens.
    pub fn is_limited(&self) -> bool {
        self.max_chars.is_some() || self.max_tokens.is_some()
    }
}

/// The room of an answer: what its selection needs to know of the budget, so that it does no work for what can't be shown.
/// `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Room {
    /// The approximate limit in characters.
    pub chars: Option<usize>,
    /// The most hits that are assessed, several times as many as could be shown.
    pub candidates: Option<usize>,
    /// The most notes from which the answer is filled.
    pub entries: Option<usize>,
}

impl Room {
    /// Returns the room of so many characters.
    pub fn of_chars(chars: usize) -> Self {
        Budget { max_chars: Some(chars), ..Budget::default() }.room()
    }
}
