//! A naive model of collections: which stores and sources a layout has, which notes they give, and where links lead. It
//! follows specs/reference/settings.md and specs/reference/notes-and-links.md and shares no code with the program.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::string_slice)]

use std::collections::{BTreeMap, BTreeSet};

use super::layouts::{Defect, Document, Entry, Layout, Node, ROOT, Settings, WORLD, join};

/// What the program says of a layout, as lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Name, kind, folder and number of notes of each collection.
    pub(crate) collections: Vec<String>,
    /// Collection, id, path and title of each note.
    pub(crate) notes: Vec<String>,
    /// The code of each setting without effect.
    pub(crate) findings: Vec<String>,
    /// The paths of the two notes of each link.
    pub(crate) links: BTreeSet<String>,
    /// The path of the note and the target of each link to nothing.
    pub(crate) broken: BTreeSet<String>,
    /// The kind of the error that every command ends with.
    pub(crate) error: Option<String>,
}

impl Outcome {
    /// Returns everything as lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let lists: [(&str, Vec<&String>); 6] = [
            ("collection", self.collections.iter().collect()),
            ("note", self.notes.iter().collect()),
            ("finding", self.findings.iter().collect()),
            ("link", self.links.iter().collect()),
            ("broken", self.broken.iter().collect()),
            ("error", self.error.iter().collect()),
        ];
        lists
            .into_iter()
            .flat_map(|(name, lines)| lines.into_iter().map(move |line| format!("{name} {line}")))
            .collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Link,
}

#[derive(Debug, Clone)]
struct Collection {
    name: String,
    /// The dialect of a source; `None` for a store.
    dialect: Option<String>,
    folder: String,
    /// What the paths of files must match, from the layout's folder.
    pattern: Option<String>,
    /// Whether it is the user's own store, or the user's settings name it.
    is_of_user: bool,
}

#[derive(Debug, Clone)]
struct ModelNote {
    collection: usize,
    id: String,
    shown_id: String,
    path: String,
    title: String,
    aliases: Vec<String>,
    links: Vec<String>,
}

struct Model<'a> {
    layout: &'a Layout,
    kinds: BTreeMap<String, Kind>,
    /// The folders of all stores that count.
    stores: BTreeSet<String>,
    collections: Vec<Collection>,
    /// The folder of a store with each name that a setting or its place gives it, and whether it is a setting of the user.
    given_names: Vec<(String, String, bool)>,
    findings: Vec<String>,
}

/// Returns the folders of the stores that count: those of the layout without its sources.
fn stores_of(layout: &Layout) -> BTreeSet<String> {
    let mut bare = layout.clone();
    bare.documents.clear();
    bare.configs.values_mut().chain(&mut bare.user_settings).for_each(|settings| settings.sources.clear());
    let mut model = Model::new(&bare, BTreeSet::new());
    model.collect();
    model.collections.into_iter().map(|collection| collection.folder).collect()
}

/// Returns what the program has to say of a layout.
pub(crate) fn outcome(layout: &Layout) -> Outcome {
    let mut model = Model::new(layout, stores_of(layout));
    if let Some(error) = model.collect() {
        return Outcome { error: Some(error), ..Outcome::default() };
    }
    let mut notes = model.notes();
    if !layout.only.is_empty() {
        if layout.only.iter().any(|name| model.collection_named(name).is_none()) {
            return Outcome { error: Some("usage".into()), ..Outcome::default() };
        }
        notes.retain(|note| model.counts(&model.collections[note.collection]));
    }
    show_ids(&mut notes, &model.collections);
    notes.sort_by_key(|note| (note.collection, note.id.clone()));
    let (links, broken) = model.links(&notes);
    let line_of = |(index, collection): (usize, &Collection)| {
        let count = notes.iter().filter(|note| note.collection == index).count();
        let kind = collection.dialect.as_deref().unwrap_or("store");
        format!("{} {kind} {} {count}", collection.name, collection.folder)
    };
    let collections =
        model.collections.iter().enumerate().filter(|(_, collection)| model.counts(collection)).map(line_of);
    let line_of_note = |note: &ModelNote| {
        format!("{} {} {} {:?}", model.collections[note.collection].name, note.shown_id, note.path, note.title)
    };
    Outcome {
        collections: collections.collect(),
        notes: notes.iter().map(line_of_note).collect(),
        findings: model.findings.clone(),
        links,
        broken,
        error: None,
    }
}

fn kinds(layout: &Layout) -> BTreeMap<String, Kind> {
    let mut kinds = BTreeMap::from([(String::new(), Kind::Folder)]);
    let mut add = |path: &str, kind: Kind| {
        for (index, _) in path.match_indices('/') {
            kinds.insert(path[..index].to_owned(), Kind::Folder);
        }
        kinds.insert(path.to_owned(), kind);
    };
    for (path, node) in &layout.nodes {
        let kind = match node {
            Node::Folder => Kind::Folder,
            Node::Link(_) => Kind::Link,
            Node::Document(_) | Node::Text(_) => Kind::File,
        };
        add(path, kind);
    }
    layout.configs.keys().for_each(|store| add(&format!("{store}/config.toml"), Kind::File));
    // A folder that is named alone may have files.
    kinds
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the name of a folder; that of the layout's folder is [`ROOT`].
fn name_of(path: &str) -> &str {
    if path.is_empty() { ROOT } else { base(path) }
}

/// Tells whether a path is a folder or below it.
fn is_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Resolves `.` and `..`; `None` if the path leads out of the layout's folder.
fn normalized(folder: &str, path: &str) -> Option<String> {
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

/// Tells whether a path from a file leads out of a folder on its way.
fn leaves(file: &str, path: &str, folder: &str) -> bool {
    let mut depth = names(parent(file)).len();
    let least = names(folder).len();
    names(path).into_iter().filter(|name| *name != ".").any(|name| {
        depth = if name == ".." { depth - 1 } else { depth + 1 };
        depth < least
    })
}

/// Matches one name with a pattern of `*` and `?`.
fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some(b'*'), _) => matches_name(&pattern[1..], name) || (!name.is_empty() && matches_name(pattern, &name[1..])),
        (Some(b'?'), Some(_)) => matches_name(&pattern[1..], &name[1..]),
        (Some(expected), Some(found)) if expected == found => matches_name(&pattern[1..], &name[1..]),
        _ => false,
    }
}

/// Matches the names of a path; `**` is any number of folders.
fn matches_path(pattern: &[&str], names: &[&str]) -> bool {
    match (pattern.first(), names.first()) {
        (None, None) => true,
        (Some(&"**"), _) => {
            matches_path(&pattern[1..], names) || (!names.is_empty() && matches_path(pattern, &names[1..]))
        }
        (Some(pattern_name), Some(name)) if matches_name(pattern_name.as_bytes(), name.as_bytes()) => {
            matches_path(&pattern[1..], &names[1..])
        }
        _ => false,
    }
}

/// Returns the folder that a store belongs to.
fn project_of(store: &str) -> &str {
    if matches!(base(store), ".qipu" | "qipu") { parent(store) } else { store }
}

/// Replaces what a name can't contain.
fn valid(name: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    name.trim_start_matches(['.', '-']).chars().map(valid).collect()
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

fn is_wild(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

impl<'a> Model<'a> {
    fn new(layout: &'a Layout, stores: BTreeSet<String>) -> Self {
        let (collections, given_names, findings) = (Vec::new(), Vec::new(), Vec::new());
        Model { layout, kinds: kinds(layout), stores, collections, given_names, findings }
    }
}

/// The rules for stores, sources and their settings.
impl Model<'_> {
    fn is_folder(&self, path: &str) -> bool {
        self.kinds.get(path) == Some(&Kind::Folder)
    }

    /// Follows every symbolic link of a path.
    fn real(&self, path: &str) -> Option<String> {
        let mut done = String::new();
        let mut rest: Vec<String> = names(path).into_iter().rev().map(str::to_owned).collect();
        for _ in 0..100 {
            let Some(name) = rest.pop() else { return Some(done) };
            if name == ".." {
                done = parent(&done).to_owned();
                continue;
            }
            let next = join(&done, &name);
            match (self.kinds.get(&next)?, self.layout.nodes.get(&next)) {
                (Kind::Link, Some(Node::Link(target))) => {
                    rest.extend(names(target).into_iter().filter(|name| *name != ".").rev().map(str::to_owned));
                }
                _ => done = next,
            }
        }
        None
    }

    fn repository(&self, folder: &str) -> Option<String> {
        let mut folder = folder;
        loop {
            if self.kinds.contains_key(&join(folder, ".git")) {
                return Some(folder.to_owned());
            }
            if folder.is_empty() {
                return None;
            }
            folder = parent(folder);
        }
    }

    /// Tells whether a path contains a symbolic link, which only the user may name.
    fn leads_through_link(&self, path: &str, store: Option<&str>) -> bool {
        self.real(path).as_deref() != Some(path) && !self.is_free(store)
    }

    /// Returns the store that a folder contains.
    fn store_in(&self, folder: &str) -> Option<String> {
        let (hidden, visible) = (join(folder, ".qipu"), join(folder, "qipu"));
        if self.is_folder(&hidden) {
            return Some(hidden);
        }
        (self.is_folder(&visible) && self.is_folder(&join(&visible, "notes"))).then_some(visible)
    }

    /// Returns the store that a folder is or contains.
    fn store_at(&self, folder: &str) -> Option<String> {
        if base(folder) == ".qipu" {
            return self.is_folder(folder).then(|| folder.to_owned());
        }
        let is_store = ["notes", "mocs", "journals"].iter().any(|name| self.is_folder(&join(folder, name)))
            || self.kinds.contains_key(&join(folder, "config.toml"));
        self.store_in(folder).or_else(|| is_store.then(|| folder.to_owned()))
    }

    /// Finds all collections; returns the kind of an error.
    fn collect(&mut self) -> Option<String> {
        let layout = self.layout;
        let at = |path: &str| path.strip_prefix(WORLD).unwrap().trim_start_matches('/').to_owned();
        let allowed = layout.user_settings.iter().flat_map(|settings| &settings.allowed);
        let relative = allowed.filter(|path| !path.starts_with(WORLD) && !path.starts_with("~/"));
        self.findings.extend(relative.map(|_| "repository-invalid".to_owned()));
        let named: Vec<String> = layout.stores.iter().chain(&layout.documents).map(|path| at(path)).collect();
        if named.is_empty() {
            self.collect_found();
        }
        let first = named.iter().find_map(|path| self.store_at(path));
        if let Some(store) = &first {
            self.add_store(store.clone(), None, true);
            self.add_configured(store);
        }
        for folder in named {
            match self.store_at(&folder) {
                Some(store) if Some(&store) == first.as_ref() => {}
                Some(store) => {
                    if self.add_store(store.clone(), None, false) {
                        self.add_configured(&store);
                    }
                }
                None if self.add_documents(folder) => {}
                None => return Some("no-store".to_owned()),
            }
        }
        self.collections.is_empty().then(|| "no-store".to_owned())
    }

    /// Adds a folder that is named in place of a store, if there are documents in it.
    fn add_documents(&mut self, folder: String) -> bool {
        if !self.is_folder(&folder) {
            return false;
        }
        let dialect = match () {
            () if self.is_folder(&join(&folder, ".obsidian")) => "obsidian",
            () if self.is_folder(&join(&folder, "logseq")) && self.is_folder(&join(&folder, "pages")) => "logseq",
            () => "markdown",
        };
        let name = base(&folder).to_owned();
        let dialect = Some(dialect.into());
        let documents = Collection { name, dialect, folder, pattern: None, is_of_user: false };
        if !self.layout.nodes.keys().any(|path| self.may_include(&documents, path)) {
            return false;
        }
        self.add(documents);
        true
    }

    /// Adds what counts without `--store`.
    fn collect_found(&mut self) {
        let end = self.repository(&self.layout.current_dir).unwrap_or_else(|| "repo".to_owned());
        // Without a repository, only the nearest store counts.
        let has_repository = self.kinds.contains_key("repo/.git");
        let mut folder = self.layout.current_dir.clone();
        let mut is_first = true;
        loop {
            if let Some(store) = self.store_in(&folder) {
                let is_last = self.layout.configs.get(&store).is_some_and(|settings| settings.is_last);
                let name = (folder == end).then_some("root");
                if self.add_store(store.clone(), name, is_first) {
                    self.add_configured(&store);
                }
                is_first = false;
                if is_last || !has_repository {
                    break;
                }
            }
            if folder == end {
                break;
            }
            folder = parent(&folder).to_owned();
        }
        let (known, given) = (self.collections.len(), self.given_names.len());
        if self.is_folder("data/qipu") {
            self.add_store("data/qipu".into(), Some("user"), false);
        }
        if let Some(settings) = self.layout.user_settings.clone() {
            self.add_entries(&settings, None);
        }
        self.collections[known..].iter_mut().for_each(|collection| collection.is_of_user = true);
        self.given_names[given..].iter_mut().for_each(|(_, _, is_of_user)| *is_of_user = true);
    }

    fn add_configured(&mut self, store: &str) {
        if let Some(settings) = self.layout.configs.get(store).cloned() {
            self.add_entries(&settings, Some(store));
        }
    }

    fn add_store(&mut self, store: String, name: Option<&str>, is_project: bool) -> bool {
        let name = name.unwrap_or(base(project_of(&store))).to_owned();
        if !is_project {
            self.given_names.push((store.clone(), name.clone(), false));
        }
        if self.collections.iter().any(|other| other.dialect.is_none() && other.folder == store) {
            return false;
        }
        let collection = Collection { name, dialect: None, folder: store.clone(), pattern: None, is_of_user: false };
        if is_project {
            self.collections.push(Collection { name: "project".to_owned(), ..collection });
        } else {
            self.add(collection);
        }
        true
    }

    /// Finds a collection by its name, or a store of the repository by a name that it has from another folder.
    fn collection_named(&self, name: &str) -> Option<usize> {
        self.collection_meant(name).map(|(index, _)| index)
    }

    /// Finds the collection that a name in the user's own store means: the name must not depend on the project.
    fn collection_named_by_user(&self, name: &str) -> Option<usize> {
        self.collection_meant(name).filter(|(_, is_of_user)| *is_of_user).map(|(index, _)| index)
    }

    /// Finds a collection by a name, and tells whether it has the name by the user's settings.
    fn collection_meant(&self, name: &str) -> Option<(usize, bool)> {
        let index = self.collections.iter().position(|collection| collection.name == name);
        let project = self.collections.iter().find(|one| one.name == "project" && one.dialect.is_none());
        let others = || -> Option<(usize, bool)> {
            let repository = self.repository(project_of(&project?.folder))?;
            if matches!(name, "project" | "user") {
                return None;
            }
            let is_candidate = |one: &Collection| one.dialect.is_none() && is_in(&one.folder, &repository);
            let by_setting = self.given_names.iter().find_map(|(folder, given, is_of_user)| {
                let has_name = valid(given) == name;
                let is_meant = |one: &Collection| has_name && is_candidate(one) && one.folder == *folder;
                Some((self.collections.iter().position(is_meant)?, *is_of_user))
            });
            let by_folder = |one: &Collection| {
                let folder = project_of(&one.folder);
                valid(if folder == repository { "root" } else { base(folder) }) == name
            };
            let by_place = || self.collections.iter().position(|one| is_candidate(one) && by_folder(one));
            by_setting.or_else(|| Some((by_place()?, false)))
        };
        index.map(|index| (index, self.collections[index].is_of_user)).or_else(others)
    }

    fn add(&mut self, mut collection: Collection) {
        let is_users = collection.folder == "data/qipu";
        let wanted = valid(&collection.name);
        let mut name = wanted.clone();
        let mut number = 1;
        let is_kept = |name: &str| name == "project" || (name == "user" && !is_users);
        while self.collections.iter().any(|other| other.name == name) || is_kept(&name) {
            number += 1;
            name = format!("{wanted}-{number}");
        }
        collection.name = name;
        self.collections.push(collection);
    }

    /// Adds the sources, then the stores of settings: those of a store, or the user's.
    fn add_entries(&mut self, settings: &Settings, store: Option<&str>) {
        for entry in &settings.sources {
            if let Err(code) = self.add_source(entry, store) {
                self.findings.push(format!("documents-{code}"));
            }
        }
        for entry in &settings.stores {
            if let Err(code) = self.add_stores(entry, store) {
                self.findings.push(format!("store-{code}"));
            }
        }
    }

    /// Returns the path from the layout's folder without its wildcards, and with them.
    fn located(&self, path: &str, store: Option<&str>) -> Result<(String, String), &'static str> {
        let (folder, path) = match (path.strip_prefix(WORLD), path.strip_prefix("~/"), store) {
            (Some(path), _, _) => ("", path),
            (None, Some(path), None) => ("home", path),
            (None, _, None) => return Err("invalid"),
            (None, _, Some(store)) => (parent(store), path),
        };
        let all: Vec<&str> = path.split('/').collect();
        let first_wild = all.iter().position(|name| is_wild(name)).unwrap_or(all.len());
        if all[first_wild..].contains(&"..") {
            return Err("invalid");
        }
        let fixed = normalized(folder, &all[..first_wild].join("/")).ok_or("outside")?;
        let whole = join(&fixed, &names(&all[first_wild..].join("/")).join("/"));
        Ok((fixed, whole))
    }

    /// Returns the folder that the config of a store may name others in.
    fn boundary(&self, store: &str) -> String {
        self.repository(parent(store)).unwrap_or_else(|| parent(store).to_owned())
    }

    /// Tells whether the user, or a config that the user allows it, may name any folder.
    fn is_free(&self, store: Option<&str>) -> bool {
        let Some(store) = store else { return true };
        let root = self.boundary(store);
        let mut allowed = self.layout.user_settings.iter().flat_map(|settings| &settings.allowed);
        allowed.any(|path| path.strip_prefix(WORLD).is_some_and(|path| path.trim_matches('/') == root))
    }

    /// Tells whether settings may name a folder.
    fn is_allowed(&self, folder: &str, store: Option<&str>) -> bool {
        self.is_free(store) || store.is_some_and(|store| is_in(folder, &self.boundary(store)))
    }

    fn add_source(&mut self, entry: &Entry, store: Option<&str>) -> Result<(), &'static str> {
        let (fixed, whole) = self.located(&entry.path, store)?;
        if !self.is_allowed(&fixed, store) {
            return Err("outside");
        }
        let real = self.real(&fixed).filter(|_| !self.leads_through_link(&fixed, store)).ok_or("missing")?;
        let is_file = self.kinds.get(&real) == Some(&Kind::File);
        if is_file && whole != fixed {
            return Err("missing");
        }
        let folder = if is_file { parent(&real).to_owned() } else { real.clone() };
        if self.stores.iter().any(|store| is_in(&folder, store)) {
            return Err("in-store");
        }
        let default = if Some(folder.as_str()) == store.map(parent) {
            "files"
        } else {
            name_of(if is_file { &folder } else { &fixed })
        }
        .to_owned();
        let pattern = if whole == fixed { is_file.then_some(real) } else { Some(whole.replacen(&fixed, &folder, 1)) };
        let dialect = Some(entry.dialect.clone().unwrap_or_else(|| "markdown".into()));
        let source = Collection {
            name: entry.name.clone().unwrap_or(default),
            dialect,
            folder,
            pattern,
            is_of_user: store.is_none(),
        };
        if source.pattern.is_some() && !self.layout.nodes.keys().any(|path| self.may_include(&source, path)) {
            return Err("empty");
        }
        self.add(source);
        Ok(())
    }

    /// Tells whether a file is in a store below a folder.
    fn is_in_store_below(&self, folder: &str, path: &str) -> bool {
        let is_store = |above: &str| {
            let has_parts =
                self.is_folder(&join(above, "notes")) && self.kinds.contains_key(&join(above, "config.toml"));
            self.stores.contains(above) || (base(above) == "qipu" && has_parts)
        };
        let mut above = parent(path);
        while above != folder {
            if is_store(above) {
                return true;
            }
            above = parent(above);
        }
        false
    }

    fn add_stores(&mut self, entry: &Entry, store: Option<&str>) -> Result<(), &'static str> {
        let (fixed, whole) = self.located(&entry.path, store)?;
        if !self.is_allowed(&fixed, store) {
            return Err("outside");
        }
        if self.leads_through_link(&fixed, store) {
            return Err("missing");
        }
        let mut folders = vec![fixed.clone()];
        for pattern in names(&whole[fixed.len()..]) {
            let is_match = |path: &String| {
                let name = base(path);
                matches_name(pattern.as_bytes(), name.as_bytes())
                    && (pattern.starts_with('.') || !name.starts_with('.'))
            };
            let below = |folder: &String| {
                let paths = self.kinds.keys().filter(|path| !path.is_empty() && parent(path) == folder.as_str());
                paths.filter(|path| self.is_folder(path)).filter(|path| is_match(path)).cloned().collect::<Vec<_>>()
            };
            folders = folders.iter().flat_map(below).collect();
        }
        let stores: Vec<String> = folders.iter().filter_map(|folder| self.store_at(&self.real(folder)?)).collect();
        if stores.is_empty() {
            return Err("missing");
        }
        for store in stores {
            self.add_store(store, entry.name.as_deref(), false);
        }
        Ok(())
    }
}

/// The rules for notes.
impl Model<'_> {
    fn notes(&self) -> Vec<ModelNote> {
        let mut notes = Vec::new();
        for (path, node) in &self.layout.nodes {
            let Node::Document(document) = node else { continue };
            let Some(index) = self.owner(path, document) else { continue };
            let collection = &self.collections[index];
            notes.push(match &collection.dialect {
                None => store_note(index, path, document),
                Some(dialect) => source_note(index, collection, dialect, path, document),
            });
        }
        notes
    }

    /// Returns the collection of a file.
    fn owner(&self, path: &str, document: &Document) -> Option<usize> {
        let is_store_note = |collection: &Collection| {
            collection.dialect.is_none() && is_in(path, &join(&collection.folder, "notes")) && path.ends_with(".md")
        };
        if let Some(index) = self.collections.iter().position(is_store_note) {
            return Some(index);
        }
        let is_document = [".md", ".markdown", ".mdx"].iter().any(|ending| path.ends_with(ending));
        if !is_document || matches!(document.defect, Defect::Nul | Defect::TooLong) {
            return None;
        }
        let included = (0..self.collections.len()).filter(|index| self.includes(&self.collections[*index], path));
        included.min_by_key(|index| (std::cmp::Reverse(names(&self.collections[*index].folder).len()), *index))
    }

    /// Whether a source without other collections would have a file.
    fn may_include(&self, source: &Collection, path: &str) -> bool {
        let is_document = matches!(self.layout.nodes.get(path), Some(Node::Document(_)))
            && [".md", ".markdown", ".mdx"].iter().any(|ending| path.ends_with(ending));
        let alone = Model::new(self.layout, BTreeSet::new());
        is_document && alone.includes(source, path)
    }

    fn includes(&self, source: &Collection, path: &str) -> bool {
        if source.dialect.is_none() || !is_in(path, &source.folder) {
            return false;
        }
        let below = path[source.folder.len()..].trim_start_matches('/');
        let is_hidden = names(below).iter().any(|name| name.starts_with('.'));
        let all = names(path);
        let is_match = source
            .pattern
            .as_ref()
            .is_none_or(|pattern| (1..=all.len()).any(|length| matches_path(&names(pattern), &all[..length])));
        !is_hidden
            && is_match
            && !self.is_in_store_below(&source.folder, path)
            && !self.is_ignored(path, &source.folder)
    }

    /// Tells whether git ignores a file or a folder between it and the source's folder.
    fn is_ignored(&self, path: &str, folder: &str) -> bool {
        let root = self.repository(folder);
        let all = names(path);
        (names(folder).len() + 1..=all.len()).any(|length| {
            self.is_excluded(&all[..length].join("/"), root.as_deref().unwrap_or(folder), length < all.len())
        })
    }

    /// Tells whether the last line about a path excludes it.
    fn is_excluded(&self, path: &str, root: &str, is_folder: bool) -> bool {
        let mut folders = vec![root.to_owned()];
        for (index, _) in path.match_indices('/') {
            if path[..index].len() > root.len() && is_in(&path[..index], root) {
                folders.push(path[..index].to_owned());
            }
        }
        let mut files = vec![(root.to_owned(), join(root, ".git/info/exclude"))];
        files.extend(folders.iter().map(|folder| (folder.clone(), join(folder, ".gitignore"))));
        let mut is_excluded = false;
        for (folder, file) in files {
            let Some(Node::Text(text)) = self.layout.nodes.get(&file) else { continue };
            let below = path[folder.len()..].trim_start_matches('/');
            for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let (is_negated, line) = line.strip_prefix('!').map_or((false, line), |line| (true, line));
                if is_ignore_match(line, below, is_folder) {
                    is_excluded = !is_negated;
                }
            }
        }
        is_excluded
    }
}

/// Matches a path with a line of a `.gitignore`, from the folder of that file.
fn is_ignore_match(line: &str, path: &str, is_folder: bool) -> bool {
    let (needs_folder, line) = line.strip_suffix('/').map_or((false, line), |line| (true, line));
    if needs_folder && !is_folder {
        return false;
    }
    if !line.contains('/') {
        return matches_name(line.as_bytes(), base(path).as_bytes());
    }
    if let Some(folder) = line.strip_suffix("/**") {
        let (pattern, all) = (names(folder), names(path));
        return (1..all.len()).any(|length| matches_path(&pattern, &all[..length]));
    }
    matches_path(&names(line), &names(path))
}

fn store_note(collection: usize, path: &str, document: &Document) -> ModelNote {
    let id = document.id.clone().unwrap();
    ModelNote {
        collection,
        shown_id: id.clone(),
        id,
        path: path.to_owned(),
        title: document.title.clone().unwrap(),
        aliases: Vec::new(),
        links: document.links.clone(),
    }
}

fn without_ending(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(stem, _)| stem)
}

fn source_note(index: usize, source: &Collection, dialect: &str, path: &str, document: &Document) -> ModelNote {
    let below = path[source.folder.len()..].trim_start_matches('/');
    let id = below.strip_suffix(".md").unwrap_or(below).replace('/', "--");
    let stem = without_ending(base(path));
    let readable = match (stem, parent(below)) {
        ("index" | "_index" | "README", folder) if !folder.is_empty() => base(folder).replace('-', " "),
        _ => stem.replace(['-', '_'], " ").trim().to_owned(),
    };
    let heading = document.heading.clone();
    let title = document.title.clone().unwrap_or_else(|| match dialect {
        "obsidian" | "logseq" => stem.to_owned(),
        "okf" if stem == "index" => readable,
        "okf" => stem.to_owned(),
        _ => heading.unwrap_or(readable),
    });
    let stem_alias = (dialect == "obsidian" && title != stem).then(|| stem.to_owned());
    let aliases = stem_alias.into_iter().chain(document.id.clone()).collect();
    ModelNote {
        collection: index,
        shown_id: id.clone(),
        id,
        path: path.to_owned(),
        title,
        aliases,
        links: document.links.clone(),
    }
}

/// The note of the first collection keeps an id; the others are shown with their collection.
fn show_ids(notes: &mut [ModelNote], collections: &[Collection]) {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for note in notes.iter() {
        let owner = first.entry(note.id.clone()).or_insert(note.collection);
        *owner = note.collection.min(*owner);
    }
    for note in notes {
        if first[&note.id] != note.collection {
            note.shown_id = format!("{}:{}", collections[note.collection].name, note.id);
        }
    }
}

/// Where a link leads.
enum Target<'a> {
    Note(&'a ModelNote),
    Nothing,
    NoLink,
}

/// The rules for links.
impl Model<'_> {
    fn links(&self, notes: &[ModelNote]) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut links, mut broken) = (BTreeSet::new(), BTreeSet::new());
        for note in notes {
            for link in &note.links {
                let (found, target) = match link.strip_prefix("[[").and_then(|link| link.strip_suffix("]]")) {
                    Some(name) => (self.named(note, name, notes), name),
                    None => {
                        let path = link.strip_prefix("[x](").unwrap().strip_suffix(')').unwrap();
                        (self.led_to(note, path, notes), path.split(['#', '?']).next().unwrap())
                    }
                };
                match found {
                    Target::Note(other) if other.path != note.path => {
                        links.insert(format!("{} -> {}", note.path, other.path));
                    }
                    Target::Nothing if self.can_break(note, link, target) => {
                        broken.insert(format!("{} -> {target}", note.path));
                    }
                    Target::Note(_) | Target::Nothing | Target::NoLink => {}
                }
            }
        }
        (links, broken)
    }

    /// Tells whether a link to nothing can only mean a note.
    fn can_break(&self, from: &ModelNote, link: &str, target: &str) -> bool {
        match self.collections[from.collection].dialect.as_deref() {
            None => true,
            Some(dialect) if link.starts_with("[[") => dialect == "obsidian" || dialect == "logseq",
            _ => !target.starts_with('/') && [".md", ".markdown", ".mdx"].iter().any(|ending| target.ends_with(ending)),
        }
    }

    /// Finds what `[[name]]` means.
    fn named<'n>(&self, from: &ModelNote, name: &str, notes: &'n [ModelNote]) -> Target<'n> {
        let of = self.collections[from.collection].dialect.as_deref();
        if of == Some("okf") {
            return Target::NoLink;
        }
        // The user's own store counts in every project, as `user`; as the nearest store it is a project's.
        let is_users_own = self.collections[from.collection].name == "user";
        let find = |prefix| {
            if is_users_own { self.collection_named_by_user(prefix) } else { self.collection_named(prefix) }
        };
        let prefixed = name.split_once(':').and_then(|(prefix, rest)| Some((find(prefix)?, rest)));
        let (index, name) = prefixed.unwrap_or((from.collection, name));
        let inside: Vec<&ModelNote> = notes.iter().filter(|note| note.collection == index).collect();
        let lower = name.to_lowercase();
        let rules: [&dyn Fn(&ModelNote) -> bool; 5] = [
            &|note| note.id == name,
            &|note| note.title == name,
            &|note| note.title.to_lowercase() == lower,
            &|note| note.aliases.iter().any(|alias| alias.to_lowercase() == lower),
            &|note| base(&note.path).strip_suffix(".md") == Some(name) || base(&note.path) == name,
        ];
        let by_name = rules.iter().find_map(|rule| inside.iter().find(|note| rule(note)).copied());
        let by_path = || {
            let source = &self.collections[index];
            let path = normalized(&source.folder, name).filter(|_| source.dialect.is_some() && name.contains('/'))?;
            self.note_of(&path, notes).filter(|note| note.collection == index)
        };
        by_name.or_else(by_path).map_or(Target::Nothing, Target::Note)
    }

    /// Finds the note of a path that may lack its ending or name a folder or a web page.
    fn note_of<'n>(&self, path: &str, notes: &'n [ModelNote]) -> Option<&'n ModelNote> {
        let mut paths = vec![path.to_owned()];
        let stems = [Some(path), path.strip_suffix(".html"), path.strip_suffix(".htm")];
        for stem in stems.into_iter().flatten() {
            paths.extend([".md", ".markdown", ".mdx"].map(|ending| format!("{stem}{ending}")));
            paths.extend(["index.md", "README.md", "_index.md", "index.mdx"].map(|name| join(stem, name)));
        }
        paths.iter().find_map(|path| notes.iter().find(|note| note.path == *path))
    }

    /// Tells whether a note is one of the project's store, from which no path leads out and in again.
    fn is_project(&self, note: &ModelNote) -> bool {
        self.collections[note.collection].name == "project"
    }

    /// Tells whether a collection is one of those that the call names, if it names any.
    fn counts(&self, collection: &Collection) -> bool {
        let mut only = self.layout.only.iter().filter_map(|name| self.collection_named(name));
        self.layout.only.is_empty() || only.any(|index| self.collections[index].name == collection.name)
    }

    /// Tells whether a path is in the project of the first collection: the nearest folder with a store or a repository.
    fn is_in_project(&self, path: &str) -> bool {
        let first = self.collections.iter().find(|collection| self.counts(collection)).unwrap();
        let own = if first.dialect.is_some() { first.folder.as_str() } else { parent(&first.folder) };
        let has_mark = |folder: &&str| {
            let has_store =
                || [".qipu", "qipu/notes"].iter().any(|store| self.kinds.contains_key(&join(folder, store)));
            *folder == "repo" || has_store()
        };
        let above = std::iter::successors(Some(own), |folder| Some(parent(folder)).filter(|_| !folder.is_empty()));
        let folder = { above }.find(has_mark).unwrap_or(own);
        path == folder || path.starts_with(&format!("{folder}/"))
    }

    /// Finds where a path in Markdown leads.
    fn led_to<'n>(&self, from: &ModelNote, path: &str, notes: &'n [ModelNote]) -> Target<'n> {
        let collection = &self.collections[from.collection];
        let path = path.split(['#', '?']).next().unwrap();
        let name = base(path.trim_end_matches('/'));
        let ending = name.rsplit_once('.').map(|(_, ending)| ending).filter(|_| name != "..");
        let (folder, relative) = if let Some(below) = path.strip_prefix('/') {
            (collection.folder.clone(), below)
        } else {
            (parent(&from.path).to_owned(), path)
        };
        let exact = |path: &str| notes.iter().find(|note| note.path == path);
        if collection.dialect.is_none() {
            if !ending.is_some_and(|ending| ["md", "markdown", "mdx"].contains(&ending)) {
                return Target::NoLink;
            }
            let Some(target) = normalized(&folder, relative) else { return Target::NoLink };
            let rooted =
                || ["notes", "mocs", "journals"].iter().find_map(|name| exact(&join(&join(&folder, name), relative)));
            let is_rooted = path.starts_with('/');
            let is_strange = !is_rooted && self.is_project(from) && leaves(&from.path, relative, &collection.folder);
            let by_path = exact(&target).filter(|note| !is_strange || note.collection != from.collection);
            return match by_path.or_else(|| rooted().filter(|_| is_rooted)) {
                Some(note) => Target::Note(note),
                None if !is_rooted && !leaves(&from.path, relative, &collection.folder) => Target::Nothing,
                None => Target::NoLink,
            };
        }
        if !ending.is_none_or(|ending| ["md", "markdown", "mdx", "html", "htm"].contains(&ending)) {
            return Target::NoLink;
        }
        let target = normalized(&folder, relative);
        let Some(target) = target else { return Target::NoLink };
        match self.note_of(&target, notes) {
            Some(note) if path.starts_with('/') && note.collection != from.collection => Target::NoLink,
            Some(note) => Target::Note(note),
            // `doctor` reports no path out of the collection and the project, and none to a file or folder that exists.
            None if path.starts_with('/') => Target::NoLink,
            None if leaves(&from.path, relative, &collection.folder) && !self.is_in_project(&target) => Target::NoLink,
            None if self.kinds.contains_key(&target) => Target::NoLink,
            None => Target::Nothing,
        }
    }
}
