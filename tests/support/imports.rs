//! Which files of a crate use which others: every `use` with its braces, and every path in the code that begins at a module,
//! each followed through re-exports to the file that defines the item.
//!
//! Paths in the arguments of macros and calls of methods are not seen.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;
use syn::{Attribute, File, Item, ItemMod, UseTree};

/// The path of a module, or of an item in one, from the crate's root: `["note", "merge"]`.
pub(crate) type ModulePath = Vec<String>;

/// What one file has.
#[derive(Default)]
struct Module {
    /// What its `use` declarations name, by the name that they give it: the path from the crate's root.
    imported: BTreeMap<String, ModulePath>,
    /// The modules of which it takes all names.
    globs: Vec<ModulePath>,
    defined: BTreeSet<String>,
    /// The paths that it names, outside of its unit tests.
    named: BTreeSet<ModulePath>,
}

/// The files of a crate, by the path of their module.
pub(crate) struct Crate(BTreeMap<ModulePath, Module>);

impl Crate {
    /// Parses the files of a crate: the path of each module, with its source.
    pub(crate) fn parse<'a>(files: impl Iterator<Item = (ModulePath, &'a str)> + Clone) -> Self {
        let paths: BTreeSet<ModulePath> = files.clone().map(|(path, _)| path).collect();
        Self(files.map(|(path, text)| (path.clone(), module(path, text, &paths))).collect())
    }

    /// Returns, for each file, the files whose items it uses.
    pub(crate) fn imports(&self) -> BTreeMap<&ModulePath, BTreeSet<&ModulePath>> {
        let of = |module: &Module| module.named.iter().filter_map(|named| self.definition(named, 0)).collect();
        self.0.iter().map(|(path, module)| (path, of(module))).collect()
    }

    /// Returns the paths that a file names, from the crate's root, not followed through re-exports.
    pub(crate) fn named(&self, file: &ModulePath) -> impl Iterator<Item = &ModulePath> {
        self.0[file].named.iter()
    }

    /// Finds the file that defines what a path names, through at most 16 re-exports.
    fn definition(&self, named: &[String], depth: usize) -> Option<&ModulePath> {
        let (file, rest) = (0..=named.len()).rev().find_map(|length| {
            let (path, rest) = named.split_at(length);
            self.0.get_key_value(path).map(|(path, _)| (path, rest))
        })?;
        let Some((name, behind)) = rest.split_first().filter(|_| depth < 16) else { return Some(file) };
        let module = &self.0[file];
        if module.defined.contains(name) {
            return Some(file);
        }
        if let Some(target) = module.imported.get(name) {
            return self.definition(&[target, behind].concat(), depth + 1);
        }
        let defines = |glob: &&ModulePath| self.0.get(*glob).is_some_and(|module| module.has(name));
        match module.globs.iter().find(defines) {
            Some(glob) => self.definition(&[glob.as_slice(), rest].concat(), depth + 1),
            None => Some(file),
        }
    }
}

impl Module {
    fn has(&self, name: &str) -> bool {
        self.defined.contains(name) || self.imported.contains_key(name)
    }
}

fn module(path: ModulePath, text: &str, paths: &BTreeSet<ModulePath>) -> Module {
    let file: File = syn::parse_str(text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut reader = Reader { path, paths, inside: Vec::new(), module: Module::default() };
    reader.module.defined = file.items.iter().filter_map(name_of).collect();
    reader.visit_file(&file);
    reader.module
}

/// Returns the name that an item defines. A `mod name;` is a file of its own.
fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Mod(item) if item.content.is_some() => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Whether an item is compiled only for unit tests: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut is_test = attribute.path().is_ident("test");
        if attribute.path().is_ident("cfg") {
            // What it does not read, as `feature = "x"`, ends the parsing: that is no test.
            let _ = attribute.parse_nested_meta(|condition| {
                is_test |= condition.path.is_ident("test");
                if !condition.path.is_ident("all") {
                    return Ok(());
                }
                condition.parse_nested_meta(|part| {
                    is_test |= part.path.is_ident("test");
                    Ok(())
                })
            });
        }
        is_test
    })
}

/// Collects the paths of one file.
struct Reader<'a> {
    path: ModulePath,
    paths: &'a BTreeSet<ModulePath>,
    /// The modules in the file around the place that is read.
    inside: Vec<String>,
    module: Module,
}

impl Reader<'_> {
    /// Returns the path from the crate's root of a path as it is written; `None` if it leads to another crate, or to a local
    /// name.
    fn absolute(&self, written: &[String]) -> Option<ModulePath> {
        let here = || self.path.iter().chain(&self.inside).cloned().collect::<ModulePath>();
        let (first, rest) = written.split_first()?;
        let mut path = match first.as_str() {
            "crate" => ModulePath::new(),
            "self" => here(),
            "super" => {
                let mut path = here();
                assert!(path.pop().is_some(), "{:?}: `super` above the crate", self.path);
                path
            }
            name => {
                let child: ModulePath = here().into_iter().chain([name.to_owned()]).collect();
                return self.paths.contains(&child).then(|| [child.as_slice(), rest].concat());
            }
        };
        let mut rest = rest;
        while let Some(("super", behind)) = rest.split_first().map(|(first, behind)| (first.as_str(), behind)) {
            path.pop();
            rest = behind;
        }
        path.extend(rest.iter().cloned());
        Some(path)
    }

    fn read_tree(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.read_tree(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.read_tree(tree, before)),
            UseTree::Name(name) if name.ident == "self" => {
                self.add_import(before, before.last().cloned().unwrap_or_default());
            }
            UseTree::Name(name) => self.add_import(&with(&name.ident), name.ident.to_string()),
            UseTree::Rename(rename) => self.add_import(&with(&rename.ident), rename.rename.to_string()),
            UseTree::Glob(_) => {
                if let Some(path) = self.absolute(before) {
                    self.module.named.insert(path.clone());
                    self.module.globs.push(path);
                }
            }
        }
    }

    fn add_import(&mut self, written: &[String], name: String) {
        let Some(path) = self.absolute(written) else { return };
        if self.inside.is_empty() {
            self.module.imported.insert(name, path.clone());
        }
        self.module.named.insert(path);
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if is_for_tests(&item.attrs) {
            return;
        }
        self.inside.push(item.ident.to_string());
        syn::visit::visit_item_mod(self, item);
        self.inside.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.read_tree(&item.tree, &[]);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let written: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let Some(path) = self.absolute(&written).filter(|_| written.len() > 1) {
            self.module.named.insert(path);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}
