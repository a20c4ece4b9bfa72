//! Parses whole phrases: single days and periods, and combinations with `to`, `since` and the like.

use jiff::civil::Date;

use super::lexer::{Separator, Tokens};
use super::{DateRange, Period};
use crate::escape::abbreviated;

/// A date phrase in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatePhrase {
    /// Its meaning.
    pub meaning: PhraseMeaning,
    /// The index of the token behind it.
    pub end: usize,
    /// A remark for the user, as a clause.
    pub warning: Option<String>,
}

/// The meaning of a date phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhraseMeaning {
    /// A day or a period.
    Dates(DateRange),
    /// It has the form of a date that no calendar has.
    Impossible,
}

/// Words that may be between `journal` and its day.
const BEFORE_DAYS: [&str; 6] = ["for", "from", "of", "on", "in", "during"];

impl Tokens<'_> {
    /// Parses a phrase that begins at a token. Examines a bounded number of tokens. `previous` is the period mentioned
    /// before, to which `the week before` refers.
    pub fn phrase_at(&self, index: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        if let Some(start) = self.skip_journal(index) {
            return self.parse_range(start, today, previous).filter(|found| found.meaning != PhraseMeaning::Impossible);
        }
        self.parse_range(index, today, previous)
    }

    /// Recognizes words that mean a period but leave open which one: `since January`, `in 2024`. Returns the index of
    /// the token behind them.
    pub fn vague_at(&self, index: usize, today: Date) -> Option<usize> {
        const LEADS: [&str; 8] = ["in", "since", "before", "after", "until", "from", "between", "during"];
        let is_led = LEADS.contains(&self.word(index))
            && self.separator(index + 1) == Separator::Space
            && !self.is_joined(index + 2);
        let may_be_meant = is_led && (self.is_year(index + 1) || self.is_month_name(index + 1));
        (may_be_meant && self.single_at(index + 1, today, None).is_none()).then_some(index + 2)
    }

    /// Parses one day or period without `to`, `since` and the like, including additions such as `'s journal`. Returns
    /// it with the index of the token behind it.
    pub fn simple_at(&self, index: usize, today: Date, previous: Option<Period>) -> Option<(DateRange, usize)> {
        let index = self
            .skip_journal(index)
            .filter(|start| self.parse_simple(*start, today, previous).is_some())
            .unwrap_or(index);
        self.parse_simple(index, today, previous)
    }

    /// Returns the index of the token behind `journal`, `journals for`, `journal entries from`; `None` for other words.
    fn skip_journal(&self, index: usize) -> Option<usize> {
        if !matches!(self.word(index), "journal" | "journals") {
            return None;
        }
        let is_entry =
            matches!(self.word(index + 1), "entry" | "entries") && self.separator(index + 1) == Separator::Space;
        let index = if is_entry { index + 2 } else { index + 1 };
        let is_open = self.separator(index) == Separator::Space;
        // `on Wednesday` and `in January` are only dates with their preposition.
        let needs_preposition =
            matches!(self.word(index), "on" | "in") && !self.word(index + 1).starts_with(|c: char| c.is_ascii_digit());
        let skips = BEFORE_DAYS.contains(&self.word(index)) && !needs_preposition;
        is_open.then_some(if skips { self.skip_article(index + 1) } else { index })
    }

    /// Skips an article, unless it begins `the day before` or `the week before`.
    fn skip_article(&self, index: usize) -> usize {
        let is_step = matches!(self.word(index + 1), "day" | "week") && self.follows(index + 2, "before");
        if self.follows(index, "the") && !is_step { index + 1 } else { index }
    }

    fn parse_simple(&self, index: usize, today: Date, previous: Option<Period>) -> Option<(DateRange, usize)> {
        let single = self.single_at(index, today, previous)?;
        Some((single.range?, self.skip_possessive(single.end)))
    }

    /// Returns the index of the token behind `'s`, `'s journal`, ` journal entries`.
    fn skip_possessive(&self, index: usize) -> usize {
        let is_possessive = self.word(index) == "s" && self.separator(index) == Separator::Apostrophe;
        let index = if is_possessive { index + 1 } else { index };
        if self.separator(index) != Separator::Space || !matches!(self.word(index), "journal" | "journals") {
            return index;
        }
        let is_entry =
            matches!(self.word(index + 1), "entry" | "entries") && self.separator(index + 1) == Separator::Space;
        if is_entry { index + 2 } else { index + 1 }
    }

    fn parse_range(&self, index: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        match self.word(index) {
            "between" => self.parse_joined(index + 1, &["and"], today, previous),
            "from" => self.parse_joined(index + 1, &["to", "through", "until"], today, previous),
            // `3 weeks before` is a distance, which is not supported.
            "before"
                if index > 0
                    && matches!(self.word(index - 1), "day" | "days" | "week" | "weeks" | "month" | "months") =>
            {
                None
            }
            word @ ("since" | "after" | "before") => self.parse_open_ended(word, index + 1, today, previous),
            _ => self
                .parse_joined(index, &["to", "through", "until"], today, previous)
                .or_else(|| self.parse_single(index, today, previous)),
        }
    }

    fn parse_single(&self, index: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        let single = self.single_at(index, today, previous)?;
        let Some(range) = single.range else {
            let warning = Some(format!("`{}` is not a valid date", self.quoted(index, single.end)));
            return Some(DatePhrase { meaning: PhraseMeaning::Impossible, end: single.end, warning });
        };
        Some(DatePhrase { meaning: PhraseMeaning::Dates(range), end: self.skip_possessive(single.end), warning: None })
    }

    /// Parses `A to B`, `A..B`, or what follows `between` and `from`.
    fn parse_joined(&self, index: usize, words: &[&str], today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        let (first, end) = self.parse_simple(self.skip_article(index), today, previous)?;
        let (first, previous) = (first.period(), Some(first.period()));
        let is_word = self.separator(end) == Separator::Space && words.contains(&self.word(end));
        let next = match self.separator(end) {
            Separator::Dots => end,
            _ if is_word => self.skip_article(end + 1),
            _ => return None,
        };
        let (second, end) = self.parse_simple(next, today, previous)?;
        let second = second.period();
        let (Some(from), Some(_)) = (first.from, second.from) else { return None };
        if from <= second.to {
            return Some(date_phrase(Period { from: Some(from), to: second.to }, end, None));
        }
        let warning = format!("`{}` ends before it begins; start and end are swapped", self.quoted(index, end));
        Some(date_phrase(Period { from: second.from, to: first.to }, end, Some(warning)))
    }

    fn parse_open_ended(&self, word: &str, index: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        let (range, end) = self.parse_simple(self.skip_article(index), today, previous)?;
        let period = range.period();
        if word == "before" {
            return Some(date_phrase(Period { from: None, to: period.from?.yesterday().ok()? }, end, None));
        }
        let from = if word == "after" { period.to.tomorrow().ok()? } else { period.from? };
        Some(date_phrase(Period { from: Some(from), to: from.max(today) }, end, None))
    }

    /// Returns tokens as quoted in a message, abbreviated: digits and white space may be arbitrarily long.
    fn quoted(&self, from: usize, to: usize) -> String {
        abbreviated(self.text_between(from, to))
    }
}

fn date_phrase(period: Period, end: usize, warning: Option<String>) -> DatePhrase {
    DatePhrase { meaning: PhraseMeaning::Dates(DateRange::Period(period)), end, warning }
}
