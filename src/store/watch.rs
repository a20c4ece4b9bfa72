//! Tells whether a store changed since somebody looked at it last.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use super::{Location, find_root, scan};
use crate::error::Error;

/// Returns a number that stays the same as long as no note and no config of a store changes. It costs
/// a look at every file from outside; none is read.
///
/// # Errors
/// `NoStore` when there is none, `Store` when its folders can't be read.
pub fn look(location: &Location, current_dir: &Path) -> Result<u64, Error> {
    let root = find_root(location, current_dir)?;
    let files = scan::notes(&root)?;
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let config = root.join("config.toml").metadata().ok().map(|metadata| scan::Look::of(&metadata));
    config.hash(&mut hasher);
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_change_of_any_note_or_of_the_config_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let notes = dir.path().join(".qipu/notes");
        fs::create_dir_all(&notes).unwrap();
        let location = Location::default();
        let seen = || look(&location, dir.path()).unwrap();
        let empty = seen();
        assert_eq!(empty, seen());
        fs::write(notes.join("a.md"), "one").unwrap();
        let one = seen();
        assert_ne!(empty, one);
        fs::write(notes.join("a.md"), "three").unwrap();
        let three = seen();
        assert_ne!(one, three);
        fs::rename(notes.join("a.md"), notes.join("b.md")).unwrap();
        let renamed = seen();
        assert_ne!(three, renamed);
        fs::write(dir.path().join(".qipu/config.toml"), "").unwrap();
        assert_ne!(renamed, seen());
        assert!(look(&location, Path::new("/nowhere")).is_err());
    }
}
