//! `qipu man --dir`: writes all manual pages into a folder, for packagers.

use std::path::Path;

use crate::env::WaitPolicy;
use crate::error::Error;
use crate::report::{ChangeEntry, Entry, Report, ReportHead};
use crate::request::ManPagesRequest;
use crate::store::{FileTree, atomic_write, diff, expect_inside, files};

/// The roff command by which a manual page of qipu is recognised.
const TITLE_COMMAND: &str = "\n.TH qipu";

/// Writes the pages, or reports which would be written in a dry run. Writes none if a file that is no page of qipu is in
/// the way.
pub(super) fn run(request: &ManPagesRequest, current_dir: &Path) -> Result<Report, Error> {
    expect_inside(&FileTree::default(), current_dir, &request.dir)?;
    let mut old = Vec::new();
    for (name, _) in &request.pages {
        let path = current_dir.join(&request.dir).join(name);
        let text = files::read_if_there(&path)?;
        if text.as_ref().is_some_and(|text| !text.is_empty() && !text.contains(TITLE_COMMAND)) {
            let message =
                format!("{} exists and is not a qipu manual page; not overwritten", request.dir.join(name).display());
            return Err(Error::usage(message).hint("name another folder, or remove that file"));
        }
        old.push((path, text));
    }
    let mut entries = Vec::new();
    for ((path, old), (name, new)) in old.into_iter().zip(&request.pages) {
        let action = match &old {
            None => "created",
            Some(old) if old == new => "unchanged",
            Some(_) => "changed",
        };
        if !request.is_dry_run && action != "unchanged" {
            files::make_folders(&path)?;
            atomic_write::replace_if_unchanged(
                &path,
                old.as_deref().map(str::as_bytes),
                new.as_bytes(),
                WaitPolicy::default(),
            )?;
        }
        let shown = request.dir.join(name).to_string_lossy().into_owned();
        let is_diff_shown = request.is_dry_run && action != "unchanged";
        let diff = is_diff_shown.then(|| diff(&shown, old.as_deref(), Some(new)));
        entries.push(Entry::Change(ChangeEntry { diff, ..ChangeEntry::of_file(action, shown) }));
    }
    Ok(Report::new(ReportHead::of_change("man", request.is_dry_run, None), entries))
}
