//! How well an answer matches its question.

use crate::codec::named::named;
use crate::escape::{one_line, shortened};

named! {
    /// Whether the notes that a question finds answer it, in ascending order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum MatchLevel {
        /// They do not, and are not shown.
        Nothing = "nothing",
        /// They may, and are marked.
        Weak = "weak",
        /// They do.
        Answer = "answer",
    }
}

/// How well an answer matches its question. Does not depend on the budget.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionMatch {
    /// Whether the notes are an answer.
    pub level: MatchLevel,
    /// How well they match, 0 to 1.
    pub score: f64,
    /// The words of the question that no note has which may be shown, as they are written.
    pub unknown: Vec<String>,
    /// The words of the question that are looked for in what is shown, at most [`MAX_WORDS`].
    pub words: Vec<String>,
    /// The name of the embedder's model that took part in the answer.
    pub model: Option<String>,
}

/// The most unknown words that are named, and the most characters of each.
const MAX_NAMED: usize = 8;
const MAX_NAMED_CHARS: usize = 64;

/// Returns the first words of a list, on one line each, and shortened.
pub fn named_words(words: &[String]) -> Vec<String> {
    words.iter().take(MAX_NAMED).map(|word| one_line(&shortened(word, MAX_NAMED_CHARS))).collect()
}

/// Returns the same words in quotes.
pub fn quoted_words(words: &[String]) -> String {
    named_words(words).iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

/// Returns that no note has some words; `None` without a word.
pub fn no_note_has(unknown: &[String]) -> Option<String> {
    (!unknown.is_empty()).then(|| format!("no note has {}", quoted_words(unknown)))
}

/// Returns why notes are no sure answer: no note has some words of the question, or none has all of them together.
pub fn why_unsure(unknown: &[String]) -> String {
    no_note_has(unknown).unwrap_or_else(|| "no note has these words together".to_owned())
}

/// The most words of a question that are looked for: the bits of a set of words.
pub const MAX_WORDS: usize = u64::BITS as usize;
