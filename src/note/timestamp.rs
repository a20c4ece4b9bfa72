//! Dates and times in the spelling of their author.

use std::cmp::Ordering;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// A date with an optional time. Timestamps are ordered by UTC time: a time without an offset counts as UTC, a date
/// without a time as midnight. Different spellings of one time are equal.
#[derive(Debug, Clone)]
pub struct Timestamp {
    text: String,
    pub(crate) utc: DateTime,
}

impl Timestamp {
    /// Parses `2025-03-05`, `2025-03-05 14:00`, `2025-03-05T14:00:00Z` and the like; `None` for impossible dates too.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let has_dash = text.as_bytes().get(4) == Some(&b'-');
        if !has_dash || text.len() > 64 {
            return None;
        }
        let utc = match text.parse::<jiff::Timestamp>() {
            Ok(instant) => instant.to_zoned(TimeZone::UTC).datetime(),
            Err(_) if text.ends_with(['Z', 'z']) => return None,
            Err(_) => text.parse::<DateTime>().ok()?,
        };
        Some(Self { text: text.to_owned(), utc })
    }

    /// Parses also the dates of other tools: `2020/01/05`, `2020-01-05 16:16:01 -0600`, `January 5, 2020`.
    pub(crate) fn parse_lenient(text: &str) -> Option<Self> {
        const IN_WORDS: [&str; 4] = ["%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y"];
        let text = text.trim();
        let first = text.split_whitespace().next()?.replace('/', "-");
        let in_words = || IN_WORDS.iter().find_map(|format| Date::strptime(format, text).ok());
        Self::parse(text).or_else(|| Self::parse(&first)).or_else(|| Self::parse(&in_words()?.to_string()))
    }

    /// Makes the timestamp of the value of [`Timestamp::seconds`].
    pub(crate) fn from_seconds(seconds: i64) -> Option<Self> {
        let text = jiff::Timestamp::from_second(seconds).ok()?.to_string();
        Some(Self { text, utc: Self::utc_from_seconds(seconds)? })
    }

    pub(crate) fn utc_from_seconds(seconds: i64) -> Option<DateTime> {
        Some(TimeZone::UTC.to_datetime(jiff::Timestamp::from_second(seconds).ok()?))
    }

    /// Returns the seconds since 1970 if the spelling follows from them.
    pub(crate) fn seconds(&self) -> Option<i64> {
        let seconds = self.utc.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second();
        Self::from_seconds(seconds).is_some_and(|timestamp| timestamp.text == self.text).then_some(seconds)
    }

    /// Returns the spelling in the note.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the calendar date in UTC.
    pub fn date(&self) -> Date {
        self.utc.date()
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.utc == other.utc
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        self.utc.cmp(&other.utc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dates_and_times_and_orders_them_by_moment() {
        let timestamp = |text| Timestamp::parse(text).unwrap_or_else(|| panic!("{text}"));
        let ordered = [
            "2025-03-04",
            "2025-03-05T01:30:00+02:00",
            "2025-03-05",
            "2025-03-05 14:00",
            "2025-03-05T14:00:01",
            "2025-03-05T15:00:00.5Z",
        ];
        for pair in ordered.windows(2) {
            assert!(timestamp(pair[0]) < timestamp(pair[1]), "{pair:?}");
        }
        assert_eq!(timestamp("2025-03-05"), timestamp("2025-03-05T00:00:00Z"));
        assert_eq!(timestamp(" 2025-03-05 ").as_str(), "2025-03-05");
    }

    #[test]
    fn refuses_what_can_not_be() {
        for text in ["", "2025", "2025-02-30", "2025-13-01", "20250305", "soon", "2025-03-05T25:00:00Z", "2025-03-0５"]
        {
            assert!(Timestamp::parse(text).is_none(), "{text}");
        }
    }
}
