//! Checks of notes, and who counts as a person.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::Timestamp;
use crate::escape::is_invisible;

/// A check of a note, as [Open Knowledge Format](https://github.com/GoogleCloudPlatform/knowledge-catalog) records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Who checked it, as written: `human:<id>`, `process:<id>` or `<program>/<version>`.
    pub by: String,
    /// When, as written.
    pub at: Option<String>,
}

impl Verification {
    /// Whether a person checked the note.
    pub fn is_human(&self) -> bool {
        is_human(&self.by)
    }

    /// Returns when the note was checked; `None` if that is not a date.
    pub fn time(&self) -> Option<Timestamp> {
        Timestamp::parse(self.at.as_deref()?)
    }
}

/// Whether an actor, as Open Knowledge Format names them, is a person. What counts is the name as it is shown: without
/// invisible characters, in letters of any width and case.
pub(crate) fn is_human(actor: &str) -> bool {
    let visible = actor.chars().filter(|c| !is_invisible(*c)).nfkc().filter(|c| !is_invisible(*c));
    let name: String = visible.flat_map(char::to_lowercase).collect();
    name.split_once(':').is_some_and(|(kind, id)| kind.trim() == "human" && !id.trim().is_empty())
}
