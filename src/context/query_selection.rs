//! Selection by a query, in this order: the notes that it names, the journals of its days and periods, hits of a search.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::civil::Date;
use rayon::prelude::*;

use super::blocks::has_answer;
use super::question::{FavouredDays, Question, QuestionContext, narrowed};
use super::{CommitWords, Journals, Selector, SemanticHits, day_of};
use crate::calendar::{DateRange, Period};
use crate::embedder::Embedder;
use crate::escape::abbreviated;
use crate::report::{COMPARISON, MatchLevel, PATTERNS, QuestionMatch, why_unsure};
use crate::request::{Occasion, QuestionOptions, Score};
use crate::search::{Hit, Query, SearchResults, by_relevance};
use crate::store::{NoteIdx, NoteSet};

/// The factor on the score of a note that was created or changed in a period of the question. The words of the period
/// are not searched for, so that nothing else distinguishes such notes.
const DATE_BOOST: f64 = 3.5;
/// The largest factor by which scores of commits become comparable with those of notes.
const MAX_FACTOR: f64 = 4.0;
/// The most hits with an entry in [`Selection::shares`](super::Selection::shares).
const MAX_SHARES: usize = 1_000;

impl Selector<'_, '_> {
    /// Adds the notes that the query selects, and returns those beyond its limit.
    pub(super) fn choose_answers(&mut self) -> Vec<NoteIdx> {
        let Some(mut question) = self.question() else {
            return Vec::new();
        };
        if self.selectors.within_notes {
            // The words are searched for in the named notes only.
            self.hits(&question);
            self.result.relevance.clear();
            self.result.question = Some(question);
            return Vec::new();
        }
        let mut answers = self.named(&mut question);
        answers.extend(self.journals_of_days(&question));
        self.result.named.extend(&answers);
        let of_periods = self.journals_of_periods(&question);
        let found = self.hits(&question);
        // The search has set the highlighter that this needs.
        let (of_periods, mut beyond) = self.with_answers(of_periods);
        // A question without a topic is about all journals of its periods.
        let has_topic = question.has_topic();
        let is_on_topic = |note: &NoteIdx| !has_topic || found.matching.contains(note);
        let (of_periods, off_topic): (Vec<NoteIdx>, Vec<NoteIdx>) = of_periods.into_iter().partition(is_on_topic);
        answers.extend(of_periods);
        beyond.extend(found.beyond);
        // Notes that the question names, or that are selected otherwise, have no relevance of a mere hit.
        for named in answers.iter().chain(&self.chosen) {
            self.result.relevance.remove(named);
        }
        answers.extend(found.hits);
        self.result.relevance.extend(off_topic.iter().filter(|note| !answers.contains(note)).map(|note| (*note, 0.0)));
        answers.extend(off_topic);
        if let Some(matched) = self.result.question_match.as_mut().filter(|_| !answers.is_empty()) {
            // Notes that the question names are shown whether or not they have its words.
            matched.level = matched.level.max(MatchLevel::Weak);
        }
        let mut seen = NoteSet::default();
        answers.retain(|note| seen.insert(*note));
        let rest = answers.split_off(answers.len().min(self.selectors.max_hits.unwrap_or(usize::MAX)));
        beyond.splice(0..0, rest);
        self.result.answers = answers.iter().copied().filter(|note| !self.seen.contains(*note)).collect();
        let unknown = self.result.question_match.as_ref().map_or(&[][..], |matched| &matched.unknown);
        self.result.insufficient = answers.is_empty().then(|| why_empty(&question, found.unanswered, unknown));
        answers.into_iter().for_each(|note| self.choose_itself(note));
        self.result.question = Some(question);
        beyond
    }

    /// Parses the query.
    fn question(&mut self) -> Option<Question> {
        let (text, asking) = (self.selectors.query.as_deref(), self.selectors.asking.as_ref());
        let Some(asking) = asking else { return text.map(Question::plain) };
        let (store, hides_drafts) = (self.store, self.hides_outdated);
        let mut asked = QuestionContext {
            notes: self.store.notes(),
            language: self.store.config.language,
            today: asking.today,
            window: window(asking),
            journals: None,
            is_hidden: &|note| hides_drafts && store.is_hidden_draft(note),
        };
        let mut question = match text {
            Some(text) if asking.is_plain || asking.occasion.is_some() => Question::plain(text),
            Some(text) => asked.parse(text),
            None => return None,
        };
        if let Some(period) = question.patterns {
            question.patterns = narrowed(period, window(asking));
        }
        if question.intents.contains(&COMPARISON) || question.intents.contains(&PATTERNS) {
            asked.journals();
        }
        if let Some(all) = asked.journals {
            self.filter_journals(&all, &mut question);
        }
        Some(question)
    }

    /// Returns the days to which hits and the journals of periods are narrowed.
    fn window(&self) -> Period {
        self.selectors.asking.as_ref().map_or(ALWAYS, window)
    }

    /// Removes journals of excluded namespaces, with a warning for each day that loses one; counts the selected ones.
    fn filter_journals(&mut self, all: &Arc<Journals>, question: &mut Question) {
        let notes = self.store.notes();
        let is_excluded = |note: NoteIdx| self.excluded.contains(&notes[note]);
        for named in question.dates.iter().filter(|named| all.on(named.day).any(is_excluded)) {
            let warning = format!("a journal of {} is omitted: its namespace is excluded", named.day);
            question.warnings.push(warning);
        }
        let kept = if self.excluded.is_empty() { Arc::clone(all) } else { Arc::new(all.without(is_excluded)) };
        let window = self.window();
        let selected = |period: Period| kept.within(period).iter().filter(|(_, note)| self.passes(*note)).count();
        for named in &mut question.dates {
            named.journals = selected(DateRange::Day(named.day).period());
            let is_missing = named.journals == 0 && !all.on(named.day).any(is_excluded);
            question.warnings.extend(is_missing.then(|| match all.on(named.day).next() {
                None => format!("there is no journal of {}", named.day),
                Some(_) => format!("no journal of {} matches the filters", named.day),
            }));
        }
        for named in &mut question.periods {
            named.journals = narrowed(named.period, window).map_or(0, selected);
        }
        self.result.journals = Some(kept);
    }

    /// Returns the notes that the question names, and removes those of excluded namespaces and those that do not pass the filters
    /// with a warning.
    fn named(&self, question: &mut Question) -> Vec<NoteIdx> {
        let notes = self.store.notes();
        let mut named: Vec<NoteIdx> = Vec::new();
        for reference in &mut question.references {
            let is_excluded = |note: &NoteIdx| self.excluded.contains(&notes[*note]);
            let passes = |note: &NoteIdx| self.filter.matches(*note);
            let why = if reference.notes.iter().any(is_excluded) {
                "its namespace is excluded"
            } else if !reference.notes.iter().all(passes) {
                "it does not match the filters"
            } else {
                named.extend(&reference.notes);
                continue;
            };
            question.warnings.push(format!("{} is omitted: {why}", abbreviated(&reference.text)));
            reference.notes.retain(|note| !is_excluded(note) && passes(note));
            named.extend(&reference.notes);
        }
        question.references.retain(|reference| !reference.notes.is_empty());
        named
    }

    /// Returns the journals of the days that the question names.
    fn journals_of_days(&self, question: &Question) -> Vec<NoteIdx> {
        let Some(journals) = &self.result.journals else { return Vec::new() };
        let of_days = question.dates.iter().flat_map(|named| journals.on(named.day));
        of_days.filter(|note| self.passes(*note)).collect()
    }

    /// Returns the journals of the periods that the question names.
    fn journals_of_periods(&self, question: &Question) -> Vec<NoteIdx> {
        let Some(journals) = &self.result.journals else { return Vec::new() };
        let periods = question.periods.iter().filter_map(|named| narrowed(named.period, self.window()));
        let of_periods = periods
            .flat_map(|days| journals.newest_first(days))
            .map(|note| self.result.replacements.representative(note));
        of_periods.filter(|note| self.passes(*note) && !self.is_hidden(*note)).collect()
    }

    /// Removes notes without a matching block, if only such blocks are shown. Returns also the notes beyond the limit.
    fn with_answers(&self, mut notes: Vec<NoteIdx>) -> (Vec<NoteIdx>, Vec<NoteIdx>) {
        let limit = self.selectors.asking.as_ref().and_then(|asking| asking.blocks_within);
        let (Some(limit), Some(highlighter)) = (limit, &self.result.highlighter) else { return (notes, Vec::new()) };
        let beyond = notes.split_off(notes.len().min(limit));
        let of_commits = self.result.commits.as_ref().and_then(|commits| commits.highlighter.as_ref());
        let answers = |note: &NoteIdx| {
            let note = &self.store.notes()[*note];
            has_answer(note, of_commits.filter(|_| note.is_commit()).unwrap_or(highlighter))
        };
        (notes.into_par_iter().filter(answers).collect(), beyond)
    }

    fn hits(&mut self, question: &Question) -> SearchHits {
        let Some(text) = &question.rest else { return SearchHits::default() };
        // It loads its model while words are searched for.
        let embedder = self.embedder();
        let (engine, around) = self.session.engine_and_neighbourhood(!self.selectors.no_graph);
        let asking = self.selectors.asking.as_ref();
        let occasion = asking.and_then(|asking| asking.occasion);
        let is_unasked = occasion.is_some();
        // A note that the answer does not show decides neither whether there is an answer nor how good the others are.
        let search = |text: &str| {
            let query = if is_unasked { Query::verbatim(text) } else { Query::question(text) };
            engine.search_for(&query, around.as_ref(), &|note| !self.is_hidden(note))
        };
        let mut found = search(text);
        if let Some(rest) = question.fallback.as_deref().filter(|_| !found.is_answer()) {
            found = search(rest);
        }
        let least = asking.and_then(|asking| asking.min_relevance).map(Score::get);
        let query = self.selectors.query.as_deref().unwrap_or(text);
        let is_near_shown = |note: NoteIdx| {
            self.passes(note) && !self.is_hidden(note) && !self.excluded.contains(&self.store.notes()[note])
        };
        let semantic = embedder.and_then(|embedder| SemanticHits::of(embedder, self.store, query, &is_near_shown));
        let is_answered = asking.is_none()
            || is_answer(&found, occasion, least.is_some())
            || semantic.as_ref().is_some_and(SemanticHits::has_near);
        let is_asked = asking.is_some() && matches!(occasion, None | Some(Occasion::Question | Occasion::Memory));
        self.result.question_match = is_asked.then(|| question_match(&found, is_answered));
        let commits = || self.session.search_commits(&Query::question(text), &|note| !self.is_hidden(note));
        let commits = Some(()).filter(|()| !is_unasked).and_then(|()| commits());
        self.result.spellings = found.spellings;
        self.result.highlighter = found.highlighter.map(Arc::new);
        self.result.scorer = found.scorer.map(Arc::new);
        let mut hits = found.hits;
        self.boost_periods(&mut hits, &question.favoured);
        let shown_hits = self.add_shares(&hits);
        let mut of_commits = commits.map_or_else(Vec::new, |commits| self.take_commits(commits));
        self.boost_periods(&mut of_commits, &question.favoured);
        self.add_shares(&of_commits);
        let has_periods = !question.periods.is_empty();
        let matching =
            hits.iter().filter(|_| has_periods).map(|hit| self.result.replacements.representative(hit.note)).collect();
        let unanswered = if is_answered { 0 } else { shown_hits };
        hits.truncate(if is_answered { hits.len() } else { 0 });
        if let Some(semantic) = semantic.as_ref().filter(|_| is_answered) {
            hits = semantic.fused_with(hits);
        }
        self.result.semantic = semantic;
        let mut hits = by_relevance(hits, of_commits);
        self.keep_passing(&mut hits, least.unwrap_or_default());
        let shown = self.shown_hits(&hits);
        // A common word may be in a million notes.
        drop(hits);
        self.result.relevance = shown.iter().copied().collect();
        let (mut hits, not_looked_at) = self.with_answers(shown.into_iter().map(|(note, _)| note).collect());
        let limit = asking.and_then(|asking| asking.search_limit).unwrap_or(usize::MAX);
        let mut beyond = hits.split_off(hits.len().min(limit));
        beyond.extend(not_looked_at);
        SearchHits { hits, beyond, matching, unanswered }
    }

    /// Keeps the hits that pass the filters; of those that nobody asked for, the ones that still hold.
    fn keep_passing(&mut self, hits: &mut Vec<Hit>, least: f64) {
        let (count, is_unasked) = (hits.len(), self.occasion().is_some());
        let days = Some(self.window()).filter(|days| *days != ALWAYS);
        let notes = self.store.notes();
        let is_in = |note: NoteIdx| days.is_none_or(|days| day_of(&notes[note]).is_some_and(|day| days.contains(day)));
        let is_current = |note| !is_unasked || !self.store.is_retired(self.result.replacements.representative(note));
        hits.retain(|hit| hit.relevance >= least && is_in(hit.note) && self.passes(hit.note) && is_current(hit.note));
        self.result.has_filtered = hits.len() < count;
    }

    /// Returns the embedder that takes part in the answer, started; `None` without one.
    fn embedder(&self) -> Option<&Embedder<'_>> {
        let is_wanted = self.selectors.is_semantic && !self.store.notes().is_empty();
        let embedder = self.session.embedder().filter(|_| is_wanted)?;
        embedder.start();
        Some(embedder)
    }

    /// Adds the score of each hit as a share of the best one that is shown. Returns how many are shown.
    fn add_shares(&mut self, hits: &[Hit]) -> usize {
        let shown = || hits.iter().filter(|hit| !self.is_hidden(hit.note) || self.is_named_by(hit));
        let best = shown().map(|hit| hit.score).fold(0.0, f64::max);
        let count = shown().count();
        for hit in hits.iter().take(MAX_SHARES).filter(|_| best > 0.0) {
            let share = self.result.shares.entry(self.result.replacements.representative(hit.note)).or_default();
            *share = share.max(hit.score / best).min(1.0);
        }
        count
    }

    /// Takes over what is known of the commits, and returns them if they answer. They match the question as well as notes do, if
    /// these do not.
    fn take_commits(&mut self, found: SearchResults) -> Vec<Hit> {
        let matched = found.question_match();
        let is_weak = matched.level != MatchLevel::Answer;
        if let Some(of_notes) = &mut self.result.question_match {
            let words = std::mem::take(&mut of_notes.unknown).into_iter();
            let unknown = words.filter(|word| matched.unknown.contains(word)).collect();
            if found.is_answer() && matched.level > of_notes.level {
                *of_notes = matched;
            }
            of_notes.unknown = unknown;
        }
        if !found.is_answer() {
            return Vec::new();
        }
        let SearchResults { hits, highlighter, scorer, .. } = found;
        let Some(scorer) = scorer else { return hits };
        let of_notes = self.result.scorer.as_ref().map_or(0.0, |scorer| scorer.full_score());
        let of_commits = scorer.full_score();
        let is_comparable = of_notes > 0.0 && of_commits > 0.0;
        // Words that nearly all commits have weigh nothing there.
        let factor = if is_comparable { (of_notes / of_commits).clamp(1.0 / MAX_FACTOR, MAX_FACTOR) } else { 1.0 };
        let (highlighter, scorer) = (highlighter.map(Arc::new), Arc::new(scorer));
        self.result.commits = Some(CommitWords { highlighter, scorer, factor, is_weak });
        hits
    }

    /// Whether the query of a person is the title of a hit.
    fn is_named_by(&self, hit: &Hit) -> bool {
        self.occasion().is_none() && hit.relevance >= 1.0
    }

    /// Returns the notes that are shown for hits, each with its relevance: the note that stands in for a hit, and the hit
    /// itself if its title is the query; what no longer holds last.
    fn shown_hits(&mut self, hits: &[Hit]) -> Vec<(NoteIdx, f64)> {
        let full = hits.iter().filter(|hit| hit.has_full_sentence);
        let full = full.map(|hit| self.result.replacements.representative(hit.note));
        let full: HashSet<NoteIdx> = full.filter(|note| !self.store.is_retired(*note)).collect();
        self.result.full_sentences = full;
        let named: Vec<NoteIdx> = hits.iter().filter(|hit| self.is_named_by(hit)).map(|hit| hit.note).collect();
        self.asked.extend(named);
        let replacements = &self.result.replacements;
        let mut seen = NoteSet::default();
        let shown = hits.iter().flat_map(|hit| {
            let own = self.asked.contains(&hit.note).then(|| replacements.digests.representative(hit.note));
            [Some(replacements.representative(hit.note)), own].into_iter().flatten().map(|note| (note, hit.relevance))
        });
        let shown = shown.filter(|(note, _)| seen.insert(*note));
        let shown = shown.filter(|(note, _)| !self.excluded.contains(&self.store.notes()[*note])).collect();
        let shown = replacements.successions.outdated_last(self.store, shown, |(note, _)| *note);
        self.without_withheld(shown, |(note, _)| *note)
    }

    /// Boosts notes that were created or changed in periods of the question without journals. Notes whose title is the
    /// whole query keep their rank.
    fn boost_periods(&self, hits: &mut [Hit], favoured: &[FavouredDays]) {
        if favoured.is_empty() {
            return;
        }
        let notes = self.store.notes();
        let days_of = |note: NoteIdx| {
            let fields = notes[note].list_fields();
            [fields.created_as_written(), fields.updated_as_written()].into_iter().flatten().map(|stamp| stamp.date())
        };
        let days: Vec<Date> = hits.iter().flat_map(|hit| days_of(hit.note)).collect();
        let periods: Vec<Period> = favoured.iter().filter_map(|favoured| favoured.holding(&days)).collect();
        let is_in = |note: NoteIdx| days_of(note).any(|day| periods.iter().any(|period| period.contains(day)));
        let named = hits.iter().take_while(|hit| hit.relevance >= 1.0).count();
        let rest = hits.get_mut(named..).unwrap_or_default();
        rest.iter_mut().filter(|hit| is_in(hit.note)).for_each(|hit| hit.score *= DATE_BOOST);
        rest.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
}

/// Whether hits are an answer, on an occasion. `has_threshold`: whether an explicit least relevance replaces the usual threshold.
fn is_answer(found: &SearchResults, occasion: Option<Occasion>, has_threshold: bool) -> bool {
    match occasion {
        Some(Occasion::Task) => found.best.is_help(),
        Some(Occasion::Question) => found.best.is_help_with_question(),
        Some(Occasion::Command) => found.best.is_help_with_command(),
        Some(Occasion::Edit) => false,
        Some(Occasion::Memory) => found.is_answer(),
        None => has_threshold || found.is_answer(),
    }
}

/// Returns how well hits match a question. Where another threshold than that of questions shows them, the match is weak at
/// least.
fn question_match(found: &SearchResults, is_answered: bool) -> QuestionMatch {
    let matched = found.question_match();
    let least = if is_answered { MatchLevel::Weak } else { MatchLevel::Nothing };
    QuestionMatch { level: matched.level.max(least), ..matched }
}

/// The hits of a search.
#[derive(Default)]
struct SearchHits {
    /// The notes, the best first.
    hits: Vec<NoteIdx>,
    /// Those beyond the limit of a search.
    beyond: Vec<NoteIdx>,
    /// All notes that contain a word of the query.
    matching: HashSet<NoteIdx>,
    /// The number of notes that contain words of the query, if none of them answers it.
    unanswered: usize,
}

fn why_empty(question: &Question, unanswered: usize, unknown: &[String]) -> String {
    let (has, have) = if unknown.is_empty() { ("has", "have") } else { ("has other", "have other") };
    let names = why_unsure(unknown);
    match unanswered {
        0 if question.is_about_days_only() => {
            "nothing was searched for: the question names only days, and they have no journal".to_owned()
        }
        0 if unknown.is_empty() => "no note answers this".to_owned(),
        0 => format!("nothing known: {names}"),
        1 => format!("nothing known: {names}; 1 note {has} words of the question (`qipu search` shows it)"),
        count => {
            format!("nothing known: {names}; {count} notes {have} words of the question (`qipu search` shows them)")
        }
    }
}

/// The period of all days.
const ALWAYS: Period = Period { from: None, to: Date::MAX };

fn window(asking: &QuestionOptions) -> Period {
    Period { from: asking.since, to: asking.until.unwrap_or(Date::MAX) }
}
