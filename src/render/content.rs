//! What a note says at each level of detail. A lower level is never longer.

use unicode_segmentation::UnicodeSegmentation;

use super::{Extent, Included, cut, without_blank_ends};
use crate::escape::one_line;
use crate::report::{Assessment, BlockEntry, Level, NoteEntry, Passage, Presentation};

/// The most characters of an essence.
const MAX_ESSENCE: usize = 120;
/// Where an extract leaves something out.
const GAP: &str = "…";

/// What is said of a note.
pub(super) struct LevelTexts {
    pub(super) level: Level,
    pub(super) text: String,
    /// Whether the text lacks its end.
    pub(super) is_cut: bool,
    /// Whether the note has more to say.
    pub(super) has_more: bool,
    /// The passages that the text is made of, where passages are shown.
    pub(super) passages: Option<Vec<Passage>>,
}

/// Returns what is said of an entry's note, given which of its parts are kept.
pub(super) fn content(
    number: usize,
    entry: &NoteEntry,
    belief: &Assessment,
    extent: Extent,
    kept: &Included,
) -> LevelTexts {
    match kept.passages(number, entry, extent) {
        Some(passages) => of_passages(passages),
        None => at_extent(entry, belief, extent),
    }
}

fn of_passages(passages: Vec<Passage>) -> LevelTexts {
    let text: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
    let text = text.join(&format!("\n{GAP}\n"));
    LevelTexts { level: Level::Extract, text, is_cut: false, has_more: true, passages: Some(passages) }
}

fn at_extent(entry: &NoteEntry, belief: &Assessment, extent: Extent) -> LevelTexts {
    let detailed = detailed(entry);
    let (level, text) = match extent {
        Extent::Body(end) => (Level::Detailed, cut(without_blank_ends(entry.note.body()), end)),
        // Less than a summary, so the least of all.
        Extent::Summary(end) => (Level::Essence, cut(&one_line(&entry.summary().unwrap_or_default()), end)),
        Extent::Whole | Extent::Passages => (Level::Detailed, detailed.clone()),
        Extent::At(shape) => match (shape.level, extract(entry, belief, shape)) {
            (Level::Extract, None) => (Level::Summary, summary(entry)),
            (Level::Extract, Some(text)) => match behind_summary(entry, &text) {
                text if is_shorter(&text, &detailed) => (Level::Extract, text),
                _ => (Level::Extract, detailed.clone()),
            },
            (level, _) => (level, at_level(entry, level, &detailed)),
        },
    };
    let is_cut =
        matches!(extent, Extent::Body(_) | Extent::Summary(_)) || (entry.note.is_cut && level == Level::Detailed);
    let says_all = text.split_whitespace().eq(detailed.split_whitespace());
    let hides_origins = level < Level::Detailed && !belief.derived_from.is_empty();
    LevelTexts { level, has_more: is_cut || !says_all || hides_origins, text, is_cut, passages: None }
}

fn at_level(entry: &NoteEntry, level: Level, detailed: &str) -> String {
    match level {
        Level::Detailed | Level::Extract => detailed.to_owned(),
        Level::Summary => summary(entry),
        Level::Essence => essence(entry),
    }
}

fn is_shorter(text: &str, other: &str) -> bool {
    text.chars().count() < other.chars().count()
}

/// The body; with the summary before it where that says more.
fn detailed(entry: &NoteEntry) -> String {
    behind_summary(entry, without_blank_ends(entry.note.body()))
}

/// Returns a text, behind the summary where that says more.
fn behind_summary(entry: &NoteEntry, text: &str) -> String {
    let summary = summary(entry);
    match is_shorter(text, &summary) {
        true if text.is_empty() => summary,
        true => format!("{summary}\n\n{text}"),
        false => text.to_owned(),
    }
}

/// The summary on one line; the title of a note that has none.
pub(super) fn summary(entry: &NoteEntry) -> String {
    let summary = entry.summary().map(|summary| one_line(&summary)).unwrap_or_default();
    if summary.is_empty() { one_line(&entry.note.title) } else { summary }
}

/// The first sentence of the summary, cut where it is long.
fn essence(entry: &NoteEntry) -> String {
    let summary = summary(entry);
    let sentence = summary.unicode_sentences().next().unwrap_or(&summary).trim_end();
    match sentence.char_indices().nth(MAX_ESSENCE) {
        None => sentence.to_owned(),
        Some(_) => sentence.chars().take(MAX_ESSENCE - 1).collect::<String>().trim_end().to_owned() + GAP,
    }
}

/// Puts the best blocks together in the order of the text, below the headings that they stand under.
/// `None` where no block answers, or at another level.
fn extract(entry: &NoteEntry, belief: &Assessment, shape: Presentation) -> Option<String> {
    if shape.level != Level::Extract {
        return None;
    }
    let blocks = belief.answers.as_ref()?.blocks(&entry.note);
    let mut best: Vec<usize> = (0..blocks.len()).filter(|block| is_answer(&blocks[*block], shape)).collect();
    best.sort_by(|a, b| blocks[*b].score.total_cmp(&blocks[*a].score).then(a.cmp(b)));
    best.truncate(shape.blocks);
    best.sort_unstable();
    let mut lines: Vec<String> = Vec::new();
    let (mut next, mut path): (usize, &[String]) = (0, &[]);
    for number in &best {
        let block = &blocks[*number];
        lines.extend((*number > next).then(|| GAP.to_owned()));
        if *block.path != *path && !block.path.is_empty() {
            lines.push(block.path.join(" › "));
        }
        lines.push(block.text.clone());
        (next, path) = (number + 1, &block.path);
    }
    lines.extend((next < blocks.len()).then(|| GAP.to_owned()));
    (!best.is_empty()).then(|| lines.join("\n"))
}

/// Tells whether a block may stand in an extract.
fn is_answer(block: &BlockEntry, shape: Presentation) -> bool {
    block.score > 0.0 && block.text.chars().count() <= shape.block_chars
}

/// Returns the characters of the longest block of a note that an extract of this shape may have.
pub(crate) fn longest_answer(entry: &NoteEntry, shape: Presentation) -> Option<usize> {
    let answers = entry.belief.as_ref()?.answers.as_ref()?;
    let blocks = answers.blocks(&entry.note).iter().filter(|block| is_answer(block, shape));
    blocks.map(|block| block.text.chars().count()).max()
}

/// Returns how many blocks of a note an extract of this shape may have.
pub(crate) fn count_answers(entry: &NoteEntry, shape: Presentation) -> usize {
    let blocks = entry.belief.as_ref().and_then(|belief| belief.answers.as_ref());
    blocks.map_or(0, |answers| answers.blocks(&entry.note).iter().filter(|block| is_answer(block, shape)).count())
}
