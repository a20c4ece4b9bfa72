//! `qipu index`: reports the state of the index, or rebuilds it.

use std::path::Path;

use crate::error::Error;
use crate::report::{Entry, Report, ReportHead, layout};
use crate::store::{Location, index_facts};

/// Reports the state of the index, after rebuilding it if that is requested.
pub(super) fn run(is_rebuilt: bool, location: &Location, current_dir: &Path) -> Result<Report, Error> {
    let (shown_path, facts) = index_facts(location, current_dir, is_rebuilt.then_some(super::text_index_builder))?;
    let entry = |(name, count): (&str, u64)| Entry::Fact(name.to_owned(), count as usize);
    let head = ReportHead::new(&layout::INDEX, Some(&shown_path));
    Ok(Report::new(head, facts.into_iter().map(entry).collect()))
}
