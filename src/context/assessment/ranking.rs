//! Greedy selection of notes by utility for a purpose, or by relevance, without redundant notes.
//!
//! A variant of maximal marginal relevance (Carbonell and Goldstein, 1998): novelty is the share of a candidate's terms
//! that no single shown note contains.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet, VecDeque};

use foldhash::fast::RandomState;

use crate::note::NoteId;
use crate::report::{Assessment, EntryRanking, Level, Proposal, ProposalSource, SelectionStats, ShownNote};

/// A note that may be shown.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) id: NoteId,
    pub(super) assessment: Assessment,
    pub(super) value: u8,
    /// Its distinctive terms.
    pub(super) terms: Vec<u32>,
    /// Its level of detail.
    pub(super) level: Level,
    /// Whether it was requested by name, so that it is never redundant.
    pub(super) is_named: bool,
    /// Whether only the query selected it.
    pub(super) is_answer: bool,
    /// Whether it is retired; it then follows the others, unless it is named.
    pub(super) is_retired: bool,
    /// Candidates that are the same note.
    pub(super) same: Vec<usize>,
    /// Candidates that contradict it.
    pub(super) opponents: Vec<usize>,
    /// Whether a note that is no candidate contradicts it.
    pub(super) has_opponents_beyond: bool,
    /// Candidates that are shown directly after it.
    pub(super) followers: Vec<usize>,
    /// Whether it is shown at its level of detail only.
    pub(super) is_fixed: bool,
}

/// Candidates by descending relevance, then those that may only follow others.
#[derive(Debug)]
pub(super) struct Candidates {
    /// The number of entries before the first candidate, which come first, whole.
    pub(super) before: usize,
    pub(super) all: Vec<Candidate>,
    /// The number of candidates that may be shown by themselves.
    pub(super) chosen: usize,
    pub(super) is_adaptive: bool,
    /// Whether a note is redundant if another contains its terms; otherwise only the same note is redundant.
    pub(super) compares_texts: bool,
    /// The novelty up to which a note is redundant.
    pub(super) threshold: f64,
    /// The criterion of the order: `for decide`, `by relevance`.
    pub(super) aim: String,
    /// The numbers of notes that were excluded before, with the reasons.
    pub(super) left_out: Vec<(usize, &'static str)>,
    /// The number of hits that were not assessed.
    pub(super) beyond: usize,
    /// The most notes to show of those that only the query selected; `None` for no limit.
    pub(super) max_answers: Option<usize>,
    /// The most notes to show; `None` for no limit.
    pub(super) max_notes: Option<usize>,
    /// The reason why no candidate is relevant, if none is.
    pub(super) insufficient: Option<String>,
    /// Whether hits were excluded before by their properties, such as too low a relevance.
    pub(super) is_filtered: bool,
    /// The summed relevance of the notes that were excluded before.
    pub(super) relevance_beyond: f64,
    /// For each term, by its ordinal among the terms of the candidates, the candidates that contain it.
    pub(super) holders: Vec<Vec<u32>>,
}

/// The most redundant pairs that are listed.
const MAX_LISTED_PAIRS: usize = 3;
/// The most expandable notes that are listed.
const MAX_LISTED_EXPANDABLE: usize = 32;
/// The novelty below which a note is shown one level lower.
const MIN_FULL_LEVEL_NOVELTY: f64 = 0.5;

impl Candidates {
    /// Sets `holders`, and renumbers the terms of the candidates consecutively.
    pub(super) fn with_holders(mut self) -> Self {
        let mut ordinals: HashMap<u32, u32, RandomState> = HashMap::default();
        for (index, candidate) in self.all.iter_mut().enumerate().take(self.chosen) {
            for term in &mut candidate.terms {
                let next = self.holders.len() as u32;
                *term = *ordinals.entry(*term).or_insert(next);
                if *term == next {
                    self.holders.push(Vec::new());
                }
                self.holders[*term as usize].push(index as u32);
            }
        }
        self
    }

    /// Returns, for each candidate, the share of its terms that the candidate `of` contains.
    fn shares(&self, of: usize) -> Vec<f64> {
        let mut counts = vec![0_u32; self.chosen];
        for term in &self.all[of].terms {
            for holder in self.holders.get(*term as usize).into_iter().flatten() {
                counts[*holder as usize] += 1;
            }
        }
        let one = &self.all[of];
        let covered_share = |index: usize| f64::from(counts[index]) / self.all[index].terms.len().max(1) as f64;
        // A note with the content of an opponent contradicts the candidate too.
        let is_opponent = |index: usize| {
            let opponents = &self.all[index].opponents;
            opponents.iter().any(|opponent| {
                *opponent == of || (*opponent < self.chosen && covered_share(*opponent) >= 1.0 - self.threshold)
            })
        };
        let share = |index: usize| {
            if one.opponents.contains(&index) || is_opponent(index) {
                0.0
            } else if one.same.contains(&index) {
                1.0
            } else if self.compares_texts {
                covered_share(index)
            } else {
                0.0
            }
        };
        (0..self.chosen).map(share).collect()
    }

    fn is_redundant(&self, index: usize, covered: f64) -> bool {
        !self.all[index].is_named && covered > 0.0 && 1.0 - covered <= self.threshold
    }
}

impl EntryRanking for Candidates {
    fn proposals(&self) -> Box<dyn ProposalSource + '_> {
        Box::new(GreedySelector {
            candidates: self,
            next_before: 0,
            is_open: vec![true; self.chosen],
            covered: vec![(0.0, 0); self.chosen],
            followers: VecDeque::new(),
            kept: HashSet::new(),
            redundant: Vec::new(),
            kept_notes: 0,
            kept_answers: 0,
            shares: OnceCell::new(),
        })
    }
}

/// The state of the greedy selection.
struct GreedySelector<'a> {
    candidates: &'a Candidates,
    next_before: usize,
    /// Whether each candidate was not proposed yet.
    is_open: Vec<bool>,
    /// For each candidate, the largest share of its terms in one shown note, and that note.
    covered: Vec<(f64, usize)>,
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

impl GreedySelector<'_> {
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

    /// Returns the candidates that are not redundant and for which the limits have no room.
    fn withheld(&self) -> impl Iterator<Item = usize> {
        let is_new = |index: &usize| !self.candidates.is_redundant(*index, self.covered[*index].0);
        (0..self.candidates.chosen)
            .filter(|index| self.is_open[*index] && !self.is_within_limits(*index))
            .filter(is_new)
    }

    /// Returns the next candidate: named ones first; then the one with the highest utility, retired ones last; without
    /// a purpose the next by relevance.
    fn best(&self) -> Option<usize> {
        let mut open =
            (0..self.candidates.chosen).filter(|index| self.is_open[*index] && self.is_within_limits(*index));
        if let Some(named) = open.clone().find(|index| self.candidates.all[*index].is_named) {
            return Some(named);
        }
        let rank = |index: usize| {
            let candidate = &self.candidates.all[index];
            let utility = candidate.assessment.utility.map(|utility| utility.with_novelty(self.novelty(index)).total());
            (utility.unwrap_or_default(), candidate.assessment.relevance, candidate.value)
        };
        if self.candidates.all.first()?.assessment.utility.is_none() {
            return open.next();
        }
        open.map(|index| (index, rank(index)))
            .reduce(|best, other| {
                let is_retired = |index: usize| self.candidates.all[index].is_retired;
                let order = is_retired(best.0).cmp(&is_retired(other.0)).then(other.1.0.total_cmp(&best.1.0));
                let order = order.then(other.1.1.total_cmp(&best.1.1)).then(other.1.2.cmp(&best.1.2));
                let order = order.then_with(|| self.candidates.all[best.0].id.cmp(&self.candidates.all[other.0].id));
                if order.is_gt() { other } else { best }
            })
            .map(|(index, _)| index)
    }

    fn proposal(&self, index: usize, is_follower: bool) -> Proposal {
        let candidate = &self.candidates.all[index];
        let novelty = self.novelty(index);
        let mut level = candidate.level;
        if self.candidates.is_adaptive && is_follower {
            level = level.min(Level::Summary);
        }
        if self.candidates.is_adaptive && novelty < MIN_FULL_LEVEL_NOVELTY {
            level = lower_level(level);
        }
        Proposal {
            entry: self.candidates.before + index,
            level,
            is_adaptive: self.candidates.is_adaptive && !candidate.is_fixed,
            novelty,
        }
    }
}

fn lower_level(level: Level) -> Level {
    match level {
        Level::Detailed => Level::Extract,
        Level::Extract => Level::Summary,
        Level::Summary | Level::Essence => Level::Essence,
    }
}

impl ProposalSource for GreedySelector<'_> {
    fn next(&mut self) -> Option<Proposal> {
        self.shares = OnceCell::new();
        if self.next_before < self.candidates.before {
            let entry = self.next_before;
            self.next_before += 1;
            return Some(Proposal { entry, level: Level::Detailed, is_adaptive: false, novelty: 1.0 });
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

    fn accept(&mut self, entry: usize) {
        let Some(index) = entry.checked_sub(self.candidates.before) else { return };
        if self.kept.insert(index) && index < self.candidates.chosen {
            self.kept_notes += 1;
            self.kept_answers += usize::from(self.candidates.all[index].is_answer);
        }
        let shares = self.shares.get_or_init(|| self.candidates.shares(index));
        for (covered, share) in self.covered.iter_mut().zip(shares) {
            if *share > covered.0 {
                *covered = (*share, index);
            }
        }
        let followers = self.candidates.all[index].followers.iter().copied();
        followers.rev().for_each(|follower| self.followers.push_front(follower));
    }

    fn after(&self, entry: usize) -> Vec<(usize, Level)> {
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

    fn is_limited(&self) -> bool {
        self.withheld().next().is_some()
    }

    fn stats(&self, shown: &[ShownNote]) -> SelectionStats {
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
}

impl GreedySelector<'_> {
    /// Tells whether every candidate is shown, redundant ones included, and none was excluded before.
    fn is_complete(&self, kept: &HashSet<usize>) -> bool {
        let has_excluded_none = self.candidates.beyond == 0
            && !self.candidates.is_filtered
            && self.candidates.left_out.iter().all(|(count, _)| *count == 0);
        has_excluded_none
            && self.candidates.insufficient.is_none()
            && self.redundant.iter().all(|(index, _)| kept.contains(index))
    }

    /// Returns a sentence about the selection.
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
            let count = redundant.len();
            let noun = if count == 1 { "near-duplicate" } else { "near-duplicates" };
            reasons.push(format!("{count} {noun} ({})", pairs.join(", ")));
        }
        let open = self.is_open.iter().filter(|is_open| **is_open).count();
        let over = candidates.chosen.saturating_sub(shown + redundant.len() + open);
        let limited =
            (0..candidates.chosen).filter(|index| self.is_open[*index] && !self.is_within_limits(*index)).count();
        let counts = [(over, "over budget"), (open - limited, "after the target")].into_iter();
        let counts =
            counts.chain(candidates.left_out.iter().copied()).chain([(candidates.beyond + limited, "ranked too low")]);
        reasons.extend(counts.filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")));
        let reasons = if reasons.is_empty() { "nothing left out".to_owned() } else { reasons.join(", ") };
        format!("{shown} of {} candidates {}: {reasons}", candidates.chosen + dropped, candidates.aim)
    }
}
