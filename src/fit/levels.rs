//! Notes at levels of detail: each as it is proposed gets the highest level that it deserves and that
//! fits, or a higher one where there is room to spare.
//!
//! A note at its turn may take what it deserves. It may take more while what is left leaves room for the
//! notes that follow, at the least that they deserve, or at least [`FOR_OTHERS`] of what was left; one
//! that deserves an essence alone only in the first case. How
//! much the first note gets so depends on the budget and on the notes alone, never on what happens to
//! fit behind it: it does not fall as the budget grows.

use super::{DocumentBuilder, TextSize};
use crate::render::{EntryText, Extent, FrameState, count_answers, longest_answer};
use crate::report::{Entry, EntryRanking, Level, Presentation, Proposal, ProposalSource, ShownNote};

/// The most of the whole budget that a detailed note takes by what it deserves.
const DETAILED: f64 = 0.4;
/// The part of the room that a note leaves to those that follow where it takes more than it deserves.
const FOR_OTHERS: f64 = 0.6;

/// Keeps what is proposed, as far as it fits, until there is enough.
///
/// # Errors
/// What the shortest answer takes, where that is too long.
pub(super) fn leveled<'a>(
    page: &DocumentBuilder<'a>,
    ranking: &dyn EntryRanking,
    target_tokens: Option<usize>,
) -> Result<DocumentBuilder<'a>, TextSize> {
    let (all, everything) = page.clone().with_all_at_best(ranking, target_tokens);
    match everything {
        None => Ok(all),
        Some(everything) => page.clone().with_levels(ranking, target_tokens, (all, everything)),
    }
}

impl DocumentBuilder<'_> {
    /// Keeps what is proposed at the highest level. Returns also what that takes, where it is too long;
    /// keeping stops early then.
    pub(super) fn with_all_at_best(
        mut self,
        ranking: &dyn EntryRanking,
        target_tokens: Option<usize>,
    ) -> (Self, Option<TextSize>) {
        let mut proposals = ranking.proposals();
        self.account = Some(proposals.account(&[]));
        let enough = self.limits.most_chars().max(self.renderer.frame_chars(self.says(true)));
        self.is_all = true;
        while let Some(proposal) = proposals.next() {
            let level = if proposal.is_adaptive { Level::Detailed } else { proposal.level };
            let shape = Presentation::whole(level, proposal.novelty);
            let extent = if self.is_belief(proposal.entry) { Extent::At(shape) } else { Extent::Whole };
            let piece = self.renderer.piece(proposal.entry, extent, &self.kept);
            self.keep_at(&proposal, shape, piece, &mut *proposals);
            if self.chars > enough {
                let size = TextSize { chars: self.chars, tokens: None };
                return (self, Some(size));
            }
            if target_tokens.is_some_and(|target| self.tokens() >= target) {
                self.is_all = proposals.next().is_none();
                break;
            }
        }
        self.is_all &= !proposals.holds_back();
        self.account = Some(proposals.account(&self.shown));
        let frame = self.renderer.frame(self.says(self.is_truncated()));
        let text = self.renderer.assemble(&frame, &self.pieces);
        let size = (!self.limits.allow(&text)).then(|| self.limits.size(&text));
        (self, size)
    }

    /// Keeps each note at the level that it deserves and that fits.
    fn with_levels(
        mut self,
        ranking: &dyn EntryRanking,
        target_tokens: Option<usize>,
        (all, everything): (Self, TextSize),
    ) -> Result<Self, TextSize> {
        let mut proposals = ranking.proposals();
        self.account = Some(proposals.account(&[]));
        if self.report.entries.is_empty() && !self.has_more_to_say() {
            return Err(everything);
        }
        self.make_room_for_frame(everything)?;
        self.everything = Some((all.pieces.len(), all.shown));
        let mut least = MinSizes(vec![[None; 2]; self.report.entries.len()]);
        let mut first: Option<Proposal> = None;
        while let Some(proposal) = proposals.next() {
            first = first.or(Some(proposal).filter(|proposal| self.is_belief(proposal.entry)));
            if let Some((shape, piece)) = self.at_best_level(&proposal, &*proposals, &mut least) {
                self.keep_at(&proposal, shape, piece, &mut *proposals);
                self.account = Some(proposals.account(&self.shown));
            } else if let Some(entry) = self.report.entries.get(proposal.entry) {
                self.pass_over(entry);
            }
            if target_tokens.is_some_and(|target| self.tokens() >= target) {
                break;
            }
        }
        self.account = Some(proposals.account(&self.shown));
        if let Some(first) = first.filter(|_| self.pieces.is_empty()) {
            self.cut_first(&first, Some(&*proposals));
        }
        Ok(self)
    }

    /// Cuts a note where the most of it fits, with what is said of it then: in few words where there is no room for
    /// more.
    pub(super) fn cut_first(&mut self, first: &Proposal, proposals: Option<&dyn ProposalSource>) {
        let shape = Presentation { level: Level::Essence, blocks: 0, block_chars: 0, novelty: first.novelty };
        let shown_as =
            |piece: &EntryText| ShownNote { entry: first.entry, shape, tokens: piece.tokens, has_more: piece.has_more };
        let account_of = |piece: &EntryText| proposals.map(|proposals| proposals.account(&[shown_as(piece)]));
        let was_brief = self.is_brief;
        for is_brief in [was_brief, true] {
            self.is_brief = is_brief;
            self.cut_entry(first.entry, !first.is_adaptive && first.level >= Level::Extract, &account_of);
            if let Some((_, piece)) = self.pieces.first() {
                self.shown = if self.is_belief(first.entry) { vec![shown_as(piece)] } else { Vec::new() };
                self.account = account_of(piece);
                return;
            }
        }
        self.is_brief = was_brief;
    }

    pub(super) fn tokens(&self) -> usize {
        let text = self.renderer.assemble(&self.renderer.frame(self.says(true)), &self.pieces);
        self.limits.tokenizer.count(&text)
    }

    fn keep_at(
        &mut self,
        proposal: &Proposal,
        shape: Presentation,
        piece: EntryText,
        proposals: &mut dyn ProposalSource,
    ) {
        let shown = self.shown_as(proposal.entry, shape, &piece);
        self.keep(proposal.entry, piece);
        if self.is_belief(proposal.entry) {
            self.shown.push(shown);
        }
        proposals.keep(proposal.entry);
    }

    pub(super) fn is_belief(&self, entry: usize) -> bool {
        self.report.entries.get(entry).and_then(Entry::note).is_some_and(|note| note.belief.is_some())
    }

    fn shown_as(&self, entry: usize, shape: Presentation, piece: &EntryText) -> ShownNote {
        ShownNote { entry, shape, tokens: piece.tokens, has_more: piece.has_more }
    }

    /// Returns a proposed note at the highest level that fits.
    fn at_best_level(
        &self,
        proposal: &Proposal,
        proposals: &dyn ProposalSource,
        least: &mut MinSizes,
    ) -> Option<(Presentation, EntryText)> {
        let whole = Presentation::whole(proposal.level, proposal.novelty);
        if !self.is_belief(proposal.entry) {
            let piece = self.renderer.piece(proposal.entry, Extent::Whole, &self.kept);
            return self.fits(proposal, whole, &piece, proposals).then_some((whole, piece));
        }
        match (proposal.is_adaptive, proposal.level) {
            (true, _) => self.at_highest_level(proposal, proposals, least),
            (false, Level::Extract) => {
                let room = self.room();
                let most = self.room_to_spare(room, proposal, proposals, least).max(self.deserved());
                // Where nothing answers, the summary stands in.
                let none = Presentation { blocks: 0, ..whole };
                let extract = self.longest_extract(proposal, most, proposals);
                extract.or_else(|| self.at_level(proposal, none, usize::MAX, proposals))
            }
            (false, _) => self.at_level(proposal, whole, usize::MAX, proposals),
        }
    }

    fn at_highest_level(
        &self,
        proposal: &Proposal,
        proposals: &dyn ProposalSource,
        least: &mut MinSizes,
    ) -> Option<(Presentation, EntryText)> {
        let shape = |level| Presentation::whole(level, proposal.novelty);
        let room = self.room();
        let summary = least.of(self, proposal.entry, Level::Summary);
        if summary > room {
            // Nor would any higher level fit, and what those behind it need does not matter.
            return self.at_level(proposal, shape(Level::Essence), room, proposals);
        }
        let to_spare = self.room_to_spare(room, proposal, proposals, least);
        Level::FALLING.into_iter().find_map(|level| {
            let most = match level {
                Level::Detailed if level <= proposal.level => to_spare.max(self.deserved()),
                // What is too long to be detailed is an extract.
                Level::Extract if proposal.level == Level::Detailed => to_spare.max(self.deserved()),
                level if level <= proposal.level => room,
                _ => to_spare,
            };
            match level {
                // What is longer than a summary needs no look where that would be too long.
                level if level > Level::Summary && summary > most => None,
                Level::Extract => self.longest_extract(proposal, most, proposals),
                _ => self.at_level(proposal, shape(level), most, proposals),
            }
        })
    }

    /// Returns how much a note may take by what it deserves where that is all of it.
    fn deserved(&self) -> usize {
        (self.limits.most() as f64 * DETAILED) as usize
    }

    /// Returns what is left, as if the frame stayed as it is.
    fn room(&self) -> usize {
        let shown = self.truncated(self.notes + 1);
        let taken = match self.limits.tokens {
            Some(_) => self.limits.measure(&self.renderer.assemble(&self.renderer.frame(shown), &self.pieces)),
            None => self.chars + self.renderer.frame_chars(shown),
        };
        self.limits.most().saturating_sub(taken)
    }

    /// Returns how much of the room a note may take above what it deserves.
    fn room_to_spare(
        &self,
        room: usize,
        proposal: &Proposal,
        proposals: &dyn ProposalSource,
        least: &mut MinSizes,
    ) -> usize {
        if !self.limits.are_there() {
            return usize::MAX;
        }
        let for_others = match proposal.level {
            Level::Essence => room,
            _ => (room as f64 * FOR_OTHERS) as usize,
        };
        let mut needed = 0;
        for (entry, level) in proposals.after(proposal.entry) {
            needed += least.of(self, entry, level);
            if needed >= for_others {
                return room - for_others;
            }
        }
        room - needed
    }

    /// Returns a note at a level, where that fits and takes so much at most.
    fn at_level(
        &self,
        proposal: &Proposal,
        shape: Presentation,
        most: usize,
        proposals: &dyn ProposalSource,
    ) -> Option<(Presentation, EntryText)> {
        let piece = self.renderer.piece(proposal.entry, Extent::At(shape), &self.kept);
        let takes = || piece.items.iter().map(|item| self.limits.measure(&item.text)).sum::<usize>();
        let is_short = most == usize::MAX || takes() <= most;
        (is_short && self.fits(proposal, shape, &piece, proposals)).then_some((shape, piece))
    }

    /// Returns the extract of the most blocks that fits and takes so much at most. Blocks that would not
    /// fit by themselves are passed over.
    fn longest_extract(
        &self,
        proposal: &Proposal,
        most: usize,
        proposals: &dyn ProposalSource,
    ) -> Option<(Presentation, EntryText)> {
        let entry = self.report.entries.get(proposal.entry)?.note()?;
        let block_chars = most.min(self.limits.chars);
        let mut shape = Presentation { level: Level::Extract, blocks: 0, block_chars, novelty: proposal.novelty };
        loop {
            let extract = self.most_blocks(proposal, shape, most, proposals);
            if extract.is_some() {
                return extract;
            }
            shape.block_chars = longest_answer(entry, shape)?.checked_sub(1)?;
        }
    }

    /// Returns the extract of the most blocks of those that a shape allows.
    fn most_blocks(
        &self,
        proposal: &Proposal,
        shape: Presentation,
        most: usize,
        proposals: &dyn ProposalSource,
    ) -> Option<(Presentation, EntryText)> {
        let entry = self.report.entries.get(proposal.entry)?.note()?;
        let (mut fits, mut too_many) = (0, count_answers(entry, shape) + 1);
        let mut best = None;
        while too_many - fits > 1 {
            let blocks = fits.midpoint(too_many);
            match self.at_level(proposal, Presentation { blocks, ..shape }, most, proposals) {
                Some(extract) => (fits, best) = (blocks, Some(extract)),
                None => too_many = blocks,
            }
        }
        best
    }

    /// Tells whether everything is short enough with one note more, and what is said of the notes then.
    fn fits(
        &self,
        proposal: &Proposal,
        shape: Presentation,
        piece: &EntryText,
        proposals: &dyn ProposalSource,
    ) -> bool {
        if self.chars_with(piece) > self.limits.chars {
            return false;
        }
        let mut shown = self.shown.clone();
        if self.is_belief(proposal.entry) {
            shown.push(self.shown_as(proposal.entry, shape, piece));
        }
        if self.is_everything(&shown) {
            return false;
        }
        let account = proposals.account(&shown);
        let is_note = usize::from(self.report.entries[proposal.entry].note().is_some());
        let shown = FrameState { account: Some(&account), ..self.truncated(self.notes + is_note) };
        self.allow(shown, Some((proposal.entry, piece)))
    }

    /// Tells whether one piece more would make everything that does not fit: without the word that something is left
    /// out it might seem to.
    fn is_everything(&self, shown: &[ShownNote]) -> bool {
        let Some((pieces, all)) = &self.everything else { return false };
        let is_same = || shown.len() == all.len() && shown.iter().zip(all).all(|(a, b)| says_same(a, b));
        self.pieces.len() + 1 == *pieces && is_same()
    }
}

/// Tells whether two notes are the same, shown alike.
fn says_same(a: &ShownNote, b: &ShownNote) -> bool {
    a.entry == b.entry && a.shape.level == b.shape.level && a.tokens == b.tokens
}

/// What notes take as an essence and as a summary, once somebody asked.
struct MinSizes(Vec<[Option<usize>; 2]>);

impl MinSizes {
    fn of(&mut self, page: &DocumentBuilder<'_>, entry: usize, level: Level) -> usize {
        let level = level.min(Level::Summary);
        let place = usize::from(level == Level::Summary);
        if let Some(Some(least)) = self.0.get(entry).map(|least| least[place]) {
            return least;
        }
        let shape = Presentation { level, blocks: 0, block_chars: 0, novelty: 1.0 };
        let piece = page.renderer.piece(entry, Extent::At(shape), &page.kept);
        let least = piece.items.iter().map(|item| page.limits.measure(&item.text)).sum();
        if let Some(known) = self.0.get_mut(entry) {
            known[place] = Some(least);
        }
        least
    }
}
