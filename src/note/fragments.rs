//! Fragments: the smallest parts of a note that are shown by themselves. Passages, the level of that name and the best
//! line of a hit are made of them.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use super::blocks::{Block, BlockKind, blocks};
use super::enclosures::{Enclosures, Surroundings};

/// The most bytes of a fragment. With 1,400, answers of 1,000 characters have the passage for 3 of 100 questions of agents less,
/// and with 400 they lose more: what is around a sentence says what it is about.
const MAX_FRAGMENT: usize = 600;
/// The most bytes of a sentence that is shown alone.
const MAX_SENTENCE: usize = 100;
/// The bytes up to which a body is one fragment. In a budget that it would not fit, it is divided between its blocks, or a
/// cut at sentences could end in the heading of the next section.
const WHOLE_BODY_BYTES: usize = 600;
/// The bytes up to which a text before a list, table or code is regarded as its label.
const MAX_LABEL_BYTES: usize = 160;
/// The most bytes of announced fragments after the first.
const MAX_FOLLOWING: usize = 800;
/// The beginnings of lines that mark an admonition.
const ADMONITIONS: [&str; 5] = ["!!!", "???", ":::", "===", "<"];
/// The headings of concluding sections.
const CONCLUSIONS: [&str; 8] = ["decision", "summary", "answer", "fix", "tl;dr", "tldr", "solution", "resolution"];

/// The range of the bytes of a fragment: below the start, short blocks of a section are joined; above the end, long ones
/// are split.
pub(crate) type FragmentSizes = Range<usize>;

/// The sizes of fragments that are read one by one, away from their note.
pub(crate) const STANDALONE: FragmentSizes = WHOLE_BODY_BYTES..1_400;
/// The sizes of fragments of an answer. They do not depend on its budget, so that a larger one shows what a smaller one does.
pub(crate) const FRAGMENT_SIZES: FragmentSizes = 0..MAX_FRAGMENT;
/// The same for what a hook adds: it has room for little, and for several notes.
pub(crate) const SHORT_FRAGMENT_SIZES: FragmentSizes = 0..MAX_FRAGMENT / 2;

/// The smallest part of a note that is shown by itself: a block, a part of a long one, or the written summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragment {
    /// Its bytes in the body; none for the summary.
    pub range: Range<usize>,
    /// The text of the summary on one line; `None` for a part of the body.
    pub summary: Option<Arc<str>>,
    /// Its first and its last line in the file, from 1.
    pub lines: (usize, usize),
    /// The heading path, the outermost heading first, without the title of the note.
    pub heading_path: Arc<[String]>,
    /// The indices of the fragments without which it is hard to understand, shown with it if they fit.
    pub companions: Vec<usize>,
    /// Whether it can be shown without its companions.
    pub is_alone: bool,
    /// If it begins within code or a comment, the line that opens this, for a reader of the passage.
    pub opening: Option<Arc<str>>,
    kind: BlockKind,
    /// The number of lists around it.
    depth: usize,
}

impl Fragment {
    /// Returns a written summary, which is no part of the body.
    pub(crate) fn of_summary(summary: &str) -> Self {
        Self {
            range: 0..0,
            summary: Some(summary.into()),
            lines: (1, 1),
            heading_path: Arc::default(),
            companions: Vec::new(),
            is_alone: true,
            opening: None,
            kind: BlockKind::Text,
            depth: 0,
        }
    }

    /// Returns its text. `body`: the body of its note.
    pub fn text<'a>(&'a self, body: &'a str) -> &'a str {
        self.summary.as_deref().or_else(|| body.get(self.range.clone())).unwrap_or_default()
    }

    /// Tells whether it is in a section whose heading announces a conclusion.
    pub(crate) fn is_conclusion(&self) -> bool {
        let name = self.heading_path.last().map(|name| name.trim().trim_end_matches(':').to_lowercase());
        name.is_some_and(|name| CONCLUSIONS.contains(&name.as_str()))
    }

    /// Tells whether another fragment is in the same section.
    pub(crate) fn is_in_section_of(&self, other: &Self) -> bool {
        self.heading_path == other.heading_path
    }

    /// Returns what opens the code or comment in which an offset of the body lies, for a reader of what follows.
    pub(crate) fn opening_at(body: &str, offset: usize) -> Option<Arc<str>> {
        Enclosures::of(body, Surroundings::Own).opening_at(offset).map(Arc::from)
    }

    /// Returns the ranges of its sentences in the body, of code and tables those of its lines; none for the summary.
    pub fn sentences(&self, body: &str) -> Vec<Range<usize>> {
        if self.summary.is_some() {
            return Vec::new();
        }
        let text = self.text(body);
        let mut start = 0;
        let ends = with_word_ends(text, ends(text, self.kind), MAX_SENTENCE);
        let sentences = ends.into_iter().filter_map(|end| {
            let sentence = start..end;
            start = end;
            without_blank_lines(text, sentence)
        });
        sentences.map(|sentence| self.range.start + sentence.start..self.range.start + sentence.end).collect()
    }

    /// Whether a block continues it: more text, or another item of the same list.
    fn joins(&self, block: &Block, path: &Arc<[String]>) -> bool {
        self.kind == block.kind && self.depth == block.depth && self.heading_path == *path
    }

    fn introduces(&self, body: &str) -> bool {
        self.kind == BlockKind::Text && (self.announces(body) || self.text(body).len() <= MAX_LABEL_BYTES)
    }

    /// Whether it means nothing without the next fragment: it ends with `:` or `?`, or marks an admonition.
    fn announces(&self, body: &str) -> bool {
        let text = self.text(body).trim_end_matches(['*', '_', '`', ' ', '\n']);
        let is_mark = !text.contains('\n') && ADMONITIONS.iter().any(|mark| text.starts_with(mark));
        matches!(self.kind, BlockKind::Text | BlockKind::Item) && (text.ends_with([':', '?']) || is_mark)
    }
}

/// Returns the fragments of a body in order, without overlaps. `body_line`: its first line in the file; `title`: that of
/// the note.
pub(super) fn fragments(body: &str, body_line: usize, title: &str, sizes: &FragmentSizes) -> Vec<Fragment> {
    let mut fragments: Vec<Fragment> = Vec::new();
    let (mut counted, mut line) = (0, body_line);
    // Returns the line of the file with the last byte before an offset, which must not decrease between calls.
    let mut line_of = |offset: usize| {
        let between = body.as_bytes().get(counted..offset).unwrap_or_default();
        line += between.iter().filter(|byte| **byte == b'\n').count();
        counted = counted.max(offset);
        line
    };
    let mut last_path: Arc<[String]> = Arc::default();
    let mut path: Arc<[String]> = Arc::default();
    let blocks = joined_blocks(body, sizes.end);
    let found = OnceCell::new();
    let enclosures = || found.get_or_init(|| Enclosures::of(body, Surroundings::Own));
    for (index, own) in own_ranges(body, &blocks) {
        let block = &blocks[index];
        if block.heading_path != last_path {
            path = without_title(&block.heading_path, title);
            last_path = Arc::clone(&block.heading_path);
        }
        for range in parts(body, block.kind, own, sizes.end) {
            let lines = (line_of(range.start), line_of(range.end));
            if let Some(last) = fragments.last_mut()
                && last.joins(block, &path)
                && range.end - last.range.start <= sizes.start
            {
                (last.range.end, last.lines.1) = (range.end, lines.1);
                continue;
            }
            // Only a part of a block can begin within code.
            let is_inside = range.start > block.range.start;
            let opening = is_inside.then(|| enclosures().opening_at(range.start).map(Arc::from)).flatten();
            let (kind, depth, heading_path) = (block.kind, block.depth, Arc::clone(&path));
            let (summary, companions, is_alone) = (None, Vec::new(), true);
            fragments.push(Fragment {
                range,
                summary,
                lines,
                heading_path,
                companions,
                is_alone,
                opening,
                kind,
                depth,
            });
        }
    }
    let companions = companions(&fragments, body);
    for (fragment, companions) in fragments.iter_mut().zip(companions) {
        fragment.companions = companions;
        fragment.is_alone = !fragment.announces(body);
    }
    fragments
}

/// Returns the blocks of a body; a single one if all of them have at most [`WHOLE_BODY_BYTES`] together, and no more than
/// a fragment may have.
fn joined_blocks(body: &str, max_bytes: usize) -> Vec<Block> {
    let mut blocks = blocks(body);
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

/// Returns for each fragment the indices of those without which it is hard to understand.
fn companions(parts: &[Fragment], body: &str) -> Vec<Vec<usize>> {
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
                    lead = before.filter(|(_, other)| other.introduces(body)).map(|(at, _)| at);
                }
                while outer.last().and_then(|last| parts.get(*last)).is_some_and(|last| last.depth >= part.depth) {
                    outer.pop();
                }
                with.extend(outer.iter().copied().chain(lead));
                outer.push(index);
            }
            BlockKind::Code | BlockKind::Table => {
                let label = before.filter(|(_, label)| label.introduces(body) || label.kind == BlockKind::Item);
                with.extend(label.map(|(at, _)| at));
            }
            BlockKind::Text => {}
        }
        if part.announces(body) {
            with.extend(announced(parts, index, body));
        }
        all.push(with);
    }
    all
}

/// Returns the indices of the fragments that a text announces.
fn announced(parts: &[Fragment], index: usize, body: &str) -> Vec<usize> {
    let Some(part) = parts.get(index) else { return Vec::new() };
    let mut chars = 0;
    let mut follow = Vec::new();
    let of_section = parts.iter().enumerate().skip(index + 1).take_while(|(_, next)| next.is_in_section_of(part));
    for (index_after, next) in of_section {
        let belongs = follow.is_empty() || next.kind == BlockKind::Item;
        chars += next.text(body).len();
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
    let ends = ends(text, kind);
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

/// Returns the byte offsets behind the sentences of a text, or the lines of code and tables.
fn ends(text: &str, kind: BlockKind) -> Vec<usize> {
    match kind {
        BlockKind::Table | BlockKind::Code => text.match_indices('\n').map(|(offset, _)| offset + 1).collect(),
        BlockKind::Text | BlockKind::Item => sentence_ends(text),
    }
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
