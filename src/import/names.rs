//! Resolves the references of pages as the app resolves them.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use super::body::ReferenceTarget;
use super::{ImportedPage, stem, without_extension};
use crate::note::join_path;
use crate::request::ImportFrom;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResolvedName {
    Page(usize),
    File(String),
}

/// All pages of a folder, with an index of their names.
#[derive(Debug)]
pub(crate) struct Vault {
    /// The pages, in the order of their paths.
    pub(crate) pages: Vec<ImportedPage>,
    from: ImportFrom,
    /// Pages by folded title and, in Logseq, alias; in Obsidian by file name. Several pages may share a name.
    by_name: HashMap<String, Vec<usize>>,
    /// Files and pages by folded path.
    by_path: HashMap<String, ResolvedName>,
    /// Paths of files by folded name, sorted.
    files: HashMap<String, Vec<String>>,
    blocks: HashMap<String, usize>,
    /// The folded path of each page, without extension.
    plain_paths: Vec<String>,
}

/// Returns the form in which names are compared: trimmed, in Unicode normal form C and lower case.
fn folded(name: &str) -> String {
    name.trim().nfc().collect::<String>().to_lowercase()
}

impl Vault {
    /// Creates a vault. In Obsidian, of pages with the same title all but the first get their paths as titles.
    pub(crate) fn new(from: ImportFrom, mut pages: Vec<ImportedPage>, files: &[String]) -> Self {
        let (mut by_name, mut by_path, mut blocks) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut files_by_name: HashMap<String, Vec<String>> = HashMap::new();
        for path in files {
            by_path.insert(folded(path), ResolvedName::File(path.clone()));
            files_by_name.entry(folded(path.rsplit('/').next().unwrap_or(path))).or_default().push(path.clone());
        }
        for (index, page) in pages.iter().enumerate() {
            by_path.insert(folded(&page.source), ResolvedName::Page(index));
            for block_id in page.scan.blocks.iter().chain(&page.block_id) {
                blocks.entry(block_id.clone()).or_insert(index);
            }
        }
        let mut add = |name: &str, index: usize| {
            let indices: &mut Vec<usize> = by_name.entry(folded(name)).or_default();
            if indices.last() != Some(&index) {
                indices.push(index);
            }
        };
        match from {
            ImportFrom::Logseq => {
                pages.iter().enumerate().for_each(|(index, page)| add(&page.title, index));
                for (index, page) in pages.iter().enumerate() {
                    page.aliases.iter().for_each(|alias| add(alias, index));
                }
            }
            ImportFrom::Obsidian => {
                let mut order: Vec<usize> = (0..pages.len()).collect();
                let depth = |index: &usize| (pages[*index].source.matches('/').count(), &pages[*index].source);
                order.sort_by(|a, b| depth(a).cmp(&depth(b)));
                order.iter().for_each(|index| add(stem(&pages[*index].source), *index));
                // Pages that share a file name get titles of their own, except the first.
                for (index, page) in pages.iter_mut().enumerate() {
                    let name = stem(&page.source);
                    let is_first = by_name.get(&folded(name)).and_then(|indices| indices.first()) == Some(&index);
                    if !is_first && folded(&page.title) == folded(name) {
                        page.title = super::to_title(without_extension(&page.source));
                    }
                }
            }
        }
        let plain_paths = pages.iter().map(|page| folded(without_extension(&page.source))).collect();
        Self { pages, from, by_name, by_path, files: files_by_name, blocks, plain_paths }
    }

    pub(crate) fn count(&self, title: &str) -> usize {
        self.by_name.get(&folded(title)).map_or(0, Vec::len)
    }

    /// Resolves a reference; `from` is the path of the page.
    pub(crate) fn resolve(&self, from: &str, target: &ReferenceTarget) -> Option<ResolvedName> {
        match target {
            ReferenceTarget::Block(id) => self.blocks.get(id).map(|index| ResolvedName::Page(*index)),
            ReferenceTarget::Path(path) => self.find_path(from, path).or_else(|| match self.from {
                // A path with an explicit start names no other file.
                ImportFrom::Obsidian if !path.starts_with("./") && !path.starts_with("../") => {
                    self.find_by_name(from, path)
                }
                _ => None,
            }),
            ReferenceTarget::Wiki(name) => self.find_by_name(from, name).or_else(|| {
                let (name, _heading) = name.split_once('#')?;
                self.find_by_name(from, name)
            }),
        }
    }

    /// Tells whether there is no file at a path, so that a reference can only mean a file of that name.
    pub(crate) fn is_by_name(&self, from: &str, path: &str) -> bool {
        self.find_path(from, path).is_none()
    }

    pub(crate) fn has_block(&self, index: usize, id: &str) -> bool {
        self.pages.get(index).is_some_and(|page| page.scan.blocks.contains(&id.to_lowercase()))
    }

    fn find_path(&self, from: &str, path: &str) -> Option<ResolvedName> {
        let find = |from: &str| self.by_path.get(&folded(&join_path(from, path)?)).cloned();
        let (in_folder_of_page, from_root) = (|| find(from), || find(""));
        if path.starts_with('/') { from_root() } else { in_folder_of_page().or_else(from_root) }
    }

    fn find_by_name(&self, from: &str, name: &str) -> Option<ResolvedName> {
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        if self.from == ImportFrom::Logseq {
            return self.by_name.get(&folded(name))?.first().map(|index| ResolvedName::Page(*index));
        }
        let has_ending = [".md", ".markdown"].iter().any(|ending| folded(name).ends_with(ending));
        let name = if has_ending { without_extension(name) } else { name };
        let page = ["md", "markdown"].iter().find_map(|ending| self.find_path("", &format!("{name}.{ending}")));
        let file = || if has_ending { None } else { self.find_path("", name).or_else(|| self.find_file(name)) };
        page.or_else(|| self.find_page(from, name)).or_else(file)
    }

    /// Finds a note by the end of its path: preferably below the folder of the referring note, else the first.
    fn find_page(&self, from: &str, name: &str) -> Option<ResolvedName> {
        let wanted = folded(name.trim_start_matches("./").trim_start_matches('/'));
        let last = wanted.rsplit('/').next().unwrap_or(&wanted);
        let path_of = |index: usize| self.plain_paths.get(index).map_or("", String::as_str);
        let ends = |index: &&usize| ends_with_path(path_of(**index), &wanted);
        let indices = self.by_name.get(last)?;
        let from = folded(from);
        let folder = from.get(..from.rfind('/').map_or(0, |at| at + 1)).unwrap_or_default();
        let in_folder_of_page = indices.iter().filter(ends).find(|index| path_of(**index).starts_with(folder));
        in_folder_of_page.or_else(|| indices.iter().find(ends)).map(|index| ResolvedName::Page(*index))
    }

    fn find_file(&self, name: &str) -> Option<ResolvedName> {
        let wanted = folded(name.trim_start_matches("./").trim_start_matches('/'));
        let last = wanted.rsplit('/').next().unwrap_or(&wanted);
        let mut files = self.files.get(last)?.iter();
        files.find(|path| ends_with_path(&folded(path), &wanted)).cloned().map(ResolvedName::File)
    }
}

fn ends_with_path(path: &str, wanted: &str) -> bool {
    path.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
