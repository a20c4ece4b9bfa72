//! The hooks of a recipe in a tool's JSON settings: one for each event at which qipu adds context.

use anyhow::{Context, Result, bail};
use jsonc_parser::ast::{Object, Value};
use serde_json::Value as Json;

use super::json_item::{ItemKind, JsonItem};
use super::managed_section::{MARKDOWN, ManagedSection, PriorSettings};
use super::project::{Project, TextChange, edited};
use super::server_entry::{PriorState, server_item};
use super::{RecipeState, folders_to_make};
use crate::error::Error;

/// The prefix of the command by which our hooks are recognized.
const COMMAND: &str = "qipu hook ";

/// The key of the map of events.
const HOOKS: &str = "hooks";

/// The depth of a hook in a file with a map but no hooks.
const ROOT_DEPTH: usize = 2;
/// The depth of a hook in a file with the list of its event.
const LIST_DEPTH: usize = 4;

/// Our server in tools that have hooks.
const SERVER: JsonItem<'_> = server_item(&["mcpServers"]);

/// The hooks of a recipe in a tool's JSON settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookStep {
    /// The path of the settings file.
    pub(super) path: &'static str,
    /// The text of a new settings file: one element in the list of each event.
    pub(super) template: &'static str,
    /// The paths of the files that can contain the section whose marker stores what existed before.
    pub(super) marker_paths: &'static [&'static str],
    /// The name of the recipe, under which that is stored.
    pub(super) user: &'static str,
}

/// One element of ours in the list of an event.
struct HookElement {
    event: String,
    value: Json,
}

impl HookElement {
    /// Calls a function with the element's item: its depth is [`LIST_DEPTH`] where the list of the event exists.
    fn with_item<T>(&self, call: impl FnOnce(JsonItem<'_>) -> T) -> T {
        call(JsonItem { keys: &[HOOKS, &self.event], kind: ItemKind::Element(is_ours) })
    }

    fn state(&self, text: &str) -> Result<RecipeState> {
        self.with_item(|item| item.state(text, &self.value))
    }

    fn depth(&self, text: Option<&str>) -> Result<usize> {
        self.with_item(|item| item.depth(text))
    }
}

impl HookStep {
    pub(super) const fn new(
        user: &'static str,
        path: &'static str,
        template: &'static str,
        marker_paths: &'static [&'static str],
    ) -> Self {
        Self { path, template, marker_paths, user }
    }

    pub(super) fn state(&self, project: &Project<'_>) -> Result<RecipeState, Error> {
        Ok(self.state_in(project.read(self.path)?.as_deref()).with_context(|| self.unusable())?)
    }

    /// Returns the state of all hooks: stale if only some are there.
    fn state_in(&self, text: Option<&str>) -> Result<RecipeState> {
        let Some(text) = text else { return Ok(RecipeState::Missing) };
        let states: Vec<RecipeState> =
            self.elements().iter().map(|element| element.state(text)).collect::<Result<_>>()?;
        let has = |state| states.contains(&state);
        Ok(match (has(RecipeState::Current), has(RecipeState::Missing)) {
            _ if has(RecipeState::Edited) => RecipeState::Edited,
            (false, _) => RecipeState::Missing,
            (true, true) => RecipeState::Stale,
            (true, false) => RecipeState::Current,
        })
    }

    /// Returns the file's text before and after the hooks are installed or removed.
    pub(super) fn change(&self, project: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        let old = project.read(self.path)?;
        let state = self.state(project)?;
        if state == RecipeState::Edited && !project.is_forced {
            return Err(edited(format!("a hook in {}", self.path)));
        }
        if state == RecipeState::Current && !is_removal {
            return Ok((old.clone(), old));
        }
        let rest = match &old {
            Some(text) if state != RecipeState::Missing => {
                self.removed(text, &self.prior(project)?).with_context(|| self.unusable())?
            }
            old => old.clone(),
        };
        if is_removal {
            return Ok((old, rest));
        }
        let new = self.inserted(rest.as_deref()).with_context(|| self.unusable())?;
        Ok((old, Some(new)))
    }

    /// Returns the file's text with all hooks. Fails if they could not be removed to the byte.
    fn inserted(&self, old: Option<&str>) -> Result<String> {
        let Some(text) = old else { return Ok(self.template.to_owned()) };
        let mut new = text.to_owned();
        // In reverse: each element, and each list, becomes the first.
        for element in self.elements().iter().rev() {
            new = element.with_item(|item| item.insert_element(Some(&new), &element.value))?;
        }
        if self.removed(&new, &self.prior_in(old)?)?.as_deref() != old {
            bail!("it is written in a way that qipu can't extend and restore");
        }
        Ok(new)
    }

    /// Returns the file's text without the hooks, and without the lists and maps created for them; `None` if that is
    /// the whole file.
    fn removed(&self, text: &str, prior: &PriorSettings) -> Result<Option<String>> {
        let mut rest = Some(text.to_owned());
        for element in self.elements() {
            let Some(text) = rest else { break };
            let depth = if prior.events.contains(&element.event) { LIST_DEPTH } else { prior.depth };
            rest = element.with_item(|item| item.remove(&text, depth))?;
        }
        // A new file may have more than hooks, such as the version of its form.
        let mut template: Json = serde_json::from_str(self.template).unwrap_or_default();
        template.as_object_mut().map(|map| map.remove(HOOKS));
        let is_template = |rest: &String| serde_json::from_str::<Json>(rest).is_ok_and(|rest| rest == template);
        Ok(rest.filter(|rest| prior.depth > 0 || !is_template(rest)))
    }

    /// Returns the number of folders that were created for the file, and are deleted with it.
    pub(super) fn folders_made(&self, project: &Project<'_>) -> Result<usize, Error> {
        Ok(if self.state(project)? == RecipeState::Missing { 0 } else { self.prior(project)?.folders })
    }

    /// Returns what must be restored when the hooks are removed: what exists now, except for what is ours. A file or
    /// folder that our server entry created counts as missing.
    pub(super) fn settings_to_restore(&self, project: &Project<'_>) -> Result<PriorSettings, Error> {
        let text = project.read(self.path)?;
        let now = self.prior_in(text.as_deref()).with_context(|| self.unusable())?;
        let is_missing = self.state(project)? == RecipeState::Missing;
        let prior = self.prior(project)?;
        if !is_missing {
            let is_new = |event: &String| !prior.events.contains(event);
            let events = prior.events.iter().cloned().chain(now.events.into_iter().filter(is_new)).collect();
            return Ok(PriorSettings { events, ..prior });
        }
        // Errors in the map of servers are reported by the server's own step.
        let server = text.as_deref().and_then(|text| PriorState::find(SERVER, text).ok().flatten());
        let (depth, folders) = match server.filter(|_| now.depth == ROOT_DEPTH) {
            Some(PriorState::NoFolder) => (0, 1),
            Some(PriorState::NoFile) => (0, 0),
            Some(PriorState::NoValue) => (1, 0),
            _ => (now.depth, folders_to_make(project, &project.file(self.path)?, self.path)?),
        };
        // An installation that was interrupted may have made folders, and stored that.
        let folders = folders.max(prior.folders);
        Ok(PriorSettings { depth, folders, ..now })
    }

    /// Returns how much of a file exists, with the events whose lists exist and contain no hook of ours.
    fn prior_in(&self, text: Option<&str>) -> Result<PriorSettings> {
        let mut prior = PriorSettings { depth: 0, ..PriorSettings::default() };
        let elements = self.elements();
        for element in &elements {
            let depth = element.depth(text)?;
            prior.depth = depth.min(LIST_DEPTH - 1);
            let (event, Some(text)) = (&element.event, text) else { continue };
            let mut others = elements.iter().filter(|other| other.event == *event);
            let is_free = others
                .try_fold(true, |free, other| other.state(text).map(|state| free && state == RecipeState::Missing))?;
            if depth == LIST_DEPTH && is_free && !prior.events.contains(event) {
                prior.events.push(event.clone());
            }
        }
        Ok(prior)
    }

    /// Returns what existed before the hooks were installed, from the marker of the recipe's section. Without that
    /// marker the file is treated as the user's.
    pub(super) fn prior(&self, project: &Project<'_>) -> Result<PriorSettings, Error> {
        for path in self.marker_paths {
            let Some(text) = project.read(path)? else { continue };
            let section = ManagedSection::find_in(path, &MARKDOWN, &text)?;
            if let Some(prior) = section.and_then(|section| section.marker.settings_of(self.user)) {
                return Ok(prior);
            }
        }
        Ok(PriorSettings::default())
    }

    /// Returns the elements of the template.
    fn elements(&self) -> Vec<HookElement> {
        let template: Json = serde_json::from_str(self.template).unwrap_or_default();
        let lists = template.get(HOOKS).and_then(Json::as_object).into_iter().flatten();
        let element =
            |(event, list): (&String, &Json)| Some(HookElement { event: event.clone(), value: list.get(0)?.clone() });
        lists.filter_map(element).collect()
    }

    fn unusable(&self) -> String {
        format!("can't use {}", self.path)
    }
}

/// Tells whether an element of an event's list, or one of the hooks in it, runs our command.
fn is_ours(element: &Value<'_>) -> bool {
    let Some(map) = element.as_object() else { return false };
    let runs_command = |hook: &Object<'_>| {
        let commands = ["command", "bash"].iter().filter_map(|key| hook.get_string(key));
        commands.into_iter().any(|command| command.value.starts_with(COMMAND))
    };
    let inner = map.get_array(HOOKS).map(|hooks| hooks.elements.as_slice()).unwrap_or_default();
    runs_command(map) || inner.iter().filter_map(Value::as_object).any(runs_command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::json_item::{Spacing, format};
    use crate::setup::recipes::HOOKS as ALL;

    const CLAUDE: HookStep = ALL[0];

    /// A hook without a time limit holds up its session for as long as the tool likes.
    #[test]
    fn every_event_has_a_timeout() {
        for hook in ALL {
            for element in hook.elements() {
                let inner = element.value.get(HOOKS).and_then(Json::as_array);
                let hooks = inner.map_or_else(|| vec![&element.value], |inner| inner.iter().collect());
                for hook in hooks {
                    let limit = ["timeout", "timeoutSec"].iter().find_map(|key| hook.get(key)?.as_u64());
                    assert!(limit.is_some_and(|limit| limit > 0), "{hook}");
                }
            }
        }
    }

    #[test]
    fn some_hooks_without_the_others_are_stale() {
        let text = CLAUDE.template.replace("PreCompact", "Other");
        assert_eq!(CLAUDE.state_in(Some(&text)).unwrap(), RecipeState::Stale);
        assert_eq!(CLAUDE.state_in(Some(&text.replace("qipu hook", "other"))).unwrap(), RecipeState::Missing);
        let edited = CLAUDE.template.replace("PreToolUse\"\n", "PreToolUse; evil\"\n").replace("PreToolUse\",", "x\",");
        assert_eq!(CLAUDE.state_in(Some(&edited)).unwrap(), RecipeState::Edited);
        let twice = "{\"hooks\": {\"SessionStart\": [], \"SessionStart\": []}}";
        assert!(CLAUDE.inserted(Some(twice)).unwrap_err().to_string().contains("occurs 2 times"));
    }

    /// A hook is inserted into a file of the user's in the form that it has in a new file.
    #[test]
    fn new_files_have_one_item_on_each_line() {
        for hook in ALL {
            let value: Json = serde_json::from_str(hook.template).unwrap();
            assert_eq!(hook.template, format(&value, Spacing::Lines, Spacing::Lines, ("", "\n")) + "\n");
        }
    }
}
