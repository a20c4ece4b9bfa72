//! Text made harmless, whoever wrote it: it can't break a line, end a string or steer a terminal.

use std::borrow::Cow;

/// Characters that reorder or hide what stands around them.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Line ends that are not `\n`, beside which JSON and terminals treat them as ordinary.
fn is_other_line_end(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns a visible sign for a control character: always one character for one.
fn visible(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ if c.is_control() => '\u{fffd}',
        _ => c,
    }
}

/// Returns a visible sign for a character that steers a terminal, ends a line, or reorders others.
pub(crate) fn shown(c: char) -> char {
    if is_bidi_control(c) || is_other_line_end(c) { '\u{fffd}' } else { visible(c) }
}

/// Puts a text on one line: every run of white space and line ends is one space.
pub(crate) fn one_line(text: &str) -> String {
    as_one_line(text).into_owned()
}

/// The same, borrowed where it is such a line already.
pub(crate) fn as_one_line(text: &str) -> Cow<'_, str> {
    // Most texts are such a line already.
    let is_plain = |pair: &[u8]| (b' '..0x7f).contains(&pair[0]) && pair != b"  ";
    if text.as_bytes().windows(2).all(is_plain)
        && !text.starts_with(' ')
        && text.bytes().last().is_some_and(|last| (b'!'..0x7f).contains(&last))
    {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c == '\u{1c}' || c == '\u{1d}' || c == '\u{1e}') {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().map(visible));
    }
    Cow::Owned(line)
}

/// Makes a text of several lines harmless: line ends become `\n`, control characters visible.
pub(crate) fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\n' | '\t' => out.push(c),
            '\u{0b}' | '\u{0c}' | '\u{1c}'..='\u{1e}' => out.push(' '),
            _ if is_other_line_end(c) => out.push(' '),
            _ => out.push(visible(c)),
        }
    }
    out
}

/// Makes characters visible that reorder others.
pub(crate) fn without_bidi(text: String) -> String {
    if text.contains(is_bidi_control) { text.replace(is_bidi_control, "\u{fffd}") } else { text }
}

/// Writes a JSON string in which nothing can be taken for a line end or steer a terminal.
pub(crate) fn json_string(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    harmless_json(quoted)
}

/// Escapes in finished JSON what JSON itself allows: only strings can hold such characters.
pub(crate) fn harmless_json(json: String) -> String {
    let is_harmful = |c: char| c.is_control() || is_bidi_control(c) || is_other_line_end(c);
    if !json.contains(is_harmful) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_harmful(c) {
            out.push_str(&format!("\\u{:04x}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

/// Writes a value of a record: as it is where it can't be misread, else as a JSON string.
pub(crate) fn value(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, ',' | '"' | '\\')
            || is_other_line_end(c)
            || is_bidi_control(c)
    };
    if text.is_empty() || text == "-" || text.contains(is_odd) { json_string(text).into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_a_line_or_steers_a_terminal() {
        let hostile = "a\r\nb\u{85}c\u{2028}d\u{1b}[31me\0\u{7f}\u{9b}f\u{0b}g\u{1e}h";
        assert_eq!(one_line(hostile), "a b c d␛[31me␀␡\u{fffd}f g h");
        assert_eq!(lines(hostile), "a\nb c d␛[31me␀␡\u{fffd}f g h");
        assert_eq!(lines("x\ry\n\tz"), "x\ny\n\tz");
        let json = json_string(hostile);
        assert!(!json.contains(char::is_control), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn values_are_quoted_only_where_they_must_be() {
        for plain in ["a", "日本", "a=b", "x/y", "#t", "it's"] {
            assert_eq!(value(plain), plain);
        }
        for odd in ["", "-", "a b", "a,b", "a\"b", "a\\b", "a\u{a0}b", "a\u{7}b", "a\u{202e}b", "a\u{2028}b"] {
            let quoted = value(odd);
            assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), odd);
        }
    }
}
