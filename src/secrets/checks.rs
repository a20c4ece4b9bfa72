//! Checks of values that have the shape of a secret: checksums, structure, randomness, and what marks an example.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The digits of the checksums of GitHub and npm.
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The alphabet of bech32 (BIP 173).
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Parts of values that stand in examples, in lower case.
const EXAMPLES: [&str; 20] = [
    "example", "xxxx", "placeholder", "your", "changeme", "change_me", "change-me", "redacted", "dummy", "sample",
    "foobar", "insert", "replace", "1234567", "abcdefg", "deadbeef", "testtest", "notreal", "secretsecret", "hunter2",
];

/// Values of the claims of tokens in documentation (jwt.io and others), and domains that RFC 2606 reserves for it.
const DOCUMENTED_CLAIMS: [&str; 7] =
    ["1234567890", "John Doe", "Jane Doe", "john.doe", "example", "changeme", "your-256-bit-secret"];
const RESERVED_DOMAINS: [&str; 3] = ["example.com", "example.org", "example.net"];

/// A character repeated this often is no part of a random value.
const MAX_REPEATED: usize = 6;

/// The least entropy of a token, in bits per character: random hexadecimal digits have 3.5 and more.
const MIN_TOKEN_ENTROPY: f64 = 2.8;

/// Tells whether a value may be random: it is neither monotonous nor an example.
pub(super) fn is_plausible(value: &str) -> bool {
    entropy(value) >= MIN_TOKEN_ENTROPY && !is_example(value)
}

/// Returns the Shannon entropy of the bytes of a text, in bits per byte (Shannon, *A Mathematical Theory of Communication*,
/// 1948).
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = text.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}

/// Tells whether a value is one that people write in place of a secret.
pub(super) fn is_example(value: &str) -> bool {
    let mut runs = value.as_bytes().windows(MAX_REPEATED);
    let lower = value.to_ascii_lowercase();
    EXAMPLES.iter().any(|part| lower.contains(part)) || runs.any(|run| run.iter().all(|byte| *byte == run[0]))
}

/// Checks `ghp_`, 30 characters and their CRC-32 as six base62 digits; `npm_` likewise.
pub(super) fn has_base62_crc(token: &str) -> bool {
    let Some((body, sum)) = token.get(4..).and_then(|rest| rest.split_at_checked(30)) else { return false };
    let mut crc = crc32fast::hash(body.as_bytes());
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(crc % 62) as usize];
        crc /= 62;
    }
    sum.as_bytes() == digits
}

/// Checks that the last eight hexadecimal digits are the CRC-32 of what comes before the last `_`, its lowest byte first.
pub(super) fn has_hex_crc(token: &str) -> bool {
    let Some((body, sum)) = token.rsplit_once('_') else { return false };
    u32::from_str_radix(sum, 16).is_ok_and(|sum| sum.swap_bytes() == crc32fast::hash(body.as_bytes()))
}

/// Checks the bech32 checksum (BIP 173) of a text in upper case.
pub(super) fn has_bech32_checksum(text: &str) -> bool {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let lower = text.to_ascii_lowercase();
    let Some((label, data)) = lower.rsplit_once('1') else { return false };
    let digit = |byte: u8| BECH32.iter().position(|known| *known == byte).and_then(|digit| u32::try_from(digit).ok());
    let Some(data) = data.bytes().map(digit).collect::<Option<Vec<u32>>>() else { return false };
    let label = || label.bytes().map(u32::from);
    let values = label().map(|byte| byte >> 5).chain([0]).chain(label().map(|byte| byte & 31)).chain(data);
    let polymod = values.fold(1u32, |sum, value| {
        let shifted = ((sum & 0x01ff_ffff) << 5) ^ value;
        let bits = GENERATOR.iter().enumerate().filter(|(bit, _)| (sum >> 25 >> bit) & 1 == 1);
        bits.fold(shifted, |sum, (_, generator)| sum ^ generator)
    });
    polymod == 1
}

/// Tells whether claims are those of a token of the documentation: one of their values is wholly that of an example.
fn is_documented(claims: &[u8]) -> bool {
    let claims: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(claims).unwrap_or_default();
    let is_reserved = |text: &str| RESERVED_DOMAINS.iter().any(|domain| text.contains(domain));
    claims.iter().any(|(name, value)| {
        let value = value.as_str().unwrap_or_default();
        DOCUMENTED_CLAIMS.contains(&value) || is_reserved(name) || is_reserved(value)
    })
}

/// Checks that the token ends with a JSON Web Token: the header is JSON with an algorithm, and the claims are not those of documentation.
pub(super) fn has_jwt(token: &str) -> bool {
    let Some(jwt) = token.find("eyJ").and_then(|start| token.get(start..)) else { return false };
    let decoded = |part: Option<&str>| URL_SAFE_NO_PAD.decode(part.unwrap_or_default()).ok();
    let mut parts = jwt.split('.');
    let (header, claims) = (decoded(parts.next()), decoded(parts.next()));
    let header: Option<serde_json::Value> = header.and_then(|header| serde_json::from_slice(&header).ok());
    let has_algorithm = header.is_some_and(|header| header.get("alg").is_some_and(serde_json::Value::is_string));
    has_algorithm && claims.is_some_and(|claims| !is_documented(&claims))
}

/// Checks that a token has two digits, and letters of both cases: a name in a program rarely has.
pub(super) fn is_mixed_case(token: &str) -> bool {
    let count = |is_counted: fn(&u8) -> bool| token.bytes().filter(is_counted).count();
    count(u8::is_ascii_digit) > 1 && count(u8::is_ascii_lowercase) > 0 && count(u8::is_ascii_uppercase) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_bits_per_byte() {
        assert!(entropy("aaaa").abs() < 1e-9);
        assert!((entropy("abcd") - 2.0).abs() < 1e-9);
    }

    /// The example of BIP 173 for a string of the shortest length, and one with a changed character.
    #[test]
    fn bech32_is_that_of_bip_173() {
        assert!(has_bech32_checksum("A12UEL5L"));
        assert!(!has_bech32_checksum("A12UEL5Q"));
        assert!(!has_bech32_checksum("AB"));
    }
}
