//! The parts of a note that an answer shows, its text at a level of detail, and the wording of its confidence.

use super::{CUT_MARK, EntryText, Included, ShownPart};
use crate::escape::one_line;
use crate::note::NoteId;
use crate::report::{Assessment, BlockEntry, DetailLevel, EdgeEntry, Entry, NoteEntry, Passage, Report};
use crate::tokens::Tokenizer;

/// Separates passages.
const GAP: &str = "\n…\n";

/// The entry of a note, how much of it is shown, and what the document includes beside it.
#[derive(Clone, Copy)]
pub(super) struct NoteView<'a> {
    pub(super) index: usize,
    pub(super) entry: &'a NoteEntry,
    pub(super) shown_part: ShownPart,
    pub(super) included: &'a Included,
}

impl<'a> NoteView<'a> {
    /// Returns the view of the entry at `index`; `None` if it is not a note.
    pub(super) fn of(report: &'a Report, index: usize, shown_part: ShownPart, included: &'a Included) -> Option<Self> {
        let entry = report.entries.get(index).and_then(Entry::note)?;
        Some(Self { index, entry, shown_part, included })
    }

    /// Returns the edges to included entries.
    pub(super) fn edges(self) -> impl Iterator<Item = &'a EdgeEntry> {
        self.entry.edges.iter().filter(move |edge| self.included.has(edge.other))
    }

    /// Returns the included passages; `None` if the note is not shown in passages.
    pub(super) fn passages(self) -> Option<Vec<Passage>> {
        let chosen =
            self.included.fragments.get(&self.index).filter(|_| matches!(self.shown_part, ShownPart::Passages(_)))?;
        Some(self.entry.passages.get()?.joined(self.entry.note.parsed_or_empty().body(), chosen))
    }

    /// Returns the written summary that is shown beside passages, or beside the body where passages may replace it.
    pub(super) fn summary_beside_text(self) -> Option<String> {
        let passages = self.entry.passages.get()?;
        match self.shown_part {
            ShownPart::Summary(_) | ShownPart::Body(_) => None,
            ShownPart::Passages(_) => {
                let chosen = self.included.fragments.get(&self.index)?;
                passages.chosen_summary(chosen).map(str::to_owned)
            }
            // A longer summary is above the body of an assessed note.
            _ if self.entry.assessment.is_some() && self.entry.detailed_text() != self.entry.body() => None,
            ShownPart::Whole | ShownPart::At(_) => {
                let mut summaries = passages.fragments.iter().filter_map(|fragment| fragment.summary.as_deref());
                summaries.next().map(str::to_owned)
            }
        }
    }

    /// Returns the included blocks in place of the body; none if another text is shown.
    pub(super) fn blocks(self) -> Vec<&'a BlockEntry> {
        if self.shown_part != ShownPart::Whole {
            return Vec::new();
        }
        let chosen = self.included.blocks.get(&self.entry.note.id);
        let is_included = |index: &usize| chosen.is_none_or(|chosen| chosen.contains(index));
        let blocks = self.entry.shown_blocks().iter().enumerate();
        blocks.filter(|(index, _)| is_included(index)).map(|(_, block)| block).collect()
    }

    /// Returns the body to be shown, and whether it lacks its end; `None` if no body is shown.
    pub(super) fn body(self, is_shown: bool) -> Option<(String, bool)> {
        if !is_shown || matches!(self.shown_part, ShownPart::Summary(_)) {
            return None;
        }
        let body = self.entry.body();
        match self.shown_part {
            ShownPart::Body(end) => Some((cut(body, end), true)),
            _ if self.entry.note.is_cut() => Some((cut(body, body.len()), true)),
            _ => Some((body.to_owned(), false)),
        }
    }

    /// Returns the summary on one line, and whether it lacks its end.
    pub(super) fn summary(self) -> (String, bool) {
        self.as_summary(self.entry.summary().as_deref())
    }

    /// Returns another summary as [`Self::summary`] does.
    pub(super) fn as_summary(self, summary: Option<&str>) -> (String, bool) {
        let summary = summary.map(one_line).unwrap_or_default();
        match self.shown_part {
            ShownPart::Summary(end) => (cut(&summary, end), true),
            _ => (summary, false),
        }
    }

    /// Returns the text of an assessed note at its level of detail.
    pub(super) fn level_text(self) -> Option<LevelText<'a>> {
        let (entry, assessment) = (self.entry, self.entry.assessment.as_deref()?);
        let summary = self.summary_beside_text();
        if let Some(passages) = self.passages() {
            let (level, text, passages) = (DetailLevel::Passages, joined_text(&passages), Some(passages));
            return Some(LevelText { assessment, level, summary, text, is_cut: false, has_more: true, passages });
        }
        let detailed = entry.detailed_text();
        let (level, text) = match self.shown_part {
            ShownPart::Body(end) => (DetailLevel::Detailed, cut(entry.body(), end)),
            // A part of the summary is less than the summary.
            ShownPart::Summary(_) => (DetailLevel::Essence, self.summary().0),
            ShownPart::Whole | ShownPart::Passages(_) => (DetailLevel::Detailed, detailed.clone()),
            ShownPart::At(note_level) => entry.text_at(note_level),
        };
        let is_part = matches!(self.shown_part, ShownPart::Body(_) | ShownPart::Summary(_));
        let is_cut = is_part || (entry.note.is_cut() && level == DetailLevel::Detailed);
        let is_all = text.split_whitespace().eq(detailed.split_whitespace());
        let hides_origins = level < DetailLevel::Detailed && !assessment.derived_from.is_empty();
        let has_more = is_cut || !is_all || hides_origins;
        Some(LevelText { assessment, level, summary, text, is_cut, has_more, passages: None })
    }
}

/// Joins passages to one text.
pub(super) fn joined_text(passages: &[Passage]) -> String {
    passages.iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>().join(GAP)
}

/// Cuts a text before the byte `end`.
fn cut(text: &str, end: usize) -> String {
    let start = text.get(..end).unwrap_or(text);
    format!("{start}{CUT_MARK}")
}

/// The text of an assessed note at a level of detail.
pub(super) struct LevelText<'a> {
    pub(super) assessment: &'a Assessment,
    pub(super) level: DetailLevel,
    /// The written summary beside the text.
    pub(super) summary: Option<String>,
    pub(super) text: String,
    /// Whether the text lacks its end.
    pub(super) is_cut: bool,
    /// Whether the note has text that is not shown.
    pub(super) has_more: bool,
    /// The passages that the text consists of; `None` if it has another level.
    pub(super) passages: Option<Vec<Passage>>,
}

impl LevelText<'_> {
    /// Returns an entry without items that has the length and the completeness of the text.
    pub(super) fn empty_entry(&self, tokenizer: Tokenizer) -> EntryText {
        let tokens =
            tokenizer.count(&self.text) + self.summary.as_deref().map_or(0, |summary| tokenizer.count(summary));
        EntryText { is_cut: self.is_cut, tokens, has_more: self.has_more, ..EntryText::default() }
    }

    /// Returns the notes that the note is derived from, which only the highest level shows.
    pub(super) fn origins(&self) -> &[(NoteId, String, f64)] {
        if self.level == DetailLevel::Detailed { &self.assessment.derived_from } else { &[] }
    }

    /// Returns the confidence as the level shows it: a label beside an essence, else a number.
    pub(super) fn confidence(&self) -> String {
        match self.level {
            DetailLevel::Essence => self.assessment.confidence.label().to_owned(),
            _ => format!("{:.2}", self.assessment.confidence.overall),
        }
    }
}
