//! Levels of detail: how much of a note an answer shows, and its text at each level.

use unicode_segmentation::UnicodeSegmentation;

use super::NoteEntry;
use crate::codec::named::named;
use crate::escape::one_line;

/// The most characters of an essence.
const MAX_ESSENCE_CHARS: usize = 120;
/// Marks an omission.
const ELLIPSIS: &str = "…";

named! {
    /// How much of a note is shown, in ascending order. A lower level is never longer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum DetailLevel {
        /// The first sentence of the summary, else the title.
        Essence = "essence",
        /// The summary.
        Summary = "summary",
        /// The fragments of the body with words of the query.
        Passages = "passages",
        /// The body, and the notes that it is derived from.
        Detailed = "detailed",
    }
}

/// How an assessed note is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoteLevel {
    pub(crate) level: DetailLevel,
    /// The share of the note that the notes shown before it do not contain, 0 to 1.
    pub(crate) novelty: f64,
}

impl NoteLevel {
    /// Returns a level with a novelty, 0 to 1.
    pub fn new(level: DetailLevel, novelty: f64) -> Self {
        Self { level, novelty }
    }
}

impl NoteEntry {
    /// Returns the body without blank lines before and white space after it.
    pub fn body(&self) -> &str {
        let body = self.note.parsed_or_empty().body().trim_end();
        let blank_lines = body.split_inclusive('\n').take_while(|line| line.trim().is_empty());
        body.get(blank_lines.map(str::len).sum()..).unwrap_or_default()
    }

    /// Returns the text of the note at a level, and that level.
    pub fn text_at(&self, shown: NoteLevel) -> (DetailLevel, String) {
        match shown.level {
            DetailLevel::Essence => (DetailLevel::Essence, self.essence()),
            DetailLevel::Summary => (DetailLevel::Summary, self.summary_line()),
            // Passages are chosen when they are fitted.
            DetailLevel::Detailed | DetailLevel::Passages => (DetailLevel::Detailed, self.detailed_text()),
        }
    }

    /// Returns the body, with the summary before it if that is longer.
    pub fn detailed_text(&self) -> String {
        self.with_longer_summary(self.body())
    }

    /// Returns the summary on one line, else the title.
    pub fn summary_line(&self) -> String {
        let summary = self.summary().map(|summary| one_line(&summary)).unwrap_or_default();
        if summary.is_empty() { one_line(self.note.title()) } else { summary }
    }

    /// Returns a text with the summary before it, if the summary is longer. So a higher level is never shorter.
    fn with_longer_summary(&self, text: &str) -> String {
        let summary = self.summary_line();
        if !is_shorter(text, &summary) {
            text.to_owned()
        } else if text.is_empty() {
            summary
        } else {
            format!("{summary}\n\n{text}")
        }
    }

    /// Returns the first sentence of the summary, at most [`MAX_ESSENCE_CHARS`] of it.
    fn essence(&self) -> String {
        let summary = self.summary_line();
        let sentence = summary.unicode_sentences().next().unwrap_or(&summary).trim_end();
        match sentence.char_indices().nth(MAX_ESSENCE_CHARS) {
            None => sentence.to_owned(),
            Some(_) => {
                sentence.chars().take(MAX_ESSENCE_CHARS - 1).collect::<String>().trim_end().to_owned() + ELLIPSIS
            }
        }
    }
}

fn is_shorter(text: &str, other: &str) -> bool {
    text.chars().count() < other.chars().count()
}
