//! What a request selects: notes, and the filters that they must pass.

use jiff::civil::Date;

use super::question::QuestionOptions;
use crate::graph::Follow;

/// A selection of notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selectors {
    /// Named notes.
    pub notes: Vec<String>,
    /// Notes with one of these tags.
    pub tags: Vec<String>,
    /// Maps of content and the notes that they link to.
    pub mocs: Vec<String>,
    /// Whether maps inside a map are expanded.
    pub transitive: bool,
    /// Notes that answer this.
    pub query: Option<String>,
    /// Whether notes are ranked by words only, without links and sequences.
    pub no_graph: bool,
    /// The most hops of the walks from named notes.
    pub max_hops: usize,
    /// The filters.
    pub filters: Filters,
    /// The most notes.
    pub max_notes: Option<usize>,
    /// Whether the notes that link to the selected ones are selected too.
    pub backlinks: bool,
    /// The most notes that a query selects, unless the store's config sets another limit; `None` for no limit.
    pub max_hits: Option<usize>,
    /// Whether notes were read from standard input, possibly none.
    pub reads_stdin: bool,
    /// Which links a walk follows.
    pub follow: Follow,
    /// Whether notes are selected that a digest replaces.
    pub no_compaction: bool,
    /// How the query is understood; `None` only searches for its words.
    pub asking: Option<QuestionOptions>,
    /// Whether the query is only for passages of the named notes.
    pub within_notes: bool,
    /// Whether the embedder of the user's settings takes part, if they name one.
    pub is_semantic: bool,
    /// What notes are selected for naming.
    pub mentions: Vec<MentionTarget>,
}

/// The most bytes of the path of a mentioned file: Linux allows no more.
pub const MAX_PATH_BYTES: usize = 4_096;

/// Something that notes may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MentionTarget {
    /// A file, by its path with `/` or `\` between the components.
    File(String),
    /// An identifier.
    Symbol(String),
    /// The first words of a command line, such as `cargo publish`.
    Command(String),
    /// A folder with everything in it, by its path.
    Folder(String),
    /// A line of a file: its path, and its number from 1.
    Line(String, usize),
    /// A symbol of a file: its path, and the identifier.
    SymbolOf(String, String),
}

impl MentionTarget {
    /// Returns the path, the identifier or the words.
    pub fn text(&self) -> &str {
        match self {
            Self::File(text) | Self::Symbol(text) | Self::Command(text) | Self::Folder(text) => text,
            Self::Line(text, _) | Self::SymbolOf(_, text) => text,
        }
    }
}

impl Selectors {
    /// Tells whether anything selects notes.
    pub fn selects(&self) -> bool {
        self.has_filters() || self.selects_otherwise()
    }

    /// Tells whether filters select notes, and nothing else does.
    pub fn selects_by_filters_alone(&self) -> bool {
        self.has_filters() && !self.selects_otherwise()
    }

    fn has_filters(&self) -> bool {
        self.filters != Filters::default()
    }

    fn selects_otherwise(&self) -> bool {
        let Self { notes, tags, mocs, .. } = self;
        [notes, tags, mocs].iter().any(|list| !list.is_empty())
            || !self.mentions.is_empty()
            || self.reads_stdin
            || self.query.is_some()
    }
}

/// The filters of a request; a note must pass all of them. specs/reference/search-and-filters.md has the
/// expressions that flags are short for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// Only notes with at least this value, 0 to 100.
    pub min_value: Option<u8>,
    /// Only notes that match these filters.
    pub expressions: Vec<String>,
    /// Only notes whose fields pass these tests.
    pub field_tests: Vec<String>,
    /// Only notes of these types; empty for all.
    pub kinds: Vec<String>,
    /// Only notes with any of these tags; empty for all.
    pub tags: Vec<String>,
    /// Only notes changed on this day or later (journals: of it or later).
    pub since: Option<Date>,
    /// Only notes changed on this day or before.
    pub until: Option<Date>,
}

impl Filters {
    /// Returns an expression as the only filter.
    pub fn of(expression: impl Into<String>) -> Self {
        Self { expressions: vec![expression.into()], ..Self::default() }
    }
}
