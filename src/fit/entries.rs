//! Fitting of entries in their order: everything, else the whole entries that fit, else the beginning of the first.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;

use rayon::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::budget::TextSize;
use super::document::DocumentBuilder;
use super::selector::Proposal;
use crate::error::Error;
use crate::escape;
use crate::render::{CUT_MARK, EntryText, FrameState, Included, ShownPart};
use crate::report::{BlockEntry, Entry, FormatDetail, NoteLayout, SelectionStats};

/// The most cuts that are tried before the last one that may fit: what closes a text has fewer characters, and a longer
/// text may have fewer tokens.
const MAX_STEPS_BACK: usize = 256;
/// The cuts that are tried behind the last one that seems to fit without what closes it.
const STEPS_AHEAD: usize = 8;
/// The least number of entries that are rendered in parallel.
const MIN_PARALLEL: usize = 4;
/// The most entries that one thread joins to one text.
const ENTRIES_PER_RUN: usize = 256;
/// The number of texts that fewer entries are joined to, so that all threads have some.
const MIN_RUNS: usize = 8;
/// The number of entries of a list that are in memory as text before they are written.
const ENTRIES_PER_WRITE: usize = 64 * ENTRIES_PER_RUN;

/// Returns the statistics of a document of one note from its text.
pub(super) type StatsOf<'a> = dyn Fn(&EntryText) -> Option<SelectionStats> + 'a;

/// Returns the number of entries that one thread joins to one text.
fn entries_per_run(entries: usize) -> usize {
    entries.div_ceil(MIN_RUNS).clamp(1, ENTRIES_PER_RUN)
}

impl DocumentBuilder<'_> {
    /// Returns the complete document; as an error, its size. Of a document that may be shortened, only enough characters
    /// are counted to exceed both the limits and the empty frame.
    pub(super) fn with_everything(mut self) -> Result<String, TextSize> {
        let enough = if self.report.head.layout.is_divisible {
            self.limits.chars.max(self.renderer.frame_chars(self.frame_state(true)))
        } else {
            usize::MAX
        };
        if self.is_parallel() {
            self.accept_all();
        } else {
            self.accept_each(enough)?;
        }
        let shown = self.frame_state(self.report.head.is_limited || self.has_cut);
        let chars = self.chars + self.renderer.frame_chars(shown);
        if chars > self.limits.chars {
            return Err(TextSize { chars, tokens: None });
        }
        let text = self.renderer.assemble(&self.renderer.frame(shown), &self.texts);
        if self.limits.has_room(&text) { Ok(text) } else { Err(self.limits.size(&text)) }
    }

    /// Whether all entries can be rendered in parallel: there are many, without limits, and none depends on another.
    fn is_parallel(&self) -> bool {
        let entries = &self.report.entries;
        let is_alone = |entry: &Entry| entry.note().is_some_and(|note| note.edges.is_empty());
        let is_free = !self.limits.is_limited() && self.renderer.is_linear();
        is_free && entries.len() >= MIN_PARALLEL && entries.iter().all(is_alone)
    }

    /// Accepts all entries one after the other; fails with the size so far as soon as it exceeds `enough` characters.
    fn accept_each(&mut self, enough: usize) -> Result<(), TextSize> {
        for index in 0..self.report.entries.len() {
            let text = self.renderer.render(index, ShownPart::Whole, &self.included);
            self.accept(index, text);
            if self.chars > enough {
                return Err(TextSize { chars: self.chars, tokens: None });
            }
        }
        Ok(())
    }

    /// Accepts all entries, which are notes, and renders them in parallel.
    fn accept_all(&mut self) {
        let count = self.report.entries.len();
        self.included = Included::all(count, true);
        self.notes = count;
        let runs = self.runs(0..count).into_iter().enumerate();
        runs.for_each(|(run, text)| self.push(run * entries_per_run(count), text));
    }

    /// Renders entries, which are all included and do not depend on another, in parallel and in runs.
    fn runs(&self, indices: Range<usize>) -> Vec<EntryText> {
        let (renderer, included, end) = (self.renderer, &self.included, indices.end);
        let step = entries_per_run(indices.len());
        let run = |first: usize| {
            let indices = first..end.min(first + step);
            let texts = indices.map(|index| renderer.render(index, ShownPart::Whole, included));
            EntryText::joined(texts, |section| renderer.separator(section))
        };
        indices.into_par_iter().step_by(step).map(run).collect()
    }

    /// Whether the document is a list of names and summaries without limits, whose frame is known before its entries.
    pub(super) fn is_list(&self) -> bool {
        let is_row = self.report.head.layout.note == NoteLayout::Row;
        let has_bodies = |entry: &Entry| self.renderer.detail(entry) == FormatDetail::Body;
        is_row && self.is_parallel() && !self.report.entries.iter().any(has_bodies)
    }

    /// Writes a [list](Self::is_list) in parts, so that a long one is never in memory as a whole. Nothing is written of
    /// a part in which a note could not be read.
    pub(super) fn write_list(mut self, out: &mut dyn Write) -> Result<(), Error> {
        let count = self.report.entries.len();
        self.included = Included::all(count, true);
        self.notes = count;
        let frame =
            self.renderer.frame(FrameState { is_empty: false, ..self.frame_state(self.report.head.is_limited) });
        let (after, before) =
            frame.0.split_last().map_or_else(Default::default, |(last, before)| (last.as_str(), before.concat()));
        let mut part = before;
        for first in (0..count).step_by(ENTRIES_PER_WRITE) {
            let indices = first..count.min(first + ENTRIES_PER_WRITE);
            let runs = self.runs(indices.clone());
            self.report.expect_read_notes(indices)?;
            for (run, item) in runs.iter().flat_map(|run| &run.items).enumerate() {
                let separator = if first + run == 0 { "" } else { self.renderer.separator(item.section) };
                part.extend([separator, &item.text]);
            }
            out.write_all(part.as_bytes())?;
            part.clear();
        }
        Ok(out.write_all(after.as_bytes())?)
    }

    /// Accepts as many whole entries as fit, else the first one cut, else none. `everything`: the size of all of them.
    pub(super) fn with_what_fits(mut self, everything: TextSize) -> Result<Self, TextSize> {
        if !self.report.head.layout.is_divisible {
            return Err(everything);
        }
        self.make_room_for_frame(everything)?;
        self.accept_whole_entries();
        if self.report.head.show.has_best_blocks {
            self.accept_best_blocks();
        }
        if self.texts.is_empty() {
            let first = self.report.entries.iter().position(|entry| !entry.is_derived());
            first.into_iter().for_each(|first| self.cut_entry(first, true, &|_| None));
        }
        Ok(self)
    }

    /// Accepts the whole entries that fit, in their order.
    fn accept_whole_entries(&mut self) {
        let Some(last) = self.report.entries.len().checked_sub(1) else { return };
        let has_best_blocks = self.report.head.show.has_best_blocks;
        // The length of the frame, without and with one more note. It changes with each accepted entry only.
        let frames = |document: &Self| {
            [0, 1].map(|more| document.renderer.frame_chars(document.truncated_state(document.notes + more)))
        };
        let mut frame_chars = frames(self);
        for (index, entry) in self.report.entries.iter().enumerate() {
            // Everything is known to exceed the limits. It could seem to fit in a frame that does not say that an entry
            // is left out.
            let is_everything = index == last && self.texts.len() == last;
            let has_parent = entry.parent().is_none_or(|parent| self.included.has(parent));
            let more = usize::from(entry.note().is_some());
            let room = self.limits.chars.saturating_sub(self.chars + frame_chars[more]);
            let may_fit = || !is_everything && has_parent && entry.may_fit(self.renderer.detail(entry), room);
            let is_whole = !has_best_blocks || blocks_of(entry).is_empty();
            let text = (is_whole && may_fit()).then(|| self.renderer.render(index, ShownPart::Whole, &self.included));
            let fits = |text: &EntryText| {
                self.chars_with(text) + frame_chars[more] <= self.limits.chars
                    && self.has_room(self.truncated_state(self.notes + more), Some((index, text)))
            };
            match text.filter(fits) {
                Some(text) => self.accept(index, text),
                None if entry.is_derived() => self.omit(entry),
                None => continue,
            }
            frame_chars = frames(self);
        }
    }

    /// Accepts the blocks of all notes that fit, each in its note, by descending score, then in their order.
    fn accept_best_blocks(&mut self) {
        let mut all: Vec<(f64, usize, usize)> = Vec::new();
        let mut is_everything = true;
        for (index, entry) in self.report.entries.iter().enumerate() {
            let blocks = blocks_of(entry);
            match entry.note().filter(|_| !blocks.is_empty()) {
                Some(note) => drop(self.included.blocks.insert(note.note.id.clone(), BTreeSet::new())),
                None => is_everything &= self.included.has(index),
            }
            all.extend(blocks.iter().enumerate().map(|(block, text)| (text.score, index, block)));
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        let last = all.len().saturating_sub(1);
        for (rank, (_, index, block)) in all.into_iter().enumerate() {
            // Everything is known to exceed the limits. It could seem to fit in a frame that does not say that a block
            // is left out.
            is_everything &= !(is_everything && rank == last) && self.accept_block(index, block);
        }
    }

    /// Shows one more block of a note. Returns whether that fits; the document is unchanged if not.
    fn accept_block(&mut self, index: usize, block: usize) -> bool {
        let Some(note) = self.note(index) else { return false };
        let id = &note.note.id;
        self.included.blocks.entry(id.clone()).or_default().insert(block);
        let position = self.texts.iter().filter(|(other, _)| *other < index).count();
        let backup = self.replace(position, ShownPart::Whole, &Proposal::whole(index), None);
        let fits = self.has_room(self.frame_state(true), None);
        if !fits {
            self.restore(index, backup);
            self.included.blocks.entry(id.clone()).or_default().remove(&block);
        }
        fits
    }

    /// Accepts the longest beginning of an entry that fits: of its body if `may_be_body`, else of its summary.
    pub(super) fn cut_entry(&mut self, index: usize, may_be_body: bool, stats_of: &StatsOf<'_>) {
        let Some(note) = self.note(index) else { return };
        let summary = note.note.summary().map(|summary| escape::one_line(&summary)).unwrap_or_default();
        let text = may_be_body.then(|| self.longest_cut(index, note.body(), ShownPart::Body, stats_of)).flatten();
        let text = text.or_else(|| self.longest_cut(index, &summary, ShownPart::Summary, stats_of));
        if let Some(text) = text {
            self.accept(index, text);
        }
    }

    /// Finds the last cut between two grapheme clusters that fits.
    fn longest_cut(
        &self,
        index: usize,
        text: &str,
        shown_part: impl Fn(usize) -> ShownPart,
        stats_of: &StatsOf<'_>,
    ) -> Option<EntryText> {
        if text.is_empty() {
            return None;
        }
        // Nothing is lost where the text itself ends with the mark.
        let is_cut = |offset: &usize| text.get(*offset..) != Some(CUT_MARK);
        let offsets = text.grapheme_indices(true).map(|(offset, _)| offset).take(self.limits.chars);
        let offsets: Vec<usize> = offsets.filter(is_cut).collect();
        let cut_at = |offset: usize| {
            let text = self.renderer.render(index, shown_part(offset), &self.included);
            let stats = stats_of(&text);
            let shown = FrameState { stats: stats.as_ref(), ..self.truncated_state(1) };
            (text.is_cut && self.has_room(shown, Some((index, &text)))).then_some(text)
        };
        // The length grows with the cut only without what closes the text.
        let may_fit = |offset: &usize| {
            let text = self.renderer.render(index, shown_part(*offset), &self.included);
            let stats = stats_of(&text);
            let shown = FrameState { stats: stats.as_ref(), ..self.truncated_state(1) };
            let chars = self.chars_with(&text).saturating_sub(text.closing.chars().count());
            text.is_cut && chars + self.renderer.frame_chars(shown) <= self.limits.chars
        };
        let fitting = match self.limits.tokens {
            None => offsets.partition_point(may_fit),
            Some(_) => offsets.partition_point(|offset| cut_at(*offset).is_some()),
        };
        let last = (fitting + STEPS_AHEAD).min(offsets.len()).checked_sub(1)?;
        let first = last.saturating_sub(MAX_STEPS_BACK + STEPS_AHEAD);
        (first..=last).rev().find_map(|cut| cut_at(*offsets.get(cut)?))
    }
}

fn blocks_of(entry: &Entry) -> &[BlockEntry] {
    entry.note().map(|note| note.shown_blocks()).unwrap_or_default()
}
