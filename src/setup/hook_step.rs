//! A hook in a tool's JSON settings, run at the start of a session.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use jsonc_parser::ast::Value;
use serde_json::Value as Json;

use super::json_item::{ItemKind, JsonItem, pretty};
use super::managed_section::{MARKDOWN, ManagedSection, PriorSettings};
use super::project::{Project, TextChange, edited, resolve_inside};
use super::server_entry::{self, PriorState};
use super::{RecipeState, folders_to_make};
use crate::error::Error;
use crate::store::files;

/// The prefix of the command by which our hook is recognized.
const COMMAND: &str = "qipu prime --hook";

/// The hook's element in the settings: its depth is 4 where the list of the event exists.
const ITEM: JsonItem<'static> = JsonItem { keys: &["hooks", "SessionStart"], kind: ItemKind::Element(is_ours) };

/// The depth of [`ITEM`] in a file with a map but no hooks.
const ROOT_DEPTH: usize = 2;

/// The key of the map of servers in tools that have hooks.
const SERVERS: &str = "mcpServers";

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
        let Some(text) = self.read(project)? else { return Ok(RecipeState::Missing) };
        Ok(ITEM.state(&text, &self.value()).with_context(|| self.unusable())?)
    }

    /// Returns the text of a file that is created for the hook.
    pub(super) fn text(&self) -> String {
        with_hook(None, &self.value()).unwrap_or_default()
    }

    /// Returns the real path of the settings file.
    pub(super) fn file(&self, project: &Project<'_>) -> Result<PathBuf, Error> {
        Ok(resolve_inside(&project.root, self.path, "project")?)
    }

    /// Returns the file's text before and after the hook is installed or removed.
    ///
    /// # Errors
    /// If the hook was edited by hand, or the file can't be edited.
    pub(super) fn change(&self, project: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        let old = self.read(project)?;
        let state = self.state(project)?;
        if state == RecipeState::Edited && !project.is_forced {
            return Err(edited(format!("the hook in {}", self.path)));
        }
        if state == RecipeState::Current && !is_removal {
            return Ok((old.clone(), old));
        }
        let is_replaced = is_removal || state != RecipeState::Missing;
        let rest = match &old {
            Some(text) if is_replaced => ITEM.remove(text, self.prior(project)?.0).with_context(|| self.unusable())?,
            old => old.clone(),
        };
        if is_removal {
            return Ok((old, rest));
        }
        let new = with_hook(rest.as_deref(), &self.value()).with_context(|| self.unusable())?;
        Ok((old, Some(new)))
    }

    /// Returns what exists now and must be restored when the hook is removed. A file or folder that our server entry
    /// created counts as missing.
    pub(super) fn current_settings(&self, project: &Project<'_>) -> Result<PriorSettings, Error> {
        let text = self.read(project)?;
        let depth = ITEM.depth(text.as_deref()).with_context(|| self.unusable())?;
        // Errors in the map of servers are reported by the server's own step.
        let server = text.as_deref().and_then(|text| server_entry::prior_state(text, SERVERS).ok().flatten());
        Ok(match server.filter(|_| depth == ROOT_DEPTH) {
            Some(PriorState::NoFolder) => (0, 1),
            Some(PriorState::NoFile) => (0, 0),
            Some(PriorState::NoValue) => (1, 0),
            _ => (depth, folders_to_make(project, &self.file(project)?, self.path)?),
        })
    }

    /// Returns what existed before the hook was installed, from the marker of the recipe's section. Without that
    /// marker the file is treated as the user's.
    pub(super) fn prior(&self, project: &Project<'_>) -> Result<PriorSettings, Error> {
        let text = files::read_if_there(&resolve_inside(&project.root, self.marker_path, "project")?)?;
        let section = text.as_deref().map(|text| ManagedSection::find_in(self.marker_path, &MARKDOWN, text));
        let marker = section.transpose()?.flatten().map(|section| section.marker);
        Ok(marker.and_then(|marker| marker.settings_of(self.user)).unwrap_or((ROOT_DEPTH, 0)))
    }

    fn read(&self, project: &Project<'_>) -> Result<Option<String>, Error> {
        Ok(files::read_if_there(&self.file(project)?)?)
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

/// Returns the file's text with the hook.
///
/// # Errors
/// See [`JsonItem::state`]; also if removing the hook would not restore the text.
fn with_hook(old: Option<&str>, hook: &Json) -> Result<String> {
    let new = ITEM.insert(old, &|style| match style {
        Some((indent, line_end)) => pretty(hook, indent, line_end),
        None => hook.to_string(),
    })?;
    let rest = ITEM.remove(&new, ITEM.depth(old)?)?;
    if ITEM.state(&new, hook)? != RecipeState::Current || rest.as_deref() != old {
        bail!("it is written in a way that qipu can't extend and restore");
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook() -> serde_json::Value {
        serde_json::json!({"matcher": "x", "hooks": [{"type": "command", "command": "qipu prime --hook claude"}]})
    }

    #[test]
    fn what_is_put_in_is_taken_out_to_the_byte() {
        let texts = [
            "",
            "\n",
            "{}",
            "{ }",
            "{\n}\n",
            "{\"a\":1}",
            "{ \"a\": 1 }\n",
            "{\n  \"a\": 1\n}\n",
            "{\r\n\t\"a\": 1,\r\n}\r\n",
            "// mine\n{ // c, }\n  // d\n  \"a\": [1, /* x */ 2],\n  \"b\": {}, // e\n}\n// end",
            "{\n\n\n    \"a\": 1}",
            "{\"hooks\":{}}",
            "{\"hooks\": {\"Stop\": []}}",
            "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}",
            "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n    ]\n  }\n}\n",
            "{\n  \"hooks\": { /* none yet */ \"SessionStart\": [ ] } }",
            "/* only a comment */\n",
        ];
        for old in texts.into_iter().map(Some).chain([None]) {
            let new = with_hook(old, &hook()).unwrap_or_else(|error| panic!("{old:?}: {error}"));
            assert_eq!(ITEM.state(&new, &hook()).unwrap(), RecipeState::Current, "{new}");
            assert_eq!(ITEM.remove(&new, ITEM.depth(old).unwrap()).unwrap().as_deref(), old, "{new}");
        }
    }

    #[test]
    fn what_is_no_settings_is_refused() {
        let twice = ["{\"hooks\": {}, \"hooks\": {}}", "{\"hooks\": {\"SessionStart\": [], \"SessionStart\": []}}"];
        for text in twice {
            assert!(with_hook(Some(text), &hook()).unwrap_err().to_string().contains("occurs 2 times"));
        }
        for text in ["[]", "{", "{\"hooks\": []}", "{\"hooks\": {\"SessionStart\": {}}}", "x", &"[".repeat(100_000)] {
            assert!(with_hook(Some(text), &hook()).is_err());
        }
        let other =
            with_hook(Some("{}"), &serde_json::json!({"hooks": [{"command": "qipu prime --hook gemini -x"}]})).unwrap();
        assert_eq!(ITEM.state(&other, &hook()).unwrap(), RecipeState::Edited);
    }

    #[test]
    fn what_the_user_adds_stays() {
        let new = with_hook(None, &hook()).unwrap();
        let added = new.replacen("{\n", "{\n  \"model\": \"x\",\n", 1);
        assert_eq!(ITEM.remove(&added, 0).unwrap().as_deref(), Some("{\n  \"model\": \"x\"\n}\n"));
    }
}
