//! Settings in the configuration of the repository that contains the store.

use super::RecipeState;
use super::project::Project;
use crate::error::{Error, ErrorKind};
use crate::escape::shell_word;
use crate::store::git;

/// Keys and values of a repository's configuration.
#[derive(Debug)]
pub(super) struct GitConfigStep(pub(super) &'static [(&'static str, &'static str)]);

impl GitConfigStep {
    /// Compares the settings with the repository's. Without a store, a repository or git they are missing.
    pub(super) fn state(&self, project: &Project<'_>) -> RecipeState {
        let Ok(store) = project.store() else { return RecipeState::Missing };
        let state = |(key, value): &(&str, &str)| match git::config(&store, key).unwrap_or_default().as_slice() {
            [] => RecipeState::Missing,
            [current] if current == value => RecipeState::Current,
            _ => RecipeState::Stale,
        };
        self.0.iter().map(state).min().unwrap_or(RecipeState::Current)
    }

    /// Fails if there is no git, or no repository that contains the store.
    pub(super) fn expect_possible(&self, project: &Project<'_>) -> Result<(), Error> {
        git::expect_work_tree(&project.store()?).map_err(|error| {
            Error::new(ErrorKind::Failure, format!("{error:#}"))
                .hint("it needs git, and a repository that contains the store: `git init` creates one")
        })
    }

    /// Sets what differs, or unsets the keys. Returns the word for the change, if there is one.
    pub(super) fn write(&self, project: &Project<'_>, is_removal: bool) -> Result<Option<&'static str>, Error> {
        let store = match project.store() {
            Err(error) if is_removal && error.kind == ErrorKind::NoStore => return Ok(None),
            store => store?,
        };
        let mut action = None;
        for (key, value) in self.0 {
            let current = git::config(&store, key)?;
            let is_done = if is_removal { current.is_empty() } else { current == [*value] };
            if !is_done {
                git::set_config(&store, key, Some(*value).filter(|_| !is_removal))?;
                action = Some("changed");
            }
        }
        Ok(action)
    }

    /// Returns the shell commands that installing or removing the settings still requires, one per line.
    pub(super) fn pending_commands(&self, project: &Project<'_>, is_removal: bool) -> String {
        let store = project.store().ok();
        let values = |key: &str| store.as_ref().and_then(|store| git::config(store, key).ok()).unwrap_or_default();
        let pending = self.0.iter().filter_map(|(key, value)| match (values(key).as_slice(), is_removal) {
            ([], true) => None,
            (_, true) => Some(format!("git config --unset-all {key}\n")),
            ([current], false) if current == value => None,
            ([] | [_], false) => Some(command(key, value)),
            (_, false) => Some(command(key, value).replacen("config", "config --replace-all", 1)),
        });
        pending.collect()
    }

    /// Returns the shell commands that set all settings, one per line.
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|(key, value)| command(key, value)).collect()
    }
}

fn command(key: &str, value: &str) -> String {
    format!("git config {key} {}\n", shell_word(value))
}
