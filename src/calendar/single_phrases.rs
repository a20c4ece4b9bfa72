//! Parses single days and periods: phrases without `to`, `since` and the like.

use std::str::FromStr;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan, Unit};

use super::lexer::{Separator, Tokens};
use super::{DateRange, Period};
use crate::escape::abbreviated;

/// The days that a phrase means, `None` if it has the form of a date that no calendar has, and the index of the token
/// behind it.
pub(super) type SinglePhrase = (Option<DateRange>, usize);

const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
];
/// The days of the week.
pub(super) const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const NUMBERS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// The months of a quarter of a year.
const MONTHS_OF_QUARTER: i8 = 3;

/// The years recognized after the name of a month; other numbers there count something.
const YEARS: std::ops::RangeInclusive<i16> = 1900..=2199;

impl Tokens<'_> {
    /// Parses a single day or period at a token. `previous` is the period mentioned before.
    pub(super) fn single_at(&self, index: usize, today: Date, previous: Option<Period>) -> Option<SinglePhrase> {
        self.parse_numeric(index)
            .or_else(|| self.named_date(index, today))
            .or_else(|| self.named_quarter(index))
            .or_else(|| self.parse_relative(index, today))
            .or_else(|| self.weekday(index, today))
            .or_else(|| self.parse_in(index, today))
            .or_else(|| self.parse_week_before(index, today, previous))
    }

    /// Parses a date with its year. Returns the day, `None` if no calendar has it, and the index of the token behind
    /// it.
    pub(super) fn dated(&self, index: usize) -> Option<(Option<Date>, usize)> {
        if let Some((day, end)) = self.numeric_day(index) {
            return (!self.is_joined(index) && !self.is_joined(end)).then_some((day, end));
        }
        let (month, day, end) = self.month_and_day(index)?;
        let (year, end) = self.year_at(end)?;
        Some((Date::new(year, month, day).ok(), end))
    }

    /// Parses `2025-03-05`, with `-`, `_` or `/`.
    pub(super) fn numeric_day(&self, index: usize) -> Option<(Option<Date>, usize)> {
        let separator = self.separator(index + 1);
        let is_date = matches!(separator, Separator::Dash | Separator::Underscore | Separator::Slash)
            && self.separator(index + 2) == separator;
        let (year, month) = (parse_digits(self.word(index), 4)?, parse_digits(self.word(index + 1), 2)?);
        let day = parse_digits(self.word(index + 2), 2).filter(|_| is_date)?;
        Some((Date::new(year, month, day).ok(), index + 3))
    }

    /// Parses `2025-03-05` or `2025-03`.
    fn parse_numeric(&self, index: usize) -> Option<SinglePhrase> {
        if self.is_joined(index) {
            return None;
        }
        if let Some((day, end)) = self.numeric_day(index) {
            return (!self.is_joined(end)).then_some((day.map(DateRange::Day), end));
        }
        let (year, month) = (parse_digits(self.word(index), 4)?, parse_digits(self.word(index + 1), 2)?);
        let is_month = self.separator(index + 1) == Separator::Dash && !self.is_joined(index + 2);
        let first = Date::new(year, month, 1).ok()?;
        is_month.then(|| (Some(month_of(first)), index + 2))
    }

    /// Parses `March 5`, `Mar 5th`, `5 March`, `5th of March`. Returns month, day, and the index of the token behind
    /// them.
    fn month_and_day(&self, index: usize) -> Option<(i8, i8, usize)> {
        if self.is_joined(index) {
            return None;
        }
        if let Some(month) = month(self.word(index)) {
            let day = parse_day_of_month(self.word(index + 1))?;
            let is_close =
                matches!(self.separator(index + 1), Separator::Space | Separator::Stop) && !self.is_joined(index + 2);
            return is_close.then_some((month, day, index + 2));
        }
        let day = parse_day_of_month(self.word(index))?;
        let name = if self.follows(index + 1, "of") { index + 2 } else { index + 1 };
        let month =
            month(self.word(name)).filter(|_| self.separator(name) == Separator::Space && !self.is_joined(name + 1))?;
        Some((month, day, name + 1))
    }

    fn year_at(&self, index: usize) -> Option<(i16, usize)> {
        let year = self.year(index)?;
        let is_close = matches!(self.separator(index), Separator::Space | Separator::Comma | Separator::Stop)
            && !self.is_joined(index + 1);
        is_close.then_some((year, index + 1))
    }

    fn year(&self, index: usize) -> Option<i16> {
        parse_digits(self.word(index), 4).filter(|year| YEARS.contains(year))
    }

    /// Tells whether a word may be a year.
    pub(crate) fn is_year(&self, index: usize) -> bool {
        self.year(index).is_some()
    }

    /// Tells whether a word is the name of a quarter.
    pub(super) fn is_quarter(&self, index: usize) -> bool {
        quarter(self.word(index)).is_some()
    }

    /// Tells whether a word is the full name of a weekday.
    pub(super) fn is_weekday(&self, index: usize) -> bool {
        WEEKDAYS.contains(&self.word(index))
    }

    /// Tells whether a word is the full name of a month; names that are verbs too need a capital.
    pub(crate) fn is_month_name(&self, index: usize) -> bool {
        let is_capital = self.original(index).starts_with(char::is_uppercase);
        MONTHS.contains(&self.word(index)) && (is_capital || !matches!(self.word(index), "march" | "may"))
    }

    /// Parses a day of a named month, or a named month with its year.
    fn named_date(&self, index: usize, today: Date) -> Option<SinglePhrase> {
        if let Some((month, day, end)) = self.month_and_day(index) {
            if let Some((year, end)) = self.year_at(end) {
                return Some((Date::new(year, month, day).ok().map(DateRange::Day), end));
            }
            // `the top 5 may` and `you may 3 times` are no dates, though `5 May` and `on may 3` are.
            let is_bare = |index: usize| self.word(index).bytes().all(|byte| byte.is_ascii_digit());
            let is_led = index > 0 && MAY_PREFIXES.contains(&self.word(index - 1));
            if (self.original(end - 1) == "may" && is_bare(index))
                || (self.original(index) == "may" && is_bare(end - 1) && !is_led)
            {
                return None;
            }
            return Some((latest(month, day, today).map(DateRange::Day), end));
        }
        let month = month(self.word(index)).filter(|_| !self.is_joined(index))?;
        let (year, end) = self.year_at(index + 1)?;
        Some((Some(month_of(Date::new(year, month, 1).ok()?)), end))
    }

    /// Parses `today`, `this week`, `last month`, `past 3 days`, `two weeks ago`, `a week ago`.
    fn parse_relative(&self, index: usize, today: Date) -> Option<SinglePhrase> {
        if self.is_joined(index) {
            return None;
        }
        let day = |day: Result<Date, jiff::Error>, end| Some((day.ok().map(DateRange::Day), end));
        match self.word(index) {
            "today" | "todays" | "tonight" => day(Ok(today), index + 1),
            "yesterday" | "yesterdays" => day(today.yesterday(), index + 1),
            "tomorrow" | "tomorrows" => day(today.tomorrow(), index + 1),
            "this" => self.parse_this(index + 1, today),
            "last" | "past" | "previous" => self.parse_last(index + 1, today),
            word => {
                let count = if matches!(word, "a" | "an") { Some(1) } else { parse_number(word)? };
                let unit = self.unit_at(index + 1)?;
                let is_ago = self.follows(index + 2, "ago") && unit != Unit::Year;
                is_ago.then(|| (before(today, unit, count).map(DateRange::Day), index + 3))
            }
        }
    }

    fn parse_this(&self, index: usize, today: Date) -> Option<SinglePhrase> {
        let range = match self.word(index) {
            "week" => {
                let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok();
                monday.and_then(|first| period(Some(first), first.checked_add(6.days()).ok()?))
            }
            "month" => Some(month_of(today.first_of_month())),
            "quarter" => quarter_of(today.year(), quarter_number(today)),
            "morning" | "afternoon" | "evening" => Some(DateRange::Day(today)),
            "year" => period(Some(today.first_of_year()), today.last_of_year()),
            _ => return None,
        };
        let is_close = self.separator(index) == Separator::Space && !self.is_joined(index + 1);
        is_close.then_some((range, index + 1))
    }

    fn parse_last(&self, index: usize, today: Date) -> Option<SinglePhrase> {
        if self.separator(index) != Separator::Space {
            return None;
        }
        if let Some(quarters) = self.parse_last_quarters(index, today) {
            return Some(quarters);
        }
        let (count, unit, end) = match self.word(index) {
            "week" | "month" | "year" => (Some(1), self.unit_at(index)?, index + 1),
            word => (parse_number(word)?, self.unit_at(index + 1)?, index + 2),
        };
        let from = before(today, unit, count);
        (!self.is_joined(end)).then(|| (from.and_then(|from| period(Some(from), today)), end))
    }

    /// Parses `quarter` and `3 quarters` after `last`: the whole quarters before that of today. Unlike weeks and months,
    /// which people count back from today, quarters are those of the calendar.
    fn parse_last_quarters(&self, index: usize, today: Date) -> Option<SinglePhrase> {
        let (count, end) = match self.word(index) {
            "quarter" => (Some(1), index + 1),
            word if self.follows(index + 1, "quarters") => (parse_number(word)?, index + 2),
            _ => return None,
        };
        let begin = first_of_quarter(today.year(), quarter_number(today))?;
        let months = count.and_then(|count| count.checked_mul(MONTHS_OF_QUARTER.into()));
        let from = before(begin, Unit::Month, months);
        let range = from.zip(begin.yesterday().ok()).and_then(|(from, to)| period(Some(from), to));
        (!self.is_joined(end)).then_some((range, end))
    }

    pub(super) fn unit_at(&self, index: usize) -> Option<Unit> {
        let unit = match self.word(index) {
            "day" | "days" => Unit::Day,
            "week" | "weeks" => Unit::Week,
            "month" | "months" => Unit::Month,
            "year" | "years" => Unit::Year,
            _ => return None,
        };
        (self.separator(index) == Separator::Space).then_some(unit)
    }

    /// Parses `last Wednesday` and `on Wednesday`: the latest one before today.
    fn weekday(&self, index: usize, today: Date) -> Option<SinglePhrase> {
        let is_short_allowed = match self.word(index) {
            "last" | "past" | "previous" => true,
            // `on sun` is seldom a day; `on Sun` is.
            "on" => self.original(index + 1).starts_with(char::is_uppercase),
            _ => return None,
        };
        let weekday = weekday(self.word(index + 1), is_short_allowed)?;
        let is_close = self.separator(index + 1) == Separator::Space && !self.is_joined(index + 2);
        is_close.then(|| (today.nth_weekday(-1, weekday).ok().map(DateRange::Day), index + 2))
    }

    /// Parses the name of a weekday without a word before it: the latest one before today. Only its context tells that a day
    /// is meant.
    pub(super) fn lone_weekday(&self, index: usize, today: Date) -> Option<(DateRange, usize)> {
        let is_capital = self.original(index).starts_with(char::is_uppercase);
        let weekday = weekday(self.word(index), is_capital).filter(|_| !self.is_joined(index + 1))?;
        Some((DateRange::Day(today.nth_weekday(-1, weekday).ok()?), index + 1))
    }

    /// Parses a month or a quarter without its year: the latest that has begun. Only its context tells that a period is meant.
    /// A year is none: `2018 versus 2021` is more often about versions.
    pub(crate) fn lone_period(&self, index: usize, today: Date) -> Option<(DateRange, usize)> {
        let is_alone = !self.is_joined(index) && !self.is_joined(index + 1);
        latest_begun(self.word(index), today).filter(|_| is_alone).map(|range| (range, index + 1))
    }

    /// Parses `in January` and `in Q1`: the latest that has begun.
    fn parse_in(&self, index: usize, today: Date) -> Option<SinglePhrase> {
        let is_phrase = self.word(index) == "in" && self.separator(index + 1) == Separator::Space;
        let range = latest_begun(self.word(index + 1), today).filter(|_| is_phrase)?;
        if self.is_joined(index + 2) || self.year_at(index + 2).is_some() || self.month_and_day(index + 1).is_some() {
            return None;
        }
        Some((Some(range), index + 2))
    }

    /// Parses `Q1 2025`, `2025 Q1` and `2025-Q1`.
    fn named_quarter(&self, index: usize) -> Option<SinglePhrase> {
        if self.is_joined(index) {
            return None;
        }
        if let Some(quarter) = quarter(self.word(index)) {
            let (year, end) = self.year_at(index + 1)?;
            return Some((quarter_of(year, quarter), end));
        }
        let (year, quarter) = (self.year(index)?, quarter(self.word(index + 1))?);
        let is_close = matches!(self.separator(index + 1), Separator::Space | Separator::Dash);
        (is_close && !self.is_joined(index + 2)).then(|| (quarter_of(year, quarter), index + 2))
    }

    /// Recognizes `03/25/2025`, in which the order of month and day depends on the country. Returns a clause with both
    /// readings and the index of the token after it.
    pub(super) fn unordered_date(&self, index: usize) -> Option<(String, usize)> {
        let separator = self.separator(index + 1);
        let is_date = matches!(separator, Separator::Slash | Separator::Dash | Separator::Point)
            && self.separator(index + 2) == separator
            && !self.is_joined(index)
            && !self.is_joined(index + 3);
        let number = |index: usize| parse_day_of_month(self.word(index)).filter(|_| is_date);
        let (a, b, year) = (number(index)?, number(index + 1)?, self.year(index + 2)?);
        let (month_first, day_first) = (Date::new(year, a, b).ok(), Date::new(year, b, a).ok());
        let shown = |day: Option<Date>| day.map_or_else(|| "no date".to_owned(), |day| day.to_string());
        let text = abbreviated(self.text_between(index, index + 3));
        let advice =
            month_first.or(day_first).map_or_else(String::new, |day| format!("; write {day} if that is meant"));
        let (month_first, day_first) = (shown(month_first), shown(day_first));
        Some((
            format!(
                "`{text}` is not read: with the month first it is {month_first}, with the day first {day_first}{advice}"
            ),
            index + 3,
        ))
    }

    /// Parses `the week before`, which refers to a period mentioned before, `the week before last week` and `the day
    /// before yesterday`.
    fn parse_week_before(&self, index: usize, today: Date, previous: Option<Period>) -> Option<SinglePhrase> {
        let has_article = self.word(index) == "the";
        let unit = index + usize::from(has_article);
        let is_day = self.word(unit) == "day";
        let is_open = if has_article { self.separator(unit) == Separator::Space } else { self.may_begin_step(unit) };
        let is_phrase = is_open && (is_day || self.word(unit) == "week") && self.follows(unit + 1, "before");
        if !is_phrase {
            return None;
        }
        let after = unit + 2;
        // Only one step back, so that recursion is bounded.
        let is_step = self.word(after) == "the" || matches!(self.word(after), "day" | "week");
        let next = (!is_step).then(|| self.single_at(after, today, None)).flatten();
        let is_week_before_last = !is_day && self.follows(after, "last");
        let (start, end) = match next {
            Some((range, end)) => (range?.period().from?, end),
            None if is_week_before_last => (before(today, Unit::Week, Some(1))?, after + 1),
            None if is_day || !has_article => return None,
            None => (previous?.from?, after),
        };
        let days = |count: i64| start.checked_sub(count.days()).ok();
        let range =
            if is_day { days(1).map(DateRange::Day) } else { days(1).and_then(|to| period(Some(days(7)?), to)) };
        Some((range, end))
    }

    /// Tells whether `day before` or `week before` may begin at a token without an article: `two days before`, `every day
    /// before` and `weekday before` mean something else.
    fn may_begin_step(&self, index: usize) -> bool {
        let before = index.checked_sub(1).map_or("", |before| self.word(before));
        let counts = matches!(before, "a" | "an" | "the" | "every" | "each" | "any" | "per" | "same");
        !counts && parse_number(before).is_none() && !self.is_joined(index)
    }
}

/// Words after which `may` is the month.
const MAY_PREFIXES: [&str; 14] = [
    "on", "since", "until", "before", "after", "from", "to", "through", "by", "for", "of", "between", "and", "journal",
];

/// Returns the day `count` units before another; the last of the month if that has fewer days.
fn before(day: Date, unit: Unit, count: Option<i64>) -> Option<Date> {
    let (span, count) = (Span::new(), count?);
    let span = match unit {
        Unit::Day => span.try_days(count),
        Unit::Week => span.try_weeks(count),
        Unit::Month => span.try_months(count),
        Unit::Year => span.try_years(count),
        _ => return None,
    };
    day.checked_sub(span.ok()?).ok()
}

fn period(from: Option<Date>, to: Date) -> Option<DateRange> {
    Some(DateRange::Period(Period { from, to }))
}

/// Returns the latest month or quarter with a name that has begun by today; `None` for other words.
fn latest_begun(name: &str, today: Date) -> Option<DateRange> {
    let begun = |is_begun: bool| if is_begun { Some(today.year()) } else { today.year().checked_sub(1) };
    if let Some(quarter) = quarter(name) {
        return quarter_of(begun(quarter <= quarter_number(today))?, quarter);
    }
    let month = month(name)?;
    Some(month_of(Date::new(begun(month <= today.month())?, month, 1).ok()?))
}

/// Parses `q1` to `q4`.
fn quarter(word: &str) -> Option<i8> {
    let number = word.strip_prefix('q').filter(|number| number.len() == 1)?;
    number.parse().ok().filter(|quarter| (1..=4).contains(quarter))
}

/// Returns the number of the quarter, from 1, that contains a day.
fn quarter_number(day: Date) -> i8 {
    (day.month() - 1) / MONTHS_OF_QUARTER + 1
}

fn first_of_quarter(year: i16, quarter: i8) -> Option<Date> {
    Date::new(year, (quarter - 1) * MONTHS_OF_QUARTER + 1, 1).ok()
}

fn quarter_of(year: i16, quarter: i8) -> Option<DateRange> {
    let last_month = Date::new(year, quarter * MONTHS_OF_QUARTER, 1).ok()?;
    period(Some(first_of_quarter(year, quarter)?), last_month.last_of_month())
}

fn month_of(first: Date) -> DateRange {
    DateRange::Period(Period { from: Some(first), to: first.last_of_month() })
}

/// Returns the latest such day that is not after today. 29 February is found up to 8 years back.
fn latest(month: i8, day: i8, today: Date) -> Option<Date> {
    let mut days = (0..=8).filter_map(|back| Date::new(today.year().checked_sub(back)?, month, day).ok());
    days.find(|day| *day <= today)
}

/// Tells cheaply whether a text may begin with a date: with a digit or the name of a month.
pub(super) fn may_begin_date(text: &str) -> bool {
    let beginning = text.as_bytes().get(..3).unwrap_or_default();
    let is_month = |name: &&str| name.as_bytes().get(..3).is_some_and(|name| name.eq_ignore_ascii_case(beginning));
    let begins_month = |byte: &u8| b"jfmasond".contains(&byte.to_ascii_lowercase()) && MONTHS.iter().any(is_month);
    beginning.first().is_some_and(|byte| byte.is_ascii_digit() || begins_month(byte))
}

fn parse_digits<T: FromStr>(word: &str, count: usize) -> Option<T> {
    (word.len() == count && word.bytes().all(|byte| byte.is_ascii_digit())).then(|| word.parse().ok()).flatten()
}

/// Parses a number in digits or as a word; the inner value is `None` if it is too large.
fn parse_number(word: &str) -> Option<Option<i64>> {
    if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(word.parse().ok());
    }
    let index = NUMBERS.iter().position(|name| *name == word)?;
    Some(i64::try_from(index + 1).ok())
}

/// Parses `5`, `05`, `5th`.
fn parse_day_of_month(word: &str) -> Option<i8> {
    let endings = ["st", "nd", "rd", "th"];
    let number = endings.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    let is_short = (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| number.parse().ok()).flatten().filter(|day| (1..=31).contains(day))
}

fn month(word: &str) -> Option<i8> {
    let is_name = |name: &str| name == word || (word.len() == 3 && name.get(..3) == Some(word));
    let index = if word == "sept" { Some(8) } else { MONTHS.iter().position(|name| is_name(name)) };
    i8::try_from(index? + 1).ok()
}

fn weekday(word: &str, is_short_allowed: bool) -> Option<Weekday> {
    let is_short = |name: &str| match word.len() {
        3 => name.get(..3) == Some(word),
        4 | 5 => matches!(word, "tues" | "thur" | "thurs") && name.starts_with(word),
        _ => false,
    };
    let index = WEEKDAYS.iter().position(|name| *name == word || (is_short_allowed && is_short(name)))?;
    Weekday::from_monday_zero_offset(i8::try_from(index).ok()?).ok()
}
