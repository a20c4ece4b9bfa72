//! `qipu context`: a bundle of notes.

use crate::context::select;
use crate::error::Error;
use crate::report::{Body, Entry, Head, Mode, Report, Role, Show};
use crate::request::Context;
use crate::store::Store;

/// Selects notes and reports them in their order.
pub(super) fn run(request: &Context, store: &Store) -> Result<Report, Error> {
    let selection = select(store, &request.selection, request.max_hits, request.max_notes)?;
    let entry = |place: &usize| Entry::Note(super::note_entry(store, &selection.digests, *place, Role::Selected));
    let entries: Vec<Entry> = selection.notes.iter().map(entry).collect();
    let head = Head {
        mode: Mode::Context,
        store: Some(store.shown_path.clone()),
        banner: request.banner,
        show: Show {
            body: match request.with_body {
                None => Body::ByFormat,
                Some(true) => Body::Shown,
                Some(false) => Body::Hidden,
            },
            sources: true,
            custom: request.with_custom,
        },
        matched: selection.matched,
        is_limited: entries.len() < selection.matched,
        spellings: super::search::spellings(selection.spellings),
    };
    Ok(Report::new(head, entries))
}
