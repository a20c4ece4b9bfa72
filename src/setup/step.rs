//! The parts that recipes are made of: how each is looked for, written and taken out again.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::entry;
use super::hook_step::{self as json, HookStatus};
use super::managed_section::{MARKDOWN, ManagedSection, MarkerStyle, OpeningMarker, insert};
use super::server_step::ServerPart;
use super::yaml_item::ListItem;
use super::{Project, RECIPES, RecipeState};
use crate::error::{Error, ErrorKind};
use crate::store::{diff, files, git};

/// One thing that a recipe writes.
#[derive(Debug)]
pub(super) enum RecipeStep {
    /// Lines in a file that belongs to the user.
    Section(SectionPart),
    /// A hook in a tool's JSON settings.
    Hook(HookPart),
    /// A server in a tool's JSON settings.
    Entry(ServerPart),
    /// Settings of the repository that holds the store: keys and values.
    GitConfig(&'static [(&'static str, &'static str)]),
}

/// Lines in a file that belongs to the user.
#[derive(Debug)]
pub(super) struct SectionPart {
    /// Where the file's path begins.
    pub(super) folder: BaseFolder,
    /// The file.
    pub(super) path: &'static str,
    /// What stands around the lines.
    pub(super) marks: &'static MarkerStyle,
    /// The lines.
    pub(super) text: &'static str,
    /// What a file begins with that is made for them.
    pub(super) head: &'static str,
    /// The recipe, where several can share the section: a file may be a link to that of another tool.
    pub(super) user: &'static str,
    /// What the lines say, as an item of a list: where the user sets that list, the item goes in there.
    pub(super) item: Option<ListItem>,
    /// The hook of the same recipe, whose state before is kept in the marker.
    pub(super) hook: Option<&'static HookPart>,
}

/// A section that a recipe has for itself, in the project.
pub(super) const SECTION: SectionPart = SectionPart {
    folder: BaseFolder::Project,
    path: "",
    marks: &MARKDOWN,
    text: "",
    head: "",
    user: "",
    item: None,
    hook: None,
};

/// A hook in a tool's JSON settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookPart {
    /// The file.
    pub(super) path: &'static str,
    /// The hook, as JSON.
    pub(super) hook: &'static str,
    /// The file with the section whose marker remembers what was there before.
    pub(super) keeper: &'static str,
    /// The recipe, under whose name it is remembered.
    pub(super) user: &'static str,
}

/// Where the path of a file begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseFolder {
    /// In the project's root.
    Project,
    /// In the store.
    Store,
}

/// What happened to a file, or would.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// Its path, relative to the project's root.
    pub path: String,
    /// What became of it: created, changed or deleted.
    pub action: &'static str,
    /// The difference, where it is only shown.
    pub diff: Option<String>,
}

/// A file's text before and after; none where there is no file.
pub(super) type TextChange = (Option<String>, Option<String>);

impl RecipeStep {
    /// Tells whether it is written into the store.
    pub(super) fn is_in_store(&self) -> bool {
        matches!(self, Self::Section(SectionPart { folder: BaseFolder::Store, .. }))
    }

    /// Tells whether installing the recipe here writes it. What is not wanted is taken out all the same.
    pub(super) fn is_wanted(&self, place: &Project<'_>) -> bool {
        match self {
            Self::Entry(server) => server.is_wanted(place),
            _ => true,
        }
    }

    pub(super) fn state(&self, place: &Project<'_>) -> Result<RecipeState, Error> {
        match self {
            Self::Section(section) => section.state(place),
            Self::Hook(hook) => hook.state(place),
            Self::Entry(server) => server.state(place),
            Self::GitConfig(settings) => Ok(settings_state(settings, place)),
        }
    }

    /// Fails where it is clear from the start that the part can't be written.
    pub(super) fn expect_possible(&self, place: &Project<'_>) -> Result<(), Error> {
        match self {
            Self::Section(section) => section.change(place, false).map(|_| ()),
            Self::Hook(hook) => hook.change(place, false).map(|_| ()),
            Self::Entry(server) => server.change(place, false).map(|_| ()),
            Self::GitConfig(_) => git::expect_work_tree(&place.store()?).map_err(|error| {
                Error::new(ErrorKind::Failure, format!("{error:#}"))
                    .hint("it needs git, and a repository that holds the store: `git init` makes one")
            }),
        }
    }

    /// Writes the part, or brings it up to date. Returns how its file changed, if it did.
    pub(super) fn install(&self, place: &Project<'_>) -> Result<Option<FileChange>, Error> {
        let action = match self {
            Self::Section(section) => put(section.change(place, false)?, || section.file(place), place)?,
            Self::Hook(hook) => put(hook.change(place, false)?, || hook.file(place), place)?,
            Self::Entry(server) => put(server.change(place, false)?, || server.file(place), place)?,
            Self::GitConfig(settings) => set(settings, place)?,
        };
        Ok(action.map(|action| self.changed(action, None, place)))
    }

    /// Takes the part out again, and a file that was made for it where nothing else is in it. Returns how its file
    /// changed, if it did.
    pub(super) fn remove(&self, place: &Project<'_>) -> Result<Option<FileChange>, Error> {
        let action = match self {
            Self::Section(section) => {
                let folders = section.marker(place)?.map_or(0, |marker| marker.folders);
                take_out(section.change(place, true)?, || section.file(place), folders, place)?
            }
            Self::Hook(hook) => {
                let folders = hook.made(place)?.1;
                take_out(hook.change(place, true)?, || hook.file(place), folders, place)?
            }
            Self::Entry(server) => {
                let folders = server.folders_made(place)?;
                take_out(server.change(place, true)?, || server.file(place), folders, place)?
            }
            Self::GitConfig(settings) => unset(settings, place)?,
        };
        Ok(action.map(|action| self.changed(action, None, place)))
    }

    /// Shows what installing the part would change, or taking it out: a file's difference, or the commands
    /// that would change the settings. Nothing where it would change nothing.
    pub(super) fn preview(&self, place: &Project<'_>, is_removal: bool) -> Result<Option<FileChange>, Error> {
        let change = match self {
            Self::Section(section) => section.change(place, is_removal)?,
            Self::Hook(hook) => hook.change(place, is_removal)?,
            Self::Entry(server) => server.change(place, is_removal)?,
            Self::GitConfig(settings) => {
                let commands = commands_left(settings, place, is_removal);
                let change = || self.changed("changed", Some(commands.clone()), place);
                return Ok((!commands.is_empty()).then(change));
            }
        };
        let (old, new) = (change.0.as_deref(), change.1.as_deref());
        let diff = || diff(&self.path(place), old, new);
        Ok(action(&change).map(|action| self.changed(action, Some(diff()), place)))
    }

    fn changed(&self, action: &'static str, diff: Option<String>, place: &Project<'_>) -> FileChange {
        FileChange { path: self.path(place), action, diff }
    }

    /// Names the part in a sentence.
    pub(super) fn describe(&self, place: &Project<'_>) -> String {
        match self {
            Self::Section(_) => format!("the section in {}", self.path(place)),
            Self::Hook(hook) => format!("the hook in {}", hook.path),
            Self::Entry(server) => format!("the server in {}", server.path(place)),
            Self::GitConfig(_) => "the setting in the repository's git configuration".to_owned(),
        }
    }

    /// Returns the file that the part is in, relative to the project's root.
    pub(super) fn path(&self, place: &Project<'_>) -> String {
        match self {
            Self::Section(SectionPart { folder: BaseFolder::Store, path, .. }) => {
                let store = place.shown_store();
                format!("{}{path}", store.strip_prefix("./").unwrap_or(&store))
            }
            Self::Section(SectionPart { path, .. }) | Self::Hook(HookPart { path, .. }) => (*path).to_owned(),
            Self::Entry(server) => server.path(place).to_owned(),
            Self::GitConfig(_) => ".git/config".to_owned(),
        }
    }

    /// Tells whether its file is in a folder of the project.
    fn is_below(&self, folder: &str, place: &Project<'_>) -> bool {
        !self.is_in_store() && self.path(place).starts_with(folder)
    }

    /// Tells whether the first folder on the way to its file was made for it.
    fn made_top_folder(&self, place: &Project<'_>) -> Result<bool, Error> {
        let depth = self.path(place).matches('/').count();
        Ok(match self {
            Self::Section(section) => section.marker(place)?.is_some_and(|marker| marker.folders >= depth),
            Self::Hook(hook) => hook.state(place)? != RecipeState::Missing && hook.made(place)?.1 >= depth,
            Self::Entry(server) => server.folders_made(place)? >= depth,
            Self::GitConfig(_) => false,
        })
    }

    /// Returns what the part writes, settings as commands for a shell.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Section(section) => format!("{}{}", section.head, section.text),
            Self::Hook(hook) => json::with(None, &hook.value()).unwrap_or_default(),
            Self::Entry(server) => server.text(),
            Self::GitConfig(settings) => settings.iter().map(|(key, value)| command(key, value)).collect(),
        }
    }
}

/// Returns the word for a change; `None` where nothing changes.
fn action(change: &TextChange) -> Option<&'static str> {
    match change {
        (None, Some(_)) => Some("created"),
        (Some(_), None) => Some("deleted"),
        (old, new) => (old != new).then_some("changed"),
    }
}

/// Writes a file of the project or the store, and the folders that it needs. Returns the word for it, if it did.
fn put(
    change: TextChange,
    file: impl FnOnce() -> Result<PathBuf, Error>,
    place: &Project<'_>,
) -> Result<Option<&'static str>, Error> {
    let action = action(&change);
    if let (Some(_), (old, Some(new))) = (action, change) {
        let file = file()?;
        files::make_folders(&file)?;
        place.replace(&file, old.as_deref(), &new)?;
    }
    Ok(action)
}

/// Replaces a file by what is left of it, or removes it, and so many folders above it that are empty then.
fn take_out(
    change: TextChange,
    file: impl FnOnce() -> Result<PathBuf, Error>,
    folders: usize,
    place: &Project<'_>,
) -> Result<Option<&'static str>, Error> {
    let action = action(&change);
    match change {
        (Some(old), None) => {
            let file = file()?;
            place.remove(&file, &old)?;
            files::remove_empty_folders(&file, folders);
        }
        (old, Some(rest)) if action.is_some() => place.replace(&file()?, old.as_deref(), &rest)?,
        _ => {}
    }
    Ok(action)
}

/// Refuses to write over what a person changed.
pub(super) fn edited(what: String) -> Error {
    Error::new(ErrorKind::Failure, format!("{what} was edited by hand")).hint("--force does it all the same")
}

impl SectionPart {
    fn state(&self, place: &Project<'_>) -> Result<RecipeState, Error> {
        let Some(file) = self.file_if_possible(place)? else { return Ok(RecipeState::Missing) };
        let Some(text) = files::read_if_there(&file)? else {
            return Ok(RecipeState::Missing);
        };
        let section = self.section(&text)?;
        // A file that our lines can't work in is not up to date, whatever they say.
        let has_item = self.has_item(&text)?;
        Ok(match section {
            None if has_item == Some(true) => RecipeState::Current,
            None => RecipeState::Missing,
            Some(section) if !self.is_used(&section.marker) => RecipeState::Missing,
            Some(section) if section.says(self.text) => RecipeState::Current,
            Some(section) if section.is_edited() => RecipeState::Edited,
            Some(_) => RecipeState::Stale,
        })
    }

    /// Tells whether this recipe wants the section. One that names nobody is of the recipe that the file is
    /// known by.
    fn is_used(&self, marker: &OpeningMarker) -> bool {
        let has = |name: &str| marker.users.iter().any(|user| user == name);
        let is_first = self.path != SHARED || self.user == FIRST_USER;
        self.user.is_empty() || has(self.user) || (marker.users.is_empty() && is_first)
    }

    /// Returns what the section's marker says.
    fn marker(&self, place: &Project<'_>) -> Result<Option<OpeningMarker>, Error> {
        let Some(file) = self.file_if_possible(place)? else { return Ok(None) };
        let text = files::read_if_there(&file)?;
        let section = text.as_deref().map(|text| self.section(text)).transpose()?.flatten();
        Ok(section.map(|section| section.marker))
    }

    /// Returns the file's text before and after.
    fn change(&self, place: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        let file = if is_removal { self.file_if_possible(place)? } else { Some(self.file(place)?) };
        let Some(file) = file else { return Ok((None, None)) };
        let old = files::read_if_there(&file)?;
        let section = old.as_deref().map(|old| self.section(old)).transpose()?.flatten();
        let new = match (section, is_removal) {
            (Some(section), false) => {
                let new = self.renewed(&section, place)?;
                if self.item.is_some() && self.has_item(&new)? != Some(true) {
                    return Err(self.not_edited(&anyhow!("the key can't be set where the qipu section is")));
                }
                Some(new)
            }
            (None, false) => {
                let text = old.as_deref();
                if let Some(new) = text.map(|text| self.with_item(text)).transpose()?.flatten() {
                    return Ok((old, Some(new)));
                }
                let users = Some(self.user).filter(|user| !user.is_empty()).map(str::to_owned).into_iter().collect();
                let marker = self.noted(
                    OpeningMarker {
                        users,
                        folders: folders_to_make(&file, self.path, place)?,
                        ..OpeningMarker::default()
                    },
                    place,
                )?;
                Some(insert(self.marks, text, self.head, self.text, marker))
            }
            (Some(section), true) => self.without(&section, old.as_deref(), place)?,
            (None, true) => self.without_item(old.as_deref())?,
        };
        Ok((old, new))
    }

    /// Returns the file with the section as it should be.
    fn renewed(&self, section: &ManagedSection<'_>, place: &Project<'_>) -> Result<String, Error> {
        if !section.says(self.text) && section.is_edited() && !place.is_forced {
            return Err(edited(format!("the section in {}", self.path)));
        }
        let mut marker = section.marker.clone();
        if marker.users.is_empty() && !self.is_used(&marker) {
            marker.users.push(FIRST_USER.to_owned());
        }
        let marker = self.noted(marker, place)?;
        // What is as it should be stays in every byte.
        match section.says(self.text) && marker == section.marker {
            true => Ok(section.whole()),
            false => Ok(section.with_text(self.text, &marker)),
        }
    }

    /// Returns a marker that remembers who wants the section, and what the recipe's hook finds.
    fn noted(&self, mut marker: OpeningMarker, place: &Project<'_>) -> Result<OpeningMarker, Error> {
        if !self.user.is_empty() && !self.is_used(&marker) {
            marker.users.push(self.user.to_owned());
        }
        if let Some(hook) = self.hook
            && hook.state(place)? == RecipeState::Missing
        {
            marker.remember(self.user, hook.found(place)?);
        }
        Ok(marker)
    }

    /// Returns the file without the section, or without this recipe's wish for it.
    fn without(
        &self,
        section: &ManagedSection<'_>,
        old: Option<&str>,
        place: &Project<'_>,
    ) -> Result<Option<String>, Error> {
        if !self.is_used(&section.marker) {
            return Ok(old.map(str::to_owned));
        }
        let mut marker = section.marker.clone();
        marker.forget(self.user);
        if !marker.users.is_empty() {
            return Ok(Some(section.with_marker(&marker)));
        }
        if section.is_edited() && !place.is_forced {
            return Err(edited(format!("the section in {}", self.path)));
        }
        Ok(section.taken_out(self.head))
    }

    /// Tells whether the file sets the list of the item, and whether that holds it.
    fn has_item(&self, text: &str) -> Result<Option<bool>, Error> {
        let is_in = self.item.map(|item| item.is_in(text)).transpose();
        Ok(is_in.map_err(|error| self.not_edited(&error))?.flatten())
    }

    /// Returns the text with the item in the list that the user sets; nothing where the section can set it.
    fn with_item(&self, text: &str) -> Result<Option<String>, Error> {
        let Some(item) = self.item else { return Ok(None) };
        let new = match self.has_item(text)? {
            // A file may be all in braces, or at its end.
            None if item.is_in(&format!("{text}\n{}", self.text)).is_ok_and(|is_in| is_in == Some(true)) => {
                return Ok(None);
            }
            None => Err(anyhow!("no key can be put below what is there")),
            Some(true) => Ok(text.to_owned()),
            Some(false) => item.with(text),
        };
        Ok(Some(new.map_err(|error| self.not_edited(&error))?))
    }

    /// Returns the text without the item, where it is ours.
    fn without_item(&self, text: Option<&str>) -> Result<Option<String>, Error> {
        let (Some(item), Some(text)) = (self.item, text) else { return Ok(text.map(str::to_owned)) };
        Ok(Some(item.without(text).map_err(|error| self.not_edited(&error))?))
    }

    fn not_edited(&self, error: &anyhow::Error) -> Error {
        Error::failure(format!("{} can't be used: {error:#}", self.path))
            .hint(format!("it needs `{}`", self.text.trim()))
    }

    fn section<'t>(&self, text: &'t str) -> Result<Option<ManagedSection<'t>>> {
        ManagedSection::find(self.marks, text).with_context(|| format!("{} holds a damaged qipu section", self.path))
    }

    /// Returns the file, or nothing where it would be in a store and there is none.
    fn file_if_possible(&self, place: &Project<'_>) -> Result<Option<PathBuf>, Error> {
        match self.file(place) {
            Err(error) if error.kind == ErrorKind::NoStore => Ok(None),
            file => file.map(Some),
        }
    }

    /// Returns the file's real path; a symbolic link may lead elsewhere inside its folder only.
    fn file(&self, place: &Project<'_>) -> Result<PathBuf, Error> {
        let (folder, name) = match self.folder {
            BaseFolder::Project => (place.root.clone(), "project"),
            BaseFolder::Store => (place.store()?, "store"),
        };
        Ok(inside(&folder, self.path, name)?)
    }
}

/// The file that several tools read.
const SHARED: &str = "AGENTS.md";
/// The recipe that it is known by.
const FIRST_USER: &str = "agents-md";

/// The key under which tools that have hooks look for servers.
const SERVERS: &str = "mcpServers";

impl HookPart {
    fn value(&self) -> serde_json::Value {
        serde_json::from_str(self.hook).unwrap_or_default()
    }

    fn file(&self, place: &Project<'_>) -> Result<PathBuf, Error> {
        Ok(inside(&place.root, self.path, "project")?)
    }

    fn text(&self, place: &Project<'_>) -> Result<Option<String>, Error> {
        Ok(files::read_if_there(&self.file(place)?)?)
    }

    pub(super) fn state(&self, place: &Project<'_>) -> Result<RecipeState, Error> {
        let Some(text) = self.text(place)? else { return Ok(RecipeState::Missing) };
        let found = json::find(&text, &self.value()).with_context(|| self.unusable())?;
        Ok(match found {
            HookStatus::Missing => RecipeState::Missing,
            HookStatus::Current => RecipeState::Current,
            HookStatus::Other => RecipeState::Edited,
        })
    }

    fn unusable(&self) -> String {
        format!("can't use {}", self.path)
    }

    /// Returns how much of what the hook needs is there, and how many folders are not. What our server made is
    /// not the user's, and the folder of a file that it made goes where it is empty.
    fn found(&self, place: &Project<'_>) -> Result<(u8, usize), Error> {
        let text = self.text(place)?;
        let level = json::level(text.as_deref()).with_context(|| self.unusable())?;
        // What else is wrong with the file is for others to say.
        match text.as_deref().and_then(|text| entry::level(text, SERVERS).ok().flatten()) {
            Some(entry::PriorState::Nothing) if level == 2 => return Ok((0, 1)),
            Some(entry::PriorState::Folder) if level == 2 => return Ok((0, 0)),
            Some(entry::PriorState::Blank) if level == 2 => return Ok((1, 0)),
            _ => {}
        }
        Ok((level, folders_to_make(&self.file(place)?, self.path, place)?))
    }

    /// Returns how much was there when the hook was put in, as the section of its recipe remembers. Where that is
    /// gone, the file is the user's.
    pub(super) fn made(&self, place: &Project<'_>) -> Result<(u8, usize), Error> {
        let keeper = SectionPart { path: self.keeper, ..SECTION };
        Ok(keeper.marker(place)?.and_then(|marker| marker.settings_of(self.user)).unwrap_or((2, 0)))
    }

    fn change(&self, place: &Project<'_>, is_removal: bool) -> Result<TextChange, Error> {
        let old = self.text(place)?;
        let state = self.state(place)?;
        if state == RecipeState::Edited && !place.is_forced {
            return Err(edited(format!("the hook in {}", self.path)));
        }
        let without = || match &old {
            Some(text) => Ok(json::without(text, self.made(place)?.0).with_context(|| self.unusable())?),
            None => Ok::<_, Error>(None),
        };
        let new = match (is_removal, state) {
            (true, _) => without()?,
            (false, RecipeState::Current) => old.clone(),
            (false, RecipeState::Missing) => {
                Some(json::with(old.as_deref(), &self.value()).with_context(|| self.unusable())?)
            }
            (false, _) => Some(json::with(without()?.as_deref(), &self.value()).with_context(|| self.unusable())?),
        };
        Ok((old, new))
    }
}

/// Counts the folders that go with a file when it goes: those that are not there yet, and the first one where
/// another part of ours made it.
pub(super) fn folders_to_make(file: &Path, path: &str, place: &Project<'_>) -> Result<usize, Error> {
    let (missing, depth) = (files::count_missing_folders(file), path.matches('/').count());
    if depth == 0 || missing + 1 != depth {
        return Ok(missing);
    }
    let top = path.split_inclusive('/').next().unwrap_or_default();
    let mut is_ours = false;
    for part in RECIPES.iter().flat_map(|recipe| recipe.parts).filter(|part| part.is_below(top, place)) {
        is_ours |= part.made_top_folder(place)?;
    }
    Ok(missing + usize::from(is_ours))
}

/// Returns a file's real path. A symbolic link may lead elsewhere inside the folder only, and not to what belongs to
/// version control or to the notes.
pub(super) fn inside(folder: &Path, name: &str, what: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    let Ok(root) = folder.canonicalize() else { return Ok(path) };
    let above = path.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok()).unwrap_or(folder);
    let real_above = above.canonicalize().with_context(|| format!("can't follow the folder of {name}"))?;
    expect_own(&real_above, &root).with_context(|| format!("the folder of {name} leaves the {what}"))?;
    if !path.is_symlink() {
        return Ok(path);
    }
    let target = path.canonicalize().with_context(|| format!("can't follow {name}"))?;
    expect_own(&target, &root).with_context(|| format!("{name} is a symbolic link that leaves the {what}"))?;
    Ok(target)
}

/// Folders of version control and of notes. They belong to no recipe, in whatever case a disk knows them.
const FOREIGN: [&str; 6] = [".git", ".hg", ".svn", ".jj", ".bzr", ".qipu"];

/// Fails where a real path is not in a folder, or where it is in one of the [`FOREIGN`] folders there.
fn expect_own(real: &Path, root: &Path) -> Result<()> {
    let Ok(inside) = real.strip_prefix(root) else { bail!("it leads to {}", real.display()) };
    let is_foreign = |name: &std::ffi::OsStr| FOREIGN.iter().any(|foreign| name.eq_ignore_ascii_case(foreign));
    let folders = inside.ancestors().filter(|above| !above.as_os_str().is_empty()).map(|above| root.join(above));
    // Git's own folder may have any name (`git init --separate-git-dir`), a store may be `qipu`.
    let has = |folder: &Path, names: &[&str]| names.iter().all(|name| folder.join(name).exists());
    let is_inner =
        |folder: &PathBuf| has(folder, &["HEAD", "objects", "refs"]) || has(folder, &["config.toml", "notes"]);
    if inside.iter().any(is_foreign) || folders.into_iter().any(|folder| is_inner(&folder)) {
        bail!("{} is no place for instructions", inside.display());
    }
    Ok(())
}

type SettingsFormat = [(&'static str, &'static str)];

/// Writes the command for a shell that sets a setting.
fn command(key: &str, value: &str) -> String {
    format!("git config {key} '{}'\n", value.replace('\'', "'\\''"))
}

/// Writes the commands that are still to be run, one a line.
fn commands_left(settings: &SettingsFormat, place: &Project<'_>, is_removal: bool) -> String {
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
fn settings_state(settings: &SettingsFormat, place: &Project<'_>) -> RecipeState {
    let Ok(store) = place.store() else { return RecipeState::Missing };
    let states: Vec<RecipeState> = settings
        .iter()
        .map(|(key, value)| match git::config(&store, key).unwrap_or_default().as_slice() {
            [] => RecipeState::Missing,
            [have] if have == value => RecipeState::Current,
            _ => RecipeState::Stale,
        })
        .collect();
    [RecipeState::Missing, RecipeState::Stale]
        .into_iter()
        .find(|state| states.contains(state))
        .unwrap_or(RecipeState::Current)
}

fn set(settings: &SettingsFormat, place: &Project<'_>) -> Result<Option<&'static str>, Error> {
    let store = place.store()?;
    let mut action = None;
    for (key, value) in settings {
        if git::config(&store, key)? != [*value] {
            git::set_config(&store, key, Some(value))?;
            action = Some("changed");
        }
    }
    Ok(action)
}

fn unset(settings: &SettingsFormat, place: &Project<'_>) -> Result<Option<&'static str>, Error> {
    let Ok(store) = place.store() else { return Ok(None) };
    let mut action = None;
    for (key, _) in settings {
        if !git::config(&store, key).unwrap_or_default().is_empty() {
            git::set_config(&store, key, None)?;
            action = Some("changed");
        }
    }
    Ok(action)
}
