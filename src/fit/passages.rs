//! Fitting of passages: the fragments of all notes by their worth, each shown in its note and in the order of the text.
//!
//! The attempts have one order for all budgets. Shown is the longest run of them from the first on that fits, and of the next
//! one what of it fits: trying others, too, fills the room with scraps. So a larger budget never loses the run of a smaller
//! one. What matches much worse than the best is no attempt: a budget is a ceiling and no target.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::attempts::{PassageAttempt, attempts, is_commit};
use super::budget::TextSize;
use super::document::DocumentBuilder;
use super::selector::{GreedySelector, Proposal};

use crate::render::{AnswerTail, EntryText, Included, ShownPart};
use crate::report::{ChosenFragments, Fragment, NoteLevel, Passages, SelectionStats, named_words};

/// The share of the text of a note from which on the whole note is shown if it fits.
const WHOLE_SHARE: f64 = 0.95;
/// The longest gap between two passages of a note that is closed, in bytes.
const MAX_GAP: usize = 300;
/// The most entries that are considered.
const MAX_ENTRIES: usize = 1_000;
/// The most notes that are named behind the passages, and the most characters of their names.
const MAX_NAMED: usize = 2;
const MAX_NAMES_CHARS: usize = 150;

/// Returns passages of the notes of a report. `everything`: the size of the whole document.
pub(super) fn pack(document: DocumentBuilder<'_>, everything: TextSize) -> Result<DocumentBuilder<'_>, TextSize> {
    let mut packer = Packer::new(document);
    packer.document.make_room_for_frame(everything)?;
    packer.accept_derived();
    if let Some(after) = packer.document.report.head.show.after {
        packer.leave_out(after);
    }
    packer.run();
    packer.cut_first();
    packer.add_tail();
    Ok(packer.document)
}

struct Packer<'a> {
    document: DocumentBuilder<'a>,
    /// The proposals in the order of the ranking. The index of a proposal is its rank.
    order: Vec<Proposal>,
    /// The rank of each entry; `usize::MAX` for entries that were not proposed.
    ranks: Vec<usize>,
    attempts: Vec<PassageAttempt>,
    proposals: Option<GreedySelector<'a>>,
    /// What pages before show.
    before: Included,
    /// The passage that this page or the one before cuts.
    cut: Option<CutPassage>,
    /// The number of attempts up to the last one that this page or one before shows.
    reached: usize,
    /// The characters that an answer needs to show as many attempts. Each attempt adds at least one: a whole note can be
    /// shorter than its passages, and a number of characters must tell where a page ends.
    size: usize,
}

/// A fragment that is shown in part.
#[derive(Clone)]
struct CutPassage {
    /// The rank of its note.
    rank: usize,
    /// Its index among the fragments of the note.
    index: usize,
    /// The numbers of its sentences that this page and those before show.
    sentences: Range<usize>,
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

impl<'a> Packer<'a> {
    fn new(mut document: DocumentBuilder<'a>) -> Self {
        if document.report.head.show.has_pages {
            // Room for the line that tells the next page.
            let after = document.report.head.show.after.map_or(0, |after| after.saturating_mul(10));
            document.tail.more = Some(document.limits.max_chars().max(after));
        }
        let mut proposals = document.report.candidates.as_ref().map(GreedySelector::new);
        let order = match &mut proposals {
            Some(proposals) => draw_all(proposals),
            None => (0..document.report.entries.len()).map(Proposal::whole).collect(),
        };
        let mut ranks = vec![usize::MAX; document.report.entries.len()];
        order.iter().enumerate().for_each(|(rank, proposal)| ranks[proposal.entry] = rank);
        let attempts = attempts(&document, &order, document.limits.max_chars());
        let before = Included::default();
        let mut packer = Self { document, order, ranks, attempts, proposals, before, cut: None, reached: 0, size: 0 };
        packer.document.stats = packer.stats();
        packer
    }

    /// Returns a packer that makes other attempts in another document of the same report. `more`: where its next page begins.
    fn simulated(&self, mut document: DocumentBuilder<'a>, attempts: Vec<PassageAttempt>, more: usize) -> Self {
        document.tail.more = Some(more);
        let (order, ranks, proposals) = (self.order.clone(), self.ranks.clone(), self.proposals.clone());
        let before = Included::default();
        let mut packer = Self { document, order, ranks, attempts, proposals, before, cut: None, reached: 0, size: 0 };
        packer.document.stats = packer.stats();
        packer.accept_derived();
        packer
    }

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
            if entry.note().is_none() && !self.accept(rank, None, None) {
                self.document.omit(entry);
            }
        }
    }

    /// Leaves out what an answer of so many characters shows.
    fn leave_out(&mut self, chars: usize) {
        let attempts = self.attempts.iter().filter(|attempt| attempt.least_chars <= chars).copied().collect();
        let limits = self.document.limits.of_chars(chars);
        let mut before = self.simulated(DocumentBuilder { limits, ..self.document.clone() }, attempts, chars);
        before.run();
        self.reached = before.reached;
        self.before = before.document.included;
        self.cut = before.cut;
        for chosen in self.before.fragments.values_mut() {
            // The rest of it is shown by this page.
            if let Some((index, _)) = chosen.part.take() {
                chosen.all.remove(&index);
            }
        }
        self.document.has_pages_before = true;
    }

    /// Whether the whole of an attempt is shown.
    fn is_shown(&self, attempt: &PassageAttempt) -> bool {
        let chosen = self.chosen(attempt.rank);
        let is_in_part = |index: usize| chosen.part.as_ref().is_some_and(|(of, _)| *of == index);
        self.is_whole(attempt.rank)
            || attempt.fragment.is_some_and(|index| chosen.all.contains(&index) && !is_in_part(index))
    }

    /// Accepts attempts in their order as far as there is room, and a part of the next one.
    fn run(&mut self) {
        for index in self.reached..self.attempts.len() {
            let attempt = self.attempts[index];
            if self.document.has_reached_target() {
                return;
            }
            if !self.is_over(&attempt) {
                let has_room = self.size < self.document.limits.max_chars();
                if has_room && self.accept_attempt(attempt) {
                    self.cut = None;
                    self.measure();
                } else if !self.document.texts.is_empty() {
                    // The page behind a later one shows the whole.
                    if !self.document.has_pages_before {
                        self.accept_part(attempt);
                    }
                    return;
                } else if self.accept_part(attempt) {
                    self.reached += usize::from(self.cut.is_none());
                    return;
                }
                // What has room nowhere must not keep a reader from what follows.
            }
            self.reached = index + 1;
        }
    }

    /// Takes the characters of an answer up to here.
    fn measure(&mut self) {
        let frame = self.document.renderer.frame_chars(self.document.frame_state(true));
        self.size = (self.size + 1).max(self.document.chars + frame);
    }

    /// Accepts an attempt with what belongs to it.
    fn accept_attempt(&mut self, attempt: PassageAttempt) -> bool {
        let Some(index) = attempt.fragment else { return self.accept(attempt.rank, None, None) };
        let Some(fragment) = self.fragment(attempt.rank, index) else { return false };
        let with_companions = fragment.companions.iter().copied().chain([index]);
        let with_gaps = with_companions.chain(self.gaps(attempt.rank, index)).collect();
        self.choose(attempt.rank, with_gaps)
    }

    /// Accepts a fragment without the gaps around it, or alone.
    fn accept_less(&mut self, rank: usize, index: usize, fragment: &Fragment) -> bool {
        let with_companions = fragment.companions.iter().copied().chain([index]).collect();
        self.choose(rank, with_companions) || (fragment.is_alone && self.choose(rank, BTreeSet::from([index])))
    }

    /// Accepts what fits of an attempt without room for the whole: the fragment without what belongs to it, or its best
    /// sentences.
    fn accept_part(&mut self, attempt: PassageAttempt) -> bool {
        let rank = attempt.rank;
        let cut = self.cut.take();
        let Some(passages) = self.passages(rank) else { return false };
        let best = || passages.by_worth().first().copied();
        let Some(index) = attempt.fragment.or_else(best) else { return false };
        let Some(fragment) = self.fragment(rank, index) else { return false };
        (attempt.fragment.is_some() && self.accept_less(rank, index, fragment))
            || self.accept_sentences((rank, index), fragment, cut)
    }

    /// Accepts the sentence of a fragment that matches best, with as many of those after it as fit, then of those before it; on
    /// the next page the following ones.
    fn accept_sentences(
        &mut self,
        (rank, index): (usize, usize),
        fragment: &Fragment,
        cut: Option<CutPassage>,
    ) -> bool {
        let Some(entry) = self.document.note(self.order[rank].entry) else { return false };
        let Some(content) = &entry.content else { return false };
        let body = entry.note.parsed_or_empty().body();
        let sentences = fragment.sentences(body);
        let before = cut.filter(|cut| (cut.rank, cut.index) == (rank, index)).map(|cut| cut.sentences);
        let (first, within) = match &before {
            Some(before) if before.end < sentences.len() => (before.end, before.end..sentences.len()),
            Some(before) => (before.start.saturating_sub(1), 0..before.start),
            None => {
                let weights = sentences.iter().map(|one| content.weight(body.get(one.clone()).unwrap_or_default()));
                let weights: Vec<f64> = weights.collect();
                let best = (0..sentences.len()).rev().max_by(|a, b| weights[*a].total_cmp(&weights[*b]));
                let Some(best) = best.filter(|best| weights[*best] > 0.0) else { return false };
                (best, 0..sentences.len())
            }
        };
        let mut shown = first..first + 1;
        if within.is_empty() || !self.choose_part(rank, index, &sentences, &shown) {
            return false;
        }
        while shown.end < within.end && self.choose_part(rank, index, &sentences, &(shown.start..shown.end + 1)) {
            shown.end += 1;
        }
        // What is shown must be the beginning of what a larger answer shows.
        while shown.end == within.end
            && shown.start > within.start
            && self.choose_part(rank, index, &sentences, &(shown.start - 1..shown.end))
        {
            shown.start -= 1;
        }
        let before = before.unwrap_or_else(|| shown.clone());
        let sentences = before.start.min(shown.start)..before.end.max(shown.end);
        self.cut = Some(CutPassage { rank, index, sentences });
        true
    }

    /// Shows a run of the sentences of a fragment beside the chosen fragments of a note, if that fits.
    fn choose_part(&mut self, rank: usize, index: usize, sentences: &[Range<usize>], shown: &Range<usize>) -> bool {
        let run = sentences.get(shown.clone()).unwrap_or_default();
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return false };
        let mut chosen = self.chosen(rank).clone();
        chosen.all.insert(index);
        chosen.part = Some((index, first.start..last.end));
        self.accept(rank, Some(chosen), None)
    }

    /// Returns the fragments of the short gaps between one and the chosen ones before and after it.
    fn gaps(&self, rank: usize, index: usize) -> BTreeSet<usize> {
        let chosen = self.with_before(rank, &self.chosen(rank).all);
        let before = chosen.range(..index).next_back().map(|before| *before..index);
        let after = chosen.range(index..).next().map(|after| index..*after);
        let ends = before.into_iter().chain(after).filter(|ends| self.is_gap(rank, ends));
        ends.flat_map(|ends| ends.skip(1)).collect()
    }

    /// Whether the text between two fragments is so short that it is shown with them.
    fn is_gap(&self, rank: usize, ends: &Range<usize>) -> bool {
        let ends = self.fragment(rank, ends.start).zip(self.fragment(rank, ends.end));
        ends.is_some_and(|(first, last)| {
            first.summary.is_none() && last.range.start.saturating_sub(first.range.end) <= MAX_GAP
        })
    }

    /// Adds fragments to the chosen ones of a note if they fit; the whole note if they are most of it. What a page before shows
    /// counts, and is not shown again.
    fn choose(&mut self, rank: usize, more: BTreeSet<usize>) -> bool {
        let Some(passages) = self.passages(rank).filter(|_| !self.is_whole(rank)) else { return false };
        let with_before = self.with_before(rank, &self.chosen(rank).all);
        let before = self.with_before(rank, &BTreeSet::new());
        let mut all = ChosenFragments { all: with_before.union(&more).copied().collect(), part: None };
        let mut text = None;
        if self.is_most_of(rank, &all) || self.is_whole_shorter(rank, &all, &mut text) {
            if before.is_empty() {
                return self.accept(rank, None, None);
            }
            all.all.extend(0..passages.fragments.len());
        }
        all.all.retain(|index| !before.contains(index));
        let text = text.filter(|_| before.is_empty());
        self.accept(rank, Some(all), text)
    }

    /// Returns fragments of a note and those that pages before show.
    fn with_before(&self, rank: usize, chosen: &BTreeSet<usize>) -> BTreeSet<usize> {
        let before = self.before.fragments.get(&self.order[rank].entry);
        before.map_or_else(|| chosen.clone(), |before| before.all.union(chosen).copied().collect())
    }

    fn chosen(&self, rank: usize) -> &ChosenFragments {
        static NONE: ChosenFragments = ChosenFragments { all: BTreeSet::new(), part: None };
        self.document.included.fragments.get(&self.order[rank].entry).unwrap_or(&NONE)
    }

    fn is_whole(&self, rank: usize) -> bool {
        let entry = self.order[rank].entry;
        self.document.included.has(entry) && !self.document.included.fragments.contains_key(&entry)
    }

    /// Whether fragments are at least [`WHOLE_SHARE`] of the text of a note.
    fn is_most_of(&self, rank: usize, chosen: &ChosenFragments) -> bool {
        let (all, of_chosen) = self.bytes(rank, chosen);
        of_chosen as f64 >= WHOLE_SHARE * all as f64
    }

    /// Returns the bytes of all fragments of a note, and those of the chosen ones.
    fn bytes(&self, rank: usize, chosen: &ChosenFragments) -> (usize, usize) {
        let Some(passages) = self.passages(rank) else { return (0, 0) };
        let bytes = |fragment: &Fragment| fragment.range.len();
        let of_chosen = chosen.all.iter().filter_map(|index| passages.fragments.get(*index)).map(bytes).sum();
        (passages.fragments.iter().map(bytes).sum(), of_chosen)
    }

    /// Whether a whole note is no longer than fragments of it: passages have line numbers, and in some formats the text
    /// twice. Else a larger budget could show a passage in place of the whole. `text` gets the text of the fragments, if it was
    /// needed for that.
    fn is_whole_shorter(&mut self, rank: usize, chosen: &ChosenFragments, text: &mut Option<EntryText>) -> bool {
        let proposal = self.order[rank];
        let (all, of_chosen) = self.bytes(rank, chosen);
        if all > 2 * of_chosen + MAX_GAP {
            return false;
        }
        let document = &mut self.document;
        let chosen_before = set_fragments(&mut document.included, proposal.entry, Some(chosen.clone()));
        let render = |shown_part| document.renderer.render(proposal.entry, shown_part, &document.included);
        let chars = |text: &EntryText| text.items.iter().map(|item| item.text.chars().count()).sum::<usize>();
        let (whole, passages) = (render(whole_part(document, &proposal)), render(ShownPart::Passages(1.0)));
        let is_shorter = chars(&whole) <= chars(&passages);
        *text = Some(passages);
        set_fragments(&mut document.included, proposal.entry, chosen_before);
        is_shorter
    }

    /// Shows the chosen fragments of an entry, or the whole entry with `None`, in place of what is shown of it. Returns
    /// whether that fits; the document is unchanged if not. `text`: the text of the fragments, if it is known.
    fn accept(&mut self, rank: usize, chosen: Option<ChosenFragments>, text: Option<EntryText>) -> bool {
        let proposal = self.order[rank];
        let entry = proposal.entry;
        let shown_part = match chosen {
            Some(_) => ShownPart::Passages(1.0),
            None => whole_part(&self.document, &proposal),
        };
        let chosen_before = set_fragments(&mut self.document.included, entry, chosen);
        let position = self.document.texts.iter().position(|(shown, _)| *shown == entry);
        let position = position.unwrap_or(self.document.texts.len());
        let backup = self.document.replace(position, shown_part, &proposal, text);
        let stats_before = std::mem::take(&mut self.document.stats);
        self.document.stats = self.stats();
        self.document.is_complete = self.is_everything();
        let is_truncated = self.document.is_truncated();
        if self.document.has_room(self.document.frame_state(is_truncated), None) {
            return true;
        }
        self.document.is_complete = false;
        self.document.stats = stats_before;
        self.document.restore(entry, backup);
        set_fragments(&mut self.document.included, entry, chosen_before);
        false
    }

    /// Whether every entry is shown whole.
    fn is_everything(&self) -> bool {
        let included = &self.document.included;
        self.order.iter().all(|proposal| included.has(proposal.entry))
            && included.fragments.iter().all(|(entry, chosen)| self.looks_whole(*entry, chosen))
    }

    /// Whether the chosen fragments of an entry read as the whole entry: a note may have nothing but a summary.
    fn looks_whole(&self, entry: usize, chosen: &ChosenFragments) -> bool {
        let count = self.passages(self.ranks[entry]).map_or(0, |passages| passages.fragments.len());
        if chosen.all.len() < count || chosen.part.is_some() {
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

    /// Cuts the first note if nothing fits whole.
    fn cut_first(&mut self) {
        if !self.document.texts.is_empty() || self.document.has_pages_before {
            return;
        }
        let is_note = |proposal: &&Proposal| self.document.note(proposal.entry).is_some();
        // The beginning of a longer note may be about something else.
        let matches = |proposal: &&Proposal| {
            let passages = self.passages(self.ranks[proposal.entry]);
            !self.document.report.head.show.has_only_matches || passages.is_none_or(|passages| passages.whole.is_some())
        };
        // What is tried first, if commits are ranked before it.
        let first = self.order.iter().find(is_note);
        let has_commit = first.and_then(|first| self.document.note(first.entry)).is_some_and(is_commit);
        let tried = self.attempts.first().filter(|_| has_commit);
        let first = tried.and_then(|attempt| self.order.get(attempt.rank)).or(first);
        if let Some(first) = first.filter(matches).copied() {
            self.document.cut_first(&first, self.proposals.as_ref());
        }
    }

    /// Adds the end of the answer, as far as there is room: the words that are missing, the next page, the names of others.
    fn add_tail(&mut self) {
        let has_pages = self.document.report.head.show.has_pages;
        let is_next = has_pages && self.attempts.iter().skip(self.reached).any(|attempt| !self.is_over(attempt));
        let more = (is_next && !self.document.texts.is_empty()).then(|| self.chars_so_far());
        let is_behind_all = self.document.has_pages_before && !is_next && self.document.texts.is_empty();
        let mut tail = AnswerTail { more, is_behind_all, ..AnswerTail::default() };
        self.document.tail = AnswerTail::default();
        if !self.try_tail(&tail) {
            tail.more = None;
        }
        tail.missing = self.missing_words();
        if !self.try_tail(&tail) {
            tail.missing = Vec::new();
        }
        if !has_pages {
            return;
        }
        let mut names = 0;
        for rank in 0..self.order.len() {
            let entry = self.order[rank].entry;
            let Some(note) = self.document.note(entry).filter(|_| !self.document.included.has(entry)) else { continue };
            names += note.note.path.chars().count() + note.note.title().chars().count();
            if tail.also.len() == MAX_NAMED || names > MAX_NAMES_CHARS || self.before.has(entry) {
                break;
            }
            tail.also.push(entry);
            if !self.try_tail(&tail) {
                break;
            }
        }
    }

    /// Whether an attempt is shown on this page or on one before.
    fn is_over(&self, attempt: &PassageAttempt) -> bool {
        let entry = self.order[attempt.rank].entry;
        let is_before = match self.before.fragments.get(&entry) {
            Some(chosen) => attempt.fragment.is_some_and(|index| chosen.all.contains(&index)),
            None => self.before.has(entry),
        };
        is_before || self.is_shown(attempt)
    }

    /// Sets the end of the answer if it fits.
    fn try_tail(&mut self, tail: &AnswerTail) -> bool {
        let before = std::mem::replace(&mut self.document.tail, tail.clone());
        let state = self.document.frame_state(self.document.is_truncated());
        let fits = self.document.has_room(state, None);
        if !fits {
            self.document.tail = before;
        }
        fits
    }

    /// Returns the words of the question that nothing shown has; none for an answer that is cut.
    fn missing_words(&self) -> Vec<String> {
        let Some(matched) = &self.document.report.head.question_match else { return Vec::new() };
        let words: Option<Vec<u64>> = self.document.texts.iter().map(|(entry, _)| self.words_of(*entry)).collect();
        let Some(words) = words.filter(|words| !words.is_empty() && !self.document.has_cut) else { return Vec::new() };
        let found = words.into_iter().fold(0, |all, words| all | words);
        let is_missing = |(bit, word): &(u32, &String)| found >> bit & 1 == 0 && !matched.unknown.contains(word);
        let mut seen = HashSet::new();
        let missing = (0..).zip(&matched.words).filter(is_missing).map(|(_, word)| word.clone());
        named_words(&missing.filter(|word| seen.insert(word.clone())).collect::<Vec<_>>())
    }

    /// Returns the words of the question in what is shown of an entry; `None` for one without passages.
    fn words_of(&self, entry: usize) -> Option<u64> {
        let note = self.document.note(entry)?;
        let passages = note.passages.get()?;
        let Some(chosen) = self.document.included.fragments.get(&entry) else {
            return Some(passages.words.iter().fold(0, |all, words| all | words));
        };
        let part = chosen.part.as_ref().map(|(index, range)| {
            let body = note.note.parsed_or_empty().body().get(range.clone()).unwrap_or_default();
            let headings = passages.fragments[*index].heading_path.join("\n");
            let text = format!("{}\n{headings}\n{body}", note.note.title());
            note.content.as_ref().map_or(0, |content| content.words(&text))
        });
        let is_whole = |index: &&usize| chosen.part.as_ref().is_none_or(|(of, _)| of != *index);
        let whole = chosen.all.iter().filter(is_whole).filter_map(|index| passages.words.get(*index));
        Some(whole.fold(part.unwrap_or_default(), |all, words| all | words))
    }

    /// Returns the characters of an answer that shows this page and those before, and not the next attempt.
    fn chars_so_far(&self) -> usize {
        let limits = self.document.limits;
        if !self.document.has_pages_before && limits.tokens.is_none() && limits.chars != usize::MAX {
            return limits.chars;
        }
        let attempts: Vec<PassageAttempt> = self.attempts.iter().take(self.reached).copied().collect();
        let least = attempts.iter().map(|attempt| attempt.least_chars).max().unwrap_or_default();
        let limits = limits.of_chars(usize::MAX);
        let document = DocumentBuilder::new(self.document.report, self.document.renderer, limits);
        // The digits of the number of characters are added below.
        let mut all = self.simulated(document, attempts, 0);
        all.run();
        if let Some(cut) = &self.cut {
            all.show_cut(cut);
        }
        let after = self.document.report.head.show.after.map_or(0, |after| after + 1);
        with_digits(all.size).max(least).max(after)
    }

    /// Shows a part of a passage.
    fn show_cut(&mut self, cut: &CutPassage) {
        let fragment = self.fragment(cut.rank, cut.index);
        let note = self.document.note(self.order[cut.rank].entry);
        if let Some((fragment, entry)) = fragment.zip(note) {
            let sentences = fragment.sentences(entry.note.parsed_or_empty().body());
            self.choose_part(cut.rank, cut.index, &sentences, &cut.sentences);
            self.measure();
        }
    }
}

/// Returns the length of a text that names this length, whose length with a number of one digit is `chars`.
fn with_digits(chars: usize) -> usize {
    (0..3).fold(chars, |all, _| chars + all.max(1).ilog10() as usize)
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
fn set_fragments(included: &mut Included, entry: usize, chosen: Option<ChosenFragments>) -> Option<ChosenFragments> {
    match chosen {
        Some(chosen) => included.fragments.insert(entry, chosen),
        None => included.fragments.remove(&entry),
    }
}
