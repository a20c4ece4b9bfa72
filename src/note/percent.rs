//! Percent-encoding of the paths of links (RFC 3986, section 2.1).

/// Decodes a path; bytes that are not UTF-8 become replacement characters.
pub(super) fn percent_decoded(path: &str) -> String {
    String::from_utf8_lossy(&percent_decoded_bytes(path)).into_owned()
}

/// Decodes percent-encoding; an invalid code stays as it is written.
fn percent_decoded_bytes(path: &str) -> Vec<u8> {
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

/// Decodes percent-encoding. Invalid codes stay, and so does the whole text if the result is not UTF-8.
pub(crate) fn percent_decoded_text(text: &str) -> String {
    String::from_utf8(percent_decoded_bytes(text)).unwrap_or_else(|_| text.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_in_names_are_put_in_their_places() {
        assert_eq!(percent_decoded_text("a%2Fb%20c%zz%"), "a/b c%zz%");
        assert_eq!(percent_decoded_text("%ff"), "%ff");
    }
}
