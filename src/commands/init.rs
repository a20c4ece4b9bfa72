//! `qipu init`: a store to begin with.

use std::path::Path;

use crate::error::Error;
use crate::report::{ChangeEntry, Entry, Head, Mode, Report};
use crate::request::Init;
use crate::store;

/// Makes what is missing of a store and reports each file; what is there stays as it is.
pub(super) fn run(request: &Init, current_dir: &Path) -> Result<Report, Error> {
    let made = store::init(
        request.store.as_deref(),
        request.root.as_deref(),
        request.is_stealth,
        request.is_visible,
        current_dir,
    )?;
    let entry = |(path, is_new): (String, bool)| {
        let action = if is_new { "created" } else { "unchanged" };
        Entry::Change(ChangeEntry { id: None, action, path, diff: None })
    };
    let head = Head::new(Mode::Change { command: "init", is_dry_run: false }, Some(&made.shown_path));
    Ok(Report::new(head, made.files.into_iter().map(entry).collect()))
}
