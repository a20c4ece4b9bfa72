//! After `rename`, the old title still leads to the note: it becomes an alias, unless another note has that name.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::files::{path, store};
use crate::support::process::{Answer, call};

fn rename(dir: &TempDir, id: &str, title: &str, flags: &[&str]) -> Answer {
    call(path(dir), &[&["update", id, "--title", title, "--today", "2025-03-31"], flags].concat())
}

fn text(dir: &TempDir, file: &str) -> String {
    fs::read_to_string(dir.path().join(".qipu").join(file)).unwrap()
}

#[test]
fn the_old_title_leads_to_the_note_and_other_fields_stay() {
    let before =
        "---\nid: a # mine\nmood: {b: 1, a: 2}\ntitle: Old title\n# a comment\ncustom: {x: 'y'}\n---\n\nText.\n";
    let dir = store(&[("notes/a.md", before)]);
    assert_eq!(
        rename(&dir, "Old title", "New name", &[]).stdout,
        "a renamed .qipu/notes/a-new-name.md\n    alias: Old title\n"
    );
    let expected = before.replace("title: Old title", "title: New name");
    let expected = expected.replace("\n---\n\n", "\naliases: [Old title]\nupdated: 2025-03-31\n---\n\n");
    assert_eq!(text(&dir, "notes/a-new-name.md"), expected);
    for name in ["Old title", "old TITLE", "New name"] {
        let shown = call(path(&dir), &["show", name]);
        assert!(shown.stdout.contains("New name"), "{name}: {:?}", shown.error);
    }
    assert!(call(path(&dir), &["search", "\"old title\""]).stdout.contains("New name"));
}

#[test]
fn each_format_tells_the_alias() {
    let note = "---\nid: a\ntitle: \"Old \\\"title\\\"\"\n---\nText.\n";
    let dir = store(&[("notes/page.md", note), ("notes/b.md", "---\nid: b\ntitle: B\n---\n[[Old \"title\"]]\n")]);
    let of = |flags: &[&str]| rename(&dir, "a", "New", &[&["--dry-run"], flags].concat()).stdout;
    let human = of(&[]);
    assert!(human.starts_with("a changed .qipu/notes/page.md\n    alias: Old \"title\"\n--- "), "{human}");
    assert_eq!(human.matches("alias:").count(), 1, "{human}");
    let json: Value = serde_json::from_str(&of(&["--json"])).unwrap();
    assert_eq!((&json["changes"][0]["alias"], json["changes"][1].get("alias")), (&"Old \"title\"".into(), None));
    let records = of(&["--records"]);
    let line = "\nD change action=changed path=.qipu/notes/page.md alias=\"Old \\\"title\\\"\" from=a\n";
    assert!(records.contains(line), "{records}");
    assert_eq!(of(&["--quiet"]), "a\nb\n");
    assert_eq!(text(&dir, "notes/page.md"), note, "a dry run changes nothing");
}

/// Renaming back leaves the alias by which the note was known in between, and not its own title.
#[test]
fn a_title_is_no_alias_of_its_note() {
    for (before, renamed, back) in [
        ("", "aliases: [One]\n", "aliases: [Two]\n"),
        ("aliases: [Uno] # mine\n", "aliases: [Uno, One] # mine\n", "aliases: [Uno, Two] # mine\n"),
        ("aliases:\n- Uno\n- TWO # why\n", "aliases:\n- Uno\n- One\n", "aliases:\n- Uno\n- Two\n"),
        ("aliases: two\n", "aliases: [One]\n", "aliases: [Two]\n"),
    ] {
        let note = |title: &str, aliases: &str| {
            format!("---\nid: a\ntitle: {title}\n{aliases}updated: 2025-03-31\n---\nText.\n")
        };
        let dir = store(&[("notes/page.md", &note("One", before))]);
        let mut texts = Vec::new();
        for title in ["Two", "One"] {
            assert_eq!(rename(&dir, "a", title, &[]).code(), 0);
            let text = text(&dir, "notes/page.md");
            let known = text.lines().filter(|line| line.starts_with("aliases") || line.starts_with("- "));
            texts.push(known.map(|line| format!("{line}\n")).collect::<String>());
        }
        assert_eq!(texts, [renamed, back], "{before}");
    }
}

#[test]
fn a_name_that_leads_elsewhere_or_says_nothing_new_is_not_added() {
    for (old, fields, new, other, expected) in [
        ("Old", "", "New", "title: OLD", ""),
        ("Old", "", "New", "title: Other\naliases: [old]", ""),
        ("other", "", "New", "title: Other one", ""),
        ("Old", "", "OLD", "title: Other", ""),
        ("Old", "aliases: [oLD]\n", "New", "title: Other", "aliases: [oLD]"),
        ("Old", "aliases: [New]\n", "New", "title: old", ""),
        ("a", "", "New", "title: Other", ""),
        // With the anchor, the other field would change too.
        ("Old", "aliases: &x [A]\nmood: *x\n", "New", "title: Other", "aliases: &x [A]"),
        // A draft, which nobody accepted, takes no name from the note.
        ("Old", "", "New", "title: Old\nstatus: draft", "aliases: [Old]"),
        ("Old", "status: draft\n", "New", "title: Old\nstatus: draft", ""),
        ("Old", "", "New", "title: Older", "aliases: [Old]"),
    ] {
        let note = format!("---\nid: a\ntitle: {old}\n{fields}---\nText.\n");
        let dir = store(&[("notes/page.md", &note), ("notes/other.md", &format!("---\nid: x\n{other}\n---\n"))]);
        let answer = rename(&dir, "a", new, &[]);
        assert_eq!(answer.code(), 0, "{old}: {:?}", answer.error);
        let text = text(&dir, "notes/page.md");
        let aliases = text.lines().find(|line| line.starts_with("aliases:")).unwrap_or_default();
        assert_eq!(aliases, expected, "{old} {fields} {other}");
        let is_told = answer.stdout.contains("alias:");
        assert_eq!(is_told, expected.ends_with("[Old]"), "{}", answer.stdout);
    }
}

/// The fields of a document belong to its author, and to the application that it was written for.
#[test]
fn documents_get_no_alias() {
    for dialect in ["markdown", "obsidian", "logseq", "okf", "adr"] {
        let dir = store(&[(
            "config.toml",
            &format!("[[documents]]\npath = \"docs\"\nas = \"{dialect}\"\nwritable = true\n"),
        )]);
        let documents = dir.path().join("docs");
        fs::create_dir(&documents).unwrap();
        let old = "---\ntitle: Old title\ntype: note\n---\n\nText.\n";
        fs::write(documents.join("page.md"), old).unwrap();
        let answer = rename(&dir, "page", "New", &["--in", "docs"]);
        assert_eq!(answer.code(), 0, "{dialect}: {:?}", answer.error);
        let text = fs::read_to_string(documents.join("page.md")).unwrap();
        assert!(text.contains("title: New\n") && !text.contains("alias") && !answer.stdout.contains("alias"), "{text}");
    }
}
