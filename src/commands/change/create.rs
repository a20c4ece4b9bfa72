//! `qipu capture`: creates notes.

use super::claims::{expect_no_claims, expect_no_person, without_claims};
use super::slug::slug;
use super::update::edits;
use super::{PlannedChange, code_reference, held_drafts, supersede, user_fields};
use crate::env::AgentSession;
use crate::error::{Error, ErrorKind};
use crate::note::edit::{self, Edit};
use crate::note::{DEFAULT_KIND, JOURNAL, MAX_BYTES, MOC, NoteId, yaml_quoted};
use crate::request::{ChangeRequest, NewFields};
use crate::store::{self, Store};

/// The placeholder of the title in a template.
const TITLE: &str = "{{title}}";

/// The longest title that is taken from a text, in characters.
const MAX_TITLE: usize = 100;

/// Plans a note from the template of its type and the given fields, and the status of the notes that it replaces.
pub(super) fn plan(
    store: &Store,
    request: &ChangeRequest,
    fields: &NewFields,
    is_generated: bool,
    supersedes: &[String],
    agent: Option<&AgentSession>,
) -> Result<Vec<PlannedChange>, Error> {
    let is_of_program = is_generated || agent.is_some();
    // Words of others that a program brings are a draft in every store.
    let is_held = is_of_program && (store.holds_drafts() || fields.origin.is_some());
    let replaced = store.positions_to_change(supersedes)?;
    let body = fields.body.as_deref().unwrap_or_default().trim_end();
    let title = title_of(fields, body)?;
    let kind = fields.kind.as_deref().unwrap_or(DEFAULT_KIND).trim();
    if kind.is_empty() {
        return Err(Error::usage("the type is empty"));
    }
    let (id, path) = new_place(store, request.random, kind, &title)?;
    let template = store.template(kind)?.unwrap_or_default();
    let template = fill_template(&template, &title, request.now.get(..10).unwrap_or(&request.now));
    let mut all_edits: Vec<Edit> = Vec::new();
    if is_of_program {
        expect_no_claims(fields, true)?;
        agent.map_or(Ok(()), |_| expect_no_person(fields))?;
        all_edits.extend(without_claims());
    }
    // The id of a document comes from its path.
    if !store.is_source() {
        all_edits.push(Edit::SetText { key: "id".into(), text: id.to_string() });
    }
    all_edits.extend([
        Edit::SetText { key: "title".into(), text: title },
        Edit::SetText { key: "type".into(), text: kind.to_owned() },
        Edit::SetPlain { key: "created", text: request.now.clone() },
    ]);
    let mut others = NewFields { kind: None, body: None, ..fields.clone() };
    if is_held {
        all_edits.extend(held_drafts::draft_edits(&mut others, agent, &request.now));
    }
    all_edits.extend(edits(store, &others)?.into_iter().map(|edit| user_fields::of_new(store.dialect(), edit)));
    all_edits.extend(code_reference::recorded(&[], &code_reference::read(store, &fields.codes)?));
    all_edits.extend(replaced.iter().map(|old| supersede::link(&store.notes()[*old].id)));
    if !body.is_empty() {
        all_edits.push(Edit::SetBody(format!("{body}\n")));
    }
    let broken = |reason| Error::new(ErrorKind::Store, format!("the template for `{kind}` can't be used: {reason}"));
    let text = edit::apply(&template, &all_edits).map_err(broken)?;
    if text.len() > MAX_BYTES {
        return Err(Error::new(ErrorKind::Failure, format!("a note can't be longer than {MAX_BYTES} bytes")));
    }
    let old_changes = supersede::plan_replaced(
        store,
        &request.now,
        &replaced,
        &store.parse_handle(&path, text.clone().into_bytes()),
    )?;
    let change = Some(store::Change::Create { path: path.clone(), new: text.into_bytes() });
    Ok(std::iter::once(PlannedChange::new(&id, &path, change)).chain(old_changes).collect())
}

/// Returns the given title, else the one from the body.
fn title_of(fields: &NewFields, body: &str) -> Result<String, Error> {
    let given = fields.title.clone().filter(|title| !title.trim().is_empty());
    given.or_else(|| title_from(body)).ok_or_else(|| {
        Error::usage("the note would be empty").hint("give a title or a text, as an argument or on standard input")
    })
}

/// Fills the title and the date into a template. In the frontmatter, a value with the title is quoted, since a title may
/// contain any character.
fn fill_template(template: &str, title: &str, date: &str) -> String {
    let mut fences = 0;
    let lines = template.split_inclusive('\n').map(|line| {
        fences += usize::from(line.trim_end() == "---");
        let line = line.replace("{{date}}", date);
        if !line.contains(TITLE) || fences != 1 {
            return line.replace(TITLE, title);
        }
        let quoted = yaml_quoted(title);
        let escaped = quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default();
        match line.split_once(": ").map(|(key, value)| (key, value.trim())) {
            Some((_, value)) if value.starts_with('"') => line.replace(TITLE, escaped),
            Some((_, value)) if value.starts_with('\'') => line.replace(TITLE, &title.replace('\'', "''")),
            Some((key, value)) if !value.starts_with(['[', '{', '|', '>']) => {
                format!("{key}: {}\n", yaml_quoted(&value.replace(TITLE, title)))
            }
            _ => line.replace(TITLE, &quoted),
        }
    });
    lines.collect()
}

/// Returns the id and the path of a new note: in a source, a file that is named by its title.
///
/// # Errors
/// `Usage` if the source would not read that file.
fn new_place(store: &Store, random: u64, kind: &str, title: &str) -> Result<(NoteId, String), Error> {
    if !store.is_source() {
        let id = unused_id(store, random);
        let path = format!("{}/{id}{}.md", folder_of(kind), slug(title));
        return Ok((id, path));
    }
    let slug = slug(title);
    let stem = if slug.is_empty() { "note" } else { slug.trim_start_matches('-') };
    let names = std::iter::once(format!("{stem}.md")).chain((2..).map(|ordinal| format!("{stem}-{ordinal}.md")));
    let path = names.into_iter().find(|path| !store.is_taken(path)).unwrap_or_default();
    if !store.has_place_for(&path) {
        let name = &store.first_collection().name;
        return Err(Error::usage(format!("`{name}` would not read a new file {path}"))
            .hint("its `path` does not match the file, or git ignores it: create the file by hand"));
    }
    Ok((NoteId::from_source_path(&path), path))
}

/// Returns an id that no note has. Tries that of `random` first.
fn unused_id(store: &Store, random: u64) -> NoteId {
    let mut candidate = random;
    loop {
        let id = NoteId::generated(candidate);
        if store.position(&id).is_none() {
            return id;
        }
        candidate = candidate.wrapping_add(1);
    }
}

/// Returns the first line with text as a title, without marks of headings, lists, quotations and tasks; `None` for a blank
/// text.
pub(super) fn title_from(body: &str) -> Option<String> {
    let is_text = |line: &&str| !line.chars().all(|sign| matches!(sign, '#' | '-' | '*' | '+' | '>' | ' ' | '\t'));
    let line = without_marks(body.lines().find(is_text)?);
    if line.chars().count() <= MAX_TITLE {
        return Some(line.to_owned());
    }
    let cut: String = line.chars().take(MAX_TITLE).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    Some(format!("{}…", cut.get(..end).unwrap_or(&cut)))
}

/// Returns a line without the marks at its beginning. Each mark ends with a space.
fn without_marks(line: &str) -> &str {
    let mut text = line.trim();
    while let Some((mark, rest)) = text.split_once([' ', '\t']) {
        let is_heading = mark.len() <= 6 && mark.bytes().all(|sign| sign == b'#');
        if !is_heading && !matches!(mark, "-" | "*" | "+" | ">") {
            break;
        }
        text = rest.trim_start();
    }
    ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text).trim_start()
}

pub(super) fn folder_of(kind: &str) -> &'static str {
    match kind {
        MOC => "mocs",
        JOURNAL => "journals",
        _ => "notes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_no_marks_of_markdown_and_keeps_its_signs() {
        for (text, title) in [
            ("# A heading", "A heading"),
            ("> - [ ] buy milk", "buy milk"),
            ("* [x] done", "done"),
            ("---\n\n- -\nText", "Text"),
            ("**Never** retry", "**Never** retry"),
            ("--locked must be given", "--locked must be given"),
            ("#123 crashes", "#123 crashes"),
            ("####### seven", "####### seven"),
            ("- [ ]", "[ ]"),
            (">= 3 is enough", ">= 3 is enough"),
        ] {
            assert_eq!(title_from(text).as_deref(), Some(title), "{text}");
        }
        assert!(title_from(" \n# \n--- *").is_none());
    }
}
