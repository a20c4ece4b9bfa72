//! The content of journals: tags, content words, and the openings of their blocks.

use std::collections::{BTreeMap, BTreeSet};

use crate::note::without_code;
use crate::search::StopWords;
use crate::store::NoteHandle;

/// The fewest letters of a counted word.
const MIN_LETTERS: usize = 4;
/// The number of words of an opening.
const OPENING_WORDS: usize = 3;

/// The content of one journal.
#[derive(Debug, Default)]
pub(super) struct JournalText {
    /// The tags of the frontmatter and the `#tags` of the text, in lower case.
    pub(super) tags: BTreeSet<String>,
    /// The content words with at least [`MIN_LETTERS`] letters, in lower case, with their frequencies, without `#tags`.
    pub(super) words: BTreeMap<String, usize>,
    /// The first [`OPENING_WORDS`] words of each block.
    pub(super) openings: BTreeSet<String>,
    /// The names of fields without a meaning for qipu.
    pub(super) fields: BTreeSet<String>,
    /// The number of blocks.
    pub(super) blocks: usize,
}

impl JournalText {
    pub(super) fn of(note: &NoteHandle, stop_words: &StopWords) -> Self {
        let mut text = Self::default();
        text.tags.extend(note.tags().iter().map(|tag| tag.trim_start_matches('#').to_lowercase()));
        let fields = note.extra_fields();
        text.fields.extend(fields.custom.iter().chain(fields.unknown).map(|(key, _)| key.clone()));
        for block in note.parsed_or_empty().blocks() {
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
                if opening.len() < OPENING_WORDS {
                    opening.push(word.clone());
                }
                if letter_count(&word) >= MIN_LETTERS && !stop_words.has(&word) {
                    *self.words.entry(word).or_default() += 1;
                }
            }
        }
        if opening.len() == OPENING_WORDS {
            self.openings.insert(opening.join(" "));
        }
    }
}

pub(super) fn letter_count(word: &str) -> usize {
    word.chars().filter(|c| c.is_alphabetic()).count()
}

/// Returns the name of a `#tag` in lower case.
fn tag(chunk: &str) -> Option<String> {
    let chunk = chunk.trim_start_matches(['(', '*', '_', '"', '\'']);
    let name = chunk.strip_prefix('#')?;
    let end = name.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '/')).unwrap_or(name.len());
    let name = name.get(..end)?.trim_end_matches(['-', '_', '/']);
    name.starts_with(char::is_alphabetic).then(|| name.to_lowercase())
}
