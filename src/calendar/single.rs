//! Single days and periods: what one phrase without `to`, `since` and the like means.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::tokens::{Separator, Tokens};
use super::{DateRange, Period};

/// What words at a place mean: nothing where they have the form of a date that no calendar has.
pub(super) struct SingleDate {
    pub(super) span: Option<DateRange>,
    pub(super) end: usize,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];
const NUMBERS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// The years that may stand behind the name of a month; other numbers there count something.
const YEARS: std::ops::RangeInclusive<i16> = 1900..=2199;

impl Tokens<'_> {
    /// Reads a single day or period at a word. `previous` is the period that was spoken of before.
    pub(super) fn single_at(&self, at: usize, today: Date, previous: Option<Period>) -> Option<SingleDate> {
        self.numeric(at)
            .or_else(|| self.named_date(at, today))
            .or_else(|| self.relative(at, today))
            .or_else(|| self.weekday(at, today))
            .or_else(|| self.in_month(at, today))
            .or_else(|| self.week_before(at, today, previous))
    }

    /// Reads a date that says its year: the day, and nothing where no calendar has it.
    pub(super) fn dated(&self, at: usize) -> Option<(Option<Date>, usize)> {
        if let Some((day, end)) = self.numeric_day(at) {
            return (!self.is_glued(at) && !self.is_glued(end)).then_some((day, end));
        }
        let (month, day, end) = self.month_and_day(at)?;
        let (year, end) = self.year_at(end)?;
        Some((Date::new(year, month, day).ok(), end))
    }

    /// `2025-03-05`, with `-`, `_` or `/`.
    pub(super) fn numeric_day(&self, at: usize) -> Option<(Option<Date>, usize)> {
        let sign = self.separator(at + 1);
        let is_sign = matches!(sign, Separator::Dash | Separator::Underscore | Separator::Slash);
        let (year, month) = (digits(self.word(at), 4)?, digits(self.word(at + 1), 2)?);
        let day = digits(self.word(at + 2), 2).filter(|_| is_sign && self.separator(at + 2) == sign)?;
        let day = Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
        Some((day.ok(), at + 3))
    }

    /// `2025-03-05` or `2025-03`.
    fn numeric(&self, at: usize) -> Option<SingleDate> {
        if self.is_glued(at) {
            return None;
        }
        if let Some((day, end)) = self.numeric_day(at) {
            return (!self.is_glued(end)).then_some(SingleDate { span: day.map(DateRange::Day), end });
        }
        let (year, month) = (digits(self.word(at), 4)?, digits(self.word(at + 1), 2)?);
        let is_month = self.separator(at + 1) == Separator::Dash && !self.is_glued(at + 2);
        let first = Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, 1).ok()?;
        is_month.then(|| SingleDate { span: Some(month_of(first)), end: at + 2 })
    }

    /// `March 5`, `Mar 5th`, `5 March`, `5th of March`: month, day, and where it ends.
    fn month_and_day(&self, at: usize) -> Option<(i8, i8, usize)> {
        if self.is_glued(at) {
            return None;
        }
        if let Some(month) = month(self.word(at)) {
            let day = day_of_month(self.word(at + 1))?;
            let is_close =
                matches!(self.separator(at + 1), Separator::Space | Separator::Stop) && !self.is_glued(at + 2);
            return is_close.then_some((month, day, at + 2));
        }
        let day = day_of_month(self.word(at))?;
        let name = if self.follows(at + 1, "of") { at + 2 } else { at + 1 };
        let month =
            month(self.word(name)).filter(|_| self.separator(name) == Separator::Space && !self.is_glued(name + 1))?;
        Some((month, day, name + 1))
    }

    fn year_at(&self, at: usize) -> Option<(i16, usize)> {
        let year = i16::try_from(digits(self.word(at), 4)?).ok()?;
        let is_close = matches!(self.separator(at), Separator::Space | Separator::Comma | Separator::Stop)
            && !self.is_glued(at + 1);
        (is_close && YEARS.contains(&year)).then_some((year, at + 1))
    }

    /// Tells whether a word may be a year.
    pub fn is_year(&self, at: usize) -> bool {
        digits(self.word(at), 4).and_then(|year| i16::try_from(year).ok()).is_some_and(|year| YEARS.contains(&year))
    }

    /// Tells whether a word is the whole name of a month; one that is a verb too needs its capital.
    pub fn is_month_name(&self, at: usize) -> bool {
        let is_capital = self.original(at).starts_with(char::is_uppercase);
        MONTHS.contains(&self.word(at)) && (is_capital || !matches!(self.word(at), "march" | "may"))
    }

    /// A day of a named month, or such a month with its year.
    fn named_date(&self, at: usize, today: Date) -> Option<SingleDate> {
        if let Some((month, day, end)) = self.month_and_day(at) {
            if let Some((year, end)) = self.year_at(end) {
                return Some(SingleDate { span: Date::new(year, month, day).ok().map(DateRange::Day), end });
            }
            // `the top 5 may` and `you may 3 times` are no dates, though `5 May` and `on may 3` are.
            let is_bare = |at: usize| self.word(at).bytes().all(|byte| byte.is_ascii_digit());
            let is_led = at > 0 && LEADS.contains(&self.word(at - 1));
            if (self.original(end - 1) == "may" && is_bare(at))
                || (self.original(at) == "may" && is_bare(end - 1) && !is_led)
            {
                return None;
            }
            return Some(SingleDate { span: latest(month, day, today).map(DateRange::Day), end });
        }
        let month = month(self.word(at)).filter(|_| !self.is_glued(at))?;
        let (year, end) = self.year_at(at + 1)?;
        let first = Date::new(year, month, 1).ok()?;
        Some(SingleDate { span: Some(month_of(first)), end })
    }

    /// `today`, `this week`, `last month`, `past 3 days`, `two weeks ago`.
    fn relative(&self, at: usize, today: Date) -> Option<SingleDate> {
        if self.is_glued(at) {
            return None;
        }
        let day = |day: Result<Date, jiff::Error>, end| Some(SingleDate { span: day.ok().map(DateRange::Day), end });
        match self.word(at) {
            "today" => day(Ok(today), at + 1),
            "yesterday" => day(today.yesterday(), at + 1),
            "tomorrow" => day(today.tomorrow(), at + 1),
            "this" => self.this_unit(at + 1, today),
            "last" | "past" | "previous" => self.last_units(at + 1, today),
            _ => {
                let (count, unit) = (number(self.word(at))?, self.unit_at(at + 1)?);
                let is_ago = self.follows(at + 2, "ago") && unit != Unit::Year;
                is_ago.then(|| SingleDate { span: before(today, unit, count).map(DateRange::Day), end: at + 3 })
            }
        }
    }

    fn this_unit(&self, at: usize, today: Date) -> Option<SingleDate> {
        let span = match self.word(at) {
            "week" => {
                let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok();
                monday.and_then(|first| period(Some(first), first.checked_add(6.days()).ok()?))
            }
            "month" => Some(month_of(today.first_of_month())),
            "year" => period(Some(today.first_of_year()), today.last_of_year()),
            _ => return None,
        };
        (self.separator(at) == Separator::Space && !self.is_glued(at + 1)).then_some(SingleDate { span, end: at + 1 })
    }

    fn last_units(&self, at: usize, today: Date) -> Option<SingleDate> {
        if self.separator(at) != Separator::Space {
            return None;
        }
        let (count, unit, end) = match self.word(at) {
            "week" => (Some(1), Unit::Week, at + 1),
            "month" => (Some(1), Unit::Month, at + 1),
            "year" => (Some(1), Unit::Year, at + 1),
            word => (number(word)?, self.unit_at(at + 1)?, at + 2),
        };
        let from = before(today, unit, count);
        (!self.is_glued(end)).then(|| SingleDate { span: from.and_then(|from| period(Some(from), today)), end })
    }

    fn unit_at(&self, at: usize) -> Option<Unit> {
        let unit = match self.word(at) {
            "day" | "days" => Unit::Day,
            "week" | "weeks" => Unit::Week,
            "month" | "months" => Unit::Month,
            "year" | "years" => Unit::Year,
            _ => return None,
        };
        (self.separator(at) == Separator::Space).then_some(unit)
    }

    /// `last Wednesday`, `on Wednesday`: the latest before today.
    fn weekday(&self, at: usize, today: Date) -> Option<SingleDate> {
        let is_short_allowed = match self.word(at) {
            "last" | "past" => true,
            // `on sun` is seldom a day; `on Sun` is.
            "on" => self.original(at + 1).starts_with(char::is_uppercase),
            _ => return None,
        };
        let weekday = weekday(self.word(at + 1), is_short_allowed)?;
        let is_close = self.separator(at + 1) == Separator::Space && !self.is_glued(at + 2);
        is_close.then(|| SingleDate { span: today.nth_weekday(-1, weekday).ok().map(DateRange::Day), end: at + 2 })
    }

    /// `in January`: the latest one that has begun.
    fn in_month(&self, at: usize, today: Date) -> Option<SingleDate> {
        let month =
            month(self.word(at + 1)).filter(|_| self.word(at) == "in" && self.separator(at + 1) == Separator::Space)?;
        if self.is_glued(at + 2) || self.year_at(at + 2).is_some() || self.month_and_day(at + 1).is_some() {
            return None;
        }
        let year = if month <= today.month() { Some(today.year()) } else { today.year().checked_sub(1) };
        Some(SingleDate { span: year.and_then(|year| Some(month_of(Date::new(year, month, 1).ok()?))), end: at + 2 })
    }

    /// `the week before`, behind another period; `the week before last week`, `the day before yesterday`.
    fn week_before(&self, at: usize, today: Date, previous: Option<Period>) -> Option<SingleDate> {
        let is_day = self.follows(at + 1, "day");
        let is_said =
            self.word(at) == "the" && (is_day || self.follows(at + 1, "week")) && self.follows(at + 2, "before");
        if !is_said {
            return None;
        }
        // One step back and no more: such phrases are not taken apart without end.
        let next = (self.word(at + 3) != "the").then(|| self.single_at(at + 3, today, None)).flatten();
        let (start, end) = match next {
            Some(next) => (next.span?.period().from?, next.end),
            None if is_day => return None,
            None => (previous?.from?, at + 3),
        };
        let days = |count: i64| start.checked_sub(count.days()).ok();
        let span = match is_day {
            true => days(1).map(DateRange::Day),
            false => days(1).and_then(|to| period(Some(days(7)?), to)),
        };
        Some(SingleDate { span, end })
    }
}

/// Words behind which `may` is the month.
const LEADS: [&str; 14] = [
    "on", "since", "until", "before", "after", "from", "to", "through", "by", "for", "of", "between", "and", "journal",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// Returns the day so many units before another; the last of a month where that has not so many days.
fn before(day: Date, unit: Unit, count: Option<i64>) -> Option<Date> {
    let (span, count) = (jiff::Span::new(), count?);
    let span = match unit {
        Unit::Day => span.try_days(count),
        Unit::Week => span.try_weeks(count),
        Unit::Month => span.try_months(count),
        Unit::Year => span.try_years(count),
    };
    day.checked_sub(span.ok()?).ok()
}

fn period(from: Option<Date>, to: Date) -> Option<DateRange> {
    Some(DateRange::Period(Period { from, to }))
}

fn month_of(first: Date) -> DateRange {
    DateRange::Period(Period { from: Some(first), to: first.last_of_month() })
}

/// Returns the latest such day that is not after today: in a leap year, where only those have it.
fn latest(month: i8, day: i8, today: Date) -> Option<Date> {
    let years = (0..=8).filter_map(|back| today.year().checked_sub(back));
    let days = years.filter_map(|year| Date::new(year, month, day).ok());
    days.into_iter().find(|day| *day <= today)
}

/// Tells at a glance whether a text may begin with a date: with a digit or the name of a month.
pub(super) fn may_begin_date(text: &str) -> bool {
    let beginning = text.as_bytes().get(..3).unwrap_or_default();
    let is_month = |name: &str| name.as_bytes().get(..3).is_some_and(|name| name.eq_ignore_ascii_case(beginning));
    match beginning.first().map(u8::to_ascii_lowercase) {
        Some(b'0'..=b'9') => true,
        Some(b'j' | b'f' | b'm' | b'a' | b's' | b'o' | b'n' | b'd') => MONTHS.iter().any(|name| is_month(name)),
        _ => false,
    }
}

fn digits(word: &str, count: usize) -> Option<u32> {
    (word.len() == count && word.bytes().all(|byte| byte.is_ascii_digit())).then(|| word.parse().ok()).flatten()
}

/// Reads a number in digits or as a word; one that is too large for any calendar is none.
fn number(word: &str) -> Option<Option<i64>> {
    if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(word.parse().ok());
    }
    let place = NUMBERS.iter().position(|name| *name == word)?;
    Some(i64::try_from(place + 1).ok())
}

/// Reads `5`, `05`, `5th`.
fn day_of_month(word: &str) -> Option<i8> {
    let endings = ["st", "nd", "rd", "th"];
    let number = endings.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    let is_short = (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| number.parse().ok()).flatten().filter(|day| (1..=31).contains(day))
}

fn month(word: &str) -> Option<i8> {
    let is_name = |name: &str| name == word || (word.len() == 3 && name.get(..3) == Some(word));
    let place = if word == "sept" { Some(8) } else { MONTHS.iter().position(|name| is_name(name)) };
    i8::try_from(place? + 1).ok()
}

fn weekday(word: &str, is_short_allowed: bool) -> Option<Weekday> {
    let is_short = |name: &str| match word.len() {
        3 => name.get(..3) == Some(word),
        4 | 5 => matches!(word, "tues" | "thur" | "thurs") && name.starts_with(word),
        _ => false,
    };
    let mut names = WEEKDAYS.iter();
    names.find(|(name, _)| *name == word || (is_short_allowed && is_short(name))).map(|(_, weekday)| *weekday)
}
