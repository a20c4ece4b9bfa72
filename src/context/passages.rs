//! The parts of notes from which passages are chosen, with what each is worth as an answer.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::note::{Block, BlockKind, Note, shown_chars};
use crate::report::{Fragment, NoteEntry, Passages};
use crate::search::{BlockScorer, BlockText, KnownChunks};

/// The most notes from which passages are chosen.
pub const MAX_NOTES_WITH_PASSAGES: usize = 200;
/// From so many notes at least passages are chosen, whatever their length.
const MIN_NOTES: usize = 6;
/// From so many more where these have no more than a certain length together, in characters.
const SOME_NOTES: usize = 20;
/// See `SOME_NOTES`.
const SOME_CHARS: usize = 200_000;
/// How many times the budget these notes have, in characters.
const FOR_ONE: usize = 4;
/// What a note's score counts for the worth of its blocks, the best note having 1 of it: a block of a note that
/// hardly answers keeps so much of its worth.
const LEAST_SHARE: f64 = 0.5;
/// A longer block falls into several fragments, in bytes.
const MAX_FRAGMENT: usize = 1400;
/// A body that is no longer, in bytes, is one fragment.
const WHOLE: usize = 600;
/// What a fragment of a section is worth at least that says what the whole note comes to, as a share of the note's
/// best fragment.
const CONCLUSION: f64 = 0.7;
/// So long a text before a list, table or code, in bytes, is taken for its label.
const SHORT: usize = 160;
/// The most that comes with a text which announces it, in bytes, but for its first fragment.
const MAX_FOLLOWING: usize = 800;
/// How the marks of admonitions begin that stand by themselves.
const ADMONITIONS: [&str; 4] = ["!!!", "???", ":::", "<"];
/// Behind so much text of its note that is worth more, in bytes, a fragment is worth half.
const HALF_WORTH: f64 = 8_000.0;
/// What a fragment right behind or before another one of its section is worth at least, as a share of that one's worth.
const AFTER: f64 = 0.6;
/// See `AFTER`.
const BEFORE: f64 = 0.3;
/// The headings of sections that say what the whole note comes to.
const CONCLUSIONS: [&str; 8] = ["decision", "summary", "answer", "fix", "tl;dr", "tldr", "solution", "resolution"];

/// How well a note answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Its score as a share of the best one, 0 to 1.
    pub share: f64,
    /// Whether it was asked for by name.
    pub is_named: bool,
}

/// Adds to entries, the best first, the fragments of their notes with what each is worth. `standings` has one for each
/// entry; the answer has `most_chars` characters at most.
pub fn add_passages(entries: &mut [NoteEntry], standings: &[Standing], scorer: &BlockScorer, most_chars: usize) {
    let count = count_notes(entries, most_chars.saturating_mul(FOR_ONE));
    let for_each_thread = count.div_ceil(rayon::current_num_threads());
    let all = entries.par_iter().take(count).with_min_len(for_each_thread);
    let all: Vec<Passages> =
        all.map_init(KnownChunks::default, |known, entry| passages(&entry.note, scorer, known)).collect();
    let best = all.iter().filter_map(best_score).fold(0.0, f64::max);
    for ((mut passages, standing), entry) in all.into_iter().zip(standings).zip(entries) {
        let times = LEAST_SHARE + standing.share;
        // A note of one block is that block, and its own score knows more of it.
        if passages.fragments.len() < 2 {
            passages.whole = Some(best.max(f64::MIN_POSITIVE) * standing.share * times);
        }
        passages.fragments.iter_mut().for_each(|fragment| fragment.worth *= times);
        make_room_for_others(&mut passages);
        passages.is_named = standing.is_named;
        entry.passages = Some(Arc::new(passages));
    }
}

/// Counts the notes from which passages are chosen: as many as have so many characters, and at least a few.
fn count_notes(entries: &[NoteEntry], enough: usize) -> usize {
    let mut chars = 0_usize;
    let is_needed = |(number, entry): &(usize, &NoteEntry)| {
        let is_needed = *number < MIN_NOTES || (*number < SOME_NOTES && chars < SOME_CHARS) || chars < enough;
        chars = chars.saturating_add(entry.note.name().body_chars.unwrap_or_else(|| entry.note.body_chars()));
        is_needed
    };
    entries.iter().take(MAX_NOTES_WITH_PASSAGES).enumerate().take_while(is_needed).count()
}

/// Lowers the worth of the fragments of a note by how much text of it is worth more: the more of a note is shown, the
/// less another fragment of it adds beside those of other notes.
fn make_room_for_others(passages: &mut Passages) {
    let mut before = 0;
    for number in passages.by_worth() {
        let fragment = &mut passages.fragments[number];
        fragment.worth /= 1.0 + before as f64 / HALF_WORTH;
        before += fragment.range.len();
    }
}

fn best_score(passages: &Passages) -> Option<f64> {
    passages.fragments.iter().map(|fragment| fragment.worth).reduce(f64::max)
}

/// Returns the fragments of a note, with their scores.
fn passages<'t>(note: &'t Note, scorer: &BlockScorer, known: &mut KnownChunks<'t>) -> Passages {
    let mut fragments = fragments(note);
    let headings: Vec<String> =
        fragments.iter().map(|(_, fragment)| format!("{}\n{}", note.title(), fragment.path.join("\n"))).collect();
    let texts = fragments.iter().zip(&headings).map(|((part, _), headings)| BlockText { headings, text: part.text });
    let scores = scorer.scores(&texts.collect::<Vec<_>>(), known);
    let parts: Vec<Part<'_>> = fragments.iter().map(|(part, _)| part.clone()).collect();
    let best = scores.iter().copied().fold(0.0, f64::max);
    for ((number, (part, fragment)), score) in fragments.iter_mut().enumerate().zip(with_neighbours(&parts, &scores)) {
        let least = if is_conclusion(&fragment.path) { CONCLUSION * best } else { 0.0 };
        fragment.worth = score.max(least);
        fragment.with = companions(&parts, number);
        fragment.is_alone = !part.announces();
    }
    let fragments = fragments.into_iter().map(|(_, fragment)| fragment).collect();
    Passages { fragments, whole: None, is_named: false }
}

/// Returns the fragments of a note without what they are worth, each with what tells how it belongs to others.
fn fragments(note: &Note) -> Vec<(Part<'_>, Fragment)> {
    let (body, title) = (note.body(), note.title());
    let mut fragments = Vec::new();
    let mut line = Lines { body, at: 0, line: note.body_line() };
    let mut last_path: Arc<[String]> = Arc::default();
    let mut path: Arc<[String]> = Arc::default();
    for block in blocks(note) {
        if block.path != last_path {
            path = without_title(&block.path, title);
            last_path = Arc::clone(&block.path);
        }
        for range in parts(body, &block) {
            let text = body.get(range.clone()).unwrap_or_default();
            let lines = (line.of(range.start), line.of(range.end));
            let (chars, path) = (shown_chars(text), Arc::clone(&path));
            let part = Part { kind: block.kind, depth: block.depth, path: Arc::clone(&path), text };
            let fragment = Fragment { range, lines, chars, path, worth: 0.0, with: Vec::new(), is_alone: true };
            fragments.push((part, fragment));
        }
    }
    fragments
}

/// Returns the blocks of a note: a single one where all of them are no longer than a fragment.
fn blocks(note: &Note) -> Vec<Block> {
    let mut blocks = note.blocks();
    let end = |(first, last): (&Block, &Block)| first.range.start..last.range.end.max(first.range.end);
    let whole = blocks.first().zip(blocks.last()).map(end).filter(|whole| whole.len() <= WHOLE);
    if let Some(whole) = whole {
        blocks.truncate(1);
        blocks.iter_mut().for_each(|block| block.range = whole.clone());
    }
    blocks
}

/// What tells which fragments belong together.
#[derive(Clone)]
struct Part<'a> {
    kind: BlockKind,
    depth: usize,
    path: Arc<[String]>,
    text: &'a str,
}

impl Part<'_> {
    fn is_below(&self, other: &Self) -> bool {
        self.path == other.path
    }

    /// Tells whether it is text that what follows it belongs to.
    fn leads(&self) -> bool {
        self.kind == BlockKind::Text && (self.announces() || self.text.len() <= SHORT)
    }

    /// Tells whether it says nothing without what follows it: it ends like an announcement or a question, or is the
    /// mark of an admonition.
    fn announces(&self) -> bool {
        let text = self.text.trim_end_matches(['*', '_', '`', ' ', '\n']);
        let is_mark = !text.contains('\n') && ADMONITIONS.iter().any(|mark| text.starts_with(mark));
        matches!(self.kind, BlockKind::Text | BlockKind::Item) && (text.ends_with([':', '?']) || is_mark)
    }
}

/// Raises the scores of fragments to what those near them in the same section are worth, less with every step: what
/// stands around an answer in its section belongs to it, whatever words it uses.
fn with_neighbours(parts: &[Part<'_>], scores: &[f64]) -> Vec<f64> {
    let mut raised = scores.to_vec();
    let joins = |a: usize, b: usize| parts[a].is_below(&parts[b]);
    let mut lent = 0.0;
    for number in 0..scores.len() {
        lent = if number > 0 && joins(number - 1, number) { scores[number - 1].max(lent) * AFTER } else { 0.0 };
        raised[number] = raised[number].max(lent);
    }
    lent = 0.0;
    for number in (0..scores.len()).rev() {
        let next = number + 1;
        lent = if next < scores.len() && joins(number, next) { scores[next].max(lent) * BEFORE } else { 0.0 };
        raised[number] = raised[number].max(lent);
    }
    raised
}

/// Returns the fragments without which one can't be understood.
fn companions(parts: &[Part<'_>], number: usize) -> Vec<usize> {
    let Some(part) = parts.get(number) else { return Vec::new() };
    let before = |place: usize| place.checked_sub(1).and_then(|place| Some((place, parts.get(place)?)));
    let mut with = Vec::new();
    match part.kind {
        BlockKind::Item => {
            let (mut place, mut depth) = (number, part.depth);
            while let Some((at, other)) =
                before(place).filter(|(_, other)| other.kind == BlockKind::Item && other.is_below(part))
            {
                if other.depth < depth {
                    with.push(at);
                    depth = other.depth;
                }
                place = at;
            }
            let lead = before(place).filter(|(_, lead)| lead.is_below(part) && lead.leads());
            with.extend(lead.map(|(at, _)| at));
        }
        BlockKind::Code | BlockKind::Table => {
            let label = before(number)
                .filter(|(_, label)| label.is_below(part) && (label.leads() || label.kind == BlockKind::Item));
            with.extend(label.map(|(at, _)| at));
        }
        BlockKind::Text => {}
    }
    if part.announces() {
        with.extend(what_follows(parts, number));
    }
    with
}

/// Returns the fragments that a text announces.
fn what_follows(parts: &[Part<'_>], number: usize) -> Vec<usize> {
    let Some(part) = parts.get(number) else { return Vec::new() };
    let mut chars = 0;
    let mut follow = Vec::new();
    for (place, next) in parts.iter().enumerate().skip(number + 1).take_while(|(_, next)| next.is_below(part)) {
        let belongs = follow.is_empty() || next.kind == BlockKind::Item;
        chars += next.text.len();
        if !belongs || (chars > MAX_FOLLOWING && !follow.is_empty()) {
            break;
        }
        follow.push(place);
    }
    follow
}

/// Tells whether a section says what the whole note comes to.
fn is_conclusion(path: &[String]) -> bool {
    let name = path.last().map(|name| name.trim().trim_end_matches(':').to_lowercase());
    name.is_some_and(|name| CONCLUSIONS.contains(&name.as_str()))
}

/// Returns the headings above a block without the note's title, which is shown anyway.
fn without_title(path: &Arc<[String]>, title: &str) -> Arc<[String]> {
    match path.split_first() {
        Some((first, rest)) if first.trim() == title.trim() => rest.into(),
        _ => Arc::clone(path),
    }
}

/// Returns the fragments that a block falls into, as bytes of the body.
fn parts(body: &str, block: &Block) -> Vec<Range<usize>> {
    let range = block.range.clone();
    if range.len() <= MAX_FRAGMENT {
        return vec![range];
    }
    let without_end = |range: Range<usize>| {
        let text = body.get(range.clone()).unwrap_or_default();
        range.start..range.start + text.trim_end().len()
    };
    let text = body.get(range.clone()).unwrap_or_default();
    let ends: Vec<usize> = match block.kind {
        BlockKind::Table | BlockKind::Code => text.match_indices('\n').map(|(place, _)| place + 1).collect(),
        BlockKind::Text | BlockKind::Item => sentence_ends(text),
    };
    let mut parts = Vec::new();
    let mut start = 0;
    let mut last = 0;
    for end in ends.into_iter().chain([text.len()]) {
        if end - start > MAX_FRAGMENT / 2 && last > start {
            parts.push(without_end(range.start + start..range.start + last));
            start = last;
        }
        last = end;
    }
    if last > start {
        parts.push(without_end(range.start + start..range.start + last));
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns where sentences or lines of a text end, with the white space behind them.
fn sentence_ends(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_end = |place: &usize| match bytes.get(*place) {
        Some(b'\n') => true,
        Some(b' ') => matches!(place.checked_sub(1).and_then(|before| bytes.get(before)), Some(b'.' | b'!' | b'?')),
        _ => false,
    };
    (0..bytes.len()).filter(is_end).map(|place| place + 1).collect()
}

/// Counts the lines of a body from its beginning on.
struct Lines<'a> {
    body: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// Returns the line of the file that the last byte before a place is in; places must not fall.
    fn of(&mut self, place: usize) -> usize {
        let between = self.body.as_bytes().get(self.at..place).unwrap_or_default();
        self.line += between.iter().filter(|byte| **byte == b'\n').count();
        self.at = self.at.max(place);
        self.line
    }
}
