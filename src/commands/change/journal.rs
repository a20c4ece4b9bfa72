//! `qipu journal TEXT`: adds a bullet to the journal of a day.

use jiff::civil::Date;

use super::{PlannedChange, create, plan_edits};
use crate::context::Journals;
use crate::env::AgentSession;
use crate::error::{Error, ErrorKind};
use crate::note::edit::{self, Edit};
use crate::note::{JOURNAL, ends_openly};
use crate::request::{ChangeRequest, NewFields};
use crate::store::{self, NoteHandle, Store};

/// Plans the bullet in the first journal of the day that is no draft, or in a new one: the line of a person must not wait
/// until a draft is accepted. That of an agent does, in a store that holds what agents write.
pub(super) fn plan(
    store: &Store,
    request: &ChangeRequest,
    day: Date,
    text: &str,
    agent: Option<&AgentSession>,
) -> Result<Vec<PlannedChange>, Error> {
    let bullet = bullets(text).ok_or_else(|| Error::usage("there is nothing to add").hint("give some text"))?;
    let is_held = agent.is_some() && store.holds_drafts();
    let first = Journals::new(store.notes()).on(day).find(|journal| store.notes()[*journal].is_draft() == is_held);
    match first.map(|position| &store.notes()[position]) {
        Some(note) => Ok(vec![plan_append(store, &request.now, note, &bullet)?]),
        None => plan_new(store, request, day, bullet, agent),
    }
}

/// Plans the bullet at the end of a journal.
fn plan_append(store: &Store, now: &str, note: &NoteHandle, bullet: &str) -> Result<PlannedChange, Error> {
    if !ends_openly(note.body()?) {
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

/// The indentation of the further lines of a bullet.
const INDENT: &str = "  ";

/// Formats a text as a bullet, its further lines indented; a list as its items, each with the lines below it. `None` for a
/// blank text.
fn bullets(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim_end).skip_while(|line| line.is_empty());
    let first = lines.next()?;
    let margin = first.get(..first.len() - first.trim_start().len()).unwrap_or_default();
    let is_list = item(first.trim_start()).is_some();
    let mut bullets = format!("- {}", item(first.trim_start()).unwrap_or(first.trim_start()));
    // What stands before the lines of an open code block, which are no items.
    let mut code: Option<&str> = None;
    for line in lines {
        let line = line.strip_prefix(margin).unwrap_or(line);
        let own = if is_list && line.starts_with([' ', '\t']) { "" } else { INDENT };
        bullets.push('\n');
        match item(line).filter(|_| is_list && code.is_none()) {
            Some(text) => bullets.extend(["- ", text]),
            None if line.is_empty() => {}
            None => bullets.extend([code.unwrap_or(own), line]),
        }
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            code = code.map_or(Some(own), |_| None);
        }
    }
    bullets.truncate(bullets.trim_end().len());
    Some(bullets)
}

/// Returns the text of an item of a list; `None` for another line.
fn item(line: &str) -> Option<&str> {
    ["- ", "* "].iter().find_map(|mark| line.strip_prefix(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_bullet() {
        assert_eq!(bullets(" a\nb \n\nc").as_deref(), Some("- a\n  b\n\n  c"));
        assert_eq!(bullets("- a").as_deref(), Some("- a"));
        assert_eq!(bullets("* a").as_deref(), Some("- a"));
        assert_eq!(bullets("-a").as_deref(), Some("- -a"));
        assert_eq!(bullets("Of these:\n- a\n- b").as_deref(), Some("- Of these:\n  - a\n  - b"));
        assert_eq!(bullets(" \n "), None);
    }

    #[test]
    fn a_list_stays_a_list() {
        assert_eq!(bullets("- a\n- [x] b\n* c\n").as_deref(), Some("- a\n- [x] b\n- c"));
        assert_eq!(bullets("\n  - a\n    more\n  - b\n").as_deref(), Some("- a\n  more\n- b"));
        assert_eq!(bullets("- a\n  - below\nlazy\n\n- b").as_deref(), Some("- a\n  - below\n  lazy\n\n- b"));
        let code = "- a\n  ```\n  - b\n  ```\n- c";
        assert_eq!(bullets(code).as_deref(), Some(code));
        assert_eq!(bullets("- a\n```\n- b\n```\n- c").as_deref(), Some("- a\n  ```\n  - b\n  ```\n- c"));
    }
}
