//! What the texts of journals hold: tags, words that say something, how their blocks begin.

use std::collections::{BTreeMap, BTreeSet};

use crate::note::{Note, without_code};
use crate::search::StopWords;

/// The fewest letters of a word that counts.
const MIN_LETTERS: usize = 4;

/// What one journal holds.
#[derive(Debug, Default)]
pub(super) struct JournalText {
    /// Tags of the frontmatter and `#tags` of the text, in small letters.
    pub(super) tags: BTreeSet<String>,
    /// Words of four letters and more that are no stop words, in small letters, with how often they stand
    /// there. Tags of the text are none.
    pub(super) words: BTreeMap<String, usize>,
    /// The first three words of each block.
    pub(super) openings: BTreeSet<String>,
    /// The names of fields that qipu gives no meaning.
    pub(super) fields: BTreeSet<String>,
    /// How many blocks there are.
    pub(super) blocks: usize,
}

impl JournalText {
    /// Takes a journal apart.
    pub(super) fn of(note: &Note, stop_words: &StopWords) -> Self {
        let mut text = Self::default();
        text.tags.extend(note.tags.iter().map(|tag| tag.trim_start_matches('#').to_lowercase()));
        text.fields.extend(note.custom.iter().chain(&note.unknown).map(|(key, _)| key.clone()));
        for block in note.blocks() {
            text.blocks += 1;
            text.add(&without_code(&block.text), stop_words);
        }
        text
    }

    fn add(&mut self, block: &str, stop_words: &StopWords) {
        let mut opening: Vec<String> = Vec::new();
        for chunk in block.split_whitespace().filter(|chunk| !chunk.contains("://")) {
            if let Some(tag) = tag(chunk) {
                self.tags.insert(tag);
                continue;
            }
            for word in chunk.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                let word = word.to_lowercase();
                if opening.len() < 3 {
                    opening.push(word.clone());
                }
                if letters(&word) >= MIN_LETTERS && !stop_words.has(&word) {
                    *self.words.entry(word).or_default() += 1;
                }
            }
        }
        if opening.len() == 3 {
            self.openings.insert(opening.join(" "));
        }
    }
}

/// Counts the letters of a word.
pub(super) fn letters(word: &str) -> usize {
    word.chars().filter(|c| c.is_alphabetic()).count()
}

/// Returns the tag that `#tag` is, in small letters.
fn tag(chunk: &str) -> Option<String> {
    let chunk = chunk.trim_start_matches(['(', '*', '_', '"', '\'']);
    let name = chunk.strip_prefix('#')?;
    let end = name.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '/')).unwrap_or(name.len());
    let name = name.get(..end)?.trim_end_matches(['-', '_', '/']);
    name.starts_with(char::is_alphabetic).then(|| name.to_lowercase())
}
