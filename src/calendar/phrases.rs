//! Whole phrases: single days and periods, and what is made of them with `to`, `since` and the like.

use jiff::civil::Date;

use super::tokens::{Separator, Tokens};
use super::{DateRange, Period};
use crate::escape::abbreviated;

/// A phrase in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatePhrase {
    /// What it means.
    pub meaning: PhraseMeaning,
    /// The word behind it.
    pub end: usize,
    /// What is odd about it.
    pub warning: Option<String>,
}

/// What a phrase means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhraseMeaning {
    /// A day or a period.
    Dates(DateRange),
    /// It has the form of a date, and no calendar has that date.
    Impossible,
}

/// Words that may stand between `journal` and its day.
const BEFORE_DAYS: [&str; 6] = ["for", "from", "of", "on", "in", "during"];

impl Tokens<'_> {
    /// Reads a phrase that begins at a word; looks at a bounded number of words. `previous` is the
    /// period that was spoken of before, for `the week before`.
    pub fn phrase_at(&self, at: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        if let Some(start) = self.behind_journal(at) {
            return self.spanned(start, today, previous).filter(|found| found.meaning != PhraseMeaning::Impossible);
        }
        self.spanned(at, today, previous)
    }

    /// Recognizes words that people mean as a period and that are none here, since they leave open which:
    /// `since January`, `in 2024`. Returns the word behind them.
    pub fn vague_at(&self, at: usize, today: Date) -> Option<usize> {
        const LEADS: [&str; 8] = ["in", "since", "before", "after", "until", "from", "between", "during"];
        let is_led =
            LEADS.contains(&self.word(at)) && self.separator(at + 1) == Separator::Space && !self.is_glued(at + 2);
        let may_be_meant = is_led && (self.is_year(at + 1) || self.is_month_name(at + 1));
        (may_be_meant && self.single_at(at + 1, today, None).is_none()).then_some(at + 2)
    }

    /// Reads one day or period without `to`, `since` and the like; what belongs to it, such as
    /// `'s journal`, included.
    pub fn simple_at(&self, at: usize, today: Date, previous: Option<Period>) -> Option<(DateRange, usize)> {
        let at = self.behind_journal(at).filter(|start| self.simple(*start, today, previous).is_some()).unwrap_or(at);
        self.simple(at, today, previous)
    }

    /// Returns the word behind `journal`, `journals for`, `journal entries from`; `None` for other words.
    fn behind_journal(&self, at: usize) -> Option<usize> {
        if !matches!(self.word(at), "journal" | "journals") {
            return None;
        }
        let is_entry = matches!(self.word(at + 1), "entry" | "entries") && self.separator(at + 1) == Separator::Space;
        let at = if is_entry { at + 2 } else { at + 1 };
        let is_open = self.separator(at) == Separator::Space;
        // `on Wednesday` and `in January` need their word.
        let needs_it =
            matches!(self.word(at), "on" | "in") && !self.word(at + 1).starts_with(|c: char| c.is_ascii_digit());
        let skips = BEFORE_DAYS.contains(&self.word(at)) && !needs_it;
        is_open.then_some(if skips { self.behind_the(at + 1) } else { at })
    }

    /// Skips an article, unless it begins `the day before` or `the week before`.
    fn behind_the(&self, at: usize) -> usize {
        let is_step = matches!(self.word(at + 1), "day" | "week") && self.follows(at + 2, "before");
        if self.follows(at, "the") && !is_step { at + 1 } else { at }
    }

    fn simple(&self, at: usize, today: Date, previous: Option<Period>) -> Option<(DateRange, usize)> {
        let single = self.single_at(at, today, previous)?;
        Some((single.span?, self.behind_possessive(single.end)))
    }

    /// Returns the word behind `'s`, `'s journal`, ` journal entries`.
    fn behind_possessive(&self, at: usize) -> usize {
        let is_possessive = self.word(at) == "s" && self.separator(at) == Separator::Apostrophe;
        let at = if is_possessive { at + 1 } else { at };
        if self.separator(at) != Separator::Space || !matches!(self.word(at), "journal" | "journals") {
            return at;
        }
        let is_entry = matches!(self.word(at + 1), "entry" | "entries") && self.separator(at + 1) == Separator::Space;
        if is_entry { at + 2 } else { at + 1 }
    }

    fn spanned(&self, at: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        match self.word(at) {
            "between" => self.joined(at + 1, &["and"], today, previous),
            "from" => self.joined(at + 1, &["to", "through", "until"], today, previous),
            // `3 weeks before` tells how far, which nothing here reads.
            "before"
                if at > 0 && matches!(self.word(at - 1), "day" | "days" | "week" | "weeks" | "month" | "months") =>
            {
                None
            }
            word @ ("since" | "after" | "before") => self.open_ended(word, at + 1, today, previous),
            _ => self
                .joined(at, &["to", "through", "until"], today, previous)
                .or_else(|| self.alone(at, today, previous)),
        }
    }

    fn alone(&self, at: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        let single = self.single_at(at, today, previous)?;
        let Some(span) = single.span else {
            let warning = Some(format!("`{}` is not a valid date", self.quoted(at, single.end)));
            return Some(DatePhrase { meaning: PhraseMeaning::Impossible, end: single.end, warning });
        };
        Some(DatePhrase { meaning: PhraseMeaning::Dates(span), end: self.behind_possessive(single.end), warning: None })
    }

    /// `A to B`, `A..B`, or what `between` and `from` begin.
    fn joined(&self, at: usize, words: &[&str], today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        let (first, end) = self.simple(self.behind_the(at), today, previous)?;
        let (first, previous) = (first.period(), Some(first.period()));
        let is_word = self.separator(end) == Separator::Space && words.contains(&self.word(end));
        let next = match self.separator(end) {
            Separator::Dots => end,
            _ if is_word => self.behind_the(end + 1),
            _ => return None,
        };
        let (second, end) = self.simple(next, today, previous)?;
        let second = second.period();
        let (Some(from), Some(_)) = (first.from, second.from) else { return None };
        if from <= second.to {
            return Some(found(Period { from: Some(from), to: second.to }, end, None));
        }
        let warning = format!("`{}` ends before it begins; its ends are swapped", self.quoted(at, end));
        Some(found(Period { from: second.from, to: first.to }, end, Some(warning)))
    }

    fn open_ended(&self, word: &str, at: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        let (span, end) = self.simple(self.behind_the(at), today, previous)?;
        let period = span.period();
        if word == "before" {
            return Some(found(Period { from: None, to: period.from?.yesterday().ok()? }, end, None));
        }
        let from = if word == "after" { period.to.tomorrow().ok()? } else { period.from? };
        Some(found(Period { from: Some(from), to: from.max(today) }, end, None))
    }

    /// Returns words as a message quotes them: neither digits nor white space between words have a limit.
    fn quoted(&self, from: usize, to: usize) -> String {
        abbreviated(self.text_between(from, to))
    }
}

fn found(period: Period, end: usize, warning: Option<String>) -> DatePhrase {
    DatePhrase { meaning: PhraseMeaning::Dates(DateRange::Period(period)), end, warning }
}
