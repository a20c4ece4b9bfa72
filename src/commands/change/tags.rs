//! `qipu tags rename`: renames a tag in all notes.

use super::{PlannedChange, plan_edits};
use crate::error::{Error, ErrorKind};
use crate::note::edit::Edit;
use crate::store::Store;

/// Plans the new name in every note with the tag. A note with both tags keeps one.
pub(super) fn plan_rename(store: &Store, now: &str, from: &str, to: &str) -> Result<Vec<PlannedChange>, Error> {
    let to = to.trim();
    if to.is_empty() || to == from {
        return Err(Error::usage(format!("the new name of the tag `{from}` is empty or the same as the old one")));
    }
    let edits = [Edit::RenameItem { key: "tags", from: from.to_owned(), to: to.to_owned() }];
    let tagged = store.notes().iter().filter(|note| note.tags().contains(&from));
    let planned = tagged.map(|note| plan_edits(store, note, &edits, now)).collect::<Result<Vec<_>, Error>>()?;
    if !planned.is_empty() {
        return Ok(planned);
    }
    let near = store.near_tags(from);
    let meant = if near.is_empty() { String::new() } else { format!("did you mean `{}`? ", near.join("`, `")) };
    Err(Error::new(ErrorKind::NoNote, format!("no note has the tag `{from}`"))
        .hint(format!("{meant}`qipu tags` lists the tags")))
}
