//! Dates in the names of journals: `2025-03-05`, `2025_03_05`, `Mar 5th, 2025`.

use jiff::civil::Date;

/// Returns the title of a journal in Logseq without other settings.
pub(crate) fn logseq_title(day: Date) -> String {
    let suffix = match day.day() {
        11..=13 => "th",
        day if day % 10 == 1 => "st",
        day if day % 10 == 2 => "nd",
        day if day % 10 == 3 => "rd",
        _ => "th",
    };
    format!("{}{suffix}, {}", day.strftime("%b %-d"), day.strftime("%Y"))
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
        for (day, title) in [
            ("2025-03-05", "Mar 5th, 2025"),
            ("2025-05-01", "May 1st, 2025"),
            ("2025-12-22", "Dec 22nd, 2025"),
            ("2025-12-13", "Dec 13th, 2025"),
            ("0987-01-03", "Jan 3rd, 0987"),
        ] {
            assert_eq!(logseq_title(parse_iso_day(day).unwrap()), title);
        }
        assert_eq!(parse_iso_day("2025_03_05"), parse_iso_day("2025-03-05"));
        assert_eq!(parse_iso_day("2025-13-05"), None);
    }
}
