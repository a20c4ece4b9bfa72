//! The identity of a note.

use std::fmt;

/// A note's id: letters, digits, `.`, `_` and `-` of ASCII, and `~<n>` behind a duplicate.
///
/// Ids are ordered by their bytes; that order is the last tie-breaker of every list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteId(Box<str>);

/// Ids longer than this are taken for an accident; a file name can't hold them either.
const MAX_LEN: usize = 200;

impl NoteId {
    /// Parses an id as a user or a note writes it; `None` when it holds other characters.
    pub fn parse(text: &str) -> Option<Self> {
        let stem = match text.split_once('~') {
            Some((stem, n)) => {
                let number: usize = n.parse().ok()?;
                (number >= 2 && number.to_string() == n).then_some(stem)?
            }
            None => text,
        };
        (is_plain(stem) && stem.len() <= MAX_LEN).then(|| Self(text.into()))
    }

    /// Makes the id of a note that names none (or an impossible one) from its file's stem.
    ///
    /// `qp-a1b2-some-title` gives `qp-a1b2`. A stem that is an id is the id. Otherwise other
    /// characters become `-`, and where letters beyond ASCII are lost, a hash of the whole stem
    /// keeps two such names apart.
    pub fn from_stem(stem: &str) -> Self {
        if let Some(id) = generated_prefix(stem) {
            return Self(id.into());
        }
        if is_plain(stem) && stem.len() <= MAX_LEN {
            return Self(stem.into());
        }
        let mut plain = String::new();
        for c in stem.chars().take(MAX_LEN / 2) {
            if is_id_char(c) {
                plain.push(c);
            } else if !plain.ends_with('-') {
                plain.push('-');
            }
        }
        let plain = plain.trim_matches('-');
        if stem.is_ascii() && !plain.is_empty() && stem.len() <= MAX_LEN {
            return Self(plain.into());
        }
        let hash = base36(fnv1a(stem.as_bytes()));
        match plain {
            "" => Self(format!("qp-{hash}").into()),
            plain => Self(format!("{plain}-{hash}").into()),
        }
    }

    /// Makes the id that a random number stands for: `qp-` and eight letters and digits, a digit
    /// among them. A thousand new notes on each of two branches meet once in a million times.
    pub fn generated(random: u64) -> Self {
        let text = base36(random);
        let has_digit = text.bytes().any(|b| b.is_ascii_digit());
        let text = if has_digit { text } else { text.chars().skip(1).chain(['7']).collect() };
        Self(format!("qp-{text}").into())
    }

    /// Returns the id of the `n`-th note (from 2) that claims this one.
    pub(crate) fn duplicate(&self, n: usize) -> Self {
        Self(format!("{}~{n}", self.0).into())
    }

    /// Returns the id as notes claim it: without the number of a duplicate.
    pub fn claimed(&self) -> &str {
        self.0.split_once('~').map_or(&*self.0, |(claimed, _)| claimed)
    }

    /// Returns the id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_id_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_id_char)
}

/// Returns the `qp-a1b2` of `qp-a1b2-title`: a generated id holds a letter and a digit, so a title
/// such as `qp-notes-on-x` or `qp-2025-plan` is not taken for one.
fn generated_prefix(stem: &str) -> Option<&str> {
    let rest = stem.strip_prefix("qp-")?;
    let (random, _title) = rest.split_once('-')?;
    let generated = (4..=16).contains(&random.len())
        && random.bytes().any(|b| b.is_ascii_digit())
        && random.bytes().any(|b| b.is_ascii_lowercase())
        && random.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    generated.then(|| stem.get(..3 + random.len())).flatten()
}

/// FNV-1a, 64 bits: stable across machines and versions, which the standard hashers are not.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Writes the low bits of a number as eight letters and digits.
fn base36(mut number: u64) -> String {
    let digits = b"0123456789abcdefghijklmnopqrstuvwxyz";
    (0..8)
        .map(|_| {
            let digit = digits[(number % 36) as usize];
            number /= 36;
            char::from(digit)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_hold_ascii_letters_digits_and_three_marks() {
        for good in ["qp-a1b2", "A.b_c-9", "2025-03-05", "qp-a1~2"] {
            assert_eq!(NoteId::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "ä", "a/b", "a~", "a~1", "a~02", "a~x", "~2", "a\n"] {
            assert!(NoteId::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn a_stem_becomes_an_id_whatever_it_holds() {
        assert_eq!(NoteId::from_stem("qp-a1b2-some-title").as_str(), "qp-a1b2");
        for title in ["qp-notes-on-x", "qp-2025-plan"] {
            assert_eq!(NoteId::from_stem(title).as_str(), title);
        }
        assert_eq!(NoteId::from_stem("My first note!").as_str(), "My-first-note");
        for odd in ["日本語", "日本", "Über uns", "???", &"x".repeat(300)] {
            let id = NoteId::from_stem(odd);
            assert_eq!(NoteId::parse(id.as_str()), Some(id));
        }
        assert_ne!(NoteId::from_stem("日本語"), NoteId::from_stem("中文"));
    }
}
