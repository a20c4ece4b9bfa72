//! Parses the numbers of flags; each error says what is expected.

use std::num::NonZeroUsize;

/// Millionths of 1.
const MILLION: f64 = 1_000_000.0;
/// The highest value of a note.
const MAX_VALUE: u8 = 100;

/// Parses a whole number, 0 included. Suffixes such as `k` have two meanings, 1000 and 1024, so they are refused.
pub(super) fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number in digits, such as 10000".to_owned())
}

/// Parses a whole number that is not 0.
pub(super) fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".to_owned())
}

/// Parses the value of a note.
pub(super) fn value(text: &str) -> Result<u8, String> {
    let value = text.parse().ok().filter(|value| *value <= MAX_VALUE);
    value.ok_or_else(|| format!("expected a whole number from 0 to {MAX_VALUE}"))
}

/// Parses a share from 0 to 1; returns it in millionths.
pub(super) fn share(text: &str) -> Result<u32, String> {
    let number: Option<f64> = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.map(|number| (number * MILLION).round() as u32).ok_or_else(|| "expected a number from 0 to 1".to_owned())
}
