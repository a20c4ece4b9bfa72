//! Passages packed by worth: the fragments of all notes that are worth the most, each in its note and its place in the
//! text, as far as they fit; then what fills the room that is left.
//!
//! The order in which fragments are tried depends on the report alone, not on the budget or the format; only which gaps
//! between them are closed depends on the budget. A fragment that does not fit is passed over. So where a larger budget shows a passage less, it shows one that is worth more
//! and that the smaller budget had no room for.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{DocumentBuilder, TextSize, mark};
use crate::render::{EntryText, Extent};
use crate::report::{EntryRanking, Fragment, Level, Passages, Presentation, Proposal, ProposalSource, ShownNote};

/// From which share of a note's text on the whole of it is shown where that fits.
const MOSTLY: f64 = 0.75;
/// Gaps between passages of a note that are no longer are closed, in bytes.
const MAX_GAP: usize = 300;
/// Within a section they are closed up to the budget divided by this, but no longer ones than `MAX_SECTION_GAP`.
const GAP_SHARE: usize = 10;
/// See `GAP_SHARE`.
const MAX_SECTION_GAP: usize = 1500;
/// With less room, in characters, nothing more is tried.
const LEAST_ROOM: usize = 24;
/// After so many tries in a row that did not fit nothing more is tried.
const MAX_MISSES: usize = 64;
/// The most notes that are looked at.
const MAX_ORDER: usize = 1_000;

/// Writes all notes whole where they fit, else their passages.
///
/// # Errors
/// What the shortest answer takes, where that is too long.
pub(super) fn written(
    page: &DocumentBuilder<'_>,
    ranking: Option<&dyn EntryRanking>,
    target_tokens: Option<usize>,
) -> Result<String, TextSize> {
    let Some(ranking) = ranking else {
        let everything = page.clone().with_everything();
        return everything
            .or_else(|least| packed(page.clone(), None, target_tokens, least).and_then(DocumentBuilder::finished));
    };
    shown(page, ranking, target_tokens).and_then(DocumentBuilder::finished)
}

/// Shows all notes whole where they fit, else their passages, in the order of a ranking.
///
/// # Errors
/// As [`written`].
pub(super) fn shown<'a>(
    page: &DocumentBuilder<'a>,
    ranking: &dyn EntryRanking,
    target_tokens: Option<usize>,
) -> Result<DocumentBuilder<'a>, TextSize> {
    match page.clone().with_all_at_best(ranking, target_tokens) {
        (all, None) => Ok(all),
        (_, Some(everything)) => packed(page.clone(), Some(ranking), target_tokens, everything),
    }
}

/// Shows passages of the notes of a report within a budget.
///
/// # Errors
/// What the shortest answer takes, where that is too long.
fn packed<'a>(
    page: DocumentBuilder<'a>,
    ranking: Option<&dyn EntryRanking>,
    target_tokens: Option<usize>,
    everything: TextSize,
) -> Result<DocumentBuilder<'a>, TextSize> {
    let mut proposals = ranking.map(|ranking| ranking.proposals());
    let order = match &mut proposals {
        Some(proposals) => drawn(&mut **proposals),
        None => (0..page.report.entries.len()).map(whole).collect(),
    };
    let mut ranks = vec![usize::MAX; page.report.entries.len()];
    order.iter().enumerate().for_each(|(rank, proposal)| ranks[proposal.entry] = rank);
    let bytes = vec![None; order.len()];
    let mut packer = Packer { page, order, ranks, bytes, proposals, target_tokens, misses: 0, room: 0 };
    packer.page.account = packer.account();
    if packer.page.report.entries.is_empty() && !packer.page.has_more_to_say() {
        return Err(everything);
    }
    packer.page.make_room_for_frame(everything)?;
    packer.keep_found_out();
    packer.measure_room();
    packer.keep_fragments();
    packer.misses = 0;
    packer.fill();
    packer.misses = 0;
    packer.keep_others();
    packer.cut_first();
    Ok(packer.page)
}

/// Draws the notes that may be shown, as if all of them were.
fn drawn(proposals: &mut dyn ProposalSource) -> Vec<Proposal> {
    let mut order = Vec::new();
    while let Some(proposal) = proposals.next().filter(|_| order.len() < MAX_ORDER) {
        proposals.keep(proposal.entry);
        order.push(proposal);
    }
    order
}

fn whole(entry: usize) -> Proposal {
    Proposal { entry, level: Level::Detailed, is_adaptive: false, novelty: 1.0 }
}

struct Packer<'p, 'a> {
    page: DocumentBuilder<'a>,
    /// The entries in the order in which they are shown.
    order: Vec<Proposal>,
    /// For each entry its place in that order.
    ranks: Vec<usize>,
    /// For each place in that order, how many bytes all fragments of the note have, once that was counted.
    bytes: Vec<Option<usize>>,
    proposals: Option<Box<dyn ProposalSource + 'p>>,
    target_tokens: Option<usize>,
    /// How many tries since the last one that fitted did not fit.
    misses: usize,
    /// How many characters may be added at most.
    room: usize,
}

impl<'a> Packer<'_, 'a> {
    fn passages(&self, rank: usize) -> Option<&'a Passages> {
        let entry = self.order.get(rank)?.entry;
        self.page.report.entries.get(entry)?.note()?.passages.as_deref()
    }

    fn fragment(&self, rank: usize, number: usize) -> Option<&'a Fragment> {
        self.passages(rank)?.fragments.get(number)
    }

    /// Keeps what was found out about several notes: it stands before them.
    fn keep_found_out(&mut self) {
        for rank in 0..self.order.len() {
            let number = self.order[rank].entry;
            let entry = &self.page.report.entries[number];
            if entry.note().is_none() && !self.keep(rank, None) {
                self.page.pass_over(entry);
            }
        }
    }

    /// Keeps fragments by their worth; before these one of the best note and of those that are named.
    fn keep_fragments(&mut self) {
        let mut is_first = true;
        for rank in 0..self.order.len() {
            let Some(passages) = self.passages(rank) else { continue };
            if is_first || passages.is_named {
                self.keep_one(rank, passages);
            }
            is_first = false;
        }
        let mut all: Vec<(f64, usize, Option<usize>)> = Vec::new();
        for rank in 0..self.order.len() {
            let Some(passages) = self.passages(rank) else { continue };
            let worth = |(number, fragment): (usize, &Fragment)| {
                (fragment.worth > 0.0).then_some((fragment.worth, rank, Some(number)))
            };
            match passages.whole {
                Some(worth) => all.push((worth, rank, None)),
                None => all.extend(passages.fragments.iter().enumerate().filter_map(worth)),
            }
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (_, rank, number) in all {
            if self.has_enough() {
                return;
            }
            match number {
                Some(number) => {
                    self.keep_fragment(rank, number);
                }
                None => self.keep_whole(rank),
            }
        }
    }

    /// Keeps the fragment of a note that is worth the most of those that fit.
    fn keep_one(&mut self, rank: usize, passages: &Passages) {
        if passages.whole.is_some() {
            self.keep_whole(rank);
        }
        for number in passages.by_worth() {
            if self.page.kept.has(self.order[rank].entry) || self.keep_fragment(rank, number) {
                return;
            }
        }
    }

    /// Keeps a note whole.
    fn keep_whole(&mut self, rank: usize) {
        let entry = &self.page.report.entries[self.order[rank].entry];
        if entry.may_fit(self.page.renderer.detail(entry), self.room) {
            self.keep(rank, None);
        }
    }

    /// Keeps a fragment, with what comes with it where there is room for that.
    fn keep_fragment(&mut self, rank: usize, number: usize) -> bool {
        let fragment = self.fragment(rank, number).filter(|fragment| fragment.chars <= self.room);
        let Some(fragment) = fragment.filter(|_| !self.is_chosen(rank, number)) else { return false };
        let with: BTreeSet<usize> = fragment.with.iter().copied().chain([number]).collect();
        let gaps = self.gaps(rank, number);
        let alone = BTreeSet::from([number]);
        let ways = [with.union(&gaps).copied().collect(), with.clone(), alone];
        let mut last = BTreeSet::new();
        for way in ways.into_iter().take(if fragment.is_alone { 3 } else { 2 }) {
            if way != last && self.choose(rank, way.clone()) {
                return true;
            }
            last = way;
        }
        false
    }

    /// Returns the fragments between one and those that are shown before and behind it, where they are short.
    fn gaps(&self, rank: usize, number: usize) -> BTreeSet<usize> {
        let Some(have) = self.page.kept.fragments.get(&self.order[rank].entry) else { return BTreeSet::new() };
        let before = have.range(..number).next_back().map(|before| *before..number);
        let after = have.range(number..).next().map(|after| number..*after);
        let ends = before.into_iter().chain(after).filter(|ends| self.is_gap(rank, ends));
        ends.flat_map(|ends| ends.skip(1)).collect()
    }

    /// Tells whether what stands between two fragments is so short that it is shown with them.
    fn is_gap(&self, rank: usize, ends: &Range<usize>) -> bool {
        let Some((first, last)) = self.fragment(rank, ends.start).zip(self.fragment(rank, ends.end)) else {
            return false;
        };
        let most_within = (self.page.limits.most_chars() / GAP_SHARE).clamp(MAX_GAP, MAX_SECTION_GAP);
        let bytes = last.range.start.saturating_sub(first.range.end);
        let path_of = |number: usize| self.fragment(rank, number).map(|fragment| &fragment.path);
        let is_within = || ends.clone().all(|number| path_of(number) == Some(&last.path));
        bytes <= MAX_GAP || (bytes <= most_within && is_within())
    }

    /// Adds fragments to those of a note, where they fit.
    fn choose(&mut self, rank: usize, more: BTreeSet<usize>) -> bool {
        let have = self.chosen(rank);
        let chars = |number: &usize| self.fragment(rank, *number).map_or(0, |fragment| fragment.chars);
        let least: usize = more.difference(&have).map(chars).sum();
        if least > self.room || self.is_whole(rank) {
            return false;
        }
        let chosen: BTreeSet<usize> = have.union(&more).copied().collect();
        let is_most = self.covers_most(rank, &chosen);
        (is_most && self.keep(rank, None)) || self.keep(rank, Some(chosen))
    }

    fn is_chosen(&self, rank: usize, number: usize) -> bool {
        let entry = self.order[rank].entry;
        self.page.kept.fragments.get(&entry).is_some_and(|chosen| chosen.contains(&number))
    }

    fn chosen(&self, rank: usize) -> BTreeSet<usize> {
        let entry = self.order[rank].entry;
        self.page.kept.fragments.get(&entry).cloned().unwrap_or_default()
    }

    fn is_whole(&self, rank: usize) -> bool {
        let entry = self.order[rank].entry;
        self.page.kept.has(entry) && !self.page.kept.fragments.contains_key(&entry)
    }

    /// Tells whether fragments are most of a note's text.
    fn covers_most(&mut self, rank: usize, chosen: &BTreeSet<usize>) -> bool {
        let Some(passages) = self.passages(rank) else { return false };
        let all = *self.bytes[rank].get_or_insert_with(|| passages.bytes());
        let some = chosen.iter().filter_map(|number| passages.fragments.get(*number));
        let some: usize = some.map(|fragment| fragment.range.len()).sum();
        some as f64 >= MOSTLY * all as f64
    }

    fn whole_extent(&self, rank: usize) -> Extent {
        let proposal = &self.order[rank];
        match self.page.is_belief(proposal.entry) {
            true => Extent::At(Presentation::whole(proposal.level, proposal.novelty)),
            false => Extent::Whole,
        }
    }

    /// Measures how many characters may be added at most, after something was.
    fn measure_room(&mut self) {
        let frame = self.page.renderer.frame_chars(self.page.says(true));
        self.room = self.page.limits.most_chars().saturating_sub(self.page.chars + frame);
    }

    /// Tells whether nothing more is to be tried.
    fn has_enough(&self) -> bool {
        self.misses >= MAX_MISSES
            || self.room < LEAST_ROOM
            || self.target_tokens.is_some_and(|target| self.page.tokens() >= target)
    }

    /// Shows some fragments of an entry, or the whole of it, in place of what is shown of it, where that fits.
    fn keep(&mut self, rank: usize, chosen: Option<BTreeSet<usize>>) -> bool {
        let proposal = self.order[rank];
        let extent = if chosen.is_some() { Extent::Passages } else { self.whole_extent(rank) };
        let entry = proposal.entry;
        let before = match chosen {
            Some(chosen) => self.page.kept.fragments.insert(entry, chosen),
            None => self.page.kept.fragments.remove(&entry),
        };
        let saved = self.page.replace(entry, self.place(rank), extent, &proposal);
        let shown = std::mem::take(&mut self.page.account);
        self.page.account = self.account();
        if !self.is_everything() && self.page.allow(self.page.says(true), None) {
            self.misses = 0;
            self.measure_room();
            return true;
        }
        self.misses += 1;
        self.page.account = shown;
        self.page.restore(entry, saved);
        match before {
            Some(chosen) => self.page.kept.fragments.insert(entry, chosen),
            None => self.page.kept.fragments.remove(&entry),
        };
        false
    }

    /// Tells whether everything is shown whole: that this does not fit is known; without the word that something is left
    /// out it might seem to.
    fn is_everything(&self) -> bool {
        let kept = &self.page.kept;
        kept.fragments.is_empty() && self.order.iter().all(|proposal| kept.has(proposal.entry))
    }

    /// Returns where the piece of an entry stands among those that are kept.
    fn place(&self, rank: usize) -> usize {
        self.page.pieces.iter().filter(|(entry, _)| self.ranks[*entry] < rank).count()
    }

    fn account(&self) -> Option<crate::report::SelectionStats> {
        self.proposals.as_ref().map(|proposals| proposals.account(&self.page.shown))
    }

    /// Fills the room that is left with more of the notes that are shown, the best ones first: what stands around
    /// their passages.
    fn fill(&mut self) {
        for rank in 0..self.order.len() {
            let mut edges = edges(&self.chosen(rank));
            while !edges.is_empty() {
                let mut further = Vec::new();
                for (next, step) in edges {
                    if self.has_enough() {
                        return;
                    }
                    if self.keep_fragment(rank, next) {
                        further.extend(next.checked_add_signed(step).map(|next| (next, step)));
                    }
                }
                edges = further;
            }
        }
    }

    /// Keeps notes of which nothing is shown yet, whole or from their beginning on, as far as there is room.
    fn keep_others(&mut self) {
        let report = self.page.report;
        for rank in 0..self.order.len() {
            let number = self.order[rank].entry;
            let entry = &report.entries[number];
            if self.room < LEAST_ROOM || self.misses >= MAX_MISSES {
                return;
            }
            if self.page.kept.has(number) || entry.note().is_none() {
                continue;
            }
            let is_kept = entry.may_fit(self.page.renderer.detail(entry), self.room) && self.keep(rank, None);
            let count = self.passages(rank).filter(|_| !is_kept).map_or(0, |passages| passages.fragments.len());
            for fragment in 0..count {
                if self.has_enough() {
                    return;
                }
                self.keep_fragment(rank, fragment);
            }
            if self.page.kept.has(number) && self.has_enough() {
                return;
            }
        }
    }

    /// Cuts the first note where nothing of any fits.
    fn cut_first(&mut self) {
        if !self.page.pieces.is_empty() {
            return;
        }
        let is_note = |proposal: &&Proposal| self.page.report.entries[proposal.entry].note().is_some();
        if let Some(first) = self.order.iter().find(is_note).copied() {
            self.page.cut_first(&first, self.proposals.as_deref());
        }
    }
}

/// Returns what stands next to runs of numbers, behind and before each, with the step away from it.
fn edges(numbers: &BTreeSet<usize>) -> Vec<(usize, isize)> {
    let behind = numbers.iter().map(|number| (number.checked_add(1), 1));
    let before = numbers.iter().map(|number| (number.checked_sub(1), -1));
    let both = behind.zip(before).flat_map(|(behind, before)| [behind, before]);
    both.filter_map(|(next, step)| Some((next.filter(|next| !numbers.contains(next))?, step))).collect()
}

/// What a page had before an entry was shown in another way.
struct EntryBackup {
    piece: Option<EntryText>,
    shown: Vec<ShownNote>,
    chars: usize,
    in_use: Vec<bool>,
}

impl DocumentBuilder<'_> {
    /// Shows an entry in another extent, or for the first time; `place` is where its piece stands then.
    fn replace(&mut self, entry: usize, place: usize, extent: Extent, proposal: &Proposal) -> EntryBackup {
        let piece = self.renderer.piece(entry, extent, &self.kept);
        let (chars, in_use, shown) = (self.chars, self.in_use.clone(), self.shown.clone());
        let old = self.pieces.iter().position(|(number, _)| *number == entry);
        let old = old.map(|place| self.pieces.remove(place).1);
        if let Some(old) = &old {
            self.shown.retain(|shown| shown.entry != entry);
            self.notes -= 1;
            self.forget(old);
        }
        if self.is_belief(entry) {
            let level = if extent == Extent::Passages { Level::Extract } else { proposal.level };
            let shape = Presentation::whole(level, proposal.novelty);
            self.shown.push(ShownNote { entry, shape, tokens: piece.tokens, has_more: piece.has_more });
        }
        self.keep(entry, piece);
        if let Some(piece) = self.pieces.pop() {
            self.pieces.insert(place.min(self.pieces.len()), piece);
        }
        EntryBackup { piece: old, shown, chars, in_use }
    }

    /// Takes the characters of a piece away that was taken out.
    pub(super) fn forget(&mut self, piece: &EntryText) {
        for item in &piece.items {
            let others = self.pieces.iter().flat_map(|(_, piece)| &piece.items);
            let is_alone = others.filter(|other| other.section == item.section).count() == 0;
            self.chars -= super::chars(&item.text) + if is_alone { 0 } else { self.separator };
            if is_alone && mark(&mut self.in_use, item.section) {
                self.in_use[item.section] = false;
            }
        }
    }

    /// Undoes [`replace`](Self::replace).
    fn restore(&mut self, entry: usize, saved: EntryBackup) {
        let Some(place) = self.pieces.iter().position(|(number, _)| *number == entry) else { return };
        match saved.piece {
            Some(piece) => self.pieces[place].1 = piece,
            None => {
                self.pieces.remove(place);
                self.kept.entries[entry] = false;
                self.notes -= usize::from(self.report.entries[entry].note().is_some());
            }
        }
        (self.chars, self.in_use, self.shown) = (saved.chars, saved.in_use, saved.shown);
    }
}
