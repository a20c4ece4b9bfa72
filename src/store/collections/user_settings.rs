//! The user's settings for every store: `qipu/config.toml` in the user's configuration folder, which no repository can
//! write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::config::{HistoryConfig, expect_shares, parse_toml};
use super::document_config::{SourceConfig, StoreConfig};
use crate::error::{Error, ErrorKind};
use crate::escape::abbreviated;
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

/// The table `[embedder]`: a program that turns texts into vectors.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EmbedderSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The name of the model: letters, digits and `-._:/`, at most [`MAX_MODEL_NAME`].
    pub name: String,
    /// How many seconds an answer waits for it, 1 to [`MAX_TIMEOUT`].
    #[serde(default = "default_timeout")]
    pub timeout_seconds: u64,
}

fn default_timeout() -> u64 {
    5
}

/// The most seconds that an answer may wait for an embedder.
const MAX_TIMEOUT: u64 = 60;

/// The most bytes of the name of a model.
const MAX_MODEL_NAME: usize = 64;

impl EmbedderSettings {
    /// Expects a program, and a name that stands in an answer as it is.
    fn check(&self) -> Result<(), String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:/".contains(c);
        let is_name = (1..=MAX_MODEL_NAME).contains(&self.name.len()) && self.name.chars().all(is_plain);
        let program = self.command.first().map(String::as_str).unwrap_or_default();
        if program.is_empty() {
            return Err("`command` under [embedder] names no program".to_owned());
        }
        // It would be another one in each repository.
        if program.contains(['/', '\\']) && !Path::new(program).is_absolute() {
            return Err(format!(
                "`command = {}` under [embedder] is relative; write the whole path",
                abbreviated(program)
            ));
        }
        if !(1..=MAX_TIMEOUT).contains(&self.timeout_seconds) {
            return Err(format!("`timeout-seconds` under [embedder] is not from 1 to {MAX_TIMEOUT}"));
        }
        if !is_name {
            let name = abbreviated(&self.name);
            return Err(format!(
                "`name = {name}` under [embedder] is not up to {MAX_MODEL_NAME} letters, digits or -._:/"
            ));
        }
        Ok(())
    }
}

/// The user's settings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::store) struct UserSettings {
    pub(in crate::store) trust: UserTrust,
    /// Folders of markdown that are read with every store.
    pub(in crate::store) documents: Vec<UserTable<SourceConfig>>,
    /// Those under the key of former versions.
    pub(in crate::store) sources: Vec<UserTable<SourceConfig>>,
    /// Stores that are read with every store.
    pub(in crate::store) stores: Vec<UserTable<StoreConfig>>,
    /// What is read with every store whose config does not say it.
    pub(in crate::store) history: HistoryConfig,
    /// Whether hooks tell the user which notes they show; `None`: they do.
    receipts: Option<bool>,
    /// The program that turns texts into vectors.
    embedder: Option<EmbedderSettings>,
    /// The folders of repositories whose stores may name folders outside the repository.
    pub(super) allowed_repositories: Vec<PathBuf>,
}

/// A table of the user that names a collection, which may count in some projects only.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(in crate::store) struct UserTable<T> {
    /// The table as the config of a store may have it, where `for` is unknown.
    #[serde(flatten)]
    pub(super) table: T,
    /// The folders of the projects in which it counts; `None`: in all.
    #[serde(rename = "for")]
    pub(super) projects: Option<Vec<PathBuf>>,
}

impl<T> UserTable<T> {
    /// Whether it counts in a project with these folders, of a user whose home is given.
    ///
    /// # Errors
    /// Where it counts, as the end of a sentence.
    pub(super) fn expect_to_count(&self, project: &[PathBuf], home: Option<&Path>) -> Result<(), String> {
        let Some(projects) = &self.projects else { return Ok(()) };
        let named = projects.iter().filter_map(|path| absolute(path, home)?.canonicalize().ok());
        if named.into_iter().any(|named| project.iter().any(|folder| folder.starts_with(&named))) {
            return Ok(());
        }
        let shown = projects.iter().map(|path| format!("`{}`", abbreviated(&path.to_string_lossy())));
        let shown = shown.collect::<Vec<_>>().join(", ");
        Err(format!("counts only in {}", if shown.is_empty() { "no project" } else { &shown }))
    }
}

impl HistoryConfig {
    /// Whether questions read the commits of the repository: by this table of a store, or else by that of the user.
    pub(in crate::store) fn reads_commits(self, settings: Option<&Path>) -> bool {
        let of_user = || UserSettings::load(settings).ok()?.history.commits;
        self.commits.or_else(of_user).unwrap_or_default()
    }
}

/// Whether hooks tell the user which notes they show.
pub fn shows_receipts(settings: Option<&Path>) -> bool {
    UserSettings::load(settings).ok().and_then(|settings| settings.receipts).unwrap_or(true)
}

/// Returns the program that turns texts into vectors; `None` if the settings name none, or can't be read, which is a
/// finding.
pub(in crate::store) fn embedder(settings: Option<&Path>) -> Option<EmbedderSettings> {
    UserSettings::load(settings).ok()?.embedder
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
        file.embedder.as_ref().map_or(Ok(()), EmbedderSettings::check)?;
        Ok(file)
    }

    /// Iterates over its folders of documents, those under the key of former versions too.
    pub(super) fn all_documents(&self) -> impl Iterator<Item = &UserTable<SourceConfig>> {
        self.documents.iter().chain(&self.sources)
    }

    /// Returns the paths of repositories and projects that are relative, which have no effect, each with its setting.
    pub(super) fn relative_projects(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let allowed = self.allowed_repositories.iter().map(|path| ("allowed-repositories", path));
        let documents = self.all_documents().flat_map(|table| &table.projects).flatten();
        let stores = self.stores.iter().flat_map(|table| &table.projects).flatten();
        let projects = documents.map(|path| ("`for` of [[documents]]", path));
        let all = allowed.chain(projects).chain(stores.map(|path| ("`for` of [[stores]]", path)));
        all.map(|(setting, path)| (setting, path.as_path()))
            .filter(|(_, path)| !path.is_absolute() && !is_in_home(path))
    }

    /// Whether the user, whose home is given, allows a repository to name folders outside it; `root` without symbolic links.
    pub(super) fn allows(&self, root: &Path, home: Option<&Path>) -> bool {
        let is_root = |allowed: PathBuf| allowed == root || allowed.canonicalize().is_ok_and(|allowed| allowed == root);
        self.allowed_repositories.iter().filter_map(|path| absolute(path, home)).any(is_root)
    }
}

fn is_in_home(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with("~/"))
}

/// Returns a path of the user's settings with the home that is given in place of `~`; `None` if it is relative.
pub(super) fn absolute(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let below = path.to_str().and_then(|path| path.strip_prefix("~/"));
    let path = home.zip(below).map_or_else(|| path.to_path_buf(), |(home, below)| home.join(below));
    path.is_absolute().then_some(path)
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
            ("[[documents]]\npath = \"/x\"\nfor = \"/y\"\n", "line 3: invalid type: string"),
            ("\n[[documents]]\npath = \"/x\"\nas = \"word\"\n", "line 2: `as` is not one of"),
            ("[embedder]\ncommand = []\nname = \"m\"\n", "`command` under [embedder] names no program"),
            ("[embedder]\ncommand = [\"bin/e\"]\nname = \"m\"\n", "is relative; write the whole path"),
            ("[embedder]\ncommand = [\"e\"]\nname = \"m\"\ntimeout-seconds = 0\n", "is not from 1 to 60"),
            ("[embedder]\ncommand = [\"e\"]\nname = \"a b\"\n", "under [embedder] is not up to 64 letters"),
            ("[embedder]\ncommand = \"e\"\nname = \"m\"\n", "line 2: invalid type: string"),
            ("\n[[stores]]\nname = \"x\"\n", "line 2: missing field `path`"),
        ] {
            let error = UserSettings::parse(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
