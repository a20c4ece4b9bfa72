//! The warnings of one call, which are printed on standard error beside the answer.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::escape::one_line;

/// The warnings that are not yet printed, without duplicates.
static WARNINGS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Adds a warning, one sentence.
pub(crate) fn add(warning: String) {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).insert(warning);
}

/// Removes the warnings and returns them as lines for standard error, sorted.
pub fn take_lines() -> Vec<String> {
    let warnings = std::mem::take(&mut *WARNINGS.lock().unwrap_or_else(PoisonError::into_inner));
    warnings.iter().map(|warning| line(warning)).collect()
}

/// Returns a warning as a line for standard error.
pub fn line(warning: &str) -> String {
    format!("warning: {}", one_line(warning))
}
