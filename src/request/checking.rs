//! Requests that check a store: what is broken, what to look at, and how many questions are answered.

use clap::{Args, ValueEnum};

use super::Request;
use super::moving::TextSource;
use super::selectors::Filters;
use crate::codec::named::named;
use crate::report::Score;

/// A call of `eval`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalRequest {
    /// The question file.
    pub questions: TextSource,
    /// The measured answers, in ascending order of budget.
    pub answers: Vec<MeasuredAnswer>,
    /// The least share of hits in every budget; `None` for no check.
    pub min_hit: Option<Score>,
}

/// A request whose answer is measured for every question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredAnswer {
    /// The budget in characters.
    pub chars: usize,
    /// The call of `ask`; each question replaces its query.
    pub request: Request,
}

/// A call of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct DoctorRequest {
    /// Fail on warnings too
    #[arg(long = "strict")]
    pub is_strict: bool,
    /// Repair what has only one possible repair: missing YAML quotes, missing ids, leftover files, interrupted changes
    #[arg(long = "fix")]
    pub is_fix: bool,
    /// Whether the repairs are only shown.
    #[arg(skip)]
    pub is_dry_run: bool,
}

/// A call of `review`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ReviewRequest {
    /// Only these notes
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Only entries with this reason (repeatable, or comma-separated)
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub kinds: Vec<ReviewKind>,
    /// The filters.
    #[arg(skip)]
    pub filters: Filters,
    /// The most entries.
    #[arg(skip)]
    pub limit: Option<usize>,
    /// Fail if there is an entry, except for code that merely moved
    #[arg(long = "strict")]
    pub is_strict: bool,
    /// Update references to code that merely moved
    #[arg(long = "fix")]
    pub is_fix: bool,
    /// Whether the updates are only shown.
    #[arg(skip)]
    pub is_dry_run: bool,
}

named! {
    /// The reasons for which a person should look at a note, the worst first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
    pub enum ReviewKind {
        /// Another note may say the opposite
        Contradiction = "contradiction",
        /// Code that it refers to no longer exists
        CodeGone = "code-gone",
        /// Code that it refers to has changed
        CodeChanged = "code-changed",
        /// Code that it refers to has moved (only if asked for)
        CodeMoved = "code-moved",
        /// All three code kinds
        Code = "code",
        /// It has expired, or its review date has come
        Due = "due",
        /// Nobody has accepted it yet
        Draft = "draft",
        /// Another note has almost the same text
        NearDuplicate = "near-duplicate",
        /// No hook has ever shown it
        NeverShown = "never-shown",
        /// No link leads to it or from it (only if asked for)
        Orphan = "orphan",
    }
}

impl ReviewKind {
    /// Whether the reason is code that a note refers to.
    pub fn is_code(self) -> bool {
        matches!(self, Self::CodeGone | Self::CodeChanged | Self::CodeMoved)
    }
}
