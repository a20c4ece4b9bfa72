//! The dialects of markdown: for which application a file was written.

use super::Note;

/// The application that a markdown file was written for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// A note of a store.
    #[default]
    Qipu,
    /// A document.
    Markdown,
    /// A note of Obsidian.
    Obsidian,
    /// A page of Logseq.
    Logseq,
    /// A concept of Open Knowledge Format.
    Okf,
    /// An architecture decision record.
    Adr,
}

impl Dialect {
    /// The names of all dialects but that of stores.
    pub const NAMES: [&str; 5] = ["markdown", "obsidian", "logseq", "okf", "adr"];

    /// Parses a name of [`Dialect::NAMES`].
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Markdown, Self::Obsidian, Self::Logseq, Self::Okf, Self::Adr];
        all.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Qipu => "qipu",
            Self::Markdown => "markdown",
            Self::Obsidian => "obsidian",
            Self::Logseq => "logseq",
            Self::Okf => "okf",
            Self::Adr => "adr",
        }
    }
}

impl Note {
    /// Parses a file of a dialect: see [`Note::parse`].
    pub fn parse_as(dialect: Dialect, path: &str, bytes: Vec<u8>) -> Self {
        let _ = dialect;
        Self::parse(path, bytes)
    }
}
