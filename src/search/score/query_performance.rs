//! How well the hits of a query answer it as a whole.

/// How well the hits of a query answer it as a whole: a post-retrieval predictor of query performance (Carmel and
/// Yom-Tov, *Estimating the Query Difficulty for Information Retrieval*, 2010, chapter 4). specs/ranking.md says how well
/// it separates questions with an answer from others.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueryPerformance {
    /// The relevance of the best hit, 0 to 1; for a query of more than [`USUAL_TERMS`] terms, as if it had so many.
    pub relevance: f64,
    /// The largest share of the query, by inverse document frequency, that one paragraph of one of the [`COVERED_HITS`]
    /// best hits contains together with the note's title and tags, 0 to 1; for long queries as `relevance`.
    pub coverage: f64,
    /// The most that one paragraph of one of these hits contains of the query, with the note's title and tags: the sum of
    /// the inverse document frequencies of its terms, in units of that of a term in one note.
    pub evidence: f64,
}

/// The least relevance of an answer.
const MIN_RELEVANCE: f64 = 0.18;
/// The least coverage of an answer.
const MIN_COVERAGE: f64 = 0.18;
/// The coverage from which on a hit of any relevance is an answer: a long note contains a rare word once.
const SURE_COVERAGE: f64 = 0.5;
/// The least product of relevance and evidence of notes that help with a prompt.
const MIN_HELP: f64 = 0.55;
/// The largest number of query terms for which a note is expected to contain its share.
pub(super) const USUAL_TERMS: f64 = 12.0;
/// The number of best hits whose coverage is computed.
pub(super) const COVERED_HITS: usize = 10;
/// The relevance of the best note whose title is not the query.
const MAX_RELEVANCE: f64 = 0.99;

impl QueryPerformance {
    /// A certain answer, such as a note whose title is the query.
    pub const CERTAIN: Self = Self { relevance: 1.0, coverage: 1.0, evidence: f64::INFINITY };

    /// Returns whether the hits help with a prompt whose author did not ask for notes. specs/measurements.md says how
    /// often that is right.
    pub fn is_help(&self) -> bool {
        self.relevance * self.evidence >= MIN_HELP
    }

    /// Returns whether the hits answer the query at all.
    pub fn is_answer(&self) -> bool {
        self.coverage >= SURE_COVERAGE || (self.relevance >= MIN_RELEVANCE && self.coverage >= MIN_COVERAGE)
    }
}

/// Returns the relevance of a hit, 0 to `MAX_RELEVANCE`: `score / (score + full / 2)`, where `full` is the score of a
/// note that is saturated with every term of the query.
pub(super) fn relevance(score: f64, full: f64) -> f64 {
    (score / (score + full / 2.0)).clamp(0.0, MAX_RELEVANCE)
}
