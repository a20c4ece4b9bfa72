//! Facts about the index of a store.

use std::path::Path;

use super::load::{self, Facts};
use super::text_index_builder::IndexBuilderFactory;
use super::unreadable::unreadable_warning;
use crate::error::Error;
use crate::store::collections::config::Config;
use crate::store::collections::discover::{Location, find_root, open_root, relative_to, shown_in};
use crate::warnings;

/// Returns the shown path of a store and facts about its index, which a builder rebuilds first if there is one.
///
/// # Errors
/// As [`Store::open`]; `Failure` if the index is to be rebuilt and can't be written.
pub fn index_facts(
    location: &Location,
    current_dir: &Path,
    rebuilt_with: Option<IndexBuilderFactory>,
) -> Result<(String, Facts), Error> {
    let root = find_root(location, current_dir)?;
    let dir = open_root(&location.files, &root)?;
    let builder = rebuilt_with.map(|factory| Ok::<_, Error>(factory(&Config::load(&dir)?))).transpose()?;
    let (facts, unreadable) = load::index_facts(&load::index_location(location, &root, &dir), builder)?;
    let shown_path = relative_to(&root, current_dir);
    let paths = unreadable.iter().map(|(path, _)| shown_in(&shown_path, path));
    unreadable_warning(paths).into_iter().for_each(warnings::add);
    Ok((shown_path, facts))
}
