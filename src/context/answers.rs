//! What a query selects, in tiers: the notes that it names, the journals of days and of periods, then
//! what a search finds.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::civil::Date;
use rayon::prelude::*;

use super::blocks::has_answer;
use super::question::{Asked, COMPARISON, PATTERNS, Question, Side, narrowed};
use super::{Journals, Selector, day_of};
use crate::calendar::{Period, Span};
use crate::escape::abbreviated;
use crate::request::Asking;
use crate::search::{Hit, Query};

/// How much more a note says that was made or changed in a period which the question names.
const FAVOUR: f64 = 1.25;
/// Millionths of 1.
const MILLION: f64 = 1_000_000.0;

impl Selector<'_, '_> {
    /// Chooses what the query selects, and returns what it selects beyond its limit.
    pub(super) fn choose_answers(&mut self, max_answers: Option<usize>) -> Vec<usize> {
        let Some(mut question) = self.question() else {
            return Vec::new();
        };
        let mut answers = self.named(&mut question);
        answers.extend(self.journals_of_days(&question));
        self.named.extend(&answers);
        let of_periods = self.journals_of_periods(&question);
        let (hits, beyond_limit) = self.hits(&question);
        // What was searched for is known by now.
        let (of_periods, mut beyond) = self.with_answers(of_periods);
        answers.extend(of_periods);
        beyond.extend(beyond_limit);
        // What the question names, or something else has chosen, is no mere hit of the search.
        for asked_for in answers.iter().chain(&self.chosen) {
            self.relevance.remove(asked_for);
        }
        answers.extend(hits);
        let mut seen = HashSet::new();
        answers.retain(|note| seen.insert(*note));
        let rest = answers.split_off(answers.len().min(max_answers.unwrap_or(usize::MAX)));
        beyond.splice(0..0, rest);
        self.answers = answers.iter().filter(|note| !self.seen.contains(note)).copied().collect();
        answers.into_iter().for_each(|note| self.choose_itself(note));
        self.question = Some(question);
        beyond
    }

    /// Reads the query, and what flags ask for beside it.
    fn question(&mut self) -> Option<Question> {
        let (text, asking) = (self.selectors.query.as_deref(), self.selectors.asking.as_ref());
        let Some(asking) = asking else { return text.map(Question::plain) };
        let mut asked = Asked {
            notes: self.store.notes(),
            language: self.store.config.language,
            today: asking.today,
            window: window(asking),
            journals: None,
        };
        let mut question = match text {
            Some(text) if asking.is_plain => Question::plain(text),
            Some(text) => asked.understand(text),
            None if asking.comparison.is_some() || asking.wants_patterns => Question::default(),
            None => return None,
        };
        if let Some(sides) = &asking.comparison {
            for side in sides {
                asked.add(&mut question, &side.text, side.span);
            }
            let [a, b] = sides.clone().map(|side| Side { text: side.text, span: side.span });
            question.comparison = Some((a, b));
            question.intend(COMPARISON);
        }
        if asking.wants_patterns && question.patterns.is_none() {
            question.ask_for_patterns(asking.today);
        }
        if let Some(period) = question.patterns {
            question.patterns = narrowed(period, window(asking));
        }
        if question.intents.contains(&COMPARISON) || question.intents.contains(&PATTERNS) {
            asked.journals();
        }
        if let Some(all) = asked.journals {
            self.keep_journals(&all, &mut question);
        }
        Some(question)
    }

    /// Keeps the journals of namespaces that are not left out, warns where a named day loses one, and counts those
    /// that are selected.
    fn keep_journals(&mut self, all: &Arc<Journals>, question: &mut Question) {
        let notes = self.store.notes();
        let is_out = |note: usize| self.excluded.hold(&notes[note]);
        for named in question.dates.iter().filter(|named| all.on(named.day).any(is_out)) {
            let warning = format!("a journal of {} is left out: its namespace is excluded", named.day);
            question.warnings.push(warning);
        }
        let kept = if self.excluded.is_empty() { Arc::clone(all) } else { Arc::new(all.without(is_out)) };
        let window = self.selectors.asking.as_ref().map_or(ALWAYS, window);
        let selected = |period: Period| kept.within(period).iter().filter(|(_, note)| self.passes(*note)).count();
        for named in &mut question.dates {
            named.journals = selected(Span::Day(named.day).period());
        }
        for named in &mut question.periods {
            named.journals = narrowed(named.period, window).map_or(0, selected);
        }
        self.journals = Some(kept);
    }

    /// Returns the notes that the question names; those of a namespace that is left out are told.
    fn named(&self, question: &mut Question) -> Vec<usize> {
        let notes = self.store.notes();
        let mut named: Vec<usize> = Vec::new();
        for reference in &mut question.references {
            let is_out = |note: &usize| self.excluded.hold(&notes[*note]);
            if reference.notes.iter().any(is_out) {
                let warning = format!("{} is left out: its namespace is excluded", abbreviated(&reference.text));
                question.warnings.push(warning);
                reference.notes.retain(|note| !is_out(note));
            }
            named.extend(&reference.notes);
        }
        question.references.retain(|reference| !reference.notes.is_empty());
        named
    }

    /// Returns the journals of the days that the question names.
    fn journals_of_days(&self, question: &Question) -> Vec<usize> {
        let Some(journals) = &self.journals else { return Vec::new() };
        let of_days = question.dates.iter().flat_map(|named| journals.on(named.day));
        of_days.filter(|note| self.passes(*note)).collect()
    }

    /// Returns the journals of the periods that the question names.
    fn journals_of_periods(&self, question: &Question) -> Vec<usize> {
        let Some(journals) = &self.journals else { return Vec::new() };
        let window = self.selectors.asking.as_ref().map_or(ALWAYS, window);
        let of_period =
            |period: Period| narrowed(period, window).map_or(Vec::new(), |days| journals.newest_first(days));
        let of_periods = question.periods.iter().flat_map(|named| of_period(named.period));
        let of_periods = of_periods.map(|note| self.digests.stand_in(note));
        of_periods.filter(|note| self.passes(*note)).collect()
    }

    /// Leaves out notes of which no block holds a word, where only such blocks are shown. Returns also the notes
    /// that were not looked at.
    fn with_answers(&self, mut notes: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        let most = self.selectors.asking.as_ref().and_then(|asking| asking.blocks_within);
        let (Some(most), Some(marker)) = (most, &self.marker) else { return (notes, Vec::new()) };
        let beyond = notes.split_off(notes.len().min(most));
        let all = self.store.notes();
        (notes.into_par_iter().filter(|note| has_answer(&all[*note], marker)).collect(), beyond)
    }

    /// Returns what a search finds, and what it finds beyond its limit.
    fn hits(&mut self, question: &Question) -> (Vec<usize>, Vec<usize>) {
        let Some(text) = &question.rest else {
            return (Vec::new(), Vec::new());
        };
        let (engine, around) = self.desk.searching(!self.selectors.no_graph);
        let found = engine.search(&Query::parse(text), around.as_ref());
        self.spellings = found.spellings;
        self.marker = found.marker.map(Arc::new);
        let mut hits = found.hits;
        self.favour(&mut hits, &question.favoured);
        let asking = self.selectors.asking.as_ref();
        let least = asking.and_then(|asking| asking.min_relevance).map_or(0.0, |least| f64::from(least) / MILLION);
        let days = asking.map(window).filter(|days| *days != ALWAYS);
        let notes = self.store.notes();
        let is_in = |note: usize| days.is_none_or(|days| day_of(&notes[note]).is_some_and(|day| days.holds(day)));
        hits.retain(|hit| hit.relevance >= least && is_in(hit.note) && self.passes(hit.note));
        let mut seen = HashSet::new();
        let stand_in = |hit: &Hit| (self.digests.stand_in(hit.note), hit.relevance);
        let hits = hits.iter().map(stand_in).filter(|(note, _)| seen.insert(*note));
        let hits = hits.filter(|(note, _)| !self.excluded.hold(&notes[*note]));
        let hits: Vec<(usize, f64)> = self.store.retired_last(hits, |(note, _)| *note);
        self.relevance = hits.iter().copied().collect();
        let (mut hits, not_looked_at) = self.with_answers(hits.into_iter().map(|(note, _)| note).collect());
        let limit = asking.and_then(|asking| asking.search_limit).unwrap_or(usize::MAX);
        let mut beyond = hits.split_off(hits.len().min(limit));
        beyond.extend(not_looked_at);
        (hits, beyond)
    }

    /// Lets notes go first that were made or changed in periods of which no journal tells. What the
    /// whole query is the title of stays where it is.
    fn favour(&self, hits: &mut [Hit], periods: &[Period]) {
        if periods.is_empty() {
            return;
        }
        let notes = self.store.notes();
        let is_in = |note: usize| {
            let note = &notes[note];
            let days = [&note.created, &note.updated].into_iter().flatten().map(|stamp| stamp.date());
            days.into_iter().any(|day| periods.iter().any(|period| period.holds(day)))
        };
        let named = hits.iter().take_while(|hit| hit.relevance >= 1.0).count();
        let rest = hits.get_mut(named..).unwrap_or_default();
        rest.iter_mut().filter(|hit| is_in(hit.note)).for_each(|hit| hit.score *= FAVOUR);
        rest.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
}

/// All days.
const ALWAYS: Period = Period { from: None, to: Date::MAX };

/// Returns the days that hits and journals are narrowed to.
fn window(asking: &Asking) -> Period {
    Period { from: asking.since, to: asking.until.unwrap_or(Date::MAX) }
}
