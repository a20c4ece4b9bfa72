//! An edit changes the bytes of one field and no others in notes of any form.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::frontmatter::{comments, note, squeezed, without_field};
use crate::support::generators;
use proptest::prelude::*;
use qipu::note::edit::{BodyEdit, Edit, apply};
use qipu::note::{Note, TypedLink, Value};

fn edit() -> impl Strategy<Value = Edit> {
    let text = prop_oneof![
        "[a-z]{1,8}",
        Just("two: parts #x".to_owned()),
        Just("- \"q\" 'q'".to_owned()),
        Just("日本 é 👩‍👩‍👧".to_owned()),
        Just("line\nbreak\ttab".to_owned()),
        Just("true".to_owned()),
        Just("2025-01-01".to_owned()),
        any::<String>(),
    ];
    let word = prop_oneof![Just("a".to_owned()), Just("b".to_owned()), "[c-z]{1,5}", Just("x, y".to_owned())];
    prop_oneof![
        text.clone().prop_map(|text| Edit::SetText { key: "title".into(), text }),
        text.clone().prop_map(|text| Edit::SetText { key: "summary".into(), text }),
        (0_u8..=100).prop_map(|value| Edit::SetPlain { key: "value", text: value.to_string() }),
        word.clone().prop_map(|text| Edit::AddItem { key: "tags", text }),
        word.prop_map(|text| Edit::RemoveItem { key: "tags", text }),
        Just(Edit::AddMap { key: "links", entries: vec![("type", "refines".into()), ("id", "z".into())] }),
        Just(Edit::SetMap { key: "generated", entries: vec![("by", "a: b".into()), ("at", "2025-01-01".into())] }),
        Just(Edit::RemoveMap { key: "links", entries: vec![("id", "x".into())] }),
        Just(Edit::RenameItem { key: "tags", from: "x".into(), to: "y".into() }),
        Just(Edit::Retarget { key: "links", entries: vec![("id", "x".into())], to: "w".into() }),
        Just(Edit::AddValue { key: "links", value: link() }),
        Just(Edit::SetCustomValue { key: "a".into(), value: Value::List(vec![Value::text("007"), link()]) }),
        text.clone().prop_map(Edit::SetBody),
        Just(Edit::SetBody("---\nid: other\n---\nText.\n".into())),
        text.prop_map(|text| Edit::SetCustom { key: "a".into(), text }),
    ]
}

/// A link with attributes that qipu does not read.
fn link() -> Value {
    let page = Value::Text { text: "7".into(), plain: true };
    Value::Map(vec![("id".into(), Value::text("z")), ("page".into(), page), ("why".into(), Value::text("a: b"))])
}

fn key(edit: &Edit) -> &str {
    match edit {
        Edit::SetText { key, .. } => key,
        Edit::SetPlain { key, .. } | Edit::SetMap { key, .. } => key,
        Edit::AddItem { key, .. }
        | Edit::RemoveItem { key, .. }
        | Edit::RenameItem { key, .. }
        | Edit::AddMap { key, .. }
        | Edit::SetEntries { key, .. }
        | Edit::RemoveEmpty { key, .. }
        | Edit::RemoveMap { key, .. }
        | Edit::AddValue { key, .. }
        | Edit::Retarget { key, .. } => key,
        Edit::RemoveField(key) => key,
        Edit::SetCustom { .. } | Edit::RemoveCustom(_) | Edit::SetCustomValue { .. } => "custom",
        Edit::SetBody(_) | Edit::Append { .. } | Edit::ChangeBody(_) => "body",
    }
}

#[test]
fn an_edit_changes_its_field_and_nothing_else() {
    let (changed, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    generators::runner(6000)
        .run(&(note(), edit()), |(old, edit)| {
            let Ok(new) = apply(&old, std::slice::from_ref(&edit)) else {
                refused.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            };
            let (before, after) = (
                Note::parse("notes/n.md", old.clone().into_bytes()),
                Note::parse("notes/n.md", new.clone().into_bytes()),
            );
            let without = |text: &str, note: &Note| match &edit {
                Edit::SetBody(_) => text[..text.len() - note.body().len()].to_owned(),
                edit => squeezed(&without_field(text, key(edit))),
            };
            prop_assert_eq!(without(&old, &before), without(&new, &after), "{:?}\n{}\n{}", edit, old, new);
            match &edit {
                Edit::SetBody(body) => {
                    prop_assert_eq!(after.body().replace("\r\n", "\n"), body.replace("\r\n", "\n"));
                }
                _ => prop_assert_eq!(before.body(), after.body()),
            }
            check_others_stay(&before, &after, &edit)?;
            // A comment inside an item goes with it.
            let goes = |comment: &String| comment == "# its own" && matches!(edit, Edit::RemoveMap { .. });
            for comment in comments(&old).into_iter().filter(|comment| !goes(comment)) {
                prop_assert!(new.contains(&comment), "{:?} loses {}\n{}\n{}", edit, comment, old, new);
            }
            check_reads_back(&after, &edit)?;
            prop_assert_eq!(&apply(&new, std::slice::from_ref(&edit)).unwrap(), &new, "twice is once");
            changed.fetch_add(usize::from(old != new), Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
    let (changed, refused) = (changed.into_inner(), refused.into_inner());
    assert!(changed > 4000, "only {changed} edits changed anything; {refused} were refused");
    assert!(refused < 300, "{refused} edits were refused");
}

/// Items that an edit of a list does not name stay in it, in their order.
fn check_others_stay(before: &Note, after: &Note, edit: &Edit) -> Result<(), TestCaseError> {
    let tags = |note: &Note, but: &str| note.tags.iter().filter(|tag| *tag != but).cloned().collect::<Vec<_>>();
    match edit {
        Edit::AddItem { text, .. } | Edit::RemoveItem { text, .. } => {
            prop_assert_eq!(tags(before, text), tags(after, text));
        }
        Edit::Retarget { .. } => {
            let mut wanted: Vec<_> = before.links.clone();
            wanted.iter_mut().filter(|link| link.target == "x").for_each(|link| link.target = "w".into());
            let once = |links: &[TypedLink]| {
                let mut once: Vec<TypedLink> = Vec::new();
                links.iter().for_each(|link| {
                    if !once.contains(link) {
                        once.push(link.clone())
                    }
                });
                once
            };
            prop_assert_eq!(once(&after.links), once(&wanted));
            let more = |note: &Note| format!("{:?}", note.link_values()).matches("why").count();
            prop_assert_eq!(more(before), more(after));
        }
        _ => {}
    }
    Ok(())
}

fn check_reads_back(after: &Note, edit: &Edit) -> Result<(), TestCaseError> {
    match edit {
        Edit::SetText { key, text } if key == "title" && !text.trim().is_empty() => {
            prop_assert_eq!(&after.title, text.trim())
        }
        Edit::SetText { text, .. } if !text.trim().is_empty() => {
            prop_assert_eq!(after.summary().unwrap_or_default(), text.trim())
        }
        Edit::SetPlain { text, .. } => prop_assert_eq!(after.value.map(|value| value.to_string()), Some(text.clone())),
        Edit::AddItem { text, .. } => prop_assert!(after.tags.contains(text)),
        Edit::RemoveItem { text, .. } => prop_assert!(!after.tags.contains(text)),
        Edit::AddMap { .. } => {
            prop_assert!(after.links.iter().any(|link| link.kind == "refines" && link.target == "z"))
        }
        Edit::SetMap { key, entries } => {
            let texts = entries.iter().map(|(name, text)| ((*name).to_owned(), Value::text(text)));
            let field = after.unknown.iter().find(|(name, _)| name == key).map(|(_, value)| value.to_json());
            prop_assert_eq!(field, Some(Value::Map(texts.collect()).to_json()));
        }
        Edit::RemoveMap { .. } => prop_assert!(!after.links.iter().any(|link| link.target == "x")),
        Edit::AddValue { value, .. } => {
            let shown = value.to_json();
            prop_assert!(after.link_values().iter().any(|link| link.to_json() == shown));
        }
        Edit::SetCustomValue { value, .. } => {
            let field = after.custom.iter().find(|(key, _)| key == "a").map(|(_, value)| value.to_json());
            prop_assert_eq!(field, Some(value.to_json()));
        }
        Edit::SetCustom { text, .. } => {
            let field = after.custom.iter().find(|(key, _)| key == "a").map(|(_, value)| value.to_line());
            prop_assert_eq!(field.as_ref(), Some(text));
        }
        _ => {}
    }
    Ok(())
}

const FRONTS: [&str; 3] = ["", "---\nid: a\ntags: [x] # c\n---\n", "\u{feff}---\n# only a comment\n---\n"];

/// Headings as people write them: the markdown, the level, the text.
const HEADINGS: [(&str, usize, &str); 6] = [
    ("# One", 1, "One"),
    ("One\n===", 1, "One"),
    ("## Two `x` ##", 2, "Two x"),
    ("Second *of\ntwo*\n---", 2, "Second of two"),
    ("### Three", 3, "Three"),
    (" ## Four é", 2, "Four é"),
];

/// Text without headings, though some of it looks like one.
const TEXTS: [&str; 10] = [
    "A paragraph\nof two lines.  ",
    "```\n# One\n\n### Three\n```",
    "~~~~md\n```\n# One\n~~~~",
    "> # One\n> quoted",
    "- ### Three\n- item\n\n  more",
    "<!--\n# One\n\n## Two x\n-->",
    "    # One in code\n\n    ### Three",
    "| a |\n|---|\n| # One |",
    "one two one two [[One]] \\# One 日本",
    "***",
];

/// A piece of a body: a heading, or text.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Heading((&'static str, usize, &'static str)),
    Text(&'static str),
}

impl Piece {
    fn markdown(self) -> &'static str {
        match self {
            Self::Heading((markdown, ..)) | Self::Text(markdown) => markdown,
        }
    }

    fn level(self) -> Option<usize> {
        if let Self::Heading((_, level, _)) = self { Some(level) } else { None }
    }
}

/// A note of pieces that are separated by blank lines: its frontmatter, its pieces, its end, and whether it has CRLF.
fn note_of_pieces() -> impl Strategy<Value = (&'static str, Vec<Piece>, &'static str, bool)> {
    let piece = prop_oneof![
        prop::sample::select(HEADINGS.to_vec()).prop_map(Piece::Heading),
        prop::sample::select(TEXTS.to_vec()).prop_map(Piece::Text),
    ];
    (
        prop::sample::select(FRONTS.to_vec()),
        prop::collection::vec(piece, 1..9),
        prop::sample::select(vec!["", "\n", "\n\n"]),
        any::<bool>(),
    )
}

/// Returns the text of a note.
fn joined(front: &str, pieces: &[&str], end: &str, is_crlf: bool) -> String {
    let text = format!("{front}{}{end}", pieces.join("\n\n"));
    if is_crlf { text.replace('\n', "\r\n") } else { text }
}

/// Returns the path of each heading with its index among the pieces.
fn heading_paths(pieces: &[Piece]) -> Vec<(usize, Vec<&'static str>)> {
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut paths = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        if let Piece::Heading((_, level, text)) = piece {
            open.retain(|(outer, _)| outer < level);
            open.push((*level, *text));
            paths.push((index, open.iter().map(|(_, text)| *text).collect()));
        }
    }
    paths
}

/// Returns the pieces and the end of a body with another text in the section of the heading at `index`.
fn with_section<'a>(pieces: &[Piece], index: usize, new: &'a str, end: &'static str) -> (Vec<&'a str>, &'static str) {
    let level = pieces[index].level();
    let ends = |piece: &Piece| piece.level().is_some() && piece.level() <= level;
    let next = pieces[index + 1..].iter().position(ends).map_or(pieces.len(), |offset| index + 1 + offset);
    let markdown = |pieces: &[Piece]| pieces.iter().map(|piece| piece.markdown()).collect::<Vec<_>>();
    let all = [markdown(&pieces[..=index]), vec![new], markdown(&pieces[next..])].concat();
    // A heading without text at the end of the note gets its text on lines of its own.
    let is_bare = next == index + 1 && next == pieces.len();
    (all, if is_bare { "\n" } else { end })
}

#[test]
fn a_section_changes_below_its_heading_alone() {
    let (changed, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let texts =
        ["New text.", "- a\n- b", "```\n# One\n```", "    code\n\nmore", "> q", "#### Five\n\nbelow", "\n\nx\n\n"];
    let case = (note_of_pieces(), any::<prop::sample::Index>(), 1_usize..3, prop::sample::select(texts.to_vec()));
    generators::runner(4000)
        .run(&case, |((front, pieces, end, is_crlf), index, steps, new)| {
            let paths = heading_paths(&pieces);
            if paths.is_empty() {
                return Ok(());
            }
            let (index, path) = &paths[index.index(paths.len())];
            let name = &path[path.len().saturating_sub(steps)..];
            let count = paths.iter().filter(|(_, other)| other.ends_with(name)).count();
            let markdown: Vec<&str> = pieces.iter().map(|piece| piece.markdown()).collect();
            let old = joined(front, &markdown, end, is_crlf);
            let edit = Edit::ChangeBody(BodyEdit::Section { heading: name.join(" › "), text: new.into() });
            let result = apply(&old, std::slice::from_ref(&edit));
            if count > 1 {
                prop_assert!(result.unwrap_err().contains(&format!("it has {count} headings ")), "{}", old);
                refused.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            let has_crlf = old.contains("\r\n");
            let (pieces, end) = with_section(&pieces, *index, new.trim_matches('\n'), end);
            let expected = joined(front, &pieces, end, has_crlf);
            prop_assert_eq!(result.as_ref(), Ok(&expected), "{:?} {:?}", edit, old);
            prop_assert_eq!(&apply(&expected, std::slice::from_ref(&edit)).unwrap(), &expected, "twice is once");
            changed.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
    assert!(changed.into_inner() > 2000 && refused.into_inner() > 300);
}

#[test]
fn a_replaced_passage_occurs_once_and_changes_alone() {
    let (changed, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let case = (note_of_pieces(), any::<[prop::sample::Index; 2]>(), prop::sample::select(vec!["", "x", "a\nb", "一"]));
    generators::runner(4000)
        .run(&case, |((front, pieces, end, is_crlf), [start, length], new)| {
            let markdown: Vec<&str> = pieces.iter().map(|piece| piece.markdown()).collect();
            let old = joined(front, &markdown, end, is_crlf);
            let body_start = joined(front, &[], "", is_crlf).len();
            let offsets: Vec<usize> =
                old.char_indices().map(|(offset, _)| offset).filter(|o| *o >= body_start).collect();
            let start = offsets[start.index(offsets.len())];
            let passage: String = old[start..].chars().take(1 + length.index(12)).collect();
            let count = offsets.iter().filter(|offset| old[**offset..].starts_with(&passage)).count();
            let edit = Edit::ChangeBody(BodyEdit::Replace { old: passage.clone(), new: new.into() });
            let result = apply(&old, &[edit]);
            if count > 1 {
                prop_assert!(result.unwrap_err().contains(" times"), "{:?} {:?}", passage, old);
                refused.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            let first_line = old.split_inclusive('\n').next().unwrap();
            let new = if first_line.ends_with("\r\n") { new.replace('\n', "\r\n") } else { new.to_owned() };
            let expected = format!("{}{new}{}", &old[..start], &old[start + passage.len()..]);
            match result {
                Ok(result) => prop_assert_eq!(result, expected),
                // The body would become frontmatter.
                Err(error) => prop_assert!(front.is_empty() && expected.starts_with("---"), "{} {:?}", error, old),
            }
            changed.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
    assert!(changed.into_inner() > 2000 && refused.into_inner() > 300);
}

#[test]
fn an_appended_paragraph_is_added_each_time_unless_the_text_ends_inside_code() {
    let case =
        (note_of_pieces(), any::<bool>(), prop::sample::select(vec!["More.", "- a\n- b", "\n    code\n\nmore \n"]));
    generators::runner(2000)
        .run(&case, |((front, pieces, end, is_crlf), is_open, new)| {
            let mut markdown: Vec<&str> = pieces.iter().map(|piece| piece.markdown()).collect();
            markdown.extend(is_open.then_some("```\nnever closed"));
            let old = joined(front, &markdown, end, is_crlf);
            let edit = Edit::ChangeBody(BodyEdit::Append(new.into()));
            let result = apply(&old, std::slice::from_ref(&edit));
            if is_open {
                prop_assert!(result.unwrap_err().contains("ends inside a code block"), "{:?}", old);
                return Ok(());
            }
            let line_end = if old.contains("\r\n") { "\r\n" } else { "\n" };
            let gap = ["\n\n", "\n", ""][end.len()];
            let added = format!("{gap}{}\n", new.trim_start_matches('\n').trim_end()).replace('\n', line_end);
            let expected = format!("{old}{added}");
            prop_assert_eq!(result.as_ref(), Ok(&expected), "{:?}", old);
            let twice = apply(&expected, &[edit]).unwrap();
            prop_assert!(twice.starts_with(&expected) && twice.len() > expected.len());
            Ok(())
        })
        .unwrap();
}

/// A section may be given with its heading, and two blocks of fields are told.
#[test]
fn a_section_may_be_given_with_its_heading() {
    let note = "---\nid: n\n---\nIntro.\n\n## Testing\n\nOld.\n\n## Other\n\nKeep.\n";
    for text in ["## Testing\n\nAgain.", "Again.", "\n## Testing\nAgain.\n"] {
        let dir = crate::support::files::store(&[("notes/n.md", note)]);
        let args = ["update", "n", "--section", "Testing", "--body", text, "--today", "2025-01-01"];
        assert_eq!(crate::support::process::call(dir.path().to_str().unwrap(), &args).code(), 0, "{text}");
        let new = std::fs::read_to_string(dir.path().join(".qipu/notes/n.md")).unwrap();
        assert!(new.ends_with("## Testing\n\nAgain.\n\n## Other\n\nKeep.\n"), "{new}");
    }
    let two = "---\nid: two\ntitle: T\nlinks: [two]\n---\n\n---\nname: x\n---\n\nText.\n";
    let dir = crate::support::files::store(&[
        ("notes/two.md", two),
        ("notes/one.md", "---\nid: one\n---\n\n---\n\nJust text.\n\n---\n"),
    ]);
    let told = crate::support::process::call(dir.path().to_str().unwrap(), &["doctor"]).stdout;
    assert_eq!(told.matches("(second-frontmatter)").count(), 1, "{told}");
    assert!(told.contains("two.md:7: a second frontmatter block begins here"), "{told}");
}

/// Edits of one field at once result in what they result in one by one.
#[test]
fn many_edits_at_once_are_the_same_as_one_by_one() {
    use proptest::prelude::*;
    use qipu::note::edit::{Edit, apply};
    let fields = [
        "tags: [a, b] # c",
        "tags: a, b",
        "tags:\n- a # why\n- b",
        "x: 1",
        "tags: []",
        "tags: !!str a",
        "{tags: [a]}",
        "custom:\n  a: 1 # one\ntags: [c]",
        "custom: {a: 1}",
    ];
    let edit = (0_usize..6, prop::sample::select(vec!["a", "b", "c", "d e", "7", "true", "x: y", "?"]), "[ab]")
        .prop_map(|(kind, text, key)| {
            let text = text.to_owned();
            match kind {
                0 | 1 => Edit::AddItem { key: "tags", text },
                2 => Edit::RemoveItem { key: "tags", text },
                3 => Edit::AddMap { key: "sources", entries: vec![("url", text)] },
                _ => Edit::SetCustom { key, text },
            }
        });
    generators::runner(1500)
        .run(&(prop::sample::select(fields.to_vec()), prop::collection::vec(edit, 0..9)), |(fields, edits)| {
            let note = format!("---\n{fields}\n---\nText.\n");
            let one_by_one = edits.iter().try_fold(note.clone(), |text, edit| apply(&text, std::slice::from_ref(edit)));
            let at_once = apply(&note, &edits);
            let read = |text: &Result<String, String>| {
                let note = text.as_ref().map(|text| Note::parse("n.md", text.clone().into_bytes()));
                note.map(|note| (note.tags.clone(), note.custom.clone(), note.sources.clone(), note.body().to_owned()))
                    .map_err(Clone::clone)
            };
            prop_assert_eq!(read(&at_once), read(&one_by_one), "{:?}\n{:?}\n{:?}", edits, at_once, one_by_one);
            Ok(())
        })
        .unwrap();
}
