//! Parsing of questions in plain words: the notes, days and periods that a question names, its intents, and the words to
//! search for.
//!
//! The text is tokenised once. No pattern is built from the user's words; the work is linear in the length of the text.

mod intents;
mod parser;
mod references;

use std::sync::Arc;

use jiff::civil::Date;

pub use references::NoteReference;

use super::Journals;
use crate::calendar::{DateRange, Period};
use crate::escape::abbreviated;
use crate::note::Language;
use crate::report::{DayEntry, PATTERNS, PeriodEntry};
use crate::request::NamedSpan;
use crate::store::{NoteHandle, NoteIdx};
use parser::QuestionParser;

/// How many years before the latest one a month without a year may lie.
const MAX_YEARS_BACK: i16 = 50;

/// A parsed question.
#[derive(Debug, Default)]
pub struct Question {
    /// The notes that it names, in order.
    pub references: Vec<NoteReference>,
    /// The days that it names.
    pub dates: Vec<DayEntry>,
    /// The periods that it names.
    pub periods: Vec<PeriodEntry>,
    /// The names of its intents.
    pub intents: Vec<&'static str>,
    /// Its content words, each once.
    pub terms: Vec<String>,
    /// Warnings about parts that are not understood, or are understood in an unusual way.
    pub warnings: Vec<String>,
    /// The text to search for; `None` if all of the question is understood.
    pub rest: Option<String>,
    /// The text to search for if `rest` has no answer: without the words of names that no note has.
    pub fallback: Option<String>,
    /// Days whose notes are ranked higher, since no journal is about them.
    pub favoured: Vec<FavouredDays>,
    /// The two sides of a comparison.
    pub comparison: Option<[NamedSpan; 2]>,
    /// The days in which patterns are looked for.
    pub patterns: Option<Period>,
}

/// Days whose notes are ranked higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FavouredDays {
    /// The days.
    pub period: Period,
    /// Whether the question names a month without a year. It then means the latest year with notes.
    pub is_yearly: bool,
}

impl FavouredDays {
    /// Returns the latest meaning of the period that contains one of `days`; `None` if none does.
    pub fn holding(&self, days: &[Date]) -> Option<Period> {
        let contains_any = |period: &Period| days.iter().any(|day| period.contains(*day));
        let years = if self.is_yearly { MAX_YEARS_BACK } else { 0 };
        (0..=years).filter_map(|years| years_before(self.period, years)).find(contains_any)
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

/// The notes and days in relation to which questions are parsed.
pub struct QuestionContext<'a> {
    /// The notes in the order of their ids.
    pub notes: &'a [Arc<NoteHandle>],
    /// The language of the notes.
    pub language: Language,
    /// The day that counts as today.
    pub today: Date,
    /// The days to which the journals of periods are narrowed.
    pub window: Period,
    /// The journals, once they were needed.
    pub journals: Option<Arc<Journals>>,
    /// Which journals no day and no period means: drafts that the store hides.
    pub is_hidden: &'a dyn Fn(NoteIdx) -> bool,
}

impl QuestionContext<'_> {
    /// Returns the journals; finds them on the first call.
    pub fn journals(&mut self) -> Arc<Journals> {
        let find = || Arc::new(Journals::new(self.notes).without(self.is_hidden));
        Arc::clone(self.journals.get_or_insert_with(find))
    }

    /// Parses a question.
    pub fn parse(&mut self, text: &str) -> Question {
        QuestionParser::new(text, self).parse()
    }

    /// Adds a day or period to a question. Returns whether it has journals.
    pub fn add_date_range(&mut self, question: &mut Question, text: &str, span: DateRange) -> bool {
        let journals = self.journals();
        let text = text.to_owned();
        match span {
            DateRange::Day(day) => {
                let count = journals.on(day).count();
                if !question.dates.iter().any(|named| named.day == day) {
                    question.dates.push(DayEntry { text, day, journals: count });
                }
                count > 0
            }
            DateRange::Period(period) => {
                let count = narrowed(period, self.window).map_or(0, |period| journals.within(period).len());
                if !question.periods.iter().any(|named| named.period == period) {
                    let is_ahead = period.from.is_some_and(|from| from > self.today);
                    question.warnings.extend(is_ahead.then(|| format!("`{}` is in the future", abbreviated(&text))));
                    question.periods.push(PeriodEntry { text, period, journals: count });
                }
                count > 0
            }
        }
    }
}

/// Returns the intersection of two periods; `None` if it is empty.
pub fn narrowed(period: Period, window: Period) -> Option<Period> {
    let from = period.from.max(window.from);
    let to = period.to.min(window.to);
    from.is_none_or(|from| from <= to).then_some(Period { from, to })
}

impl Question {
    /// Returns a question whose whole text is searched for.
    pub fn plain(text: &str) -> Self {
        Self { rest: Some(text.to_owned()), ..Self::default() }
    }

    /// Tells whether a term names a topic, and not only journals or activities in general.
    pub fn has_topic(&self) -> bool {
        let general = [intents::GENERIC_WORDS.as_slice(), &intents::JOURNAL_WORDS, &intents::REQUEST_WORDS];
        let is_general = |term: &str| general.iter().any(|words| words.contains(&term));
        self.rest.is_some() && self.terms.iter().any(|term| !is_general(term))
    }

    /// Tells whether the question consists of days and periods only.
    pub fn is_about_days_only(&self) -> bool {
        self.rest.is_none() && self.references.is_empty() && !(self.dates.is_empty() && self.periods.is_empty())
    }

    /// Adds the intent to look for patterns, in the first period or in all days up to today.
    pub fn add_patterns(&mut self, today: Date) {
        let period = self.periods.first().map_or(Period { from: None, to: today }, |named| named.period);
        self.patterns = Some(period);
        self.add_intent(PATTERNS);
    }

    /// Adds the period in which patterns were looked for, if the question names none.
    pub fn add_pattern_period(&mut self, journals: usize) {
        if let Some(period) = self.patterns.filter(|_| self.periods.is_empty()) {
            self.periods.push(PeriodEntry { text: "all journals".to_owned(), period, journals });
        }
    }

    /// Adds an intent, once.
    pub fn add_intent(&mut self, intent: &'static str) {
        if !self.intents.contains(&intent) {
            self.intents.push(intent);
        }
    }
}

#[cfg(test)]
mod tests;
