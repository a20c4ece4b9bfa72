//! Random folders with a repository, stores, documents, settings and flags: what a layout of collections is made of.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::string_slice)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::random::Random;

/// Replaced by the path of the layout's folder in texts and arguments.
pub(crate) const WORLD: &str = "$WORLD";
/// The name of the layout's folder.
pub(crate) const ROOT: &str = "world";

/// What a document or note says, and whether its file can be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document {
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) heading: Option<String>,
    pub(crate) links: Vec<String>,
    pub(crate) defect: Defect,
}

/// What is wrong with the bytes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Defect {
    #[default]
    None,
    Nul,
    NotUtf8,
    TooLong,
}

#[derive(Debug, Clone)]
pub(crate) enum Node {
    Document(Document),
    Text(String),
    Link(String),
    Folder,
}

/// A `[[documents]]` or `[[stores]]` of a config.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) dialect: Option<String>,
    pub(crate) name: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) sources: Vec<Entry>,
    pub(crate) stores: Vec<Entry>,
    pub(crate) is_last: bool,
    pub(crate) allowed: Vec<String>,
}

/// A folder with everything in it. Paths are relative to the folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    pub(crate) nodes: BTreeMap<String, Node>,
    /// The config of each store, by the store's folder.
    pub(crate) configs: BTreeMap<String, Settings>,
    pub(crate) user_settings: Option<Settings>,
    pub(crate) current_dir: String,
    pub(crate) documents: Vec<String>,
    pub(crate) stores: Vec<String>,
    pub(crate) only: Vec<String>,
}

const FOLDERS: [&str; 17] = [
    "", "docs", "docs", "docs/guide", "docs/guide/deep", "docs/api", "docs/.draft", "docs/build", "app", "app/docs",
    "app/docs/guide", "packages/one", "packages/one/docs", "packages/two", "adr", "vault", "vault/sub",
];
const FILES: [&str; 13] = [
    "a.md", "a.md", "b.md", "b.md", "index.md", "README.md", "_index.md", "two-words.md", "intro.markdown", "page.mdx",
    "plain.txt", ".hidden.md", "Upper.MD",
];
const TITLES: [&str; 6] = ["Alpha", "alpha", "Beta", "Setup guide", "a", "Docs"];
const STORES: [&str; 6] = [
    "app/.qipu", "packages/one/.qipu", "packages/two/.qipu", "packages/two/qipu", "docs/guide/qipu",
    "packages/.x/.qipu",
];
const SOURCES: [&str; 40] = [
    "docs",
    "docs",
    "docs",
    "docs/guide",
    "docs/guide/",
    "./docs",
    "app/docs",
    "app",
    "vault",
    "vault",
    "adr",
    "packages",
    "packages/one",
    ".",
    "docs/*.md",
    "docs/**/*.md",
    "docs/*",
    "docs/guide/**",
    "*/docs",
    "app/d*",
    "**/a.md",
    "docs/?.md",
    "docs/a.md",
    "docs/index.md",
    "docs/guide/a.md",
    "missing",
    "docs/missing/*.md",
    "..",
    "../outside",
    "$WORLD/outside",
    "$WORLD/repo/docs",
    "docs/../vault",
    "docs/*/../x",
    ".qipu/notes",
    "link",
    "loop",
    "out-link",
    "docs/.draft",
    "packages/one/.qipu/notes",
    "packages/two",
];
const STORE_PATHS: [&str; 14] = [
    "packages/*", "packages/*", "packages/one", "packages/t*", "app", "*", "packages/.*", "packages/one/.qipu", ".",
    "missing", "../outside", "$WORLD/outside", "docs", "out-link",
];
const IGNORED: [&str; 18] = [
    "a.md", "b.md", "/docs/b.md", "build/", "guide", "docs/guide/", "**/deep", "docs/**", "*.markdown", "!a.md",
    "!docs/guide/a.md", "/a.md", "docs/*/b.md", "# comment", "deep/**", "!deep/", "?.md", "**/api/*.md",
];
const NAMES: [&str; 9] = ["docs", "docs", "user", "root", "project", "team", "wiki", "docs-2", "one"];
const LINKS: [&str; 53] = [
    "[x](a.md)",
    "[x](b.md)",
    "[x](../a.md)",
    "[x](guide/a.md)",
    "[x](guide/index.md#part)",
    "[x](a)",
    "[x](b)",
    "[x](guide)",
    "[x](guide/)",
    "[x](../guide)",
    "[x](..)",
    "[x](/a.md)",
    "[x](/guide/a)",
    "[x](/guide/)",
    "[x](/docs/a.md)",
    "[x](../../docs/a.md)",
    "[x](../../docs/guide/a.md)",
    "[x](../../vault/a.md)",
    "[x](../docs/a.md)",
    "[x](../../../docs/index.md)",
    "[x](../../outside/a.md)",
    "[x](intro.markdown)",
    "[x](page.mdx)",
    "[x](a.html)",
    "[x](guide/a.html)",
    "[x](plain.txt)",
    "[x](missing.md)",
    "[x](two-words)",
    "[x](../.qipu/notes/a.md)",
    "[x](../../.qipu/notes/b.md)",
    "[x](docs/a.md)",
    "[x](docs/guide/a)",
    "[x](vault/b.md)",
    "[x](../../packages/one/.qipu/notes/a.md)",
    "[[a]]",
    "[[b]]",
    "[[Alpha]]",
    "[[beta]]",
    "[[Setup guide]]",
    "[[guide/a]]",
    "[[docs:a]]",
    "[[docs:guide--a]]",
    "[[user:a]]",
    "[[root:a]]",
    "[[app:a]]",
    "[[one:a]]",
    "[[one:b]]",
    "[[project:a]]",
    "[[docs:Alpha]]",
    "[[docs-2:b]]",
    "[[nosuch:a]]",
    "[[two-words]]",
    "[[guide--a]]",
];

fn maybe(random: &mut Random, percent: usize, texts: &[&str]) -> Option<String> {
    random.chance(percent).then(|| random.choice(texts).to_owned())
}

fn document(random: &mut Random) -> Document {
    let defect = match random.below(60) {
        0 => Defect::Nul,
        1 | 2 => Defect::NotUtf8,
        _ => Defect::None,
    };
    Document {
        id: None,
        title: maybe(random, 35, &TITLES),
        heading: maybe(random, 40, &TITLES),
        links: (0..random.below(4)).map(|_| random.choice(&LINKS).to_owned()).collect(),
        defect,
    }
}

fn entry(random: &mut Random, paths: &[&str], is_source: bool) -> Entry {
    let dialects = ["markdown", "markdown", "obsidian", "obsidian", "okf", "adr", "logseq"];
    Entry {
        path: random.choice(paths).to_owned(),
        dialect: is_source.then(|| maybe(random, 50, &dialects)).flatten(),
        name: maybe(random, 30, &NAMES),
    }
}

fn settings(random: &mut Random) -> Settings {
    Settings {
        sources: (0..random.below(5)).map(|_| entry(random, &SOURCES, true)).collect(),
        stores: (0..random.below(3)).map(|_| entry(random, &STORE_PATHS, false)).collect(),
        is_last: random.chance(10),
        allowed: Vec::new(),
    }
}

fn user_settings(random: &mut Random) -> Settings {
    let sources = [
        "$WORLD/outside", "$WORLD/outside/vault", "$WORLD/repo/docs", "$WORLD/missing", "$WORLD/outside/*.md",
        "relative", "~/vault",
    ];
    let stores = ["$WORLD/outside", "$WORLD/repo/packages/*", "$WORLD/missing", "~/team", "$WORLD/data/qipu"];
    let allowed = ["$WORLD/repo", "$WORLD/repo", "$WORLD/repo/docs", "repo"];
    Settings {
        sources: (0..random.below(3)).map(|_| entry(random, &sources, true)).collect(),
        stores: (0..random.below(3)).map(|_| entry(random, &stores, false)).collect(),
        is_last: false,
        allowed: maybe(random, 40, &allowed).into_iter().collect(),
    }
}

impl Layout {
    /// Returns the layout of a seed.
    pub(crate) fn random(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let mut layout = Self::default();
        if random.chance(92) {
            layout.nodes.insert("repo/.git".into(), Node::Folder);
        } else {
            layout.nodes.insert("repo/package.json".into(), Node::Text("{}".into()));
        }
        layout.nodes.insert("home".into(), Node::Folder);
        for _ in 0..random.between(4, 16) {
            let path = join(&join("repo", random.choice(&FOLDERS)), random.choice(&FILES));
            layout.nodes.insert(path, Node::Document(document(random)));
        }
        for path in ["outside/a.md", "outside/vault/b.md", "home/vault/a.md"] {
            if random.chance(50) {
                layout.nodes.insert(path.into(), Node::Document(document(random)));
            }
        }
        layout.add_stores(random);
        layout.add_ignored(random);
        layout.add_links(random);
        layout.choose_flags(random);
        layout
    }

    fn add_stores(&mut self, random: &mut Random) {
        if random.chance(90) {
            self.add_store(random, "repo/.qipu");
        }
        for store in STORES {
            if random.chance(20) {
                self.add_store(random, &join("repo", store));
            }
        }
        for (store, percent) in [("data/qipu", 30), ("outside/.qipu", 40), ("home/team/.qipu", 20)] {
            if random.chance(percent) {
                self.add_store(random, store);
            }
        }
        if random.chance(25) {
            self.user_settings = Some(user_settings(random));
        }
    }

    fn add_store(&mut self, random: &mut Random, store: &str) {
        self.nodes.insert(format!("{store}/notes"), Node::Folder);
        for _ in 0..random.between(1, 3) {
            let id = random.choice(&["a", "b", "c", "guide--a", "index"]);
            let mut note = Document { id: Some(id.to_owned()), ..document(random) };
            note.title = Some(note.title.unwrap_or_else(|| "Note".to_owned()));
            // A source may read the file, too: its path has no `--`.
            let file = id.replace("--", "-");
            self.nodes.insert(format!("{store}/notes/{file}.md"), Node::Document(note));
        }
        if store == "repo/.qipu" || random.chance(60) {
            self.configs.insert(store.to_owned(), settings(random));
        }
    }

    fn add_ignored(&mut self, random: &mut Random) {
        for path in ["repo/.gitignore", "repo/docs/.gitignore", "repo/docs/guide/.gitignore", "repo/.git/info/exclude"]
        {
            let is_possible = !path.contains("/.git/") || self.nodes.contains_key("repo/.git");
            if is_possible && random.chance(18) {
                let lines: Vec<&str> = (0..random.between(1, 3)).map(|_| random.choice(&IGNORED)).collect();
                self.nodes.insert(path.into(), Node::Text(format!("{}\n", lines.join("\n"))));
            }
        }
    }

    fn add_links(&mut self, random: &mut Random) {
        let links = [
            ("repo/link", "docs"),
            ("repo/loop", "."),
            ("repo/out-link", "../outside"),
            ("repo/docs/loop", ".."),
            ("repo/docs/linked.md", "a.md"),
            ("repo/docs/guide/out.md", "../../../outside/a.md"),
            ("repo/docs/linked", "../vault"),
        ];
        for (path, target) in links {
            if random.chance(15) {
                self.nodes.insert(path.into(), Node::Link(target.into()));
            }
        }
    }

    fn choose_flags(&mut self, random: &mut Random) {
        let places = ["repo", "repo", "repo", "repo/app", "repo/docs", "repo/packages/one", "repo/docs/guide"];
        self.current_dir = random.choice(&places).to_owned();
        self.nodes.entry(self.current_dir.clone()).or_insert(Node::Folder);
        if random.chance(15) {
            let sources = [
                "$WORLD/repo/docs",
                "$WORLD/repo",
                "$WORLD/repo/vault",
                "$WORLD/outside",
                "$WORLD/repo/docs/guide",
                "$WORLD/repo/.qipu",
                "$WORLD/repo/.qipu/notes",
            ];
            let count = random.between(1, 2);
            self.documents.extend((0..count).map(|_| random.choice(&sources).to_owned()));
            self.documents.retain(|path| self.nodes.keys().any(|node| node.starts_with(&format!("{}/", &path[7..]))));
        }
        if random.chance(12) {
            let stores: Vec<String> =
                self.nodes.keys().filter_map(|path| path.strip_suffix("/notes")).map(str::to_owned).collect();
            for _ in 0..random.between(1, 2) {
                if !stores.is_empty() {
                    self.stores.push(format!("{WORLD}/{}", stores[random.below(stores.len())]));
                }
            }
        }
        if random.chance(20) {
            self.only.push(random.choice(&NAMES).to_owned());
        }
        if random.chance(15) {
            self.nodes.insert("repo/vault/.obsidian/app.json".into(), Node::Text("{}".into()));
        }
        // A project has files that a store may have.
        if random.chance(20) {
            let project = random.choice(&["repo/packages/one", "repo/packages/two"]);
            self.nodes.insert(format!("{project}/config.toml"), Node::Text("baseURL = \"x\"\n".into()));
        }
    }

    /// Returns this layout without one of its parts, for each part.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        let mut change = |remove: &dyn Fn(&mut Self)| {
            let mut smaller = self.clone();
            remove(&mut smaller);
            all.push(smaller);
        };
        for store in self.configs.keys() {
            change(&|layout| drop(layout.configs.remove(store)));
            let settings = &self.configs[store];
            for index in 0..settings.sources.len() {
                change(&|layout| drop(layout.configs.get_mut(store).unwrap().sources.remove(index)));
            }
            for index in 0..settings.stores.len() {
                change(&|layout| drop(layout.configs.get_mut(store).unwrap().stores.remove(index)));
            }
        }
        for (path, node) in &self.nodes {
            let is_place = *path == self.current_dir || path == "home";
            if !is_place && !self.configs.contains_key(path.trim_end_matches("/notes")) {
                change(&|layout| drop(layout.nodes.remove(path)));
            }
            let Node::Document(document) = node else { continue };
            for index in 0..document.links.len() {
                change(&|layout| {
                    let Some(Node::Document(document)) = layout.nodes.get_mut(path) else { return };
                    document.links.remove(index);
                });
            }
        }
        if self.user_settings.is_some() {
            change(&|layout| layout.user_settings = None);
        }
        for index in 0..self.only.len() {
            change(&|layout| drop(layout.only.remove(index)));
        }
        for index in 0..self.documents.len() {
            change(&|layout| drop(layout.documents.remove(index)));
        }
        all
    }

    /// Describes the layout for a reader of a failure.
    pub(crate) fn describe(&self) -> String {
        let mut text = format!("in {}: {}\n", self.current_dir, self.flags(WORLD).join(" "));
        for (path, node) in &self.nodes {
            let shown = match node {
                Node::Document(document) => {
                    let mut shown = String::from_utf8_lossy(&document.bytes()).replace('\n', " ");
                    shown.truncate(300);
                    shown
                }
                Node::Text(text) => format!("{text:?}"),
                Node::Link(target) => format!("-> {target}"),
                Node::Folder => "/".to_owned(),
            };
            writeln!(text, "  {path} {shown}").unwrap();
        }
        let user = self.user_settings.iter().map(|settings| ("user", settings));
        for (store, settings) in self.configs.iter().map(|(store, settings)| (store.as_str(), settings)).chain(user) {
            writeln!(text, "  config of {store}: {}", settings.text().replace('\n', " ")).unwrap();
        }
        text
    }

    /// Returns the flags of every command.
    pub(crate) fn flags(&self, world: &str) -> Vec<String> {
        let named = [("--store", &self.stores), ("--store", &self.documents), ("--in", &self.only)];
        let pairs = named.into_iter().flat_map(|(flag, values)| values.iter().map(move |value| [flag, value.as_str()]));
        pairs.flatten().map(|word| word.replace(WORLD, world)).collect()
    }

    /// Creates the files and folders.
    pub(crate) fn write(&self, world: &Path) {
        let root = world.to_str().unwrap();
        let put = |path: &str, bytes: &[u8]| {
            let path = world.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        for (path, node) in &self.nodes {
            match node {
                Node::Document(document) => put(path, &document.bytes()),
                Node::Text(text) => put(path, text.as_bytes()),
                Node::Folder => fs::create_dir_all(world.join(path)).unwrap(),
                Node::Link(target) => {
                    fs::create_dir_all(world.join(path).parent().unwrap()).unwrap();
                    symlink(target, world.join(path)).unwrap();
                }
            }
        }
        for (store, settings) in &self.configs {
            put(&format!("{store}/config.toml"), settings.text().replace(WORLD, root).as_bytes());
        }
        if let Some(settings) = &self.user_settings {
            put("settings/qipu/config.toml", settings.text().replace(WORLD, root).as_bytes());
        }
    }
}

impl Document {
    fn bytes(&self) -> Vec<u8> {
        let fields = [("id", &self.id), ("title", &self.title)];
        let fields: String =
            fields.iter().filter_map(|(key, value)| value.as_ref().map(|value| format!("{key}: {value}\n"))).collect();
        let mut text = if fields.is_empty() { String::new() } else { format!("---\n{fields}---\n") };
        if let Some(heading) = &self.heading {
            write!(text, "# {heading}\n\n").unwrap();
        }
        self.links.iter().for_each(|link| write!(text, "See {link}.\n\n").unwrap());
        let mut bytes = text.into_bytes();
        match self.defect {
            Defect::None => {}
            Defect::Nul => bytes.extend_from_slice(b"a\0b"),
            Defect::NotUtf8 => bytes.extend_from_slice(b"a \xff b\n"),
            Defect::TooLong => bytes.resize(4 * 1024 * 1024 + 1, b' '),
        }
        bytes
    }
}

impl Settings {
    fn text(&self) -> String {
        let mut text = if self.is_last { "parents = false\n".to_owned() } else { String::new() };
        if !self.allowed.is_empty() {
            writeln!(text, "allowed-repositories = {:?}", self.allowed).unwrap();
        }
        for (table, entries) in [("documents", &self.sources), ("stores", &self.stores)] {
            for entry in entries {
                writeln!(text, "\n[[{table}]]\npath = {:?}", entry.path).unwrap();
                let pairs = [("as", &entry.dialect), ("name", &entry.name)];
                pairs.iter().for_each(|(key, value)| {
                    if let Some(value) = value {
                        writeln!(text, "{key} = {value:?}").unwrap();
                    }
                });
            }
        }
        text
    }
}

/// Joins two relative paths, either of which may be empty.
pub(crate) fn join(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", path) => path.to_owned(),
        (folder, "") => folder.to_owned(),
        _ => format!("{folder}/{path}"),
    }
}
