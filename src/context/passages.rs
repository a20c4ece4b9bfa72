//! The fragments of notes from which passages are chosen, with their worth as an answer.

use std::sync::Arc;

use rayon::prelude::*;

use super::CommitWords;
use crate::note::{FRAGMENT_SIZES, Fragment, FragmentSizes, SHORT_FRAGMENT_SIZES};
use crate::report::{NoteEntry, Passages};
use crate::search::{BlockScore, BlockScorer, BlockText, TokenCache};
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
/// The least worth of a fragment in a concluding section, as a share of the best fragment of its note. With 0.7, the options of
/// a decision record are shown and its decision is not.
const CONCLUSION_SHARE: f64 = 0.9;
/// The worth of a fragment with words of the question in the title of its note alone, as a share of the least one of the same
/// note with a word in its text or in a heading.
const TITLE_SHARE: f64 = 0.9;
/// The least fragments of a note without headings whose last one may settle what it is about, as the end of a talk does, and
/// the least score of such a note, as a share of the best one.
const MIN_TURNS: usize = 4;
const MIN_TALK_SHARE: f64 = 0.8;
/// The most bytes of the name of a speaker.
const MAX_SPEAKER: usize = 40;
/// The bytes of a last fragment below which the one before settles it too: a farewell, or thanks.
const SHORT_ENDING: usize = 120;
/// Words of texts that settle something.
const SETTLING: [&str; 24] = [
    "final", "finally", "recap", "summary", "summarize", "conclusion", "decided", "decision", "agreed", "settled",
    "rule", "policy", "always", "never", "must", "exactly", "amended", "instead", "going forward", "from now on",
    "ship it", "we'll go with", "let's go with", "locked in",
];
/// The bytes of more valuable text of the same note after which the worth of a fragment is halved: those of the note, within
/// limits. With 8,000 for each note, answers of 4,000 characters show 0.31 of the relevant abstracts of cranfield in place of
/// 0.35; with 2,000 for each, answers of 8,000 lose passages of 3 of 60 questions about long pages.
const MIN_HALF_WORTH_BYTES: f64 = 2_000.0;
const MAX_HALF_WORTH_BYTES: f64 = 8_000.0;
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
    /// Whether it follows another note or is followed by one.
    pub is_in_sequence: bool,
}

/// Adds to entries, the best first, the fragments of their notes with their worth. `scores` has one for each entry; the
/// answer has at most `max_answer_chars` characters; `is_unasked`: whether a hook adds it.
pub fn add_passages(
    entries: &mut [NoteEntry],
    scores: &[AnswerScore],
    (scorer, commits): (&BlockScorer, Option<&CommitWords>),
    max_answer_chars: usize,
    is_unasked: bool,
) {
    let is_commit = |(entry, _): &(&mut NoteEntry, &AnswerScore)| entry.note.is_commit();
    let (mut of_commits, mut of_notes): (Vec<_>, Vec<_>) = entries.iter_mut().zip(scores).partition(is_commit);
    let enough = max_answer_chars.saturating_mul(CHARS_PER_SHOWN);
    let sizes = if is_unasked { SHORT_FRAGMENT_SIZES } else { FRAGMENT_SIZES };
    add_with_scorer(&mut of_notes, (scorer, 1.0, false), &sizes, enough);
    if let Some(commits) = commits {
        add_with_scorer(&mut of_commits, (&commits.scorer, commits.factor, commits.is_weak), &sizes, enough);
    }
}

/// Adds fragments to entries that one scorer scores, with the factor of its scores and whether they match weakly. `enough`: the characters of all notes from
/// which passages are chosen.
fn add_with_scorer(
    entries: &mut [(&mut NoteEntry, &AnswerScore)],
    (scorer, scale, is_weak): (&BlockScorer, f64, bool),
    sizes: &FragmentSizes,
    enough: usize,
) {
    let count = count_notes(entries, enough);
    let for_each_thread = count.div_ceil(rayon::current_num_threads());
    let all = entries.par_iter().take(count).with_min_len(for_each_thread);
    let all = all.map_init(TokenCache::default, |cache, (entry, _)| {
        let mut passages = passages(&entry.note, sizes, scorer, cache);
        add_summary(&mut passages, entry, scorer);
        passages.worth.iter_mut().for_each(|worth| *worth *= scale);
        passages
    });
    let all: Vec<Passages> = all.collect();
    let first = count_notes(entries, 0);
    let best = all.iter().take(first).flat_map(|of_note| &of_note.worth).copied().fold(0.0, f64::max);
    for (rank, (mut passages, (entry, score))) in all.into_iter().zip(entries).enumerate() {
        let factor = MIN_NOTE_FACTOR + score.share;
        let worth_of_note = best.max(f64::MIN_POSITIVE) * score.share * factor;
        // The score of a whole note is more precise than that of its only block.
        if Passages::has_one_part(&passages.fragments) {
            passages.whole = Some(worth_of_note);
        }
        passages.ending = ending(&passages, entry.note.parsed_or_empty().body(), score.share);
        raise_ending(&mut passages);
        passages.worth.iter_mut().for_each(|worth| *worth *= factor);
        let is_found_elsewhere = score.is_hit && passages.worth.iter().all(|worth| *worth == 0.0);
        // A note that tags alone answer is shown by what it is about.
        if let Some(statement) = passages.conclusion().filter(|_| is_found_elsewhere) {
            passages.worth[statement] = worth_of_note;
        }
        discount_repetition(&mut passages);
        passages.is_talk = is_talk(&passages, entry.note.parsed_or_empty().body(), score.is_in_sequence);
        passages.is_first = score.is_first;
        passages.is_late = rank >= first;
        passages.is_weak = is_weak;
        entry.passages = Arc::new(passages).into();
    }
}

/// Counts the notes from which passages are chosen: those that have `enough` characters together, but at least a few, whatever
/// the budget.
fn count_notes(entries: &[(&mut NoteEntry, &AnswerScore)], enough: usize) -> usize {
    let mut chars = 0_usize;
    let is_needed = |(rank, (entry, _)): &(usize, &(&mut NoteEntry, &AnswerScore))| {
        let is_needed = *rank < MIN_NOTES || (*rank < SHORT_NOTES && chars < SHORT_NOTES_CHARS) || chars < enough;
        chars = chars.saturating_add(entry.note.body_chars());
        is_needed
    };
    entries.iter().take(MAX_NOTES_WITH_PASSAGES).enumerate().take_while(is_needed).count()
}

/// Lowers the worth of each fragment by the bytes of more valuable text of its note: the more of a note is shown, the
/// less another fragment of it adds. The worth is divided by 1 plus about the share of the note that is better.
fn discount_repetition(passages: &mut Passages) {
    let bytes: usize = passages.fragments.iter().map(|fragment| fragment.range.len()).sum();
    let half_worth = (bytes as f64).clamp(MIN_HALF_WORTH_BYTES, MAX_HALF_WORTH_BYTES);
    let mut before = 0;
    for index in passages.by_worth() {
        let fragment = &passages.fragments[index];
        passages.worth[index] /= 1.0 + before as f64 / half_worth;
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
    let scores = scores(&fragments, note.body(), title, scorer, cache);
    let words: Vec<u64> = scores.iter().map(|scored| scored.words).collect();
    let worth = own_worth(&scores);
    let mut worth = with_neighbours(&fragments, &worth);
    raise_conclusions(&fragments, &mut worth);
    Passages { fragments, worth, words, ..Passages::default() }
}

/// Returns the fragments of a note from which passages of an answer are chosen.
pub(super) fn fragments_of_answers(note: &NoteHandle) -> Vec<Fragment> {
    let parsed = note.parsed_or_empty();
    let summary = parsed.separate_summary().map(|summary| Fragment::of_summary(&summary));
    summary.into_iter().chain(parsed.fragments(note.title(), &FRAGMENT_SIZES)).collect()
}

/// Whether a note is a talk, most of whose fragments begin with a speaker, or a turn of one: a note without headings in a
/// sequence.
fn is_talk(passages: &Passages, body: &str, is_in_sequence: bool) -> bool {
    let fragments = &passages.fragments;
    let turns = || fragments.iter().filter(|fragment| has_speaker(fragment.text(body))).count();
    !has_headings(fragments) && (is_in_sequence || (fragments.len() >= MIN_TURNS && 2 * turns() >= fragments.len()))
}

fn has_headings(fragments: &[Fragment]) -> bool {
    fragments.iter().any(|fragment| !fragment.heading_path.is_empty())
}

/// Whether a text begins with a name and a colon, such as `Ada:` or `**user**:`.
fn has_speaker(text: &str) -> bool {
    let name = text.split_once(':').map_or("", |(name, _)| name);
    let is_of_name = |c: char| c.is_alphanumeric() || " *_-.@".contains(c);
    !name.is_empty() && name.len() <= MAX_SPEAKER && name.chars().all(is_of_name)
}

/// Raises the conclusions of a note to nearly its best fragment, and behind that one before all others: what argues for a
/// conclusion is shown with it.
pub(super) fn raise_conclusions(fragments: &[Fragment], worth: &mut [f64]) {
    if !fragments.iter().any(Fragment::is_conclusion) {
        return;
    }
    let best = worth.iter().copied().fold(0.0, f64::max);
    let least = CONCLUSION_SHARE * best;
    for (fragment, worth) in fragments.iter().zip(worth) {
        if fragment.is_conclusion() {
            *worth = worth.max(least);
        } else if *worth < best {
            *worth = worth.min(least.next_down());
        }
    }
}

/// Returns the scores of the fragments of a note, each by its own words: what matches by the title of the note alone, as every
/// fragment does, is worth less than what matches itself.
fn own_worth(scores: &[BlockScore]) -> Vec<f64> {
    let of_title = scores.iter().fold(u64::MAX, |all, scored| all & scored.words);
    let is_own = |scored: &BlockScore| scored.has_own || scored.words & !of_title != 0;
    let least = scores.iter().filter(|scored| is_own(scored)).map(|scored| scored.score).reduce(f64::min);
    let most =
        |scored: &BlockScore| least.filter(|_| !is_own(scored)).map_or(f64::INFINITY, |least| least * TITLE_SHARE);
    scores.iter().map(|scored| scored.score.min(most(scored))).collect()
}

/// Returns the index of the first fragment of the last turn of a talk, if it settles something. `share`: the score of the note as
/// a share of the best one.
fn ending(passages: &Passages, body: &str, share: f64) -> Option<usize> {
    let fragments = &passages.fragments;
    let count = fragments.len();
    if count < MIN_TURNS || has_headings(fragments) || share < MIN_TALK_SHARE {
        return None;
    }
    let is_short = |turn: usize| fragments.iter().skip(turn).map(|part| part.range.len()).sum::<usize>() < SHORT_ENDING;
    let last = last_turn(fragments, body);
    let ending = if is_short(last) { last_turn(&fragments[..last], body) } else { last }..count;
    let settles = |fragment: &Fragment| {
        let text = fragment.text(body).to_lowercase();
        SETTLING.iter().any(|word| has_word(&text, word))
    };
    let is_settled = fragments.get(ending.clone()).unwrap_or_default().iter().any(settles);
    is_settled.then_some(ending.start)
}

/// Raises the ending of a talk to the best fragment of its note: what matches best is often what was proposed first and turned
/// down later.
pub(super) fn raise_ending(passages: &mut Passages) {
    let best = passages.worth.iter().copied().fold(0.0, f64::max);
    let ending = passages.ending.unwrap_or(usize::MAX);
    passages.worth.iter_mut().skip(ending).for_each(|worth| *worth = best);
}

/// Returns the index of the first fragment of the last paragraph of a talk, which may be divided; 0 without fragments.
fn last_turn(fragments: &[Fragment], body: &str) -> usize {
    let Some(last) = fragments.last() else { return 0 };
    let start = body.get(..last.range.end).and_then(|text| text.trim_end().rfind("\n\n")).unwrap_or(0);
    fragments.iter().position(|fragment| fragment.range.start >= start).unwrap_or(fragments.len() - 1)
}

/// Whether a text in lower case contains a word or phrase that is no part of another word.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text.get(..start).unwrap_or_default().chars().next_back();
        let after = text.get(start + word.len()..).unwrap_or_default().chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Adds the written summary as the first fragment. It is scored by itself: it is no neighbour of any text of the body.
fn add_summary(passages: &mut Passages, entry: &NoteEntry, scorer: &BlockScorer) {
    let note = entry.note.parsed_or_empty();
    let Some(summary) = note.separate_summary() else { return };
    let text = BlockText { headings: entry.note.title(), text: &summary };
    let scored = scorer.scores(&[text], &mut TokenCache::default()).first().copied().unwrap_or_default();
    // It concludes, as a section of that name does. A description says what a page is about.
    let best = passages.worth.iter().copied().fold(0.0, f64::max);
    let least = if note.has_summary_field() { CONCLUSION_SHARE * best } else { 0.0 };
    passages.worth.insert(0, scored.score.max(least));
    passages.words.insert(0, scored.words);
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
) -> Vec<BlockScore> {
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
