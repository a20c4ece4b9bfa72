//! The fields by which a note vouches for itself, which a program can't set.

use crate::error::Error;
use crate::note::edit::Edit;
use crate::note::is_human;
use crate::request::{GENERATED_BY, NewFields};

/// The fields that state who vouches for a note and how trustworthy it is.
pub const CLAIMS: [&str; 7] =
    ["verified", "trust", "confidence", "author", "generated", "generated_by", "generated-by"];

/// The claims by which a person vouches for a note.
pub(super) const VOUCHING: [&str; 4] = ["verified", "trust", "confidence", "author"];
/// The claims that say which program wrote it.
pub(super) const ORIGINS: [&str; 3] = ["generated", "generated_by", "generated-by"];

/// Returns the edits that remove these fields.
pub(super) fn without_claims() -> impl Iterator<Item = Edit> {
    CLAIMS.iter().flat_map(|key| [Edit::RemoveField(key), Edit::RemoveCustom(key)])
}

/// Refuses fields by which a program vouches for a note. Of its own note it may say that it wrote it.
pub(super) fn expect_no_claims(fields: &NewFields, is_own: bool) -> Result<(), Error> {
    let is_claim = |key: &&String| CLAIMS.contains(&key.as_str()) && !(is_own && *key == GENERATED_BY);
    match fields.custom.iter().map(|(key, _)| key).find(is_claim) {
        Some(key) => Err(Error::usage(format!("an agent can't set `{key}`"))
            .hint("a person sets it with `qipu update ID --set KEY=VALUE`, outside of the session of an agent")),
        None => Ok(()),
    }
}

/// Refuses the name of a person as that of the program that wrote a note.
pub(super) fn expect_no_person(fields: &NewFields) -> Result<(), Error> {
    let is_person = |(key, name): &&(String, String)| key == GENERATED_BY && is_human(name);
    match fields.custom.iter().find(is_person) {
        Some((_, name)) => Err(Error::usage(format!("an agent can't write as `{name}`"))
            .hint("--by names an agent or a program here; a person writes outside of the session of an agent")),
        None => Ok(()),
    }
}
