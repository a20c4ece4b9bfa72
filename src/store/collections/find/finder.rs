//! Adds the collections one after another: the store of the project, what its config names, those of the folders above, and
//! those of the user.

use std::cell::OnceCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use globset::GlobMatcher;

use super::found::{FoundCollection, FoundCollections};
use super::setting_finding::{SettingCode, SettingFinding};
use super::setting_path::{
    DEEP_STORES, Namer, NoEffect, compile, expand, open_folder, own_name, parent_store_name, split_path, valid_name,
};
use super::{USER_STORE, reason_of_first};
use crate::error::{Error, ErrorKind};
use crate::escape::{abbreviated, one_line};
use crate::store::collections::collection::{COMMITS, CollectionReason, OtherNames, PROJECT, USER};
use crate::store::collections::config::Config;
use crate::store::collections::discover::{self, Location, open_root, relative_to};
use crate::store::collections::document_config::{SourceConfig, StoreConfig};
use crate::store::collections::guessed_dialect::guessed_dialect;
use crate::store::collections::layout::CONFIG_FILE;
use crate::store::collections::trusted_stores;
use crate::store::collections::user_settings::{self, UserSettings};
use crate::store::fs::dir_handle::{DirHandle, is_unreadable};
use crate::store::fs::file_tree::FileTree;
use crate::store::index::excluded_files::ExcludedFiles;
use crate::store::index::source_scan::{KnownPatterns, SourceRules, patterns_above};
use crate::warnings;

/// The most collections: each keeps files open, and many systems allow a process 1,024.
const MAX_COLLECTIONS: usize = 250;

/// Why a path whose wildcards make no sense has no effect, as the end of a sentence.
const NO_GLOB: &str = "is not a valid glob";

/// The finding about a config with tables of the former name.
const FORMER_KEY: &str = "`[[sources]]` is now `[[documents]]`: rename it, since later versions will not read it";

pub(super) struct CollectionFinder<'a> {
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
    pub(super) fn new(
        location: &'a Location,
        current_dir: &'a Path,
        user: &'a UserSettings,
        found: FoundCollections,
    ) -> Self {
        // No other collection may pass for the project's store, the user's own or the commits.
        let names = HashSet::from([PROJECT, USER, COMMITS].map(str::to_owned));
        let (patterns, stores, given_names) = (KnownPatterns::new(), Vec::new(), Vec::new());
        Self { location, current_dir, user, found, names, patterns, stores, given_names, empty_sources: 0 }
    }

    fn files(&self) -> &'a FileTree {
        &self.location.files
    }

    /// Adds all collections, without the sources that are inside a store. Returns them and the error of a missing store.
    pub(super) fn add_all_outside_stores(mut self) -> Result<(FoundCollections, Option<Error>), Error> {
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
            Err(error) if error.kind == ErrorKind::NoStore => (None, Some(error)),
            Err(error) => return Err(error),
        };
        if let Some(root) = &root {
            self.add_first(root)?;
        }
        for path in location.named() {
            self.add_named(path, root.as_deref())?;
        }
        if location.store.is_none() {
            self.add_parents(root.as_deref());
            self.add_user_collections(root.as_deref());
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
        let folder_name = |root: &Path| parent_store_name(discover::project_folder(root), repository);
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
        self.found.all.push(FoundCollection::of_store(PROJECT.to_owned(), root.to_path_buf(), dir, &config, reason));
        self.find_ignored_trust(root, &config);
        self.add_configured(root, PROJECT, &config);
        Ok(())
    }

    /// Adds the sources and stores that the config of a store names.
    fn add_configured(&mut self, root: &Path, name: &str, config: &Arc<Config>) {
        if config.documents.is_empty() && config.stores.is_empty() {
            return;
        }
        let base = root.parent().unwrap_or(root).to_path_buf();
        let repository = self.files().repository_root(&base).unwrap_or(&base).to_path_buf();
        let boundary = (!self.user.allows(&repository, self.location.home.as_deref())).then_some(repository);
        let (file, reason) = (self.shown_config(root), CollectionReason::Config(name.to_owned()));
        if config.has_former_key {
            self.add_finding(&file, SettingCode::FormerSetting, FORMER_KEY.to_owned());
        }
        let files = self.files().clone();
        let config = Arc::clone(config);
        let namer = Namer { base, boundary, file, reason, config, elsewhere: None, home: None, files };
        self.add_all_of(&namer.config.documents, &namer.config.stores, &namer);
    }

    /// Adds a finding if the config of the first store says whom to trust, and the user does not trust the store.
    fn find_ignored_trust(&mut self, root: &Path, config: &Config) {
        let is_empty = config.trust.authors.is_empty() && config.trust.hosts.is_empty();
        if !is_empty && !trusted_stores::is_trusted(root, self.location.settings.as_deref()) {
            let message = "[trust] makes no note more trusted, because you do not trust the store; `qipu help init` \
                           says how to";
            self.add_finding(&self.shown_config(root), SettingCode::TrustIgnored, message.to_owned());
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
            let name = parent_store_name(dir, repository);
            if let Some((name, config)) = self.add_store(root.clone(), &name, CollectionReason::Parent, None) {
                reads_parents = config.parents != Some(false);
                self.add_configured(&root, &name, &config);
            }
        }
    }

    /// Adds the user's own store, and what the user's settings name for the project of the first store.
    fn add_user_collections(&mut self, first: Option<&Path>) {
        let own = self.location.data.as_ref().map(|data| data.join(USER_STORE));
        match own.as_ref().map(|root| (root, root.canonicalize())) {
            Some((_, Ok(root))) if root.is_dir() => {
                self.names.remove(USER);
                self.add_store(root, USER, CollectionReason::User, None);
            }
            Some((root, Err(error))) if is_unreadable(&error) => {
                let message = format!("your own store can't be read: {error}");
                self.add_finding(&relative_to(root, self.current_dir), SettingCode::StoreUnreadable, message);
            }
            _ => {}
        }
        let Some(settings) = &self.location.settings else { return };
        let user = self.user;
        let file = user_settings::FILE.to_owned();
        let (reason, home) = (CollectionReason::UserSettings, self.location.home.clone());
        let (base, config, files) = (settings.clone(), Arc::default(), self.files().clone());
        let namer = Namer { base, boundary: None, file, reason, config, elsewhere: None, home, files };
        if !user.sources.is_empty() {
            self.add_finding(&namer.file, SettingCode::FormerSetting, FORMER_KEY.to_owned());
        }
        // Looked up only if a table asks for it.
        let (project, current_dir) = (OnceCell::new(), self.current_dir);
        let project = || project.get_or_init(|| discover::folders_of_project(first, current_dir)).as_slice();
        for documents in user.all_documents() {
            self.add_all_of(slice::from_ref(&documents.table), &[], &namer.for_table(documents, project));
        }
        for store in &user.stores {
            self.add_all_of(&[], slice::from_ref(&store.table), &namer.for_table(store, project));
        }
    }

    /// Adds a named store or folder of documents, unless it is the first store.
    fn add_named(&mut self, path: &Path, first: Option<&Path>) -> Result<(), Error> {
        if discover::named_store(self.files(), &self.current_dir.join(path)).is_none() {
            return self.add_named_documents(path);
        }
        let only = Location { store: Some(path.to_path_buf()), more_stores: Vec::new(), ..self.location.clone() };
        let root = discover::find_root(&only, self.current_dir)?;
        if first == Some(&root) {
            return Ok(());
        }
        let name = own_name(discover::project_folder(&root), Path::new(""));
        if let Some((name, config)) = self.add_store(root.clone(), &name, CollectionReason::Option, None) {
            self.add_configured(&root, &name, &config);
        }
        Ok(())
    }

    /// Adds a folder of Markdown that is named in place of a store.
    fn add_named_documents(&mut self, path: &Path) -> Result<(), Error> {
        let there = match self.files().canonicalize(&self.current_dir.join(path)) {
            Err(error) if is_unreadable(&error) => {
                return Err(Error::failure(format!("can't read {}: {error}", path.display())));
            }
            there => there.ok(),
        };
        let folder = there.filter(|folder| self.files().is_dir(folder)).ok_or_else(|| discover::no_store_at(path))?;
        let dir = self.files().dir(&folder).map(Arc::new);
        let dir = dir.map_err(|error| Error::failure(format!("can't read {}: {error}", path.display())))?;
        let dialect = guessed_dialect(&dir);
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let source = SourceConfig { dialect, ..SourceConfig::default() };
        let omitted = ExcludedFiles::new(&dir, dialect, &[]).unwrap_or_default();
        let rules = self.rules(folder, None, omitted);
        if !rules.has_files(&dir) {
            return Err(discover::no_store_at(path));
        }
        let shown = relative_to(&rules.root, self.current_dir);
        warnings::add_line(format!("reading {} as documents", one_line(&shown)));
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
                self.found.all.push(FoundCollection::of_store(name.clone(), root, dir, &config, reason));
                Some((name, config))
            }
            Err(error) => {
                let message = format!("the store {shown} is not read: {}", error.message);
                self.add_finding(&file, SettingCode::StoreUnreadable, message);
                None
            }
        }
    }

    fn add_finding(&mut self, file: &str, code: SettingCode, message: String) {
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
            let added = self.add_source(source, namer);
            self.add_finding_of("documents", &source.path, added, namer);
            self.name_findings(before, source.name.as_deref(), &source.path, namer);
        }
        for store in stores {
            let before = self.found.findings.len();
            let added = self.add_stores(store, namer);
            self.add_finding_of("stores", &store.path, added, namer);
            self.name_findings(before, store.name.as_deref(), &store.path, namer);
        }
    }

    /// Adds a finding if a path of a table has no effect.
    fn add_finding_of(&mut self, table: &str, path: &str, added: Result<(), NoEffect>, namer: &Namer) {
        if let Err((code, reason)) = added {
            let message = format!("`path = \"{}\"` under [[{table}]] {reason}", abbreviated(path));
            self.add_finding(&namer.file, code, message);
        }
    }

    /// Adds a source that a config names.
    fn add_source(&mut self, source: &SourceConfig, namer: &Namer) -> Result<(), NoEffect> {
        namer.expect_here()?;
        let invalid = |reason: String| (SettingCode::DocumentsInvalid, reason);
        let split = split_path(&source.path, namer).map_err(|reason| invalid(reason.to_owned()))?;
        let glob = split.pattern.as_deref().map(|pattern| compile(pattern).ok_or_else(|| invalid(NO_GLOB.to_owned())));
        let glob = glob.transpose()?;
        let (root, dir) =
            open_folder(&split.literal, namer, [SettingCode::DocumentsOutside, SettingCode::DocumentsMissing])?;
        // The glob's paths are relative to the folder as it was found.
        let glob = glob.map(|glob| (root.clone(), glob));
        let name = source.name.clone().unwrap_or_else(|| own_name(&split.literal, &namer.base));
        if self.is_in_store(&root) {
            return Err((SettingCode::DocumentsInStore, "is inside a store".to_owned()));
        }
        if self.is_full(&namer.file) {
            return Ok(());
        }
        let omitted = ExcludedFiles::new(&dir, source.dialect, &source.exclude).map_err(invalid)?;
        let rules = self.rules(root, glob, omitted);
        // A command may write the first document of a source.
        if rules.glob.is_some() && !source.writable && !rules.has_files(&dir) {
            self.empty_sources += 1;
            return Err((SettingCode::DocumentsEmpty, "is not read: no document matches it".to_owned()));
        }
        self.push_source(&name, dir, rules, source, &namer.reason, Arc::clone(&namer.config));
        Ok(())
    }

    /// Whether there are as many collections as are read; the first time, adds a finding to the file that names another.
    fn is_full(&mut self, file: &str) -> bool {
        let is_full = self.found.all.len() + self.empty_sources >= MAX_COLLECTIONS;
        if is_full && !self.found.findings.iter().any(|finding| finding.code == SettingCode::TooManyCollections) {
            let message = format!("only the first {MAX_COLLECTIONS} collections are read");
            self.add_finding(file, SettingCode::TooManyCollections, message);
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
        let store = FoundCollection::of_store(self.unique(name), rules.root.clone(), dir, &config, reason.clone());
        let (dialect, is_writable, rules) = (source.dialect, source.writable, Some(Arc::new(rules)));
        self.found.all.push(FoundCollection { dialect, is_writable, rules, ..store });
    }

    /// Adds the stores of a path that may have wildcards.
    fn add_stores(&mut self, store: &StoreConfig, namer: &Namer) -> Result<(), NoEffect> {
        namer.expect_here()?;
        let invalid = |reason: &str| (SettingCode::StoreInvalid, reason.to_owned());
        let split = split_path(&store.path, namer).map_err(invalid)?;
        let (root, dir) = open_folder(&split.literal, namer, [SettingCode::StoreOutside, SettingCode::StoreMissing])?;
        let folders = match &split.pattern {
            None => vec![root],
            Some(pattern) => {
                let reason = if pattern.contains("**") { DEEP_STORES } else { NO_GLOB };
                let below = expand(&dir, pattern).ok_or_else(|| invalid(reason))?;
                below.into_iter().map(|path| root.join(path)).collect()
            }
        };
        let mut is_any = false;
        for folder in folders {
            let found = discover::named_store(self.files(), &folder).filter(|root| !self.files().is_link(root));
            let Some(root) = found else { continue };
            is_any = true;
            let name = store.name.clone().unwrap_or_else(|| own_name(discover::project_folder(&folder), &namer.base));
            self.add_store(root, &name, namer.reason.clone(), Some(&namer.file));
        }
        is_any.then_some(()).ok_or_else(|| (SettingCode::StoreMissing, "is not read: there is no store".to_owned()))
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
