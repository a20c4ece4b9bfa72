//! From notes to their chunks by number: the one time that texts are read.

use std::sync::Arc;

use super::chunks::{Chunks, Sought};
use super::words::{Piece, for_each_piece};
use crate::note::Note;

/// What stands in a text between its chunks; no chunk has so high a number.
pub(super) const TAG_END: u32 = u32::MAX;
pub(super) const HEADING: u32 = u32::MAX - 1;
pub(super) const HEADING_END: u32 = u32::MAX - 2;
pub(super) const BLANK: u32 = u32::MAX - 3;

/// Tells a mark from the number of a chunk.
pub(super) fn is_mark(piece: u32) -> bool {
    piece >= BLANK
}

/// Fewer bytes than chunks and what is between them take in most texts.
const USUAL_CHUNK: usize = 4;

/// Some notes of a store.
pub(super) struct Read<'a> {
    pub(super) chunks: Chunks<'a>,
    /// The chunks of all texts, and what stands between them.
    pub(super) stream: Vec<u32>,
    pub(super) texts: Vec<Text>,
    /// The chunks of the text at hand.
    sought: Vec<Sought<'a>>,
}

/// Where in the stream the texts of a note end; each begins where the one before it ends.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Text {
    pub(super) start: usize,
    /// The title and the aliases.
    pub(super) title: usize,
    /// The tags, with [`TAG_END`] behind each.
    pub(super) tags: usize,
    pub(super) body: usize,
    /// A summary in the frontmatter.
    pub(super) summary: usize,
}

impl<'a> Read<'a> {
    pub(super) fn new(notes: &'a [Arc<Note>]) -> Self {
        // Enough for most, so that nothing has to be moved; what is not used takes no memory.
        let bytes: usize = notes.iter().map(|note| note.body().len()).sum();
        let mut read = Self {
            chunks: Chunks::new(),
            stream: Vec::with_capacity(bytes / USUAL_CHUNK),
            texts: Vec::with_capacity(notes.len()),
            sought: Vec::new(),
        };
        for note in notes {
            let text = read.add(note);
            read.texts.push(text);
        }
        read
    }

    fn add(&mut self, note: &'a Note) -> Text {
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
        if let Some(summary) = note.summary_field() {
            self.add_line(summary);
        }
        Text { start, title, tags, body, summary: self.stream.len() }
    }

    fn add_line(&mut self, text: &'a str) {
        for_each_piece(text, |piece| {
            if let Piece::Chunk(chunk) = piece {
                self.sought.push(self.chunks.sought(chunk, text));
            }
        });
        self.look_up();
    }

    fn add_body(&mut self, text: &'a str) {
        for_each_piece(text, |piece| {
            let sought = match piece {
                Piece::Chunk(chunk) => self.chunks.sought(chunk, text),
                Piece::Heading => Sought::mark(HEADING),
                Piece::HeadingEnd => Sought::mark(HEADING_END),
                Piece::Blank => Sought::mark(BLANK),
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
