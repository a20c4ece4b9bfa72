//! Retrieval metrics: recall, nDCG and reciprocal rank (Manning, Raghavan and Schütze, *Introduction to Information
//! Retrieval*, 2008, chapter 8).

/// The metrics of a ranking for one question, each 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct RankingScores {
    pub(super) recall_at_5: f64,
    pub(super) recall_at_10: f64,
    pub(super) ndcg_at_10: f64,
    pub(super) reciprocal_rank: f64,
}

impl RankingScores {
    /// Computes the metrics from the ranks of the relevant notes in a ranking (from 1, ascending) and the number of all
    /// `relevant` notes. Relevance is binary.
    pub(super) fn new(ranks: &[usize], relevant: usize) -> Self {
        if relevant == 0 {
            return Self::default();
        }
        let recall = |k: usize| ranks.iter().filter(|rank| **rank <= k).count() as f64 / relevant as f64;
        let gain = |rank: usize| 1.0 / (rank as f64 + 1.0).log2();
        let ideal: f64 = (1..=relevant.min(10)).map(gain).sum();
        let gained: f64 = ranks.iter().filter(|rank| **rank <= 10).map(|rank| gain(*rank)).sum();
        Self {
            recall_at_5: recall(5),
            recall_at_10: recall(10),
            ndcg_at_10: gained / ideal,
            reciprocal_rank: ranks.first().map_or(0.0, |rank| 1.0 / *rank as f64),
        }
    }
}

/// Returns the arithmetic mean; 0 for no values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_agree_with_the_textbook() {
        let all = RankingScores { recall_at_5: 1.0, recall_at_10: 1.0, ndcg_at_10: 1.0, reciprocal_rank: 1.0 };
        assert_eq!(RankingScores::new(&[1], 1), all);
        assert_eq!(RankingScores::new(&[1, 2, 3], 3), all);
        let scores = RankingScores::new(&[3, 8, 12], 4);
        assert_eq!((scores.recall_at_5, scores.recall_at_10, scores.reciprocal_rank), (0.25, 0.5, 1.0 / 3.0));
        // (1/log2 4 + 1/log2 9) / (1 + 1/log2 3 + 1/log2 4 + 1/log2 5)
        assert!((scores.ndcg_at_10 - (0.5 + 0.315_464_9) / 2.561_606_3).abs() < 1e-6);
        assert_eq!(RankingScores::new(&[], 2), RankingScores::default());
        assert_eq!(RankingScores::new(&[11], 1), RankingScores { reciprocal_rank: 1.0 / 11.0, ..Default::default() });
        assert_eq!(mean([0.5, 1.0].into_iter()), 0.75);
    }
}
