//! The commit that a revision or a moment names.

use std::time::Instant;

use super::plumbing::{Repository, is_object_id};
use crate::error::Error;

/// A commit, as a user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitName {
    /// A revision in the words of git: gitrevisions(7).
    Revision(String),
    /// The last commit of the first-parent history of what is checked out that is not younger than a moment.
    Until {
        /// The moment, in seconds since 1970.
        seconds: i64,
        /// The moment as the user wrote it.
        text: String,
    },
}

impl CommitName {
    /// Returns the error of a moment before the first commit.
    pub(in crate::store) fn too_early(&self) -> Error {
        let (Self::Revision(text) | Self::Until { text, .. }) = self;
        Error::usage(format!("no commit is as old as `{text}`"))
    }
}

/// Returns the id of a commit; `None` if the name is a moment before the first one.
///
/// # Errors
/// `Usage` if there is no such commit; `Failure` if git can't be asked.
pub(in crate::store) fn find_commit(repository: &Repository, name: &CommitName) -> Result<Option<String>, Error> {
    let found = match name {
        CommitName::Revision(revision) => repository.commit_of(revision),
        CommitName::Until { seconds, .. } => last_until(repository, *seconds),
    };
    if found.is_some() {
        return Ok(found);
    }
    missing(repository, name).map_or(Ok(None), Err)
}

fn last_until(repository: &Repository, seconds: i64) -> Option<String> {
    // git has no times before 1970.
    let until = format!("--min-age={}", u64::try_from(seconds).ok()?);
    let list = ["rev-list", "--first-parent", "--max-count=1", &until, "HEAD", "--"];
    let id = String::from_utf8(repository.run(&list, Vec::new(), Instant::now())?).ok()?.trim().to_owned();
    is_object_id(&id).then_some(id)
}

/// Returns the error of a commit that is not there; `None` if it would be before the first one.
fn missing(repository: &Repository, name: &CommitName) -> Option<Error> {
    let of_name = || match name {
        CommitName::Revision(revision) => {
            let error = Error::usage(format!("git knows no commit `{revision}` here"));
            Some(error.hint("name a commit, branch or tag, or a date such as 2025-03-05 or \"last week\""))
        }
        CommitName::Until { .. } if repository.is_shallow() => {
            let hint = "a shallow clone has only the last commits; `git fetch --unshallow` gets the others";
            Some(name.too_early().hint(hint))
        }
        CommitName::Until { .. } => None,
    };
    no_history(repository).or_else(of_name)
}

/// Returns the error of a repository that git does not read, or whose branch has no commit; `None` if it has one.
pub(in crate::store) fn no_history(repository: &Repository) -> Option<Error> {
    let no_commit = || Error::usage("there is no commit here yet").hint("`git commit` makes one");
    repository.refused().or_else(|| repository.head().is_none().then(no_commit))
}
