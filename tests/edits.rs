//! An edit changes the bytes of one field and no others in notes of any form.

#![allow(clippy::unwrap_used, clippy::panic, clippy::string_slice, missing_docs)]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use qipu::note::edit::{Edit, apply};
use qipu::note::{Note, TypedLink, Value};
use support::frontmatter::{comments, note, squeezed, without_field};
use support::generators;

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
        Edit::SetPlain { key, .. } => key,
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
        Edit::SetBody(_) | Edit::Append { .. } => "body",
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
