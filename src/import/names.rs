//! From what a page refers to, to what it means in the app that it was written in.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use super::body::ReferenceTarget;
use super::{ImportedPage, stem};
use crate::graph::join_path;
use crate::request::ImportFrom;

/// What a reference leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedName {
    /// A page, by its place.
    Page(usize),
    /// Another file, by its path in the folder.
    File(String),
}

/// All pages of a folder, and the names they go by there.
#[derive(Debug)]
pub struct Vault {
    /// The pages in the order of their paths.
    pub pages: Vec<ImportedPage>,
    from: ImportFrom,
    /// Titles and, in Logseq, aliases; file names in Obsidian. Several may share one.
    by_name: HashMap<String, Vec<usize>>,
    /// Files and pages by their paths in small letters.
    by_path: HashMap<String, ResolvedName>,
    /// Files by their names in small letters, in the order of their paths.
    files: HashMap<String, Vec<String>>,
    blocks: HashMap<String, usize>,
    /// Each page's path without its ending, as names are compared.
    plain_paths: Vec<String>,
}

/// Brings a name to the form in which names are compared.
fn folded(name: &str) -> String {
    name.trim().nfc().collect::<String>().to_lowercase()
}

impl Vault {
    /// Makes a vault of pages and the paths of other files. Of pages with one title, in Obsidian, all
    /// but the first are given their paths for titles.
    pub fn new(from: ImportFrom, mut pages: Vec<ImportedPage>, files: &[String]) -> Self {
        let (mut by_name, mut by_path, mut blocks) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut files_by_name: HashMap<String, Vec<String>> = HashMap::new();
        for path in files {
            by_path.insert(folded(path), ResolvedName::File(path.clone()));
            files_by_name.entry(folded(path.rsplit('/').next().unwrap_or(path))).or_default().push(path.clone());
        }
        for (place, page) in pages.iter().enumerate() {
            by_path.insert(folded(&page.source), ResolvedName::Page(place));
            for block in page.scan.blocks.iter().chain(&page.block) {
                blocks.entry(block.clone()).or_insert(place);
            }
        }
        let mut add = |name: &str, place: usize| {
            let places: &mut Vec<usize> = by_name.entry(folded(name)).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        };
        match from {
            ImportFrom::Logseq => {
                pages.iter().enumerate().for_each(|(place, page)| add(&page.title, place));
                let aliases = pages
                    .iter()
                    .enumerate()
                    .flat_map(|(place, page)| page.aliases.iter().map(move |alias| (place, alias)));
                aliases.for_each(|(place, alias)| add(alias, place));
            }
            ImportFrom::Obsidian => {
                let mut order: Vec<usize> = (0..pages.len()).collect();
                let depth = |place: &usize| (pages[*place].source.matches('/').count(), &pages[*place].source);
                order.sort_by(|a, b| depth(a).cmp(&depth(b)));
                order.iter().for_each(|place| add(stem(&pages[*place].source), *place));
            }
        }
        let plain_paths = pages.iter().map(|page| folded(without_ending(&page.source))).collect();
        let mut vault = Self { pages: Vec::new(), from, by_name, by_path, files: files_by_name, blocks, plain_paths };
        vault.tell_apart(&mut pages);
        vault.pages = pages;
        vault
    }

    /// Gives pages that share a file name titles of their own.
    fn tell_apart(&self, pages: &mut [ImportedPage]) {
        if self.from == ImportFrom::Logseq {
            return;
        }
        for (place, page) in pages.iter_mut().enumerate() {
            let name = stem(&page.source);
            let is_first = self.by_name.get(&folded(name)).and_then(|places| places.first()) == Some(&place);
            if !is_first && folded(&page.title) == folded(name) {
                page.title = super::titled(without_ending(&page.source));
            }
        }
    }

    /// Returns how many pages there are with a title.
    pub fn count(&self, title: &str) -> usize {
        self.by_name.get(&folded(title)).map_or(0, Vec::len)
    }

    /// Finds what a page refers to.
    pub fn resolve(&self, from: &str, target: &ReferenceTarget) -> Option<ResolvedName> {
        match target {
            ReferenceTarget::Block(id) => self.blocks.get(id).map(|place| ResolvedName::Page(*place)),
            ReferenceTarget::Path(path) => self.path(from, path).or_else(|| match self.from {
                // A path that says where it begins means no other file.
                ImportFrom::Obsidian if !path.starts_with("./") && !path.starts_with("../") => self.named(from, path),
                _ => None,
            }),
            ReferenceTarget::Wiki(name) => self.named(from, name).or_else(|| {
                let (name, _heading) = name.split_once('#')?;
                self.named(from, name)
            }),
        }
    }

    /// Tells whether there is no file at a path, so that only one with its name can be meant.
    pub fn is_by_name(&self, from: &str, path: &str) -> bool {
        self.path(from, path).is_none()
    }

    /// Tells whether a page has a block.
    pub fn has_block(&self, place: usize, id: &str) -> bool {
        self.pages.get(place).is_some_and(|page| page.scan.blocks.contains(&id.to_lowercase()))
    }

    fn path(&self, from: &str, path: &str) -> Option<ResolvedName> {
        let beside = || self.by_path.get(&folded(&join_path(from, path)?)).cloned();
        let in_folder = || self.by_path.get(&folded(&join_path("", path)?)).cloned();
        if path.starts_with('/') { in_folder() } else { beside().or_else(in_folder) }
    }

    fn named(&self, from: &str, name: &str) -> Option<ResolvedName> {
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        if self.from == ImportFrom::Logseq {
            return self
                .by_name
                .get(&folded(name))
                .and_then(|places| places.first())
                .map(|place| ResolvedName::Page(*place));
        }
        let has_ending = [".md", ".markdown"].iter().any(|ending| folded(name).ends_with(ending));
        let name = if has_ending { without_ending(name) } else { name };
        let page = ["md", "markdown"].iter().find_map(|ending| self.path("", &format!("{name}.{ending}")));
        let file = || if has_ending { None } else { self.path("", name).or_else(|| self.file(name)) };
        page.or_else(|| self.note(from, name)).or_else(file)
    }

    /// Finds a note by the end of its path: one below the folder of the note that names it, else
    /// the first.
    fn note(&self, from: &str, name: &str) -> Option<ResolvedName> {
        let wanted = folded(name.trim_start_matches("./").trim_start_matches('/'));
        let last = wanted.rsplit('/').next().unwrap_or(&wanted);
        let path_of = |place: usize| self.plain_paths.get(place).map_or("", String::as_str);
        let ends = |place: &&usize| {
            let path = path_of(**place);
            path == wanted || path.strip_suffix(&wanted).is_some_and(|before| before.ends_with('/'))
        };
        let places = self.by_name.get(last)?;
        let from = folded(from);
        let folder = from.get(..from.rfind('/').map_or(0, |at| at + 1)).unwrap_or_default();
        let beside = places.iter().filter(ends).find(|place| path_of(**place).starts_with(folder));
        beside.or_else(|| places.iter().find(ends)).map(|place| ResolvedName::Page(*place))
    }

    fn file(&self, name: &str) -> Option<ResolvedName> {
        let wanted = folded(name.trim_start_matches("./").trim_start_matches('/'));
        let last = wanted.rsplit('/').next().unwrap_or(&wanted);
        let ends = |path: &&String| {
            let path = folded(path);
            path == wanted || path.strip_suffix(&wanted).is_some_and(|before| before.ends_with('/'))
        };
        self.files.get(last)?.iter().find(ends).cloned().map(ResolvedName::File)
    }
}

fn without_ending(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(name, _)| name)
}
