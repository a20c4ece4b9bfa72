//! The fields by which a note vouches for itself, which a program can't set.

use crate::note::edit::Edit;

/// The fields that state who vouches for a note and how trustworthy it is.
pub const CLAIMS: [&str; 7] =
    ["verified", "trust", "confidence", "author", "generated", "generated_by", "generated-by"];

/// Returns the edits that remove these fields.
pub(super) fn without_claims() -> impl Iterator<Item = Edit> {
    CLAIMS.iter().flat_map(|key| [Edit::RemoveField(key), Edit::RemoveCustom(key)])
}
