//! The fragments of notes from which passages are chosen, with their worth as an answer.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::note::{Block, BlockKind, Enclosures, Surroundings, shown_chars};
use crate::report::{Fragment, NoteEntry, Passage, Passages};
use crate::search::{BlockScorer, BlockText, TokenCache};
use crate::store::NoteHandle;

/// The most notes from which passages are chosen.
pub const MAX_NOTES_WITH_PASSAGES: usize = 200;
/// The notes from which passages are chosen in any case.
const MIN_NOTES: usize = 6;
/// The notes from which passages are chosen while they have at most [`SHORT_NOTES_CHARS`] together.
const SHORT_NOTES: usize = 20;
/// In characters.
const SHORT_NOTES_CHARS: usize = 200_000;
/// The characters of all notes from which passages are chosen, as a multiple of the budget.
const CHARS_PER_SHOWN: usize = 4;
/// The factor on the worth of the fragments of a note, to which its score, 1 for the best note, is added.
const MIN_NOTE_FACTOR: f64 = 0.5;
/// The upper limit of the bytes of a fragment. See [`fragment_sizes`].
const MAX_FRAGMENT: usize = 1400;
/// The range of the bytes of a passage that is chosen without a query: short blocks of a section are joined.
const STANDALONE_BYTES: Range<usize> = WHOLE_BODY_BYTES..MAX_FRAGMENT;
/// The lower limit of the bytes to which a long block is split.
const MIN_FRAGMENT: usize = 120;
/// About the most fragments of an answer. The time to fit them grows with the square of their number.
const MAX_FRAGMENTS: usize = 400;
/// The bytes up to which a body is one fragment.
const WHOLE_BODY_BYTES: usize = 600;
/// The least worth of a fragment in a concluding section, as a share of the best fragment of its note.
const CONCLUSION_SHARE: f64 = 0.7;
/// The bytes up to which a text before a list, table or code is regarded as its label.
const MAX_LABEL_BYTES: usize = 160;
/// The most bytes of announced fragments after the first.
const MAX_FOLLOWING: usize = 800;
/// The beginnings of lines that mark an admonition.
const ADMONITIONS: [&str; 5] = ["!!!", "???", ":::", "===", "<"];
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
    let all: Vec<Passages> =
        all.map_init(TokenCache::default, |cache, entry| passages(entry, &sizes, scorer, cache)).collect();
    let best = all.iter().flat_map(|of_note| &of_note.fragments).map(|fragment| fragment.worth).fold(0.0, f64::max);
    for ((mut passages, score), entry) in all.into_iter().zip(scores).zip(entries) {
        let factor = MIN_NOTE_FACTOR + score.share;
        let worth_of_note = best.max(f64::MIN_POSITIVE) * score.share * factor;
        // The score of a whole note is more precise than that of its only block.
        if passages.fragments.iter().filter(|fragment| fragment.summary.is_none()).count() < 2 {
            passages.whole = Some(worth_of_note);
        }
        passages.fragments.iter_mut().for_each(|fragment| fragment.worth *= factor);
        let is_found_elsewhere = score.is_hit && passages.fragments.iter().all(|fragment| fragment.worth == 0.0);
        // A note that tags alone answer is shown by what it is about.
        if let Some(statement) = passages.conclusion().filter(|_| is_found_elsewhere) {
            passages.fragments[statement].worth = worth_of_note;
        }
        discount_repetition(&mut passages);
        passages.is_first = score.is_first;
        entry.passages = Some(Arc::new(passages));
    }
}

/// Returns the range of the bytes of a fragment for an answer of so many characters: at most so many that two fragments
/// fit, so that the part of a long block that answers is shown; at least so many that [`MAX_FRAGMENTS`] fill the answer.
fn fragment_sizes(max_answer_chars: usize) -> Range<usize> {
    max_answer_chars / MAX_FRAGMENTS..(max_answer_chars / 5 * 3).clamp(MIN_FRAGMENT, MAX_FRAGMENT)
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
        let fragment = &mut passages.fragments[index];
        fragment.worth /= 1.0 + before as f64 / HALF_WORTH_BYTES;
        before += fragment.range.len() + fragment.summary.as_deref().map_or(0, str::len);
    }
}

fn passages<'t>(
    entry: &'t NoteEntry,
    sizes: &Range<usize>,
    scorer: &BlockScorer,
    cache: &mut TokenCache<'t>,
) -> Passages {
    let note = &entry.note;
    let (parts, mut fragments): (Vec<BlockContext<'_>>, Vec<Fragment>) = fragments(note, sizes).into_iter().unzip();
    let headings: Vec<String> =
        fragments.iter().map(|fragment| format!("{}\n{}", note.title(), fragment.heading_path.join("\n"))).collect();
    let texts = parts.iter().zip(&headings).map(|(part, headings)| BlockText { headings, text: part.text });
    let scores = scorer.scores(&texts.collect::<Vec<_>>(), cache);
    let best = scores.iter().copied().fold(0.0, f64::max);
    let scores = with_neighbours(&parts, &scores);
    let of_fragments = parts.iter().zip(scores).zip(companions(&parts));
    for (fragment, ((part, score), with)) in fragments.iter_mut().zip(of_fragments) {
        let least = if fragment.is_conclusion() { CONCLUSION_SHARE * best } else { 0.0 };
        fragment.worth = score.max(least);
        fragment.companions = with;
        fragment.is_alone = !part.announces();
    }
    if let Some(summary) = summary_fragment(entry, scorer) {
        // The summary comes first, so that the indices of companions move.
        fragments.iter_mut().flat_map(|fragment| &mut fragment.companions).for_each(|index| *index += 1);
        fragments.insert(0, summary);
    }
    Passages { fragments, whole: None, is_first: false }
}

/// Returns the written summary as a fragment. It is scored by itself: it is no neighbour of any text of the body.
fn summary_fragment(entry: &NoteEntry, scorer: &BlockScorer) -> Option<Fragment> {
    let summary: Arc<str> = entry.separate_summary()?.into();
    let text = BlockText { headings: entry.note.title(), text: &summary };
    let worth = scorer.scores(&[text], &mut TokenCache::default()).into_iter().sum();
    let (range, lines, chars) = (0..0, (1, 1), shown_chars(&summary));
    let (heading_path, companions) = (Arc::default(), Vec::new());
    Some(Fragment {
        range,
        summary: Some(summary),
        lines,
        chars,
        heading_path,
        worth,
        companions,
        is_alone: true,
        opening: None,
    })
}

/// Divides a note into passages without a query: each is a fragment, in the order of the text.
pub fn all_passages(note: &NoteHandle) -> Vec<Passage> {
    let passage = |(part, fragment): (BlockContext<'_>, Fragment)| Passage {
        lines: fragment.lines,
        heading_path: fragment.heading_path,
        text: part.text.to_owned(),
        opening: None,
    };
    fragments(note, &STANDALONE_BYTES).into_iter().map(passage).collect()
}

/// Returns the fragments of a note without their worth, each with its context, in order and without overlaps.
fn fragments<'t>(note: &'t NoteHandle, sizes: &Range<usize>) -> Vec<(BlockContext<'t>, Fragment)> {
    let (body, title) = (note.parsed_or_empty().body(), note.title());
    let mut fragments: Vec<(BlockContext<'t>, Fragment)> = Vec::new();
    let (mut counted, mut line) = (0, note.parsed_or_empty().body_line());
    // Returns the line of the file with the last byte before an offset, which must not decrease between calls.
    let mut line_of = |offset: usize| {
        let between = body.as_bytes().get(counted..offset).unwrap_or_default();
        line += between.iter().filter(|byte| **byte == b'\n').count();
        counted = counted.max(offset);
        line
    };
    let mut last_path: Arc<[String]> = Arc::default();
    let mut path: Arc<[String]> = Arc::default();
    let blocks = blocks(note, sizes.end);
    let found = OnceCell::new();
    let enclosures = || found.get_or_init(|| Enclosures::of(body, Surroundings::Own));
    for (index, own) in own_ranges(body, &blocks) {
        let block = &blocks[index];
        if block.heading_path != last_path {
            path = without_title(&block.heading_path, title);
            last_path = Arc::clone(&block.heading_path);
        }
        for range in parts(body, block.kind, own, sizes.end) {
            let text = body.get(range.clone()).unwrap_or_default();
            let lines = (line_of(range.start), line_of(range.end));
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
            let (chars, heading_path, companions) = (shown_chars(text), Arc::clone(&path), Vec::new());
            // Only a part of a block can begin within code.
            let is_inside = range.start > block.range.start;
            let opening = is_inside.then(|| enclosures().opening_at(range.start).map(Arc::from)).flatten();
            let (summary, worth, is_alone) = (None, 0.0, true);
            let fragment =
                Fragment { range, summary, lines, chars, heading_path, worth, companions, is_alone, opening };
            fragments.push((part, fragment));
        }
    }
    fragments
}

/// Returns the blocks of a note; a single one if all of them have at most [`WHOLE_BODY_BYTES`] together, and no more than
/// a fragment may have.
fn blocks(note: &NoteHandle, max_bytes: usize) -> Vec<Block> {
    let mut blocks = note.parsed_or_empty().blocks();
    let end = |(first, last): (&Block, &Block)| first.range.start..last.range.end.max(first.range.end);
    let whole =
        blocks.first().zip(blocks.last()).map(end).filter(|whole| whole.len() <= WHOLE_BODY_BYTES.min(max_bytes));
    if let Some(whole) = whole {
        blocks.truncate(1);
        blocks.iter_mut().for_each(|block| block.range = whole.clone());
    }
    blocks
}

/// Returns the byte ranges of blocks without the blocks inside them, each with the index of its block, in the order of
/// the text. An item has ranges before and after the lists inside it. White space before a block on its first line
/// belongs to it.
fn own_ranges(body: &str, blocks: &[Block]) -> Vec<(usize, Range<usize>)> {
    let mut own: Vec<(usize, Range<usize>)> = Vec::with_capacity(blocks.len());
    // The open blocks, each with the offset at which its own text continues.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut add =
        |block: usize, range: Range<usize>| own.extend(without_blank_lines(body, range).map(|own| (block, own)));
    for (index, block) in blocks.iter().enumerate() {
        while let Some((outer, start)) = open.pop_if(|(outer, _)| blocks[*outer].range.end <= block.range.start) {
            add(outer, start..blocks[outer].range.end);
        }
        if let Some((outer, start)) = open.last_mut() {
            add(*outer, *start..block.range.start);
            *start = block.range.end;
        }
        open.push((index, block.range.start));
    }
    while let Some((outer, start)) = open.pop() {
        add(outer, start..blocks[outer].range.end);
    }
    own
}

/// Returns a range without the white space at its end and the blank lines at its beginning; `None` if nothing is left.
/// White space before its text on its first line is part of it.
fn without_blank_lines(body: &str, range: Range<usize>) -> Option<Range<usize>> {
    let text = body.get(range.clone()).unwrap_or_default();
    let first = range.start + text.len() - text.trim_start().len();
    (first < range.end).then(|| line_start(body, first)..range.start + text.trim_end().len())
}

/// Returns the beginning of the line of `offset` if only white space precedes it on that line, else `offset`.
fn line_start(body: &str, offset: usize) -> usize {
    let before = body.get(..offset).unwrap_or_default();
    let text = before.trim_end_matches([' ', '\t']);
    if text.is_empty() || text.ends_with('\n') { text.len() } else { offset }
}

/// The context of a fragment, which decides to which other fragments it belongs.
struct BlockContext<'a> {
    kind: BlockKind,
    depth: usize,
    path: Arc<[String]>,
    text: &'a str,
}

impl BlockContext<'_> {
    fn is_in_section_of(&self, other: &Self) -> bool {
        self.path == other.path
    }

    /// Whether the next block continues it: more text, or another item of the same list.
    fn joins(&self, block: &Block, path: &Arc<[String]>) -> bool {
        self.kind == block.kind && self.depth == block.depth && self.path == *path
    }

    fn introduces(&self) -> bool {
        self.kind == BlockKind::Text && (self.announces() || self.text.len() <= MAX_LABEL_BYTES)
    }

    /// Whether it means nothing without the next fragment: it ends with `:` or `?`, or marks an admonition.
    fn announces(&self) -> bool {
        let text = self.text.trim_end_matches(['*', '_', '`', ' ', '\n']);
        let is_mark = !text.contains('\n') && ADMONITIONS.iter().any(|mark| text.starts_with(mark));
        matches!(self.kind, BlockKind::Text | BlockKind::Item) && (text.ends_with([':', '?']) || is_mark)
    }
}

/// Raises the scores of fragments to a share of those near them in the same section, less with every step: the text
/// around an answer belongs to it, whatever its words.
fn with_neighbours(parts: &[BlockContext<'_>], scores: &[f64]) -> Vec<f64> {
    let mut raised = scores.to_vec();
    let mut raise = |neighbours: &mut dyn Iterator<Item = (usize, usize)>, factor: f64| {
        let mut share = 0.0;
        for (from, to) in neighbours {
            let is_joined = parts[from].is_in_section_of(&parts[to]);
            share = if is_joined { scores[from].max(share) * factor } else { 0.0 };
            raised[to] = raised[to].max(share);
        }
    };
    raise(&mut (1..scores.len()).map(|next| (next - 1, next)), AFTER);
    raise(&mut (1..scores.len()).rev().map(|next| (next, next - 1)), BEFORE);
    raised
}

/// Returns for each fragment the indices of those without which it is hard to understand.
fn companions(parts: &[BlockContext<'_>]) -> Vec<Vec<usize>> {
    // Of the current list: the items around the current one, and the text that introduces the list.
    let (mut outer, mut lead): (Vec<usize>, Option<usize>) = (Vec::new(), None);
    let mut all = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| Some((before, parts.get(before)?)));
        let before = before.filter(|(_, other)| other.is_in_section_of(part));
        let mut with = Vec::new();
        match part.kind {
            BlockKind::Item => {
                if before.is_none_or(|(_, other)| other.kind != BlockKind::Item) {
                    outer.clear();
                    lead = before.filter(|(_, other)| other.introduces()).map(|(at, _)| at);
                }
                while outer.last().and_then(|last| parts.get(*last)).is_some_and(|last| last.depth >= part.depth) {
                    outer.pop();
                }
                with.extend(outer.iter().copied().chain(lead));
                outer.push(index);
            }
            BlockKind::Code | BlockKind::Table => {
                let label = before.filter(|(_, label)| label.introduces() || label.kind == BlockKind::Item);
                with.extend(label.map(|(at, _)| at));
            }
            BlockKind::Text => {}
        }
        if part.announces() {
            with.extend(announced(parts, index));
        }
        all.push(with);
    }
    all
}

/// Returns the indices of the fragments that a text announces.
fn announced(parts: &[BlockContext<'_>], index: usize) -> Vec<usize> {
    let Some(part) = parts.get(index) else { return Vec::new() };
    let mut chars = 0;
    let mut follow = Vec::new();
    let of_section = parts.iter().enumerate().skip(index + 1).take_while(|(_, next)| next.is_in_section_of(part));
    for (index_after, next) in of_section {
        let belongs = follow.is_empty() || next.kind == BlockKind::Item;
        chars += next.text.len();
        if !belongs || (chars > MAX_FOLLOWING && !follow.is_empty()) {
            break;
        }
        follow.push(index_after);
    }
    follow
}

/// Returns a heading path without the title of the note, which is shown anyway.
fn without_title(path: &Arc<[String]>, title: &str) -> Arc<[String]> {
    match path.split_first() {
        Some((first, rest)) if first.trim() == title.trim() => rest.into(),
        _ => Arc::clone(path),
    }
}

/// Splits a block into byte ranges of the body: itself up to `max_bytes`, else parts of at most half of that.
fn parts(body: &str, kind: BlockKind, range: Range<usize>, max_bytes: usize) -> Vec<Range<usize>> {
    if range.len() <= max_bytes {
        return vec![range];
    }
    let max_bytes = max_bytes / 2;
    let text = body.get(range.clone()).unwrap_or_default();
    let ends: Vec<usize> = match kind {
        BlockKind::Table | BlockKind::Code => text.match_indices('\n').map(|(offset, _)| offset + 1).collect(),
        BlockKind::Text | BlockKind::Item => sentence_ends(text),
    };
    let mut parts = Vec::new();
    let (mut start, mut last) = (0, 0);
    for end in with_word_ends(text, ends, max_bytes) {
        if end - start > max_bytes && last > start {
            parts.push(start..last);
            start = last;
        }
        last = end;
    }
    parts.push(start..last);
    let in_body = |part: Range<usize>| range.start + part.start..range.start + part.end;
    parts.into_iter().filter_map(|part| without_blank_lines(body, in_body(part))).collect()
}

/// Adds word ends where sentence ends are more than `max_bytes` apart, and character ends where there are no words. The
/// last end is that of the text.
fn with_word_ends(text: &str, ends: Vec<usize>, max_bytes: usize) -> Vec<usize> {
    let mut all = Vec::with_capacity(ends.len() + 1);
    let mut start = 0;
    for end in ends.into_iter().chain([text.len()]) {
        while end - start > max_bytes {
            let cut = text.floor_char_boundary(start + max_bytes).max(text.ceil_char_boundary(start + 1));
            let words = text.get(start..cut).unwrap_or_default();
            start = words.rfind(char::is_whitespace).map_or(cut, |space| text.ceil_char_boundary(start + space + 1));
            all.push(start);
        }
        all.push(end);
        start = end;
    }
    all
}

/// Returns the byte offsets behind the sentences and lines of a text, with the white space after them.
fn sentence_ends(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_end = |(offset, sign): (usize, char)| match sign {
        '\n' => Some(offset + 1),
        ' ' => {
            let before = offset.checked_sub(1).and_then(|before| bytes.get(before));
            matches!(before, Some(b'.' | b'!' | b'?')).then_some(offset + 1)
        }
        '。' | '！' | '？' => Some(offset + sign.len_utf8()),
        _ => None,
    };
    text.char_indices().filter_map(is_end).collect()
}
