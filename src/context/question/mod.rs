//! Reading a question in plain words: the notes, days and periods that it names, what it wants done
//! with them, and what is left to search for.
//!
//! No part of it builds a pattern from the user's words, and no text costs more than a pass.

mod intents;
mod references;

use std::ops::Range;
use std::sync::Arc;

use jiff::civil::Date;

pub use intents::PeriodSide;
pub use references::NoteReference;

use super::Journals;
use crate::calendar::{DatePhrase, DateRange, Period, PhraseMeaning, Tokens};
use crate::escape::abbreviated;
use crate::note::{Language, Note};
use crate::search::StopWords;

/// The name of the intent to compare days or periods.
pub const COMPARISON: &str = "comparison";
/// The name of the intent to look for patterns.
pub const PATTERNS: &str = "patterns";

/// The most phrases about days that are understood in one text; nobody writes more.
const MAX_PHRASES: usize = 64;
/// The most words that are told of a text.
const MAX_TERMS: usize = 64;
/// So many years before the latest days of a month that is named without a year, its days may be meant.
const MAX_YEARS_BACK: i16 = 50;

/// What a question was understood to mean.
#[derive(Debug, Default)]
pub struct Question {
    /// The notes that it names, in the order in which it does.
    pub references: Vec<NoteReference>,
    /// The days that it names.
    pub dates: Vec<NamedDay>,
    /// The periods that it names.
    pub periods: Vec<NamedPeriod>,
    /// What it wants done.
    pub intents: Vec<&'static str>,
    /// The words that are searched for.
    pub terms: Vec<String>,
    /// What could not be understood, or was in an odd way.
    pub warnings: Vec<String>,
    /// What is searched for; nothing where all of it was understood.
    pub rest: Option<String>,
    /// Days whose notes are favoured, since no journal tells of them.
    pub favoured: Vec<FavouredDays>,
    /// The two sides of a comparison.
    pub comparison: Option<(PeriodSide, PeriodSide)>,
    /// The days over which patterns are looked for.
    pub patterns: Option<Period>,
}

/// A day that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedDay {
    /// How it names it.
    pub text: String,
    /// The day.
    pub day: Date,
    /// How many journals it has.
    pub journals: usize,
}

/// A period that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPeriod {
    /// How it names it.
    pub text: String,
    /// The days.
    pub period: Period,
    /// How many journals it has.
    pub journals: usize,
}

/// Days whose notes are favoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FavouredDays {
    /// The days.
    pub period: Period,
    /// Whether they are named by their month without a year: where no note is of these days, those of the latest
    /// year that has some are meant.
    pub is_yearly: bool,
}

impl FavouredDays {
    /// Returns the latest of the days meant that hold one of `days`; `None` where none does.
    pub fn holding(&self, days: &[Date]) -> Option<Period> {
        let holds = |period: &Period| days.iter().any(|day| period.contains(*day));
        let years = if self.is_yearly { MAX_YEARS_BACK } else { 0 };
        (0..=years).filter_map(|years| years_before(self.period, years)).find(holds)
    }
}

fn years_before(period: Period, years: i16) -> Option<Period> {
    let back = |day: Date| day.checked_sub(jiff::Span::new().years(years)).ok();
    let from = match period.from {
        Some(from) => Some(back(from)?),
        None => None,
    };
    Some(Period { from, to: back(period.to)? })
}

/// What a question is asked of.
pub struct QuestionContext<'a> {
    /// The notes in the order of their ids.
    pub notes: &'a [Arc<Note>],
    /// The language of the notes.
    pub language: Language,
    /// The day that counts as today.
    pub today: Date,
    /// The days that periods are narrowed to.
    pub window: Period,
    /// Journals that were looked for already.
    pub journals: Option<Arc<Journals>>,
}

impl QuestionContext<'_> {
    /// Returns the journals; looks for them when that is asked for the first time.
    pub fn journals(&mut self) -> Arc<Journals> {
        Arc::clone(self.journals.get_or_insert_with(|| Arc::new(Journals::new(self.notes))))
    }

    /// Reads a question.
    pub fn understand(&mut self, text: &str) -> Question {
        let (today, notes) = (self.today, self.notes);
        let references = references::references(text, today, notes, &mut || self.journals());
        let mut reading = QuestionParser {
            tokens: Tokens::new(text),
            today,
            is_taken: Vec::new(),
            phrases: 0,
            question: Question { references: references.found, warnings: references.warnings, ..Question::default() },
        };
        reading.is_taken = vec![false; reading.tokens.len()];
        references.not_searched.iter().for_each(|range| reading.take_bytes(range));
        reading.scan(&references.ranges, self);
        reading.look_for_patterns(&references.ranges);
        reading.finish(text, self.language)
    }

    /// Adds a day or period to a question. Returns whether journals tell of it.
    pub fn add(&mut self, question: &mut Question, text: &str, span: DateRange) -> bool {
        let journals = self.journals();
        let text = text.to_owned();
        match span {
            DateRange::Day(day) => {
                let count = journals.on(day).count();
                if !question.dates.iter().any(|have| have.day == day) {
                    question.dates.push(NamedDay { text, day, journals: count });
                }
                count > 0
            }
            DateRange::Period(period) => {
                let count = narrowed(period, self.window).map_or(0, |period| journals.within(period).len());
                if !question.periods.iter().any(|have| have.period == period) {
                    let is_ahead = period.from.is_some_and(|from| from > self.today);
                    question.warnings.extend(is_ahead.then(|| format!("`{}` begins after today", abbreviated(&text))));
                    question.periods.push(NamedPeriod { text, period, journals: count });
                }
                count > 0
            }
        }
    }
}

/// Returns the days that two periods share.
pub fn narrowed(period: Period, window: Period) -> Option<Period> {
    let from = period.from.max(window.from);
    let to = period.to.min(window.to);
    from.is_none_or(|from| from <= to).then_some(Period { from, to })
}

struct QuestionParser<'a> {
    tokens: Tokens<'a>,
    today: Date,
    /// Which words are not searched for, since they were understood.
    is_taken: Vec<bool>,
    phrases: usize,
    question: Question,
}

impl QuestionParser<'_> {
    /// Reads days, periods and comparisons from the left to the right.
    fn scan(&mut self, names: &[Range<usize>], asked: &mut QuestionContext<'_>) {
        let (mut at, mut previous) = (0, None);
        while at < self.tokens.len() && self.phrases < MAX_PHRASES {
            if self.is_named(at, names) {
                at += 1;
                continue;
            }
            if let Some(found) = intents::comparison_at(&self.tokens, at, self.today, previous) {
                self.phrases += 1;
                previous = Some(found.second.as_ref().unwrap_or(&found.first).span.period());
                self.take(at..found.end);
                at = found.end;
                self.compare(&found, asked);
                continue;
            }
            let Some(found) = self.tokens.phrase_at(at, self.today, previous) else {
                at = self.pass_over(at);
                continue;
            };
            self.phrases += 1;
            self.question.warnings.extend(found.warning.clone());
            match found.meaning {
                PhraseMeaning::Dates(span) => {
                    previous = Some(span.period());
                    self.add(at, &found, span, asked);
                }
                // It is told and passed over: its digits are no words of the question.
                PhraseMeaning::Impossible => self.take(at..found.end),
            }
            at = found.end.max(at + 1);
        }
    }

    /// Passes over words that are no day and no period; warns where a period was probably meant. Returns the
    /// next word.
    fn pass_over(&mut self, at: usize) -> usize {
        let Some(end) = self.tokens.vague_at(at, self.today) else { return at + 1 };
        self.phrases += 1;
        let text = abbreviated(&self.text(at..end));
        self.question.warnings.push(format!("`{text}` is not understood as a period; its words are searched for"));
        end
    }

    /// Tells whether a word stands in the name of a note.
    fn is_named(&self, at: usize, names: &[Range<usize>]) -> bool {
        let start = self.tokens.range(at, at + 1).start;
        let last = names.partition_point(|range| range.start <= start);
        last.checked_sub(1).and_then(|last| names.get(last)).is_some_and(|range| start < range.end)
    }

    fn add(&mut self, at: usize, found: &DatePhrase, span: DateRange, asked: &mut QuestionContext<'_>) {
        let text = self.text(at..found.end);
        self.take(at..found.end);
        if !asked.add(&mut self.question, &text, span) {
            let mut words = at..found.end;
            let is_yearly = words.clone().any(|word| self.tokens.is_month_name(word))
                && !words.any(|word| self.tokens.is_year(word));
            self.question.favoured.push(FavouredDays { period: span.period(), is_yearly });
        }
    }

    fn compare(&mut self, found: &intents::ComparisonIntent, asked: &mut QuestionContext<'_>) {
        let side =
            |found: &intents::PeriodMention| PeriodSide { text: self.text(found.words.clone()), span: found.span };
        let today = PeriodSide { text: "today".to_owned(), span: DateRange::Day(self.today) };
        let sides = (side(&found.first), found.second.as_ref().map_or(today, side));
        for side in [&sides.0, &sides.1] {
            asked.add(&mut self.question, &side.text, side.span);
        }
        self.question.intend(COMPARISON);
        self.question.comparison.get_or_insert(sides);
    }

    fn text(&self, words: Range<usize>) -> String {
        self.tokens.text_between(words.start, words.end).to_owned()
    }

    fn take(&mut self, words: Range<usize>) {
        self.is_taken.get_mut(words).into_iter().flatten().for_each(|is_taken| *is_taken = true);
    }

    /// Takes the words that begin in a range of bytes.
    fn take_bytes(&mut self, bytes: &Range<usize>) {
        for word in 0..self.tokens.len() {
            if bytes.contains(&self.tokens.range(word, word + 1).start) {
                self.take(word..word + 1);
            }
        }
    }

    /// Takes a word for patterns as such where the question is about journals or days, or about nothing
    /// else: `flow patterns over wings` is a subject.
    fn look_for_patterns(&mut self, names: &[Range<usize>]) {
        let free = |at: &usize| !self.is_taken.get(*at).is_some_and(|is_taken| *is_taken) && !self.is_named(*at, names);
        let words: Vec<usize> = (0..self.tokens.len()).filter(free).collect();
        let asking: Vec<usize> =
            words.iter().copied().filter(|at| intents::asks_for_patterns(self.tokens.word(*at))).collect();
        if asking.is_empty() {
            return;
        }
        let stop_words = StopWords::new(Language::English);
        let says_nothing = |word: &str| {
            stop_words.has(word)
                || intents::asks(word)
                || intents::asks_for_patterns(word)
                || intents::is_sort_of_pattern(word)
        };
        let is_about_days = !self.question.dates.is_empty()
            || !self.question.periods.is_empty()
            || words.iter().any(|at| intents::is_journal_word(self.tokens.word(*at)));
        if !is_about_days && !words.iter().all(|at| says_nothing(self.tokens.word(*at))) {
            return;
        }
        for at in words {
            let word = self.tokens.word(at);
            if intents::asks_for_patterns(word) || intents::is_sort_of_pattern(word) || intents::is_journal_word(word) {
                self.take(at..at + 1);
            }
        }
        self.question.ask_for_patterns(self.today);
    }

    /// Says what is left to search for.
    fn finish(self, text: &str, language: Language) -> Question {
        let Self { tokens, is_taken, mut question, .. } = self;
        let stop_words = StopWords::new(language);
        let is_taken = |at: usize| is_taken.get(at).copied().unwrap_or_default();
        let has_taken = (0..tokens.len()).any(is_taken);
        let only_asks = |at: usize| has_taken && intents::asks(tokens.word(at));
        let is_searched = |at: &usize| !is_taken(*at) && !only_asks(*at);
        let mut seen = std::collections::HashSet::new();
        let says = |at: &usize| is_searched(at) && !stop_words.has(tokens.word(*at)) && tokens.word(*at) != "s";
        let terms = (0..tokens.len()).filter(says).map(|at| tokens.word(at)).filter(|word| seen.insert(*word));
        question.terms = terms.take(MAX_TERMS).map(str::to_owned).collect();
        question.rest = match has_taken {
            false => Some(text.to_owned()),
            true if question.terms.is_empty() => None,
            true => Some(rest(text, &tokens, is_searched)),
        };
        question
    }
}

/// Returns a text without the words that are not searched for; what stands between two of them goes
/// with them.
fn rest(text: &str, tokens: &Tokens<'_>, is_searched: impl Fn(&usize) -> bool) -> String {
    let mut rest = String::new();
    let mut at = 0;
    let mut was_searched = true;
    for word in 0..tokens.len() {
        let range = tokens.range(word, word + 1);
        let is_searched = is_searched(&word);
        if was_searched && is_searched {
            rest.push_str(text.get(at..range.end).unwrap_or_default());
        } else if is_searched {
            // Signs before a word, such as that of a tag, belong to it.
            let between = text.get(at..range.start).unwrap_or_default();
            let signs = between.rfind(char::is_whitespace).map_or("", |place| between.get(place..).unwrap_or_default());
            rest.push_str(if signs.is_empty() { " " } else { signs });
            rest.push_str(text.get(range.clone()).unwrap_or_default());
        } else if was_searched {
            let between = text.get(at..range.start).unwrap_or_default();
            let signs = between.find(char::is_whitespace).map_or("", |place| between.get(..place).unwrap_or_default());
            rest.push_str(signs);
        }
        was_searched = is_searched;
        at = range.end;
    }
    if was_searched {
        rest.push_str(text.get(at..).unwrap_or_default());
    }
    rest.trim().to_owned()
}

impl Question {
    /// Makes the question of a text that is searched for as it stands.
    pub fn plain(text: &str) -> Self {
        Self { rest: Some(text.to_owned()), ..Self::default() }
    }

    /// Tells whether words are searched for that are about something, beside those that ask for journals and what
    /// was done.
    pub fn has_topic(&self) -> bool {
        self.rest.is_some() && self.terms.iter().any(|term| !intents::is_about_anything(term))
    }

    /// Tells whether nothing but days and periods is asked for.
    pub fn is_about_days_only(&self) -> bool {
        self.rest.is_none() && self.references.is_empty() && !(self.dates.is_empty() && self.periods.is_empty())
    }

    /// Tells whether anything but words was understood, or went wrong.
    pub fn is_more_than_words(&self) -> bool {
        !self.references.is_empty()
            || !self.dates.is_empty()
            || !self.periods.is_empty()
            || !self.intents.is_empty()
            || !self.warnings.is_empty()
    }

    /// Asks for patterns over the first period, or else all days up to today.
    pub fn ask_for_patterns(&mut self, today: Date) {
        let period = self.periods.first().map_or(Period { from: None, to: today }, |named| named.period);
        self.patterns = Some(period);
        self.intend(PATTERNS);
    }

    /// Tells of the period over which patterns were looked for, where the question names none.
    pub fn tell(&mut self, journals: usize) {
        if let Some(period) = self.patterns.filter(|_| self.periods.is_empty()) {
            self.periods.push(NamedPeriod { text: "all journals".to_owned(), period, journals });
        }
    }

    /// Notes what is wanted, once.
    pub fn intend(&mut self, intent: &'static str) {
        if !self.intents.contains(&intent) {
            self.intents.push(intent);
        }
    }
}

#[cfg(test)]
mod tests;
