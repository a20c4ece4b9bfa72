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

/// The base64 text of the magic bytes of OpenSSH's private keys.
const OPENSSH: &str = "b3BlbnNzaC1rZXktdjE";

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
    let (base64, has_headers) = base64_of(body.get(..length).unwrap_or_default());
    let is_key = base64.len() >= MIN_BASE64 && entropy(&base64) >= MIN_ENTROPY;
    let begins = match label {
        "OPENSSH PRIVATE KEY" => base64.starts_with(OPENSSH),
        // Encrypted bytes may begin with any character, as may packets of OpenPGP.
        _ if has_headers || label.ends_with("BLOCK") => true,
        // A sequence of DER.
        _ => base64.starts_with('M'),
    };
    let end = start + length;
    Attempt { matched: (is_key && begins).then_some(anchor.start..end), end }
}

/// Returns the base64 characters of the lines of a key, and whether it has headers such as `Proc-Type`. Indentation, quotes
/// and escaped line ends are skipped; any other character ends the key.
fn base64_of(body: &[u8]) -> (String, bool) {
    let text = String::from_utf8_lossy(body).replace("\\r", "").replace("\\n", "\n");
    let (mut base64, mut has_headers) = (String::new(), false);
    for line in text.lines() {
        let line =
            line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '>' | '#' | '*' | ',' | '\\'));
        if line.contains(": ") && base64.is_empty() {
            has_headers = true;
        } else if line.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')) {
            base64.push_str(line);
        } else {
            break;
        }
    }
    (base64, has_headers)
}
