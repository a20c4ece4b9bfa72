//! Escapes text of any origin: the result can't break a line, end a string or steer a terminal.

use std::borrow::Cow;

/// The treatment of an invisible character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Invisible {
    /// It is omitted unless a script or an emoji needs it there: copied text is full of such characters.
    Omitted,
    /// It is replaced by U+FFFD, since it reorders others or can carry hidden text.
    Signed,
}

/// Returns the treatment of an invisible character: a default-ignorable code point (UAX #44), a bidirectional control
/// (UAX #9) or an interlinear annotation. `None` for any other character.
fn invisible(c: char) -> Option<Invisible> {
    match c {
        '\0'..='\u{ac}' => None,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2065}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{e0100}'..='\u{e01ef}' => Some(Invisible::Omitted),
        '\u{115f}'
        | '\u{1160}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{206f}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => Some(Invisible::Signed),
        _ => None,
    }
}

/// Tells whether a reader can't see a character.
pub(crate) fn is_invisible(c: char) -> bool {
    invisible(c).is_some()
}

/// Tells whether a character may have a variation selector for its emoji or text style (UTS #51).
fn is_emoji(c: char) -> bool {
    matches!(c, '#' | '*' | '0'..='9' | '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Tells whether a character belongs to a script in which joiners change letters: Arabic to Sinhala, Myanmar, Khmer to
/// Mongolian, and later blocks of such scripts.
fn is_joined(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{1b00}'..='\u{1bff}'
        | '\u{a840}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}' | '\u{abc0}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{11000}'..='\u{11fff}')
}

/// Escapes the characters of a text one by one. An invisible one is kept only if a script or an emoji needs it.
#[derive(Debug, Default)]
pub(crate) struct EscapeFilter {
    /// The character before, if it was kept.
    before: Option<char>,
}

impl EscapeFilter {
    /// Returns the replacement of the next character, given the one after it; `None` if it is omitted.
    pub(crate) fn shown(&mut self, c: char, after: Option<char>) -> Option<char> {
        let shown = match invisible(c) {
            Some(_) if self.is_needed(c, after) => Some(c),
            Some(Invisible::Omitted) => None,
            Some(Invisible::Signed) => Some('\u{fffd}'),
            None if is_other_line_end(c) => Some('\u{fffd}'),
            None => Some(visible(c)),
        };
        self.before = Some(c).filter(|_| shown == Some(c));
        shown
    }

    /// Tells whether a joiner or a variation selector changes the look of the characters beside it. A second one does not.
    fn is_needed(&self, c: char, after: Option<char>) -> bool {
        let Some(before) = self.before.filter(|before| !matches!(before, '\u{200c}' | '\u{200d}')) else {
            return false;
        };
        let is_after_emoji = is_emoji(before) || before == '\u{fe0f}';
        match c {
            '\u{200d}' if is_after_emoji => after.is_some_and(is_emoji),
            '\u{200c}' | '\u{200d}' => is_joined(before),
            '\u{fe0e}' | '\u{fe0f}' => is_emoji(before),
            _ => false,
        }
    }
}

fn filtered(text: &str) -> impl Iterator<Item = char> {
    let (mut filter, mut chars) = (EscapeFilter::default(), text.chars().peekable());
    let shown = move || {
        let c = chars.next()?;
        Some(filter.shown(c, chars.peek().copied()))
    };
    std::iter::from_fn(shown).flatten()
}

/// Counts the characters of a text that are kept in every format.
pub(crate) fn kept_chars(text: &str) -> usize {
    let is_space = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1e}');
    text.chars().filter(|c| !is_space(*c) && invisible(*c) != Some(Invisible::Omitted)).count()
}

/// Tells whether a character ends a line in Unicode (UAX #14), though JSON and terminals treat it as an ordinary one.
fn is_other_line_end(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns the visible symbol of a control character (U+2400 to U+2421, else U+FFFD); any other character as it is.
fn visible(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ if c.is_control() => '\u{fffd}',
        _ => c,
    }
}

/// Returns a text on one line, escaped: each run of white space and line ends becomes one space.
pub(crate) fn one_line(text: &str) -> String {
    as_one_line(text).into_owned()
}

/// Returns a text as [`one_line`] does, borrowed if it stays as it is.
pub(crate) fn as_one_line(text: &str) -> Cow<'_, str> {
    // Most texts stay as they are.
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
        let mut shown = filtered(word).peekable();
        if !line.is_empty() && shown.peek().is_some() {
            line.push(' ');
        }
        line.extend(shown);
    }
    Cow::Owned(line)
}

/// Escapes a text of several lines: line ends become `\n`, control characters visible.
pub(crate) fn escape_lines(text: &str) -> String {
    // Most texts contain no other characters.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut filter = EscapeFilter::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let shown = match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                Some('\n')
            }
            '\n' | '\t' => Some(c),
            '\u{0b}' | '\u{0c}' | '\u{1c}'..='\u{1e}' => Some(' '),
            _ if is_other_line_end(c) => Some(' '),
            _ => filter.shown(c, chars.peek().copied()),
        };
        out.extend(shown);
    }
    out
}

/// The most characters of a text that a message quotes.
const MAX_QUOTED: usize = 120;

/// Returns a text for a quotation in a message: on one line, and shortened by itself, so that the message around it is not.
pub(crate) fn abbreviated(text: &str) -> String {
    shortened(&one_line(text), MAX_QUOTED)
}

/// Shortens a text of more than `length` characters to its first `length` and `…`.
pub(crate) fn shortened(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns a JSON string without line ends and characters that steer a terminal.
pub(crate) fn json_string(text: &str) -> String {
    escape_json(serde_json::Value::from(text).to_string())
}

/// Escapes in JSON text the harmful characters that JSON allows. Only strings can contain these.
pub(crate) fn escape_json(json: String) -> String {
    if !json.contains(may_be_harmful) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    let (mut filter, mut chars) = (EscapeFilter::default(), json.chars().peekable());
    while let Some(c) = chars.next() {
        if filter.shown(c, chars.peek().copied()) == Some(c) {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// Escapes all texts of a JSON value, for programs that pass them on to a model.
pub(crate) fn escape_json_texts(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) if text.contains(may_be_harmful) => *text = escape_lines(text),
        serde_json::Value::Array(items) => items.iter_mut().for_each(escape_json_texts),
        serde_json::Value::Object(fields) => {
            let named = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                escape_json_texts(&mut value);
                (escape_lines(&name), value)
            });
            *fields = named.collect();
        }
        _ => {}
    }
}

/// Tells whether a character is harmful in at least some contexts.
pub(crate) fn may_be_harmful(c: char) -> bool {
    c.is_control() || is_other_line_end(c) || invisible(c).is_some()
}

/// Returns a value of a record: as it is if it can't be misread, else as a JSON string.
pub(crate) fn quote_value(text: &str) -> Cow<'_, str> {
    let needs_quotes = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | '"' | '\\');
    let is_hidden = || text.contains(may_be_harmful) && !filtered(text).eq(text.chars());
    if text.is_empty() || text == "-" || text.contains(needs_quotes) || is_hidden() {
        json_string(text).into()
    } else {
        text.into()
    }
}

/// Returns a text as one word of a POSIX shell: as it is if no character has a meaning there, else in single quotes.
pub(crate) fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', "'\\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted_only_where_they_must_be() {
        for plain in ["a", "../dir/a-b_c.md", "日本/"] {
            assert_eq!(shell_word(plain), plain);
        }
        for (text, word) in
            [("", "''"), ("a b/", "'a b/'"), ("it's", "'it'\\''s'"), ("~/$x", "'~/$x'"), ("a\u{3000}b", "'a\u{3000}b'")]
        {
            assert_eq!(shell_word(text), word);
        }
    }

    #[test]
    fn nothing_breaks_a_line_or_steers_a_terminal() {
        let hostile = "a\r\nb\u{85}c\u{2028}d\u{1b}[31me\0\u{7f}\u{9b}f\u{0b}g\u{1e}h";
        assert_eq!(one_line(hostile), "a b c d␛[31me␀␡\u{fffd}f g h");
        assert_eq!(escape_lines(hostile), "a\nb c d␛[31me␀␡\u{fffd}f g h");
        assert_eq!(escape_lines("x\ry\n\tz"), "x\ny\n\tz");
        let json = json_string(hostile);
        assert!(!json.contains(char::is_control), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn quoted_texts_are_one_line_and_short() {
        assert_eq!(abbreviated("a  \n b\u{1b}"), "a b␛");
        let long = "é".repeat(MAX_QUOTED);
        assert_eq!(abbreviated(&long), long);
        assert_eq!(abbreviated(&format!("{long}x")), format!("{long}…"));
        assert_eq!(shortened("", 0), "");
    }

    #[test]
    fn values_are_quoted_only_where_they_must_be() {
        for plain in ["a", "日本", "a=b", "x/y", "#t", "it's"] {
            assert_eq!(quote_value(plain), plain);
        }
        for odd in ["", "-", "a b", "a,b", "a\"b", "a\\b", "a\u{a0}b", "a\u{7}b", "a\u{202e}b", "a\u{2028}b"] {
            let quoted = quote_value(odd);
            assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), odd);
        }
    }

    /// Unicode tag characters that spell a text.
    fn tags(text: &str) -> String {
        text.bytes().filter_map(|byte| char::from_u32(0xe_0000 + u32::from(byte))).collect()
    }

    #[test]
    fn what_nobody_sees_is_left_out_or_gets_a_sign() {
        let hidden = format!("Release{} list", tags("curl"));
        assert_eq!(one_line(&hidden), "Release\u{fffd}\u{fffd}\u{fffd}\u{fffd} list");
        assert_eq!(escape_lines("ex\u{ad}fil\u{200b}tra\u{2060}te\u{feff}d"), "exfiltrated");
        assert_eq!(escape_lines("\u{202e}txt\u{2066}\u{3164}"), "\u{fffd}txt\u{fffd}\u{fffd}");
        // A payload of variation selectors behind an emoji: one of them is needed at most.
        assert_eq!(escape_lines("😀\u{fe0f}\u{fe0f}\u{fe01}\u{e0101}\u{e0110}!"), "😀\u{fe0f}!");
        assert_eq!(json_string("a\u{e0041}\u{200b}"), "\"a\\udb40\\udc41\\u200b\"");
        assert_eq!(quote_value("a\u{200b}"), "\"a\\u200b\"");
    }

    #[test]
    fn joiners_stay_where_scripts_and_emoji_need_them() {
        for needed in
            ["👩\u{200d}💻", "🏳\u{fe0f}\u{200d}🌈", "❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "می\u{200c}خواهم", "क्\u{200d}ष"]
        {
            assert_eq!(one_line(needed), needed);
            assert_eq!(escape_lines(needed), needed);
            assert_eq!(json_string(needed), format!("\"{needed}\""));
            assert_eq!(quote_value(needed), needed);
        }
        assert_eq!(escape_lines("a\u{200d}b \u{200c}می\u{200c}\u{200d}\u{200c} 👩\u{200d}x"), "ab می\u{200c} 👩x");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]
        #[test]
        fn a_harmless_text_is_left_as_it_is(text in "[a1👩❤\u{200c}\u{200d}\u{fe0f}\u{200b}\u{e0041}\u{202e}می \n\u{7}]{0,24}") {
            let shown = escape_lines(&text);
            proptest::prop_assert_eq!(&escape_lines(&shown), &shown);
            let line = one_line(&text);
            proptest::prop_assert_eq!(&one_line(&line), &line);
            proptest::prop_assert!(!line.contains("  ") && line.trim() == line);
            proptest::prop_assert!(kept_chars(&text) <= shown.chars().count());
            let json = json_string(&text);
            proptest::prop_assert_eq!(&escape_json(json.clone()), &json);
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
