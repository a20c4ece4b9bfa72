//! The texts of notes: frontmatter, markdown, edits, merges, secrets.

use qipu::note::edit::{BodyEdit, Edit, apply};
use qipu::note::merge::{MergeTexts, is_sound, merge as merge_fields};
use qipu::note::{Dialect, Note, NoteId};
use qipu::secrets::{KnownSecrets, find, find_new};

use super::input::Input;

const DIALECTS: [Dialect; 6] =
    [Dialect::Qipu, Dialect::Markdown, Dialect::Obsidian, Dialect::Logseq, Dialect::Okf, Dialect::Adr];

/// Reads all that a note has, and checks that it is in its text.
fn check_note(note: &Note) {
    assert!(NoteId::parse(note.id.as_str()).is_some(), "{:?}", note.id);
    assert!(!note.title.is_empty());
    let (text, body) = (note.text(), note.body());
    assert!(text.ends_with(body), "the body is not the end of the text");
    let lines = text.matches('\n').count() + 1;
    assert!((1..=lines).contains(&note.body_line()), "line {} of {lines}", note.body_line());
    assert!(note.body_chars() <= body.chars().count() || body.is_empty());
    for task in note.tasks() {
        assert!((1..=lines).contains(&task.line), "line {} of {lines}", task.line);
        let mark = text[task.mark..].chars().next().unwrap();
        assert_eq!(task.is_done, matches!(mark, 'x' | 'X'), "{text:?} {task:?}");
    }
    let summary = note.summary().unwrap_or_default();
    assert!(summary.len() <= text.len() * 4 + 16, "a summary of {} bytes", summary.len());
    let in_lists: usize = note.ordered_lists().iter().map(Vec::len).sum();
    assert!(in_lists <= text.len() && note.inline_links().len() <= text.len());
    assert!(note.link_values().len() <= text.len() && note.source_values().len() <= text.len());
}

/// Any frontmatter gives a note, the same one each time; bytes that are no text are reported.
pub(crate) fn frontmatter(data: &[u8]) {
    let mut input = Input::new(data);
    let dialect = input.choose(&DIALECTS);
    let bytes = &*input.repeated();
    let note = Note::parse_as(dialect, "notes/some name.md", bytes.to_vec());
    let again = Note::parse_as(dialect, "notes/some name.md", bytes.to_vec());
    // What is parsed when it is asked for is parsed here.
    [&note, &again].into_iter().for_each(check_note);
    assert!(std::str::from_utf8(bytes).is_ok() || !note.findings.is_empty());
    assert_eq!(format!("{note:?}"), format!("{again:?}"));
    let wrapped = [b"---\n".as_slice(), bytes, b"\n---\nBody [[x]]\n"].concat();
    check_note(&Note::parse_as(dialect, "journals/2025-03-05.md", wrapped));
}

/// Any body gives its links, tasks and lists. A task is where it says: ticked off, it is done.
pub(crate) fn markdown(data: &[u8]) {
    let mut input = Input::new(data);
    let dialect = input.choose(&DIALECTS);
    let body = input.repeated();
    let text = format!("---\nid: a\ntitle: T\n---\n{}", String::from_utf8_lossy(&body));
    let note = Note::parse_as(dialect, "notes/a.md", text.clone().into_bytes());
    check_note(&note);
    if dialect != Dialect::Qipu {
        return;
    }
    assert_eq!(note.body(), &text["---\nid: a\ntitle: T\n---\n".len()..]);
    for (index, task) in note.tasks().iter().enumerate().filter(|(_, task)| !task.is_done).take(8) {
        let mut done = text.clone();
        let mark = done[task.mark..].chars().next().unwrap();
        done.replace_range(task.mark..task.mark + mark.len_utf8(), "x");
        let tasks = Note::parse("notes/a.md", done.into_bytes()).tasks();
        assert!(tasks.get(index).is_some_and(|after| after.is_done && after.line == task.line), "{text:?} {task:?}");
    }
}

/// An edit changes its field and nothing else, and twice is once.
pub(crate) fn edits(data: &[u8]) {
    let mut input = Input::new(data);
    let choice = input.number(12);
    let [old, new, more] = <[String; 3]>::try_from({
        let mut texts = input.texts(3);
        texts.resize(3, String::new());
        texts.reverse();
        texts
    })
    .unwrap();
    let edit = match choice {
        0 => Edit::SetText { key: "title".to_owned(), text: new },
        1 => Edit::SetText { key: "summary".to_owned(), text: new },
        // Commands and tools trim tags.
        2 => Edit::AddItem { key: "tags", text: new.trim().to_owned() },
        3 => Edit::RemoveItem { key: "tags", text: new },
        4 => Edit::RenameItem { key: "tags", from: new, to: more },
        5 => Edit::AddMap { key: "links", entries: vec![("type", new), ("id", more)] },
        6 => Edit::SetCustom { key: new, text: more },
        7 => Edit::RemoveField("summary"),
        8 => Edit::SetBody(new),
        9 => Edit::ChangeBody(BodyEdit::Append(new)),
        10 => Edit::ChangeBody(BodyEdit::Replace { old: new, new: more }),
        _ => Edit::ChangeBody(BodyEdit::Section { heading: new, text: more }),
    };
    let Ok(after) = apply(&old, std::slice::from_ref(&edit)) else { return };
    let notes = [&old, &after].map(|text| Note::parse("notes/n.md", text.clone().into_bytes()));
    notes.iter().for_each(check_note);
    check_others_stay(&notes, &edit);
    if choice < 9 {
        assert_eq!(apply(&after, std::slice::from_ref(&edit)).as_ref(), Ok(&after), "twice is once: {edit:?} {old:?}");
    }
}

fn check_others_stay([before, after]: &[Note; 2], edit: &Edit) {
    let place = || format!("{edit:?}\n{:?}\n{:?}", before.text(), after.text());
    let key = match edit {
        Edit::SetText { key, .. } => key.as_str(),
        Edit::AddItem { .. } | Edit::RemoveItem { .. } | Edit::RenameItem { .. } => "tags",
        Edit::AddMap { .. } => "links",
        Edit::SetCustom { .. } => "custom",
        Edit::RemoveField(key) => key,
        _ => "body",
    };
    if key == "body" {
        let front = |note: &Note| note.text()[..note.text().len() - note.body().len()].trim_end().to_owned();
        let (old, new) = (front(before), front(after));
        assert!(old == new || old.trim_start_matches('\u{feff}').is_empty(), "{}", place());
    } else {
        assert_eq!(before.body(), after.body(), "{}", place());
        assert!(before.title == after.title || key == "title" || !has_title(before), "{}", place());
    }
    assert_eq!(before.id, after.id, "{}", place());
    assert!(key == "tags" || before.tags == after.tags, "{}", place());
    let links =
        |note: &Note| note.links.iter().map(|link| (link.kind.clone(), link.target.clone())).collect::<Vec<_>>();
    assert!(key == "links" || links(before) == links(after), "{}", place());
    let unknown =
        |note: &Note| note.unknown.iter().map(|(key, value)| (key.clone(), value.to_json())).collect::<Vec<_>>();
    assert!(unknown(before) == unknown(after), "{}", place());
}

/// Tells whether the title is a field, and not derived from the rest.
fn has_title(note: &Note) -> bool {
    note.text().contains("title:")
}

/// A side that did nothing changes nothing, and any three texts are merged or refused.
pub(crate) fn merge(data: &[u8]) {
    let texts = Input::new(data).texts(3);
    let [base, ours, theirs] = [0, 1, 2].map(|index| texts.get(index).map_or("", String::as_str));
    for side in [ours, theirs] {
        for (base, ours, theirs) in [(base, side, base), (base, side, side), (side, side, side)] {
            if let Ok(merged) = merge_fields(base, ours, theirs) {
                assert_eq!(by_lines(merged).as_deref(), Some(ours), "{base:?} {theirs:?}");
            }
        }
    }
    let Ok(merged) = merge_fields(base, ours, theirs) else { return };
    assert_eq!(merge_fields(base, ours, theirs).as_ref(), Ok(&merged));
    if let Some(text) = by_lines(merged) {
        assert!(is_sound(&text), "{text:?} of {base:?} {ours:?} {theirs:?}");
        check_note(&Note::parse("notes/n.md", text.into_bytes()));
    }
}

/// Returns what a merge by lines makes of texts that no two sides changed.
fn by_lines(merged: MergeTexts) -> Option<String> {
    let MergeTexts { base, ours, theirs } = merged;
    if theirs == base || theirs == ours {
        return Some(ours);
    }
    (ours == base).then_some(theirs)
}

/// Secrets are found in their order, each where it says, and known ones are not found again.
pub(crate) fn secrets(data: &[u8]) {
    let bytes = Input::new(data).repeated();
    let text = String::from_utf8_lossy(&bytes);
    let found = find(&text);
    let mut last = 0;
    for secret in found.iter().take(64) {
        assert!(secret.offset >= last && text.is_char_boundary(secret.offset) && secret.offset < text.len());
        last = secret.offset;
        let before = &text[..secret.offset];
        assert_eq!(secret.line, before.matches('\n').count() + 1, "{text:?}");
        assert_eq!(secret.column, before.rsplit('\n').next().unwrap().chars().count() + 1, "{text:?}");
    }
    assert_eq!(found, find(&text));
    let mut known = KnownSecrets::default();
    known.add(&text);
    assert_eq!(find_new(&text, &known), Vec::new(), "{text:?}");
}
