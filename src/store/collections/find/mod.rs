//! Finds the collections that an answer is made of, by the options, the configs of stores and the user's settings.
//!
//! A repository is untrusted: its config names only folders inside it, without symbolic links, unless the user allows it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use super::collection::{Authority, CollectionReason, OtherNames, PROJECT, USER};
use super::config::Config;
use super::discover::{self, CollectionScope, Location, open_root, relative_to};
use super::document_config::{SourceConfig, StoreConfig};
use super::guessed_dialect::guessed_dialect;
use super::layout::CONFIG_FILE;
use super::trusted_stores;
use super::user_settings::{self, UserSettings};
use crate::error::{Error, ErrorKind};
use crate::escape::abbreviated;
use crate::note::{Dialect, NOTE_FOLDERS};
use crate::store::fs::dir_handle::{DirHandle, FileType, is_unreadable};
use crate::store::fs::file_tree::FileTree;
use crate::store::index::excluded_files::ExcludedFiles;
use crate::store::index::source_scan::{KnownPatterns, SourceRules, patterns_above};

/// The folder of the user's own store, in the user's folder for data.
const USER_STORE: &str = "qipu";
/// The most collections: each keeps files open, and many systems allow a process 1,024.
const MAX_COLLECTIONS: usize = 250;
/// The most folders that a path with wildcards is compared with.
const MAX_EXPANDED: usize = 10_000;
/// The longest path of a setting, in bytes, as of Linux. Matching takes memory in proportion to it.
const MAX_PATH: usize = 4_096;

/// A collection that counts.
#[derive(Debug, Clone)]
pub(in crate::store) struct FoundCollection {
    pub(in crate::store) name: String,
    pub(in crate::store) root: PathBuf,
    pub(in crate::store) dir: Arc<DirHandle>,
    pub(in crate::store) dialect: Dialect,
    pub(in crate::store) is_writable: bool,
    pub(in crate::store) reason: CollectionReason,
    /// On whose word it counts.
    pub(in crate::store) authority: Authority,
    /// The config of a store; that of the store that names a source.
    pub(in crate::store) config: Arc<Config>,
    /// The rules of a source.
    pub(in crate::store) rules: Option<Arc<SourceRules>>,
}

impl FoundCollection {
    /// Whether it belongs to [`CollectionScope::Own`].
    fn speaks_unasked(&self) -> bool {
        let is_own = self.rules.is_none() || self.is_writable;
        is_own || self.dialect == Dialect::Adr || self.reason == CollectionReason::Option
    }

    /// Whether it is a source that a setting names, inside one of some stores.
    fn is_inside(&self, stores: &[PathBuf]) -> bool {
        let is_named = self.reason == CollectionReason::Option;
        self.rules.is_some() && !is_named && stores.iter().any(|store| self.root.starts_with(store))
    }
}

/// A setting that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingFinding {
    /// The file of the setting, as it is shown.
    pub file: String,
    /// A short name that never changes.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The name that the collection of the setting would have.
    pub collection: Option<String>,
}

/// The collections that count, the first one that of the project, and the settings without effect.
#[derive(Debug, Default, Clone)]
pub(in crate::store) struct FoundCollections {
    pub(in crate::store) all: Vec<FoundCollection>,
    pub(in crate::store) findings: Vec<SettingFinding>,
    /// The other names of all collections, of those that `--only` leaves out too.
    pub(in crate::store) other_names: Arc<OtherNames>,
}

/// Who names a collection.
#[derive(Clone)]
struct Namer {
    /// The folder that paths are relative to.
    base: PathBuf,
    /// The folder that they must not leave; `None` for the user.
    boundary: Option<PathBuf>,
    /// The file of the setting, as it is shown.
    file: String,
    reason: CollectionReason,
    config: Arc<Config>,
    /// The home of a user whose settings name the collection.
    home: Option<PathBuf>,
    /// The files that its paths lead to.
    files: FileTree,
}

/// A path in a setting, divided before its first name with a wildcard.
struct SplitPath {
    literal: PathBuf,
    /// The names with wildcards, and those behind them.
    pattern: Option<String>,
}

/// Finds the collections of a call.
///
/// # Errors
/// `NoStore` if there are none; `Store` if the first store or the user's settings can't be read; `Usage` for a name behind
/// `--only` that no collection has.
pub(in crate::store) fn find_collections(location: &Location, current_dir: &Path) -> Result<FoundCollections, Error> {
    // What depends on the user's trust fails later; other answers are given.
    let (user, invalid) = match UserSettings::load(location.settings.as_deref()) {
        Ok(user) => (user, None),
        Err(error) => (UserSettings::default(), Some(error.message)),
    };
    let file = user_settings::FILE.to_owned();
    let relative = user.relative_repositories().map(|path| SettingFinding {
        file: file.clone(),
        code: "repository-invalid",
        message: format!("`{}` under allowed-repositories {RELATIVE}", abbreviated(&path.to_string_lossy())),
        collection: None,
    });
    let mut findings: Vec<SettingFinding> = relative.collect();
    let of_settings = |message| SettingFinding { file, code: "settings-invalid", message, collection: None };
    findings.extend(invalid.map(of_settings));
    let found = FoundCollections { findings, ..FoundCollections::default() };
    let finder = CollectionFinder::new(location, current_dir, &user, found);
    let (mut found, missing) = finder.add_all_outside_stores()?;
    if found.all.is_empty() {
        let nothing = || Error::new(ErrorKind::NoStore, "no store and no source");
        return Err(missing.unwrap_or_else(nothing));
    }
    set_authorities(&location.files, &mut found.all);
    // Whose file one is does not depend on which collections are asked for.
    divide_files(&mut found.all);
    keep_only(&mut found, &location.only)?;
    if location.scope == CollectionScope::Own {
        found.all.retain(FoundCollection::speaks_unasked);
        if found.all.is_empty() {
            return Err(Error::new(ErrorKind::NoStore, "no store, only documents"));
        }
    }
    Ok(found)
}

/// Finds the collection that a command changes: the store of the project, or the one that is named.
///
/// # Errors
/// As [`find_collections`]; `Usage` for a name that no collection has, and for a source that is not writable.
pub(in crate::store) fn find_target(location: &Location, current_dir: &Path) -> Result<FoundCollection, Error> {
    let Some(name) = location.to.as_ref().filter(|name| *name != PROJECT) else {
        let root = discover::find_root(location, current_dir).map_err(|error| or_to_user(error, location))?;
        let dir = open_root(&location.files, &root)?;
        let config = Arc::new(Config::load(&dir)?);
        let reason = reason_of_first(location, &root, current_dir);
        let (name, dialect) = (PROJECT.to_owned(), Dialect::Qipu);
        let authority = Authority::default();
        let (is_writable, rules) = (true, None);
        return Ok(FoundCollection { name, root, dir, dialect, is_writable, reason, authority, config, rules });
    };
    Ok(find_named(name, location, current_dir)?.0)
}

/// Finds the collection that a command changes, with its other names, which its notes may use for it. None are known if the
/// collections can't be found.
///
/// # Errors
/// As [`find_target`].
pub(in crate::store) fn find_target_with_names(
    location: &Location,
    current_dir: &Path,
) -> Result<(FoundCollection, Arc<OtherNames>), Error> {
    if let Some(name) = location.to.as_ref().filter(|name| *name != PROJECT) {
        let (target, names) = find_named(name, location, current_dir)?;
        // What depends on the project has no name in notes that count in every project.
        if target.reason == CollectionReason::User {
            return Ok((target, Arc::default()));
        }
        // In its own folder, the collection is that of the project.
        let mut names = OtherNames::clone(&names);
        names.names.insert(PROJECT.to_owned(), target.name.clone());
        return Ok((target, Arc::new(names)));
    }
    let target = find_target(location, current_dir)?;
    let all = Location { only: Vec::new(), to: None, ..location.clone() };
    Ok((target, find_collections(&all, current_dir).map(|found| found.other_names).unwrap_or_default()))
}

/// Finds the writable collection with a name, and the other names of all.
fn find_named(
    name: &str,
    location: &Location,
    current_dir: &Path,
) -> Result<(FoundCollection, Arc<OtherNames>), Error> {
    let location = Location { only: vec![name.to_owned()], ..location.clone() };
    let mut found = find_collections(&location, current_dir)?;
    let target = found.all.swap_remove(0);
    if !target.is_writable {
        let message = format!("`{name}` is a source that is only read");
        return Err(Error::usage(message).hint(target.reason.how_to_write()));
    }
    Ok((target, found.other_names))
}

/// Adds to the error of a missing store that the user's own can be changed, if there is one.
fn or_to_user(error: Error, location: &Location) -> Error {
    let is_unnamed = location.store.is_none() && location.to.is_none();
    let has_own = || user_store(location).is_ok_and(|own| own.is_dir());
    if error.kind != ErrorKind::NoStore || !is_unnamed || !has_own() {
        return error;
    }
    let hint = error.hint.clone().unwrap_or_default();
    error.hint(format!("`--to user` changes your own store; else {hint}"))
}

/// Returns the error of a path behind `--source` that is not that of a folder.
fn no_source_folder(path: &Path, is_there: bool) -> Error {
    let (shown, hint) = (path.display(), "--source takes a folder of markdown");
    if is_there {
        return Error::usage(format!("{shown} is a file")).hint(hint);
    }
    if path.to_string_lossy().contains(['*', '?', '[', '{']) {
        let hint = format!("{hint}; a `path` under [[sources]] in a config may be a glob");
        return Error::usage(format!("there is no folder {shown}, and a glob is not expanded")).hint(hint);
    }
    Error::usage(format!("there is no folder {shown}")).hint(hint)
}

/// Returns why the project's store counts.
fn reason_of_first(location: &Location, root: &Path, current_dir: &Path) -> CollectionReason {
    match (location.store.is_some(), location.root.is_some()) {
        (true, _) => CollectionReason::Option,
        (false, false) if discover::is_in_main_worktree(&location.files, root, current_dir) => {
            CollectionReason::MainWorktree
        }
        _ => CollectionReason::Nearest,
    }
}

/// Returns the folder of the user's own store, which may not exist.
///
/// # Errors
/// `Failure` if the user has no folder for data.
pub fn user_store(location: &Location) -> Result<PathBuf, Error> {
    let none = || Error::failure("there is no folder for your data: neither XDG_DATA_HOME nor HOME is set");
    Ok(location.data.as_ref().ok_or_else(none)?.join(USER_STORE))
}

/// Keeps the collections that are named, if any are.
fn keep_only(found: &mut FoundCollections, only: &[String]) -> Result<(), Error> {
    let names = || found.all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>();
    let others = &found.other_names.names;
    let only: Vec<&String> = only.iter().map(|name| others.get(name).unwrap_or(name)).collect();
    if let Some(unknown) = only.iter().find(|name| !names().contains(&name.as_str())) {
        let hint = if *unknown == USER {
            "`qipu init --user` creates your own store".to_owned()
        } else {
            format!("collections: {}; `qipu where` says more", names().join(", "))
        };
        let is_meant = |finding: &&SettingFinding| finding.collection.as_ref() == Some(unknown);
        let why = found.findings.iter().find(is_meant);
        let why = why.map(|finding| format!(": {}: {}", finding.file, finding.message)).unwrap_or_default();
        return Err(Error::usage(format!("no collection has the name `{unknown}`{why}")).hint(hint));
    }
    if !only.is_empty() {
        found.all.retain(|one| only.contains(&&one.name));
    }
    Ok(())
}

/// Gives each file to one collection: to the store whose note it is, else to the source with the deepest folder, then the
/// first one.
fn divide_files(all: &mut [FoundCollection]) {
    let roots: Vec<(PathBuf, Option<Arc<SourceRules>>)> =
        all.iter().map(|one| (one.root.clone(), one.rules.clone())).collect();
    for (index, one) in all.iter_mut().enumerate() {
        let Some(own) = &one.rules else { continue };
        let mut rules = SourceRules::clone(own);
        let stores = roots.iter().filter(|(root, rules)| rules.is_none() && own.root.starts_with(root));
        for folder in stores.flat_map(|(root, _)| NOTE_FOLDERS.map(|folder| root.join(folder))) {
            rules.is_in_notes |= rules.root.starts_with(&folder);
            rules.excluded.push(folder);
        }
        for (other, (root, other_rules)) in roots.iter().enumerate().filter(|(other, _)| *other != index) {
            let is_deeper = root.starts_with(&rules.root) && *root != rules.root;
            match other_rules {
                Some(source) if source.glob.is_some() && is_deeper => rules.before.push(Arc::clone(source)),
                Some(source) if *root == rules.root && other < index => rules.before.push(Arc::clone(source)),
                _ if is_deeper => rules.excluded.push(root.clone()),
                _ => {}
            }
        }
        one.rules = Some(Arc::new(rules));
    }
}

/// Sets the authority of each collection, before `--only` leaves any out. What lies in the repository of the
/// project has that of the repository, whatever else names it.
pub(in crate::store) fn set_authorities(files: &FileTree, all: &mut [FoundCollection]) {
    let project = all.first().filter(|first| first.rules.is_none() && !first.reason.is_of_user());
    let folder = project.map(|project| discover::project_folder(&project.root));
    let repository = folder.map(|folder| files.repository_root(folder).unwrap_or(folder).to_path_buf());
    for index in 0..all.len() {
        let Some((one, before)) = all.get_mut(..=index).and_then(<[_]>::split_last_mut) else { continue };
        let is_inside = repository.as_ref().is_some_and(|repository| one.root.starts_with(repository));
        one.authority = match &one.reason {
            CollectionReason::User => Authority::User,
            _ if is_inside => Authority::Repository,
            CollectionReason::UserSettings => Authority::User,
            CollectionReason::Option => Authority::Option,
            CollectionReason::Config(store) => {
                before.iter().find(|other| other.name == *store).map(|store| store.authority).unwrap_or_default()
            }
            CollectionReason::Nearest | CollectionReason::MainWorktree | CollectionReason::Parent => {
                Authority::Repository
            }
        };
    }
}

struct CollectionFinder<'a> {
    location: &'a Location,
    current_dir: &'a Path,
    user: &'a UserSettings,
    found: FoundCollections,
    names: HashSet<String>,
    patterns: KnownPatterns,
    /// The folders of all stores, if they are known before the collections are added.
    stores: Vec<PathBuf>,
    /// The folder of a store with each name that a config or its place gives it, and whether the user's settings do, in this
    /// order.
    given_names: Vec<(PathBuf, String, bool)>,
    /// The number of sources without documents, which were searched in vain.
    empty_sources: usize,
}

impl<'a> CollectionFinder<'a> {
    fn new(location: &'a Location, current_dir: &'a Path, user: &'a UserSettings, found: FoundCollections) -> Self {
        // No other collection may pass for the project's store or the user's own.
        let names = HashSet::from([PROJECT, USER].map(str::to_owned));
        let (patterns, stores, given_names) = (KnownPatterns::new(), Vec::new(), Vec::new());
        Self { location, current_dir, user, found, names, patterns, stores, given_names, empty_sources: 0 }
    }

    fn files(&self) -> &'a FileTree {
        &self.location.files
    }

    /// Adds all collections, without the sources that are inside a store. Returns them and the error of a missing store.
    fn add_all_outside_stores(mut self) -> Result<(FoundCollections, Option<Error>), Error> {
        let before = self.found.clone();
        let missing = self.add_all()?;
        let stores = self.found.all.iter().filter(|one| one.rules.is_none()).map(|one| one.root.clone());
        let stores: Vec<PathBuf> = stores.collect();
        let is_outside = |one: &FoundCollection| !one.is_inside(&stores);
        if self.found.all.iter().all(is_outside) {
            return Ok((self.found, missing));
        }
        // A store that was found later contains a source: all are added again, so that the source takes no name.
        let mut again =
            Self { stores: stores.clone(), ..Self::new(self.location, self.current_dir, self.user, before) };
        let missing = again.add_all()?;
        // In place of such a source, another store may count where only some are read.
        again.found.all.retain(is_outside);
        Ok((again.found, missing))
    }

    /// Adds all collections. Returns the error of a missing store, which counts if there is nothing else.
    fn add_all(&mut self) -> Result<Option<Error>, Error> {
        let location = self.location;
        let (root, missing) = match discover::find_root(location, self.current_dir) {
            Ok(root) => (Some(root), None),
            Err(error) if error.kind == ErrorKind::NoStore && location.store.is_none() => (None, Some(error)),
            Err(error) => return Err(error),
        };
        if let Some(root) = &root {
            self.add_first(root)?;
        }
        for path in &location.more_stores {
            self.add_named_store(path)?;
        }
        if location.store.is_none() {
            if location.root.is_none() {
                self.add_parents(root.as_deref());
            }
            self.add_user_collections();
        }
        for path in &location.sources {
            self.add_named_source(path)?;
        }
        if let Some(root) = &root {
            self.found.other_names = Arc::new(self.other_names(root));
        }
        Ok(missing)
    }

    /// Returns the names of the stores in the repository of the first one that do not depend on which store is the first:
    /// those that configs give them, and those of their folders. A name that a collection has in this answer is none.
    fn other_names(&self, first: &Path) -> OtherNames {
        let Some(repository) = self.files().repository_root(discover::project_folder(first)) else {
            return OtherNames::default();
        };
        let stores = || self.found.all.iter().filter(|one| one.rules.is_none() && one.root.starts_with(repository));
        let folder_name = |root: &Path| name_from_below(discover::project_folder(root), repository);
        let of_folders = stores().map(|one| (one.root.clone(), folder_name(&one.root), false));
        let (mut names, mut of_user) = (BTreeMap::new(), BTreeSet::new());
        for (root, name, is_of_user) in self.given_names.iter().cloned().chain(of_folders) {
            let (name, store) = (valid_name(&name), stores().find(|one| one.root == root));
            let Some(store) = store.filter(|_| !self.names.contains(&name)) else { continue };
            // The first one has the name.
            if let Entry::Vacant(free) = names.entry(name.clone()) {
                free.insert(store.name.clone());
                of_user.extend(is_of_user.then_some(name));
            }
        }
        let of_project = valid_name(&folder_name(first));
        let is_projects = names.get(&of_project).is_some_and(|name| name == PROJECT);
        OtherNames { names, of_project: is_projects.then_some(of_project), of_user }
    }

    /// Adds the store of the project, and what its config names.
    fn add_first(&mut self, root: &Path) -> Result<(), Error> {
        let dir = open_root(self.files(), root)?;
        let config = Arc::new(Config::load(&dir)?);
        let reason = reason_of_first(self.location, root, self.current_dir);
        self.push_store(PROJECT.to_owned(), root.to_path_buf(), dir, Arc::clone(&config), reason);
        self.find_ignored_trust(root, &config);
        self.add_configured(root, PROJECT, &config);
        Ok(())
    }

    /// Adds the sources and stores that the config of a store names.
    fn add_configured(&mut self, root: &Path, name: &str, config: &Arc<Config>) {
        if config.sources.is_empty() && config.stores.is_empty() {
            return;
        }
        let base = root.parent().unwrap_or(root).to_path_buf();
        let repository = self.files().repository_root(&base).unwrap_or(&base).to_path_buf();
        let boundary = (!self.user.allows(&repository, self.location.home.as_deref())).then_some(repository);
        let (file, reason) = (self.shown_config(root), CollectionReason::Config(name.to_owned()));
        let files = self.files().clone();
        let namer = Namer { base, boundary, file, reason, config: Arc::clone(config), home: None, files };
        self.add_all_of(&config.sources, &config.stores, &namer);
    }

    /// Adds a finding if the config of the first store says whom to trust, and the user does not trust the store.
    fn find_ignored_trust(&mut self, root: &Path, config: &Config) {
        let is_empty = config.trust.authors.is_empty() && config.trust.hosts.is_empty();
        if !is_empty && !trusted_stores::is_trusted(root, self.location.settings.as_deref()) {
            let message = "[trust] makes no note more trusted, because you do not trust the store; `qipu init --trust` \
                           lets it";
            self.add_finding(&self.shown_config(root), "trust-ignored", message.to_owned());
        }
    }

    /// Returns the path of a store's config as it is shown.
    fn shown_config(&self, root: &Path) -> String {
        let shown = relative_to(root, self.current_dir);
        format!("{}{}", shown.strip_prefix("./").unwrap_or(&shown), CONFIG_FILE)
    }

    /// Adds the stores of the folders above the first store, up to the root of the repository.
    fn add_parents(&mut self, root: Option<&Path>) {
        let Some(project) = root.and_then(Path::parent) else { return };
        let Some(repository) = self.files().repository_root(project) else { return };
        let above = project.ancestors().skip(1).take_while(|dir| dir.starts_with(repository));
        let mut reads_parents = self.found.all.first().is_none_or(|first| first.config.parents != Some(false));
        for dir in above.collect::<Vec<_>>() {
            if !reads_parents {
                return;
            }
            let Some(root) = discover::store_in(self.files(), dir).filter(|root| !self.files().is_link(root)) else {
                continue;
            };
            let name = name_from_below(dir, repository);
            if let Some((name, config)) = self.add_store(root.clone(), &name, CollectionReason::Parent, None) {
                reads_parents = config.parents != Some(false);
                self.add_configured(&root, &name, &config);
            }
        }
    }

    /// Adds the user's own store, and what the user's settings name.
    fn add_user_collections(&mut self) {
        let own = self.location.data.as_ref().map(|data| data.join(USER_STORE));
        match own.as_ref().map(|root| (root, root.canonicalize())) {
            Some((_, Ok(root))) if root.is_dir() => {
                self.names.remove(USER);
                self.add_store(root, USER, CollectionReason::User, None);
            }
            Some((root, Err(error))) if is_unreadable(&error) => {
                let message = format!("your own store can't be read: {error}");
                self.add_finding(&relative_to(root, self.current_dir), "store-unreadable", message);
            }
            _ => {}
        }
        let Some(settings) = &self.location.settings else { return };
        let user = self.user;
        let file = user_settings::FILE.to_owned();
        let (reason, home) = (CollectionReason::UserSettings, self.location.home.clone());
        let (base, config, files) = (settings.clone(), Arc::default(), self.files().clone());
        let namer = Namer { base, boundary: None, file, reason, config, home, files };
        self.add_all_of(&user.sources, &user.stores, &namer);
    }

    fn add_named_store(&mut self, path: &Path) -> Result<(), Error> {
        let only = Location { store: Some(path.to_path_buf()), ..self.location.clone() };
        let root = discover::find_root(&only, self.current_dir)?;
        let name = own_name(discover::project_folder(&root), Path::new(""));
        if let Some((name, config)) = self.add_store(root.clone(), &name, CollectionReason::Option, None) {
            self.add_configured(&root, &name, &config);
        }
        Ok(())
    }

    fn add_named_source(&mut self, path: &Path) -> Result<(), Error> {
        let there = match self.files().canonicalize(&self.current_dir.join(path)) {
            Err(error) if is_unreadable(&error) => {
                return Err(Error::failure(format!("can't read {}: {error}", path.display())));
            }
            there => there.ok(),
        };
        let Some(folder) = there.clone().filter(|folder| self.files().is_dir(folder)) else {
            return Err(no_source_folder(path, there.is_some()));
        };
        let dir = self.files().dir(&folder).map(Arc::new);
        let dir = dir.map_err(|error| Error::failure(format!("can't read {}: {error}", path.display())))?;
        let dialect = guessed_dialect(&dir);
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let source = SourceConfig { dialect, ..SourceConfig::default() };
        let omitted = ExcludedFiles::new(&dir, dialect, &[]).unwrap_or_default();
        let rules = self.rules(folder, None, omitted);
        self.push_source(&name, dir, rules, &source, &CollectionReason::Option, Arc::default());
        Ok(())
    }

    /// Adds a store that may be one already; `file` names it, if it is not found by its place. Returns its name and config if
    /// it is new.
    fn add_store(
        &mut self,
        root: PathBuf,
        name: &str,
        reason: CollectionReason,
        file: Option<&str>,
    ) -> Option<(String, Arc<Config>)> {
        self.given_names.push((root.clone(), name.to_owned(), reason == CollectionReason::UserSettings));
        if self.found.all.iter().any(|one| one.root == root) {
            return None;
        }
        let file = file.map_or_else(|| self.shown_config(&root), str::to_owned);
        if reason != CollectionReason::User && self.is_full(&file) {
            return None;
        }
        let shown = relative_to(&root, self.current_dir);
        // A commit of a repository that contains the user's own store, too, has only what others have of it.
        let on_disk = FileTree::default();
        let files = if reason == CollectionReason::User { &on_disk } else { self.files() };
        let read = open_root(files, &root).and_then(|dir| Ok((Arc::new(Config::load(&dir)?), dir)));
        match read {
            Ok((config, dir)) => {
                let name = self.unique(name);
                self.push_store(name.clone(), root, dir, Arc::clone(&config), reason);
                Some((name, config))
            }
            Err(error) => {
                let message = format!("the store {shown} is not read: {}", error.message);
                self.add_finding(&file, "store-unreadable", message);
                None
            }
        }
    }

    fn push_store(
        &mut self,
        name: String,
        root: PathBuf,
        dir: Arc<DirHandle>,
        config: Arc<Config>,
        reason: CollectionReason,
    ) {
        let (dialect, authority, is_writable, rules) = (Dialect::Qipu, Authority::default(), true, None);
        let store = FoundCollection { name, root, dir, dialect, is_writable, reason, authority, config, rules };
        self.found.all.push(store);
    }

    fn add_finding(&mut self, file: &str, code: &'static str, message: String) {
        self.found.findings.push(SettingFinding { file: file.to_owned(), code, message, collection: None });
    }

    /// Gives the findings of a setting from an index on the name that its collection would have.
    fn name_findings(&mut self, from: usize, name: Option<&str>, path: &str, namer: &Namer) {
        let own = || split_path(path, namer).ok().map(|split| own_name(&split.literal, &namer.base));
        for finding in self.found.findings.iter_mut().skip(from) {
            finding.collection = name.map(str::to_owned).or_else(own).map(|name| valid_name(&name));
        }
    }

    /// Adds the sources and stores of settings, or findings.
    fn add_all_of(&mut self, sources: &[SourceConfig], stores: &[StoreConfig], namer: &Namer) {
        for source in sources {
            let before = self.found.findings.len();
            self.add_source(source, namer);
            self.name_findings(before, source.name.as_deref(), &source.path, namer);
        }
        for store in stores {
            let before = self.found.findings.len();
            self.add_stores(store, namer);
            self.name_findings(before, store.name.as_deref(), &store.path, namer);
        }
    }

    /// Adds a source that a config names, or a finding.
    fn add_source(&mut self, source: &SourceConfig, namer: &Namer) {
        let named = format!("`path = \"{}\"` under [[sources]]", abbreviated(&source.path));
        let split = match split_path(&source.path, namer) {
            Ok(split) => split,
            Err(reason) => return self.add_finding(&namer.file, "source-invalid", format!("{named} {reason}")),
        };
        let glob = match split.pattern.as_deref().map(compile) {
            None => None,
            Some(Some(glob)) => Some((split.literal.clone(), glob)),
            Some(None) => {
                return self.add_finding(&namer.file, "source-invalid", format!("{named} is not a valid glob"));
            }
        };
        match open_folder(&split.literal, namer) {
            Opened::Folder(root, dir) => {
                // The glob's paths are relative to the folder as it was found.
                let glob = glob.map(|(_, glob)| (root.clone(), glob));
                let name = source.name.clone().unwrap_or_else(|| own_name(&split.literal, &namer.base));
                if self.is_in_store(&root) {
                    return self.add_finding(&namer.file, "source-in-store", format!("{named} is inside a store"));
                }
                if self.is_full(&namer.file) {
                    return;
                }
                let omitted = match ExcludedFiles::new(&dir, source.dialect, &source.exclude) {
                    Ok(omitted) => omitted,
                    Err(reason) => {
                        return self.add_finding(&namer.file, "source-invalid", format!("{named} {reason}"));
                    }
                };
                let rules = self.rules(root, glob, omitted);
                // A command may write the first document of a source.
                if rules.glob.is_some() && !source.writable && !rules.has_files(&dir) {
                    self.empty_sources += 1;
                    let message = format!("{named} is not read: no document matches it");
                    return self.add_finding(&namer.file, "source-empty", message);
                }
                self.push_source(&name, dir, rules, source, &namer.reason, Arc::clone(&namer.config));
            }
            Opened::Outside => self.add_finding(&namer.file, "source-outside", format!("{named} {OUTSIDE}")),
            Opened::Missing(reason) => {
                self.add_finding(&namer.file, "source-missing", format!("{named} is not read: {reason}"));
            }
        }
    }

    /// Whether there are as many collections as are read; the first time, adds a finding to the file that names another.
    fn is_full(&mut self, file: &str) -> bool {
        const CODE: &str = "too-many-collections";
        let is_full = self.found.all.len() + self.empty_sources >= MAX_COLLECTIONS;
        if is_full && !self.found.findings.iter().any(|finding| finding.code == CODE) {
            let message = format!("only the first {MAX_COLLECTIONS} collections are read");
            self.add_finding(file, CODE, message);
        }
        is_full
    }

    fn is_in_store(&self, root: &Path) -> bool {
        let found = self.found.all.iter().filter(|one| one.rules.is_none()).map(|one| &one.root);
        found.chain(&self.stores).any(|store| root.starts_with(store))
    }

    /// Returns the rules of a source alone, without those of other collections.
    fn rules(&mut self, root: PathBuf, glob: Option<(PathBuf, GlobMatcher)>, omitted: ExcludedFiles) -> SourceRules {
        let known = &mut self.patterns;
        let files = &self.location.files;
        let above = files.repository_root(&root).map(|repository| patterns_above(files, repository, &root, known));
        let (above, omitted) = (above.unwrap_or_default(), Arc::new(omitted));
        SourceRules { glob, above, root, omitted, ..SourceRules::default() }
    }

    fn push_source(
        &mut self,
        name: &str,
        dir: Arc<DirHandle>,
        rules: SourceRules,
        source: &SourceConfig,
        reason: &CollectionReason,
        config: Arc<Config>,
    ) {
        let (name, reason, root) = (self.unique(name), reason.clone(), rules.root.clone());
        let (dialect, is_writable, rules) = (source.dialect, source.writable, Some(Arc::new(rules)));
        let authority = Authority::default();
        self.found.all.push(FoundCollection {
            name,
            root,
            dir,
            dialect,
            is_writable,
            reason,
            authority,
            config,
            rules,
        });
    }

    /// Adds the stores of a path that may have wildcards, or a finding.
    fn add_stores(&mut self, store: &StoreConfig, namer: &Namer) {
        let named = format!("`path = \"{}\"` under [[stores]]", abbreviated(&store.path));
        let split = match split_path(&store.path, namer) {
            Ok(split) => split,
            Err(reason) => return self.add_finding(&namer.file, "store-invalid", format!("{named} {reason}")),
        };
        let (root, dir) = match open_folder(&split.literal, namer) {
            Opened::Folder(root, dir) => (root, dir),
            Opened::Outside => {
                return self.add_finding(&namer.file, "store-outside", format!("{named} {OUTSIDE}"));
            }
            Opened::Missing(reason) => {
                return self.add_finding(&namer.file, "store-missing", format!("{named} is not read: {reason}"));
            }
        };
        let folders = match &split.pattern {
            None => vec![root],
            Some(pattern) => match expand(&dir, pattern) {
                Some(below) => below.into_iter().map(|path| root.join(path)).collect(),
                None => {
                    let reason = if pattern.contains("**") { DEEP_STORES } else { "is not a valid glob" };
                    return self.add_finding(&namer.file, "store-invalid", format!("{named} {reason}"));
                }
            },
        };
        let mut is_any = false;
        for folder in folders {
            let found = discover::named_store(self.files(), &folder).filter(|root| !self.files().is_link(root));
            let Some(root) = found else { continue };
            is_any = true;
            let name = store.name.clone().unwrap_or_else(|| own_name(discover::project_folder(&folder), &namer.base));
            self.add_store(root, &name, namer.reason.clone(), Some(&namer.file));
        }
        if !is_any {
            self.add_finding(&namer.file, "store-missing", format!("{named} is not read: there is no store"));
        }
    }

    /// Returns a name that no collection has, and marks it as used.
    fn unique(&mut self, name: &str) -> String {
        let name = valid_name(name);
        let mut unique = name.clone();
        let mut ordinal = 1;
        while !self.names.insert(unique.clone()) {
            ordinal += 1;
            unique = format!("{name}-{ordinal}");
        }
        unique
    }
}

/// Why a path of a repository is not read, as the end of a sentence.
const OUTSIDE: &str = "leads out of the repository, and has no effect unless your own settings list the repository under \
                       `allowed-repositories`";

/// Why a relative path in the user's settings has no effect, as the end of a sentence.
const RELATIVE: &str = "is relative; in your settings, a path begins with `/` or `~/`";

/// Why a path of stores that matches at any depth has no effect, as the end of a sentence.
const DEEP_STORES: &str = "has `**`, which only [[sources]] may have; name each level with `*`";

/// The result of opening a folder that a setting names.
enum Opened {
    Folder(PathBuf, Arc<DirHandle>),
    Outside,
    Missing(String),
}

/// Opens a folder. One that a repository names is opened from the repository's root without following links.
fn open_folder(folder: &Path, namer: &Namer) -> Opened {
    let missing = |error: std::io::Error| Opened::Missing(why_missing(folder, namer, &error));
    let Some(boundary) = &namer.boundary else {
        let opened = namer.files.canonicalize(folder).and_then(|root| Ok((namer.files.dir(&root)?, root)));
        return match opened {
            Ok((dir, root)) => Opened::Folder(root, Arc::new(dir)),
            Err(error) => missing(error),
        };
    };
    let Ok(below) = folder.strip_prefix(boundary) else { return Opened::Outside };
    let opened = namer.files.dir(boundary);
    let opened = if below.as_os_str().is_empty() { opened } else { opened.and_then(|dir| dir.folder(below)) };
    match opened {
        Ok(dir) => Opened::Folder(folder.to_path_buf(), Arc::new(dir)),
        Err(error) => missing(error),
    }
}

/// Returns why the folder of a setting can't be opened, as the end of a sentence.
fn why_missing(folder: &Path, namer: &Namer, error: &std::io::Error) -> String {
    let is_below = |path: &&Path| namer.boundary.as_ref().is_some_and(|boundary| path.starts_with(boundary));
    // From the top, so that no link is followed.
    let below: Vec<&Path> = folder.ancestors().take_while(is_below).collect();
    match below.iter().rev().find(|path| namer.files.is_link(path)) {
        Some(link) if *link == folder => return "it is a symbolic link, which is not followed".to_owned(),
        Some(_) => return "a folder above it is a symbolic link, which is not followed".to_owned(),
        None if namer.boundary.is_none() && namer.files.is_link(folder) => {
            return "it is a symbolic link that leads to no folder".to_owned();
        }
        None => {}
    }
    let is_in_home = namer.home.is_none() && folder.strip_prefix(&namer.base).is_ok_and(|path| path.starts_with("~"));
    match error.kind() {
        std::io::ErrorKind::NotFound if is_in_home => {
            "there is no such folder; `~/` is your home only in your own settings".to_owned()
        }
        std::io::ErrorKind::NotFound => "there is no such folder".to_owned(),
        _ => format!("it can't be opened as a folder ({error})"),
    }
}

/// Divides a path of a setting. `~/` is the user's home, in the user's settings only.
///
/// # Errors
/// The end of a sentence for a path that is empty, too long, or not in the form of a path, and for one whose wildcards
/// are before a `..`.
fn split_path(path: &str, namer: &Namer) -> Result<SplitPath, &'static str> {
    let home = namer.home.as_ref().filter(|_| path.starts_with("~/"));
    let (base, path) = home.map_or((&namer.base, path), |home| (home, path.get(2..).unwrap_or_default()));
    if path.is_empty() || path.contains('\0') || path.len() > MAX_PATH {
        return Err("is not a path");
    }
    // The settings of a user belong to no project that a path could begin in.
    if namer.reason == CollectionReason::UserSettings && home.is_none() && !path.starts_with('/') {
        return Err(RELATIVE);
    }
    let names: Vec<&str> = path.split('/').collect();
    let is_file = |path: &Path| namer.files.is_file(path) && !namer.files.is_link(path);
    let mut first = first_wildcard(&names, base, &namer.files);
    if names.iter().skip(first).any(|name| *name == "..") {
        return Err("has `..` behind a wildcard, which is not allowed");
    }
    let whole = discover::normalize_lexically(&base.join(path));
    let is_whole_file = first == names.len() && is_file(&whole);
    if is_whole_file {
        first -= 1;
    }
    let literal = names.get(..first).unwrap_or_default().join("/");
    let literal = if path.starts_with('/') && literal.is_empty() { "/".to_owned() } else { literal };
    let pattern = names.get(first..).filter(|rest| !rest.is_empty()).map(|rest| rest.join("/"));
    // The name of a file that exists means this file alone.
    let pattern = if is_whole_file { pattern.map(|name| literal_pattern(&name)) } else { pattern };
    Ok(SplitPath { literal: discover::normalize_lexically(&base.join(literal)), pattern })
}

/// Returns the index of the first name of a path with a wildcard; the number of names if there is none. Brackets and braces
/// in the name of a folder or file that exists are none.
fn first_wildcard(names: &[&str], base: &Path, files: &FileTree) -> usize {
    let is_there = |index: usize| {
        let path = names.get(..=index).map(|names| base.join(names.join("/")));
        path.is_some_and(|path| if index + 1 == names.len() { files.exists(&path) } else { files.is_dir(&path) })
    };
    let is_wildcard =
        |index: usize, name: &str| name.contains(['*', '?']) || (name.contains(['[', '{']) && !is_there(index));
    names.iter().enumerate().position(|(index, name)| is_wildcard(index, name)).unwrap_or(names.len())
}

/// Returns the pattern that only a name itself matches.
fn literal_pattern(name: &str) -> String {
    globset::escape(name).replace('\\', "\\\\")
}

fn compile(pattern: &str) -> Option<GlobMatcher> {
    Some(GlobBuilder::new(pattern).literal_separator(true).build().ok()?.compile_matcher())
}

/// Returns the folders that a pattern matches name by name, sorted; hidden ones only if the pattern names them. `None` for
/// a pattern that is not valid.
fn expand(dir: &DirHandle, pattern: &str) -> Option<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    for name in pattern.split('/').filter(|name| !name.is_empty() && *name != ".") {
        if name.contains("**") {
            return None;
        }
        let (matcher, mut next) = (compile(name)?, Vec::new());
        for path in &found {
            let below = if path.as_os_str().is_empty() { None } else { dir.folder(path).ok() };
            let handle = if path.as_os_str().is_empty() { Some(dir) } else { below.as_ref() };
            for entry in handle.and_then(|handle| handle.entries().ok()).into_iter().flatten().flatten() {
                let is_hidden = entry.name.as_encoded_bytes().starts_with(b".") && !name.starts_with('.');
                if entry.kind == FileType::Folder && !is_hidden && matcher.is_match(&entry.name) {
                    next.push(path.join(&entry.name));
                }
            }
        }
        next.sort_unstable();
        next.truncate(MAX_EXPANDED);
        found = next;
    }
    Some(found)
}

/// Returns the name of a collection without one: that of its folder, or `files` for the folder that contains the store.
fn own_name(folder: &Path, base: &Path) -> String {
    let named = folder.components().next_back().filter(|_| folder != base);
    match named {
        Some(Component::Normal(name)) => name.to_string_lossy().into_owned(),
        _ => "files".to_owned(),
    }
}

/// Returns the name that the store of a folder has in the folders below it.
fn name_from_below(folder: &Path, repository: &Path) -> String {
    if folder == repository {
        return "root".to_owned();
    }
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Replaces what a name can't contain.
fn valid_name(name: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let name: String = name.chars().take(60).map(valid).collect();
    let name = name.trim_start_matches(['-', '.']);
    if name.is_empty() { "files".to_owned() } else { name.to_owned() }
}
