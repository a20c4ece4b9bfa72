//! Requests that export and import notes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::selectors::Selectors;

/// The source of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextSource {
    /// A file, relative to the current directory.
    File(PathBuf),
    /// A text that was already read from standard input.
    Text(String),
}

/// A call of `import`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRequest {
    /// The pack, or the folder of Markdown.
    pub from: TextSource,
    /// What becomes of notes that differ.
    pub strategy: Strategy,
    /// Whether nothing is changed, only shown.
    pub is_dry_run: bool,
    /// Whether what is added may contain secrets.
    pub is_secret_allowed: bool,
}

/// A call of `dump`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpRequest {
    /// Which notes; `None` for the whole store.
    pub selection: Option<Selectors>,
    /// The pack's file; `None` for standard output.
    pub file: Option<PathBuf>,
    /// Whether it may contain secrets.
    pub is_secret_allowed: bool,
}

/// A call of `export passages`. The doc comments of the fields are the help of the flags.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct PassagesRequest {
    /// The file to write (default, and `-`: standard output)
    pub file: Option<PathBuf>,
    /// Write only what changed since the last call with this state file (new file: everything)
    #[arg(long = "since-index", value_name = "STATE")]
    pub state_file: Option<PathBuf>,
    /// Write pairs of lines, an action and a document, for this index of OpenSearch or Elasticsearch (their bulk API)
    #[arg(long = "bulk", value_name = "INDEX", value_parser = index_name)]
    pub bulk_index: Option<String>,
}

/// Parses the name of an index by the rules of OpenSearch and Elasticsearch, in ASCII.
fn index_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    let is_name =
        text.len() <= 255 && text.chars().all(is_plain) && text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let expected = || "expected lower-case letters, digits, `.`, `_` and `-`, the first a letter or digit".to_owned();
    if is_name { Ok(text.to_owned()) } else { Err(expected()) }
}

/// What becomes of notes that differ between the store and a pack. Attachments that differ stay as they are, unless they
/// are overwritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Keep the store's notes.
    #[default]
    Skip,
    /// Replace them with the pack's notes.
    Overwrite,
    /// Merge both; where they conflict, the one changed later wins.
    Merge,
}
