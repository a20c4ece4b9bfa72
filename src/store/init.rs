//! Making a store.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::discover::{STORE_NAMES, relative_to};
use super::{Location, NOTE_FOLDERS, files, find_root, project_root, trusted};
use crate::env::Waits;
use crate::error::{Error, ErrorKind};

/// What a new store's config says: everything in comments, with its default.
const CONFIG: &str =
    "# qipu's settings for this store. Everything is optional; what is commented out shows the default or an example.

# The language that most notes are in, for search: en, de, fr, …, or none.
# language = \"en\"

# Link types in addition to the built-in ones, each with its name from the other end.
# [link-types]
# implements = \"implemented-by\"

# Limits of `qipu context` without a budget, and namespaces whose notes it leaves out.
# [context]
# max-notes = 10
# max-blocks-per-note = 50
# max-blocks = 100
# exclude-namespaces = [\"archive\"]

# How far authors and hosts of sources are trusted, from 0 to 1.
# [trust.authors]
# \"Ann\" = 0.9
# [trust.hosts]
# \"kernel.org\" = 0.85
";

/// What git leaves out of a store: what can be made again.
const IGNORED: &str =
    "# Made by qipu: what can be made again, and what belongs to one machine.\n/cache/\n/.lock\n.qipu-*\n";
/// The same for a store that nobody else is to see.
const IGNORED_ALL: &str = "# Made by `qipu init --stealth`: this store stays out of git.\n*\n";

/// What was found or made.
#[derive(Debug)]
pub struct InitResult {
    /// The store's path relative to the current directory, ending in `/`.
    pub shown_path: String,
    /// Its files.
    pub files: Vec<MadeFile>,
    /// The list of trusted stores, relative to the current directory, and whether it was there before; `None` where
    /// it stays as it is.
    pub list: Option<(String, bool)>,
}

/// A file of a store that was found or made.
#[derive(Debug)]
pub struct MadeFile {
    /// Its path relative to the current directory.
    pub path: String,
    /// Its text before; `None` where it did not exist.
    pub old: Option<String>,
    /// Its new text; `None` where it stays as it is.
    pub new: Option<&'static str>,
}

/// Where a store is to be, and what it is to be like.
#[derive(Debug, Clone, Copy, Default)]
pub struct InitPlan<'a> {
    /// The store itself, where the user names it.
    pub store: Option<&'a Path>,
    /// The project, where the user names one.
    pub root: Option<&'a Path>,
    /// Keep it out of git.
    pub is_stealth: bool,
    /// Name it `qipu/`.
    pub is_visible: bool,
    /// Let the store say how far its notes can be relied on, although it was there before.
    pub is_trusted: bool,
    /// The user's folder for settings.
    pub settings: Option<&'a Path>,
    /// Make nothing, only tell.
    pub is_dry_run: bool,
}

/// Makes a store, or what is missing of one: the one that is named, else the one that would be
/// found from here, else a new one in the project's root.
///
/// # Errors
/// `Failure` when a folder or file can't be made; `Usage` when the store that is there has another name.
pub fn init(plan: &InitPlan<'_>, current_dir: &Path) -> Result<InitResult, Error> {
    let mut path = place(plan.store, plan.root, plan.is_visible, current_dir)?;
    // One that is there may have come with a repository.
    let is_own = path.symlink_metadata().is_err();
    if !plan.is_dry_run {
        for folder in NOTE_FOLDERS.iter().chain(&["templates"]) {
            let folder = path.join(folder);
            fs::create_dir_all(&folder).with_context(|| format!("can't make {}", folder.display()))?;
        }
        path = path.canonicalize()?;
    }
    let shown_path = relative_to(&path, current_dir);
    let ignored = if plan.is_stealth { IGNORED_ALL } else { IGNORED };
    let mut made = Vec::new();
    for (name, text) in [("config.toml", CONFIG), (".gitignore", ignored)] {
        let (old, new) = missing(&path.join(name), text, plan)?;
        let path = format!("{}{name}", shown_path.strip_prefix("./").unwrap_or(&shown_path));
        made.push(MadeFile { path, old, new });
    }
    let list = if plan.is_trusted || is_own { add_to_list(&path, plan)? } else { None };
    Ok(InitResult { shown_path, files: made, list })
}

/// Adds the store to the list of those that the user trusts.
fn add_to_list(root: &Path, plan: &InitPlan<'_>) -> Result<Option<(String, bool)>, Error> {
    let Some(settings) = plan.settings else {
        let message = "there is no folder for your settings: neither XDG_CONFIG_HOME nor HOME names one";
        return if plan.is_trusted { Err(Error::failure(message)) } else { Ok(None) };
    };
    let was_there = match trusted::trust(root, settings, plan.is_dry_run) {
        // The store is made whether or not the user's settings can be written.
        Err(_) if !plan.is_trusted => None,
        was_there => was_there?,
    };
    // Where the settings are is this machine's affair, and not part of an answer.
    Ok(was_there.map(|was_there| (trusted::LIST.to_owned(), was_there)))
}

/// Writes a file that is not there, or in stealth the one that `init` wrote before. Returns the text before, and
/// the new one where it writes it.
fn missing(
    path: &Path,
    text: &'static str,
    plan: &InitPlan<'_>,
) -> Result<(Option<String>, Option<&'static str>), Error> {
    let old = files::read_if_there(path)?;
    match old.as_deref() {
        None if plan.is_dry_run => {}
        None => files::create(path, text.as_bytes())?,
        Some(IGNORED) if text == IGNORED_ALL && plan.is_dry_run => {}
        Some(IGNORED) if text == IGNORED_ALL => {
            files::replace_if_unchanged(path, Some(IGNORED.as_bytes()), text.as_bytes(), Waits::default())?;
        }
        Some(old) if text == IGNORED_ALL && !old.lines().any(|line| line.trim() == "*") => {
            let message = format!("{} is your own, and it lets git see the store", path.display());
            return Err(Error::usage(message).hint("add a line `*` to it"));
        }
        Some(_) => return Ok((old, None)),
    }
    Ok((old, Some(text)))
}

fn place(store: Option<&Path>, root: Option<&Path>, is_visible: bool, current_dir: &Path) -> Result<PathBuf, Error> {
    if let Some(store) = store {
        return Ok(current_dir.join(store));
    }
    let [hidden, visible] = STORE_NAMES;
    let wanted = if is_visible { visible } else { hidden };
    let location = Location { root: root.map(Path::to_path_buf), ..Location::default() };
    match find_root(&location, current_dir) {
        Ok(found) if is_visible && !found.ends_with(visible) => {
            let shown = relative_to(&found, current_dir);
            Err(Error::new(ErrorKind::Usage, format!("there is a store already: {shown}"))
                .hint("rename its folder to `qipu` to make it visible"))
        }
        Ok(found) => Ok(found),
        Err(error) if error.kind != ErrorKind::NoStore => Err(error),
        Err(_) => {
            let base = root.map_or_else(|| project_root(current_dir), |root| current_dir.join(root));
            Ok(base.join(wanted))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Config;

    #[test]
    fn a_new_config_lists_settings_that_are_understood() {
        let settings = CONFIG.lines().filter_map(|line| line.strip_prefix("# "));
        let settings = settings.filter(|line| line.starts_with('[') || line.contains(" = "));
        let config = Config::parse(&settings.collect::<Vec<_>>().join("\n")).unwrap();
        assert!(config.link_types.knows("implements"));
        assert!(config.context.max_notes.is_some() && config.context.max_blocks.is_some());
        assert!(config.context.max_blocks_per_note.is_some() && !config.context.exclude_namespaces.is_empty());
        assert!(!config.trust.authors.is_empty() && !config.trust.hosts.is_empty());
        assert_eq!(Config::parse(CONFIG).unwrap(), Config::default());
    }
}
