//! `qipu capture --from`: makes a new note of a note, or a passage of one, that is not the project's own, such as a document.
//! Its text, its title, its code references and where it is found are taken over; nothing that it states about itself is.

use std::borrow::Cow;
use std::path::Path;

use super::code_reference;
use super::create::{folder_of, title_from};
use crate::error::{Error, ErrorKind};
use crate::escape::{abbreviated, one_line};
use crate::note::{
    ContentSource, DEFAULT_KIND, FRAGMENT_SIZES, Heading, InlineLink, Note, NoteId, code_refs_in, find_heading,
    heading_fragments, rebase_path, relinked,
};
use crate::request::{Action, ChangeRequest, NewFields};
use crate::store::{CollectionScope, NoteHandle, NoteIdx, Store, Tier, is_commit};

/// The most code references that are taken over.
const MAX_CODE: usize = 3;
/// The most headings that an error lists.
const MAX_HEADINGS: usize = 10;

/// Returns a request in which a note that is made of another one has its text, unless it is given; as it is otherwise.
///
/// # Errors
/// As [`Store::resolve`] for the name; `Usage` for an own note and for lines that are not there; `NoNote` for a heading.
pub(super) fn filled<'r>(store: &Store, request: &'r ChangeRequest) -> Result<Cow<'r, ChangeRequest>, Error> {
    let Action::Create { fields, from: Some(name), .. } = &request.action else { return Ok(Cow::Borrowed(request)) };
    let filled = with_passage(store, name, fields)?;
    let mut request = request.clone();
    if let Action::Create { fields, .. } = &mut request.action {
        *fields = filled;
    }
    Ok(Cow::Owned(request))
}

fn with_passage(store: &Store, name: &str, given: &NewFields) -> Result<NewFields, Error> {
    let all = store.open_all(if is_commit(name) { CollectionScope::History } else { CollectionScope::All })?;
    let (position, part) = find(&all, name)?;
    let note = &all.notes()[position];
    if note.tier() == Tier::Own {
        return Err(own_error(&note.id));
    }
    let passage = NamedPassage::read(note, part)?;
    let is_given = |text: &&String| !text.trim().is_empty();
    let body = match given.body.as_ref().filter(is_given) {
        Some(body) => body.clone(),
        None => moved(store, &all, note, given, &passage.text),
    };
    let title = given.title.as_ref().filter(is_given).cloned();
    let title = title.or_else(|| title_from(&one_line(&passage.title))).unwrap_or_else(|| note.id.to_string());
    let codes = if given.codes.is_empty() {
        let references = code_refs_in(&passage.text).into_iter().chain(note.code_refs());
        code_reference::existing(store, references, MAX_CODE)
    } else {
        given.codes.clone()
    };
    let origin = Some(origin(store, &all, note, &passage));
    Ok(NewFields { body: Some(body), title: Some(title), codes, origin, ..given.clone() })
}

/// The part of a note that a name means.
enum NamedPart<'n> {
    Whole,
    /// The section of a heading.
    Section(&'n str),
    /// The passage that an answer shows in this line of the file.
    At(usize),
    /// These lines of the file.
    Lines(usize, usize),
}

/// Finds a note by a name as for `show`, or by one with a part behind it: `NAME#HEADING`, and `NAME:LINE` and
/// `NAME:LINE-LINE`, as answers name passages.
fn find<'n>(all: &Store, name: &'n str) -> Result<(NoteIdx, NamedPart<'n>), Error> {
    let unknown = match all.resolve(name) {
        Err(error) if error.kind == ErrorKind::NoNote => error,
        found => return Ok((found?, NamedPart::Whole)),
    };
    let section = || name.split_once('#').map(|(note, heading)| (note, NamedPart::Section(heading)));
    // The digits behind the collection's name are the id of a commit.
    let lines = with_lines(name).filter(|(note, _)| !is_commit(name) || is_commit(note));
    let (note, part) = lines.or_else(section).ok_or(unknown)?;
    Ok((all.resolve(note)?, part))
}

fn with_lines(name: &str) -> Option<(&str, NamedPart<'_>)> {
    let (note, lines) = name.rsplit_once(':')?;
    let line = |text: &str| text.parse::<usize>().ok().filter(|line| *line > 0);
    let part = match lines.split_once('-') {
        Some((first, last)) => NamedPart::Lines(line(first)?, line(last)?),
        None => NamedPart::At(line(lines)?),
    };
    Some((note, part))
}

/// A passage with its title and the anchor of its heading.
struct NamedPassage {
    text: String,
    title: String,
    anchor: Option<String>,
}

impl NamedPassage {
    fn read(note: &NoteHandle, part: NamedPart<'_>) -> Result<Self, Error> {
        let parsed = note.parsed()?;
        let (body, headings) = (parsed.body(), parsed.headings());
        let (range, heading) = match part {
            NamedPart::Whole => (0..body.len(), None),
            NamedPart::Section(name) => {
                let index = find_heading(&headings, name).ok_or_else(|| no_heading(&note.id, name, &headings))?;
                (headings[index].section.clone(), Some(index))
            }
            NamedPart::At(line) => {
                let mut passages = parsed.fragments(note.title(), &FRAGMENT_SIZES).into_iter();
                let found = passages.find(|passage| (passage.lines.0..=passage.lines.1).contains(&line));
                let range = found.ok_or_else(|| no_lines(note, parsed))?.range;
                (range.clone(), around(&headings, range.start))
            }
            NamedPart::Lines(first, last) => {
                let range = lines(parsed, first, last).ok_or_else(|| no_lines(note, parsed))?;
                (range.clone(), around(&headings, range.start))
            }
        };
        let text = body.get(range).unwrap_or_default().trim_matches(['\n', '\r']).to_owned();
        let title = heading.map_or(note.title(), |index| &headings[index].text).to_owned();
        let anchor = heading.and_then(|index| heading_fragments(&headings, |_| false).swap_remove(index));
        Ok(Self { text, title, anchor })
    }
}

/// Returns the bytes of lines of a file in its body; `None` if they are not all there.
fn lines(note: &Note, first: usize, last: usize) -> Option<std::ops::Range<usize>> {
    let (skipped, count) = (first.checked_sub(note.body_line())?, last.checked_sub(first)? + 1);
    let mut ends = 0..0;
    for (index, line) in note.body().split_inclusive('\n').take(skipped + count).enumerate() {
        if index < skipped {
            ends.start += line.len();
        }
        ends.end += line.len();
    }
    let is_whole = note.body().lines().count() >= skipped + count;
    is_whole.then_some(ends)
}

/// Returns the index of the innermost heading in whose section an offset of the body is.
fn around(headings: &[Heading], offset: usize) -> Option<usize> {
    headings.iter().rposition(|heading| (heading.start..heading.section.end).contains(&offset))
}

fn no_heading(id: &NoteId, name: &str, headings: &[Heading]) -> Error {
    let message = format!("`{id}` has no heading `{}`", abbreviated(name));
    let shown: Vec<String> = headings.iter().take(MAX_HEADINGS).map(|heading| abbreviated(&heading.text)).collect();
    let hint = if shown.is_empty() { "it has none".to_owned() } else { format!("headings: {}", shown.join(", ")) };
    Error::new(ErrorKind::NoNote, message).hint(hint)
}

fn no_lines(note: &NoteHandle, parsed: &Note) -> Error {
    let (first, count) = (parsed.body_line(), parsed.body().lines().count());
    let text = format!("its text is in lines {first} to {}", first + count.max(1) - 1);
    Error::usage(format!("`{}` has no text in these lines", note.id)).hint(text)
}

fn own_error(id: &NoteId) -> Error {
    Error::usage(format!("`{id}` is an own note, and --from takes the text of others")).hint(format!(
        "`qipu update {id}` changes it, `qipu merge` joins it with another, and a new note with `--supersedes {id}` replaces it"
    ))
}

/// Returns where a passage is found: its file in the project, else the id of its note, with the heading. The title has the
/// date of the note, which is none of the new one: what happened on a day, and what is due, counts from `created`.
fn origin(store: &Store, all: &Store, note: &NoteHandle, passage: &NamedPassage) -> ContentSource {
    let id = || note.id.qualified(note.collection_name()).to_string();
    let place = store.file_in_project(all, note).unwrap_or_else(id);
    let url = passage.anchor.as_ref().map_or(place.clone(), |anchor| format!("{place}#{anchor}"));
    let title = abbreviated(note.title());
    let title = match note.list_fields().changed() {
        Some(changed) => format!("{title} ({})", changed.date()),
        None => title,
    };
    ContentSource { url, title: Some(title), accessed: None }
}

/// Returns a text for the folder of the new note: relative paths to files of the project lead to the same ones.
fn moved(store: &Store, all: &Store, note: &NoteHandle, fields: &NewFields, text: &str) -> String {
    if store.file_in_project(all, note).is_none() {
        return text.to_owned();
    }
    let folder = folder_of(fields.kind.as_deref().unwrap_or(DEFAULT_KIND).trim());
    let place = if store.is_source() { "note.md".to_owned() } else { format!("{folder}/note.md") };
    let [from, to] = [all.file_at(&note.path), store.file_at(&place)].map(|file| slashed(&file));
    let rebased = |link: &InlineLink| match link {
        // One from the root leads to the same file from everywhere.
        InlineLink::Path(path) if !path.starts_with('/') => Some(rebase_path(&to, &from, path)),
        _ => None,
    };
    relinked(text, rebased).unwrap_or_else(|_| text.to_owned())
}

fn slashed(file: &Path) -> String {
    file.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join("/")
}
