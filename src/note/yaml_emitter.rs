//! YAML text for values, written so that every YAML parser reads the same value.

use super::timestamp::Timestamp;
use super::value::{FieldValues, Value};

/// The longest number, and the longest date with a time, that are written plain, in bytes. Python converts 4,300 digits at most.
const MAX_TYPED: usize = 300;
const MAX_TIME: usize = 40;

/// Writes a text as a YAML scalar: plain if every parser reads it as that text, else in double quotes. With `can_be_typed`, a
/// text that looks like a number or boolean is written plain, so that it is one.
pub(crate) fn scalar(text: &str, can_be_typed: bool) -> String {
    let is_plain_char = |c: char| c.is_alphanumeric() || " -_./()+=;~^$'!\u{2019}".contains(c);
    let starts_plain = text.starts_with(|c: char| c.is_alphanumeric() || "(/_-+.".contains(c));
    let has_special_space = text.starts_with(' ') || text.ends_with(' ') || text.contains("- ");
    let is_plain = starts_plain && !has_special_space && text.chars().all(is_plain_char);
    let is_url = text.starts_with("http")
        && text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '#' | '"' | ',' | '?' | '[' | ']' | '{' | '}'))
        && !text.ends_with(':');
    if is_url || (is_plain && (!looks_typed(text) || (can_be_typed && !is_misread_when_plain(text)))) {
        return text.to_owned();
    }
    quoted(text)
}

/// Writes a text in double quotes, with escapes for the characters that are line breaks or not printable to some parsers.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                quoted.push_str(&format!("\\u{:04x}", c as u32))
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes a value on one line, in flow style. A plain number, date, boolean or null stays one.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Text { text, plain: true } if is_typed_everywhere(text) => text.clone(),
        Value::Text { text, .. } => scalar(text, false),
        Value::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}: {}", scalar(key, false), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

impl Value {
    /// Returns the value so that it can be written anywhere: with `null` in the position of empty plain texts, and as text
    /// what is neither a number, date, boolean nor null to all parsers.
    pub(super) fn with_nulls(&self) -> Self {
        match self {
            Self::Text { text, plain: true } if text.is_empty() => Self::Text { text: "null".to_owned(), plain: true },
            Self::Text { text, plain: true } if !is_typed_everywhere(text) => Self::text(text),
            Self::Text { .. } => self.clone(),
            Self::List(items) => Self::List(items.iter().map(Self::with_nulls).collect()),
            Self::Map(entries) => Self::Map(entries_with_nulls(entries)),
        }
    }
}

pub(super) fn entries_with_nulls(entries: &[(String, Value)]) -> FieldValues {
    entries.iter().map(|(key, value)| (key.clone(), value.with_nulls())).collect()
}

/// Tells whether a plain text may be more than a text to a parser, and is safe to write plain in every position. Other
/// plain texts are texts to all parsers, so that quotes change nothing: in flow style parsers disagree on `?`, `:` and more.
fn is_typed_everywhere(text: &str) -> bool {
    text == "~" || (looks_typed(text) && !text.is_empty() && (is_time(text) || !scalar(text, true).starts_with('"')))
}

/// Tells whether a text is a date with a time (`2025-03-05T14:00:00Z`), or digits with colons (`14:00`), that all parsers can
/// read.
fn is_time(text: &str) -> bool {
    let is_char = |byte: u8| byte.is_ascii_digit() || b"TtZz:+-. ".contains(&byte);
    let has_digits_around_colons = text.split(':').all(|part| {
        let ends = [part.bytes().next(), part.bytes().next_back()].map(|byte| byte.is_some_and(|byte| byte != b' '));
        ends == [true, true]
    });
    let is_date = text.as_bytes().get(4) == Some(&b'-');
    text.len() <= MAX_TIME
        && text.bytes().all(is_char)
        && text.contains(':')
        && has_digits_around_colons
        && if is_date { is_possible_date(text) } else { text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') }
}

/// Tells whether a text is a date that every parser can represent: some have no year 0, and no offset of a day.
fn is_possible_date(text: &str) -> bool {
    let offset = text.get(11..).and_then(|time| time.rsplit_once(['+', '-'])).map(|(_, offset)| offset);
    let hours = offset.map(|offset| offset.get(..2).and_then(|hours| hours.parse::<u8>().ok()));
    !text.starts_with("0000")
        && !text.contains(":60")
        && hours.is_none_or(|hours| hours.is_some_and(|hours| hours < 24))
        && Timestamp::parse(text).is_some()
}

/// Tells whether a parser may read a plain text as a number, date, boolean or null.
pub(super) fn looks_typed(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    ) || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
}

/// Tells whether some parsers fail on a plain text: on digits with underscores (`0x_`), more digits than they convert, an
/// impossible date, or the dash of a list.
fn is_misread_when_plain(text: &str) -> bool {
    let is_date = text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2;
    let has_digits = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let is_long_or_grouped = has_digits && (text.contains('_') || text.len() > MAX_TYPED);
    text == "-" || is_long_or_grouped || (is_date && !is_possible_date(text))
}
