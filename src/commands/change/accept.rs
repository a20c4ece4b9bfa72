//! Acceptance: a person has read a note and says that it holds.

use jiff::ToSpan;
use jiff::civil::Date;

use super::user_fields::{STATUS, set_where_written};
use super::{PlannedChange, plan_edits};
use crate::error::Error;
use crate::note::edit::Edit;
use crate::note::{STALE_AFTER, VALID_UNTIL};
use crate::store::Store;

/// The status of a note that was accepted.
const STABLE: &str = "stable";

/// The field with who has checked a note, and when.
const VERIFIED: &str = "verified";

/// The number of days after which an accepted note is due to be looked at again.
const DAYS_TO_NEXT_REVIEW: i32 = 90;

/// Plans the status of a note, who accepted it, and later days in place of those that have passed.
pub(super) fn plan(store: &Store, now: &str, id: &str, by: &str) -> Result<Vec<PlannedChange>, Error> {
    let note = &store.notes()[store.resolve_to_change(id)?];
    // Another status without effect, such as `settled`, says more.
    let has_own_status = note.field(STATUS).is_some() && note.status().is_none();
    let mut edits: Vec<Edit> = Vec::new();
    if !has_own_status {
        edits.push(set_where_written(note, STATUS, STABLE));
    }
    // A bare `true` names nobody.
    edits.extend(["true", "false"].map(|text| Edit::RemoveItem { key: VERIFIED, text: text.to_owned() }));
    edits.push(Edit::AddMap { key: VERIFIED, entries: vec![("by", by.to_owned()), ("at", now.to_owned())] });
    let today = store.today.day();
    let fields = note.extra_fields();
    let is_past = |day: Date, field: &str| day < today || (day == today && field == STALE_AFTER);
    let past = [VALID_UNTIL, STALE_AFTER]
        .into_iter()
        .filter(|field| fields.day_in(field).is_some_and(|day| is_past(day, field)));
    edits.extend(past.map(|field| set_where_written(note, field, &next_review(today).to_string())));
    Ok(vec![plan_edits(store, note, &edits, now)?])
}

/// Returns the day on which a note that is accepted today is due again.
pub(in crate::commands) fn next_review(today: Date) -> Date {
    today.saturating_add(DAYS_TO_NEXT_REVIEW.days())
}
