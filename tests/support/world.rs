//! A temporary folder with a repository, and the folders of a user beside it.

use std::fs;
use std::path::PathBuf;

use super::process::{Answer, User, call_with_user_and_vars};
use crate::support::files::temp_dir;

/// A temporary folder. `settings`, `data` and `home` in it are those of a user.
pub(crate) struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn empty() -> Self {
        Self { dir: temp_dir() }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    /// Writes a file, and makes the folders above it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Calls the program of the user in a folder; `cache` is the user's folder for caches, if there is one.
    pub(crate) fn call_of_user(&self, folder: &str, cache: Option<&str>, args: &[&str]) -> Answer {
        self.call_with_vars(folder, cache, args, &[])
    }

    /// Calls the program of the user in a folder with variables.
    pub(crate) fn call_with_vars(
        &self,
        folder: &str,
        cache: Option<&str>,
        args: &[&str],
        vars: &[(&str, &str)],
    ) -> Answer {
        let cache = cache.map(|cache| self.at(cache));
        let user = User { settings: self.at("settings"), data: self.at("data"), home: self.at("home"), cache };
        call_with_user_and_vars(self.at(folder).to_str().unwrap(), &user, args, vars)
    }

    /// Returns the answer to a call without a cache that must succeed.
    pub(crate) fn answer_in(&self, folder: &str, args: &[&str]) -> String {
        let Answer { stdout, error } = self.call_of_user(folder, None, args);
        assert!(error.is_none(), "{args:?}: {error:?}");
        stdout
    }
}
