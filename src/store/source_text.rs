//! The text of a source file, by lines.

use crate::note::line_text;

/// The lines of a source file, without line ends and blanks before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    text: String,
}

impl SourceText {
    /// Decodes a text; bytes that are not UTF-8 become replacement characters.
    pub fn new(bytes: &[u8]) -> Self {
        Self { text: String::from_utf8_lossy(bytes).into_owned() }
    }

    /// Returns the whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Iterates over the lines, without blanks at their ends.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        text.split('\n').map(line_text)
    }

    /// Returns a line by its number from 1.
    pub fn line(&self, line: usize) -> Option<&str> {
        self.lines().nth(line.checked_sub(1)?)
    }

    /// Returns the numbers of the lines with a text, from 1.
    pub fn lines_with(&self, text: &str) -> impl Iterator<Item = usize> {
        self.lines().enumerate().filter(move |(_, line)| *line == text).map(|(index, _)| index + 1)
    }
}
