//! Finds the collection that a command changes.

use std::path::Path;
use std::sync::Arc;

use super::found::FoundCollection;
use super::{find_collections, reason_of_first, user_store};
use crate::error::{Error, ErrorKind, Remedy};
use crate::store::collections::collection::{CollectionReason, OtherNames, PROJECT};
use crate::store::collections::config::Config;
use crate::store::collections::discover::{self, Location, open_root};

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
        return Ok(FoundCollection::of_store(PROJECT.to_owned(), root, dir, &config, reason));
    };
    Ok(find_named(name, location, current_dir)?.0)
}

/// Finds the collection that a command changes, with its other names, which its notes may use for it. None are known if the
/// collections can't be found.
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
        let message = format!("the documents `{name}` are only read");
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
    error.remedy(Remedy::NameStore { has_own: true })
}
