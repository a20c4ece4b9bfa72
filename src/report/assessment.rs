//! Beliefs: what is known of a note beside what it says, at which detail it is shown, and how notes
//! are proposed one after the other.

use std::fmt::Debug;
use std::sync::OnceLock;

use super::{BlockEntry, ShownBlocks};
use crate::note::{Note, NoteId};

/// How much of a note is said, the least first. A lower level is never longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The first sentence of the summary, else the title.
    Essence,
    /// The summary.
    Summary,
    /// The blocks of the body that hold words of the query.
    Extract,
    /// The body, and what it is derived from.
    Detailed,
}

impl Level {
    /// All levels, the highest first.
    pub const FALLING: [Self; 4] = [Self::Detailed, Self::Extract, Self::Summary, Self::Essence];

    /// Returns the name that flags and answers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Essence => "essence",
            Self::Summary => "summary",
            Self::Extract => "extract",
            Self::Detailed => "detailed",
        }
    }
}

/// The dimensions of confidence, in the order of their weights.
pub const DIMENSIONS: [&str; 6] = [
    "source_reliability",
    "method_quality",
    "internal_consistency",
    "temporal_freshness",
    "corroboration",
    "domain_applicability",
];

/// How far a note can be relied on; numbers are 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    /// In one number.
    pub overall: f64,
    /// By [`DIMENSIONS`]; `None` where the note says one number.
    pub dimensions: Option<[f64; 6]>,
}

impl Confidence {
    /// Returns the word for it: the one of [`LABELS`] whose number is the nearest.
    pub fn label(&self) -> &'static str {
        let distance = |number: f64| (self.overall - number).abs();
        LABELS.iter().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map_or("", |(label, _)| label)
    }
}

/// Words for confidence, and what each counts.
pub const LABELS: [(&str, f64); 5] =
    [("very-low", 0.1), ("low", 0.35), ("moderate", 0.6), ("high", 0.8), ("very-high", 0.95)];

/// The parts of a note's use, in the order of [`Utility::parts`].
pub const UTILITY_PARTS: [&str; 6] = ["relevance", "confidence", "trust", "recency", "density", "novelty"];

/// Of how much use a note is for a purpose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utility {
    /// By [`UTILITY_PARTS`], each 0 to 1.
    pub parts: [f64; 6],
    /// What each counts; their sum is 1.
    pub weights: [f64; 6],
}

impl Utility {
    /// Returns the sum of the parts, each as often as it counts.
    pub fn total(&self) -> f64 {
        self.parts.iter().zip(self.weights).map(|(part, weight)| part * weight).sum()
    }

    /// Returns it with another novelty.
    pub fn with_novelty(mut self, novelty: f64) -> Self {
        self.parts[5] = novelty;
        self
    }
}

/// What is known of a note beside what it says.
#[derive(Debug, Clone)]
pub struct Assessment {
    /// How far it can be relied on.
    pub confidence: Confidence,
    /// How far its source can, 0 to 1.
    pub trust: f64,
    /// How well it answers, 0 to 1.
    pub relevance: f64,
    /// Of how much use it is, as if nothing else were said; `None` without a purpose.
    pub utility: Option<Utility>,
    /// The notes that it is derived from: id, title, confidence.
    pub derived_from: Vec<(NoteId, String, f64)>,
    /// How many notes contradict it, or are contradicted by it.
    pub contradictions: usize,
    /// Finds the blocks that answer; `None` where nothing was asked.
    pub answers: Option<Answers>,
}

/// Finds the blocks of a note that answer, once.
#[derive(Debug, Clone)]
pub struct Answers {
    find: ShownBlocks,
    found: OnceLock<Vec<BlockEntry>>,
}

impl Answers {
    /// Makes what finds blocks; those that hold nothing of the query score 0.
    pub fn new(find: ShownBlocks) -> Self {
        Self { find, found: OnceLock::new() }
    }

    /// Returns all blocks of the note that it belongs to.
    pub fn blocks(&self, note: &Note) -> &[BlockEntry] {
        self.found.get_or_init(|| (self.find.0)(note))
    }
}

/// How a note is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Presentation {
    /// At which level.
    pub level: Level,
    /// Of an extract: how many of the best blocks it has at most.
    pub blocks: usize,
    /// Of an extract: how many characters a block of it has at most.
    pub block_chars: usize,
    /// How much of it no note says that is shown before it, 0 to 1.
    pub novelty: f64,
}

impl Presentation {
    /// Returns the shape in which nothing is left out that the level has.
    pub fn whole(level: Level, novelty: f64) -> Self {
        Self { level, blocks: usize::MAX, block_chars: usize::MAX, novelty }
    }
}

/// The next entry of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proposal {
    /// Its number.
    pub entry: usize,
    /// The level that it deserves.
    pub level: Level,
    /// Whether other levels will do: lower ones, and higher ones where there is room to spare.
    pub is_adaptive: bool,
    /// See [`Shape::novelty`].
    pub novelty: f64,
}

/// Says which entry comes next, where that depends on which were kept.
pub trait EntryRanking: Debug + Send + Sync {
    /// Begins with the first entry.
    fn proposals(&self) -> Box<dyn ProposalSource + '_>;
}

/// Proposes entries one by one.
pub trait ProposalSource {
    /// Returns the next entry; `None` when all were proposed, or say nothing new.
    fn next(&mut self) -> Option<Proposal>;

    /// Takes note that the entry which was proposed last is shown.
    fn keep(&mut self, entry: usize);

    /// Returns the entries that may follow if this one is shown, in about their order, each with the level
    /// that it deserves.
    fn after(&self, entry: usize) -> Vec<(usize, Level)>;

    /// Tells whether limits keep notes back that would be shown otherwise.
    fn holds_back(&self) -> bool;

    /// Sums up what is shown.
    fn account(&self, shown: &[ShownNote]) -> SelectionStats;
}

/// A note that is shown, for who sums up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownNote {
    /// The number of its entry.
    pub entry: usize,
    /// How it is shown.
    pub shape: Presentation,
    /// How many tokens its content has.
    pub tokens: usize,
    /// Whether it has more to say.
    pub has_more: bool,
}

/// What is said of all notes that are shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SelectionStats {
    /// The tokens of all contents.
    pub total_tokens: usize,
    /// The least confidence; `None` where nothing is shown.
    pub confidence_floor: Option<f64>,
    /// How much of what is relevant is shown, 0 to 1.
    pub coverage: f64,
    /// The notes that have more to say.
    pub expandable: Vec<NoteId>,
    /// Whether there are notes that contradict one which is shown, and are not shown.
    pub has_contradictions: bool,
    /// Why there is nothing relevant, where there isn't.
    pub insufficient: Option<String>,
    /// Whether everything that was selected counts, and answers.
    pub is_complete: bool,
    /// How these notes were chosen, in a sentence.
    pub reasoning: String,
}
