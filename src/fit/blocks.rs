//! Blocks that are kept one by one: the best of all notes first, each with its note, as far as they fit.

use std::collections::BTreeSet;

use super::DocumentBuilder;
use crate::render::{EntryText, Extent};
use crate::report::{BlockEntry, Entry, Report};

/// Tells whether the blocks of an entry are kept one by one.
pub(super) fn are_kept_one_by_one(report: &Report, entry: &Entry) -> bool {
    report.head.show.best_blocks && !blocks_of(entry).is_empty()
}

fn blocks_of(entry: &Entry) -> Vec<BlockEntry> {
    let note = entry.note();
    note.and_then(|note| Some((note.blocks.as_ref()?.0)(&note.note))).unwrap_or_default()
}

impl DocumentBuilder<'_> {
    /// Keeps blocks of all notes by their score, then their place; one that does not fit is passed over.
    pub(super) fn keep_best_blocks(&mut self) {
        let mut all: Vec<(f64, usize, usize)> = Vec::new();
        let mut is_everything = true;
        for (number, entry) in self.report.entries.iter().enumerate() {
            let blocks = blocks_of(entry);
            if let (Some(note), false) = (entry.note(), blocks.is_empty()) {
                self.kept.blocks.insert(note.note.id.clone(), BTreeSet::new());
                all.extend(blocks.iter().enumerate().map(|(place, block)| (block.score, number, place)));
            } else {
                is_everything &= self.kept.has(number);
            }
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        let last = all.len();
        for (count, (_, number, place)) in all.into_iter().enumerate() {
            // That everything does not fit is known; without the word that something is left out it might
            // seem to.
            let page = if is_everything && count + 1 == last { None } else { self.with_block(number, place) };
            is_everything &= page.is_some();
            if let Some(page) = page {
                *self = page;
            }
        }
    }

    /// Returns the document with a block more, where that fits.
    fn with_block(&self, number: usize, place: usize) -> Option<Self> {
        let note = self.report.entries.get(number).and_then(Entry::note)?;
        let mut page = self.clone();
        page.kept.blocks.entry(note.note.id.clone()).or_default().insert(place);
        page.forget_pieces();
        let others = self.pieces.iter().filter(|(other, _)| *other != number);
        let mut pieces: Vec<(usize, EntryText)> = others.cloned().collect();
        pieces.push((number, self.renderer.piece(number, Extent::Whole, &page.kept)));
        pieces.sort_by_key(|(number, _)| *number);
        pieces.into_iter().for_each(|(number, piece)| page.keep(number, piece));
        page.allow(page.says(true), None).then_some(page)
    }
}
