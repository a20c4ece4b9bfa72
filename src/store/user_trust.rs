//! What the user trusts in every store: the table `[trust]` of `qipu/config.toml` in the user's configuration folder, which
//! no repository can write.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::files;
use crate::error::{Error, ErrorKind};

/// The file in the user's configuration folder.
const FILE: &str = "qipu/config.toml";

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

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct UserSettings {
    trust: UserTrust,
}

impl UserTrust {
    /// Loads the table; the default without a file or a folder.
    ///
    /// # Errors
    /// `Store` if the file can't be read or is not valid, with the line.
    pub(super) fn load(settings: Option<&Path>) -> Result<Self, Error> {
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
        let file: UserSettings = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            format!("line {}: {}", before.matches('\n').count() + 1, error.message())
        })?;
        let mut numbers = file.trust.authors.iter().chain(&file.trust.hosts);
        match numbers.find(|(_, trust)| !(0.0..=1.0).contains(*trust)) {
            Some((name, trust)) => Err(format!("`{name} = {trust}` under [trust] is not a number from 0 to 1")),
            None => Ok(file.trust),
        }
    }

    /// Whether the authors of commits count.
    pub fn has_commit_authors(&self) -> bool {
        self.authors.keys().any(|name| name.contains('@'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_errors_name_the_line() {
        let text = "[trust]\nverifiers = [\"human:ann\"]\n[trust.authors]\nAnn = 0.9\n\"ann@x.org\" = 1\n[trust.hosts]\n\"x.org\" = 0\n";
        let trust = UserTrust::parse(text).unwrap();
        assert_eq!((trust.authors["Ann"], trust.hosts["x.org"], trust.has_commit_authors()), (0.9, 0.0, true));
        assert_eq!(trust.verifiers, Some(vec!["human:ann".to_owned()]));
        assert_eq!(UserTrust::parse("").unwrap(), UserTrust::default());
        for (text, reason) in [
            ("[trust.authors]\nAnn = 1.5\n", "`Ann = 1.5` under [trust] is not a number from 0 to 1"),
            ("[trust.authors]\nAnn = \"much\"\n", "line 2: "),
            ("[trust]\nverifier = []\n", "line 2: unknown field `verifier`"),
            ("\n[trusts]\n", "line 2: unknown field `trusts`"),
        ] {
            let error = UserTrust::parse(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_missing_file_is_the_default_and_a_broken_one_is_named() {
        let tmp = tempfile::tempdir().unwrap();
        assert_eq!(UserTrust::load(None).unwrap(), UserTrust::default());
        assert_eq!(UserTrust::load(Some(tmp.path())).unwrap(), UserTrust::default());
        std::fs::create_dir(tmp.path().join("qipu")).unwrap();
        std::fs::write(tmp.path().join(FILE), "[trust\n").unwrap();
        let error = UserTrust::load(Some(tmp.path())).unwrap_err();
        assert!(error.to_string().contains("config.toml are not valid: line 1"), "{error}");
    }
}
