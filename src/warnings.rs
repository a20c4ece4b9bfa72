//! The warnings of one call, which are printed on standard error beside the answer.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::escape::one_line;

/// The lines that are not yet printed, without duplicates.
static WARNINGS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Adds a warning, one sentence.
pub(crate) fn add(warning: String) {
    add_line(line(&warning));
}

/// Adds a line for standard error.
pub(crate) fn add_line(line: String) {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).insert(line);
}

/// Removes a warning that the answer contains.
pub(crate) fn remove(warning: &str) {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).remove(&line(warning));
}

/// Replaces all lines by one warning.
pub(crate) fn replace(warning: &str) {
    *WARNINGS.lock().unwrap_or_else(PoisonError::into_inner) = BTreeSet::from([line(warning)]);
}

/// Removes all lines but the first.
pub(crate) fn keep_first() {
    take_lines().into_iter().take(1).for_each(add_line);
}

/// Removes the lines for standard error and returns them, sorted.
pub fn take_lines() -> Vec<String> {
    std::mem::take(&mut *WARNINGS.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
}

/// Returns a warning as a line for standard error.
pub fn line(warning: &str) -> String {
    format!("warning: {}", one_line(warning))
}
