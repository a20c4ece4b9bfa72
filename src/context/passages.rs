//! The parts of notes from which passages are chosen, with what each is worth as an answer.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::note::{Block, BlockKind, Note, shown_chars};
use crate::report::{Fragment, NoteEntry, Passages};
use crate::search::{BlockScorer, BlockText, TokenCache};

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
/// A longer block falls into several fragments, in bytes; see `fragment_sizes`.
const MAX_FRAGMENT: usize = 1400;
/// The least that a long block falls into, in bytes.
const MIN_FRAGMENT: usize = 120;
/// About so many fragments fill an answer at most: writing them takes time that grows with their square.
const MAX_FRAGMENTS: usize = 400;
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
const ADMONITIONS: [&str; 5] = ["!!!", "???", ":::", "===", "<"];
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
pub struct AnswerScore {
    /// Its score as a share of the best one, 0 to 1.
    pub share: f64,
    /// Whether it was asked for by name.
    pub is_named: bool,
}

/// Adds to entries, the best first, the fragments of their notes with what each is worth. `standings` has one for each
/// entry; the answer has `most_chars` characters at most.
pub fn add_passages(entries: &mut [NoteEntry], standings: &[AnswerScore], scorer: &BlockScorer, most_chars: usize) {
    let count = count_notes(entries, most_chars.saturating_mul(FOR_ONE));
    let for_each_thread = count.div_ceil(rayon::current_num_threads());
    let all = entries.par_iter().take(count).with_min_len(for_each_thread);
    let sizes = fragment_sizes(most_chars);
    let all: Vec<Passages> =
        all.map_init(TokenCache::default, |known, entry| passages(&entry.note, &sizes, scorer, known)).collect();
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

/// Returns how many bytes a fragment has, for an answer of so many characters: at most so many that two fit, so that
/// of a long block the part is shown that answers; at least so many that a few hundred fill the answer.
fn fragment_sizes(most_chars: usize) -> Range<usize> {
    most_chars / MAX_FRAGMENTS..(most_chars / 5 * 3).clamp(MIN_FRAGMENT, MAX_FRAGMENT)
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
fn passages<'t>(note: &'t Note, sizes: &Range<usize>, scorer: &BlockScorer, known: &mut TokenCache<'t>) -> Passages {
    let (parts, mut fragments): (Vec<BlockContext<'_>>, Vec<Fragment>) = fragments(note, sizes).into_iter().unzip();
    let headings: Vec<String> =
        fragments.iter().map(|fragment| format!("{}\n{}", note.title(), fragment.path.join("\n"))).collect();
    let texts = parts.iter().zip(&headings).map(|(part, headings)| BlockText { headings, text: part.text });
    let scores = scorer.scores(&texts.collect::<Vec<_>>(), known);
    let best = scores.iter().copied().fold(0.0, f64::max);
    let scores = with_neighbours(&parts, &scores);
    let of_fragments = parts.iter().zip(scores).zip(companions(&parts));
    for (fragment, ((part, score), with)) in fragments.iter_mut().zip(of_fragments) {
        let least = if is_conclusion(&fragment.path) { CONCLUSION * best } else { 0.0 };
        fragment.worth = score.max(least);
        fragment.companions = with;
        fragment.is_alone = !part.announces();
    }
    Passages { fragments, whole: None, is_named: false }
}

/// Returns the fragments of a note without what they are worth, each with what tells how it belongs to others. They are
/// in the order of the text, and do not overlap.
fn fragments<'t>(note: &'t Note, sizes: &Range<usize>) -> Vec<(BlockContext<'t>, Fragment)> {
    let (body, title) = (note.body(), note.title());
    let mut fragments: Vec<(BlockContext<'t>, Fragment)> = Vec::new();
    let mut line = LineCounter { body, at: 0, line: note.body_line() };
    let mut last_path: Arc<[String]> = Arc::default();
    let mut path: Arc<[String]> = Arc::default();
    let blocks = blocks(note);
    for (number, own) in own_ranges(body, &blocks) {
        let block = &blocks[number];
        if block.path != last_path {
            path = without_title(&block.path, title);
            last_path = Arc::clone(&block.path);
        }
        for range in parts(body, block.kind, own, sizes.end) {
            let text = body.get(range.clone()).unwrap_or_default();
            let lines = (line.of(range.start), line.of(range.end));
            if let Some((part, fragment)) = fragments.last_mut()
                && part.joins(block, &path)
                && range.end - fragment.range.start <= sizes.start
            {
                part.text = body.get(fragment.range.start..range.end).unwrap_or_default();
                fragment.chars += shown_chars(text);
                (fragment.range.end, fragment.lines.1) = (range.end, lines.1);
                continue;
            }
            let part = BlockContext { kind: block.kind, depth: block.depth, path: Arc::clone(&path), text };
            let (chars, path) = (shown_chars(text), Arc::clone(&path));
            let fragment = Fragment { range, lines, chars, path, worth: 0.0, companions: Vec::new(), is_alone: true };
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

/// Returns the bytes of blocks without those of blocks inside them, each with the number of its block, in the order of
/// the text: an item has text of its own before and behind the lists inside it. White space before a block on its
/// first line belongs to it.
fn own_ranges(body: &str, blocks: &[Block]) -> Vec<(usize, Range<usize>)> {
    let mut own: Vec<(usize, Range<usize>)> = Vec::with_capacity(blocks.len());
    // The blocks that are open, each with where its own text goes on.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut add = |number: usize, range: Range<usize>| {
        let text = body.get(range.clone()).unwrap_or_default();
        let end = range.start + text.trim_end().len();
        if !text.trim().is_empty() {
            own.push((number, line_start(body, range.start)..end));
        }
    };
    for (number, block) in blocks.iter().enumerate() {
        while let Some((outer, at)) = open.pop_if(|(outer, _)| blocks[*outer].range.end <= block.range.start) {
            add(outer, at..blocks[outer].range.end);
        }
        if let Some((outer, at)) = open.last_mut() {
            add(*outer, *at..block.range.start);
            *at = block.range.end;
        }
        open.push((number, block.range.start));
    }
    while let Some((outer, at)) = open.pop() {
        add(outer, at..blocks[outer].range.end);
    }
    own
}

/// Returns where the white space begins that stands before a place on its line, if nothing else does.
fn line_start(body: &str, at: usize) -> usize {
    let before = body.get(..at).unwrap_or_default();
    let text = before.trim_end_matches([' ', '\t']);
    if text.is_empty() || text.ends_with('\n') { text.len() } else { at }
}

/// What tells which fragments belong together.
struct BlockContext<'a> {
    kind: BlockKind,
    depth: usize,
    path: Arc<[String]>,
    text: &'a str,
}

impl BlockContext<'_> {
    /// Tells whether both stand in one section.
    fn is_beside(&self, other: &Self) -> bool {
        self.path == other.path
    }

    /// Tells whether a block behind it goes on with what it is: more text, or another item of the same list.
    fn joins(&self, block: &Block, path: &Arc<[String]>) -> bool {
        self.kind == block.kind && self.depth == block.depth && self.path == *path
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
fn with_neighbours(parts: &[BlockContext<'_>], scores: &[f64]) -> Vec<f64> {
    let mut raised = scores.to_vec();
    let joins = |a: usize, b: usize| parts[a].is_beside(&parts[b]);
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

/// Returns for each fragment those without which it can't be understood.
fn companions(parts: &[BlockContext<'_>]) -> Vec<Vec<usize>> {
    // Of the list that is gone through: the items that the current one stands in, and the text that leads to the list.
    let (mut outer, mut lead): (Vec<usize>, Option<usize>) = (Vec::new(), None);
    let mut all = Vec::with_capacity(parts.len());
    for (number, part) in parts.iter().enumerate() {
        let before = number.checked_sub(1).and_then(|before| Some((before, parts.get(before)?)));
        let before = before.filter(|(_, other)| other.is_beside(part));
        let mut with = Vec::new();
        match part.kind {
            BlockKind::Item => {
                if before.is_none_or(|(_, other)| other.kind != BlockKind::Item) {
                    outer.clear();
                    lead = before.filter(|(_, other)| other.leads()).map(|(at, _)| at);
                }
                while outer.last().and_then(|last| parts.get(*last)).is_some_and(|last| last.depth >= part.depth) {
                    outer.pop();
                }
                with.extend(outer.iter().copied().chain(lead));
                outer.push(number);
            }
            BlockKind::Code | BlockKind::Table => {
                let label = before.filter(|(_, label)| label.leads() || label.kind == BlockKind::Item);
                with.extend(label.map(|(at, _)| at));
            }
            BlockKind::Text => {}
        }
        if part.announces() {
            with.extend(what_follows(parts, number));
        }
        all.push(with);
    }
    all
}

/// Returns the fragments that a text announces.
fn what_follows(parts: &[BlockContext<'_>], number: usize) -> Vec<usize> {
    let Some(part) = parts.get(number) else { return Vec::new() };
    let mut chars = 0;
    let mut follow = Vec::new();
    for (place, next) in parts.iter().enumerate().skip(number + 1).take_while(|(_, next)| next.is_beside(part)) {
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

/// Returns the fragments that text of a block falls into, as bytes of the body: itself where it is no longer than `most`
/// bytes, else parts of at most half of that.
fn parts(body: &str, kind: BlockKind, range: Range<usize>, most: usize) -> Vec<Range<usize>> {
    if range.len() <= most {
        return vec![range];
    }
    let most = most / 2;
    let text = body.get(range.clone()).unwrap_or_default();
    let ends: Vec<usize> = match kind {
        BlockKind::Table | BlockKind::Code => text.match_indices('\n').map(|(place, _)| place + 1).collect(),
        BlockKind::Text | BlockKind::Item => sentence_ends(text),
    };
    let mut parts = Vec::new();
    let (mut start, mut last) = (0, 0);
    for end in with_ends_of_words(text, ends, most) {
        if end - start > most && last > start {
            parts.push(start..last);
            start = last;
        }
        last = end;
    }
    parts.push(start..last);
    let in_body = |part: Range<usize>| {
        let text = text.get(part.clone()).unwrap_or_default();
        range.start + part.start..range.start + part.start + text.trim_end().len()
    };
    parts.into_iter().map(in_body).filter(|part| !part.is_empty()).collect()
}

/// Adds ends of words where more than `most` bytes stand between the ends of sentences, and ends of characters where
/// there are no words; the last end is that of the text.
fn with_ends_of_words(text: &str, ends: Vec<usize>, most: usize) -> Vec<usize> {
    let mut all = Vec::with_capacity(ends.len() + 1);
    let mut start = 0;
    for end in ends.into_iter().chain([text.len()]) {
        while end - start > most {
            let cut = text.floor_char_boundary(start + most).max(text.ceil_char_boundary(start + 1));
            let words = text.get(start..cut).unwrap_or_default();
            start = words.rfind(char::is_whitespace).map_or(cut, |space| text.ceil_char_boundary(start + space + 1));
            all.push(start);
        }
        all.push(end);
        start = end;
    }
    all
}

/// Returns where sentences or lines of a text end, with the white space behind them.
fn sentence_ends(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_end = |(place, sign): (usize, char)| match sign {
        '\n' => Some(place + 1),
        ' ' => {
            let before = place.checked_sub(1).and_then(|before| bytes.get(before));
            matches!(before, Some(b'.' | b'!' | b'?')).then_some(place + 1)
        }
        '。' | '！' | '？' => Some(place + sign.len_utf8()),
        _ => None,
    };
    text.char_indices().filter_map(is_end).collect()
}

/// Counts the lines of a body from its beginning on.
struct LineCounter<'a> {
    body: &'a str,
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// Returns the line of the file that the last byte before a place is in; places must not fall.
    fn of(&mut self, place: usize) -> usize {
        let between = self.body.as_bytes().get(self.at..place).unwrap_or_default();
        self.line += between.iter().filter(|byte| **byte == b'\n').count();
        self.at = self.at.max(place);
        self.line
    }
}
