//! Assessments: how far a note can be trusted and of what use it is.

use crate::codec::named::named;
use crate::note::NoteId;

/// The dimensions of confidence, in the order of their weights.
pub const DIMENSIONS: [&str; 6] = [
    "source_reliability", "method_quality", "internal_consistency", "temporal_freshness", "corroboration",
    "domain_applicability",
];

/// How far a note can be trusted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    /// The weighted sum of the dimensions, 0 to 1.
    pub overall: f64,
    /// The dimensions in the order of [`DIMENSIONS`], each 0 to 1; `None` if the note has an overall value only.
    pub dimensions: Option<[f64; 6]>,
}

impl Confidence {
    /// Returns the label of [`LABELS`] with the nearest value.
    pub fn label(&self) -> &'static str {
        let distance = |value: f64| (self.overall - value).abs();
        LABELS.iter().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map_or("", |(label, _)| label)
    }
}

/// The labels of confidence, each with its value.
pub const LABELS: [(&str, f64); 5] =
    [("very-low", 0.1), ("low", 0.35), ("moderate", 0.6), ("high", 0.8), ("very-high", 0.95)];

/// The parts of utility, in the order of [`Utility::parts`].
pub const UTILITY_PARTS: [&str; 6] = ["relevance", "confidence", "trust", "recency", "density", "novelty"];

/// The utility of a note for a purpose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utility {
    /// The parts in the order of [`UTILITY_PARTS`], each 0 to 1.
    pub parts: [f64; 6],
    /// The weight of each part; they sum to 1.
    pub weights: [f64; 6],
}

impl Utility {
    /// Returns the weighted sum of the parts, 0 to 1.
    pub fn total(&self) -> f64 {
        self.parts.iter().zip(self.weights).map(|(part, weight)| part * weight).sum()
    }

    /// Returns the utility with another novelty, which depends on the notes shown before.
    pub fn with_novelty(mut self, novelty: f64) -> Self {
        self.parts[5] = novelty;
        self
    }
}

named! {
    /// What the trust in the source of a note is based on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TrustBasis {
        /// The field `trust`.
        Stated = "stated",
        /// The trust in its author, by the settings of the user or of the store.
        Author = "author",
        /// The trust in the author of its last commit, by the settings of the user.
        CommitAuthor = "commit-author",
        /// The trust in a host of its sources, by the settings of the user or of the store.
        Host = "host",
        /// That a person verified it.
        Verified = "verified",
        /// That it names an author.
        NamedAuthor = "named-author",
        /// That it names a source.
        Source = "source",
        /// That a program generated it.
        Generated = "generated",
        /// Nothing of these.
        Default = "default",
        /// The trust in a note that it is derived from.
        Origin = "origin",
    }
}

/// The assessment of a note.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    pub(crate) confidence: Confidence,
    /// How far its source can be trusted, 0 to 1.
    pub(crate) trust: f64,
    /// What that is based on.
    pub(crate) trust_basis: TrustBasis,
    /// The fields with which it vouches for itself, without effect since nothing supports them.
    pub(crate) unsupported: Vec<&'static str>,
    /// How well it answers, 0 to 1.
    pub(crate) relevance: f64,
    /// Its utility as the first note of an answer; `None` without a purpose.
    pub(crate) utility: Option<Utility>,
    /// The notes that it is derived from: id, title, confidence.
    pub(crate) derived_from: Vec<(NoteId, String, f64)>,
    /// The number of notes that contradict it, or that it contradicts.
    pub(crate) contradictions: usize,
}

/// The statistics of all notes that are shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SelectionStats {
    /// The tokens of all texts.
    pub total_tokens: usize,
    /// The least confidence; `None` if no note is shown.
    pub confidence_floor: Option<f64>,
    /// The estimated share of the relevant content that is shown, 0 to 1.
    pub coverage: f64,
    /// The notes with text that is not shown.
    pub expandable: Vec<NoteId>,
    /// Whether notes that contradict a shown one are not shown.
    pub has_contradictions: bool,
    /// Why no note is relevant; `None` if one is.
    pub insufficient: Option<String>,
    /// Whether every selected note passes the thresholds and answers.
    pub is_complete: bool,
    /// One sentence on how the notes were chosen.
    pub reasoning: String,
}
