//! Parsers of the values of flags; each error says what is expected.

use std::convert::Infallible;
use std::num::NonZeroUsize;

use crate::report::Score;

/// The highest value of a note.
const MAX_VALUE: u8 = 100;

/// Parses a whole number, 0 included. Suffixes such as `k` have two meanings, 1000 and 1024, so they are refused.
pub(crate) fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number in digits, such as 10000".to_owned())
}

/// Parses a whole number that is not 0.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    let count = text.parse::<NonZeroUsize>().map(Into::into);
    count.map_err(|_| "expected a whole number, 1 or more".to_owned())
}

/// Parses the value of a note, 0 to 100.
pub(crate) fn value(text: &str) -> Result<u8, String> {
    let value = text.parse().ok().filter(|value| *value <= MAX_VALUE);
    value.ok_or_else(|| format!("expected a whole number from 0 to {MAX_VALUE}"))
}

/// Parses a number from 0 to 1.
pub(crate) fn share(text: &str) -> Result<Score, String> {
    let number: Option<f64> = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.map(Score::new).ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// Parses an item of a list with commas: trims it.
pub(crate) fn trimmed(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().to_owned())
}
