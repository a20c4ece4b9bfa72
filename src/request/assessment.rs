//! Requests for a bundle of notes: for what purpose, and how much of each note.

use clap::ValueEnum;
use jiff::civil::Date;

use super::budget::Room;
use super::question::BlockOptions;
use super::selectors::Selectors;
use crate::codec::named::named;
use crate::report::Score;

/// A call of `context`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextRequest {
    /// The selection of notes.
    pub selection: Selectors,
    /// Whether the answer begins with the banner; `None` leaves it to the format.
    pub banner: Option<bool>,
    /// Whether bodies are shown; `None` leaves it to the format.
    pub with_body: Option<bool>,
    /// Whether custom fields are shown.
    pub with_custom: bool,
    /// The room of the answer.
    pub room: Room,
    /// Whether notes that do not fit in full are shown as passages, if the room is limited.
    pub shows_passages: bool,
    /// Whether the answer is passages alone, read in pages.
    pub has_pages: bool,
    /// The characters of an answer whose passages are left out: those of the pages before.
    pub after: Option<usize>,
    /// The blocks that are shown in place of bodies; `None` shows bodies.
    pub blocks: Option<BlockOptions>,
    /// The purpose of the answer; `None` shows notes in full, in the order of their selection.
    pub assessment: Option<AssessmentOptions>,
}

/// The purpose of an answer, and the requirements on its notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssessmentOptions {
    /// The task by whose utility notes are ranked; `None` keeps the order of relevance.
    pub purpose: Option<Purpose>,
    /// How much of each note is shown.
    pub abstraction: Abstraction,
    /// The tokens after which selection stops.
    pub target_tokens: Option<usize>,
    /// The least confidence of a note.
    pub min_confidence: Option<Score>,
    /// The least trust in the source of a note.
    pub min_trust: Option<Score>,
    /// The share of a note that must be new; `None` for the usual one.
    pub novelty_threshold: Option<Score>,
    /// What is shown after each note.
    pub include: Vec<RelatedKind>,
    /// Whether it is shown how confidence and utility were computed.
    pub explains: bool,
    /// The day that counts as today; `None` without a purpose.
    pub today: Option<Date>,
}

named! {
    /// The tasks that an answer is for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
    pub enum Purpose {
        /// Answer a question.
        Answer = "answer",
        /// Check a claim.
        Verify = "verify",
        /// Get an overview.
        Explore = "explore",
        /// Choose between options.
        Decide = "decide",
        /// Make something new.
        Create = "create",
    }
}

/// The levels of detail that can be named, and the choice of one for each note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Abstraction {
    /// What answers the query
    // Full notes if everything fits.
    #[default]
    #[value(alias = "extract")]
    Passages,
    /// The body, and what it is derived from
    Detailed,
    /// The summary
    Summary,
    /// One sentence
    Essence,
    /// As much as importance and budget allow
    Adaptive,
}

/// A call of `context --expand`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandRequest {
    /// The notes that an earlier answer showed in part.
    pub ids: Vec<String>,
    /// What is shown beside them.
    pub include: Vec<RelatedKind>,
    /// Whether the answer begins with the banner; `None` leaves it to the format.
    pub banner: Option<bool>,
}

/// What is shown beside notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RelatedKind {
    /// What they are derived from, up to three steps back
    Derivation,
    /// What supports them, and their sources
    Evidence,
    /// What contradicts them
    Contradictions,
}
