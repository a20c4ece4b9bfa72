//! The text of an assessed note at its level of detail, and the wording of its confidence.

use super::{Extent, Included, cut};
use crate::escape::one_line;
use crate::report::{Assessment, Level, NoteEntry, Passage, Report};

/// Separates passages.
const GAP: &str = "\n…\n";

/// The text of a note at a level of detail.
pub(super) struct LevelText {
    pub(super) level: Level,
    pub(super) text: String,
    /// Whether the text lacks its end.
    pub(super) is_cut: bool,
    /// Whether the note has text that is not shown.
    pub(super) has_more: bool,
    /// The passages that the text consists of; `None` if it is no extract of passages.
    pub(super) passages: Option<Vec<Passage>>,
}

/// Returns the text of the note of the entry at `index`.
pub(super) fn level_text(
    index: usize,
    entry: &NoteEntry,
    assessment: &Assessment,
    extent: Extent,
    included: &Included,
) -> LevelText {
    if let Some(passages) = included.passages(index, entry, extent) {
        let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
        let text = texts.join(GAP);
        return LevelText { level: Level::Extract, text, is_cut: false, has_more: true, passages: Some(passages) };
    }
    let detailed = entry.detailed_text();
    let (level, text) = match extent {
        Extent::Body(end) => (Level::Detailed, cut(entry.body(), end)),
        // A part of the summary is less than the summary.
        Extent::Summary(end) => (Level::Essence, cut(&one_line(&entry.summary().unwrap_or_default()), end)),
        Extent::Whole | Extent::Passages => (Level::Detailed, detailed.clone()),
        Extent::At(shape) => entry.text_at(shape),
    };
    let is_cut =
        matches!(extent, Extent::Body(_) | Extent::Summary(_)) || (entry.note.is_cut() && level == Level::Detailed);
    let is_all = text.split_whitespace().eq(detailed.split_whitespace());
    let hides_origins = level < Level::Detailed && !assessment.derived_from.is_empty();
    LevelText { level, has_more: is_cut || !is_all || hides_origins, text, is_cut, passages: None }
}

/// Returns the confidence as its level shows it: a label beside an essence, else a number.
pub(super) fn confidence(assessment: &Assessment, content: &LevelText) -> String {
    match content.level {
        Level::Essence => assessment.confidence.label().to_owned(),
        _ => format!("{:.2}", assessment.confidence.overall),
    }
}

/// Whether the confidence is shown beside passages: if it is asked for, or differs from that of most notes.
pub(super) fn has_unusual_confidence(assessment: &Assessment, report: &Report) -> bool {
    let is_usual =
        Some(assessment.confidence.label()) == report.head.show.usual_confidence && assessment.contradictions == 0;
    report.head.is_explained || !is_usual || !assessment.derived_from.is_empty()
}
