//! Fitting of passages: a knapsack of the fragments of all notes by their worth, each shown in its note and in the order
//! of the text, then of what fills the rest of the room.
//!
//! The order in which fragments are tried depends on the report alone; only the choice of the gaps to close depends on
//! the budget. A fragment without room is skipped. So where a larger budget shows a passage less than a smaller one, it
//! shows one of higher worth for which the smaller budget had no room.

use std::collections::BTreeSet;
use std::ops::Range;

use super::budget::TextSize;
use super::document::DocumentBuilder;
use super::selector::{GreedySelector, Proposal};

use crate::render::{EntryText, Included, ShownPart};
use crate::report::{Fragment, NoteLevel, Passages, SelectionStats};

/// The share of the text of a note from which on the whole note is shown if it fits.
const WHOLE_SHARE: f64 = 0.75;
/// The longest gap between two passages of a note that is always closed, in bytes.
const MAX_GAP: usize = 300;
/// Within a section, gaps of up to the budget divided by this are closed, but at most [`MAX_SECTION_GAP`] bytes.
const GAP_SHARE: usize = 10;
/// The longest gap within a section that is closed, in bytes.
const MAX_SECTION_GAP: usize = 1500;
/// The least room in characters with which fragments are tried.
const MIN_ROOM: usize = 24;
/// The number of consecutive tries without room after which no more are made.
const MAX_MISSES: usize = 64;
/// The most entries that are considered.
const MAX_ENTRIES: usize = 1_000;

/// Returns passages of the notes of a report in the order of its ranking. `everything`: the size of the whole document.
pub(super) fn pack(document: DocumentBuilder<'_>, everything: TextSize) -> Result<DocumentBuilder<'_>, TextSize> {
    let mut proposals = document.report.candidates.as_ref().map(GreedySelector::new);
    let order = match &mut proposals {
        Some(proposals) => draw_all(proposals),
        None => (0..document.report.entries.len()).map(Proposal::whole).collect(),
    };
    let mut ranks = vec![usize::MAX; document.report.entries.len()];
    order.iter().enumerate().for_each(|(rank, proposal)| ranks[proposal.entry] = rank);
    let bytes = vec![None; order.len()];
    let mut packer = Packer { document, order, ranks, bytes, proposals, misses: 0, room: 0 };
    packer.document.stats = packer.stats();
    packer.document.make_room_for_frame(everything)?;
    packer.accept_derived();
    packer.measure_room();
    packer.accept_fragments();
    if !packer.document.report.head.show.has_only_matches {
        packer.misses = 0;
        packer.fill_around();
        packer.misses = 0;
        packer.accept_other_notes();
    }
    packer.cut_first();
    Ok(packer.document)
}

/// Returns the proposals in the order that results if all of them are accepted.
fn draw_all(proposals: &mut GreedySelector<'_>) -> Vec<Proposal> {
    let mut order = Vec::new();
    while let Some(proposal) = proposals.next().filter(|_| order.len() < MAX_ENTRIES) {
        proposals.accept(proposal.entry);
        order.push(proposal);
    }
    order
}

struct Packer<'a> {
    document: DocumentBuilder<'a>,
    /// The proposals in the order in which they are shown. The index of a proposal is its rank.
    order: Vec<Proposal>,
    /// The rank of each entry; `usize::MAX` for entries that were not proposed.
    ranks: Vec<usize>,
    /// The total bytes of the fragments of each rank, once counted.
    bytes: Vec<Option<usize>>,
    proposals: Option<GreedySelector<'a>>,
    /// The number of consecutive tries without room.
    misses: usize,
    /// An upper bound for the characters that still fit.
    room: usize,
}

impl<'a> Packer<'a> {
    fn passages(&self, rank: usize) -> Option<&'a Passages> {
        self.document.note(self.order.get(rank)?.entry)?.passages.get().map(AsRef::as_ref)
    }

    fn fragment(&self, rank: usize, index: usize) -> Option<&'a Fragment> {
        self.passages(rank)?.fragments.get(index)
    }

    /// Accepts the derived entries, which precede the notes.
    fn accept_derived(&mut self) {
        for rank in 0..self.order.len() {
            let index = self.order[rank].entry;
            let entry = &self.document.report.entries[index];
            if entry.note().is_none() && !self.accept(rank, None) {
                self.document.omit(entry);
            }
        }
    }

    /// Accepts fragments by descending worth, but first one of the best note and one of each note that goes
    /// first.
    fn accept_fragments(&mut self) {
        let mut is_first = true;
        for rank in 0..self.order.len() {
            let Some(passages) = self.passages(rank) else { continue };
            if is_first || passages.is_first {
                self.accept_best_fragment(rank, passages);
            }
            is_first = false;
        }
        for (rank, fragment) in self.by_worth() {
            if self.has_enough() {
                return;
            }
            match (fragment, self.passages(rank)) {
                (Some(fragment), _) => drop(self.accept_fragment(rank, fragment)),
                // Without room for the whole, its summary may fit.
                (None, Some(passages)) if passages.fragments.len() > 1 => self.accept_best_fragment(rank, passages),
                (None, _) => drop(self.accept_whole(rank)),
            }
        }
    }

    /// Returns the rank and the index of each fragment with some worth, the best first; no index for a whole note.
    fn by_worth(&self) -> Vec<(usize, Option<usize>)> {
        let mut all: Vec<(f64, usize, Option<usize>)> = Vec::new();
        for rank in 0..self.order.len() {
            let Some(passages) = self.passages(rank) else { continue };
            let with_worth = |(index, worth): (usize, &f64)| (*worth > 0.0).then_some((*worth, rank, Some(index)));
            match passages.whole {
                Some(worth) => all.push((worth, rank, None)),
                None => all.extend(passages.worth.iter().enumerate().filter_map(with_worth)),
            }
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        all.into_iter().map(|(_, rank, index)| (rank, index)).collect()
    }

    /// Accepts the most valuable fragment of a note that fits.
    fn accept_best_fragment(&mut self, rank: usize, passages: &Passages) {
        if passages.whole.is_some() {
            self.accept_whole(rank);
        }
        for index in passages.by_worth() {
            if self.document.included.has(self.order[rank].entry) || self.accept_fragment(rank, index) {
                return;
            }
        }
    }

    fn accept_whole(&mut self, rank: usize) -> bool {
        let entry = &self.document.report.entries[self.order[rank].entry];
        entry.may_fit(self.document.renderer.detail(entry), self.room) && self.accept(rank, None)
    }

    /// Accepts a fragment with its companions and the gaps around it, without the gaps, or alone: the first of these
    /// that fits. Returns whether any does.
    fn accept_fragment(&mut self, rank: usize, index: usize) -> bool {
        let fragment = self.fragment(rank, index).filter(|fragment| fragment.chars <= self.room);
        let Some(fragment) = fragment.filter(|_| !self.chosen(rank).contains(&index)) else { return false };
        let with_companions: BTreeSet<usize> = fragment.companions.iter().copied().chain([index]).collect();
        let with_gaps = with_companions.union(&self.gaps(rank, index)).copied().collect();
        let alone = BTreeSet::from([index]);
        let choices = [with_gaps, with_companions, alone];
        let mut last = BTreeSet::new();
        for choice in choices.into_iter().take(if fragment.is_alone { 3 } else { 2 }) {
            if choice != last && self.choose(rank, choice.clone()) {
                return true;
            }
            last = choice;
        }
        false
    }

    /// Returns the fragments of the short gaps between one and the chosen ones before and after it.
    fn gaps(&self, rank: usize, index: usize) -> BTreeSet<usize> {
        let chosen = self.chosen(rank);
        let before = chosen.range(..index).next_back().map(|before| *before..index);
        let after = chosen.range(index..).next().map(|after| index..*after);
        let ends = before.into_iter().chain(after).filter(|ends| self.is_gap(rank, ends));
        ends.flat_map(|ends| ends.skip(1)).collect()
    }

    /// Whether the text between two fragments is so short that it is shown with them.
    fn is_gap(&self, rank: usize, ends: &Range<usize>) -> bool {
        let Some((first, last)) = self.fragment(rank, ends.start).zip(self.fragment(rank, ends.end)) else {
            return false;
        };
        if first.summary.is_some() {
            return false;
        }
        let max_within = (self.document.limits.max_chars() / GAP_SHARE).clamp(MAX_GAP, MAX_SECTION_GAP);
        let bytes = last.range.start.saturating_sub(first.range.end);
        let path_of = |index: usize| self.fragment(rank, index).map(|fragment| &fragment.heading_path);
        let is_within = || ends.clone().all(|index| path_of(index) == Some(&last.heading_path));
        bytes <= MAX_GAP || (bytes <= max_within && is_within())
    }

    /// Adds fragments to the chosen ones of a note if they fit; the whole note if they are most of it.
    fn choose(&mut self, rank: usize, more: BTreeSet<usize>) -> bool {
        let chosen = self.chosen(rank);
        let chars = |index: &usize| self.fragment(rank, *index).map_or(0, |fragment| fragment.chars);
        let least: usize = more.difference(chosen).map(chars).sum();
        if least > self.room || self.is_whole(rank) {
            return false;
        }
        let chosen: BTreeSet<usize> = chosen.union(&more).copied().collect();
        let is_most = self.is_most_of(rank, &chosen) || self.is_whole_shorter(rank, &chosen);
        (is_most && self.accept(rank, None)) || self.accept(rank, Some(chosen))
    }

    fn chosen(&self, rank: usize) -> &BTreeSet<usize> {
        const NONE: &BTreeSet<usize> = &BTreeSet::new();
        self.document.included.fragments.get(&self.order[rank].entry).unwrap_or(NONE)
    }

    fn is_whole(&self, rank: usize) -> bool {
        let entry = self.order[rank].entry;
        self.document.included.has(entry) && !self.document.included.fragments.contains_key(&entry)
    }

    /// Whether fragments are at least [`WHOLE_SHARE`] of the text of a note.
    fn is_most_of(&mut self, rank: usize, chosen: &BTreeSet<usize>) -> bool {
        let Some(passages) = self.passages(rank) else { return false };
        let bytes = |fragment: &Fragment| fragment.range.len();
        let all = *self.bytes[rank].get_or_insert_with(|| passages.fragments.iter().map(bytes).sum());
        let chosen: usize = chosen.iter().filter_map(|index| passages.fragments.get(*index)).map(bytes).sum();
        chosen as f64 >= WHOLE_SHARE * all as f64
    }

    /// Whether a whole note is no longer than fragments of it: passages have line numbers, and in some formats the text
    /// twice. Else a larger budget could show a passage in place of the whole.
    fn is_whole_shorter(&mut self, rank: usize, chosen: &BTreeSet<usize>) -> bool {
        let (proposal, Some(passages)) = (self.order[rank], self.passages(rank)) else { return false };
        let bytes = |fragment: &Fragment| fragment.range.len();
        let all: usize = passages.fragments.iter().map(bytes).sum();
        let of_chosen: usize = chosen.iter().filter_map(|index| passages.fragments.get(*index)).map(bytes).sum();
        if all > 2 * of_chosen + MAX_GAP {
            return false;
        }
        let document = &mut self.document;
        let chosen_before = set_fragments(&mut document.included, proposal.entry, Some(chosen.clone()));
        let chars = |shown_part| {
            let text = document.renderer.render(proposal.entry, shown_part, &document.included);
            text.items.iter().map(|item| item.text.chars().count()).sum::<usize>()
        };
        let is_shorter = chars(whole_part(document, &proposal)) <= chars(ShownPart::Passages(1.0));
        set_fragments(&mut document.included, proposal.entry, chosen_before);
        is_shorter
    }

    fn measure_room(&mut self) {
        let frame = self.document.renderer.frame_chars(self.document.frame_state(true));
        self.room = self.document.limits.max_chars().saturating_sub(self.document.chars + frame);
    }

    /// Whether no more fragments are tried.
    fn has_enough(&self) -> bool {
        self.misses >= MAX_MISSES || self.room < MIN_ROOM || self.document.has_reached_target()
    }

    /// Shows the chosen fragments of an entry, or the whole entry with `None`, in place of what is shown of it. Returns
    /// whether that fits; the document is unchanged if not.
    fn accept(&mut self, rank: usize, chosen: Option<BTreeSet<usize>>) -> bool {
        let proposal = self.order[rank];
        let entry = proposal.entry;
        let shown_part = match chosen {
            Some(_) => ShownPart::Passages(1.0),
            None => whole_part(&self.document, &proposal),
        };
        let chosen_before = set_fragments(&mut self.document.included, entry, chosen);
        let position = self.document.texts.iter().filter(|(entry, _)| self.ranks[*entry] < rank).count();
        let backup = self.document.replace(position, shown_part, &proposal);
        let stats_before = std::mem::take(&mut self.document.stats);
        self.document.stats = self.stats();
        if !self.is_everything() && self.document.has_room(self.document.frame_state(true), None) {
            self.misses = 0;
            self.measure_room();
            return true;
        }
        self.misses += 1;
        self.document.stats = stats_before;
        self.document.restore(entry, backup);
        set_fragments(&mut self.document.included, entry, chosen_before);
        false
    }

    /// Whether every entry is shown whole, which is known to exceed the limits. It could seem to fit in a frame that
    /// does not say that an entry is left out.
    fn is_everything(&self) -> bool {
        let included = &self.document.included;
        self.order.iter().all(|proposal| included.has(proposal.entry))
            && included.fragments.iter().all(|(entry, chosen)| self.looks_whole(*entry, chosen.len()))
    }

    /// Whether a number of chosen fragments of an entry reads as the whole entry: a note may have nothing but a summary.
    fn looks_whole(&self, entry: usize, chosen: usize) -> bool {
        if self.passages(self.ranks[entry]).is_none_or(|passages| chosen < passages.fragments.len()) {
            return false;
        }
        let joined = |text: &EntryText| text.items.iter().map(|item| item.text.as_str()).collect::<String>();
        let whole = self.document.renderer.render(entry, ShownPart::Whole, &Included::default());
        let shown = self.document.texts.iter().find(|(shown, _)| *shown == entry);
        shown.is_some_and(|(_, text)| joined(text) == joined(&whole))
    }

    fn stats(&self) -> Option<SelectionStats> {
        self.proposals.as_ref().map(|proposals| proposals.stats(&self.document.shown))
    }

    /// Fills the room with the text around the passages, the best note first.
    fn fill_around(&mut self) {
        for rank in 0..self.order.len() {
            let mut edges = edges(self.chosen(rank));
            while !edges.is_empty() {
                let mut next_edges = Vec::new();
                for (index, step) in edges {
                    if self.has_enough() {
                        return;
                    }
                    if self.accept_fragment(rank, index) {
                        next_edges.extend(index.checked_add_signed(step).map(|next| (next, step)));
                    }
                }
                edges = next_edges;
            }
        }
    }

    /// Accepts notes that are not shown yet, whole or from their beginning, as far as they fit.
    fn accept_other_notes(&mut self) {
        for rank in 0..self.order.len() {
            let index = self.order[rank].entry;
            if self.room < MIN_ROOM || self.misses >= MAX_MISSES {
                return;
            }
            if self.document.included.has(index) || self.document.note(index).is_none() {
                continue;
            }
            let is_whole = self.accept_whole(rank);
            let count = self.passages(rank).filter(|_| !is_whole).map_or(0, |passages| passages.fragments.len());
            for fragment in 0..count {
                if self.has_enough() {
                    return;
                }
                self.accept_fragment(rank, fragment);
            }
            if self.document.included.has(index) && self.has_enough() {
                return;
            }
        }
    }

    fn cut_first(&mut self) {
        if !self.document.texts.is_empty() {
            return;
        }
        let is_note = |proposal: &&Proposal| self.document.note(proposal.entry).is_some();
        if let Some(first) = self.order.iter().find(is_note).copied() {
            self.document.cut_first(&first, self.proposals.as_ref());
        }
    }
}

/// Returns the indices next to runs of chosen ones, after and before each run, with the step away from it.
fn edges(chosen: &BTreeSet<usize>) -> Vec<(usize, isize)> {
    let after = chosen.iter().map(|index| (index.checked_add(1), 1));
    let before = chosen.iter().map(|index| (index.checked_sub(1), -1));
    let both = after.zip(before).flat_map(|(after, before)| [after, before]);
    both.filter_map(|(next, step)| Some((next.filter(|next| !chosen.contains(next))?, step))).collect()
}

/// Returns how a note is shown whole.
fn whole_part(document: &DocumentBuilder<'_>, proposal: &Proposal) -> ShownPart {
    if document.is_assessed(proposal.entry) {
        ShownPart::At(NoteLevel::new(proposal.level, proposal.novelty))
    } else {
        ShownPart::Whole
    }
}

/// Sets the chosen fragments of an entry; returns those of before.
fn set_fragments(included: &mut Included, entry: usize, chosen: Option<BTreeSet<usize>>) -> Option<BTreeSet<usize>> {
    match chosen {
        Some(chosen) => included.fragments.insert(entry, chosen),
        None => included.fragments.remove(&entry),
    }
}
