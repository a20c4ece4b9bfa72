//! Writes the index of a store, whether it is out of date or not.

use std::path::Path;

use super::load;
use super::text_index_builder::IndexBuilderFactory;
use crate::error::Error;
use crate::store::collections::config::Config;
use crate::store::collections::discover::{Location, find_root, open_root};

/// Writes a new index of a store, also of one that is too small to need it.
///
/// # Errors
/// As [`Store::open`]; `Failure` if the index can't be written.
pub fn rebuild_index(location: &Location, current_dir: &Path, builder: IndexBuilderFactory) -> Result<(), Error> {
    let root = find_root(location, current_dir)?;
    let dir = open_root(&location.files, &root)?;
    let builder = builder(&Config::load(&dir)?);
    load::rebuilt(&load::index_location(location, &root, &dir), builder)
}
