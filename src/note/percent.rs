//! Percent-encoding of the paths of links (RFC 3986, section 2.1).

/// Decodes a path; bytes that are not UTF-8 become replacement characters.
pub(super) fn percent_decoded(path: &str) -> String {
    String::from_utf8_lossy(&percent_decoded_bytes(path)).into_owned()
}

/// Decodes percent-encoding; an invalid code stays as it is written.
pub(crate) fn percent_decoded_bytes(path: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (ahead.next().and_then(hex), ahead.next().and_then(hex));
        match (byte, digits) {
            (b'%', (Some(high), Some(low))) => {
                bytes.push(high * 16 + low);
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    bytes
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Encodes the characters that end a destination in markdown or that decoding changes.
pub(crate) fn percent_encoded(path: &str) -> String {
    let is_safe = |c: char| {
        if c.is_ascii() {
            c.is_ascii_alphanumeric() || "-_.~',+=@/".contains(c)
        } else {
            !c.is_whitespace() && !c.is_control()
        }
    };
    let mut new = String::with_capacity(path.len());
    for c in path.chars() {
        if is_safe(c) {
            new.push(c);
        } else {
            c.to_string().bytes().for_each(|byte| new.push_str(&format!("%{byte:02X}")));
        }
    }
    new
}
