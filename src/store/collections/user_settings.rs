//! The user's settings for every store: `qipu/config.toml` in the user's configuration folder, which no repository can
//! write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::config::{expect_shares, parse_toml};
use super::document_config::{SourceConfig, StoreConfig};
use crate::error::{Error, ErrorKind};
use crate::store::fs::files;

/// The file in the user's configuration folder.
pub(in crate::store) const FILE: &str = "qipu/config.toml";

/// The table `[trust]` of the user; numbers are 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserTrust {
    /// Trust by the author that a note names, or, for a key with `@`, by the e-mail address of the last commit of its file.
    pub authors: BTreeMap<String, f64>,
    /// Trust by the host of a source, subdomains included.
    pub hosts: BTreeMap<String, f64>,
    /// The people whose verification counts; `None` for all.
    pub verifiers: Option<Vec<String>>,
}

/// The user's settings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::store) struct UserSettings {
    pub(in crate::store) trust: UserTrust,
    /// Folders of markdown that are read with every store.
    pub(in crate::store) documents: Vec<SourceConfig>,
    /// Those under the key of former versions.
    pub(in crate::store) sources: Vec<SourceConfig>,
    /// Stores that are read with every store.
    pub(in crate::store) stores: Vec<StoreConfig>,
    /// Whether hooks tell the user which notes they show; `None`: they do.
    receipts: Option<bool>,
    /// The folders of repositories whose stores may name folders outside the repository.
    pub(super) allowed_repositories: Vec<PathBuf>,
}

/// Whether hooks tell the user which notes they show.
pub fn shows_receipts(settings: Option<&Path>) -> bool {
    UserSettings::load(settings).ok().and_then(|settings| settings.receipts).unwrap_or(true)
}

impl UserTrust {
    /// Whether the authors of commits count.
    pub fn has_commit_authors(&self) -> bool {
        self.authors.keys().any(|name| name.contains('@'))
    }
}

impl UserSettings {
    /// Loads the settings; the default ones without a file or a folder.
    ///
    /// # Errors
    /// `Store` if the file can't be read or is not valid, with the line.
    pub(in crate::store) fn load(settings: Option<&Path>) -> Result<Self, Error> {
        let Some(path) = settings.map(|settings| settings.join(FILE)) else { return Ok(Self::default()) };
        let invalid = |reason: String| {
            Error::new(ErrorKind::Store, format!("your settings in {} are not valid: {reason}", path.display()))
                .hint("correct the file, or remove it to get the defaults")
        };
        match files::read_if_there(&path) {
            Ok(text) => Self::parse(&text.unwrap_or_default()).map_err(invalid),
            Err(error) => Err(invalid(format!("{error:#}"))),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: Self = parse_toml(text)?;
        expect_shares(file.trust.authors.iter().chain(&file.trust.hosts))?;
        Ok(file)
    }

    /// Returns the paths of allowed repositories that are relative, which allow none.
    pub(super) fn relative_repositories(&self) -> impl Iterator<Item = &Path> {
        let is_relative =
            |path: &&Path| !path.is_absolute() && !path.to_str().is_some_and(|path| path.starts_with("~/"));
        self.allowed_repositories.iter().map(PathBuf::as_path).filter(is_relative)
    }

    /// Whether the user, whose home is given, allows a repository to name folders outside it; `root` without symbolic links.
    pub(super) fn allows(&self, root: &Path, home: Option<&Path>) -> bool {
        let is_root = |allowed: PathBuf| allowed == root || allowed.canonicalize().is_ok_and(|allowed| allowed == root);
        let path = |allowed: &PathBuf| match (allowed.to_str().and_then(|path| path.strip_prefix("~/")), home) {
            (Some(below), Some(home)) => home.join(below),
            _ => allowed.clone(),
        };
        self.allowed_repositories.iter().map(path).filter(|allowed| allowed.is_absolute()).any(is_root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_errors_name_the_line() {
        let text = "[trust]\nverifiers = [\"human:ann\"]\n[trust.authors]\nAnn = 0.9\n\"ann@x.org\" = 1\n[trust.hosts]\n\"x.org\" = 0\n";
        let trust = UserSettings::parse(text).unwrap().trust;
        assert_eq!((trust.authors["Ann"], trust.hosts["x.org"], trust.has_commit_authors()), (0.9, 0.0, true));
        assert_eq!(trust.verifiers, Some(vec!["human:ann".to_owned()]));
        assert_eq!(UserSettings::parse("").unwrap(), UserSettings::default());
        for (text, reason) in [
            ("[trust.authors]\nAnn = 1.5\n", "`Ann = 1.5` under [trust] is not a number from 0 to 1"),
            ("[trust.authors]\nAnn = \"much\"\n", "line 2: "),
            ("[trust]\nverifier = []\n", "line 2: unknown field `verifier`"),
            ("\n[trusts]\n", "line 2: unknown field `trusts`"),
        ] {
            let error = UserSettings::parse(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
