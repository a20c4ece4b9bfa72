//! Trusted stores, whose statements on reliability count. The list is in a folder that no repository can write.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::{atomic_write, files};
use crate::env::WaitPolicy;

/// The list in the user's configuration folder: the absolute path of a store on each line.
pub(super) const LIST: &str = "qipu/trusted-stores";
const HEADER: &str = "# Stores whose own claims about trust and confidence are believed, one absolute path per line.\n\
                      # `qipu init` adds the stores that it creates, `qipu init --trust` an existing one.\n";

/// How often the list is read again because another process changed it.
const MAX_TRIES: usize = 16;

pub(super) fn list_in(settings: &Path) -> PathBuf {
    settings.join(LIST)
}

/// Whether a store is in the list; `root` without symbolic links.
pub(super) fn is_trusted(root: &Path, settings: Option<&Path>) -> bool {
    let text = settings.and_then(|settings| files::read_if_there(&list_in(settings)).ok().flatten());
    text.is_some_and(|text| contains_root(&text, root))
}

fn contains_root(list: &str, root: &Path) -> bool {
    let is_root = |line: &str| {
        let path = Path::new(line.trim_end());
        path.is_absolute() && (path == root || path.canonicalize().is_ok_and(|path| path == root))
    };
    list.lines().filter(|line| !line.starts_with('#')).any(is_root)
}

/// Adds a store to the list. Returns whether the list existed before; `None` if the store was in it.
///
/// The list is replaced as a whole: a part of a path that a full disk leaves could be that of another store.
pub(super) fn trust(root: &Path, settings: &Path, is_dry_run: bool) -> Result<Option<bool>> {
    let list = list_in(settings);
    let mut tries = 1;
    loop {
        let before = files::read_if_there(&list)?;
        if before.as_deref().is_some_and(|text| contains_root(text, root)) {
            return Ok(None);
        }
        let Some(line) = root.to_str().filter(|line| !line.contains(['\n', '\r'])) else {
            bail!("{} can't list the path of this store", list.display());
        };
        if is_dry_run {
            return Ok(Some(before.is_some()));
        }
        let mut text = before.clone().unwrap_or_else(|| HEADER.to_owned());
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text += &format!("{line}\n");
        files::make_folders(&list)?;
        let old = before.as_deref().map(str::as_bytes);
        match atomic_write::replace_if_unchanged(&list, old, text.as_bytes(), WaitPolicy::default()) {
            Ok(()) => return Ok(Some(before.is_some())),
            // Another process added a store at the same time.
            Err(_) if tries < MAX_TRIES && files::read_if_there(&list)? != before => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_stores_and_grows_by_one_that_is_new() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        let settings = root.join("settings");
        assert!(!is_trusted(&root, None) && !is_trusted(&root, Some(&settings)));
        assert_eq!(trust(&root, &settings, true).unwrap(), Some(false));
        assert!(!settings.exists());
        assert_eq!(trust(&root, &settings, false).unwrap(), Some(false));
        assert_eq!(trust(&root, &settings, false).unwrap(), None);
        assert_eq!(trust(&settings, &settings, false).unwrap(), Some(true));
        assert!(is_trusted(&root, Some(&settings)) && !is_trusted(&root.join("qipu"), Some(&settings)));
        std::fs::write(list_in(&settings), format!("#{}\nrelative\n{}", root.display(), tmp.path().display())).unwrap();
        assert!(is_trusted(&root, Some(&settings)));
        assert_eq!(trust(&settings, &settings, false).unwrap(), Some(true));
        assert!(is_trusted(&settings, Some(&settings)) && is_trusted(&root, Some(&settings)));
    }
}
