//! Creation of a store.

use std::path::{Path, PathBuf};

use super::config::Config;
use super::discover::{
    Location, STORE_NAMES, find_own_root, find_root_in, named_store, normalize_lexically, project_root, relative_to,
};
use super::guessed_dialect::guessed_dialect;
use super::layout::{CONFIG_FILE, TEMPLATES};
use super::trusted_stores;
use crate::env::WaitPolicy;
use crate::error::{Error, ErrorKind};
use crate::escape::may_be_harmful;
use crate::note::{Dialect, NOTE_FOLDERS};
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::file_tree::FileTree;
use crate::store::fs::{atomic_write, files};
use crate::warnings;

/// The config of a new store: all settings as comments, with their defaults.
const CONFIG: &str =
    "# qipu's settings for this store. Every setting is optional; commented lines show the default or an example.

# The language that most notes are in, for search: en, de, fr, …, or none.
# language = \"en\"

# Link types in addition to the built-in ones, each with its inverse.
# [link-types]
# implements = \"implemented-by\"

# Folders of Markdown that are read where they lie; `qipu init --documents DIR` adds one.
# [[documents]]
# path = \"docs\"
# as = \"markdown\"

# Whether questions read the commits of the repository too; `qipu init --commits` sets it.
# [history]
# commits = true

# Limits of `qipu context` without a budget, and namespaces whose notes it omits.
# [context]
# max-notes = 10
# max-blocks-per-note = 50
# max-blocks = 100
# exclude-namespaces = [\"archive\"]

# How much authors and hosts of sources are trusted, from 0 to 1.
# [trust.authors]
# \"Ann\" = 0.9
# [trust.hosts]
# \"kernel.org\" = 0.85

# Filters with names: `qipu list @inbox` lists the notes still to be processed.
[queries]
inbox = \"type = fleeting\"

# Whether notes of agents are drafts until a person accepts them, and whether answers hide or mark drafts.
# [review]
# hold = true
# drafts = \"hide\"
";

/// The `.gitignore` of a store: derived files, and those of one machine.
const IGNORED: &str =
    "# Made by qipu: what can be made again, and what belongs to one machine.\n/cache/\n/.lock\n.qipu-*\n";
/// The same for a store that git ignores.
const IGNORED_ALL: &str = "# Made by `qipu init`: this store stays out of git.\n*\n";

/// The result of creating a store.
#[derive(Debug)]
pub struct InitResult {
    /// The store's path relative to the current directory, ending in `/`.
    pub shown_path: String,
    /// The store's folder.
    pub root: PathBuf,
    /// Whether it did not exist before.
    pub is_new: bool,
    /// Its files.
    pub files: Vec<MadeFile>,
    /// The list of trusted stores, and whether it existed before; `None` if it is unchanged.
    pub list: Option<(String, bool)>,
}

/// A file of a store that was found or created.
#[derive(Debug)]
pub struct MadeFile {
    /// Its path relative to the current directory.
    pub path: String,
    /// Its text before; `None` if it did not exist.
    pub old: Option<String>,
    /// Its new text; `None` if it is unchanged.
    pub new: Option<String>,
}

/// Where a store is to be created, and with which properties.
#[derive(Debug, Clone, Copy, Default)]
pub struct InitPlan<'a> {
    /// The store itself, if named.
    pub store: Option<&'a Path>,
    /// The project, if named.
    pub dir: Option<&'a Path>,
    /// The folders of documents to read with it.
    pub documents: &'a [PathBuf],
    /// Read the commits of the repository with it.
    pub commits: bool,
    /// Keep it out of git.
    pub is_stealth: bool,
    /// Name it `qipu/`.
    pub is_visible: bool,
    /// Trust the store although it existed before.
    pub is_trusted: bool,
    /// The user's configuration folder.
    pub settings: Option<&'a Path>,
    /// The user's home.
    pub home: Option<&'a Path>,
    /// Only report what would be created.
    pub is_dry_run: bool,
}

/// Creates a store, or its missing folders and files: the one that is named, else the one that is found from the current
/// directory, else a new one in the project's root.
///
/// # Errors
/// `Failure` if a folder or file can't be created; `Usage` if the store exists under another name.
pub fn init(plan: &InitPlan<'_>, current_dir: &Path) -> Result<InitResult, Error> {
    let mut path = store_path(plan, current_dir)?;
    if plan.commits && FileTree::default().repository_root(&path).is_none() {
        return Err(
            Error::usage("there is no git repository here, so there are no commits").hint("`git init` makes one")
        );
    }
    // An existing one may have come with a repository, unless it is empty: then an `init` before was interrupted.
    let is_own = !files::is_there(&path)? || is_empty(&path);
    let is_listed_first = is_own && !plan.is_dry_run;
    let mut list = None;
    if !plan.is_dry_run {
        files::make_folder(&path)?;
        // First, since `init` after one that was interrupted finds a store that may not be its own.
        if is_listed_first && let Some((above, name)) = path.parent().zip(path.file_name()) {
            list = add_to_list(&files::canonical(above)?.join(name), plan)?;
        }
        for folder in NOTE_FOLDERS.iter().chain(&[TEMPLATES]) {
            files::make_folder(&path.join(folder))?;
        }
        path = files::canonical(&path)?;
    }
    let shown_path = relative_to(&path, current_dir);
    let ignored = if plan.is_stealth { IGNORED_ALL } else { IGNORED };
    let mut made = Vec::new();
    for (name, text) in [(CONFIG_FILE, CONFIG), (".gitignore", ignored)] {
        let file = path.join(name);
        let (mut old, mut new) = ensure_file(&file, text, plan)?;
        if name == CONFIG_FILE && (plan.commits || !plan.documents.is_empty()) {
            (old, new) = with_tables(&path, &file, old, new, plan, current_dir)?;
        }
        let path = format!("{}{name}", shown_path.strip_prefix("./").unwrap_or(&shown_path));
        made.push(MadeFile { path, old, new });
    }
    if !is_listed_first && (is_own || plan.is_trusted) {
        list = add_to_list(&path, plan)?;
    }
    Ok(InitResult { shown_path, root: path, is_new: is_own, files: made, list })
}

/// Whether a folder, not behind a link, contains nothing.
fn is_empty(folder: &Path) -> bool {
    let is_folder = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
    is_folder && std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Adds the store to the list of those that the user trusts.
fn add_to_list(root: &Path, plan: &InitPlan<'_>) -> Result<Option<(String, bool)>, Error> {
    let Some(settings) = plan.settings else {
        let message = "there is no folder for your settings: neither XDG_CONFIG_HOME nor HOME is set";
        return if plan.is_trusted { Err(Error::failure(message)) } else { Ok(None) };
    };
    let was_there = match trusted_stores::trust(root, settings, plan.is_dry_run) {
        // The store is created even if the user's configuration can't be written.
        Err(error) if !plan.is_trusted => {
            warnings::add(format!("the new store is not trusted: {error:#}; `qipu help init` says how to try again"));
            None
        }
        was_there => was_there?,
    };
    Ok(was_there.map(|was_there| (shown_settings(settings, plan.home, trusted_stores::LIST), was_there)))
}

/// Returns the path of a file of the user's settings as a shell expands it, so that the answer does not depend on the machine.
pub(super) fn shown_settings(settings: &Path, home: Option<&Path>, file: &str) -> String {
    let in_home = in_home(settings, home);
    in_home.unwrap_or_else(|| Path::new("$XDG_CONFIG_HOME").to_owned()).join(file).display().to_string()
}

/// Returns a path with `~` in place of the user's home; `None` for one elsewhere.
pub(super) fn in_home(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    Some(Path::new("~").join(path.strip_prefix(home?).ok()?))
}

/// Creates a missing file, or replaces the `.gitignore` of an earlier `init` if the store is to be ignored by git. Returns
/// the text before, and the new one if it was written.
fn ensure_file(
    path: &Path,
    text: &'static str,
    plan: &InitPlan<'_>,
) -> Result<(Option<String>, Option<String>), Error> {
    let old = files::read_if_there(path)?;
    match old.as_deref() {
        None if plan.is_dry_run => {}
        None => atomic_write::create(path, text.as_bytes())?,
        Some(IGNORED) if text == IGNORED_ALL && plan.is_dry_run => {}
        Some(IGNORED) if text == IGNORED_ALL => {
            atomic_write::replace_if_unchanged(path, Some(IGNORED.as_bytes()), text.as_bytes(), WaitPolicy::default())?;
        }
        Some(old) if text == IGNORED_ALL && !old.lines().any(|line| line.trim() == "*") => {
            let message = format!("{} was not written by qipu and does not keep the store out of git", path.display());
            return Err(Error::usage(message).hint("add a line `*` to it"));
        }
        Some(_) => return Ok((old, None)),
    }
    Ok((old, Some(text.to_owned())))
}

/// Adds the folders of documents that the config of a store does not name yet, and its commits. Returns the text before, and
/// the new one if it was written.
fn with_tables(
    store: &Path,
    config: &Path,
    old: Option<String>,
    new: Option<String>,
    plan: &InitPlan<'_>,
    current_dir: &Path,
) -> Result<(Option<String>, Option<String>), Error> {
    let before = new.clone().or_else(|| old.clone()).unwrap_or_default();
    let Config { documents: known, history, .. } = Config::parse(&before)?;
    let mut text = before.clone();
    if plan.commits && history.commits.is_none() {
        text.push_str("\n[history]\ncommits = true\n");
    }
    if plan.commits && history.commits == Some(false) {
        let error = Error::usage(format!("{} says `commits = false`", config.display()));
        return Err(error.hint("change it there"));
    }
    for folder in plan.documents {
        let (path, dialect) = documents_at(store, folder, current_dir)?;
        if !known.iter().any(|documents| documents.path == path) {
            text.push_str(&format!("\n[[documents]]\npath = {}\nas = \"{}\"\n", toml_string(&path), dialect.name()));
        }
    }
    if text == before {
        return Ok((old, new));
    }
    // What was appended may end up in a table that was left open.
    Config::parse(&text)?;
    if !plan.is_dry_run {
        let waits = WaitPolicy::default();
        atomic_write::replace_if_unchanged(config, Some(before.as_bytes()), text.as_bytes(), waits)?;
    }
    Ok((old, Some(text)))
}

/// Returns the path of a folder of documents, relative to the folder that contains the store, and its dialect.
fn documents_at(store: &Path, folder: &Path, current_dir: &Path) -> Result<(String, Dialect), Error> {
    let shown = folder.display();
    let place = normalize_lexically(&current_dir.join(folder));
    let dir = DirHandle::new(&place)
        .map_err(|_| Error::usage(format!("there is no folder {shown}")).hint("documents are a folder of Markdown"))?;
    let place = files::canonical(&place)?;
    let project = store.parent().unwrap_or(store);
    let project = project.canonicalize().unwrap_or_else(|_| project.to_path_buf());
    let files = FileTree::default();
    if !place.starts_with(files.repository_root(&project).unwrap_or(&project)) {
        return Err(Error::usage(format!("{shown} is outside the project"))
            .hint("name it in your own settings, or in each call that reads it"));
    }
    let path = relative_to(&place, &project);
    let path = if path == "./" { "." } else { path.trim_end_matches('/') };
    Ok((path.to_owned(), guessed_dialect(&dir)))
}

/// Returns a text as a string of TOML that is shown as it is.
pub(super) fn toml_string(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if may_be_harmful(c) => format!("\\U{:08X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

fn store_path(plan: &InitPlan<'_>, current_dir: &Path) -> Result<PathBuf, Error> {
    if let Some(store) = plan.store {
        let path = current_dir.join(store);
        return Ok(named_store(&FileTree::default(), &path).unwrap_or(path));
    }
    let [hidden, visible] = STORE_NAMES;
    let wanted = if plan.is_visible { visible } else { hidden };
    let found = match plan.dir {
        Some(dir) => find_root_in(&current_dir.join(dir), current_dir),
        None => find_own_root(&Location::default(), current_dir),
    };
    match found {
        Ok(found) if plan.is_visible && !found.ends_with(visible) => {
            let shown = relative_to(&found, current_dir);
            Err(Error::new(ErrorKind::Usage, format!("a store exists already: {shown}"))
                .hint("rename its folder to `qipu` to make it visible"))
        }
        Ok(found) => Ok(found),
        Err(error) if error.kind != ErrorKind::NoStore => Err(error),
        Err(_) => {
            let base = match plan.dir {
                Some(dir) => current_dir.join(dir),
                None => project_root(&FileTree::default(), current_dir),
            };
            Ok(base.join(wanted))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::*;

    #[test]
    fn a_new_config_lists_settings_that_are_understood() {
        let settings = CONFIG.lines().filter_map(|line| line.strip_prefix("# "));
        let settings = settings.filter(|line| line.starts_with('[') || line.contains(" = "));
        let config = Config::parse(&settings.collect::<Vec<_>>().join("\n")).unwrap();
        assert!(config.link_types.knows("implements"));
        assert!(config.context.max_notes.is_some() && config.context.max_blocks.is_some());
        assert!(config.context.max_blocks_per_note.is_some() && !config.context.exclude_namespaces.is_empty());
        assert!(!config.trust.authors.is_empty() && !config.trust.hosts.is_empty());
        let written = Config::parse(CONFIG).unwrap();
        assert_eq!(written.queries.keys().collect::<Vec<_>>(), ["inbox"]);
        assert_eq!(Config { queries: Default::default(), ..written }, Config::default());
    }
}
