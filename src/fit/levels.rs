//! Fitting by level of detail: each note, as it is proposed, gets the highest level that its assessment justifies and
//! that fits, or a higher one if there is room to spare.
//!
//! A note may exceed its share as long as the rest leaves room for the following notes at their lowest levels, or at
//! least [`SHARE_OF_OTHERS`] of the room before it; a note of the level `essence` in the first case only. So the text of
//! the first note depends on the budget and on the notes, not on what happens to fit behind it, and never shrinks with a
//! larger budget.

use std::collections::BTreeSet;

use super::budget::TextSize;
use super::document::DocumentBuilder;
use super::passages::pack;
use super::selector::{GreedySelector, Proposal, ShownNote};
use crate::render::{EntryText, FrameState, ShownPart};
use crate::report::{Candidates, DetailLevel, NoteLevel};

/// The share of the whole budget that a detailed note may always take. Levels are final when a note is reached: a second pass
/// that raises levels could show less in a larger budget.
const DETAILED_SHARE: f64 = 0.4;
/// The share of the space that a note must leave to later ones to exceed [`DETAILED_SHARE`].
const SHARE_OF_OTHERS: f64 = 0.6;

/// The text of an entry, and how it is shown.
type LeveledText = (NoteLevel, EntryText);

impl<'a> DocumentBuilder<'a> {
    /// Accepts the entries of a ranking until the target is reached: all notes whole if they fit, else their passages,
    /// or each note at the level of detail that fits.
    pub(super) fn with_candidates(self, candidates: &Candidates) -> Result<Self, TextSize> {
        match self.clone().with_all_detailed(candidates) {
            (all, None) => Ok(all),
            (_, Some(everything)) if self.report.head.show.has_passages => pack(self, everything),
            (all, Some(everything)) => {
                let min_sizes = vec![[None; 2]; self.report.entries.len()];
                let proposals = GreedySelector::new(candidates);
                let all = (all.texts.len(), all.shown);
                let mut fitter = LevelFitter { document: self, proposals, all, min_sizes };
                fitter.accept_all(everything)?;
                Ok(fitter.document)
            }
        }
    }

    /// Accepts all proposals at the highest level. Returns their size if it exceeds the limits; some are missing then.
    fn with_all_detailed(mut self, candidates: &Candidates) -> (Self, Option<TextSize>) {
        let mut proposals = GreedySelector::new(candidates);
        self.stats = Some(proposals.stats(&[]));
        let enough = self.limits.max_chars().max(self.renderer.frame_chars(self.frame_state(true)));
        self.is_complete = true;
        while let Some(proposal) = proposals.next() {
            let level = if proposal.is_adaptive { DetailLevel::Detailed } else { proposal.level };
            let note_level = NoteLevel::new(level, proposal.novelty);
            let shown_part =
                if self.is_assessed(proposal.entry) { ShownPart::At(note_level) } else { ShownPart::Whole };
            let text = self.renderer.render(proposal.entry, shown_part, &self.included);
            self.accept_at(proposal.entry, note_level, text);
            proposals.accept(proposal.entry);
            if self.chars > enough {
                let size = TextSize { chars: self.chars, tokens: None };
                return (self, Some(size));
            }
            if self.has_reached_target() {
                self.is_complete = proposals.next().is_none();
                break;
            }
        }
        self.is_complete &= !proposals.is_limited();
        self.stats = Some(proposals.stats(&self.shown));
        let frame = self.renderer.frame(self.frame_state(self.is_truncated()));
        let text = self.renderer.assemble(&frame, &self.texts);
        let size = (!self.limits.has_room(&text)).then(|| self.limits.size(&text));
        (self, size)
    }

    fn accept_at(&mut self, entry: usize, note_level: NoteLevel, text: EntryText) {
        if self.is_assessed(entry) {
            self.shown.push(ShownNote::new(entry, note_level, &text));
        }
        self.accept(entry, text);
    }

    /// Accepts the longest beginning of a note that fits with its statistics, in a brief frame if necessary.
    pub(super) fn cut_first(&mut self, first: &Proposal, proposals: Option<&GreedySelector<'_>>) {
        let note_level = NoteLevel::new(DetailLevel::Essence, first.novelty);
        let shown_note = |text: &EntryText| ShownNote::new(first.entry, note_level, text);
        let stats_of = |text: &EntryText| proposals.map(|proposals| proposals.stats(&[shown_note(text)]));
        let was_brief = self.is_brief;
        for is_brief in [was_brief, true] {
            self.is_brief = is_brief;
            self.cut_entry(first.entry, !first.is_adaptive && first.level >= DetailLevel::Passages, &stats_of);
            if let Some((_, text)) = self.texts.first() {
                self.shown = if self.is_assessed(first.entry) { vec![shown_note(text)] } else { Vec::new() };
                self.stats = stats_of(text);
                return;
            }
        }
        self.is_brief = was_brief;
    }

    fn size_of(&self, text: &EntryText) -> usize {
        text.items.iter().map(|item| self.limits.measure(&item.text)).sum()
    }
}

/// Accepts each proposal at the highest level that fits.
struct LevelFitter<'a, 'c> {
    document: DocumentBuilder<'a>,
    proposals: GreedySelector<'c>,
    /// The number of entries of the complete document, which is known to exceed the limits, and its assessed notes.
    all: (usize, Vec<ShownNote>),
    /// The sizes of notes as an essence and as a summary, computed on demand.
    min_sizes: Vec<[Option<usize>; 2]>,
}

impl LevelFitter<'_, '_> {
    /// Accepts the proposals. `everything` is the size of the complete document.
    fn accept_all(&mut self, everything: TextSize) -> Result<(), TextSize> {
        self.document.stats = Some(self.proposals.stats(&[]));
        self.document.make_room_for_frame(everything)?;
        let mut first: Option<Proposal> = None;
        while let Some(proposal) = self.proposals.next() {
            first = first.or(Some(proposal).filter(|proposal| self.document.is_assessed(proposal.entry)));
            if let Some((note_level, text)) = self.at_best_level(&proposal) {
                self.document.accept_at(proposal.entry, note_level, text);
                self.proposals.accept(proposal.entry);
                self.document.stats = Some(self.proposals.stats(&self.document.shown));
            } else if let Some(entry) = self.document.report.entries.get(proposal.entry) {
                self.document.omit(entry);
            }
            if self.document.has_reached_target() {
                break;
            }
        }
        self.document.stats = Some(self.proposals.stats(&self.document.shown));
        if let Some(first) = first.filter(|_| self.document.texts.is_empty()) {
            self.document.cut_first(&first, Some(&self.proposals));
        }
        Ok(())
    }

    /// Returns a proposal at the highest level that fits; `None` if none does.
    fn at_best_level(&mut self, proposal: &Proposal) -> Option<LeveledText> {
        let whole = NoteLevel::new(proposal.level, proposal.novelty);
        if !self.document.is_assessed(proposal.entry) {
            let text = self.document.renderer.render(proposal.entry, ShownPart::Whole, &self.document.included);
            return self.fits(proposal, whole, &text).then_some((whole, text));
        }
        if proposal.is_adaptive {
            return self.at_highest_level(proposal);
        }
        self.at_level(proposal, whole, usize::MAX)
    }

    fn at_highest_level(&mut self, proposal: &Proposal) -> Option<LeveledText> {
        let note_level = |level| NoteLevel::new(level, proposal.novelty);
        let room = self.room();
        let summary = self.min_size(proposal.entry, DetailLevel::Summary);
        if summary > room {
            // No higher level fits either, whatever the following notes need.
            return self.at_level(proposal, note_level(DetailLevel::Essence), room);
        }
        let spare = self.spare_room(room, proposal);
        DetailLevel::ALL.into_iter().rev().find_map(|level| {
            let limit = match level {
                DetailLevel::Detailed if level <= proposal.level => spare.max(self.own_share()),
                // Passages replace a body that is too long.
                DetailLevel::Passages if proposal.level == DetailLevel::Detailed => spare.max(self.own_share()),
                level if level <= proposal.level => room,
                _ => spare,
            };
            match level {
                // Higher levels are never shorter than the summary.
                level if level > DetailLevel::Summary && summary > limit => None,
                DetailLevel::Passages => self.at_passages(proposal, limit, summary),
                _ => self.at_level(proposal, note_level(level), limit),
            }
        })
    }

    /// Returns the size that a detailed note may take in any case.
    fn own_share(&self) -> usize {
        (self.document.limits.limit() as f64 * DETAILED_SHARE) as usize
    }

    /// Returns the size of the room that is left with the frame as it is with one more note.
    fn room(&self) -> usize {
        let DocumentBuilder { limits, renderer, texts, .. } = &self.document;
        let shown = self.document.truncated_state(self.document.notes + 1);
        let taken = match limits.tokens {
            Some(_) => limits.measure(&renderer.assemble(&renderer.frame(shown), texts)),
            None => self.document.chars + renderer.frame_chars(shown),
        };
        limits.limit().saturating_sub(taken)
    }

    /// Returns the size of the room that the following notes do not need.
    fn spare_room(&mut self, room: usize, proposal: &Proposal) -> usize {
        if !self.document.limits.is_limited() {
            return usize::MAX;
        }
        let for_others = match proposal.level {
            DetailLevel::Essence => room,
            _ => (room as f64 * SHARE_OF_OTHERS) as usize,
        };
        let mut needed = 0;
        for (entry, level) in self.proposals.after(proposal.entry) {
            needed += self.min_size(entry, level);
            if needed >= for_others {
                return room - for_others;
            }
        }
        room - needed
    }

    /// Returns the size of a note at a level, that of its summary for higher ones.
    fn min_size(&mut self, entry: usize, level: DetailLevel) -> usize {
        let level = level.min(DetailLevel::Summary);
        let column = usize::from(level == DetailLevel::Summary);
        let document = &self.document;
        let measure = || {
            let note_level = NoteLevel::new(level, 1.0);
            document.size_of(&document.renderer.render(entry, ShownPart::At(note_level), &document.included))
        };
        let known = self.min_sizes.get_mut(entry).map(|sizes| &mut sizes[column]);
        known.map_or_else(measure, |size| *size.get_or_insert_with(measure))
    }

    /// Returns a note at a level, if it fits and its size is at most `limit`.
    fn at_level(&self, proposal: &Proposal, note_level: NoteLevel, limit: usize) -> Option<LeveledText> {
        let text = self.document.renderer.render(proposal.entry, ShownPart::At(note_level), &self.document.included);
        let is_short = limit == usize::MAX || self.document.size_of(&text) <= limit;
        (is_short && self.fits(proposal, note_level, &text)).then_some((note_level, text))
    }

    /// Returns the passages with the most fragments, the best ones, that fit and whose size is at most `limit`; `None` if
    /// they are shorter than the summary, since a higher level is never shorter.
    fn at_passages(&mut self, proposal: &Proposal, limit: usize, summary: usize) -> Option<LeveledText> {
        let entry = proposal.entry;
        let passages = self.document.note(entry)?.passages();
        let order = passages.by_worth();
        let has_worth = |index: &&usize| passages.worth[**index] > 0.0;
        let (mut fitting, mut too_many) = (0, order.iter().take_while(has_worth).count() + 1);
        let shown = NoteLevel::new(DetailLevel::Passages, proposal.novelty);
        let mut best = None;
        while too_many - fitting > 1 {
            let count = fitting.midpoint(too_many);
            let chosen: BTreeSet<usize> = order.iter().take(count).copied().collect();
            self.document.included.fragments.insert(entry, chosen.clone().into());
            let part = ShownPart::Passages(proposal.novelty);
            let text = self.document.renderer.render(entry, part, &self.document.included);
            if self.document.size_of(&text) <= limit && self.fits(proposal, shown, &text) {
                (fitting, best) = (count, Some((chosen, text)));
            } else {
                too_many = count;
            }
        }
        self.document.included.fragments.remove(&entry);
        let (chosen, text) = best.filter(|(_, text)| self.document.size_of(text) >= summary)?;
        self.document.included.fragments.insert(entry, chosen.into());
        Some((shown, text))
    }

    /// Whether the document with one more entry, and the statistics of it, are within the limits.
    fn fits(&self, proposal: &Proposal, note_level: NoteLevel, text: &EntryText) -> bool {
        let document = &self.document;
        if document.chars_with(text) > document.limits.chars {
            return false;
        }
        let mut shown = document.shown.clone();
        if document.is_assessed(proposal.entry) {
            shown.push(ShownNote::new(proposal.entry, note_level, text));
        }
        if self.is_everything(&shown) {
            return false;
        }
        let stats = self.proposals.stats(&shown);
        let notes = document.notes + usize::from(document.note(proposal.entry).is_some());
        let shown = FrameState { stats: Some(&stats), ..document.truncated_state(notes) };
        document.has_room(shown, Some((proposal.entry, text)))
    }

    /// Whether one more entry completes the document, which is known to exceed the limits. It could seem to fit in a
    /// frame that does not say that an entry is left out.
    fn is_everything(&self, shown: &[ShownNote]) -> bool {
        let (count, all) = &self.all;
        let is_same = |(a, b): (&ShownNote, &ShownNote)| {
            a.entry == b.entry && a.note_level.level == b.note_level.level && a.tokens == b.tokens
        };
        self.document.texts.len() + 1 == *count && shown.len() == all.len() && shown.iter().zip(all).all(is_same)
    }
}
