//! Passwords in the arguments of `curl`, and credentials behind `Bearer` and `Basic` (RFC 6750, RFC 7617).

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::assignments::{is_random, value_end};
use super::url_passwords::{host_end, is_reachable, is_real};
use super::{ANCHORS, Attempt};

/// The most bytes of a command line that are read.
const MAX_LINE: usize = 2_000;

/// Options whose argument is a name and a password.
const OPTIONS: [&str; 4] = ["-u", "--user", "-U", "--proxy-user"];

/// The least length of a password, and the most spaces before a credential.
const MIN_PASSWORD: usize = 6;
const MAX_SPACE: usize = 3;

/// Matches a password in a command line behind its anchor, `curl `.
pub(super) fn in_command(text: &str, anchor: Range<usize>) -> Attempt {
    let most = text.floor_char_boundary(anchor.end + MAX_LINE);
    let rest = text.get(anchor.end..most).unwrap_or_default();
    // A backslash at the end of a line continues it.
    let is_end = |(offset, _): &(usize, &str)| !rest.get(..*offset).unwrap_or_default().ends_with('\\');
    let length = rest.match_indices('\n').find(is_end).map_or(rest.len(), |(offset, _)| offset);
    let line = rest.get(..length).unwrap_or_default();
    let matched = password_in(line).map(|range| anchor.end + range.start..anchor.end + range.end);
    Attempt { matched, end: anchor.end + length }
}

/// Returns the range of the password that an option of a command line has.
fn password_in(line: &str) -> Option<Range<usize>> {
    let host = line.find("://").map(|start| start + 3);
    let host = host.map(|start| line.get(start..host_end(line.as_bytes(), start)).unwrap_or_default());
    if !host.is_none_or(is_reachable) {
        return None;
    }
    let mut words = words_of(line).peekable();
    while let Some(word) = words.next() {
        let text = line.get(word.clone()).unwrap_or_default();
        let joined =
            OPTIONS.iter().filter_map(|option| text.strip_prefix(option)).map(|rest| rest.trim_start_matches('='));
        let argument = match joined.min_by_key(|rest| rest.len()) {
            Some("") => words.peek().cloned(),
            Some(rest) => Some(word.end - rest.len()..word.end),
            None => None,
        };
        if let Some(found) = argument.and_then(|range| password_of(line, range)) {
            return Some(found);
        }
    }
    None
}

/// Returns the ranges of the words of a line.
fn words_of(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    let word = move |word: &str| {
        let start = end;
        end += word.len();
        (!word.trim().is_empty()).then(|| start..start + word.trim_end().len())
    };
    line.split_inclusive(|c: char| c.is_ascii_whitespace()).filter_map(word)
}

/// Returns the range of the password of an argument `NAME:PASSWORD`, with or without quotes.
fn password_of(line: &str, range: Range<usize>) -> Option<Range<usize>> {
    let argument = line.get(range.clone())?;
    let inside = argument.trim_matches(['"', '\'', '`', ',']);
    let start = range.start + argument.find(inside)?;
    let (name, password) = inside.split_once(':')?;
    let is_plain = password.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>{}[]()".contains(&byte));
    let is_password = is_plain && password.len() >= MIN_PASSWORD && is_real(name, password);
    is_password.then(|| start + name.len() + 1..start + inside.len())
}

/// Matches a credential behind its anchor, such as `Bearer `.
pub(super) fn in_header(text: &str, anchor: Range<usize>) -> Attempt {
    let bytes = text.as_bytes();
    let spaces = bytes.get(anchor.end..).unwrap_or_default().iter().take(MAX_SPACE);
    let start = anchor.end + spaces.take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'`')).count();
    let value = text.get(start..value_end(bytes, start)).unwrap_or_default();
    let value = value.trim_end_matches(['.', ',', '!', '?', ':']);
    let end = start + value.len();
    let is_code = matches!(bytes.get(end), Some(b'(' | b'[' | b'{' | b'<' | b'$'));
    let is_basic = text.get(anchor).is_some_and(|anchor| anchor.to_ascii_lowercase().ends_with("basic "));
    let is_secret = if is_basic { is_name_and_password(value) } else { is_random("bearer", value) };
    let is_secret = is_secret && !is_code && !ANCHORS.is_refuted(text, start);
    Attempt { matched: is_secret.then_some(start..end), end }
}

/// Tells whether a value is a name and a password in base64.
fn is_name_and_password(value: &str) -> bool {
    let decoded = STANDARD.decode(value).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.is_some_and(|decoded| {
        let is_text = decoded.bytes().all(|byte| byte.is_ascii_graphic());
        decoded
            .split_once(':')
            .is_some_and(|(name, password)| is_text && password.len() >= MIN_PASSWORD && is_real(name, password))
    })
}
