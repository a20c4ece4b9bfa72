//! Parses the flags that name days and periods, in the words of a question and in short forms.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::calendar::{DateRange, Period, parse_with_short_forms};
use crate::env::Today;
use crate::error::Error;
use crate::store::CommitName;

/// The hint for a text that is no period.
const PERIODS: &str = "use a form such as 2025-03-05, yesterday, monday, last week, in January, 3 days ago or 3d";
/// The hint for a text that is no day, or a period where one day is wanted.
const DAYS: &str = "name one day, such as 2025-03-05, yesterday, last Wednesday or 3 days ago";

/// Parses the phrase of a flag.
fn span(flag: &str, text: &str, today: Date, examples: &str) -> Result<DateRange, Error> {
    parse_with_short_forms(text, today).map_err(|reason| Error::usage(format!("{flag}: {reason}")).hint(examples))
}

pub(super) fn day(flag: &str, text: &str, today: Date) -> Result<Date, Error> {
    match span(flag, text, today, DAYS)? {
        DateRange::Day(day) => Ok(day),
        DateRange::Period(_) => Err(Error::usage(format!("{flag}: `{text}` is more than one day")).hint(DAYS)),
    }
}

/// Parses `--since` and `--until`: returns the first day of the former and the last day of the latter.
pub(super) fn window(
    since: Option<&str>,
    until: Option<&str>,
    today: Today,
) -> Result<(Option<Date>, Option<Date>), Error> {
    let first = |text: &str| {
        let from = span("--since", text, today.day(), PERIODS)?.period().from;
        from.map(Some).ok_or_else(|| Error::usage(format!("--since: `{text}` has no start")).hint(PERIODS))
    };
    let last = |text: &str| Ok(Some(span("--until", text, today.day(), PERIODS)?.period().to));
    Ok((since.map_or(Ok(None), first)?, until.map_or(Ok::<_, Error>(None), last)?))
}

/// Parses `--at`: a date or a moment, both in UTC, else a revision. A text that reads as a date is none.
pub(super) fn commit_name(text: &str, today: Today) -> CommitName {
    let text = text.trim();
    named_commit(text, last_second(text, today, end_of))
}

/// Parses REV1 of `diff`. Differs from [`commit_name`] for several days, which name the last commit before the first of
/// them, so that the changes in them count.
pub(super) fn commit_before(text: &str, today: Today) -> CommitName {
    let text = text.trim();
    let before = |range: DateRange| match range {
        DateRange::Period(Period { from: Some(from), .. }) => from.yesterday().map_or_else(|_| end_of(range), last_of),
        _ => end_of(range),
    };
    named_commit(text, last_second(text, today, before))
}

fn named_commit(text: &str, until: Option<i64>) -> CommitName {
    let text = text.to_owned();
    match until {
        Some(seconds) => CommitName::Until { seconds, text },
        None => CommitName::Revision(text),
    }
}

fn last_of(day: Date) -> DateTime {
    day.at(23, 59, 59, 0)
}

fn end_of(range: DateRange) -> DateTime {
    last_of(range.period().to)
}

/// Returns the second that `until` gives for the days that a text names, or the moment that it names, in seconds since
/// 1970.
fn last_second(text: &str, today: Today, until: impl Fn(DateRange) -> DateTime) -> Option<i64> {
    let in_utc = |time: DateTime| Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second());
    // Names such as `main` can be told without looking up the day.
    let any_day = Date::constant(2000, 1, 1);
    if span("--at", text, any_day, PERIODS).is_ok() {
        return in_utc(until(span("--at", text, today.day(), PERIODS).ok()?));
    }
    let moment = text.parse::<Timestamp>().ok().map(|moment| moment.as_second());
    moment.or_else(|| in_utc(text.parse().ok()?))
}
