//! The recipe `mcp`: tells agent tools how to start qipu's server, in what each calls its own file.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::entry::{self, EntryStatus, PriorState};
use super::recipes::GEMINI_HOOK;
use super::step::{HookPart, RecipeStep, TextChange, edited, folders_to_make, inside};
use super::{Project, Recipe, RecipeState};
use crate::error::Error;
use crate::store::files;

/// The recipe.
pub(super) const RECIPE: Recipe = Recipe {
    name: "mcp",
    about: "lets agent tools call qipu as an MCP server",
    parts: &[
        RecipeStep::Entry(ServerPart { paths: &[".mcp.json"], ..SERVER }),
        RecipeStep::Entry(ServerPart { paths: &[".cursor/mcp.json"], signs: &[".cursor", ".cursorrules"], ..SERVER }),
        RecipeStep::Entry(ServerPart {
            paths: &[".vscode/mcp.json"],
            key: "servers",
            entry: r#"{"type":"stdio","command":"qipu","args":["mcp"]}"#,
            signs: &[".vscode"],
            ..SERVER
        }),
        RecipeStep::Entry(ServerPart {
            paths: &[".gemini/settings.json"],
            signs: &[".gemini", "GEMINI.md"],
            hook: Some(&GEMINI_HOOK),
            ..SERVER
        }),
        RecipeStep::Entry(ServerPart {
            paths: &["opencode.json", "opencode.jsonc"],
            key: "mcp",
            entry: r#"{"type":"local","command":["qipu","mcp"],"enabled":true}"#,
            signs: &["opencode.json", "opencode.jsonc", ".opencode"],
            ..SERVER
        }),
    ],
    // A tool may be there and its user want no servers: only those who have some are asked for one more.
    signs: &[".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"],
};

/// A server in a file of settings that belongs to the user.
#[derive(Debug)]
pub(super) struct ServerPart {
    /// The names that the file may have; the first is the one it is made with.
    paths: &'static [&'static str],
    /// What the tool calls its map of servers.
    key: &'static str,
    /// The server, as JSON.
    entry: &'static str,
    /// What shows that the tool is used; nothing where it is written in any case.
    signs: &'static [&'static str],
    /// A hook of ours in the same file.
    hook: Option<&'static HookPart>,
}

/// A server in the form that most tools read.
const SERVER: ServerPart =
    ServerPart { paths: &[], key: "mcpServers", entry: r#"{"command":"qipu","args":["mcp"]}"#, signs: &[], hook: None };

impl ServerPart {
    /// Tells whether the project shows signs of the tool.
    pub(super) fn is_wanted(&self, place: &Project<'_>) -> bool {
        let has = |name: &str| place.root.join(name).symlink_metadata().is_ok();
        self.signs.is_empty() || self.signs.iter().any(|sign| has(sign))
    }

    /// Returns the file's path, relative to the project's root.
    pub(super) fn path(&self, place: &Project<'_>) -> &'static str {
        let there = |path: &&&str| place.root.join(path).symlink_metadata().is_ok();
        self.paths.iter().find(there).or(self.paths.first()).copied().unwrap_or_default()
    }

    /// Returns the file's real path.
    pub(super) fn file(&self, place: &Project<'_>) -> Result<PathBuf, Error> {
        Ok(inside(&place.root, self.path(place), "project")?)
    }

    /// Counts the folders that were made with the file, and go with it.
    pub(super) fn folders_made(&self, place: &Project<'_>) -> Result<usize, Error> {
        let text = files::read_if_there(&self.file(place)?)?;
        let level = text.map(|text| entry::level(&text, self.key)).transpose();
        let is_made = level.with_context(|| self.unusable(place))?.flatten() == Some(PriorState::Nothing);
        Ok(if is_made { self.path(place).matches('/').count() } else { 0 })
    }

    /// Returns what is written where there is no file, below the file's name.
    pub(super) fn text(&self) -> String {
        let name = self.paths.first().copied().unwrap_or_default();
        let text = entry::with(None, self.key, &self.value(), None).unwrap_or_default();
        format!("// {name}\n{text}")
    }

    pub(super) fn state(&self, place: &Project<'_>) -> Result<RecipeState, Error> {
        let text = files::read_if_there(&self.file(place)?)?;
        Ok(match text.map(|text| self.find(&text, place)).transpose()? {
            None | Some(EntryStatus::Missing) => RecipeState::Missing,
            Some(EntryStatus::Current) => RecipeState::Current,
            Some(EntryStatus::Other) => RecipeState::Edited,
        })
    }

    /// Returns the file's text before and after.
    pub(super) fn change(&self, place: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        let old = files::read_if_there(&self.file(place)?)?;
        let found = old.as_deref().map_or(Ok(EntryStatus::Missing), |text| self.find(text, place))?;
        if found == EntryStatus::Other && !place.is_forced {
            return Err(edited(format!("the server in {}", self.path(place))));
        }
        if old.is_none() && is_removal || found == EntryStatus::Current && !is_removal {
            return Ok((old.clone(), old));
        }
        let rest = old.as_deref().map_or(Ok(None), |text| entry::without(text, self.key));
        let rest = rest.with_context(|| self.unusable(place))?;
        if is_removal {
            return Ok((old, rest));
        }
        let made = match self.made_by_hook(place)? {
            None if rest.is_none() => Some(self.level_of_folder(place)?),
            made => made,
        };
        let new = entry::with(rest.as_deref(), self.key, &self.value(), made);
        Ok((old, Some(new.with_context(|| self.unusable(place))?)))
    }

    /// Returns what is there where the file is not.
    fn level_of_folder(&self, place: &Project<'_>) -> Result<PriorState, Error> {
        let path = self.path(place);
        let is_made = !path.contains('/') || folders_to_make(&self.file(place)?, path, place)? > 0;
        Ok(if is_made { PriorState::Nothing } else { PriorState::Folder })
    }

    /// Returns what was there before our hook made the file.
    fn made_by_hook(&self, place: &Project<'_>) -> Result<Option<PriorState>, Error> {
        let Some(hook) = self.hook else { return Ok(None) };
        Ok(match hook.state(place)? {
            RecipeState::Missing => None,
            _ => match hook.made(place)? {
                (0, 0) => Some(PriorState::Folder),
                (0, _) => Some(PriorState::Nothing),
                (1, _) => Some(PriorState::Blank),
                _ => None,
            },
        })
    }

    fn find(&self, text: &str, place: &Project<'_>) -> Result<EntryStatus> {
        entry::find(text, self.key, &self.value()).with_context(|| self.unusable(place))
    }

    fn unusable(&self, place: &Project<'_>) -> String {
        format!("can't use {}", self.path(place))
    }

    fn value(&self) -> serde_json::Value {
        serde_json::from_str(self.entry).unwrap_or_default()
    }
}
