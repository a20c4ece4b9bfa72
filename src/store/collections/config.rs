//! A store's `config.toml`.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;

use jiff::civil::Date;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::de::DeTable;

use super::document_config::{self, SourceConfig, StoreConfig, WorktreesConfig};
use super::layout::CONFIG_FILE;
use crate::calendar::parse;
use crate::error::{Error, ErrorKind};
use crate::escape::abbreviated;
use crate::note::{Language, LinkTypes};
use crate::store::fs::dir_handle::{DirHandle, is_link};

/// The greatest length that is read, in bytes: a parser takes many times as much memory.
const MAX_CONFIG: u64 = 256 * 1024;

/// The config of a store. Every setting has a default, and keys of later versions are allowed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// Link types and their inverses.
    pub link_types: LinkTypes,
    /// The language of the notes.
    pub language: Language,
    /// The defaults of `qipu context`.
    pub context: ContextConfig,
    /// How far authors and hosts are trusted.
    pub trust: TrustConfig,
    /// What becomes of notes that agents write.
    pub review: ReviewConfig,
    /// The folders of markdown that are read with the store.
    pub documents: Vec<SourceConfig>,
    /// Whether some of them are under the key of former versions, `[[sources]]`.
    pub has_former_key: bool,
    /// The stores that are read with it.
    pub stores: Vec<StoreConfig>,
    /// Which store linked working trees use.
    pub worktrees: WorktreesConfig,
    /// What of the repository's history is read.
    pub history: HistoryConfig,
    /// Whether the stores of the folders above are read with it; `None`: they are.
    pub parents: Option<bool>,
    /// The filters that have a name.
    pub queries: BTreeMap<String, String>,
    /// The keys that have no meaning, in the order of their lines.
    pub unknown_keys: Vec<UnknownKey>,
}

/// The table `[trust]`; numbers are 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TrustConfig {
    /// Trust by the author that a note names.
    pub authors: BTreeMap<String, f64>,
    /// Trust by the host of a source, subdomains included.
    pub hosts: BTreeMap<String, f64>,
}

/// The table `[review]`. It can only hide notes, so that of any store counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ReviewConfig {
    /// Whether a note that an agent writes is a draft until a person accepts it.
    pub hold: bool,
    /// How answers show drafts; `None`: hidden if `hold`, else as any other note.
    pub drafts: Option<DraftsSetting>,
}

/// How answers show drafts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DraftsSetting {
    /// Only where the request names them.
    Hide,
    /// With a mark.
    Mark,
}

impl ReviewConfig {
    /// Whether `context`, `prime` and hooks show drafts only if the request names them.
    pub fn hides_drafts(self) -> bool {
        self.drafts.map_or(self.hold, |drafts| drafts == DraftsSetting::Hide)
    }

    /// Whether answers mark drafts.
    pub fn marks_drafts(self) -> bool {
        self.hold || self.drafts.is_some()
    }
}

/// The table `[history]`, of a store or of the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HistoryConfig {
    /// Whether the commits of the repository are read.
    pub commits: Option<bool>,
}

/// The table `[context]`; numbers are 1 or more.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ContextConfig {
    /// The most notes that a query selects.
    pub max_notes: Option<NonZeroUsize>,
    /// The most blocks of a note that are shown.
    pub max_blocks_per_note: Option<NonZeroUsize>,
    /// The most blocks that are shown in all.
    pub max_blocks: Option<NonZeroUsize>,
    /// Namespaces whose notes are left out.
    pub exclude_namespaces: Vec<String>,
    /// Which blocks are shown in place of bodies.
    pub blocks: Option<BlocksSetting>,
    /// The days of hits and journals: from the first day of this phrase.
    pub since: Option<String>,
    /// To the last day of this one.
    pub until: Option<String>,
    /// The most hits of a search.
    pub search_limit: Option<NonZeroUsize>,
    /// The least relevance of a hit, 0 to 1.
    pub min_relevance: Option<f64>,
    /// The share of a note that must be new beside others, 0 to 1.
    pub novelty_threshold: Option<f64>,
}

/// Which blocks of notes are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlocksSetting {
    /// Every block.
    All,
    /// Those that contain a word of the query.
    Matched,
    /// Those that contain the most of it.
    Top,
}

/// The known keys of each table; in other tables every key is allowed.
const KNOWN: [(&str, &[&str]); 6] = [
    (
        "",
        &[
            "language", "link-types", "context", "trust", "review", "documents", "sources", "stores", "worktrees",
            "parents", "queries", "history",
        ],
    ),
    ("worktrees", &["share"]),
    ("history", &["commits"]),
    ("trust", &["authors", "hosts"]),
    ("review", &["hold", "drafts"]),
    (
        "context",
        &[
            "max-notes", "max-blocks-per-note", "max-blocks", "exclude-namespaces", "blocks", "since", "until",
            "search-limit", "min-relevance", "novelty-threshold",
        ],
    ),
];

/// A key without a meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// Its name, after that of its table.
    pub name: String,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The known keys of its table.
    pub known: &'static [&'static str],
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct File {
    link_types: BTreeMap<String, String>,
    language: Option<String>,
    context: ContextConfig,
    trust: TrustConfig,
    review: ReviewConfig,
    documents: Vec<SourceConfig>,
    sources: Vec<SourceConfig>,
    stores: Vec<StoreConfig>,
    worktrees: WorktreesConfig,
    history: HistoryConfig,
    parents: Option<bool>,
    queries: BTreeMap<String, String>,
}

impl Config {
    /// Loads the config of a store, the default one if there is no file.
    ///
    /// # Errors
    /// `Store` if the file can't be read, is too long or is not valid, with the line.
    pub(in crate::store) fn load(dir: &DirHandle) -> Result<Self, Error> {
        match dir.read(Path::new(CONFIG_FILE), MAX_CONFIG) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) if is_link(&error) => Err(invalid("it is a symbolic link, not a regular file")),
            Err(error) => Err(invalid(&format!("it can't be read: {error}"))),
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Self::parse(&text),
                Err(_) => Err(invalid("it is not UTF-8")),
            },
        }
    }

    /// Parses a config.
    ///
    /// # Errors
    /// `Store` if it is not valid.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let file: File = parse_toml(text).map_err(|reason| invalid(&reason))?;
        check(&file.context)?;
        let unknown_keys = unknown_keys(text);
        let File { link_types, language, context, trust, review, stores, worktrees, history, parents, queries, .. } =
            file;
        let has_former_key = !file.sources.is_empty();
        let documents = file.documents.into_iter().chain(file.sources).collect();
        let mut config = Self {
            context,
            trust,
            review,
            documents,
            has_former_key,
            stores,
            worktrees,
            history,
            parents,
            queries,
            unknown_keys,
            ..Self::default()
        };
        expect_shares(config.trust.authors.iter().chain(&config.trust.hosts)).map_err(|reason| invalid(&reason))?;
        for (kind, inverse) in &link_types {
            if kind == "language" {
                return Err(invalid("`language` is under [link-types]; move it above that line"));
            }
            // Stores define pairs that a later version of qipu has built in.
            if config.link_types.has_pair(kind, inverse) {
                continue;
            }
            // It would change the meaning of links in notes that are copied from other stores.
            if [kind, inverse].iter().any(|name| config.link_types.knows(name)) {
                return Err(invalid(&format!("`{kind} = \"{inverse}\"` redefines an existing link type")));
            }
            config.link_types.add(kind, inverse);
        }
        if let Some(name) = &language {
            config.language = Language::parse(name)
                .ok_or_else(|| invalid(&format!("unknown language `{name}`; use a code such as `de`, or `none`")))?;
        }
        Ok(config)
    }
}

/// Parses settings; an error names the line.
pub(super) fn parse_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("line {}: {}", before.matches('\n').count() + 1, error.message())
    })
}

/// Validates the numbers of the table `[trust]`.
pub(super) fn expect_shares<'a>(mut trusted: impl Iterator<Item = (&'a String, &'a f64)>) -> Result<(), String> {
    match trusted.find(|(_, trust)| !(0.0..=1.0).contains(*trust)) {
        Some((name, trust)) => Err(format!("`{name} = {trust}` under [trust] is not a number from 0 to 1")),
        None => Ok(()),
    }
}

/// Validates the table `[context]`.
fn check(context: &ContextConfig) -> Result<(), Error> {
    let shares = [("min-relevance", context.min_relevance), ("novelty-threshold", context.novelty_threshold)];
    for (name, share) in shares {
        if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(invalid(&format!("`{name} = {share}` under [context] is not a number from 0 to 1")));
        }
    }
    // Whether a phrase is valid does not depend on the day.
    let any_day = Date::constant(2000, 1, 1);
    for (name, text) in [("since", &context.since), ("until", &context.until)] {
        let Some(text) = text else { continue };
        let span = parse(text, any_day)
            .map_err(|reason| invalid(&format!("`{name}` under [context]: {}", abbreviated(&reason))))?;
        if name == "since" && span.period().from.is_none() {
            return Err(invalid("`since` under [context] has no start"));
        }
    }
    Ok(())
}

fn unknown_keys(text: &str) -> Vec<UnknownKey> {
    let Ok(file) = DeTable::parse(text) else { return Vec::new() };
    let mut unknown = Vec::new();
    for (table, known) in KNOWN.into_iter().chain(document_config::KNOWN) {
        let value = file.get_ref().get(table).map(|value| value.get_ref());
        let tables = || value.into_iter().flat_map(|value| value.as_array().into_iter().flatten());
        let tables = tables().filter_map(|value| value.get_ref().as_table());
        let one = if table.is_empty() { Some(file.get_ref()) } else { value.and_then(|value| value.as_table()) };
        let keys = one.into_iter().chain(tables).flat_map(|entries| entries.keys());
        for key in keys.filter(|key| !known.contains(&&**key.get_ref())) {
            let name = if table.is_empty() { key.get_ref().to_string() } else { format!("{table}.{}", key.get_ref()) };
            let before = text.get(..key.span().start).unwrap_or_default();
            unknown.push(UnknownKey { name, line: before.matches('\n').count() + 1, known });
        }
    }
    unknown.sort_by_key(|key| key.line);
    unknown
}

fn invalid(reason: &str) -> Error {
    Error::new(ErrorKind::Store, format!("the store's config.toml is not valid: {reason}"))
        .hint("correct the file, or remove it to get the defaults")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of settings in the page are those of the parser, and those of the tables that repeat are in its example,
    /// but the one that only the user's have.
    #[test]
    fn the_page_of_settings_lists_every_key() {
        let page = include_str!("../../../specs/reference/settings.md");
        let rows = page.lines().skip_while(|line| !line.starts_with("| key |")).skip(2);
        let rows = rows.take_while(|line| line.starts_with('|')).filter_map(|row| row.split('|').nth(1));
        let mut listed: Vec<&str> =
            rows.flat_map(|cell| cell.split(',')).map(|key| key.trim_matches([' ', '`'])).collect();
        let tables: Vec<&str> = KNOWN.iter().map(|(table, _)| *table).collect();
        let keys = KNOWN.iter().flat_map(|(table, keys)| keys.iter().map(move |key| (*table, *key)));
        let name =
            |(table, key): (&str, &str)| if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
        let mut known: Vec<String> =
            keys.map(name).filter(|name| !tables.contains(&name.as_str()) && name != "sources").collect();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
        for (table, keys) in document_config::KNOWN.into_iter().filter(|(table, _)| *table != "sources") {
            let example = page.split(&format!("[[{table}]]\n")).nth(1).unwrap_or_else(|| panic!("no [[{table}]]"));
            assert!(
                keys.iter()
                    .all(|key| example.contains(&format!("\n{key} = ")) || example.starts_with(&format!("{key} = ")))
            );
            assert!(page.contains("`for = [") && !keys.contains(&"for"));
        }
    }

    #[test]
    fn keys_that_mean_nothing_are_found_with_their_lines() {
        let text = "langage = \"de\"\n[link-types]\na = \"b\"\n[context]\nmax_notes = 3\nblocks = \"all\"\n[trust.authors]\nx = 1\n\n[trust.sites]\n";
        let unknown: Vec<_> = unknown_keys(text).into_iter().map(|key| (key.name, key.line)).collect();
        let expected = [("langage", 1), ("context.max_notes", 5), ("trust.sites", 10)];
        assert_eq!(unknown, expected.map(|(name, line)| (name.to_owned(), line)));
        assert!(unknown_keys("not toml").is_empty());
    }

    #[test]
    fn config_adds_link_types_and_tolerates_other_keys() {
        let config = Config::parse("later = 1\n[link-types]\nimplements = \"implemented-by\"\n").unwrap();
        assert_eq!(config.link_types.inverse("implemented-by"), "implements");
        assert_eq!(config.link_types.inverse("supports"), "supported-by");
        assert_eq!(Config::parse("").unwrap(), Config::default());
        assert_eq!(Config::parse("").unwrap().language, Language::English);
        assert_eq!(Config::parse("language = \"de\"\n").unwrap().language, Language::German);
        let context = Config::parse("[context]\nmax-notes = 3\nexclude-namespaces = [\"archive\"]\n").unwrap().context;
        assert_eq!((context.max_notes.map(Into::into), context.exclude_namespaces.len()), (Some(3_usize), 1));
        assert!(Config::parse("[context]\nmax-blocks = 0\n").is_err());
        let context = "[context]\nblocks = \"top\"\nsince = \"last 30 days\"\nsearch-limit = 6\nmin-relevance = 0.5\n";
        let context = Config::parse(context).unwrap().context;
        assert_eq!((context.blocks, context.since.as_deref()), (Some(BlocksSetting::Top), Some("last 30 days")));
        assert_eq!((context.search_limit.map(Into::into), context.min_relevance), (Some(6_usize), Some(0.5)));
        for bad in "blocks = \"some\"|since = \"soon\"|since = \"before today\"|until = 3|min-relevance = 1.5|\
            min-relevance = nan|novelty-threshold = 2|search-limit = 0"
            .split('|')
        {
            assert!(Config::parse(&format!("[context]\n{bad}\n")).is_err(), "{bad}");
        }
        let trust = Config::parse("[trust.authors]\nAnn = 0.9\n[trust.hosts]\n\"x.org\" = 1\n").unwrap().trust;
        assert_eq!((trust.authors["Ann"], trust.hosts["x.org"]), (0.9, 1.0));
        assert!(Config::parse("[trust.hosts]\n\"x.org\" = 1.5\n").is_err());
        for (settings, hides, marks) in [
            ("", false, false),
            ("[review]\nhold = true\n", true, true),
            ("[review]\nhold = true\ndrafts = \"mark\"\n", false, true),
            ("[review]\ndrafts = \"hide\"\n", true, true),
        ] {
            let review = Config::parse(settings).unwrap().review;
            assert_eq!((review.hides_drafts(), review.marks_drafts()), (hides, marks), "{settings}");
        }
        assert!(Config::parse("[review]\nhold = \"yes\"\n").is_err());
        assert!(Config::parse("[review]\ndrafts = \"show\"\n").is_err());
        assert!(Config::parse("language = \"klingon\"\n").is_err());
        assert!(Config::parse("[link-types]\nfoo = \"supports\"\n").is_err());
        assert!(Config::parse("[link-types]\nsupersedes = \"replaced-by\"\n").is_err());
        for pair in ["supersedes = \"superseded-by\"", "superseded-by = \"supersedes\""] {
            assert!(Config::parse(&format!("[link-types]\n{pair}\n")).is_ok(), "{pair}");
        }
        let error = Config::parse("[link-types]\nx = 3\n").unwrap_err();
        assert_eq!(error.kind.exit_code(), 3);
        assert!(error.message.contains("line 2"), "{}", error.message);
    }

    #[test]
    fn a_config_that_is_too_long_is_refused_before_it_is_parsed() {
        let dir = tempfile::tempdir().unwrap();
        let opened = DirHandle::new(dir.path()).unwrap();
        assert_eq!(Config::load(&opened).unwrap(), Config::default());
        let line = "# a comment\n";
        let text = line.repeat(MAX_CONFIG as usize / line.len());
        std::fs::write(dir.path().join(CONFIG_FILE), &text).unwrap();
        assert_eq!(Config::load(&opened).unwrap(), Config::default());
        std::fs::write(dir.path().join(CONFIG_FILE), text + line).unwrap();
        let error = Config::load(&opened).unwrap_err();
        assert!(error.message.contains("longer than 262144 bytes"), "{}", error.message);
    }
}
