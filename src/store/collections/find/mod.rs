//! Finds the collections that an answer is made of, by the options, the configs of stores and the user's settings.
//!
//! A repository is untrusted: its config names only folders inside it, without symbolic links, unless the user allows it.

mod finder;
mod found;
mod history;
mod setting_finding;
mod setting_path;
mod target;

use std::path::{Path, PathBuf};

use super::collection::CollectionReason;
use super::discover::{self, CollectionScope, Location};
use super::user_settings::{self, UserSettings};
use crate::error::{Error, ErrorKind};
use crate::escape::abbreviated;
use finder::CollectionFinder;
pub(in crate::store) use found::{FoundCollection, FoundCollections, set_authorities};
use found::{divide_files, keep_only};
use history::add_history;
pub use history::{CodeTarget, commits_of_code, reads_commits};
use setting_finding::SettingCode;
pub use setting_finding::SettingFinding;
use setting_path::RELATIVE;
pub(in crate::store) use target::{find_target, find_target_with_names};

/// The folder of the user's own store, in the user's folder for data.
const USER_STORE: &str = "qipu";

/// Finds the collections of a call.
///
/// # Errors
/// `NoStore` if there are none; `Store` if the first store or the user's settings can't be read; `Usage` for a name behind
/// `--in` that no collection has.
pub(in crate::store) fn find_collections(location: &Location, current_dir: &Path) -> Result<FoundCollections, Error> {
    // What depends on the user's trust fails later; other answers are given.
    let (user, invalid) = match UserSettings::load(location.settings.as_deref()) {
        Ok(user) => (user, None),
        Err(error) => (UserSettings::default(), Some(error.message)),
    };
    let file = user_settings::FILE.to_owned();
    let relative = user.relative_projects().map(|(setting, path)| SettingFinding {
        file: file.clone(),
        code: SettingCode::RepositoryInvalid,
        message: format!("`{}` under {setting} {RELATIVE}", abbreviated(&path.to_string_lossy())),
        collection: None,
    });
    let mut findings: Vec<SettingFinding> = relative.collect();
    let of_settings = |message| SettingFinding { file, code: SettingCode::SettingsInvalid, message, collection: None };
    findings.extend(invalid.map(of_settings));
    let found = FoundCollections { findings, ..FoundCollections::default() };
    let finder = CollectionFinder::new(location, current_dir, &user, found);
    let (mut found, missing) = finder.add_all_outside_stores()?;
    set_authorities(&location.files, &mut found.all);
    // Whose file one is does not depend on which collections are asked for.
    divide_files(&mut found.all);
    add_history(&mut found, (location, current_dir), user.history.commits == Some(true))?;
    if found.all.is_empty() {
        let nothing = || Error::new(ErrorKind::NoStore, "no store and no documents");
        return Err(missing.unwrap_or_else(nothing));
    }
    keep_only(&mut found, &location.only)?;
    // It is no defect: only the error of its name tells it.
    found.findings.retain(|finding| finding.code != SettingCode::OtherProject);
    if location.scope == CollectionScope::Own {
        found.all.retain(FoundCollection::speaks_unasked);
        if found.all.is_empty() {
            return Err(Error::new(ErrorKind::NoStore, "no store, only documents"));
        }
    }
    Ok(found)
}

/// Returns why the project's store counts.
fn reason_of_first(location: &Location, root: &Path, current_dir: &Path) -> CollectionReason {
    match location.store {
        Some(_) => CollectionReason::Option,
        None if discover::is_in_main_worktree(&location.files, root, current_dir) => CollectionReason::MainWorktree,
        None => CollectionReason::Nearest,
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
