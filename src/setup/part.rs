//! The parts that recipes are made of: how each is looked for, written and taken out again.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::section::{Marks, Section, insert};
use super::{Place, State};
use crate::error::{Error, ErrorKind};
use crate::store::{diff, files, git};

/// One thing that a recipe writes.
#[derive(Debug)]
pub(super) enum Part {
    /// Lines in a file that belongs to the user.
    Section(SectionPart),
    /// Settings of the repository that holds the store: keys and values.
    GitConfig(&'static [(&'static str, &'static str)]),
}

/// Lines in a file that belongs to the user.
#[derive(Debug)]
pub(super) struct SectionPart {
    /// Where the file's path begins.
    pub(super) folder: Folder,
    /// The file.
    pub(super) path: &'static str,
    /// What stands around the lines.
    pub(super) marks: &'static Marks,
    /// The lines.
    pub(super) text: &'static str,
}

/// Where the path of a file begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folder {
    /// In the project's root.
    Project,
    /// In the store.
    Store,
}

impl Part {
    pub(super) fn state(&self, place: &Place<'_>) -> Result<State, Error> {
        match self {
            Self::Section(section) => section.state(place),
            Self::GitConfig(settings) => Ok(settings_state(settings, place)),
        }
    }

    /// Fails where it is clear from the start that the part can't be written.
    pub(super) fn expect_possible(&self, place: &Place<'_>) -> Result<(), Error> {
        match self {
            Self::Section(section) => section.file(place).map(|_| ()),
            Self::GitConfig(_) => git::expect_work_tree(&place.store()?).map_err(|error| {
                Error::new(ErrorKind::Failure, format!("{error:#}"))
                    .hint("it needs git, and a repository that holds the store: `git init` makes one")
            }),
        }
    }

    pub(super) fn install(&self, place: &Place<'_>) -> Result<(), Error> {
        match self {
            Self::Section(section) => section.install(place),
            Self::GitConfig(settings) => set(settings, place),
        }
    }

    pub(super) fn remove(&self, place: &Place<'_>) -> Result<bool, Error> {
        match self {
            Self::Section(section) => section.remove(place),
            Self::GitConfig(settings) => unset(settings, place),
        }
    }

    /// Shows what installing the part would change, or taking it out: a file's difference, or the commands
    /// that would change the settings. Nothing where it would change nothing.
    pub(super) fn preview(&self, place: &Place<'_>, is_removal: bool) -> Result<Option<String>, Error> {
        match self {
            Self::Section(section) => {
                let (old, new) = section.change(place, is_removal)?;
                Ok((old != new).then(|| diff(&self.path(place), old.as_deref(), new.as_deref())))
            }
            Self::GitConfig(settings) => {
                let commands = commands_left(settings, place, is_removal);
                Ok((!commands.is_empty()).then_some(commands))
            }
        }
    }

    /// Names the part in a sentence.
    pub(super) fn describe(&self, place: &Place<'_>) -> String {
        match self {
            Self::Section(_) => format!("the section in {}", self.path(place)),
            Self::GitConfig(_) => "the setting in the repository's git configuration".to_owned(),
        }
    }

    /// Returns the file that the part is in, relative to the project's root.
    pub(super) fn path(&self, place: &Place<'_>) -> String {
        match self {
            Self::Section(SectionPart { folder: Folder::Store, path, .. }) => {
                let store = place.shown_store();
                format!("{}{path}", store.strip_prefix("./").unwrap_or(&store))
            }
            Self::Section(SectionPart { path, .. }) => (*path).to_owned(),
            Self::GitConfig(_) => ".git/config".to_owned(),
        }
    }

    /// Returns what the part writes, settings as commands for a shell.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Section(section) => section.text.to_owned(),
            Self::GitConfig(settings) => settings.iter().map(|(key, value)| command(key, value)).collect(),
        }
    }
}

impl SectionPart {
    fn state(&self, place: &Place<'_>) -> Result<State, Error> {
        let Some(file) = self.file_if_possible(place)? else { return Ok(State::Missing) };
        let Some(text) = files::read_if_there(&file)? else {
            return Ok(State::Missing);
        };
        Ok(match self.section(&text)? {
            None => State::Missing,
            Some(section) if section.with_text(self.text) == text => State::Current,
            Some(_) => State::Stale,
        })
    }

    fn install(&self, place: &Place<'_>) -> Result<(), Error> {
        let (old, new) = self.change(place, false)?;
        if let Some(new) = new.filter(|new| old.as_ref() != Some(new)) {
            files::replace(&self.file(place)?, new.as_bytes())?;
        }
        Ok(())
    }

    /// Takes the section out again, and the file where qipu made it and nothing else is in it.
    fn remove(&self, place: &Place<'_>) -> Result<bool, Error> {
        match self.change(place, true)? {
            (old, new) if old == new => return Ok(false),
            (_, Some(rest)) => files::replace(&self.file(place)?, rest.as_bytes())?,
            (_, None) => files::remove(&self.file(place)?)?,
        }
        Ok(true)
    }

    /// Returns the file's text before and after; none where there is no file.
    fn change(&self, place: &Place<'_>, is_removal: bool) -> Result<(Option<String>, Option<String>), Error> {
        let file = if is_removal { self.file_if_possible(place)? } else { Some(self.file(place)?) };
        let Some(file) = file else { return Ok((None, None)) };
        let old = files::read_if_there(&file)?;
        let section = old.as_deref().map(|old| self.section(old)).transpose()?.flatten();
        let new = match (section, is_removal) {
            (Some(section), false) => Some(section.with_text(self.text)),
            (None, false) => Some(insert(self.marks, old.as_deref(), self.text)),
            (Some(section), true) => section.taken_out(),
            (None, true) => old.clone(),
        };
        Ok((old, new))
    }

    fn section<'t>(&self, text: &'t str) -> Result<Option<Section<'t>>> {
        Section::find(self.marks, text).with_context(|| format!("{} holds a damaged qipu section", self.path))
    }

    /// Returns the file, or nothing where it would be in a store and there is none.
    fn file_if_possible(&self, place: &Place<'_>) -> Result<Option<PathBuf>, Error> {
        match self.file(place) {
            Err(error) if error.kind == ErrorKind::NoStore => Ok(None),
            file => file.map(Some),
        }
    }

    /// Returns the file's real path; a symbolic link may lead elsewhere inside its folder only.
    fn file(&self, place: &Place<'_>) -> Result<PathBuf, Error> {
        let (folder, name) = match self.folder {
            Folder::Project => (place.root.clone(), "project"),
            Folder::Store => (place.store()?, "store"),
        };
        Ok(inside(&folder, self.path, name)?)
    }
}

fn inside(folder: &std::path::Path, name: &str, what: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    if !path.is_symlink() {
        return Ok(path);
    }
    let target = path.canonicalize().with_context(|| format!("can't follow {name}"))?;
    let folder = folder.canonicalize().with_context(|| format!("can't find the {what}'s root"))?;
    if !target.starts_with(folder) {
        bail!("{name} is a symbolic link that leaves the {what}");
    }
    Ok(target)
}

type Settings = [(&'static str, &'static str)];

/// Writes the command for a shell that sets a setting.
fn command(key: &str, value: &str) -> String {
    format!("git config {key} '{}'\n", value.replace('\'', "'\\''"))
}

/// Writes the commands that are still to be run, one a line.
fn commands_left(settings: &Settings, place: &Place<'_>, is_removal: bool) -> String {
    let store = place.store().ok();
    let have = |key: &str| store.as_ref().and_then(|store| git::config(store, key).ok()).unwrap_or_default();
    let left = settings.iter().filter_map(|(key, value)| match (have(key).as_slice(), is_removal) {
        ([], true) => None,
        (_, true) => Some(format!("git config --unset-all {key}\n")),
        ([have], false) if have == value => None,
        ([] | [_], false) => Some(command(key, value)),
        (_, false) => Some(command(key, value).replacen("config", "config --replace-all", 1)),
    });
    left.collect()
}

/// Tells how settings stand. Where there is no store, no repository or no git, they are missing.
fn settings_state(settings: &Settings, place: &Place<'_>) -> State {
    let Ok(store) = place.store() else { return State::Missing };
    let states: Vec<State> = settings
        .iter()
        .map(|(key, value)| match git::config(&store, key).unwrap_or_default().as_slice() {
            [] => State::Missing,
            [have] if have == value => State::Current,
            _ => State::Stale,
        })
        .collect();
    [State::Missing, State::Stale].into_iter().find(|state| states.contains(state)).unwrap_or(State::Current)
}

fn set(settings: &Settings, place: &Place<'_>) -> Result<(), Error> {
    let store = place.store()?;
    for (key, value) in settings {
        if git::config(&store, key)? != [*value] {
            git::set_config(&store, key, Some(value))?;
        }
    }
    Ok(())
}

fn unset(settings: &Settings, place: &Place<'_>) -> Result<bool, Error> {
    let Ok(store) = place.store() else { return Ok(false) };
    let mut found = false;
    for (key, _) in settings {
        if !git::config(&store, key).unwrap_or_default().is_empty() {
            git::set_config(&store, key, None)?;
            found = true;
        }
    }
    Ok(found)
}
