//! A managed section in a file of the user's.

use std::path::PathBuf;

use anyhow::Result;

use super::claude_md;
use super::hook_step::HookStep;
use super::managed_section::{MARKDOWN, ManagedSection, MarkerStyle, OpeningMarker, insert};
use super::project::{Project, TextChange, edited, resolve_inside};
use super::{RecipeState, folders_to_make};
use crate::error::{Error, ErrorKind};
use crate::store::files;

/// A section in a file of the user's.
#[derive(Debug)]
pub(super) struct SectionStep {
    /// The folder to which the path is relative.
    pub(super) folder: BaseFolder,
    /// The path of the file.
    pub(super) path: &'static str,
    /// The syntax of the markers.
    pub(super) style: &'static MarkerStyle,
    /// The lines between the markers.
    pub(super) text: &'static str,
    /// The beginning of a file that is created for the section.
    pub(super) head: &'static str,
    /// The recipe's name, if several recipes can share the section: the file may be a link to that of another tool.
    pub(super) user: &'static str,
    /// The hooks of the same recipe, whose prior state is stored in the marker.
    pub(super) hook: Option<&'static HookStep>,
    /// The file that contains the section instead if [`claude_md::choose`] says so.
    pub(super) other: Option<&'static str>,
}

/// Which of two files contains the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placement {
    /// That of the step.
    Here,
    /// The other one.
    Elsewhere,
    /// Both: one is a symbolic link to the other, and the section is left to the step of the other.
    Linked,
}

/// The defaults: a markdown section of one recipe, in the project.
pub(super) const SECTION: SectionStep = SectionStep {
    folder: BaseFolder::Project,
    path: "",
    style: &MARKDOWN,
    text: "",
    head: "",
    user: "",
    hook: None,
    other: None,
};

/// The folder to which a path is relative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseFolder {
    /// The project's root.
    Project,
    /// The store.
    Store,
}

/// The file whose section several recipes share.
const SHARED_PATH: &str = "AGENTS.md";
/// The recipe that uses the shared section if its marker names none.
const DEFAULT_USER: &str = "agents-md";

/// The store in the texts of sections.
const DEFAULT_STORE: &str = ".qipu/";

impl SectionStep {
    pub(super) fn state(&self, project: &Project<'_>) -> Result<RecipeState, Error> {
        let state = self.state_here(project)?;
        Ok(match (self.placement(project)?, state) {
            (Placement::Linked, _) | (Placement::Elsewhere, RecipeState::Missing) => RecipeState::Current,
            (Placement::Elsewhere, RecipeState::Current) => RecipeState::Stale,
            (Placement::Here, RecipeState::Missing) if self.is_in_other(project)? => RecipeState::Stale,
            (_, state) => state,
        })
    }

    /// Returns the state of the section in the step's own file.
    fn state_here(&self, project: &Project<'_>) -> Result<RecipeState, Error> {
        let Some(text) = self.read(project)? else { return Ok(RecipeState::Missing) };
        let section = self.find(&text)?;
        Ok(match section {
            None => RecipeState::Missing,
            Some(section) if !self.is_used(&section.marker) => RecipeState::Missing,
            Some(section) if section.has_text(&self.text(project)) => RecipeState::Current,
            Some(section) if section.is_edited() => RecipeState::Edited,
            Some(_) => RecipeState::Stale,
        })
    }

    /// Returns why the section is stale, if the reason is not its text.
    pub(super) fn reason(&self, project: &Project<'_>) -> Result<Option<&'static str>, Error> {
        let is_moved = match self.placement(project)? {
            Placement::Here => self.other.is_some() && self.state_here(project)? == RecipeState::Missing,
            Placement::Elsewhere => true,
            Placement::Linked => false,
        };
        Ok(is_moved.then_some(claude_md::REASON))
    }

    /// Tells whether the section belongs into this file in the project.
    pub(super) fn is_chosen(&self, project: &Project<'_>) -> bool {
        self.other.is_none() || claude_md::choose(project).map_or(true, |path| path == self.path)
    }

    fn placement(&self, project: &Project<'_>) -> Result<Placement, Error> {
        if self.other.is_none() {
            return Ok(Placement::Here);
        }
        Ok(match claude_md::choose(project)? {
            path if path == self.path => Placement::Here,
            path if project.is_same_file(path, self.path) => Placement::Linked,
            _ => Placement::Elsewhere,
        })
    }

    /// Tells whether the other file contains a section that this recipe uses.
    fn is_in_other(&self, project: &Project<'_>) -> Result<bool, Error> {
        let Some(path) = self.other else { return Ok(false) };
        let other = Self { path, other: None, hook: None, ..*self };
        Ok(other.state_here(project)? != RecipeState::Missing)
    }

    /// Returns the lines between the markers, which name the store of the project.
    pub(super) fn text(&self, project: &Project<'_>) -> String {
        self.text.replace(DEFAULT_STORE, project.own_store())
    }

    /// Tells whether this recipe uses the section. A marker without users belongs to the recipe, except in the shared
    /// file, where it belongs to [`DEFAULT_USER`].
    fn is_used(&self, marker: &OpeningMarker) -> bool {
        let has = |name: &str| marker.users.iter().any(|user| user == name);
        let is_default = self.path != SHARED_PATH || self.user == DEFAULT_USER;
        self.user.is_empty() || has(self.user) || (marker.users.is_empty() && is_default)
    }

    pub(super) fn marker(&self, project: &Project<'_>) -> Result<Option<OpeningMarker>, Error> {
        let text = self.read(project)?;
        let section = text.as_deref().map(|text| self.find(text)).transpose()?.flatten();
        Ok(section.map(|section| section.marker))
    }

    /// Returns the file's text before and after the section is installed or removed. One that belongs into another file
    /// is removed.
    pub(super) fn change(&self, project: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        let is_removal = match self.placement(project)? {
            Placement::Here => is_removal,
            Placement::Elsewhere => true,
            Placement::Linked => return Ok((None, None)),
        };
        let old = if is_removal { self.read(project)? } else { files::read_if_there(&self.file(project)?)? };
        let section = old.as_deref().map(|old| self.find(old)).transpose()?.flatten();
        let new = match (section, is_removal) {
            (Some(section), false) => Some(self.updated(&section, project)?),
            (None, false) => Some(self.inserted(old.as_deref(), project)?),
            (Some(section), true) => self.removed(&section, old.as_deref(), project)?,
            (None, true) => old.clone(),
        };
        Ok((old, new))
    }

    /// Returns the text with a new section at its end.
    fn inserted(&self, old: Option<&str>, project: &Project<'_>) -> Result<String, Error> {
        let users = Some(self.user).filter(|user| !user.is_empty()).map(str::to_owned).into_iter().collect();
        let folders = folders_to_make(project, &self.file(project)?, self.path)?;
        let marker = self.noted(OpeningMarker { users, folders, ..OpeningMarker::default() }, project)?;
        Ok(insert(self.style, old, self.head, &self.text(project), marker))
    }

    /// Returns the text with the section up to date.
    fn updated(&self, section: &ManagedSection<'_>, project: &Project<'_>) -> Result<String, Error> {
        let text = self.text(project);
        let has_text = section.has_text(&text);
        if !has_text && section.is_edited() && !project.is_forced {
            return Err(edited(format!("the section in {}", self.path)));
        }
        let mut marker = section.marker.clone();
        if marker.users.is_empty() && !self.is_used(&marker) {
            marker.users.push(DEFAULT_USER.to_owned());
        }
        let marker = self.noted(marker, project)?;
        // An up-to-date section keeps every byte, whatever the version that wrote it.
        let is_current = has_text && marker == section.marker;
        Ok(if is_current { section.file.to_owned() } else { section.with_text(&text, &marker) })
    }

    /// Adds the recipe to the users of a marker, and what exists before its hooks are installed.
    fn noted(&self, mut marker: OpeningMarker, project: &Project<'_>) -> Result<OpeningMarker, Error> {
        if !self.user.is_empty() && !self.is_used(&marker) {
            marker.users.push(self.user.to_owned());
        }
        if let Some(hook) = self.hook {
            let settings = hook.settings_to_restore(project)?;
            if marker.settings_of(self.user).unwrap_or_default() != settings {
                marker.settings.retain(|(name, _)| name != self.user);
                marker.settings.push((self.user.to_owned(), settings));
            }
        }
        Ok(marker)
    }

    /// Returns the text without the section, or with this recipe removed from its users if there are others.
    fn removed(
        &self,
        section: &ManagedSection<'_>,
        old: Option<&str>,
        project: &Project<'_>,
    ) -> Result<Option<String>, Error> {
        if !self.is_used(&section.marker) {
            return Ok(old.map(str::to_owned));
        }
        let mut marker = section.marker.clone();
        marker.users.retain(|name| name != self.user);
        marker.settings.retain(|(name, _)| name != self.user);
        if !marker.users.is_empty() {
            return Ok(Some(section.with_marker(&marker)));
        }
        if section.is_edited() && !project.is_forced {
            return Err(edited(format!("the section in {}", self.path)));
        }
        Ok(section.removed(self.head))
    }

    fn find<'t>(&self, text: &'t str) -> Result<Option<ManagedSection<'t>>> {
        ManagedSection::find_in(self.path, self.style, text)
    }

    /// Returns the file's text; `None` if there is no file, or no store for it.
    fn read(&self, project: &Project<'_>) -> Result<Option<String>, Error> {
        match self.file(project) {
            Err(error) if error.kind == ErrorKind::NoStore => Ok(None),
            file => Ok(files::read_if_there(&file?)?),
        }
    }

    pub(super) fn file(&self, project: &Project<'_>) -> Result<PathBuf, Error> {
        let (folder, name) = match self.folder {
            BaseFolder::Project => (project.root.clone(), "project"),
            BaseFolder::Store => (project.store()?, "store"),
        };
        Ok(resolve_inside(&folder, self.path, name)?)
    }
}
