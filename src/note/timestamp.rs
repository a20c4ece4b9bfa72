//! Dates and times as notes write them.

use std::cmp::Ordering;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// A date, with a time where the note gives one.
///
/// Ordered by the moment it names: a time without an offset counts as UTC, a date alone as its
/// first moment. Equal moments written differently are equal.
#[derive(Debug, Clone)]
pub struct Timestamp {
    text: String,
    at: DateTime,
}

impl Timestamp {
    /// Parses `2025-03-05`, `2025-03-05 14:00`, `2025-03-05T14:00:00Z` and the like; `None` for
    /// anything else, an impossible date included.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let dashed = text.as_bytes().get(4) == Some(&b'-');
        if !dashed || text.len() > 64 {
            return None;
        }
        let at = match text.parse::<jiff::Timestamp>() {
            Ok(instant) => instant.to_zoned(TimeZone::UTC).datetime(),
            Err(_) if text.ends_with(['Z', 'z']) => return None,
            Err(_) => text.parse::<DateTime>().ok()?,
        };
        Some(Self { text: text.to_owned(), at })
    }

    /// Makes the stamp that [`Stamp::seconds`] was taken from.
    pub(super) fn from_seconds(seconds: i64) -> Option<Self> {
        let text = jiff::Timestamp::from_second(seconds).ok()?.to_string();
        Some(Self { text, at: Self::moment(seconds)? })
    }

    /// Returns the moment so many seconds after 1970, in UTC.
    pub(super) fn moment(seconds: i64) -> Option<DateTime> {
        Some(TimeZone::UTC.to_datetime(jiff::Timestamp::from_second(seconds).ok()?))
    }

    /// Returns the seconds since 1970 where they say all that the text does.
    pub(super) fn seconds(&self) -> Option<i64> {
        let seconds = self.at.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second();
        Self::from_seconds(seconds).is_some_and(|stamp| stamp.text == self.text).then_some(seconds)
    }

    /// Returns the text as the note has it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the moment that it names, in UTC.
    pub(super) fn at(&self) -> DateTime {
        self.at
    }

    /// Returns the calendar date (in UTC where the note gives an offset).
    pub fn date(&self) -> Date {
        self.at.date()
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
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
        self.at.cmp(&other.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dates_and_times_and_orders_them_by_moment() {
        let stamp = |text| Timestamp::parse(text).unwrap_or_else(|| panic!("{text}"));
        let ordered = [
            "2025-03-04",
            "2025-03-05T01:30:00+02:00",
            "2025-03-05",
            "2025-03-05 14:00",
            "2025-03-05T14:00:01",
            "2025-03-05T15:00:00.5Z",
        ];
        for pair in ordered.windows(2) {
            assert!(stamp(pair[0]) < stamp(pair[1]), "{pair:?}");
        }
        assert_eq!(stamp("2025-03-05"), stamp("2025-03-05T00:00:00Z"));
        assert_eq!(stamp(" 2025-03-05 ").as_str(), "2025-03-05");
    }

    #[test]
    fn refuses_what_can_not_be() {
        for text in ["", "2025", "2025-02-30", "2025-13-01", "20250305", "soon", "2025-03-05T25:00:00Z", "2025-03-0５"]
        {
            assert!(Timestamp::parse(text).is_none(), "{text}");
        }
    }
}
