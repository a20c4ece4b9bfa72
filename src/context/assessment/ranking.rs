//! Proposes notes one by one: by use where there is a purpose, else by relevance, passing over those
//! that say nothing new beside what is shown.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet, VecDeque};

use foldhash::fast::RandomState;

use crate::note::NoteId;
use crate::report::{Assessment, EntryRanking, Level, Proposal, ProposalSource, SelectionStats, ShownNote};

/// A note that may be shown.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) id: NoteId,
    pub(super) belief: Assessment,
    pub(super) value: u8,
    /// What it is about.
    pub(super) terms: Vec<u32>,
    /// The level that it deserves.
    pub(super) level: Level,
    /// Whether it was asked for by name, so that it is never passed over.
    pub(super) is_named: bool,
    /// Whether only the query selected it.
    pub(super) is_answer: bool,
    /// Whether it no longer holds, so that others go before it unless it is named.
    pub(super) is_retired: bool,
    /// Entries that are the same note.
    pub(super) same: Vec<usize>,
    /// Entries that contradict it.
    pub(super) opponents: Vec<usize>,
    /// How many notes contradict it, shown or not.
    pub(super) has_opponents_beyond: bool,
    /// Entries that are shown right behind it.
    pub(super) followers: Vec<usize>,
    /// Whether it is shown at its level and at no other.
    pub(super) is_fixed: bool,
}

/// Candidates in the order of their relevance, then notes that may only follow others.
#[derive(Debug)]
pub(super) struct Candidates {
    /// How many entries there are before the first candidate; these come first, whole.
    pub(super) before: usize,
    pub(super) all: Vec<Candidate>,
    /// How many of them are chosen by themselves.
    pub(super) chosen: usize,
    pub(super) is_adaptive: bool,
    /// Whether a note says nothing new whose terms another one holds; else only the same note does.
    pub(super) compares_texts: bool,
    /// A note that is new to this share or less says nothing new.
    pub(super) threshold: f64,
    /// `for decide`, `by relevance`.
    pub(super) aim: String,
    /// Why candidates were left out before, each with how many.
    pub(super) left_out: Vec<(usize, &'static str)>,
    /// How many hits were not weighed.
    pub(super) beyond: usize,
    /// The most notes that are shown of those that only the query selected, and in all.
    pub(super) max_answers: Option<usize>,
    /// See `max_answers`.
    pub(super) max_notes: Option<usize>,
    /// Why there is nothing relevant, where there isn't.
    pub(super) insufficient: Option<String>,
    /// Whether hits were left out before for what they are, such as too weak an answer.
    pub(super) is_filtered: bool,
    /// How relevant all those are together that were left out before.
    pub(super) relevance_beyond: f64,
    /// For each term, by its number among those of the candidates, the candidates that hold it.
    pub(super) holders: Vec<Vec<u32>>,
}

/// The most pairs of notes that say the same which are named.
const MAX_PAIRS: usize = 3;
/// The most notes with more to say that are named.
const MAX_EXPANDABLE: usize = 32;
/// A note that is new to less than this share is shown one level lower.
const HALF_REDUNDANT: f64 = 0.5;

impl Candidates {
    /// Notes down which candidates hold which terms, and numbers the terms anew: those of the candidates
    /// are few.
    pub(super) fn with_holders(mut self) -> Self {
        let mut numbers: HashMap<u32, u32, RandomState> = HashMap::default();
        for (number, candidate) in self.all.iter_mut().enumerate().take(self.chosen) {
            for term in &mut candidate.terms {
                let next = self.holders.len() as u32;
                *term = *numbers.entry(*term).or_insert(next);
                if *term == next {
                    self.holders.push(Vec::new());
                }
                self.holders[*term as usize].push(number as u32);
            }
        }
        self
    }

    /// Returns for each candidate what share of its terms another one holds.
    fn shares(&self, of: usize) -> Vec<f64> {
        let mut counts = vec![0_u32; self.chosen];
        for term in &self.all[of].terms {
            for holder in self.holders.get(*term as usize).into_iter().flatten() {
                counts[*holder as usize] += 1;
            }
        }
        let one = &self.all[of];
        let held = |number: usize| f64::from(counts[number]) / self.all[number].terms.len().max(1) as f64;
        // Whatever says the same as a note that another contradicts is contradicted too.
        let is_opponent = |number: usize| {
            let opponents = &self.all[number].opponents;
            opponents
                .iter()
                .any(|opponent| *opponent == of || (*opponent < self.chosen && held(*opponent) >= 1.0 - self.threshold))
        };
        let share = |number: usize| match () {
            () if one.opponents.contains(&number) || is_opponent(number) => 0.0,
            () if one.same.contains(&number) => 1.0,
            () if self.compares_texts => held(number),
            () => 0.0,
        };
        (0..self.chosen).map(share).collect()
    }

    fn is_redundant(&self, number: usize, said: f64) -> bool {
        !self.all[number].is_named && said > 0.0 && 1.0 - said <= self.threshold
    }
}

impl EntryRanking for Candidates {
    fn proposals(&self) -> Box<dyn ProposalSource + '_> {
        Box::new(GreedySelector {
            of: self,
            next_before: 0,
            is_open: vec![true; self.chosen],
            said: vec![(0.0, 0); self.chosen],
            following: VecDeque::new(),
            kept: HashSet::new(),
            redundant: Vec::new(),
            kept_notes: 0,
            kept_answers: 0,
            shares: OnceCell::new(),
        })
    }
}

/// How far the choosing has come.
struct GreedySelector<'a> {
    of: &'a Candidates,
    next_before: usize,
    /// Which candidates were not proposed yet.
    is_open: Vec<bool>,
    /// Of each candidate, the largest share that one note which is shown says, and which one.
    said: Vec<(f64, usize)>,
    following: VecDeque<usize>,
    kept: HashSet<usize>,
    /// Candidates that say nothing new, each with the note that says it.
    redundant: Vec<(usize, usize)>,
    /// How many candidates are shown, and of those that only the query selected.
    kept_notes: usize,
    /// See `kept_notes`.
    kept_answers: usize,
    /// What share of the others the candidate says that was proposed last, once somebody asked.
    shares: OnceCell<Vec<f64>>,
}

impl GreedySelector<'_> {
    fn novelty(&self, number: usize) -> f64 {
        1.0 - self.said.get(number).map_or(0.0, |(share, _)| *share)
    }

    /// Tells whether a candidate is within the limits, beside what is shown.
    fn is_within_limits(&self, number: usize) -> bool {
        let has_room = |most: Option<usize>, kept: usize| most.is_none_or(|most| kept < most);
        let is_answer = self.of.all[number].is_answer;
        has_room(self.of.max_notes, self.kept_notes) && (!is_answer || has_room(self.of.max_answers, self.kept_answers))
    }

    /// Returns the candidates that say something new and that the limits leave no room for.
    fn held_back(&self) -> impl Iterator<Item = usize> {
        let is_new = |number: &usize| !self.of.is_redundant(*number, self.said[*number].0);
        (0..self.of.chosen).filter(|number| self.is_open[*number] && !self.is_within_limits(*number)).filter(is_new)
    }

    /// Returns the next candidate: those that were named first, then the one of the most use, those that no
    /// longer hold last; without a purpose the next one.
    fn best(&self) -> Option<usize> {
        let mut open = (0..self.of.chosen).filter(|number| self.is_open[*number] && self.is_within_limits(*number));
        if let Some(named) = open.clone().find(|number| self.of.all[*number].is_named) {
            return Some(named);
        }
        let rank = |number: usize| {
            let candidate = &self.of.all[number];
            let utility = candidate.belief.utility.map(|utility| utility.with_novelty(self.novelty(number)).total());
            (utility.unwrap_or_default(), candidate.belief.relevance, candidate.value)
        };
        if self.of.all.first()?.belief.utility.is_none() {
            return open.next();
        }
        open.map(|number| (number, rank(number)))
            .reduce(|best, other| {
                let is_retired = |number: usize| self.of.all[number].is_retired;
                let order = is_retired(best.0).cmp(&is_retired(other.0)).then(other.1.0.total_cmp(&best.1.0));
                let order = order.then(other.1.1.total_cmp(&best.1.1)).then(other.1.2.cmp(&best.1.2));
                let order = order.then_with(|| self.of.all[best.0].id.cmp(&self.of.all[other.0].id));
                if order.is_gt() { other } else { best }
            })
            .map(|(number, _)| number)
    }

    fn proposal(&self, number: usize, is_follower: bool) -> Proposal {
        let candidate = &self.of.all[number];
        let novelty = self.novelty(number);
        let mut level = candidate.level;
        if self.of.is_adaptive && is_follower {
            level = level.min(Level::Summary);
        }
        if self.of.is_adaptive && novelty < HALF_REDUNDANT {
            level = lower(level);
        }
        Proposal {
            entry: self.of.before + number,
            level,
            is_adaptive: self.of.is_adaptive && !candidate.is_fixed,
            novelty,
        }
    }
}

fn lower(level: Level) -> Level {
    match level {
        Level::Detailed => Level::Extract,
        Level::Extract => Level::Summary,
        Level::Summary | Level::Essence => Level::Essence,
    }
}

impl ProposalSource for GreedySelector<'_> {
    fn next(&mut self) -> Option<Proposal> {
        self.shares = OnceCell::new();
        if self.next_before < self.of.before {
            let entry = self.next_before;
            self.next_before += 1;
            return Some(Proposal { entry, level: Level::Detailed, is_adaptive: false, novelty: 1.0 });
        }
        while let Some(number) = self.following.pop_front() {
            if self.kept.contains(&number) {
                continue;
            }
            if let Some(is_open) = self.is_open.get_mut(number) {
                *is_open = false;
            }
            return Some(self.proposal(number, true));
        }
        while let Some(number) = self.best() {
            self.is_open[number] = false;
            let (said, by) = self.said[number];
            if self.of.is_redundant(number, said) {
                self.redundant.push((number, by));
                continue;
            }
            return Some(self.proposal(number, false));
        }
        None
    }

    fn keep(&mut self, entry: usize) {
        let Some(number) = entry.checked_sub(self.of.before) else { return };
        if self.kept.insert(number) && number < self.of.chosen {
            self.kept_notes += 1;
            self.kept_answers += usize::from(self.of.all[number].is_answer);
        }
        let shares = self.shares.get_or_init(|| self.of.shares(number));
        for (said, share) in self.said.iter_mut().zip(shares) {
            if *share > said.0 {
                *said = (*share, number);
            }
        }
        let followers = self.of.all[number].followers.iter().copied();
        followers.rev().for_each(|follower| self.following.push_front(follower));
    }

    fn after(&self, entry: usize) -> Vec<(usize, Level)> {
        let number = entry.checked_sub(self.of.before);
        let shares = number.map(|number| self.shares.get_or_init(|| self.of.shares(number)));
        let is_new = |other: &usize| {
            let share = shares.and_then(|shares| shares.get(*other)).copied().unwrap_or_default();
            self.is_open[*other] && !self.of.is_redundant(*other, self.said[*other].0.max(share))
        };
        let room = self.of.max_notes.map_or(usize::MAX, |most| most.saturating_sub(self.kept_notes + 1));
        let answers = self.of.max_answers.map_or(usize::MAX, |most| most.saturating_sub(self.kept_answers + 1));
        let room = if self.of.all.iter().all(|candidate| candidate.is_answer) { room.min(answers) } else { room };
        let mut after: Vec<usize> = (0..self.of.chosen).filter(is_new).take(room).collect();
        if let Some(number) = number {
            let followers = self.of.all[number].followers.iter().copied();
            after.splice(0..0, followers.filter(|follower| *follower >= self.of.chosen));
        }
        after.into_iter().map(|number| (self.of.before + number, self.of.all[number].level)).collect()
    }

    fn holds_back(&self) -> bool {
        self.held_back().next().is_some()
    }

    fn account(&self, shown: &[ShownNote]) -> SelectionStats {
        let shown: Vec<(usize, &ShownNote)> =
            shown.iter().filter_map(|shown| Some((shown.entry.checked_sub(self.of.before)?, shown))).collect();
        let all = &self.of.all;
        let kept: HashSet<usize> = shown.iter().map(|(number, _)| *number).collect();
        let relevance = |number: usize| all[number].belief.relevance;
        // From 0: the sum of nothing is minus zero.
        let sum = |numbers: &mut dyn Iterator<Item = usize>| numbers.map(relevance).fold(0.0, |sum, one| sum + one);
        let candidates = sum(&mut (0..self.of.chosen)) + self.of.relevance_beyond;
        let redundant = self.redundant.iter().map(|(number, _)| *number).filter(|number| !kept.contains(number));
        let covered = sum(&mut (0..self.of.chosen).filter(|number| kept.contains(number)).chain(redundant));
        let confidences = shown.iter().map(|(number, _)| all[*number].belief.confidence.overall);
        let has_hidden_opponents = |number: usize| {
            let candidate = &all[number];
            candidate.has_opponents_beyond || candidate.opponents.iter().any(|opponent| !kept.contains(opponent))
        };
        let expandable = shown.iter().filter(|(_, shown)| shown.has_more).map(|(number, _)| all[*number].id.clone());
        SelectionStats {
            total_tokens: shown.iter().map(|(_, shown)| shown.tokens).sum(),
            confidence_floor: confidences.reduce(f64::min),
            // The sum of nothing is -0.
            coverage: if covered > 0.0 { (covered / candidates).min(1.0) } else { 0.0 },
            expandable: expandable.take(MAX_EXPANDABLE).collect(),
            has_contradictions: shown.iter().any(|(number, _)| has_hidden_opponents(*number)),
            insufficient: self.of.insufficient.clone(),
            is_complete: self.is_complete(&kept),
            reasoning: self.reasoning(&kept),
        }
    }
}

impl GreedySelector<'_> {
    /// Tells whether nothing was left out, not even what seems to repeat what is shown.
    fn is_complete(&self, kept: &HashSet<usize>) -> bool {
        let has_all =
            self.of.beyond == 0 && !self.of.is_filtered && self.of.left_out.iter().all(|(count, _)| *count == 0);
        has_all && self.of.insufficient.is_none() && self.redundant.iter().all(|(number, _)| kept.contains(number))
    }

    /// Says how notes were chosen, in one sentence.
    fn reasoning(&self, kept: &HashSet<usize>) -> String {
        let of = self.of;
        let shown = kept.iter().filter(|number| **number < of.chosen).count();
        let dropped: usize = of.left_out.iter().map(|(count, _)| count).sum::<usize>() + of.beyond;
        let mut reasons: Vec<String> = Vec::new();
        // One that says nothing new may come along with another.
        let redundant: Vec<&(usize, usize)> =
            self.redundant.iter().filter(|(number, _)| !kept.contains(number)).collect();
        if !redundant.is_empty() {
            let name = |number: usize| &of.all[number].id;
            let pair = |(number, by): &&(usize, usize)| format!("{} of {}", name(*number), name(*by));
            let mut pairs: Vec<String> = redundant.iter().take(MAX_PAIRS).map(pair).collect();
            pairs.extend((redundant.len() > MAX_PAIRS).then(|| "…".to_owned()));
            let count = redundant.len();
            let noun = if count == 1 { "near-duplicate" } else { "near-duplicates" };
            reasons.push(format!("{count} {noun} ({})", pairs.join(", ")));
        }
        let open = self.is_open.iter().filter(|is_open| **is_open).count();
        let over = of.chosen.saturating_sub(shown + redundant.len() + open);
        let limited = (0..of.chosen).filter(|number| self.is_open[*number] && !self.is_within_limits(*number)).count();
        let counts = [(over, "over budget"), (open - limited, "after the target")].into_iter();
        let counts = counts.chain(of.left_out.iter().copied()).chain([(of.beyond + limited, "too far down")]);
        reasons.extend(counts.filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")));
        let reasons = if reasons.is_empty() { "nothing left out".to_owned() } else { reasons.join(", ") };
        format!("{shown} of {} candidates {}: {reasons}", of.chosen + dropped, of.aim)
    }
}
