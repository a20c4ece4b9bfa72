//! Making a store.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::discover::{STORE_NAMES, relative_to};
use super::{Location, NOTE_FOLDERS, files, find_root, project_root};
use crate::error::{Error, ErrorKind};

/// What a new store's config says: everything in comments, with its default.
const CONFIG: &str =
    "# qipu's settings for this store. Everything is optional; what is commented out shows the default or an example.

# Link types beside the built-in ones, each with what it is called from the other end.
[link-types]
# implements = \"implemented-by\"
";

/// What git leaves out of a store: what can be made again.
const IGNORED: &str =
    "# Made by qipu: what can be made again, and what belongs to one machine.\n/cache/\n/.lock\n.qipu-*\n";
/// The same for a store that nobody else is to see.
const IGNORED_ALL: &str = "# Made by `qipu init --stealth`: this store stays out of git.\n*\n";

/// What was found or made.
#[derive(Debug)]
pub struct Made {
    /// The store's path relative to the current directory, ending in `/`.
    pub shown_path: String,
    /// Its files, relative to the current directory, and whether they are new.
    pub files: Vec<(String, bool)>,
}

/// Makes a store, or what is missing of one: the one that is named, else the one that would be
/// found from here, else a new one in the project's root.
///
/// # Errors
/// `Failure` when a folder or file can't be made; `Usage` when the store that is there has another name.
pub fn init(
    store: Option<&Path>,
    root: Option<&Path>,
    is_stealth: bool,
    is_visible: bool,
    current_dir: &Path,
) -> Result<Made, Error> {
    let path = place(store, root, is_visible, current_dir)?;
    for folder in NOTE_FOLDERS.iter().chain(&["templates"]) {
        let folder = path.join(folder);
        fs::create_dir_all(&folder).with_context(|| format!("can't make {}", folder.display()))?;
    }
    let path = path.canonicalize()?;
    let shown_path = relative_to(&path, current_dir);
    let mut made = Vec::new();
    for (name, text) in [("config.toml", CONFIG), (".gitignore", if is_stealth { IGNORED_ALL } else { IGNORED })] {
        let is_new = write_unless_there(&path.join(name), text, is_stealth)?;
        made.push((format!("{}{name}", shown_path.strip_prefix("./").unwrap_or(&shown_path)), is_new));
    }
    Ok(Made { shown_path, files: made })
}

/// Writes a file that is not there, or in stealth the one that `init` wrote before. Returns whether
/// it did.
fn write_unless_there(path: &Path, text: &str, is_stealth: bool) -> Result<bool, Error> {
    match files::read_if_there(path)? {
        None => files::create(path, text.as_bytes())?,
        Some(old) if is_stealth && old == IGNORED => files::replace(path, text.as_bytes())?,
        Some(old) if text == IGNORED_ALL && !old.lines().any(|line| line.trim() == "*") => {
            let message = format!("{} is your own, and it lets git see the store", path.display());
            return Err(Error::usage(message).hint("add a line `*` to it"));
        }
        Some(_) => return Ok(false),
    }
    Ok(true)
}

fn place(store: Option<&Path>, root: Option<&Path>, is_visible: bool, current_dir: &Path) -> Result<PathBuf, Error> {
    if let Some(store) = store {
        return Ok(current_dir.join(store));
    }
    let [hidden, visible] = STORE_NAMES;
    let wanted = if is_visible { visible } else { hidden };
    let location = Location { store: None, root: root.map(Path::to_path_buf) };
    match find_root(&location, current_dir) {
        Ok(found) if is_visible && !found.ends_with(visible) => {
            let shown = relative_to(&found, current_dir);
            Err(Error::new(ErrorKind::Usage, format!("there is a store already: {shown}"))
                .hint("rename its folder to `qipu` to make it visible"))
        }
        Ok(found) => Ok(found),
        Err(_) => {
            let base = root.map_or_else(|| project_root(current_dir), |root| current_dir.join(root));
            Ok(base.join(wanted))
        }
    }
}
