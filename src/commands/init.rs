//! `qipu init`: a store to begin with.

use std::path::Path;

use crate::error::Error;
use crate::report::{ChangeEntry, Entry, Head, Mode, Report};
use crate::request::Init;
use crate::store;

/// Makes what is missing of a store and reports each file; what is there stays as it is.
pub(super) fn run(request: &Init, current_dir: &Path) -> Result<Report, Error> {
    let plan = store::Plan {
        store: request.store.as_deref(),
        root: request.root.as_deref(),
        is_stealth: request.is_stealth,
        is_visible: request.is_visible,
        is_dry_run: request.is_dry_run,
    };
    let made = store::init(&plan, current_dir)?;
    let entry = |(path, new): (String, Option<&str>)| {
        let action = if new.is_some() { "created" } else { "unchanged" };
        let diff = new.filter(|_| request.is_dry_run).map(|text| store::diff(&path, None, Some(text)));
        Entry::Change(ChangeEntry { id: None, action, path, diff })
    };
    let mode = Mode::Change { command: "init", is_dry_run: request.is_dry_run };
    let head = Head::new(mode, Some(&made.shown_path));
    Ok(Report::new(head, made.files.into_iter().map(entry).collect()))
}
