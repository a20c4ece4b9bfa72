//! `qipu delete`: a note goes away.

use super::{Plan, Planned};
use crate::error::{Error, ErrorKind};
use crate::graph::{Digests, Graph};
use crate::report::FindingEntry;
use crate::store::{Change, Store};

/// The most notes that an error names.
const MAX_NAMED: usize = 10;

/// Plans to remove a note that nothing links to; forced, tells which links then lead nowhere.
pub(super) fn plan(store: &Store, id: &str, is_forced: bool) -> Result<Plan, Error> {
    let place = store.resolve(id)?;
    let note = &store.notes()[place];
    let graph = Graph::new(store.notes(), &store.config.link_types);
    let mut linking: Vec<usize> = graph.backlinks(place).collect();
    linking.dedup();
    if let Some(digest) = Digests::new(store.notes()).digest_of(place).filter(|_| !is_forced) {
        let digest = &store.notes()[digest].id;
        return Err(Error::new(ErrorKind::Failure, format!("`{digest}` stands for `{}`", note.id))
            .hint(format!("`qipu compact --undo {digest} {}` first, or give --force", note.id)));
    }
    if !linking.is_empty() && !is_forced {
        let ids: Vec<&str> = linking.iter().take(MAX_NAMED).map(|place| store.notes()[*place].id.as_str()).collect();
        let verb = if linking.len() == 1 { "1 note links to" } else { &format!("{} notes link to", linking.len()) };
        let message = format!("{verb} `{}`: {}", note.id, ids.join(", "));
        return Err(Error::new(ErrorKind::Failure, message).hint("change their links first, or give --force"));
    }
    let dangling = |place: usize| {
        let from = &store.notes()[place];
        FindingEntry {
            is_error: false,
            code: "broken-link",
            id: Some(from.id.clone()),
            path: store.shown(&from.path),
            line: None,
            message: format!("its link to `{}` leads nowhere now", note.id),
        }
    };
    let change = Change::Delete { path: note.path.clone(), old: store.bytes_of(note)? };
    let planned = Planned { id: note.id.clone(), path: note.path.clone(), change: Some(change) };
    Ok(Plan { changes: vec![planned], findings: linking.into_iter().map(dangling).collect() })
}
