//! The parts of notes that are computed when they are shown: snippets, blocks and excerpts.

use std::sync::Arc;

use crate::report::{BlockEntry, NoteContent, SnippetText};
use crate::search::Highlighter;
use crate::store::NoteHandle;

/// Computes the parts of notes for one query.
#[derive(Debug, Clone)]
pub struct QueryContent {
    /// Finds and weighs the words of the query; `None` without a query.
    pub highlighter: Option<Arc<Highlighter>>,
    /// The score of every block without a query.
    pub default_score: f64,
    /// The most list items of an excerpt.
    pub max_excerpt_items: usize,
}

impl QueryContent {
    /// Returns the content for a query, with excerpts of any number of items.
    pub fn new(highlighter: Option<Arc<Highlighter>>) -> Self {
        Self { highlighter, default_score: 0.0, max_excerpt_items: usize::MAX }
    }
}

impl NoteContent for QueryContent {
    fn snippet(&self, note: &NoteHandle) -> Option<SnippetText> {
        let note = note.parsed_or_empty();
        let snippet = self.highlighter.as_ref()?.snippet(note.body())?;
        let before = note.body().get(..snippet.offset).unwrap_or_default();
        let line = note.body_line() + before.bytes().filter(|byte| *byte == b'\n').count();
        Some(SnippetText { text: snippet.text, marks: snippet.marks, line })
    }

    fn blocks(&self, note: &NoteHandle) -> Vec<BlockEntry> {
        let score = |text: &str| self.highlighter.as_ref().map_or(self.default_score, |words| words.idf_weight(text));
        let entry = |(index, block): (usize, crate::note::Block)| BlockEntry {
            id: block.anchor.unwrap_or_else(|| format!("{}#b{}", note.id, index + 1)),
            score: score(&block.text),
            heading_path: block.heading_path,
            text: block.text,
            depth: block.depth,
        };
        note.parsed_or_empty().blocks().into_iter().enumerate().map(entry).collect()
    }

    fn excerpt(&self, note: &NoteHandle) -> Option<String> {
        note.parsed_or_empty().first_items(self.max_excerpt_items)
    }
}
