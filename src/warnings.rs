//! Warnings of one call: what standard error says beside the answer.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::escape::one_line;

/// What was to be said and was not yet, each once.
static WARNINGS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Adds a warning, in a sentence.
pub(crate) fn add(warning: String) {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).insert(warning);
}

/// Takes the lines that standard error is to say.
pub fn take_lines() -> Vec<String> {
    let warnings = std::mem::take(&mut *WARNINGS.lock().unwrap_or_else(PoisonError::into_inner));
    warnings.iter().map(|warning| line(warning)).collect()
}

/// Returns the line that standard error says of a warning.
pub fn line(warning: &str) -> String {
    format!("warning: {}", one_line(warning))
}
