//! Days in the names of journals, as apps are told to write them: `yyyy_MM_dd`, `MMM do, yyyy`.

use jiff::civil::{Date, Weekday};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPart {
    Year,
    ShortYear,
    Month,
    PlainMonth,
    MonthName,
    ShortMonthName,
    Day,
    PlainDay,
    OrdinalDay,
    WeekdayName,
    ShortWeekdayName,
    Text(char),
}

/// How a day is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DatePattern(Vec<PatternPart>);

impl DatePattern {
    /// Reads a pattern. Letters that stand for nothing known stand for themselves.
    pub(super) fn new(text: &str) -> Self {
        const WORDS: [(&str, PatternPart); 19] = [
            ("yyyy", PatternPart::Year),
            ("YYYY", PatternPart::Year),
            ("yy", PatternPart::ShortYear),
            ("YY", PatternPart::ShortYear),
            ("MMMM", PatternPart::MonthName),
            ("MMM", PatternPart::ShortMonthName),
            ("MM", PatternPart::Month),
            ("M", PatternPart::PlainMonth),
            ("dddd", PatternPart::WeekdayName),
            ("ddd", PatternPart::ShortWeekdayName),
            ("dd", PatternPart::Day),
            ("DD", PatternPart::Day),
            ("do", PatternPart::OrdinalDay),
            ("Do", PatternPart::OrdinalDay),
            ("d", PatternPart::PlainDay),
            ("D", PatternPart::PlainDay),
            ("EEEE", PatternPart::WeekdayName),
            ("EEE", PatternPart::ShortWeekdayName),
            ("E", PatternPart::ShortWeekdayName),
        ];
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some(first) = rest.chars().next() {
            let close = [('\'', '\''), ('[', ']')].into_iter().find(|(open, _)| *open == first).map(|(_, close)| close);
            let quoted = close.and_then(|close| rest.get(1..)?.split_once(close));
            if let Some((inside, after)) = quoted {
                pieces.extend(inside.chars().map(PatternPart::Text));
                rest = after;
                continue;
            }
            let word = WORDS.iter().find_map(|(word, piece)| Some((piece, rest.strip_prefix(word)?)));
            let (piece, after) = match word {
                Some((piece, after)) => (piece.clone(), after),
                None => (PatternPart::Text(first), rest.get(first.len_utf8()..).unwrap_or_default()),
            };
            pieces.push(piece);
            rest = after;
        }
        Self(pieces)
    }

    /// Writes a day.
    pub(super) fn write(&self, day: Date) -> String {
        self.0.iter().map(|piece| written(piece, day)).collect()
    }

    /// Reads a day that is the whole of a text.
    pub(super) fn read(&self, text: &str) -> Option<Date> {
        let (mut year, mut month, mut day, mut rest) = (None, None, None, text);
        for piece in &self.0 {
            let (value, after) = match piece {
                PatternPart::Text(c) => (0, rest.strip_prefix(*c)?),
                PatternPart::Year => digits(rest, 4, 4)?,
                PatternPart::ShortYear | PatternPart::Month | PatternPart::Day => digits(rest, 2, 2)?,
                PatternPart::PlainMonth | PatternPart::PlainDay => digits(rest, 1, 2)?,
                PatternPart::OrdinalDay => {
                    let (value, after) = digits(rest, 1, 2)?;
                    (value, after.strip_prefix(suffix(value))?)
                }
                PatternPart::MonthName => named(rest, &MONTHS, usize::MAX)?,
                PatternPart::ShortMonthName => named(rest, &MONTHS, 3)?,
                PatternPart::WeekdayName => named(rest, &WEEKDAYS, usize::MAX)?,
                PatternPart::ShortWeekdayName => named(rest, &WEEKDAYS, 3)?,
            };
            rest = after;
            match piece {
                PatternPart::Year => year = Some(value),
                PatternPart::ShortYear => year = Some(2000 + value),
                PatternPart::Month | PatternPart::PlainMonth | PatternPart::MonthName | PatternPart::ShortMonthName => {
                    month = Some(value)
                }
                PatternPart::Day | PatternPart::PlainDay | PatternPart::OrdinalDay => day = Some(value),
                _ => {}
            }
        }
        let date = Date::new(year?, i8::try_from(month?).ok()?, i8::try_from(day?).ok()?).ok()?;
        // The day of the week, too, must be that day's.
        (rest.is_empty() && self.write(date) == text).then_some(date)
    }
}

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

fn written(piece: &PatternPart, day: Date) -> String {
    let month = usize::try_from(day.month()).ok().and_then(|month| MONTHS.get(month.checked_sub(1)?)).unwrap_or(&"");
    let weekday = usize::try_from(Weekday::to_monday_zero_offset(day.weekday()))
        .ok()
        .and_then(|place| WEEKDAYS.get(place))
        .unwrap_or(&"");
    let short = |name: &str| name.chars().take(3).collect();
    match piece {
        PatternPart::Year => format!("{:04}", day.year()),
        PatternPart::ShortYear => format!("{:02}", day.year() % 100),
        PatternPart::Month => format!("{:02}", day.month()),
        PatternPart::PlainMonth => day.month().to_string(),
        PatternPart::MonthName => (*month).to_owned(),
        PatternPart::ShortMonthName => short(month),
        PatternPart::Day => format!("{:02}", day.day()),
        PatternPart::PlainDay => day.day().to_string(),
        PatternPart::OrdinalDay => format!("{}{}", day.day(), suffix(day.day().into())),
        PatternPart::WeekdayName => (*weekday).to_owned(),
        PatternPart::ShortWeekdayName => short(weekday),
        PatternPart::Text(c) => c.to_string(),
    }
}

fn suffix(day: i16) -> &'static str {
    match day {
        11..=13 => "th",
        _ if day % 10 == 1 => "st",
        _ if day % 10 == 2 => "nd",
        _ if day % 10 == 3 => "rd",
        _ => "th",
    }
}

fn digits(text: &str, least: usize, most: usize) -> Option<(i16, &str)> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    (count >= least).then(|| Some((text.get(..count)?.parse().ok()?, text.get(count..)?))).flatten()
}

fn named<'a>(text: &'a str, names: &[&str], chars: usize) -> Option<(i16, &'a str)> {
    names.iter().enumerate().find_map(|(place, name)| {
        let name = name.get(..chars.min(name.len())).unwrap_or(name);
        Some((i16::try_from(place + 1).ok()?, text.strip_prefix(name)?))
    })
}

/// Reads a day written with the year first, as most names of journals are.
pub(super) fn usual(text: &str) -> Option<Date> {
    let is_usual = |text: &str| text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'_');
    is_usual(text).then(|| text.replace('_', "-").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_and_read() {
        let day: Date = "2025-03-05".parse().unwrap();
        for (pattern, text) in [
            ("MMM do, yyyy", "Mar 5th, 2025"),
            ("yyyy_MM_dd", "2025_03_05"),
            ("EEEE, dd.MM.yyyy", "Wednesday, 05.03.2025"),
            ("YYYY/MM-MMMM/YYYY-MM-DD", "2025/03-March/2025-03-05"),
            ("E, d MMMM yy", "Wed, 5 March 25"),
            ("dddd Do [of] MMMM YYYY", "Wednesday 5th of March 2025"),
        ] {
            assert_eq!(DatePattern::new(pattern).write(day), text);
            assert_eq!(DatePattern::new(pattern).read(text), Some(day), "{pattern}");
        }
        for text in ["Mar 5rd, 2025", "Feb 30th, 2025", "Mar 5th, 2025 ", "", "Mar 5th, 20256"] {
            assert_eq!(DatePattern::new("MMM do, yyyy").read(text), None, "{text}");
        }
        assert_eq!(usual("2025_03_05"), Some(day));
        assert_eq!(usual("2025-13-05"), None);
    }

    #[test]
    fn every_day_of_a_year_is_read_again() {
        let pattern = DatePattern::new("MMM do, yyyy");
        let mut day: Date = "2024-01-01".parse().unwrap();
        for _ in 0..366 {
            assert_eq!(pattern.read(&pattern.write(day)), Some(day));
            day = day.tomorrow().unwrap();
        }
    }
}
