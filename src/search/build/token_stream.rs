//! Reads notes into streams of token ids: the only pass over their texts.

use super::interner::{InternKey, TokenInterner};
use super::token_words::TokenWords;
use crate::note::Note;
use crate::search::analysis::questions::{QUESTION_UNITS, question_share};
use crate::search::analysis::tokenizer::{MarkdownToken, for_each_raw_token, for_each_token};
use crate::store::TextIndexWorker;

/// Marks in a stream; no token has so high an id.
pub(crate) const TAG_END: u32 = u32::MAX;
pub(crate) const HEADING_START: u32 = u32::MAX - 1;
pub(crate) const HEADING_END: u32 = u32::MAX - 2;
pub(crate) const BLANK_LINE: u32 = u32::MAX - 3;

/// Returns whether an element of a stream is a mark, and not a token id.
pub(crate) fn is_mark(element: u32) -> bool {
    element >= BLANK_LINE
}

/// The token ids of consecutive notes. Ids are stable across batches.
#[derive(Default)]
pub(crate) struct TokenStream {
    pub(crate) interner: TokenInterner,
    /// The words of each token of earlier batches, by token id. The vocabulary adds those of the current batch.
    pub(crate) words: Vec<TokenWords>,
    /// The token ids of all texts, with marks between them.
    pub(crate) elements: Vec<u32>,
    pub(crate) documents: Vec<TextEnds>,
    /// The tokens of the current text.
    keys: Vec<InternKey>,
}

/// The offsets in the stream at which the texts of a note end; each text begins at the end of the one before it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextEnds {
    pub(crate) start: usize,
    /// The title and the aliases.
    pub(crate) title: usize,
    /// The tags, each followed by [`TAG_END`].
    pub(crate) tags: usize,
    pub(crate) body: usize,
    /// A summary in the frontmatter.
    pub(crate) summary: usize,
    /// The share of questions among the sentences of the body, in [`QUESTION_UNITS`].
    pub(crate) questions: u8,
}

impl TextIndexWorker for TokenStream {
    fn read(&mut self, note: &Note) {
        let ends = self.add(note);
        self.documents.push(ends);
    }
}

impl TokenStream {
    /// Removes all notes, but keeps the tokens.
    pub(crate) fn clear(&mut self) {
        self.elements.clear();
        self.documents.clear();
    }

    fn add(&mut self, note: &Note) -> TextEnds {
        let start = self.elements.len();
        for text in std::iter::once(&note.title).chain(&note.aliases) {
            self.add_line(text);
        }
        let title = self.elements.len();
        for tag in &note.tags {
            self.add_line(tag);
            self.elements.push(TAG_END);
        }
        let tags = self.elements.len();
        self.add_body(note.body());
        let body = self.elements.len();
        if let Some(summary) = note.written_summary() {
            self.add_line(summary);
        }
        let questions = (question_share(note.body()) * f64::from(QUESTION_UNITS)).round() as u8;
        TextEnds { start, title, tags, body, summary: self.elements.len(), questions }
    }

    fn add_line(&mut self, text: &str) {
        for_each_raw_token(text, |token| self.keys.push(self.interner.key(&token, text)));
        self.intern_keys();
    }

    fn add_body(&mut self, text: &str) {
        for_each_token(text, |token| {
            let key = match token {
                MarkdownToken::Raw(token) => self.interner.key(&token, text),
                MarkdownToken::HeadingStart => InternKey::known(HEADING_START),
                MarkdownToken::HeadingEnd => InternKey::known(HEADING_END),
                MarkdownToken::BlankLine => InternKey::known(BLANK_LINE),
            };
            self.keys.push(key);
        });
        self.intern_keys();
    }

    fn intern_keys(&mut self) {
        self.interner.push_ids(&self.keys, &mut self.elements);
        self.keys.clear();
    }
}
