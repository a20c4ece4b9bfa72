//! The commit that a hook shows before an edit about which no note has anything: the reason why the code is as it is.

use std::path::Path;

use super::{open_to_search, places, run_on};
use crate::error::Error;
use crate::note::hash_in;
use crate::report::Report;
use crate::request::{ContextRequest, MentionTarget, ReadCommand};
use crate::store::{COMMITS, CollectionScope, Location, NoteHandle, commits_of_code};

/// The commits whose messages are read, the longest ones of the file.
const MAX_READ: usize = 20;
/// The least characters of a message that may give a reason, and the most files of a commit that is about this one.
const MIN_BODY: usize = 200;
const MAX_FILES: usize = 30;

/// Returns the answer with the commit that touched the file of an edit and names an identifier of the edit, the one with the
/// longest message; `None` if there is none, or commits are not read.
///
/// # Errors
/// If the commits can't be read.
pub(super) fn run(request: &ContextRequest, location: &Location, current_dir: &Path) -> Result<Option<Report>, Error> {
    let mentions = &request.selection.mentions;
    let symbols: Vec<&str> = mentions.iter().filter_map(symbol).collect();
    if symbols.is_empty() {
        return Ok(None);
    }
    let mut ids = commits_of_code(location, current_dir, &places(mentions));
    ids.truncate(MAX_READ);
    if ids.is_empty() {
        return Ok(None);
    }
    let of = |ids: Vec<String>| Location {
        scope: CollectionScope::History,
        only: vec![COMMITS.to_owned()],
        only_commits: Some(ids),
        ..location.clone()
    };
    let all = open_to_search(&of(ids), current_dir)?;
    let speaking = all.notes().iter().filter(|commit| gives_reason(commit, &symbols));
    let Some(longest) = speaking.max_by_key(|commit| commit.body_chars()) else { return Ok(None) };
    let store = open_to_search(&of(vec![hash_in(longest.local_path()).to_owned()]), current_dir)?;
    run_on(&ReadCommand::Context(request.clone()), &store).map(Some)
}

fn symbol(mention: &MentionTarget) -> Option<&str> {
    match mention {
        MentionTarget::Symbol(symbol) => Some(symbol),
        _ => None,
    }
}

/// Whether a commit may give the reason of code with an identifier. One that changed many files has none in its record.
fn gives_reason(commit: &NoteHandle, symbols: &[&str]) -> bool {
    let files = commit.code_refs().len();
    let body = commit.parsed_or_empty().body();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let names = |symbol: &&str| body.split(|c: char| !is_part(c)).any(|word| word == *symbol);
    (1..=MAX_FILES).contains(&files) && body.trim().chars().count() >= MIN_BODY && symbols.iter().any(names)
}
