//! Levels of detail: how much of a note an answer shows, and its text at each level.

use unicode_segmentation::UnicodeSegmentation;

use super::{BlockEntry, NoteEntry};
use crate::escape::one_line;

/// The most characters of an essence.
const MAX_ESSENCE_CHARS: usize = 120;
/// Marks an omission.
const ELLIPSIS: &str = "…";

/// How much of a note is shown, in ascending order. A lower level is never longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetailLevel {
    /// The first sentence of the summary, else the title.
    Essence,
    /// The summary.
    Summary,
    /// The blocks of the body with words of the query.
    Extract,
    /// The body, and the notes that it is derived from.
    Detailed,
}

impl DetailLevel {
    /// All levels in descending order.
    pub const DESCENDING: [Self; 4] = [Self::Detailed, Self::Extract, Self::Summary, Self::Essence];

    /// Returns the name in flags and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Essence => "essence",
            Self::Summary => "summary",
            Self::Extract => "extract",
            Self::Detailed => "detailed",
        }
    }
}

/// How a note is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitedLevel {
    pub(crate) level: DetailLevel,
    /// The most blocks of an extract.
    pub(crate) max_blocks: usize,
    /// The most characters of each block of an extract.
    pub(crate) max_block_chars: usize,
    /// The share of the note that the notes shown before it do not contain, 0 to 1.
    pub(crate) novelty: f64,
}

impl LimitedLevel {
    /// Returns a level without limits on blocks.
    pub fn whole(level: DetailLevel, novelty: f64) -> Self {
        Self { level, max_blocks: usize::MAX, max_block_chars: usize::MAX, novelty }
    }

    /// Returns a level without any block.
    pub fn without_blocks(level: DetailLevel, novelty: f64) -> Self {
        Self { level, max_blocks: 0, max_block_chars: 0, novelty }
    }

    /// Whether an extract may contain the block.
    fn allows(&self, block: &BlockEntry) -> bool {
        block.score > 0.0 && block.text.chars().count() <= self.max_block_chars
    }
}

impl NoteEntry {
    /// Returns the body without blank lines before and white space after it.
    pub fn body(&self) -> &str {
        let body = self.note.parsed_or_empty().body().trim_end();
        let blank_lines = body.split_inclusive('\n').take_while(|line| line.trim().is_empty());
        body.get(blank_lines.map(str::len).sum()..).unwrap_or_default()
    }

    /// Returns the text of the note at a level. A note without an extract has the level of its summary.
    pub fn text_at(&self, limited: LimitedLevel) -> (DetailLevel, String) {
        match limited.level {
            DetailLevel::Essence => (DetailLevel::Essence, self.essence()),
            DetailLevel::Summary => (DetailLevel::Summary, self.summary_line()),
            DetailLevel::Detailed => (DetailLevel::Detailed, self.detailed_text()),
            DetailLevel::Extract => {
                let Some(extract) = self.extract(limited) else { return (DetailLevel::Summary, self.summary_line()) };
                let (extract, detailed) = (self.with_longer_summary(&extract), self.detailed_text());
                (DetailLevel::Extract, if is_shorter(&extract, &detailed) { extract } else { detailed })
            }
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

    /// Returns the blocks that an extract may contain, whatever `max_blocks` is.
    pub fn extract_blocks(&self, limited: LimitedLevel) -> impl Iterator<Item = &BlockEntry> {
        self.blocks().iter().filter(move |block| limited.allows(block))
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

    /// Joins the blocks with the highest scores in the order of the text, each group below its heading path. `None` if
    /// no block contains a word of the query.
    fn extract(&self, limited: LimitedLevel) -> Option<String> {
        let blocks = self.blocks();
        let mut best: Vec<usize> = (0..blocks.len()).filter(|block| limited.allows(&blocks[*block])).collect();
        best.sort_by(|a, b| blocks[*b].score.total_cmp(&blocks[*a].score).then(a.cmp(b)));
        best.truncate(limited.max_blocks);
        best.sort_unstable();
        let mut lines: Vec<String> = Vec::new();
        let mut next = 0;
        let mut path: &[String] = &[];
        for index in &best {
            let block = &blocks[*index];
            lines.extend((*index > next).then(|| ELLIPSIS.to_owned()));
            if *block.heading_path != *path && !block.heading_path.is_empty() {
                lines.push(block.heading_path.join(" › "));
            }
            lines.push(block.text.clone());
            next = index + 1;
            path = &block.heading_path;
        }
        lines.extend((next < blocks.len()).then(|| ELLIPSIS.to_owned()));
        (!best.is_empty()).then(|| lines.join("\n"))
    }
}

fn is_shorter(text: &str, other: &str) -> bool {
    text.chars().count() < other.chars().count()
}
