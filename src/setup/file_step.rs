//! A file of a plugin, which belongs to qipu as a whole.

use anyhow::Result;
use serde_json::Value as Json;

use super::RecipeState;
use super::project::{Project, TextChange};
use crate::error::Error;

/// A file of a plugin.
#[derive(Debug)]
pub(super) struct FileStep {
    /// The path of the file, relative to the plugin's folder.
    pub(super) path: &'static str,
    /// The parts of its text.
    pub(super) parts: &'static [&'static str],
    /// The path of the plugin's manifest, which names the version of qipu that wrote the plugin.
    pub(super) manifest: &'static str,
}

impl FileStep {
    pub(super) fn text(&self) -> String {
        self.parts.concat()
    }

    /// Returns the state, whatever the line ends: a file with another text is stale in a plugin of another version, and otherwise edited.
    pub(super) fn state(&self, project: &Project<'_>) -> Result<RecipeState> {
        Ok(match project.read(self.path)? {
            None => RecipeState::Missing,
            Some(text) if text.replace("\r\n", "\n") == self.text() => RecipeState::Current,
            Some(_) if self.is_other_version(project)? => RecipeState::Stale,
            Some(_) => RecipeState::Edited,
        })
    }

    fn is_other_version(&self, project: &Project<'_>) -> Result<bool> {
        Ok(self.plugin_version(project)?.is_some_and(|version| version != env!("CARGO_PKG_VERSION")))
    }

    /// Returns the version in the plugin's manifest; `None` if there is no manifest of a plugin of qipu.
    pub(super) fn plugin_version(&self, project: &Project<'_>) -> Result<Option<String>> {
        let manifest = project.read(self.manifest)?.unwrap_or_default();
        let manifest: Json = serde_json::from_str(&manifest).unwrap_or_default();
        let field = |name: &str| manifest.get(name).and_then(Json::as_str);
        Ok(field("version").filter(|_| field("name") == Some("qipu")).map(str::to_owned))
    }

    /// Returns the file's text before and after it is written or removed.
    pub(super) fn change(&self, project: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        let (old, state) = (project.read(self.path)?, self.state(project)?);
        if state == RecipeState::Edited && !project.is_forced {
            let path = project.shown(self.path);
            let message = format!("{path} is not what this version of qipu writes");
            return Err(Error::failure(message).hint("use --force to change it anyway"));
        }
        if state == RecipeState::Current && !is_removal {
            return Ok((old.clone(), old));
        }
        Ok((old, (!is_removal).then(|| self.text())))
    }
}
