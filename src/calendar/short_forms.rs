//! Parses short forms of days and periods: `monday`, `3d`, `March`. In a question these may be ordinary words.

use jiff::civil::Date;

use super::single_phrases::WEEKDAYS;
use super::{DateRange, parse};

/// Parses a text that is one phrase or one short form, and nothing else.
///
/// # Errors
/// A clause with the reason why it is none.
pub fn parse_with_short_forms(text: &str, today: Date) -> Result<DateRange, String> {
    parse(text, today).or_else(|reason| {
        let phrase = long_form(text).and_then(|phrase| parse(&phrase, today).ok());
        phrase.ok_or(reason)
    })
}

/// Expands a short form: `last monday`, `3 days ago`. `None` for any other text.
fn long_form(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    if WEEKDAYS.contains(&text.as_str()) {
        return Some(format!("last {text}"));
    }
    let units = [("d", "days"), ("w", "weeks"), ("m", "months")];
    let (count, unit) = units.iter().find_map(|(short, unit)| Some((text.strip_suffix(short)?, unit)))?;
    let is_count = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    is_count.then(|| format!("{count} {unit} ago"))
}
