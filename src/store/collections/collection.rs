//! Collections: the stores and sources that one answer is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::codec::named::named;
use crate::note::{COLLECTION_MARK, Dialect};

/// The name of the project's store.
pub const PROJECT: &str = "project";
/// The name of the user's store.
pub(super) const USER: &str = "user";
/// The name of the repository's commits.
pub const COMMITS: &str = "commits";

/// Whether the name of a note is that of a commit.
pub fn is_commit(name: &str) -> bool {
    name.split_once(COLLECTION_MARK).is_some_and(|(collection, _)| collection == COMMITS)
}

/// The other names of the stores of a repository, by which links name them from every folder of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OtherNames {
    /// The name of the collection that has each in this answer. None is the name of another collection.
    pub(in crate::store) names: BTreeMap<String, String>,
    /// The one of the project's store that links to it are written with.
    pub(super) of_project: Option<String>,
    /// Those of them that the user's settings give, which mean the same in every project.
    pub(super) of_user: BTreeSet<String>,
}

named! {
    /// Whose word notes are: what answers prefer among notes that match alike, the first one first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Tier {
        /// What the project and its people wrote down themselves.
        Own = "own",
        /// What they were given to read.
        Documents = "documents",
        /// What the repository's commits say.
        History = "history",
    }
}

/// A store, or a source: a folder of markdown, or the commits of a repository, that is read where it lies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collection {
    /// The name, unique among the collections of an answer.
    pub name: String,
    /// The position among them; the first one is that of the project.
    pub ordinal: usize,
    /// The path of its folder relative to that of the first collection, empty or with `/` at its end.
    pub prefix: String,
    /// The path of the folder of the first collection relative to its own, empty or with `/` at its end; that of the first
    /// one begins with `../`.
    pub way_to_first: String,
    /// The path of its folder relative to the current directory, with `/` at its end.
    pub shown_path: String,
    /// For which application its files were written: that of a store for qipu.
    pub dialect: Dialect,
    /// Whether commands may change its files.
    pub is_writable: bool,
    /// Why it counts.
    pub reason: CollectionReason,
    /// On whose word it counts.
    pub authority: Authority,
    /// Whether answers hide drafts in it.
    pub hides_drafts: bool,
    /// Whether it lies in the repository of the first collection, so that references to code lead to the same files.
    pub is_in_repository: bool,
    /// The other names of all collections of the answer.
    pub other_names: Arc<OtherNames>,
}

impl Collection {
    /// Returns the name that a collection of the answer has there, by any of its names; another name as it is.
    pub fn current_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.other_names.names.get(name).map_or(name, String::as_str)
    }

    /// Whether the user's settings give another name than that in the answer.
    pub fn is_other_name_of_user(&self, name: &str) -> bool {
        self.other_names.of_user.contains(name)
    }

    /// Returns the name that links in another collection lead to its notes with; `None` if none does from there.
    pub(in crate::store) fn name_in_links_of(&self, from: &Self) -> Option<&str> {
        if from.reason != CollectionReason::User {
            return Some(self.name_in_links());
        }
        let mut others = self.other_names.of_user.iter().map(String::as_str);
        let own = Some(self.name.as_str()).filter(|_| self.reason.is_of_user());
        own.or_else(|| others.find(|name| self.current_name(name) == self.name))
    }

    /// Returns the name that links to its notes are written with.
    fn name_in_links(&self) -> &str {
        self.other_names.of_project.as_deref().filter(|_| self.is_project()).unwrap_or(&self.name)
    }

    /// Whether it is a source.
    pub fn is_source(&self) -> bool {
        self.dialect != Dialect::Qipu
    }

    /// Returns its tier: what is written in stores, and in folders of documents that are written to, is own.
    pub fn tier(&self) -> Tier {
        match self.dialect {
            Dialect::Commit => Tier::History,
            Dialect::Qipu => Tier::Own,
            _ if self.is_writable => Tier::Own,
            _ => Tier::Documents,
        }
    }

    /// Whether it is the project's own word, which hooks show although nobody asked: own notes and decision records.
    pub fn is_own_word(&self) -> bool {
        self.tier() == Tier::Own || self.dialect == Dialect::Adr
    }

    /// Whether it is the project's store, to which notes without a collection belong.
    pub(in crate::store) fn is_project(&self) -> bool {
        self.name == PROJECT && !self.is_source()
    }

    /// Returns the path of a note's file in the folder of the collection.
    pub fn local_path<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(self.prefix.as_str()).unwrap_or(path)
    }
}

/// On whose word a collection counts. What a lower one states replaces no note of a higher one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Authority {
    /// The repository's: it lies there, or a config there names it.
    #[default]
    Repository,
    /// An option's.
    Option,
    /// The user's: it is the user's own store, or the user's settings name it.
    User,
}

/// Why a collection counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CollectionReason {
    /// It is the first store here or in a folder above.
    #[default]
    Nearest,
    /// It is the store of the main working tree of the repository, and this is a linked one.
    MainWorktree,
    /// It is the store of a folder above the first one.
    Parent,
    /// The config of the named store names it.
    Config(String),
    /// It is the user's own.
    User,
    /// The user's settings name it.
    UserSettings,
    /// The user's settings name it for some projects, and this is one of them.
    UserSettingsForProject,
    /// An option names it.
    Option,
    /// The config of the first store, or the user's settings, switch it on.
    History,
}

impl CollectionReason {
    /// Whether it counts in every project of the user, by the same name.
    pub fn is_of_user(&self) -> bool {
        matches!(self, Self::User | Self::UserSettings)
    }

    /// Whether the user's settings name it.
    pub(in crate::store) fn is_of_settings(&self) -> bool {
        matches!(self, Self::UserSettings | Self::UserSettingsForProject)
    }

    /// Returns how a source that counts for this reason is made writable, as an order.
    pub fn how_to_write(&self) -> String {
        match self {
            Self::Config(store) => format!("add `writable = true` to it in config.toml of {store}"),
            _ if self.is_of_settings() => "add `writable = true` to it in your settings".to_owned(),
            _ => "name its folder under [[documents]] in config.toml, with `writable = true`".to_owned(),
        }
    }
}

impl fmt::Display for CollectionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nearest => f.write_str("nearest store"),
            Self::MainWorktree => f.write_str("store of the main worktree"),
            Self::Parent => f.write_str("store of a parent folder"),
            Self::Config(store) => write!(f, "config.toml of {store}"),
            Self::User => f.write_str("your own store"),
            Self::UserSettings => f.write_str("your settings"),
            Self::UserSettingsForProject => f.write_str("your settings, for this project"),
            Self::Option => f.write_str("option"),
            Self::History => f.write_str("[history]"),
        }
    }
}
