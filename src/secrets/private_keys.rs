//! Private keys in the textual encoding of RFC 7468, of OpenSSH and of OpenPGP (RFC 9580).

use std::ops::Range;

use super::Attempt;
use super::checks::entropy;

/// The most bytes between the anchor and the end of a label, and of a key. The key of 16,384 bits has 12 KiB.
const MAX_LABEL: usize = 40;
const MAX_KEY: usize = 16 * 1024;

/// The least base64 characters of a key: an Ed25519 key in PKCS #8 has 64.
const MIN_BASE64: usize = 64;

/// The least entropy of the base64 text, in bits per character.
const MIN_ENTROPY: f64 = 3.5;

/// Matches a key behind its anchor, `-----BEGIN `.
pub(super) fn attempt(text: &str, anchor: Range<usize>) -> Attempt {
    let none = Attempt { matched: None, end: anchor.end };
    let bytes = text.as_bytes();
    let head = bytes.get(anchor.end..bytes.len().min(anchor.end + MAX_LABEL)).unwrap_or_default();
    let Some(length) = head.windows(5).position(|window| window == b"-----") else { return none };
    let label = text.get(anchor.end..anchor.end + length).unwrap_or_default();
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
        return none;
    }
    let start = anchor.end + length + 5;
    let most = bytes.len().min(start + MAX_KEY);
    let body = bytes.get(start..most).unwrap_or_default();
    let length = body.windows(5).position(|window| window == b"-----").unwrap_or(body.len());
    let base64 = base64_of(body.get(..length).unwrap_or_default());
    let is_key = base64.len() >= MIN_BASE64 && entropy(&base64) >= MIN_ENTROPY;
    let end = start + length;
    Attempt { matched: is_key.then_some(anchor.start..end), end }
}

/// Returns the base64 characters of a key. White space, quotes, marks of quotations and escaped line ends are skipped, as are
/// headers such as `Proc-Type` and the numbers of lines; any other character ends the key.
fn base64_of(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body).replace("\\r", "").replace("\\n", "\n");
    let mut base64 = String::new();
    for line in text.lines().filter(|line| !line.contains(": ")) {
        let is_mark = |c: char| matches!(c, '"' | '\'' | '>' | '#' | '*' | ',' | '\\' | '|' | ':');
        for word in line.split_whitespace().map(|word| word.trim_matches(is_mark)) {
            if !word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')) {
                return base64;
            }
            if !word.bytes().all(|byte| byte.is_ascii_digit()) {
                base64.push_str(word);
            }
        }
    }
    base64
}
