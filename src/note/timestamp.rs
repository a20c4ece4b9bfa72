//! Dates and times in the spelling of their author.

use std::cmp::Ordering;
use std::ops::Range;

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
        if let Some(utc) = plain_utc(text) {
            return Some(Self { text: text.to_owned(), utc });
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
        let seconds = TimeZone::UTC.to_timestamp(self.utc).ok()?.as_second();
        let follows = || Self::from_seconds(seconds).is_some_and(|timestamp| timestamp.text == self.text);
        (plain_utc(&self.text).is_some() || follows()).then_some(seconds)
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

/// Reads `YYYY-MM-DDThh:mm:ssZ`, as qipu and most tools write it; `None` for any other spelling. The spelling follows from the
/// time.
fn plain_utc(text: &str) -> Option<DateTime> {
    const SIGNS: [(usize, u8); 6] = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    let bytes: &[u8; 20] = text.as_bytes().try_into().ok()?;
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i16::from(byte - b'0'));
    let number = |range: Range<usize>| bytes.get(range)?.iter().try_fold(0, |sum, byte| Some(sum * 10 + digit(byte)?));
    let part = |start: usize| i8::try_from(number(start..start + 2)?).ok();
    let year = number(0..4).filter(|year| (1..9999).contains(year))?;
    let time = DateTime::new(year, part(5)?, part(8)?, part(11)?, part(14)?, part(17)?, 0).ok();
    time.filter(|_| SIGNS.iter().all(|(at, sign)| bytes.get(*at) == Some(sign)))
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
    fn a_plain_spelling_follows_from_its_time() {
        for text in ["2025-03-05T14:00:01Z", "0001-01-01T00:00:00Z", "9998-12-31T23:59:59Z", "2024-02-29T00:00:00Z"] {
            let timestamp = Timestamp::parse(text).unwrap();
            assert_eq!(timestamp.utc, text.parse::<jiff::Timestamp>().unwrap().to_zoned(TimeZone::UTC).datetime());
            assert_eq!(Timestamp::from_seconds(timestamp.seconds().unwrap()).unwrap().as_str(), text);
        }
        for text in ["2025-03-05t14:00:01Z", "2025-03-05T14:00:01z", "2025-03-05 14:00:01Z", "2025-03-05T14:00:01.5Z"] {
            assert_eq!(Timestamp::parse(text).unwrap().seconds(), None, "{text}");
        }
        assert_eq!(Timestamp::parse("2016-12-31T23:59:60Z").unwrap().seconds(), None);
    }

    #[test]
    fn refuses_what_can_not_be() {
        for text in ["", "2025", "2025-02-30", "2025-13-01", "20250305", "soon", "2025-03-05T25:00:00Z", "2025-03-0５"]
        {
            assert!(Timestamp::parse(text).is_none(), "{text}");
        }
    }
}
