//! Words that say nothing, for whoever takes texts apart without searching.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::note::Language;
use crate::search::analysis::english;
use crate::search::analysis::other_languages;

/// The words of a language that texts hold without being about them.
pub struct StopWords(HashMap<&'static str, (), RandomState>);

impl StopWords {
    /// Returns those of a language.
    pub fn new(language: Language) -> Self {
        let words: Vec<&str> = match language {
            Language::English => english::stop_words().collect(),
            _ => other_languages::stop_words(language).split_whitespace().collect(),
        };
        Self(words.into_iter().map(|word| (word, ())).collect())
    }

    /// Tells whether a word in small letters says nothing.
    pub fn has(&self, word: &str) -> bool {
        self.0.contains_key(word)
    }
}
