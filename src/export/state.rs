//! The state of an export: which notes the search engine has, and in which version.
//!
//! The file is text: a line with the format's version, a line for each note with the digest of its documents, their number
//! and the note, and a last line with the checksum of all lines before it.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::codec::hex::hex;
use crate::error::{Error, ErrorKind};

/// The bytes of SHA-256 that tell two versions of a note apart.
pub(super) const DIGEST_BYTES: usize = 16;

/// The beginning of the first line. The version behind it is raised when the form of documents or passages changes.
const MAGIC: &str = "qipu export state ";
const VERSION: &str = "1";
/// The beginning of the last line.
const END: &str = "end sha256=";

/// The version of a note that was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExportedNote {
    pub(super) digest: [u8; DIGEST_BYTES],
    /// The number of its passages, at least 1.
    pub(super) passages: usize,
}

/// The notes of an earlier export. Holds its file's text and a few bytes for each note, since there may be millions.
#[derive(Debug, Default)]
pub(super) struct EarlierState<'a> {
    /// The lines of the notes, sorted by key.
    lines: Vec<&'a str>,
    /// Whether the note of each line was taken.
    is_taken: Vec<bool>,
}

impl<'a> EarlierState<'a> {
    /// Parses the content of a file.
    ///
    /// # Errors
    /// `Usage` for a file of another kind or version; `Store` for one that is damaged.
    pub(super) fn parse(bytes: &'a [u8], path: &Path) -> Result<Self, Error> {
        let shown = path.display();
        let Some(rest) = bytes.strip_prefix(MAGIC.as_bytes()) else {
            return Err(Error::usage(format!("{shown} is not the state of an export; nothing was written"))
                .hint("name the file of an earlier call, or a new one for a full export"));
        };
        let again = "to export everything again, empty the index of the search engine and name a new file";
        let version = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if version != VERSION.as_bytes() && version.iter().all(u8::is_ascii_digit) && !version.is_empty() {
            return Err(Error::usage(format!("{shown} was written by another version of qipu")).hint(again));
        }
        let damaged = || Error::new(ErrorKind::Store, format!("{shown} is damaged; nothing was written")).hint(again);
        let lines = note_lines(bytes).ok_or_else(damaged)?;
        Ok(Self { is_taken: vec![false; lines.len()], lines })
    }

    /// Takes a note out; `None` if it was not exported.
    pub(super) fn take(&mut self, key: &str) -> Option<ExportedNote> {
        let index = self.lines.binary_search_by(|line| key_of(line).cmp(key)).ok()?;
        self.is_taken[index] = true;
        parse_line(self.lines[index]).map(|(note, _)| note)
    }

    /// Iterates over the keys and notes that were not taken, sorted by key.
    pub(super) fn rest(&self) -> impl Iterator<Item = (&'a str, ExportedNote)> {
        let rest = self.lines.iter().zip(&self.is_taken).filter(|(_, is_taken)| !**is_taken);
        rest.filter_map(|(line, _)| parse_line(line).map(|(note, key)| (key, note)))
    }
}

/// Writes the content of a new file.
#[derive(Debug)]
pub(super) struct StateWriter(String);

impl StateWriter {
    pub(super) fn new() -> Self {
        Self(format!("{MAGIC}{VERSION}\n"))
    }

    /// Adds a note, each once.
    pub(super) fn add(&mut self, key: &str, note: ExportedNote) {
        self.0.push_str(&format!("{} {} {key}\n", hex(&note.digest), note.passages));
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let end = format!("{END}{}\n", hex(&Sha256::digest(&self.0)));
        self.0.push_str(&end);
        self.0.into_bytes()
    }
}

/// Returns the lines of the notes, sorted by key; `None` if the content is not as it was written.
fn note_lines(bytes: &[u8]) -> Option<Vec<&str>> {
    let text = str::from_utf8(bytes).ok()?;
    let end = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let (before, last) = text.split_at(end);
    if last.strip_prefix(END)?.trim_end_matches('\n') != hex(&Sha256::digest(before)) {
        return None;
    }
    let notes = before.strip_prefix(MAGIC)?.strip_prefix(VERSION)?.strip_prefix('\n')?;
    let mut lines: Vec<&str> = notes.lines().collect();
    lines.sort_unstable_by_key(|line| key_of(line));
    let is_unique = lines.windows(2).all(|pair| key_of(pair[0]) != key_of(pair[1]));
    let is_valid = is_unique && lines.iter().all(|line| parse_line(line).is_some());
    is_valid.then_some(lines)
}

/// Returns the key in the line of a note: what follows the digest and the number of passages.
fn key_of(line: &str) -> &str {
    line.splitn(3, ' ').nth(2).unwrap_or_default()
}

/// Parses the line of a note.
fn parse_line(line: &str) -> Option<(ExportedNote, &str)> {
    let mut parts = line.splitn(3, ' ');
    let (digest, passages) = (digest_of_hex(parts.next()?)?, parts.next()?.parse().ok()?);
    Some((ExportedNote { digest, passages }, parts.next()?))
}

/// Reads what [`hex`] wrote.
fn digest_of_hex(text: &str) -> Option<[u8; DIGEST_BYTES]> {
    let mut digest = [0; DIGEST_BYTES];
    if text.len() != 2 * DIGEST_BYTES {
        return None;
    }
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(digest)
}
