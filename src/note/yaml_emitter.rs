//! YAML text for values, written so that every YAML parser reads the same value.

use super::timestamp::Timestamp;
use super::value::Value;
use super::yaml::{self, Yaml, YamlNode};

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

/// Writes a value on one line, in flow style. A plain number or boolean stays one.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Text { text, plain: true } if is_plain_in_flow(text) => text.clone(),
        Value::Text { text, plain } => scalar(text, *plain),
        Value::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}: {}", scalar(key, false), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Tells whether a text is a plain scalar with the same text inside a flow list.
fn is_plain_in_flow(text: &str) -> bool {
    if text.contains('\n') {
        return false;
    }
    let listed = format!("[{text}]");
    let is_same = |item: &Yaml<'_>| matches!(&item.kind, YamlNode::Scalar { text: read, plain: true } if read == text);
    let tree = yaml::parse(&listed).map(|tree| tree.kind);
    matches!(tree, Ok(YamlNode::List(items)) if matches!(items.as_slice(), [item] if is_same(item)))
}

/// Tells whether a parser may read a plain text as a number, date, boolean or null.
pub(super) fn looks_typed(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    ) || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
}

/// Tells whether some parsers fail on a plain text: on digits with underscores (`0x_`), an impossible date, or the
/// dash of a list.
fn is_misread_when_plain(text: &str) -> bool {
    let is_date = text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2;
    let has_digits = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    text == "-" || (has_digits && text.contains('_')) || (is_date && Timestamp::parse(text).is_none())
}
