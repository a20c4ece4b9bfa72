//! Changing a note changes the bytes of one field and no others, whatever the note looks like.

#![allow(clippy::unwrap_used, clippy::panic, clippy::string_slice, missing_docs)]

mod stores;

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use qipu::note::Note;
use qipu::note::edit::{Edit, apply};

/// Ways in which people write each field, the key's line first.
const FORMS: [(&str, &[&str]); 9] = [
    ("id", &["id: n1\n", "id: 'n1'   # the id\n", "\"id\": \"n1\"\n"]),
    (
        "title",
        &[
            "title: Plain words\n",
            "title: 'It''s'\n",
            "title: \"Two: parts\" # why\n",
            "title: >-\n  folded\n  lines\n",
            "title: goes\n  on\n",
            "title:\n",
            "title: |\n  kept\n\n",
        ],
    ),
    ("type", &["type: permanent\n", "type:   moc\n"]),
    ("value", &["value: 10\n", "value: 300 # impossible\n", "value:\n"]),
    (
        "tags",
        &[
            "tags: [a, b]\n",
            "tags: [ a , 'b' ,]\n",
            "tags:\n  - a # one\n  - b\n",
            "tags:\n- a\n\n- b\n",
            "tags: a\n",
            "tags: []\n",
            "tags:\n",
            "tags: [\n  a, # one\n  b\n]\n",
        ],
    ),
    (
        "links",
        &[
            "links: []\n",
            "links:\n- type: supports\n  id: x\n",
            "links:\n  - {type: supports, id: x}\n  - id: y # c\n    type: related\n",
            "links: [{type: supports, id: x}]\n",
            "links: x\n",
        ],
    ),
    (
        "custom",
        &["custom:\n  a: 1 # c\n  b: [1, 2]\n", "custom: {a: 1}\n", "custom: {}\n", "custom:\n    deep:\n      x: y\n"],
    ),
    ("summary", &["summary: One.\n", "summary: >\n  Two\n  lines.\n\n", "summary: \"Quoted \\\"words\\\"\"\n"]),
    (
        "mine",
        &[
            "mine: &anchor {x: [1, 2]}\n",
            "mine: !tag 007\n",
            "mine: |-\n  raw: text\n  # no comment\n",
            "mine: ~\n",
            "'my key': 1.10\n",
        ],
    ),
];

const BETWEEN: [&str; 5] = ["", "", "# a comment\n", "\n", "# two\n# lines\n\n"];
const BODIES: [&str; 5] =
    ["", "Body\n", "\nBody\n---\nno: frontmatter\n", "# H\n\ntext without an end", "tags: [x]\n\u{2028}\u{feff}é\n"];

fn note() -> impl Strategy<Value = String> {
    let fields = FORMS.map(|(_, forms)| {
        (any::<bool>(), prop::sample::select(forms.to_vec()), prop::sample::select(BETWEEN.to_vec()))
    });
    (fields.to_vec(), prop::sample::select(BODIES.to_vec()), any::<[bool; 3]>(), any::<prop::sample::Index>()).prop_map(
        |(fields, body, [crlf, bom, rotate], by)| {
            let mut pieces: Vec<String> = fields
                .into_iter()
                .filter(|(is_there, ..)| *is_there)
                .map(|(_, form, between)| format!("{between}{form}"))
                .collect();
            if rotate && !pieces.is_empty() {
                let by = by.index(pieces.len());
                pieces.rotate_left(by);
            }
            let text = format!("---\n{}---\n{body}", pieces.concat());
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            if bom { format!("\u{feff}{text}") } else { text }
        },
    )
}

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
        Just(Edit::RemoveMap { key: "links", entries: vec![("id", "x".into())] }),
        text.prop_map(|text| Edit::SetCustom { key: "a".into(), text }),
    ]
}

fn key(edit: &Edit) -> &str {
    match edit {
        Edit::SetText { key, .. } => key,
        Edit::SetPlain { key, .. } => key,
        Edit::AddItem { key, .. }
        | Edit::RemoveItem { key, .. }
        | Edit::AddMap { key, .. }
        | Edit::RemoveMap { key, .. } => key,
        Edit::SetCustom { .. } => "custom",
        Edit::SetBody(_) => "body",
    }
}

/// Returns a note without the lines of one field: its key's line and what is indented (or a list
/// item, or a bracket's inside) below it. Knows nothing of YAML, as a reader's eye does not.
fn without_field(text: &str, key: &str) -> String {
    let mut out = String::new();
    let (mut in_field, mut blank, mut marks) = (false, String::new(), 0);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end().trim_start_matches('\u{feff}');
        if marks == 2 {
            out.push_str(line);
            continue;
        }
        if bare == "---" {
            marks += 1;
            in_field = false;
        } else if !bare.is_empty() && !bare.starts_with([' ', '-', '#', ']', '}']) {
            in_field = bare.starts_with(&format!("{key}:")) || bare.starts_with(&format!("\"{key}\":"));
        } else if bare.starts_with('#') {
            in_field = false;
        }
        if bare.is_empty() && in_field {
            blank.push_str(line);
        } else if !in_field {
            out.push_str(&blank);
            out.push_str(line);
            blank.clear();
        } else {
            blank.clear();
        }
    }
    out + &blank
}

/// Leaves away blank lines in the frontmatter: those at the end of a block text belong to it.
fn squeezed(text: &str) -> String {
    let Some((front, body)) = text.rsplit_once("---") else { return text.to_owned() };
    let lines = front.split_inclusive('\n').filter(|line| !line.trim().is_empty());
    format!("{}---{body}", lines.collect::<String>())
}

#[test]
fn an_edit_changes_its_field_and_nothing_else() {
    let (changed, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    stores::runner(6000)
        .run(&(note(), edit()), |(old, edit)| {
            let Ok(new) = apply(&old, std::slice::from_ref(&edit)) else {
                refused.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            };
            let (before, after) = (
                Note::parse("notes/n.md", old.clone().into_bytes()),
                Note::parse("notes/n.md", new.clone().into_bytes()),
            );
            prop_assert_eq!(before.body(), after.body());
            prop_assert_eq!(
                squeezed(&without_field(&old, key(&edit))),
                squeezed(&without_field(&new, key(&edit))),
                "{:?}\n{}\n{}",
                edit,
                old,
                new
            );
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
        Edit::RemoveMap { .. } => prop_assert!(!after.links.iter().any(|link| link.target == "x")),
        Edit::SetCustom { text, .. } => {
            let field = after.custom.iter().find(|(key, _)| key == "a").map(|(_, value)| value.to_line());
            prop_assert_eq!(field.as_ref(), Some(text));
        }
        _ => {}
    }
    Ok(())
}
