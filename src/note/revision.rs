//! The revision of a note: by it, a caller says which text it has read and means to change.

use std::fmt;

use sha2::{Digest, Sha256};

use super::{DiagnosticCode, Note};
use crate::codec::hex::hex;

/// The bytes of the hash that are kept: two texts of one note have the same by chance once in 2⁴⁸.
const BYTES: usize = 6;

/// The beginning of the SHA-256 of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revision([u8; BYTES]);

impl Revision {
    /// Returns the revision of a file with this content.
    pub fn of(bytes: &[u8]) -> Self {
        let mut first = [0; BYTES];
        first.iter_mut().zip(Sha256::digest(bytes)).for_each(|(to, from)| *to = from);
        Self(first)
    }

    /// Parses a revision, as answers give it.
    ///
    /// # Errors
    /// If the text has another form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let digits: Option<Vec<u8>> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect();
        let digits = digits.filter(|digits| digits.len() == 2 * BYTES);
        let digits = digits.ok_or("expected the 12 hexadecimal digits of `revision` in `qipu show ID --json`")?;
        let mut bytes = [0; BYTES];
        bytes.iter_mut().zip(digits.chunks(2)).for_each(|(byte, pair)| *byte = pair[0] << 4 | pair[1]);
        Ok(Self(bytes))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl Note {
    /// Returns the revision of the file; `None` if the text is not all of its bytes.
    pub fn revision(&self) -> Option<Revision> {
        let is_whole = !self.is_cut && !self.has_finding(DiagnosticCode::NotUtf8);
        is_whole.then(|| Revision::of(self.text().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_read_as_it_is_written() {
        let revision = Revision::of(b"abc");
        assert_eq!(revision.to_string(), "ba7816bf8f01");
        assert_eq!(Revision::parse("ba7816bf8f01"), Ok(revision));
        assert_eq!(Revision::parse("BA7816BF8F01"), Ok(revision));
        for text in ["", "ba7816bf8f0", "ba7816bf8f011", "ba7816bf8f0g", "+a7816bf8f01", "ba7816bf8f0é"] {
            assert!(Revision::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_the_file_has_no_revision() {
        let note = |bytes: &[u8]| Note::parse("notes/a.md", bytes.to_vec());
        assert_eq!(note("\u{feff}a\r\n".as_bytes()).revision(), Some(Revision::of("\u{feff}a\r\n".as_bytes())));
        assert_eq!(note(b"a \xff\n").revision(), None);
    }
}
