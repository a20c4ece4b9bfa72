//! The utility of notes for a purpose, and their levels of detail.

use crate::report::{DetailLevel, Utility};
use crate::request::{Abstraction, Purpose};

/// Returns the utility of a note with full novelty, from its relevance, confidence, trust, recency and density, 0 to 1
/// each. The weights of a purpose are in this order too, that of novelty last; their sum is 1.
pub(super) fn utility(purpose: Purpose, [relevance, confidence, trust, recency, density]: [f64; 5]) -> Utility {
    let weights = match purpose {
        Purpose::Answer => [0.30, 0.30, 0.20, 0.10, 0.05, 0.05],
        Purpose::Verify => [0.20, 0.40, 0.20, 0.10, 0.05, 0.05],
        Purpose::Explore => [0.20, 0.10, 0.10, 0.10, 0.10, 0.40],
        Purpose::Decide => [0.25, 0.25, 0.25, 0.15, 0.05, 0.05],
        Purpose::Create => [0.20, 0.10, 0.10, 0.05, 0.15, 0.40],
    };
    Utility { parts: [relevance, confidence, trust, recency, density, 1.0], weights }
}

/// Returns the level of detail of a note by its relevance, 0 to 1, and its value, 0 to 100, independent of the budget.
pub(super) fn level_by_importance(abstraction: Abstraction, relevance: f64, value: u8) -> DetailLevel {
    let importance = 0.5 * relevance + 0.5 * f64::from(value) / 100.0;
    match abstraction {
        Abstraction::Passages | Abstraction::Detailed => DetailLevel::Detailed,
        Abstraction::Summary => DetailLevel::Summary,
        Abstraction::Essence => DetailLevel::Essence,
        Abstraction::Adaptive if importance >= 0.75 => DetailLevel::Detailed,
        Abstraction::Adaptive if importance >= 0.4 => DetailLevel::Summary,
        Abstraction::Adaptive => DetailLevel::Essence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_gives_the_level() {
        let level = |relevance, value| level_by_importance(Abstraction::Adaptive, relevance, value);
        assert_eq!(
            [level(1.0, 50), level(0.9, 50), level(0.3, 50), level(0.2, 50)],
            [DetailLevel::Detailed, DetailLevel::Summary, DetailLevel::Summary, DetailLevel::Essence]
        );
        assert_eq!(level_by_importance(Abstraction::Essence, 1.0, 100), DetailLevel::Essence);
    }
}
