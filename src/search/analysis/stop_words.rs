//! The stop words of a language.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::{english, other_languages};
use crate::note::Language;

/// The stop words of a language: words that occur in texts whatever these are about.
pub struct StopWords(HashMap<&'static str, (), RandomState>);

impl StopWords {
    /// Returns the stop words of a language.
    pub fn new(language: Language) -> Self {
        let words: Vec<&str> = match language {
            Language::English => english::stop_words().collect(),
            _ => other_languages::stop_words(language).split_whitespace().collect(),
        };
        Self(words.into_iter().map(|word| (word, ())).collect())
    }

    /// Returns whether a lower-case word is a stop word.
    pub fn has(&self, word: &str) -> bool {
        self.0.contains_key(word)
    }
}
