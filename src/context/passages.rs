//! The fragments of notes from which passages are chosen, with their worth as an answer.

use std::sync::Arc;

use rayon::prelude::*;

use crate::note::{Fragment, FragmentSizes, fragment_sizes};
use crate::report::{NoteEntry, Passages};
use crate::search::{BlockScorer, BlockText, TokenCache};
use crate::store::NoteHandle;

/// The most notes from which passages are chosen.
pub const MAX_NOTES_WITH_PASSAGES: usize = 200;
/// The notes from which passages are always chosen. Ten in place of six cost time with long notes and changed no judged set.
const MIN_NOTES: usize = 6;
/// The notes from which passages are chosen while they have at most [`SHORT_NOTES_CHARS`] together.
const SHORT_NOTES: usize = 20;
/// The limit of [`SHORT_NOTES`], in characters.
const SHORT_NOTES_CHARS: usize = 200_000;
/// The characters of all notes from which passages are chosen, as a multiple of the budget.
const CHARS_PER_SHOWN: usize = 4;
/// The factor on the worth of the fragments of a note, to which its score, 1 for the best note, is added.
const MIN_NOTE_FACTOR: f64 = 0.5;
/// The least worth of a fragment in a concluding section, as a share of the best fragment of its note.
const CONCLUSION_SHARE: f64 = 0.7;
/// The bytes of more valuable text of the same note after which the worth of a fragment is halved.
const HALF_WORTH_BYTES: f64 = 8_000.0;
/// The least worth of a fragment right after another one of its section, as a share of the worth of that one.
const AFTER: f64 = 0.6;
/// The least worth of a fragment right before another one of its section, as a share of the worth of that one.
const BEFORE: f64 = 0.3;

/// How well a note answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerScore {
    /// Its score as a share of the best one, 0 to 1.
    pub share: f64,
    /// Whether a part of it precedes other notes: the request names it, or it says what is asked in one sentence.
    pub is_first: bool,
    /// Whether a search found it.
    pub is_hit: bool,
}

/// Adds to entries, the best first, the fragments of their notes with their worth. `scores` has one for each entry; the
/// answer has at most `max_answer_chars` characters.
pub fn add_passages(entries: &mut [NoteEntry], scores: &[AnswerScore], scorer: &BlockScorer, max_answer_chars: usize) {
    let count = count_notes(entries, max_answer_chars.saturating_mul(CHARS_PER_SHOWN));
    let for_each_thread = count.div_ceil(rayon::current_num_threads());
    let all = entries.par_iter().take(count).with_min_len(for_each_thread);
    let sizes = fragment_sizes(max_answer_chars);
    let mut all: Vec<Passages> =
        all.map_init(TokenCache::default, |cache, entry| passages(&entry.note, &sizes, scorer, cache)).collect();
    all.iter_mut().zip(&*entries).for_each(|(passages, entry)| add_summary(passages, entry, scorer));
    let best = all.iter().flat_map(|of_note| &of_note.worth).copied().fold(0.0, f64::max);
    for ((mut passages, score), entry) in all.into_iter().zip(scores).zip(entries) {
        let factor = MIN_NOTE_FACTOR + score.share;
        let worth_of_note = best.max(f64::MIN_POSITIVE) * score.share * factor;
        // The score of a whole note is more precise than that of its only block.
        if passages.fragments.iter().filter(|fragment| fragment.summary.is_none()).count() < 2 {
            passages.whole = Some(worth_of_note);
        }
        passages.worth.iter_mut().for_each(|worth| *worth *= factor);
        let is_found_elsewhere = score.is_hit && passages.worth.iter().all(|worth| *worth == 0.0);
        // A note that tags alone answer is shown by what it is about.
        if let Some(statement) = passages.conclusion().filter(|_| is_found_elsewhere) {
            passages.worth[statement] = worth_of_note;
        }
        discount_repetition(&mut passages);
        passages.is_first = score.is_first;
        entry.passages = Arc::new(passages).into();
    }
}

/// Counts the notes from which passages are chosen: those that have `enough` characters together, but at least a few.
fn count_notes(entries: &[NoteEntry], enough: usize) -> usize {
    let mut chars = 0_usize;
    let is_needed = |(rank, entry): &(usize, &NoteEntry)| {
        let is_needed = *rank < MIN_NOTES || (*rank < SHORT_NOTES && chars < SHORT_NOTES_CHARS) || chars < enough;
        chars = chars.saturating_add(entry.note.body_chars());
        is_needed
    };
    entries.iter().take(MAX_NOTES_WITH_PASSAGES).enumerate().take_while(is_needed).count()
}

/// Lowers the worth of each fragment by the bytes of more valuable text of its note: the more of a note is shown, the
/// less another fragment of it adds. The worth is divided by `1 + bytes / HALF_WORTH_BYTES`.
fn discount_repetition(passages: &mut Passages) {
    let mut before = 0;
    for index in passages.by_worth() {
        let fragment = &passages.fragments[index];
        passages.worth[index] /= 1.0 + before as f64 / HALF_WORTH_BYTES;
        before += fragment.range.len() + fragment.summary.as_deref().map_or(0, str::len);
    }
}

fn passages<'t>(
    note: &'t NoteHandle,
    sizes: &FragmentSizes,
    scorer: &BlockScorer,
    cache: &mut TokenCache<'t>,
) -> Passages {
    let (note, title) = (note.parsed_or_empty(), note.title());
    let fragments = note.fragments(title, sizes);
    let mut worth = scores(&fragments, note.body(), title, scorer, cache);
    let best = worth.iter().copied().fold(0.0, f64::max);
    worth = with_neighbours(&fragments, &worth);
    for (fragment, worth) in fragments.iter().zip(&mut worth) {
        let least = if fragment.is_conclusion() { CONCLUSION_SHARE * best } else { 0.0 };
        *worth = worth.max(least);
    }
    Passages { fragments, worth, whole: None, is_first: false }
}

/// Adds the written summary as the first fragment. It is scored by itself: it is no neighbour of any text of the body.
fn add_summary(passages: &mut Passages, entry: &NoteEntry, scorer: &BlockScorer) {
    let Some(summary) = entry.note.parsed_or_empty().separate_summary() else { return };
    let text = BlockText { headings: entry.note.title(), text: &summary };
    passages.worth.insert(0, scorer.scores(&[text], &mut TokenCache::default()).into_iter().sum());
    passages.fragments.iter_mut().flat_map(|fragment| &mut fragment.companions).for_each(|index| *index += 1);
    passages.fragments.insert(0, Fragment::of_summary(&summary));
}

/// Returns the scores of the fragments of a body, each by its own words.
pub(super) fn scores<'t>(
    fragments: &[Fragment],
    body: &'t str,
    title: &str,
    scorer: &BlockScorer,
    cache: &mut TokenCache<'t>,
) -> Vec<f64> {
    let headings = fragments.iter().map(|fragment| format!("{title}\n{}", fragment.heading_path.join("\n")));
    let headings: Vec<String> = headings.collect();
    let text = |fragment: &Fragment| body.get(fragment.range.clone()).unwrap_or_default();
    let texts =
        fragments.iter().zip(&headings).map(|(fragment, headings)| BlockText { headings, text: text(fragment) });
    scorer.scores(&texts.collect::<Vec<_>>(), cache)
}

/// Raises the scores of fragments to a share of those near them in the same section, less with every step: the text
/// around an answer belongs to it, whatever its words.
fn with_neighbours(fragments: &[Fragment], scores: &[f64]) -> Vec<f64> {
    let mut raised = scores.to_vec();
    let mut raise = |neighbours: &mut dyn Iterator<Item = (usize, usize)>, factor: f64| {
        let mut share = 0.0;
        for (from, to) in neighbours {
            let is_joined = fragments[from].is_in_section_of(&fragments[to]);
            share = if is_joined { scores[from].max(share) * factor } else { 0.0 };
            raised[to] = raised[to].max(share);
        }
    };
    raise(&mut (1..scores.len()).map(|next| (next - 1, next)), AFTER);
    raise(&mut (1..scores.len()).rev().map(|next| (next, next - 1)), BEFORE);
    raised
}
