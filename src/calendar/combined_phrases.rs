//! Parses whole phrases: single days and periods, and combinations with `to`, `since` and the like.

use jiff::civil::Date;

use super::lexer::{Separator, Tokens};
use super::{DateRange, Period};
use crate::escape::abbreviated;

/// A date phrase in a text.
pub(crate) struct DatePhrase {
    /// Its days; `None` if it has the form of a date that no calendar has.
    pub(crate) range: Option<DateRange>,
    /// The index of the token behind it.
    pub(crate) end: usize,
    /// A remark for the user, as a clause.
    pub(crate) warning: Option<String>,
}

/// Words that may be between `journal` and its day.
const BEFORE_DAYS: [&str; 6] = ["for", "from", "of", "on", "in", "during"];

impl Tokens<'_> {
    /// Parses a phrase that begins at a token. Examines a bounded number of tokens. `previous` is the period mentioned
    /// before, to which `the week before` refers.
    pub(crate) fn phrase_at(&self, index: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        match self.skip_journal(index) {
            Some(start) => {
                let found = self.parse_range(start, today, previous).filter(|found| found.range.is_some());
                found.or_else(|| self.parse_lone_after_journal(start, today))
            }
            None => self.parse_range(index, today, previous).or_else(|| self.parse_lone_before_journal(index, today)),
        }
    }

    /// Parses the name of a day or period that means one only beside `journal`: `February`, `Monday`, `Q1`.
    fn lone_at(&self, index: usize, today: Date) -> Option<(DateRange, usize)> {
        let found = self.lone_weekday(index, today).or_else(|| self.lone_period(index, today));
        // `may` and `march` in lower case are verbs.
        found.filter(|_| self.is_month_name(index) || !matches!(self.word(index), "may" | "march"))
    }

    /// Parses the rest of `journal of February`.
    fn parse_lone_after_journal(&self, start: usize, today: Date) -> Option<DatePhrase> {
        let is_led = start.checked_sub(1).is_some_and(|before| BEFORE_DAYS.contains(&self.word(before)));
        let (range, end) = self.lone_at(start, today).filter(|_| is_led)?;
        Some(DatePhrase { range: Some(range), end, warning: None })
    }

    /// Parses `February journal`, `February's journal entries`.
    fn parse_lone_before_journal(&self, index: usize, today: Date) -> Option<DatePhrase> {
        let (range, end) = self.lone_at(index, today).filter(|_| !self.is_joined(index))?;
        let after = self.skip_possessive(end);
        let has_journal = matches!(self.word(after - 1), "journal" | "journals" | "entry" | "entries");
        has_journal.then_some(DatePhrase { range: Some(range), end: after, warning: None })
    }

    /// Parses one day or period without `to`, `since` and the like, including additions such as `'s journal`. Returns
    /// it with the index of the token behind it.
    pub(crate) fn simple_at(&self, index: usize, today: Date, previous: Option<Period>) -> Option<(DateRange, usize)> {
        let behind_journal = self.skip_journal(index).and_then(|start| self.parse_simple(start, today, previous));
        behind_journal.or_else(|| self.parse_simple(index, today, previous))
    }

    /// Returns the index of the token behind `journal`, `journals for`, `journal entries from`; `None` for other words.
    fn skip_journal(&self, index: usize) -> Option<usize> {
        let index = self.skip_journal_noun(index)?;
        let is_open = self.separator(index) == Separator::Space;
        // `on Wednesday` and `in January` are only dates with their preposition.
        let needs_preposition =
            matches!(self.word(index), "on" | "in") && !self.word(index + 1).starts_with(|c: char| c.is_ascii_digit());
        let skips = BEFORE_DAYS.contains(&self.word(index)) && !needs_preposition;
        is_open.then_some(if skips { self.skip_article(index + 1) } else { index })
    }

    /// Returns the index of the token behind `journal` or `journal entries`; `None` for other words.
    fn skip_journal_noun(&self, index: usize) -> Option<usize> {
        let has_entries = self.follows(index + 1, "entry") || self.follows(index + 1, "entries");
        matches!(self.word(index), "journal" | "journals").then_some(index + 1 + usize::from(has_entries))
    }

    /// Skips an article, unless it begins `the day before` or `the week before`.
    fn skip_article(&self, index: usize) -> usize {
        let is_step = matches!(self.word(index + 1), "day" | "week") && self.follows(index + 2, "before");
        if self.follows(index, "the") && !is_step { index + 1 } else { index }
    }

    fn parse_simple(&self, index: usize, today: Date, previous: Option<Period>) -> Option<(DateRange, usize)> {
        let (range, end) = self.single_at(index, today, previous)?;
        Some((range?, self.skip_possessive(end)))
    }

    /// Returns the index of the token behind `'s`, `'s journal`, ` journal entries`.
    pub(crate) fn skip_possessive(&self, index: usize) -> usize {
        let is_possessive = self.word(index) == "s" && self.separator(index) == Separator::Apostrophe;
        let index = index + usize::from(is_possessive);
        let noun = Some(index).filter(|_| self.separator(index) == Separator::Space);
        noun.and_then(|index| self.skip_journal_noun(index)).unwrap_or(index)
    }

    fn parse_range(&self, index: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        // `3 weeks before` is a distance, which is not supported.
        let units = ["day", "days", "week", "weeks", "month", "months"];
        let is_distance = || index > 0 && units.contains(&self.word(index - 1));
        match self.word(index) {
            "between" => self.parse_joined(index + 1, &["and"], today, previous),
            "from" => self.parse_joined(index + 1, &["to", "through", "until"], today, previous),
            "before" if is_distance() => None,
            word @ ("since" | "after" | "before") => self.parse_open_ended(word, index + 1, today, previous),
            _ => self
                .parse_joined(index, &["to", "through", "until"], today, previous)
                .or_else(|| self.parse_single(index, today, previous)),
        }
    }

    fn parse_single(&self, index: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        let Some((range, end)) = self.single_at(index, today, previous) else {
            let (warning, end) = self.unordered_date(index)?;
            return Some(DatePhrase { range: None, end, warning: Some(warning) });
        };
        if range.is_none() {
            let warning = format!("`{}` is not a valid date", abbreviated(self.text_between(index, end)));
            return Some(DatePhrase { range, end, warning: Some(warning) });
        }
        Some(DatePhrase { range, end: self.skip_possessive(end), warning: None })
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
        let quoted = abbreviated(self.text_between(index, end));
        let warning = format!("`{quoted}` ends before it begins; start and end are swapped");
        Some(date_phrase(Period { from: second.from, to: first.to }, end, Some(warning)))
    }

    fn parse_open_ended(&self, word: &str, index: usize, today: Date, previous: Option<Period>) -> Option<DatePhrase> {
        let start = self.skip_article(index);
        // `since Monday` can only mean a day.
        let weekday = || self.lone_weekday(start, today).filter(|_| self.separator(start) == Separator::Space);
        let (range, end) = self.parse_simple(start, today, previous).or_else(weekday)?;
        let period = range.period();
        if word == "before" {
            return Some(date_phrase(Period { from: None, to: period.from?.yesterday().ok()? }, end, None));
        }
        let from = if word == "after" { period.to.tomorrow().ok()? } else { period.from? };
        Some(date_phrase(Period { from: Some(from), to: from.max(today) }, end, None))
    }
}

fn date_phrase(period: Period, end: usize, warning: Option<String>) -> DatePhrase {
    DatePhrase { range: Some(DateRange::Period(period)), end, warning }
}
