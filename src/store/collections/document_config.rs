//! The settings that name collections: the tables `[[documents]]` and `[[stores]]` of a store and of the user.

use serde::{Deserialize, Deserializer, de};

use crate::note::{Dialect, is_collection_name};

/// A table `[[documents]]`: a folder of markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct SourceConfig {
    /// The folder, or a glob; in a store relative to the folder that contains it.
    pub path: String,
    /// For which application the files were written.
    #[serde(rename = "as", default = "markdown", deserialize_with = "dialect")]
    pub dialect: Dialect,
    /// The name of the collection; `None`: from the path.
    #[serde(default, deserialize_with = "name")]
    pub name: Option<String>,
    /// Whether commands may change the files.
    #[serde(default)]
    pub writable: bool,
    /// Globs of files and folders that do not belong to it, relative to its folder.
    #[serde(default)]
    pub exclude: Vec<String>,
}

/// A table `[[stores]]`: another store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct StoreConfig {
    /// The store or the folder that contains it; in a store relative to the folder that contains that one. A name of the
    /// path may have the wildcards of a glob.
    pub path: String,
    /// The name of the collection; `None`: from the path.
    #[serde(default, deserialize_with = "name")]
    pub name: Option<String>,
}

/// The table `[worktrees]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct WorktreesConfig {
    /// Whether linked working trees use the store of the main one, although they have one of their own.
    pub share: bool,
}

/// The known keys of the tables that repeat.
pub(super) const KNOWN: [(&str, &[&str]); 3] =
    [("documents", OF_DOCUMENTS), ("sources", OF_DOCUMENTS), ("stores", &["path", "name"])];
const OF_DOCUMENTS: &[&str] = &["path", "as", "name", "writable", "exclude"];

fn markdown() -> Dialect {
    Dialect::Markdown
}

fn dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Dialect, D::Error> {
    let name = String::deserialize(deserializer)?;
    let expected = || format!("`as` is not one of {}", Dialect::NAMES.join(", "));
    Dialect::parse(&name).ok_or_else(|| de::Error::custom(expected()))
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    if !is_collection_name(&name) {
        return Err(de::Error::custom("`name` is not 1 to 64 letters, digits, `.`, `_` or `-`"));
    }
    Ok(Some(name))
}
