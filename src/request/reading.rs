//! Requests that read notes, links, tasks and history.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::selectors::Filters;
use crate::graph::{Follow, WalkLimits};
use crate::report::{Format, Score};
use crate::store::CommitName;

/// A call of `search`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchRequest {
    /// The words.
    pub query: String,
    /// Whether they are a question, in which nothing is syntax.
    pub is_question: bool,
    /// Only notes without these words or phrases.
    pub without: Vec<String>,
    /// The filters.
    pub filters: Filters,
    /// The most notes.
    pub limit: Option<usize>,
    /// The least relevance of a note.
    pub min_relevance: Option<Score>,
    /// Whether it is shown how the scores were computed.
    pub explains: bool,
    /// Whether notes are shown that a digest replaces.
    pub no_compaction: bool,
}

/// A call of `search --like`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RelatedRequest {
    /// The note.
    pub id: String,
    /// The filters.
    pub filters: Filters,
    /// The most notes.
    pub limit: Option<usize>,
}

/// A call of `link`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRequest {
    /// Which view.
    pub view: LinkView,
    /// Which links are followed.
    pub follow: Follow,
    /// The limits of the walk.
    pub limits: WalkLimits,
    /// Whether notes are shown that a digest replaces.
    pub no_compaction: bool,
}

/// A file that an answer is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The file, relative to the current directory.
    pub file: PathBuf,
    /// The format of the confirmation on standard output.
    pub confirmation_format: Format,
}

/// The views of links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkView {
    /// The links of one note.
    List(String),
    /// The notes around one note.
    Tree(String),
    /// A shortest path between two notes.
    Path(String, String),
}

/// A call of `list`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// The filters.
    pub filters: Filters,
    /// The order.
    pub sort: Sort,
    /// The most notes that are listed.
    pub limit: Option<usize>,
}

/// A call of `tasks`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct TasksRequest {
    /// The filters of the notes.
    #[arg(skip)]
    pub filters: Filters,
    /// Only tasks that are done
    #[arg(long = "done")]
    pub only_done: bool,
    /// Also tasks that are done
    #[arg(long = "all", conflicts_with = "only_done")]
    pub with_done: bool,
    /// The most tasks.
    #[arg(skip)]
    pub limit: Option<usize>,
}

/// The orders of a list; the id decides between equals. `Updated` and `Created` put the latest date first and notes
/// without a date last, `Value` puts the most valuable note first, and `Title` ignores case.
// A doc comment of a variant would become help.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    #[default]
    Updated,
    Created,
    Value,
    Title,
    Id,
}

/// A call of `show`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ShowRequest {
    /// The notes
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Also show their links
    #[arg(long = "links", conflicts_with = "is_raw")]
    pub with_links: bool,
    /// Show the files as they are
    #[arg(long = "raw")]
    pub is_raw: bool,
}

/// A call of `history` for a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The note.
    pub id: String,
    /// The commit after which the versions are wanted; `None` for all.
    pub since: Option<CommitName>,
    /// The most versions.
    pub limit: Option<usize>,
}

/// A call of `history` without a note: the notes that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffRequest {
    /// The earlier commit.
    pub from: CommitName,
    /// The later commit; `None` for the files on disk.
    pub to: Option<CommitName>,
    /// The most notes.
    pub limit: Option<usize>,
}
