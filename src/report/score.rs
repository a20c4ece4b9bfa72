//! Scores with a fixed point, for requests that are compared and hashed.

/// A number from 0 to 1 in millionths, so that values that contain it can derive `Eq`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(u32);

/// The units of the number 1.
const UNITS: f64 = 1_000_000.0;

impl Score {
    /// Rounds a number from 0 to 1.
    pub fn new(number: f64) -> Self {
        Self((number * UNITS).round() as u32)
    }

    /// Returns the number from 0 to 1.
    pub fn get(self) -> f64 {
        f64::from(self.0) / UNITS
    }
}
