//! The parts of notes that are computed when they are shown: snippets, blocks and excerpts.

use std::sync::Arc;

use super::passages::scores;
use crate::note::FragmentSizes;
use crate::report::{BlockEntry, NoteContent, Passages, SnippetText};
use crate::search::{BlockScore, BlockScorer, BlockText, Highlighter, TokenCache};
use crate::store::NoteHandle;

/// The sizes of fragments outside of packed answers: blocks, as long as they fit into a small answer. They do not depend on
/// the budget, so that a larger one shows the same and more.
const BLOCK_SIZES: FragmentSizes = 0..1_200;

/// Computes the parts of notes for one query.
#[derive(Debug, Clone)]
pub struct QueryContent {
    /// Finds and weighs the words of the query; `None` without a query.
    pub highlighter: Option<Arc<Highlighter>>,
    /// Weighs the fragments of a note for a snippet; `None` without a query.
    pub scorer: Option<Arc<BlockScorer>>,
    /// The score of every block and fragment without a query.
    pub default_score: f64,
    /// The most list items of an excerpt.
    pub max_excerpt_items: usize,
}

impl QueryContent {
    /// Returns the content for a query, with excerpts of any number of items.
    pub fn new(highlighter: Option<Arc<Highlighter>>, scorer: Option<Arc<BlockScorer>>) -> Self {
        Self { highlighter, scorer, default_score: 0.0, max_excerpt_items: usize::MAX }
    }
}

impl NoteContent for QueryContent {
    fn snippet(&self, note: &NoteHandle) -> Option<SnippetText> {
        let (parsed, highlighter) = (note.parsed_or_empty(), self.highlighter.as_ref()?);
        let snippet = |text: &str, line: usize| {
            let snippet = highlighter.snippet(text)?;
            let before = text.get(..snippet.offset).unwrap_or_default();
            let line = line + before.bytes().filter(|byte| *byte == b'\n').count();
            Some(SnippetText { text: snippet.text, marks: snippet.marks, line })
        };
        let passages = self.passages(note);
        let of_fragment = |index: usize| {
            let fragment = &passages.fragments[index];
            snippet(fragment.text(parsed.body()), fragment.lines.0)
        };
        // The words may stand in headings alone.
        passages.by_worth().into_iter().find_map(of_fragment).or_else(|| snippet(parsed.body(), parsed.body_line()))
    }

    fn passages(&self, note: &NoteHandle) -> Passages {
        let (body, title) = (note.parsed_or_empty().body(), note.title());
        let fragments = note.parsed_or_empty().fragments(title, &BLOCK_SIZES);
        let scores = match &self.scorer {
            Some(scorer) => scores(&fragments, body, title, scorer, &mut TokenCache::default()),
            None => vec![BlockScore { score: self.default_score, ..BlockScore::default() }; fragments.len()],
        };
        let worth = scores.iter().map(|scored| scored.score).collect();
        Passages { fragments, worth, words: scores.iter().map(|scored| scored.words).collect(), ..Passages::default() }
    }

    fn weight(&self, text: &str) -> f64 {
        self.highlighter.as_ref().map_or(self.default_score, |words| words.idf_weight(text))
    }

    fn words(&self, text: &str) -> u64 {
        let block = BlockText { headings: "", text };
        let scores = self.scorer.as_ref().map(|scorer| scorer.scores(&[block], &mut TokenCache::default()));
        scores.into_iter().flatten().fold(0, |all, scored| all | scored.words)
    }

    fn blocks(&self, note: &NoteHandle) -> Vec<BlockEntry> {
        let entry = |(index, block): (usize, crate::note::Block)| BlockEntry {
            id: block.anchor.unwrap_or_else(|| format!("{}#b{}", note.id, index + 1)),
            score: self.weight(&block.text),
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
