//! From notes to their chunks by number: the one time that texts are read.

use crate::codec::blobs::IndexWorker;
use crate::note::Note;
use crate::search::analysis::tokenizer::{MarkdownToken, for_each_piece};
use crate::search::build::interner::{InternKey, TokenInterner};
use crate::search::read::segment::ALL_QUESTIONS;
use crate::search::score::block_scorer::share_of_questions;

/// What stands in a text between its chunks; no chunk has so high a number.
pub(crate) const TAG_END: u32 = u32::MAX;
pub(crate) const HEADING: u32 = u32::MAX - 1;
pub(crate) const HEADING_END: u32 = u32::MAX - 2;
pub(crate) const BLANK: u32 = u32::MAX - 3;

/// Tells a mark from the number of a chunk.
pub(crate) fn is_mark(piece: u32) -> bool {
    piece >= BLANK
}

/// The token ids of consecutive notes. Ids are stable across batches.
#[derive(Default)]
pub(crate) struct TokenStream {
    pub(crate) chunks: TokenInterner,
    /// For each chunk that was brought to its words, what [`crate::search::build::vocabulary::VocabularyBuilder::spell`] needs.
    pub(crate) spans: Vec<u32>,
    /// The chunks of all texts, and what stands between them.
    pub(crate) stream: Vec<u32>,
    pub(crate) texts: Vec<TextEnds>,
    /// The chunks of the text at hand.
    sought: Vec<InternKey>,
}

/// The offsets in the stream at which the texts of a note end; each begins at the end of the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextEnds {
    pub(crate) start: usize,
    /// The title and the aliases.
    pub(crate) title: usize,
    /// The tags, with [`TAG_END`] behind each.
    pub(crate) tags: usize,
    pub(crate) body: usize,
    /// A summary in the frontmatter.
    pub(crate) summary: usize,
    /// See [`crate::search::read::segment::FieldNorms::questions`].
    pub(crate) questions: u32,
}

impl IndexWorker for TokenStream {
    fn read(&mut self, note: &Note) {
        let text = self.add(note);
        self.texts.push(text);
    }
}

impl TokenStream {
    /// Lets go of the notes.
    pub(crate) fn clear(&mut self) {
        self.stream.clear();
        self.texts.clear();
    }

    fn add(&mut self, note: &Note) -> TextEnds {
        let start = self.stream.len();
        for text in std::iter::once(&note.title).chain(&note.aliases) {
            self.add_line(text);
        }
        let title = self.stream.len();
        for tag in &note.tags {
            self.add_line(tag);
            self.stream.push(TAG_END);
        }
        let tags = self.stream.len();
        self.add_body(note.body());
        let body = self.stream.len();
        if let Some(summary) = note.written_summary() {
            self.add_line(summary);
        }
        let questions = (share_of_questions(note.body()) * f64::from(ALL_QUESTIONS)).round() as u32;
        TextEnds { start, title, tags, body, summary: self.stream.len(), questions }
    }

    fn add_line(&mut self, text: &str) {
        for_each_piece(text, |piece| {
            if let MarkdownToken::RawToken(chunk) = piece {
                self.sought.push(self.chunks.sought(&chunk, text));
            }
        });
        self.look_up();
    }

    fn add_body(&mut self, text: &str) {
        for_each_piece(text, |piece| {
            let sought = match piece {
                MarkdownToken::RawToken(chunk) => self.chunks.sought(&chunk, text),
                MarkdownToken::Heading => InternKey::mark(HEADING),
                MarkdownToken::HeadingEnd => InternKey::mark(HEADING_END),
                MarkdownToken::Blank => InternKey::mark(BLANK),
            };
            self.sought.push(sought);
        });
        self.look_up();
    }

    fn look_up(&mut self) {
        self.chunks.add_numbers(&self.sought, &mut self.stream);
        self.sought.clear();
    }
}
