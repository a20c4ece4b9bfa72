//! `qipu link add DIGEST compacts ID`: lets a digest replace notes in answers.

use super::{PlannedChange, plan_edits};
use crate::error::Error;
use crate::graph::{Compactions, NameIndex};
use crate::note::COMPACTS;
use crate::note::edit::Edit;
use crate::store::{NoteHandle, NoteIdx, Store};

/// Plans the digest's new members.
pub(super) fn plan(store: &Store, now: &str, digest: &str, ids: &[String]) -> Result<Vec<PlannedChange>, Error> {
    let (digest, members) = (store.resolve_to_change(digest)?, store.positions_to_change(ids)?);
    let digests = Compactions::new(store.notes());
    let notes = store.notes();
    for member in &members {
        store.expect_own_id(*member)?;
        let (id, digest_id) = (&notes[*member].id, &notes[digest].id);
        if *member == digest {
            return Err(Error::usage(format!("`{id}` can't be a digest of itself")));
        }
        if let Some(other) = digests.digest_of(*member).filter(|other| *other != digest) {
            return Err(Error::usage(format!("`{}` is already a digest of `{id}`", notes[other].id))
                .hint(format!("undo that first: `qipu link remove {} compacts {id}`", notes[other].id)));
        }
        if digests.representative(digest) == *member {
            return Err(Error::usage(format!(
                "`{id}` is a digest of `{digest_id}`, so `{digest_id}` can't be a digest of it"
            )));
        }
    }
    let is_new = |member: &&NoteIdx| digests.digest_of(**member) != Some(digest);
    let edit = |member: &NoteIdx| Edit::AddItem { key: COMPACTS, text: notes[*member].id.to_string() };
    let edits: Vec<Edit> = members.iter().filter(is_new).map(edit).collect();
    Ok(vec![plan_edits(store, &notes[digest], &edits, now)?])
}

/// Returns the edits by which a digest no longer replaces a note, whichever of its names it uses.
pub(super) fn removals(names: &NameIndex<'_>, digest: &NoteHandle, member: NoteIdx) -> Vec<Edit> {
    let unwanted = digest.relations().compacts.into_iter().filter(|name| names.resolve(name) == Some(member));
    unwanted.map(|name| Edit::RemoveItem { key: COMPACTS, text: name.to_owned() }).collect()
}
