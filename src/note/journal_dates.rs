//! Dates in the names of journals, in the configurable formats of apps: `yyyy_MM_dd`, `MMM do, yyyy`.

use jiff::civil::{Date, date};

/// The pattern of the titles of journals in Logseq without other settings.
pub(crate) const LOGSEQ_TITLE: &str = "MMM do, yyyy";

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPart {
    /// A conversion specifier of [`jiff::fmt::strtime`].
    Code(&'static str),
    /// The day of the month with its English suffix.
    OrdinalDay,
    Literal(char),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatePattern(Vec<PatternPart>);

impl DatePattern {
    /// Parses a pattern. Letters that are no code are literal, and so is text in `'…'` or `[…]`.
    pub(crate) fn new(text: &str) -> Self {
        use PatternPart::{Code, OrdinalDay};
        const CODES: [(&[&str], PatternPart); 12] = [
            (&["yyyy", "YYYY"], Code("%Y")),
            (&["yy", "YY"], Code("%y")),
            (&["MMMM"], Code("%B")),
            (&["MMM"], Code("%b")),
            (&["MM"], Code("%m")),
            (&["M"], Code("%-m")),
            (&["dddd", "EEEE"], Code("%A")),
            (&["ddd", "EEE"], Code("%a")),
            (&["dd", "DD"], Code("%d")),
            (&["do", "Do"], OrdinalDay),
            (&["d", "D"], Code("%-d")),
            (&["E"], Code("%a")),
        ];
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some(first) = rest.chars().next() {
            let close = [('\'', '\''), ('[', ']')].into_iter().find(|(open, _)| *open == first).map(|(_, close)| close);
            let quoted = close.and_then(|close| rest.get(1..)?.split_once(close));
            if let Some((inside, after)) = quoted {
                parts.extend(inside.chars().map(PatternPart::Literal));
                rest = after;
                continue;
            }
            let after_any = |names: &[&str]| names.iter().find_map(|name| rest.strip_prefix(name));
            let code = CODES.iter().find_map(|(names, part)| Some((part.clone(), after_any(names)?)));
            let literal = || (PatternPart::Literal(first), rest.get(first.len_utf8()..).unwrap_or_default());
            let (part, after) = code.unwrap_or_else(literal);
            parts.push(part);
            rest = after;
        }
        Self(parts)
    }

    pub(crate) fn format(&self, day: Date) -> String {
        let format_part = |part: &PatternPart| match part {
            PatternPart::Code(code) => day.strftime(code).to_string(),
            PatternPart::OrdinalDay => format!("{}{}", day.day(), ordinal_suffix(day.day().into())),
            PatternPart::Literal(c) => c.to_string(),
        };
        self.0.iter().map(format_part).collect()
    }

    /// Parses a text that is a day and nothing else.
    pub(crate) fn parse(&self, text: &str) -> Option<Date> {
        let (mut year, mut month, mut day, mut rest) = (None, None, None, text);
        for part in &self.0 {
            let code = match part {
                PatternPart::Literal(c) => {
                    rest = rest.strip_prefix(*c)?;
                    continue;
                }
                PatternPart::OrdinalDay => "%-d",
                PatternPart::Code(code) => code,
            };
            let (value, after) = match code {
                "%Y" => digits(rest, 4, 4)?,
                "%-m" | "%-d" => digits(rest, 1, 2)?,
                "%B" | "%b" => parse_name(rest, code, (1..=12).map(|month| date(2024, month, 1)))?,
                // The first of January 2024 was a Monday.
                "%A" | "%a" => parse_name(rest, code, (1..=7).map(|day| date(2024, 1, day)))?,
                _ => digits(rest, 2, 2)?,
            };
            rest = if *part == PatternPart::OrdinalDay { after.strip_prefix(ordinal_suffix(value))? } else { after };
            match code {
                "%Y" => year = Some(value),
                "%y" => year = Some(2000 + value),
                "%m" | "%-m" | "%B" | "%b" => month = Some(value),
                "%d" | "%-d" => day = Some(value),
                _ => {}
            }
        }
        let date = Date::new(year?, i8::try_from(month?).ok()?, i8::try_from(day?).ok()?).ok()?;
        // Formatting again also checks the day of the week.
        (rest.is_empty() && self.format(date) == text).then_some(date)
    }
}

fn ordinal_suffix(day: i16) -> &'static str {
    match day {
        11..=13 => "th",
        _ if day % 10 == 1 => "st",
        _ if day % 10 == 2 => "nd",
        _ if day % 10 == 3 => "rd",
        _ => "th",
    }
}

/// Parses `min` to `max` digits at the start of a text. Returns the number and the rest.
fn digits(text: &str, min: usize, max: usize) -> Option<(i16, &str)> {
    let count = text.bytes().take(max).take_while(u8::is_ascii_digit).count();
    (count >= min).then(|| Some((text.get(..count)?.parse().ok()?, text.get(count..)?))).flatten()
}

/// Parses the name that `code` gives one of the dates. Returns the position of that date, from 1, and the rest.
fn parse_name<'a>(text: &'a str, code: &str, dates: impl Iterator<Item = Date>) -> Option<(i16, &'a str)> {
    let rest = |date: Date| text.strip_prefix(&date.strftime(code).to_string());
    (1..).zip(dates).find_map(|(position, date)| Some((position, rest(date)?)))
}

/// Parses a day such as `2025-03-05` or `2025_03_05`, the most common names of journals.
pub(crate) fn parse_iso_day(text: &str) -> Option<Date> {
    let has_iso_form = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'_');
    has_iso_form.then(|| text.replace('_', "-").parse().ok()).flatten()
}

/// Parses the heading of a day in a log: `## 2025-03-05`.
pub(crate) fn day_heading(line: &str) -> Option<Date> {
    let name = line.strip_prefix("## ")?.trim();
    parse_iso_day(name)
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
            assert_eq!(DatePattern::new(pattern).format(day), text);
            assert_eq!(DatePattern::new(pattern).parse(text), Some(day), "{pattern}");
        }
        for text in ["Mar 5rd, 2025", "Feb 30th, 2025", "Mar 5th, 2025 ", "", "Mar 5th, 20256"] {
            assert_eq!(DatePattern::new("MMM do, yyyy").parse(text), None, "{text}");
        }
        assert_eq!(parse_iso_day("2025_03_05"), Some(day));
        assert_eq!(parse_iso_day("2025-13-05"), None);
    }

    #[test]
    fn every_day_of_a_year_is_read_again() {
        let pattern = DatePattern::new("MMM do, yyyy");
        let mut day: Date = "2024-01-01".parse().unwrap();
        for _ in 0..366 {
            assert_eq!(pattern.parse(&pattern.format(day)), Some(day));
            day = day.tomorrow().unwrap();
        }
    }
}
