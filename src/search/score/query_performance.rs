//! How well the hits of a query answer it as a whole.

use std::ops::Range;

use crate::report::MatchLevel;

/// How well the hits of a query answer it as a whole: a post-retrieval predictor of query performance (Carmel and
/// Yom-Tov, *Estimating the Query Difficulty for Information Retrieval*, 2010, chapter 4).
/// specs/internals/ranking.md says how well it separates questions with an answer from others.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueryPerformance {
    /// The relevance of the best hit, 0 to 1; for a query of more than [`USUAL_TERMS`] terms, as if it had so many.
    pub relevance: f64,
    /// The largest share of the query, by inverse document frequency, that one paragraph of one of the [`COVERED_HITS`]
    /// best hits contains together with the note's title and tags, 0 to 1; for long queries as `relevance`.
    pub coverage: f64,
    /// How well the hits match a question, 0 to 1: the geometric mean of the relevance of the best one and of the largest share
    /// of the question, by inverse document frequency, that one of the [`COVERED_HITS`] best ones has in any field; for long
    /// queries both as `relevance`. Neither alone tells questions about a store from others as well, nor does a regression
    /// over twelve features.
    pub match_score: f64,
    /// The most that one paragraph of one of these hits contains of the query, with the note's title and tags: the sum of
    /// the inverse document frequencies of its terms, in units of that of a term in one note.
    pub evidence: f64,
    /// The mean score of the hits after those that a prompt may show, as a share of the best one, 0 to 1. It is high if many
    /// notes contain words of the query, and low if these words are together in one note by chance.
    pub breadth: f64,
    /// Whether the query names what the store is about, such as a speaker of its talks.
    pub names_subject: bool,
}

/// The least [match](QueryPerformance::match_score) of notes that are shown for a question, unless a paragraph has
/// [`MIN_SURE_EVIDENCE`]. Of 57 questions about something else than a store, 46 get nothing and the others a mark; of 75 about it
/// in other words 3 get nothing, and of 75 in its own words none. With 0.345 it is 48 and 4, and 2 of 48 questions to own
/// notes beside documents get nothing, too.
const MIN_MATCH: f64 = 0.34;
/// The evidence that is not there by chance: more than one rare word. Without it, 8 of 48 questions of agents to a store of
/// few notes get nothing, because most of their words are in none; with it, none does.
const MIN_SURE_EVIDENCE: f64 = 1.1;
/// The match from which on they are shown without a mark.
pub(super) const SURE_MATCH: f64 = 0.445;
/// The least [help](QueryPerformance::help) of notes that are shown for a prompt. Of 200 judged prompts, 95 of 100 that
/// need no notes get none, and 81 of 100 get the passage; without the breadth, 73.
const MIN_HELP: f64 = 1.1;
/// The least coverage and relevance of notes that are shown for a prompt that asks, which needs less evidence than a task:
/// 59 of 60 prompts that need no notes still get none.
const MIN_QUESTION_COVERAGE: f64 = 0.3;
const MIN_QUESTION_RELEVANCE: f64 = 0.4;
/// The least evidence and coverage of the note that is shown for a command.
const MIN_COMMAND_EVIDENCE: f64 = 1.1;
const MIN_COMMAND_COVERAGE: f64 = 0.5;
/// The exponent of the relevance in the help.
const RELEVANCE_EXPONENT: f64 = 0.8;
/// The weight of the breadth in the help.
const BREADTH_WEIGHT: f64 = 2.0;
/// The largest number of query terms for which a note is expected to contain its share.
pub(super) const USUAL_TERMS: f64 = 12.0;
/// The most terms of a query that looks something up: a note that has them all is an answer.
pub(super) const LOOK_UP_TERMS: usize = 2;
/// The number of best hits whose coverage is computed.
pub(super) const COVERED_HITS: usize = 10;
/// The ranks, from 0, of the hits whose scores give the breadth.
pub(super) const BROAD_HITS: Range<usize> = 3..23;
/// The relevance of the best note whose title is not the query.
const MAX_RELEVANCE: f64 = 0.99;

impl QueryPerformance {
    /// A certain answer, such as a note whose title is the query.
    pub const CERTAIN: Self = Self {
        relevance: 1.0,
        coverage: 1.0,
        match_score: 1.0,
        evidence: f64::INFINITY,
        breadth: 0.0,
        names_subject: true,
    };

    /// Returns whether the hits help with a prompt whose author did not ask for notes.
    /// specs/internals/ranking.md says how often that is right.
    pub fn is_help(&self) -> bool {
        self.help() >= MIN_HELP
    }

    /// Returns whether the hits help with a prompt that asks something, whose author wants to read: less evidence is enough if
    /// the best note matches well.
    pub fn is_help_with_question(&self) -> bool {
        self.is_help() || (self.coverage >= MIN_QUESTION_COVERAGE && self.relevance >= MIN_QUESTION_RELEVANCE)
    }

    /// Returns whether the best hit helps with a command line: it has little but names, so that most of them must be there.
    pub fn is_help_with_command(&self) -> bool {
        self.evidence >= MIN_COMMAND_EVIDENCE && self.coverage >= MIN_COMMAND_COVERAGE
    }

    /// Returns how much the hits may help with a prompt: `evidence × relevance^0.8 × (1 + 2 × breadth)`, a product as
    /// logistic regression over their logarithms gives it. specs/internals/ranking.md has the figures.
    fn help(&self) -> f64 {
        self.evidence * self.relevance.powf(RELEVANCE_EXPONENT) * (1.0 + BREADTH_WEIGHT * self.breadth)
    }

    /// Returns whether the notes that a question finds are an answer. `is_known`: whether some note has each of its words.
    pub fn match_level(&self, is_known: bool) -> MatchLevel {
        match self.match_score {
            score if score < MIN_MATCH && self.evidence < MIN_SURE_EVIDENCE && !self.names_subject => {
                MatchLevel::Nothing
            }
            score if score < SURE_MATCH || !is_known => MatchLevel::Weak,
            _ => MatchLevel::Answer,
        }
    }
}

/// Returns the [breadth](QueryPerformance::breadth) of scores in descending order, in a store with `note_count` notes. A note
/// that is no hit has the score 0.
pub(super) fn mean_share_of_later_scores(mut scores: impl Iterator<Item = f64>, note_count: usize) -> f64 {
    let count = note_count.min(BROAD_HITS.end).saturating_sub(BROAD_HITS.start);
    let Some(best) = scores.next().filter(|best| *best > 0.0 && count > 0) else { return 0.0 };
    scores.skip(BROAD_HITS.start - 1).take(count).sum::<f64>() / best / count as f64
}

/// Returns the relevance of a hit, 0 to `MAX_RELEVANCE`: `score / (score + full / 2)`, where `full` is the score of a
/// note that is saturated with every term of the query.
pub(super) fn relevance(score: f64, full: f64) -> f64 {
    (score / (score + full / 2.0)).clamp(0.0, MAX_RELEVANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breadth_is_the_mean_share_of_the_hits_after_the_first_ones() {
        let of = |scores: &[f64], note_count| mean_share_of_later_scores(scores.iter().copied(), note_count);
        assert_eq!(of(&[], 50), 0.0);
        assert_eq!(of(&[4.0, 4.0, 4.0], 50), 0.0);
        assert_eq!(of(&[4.0; 50], 50), 1.0);
        assert_eq!(of(&[4.0, 4.0, 4.0, 2.0], 50), 0.5 / 20.0);
        assert_eq!(of(&[4.0, 4.0, 4.0, 2.0], 4), 0.5);
        assert_eq!(of(&[4.0, 4.0], 2), 0.0);
    }
}
