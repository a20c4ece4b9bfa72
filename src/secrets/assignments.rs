//! Random values beside a word such as `password`: `DB_PASSWORD=…`, `"api_key": "…"`.

use std::ops::Range;

use super::checks::{entropy, is_example};
use super::shape::is_word;
use super::{ANCHORS, Attempt};

/// The words, in lower case. A hexadecimal value counts only beside one that is not [`AMBIGUOUS`].
pub(super) const WORDS: [&str; 19] = [
    "secret", "password", "passwd", "passphrase", "pass", "pwd", "token", "credential", "api_key", "api-key", "apikey",
    "access_key", "access-key", "accesskey", "private_key", "private-key", "privatekey", "auth_key", "authkey",
];
const AMBIGUOUS: [&str; 2] = ["token", "credential"];

/// Words behind which a value may stand without a separator, as may one behind a word in capitals.
const CLEAR_WORDS: [&str; 4] = ["password", "Password", "passphrase", "passwd"];

/// The ends of names whose values are not secret.
const PUBLIC_ENDS: [&str; 23] = [
    "hash", "digest", "sha", "sha1", "sha256", "checksum", "fingerprint", "id", "name", "file", "path", "url", "uri",
    "count", "type", "version", "ref", "reference", "arn", "hint", "policy", "location", "label",
];

/// What stands before `:`, `-` or `=` in a digest, in lower case.
const DIGESTS: [&str; 11] =
    ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3", "blake2b", "blake2s", "blake3", "h1"];

/// The beginnings of values that are made for tests, in lower case. They are no secrets, and a false alarm teaches people to
/// override.
const TEST_STARTS: [&str; 6] = ["test", "fake", "mock", "demo", "stub", "invalid"];

/// The most bytes of the space and commas between an attribute and the one with its value.
const MAX_BETWEEN: usize = 40;

/// The most bytes before a word in which an option or an entry of `.netrc` begins.
const MAX_BEFORE: usize = 200;

/// The ends of what stands before a word in a name whose value is not secret: positions in a list, and ciphertexts.
const PUBLIC_STARTS: [&str; 8] =
    ["page", "next", "cursor", "continuation", "pagination", "sync", "sealed", "encrypted"];

/// The beginning of what `openssl enc` writes in base64: `Salted__`.
const CIPHERTEXT: &str = "U2FsdGVkX1";

/// The ends of the names of files with keys.
const FILE_ENDS: [&str; 8] = [".pem", ".key", ".crt", ".p12", ".pfx", ".json", ".yaml", ".yml"];

/// The most bytes of the rest of a name, of the space around a separator, and of a value.
const MAX_NAME: usize = 40;
const MAX_SPACE: usize = 3;
const MAX_VALUE: usize = 512;

const MIN_VALUE: usize = 16;
/// The least hexadecimal digits of a key: 128 bits.
const MIN_HEX: usize = 32;
/// The least entropy of a value, in bits per character. Sixteen random letters and digits have 3.4 and more.
const MIN_ENTROPY: f64 = 3.3;
/// The least length, and the least share of neighbours of different classes, of the longest part of a random value.
/// Of random letters and digits 0.62 differ; in identifiers, few do.
const MIN_PART: usize = 12;
const MIN_CHANGES: f64 = 0.2;

/// Matches the value behind a word.
pub(super) fn attempt(text: &str, anchor: Range<usize>) -> Attempt {
    let none = |end| Attempt { matched: None, end };
    let bytes = text.as_bytes();
    let word = text.get(anchor.clone()).unwrap_or_default();
    // A longer word may begin here too.
    let Some(name_end) = name_end(bytes, anchor.end) else { return none(anchor.start) };
    let Some((start, is_named)) = value_start(bytes, anchor.start, name_end) else { return none(anchor.end) };
    let end = value_end(bytes, start);
    let value = text.get(start..end).unwrap_or_default().trim_end_matches(['.', ',', '!', '?']);
    let end = start + value.len();
    // A call or a template, not a value.
    let is_code = matches!(bytes.get(end), Some(b'(' | b'[' | b'{' | b'<' | b'$')) && bytes.get(end + 1) != Some(&b'/');
    let name = text.get(anchor.end..name_end).unwrap_or_default();
    let is_public = is_public(name) || is_public_before(bytes.get(..anchor.start).unwrap_or_default());
    // Behind a space alone, a number or a name may be that of anything.
    let is_named = is_named || {
        let is_clear = word.bytes().all(|byte| !byte.is_ascii_lowercase()) || CLEAR_WORDS.contains(&word);
        is_clear && !value.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_secret = is_named && !is_code && !is_public && is_random(word, value) && !ANCHORS.is_refuted(text, start);
    Attempt { matched: is_secret.then_some(start..end), end: end.max(anchor.end) }
}

/// Returns the end of the name that a word is part of; `None` if the word is part of another one, as in `tokenizer`.
fn name_end(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..).unwrap_or_default();
    let plural = usize::from(rest.first() == Some(&b's'));
    let rest = rest.get(plural..).unwrap_or_default();
    if rest.first().is_some_and(u8::is_ascii_lowercase) {
        return None;
    }
    let is_name = |byte: &&u8| is_word(**byte) || matches!(**byte, b'-' | b'.');
    Some(start + plural + rest.iter().take(MAX_NAME).take_while(is_name).count())
}

/// Returns where a value begins behind a name: after a quote, a separator and another quote, in the attribute behind the one
/// with the name, or after a space alone; and whether more than a space says that it belongs to the name, as in an option and in
/// `.netrc`.
fn value_start(bytes: &[u8], word: usize, name_end: usize) -> Option<(usize, bool)> {
    let is_quote = |byte: Option<&u8>| matches!(byte, Some(b'"' | b'\'' | b'`' | b'*'));
    let mut offset = name_end;
    while offset < name_end + 2 && is_quote(bytes.get(offset)) {
        offset += 1;
    }
    let quote_end = offset;
    offset = skip_space(bytes, offset);
    let separator = bytes.get(offset..).unwrap_or_default();
    if separator.starts_with(b"::") {
        // A path of names in a program.
        return None;
    }
    let known: [&[u8]; 9] = [b":=", b"=>", b"->", "→".as_bytes(), b":", b"=", b"|", b">", b"is "];
    let mut is_named = true;
    offset += match known.iter().find(|known| separator.starts_with(known)) {
        Some(known) => known.len(),
        None => match value_attribute(bytes.get(quote_end..).unwrap_or_default()) {
            Some(length) => length + quote_end - offset,
            None => {
                is_named = is_option(bytes, word) || is_in_netrc(bytes, word);
                (offset > quote_end).then_some(0)?
            }
        },
    };
    while offset < bytes.len() && is_quote(bytes.get(offset)) {
        offset += 1;
    }
    offset = skip_space(bytes, offset);
    if is_quote(bytes.get(offset)) {
        offset += 1;
    }
    Some((offset, is_named))
}

/// Tells whether a word is in the name of a long option.
fn is_option(bytes: &[u8], word: usize) -> bool {
    let before = bytes.get(word.saturating_sub(MAX_NAME)..word).unwrap_or_default();
    let name = before.iter().rev().take_while(|byte| is_word(**byte) || **byte == b'-').count();
    before.get(before.len() - name..).is_some_and(|name| name.starts_with(b"--"))
}

/// Tells whether a word is in an entry of `.netrc`.
fn is_in_netrc(bytes: &[u8], word: usize) -> bool {
    let before = bytes.get(word.saturating_sub(MAX_BEFORE)..word).unwrap_or_default();
    before.windows(7).any(|window| window == b" login ") && before.ends_with(b" ")
}

/// Returns the length of what is between a name in an attribute and the value in the next one: `" value=`, `", "value": `, or
/// `value:` on the next line.
fn value_attribute(rest: &[u8]) -> Option<usize> {
    let is_between = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'"' | b'\'');
    let start = rest.iter().take(MAX_BETWEEN).take_while(is_between).count();
    let name = rest.get(start..).unwrap_or_default();
    let end = start + 5;
    if start == 0 || name.len() <= 5 || !name.get(..5)?.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let quotes = rest.get(end..)?.iter().take(2).take_while(|byte| matches!(byte, b'"' | b'\'' | b' ')).count();
    matches!(rest.get(end + quotes), Some(b'=' | b':')).then_some(end + quotes + 1)
}

fn skip_space(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default().iter();
    start + rest.take(MAX_SPACE).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Returns the end of a value.
pub(super) fn value_end(bytes: &[u8], start: usize) -> usize {
    let is_value = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=_.~-!@#%^&*?:".contains(*byte);
    start + bytes.get(start..).unwrap_or_default().iter().take(MAX_VALUE).take_while(is_value).count()
}

/// Tells whether the rest of a name says that its value is no secret, as in `password_hash`.
fn is_public(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit(['_', '-', '.']).next().unwrap_or_default();
    let is_camel = PUBLIC_ENDS.iter().any(|end| end.len() > 2 && last.ends_with(end));
    PUBLIC_ENDS.contains(&last) || is_camel
}

/// Tells whether the part of a name before the word says that its value is no secret, as in `next_page_token`.
fn is_public_before(text: &[u8]) -> bool {
    let text = text.strip_suffix(b"_").or(text.strip_suffix(b"-")).unwrap_or(text);
    let ends = |start: &&str| {
        let tail = text.len().checked_sub(start.len()).and_then(|at| text.get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(start.as_bytes()))
    };
    PUBLIC_STARTS.iter().any(ends)
}

/// Tells whether a value is random: long enough, mixed, and neither a hash, a UUID, an address, a path, a ciphertext nor an
/// example.
pub(super) fn is_random(word: &str, value: &str) -> bool {
    let is_named = is_digest(value) || is_test(value) || is_reference(value) || value.starts_with(CIPHERTEXT);
    if value.len() < MIN_VALUE || is_example(value) || value.contains("://") || is_named {
        return false;
    }
    let digits = value.strip_prefix("0x").unwrap_or(value);
    if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let is_ambiguous = AMBIGUOUS.iter().any(|other| word.eq_ignore_ascii_case(other));
        return digits.len() >= MIN_HEX && !is_ambiguous && entropy(digits) >= MIN_ENTROPY - 0.3;
    }
    !is_uuid(value)
        && !is_ulid(value)
        && !is_path(value)
        && entropy(value) >= MIN_ENTROPY
        && value.split(['-', '_', '.', '/', ':', '=', '+']).any(is_mixed)
}

/// Tells whether a value is a digest with the name of its algorithm.
fn is_digest(value: &str) -> bool {
    let (name, _) = value.split_once([':', '-', '=']).unwrap_or_default();
    DIGESTS.iter().any(|digest| name.eq_ignore_ascii_case(digest))
}

/// Tells whether a value says that it is made for tests.
fn is_test(value: &str) -> bool {
    let start = value.split(['_', '-']).next().unwrap_or_default();
    start.len() < value.len() && TEST_STARTS.iter().any(|test| start.eq_ignore_ascii_case(test))
}

/// Tells whether a value leads to a place where a secret is kept, such as `vault:kv/data/db#password`: a word, a colon, and a
/// path with words, which random values rarely have.
fn is_reference(value: &str) -> bool {
    let is_lower = |text: &str| text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let (scheme, path) = value.split_once(':').unwrap_or_default();
    is_lower(scheme) && path.contains('/') && path.split(['/', ':', '#', '.']).filter(|part| is_lower(part)).count() > 1
}

fn is_uuid(value: &str) -> bool {
    let lengths = value.split('-').map(str::len);
    value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') && lengths.eq([8, 4, 4, 4, 12])
}

/// Tells whether a value is a ULID: 26 digits of Crockford's base32, of 128 bits.
fn is_ulid(value: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'A'..=b'Z') && !b"ILOU".contains(&byte);
    value.len() == 26 && value.bytes().all(is_digit) && value.as_bytes()[0] <= b'7'
}

/// Tells whether a value is the path of a file: base64 has no full stop, and rarely a word between slashes.
fn is_path(value: &str) -> bool {
    let extension = value.rsplit_once('.').map(|(_, extension)| extension).filter(|_| value.contains('/'));
    let is_extension = |text: &str| (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase());
    let inside = ["/", "./", "../", "~/"].iter().find_map(|start| value.strip_prefix(start));
    let folder = inside.and_then(|inside| inside.split_once('/')).map(|(folder, _)| folder);
    let is_word = |text: &str| text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_lowercase());
    extension.is_some_and(is_extension)
        || folder.is_some_and(is_word)
        || FILE_ENDS.iter().any(|end| value.ends_with(end))
}

/// Tells whether a part of a value has letters and digits in an order that no word has.
fn is_mixed(part: &str) -> bool {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let classes: Vec<u8> = part.bytes().map(class).collect();
    let changes = classes.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64;
    let digits = classes.iter().filter(|class| **class == 2).count();
    let letters = classes.iter().filter(|class| **class < 2).count();
    part.len() >= MIN_PART && digits >= 2 && letters >= 2 && changes >= MIN_CHANGES * part.len() as f64
}
