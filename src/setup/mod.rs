//! Set-up recipes: what teaches agent tools and git about qipu, one file each.
//!
//! Users own the files that recipes write into. Only the section between our markers is ours.

mod agents_md;
mod entry;
mod git;
mod item;
mod json;
mod mcp;
mod part;
mod section;
mod splice;
mod tools;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::store::{Location, find_root, project_root, relative_to};
use part::Part;

/// What is written into a project, and where.
#[derive(Debug)]
pub struct Recipe {
    /// The name that `qipu setup` takes.
    pub name: &'static str,
    /// What it does, in half a sentence.
    pub about: &'static str,
    /// What it is made of; the first is the one it is known by.
    parts: &'static [Part],
    /// Files and folders in a project that show that it is of use there.
    signs: &'static [&'static str],
}

/// Every recipe, in the order in which they are listed.
pub static RECIPES: [Recipe; 14] = [
    agents_md::RECIPE,
    tools::CLAUDE,
    tools::CODEX,
    tools::GEMINI,
    tools::CURSOR,
    tools::COPILOT,
    tools::WINDSURF,
    tools::OPENCODE,
    tools::AIDER,
    tools::ZED,
    tools::JUNIE,
    tools::CLINE,
    mcp::RECIPE,
    git::RECIPE,
];

/// How a recipe, or a part of one, stands in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is not there.
    Missing,
    /// It is there, and somebody changed it.
    Edited,
    /// It is there, and says something else.
    Stale,
    /// It is there as it should be.
    Current,
}

impl State {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Edited => "edited",
            Self::Stale => "stale",
            Self::Current => "current",
        }
    }
}

/// Where recipes are set up.
#[derive(Debug)]
pub struct Place<'a> {
    /// The project's root.
    root: PathBuf,
    location: &'a Location,
    current_dir: &'a Path,
    /// Whether what somebody changed may be written over.
    is_forced: bool,
}

impl<'a> Place<'a> {
    /// Finds the project: the one that is named, else the one around the current directory.
    pub fn find(location: &'a Location, current_dir: &'a Path, is_forced: bool) -> Self {
        let root = match &location.root {
            Some(root) => current_dir.join(root),
            None => project_root(current_dir),
        };
        Self { root, location, current_dir, is_forced }
    }

    /// Returns the folder of the project's store.
    fn store(&self) -> Result<PathBuf, Error> {
        find_root(self.location, self.current_dir)
    }

    /// Returns the store's path relative to the project's root, ending in `/`.
    fn shown_store(&self) -> String {
        self.store().map_or_else(|_| ".qipu/".to_owned(), |store| relative_to(&store, &self.root))
    }
}

/// Returns the folders of a project that recipes write into. None leads out of it.
pub fn folders(place: &Place<'_>) -> BTreeSet<PathBuf> {
    let Ok(root) = place.root.canonicalize() else { return BTreeSet::new() };
    let parts = RECIPES.iter().flat_map(|recipe| recipe.parts).filter(|part| !part.is_in_store());
    let folders = parts.filter_map(|part| root.join(part.path(place)).parent()?.canonicalize().ok());
    folders.chain([root.clone()]).filter(|folder| folder.starts_with(&root)).collect()
}

impl Recipe {
    /// Tells whether the project shows signs of what the recipe is for.
    pub fn fits(&self, place: &Place<'_>) -> bool {
        let has_place = place.store().is_ok() || !self.parts.iter().any(Part::is_in_store);
        has_place && self.signs.iter().any(|sign| place.root.join(sign).symlink_metadata().is_ok())
    }

    /// Tells how the recipe stands: missing when a part of it is, else edited when a part is, else stale
    /// when a part is.
    ///
    /// # Errors
    /// When a file can't be read, or the section in it has no end.
    pub fn state(&self, place: &Place<'_>) -> Result<State, Error> {
        Ok(self.first_flaw(place)?.map_or(State::Current, |(_, state)| state))
    }

    /// Says what keeps the recipe from being current, in a sentence.
    ///
    /// # Errors
    /// As [`Recipe::state`].
    pub fn flaw(&self, place: &Place<'_>) -> Result<Option<String>, Error> {
        let flaw = self.first_flaw(place)?;
        Ok(flaw.map(|(part, state)| format!("{} is {}", part.describe(place), state.name())))
    }

    /// Returns the parts that are of use in the project.
    fn wanted(&self, place: &Place<'_>) -> impl Iterator<Item = &'static Part> {
        self.parts.iter().filter(|part| part.is_wanted(place))
    }

    fn first_flaw(&self, place: &Place<'_>) -> Result<Option<(&'static Part, State)>, Error> {
        let mut flaws = Vec::new();
        for part in self.wanted(place) {
            flaws.push((part, part.state(place)?));
        }
        let first = |state: State| flaws.iter().find(|(_, found)| *found == state).copied();
        Ok(first(State::Missing).or_else(|| first(State::Edited)).or_else(|| first(State::Stale)))
    }

    /// Writes every part, or brings it up to date. Returns the state before.
    ///
    /// # Errors
    /// When a part can't be written; those before it are, unless it was clear from the start.
    pub fn install(&self, place: &Place<'_>) -> Result<State, Error> {
        // What is put in for one part is no reason for another.
        let parts: Vec<_> = self.wanted(place).collect();
        parts.iter().try_for_each(|part| part.expect_possible(place))?;
        let state = self.state(place)?;
        parts.iter().try_for_each(|part| part.install(place))?;
        Ok(state)
    }

    /// Shows what installing the recipe would change, or taking it out: files, each with its difference.
    ///
    /// # Errors
    /// As those.
    pub fn preview(&self, place: &Place<'_>, is_removal: bool) -> Result<Vec<(String, String)>, Error> {
        if !is_removal {
            self.wanted(place).try_for_each(|part| part.expect_possible(place))?;
        }
        let parts = self.parts.iter().filter(|part| is_removal || part.is_wanted(place));
        let previews = parts.map(|part| Ok((part.path(place), part.preview(place, is_removal)?)));
        let previews: Result<Vec<(String, Option<String>)>, Error> = previews.collect();
        Ok(previews?.into_iter().filter_map(|(path, diff)| Some((path, diff?))).collect())
    }

    /// Takes every part out again. Returns whether there was anything to take out.
    ///
    /// # Errors
    /// When a part can't be taken out; it is then as it was.
    pub fn remove(&self, place: &Place<'_>) -> Result<bool, Error> {
        let mut found = false;
        self.parts.iter().try_for_each(|part| part.preview(place, true).map(|_| ()))?;
        // What was written last remembers least.
        for part in self.parts.iter().rev() {
            found |= part.remove(place)?;
        }
        Ok(found)
    }

    /// Returns what the recipe writes.
    pub fn text(&self) -> String {
        match self.parts {
            [part] => part.text(),
            parts => parts.iter().map(Part::text).collect::<Vec<_>>().join("\n"),
        }
    }

    /// Returns the file the recipe is known by, relative to the project's root.
    pub fn path(&self, place: &Place<'_>) -> String {
        self.parts.first().map_or_else(String::new, |part| part.path(place))
    }
}
