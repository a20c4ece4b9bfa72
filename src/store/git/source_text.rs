//! The text of a source file, by lines.

use std::cell::OnceCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::note::{Heading, headings_of, line_text};

/// How many texts there were.
static TEXTS: AtomicU64 = AtomicU64::new(0);

/// The lines of a source file, without line ends and blanks before them.
#[derive(Debug)]
pub struct SourceText {
    text: String,
    number: u64,
    /// Where each line begins; made when it is first needed.
    starts: OnceCell<Vec<usize>>,
    /// The hash of each line and its number from 1, ascending; made when it is first needed.
    hashes: OnceCell<Vec<(u32, u32)>>,
    /// The headings of a Markdown file; read when they are first needed.
    headings: OnceCell<Vec<Heading>>,
}

impl SourceText {
    /// Decodes a text; bytes that are not UTF-8 become replacement characters.
    pub fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let number = TEXTS.fetch_add(1, Ordering::Relaxed);
        Self { text, number, starts: OnceCell::new(), hashes: OnceCell::new(), headings: OnceCell::new() }
    }

    /// Returns what tells this text from all others of the process, also from those that are gone.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Iterates over the lines, without blanks at their ends.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.content().split('\n').map(line_text)
    }

    /// Iterates over the words: letters, digits and `_`.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        words(&self.text)
    }

    /// Returns a line by its number from 1. O(1), after the first call.
    pub fn line(&self, line: usize) -> Option<&str> {
        let start = *self.starts().get(line.checked_sub(1)?)?;
        Some(line_text(self.content().get(start..)?.split('\n').next()?))
    }

    /// Returns the number of the line that contains a byte, from 1. O(log n), after the first call.
    pub(crate) fn line_at(&self, offset: usize) -> usize {
        self.starts().partition_point(|start| *start <= offset)
    }

    /// Returns the headings of a Markdown file.
    pub(crate) fn headings(&self) -> &[Heading] {
        self.headings.get_or_init(|| headings_of(&self.text))
    }

    /// Counts the lines with a text. O(log n) and the lines with its hash, after the first call.
    pub fn count(&self, text: &str) -> usize {
        self.lines_with(text).count()
    }

    /// Returns the number of the line with a text that is nearest to `line`; the upper one of two.
    pub fn nearest(&self, text: &str, line: usize) -> Option<usize> {
        self.lines_with(text).min_by_key(|number| (number.abs_diff(line), *number))
    }

    /// Iterates over the numbers of the lines that contain a word, ascending.
    pub fn lines_with_word<'t>(&'t self, word: &'t str) -> impl Iterator<Item = usize> + 't {
        let mut last = 0;
        let number = |(start, _): (usize, &str)| self.line_at(start);
        let numbers = self.text.match_indices(word).map(number);
        numbers.filter(move |number| {
            let is_new = std::mem::replace(&mut last, *number) != *number;
            is_new && self.line(*number).is_some_and(|line| words(line).any(|found| found == word))
        })
    }

    fn lines_with<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        let wanted = hash_of(text);
        let hashes = self.hashes.get_or_init(|| {
            let mut hashes: Vec<(u32, u32)> = self.lines().map(hash_of).zip(1..).collect();
            hashes.sort_unstable();
            hashes
        });
        let start = hashes.partition_point(|(hash, _)| *hash < wanted);
        let same = hashes.get(start..).unwrap_or_default().iter().take_while(move |(hash, _)| *hash == wanted);
        same.map(|(_, number)| *number as usize).filter(move |number| self.line(*number) == Some(text))
    }

    fn content(&self) -> &str {
        self.text.strip_suffix('\n').unwrap_or(&self.text)
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let ends = self.content().bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect()
        })
    }
}

/// Iterates over the words of a text: letters, digits and `_`.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Returns a hash of a line, to find equal lines; equal hashes do not make equal lines.
fn hash_of(line: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_number_text_and_word() {
        for text in ["a\nb \r\n\n a\nb\n", "a\nb\n\n a\nb\t", "a b c\na\nä_b a", "", "\n", "\n\n"] {
            let file = SourceText::new(text.as_bytes());
            let lines: Vec<&str> = file.lines().collect();
            for number in 0..lines.len() + 2 {
                assert_eq!(file.line(number), number.checked_sub(1).and_then(|index| lines.get(index)).copied());
            }
            for sought in ["a", "b", "", " a", "c"] {
                let same: Vec<usize> = (1..=lines.len()).filter(|number| lines[number - 1] == sought).collect();
                assert_eq!((file.count(sought), file.lines_with(sought).collect::<Vec<_>>()), (same.len(), same));
            }
            for word in ["a", "b", "c", "ä_b"] {
                let with = (1..=lines.len()).filter(|number| words(lines[number - 1]).any(|found| found == word));
                assert_eq!(file.lines_with_word(word).collect::<Vec<_>>(), with.collect::<Vec<_>>());
            }
        }
        assert_eq!(SourceText::new(b"a\n\n\na\n").nearest("a", 3), Some(4));
    }
}
