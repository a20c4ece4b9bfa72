//! Parses phrases for days and periods: `last week`, `5 March`, `between A and B`. Works on calendar dates; the caller
//! gives today, and neither clock nor time zone is used.

mod combined_phrases;
mod lexer;
mod short_forms;
mod single_phrases;
mod vague_phrases;

use jiff::civil::Date;

pub(crate) use combined_phrases::DatePhrase;
pub(crate) use lexer::{Separator, Tokens};
pub use short_forms::parse_with_short_forms;

/// The days that a phrase means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateRange {
    /// One day.
    Day(Date),
    /// Several days.
    Period(Period),
}

/// A period of days, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period {
    /// The first day; `None` for an open beginning.
    pub from: Option<Date>,
    /// The last day.
    pub to: Date,
}

impl Period {
    /// Tells whether a day is in the period.
    pub fn contains(&self, day: Date) -> bool {
        self.from.is_none_or(|from| from <= day) && day <= self.to
    }
}

impl DateRange {
    /// Returns the days as a period; a day becomes a period of one day.
    pub fn period(self) -> Period {
        match self {
            Self::Day(day) => Period { from: Some(day), to: day },
            Self::Period(period) => period,
        }
    }
}

/// Parses a text that is one phrase and nothing else.
///
/// # Errors
/// A clause with the reason why it is none.
pub fn parse(text: &str, today: Date) -> Result<DateRange, String> {
    let text = text.trim();
    let tokens = Tokens::new(text);
    match tokens.phrase_at(0, today, None) {
        Some(DatePhrase { range: Some(range), warning: None, end }) if tokens.is_whole(end) => Ok(range),
        Some(DatePhrase { range, warning: Some(warning), end }) if range.is_none() || end == tokens.len() => {
            Err(warning)
        }
        _ => Err(format!("can't parse `{text}` as a date or period")),
    }
}

/// Parses a text that is a date with its year and nothing else, such as the title of a journal.
pub(crate) fn parse_day(text: &str) -> Option<Date> {
    let text = text.trim();
    if !(8..=24).contains(&text.len()) || !single_phrases::may_begin_date(text) {
        return None;
    }
    // A fast path: most journals have such titles, and stores contain thousands of them.
    if text.len() == 10
        && text.as_bytes().get(4) == Some(&b'-')
        && let Ok(day) = text.parse()
    {
        return Some(day);
    }
    let tokens = Tokens::new(text);
    let (day, end) = tokens.dated(0)?;
    day.filter(|_| tokens.is_whole(end))
}

/// Returns the first date in a text that is written as `2025-03-05`, with `-`, `_` or `/`, whatever surrounds it.
pub(crate) fn find_numeric_day(text: &str) -> Option<Date> {
    if text.len() < 10 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let tokens = Tokens::new(text);
    (0..tokens.len()).find_map(|index| tokens.numeric_day(index)?.0)
}

#[cfg(test)]
mod tests;
