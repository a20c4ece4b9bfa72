//! The one place where anything is dropped, shortened or counted.
//!
//! The law: what is written never has more characters than the budget allows; whole entries in
//! their order, one that does not fit is passed over; only when none fits is the first one cut;
//! when not even the empty frame fits, the error names the smallest number that works.

use rayon::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use crate::error::{Error, ErrorKind};
use crate::escape;
use crate::render::{self, CUT_MARK, Extent, Frame, Kept, Piece, Renderer, Screen, Shown, without_blank_ends};
use crate::report::{Entry, Report};
use crate::request::{Budget, Format};

/// From how many entries on it pays to write them side by side.
const MANY: usize = 16;
/// How many characters one token stands for.
const CHARS_PER_TOKEN: usize = 4;

/// Writes a report in a format within a budget. The text ends with a line end.
///
/// # Errors
/// `Budget`, naming the smallest number that works, when not even the empty frame fits.
pub fn fit(report: &Report, budget: Budget, format: Format, screen: Screen) -> Result<String, Error> {
    let renderer = render::renderer(report, format, screen);
    let limit = limit(budget);
    let page = Page::new(report, &*renderer, limit);
    let text = match page.with_everything() {
        Ok(text) => text,
        Err(least) => Page::new(report, &*renderer, limit).with_what_fits(least, budget)?,
    };
    debug_assert!(text.chars().count() <= limit, "the parts are the sum of the text");
    Ok(text)
}

/// Returns the most characters that both limits allow.
fn limit(budget: Budget) -> usize {
    let tokens = budget.max_tokens.map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
    let limits = [budget.max_chars, tokens];
    limits.into_iter().flatten().min().unwrap_or(usize::MAX)
}

/// A document in the making.
struct Page<'a> {
    report: &'a Report,
    renderer: &'a dyn Renderer,
    limit: usize,
    separator: usize,
    kept: Kept,
    pieces: Vec<(usize, Piece)>,
    /// Characters of the pieces, separators included.
    chars: usize,
    notes: usize,
    has_cut: bool,
    /// Whether there is no room for what a question was understood to mean.
    is_brief: bool,
    /// Which sections hold something; they need a separator before the next item.
    in_use: Vec<bool>,
}

impl<'a> Page<'a> {
    fn new(report: &'a Report, renderer: &'a dyn Renderer, limit: usize) -> Self {
        Self {
            report,
            renderer,
            limit,
            separator: chars(renderer.separator()),
            kept: Kept(vec![false; report.entries.len()]),
            pieces: Vec::new(),
            chars: 0,
            notes: 0,
            has_cut: false,
            is_brief: false,
            in_use: Vec::new(),
        }
    }

    /// Returns the whole answer if all of it fits, else the characters that it takes; counting
    /// stops where they pass both the limit and what an empty frame takes.
    fn with_everything(mut self) -> Result<String, usize> {
        let entries = self.report.entries.len();
        let enough = match self.report.is_divisible() {
            true => self.limit.max(self.frame_chars(&self.frame(true))),
            false => usize::MAX,
        };
        let mut at_once = self.written_at_once().into_iter();
        for number in 0..entries {
            let piece = at_once.next().unwrap_or_else(|| self.renderer.piece(number, Extent::Whole, &self.kept));
            self.keep(number, piece);
            if self.chars > enough {
                return Err(self.chars);
            }
        }
        let frame = self.frame(self.report.head.is_limited || self.has_cut);
        let total = self.chars + self.frame_chars(&frame);
        if total > self.limit {
            return Err(total);
        }
        Ok(self.renderer.assemble(&frame, &self.pieces))
    }

    /// Writes all entries side by side where nothing limits them and none of them depends on others that
    /// may or may not be shown; nothing otherwise.
    fn written_at_once(&self) -> Vec<Piece> {
        let entries = &self.report.entries;
        let is_alone = |entry: &Entry| entry.note().is_some_and(|note| note.edges.is_empty());
        if self.limit != usize::MAX || entries.len() < MANY || !entries.iter().all(is_alone) {
            return Vec::new();
        }
        let kept = Kept(vec![true; entries.len()]);
        let piece = |number| self.renderer.piece(number, Extent::Whole, &kept);
        (0..entries.len()).into_par_iter().map(piece).collect()
    }

    /// Returns as many whole entries as fit, or the first one cut, or the empty frame.
    fn with_what_fits(mut self, everything: usize, budget: Budget) -> Result<String, Error> {
        if !self.report.is_divisible() || (self.report.entries.is_empty() && !self.has_more_to_say()) {
            return Err(too_small(everything, budget));
        }
        let mut empty_chars = self.frame_chars(&self.frame(true));
        if empty_chars > self.limit || self.report.entries.is_empty() {
            // A long question must not make the least budget longer than a short one does.
            self.is_brief = true;
            empty_chars = self.frame_chars(&self.frame(true));
        }
        if empty_chars > self.limit {
            return Err(too_small(everything.min(empty_chars), budget));
        }
        if !self.report.entries.is_empty() {
            self.keep_whole_entries();
        }
        if self.pieces.is_empty() {
            self.cut_first_entry();
        }
        let frame = self.frame(true);
        Ok(self.renderer.assemble(&frame, &self.pieces))
    }

    /// Tells whether the frame says more than it must. If not, nothing can be left out of an answer
    /// without entries.
    fn has_more_to_say(&self) -> bool {
        let shown = Shown { notes: 0, is_truncated: false, is_empty: true, is_brief: false };
        let frame = |is_brief| self.renderer.frame(Shown { is_brief, ..shown }).0;
        frame(false) != frame(true)
    }

    fn keep_whole_entries(&mut self) {
        let last = self.report.entries.len() - 1;
        // What the frame takes, with one note more and without; it changes with what is kept only.
        let frames = |page: &Self| [0, 1].map(|more| page.truncated_frame_chars(page.notes + more));
        let mut frame_chars = frames(self);
        for (number, entry) in self.report.entries.iter().enumerate() {
            let is_everything = number == last && self.pieces.len() == last;
            let has_parent = entry.parent().is_none_or(|parent| self.kept.has(parent));
            let frame = frame_chars[usize::from(entry.note().is_some())];
            let room = self.limit.saturating_sub(self.chars + frame);
            // That everything does not fit is known; without the word that something is left out
            // it might seem to.
            if is_everything || !has_parent || entry.least_chars(self.renderer.detail(entry)) > room {
                continue;
            }
            let piece = self.renderer.piece(number, Extent::Whole, &self.kept);
            if self.chars_with(&piece) + frame <= self.limit {
                self.keep(number, piece);
                frame_chars = frames(self);
            }
        }
    }

    /// Counts the characters of the frame of a document that leaves something out.
    fn truncated_frame_chars(&self, notes: usize) -> usize {
        let is_brief = self.is_brief;
        self.renderer.frame_chars(Shown { notes, is_truncated: true, is_empty: false, is_brief })
    }

    /// Cuts the first entry's text where the most of it fits: its body, or else its summary.
    fn cut_first_entry(&mut self) {
        let first = self.report.entries.iter().position(|entry| !entry.is_finding_out());
        let note = first.and_then(|first| Some((first, self.report.entries.get(first)?.note()?)));
        let Some((first, note)) = note else {
            return;
        };
        let body = without_blank_ends(note.note.body());
        let summary = note.summary().map(|summary| escape::one_line(&summary)).unwrap_or_default();
        let piece = self.longest_cut(first, body, Extent::Body);
        let piece = piece.or_else(|| self.longest_cut(first, &summary, Extent::Summary));
        if let Some(piece) = piece {
            self.keep(first, piece);
        }
    }

    /// Finds the last place between two characters (as people see them) where a cut fits.
    fn longest_cut(&self, number: usize, text: &str, extent: impl Fn(usize) -> Extent) -> Option<Piece> {
        if text.is_empty() {
            return None;
        }
        // A text that ends like one that was cut would lose nothing there.
        let loses = |place: &usize| text.get(*place..) != Some(CUT_MARK);
        let places = text.grapheme_indices(true).map(|(place, _)| place).take(self.limit);
        let places: Vec<usize> = places.filter(loses).collect();
        let cut_at = |place: usize| {
            let piece = self.renderer.piece(number, extent(place), &self.kept);
            let chars = self.chars_with(&piece) + self.truncated_frame_chars(1);
            (piece.is_cut && chars <= self.limit).then_some(piece)
        };
        let fitting = places.partition_point(|place| cut_at(*place).is_some());
        cut_at(*places.get(fitting.checked_sub(1)?)?)
    }

    fn keep(&mut self, number: usize, piece: Piece) {
        self.chars = self.chars_with(&piece);
        for item in &piece.items {
            mark(&mut self.in_use, item.section);
        }
        self.notes += usize::from(self.report.entries[number].note().is_some());
        self.has_cut |= piece.is_cut;
        self.kept.0[number] = true;
        self.pieces.push((number, piece));
    }

    /// Counts the characters of the pieces so far and one more.
    fn chars_with(&self, piece: &Piece) -> usize {
        let mut in_use = self.in_use.clone();
        let mut total = self.chars;
        for item in &piece.items {
            if mark(&mut in_use, item.section) {
                total += self.separator;
            }
            total += chars(&item.text);
        }
        total
    }

    fn frame(&self, is_truncated: bool) -> Frame {
        self.renderer.frame(Shown {
            notes: self.notes,
            is_truncated,
            is_empty: self.pieces.is_empty(),
            is_brief: self.is_brief,
        })
    }

    fn frame_chars(&self, frame: &Frame) -> usize {
        frame.0.iter().map(|part| chars(part)).sum()
    }
}

/// Marks a section as holding something; returns whether it did before.
fn mark(in_use: &mut Vec<bool>, section: usize) -> bool {
    if in_use.len() <= section {
        in_use.resize(section + 1, false);
    }
    std::mem::replace(&mut in_use[section], true)
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn too_small(least: usize, budget: Budget) -> Error {
    let tokens = least.div_ceil(CHARS_PER_TOKEN);
    let too_few_chars = budget.max_chars.is_some_and(|max| max < least);
    let too_few_tokens = budget.max_tokens.is_some_and(|max| max < tokens);
    let needed = match (too_few_chars, too_few_tokens) {
        (true, true) => format!("--max-chars {least} and --max-tokens {tokens}"),
        (false, true) => format!("--max-tokens {tokens}"),
        _ => format!("--max-chars {least}"),
    };
    Error::new(
        ErrorKind::Budget,
        format!("the budget is too small for even an empty answer; the smallest that works is {needed}"),
    )
    .hint(format!("use {needed} or more"))
}
