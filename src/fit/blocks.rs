//! Fitting of single blocks: those of all notes with the highest scores, each in its note.

use std::collections::BTreeSet;

use super::document::DocumentBuilder;
use crate::render::{EntryText, Extent};
use crate::report::{BlockEntry, Entry, Report};

/// Whether the blocks of an entry are fitted one by one.
pub(super) fn has_single_blocks(report: &Report, entry: &Entry) -> bool {
    report.head.show.has_best_blocks && !blocks_of(entry).is_empty()
}

fn blocks_of(entry: &Entry) -> &[BlockEntry] {
    entry.note().map(|note| note.shown_blocks()).unwrap_or_default()
}

impl DocumentBuilder<'_> {
    /// Accepts the blocks of all notes by descending score, then in their order. A block without room is skipped.
    pub(super) fn accept_best_blocks(&mut self) {
        let mut all: Vec<(f64, usize, usize)> = Vec::new();
        let mut is_everything = true;
        for (index, entry) in self.report.entries.iter().enumerate() {
            match entry.note().filter(|note| !note.shown_blocks().is_empty()) {
                Some(note) => {
                    self.included.blocks.insert(note.note.id.clone(), BTreeSet::new());
                    all.extend(blocks_of(entry).iter().enumerate().map(|(block, text)| (text.score, index, block)));
                }
                None => is_everything &= self.included.has(index),
            }
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        let count = all.len();
        for (rank, (_, index, block)) in all.into_iter().enumerate() {
            // Everything is known to exceed the limits. It could seem to fit in a frame that does not say that a block
            // is left out.
            let is_last = is_everything && rank + 1 == count;
            let larger = if is_last { None } else { self.with_block(index, block) };
            is_everything &= larger.is_some();
            if let Some(larger) = larger {
                *self = larger;
            }
        }
    }

    /// Returns the document with one more block; `None` if that exceeds the limits.
    fn with_block(&self, index: usize, block: usize) -> Option<Self> {
        let note = self.report.entries.get(index).and_then(Entry::note)?;
        let mut larger = self.clone();
        larger.included.blocks.entry(note.note.id.clone()).or_default().insert(block);
        larger.clear();
        let others = self.texts.iter().filter(|(other, _)| *other != index);
        let mut texts: Vec<(usize, EntryText)> = others.cloned().collect();
        texts.push((index, self.renderer.render(index, Extent::Whole, &larger.included)));
        texts.sort_by_key(|(index, _)| *index);
        texts.into_iter().for_each(|(index, text)| larger.accept(index, text));
        larger.has_room(larger.frame_state(true), None).then_some(larger)
    }
}
