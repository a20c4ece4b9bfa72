//! Greedy selection of notes by utility for a purpose, or by relevance, without redundant notes.
//!
//! A variant of maximal marginal relevance (Carbonell and Goldstein, 1998): novelty is the share of a candidate's terms
//! that no single shown note contains.

use std::cell::OnceCell;
use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use crate::render::EntryText;
use crate::report::{Candidate, Candidates, DetailLevel, NoteLevel, SelectionStats, counted};

/// The most redundant pairs that are listed.
const MAX_LISTED_PAIRS: usize = 3;
/// The most expandable notes that are listed.
const MAX_LISTED_EXPANDABLE: usize = 32;
/// The novelty below which a note is shown one level lower.
const MIN_FULL_LEVEL_NOVELTY: f64 = 0.5;

/// The next entry of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Proposal {
    /// The index of the entry.
    pub(super) entry: usize,
    /// The level of detail that its assessment justifies.
    pub(super) level: DetailLevel,
    /// Whether other levels are allowed: lower ones, and higher ones if the budget leaves room.
    pub(super) is_adaptive: bool,
    /// See [`NoteLevel::novelty`].
    pub(super) novelty: f64,
}

impl Proposal {
    /// Returns the proposal of an entry that is shown whole.
    pub(super) fn whole(entry: usize) -> Self {
        Self { entry, level: DetailLevel::Detailed, is_adaptive: false, novelty: 1.0 }
    }
}

/// A note that is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ShownNote {
    /// The index of its entry.
    pub(super) entry: usize,
    /// How it is shown.
    pub(super) note_level: NoteLevel,
    /// The tokens of its text.
    pub(super) tokens: usize,
    /// Whether it has text that is not shown.
    pub(super) has_more: bool,
}

impl ShownNote {
    pub(super) fn new(entry: usize, note_level: NoteLevel, text: &EntryText) -> Self {
        Self { entry, note_level, tokens: text.tokens, has_more: text.has_more }
    }
}

/// The state of the greedy selection.
#[derive(Clone)]
pub(super) struct GreedySelector<'a> {
    candidates: &'a Candidates,
    /// The entries before the candidates that were not proposed yet.
    before: Range<usize>,
    /// Whether each candidate was not proposed yet.
    is_open: Vec<bool>,
    /// For each candidate, the largest share of its terms in one shown note, and that note.
    covered: Vec<(f64, usize)>,
    /// The utility of each candidate, given the notes that are shown; 0 without a purpose.
    utilities: Vec<f64>,
    followers: VecDeque<usize>,
    kept: HashSet<usize>,
    /// Redundant candidates, each with the note that contains it.
    redundant: Vec<(usize, usize)>,
    /// The number of candidates that are shown.
    kept_notes: usize,
    /// The number of shown candidates that only the query selected.
    kept_answers: usize,
    /// The shares of the candidates that the one proposed last contains, computed on demand.
    shares: OnceCell<Vec<f64>>,
}

impl<'a> GreedySelector<'a> {
    /// Starts from the first entry.
    pub(super) fn new(candidates: &'a Candidates) -> Self {
        Self {
            utilities: (0..candidates.chosen).map(|index| utility(candidates, index, 1.0)).collect(),
            candidates,
            before: 0..candidates.before,
            is_open: vec![true; candidates.chosen],
            covered: vec![(0.0, 0); candidates.chosen],
            followers: VecDeque::new(),
            kept: HashSet::new(),
            redundant: Vec::new(),
            kept_notes: 0,
            kept_answers: 0,
            shares: OnceCell::new(),
        }
    }

    fn novelty(&self, index: usize) -> f64 {
        1.0 - self.covered.get(index).map_or(0.0, |(share, _)| *share)
    }

    /// Tells whether the limits have room for a candidate besides the shown ones.
    fn is_within_limits(&self, index: usize) -> bool {
        let has_room = |most: Option<usize>, kept: usize| most.is_none_or(|most| kept < most);
        let is_answer = self.candidates.all[index].is_answer;
        has_room(self.candidates.max_notes, self.kept_notes)
            && (!is_answer || has_room(self.candidates.max_answers, self.kept_answers))
    }

    /// Returns the candidates that were not proposed and for which the limits have no room.
    fn withheld(&self) -> impl Iterator<Item = usize> {
        (0..self.candidates.chosen).filter(|index| self.is_open[*index] && !self.is_within_limits(*index))
    }

    /// Returns the next candidate: named ones first, then those that precede the rest, then by utility, retired ones last;
    /// without purpose by relevance.
    fn best(&self) -> Option<usize> {
        let mut open =
            (0..self.candidates.chosen).filter(|index| self.is_open[*index] && self.is_within_limits(*index));
        let all = &self.candidates.all;
        let first =
            open.clone().find(|index| all[*index].is_named).or_else(|| open.clone().find(|index| all[*index].is_first));
        if first.is_some() {
            return first;
        }
        if self.candidates.all.first()?.assessment.utility.is_none() {
            return open.next();
        }
        let with_utility = |index: usize| (index, &self.candidates.all[index], self.utilities[index]);
        let order = |(_, a, utility_a): &(usize, &Candidate, f64), (_, b, utility_b): &(usize, &Candidate, f64)| {
            let order = a.is_retired.cmp(&b.is_retired).then(utility_b.total_cmp(utility_a));
            let order = order.then(b.assessment.relevance.total_cmp(&a.assessment.relevance));
            order.then(b.value.cmp(&a.value)).then_with(|| a.id.cmp(&b.id))
        };
        open.map(with_utility).min_by(order).map(|(index, ..)| index)
    }

    fn proposal(&self, index: usize, is_follower: bool) -> Proposal {
        let candidate = &self.candidates.all[index];
        let novelty = self.novelty(index);
        let mut level = candidate.level;
        if self.candidates.is_adaptive && is_follower {
            level = level.min(DetailLevel::Summary);
        }
        if self.candidates.is_adaptive && novelty < MIN_FULL_LEVEL_NOVELTY {
            level = DetailLevel::ALL.into_iter().rev().find(|lower| *lower < level).unwrap_or(level);
        }
        Proposal {
            entry: self.candidates.before + index,
            level,
            is_adaptive: self.candidates.is_adaptive && !candidate.is_fixed,
            novelty,
        }
    }
}

/// Returns the utility of a candidate with a novelty; 0 without a purpose.
fn utility(candidates: &Candidates, index: usize, novelty: f64) -> f64 {
    let utility = candidates.all[index].assessment.utility;
    utility.map_or(0.0, |utility| utility.with_novelty(novelty).total())
}

impl Iterator for GreedySelector<'_> {
    type Item = Proposal;

    /// Returns the next entry; `None` if all were proposed, or the rest contains nothing new.
    fn next(&mut self) -> Option<Proposal> {
        self.shares = OnceCell::new();
        if let Some(entry) = self.before.next() {
            return Some(Proposal::whole(entry));
        }
        while let Some(index) = self.followers.pop_front() {
            if self.kept.contains(&index) {
                continue;
            }
            if let Some(is_open) = self.is_open.get_mut(index) {
                *is_open = false;
            }
            return Some(self.proposal(index, true));
        }
        while let Some(index) = self.best() {
            self.is_open[index] = false;
            let (covered, covering) = self.covered[index];
            if self.candidates.is_redundant(index, covered) {
                self.redundant.push((index, covering));
                continue;
            }
            return Some(self.proposal(index, false));
        }
        None
    }
}

impl GreedySelector<'_> {
    /// Records that the entry proposed last is shown.
    pub(super) fn accept(&mut self, entry: usize) {
        let Some(index) = entry.checked_sub(self.candidates.before) else { return };
        if self.kept.insert(index) && index < self.candidates.chosen {
            self.kept_notes += 1;
            self.kept_answers += usize::from(self.candidates.all[index].is_answer);
        }
        let shares = self.shares.get_or_init(|| self.candidates.shares(index));
        for (other, (covered, share)) in self.covered.iter_mut().zip(shares).enumerate() {
            if *share > covered.0 {
                *covered = (*share, index);
                self.utilities[other] = utility(self.candidates, other, 1.0 - share);
            }
        }
        let followers = self.candidates.all[index].followers.iter().copied();
        followers.rev().for_each(|follower| self.followers.push_front(follower));
    }

    /// Returns the entries that may follow if this one is shown, in approximate order, each with its level.
    pub(super) fn after(&self, entry: usize) -> Vec<(usize, DetailLevel)> {
        let index = entry.checked_sub(self.candidates.before);
        let shares = index.map(|index| self.shares.get_or_init(|| self.candidates.shares(index)));
        let is_new = |other: &usize| {
            let share = shares.and_then(|shares| shares.get(*other)).copied().unwrap_or_default();
            self.is_open[*other] && !self.candidates.is_redundant(*other, self.covered[*other].0.max(share))
        };
        let room = self.candidates.max_notes.map_or(usize::MAX, |most| most.saturating_sub(self.kept_notes + 1));
        let answers = self.candidates.max_answers.map_or(usize::MAX, |most| most.saturating_sub(self.kept_answers + 1));
        let room =
            if self.candidates.all.iter().all(|candidate| candidate.is_answer) { room.min(answers) } else { room };
        let mut after: Vec<usize> = (0..self.candidates.chosen).filter(is_new).take(room).collect();
        if let Some(index) = index {
            let followers = self.candidates.all[index].followers.iter().copied();
            after.splice(0..0, followers.filter(|follower| *follower >= self.candidates.chosen));
        }
        after.into_iter().map(|index| (self.candidates.before + index, self.candidates.all[index].level)).collect()
    }

    /// Whether limits exclude notes that would be shown otherwise.
    pub(super) fn is_limited(&self) -> bool {
        self.withheld().any(|index| !self.candidates.is_redundant(index, self.covered[index].0))
    }

    /// Returns the statistics of a selection.
    pub(super) fn stats(&self, shown: &[ShownNote]) -> SelectionStats {
        let shown: Vec<(usize, &ShownNote)> =
            shown.iter().filter_map(|shown| Some((shown.entry.checked_sub(self.candidates.before)?, shown))).collect();
        let all = &self.candidates.all;
        let kept: HashSet<usize> = shown.iter().map(|(index, _)| *index).collect();
        let relevance = |index: usize| all[index].assessment.relevance;
        // Starts from 0, since the sum of an empty iterator is -0.
        let sum = |ordinals: &mut dyn Iterator<Item = usize>| ordinals.map(relevance).fold(0.0, |sum, one| sum + one);
        let candidates = sum(&mut (0..self.candidates.chosen)) + self.candidates.relevance_beyond;
        let redundant = self.redundant.iter().map(|(index, _)| *index).filter(|index| !kept.contains(index));
        let covered = sum(&mut (0..self.candidates.chosen).filter(|index| kept.contains(index)).chain(redundant));
        let confidences = shown.iter().map(|(index, _)| all[*index].assessment.confidence.overall);
        let has_hidden_opponents = |index: usize| {
            let candidate = &all[index];
            candidate.has_opponents_beyond || candidate.opponents.iter().any(|opponent| !kept.contains(opponent))
        };
        let expandable = shown.iter().filter(|(_, shown)| shown.has_more).map(|(index, _)| all[*index].id.clone());
        SelectionStats {
            total_tokens: shown.iter().map(|(_, shown)| shown.tokens).sum(),
            confidence_floor: confidences.reduce(f64::min),
            // The quotient of an empty sum would be -0.
            coverage: if covered > 0.0 { (covered / candidates).min(1.0) } else { 0.0 },
            expandable: expandable.take(MAX_LISTED_EXPANDABLE).collect(),
            has_contradictions: shown.iter().any(|(index, _)| has_hidden_opponents(*index)),
            insufficient: self.candidates.insufficient.clone(),
            is_complete: self.is_complete(&kept),
            reasoning: self.reasoning(&kept),
        }
    }

    /// Tells whether every candidate is shown, redundant ones included, and none was excluded before.
    fn is_complete(&self, kept: &HashSet<usize>) -> bool {
        self.candidates.beyond == 0
            && !self.candidates.is_filtered
            && self.candidates.left_out.iter().all(|(count, _)| *count == 0)
            && self.candidates.insufficient.is_none()
            && self.redundant.iter().all(|(index, _)| kept.contains(index))
    }

    fn reasoning(&self, kept: &HashSet<usize>) -> String {
        let candidates = self.candidates;
        let shown = kept.iter().filter(|index| **index < candidates.chosen).count();
        let dropped: usize = candidates.left_out.iter().map(|(count, _)| count).sum::<usize>() + candidates.beyond;
        let mut reasons: Vec<String> = Vec::new();
        // A redundant note may be shown as a follower of another.
        let redundant: Vec<&(usize, usize)> =
            self.redundant.iter().filter(|(index, _)| !kept.contains(index)).collect();
        if !redundant.is_empty() {
            let name = |index: usize| &candidates.all[index].id;
            let pair = |(index, covering): &&(usize, usize)| format!("{} of {}", name(*index), name(*covering));
            let mut pairs: Vec<String> = redundant.iter().take(MAX_LISTED_PAIRS).map(pair).collect();
            pairs.extend((redundant.len() > MAX_LISTED_PAIRS).then(|| "…".to_owned()));
            reasons.push(format!("{} ({})", counted(redundant.len(), "near-duplicate"), pairs.join(", ")));
        }
        let open = self.is_open.iter().filter(|is_open| **is_open).count();
        let over = candidates.chosen.saturating_sub(shown + redundant.len() + open);
        let limited = self.withheld().count();
        let counts = [(over, "over budget"), (open - limited, "after the target")].into_iter();
        let counts =
            counts.chain(candidates.left_out.iter().copied()).chain([(candidates.beyond + limited, "ranked too low")]);
        reasons.extend(counts.filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")));
        let reasons = if reasons.is_empty() { "nothing left out".to_owned() } else { reasons.join(", ") };
        format!("{shown} of {} candidates {}: {reasons}", candidates.chosen + dropped, candidates.aim)
    }
}
