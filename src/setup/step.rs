//! The steps that recipes consist of: each can be inspected, installed, removed and previewed.

use super::git_config::GitConfigStep;
use super::hook_step::HookStep;
use super::project::{Project, TextChange, action};
use super::section_step::{BaseFolder, SectionStep};
use super::server_step::ServerStep;
use super::{FileChange, RecipeState};
use crate::error::Error;
use crate::store::diff;

/// One thing that a recipe writes.
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

    pub(super) fn state(&self, project: &Project<'_>) -> Result<RecipeState, Error> {
        match self {
            Self::Section(section) => section.state(project),
            Self::Hook(hook) => hook.state(project),
            Self::Server(server) => server.state(project),
            Self::GitConfig(config) => Ok(config.state(project)),
        }
    }

    /// Returns the text of the step's file before and after it is installed or removed; nothing for settings of git.
    fn change(&self, project: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        match self {
            Self::Section(section) => section.change(project, is_removal),
            Self::Hook(hook) => hook.change(project, is_removal),
            Self::Server(server) => server.change(project, is_removal),
            Self::GitConfig(_) => Ok((None, None)),
        }
    }

    /// Fails, before anything is written, if the step can't be installed.
    pub(super) fn expect_possible(&self, project: &Project<'_>) -> Result<(), Error> {
        match self {
            Self::GitConfig(config) => config.expect_possible(project),
            _ => self.change(project, false).map(drop),
        }
    }

    /// Installs the step or updates what it wrote; or removes that, and the file created for it if nothing else is in
    /// it. Returns the change of its file, if there is one.
    pub(super) fn write(&self, project: &Project<'_>, is_removal: bool) -> Result<Option<FileChange>, Error> {
        let file = || match self {
            Self::Section(section) => section.file(project),
            _ => Ok(project.file(&self.path(project))?),
        };
        let action = match self {
            Self::GitConfig(config) => config.write(project, is_removal)?,
            _ => {
                let folders = if is_removal { self.folders_made(project)? } else { 0 };
                project.write(self.change(project, is_removal)?, file, folders)?
            }
        };
        Ok(action.map(|action| self.file_change(action, None, project)))
    }

    /// Returns what installing or removing the step would change: the diff of its file, or the commands that would
    /// change the settings; `None` if nothing would change.
    pub(super) fn preview(&self, project: &Project<'_>, is_removal: bool) -> Result<Option<FileChange>, Error> {
        if let Self::GitConfig(config) = self {
            let commands = config.pending_commands(project, is_removal);
            let is_changed = !commands.is_empty();
            return Ok(is_changed.then(|| self.file_change("changed", Some(commands), project)));
        }
        let change = self.change(project, is_removal)?;
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

    /// Returns the number of folders that were created for the step's file, and are deleted with it.
    pub(super) fn folders_made(&self, project: &Project<'_>) -> Result<usize, Error> {
        match self {
            Self::Section(section) => Ok(section.marker(project)?.map_or(0, |marker| marker.folders)),
            Self::Hook(hook) => hook.folders_made(project),
            Self::Server(server) => server.folders_made(project),
            Self::GitConfig(_) => Ok(0),
        }
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
