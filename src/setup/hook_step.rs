//! A hook in a tool's JSON settings, run at the start of a session.

use anyhow::{Context, Result};
use jsonc_parser::ast::Value;
use serde_json::Value as Json;

use super::json_item::{ItemKind, JsonItem};
use super::managed_section::{MARKDOWN, ManagedSection, PriorSettings};
use super::project::{Project, TextChange, edited};
use super::server_entry::{PriorState, server_item};
use super::{RecipeState, folders_to_make};
use crate::error::Error;

/// The prefix of the command by which our hook is recognized.
const COMMAND: &str = "qipu prime --hook";

/// The hook's element in the settings: its depth is 4 where the list of the event exists.
const ITEM: JsonItem = JsonItem { keys: &["hooks", "SessionStart"], kind: ItemKind::Element(is_ours) };

/// The depth of [`ITEM`] in a file with a map but no hooks.
const ROOT_DEPTH: usize = 2;

/// Our server in tools that have hooks.
const SERVER: JsonItem = server_item(&["mcpServers"]);

/// A hook in a tool's JSON settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookStep {
    /// The path of the settings file.
    pub(super) path: &'static str,
    /// The hook, as JSON.
    pub(super) hook: &'static str,
    /// The path of the file with the section whose marker stores what existed before.
    pub(super) marker_path: &'static str,
    /// The name of the recipe, under which that is stored.
    pub(super) user: &'static str,
}

impl HookStep {
    pub(super) fn state(&self, project: &Project<'_>) -> Result<RecipeState, Error> {
        let Some(text) = project.read(self.path)? else { return Ok(RecipeState::Missing) };
        Ok(ITEM.state(&text, &self.value()).with_context(|| self.unusable())?)
    }

    pub(super) fn text(&self) -> String {
        ITEM.insert_element(None, &self.value()).unwrap_or_default()
    }

    /// Returns the file's text before and after the hook is installed or removed.
    pub(super) fn change(&self, project: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        let old = project.read(self.path)?;
        let state = self.state(project)?;
        if state == RecipeState::Edited && !project.is_forced {
            return Err(edited(format!("the hook in {}", self.path)));
        }
        if state == RecipeState::Current && !is_removal {
            return Ok((old.clone(), old));
        }
        let rest = match &old {
            Some(text) if state != RecipeState::Missing => {
                ITEM.remove(text, self.prior(project)?.0).with_context(|| self.unusable())?
            }
            old => old.clone(),
        };
        if is_removal {
            return Ok((old, rest));
        }
        let new = ITEM.insert_element(rest.as_deref(), &self.value()).with_context(|| self.unusable())?;
        Ok((old, Some(new)))
    }

    /// Returns the number of folders that were created for the file, and are deleted with it.
    pub(super) fn folders_made(&self, project: &Project<'_>) -> Result<usize, Error> {
        Ok(if self.state(project)? == RecipeState::Missing { 0 } else { self.prior(project)?.1 })
    }

    /// Returns what exists now and must be restored when the hook is removed. A file or folder that our server entry
    /// created counts as missing.
    pub(super) fn current_settings(&self, project: &Project<'_>) -> Result<PriorSettings, Error> {
        let text = project.read(self.path)?;
        let depth = ITEM.depth(text.as_deref()).with_context(|| self.unusable())?;
        // Errors in the map of servers are reported by the server's own step.
        let server = text.as_deref().and_then(|text| PriorState::find(SERVER, text).ok().flatten());
        Ok(match server.filter(|_| depth == ROOT_DEPTH) {
            Some(PriorState::NoFolder) => (0, 1),
            Some(PriorState::NoFile) => (0, 0),
            Some(PriorState::NoValue) => (1, 0),
            _ => (depth, folders_to_make(project, &project.file(self.path)?, self.path)?),
        })
    }

    /// Returns what existed before the hook was installed, from the marker of the recipe's section. Without that
    /// marker the file is treated as the user's.
    pub(super) fn prior(&self, project: &Project<'_>) -> Result<PriorSettings, Error> {
        let text = project.read(self.marker_path)?;
        let section = text.as_deref().map(|text| ManagedSection::find_in(self.marker_path, &MARKDOWN, text));
        let marker = section.transpose()?.flatten().map(|section| section.marker);
        Ok(marker.and_then(|marker| marker.settings_of(self.user)).unwrap_or((ROOT_DEPTH, 0)))
    }

    fn value(&self) -> Json {
        serde_json::from_str(self.hook).unwrap_or_default()
    }

    fn unusable(&self) -> String {
        format!("can't use {}", self.path)
    }
}

/// Tells whether an element of the event's list is our hook.
fn is_ours(element: &Value<'_>) -> bool {
    let hooks = element.as_object().and_then(|element| element.get_array("hooks"));
    let hooks = hooks.map(|hooks| hooks.elements.as_slice()).unwrap_or_default();
    let commands = hooks.iter().filter_map(|hook| hook.as_object()?.get_string("command"));
    commands.into_iter().any(|command| command.value.starts_with(COMMAND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hook_is_taken_out_to_the_byte() {
        let hook = serde_json::json!({"hooks": [{"type": "command", "command": "qipu prime --hook claude"}]});
        for old in [
            "{}",
            "{\"hooks\": {\"SessionStart\": [ ]}}",
            "// mine\r\n{\r\n  \"hooks\": { /* none yet */ }, // c\r\n}\r\n",
            "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}]}}\n",
        ] {
            let new = ITEM.insert_element(Some(old), &hook).unwrap();
            assert_eq!(ITEM.state(&new, &hook).unwrap(), RecipeState::Current, "{new}");
            assert_eq!(ITEM.remove(&new, ITEM.depth(Some(old)).unwrap()).unwrap().as_deref(), Some(old), "{new}");
        }
        let twice = "{\"hooks\": {\"SessionStart\": [], \"SessionStart\": []}}";
        assert!(ITEM.insert_element(Some(twice), &hook).unwrap_err().to_string().contains("occurs 2 times"));
        let edited = "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"command\": \"qipu prime --hook gemini -x\"}]}]}}";
        assert_eq!(ITEM.state(edited, &hook).unwrap(), RecipeState::Edited);
    }
}
