//! Days in words, relative to today.

use jiff::civil::Date;

/// Returns the distance of a day from today in words, such as `3 days ago`.
pub(super) fn in_words(day: Date, today: Date) -> String {
    let days = i64::from((today - day).get_days());
    match days {
        0 => "today".to_owned(),
        1 => "yesterday".to_owned(),
        -1 => "tomorrow".to_owned(),
        2.. => format!("{} ago", span(days)),
        ..=-2 => format!("in {}", span(-days)),
    }
}

/// Returns a number of days, at least 2, in the largest unit that they fill twice.
fn span(days: i64) -> String {
    let (count, unit) = match days {
        ..14 => (days, "day"),
        14..61 => (days / 7, "week"),
        61..730 => (days * 12 / 365, "month"),
        _ => (days * 100 / 36_525, "year"),
    };
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn days_are_named_relative_to_today() {
        let today = date(2025, 3, 31);
        let expected = [
            (date(2025, 3, 31), "today"),
            (date(2025, 3, 30), "yesterday"),
            (date(2025, 4, 1), "tomorrow"),
            (date(2025, 3, 28), "3 days ago"),
            (date(2025, 3, 17), "2 weeks ago"),
            (date(2025, 1, 30), "8 weeks ago"),
            (date(2025, 1, 29), "2 months ago"),
            (date(2023, 4, 2), "23 months ago"),
            (date(2023, 3, 31), "2 years ago"),
            (date(2025, 4, 10), "in 10 days"),
            (date(-9999, 1, 1), "12023 years ago"),
            (date(9999, 12, 31), "in 7974 years"),
        ];
        for (day, words) in expected {
            assert_eq!(in_words(day, today), words, "{day}");
        }
    }
}
