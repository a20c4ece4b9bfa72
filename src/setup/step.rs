//! The steps that recipes consist of: each can be inspected, installed, removed and previewed.

use super::git_config::GitConfigStep;
use super::hook_step::HookStep;
use super::project::{Project, action};
use super::section_step::{BaseFolder, SectionStep};
use super::server_step::ServerStep;
use super::{FileChange, RecipeState};
use crate::error::Error;
use crate::store::diff;

/// One thing that a recipe writes.
#[derive(Debug)]
pub(super) enum RecipeStep {
    /// A section in a file of the user's.
    Section(SectionStep),
    /// A hook in a tool's JSON settings.
    Hook(HookStep),
    /// A server in a tool's JSON settings.
    Server(ServerStep),
    /// Settings of the repository that contains the store.
    GitConfig(GitConfigStep),
}

impl RecipeStep {
    /// Tells whether the step writes into the store.
    pub(super) fn is_in_store(&self) -> bool {
        matches!(self, Self::Section(SectionStep { folder: BaseFolder::Store, .. }))
    }

    /// Tells whether installing the recipe runs the step. Removing the recipe runs all steps.
    pub(super) fn is_applicable(&self, project: &Project<'_>) -> bool {
        match self {
            Self::Server(server) => server.is_applicable(project),
            _ => true,
        }
    }

    /// Returns the state of what the step writes.
    ///
    /// # Errors
    /// If the file can't be read or understood.
    pub(super) fn state(&self, project: &Project<'_>) -> Result<RecipeState, Error> {
        match self {
            Self::Section(section) => section.state(project),
            Self::Hook(hook) => hook.state(project),
            Self::Server(server) => server.state(project),
            Self::GitConfig(config) => Ok(config.state(project)),
        }
    }

    /// Fails if the step can't be installed.
    ///
    /// # Errors
    /// Those of [`RecipeStep::install`] that are known before anything is written.
    pub(super) fn expect_possible(&self, project: &Project<'_>) -> Result<(), Error> {
        match self {
            Self::Section(section) => section.change(project, false).map(drop),
            Self::Hook(hook) => hook.change(project, false).map(drop),
            Self::Server(server) => server.change(project, false).map(drop),
            Self::GitConfig(config) => config.expect_possible(project),
        }
    }

    /// Installs the step, or updates what it wrote. Returns the change of its file, if there is one.
    ///
    /// # Errors
    /// If the file was edited by hand, or can't be edited.
    pub(super) fn install(&self, project: &Project<'_>) -> Result<Option<FileChange>, Error> {
        let action = match self {
            Self::Section(section) => project.write(section.change(project, false)?, || section.file(project))?,
            Self::Hook(hook) => project.write(hook.change(project, false)?, || hook.file(project))?,
            Self::Server(server) => project.write(server.change(project, false)?, || server.file(project))?,
            Self::GitConfig(config) => config.install(project)?,
        };
        Ok(action.map(|action| self.file_change(action, None, project)))
    }

    /// Removes what the step wrote, and the file created for it if nothing else is in it. Returns the change of its
    /// file, if there is one.
    ///
    /// # Errors
    /// See [`RecipeStep::install`].
    pub(super) fn remove(&self, project: &Project<'_>) -> Result<Option<FileChange>, Error> {
        let action = match self {
            Self::Section(section) => {
                let folders = section.marker(project)?.map_or(0, |marker| marker.folders);
                project.write_removal(section.change(project, true)?, || section.file(project), folders)?
            }
            Self::Hook(hook) => {
                let (_, folders) = hook.prior(project)?;
                project.write_removal(hook.change(project, true)?, || hook.file(project), folders)?
            }
            Self::Server(server) => {
                let folders = server.folders_made(project)?;
                project.write_removal(server.change(project, true)?, || server.file(project), folders)?
            }
            Self::GitConfig(config) => config.remove(project)?,
        };
        Ok(action.map(|action| self.file_change(action, None, project)))
    }

    /// Returns what installing or removing the step would change: the diff of its file, or the commands that would
    /// change the settings; `None` if nothing would change.
    ///
    /// # Errors
    /// See [`RecipeStep::install`].
    pub(super) fn preview(&self, project: &Project<'_>, is_removal: bool) -> Result<Option<FileChange>, Error> {
        let change = match self {
            Self::Section(section) => section.change(project, is_removal)?,
            Self::Hook(hook) => hook.change(project, is_removal)?,
            Self::Server(server) => server.change(project, is_removal)?,
            Self::GitConfig(config) => {
                let commands = config.pending_commands(project, is_removal);
                let is_changed = !commands.is_empty();
                return Ok(is_changed.then(|| self.file_change("changed", Some(commands), project)));
            }
        };
        let diff = || diff(&self.path(project), change.0.as_deref(), change.1.as_deref());
        Ok(action(&change).map(|action| self.file_change(action, Some(diff()), project)))
    }

    fn file_change(&self, action: &'static str, diff: Option<String>, project: &Project<'_>) -> FileChange {
        FileChange { path: self.path(project), action, diff }
    }

    /// Returns a noun phrase for what the step writes.
    pub(super) fn describe(&self, project: &Project<'_>) -> String {
        match self {
            Self::Section(_) => format!("the section in {}", self.path(project)),
            Self::Hook(hook) => format!("the hook in {}", hook.path),
            Self::Server(server) => format!("the server in {}", server.path(project)),
            Self::GitConfig(_) => "the setting in the repository's git configuration".to_owned(),
        }
    }

    /// Returns the path of the file that the step writes, relative to the project's root.
    pub(super) fn path(&self, project: &Project<'_>) -> String {
        match self {
            Self::Section(SectionStep { folder: BaseFolder::Store, path, .. }) => {
                let store = project.shown_store();
                format!("{}{path}", store.strip_prefix("./").unwrap_or(&store))
            }
            Self::Section(SectionStep { path, .. }) | Self::Hook(HookStep { path, .. }) => (*path).to_owned(),
            Self::Server(server) => server.path(project).to_owned(),
            Self::GitConfig(_) => ".git/config".to_owned(),
        }
    }

    /// Tells whether the file of the step is below a folder of the project; `folder` ends in `/`.
    pub(super) fn is_below(&self, folder: &str, project: &Project<'_>) -> bool {
        !self.is_in_store() && self.path(project).starts_with(folder)
    }

    /// Tells whether the topmost folder above the step's file was created for it.
    ///
    /// # Errors
    /// See [`RecipeStep::state`].
    pub(super) fn has_made_top_folder(&self, project: &Project<'_>) -> Result<bool, Error> {
        let depth = self.path(project).matches('/').count();
        Ok(match self {
            Self::Section(section) => section.marker(project)?.is_some_and(|marker| marker.folders >= depth),
            Self::Hook(hook) => hook.state(project)? != RecipeState::Missing && hook.prior(project)?.1 >= depth,
            Self::Server(server) => server.folders_made(project)? >= depth,
            Self::GitConfig(_) => false,
        })
    }

    /// Returns what the step writes into a new file, or the shell commands that set its settings.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Section(section) => format!("{}{}", section.head, section.text),
            Self::Hook(hook) => hook.text(),
            Self::Server(server) => server.text(),
            Self::GitConfig(config) => config.text(),
        }
    }
}
