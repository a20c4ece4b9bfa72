//! How a question is understood, and which blocks of its notes are shown.

use clap::ValueEnum;
use jiff::civil::Date;

use crate::calendar::DateRange;
use crate::report::Score;

/// The blocks that are shown in place of bodies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockOptions {
    /// Which blocks; `None` leaves it to the settings.
    pub choice: Option<BlockChoice>,
    /// Whether the default limits apply.
    pub has_defaults: bool,
}

/// Which blocks are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum BlockChoice {
    /// Every block.
    #[default]
    All,
    /// Blocks that contain a word of the query.
    Matched,
    /// Blocks that match the query best.
    Top,
}

/// How a question is understood beyond its words, and which of its hits count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionOptions {
    /// Whether the words are only searched for, and not parsed for days, names and intents.
    pub is_plain: bool,
    /// The occasion if nobody asked for notes: only those that are likely to help count.
    pub occasion: Option<Occasion>,
    /// The day that counts as today.
    pub today: Date,
    /// Only hits and journals of periods of this day or later.
    pub since: Option<Date>,
    /// Only those of this day or before.
    pub until: Option<Date>,
    /// The most hits of the search; other selections by the query do not count.
    pub search_limit: Option<usize>,
    /// The least relevance of a hit.
    pub min_relevance: Option<Score>,
    /// Only hits and journals of periods with a block that contains a word of the query, among the first so many of each;
    /// the others are not read.
    pub blocks_within: Option<usize>,
}

/// An occasion on which a hook shows notes that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// A prompt that gives a task.
    Task,
    /// A prompt that asks something.
    Question,
    /// A prompt that asks for what is remembered.
    Memory,
    /// A command that is about to run.
    Command,
    /// A file that is about to be edited.
    Edit,
}

impl Occasion {
    /// Whether it is a prompt. What answers its words comes before what it names by the way.
    pub fn is_prompt(self) -> bool {
        matches!(self, Self::Task | Self::Question | Self::Memory)
    }
}

/// A day or period in the words of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSpan {
    /// The user's words.
    pub text: String,
    /// The days.
    pub span: DateRange,
}
