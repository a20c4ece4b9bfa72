//! A note is changed only by a call that names it whole; beginnings of ids name notes in answers alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::files::{path, store};
use crate::support::generators::runner;
use crate::support::mcp_client::McpClient;
use crate::support::process::{Answer, call, call_with, call_with_editor};
use proptest::prelude::*;
use serde_json::json;

/// A note as its id, its title and an alias.
type Named = (String, String, String);

/// Returns the calls that change the note with a name, with what else they change, by the id of another note.
fn changes<'a>(name: &'a str, other: &'a str, target: &'a str, task: &'a str, link: &'a str) -> Vec<Vec<&'a str>> {
    vec![
        vec!["update", name, "--tag", "new"],
        vec!["update", other, name, "--append", "More."],
        vec!["update", name, "--body", "Other."],
        vec!["update", name, "--title", "A new title"],
        vec!["merge", name, other],
        vec!["merge", other, name],
        vec!["supersede", name, other],
        vec!["supersede", other, name],
        vec!["link", "add", name, "compacts", other],
        vec!["link", "add", other, "compacts", name],
        vec!["link", "remove", other, "compacts", name],
        vec!["update", name, "--code", target],
        vec!["link", "add", name, other],
        vec!["link", "add", other, name],
        vec!["link", "remove", name, other],
        vec!["link", "remove", other, name],
        vec!["tasks", "done", task],
        vec!["review", "--kind", "code", "--fix", name],
        vec!["capture", "--title", "Another", "--supersedes", name],
        vec!["capture", "--title", "Another", "--link", link],
        vec!["capture", "A text.", "--supersedes", name],
        vec!["capture", "A text.", "--link", link],
        vec!["delete", name],
        vec!["delete", "--force", other, name],
    ]
}

fn texts(dir: &tempfile::TempDir) -> BTreeMap<String, String> {
    let files = fs::read_dir(dir.path().join(".qipu/notes")).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|file| (file.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(file).unwrap()))
        .collect()
}

fn store_of(notes: &[Named]) -> tempfile::TempDir {
    let file = |(id, title, alias): &Named| {
        let text = format!("---\nid: {id}\ntitle: \"{title}\"\naliases: [\"{alias}\"]\n---\n- [ ] A task.\n");
        (format!("notes/{id}.md"), text)
    };
    let files: Vec<(String, String)> = notes.iter().map(file).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    store(&files)
}

/// Tells whether a name is a whole one of a note.
fn is_whole(name: &str, (id, title, alias): &Named) -> bool {
    let folded = |text: &str| text.trim().to_lowercase();
    let ids = [id.clone(), format!("{id}.md"), format!("notes/{id}.md"), format!(".qipu/notes/{id}.md")];
    ids.iter().any(|whole| whole == name)
        || *id == format!("qp-{name}")
        || folded(title) == folded(name)
        || folded(alias) == folded(name)
}

/// Expects that a call changed, or named in a note that it made, only notes that it names whole; else that its error lists
/// those that may be meant.
fn check(
    notes: &[Named],
    name: &str,
    before: &BTreeMap<String, String>,
    dir: &tempfile::TempDir,
    args: &[&str],
    answer: &Answer,
) {
    let other = &notes[0].0;
    let after = texts(dir);
    let is_changed = |id: &&String| before.get(*id) != after.get(*id);
    let changed: BTreeSet<&String> = before.keys().filter(is_changed).collect();
    let whole: BTreeSet<&String> = notes.iter().filter(|note| is_whole(name, note)).map(|note| &note.0).collect();
    let new = after.iter().filter(|(id, _)| !before.contains_key(*id)).map(|(_, text)| text);
    let linked: BTreeSet<&String> = notes
        .iter()
        .map(|note| &note.0)
        .filter(|id| {
            new.clone().any(|text| text.contains(&format!("id: {id}}}")) || text.contains(&format!("id: {id}\n")))
        })
        .collect();
    for id in changed.iter().chain(&linked).filter(|id| **id != other) {
        assert!(whole.contains(*id), "{args:?} changed {id}: {notes:?}");
    }
    if whole.is_empty() {
        let error = answer.error.as_ref().unwrap_or_else(|| panic!("{args:?} was taken: {notes:?}"));
        assert!(before == &after, "{args:?} was refused and changed a note: {notes:?}");
        let hint = error.hint.clone().unwrap_or_default();
        let is_meant = |id: &String| id.starts_with(name) || id.starts_with(&format!("qp-{name}"));
        let direct: Vec<&String> = notes.iter().map(|note| &note.0).filter(|id| id.starts_with(name)).collect();
        let meant = notes
            .iter()
            .map(|note| &note.0)
            .filter(|id| if direct.is_empty() { is_meant(id) } else { direct.contains(id) });
        for id in meant.take(10) {
            assert!(hint.contains(id.as_str()), "{args:?}: {hint:?} lacks {id}: {notes:?}");
        }
    }
}

/// Ids that share their beginnings, and titles and aliases that are beginnings of ids.
fn notes() -> impl Strategy<Value = Vec<Named>> {
    let id = "(qp-)?[ab1]{1,3}[a-c0-2]{2,5}[ab]";
    let note = (id, "[ab1]{1,4}|Title [a-c]{1,3}", "[ab]{1,3}c|Alias [a-c]{1,2}");
    prop::collection::vec(note, 2..7).prop_map(|mut notes| {
        let mut seen = BTreeSet::new();
        notes.retain(|(id, _, _)| seen.insert(id.clone()));
        notes
    })
}

#[test]
fn a_note_is_changed_only_by_its_whole_name() {
    runner(120)
        .run(
            &(notes(), any::<prop::sample::Index>(), 1_usize..12, any::<[u8; 3]>()),
            |(notes, chosen, length, dice)| {
                let (id, title, alias) = chosen.get(&notes);
                let whole = match dice[0] % 6 {
                    0 => title,
                    1 => alias,
                    2 => &format!("notes/{id}.md"),
                    3 => &format!("{id}.md"),
                    _ => id,
                };
                let bare = if dice[1].is_multiple_of(2) { whole.strip_prefix("qp-").unwrap_or(whole) } else { whole };
                let name: String =
                    bare.chars().take(if dice[2].is_multiple_of(4) { usize::MAX } else { length }).collect();
                let other = notes[0].0.clone();
                let (task, link) = (format!("{name}:6"), format!("related:{name}"));
                let calls = changes(&name, &other, "code.rs", &task, &link);
                // Each call meets the store as it is.
                let start = (usize::from(dice[0]) * 7) % calls.len();
                for args in calls.iter().cycle().skip(start).take(8) {
                    let dir = store_of(&notes);
                    fs::write(dir.path().join("code.rs"), "fn main() {}\n").unwrap();
                    let before = texts(&dir);
                    check(&notes, &name, &before, &dir, args, &call(path(&dir), args));
                }
                Ok(())
            },
        )
        .unwrap();
}

#[test]
fn the_editor_opens_only_a_note_that_is_named_whole() {
    let dir = store(&[("notes/authentication.md", "# Authentication\n")]);
    let no_editor = |_: &Path| Err(std::io::Error::other("no editor in a test"));
    let answer = |name: &str| call_with_editor(path(&dir), &["update", name], no_editor).error.unwrap();
    let refused = answer("authent");
    assert_eq!(refused.message, "`authent` is only the beginning of an id, and a change needs a whole name");
    assert_eq!(refused.hint.as_deref(), Some("it may mean authentication (Authentication)"));
    assert!(answer("Authentication").message.contains("no editor in a test"));
}

/// The tools of agents refuse what `jq -r` makes of a missing id.
#[test]
fn tools_change_only_a_note_that_is_named_whole() {
    let dir = store(&[
        ("notes/null3t0.md", "---\nid: null3t0\ntitle: Nullable columns\n---\nText.\n"),
        ("notes/other.md", "# Other\n"),
    ]);
    let before = texts(&dir);
    let client =
        McpClient::start(Command::new(env!("CARGO_BIN_EXE_qipu")).arg("mcp").current_dir(dir.path()).env_clear());
    let calls = [
        ("update", json!({"id": "null", "append": "More."})),
        ("link", json!({"from": "null", "to": "other", "type": "related"})),
        ("link", json!({"from": "other", "to": "null", "type": "related"})),
        ("capture", json!({"text": "A text.", "supersedes": ["null"]})),
    ];
    for (tool, arguments) in calls {
        let result = client.call(tool, arguments);
        let text = format!("{result:?}");
        assert!(result.is_error == Some(true) && text.contains("null3t0 (Nullable columns)"), "{tool}: {text}");
    }
    assert_eq!(before, texts(&dir));
    let read = client.call("read", json!({"ids": ["null"]}));
    assert!(format!("{read:?}").contains("Nullable columns"), "{read:?}");
}

#[test]
fn a_beginning_of_four_characters_names_a_note_that_is_read() {
    let dir = store(&[
        ("notes/authentication.md", "---\nid: authentication\ntitle: Tokens\n---\nText.\n"),
        ("notes/qp-a1b2c3d4.md", "---\nid: qp-a1b2c3d4\ntitle: Keys\n---\nText.\n"),
    ]);
    let show = |name: &str| call(path(&dir), &["show", name, "--format", "ids"]);
    for (name, id) in [("auth", "authentication\n"), ("a1b2", "qp-a1b2c3d4\n"), ("qp-a1b2", "qp-a1b2c3d4\n")] {
        assert_eq!(show(name).stdout, id, "{name}");
    }
    for name in ["aut", "a1b", "qp-a1b"] {
        let error = show(name).error.unwrap();
        assert_eq!(error.message, format!("`{name}` is too short for the beginning of an id"));
        assert!(error.hint.unwrap().starts_with("it may mean "), "{name}");
    }
    assert_eq!(show("a").error.unwrap().hint.as_deref(), Some("it may mean authentication (Tokens)"));
}

#[test]
fn a_verb_is_no_text_to_save() {
    let dir = store(&[]);
    let run = |args: &[&str]| call(path(&dir), args);
    for (args, meant) in [
        (["journal", "list"], "`qipu list --type journal`"),
        (["journal", "show"], "`qipu journal`"),
        (["journal", "add"], "`qipu journal 'TEXT'`"),
        (["journal", "search"], "`qipu search`"),
        (["journal", "cat"], "`qipu show`"),
        (["capture", "list"], "`qipu list`"),
        (["capture", "show"], "`qipu show`"),
        (["capture", "tree"], "`qipu link tree`"),
        (["capture", "new"], "`qipu capture 'TEXT'`"),
        (["capture", "ls"], "`qipu list`"),
    ] {
        let error = run(&args).error.unwrap_or_else(|| panic!("{args:?}"));
        assert_eq!(
            (error.kind.exit_code(), error.message),
            (2, format!("`{}` is a command, and no text to save", args[1]))
        );
        assert!(error.hint.as_ref().unwrap().starts_with(&format!("did you mean {meant}? ")), "{:?}", error.hint);
    }
    assert!(texts(&dir).is_empty());
    // Sentences, a given title, standard input and other words are texts.
    for args in [
        &["journal", "list the stores first"][..],
        &["journal", "List"],
        &["journal", "lists"],
        &["capture", "show", "--title", "Verbs"],
    ] {
        assert_eq!(run(args).code(), 0, "{args:?}");
    }
    assert_eq!(call_with(path(&dir), &["journal", "-"], "list\n", &[]).code(), 0);
    assert_eq!(call_with(path(&dir), &["capture"], "show\n", &[]).code(), 0);
}
