//! The collections that were found, the settings without effect, and whose file each file is.

use std::path::PathBuf;
use std::sync::Arc;

use super::setting_finding::SettingFinding;
use crate::error::{Error, Remedy};
use crate::note::{Dialect, NOTE_FOLDERS};
use crate::store::collections::collection::{Authority, COMMITS, CollectionReason, OtherNames, USER};
use crate::store::collections::config::Config;
use crate::store::collections::discover;
use crate::store::fs::dir_handle::DirHandle;
use crate::store::fs::file_tree::FileTree;
use crate::store::index::source_scan::SourceRules;

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
    /// Makes a store; its authority is set when all collections are known.
    pub(super) fn of_store(
        name: String,
        root: PathBuf,
        dir: Arc<DirHandle>,
        config: &Arc<Config>,
        reason: CollectionReason,
    ) -> Self {
        let (dialect, authority, config) = (Dialect::Qipu, Authority::default(), Arc::clone(config));
        Self { name, root, dir, dialect, is_writable: true, reason, authority, config, rules: None }
    }

    /// Whether it belongs to [`CollectionScope::Own`].
    pub(super) fn speaks_unasked(&self) -> bool {
        let is_own = self.rules.is_none() || self.is_writable;
        is_own || self.dialect == Dialect::Adr || self.reason == CollectionReason::Option
    }

    /// Whether it is a source that a setting names, inside one of some stores.
    pub(super) fn is_inside(&self, stores: &[PathBuf]) -> bool {
        let is_named = self.reason == CollectionReason::Option;
        self.rules.is_some() && !is_named && stores.iter().any(|store| self.root.starts_with(store))
    }
}

/// The collections that count, the first one that of the project, and the settings without effect.
#[derive(Debug, Default, Clone)]
pub(in crate::store) struct FoundCollections {
    pub(in crate::store) all: Vec<FoundCollection>,
    pub(in crate::store) findings: Vec<SettingFinding>,
    /// The other names of all collections, of those that `--in` leaves out too.
    pub(in crate::store) other_names: Arc<OtherNames>,
}

/// Keeps the collections that are named, if any are.
pub(super) fn keep_only(found: &mut FoundCollections, only: &[String]) -> Result<(), Error> {
    let names = || found.all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>();
    let others = &found.other_names.names;
    let only: Vec<&String> = only.iter().map(|name| others.get(name).unwrap_or(name)).collect();
    if let Some(unknown) = only.iter().find(|name| !names().contains(&name.as_str())) {
        let is_meant = |finding: &&SettingFinding| finding.collection.as_ref() == Some(unknown);
        let why = found.findings.iter().find(is_meant);
        let why = why.map(|finding| format!(": {}: {}", finding.file, finding.message)).unwrap_or_default();
        let error = Error::usage(format!("no collection has the name `{unknown}`{why}"));
        return Err(if *unknown == USER {
            error.remedy(Remedy::CreateOwnStore)
        } else if *unknown == COMMITS {
            error.hint("`ask`, `context`, `search`, `about` and `show` read commits")
        } else {
            error.hint(format!("collections: {}; `qipu status` says more", names().join(", ")))
        });
    }
    if !only.is_empty() {
        found.all.retain(|one| only.contains(&&one.name));
    }
    Ok(())
}

/// Gives each file to one collection: to the store whose note it is, else to the source with the deepest folder, then the
/// first one.
pub(super) fn divide_files(all: &mut [FoundCollection]) {
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

/// Sets the authority of each collection, before `--in` leaves any out. What lies in the repository of the
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
            CollectionReason::UserSettings | CollectionReason::UserSettingsForProject => Authority::User,
            CollectionReason::Option => Authority::Option,
            CollectionReason::Config(store) => {
                before.iter().find(|other| other.name == *store).map(|store| store.authority).unwrap_or_default()
            }
            CollectionReason::Nearest
            | CollectionReason::MainWorktree
            | CollectionReason::Parent
            | CollectionReason::History => Authority::Repository,
        };
    }
}
