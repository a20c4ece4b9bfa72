//! Fitting by level of detail: each note, as it is proposed, gets the highest level that its assessment justifies and
//! that fits, or a higher one if there is room to spare.
//!
//! A note may exceed its share as long as the rest leaves room for the following notes at their lowest levels, or at
//! least [`SHARE_OF_OTHERS`] of the room before it; a note of the level `essence` in the first case only. So the text of
//! the first note depends on the budget and on the notes, not on what happens to fit behind it, and never shrinks with a
//! larger budget.

use super::document::DocumentBuilder;
use super::limits::TextSize;
use crate::render::{EntryText, Extent, FrameState};
use crate::report::{EntryRanking, Level, Presentation, Proposal, ProposalSource, ShownNote};

/// The share of the whole budget that a detailed note may take in any case.
const DETAILED_SHARE: f64 = 0.4;
/// The share of the room that a note leaves to the following ones when it exceeds its own share.
const SHARE_OF_OTHERS: f64 = 0.6;

/// Accepts proposals at the levels of detail that fit, until `target_tokens` is reached.
///
/// # Errors
/// The size of the shortest answer, if it exceeds the limits.
pub(super) fn fit_by_detail<'a>(
    document: &DocumentBuilder<'a>,
    ranking: &dyn EntryRanking,
    target_tokens: Option<usize>,
) -> Result<DocumentBuilder<'a>, TextSize> {
    let (all, everything) = document.clone().with_all_detailed(ranking, target_tokens);
    match everything {
        None => Ok(all),
        Some(everything) => document.clone().with_levels(ranking, target_tokens, (all, everything)),
    }
}

impl DocumentBuilder<'_> {
    /// Accepts all proposals at the highest level. Returns also their size if it exceeds the limits; the document is
    /// incomplete then.
    pub(super) fn with_all_detailed(
        mut self,
        ranking: &dyn EntryRanking,
        target_tokens: Option<usize>,
    ) -> (Self, Option<TextSize>) {
        let mut proposals = ranking.proposals();
        self.stats = Some(proposals.stats(&[]));
        let enough = self.limits.max_chars().max(self.renderer.frame_chars(self.frame_state(true)));
        self.is_complete = true;
        while let Some(proposal) = proposals.next() {
            let level = if proposal.is_adaptive { Level::Detailed } else { proposal.level };
            let shape = Presentation::whole(level, proposal.novelty);
            let extent = if self.is_assessed(proposal.entry) { Extent::At(shape) } else { Extent::Whole };
            let text = self.renderer.render(proposal.entry, extent, &self.included);
            self.accept_at(&proposal, shape, text, &mut *proposals);
            if self.chars > enough {
                let size = TextSize { chars: self.chars, tokens: None };
                return (self, Some(size));
            }
            if target_tokens.is_some_and(|target| self.tokens() >= target) {
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

    /// Accepts each proposal at the highest level that fits. `all` is the complete document of the size `everything`.
    fn with_levels(
        mut self,
        ranking: &dyn EntryRanking,
        target_tokens: Option<usize>,
        (all, everything): (Self, TextSize),
    ) -> Result<Self, TextSize> {
        let mut proposals = ranking.proposals();
        self.stats = Some(proposals.stats(&[]));
        if self.report.entries.is_empty() && !self.has_optional_frame() {
            return Err(everything);
        }
        self.make_room_for_frame(everything)?;
        self.everything = Some((all.texts.len(), all.shown));
        let mut min_sizes = MinSizes(vec![[None; 2]; self.report.entries.len()]);
        let mut first: Option<Proposal> = None;
        while let Some(proposal) = proposals.next() {
            first = first.or(Some(proposal).filter(|proposal| self.is_assessed(proposal.entry)));
            if let Some((shape, text)) = self.at_best_level(&proposal, &*proposals, &mut min_sizes) {
                self.accept_at(&proposal, shape, text, &mut *proposals);
                self.stats = Some(proposals.stats(&self.shown));
            } else if let Some(entry) = self.report.entries.get(proposal.entry) {
                self.omit(entry);
            }
            if target_tokens.is_some_and(|target| self.tokens() >= target) {
                break;
            }
        }
        self.stats = Some(proposals.stats(&self.shown));
        if let Some(first) = first.filter(|_| self.texts.is_empty()) {
            self.cut_first(&first, Some(&*proposals));
        }
        Ok(self)
    }

    /// Accepts the longest beginning of a note that fits with its statistics, in a brief frame if necessary.
    pub(super) fn cut_first(&mut self, first: &Proposal, proposals: Option<&dyn ProposalSource>) {
        let shape = Presentation::without_blocks(Level::Essence, first.novelty);
        let shown_note = |text: &EntryText| shown_note(first.entry, shape, text);
        let stats_of = |text: &EntryText| proposals.map(|proposals| proposals.stats(&[shown_note(text)]));
        let was_brief = self.is_brief;
        for is_brief in [was_brief, true] {
            self.is_brief = is_brief;
            self.cut_entry(first.entry, !first.is_adaptive && first.level >= Level::Extract, &stats_of);
            if let Some((_, text)) = self.texts.first() {
                self.shown = if self.is_assessed(first.entry) { vec![shown_note(text)] } else { Vec::new() };
                self.stats = stats_of(text);
                return;
            }
        }
        self.is_brief = was_brief;
    }

    fn accept_at(
        &mut self,
        proposal: &Proposal,
        shape: Presentation,
        text: EntryText,
        proposals: &mut dyn ProposalSource,
    ) {
        if self.is_assessed(proposal.entry) {
            self.shown.push(shown_note(proposal.entry, shape, &text));
        }
        self.accept(proposal.entry, text);
        proposals.accept(proposal.entry);
    }

    /// Returns a proposal at the highest level that fits; `None` if none does.
    fn at_best_level(
        &self,
        proposal: &Proposal,
        proposals: &dyn ProposalSource,
        min_sizes: &mut MinSizes,
    ) -> Option<(Presentation, EntryText)> {
        let whole = Presentation::whole(proposal.level, proposal.novelty);
        if !self.is_assessed(proposal.entry) {
            let text = self.renderer.render(proposal.entry, Extent::Whole, &self.included);
            return self.fits(proposal, whole, &text, proposals).then_some((whole, text));
        }
        if proposal.is_adaptive {
            return self.at_highest_level(proposal, proposals, min_sizes);
        }
        if proposal.level != Level::Extract {
            return self.at_level(proposal, whole, usize::MAX, proposals);
        }
        let spare = self.spare_room(self.room(), proposal, proposals, min_sizes);
        // Without an extract, the summary is shown.
        let summary = Presentation { max_blocks: 0, ..whole };
        let extract = self.longest_extract(proposal, spare.max(self.own_share()), proposals);
        extract.or_else(|| self.at_level(proposal, summary, usize::MAX, proposals))
    }

    fn at_highest_level(
        &self,
        proposal: &Proposal,
        proposals: &dyn ProposalSource,
        min_sizes: &mut MinSizes,
    ) -> Option<(Presentation, EntryText)> {
        let shape = |level| Presentation::whole(level, proposal.novelty);
        let room = self.room();
        let summary = min_sizes.of(self, proposal.entry, Level::Summary);
        if summary > room {
            // No higher level fits either, whatever the following notes need.
            return self.at_level(proposal, shape(Level::Essence), room, proposals);
        }
        let spare = self.spare_room(room, proposal, proposals, min_sizes);
        Level::DESCENDING.into_iter().find_map(|level| {
            let limit = match level {
                Level::Detailed if level <= proposal.level => spare.max(self.own_share()),
                // An extract replaces a body that is too long.
                Level::Extract if proposal.level == Level::Detailed => spare.max(self.own_share()),
                level if level <= proposal.level => room,
                _ => spare,
            };
            match level {
                // Higher levels are never shorter than the summary.
                level if level > Level::Summary && summary > limit => None,
                Level::Extract => self.longest_extract(proposal, limit, proposals),
                _ => self.at_level(proposal, shape(level), limit, proposals),
            }
        })
    }

    /// Returns the size that a detailed note may take in any case, in the unit of
    /// [`OutputLimits::measure`](super::limits::OutputLimits::measure).
    fn own_share(&self) -> usize {
        (self.limits.limit() as f64 * DETAILED_SHARE) as usize
    }

    /// Returns the size of the room that is left with the frame as it is with one more note.
    fn room(&self) -> usize {
        let shown = self.truncated_state(self.notes + 1);
        let taken = match self.limits.tokens {
            Some(_) => self.limits.measure(&self.renderer.assemble(&self.renderer.frame(shown), &self.texts)),
            None => self.chars + self.renderer.frame_chars(shown),
        };
        self.limits.limit().saturating_sub(taken)
    }

    /// Returns the size of the room that the following notes do not need.
    fn spare_room(
        &self,
        room: usize,
        proposal: &Proposal,
        proposals: &dyn ProposalSource,
        min_sizes: &mut MinSizes,
    ) -> usize {
        if !self.limits.is_limited() {
            return usize::MAX;
        }
        let for_others = match proposal.level {
            Level::Essence => room,
            _ => (room as f64 * SHARE_OF_OTHERS) as usize,
        };
        let mut needed = 0;
        for (entry, level) in proposals.after(proposal.entry) {
            needed += min_sizes.of(self, entry, level);
            if needed >= for_others {
                return room - for_others;
            }
        }
        room - needed
    }

    /// Returns a note at a level, if it fits and its size is at most `limit`.
    fn at_level(
        &self,
        proposal: &Proposal,
        shape: Presentation,
        limit: usize,
        proposals: &dyn ProposalSource,
    ) -> Option<(Presentation, EntryText)> {
        let text = self.renderer.render(proposal.entry, Extent::At(shape), &self.included);
        let is_short = limit == usize::MAX || self.size_of(&text) <= limit;
        (is_short && self.fits(proposal, shape, &text, proposals)).then_some((shape, text))
    }

    fn size_of(&self, text: &EntryText) -> usize {
        text.items.iter().map(|item| self.limits.measure(&item.text)).sum()
    }

    /// Returns the extract with the most blocks that fits and whose size is at most `limit`. Blocks that do not fit by
    /// themselves are skipped, the longest first.
    fn longest_extract(
        &self,
        proposal: &Proposal,
        limit: usize,
        proposals: &dyn ProposalSource,
    ) -> Option<(Presentation, EntryText)> {
        let entry = self.report.entries.get(proposal.entry)?.note()?;
        let max_block_chars = limit.min(self.limits.chars);
        let mut shape =
            Presentation { max_block_chars, ..Presentation::without_blocks(Level::Extract, proposal.novelty) };
        loop {
            let extract = self.most_blocks(proposal, shape, limit, proposals);
            if extract.is_some() {
                return extract;
            }
            shape.max_block_chars = entry.longest_extract_block(shape)?.checked_sub(1)?;
        }
    }

    /// Returns the extract with the most blocks of at most `shape.max_block_chars`, by bisection.
    fn most_blocks(
        &self,
        proposal: &Proposal,
        shape: Presentation,
        limit: usize,
        proposals: &dyn ProposalSource,
    ) -> Option<(Presentation, EntryText)> {
        let entry = self.report.entries.get(proposal.entry)?.note()?;
        let mut fitting = 0;
        let mut too_many = entry.count_extract_blocks(shape) + 1;
        let mut best = None;
        while too_many - fitting > 1 {
            let max_blocks = fitting.midpoint(too_many);
            let extract = self.at_level(proposal, Presentation { max_blocks, ..shape }, limit, proposals);
            if extract.is_some() {
                best = extract;
                fitting = max_blocks;
            } else {
                too_many = max_blocks;
            }
        }
        best
    }

    /// Whether the document with one more entry, and the statistics of it, are within the limits.
    fn fits(&self, proposal: &Proposal, shape: Presentation, text: &EntryText, proposals: &dyn ProposalSource) -> bool {
        if self.chars_with(text) > self.limits.chars {
            return false;
        }
        let mut shown = self.shown.clone();
        if self.is_assessed(proposal.entry) {
            shown.push(shown_note(proposal.entry, shape, text));
        }
        if self.is_everything(&shown) {
            return false;
        }
        let stats = proposals.stats(&shown);
        let notes = self.notes + usize::from(self.is_note(proposal.entry));
        let shown = FrameState { stats: Some(&stats), ..self.truncated_state(notes) };
        self.has_room(shown, Some((proposal.entry, text)))
    }

    /// Whether one more entry completes the document, which is known to exceed the limits. It could seem to fit in a
    /// frame that does not say that an entry is left out.
    fn is_everything(&self, shown: &[ShownNote]) -> bool {
        let Some((count, all)) = &self.everything else { return false };
        let is_same = || shown.len() == all.len() && shown.iter().zip(all).all(|(a, b)| is_same(a, b));
        self.texts.len() + 1 == *count && is_same()
    }
}

pub(super) fn shown_note(entry: usize, shape: Presentation, text: &EntryText) -> ShownNote {
    ShownNote { entry, shape, tokens: text.tokens, has_more: text.has_more }
}

/// Whether both are the same note with the same text.
fn is_same(a: &ShownNote, b: &ShownNote) -> bool {
    a.entry == b.entry && a.shape.level == b.shape.level && a.tokens == b.tokens
}

/// The sizes of notes as an essence and as a summary, computed on demand.
struct MinSizes(Vec<[Option<usize>; 2]>);

impl MinSizes {
    /// Returns the size of a note at a level, that of its summary for higher ones.
    fn of(&mut self, document: &DocumentBuilder<'_>, entry: usize, level: Level) -> usize {
        let level = level.min(Level::Summary);
        let column = usize::from(level == Level::Summary);
        if let Some(Some(size)) = self.0.get(entry).map(|sizes| sizes[column]) {
            return size;
        }
        let shape = Presentation::without_blocks(level, 1.0);
        let text = document.renderer.render(entry, Extent::At(shape), &document.included);
        let size = document.size_of(&text);
        if let Some(sizes) = self.0.get_mut(entry) {
            sizes[column] = Some(size);
        }
        size
    }
}
