//! Set-up recipes: what teaches agent tools about qipu, one file each.
//!
//! Users own the files that recipes write into. Only the section between our markers is ours.

mod agents_md;
mod section;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::store::files;
use section::{Section, insert};

/// What a recipe writes, and where.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// The name that `qipu setup` takes.
    pub name: &'static str,
    /// What it does, in half a sentence.
    pub about: &'static str,
    /// The file it writes into, relative to the project's root.
    pub path: &'static str,
    /// The text between the markers.
    pub text: &'static str,
}

/// Every recipe, in the order in which they are listed.
pub static RECIPES: [Recipe; 1] = [agents_md::RECIPE];

/// How a recipe stands in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its section is not there.
    Missing,
    /// Its section is there with another text.
    Stale,
    /// Its section is there as it should be.
    Current,
}

impl State {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Stale => "stale",
            Self::Current => "current",
        }
    }
}

impl Recipe {
    /// Tells how the recipe stands in the project at `root`.
    ///
    /// # Errors
    /// When its file can't be read, or the section in it has no end.
    pub fn state(&self, root: &Path) -> Result<State> {
        let Some(text) = files::read_if_there(&self.file(root)?)? else {
            return Ok(State::Missing);
        };
        Ok(match self.section(&text)? {
            None => State::Missing,
            Some(section) if section.with_text(self.text) == text => State::Current,
            Some(_) => State::Stale,
        })
    }

    /// Writes the section, or brings it up to date. Returns the state before.
    ///
    /// # Errors
    /// When its file can't be read or written; it is then as it was.
    pub fn install(&self, root: &Path) -> Result<State> {
        let state = self.state(root)?;
        let file = self.file(root)?;
        let old = files::read_if_there(&file)?;
        let new = match (&old, state) {
            (_, State::Current) => return Ok(state),
            (Some(old), State::Stale) => match self.section(old)? {
                Some(section) => section.with_text(self.text),
                None => insert(Some(old), self.text),
            },
            (old, _) => insert(old.as_deref(), self.text),
        };
        files::replace(&file, new.as_bytes())?;
        Ok(state)
    }

    /// Takes the section out again, and the file where qipu made it and nothing else is in it.
    /// Returns whether there was anything to take out.
    ///
    /// # Errors
    /// When its file can't be read or written; it is then as it was.
    pub fn remove(&self, root: &Path) -> Result<bool> {
        let file = self.file(root)?;
        let Some(text) = files::read_if_there(&file)? else {
            return Ok(false);
        };
        let Some(section) = self.section(&text)? else {
            return Ok(false);
        };
        match section.taken_out() {
            Some(rest) => files::replace(&file, rest.as_bytes())?,
            None => files::remove(&file)?,
        }
        Ok(true)
    }

    fn section<'t>(&self, text: &'t str) -> Result<Option<Section<'t>>> {
        Section::find(text).with_context(|| format!("{} holds a damaged qipu section", self.path))
    }

    /// Returns the file's real path; a symbolic link may lead elsewhere inside the project only.
    fn file(&self, root: &Path) -> Result<PathBuf> {
        let path = root.join(self.path);
        if !path.is_symlink() {
            return Ok(path);
        }
        let target = path.canonicalize().with_context(|| format!("can't follow {}", self.path))?;
        let root = root.canonicalize().context("can't find the project's root")?;
        if !target.starts_with(root) {
            bail!("{} is a symbolic link that leaves the project", self.path);
        }
        Ok(target)
    }
}
