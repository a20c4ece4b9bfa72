//! `qipu journal TEXT`: adds a bullet to the journal of a day.

use jiff::civil::Date;

use super::{PlannedChange, create, plan_edits};
use crate::context::Journals;
use crate::env::AgentSession;
use crate::error::{Error, ErrorKind};
use crate::note::JOURNAL;
use crate::note::edit::{self, Edit};
use crate::request::{ChangeRequest, NewFields};
use crate::store::NoteHandle;
use crate::store::{self, Store};

/// Plans the bullet in the first journal of the day that is no draft, or in a new one: the line of a person must not wait
/// until a draft is accepted. That of an agent does, in a store that holds what agents write.
pub(super) fn plan(
    store: &Store,
    request: &ChangeRequest,
    day: Date,
    text: &str,
    agent: Option<&AgentSession>,
) -> Result<Vec<PlannedChange>, Error> {
    let bullet = bullet(text).ok_or_else(|| Error::usage("there is nothing to add").hint("give some text"))?;
    let is_held = agent.is_some() && store.holds_drafts();
    let first = Journals::new(store.notes()).on(day).find(|journal| store.notes()[*journal].is_draft() == is_held);
    match first.map(|position| &store.notes()[position]) {
        Some(note) => Ok(vec![plan_append(store, &request.now, note, &bullet)?]),
        None => plan_new(store, request, day, bullet, agent),
    }
}

/// Plans the bullet at the end of a journal.
fn plan_append(store: &Store, now: &str, note: &NoteHandle, bullet: &str) -> Result<PlannedChange, Error> {
    if !note.parsed()?.ends_openly() {
        let message = format!("can't add to `{}`: its text ends inside a code block or a comment", note.id);
        return Err(Error::new(ErrorKind::Store, message).hint("close it in the file first; nothing was changed"));
    }
    let last = note.body()?.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let edit = Edit::Append { lines: bullet.to_owned(), is_apart: !continues_list(last) };
    plan_edits(store, note, &[edit], now)
}

/// Tells whether a bullet after this line belongs to its list: the line is an item, empty or not, or is indented.
fn continues_list(line: &str) -> bool {
    let is_item =
        |mark: char| line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    line.starts_with([' ', '\t']) || ['-', '*', '+'].into_iter().any(is_item)
}

/// Plans a new journal with the bullet.
fn plan_new(
    store: &Store,
    request: &ChangeRequest,
    day: Date,
    bullet: String,
    agent: Option<&AgentSession>,
) -> Result<Vec<PlannedChange>, Error> {
    let (title, kind) = (Some(day.to_string()), Some(JOURNAL.to_owned()));
    let fields = NewFields { title, kind, body: Some(bullet), ..NewFields::default() };
    let mut planned = create::plan(store, request, &fields, false, &[], agent)?;
    // The field keeps the day when the title changes.
    let date = Edit::SetPlain { key: "date", text: day.to_string() };
    for planned in &mut planned {
        let Some(store::Change::Create { new, .. }) = &mut planned.change else { continue };
        let text = String::from_utf8_lossy(new);
        let broken =
            |reason| Error::new(ErrorKind::Store, format!("the template for journals can't be used: {reason}"));
        *new = edit::apply(&text, std::slice::from_ref(&date)).map_err(broken)?.into_bytes();
    }
    Ok(planned)
}

/// Formats a text as a bullet, its further lines indented. `None` for a blank text.
fn bullet(text: &str) -> Option<String> {
    let mut lines = text.trim().lines().map(str::trim_end);
    let first = lines.next().filter(|first| !first.is_empty())?;
    // A text with a mark of its own is one bullet too.
    let first = ["- ", "* "].iter().find_map(|mark| first.strip_prefix(mark)).unwrap_or(first);
    let mut bullet = format!("- {first}");
    for line in lines {
        bullet.push('\n');
        if !line.is_empty() {
            bullet.push_str("  ");
            bullet.push_str(line);
        }
    }
    Some(bullet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_bullet() {
        assert_eq!(bullet(" a\nb \n\nc").as_deref(), Some("- a\n  b\n\n  c"));
        assert_eq!(bullet("- a").as_deref(), Some("- a"));
        assert_eq!(bullet("* a").as_deref(), Some("- a"));
        assert_eq!(bullet("-a").as_deref(), Some("- -a"));
        assert_eq!(bullet(" \n "), None);
    }
}
