//! A server in a tool's JSON settings.

use anyhow::{Context, Result};

use super::hook_step::HookStep;
use super::json_item::JsonItem;
use super::project::{Project, TextChange, edited};
use super::server_entry::{PriorState, server_item};
use super::{RecipeState, folders_to_make};
use crate::error::Error;

/// A server in a settings file of the user's.
pub(super) struct McpServerStep {
    /// The possible paths of the file; it is created at the first.
    pub(super) paths: &'static [&'static str],
    /// The entry in the tool's map of servers.
    pub(super) item: JsonItem<'static>,
    /// The server, as JSON.
    pub(super) entry: &'static str,
    /// Files and folders that show that the tool is used; if empty, the server is always installed.
    pub(super) signs: &'static [&'static str],
    /// A hook of ours in the same file.
    pub(super) hook: Option<&'static HookStep>,
}

/// The defaults: a server in the form that most tools read.
pub(super) const SERVER: McpServerStep = McpServerStep {
    paths: &[],
    item: server_item(&["mcpServers"]),
    entry: r#"{"command":"qipu","args":["mcp"]}"#,
    signs: &[],
    hook: None,
};

impl McpServerStep {
    /// Tells whether the project uses the tool.
    pub(super) fn is_applicable(&self, project: &Project<'_>) -> bool {
        self.signs.is_empty() || self.signs.iter().any(|sign| project.has(sign))
    }

    /// Returns the file's path, relative to the project's root.
    pub(super) fn path(&self, project: &Project<'_>) -> &'static str {
        let existing = self.paths.iter().find(|path| project.has(path));
        existing.or(self.paths.first()).copied().unwrap_or_default()
    }

    /// Returns the number of folders that were created for the file, and are deleted with it.
    pub(super) fn folders_made(&self, project: &Project<'_>) -> Result<usize, Error> {
        let text = project.read(self.path(project))?;
        let prior = text.map(|text| PriorState::find(self.item, &text)).transpose();
        let is_made = prior.with_context(|| self.unusable(project))?.flatten() == Some(PriorState::NoFolder);
        Ok(if is_made { self.path(project).matches('/').count() } else { 0 })
    }

    /// Returns the text of a new file, below a comment with its name.
    pub(super) fn text(&self) -> String {
        let name = self.paths.first().copied().unwrap_or_default();
        let text = PriorState::insert(self.item, None, &self.value(), None).unwrap_or_default();
        format!("// {name}\n{text}")
    }

    pub(super) fn state(&self, project: &Project<'_>) -> Result<RecipeState, Error> {
        self.state_in(project.read(self.path(project))?.as_deref(), project)
    }

    /// Returns the file's text before and after the server is installed or removed.
    pub(super) fn change(&self, project: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        let old = project.read(self.path(project))?;
        let state = self.state_in(old.as_deref(), project)?;
        if state == RecipeState::Edited && !project.is_forced {
            return Err(edited(format!("the server in {}", self.path(project))));
        }
        if old.is_none() && is_removal || state == RecipeState::Current && !is_removal {
            return Ok((old.clone(), old));
        }
        let rest = old.as_deref().map_or(Ok(None), |text| PriorState::remove(self.item, text));
        let rest = rest.with_context(|| self.unusable(project))?;
        if is_removal {
            return Ok((old, rest));
        }
        let prior = match self.prior_to_hook(project)? {
            None if rest.is_none() => Some(self.prior_to_file(project)?),
            prior => prior,
        };
        let new = PriorState::insert(self.item, rest.as_deref(), &self.value(), prior);
        Ok((old, Some(new.with_context(|| self.unusable(project))?)))
    }

    /// Returns the prior state of a file that does not exist.
    fn prior_to_file(&self, project: &Project<'_>) -> Result<PriorState, Error> {
        let path = self.path(project);
        let is_made = !path.contains('/') || folders_to_make(project, &project.file(path)?, path)? > 0;
        Ok(if is_made { PriorState::NoFolder } else { PriorState::NoFile })
    }

    /// Returns what existed before our hook created the file; `None` if it did not.
    fn prior_to_hook(&self, project: &Project<'_>) -> Result<Option<PriorState>, Error> {
        let Some(hook) = self.hook else { return Ok(None) };
        if hook.state(project)? == RecipeState::Missing {
            return Ok(None);
        }
        let prior = hook.prior(project)?;
        Ok(match (prior.depth, prior.folders) {
            (0, 0) => Some(PriorState::NoFile),
            (0, _) => Some(PriorState::NoFolder),
            (1, _) => Some(PriorState::NoValue),
            _ => None,
        })
    }

    fn state_in(&self, text: Option<&str>, project: &Project<'_>) -> Result<RecipeState, Error> {
        let Some(text) = text else { return Ok(RecipeState::Missing) };
        Ok(self.item.state(text, &self.value()).with_context(|| self.unusable(project))?)
    }

    fn unusable(&self, project: &Project<'_>) -> String {
        format!("can't use {}", self.path(project))
    }

    fn value(&self) -> serde_json::Value {
        serde_json::from_str(self.entry).unwrap_or_default()
    }
}
