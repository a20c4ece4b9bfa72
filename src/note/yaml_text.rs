//! Writing values as YAML text that every reader takes for the same values.

use super::timestamp::Timestamp;
use super::value::Value;
use super::yaml::{self, Yaml, YamlNode};

/// Writes a text as a YAML scalar: plain where every reader takes it for that text, else in
/// double quotes. With `typed`, what looks like a number or truth value stays one.
pub(crate) fn scalar(text: &str, typed: bool) -> String {
    let is_plain_char = |c: char| {
        c.is_alphanumeric()
            || matches!(
                c,
                ' ' | '-' | '_' | '.' | '/' | '(' | ')' | '+' | '=' | ';' | '~' | '^' | '$' | '\'' | '!' | '\u{2019}'
            )
    };
    let starts_plain =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '(' | '/' | '_' | '-' | '+' | '.'));
    let has_odd_space = text.starts_with(' ') || text.ends_with(' ') || text.contains("- ");
    let is_plain = starts_plain && !has_odd_space && text.chars().all(is_plain_char);
    let is_url = text.starts_with("http")
        && text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '#' | '"' | ',' | '?' | '[' | ']' | '{' | '}'))
        && !text.ends_with(':');
    if is_url || (is_plain && (!looks_typed(text) || (typed && !is_misread(text)))) {
        return text.to_owned();
    }
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

/// Writes a value on one line. A number or truth value that stood without quotes stays one.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Text { text, plain: true } if stands_plain(text) => text.clone(),
        Value::Text { text, plain } => scalar(text, *plain),
        Value::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}: {}", scalar(key, false), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Tells whether a text is read as a plain scalar wherever it stands in brackets.
fn stands_plain(text: &str) -> bool {
    let listed = format!("[{text}]");
    !text.contains('\n') && yaml::parse(&listed).is_ok_and(|tree| match &tree.kind {
        YamlNode::List(items) => {
            matches!(items.as_slice(), [Yaml { kind: YamlNode::Scalar { text: read, plain: true }, .. }] if read == text)
        }
        _ => false,
    })
}

/// Tells whether a text without quotes may be a number, a date, a truth value or nothing to a reader of YAML.
pub(super) fn looks_typed(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    ) || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
}

/// Tells whether some readers of YAML take a text for a number or date that they then can't read: digits
/// with underscores (`0x_`), an impossible date, or the dash of a list.
fn is_misread(text: &str) -> bool {
    let is_date = text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2;
    let has_digits = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    text == "-" || (has_digits && text.contains('_')) || (is_date && Timestamp::parse(text).is_none())
}
