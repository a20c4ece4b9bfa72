//! The steps that recipes consist of: each can be inspected, installed, removed and previewed.

use super::git_config::GitConfigStep;
use super::hook_step::HookStep;
use super::project::{Project, TextChange, action};
use super::section_step::{BaseFolder, SectionStep};
use super::server_step::McpServerStep;
use super::{FileChange, RecipeState};
use crate::error::Error;
use crate::store::diff;

/// One thing that a recipe writes.
pub(super) enum RecipeStep {
    /// A section in a file of the user's.
    Section(SectionStep),
    /// Hooks in a tool's JSON settings.
    Hook(HookStep),
    /// A server in a tool's JSON settings.
    Server(McpServerStep),
    /// Settings of the repository that contains the store.
    GitConfig(GitConfigStep),
}

/// What a step changes, planned before any step of its recipe is written.
pub(super) struct StepPlan {
    step: &'static RecipeStep,
    is_removal: bool,
    change: TextChange,
    /// The number of folders that are deleted with the file.
    folders: usize,
}

impl StepPlan {
    /// Installs the step or updates what it wrote; or removes that, and the file created for it if nothing else is in
    /// it. Returns the change of its file, if there is one.
    pub(super) fn write(self, project: &Project<'_>) -> Result<Option<FileChange>, Error> {
        let file = || match self.step {
            RecipeStep::Section(section) => section.file(project),
            step => Ok(project.file(&step.path(project))?),
        };
        let action = match self.step {
            RecipeStep::GitConfig(config) => config.write(project, self.is_removal)?,
            _ => project.write(self.change, file, self.folders)?,
        };
        Ok(action.map(|action| self.step.file_change(action, None, project)))
    }

    /// Returns what the step changes: the diff of its file, or the commands that change the settings; `None` if nothing
    /// changes.
    pub(super) fn preview(self, project: &Project<'_>) -> Option<FileChange> {
        if let RecipeStep::GitConfig(config) = self.step {
            let commands = config.pending_commands(project, self.is_removal);
            let is_changed = !commands.is_empty();
            return is_changed.then(|| self.step.file_change("changed", Some(commands), project));
        }
        let (old, new) = (self.change.0.as_deref(), self.change.1.as_deref());
        let diff = || diff(&self.step.path(project), old, new);
        action(&self.change).map(|action| self.step.file_change(action, Some(diff()), project))
    }
}

impl RecipeStep {
    pub(super) fn is_in_store(&self) -> bool {
        matches!(self, Self::Section(SectionStep { folder: BaseFolder::Store, .. }))
    }

    /// Tells whether the step's file is the one that represents it in the project.
    pub(super) fn is_chosen(&self, project: &Project<'_>) -> bool {
        match self {
            Self::Section(section) => section.is_chosen(project),
            _ => true,
        }
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

    /// Plans what installing the step, or removing it, changes. Fails if that is known to be impossible.
    pub(super) fn plan(&'static self, project: &Project<'_>, is_removal: bool) -> Result<StepPlan, Error> {
        if let (Self::GitConfig(config), false) = (self, is_removal) {
            config.expect_possible(project)?;
        }
        let folders = if is_removal { self.folders_made(project)? } else { 0 };
        Ok(StepPlan { step: self, is_removal, change: self.change(project, is_removal)?, folders })
    }

    fn file_change(&self, action: &'static str, diff: Option<String>, project: &Project<'_>) -> FileChange {
        FileChange { path: self.path(project), action, diff }
    }

    /// Returns a clause on what the step writes, which its state completes.
    pub(super) fn describe(&self, project: &Project<'_>) -> String {
        match self {
            Self::Section(_) => format!("the section in {} is", self.path(project)),
            Self::Hook(hook) => format!("the hooks in {} are", hook.path),
            Self::Server(server) => format!("the server in {} is", server.path(project)),
            Self::GitConfig(_) => "the setting in the repository's git configuration is".to_owned(),
        }
    }

    /// Returns why the step is stale, as a clause, if the reason is not its text.
    pub(super) fn reason(&self, project: &Project<'_>) -> Result<Option<&'static str>, Error> {
        match self {
            Self::Section(section) => section.reason(project),
            Self::Hook(_) => Ok(Some("another version of qipu wrote what is there")),
            _ => Ok(None),
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
    pub(super) fn text(&self, project: &Project<'_>) -> String {
        match self {
            Self::Section(section) => format!("{}{}", section.head, section.text(project)),
            Self::Hook(hook) => hook.template.to_owned(),
            Self::Server(server) => server.text(),
            Self::GitConfig(config) => config.text(),
        }
    }
}
