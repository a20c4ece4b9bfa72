//! Which collection a file belongs to, and by which names a collection is found: the same whatever a call asks for, and in
//! whatever folder it runs.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use crate::support::process::Answer;
use crate::support::world;
use serde_json::Value;

/// The folders of a user and a repository.
struct World(world::World);

impl Deref for World {
    type Target = world::World;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl World {
    /// Creates files, given with their paths. `repo` is a repository.
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self(world::World::empty());
        for folder in ["repo/.git", "settings/qipu", "data", "home"] {
            fs::create_dir_all(world.at(folder)).unwrap();
        }
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    fn call_in(&self, folder: &str, args: &[&str]) -> Answer {
        self.call_of_user(folder, Some("cache"), args)
    }

    fn call(&self, args: &[&str]) -> Answer {
        self.call_in("repo", args)
    }

    /// Returns the answer to a call that must succeed.
    fn ok_in(&self, folder: &str, args: &[&str]) -> String {
        let answer = self.call_in(folder, args);
        assert!(answer.error.is_none(), "{args:?} in {folder}: {}", answer.error.unwrap());
        answer.stdout
    }

    fn ok(&self, args: &[&str]) -> String {
        self.ok_in("repo", args)
    }

    /// Returns the message and the hint of a call that must be a usage error.
    fn refused_in(&self, folder: &str, args: &[&str]) -> String {
        let answer = self.call_in(folder, args);
        assert_eq!(answer.code(), 2, "{args:?} in {folder}: {}", answer.stdout);
        let error = answer.error.unwrap();
        format!("{error}; {}", error.hint.as_deref().unwrap_or_default())
    }

    fn refused(&self, args: &[&str]) -> String {
        self.refused_in("repo", args)
    }

    /// Returns the fields of rows of an answer as JSON, joined by spaces.
    fn rows(&self, folder: &str, args: &[&str], list: &str, fields: &[&str]) -> Vec<String> {
        let answer: Value = serde_json::from_str(&self.call_in(folder, &[args, &["--json"]].concat()).stdout).unwrap();
        let field = |row: &Value, field: &str| match &row[field] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let rows = answer[list].as_array().unwrap();
        rows.iter().map(|row| fields.iter().map(|name| field(row, name)).collect::<Vec<_>>().join(" ")).collect()
    }

    fn collections(&self, folder: &str) -> Vec<String> {
        self.rows(folder, &["status"], "collections", &["name", "notes"])
    }

    fn codes(&self, args: &[&str]) -> Vec<String> {
        self.rows("repo", args, "findings", &["code"])
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let all = walkdir::WalkDir::new(self.at("repo")).into_iter().map(Result::unwrap);
        let files = all.filter(|entry| entry.file_type().is_file() && !is_kept(entry.path()));
        files.map(|entry| (entry.path().to_path_buf(), fs::read(entry.path()).unwrap())).collect()
    }
}

/// Whether a file is one that the program keeps for itself.
fn is_kept(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "cache")
}

fn note(id: &str, title: &str, body: &str) -> String {
    format!("---\nid: {id}\ntitle: {title}\n---\n{body}\n")
}

const RECORD: &str = "# 1. Use X\n\nDate: 2020-01-05\n\n## Status\n\nAccepted\n\n## Context\n\nText alpha.\n";

/// A source that may be changed, with one that is only read and a store inside.
fn nested() -> World {
    let config = "[[documents]]\npath = \"docs\"\nwritable = true\n\
                  [[documents]]\npath = \"docs/adr\"\nas = \"adr\"\n\
                  [[documents]]\npath = \"docs/api/*.md\"\nname = \"api\"\n\
                  [[stores]]\npath = \"docs/inner\"\n";
    World::new(&[
        ("repo/.qipu/config.toml", config),
        ("repo/.qipu/notes/qp-own.md", &note("qp-own", "Own", "")),
        ("repo/docs/page.md", "# Page\n"),
        ("repo/docs/adr/0001-x.md", RECORD),
        ("repo/docs/adr/0002-use-go.md", RECORD),
        ("repo/docs/api/call.md", "# Call\n"),
        ("repo/docs/inner/config.toml", ""),
        ("repo/docs/inner/notes/qp-inner.md", &note("qp-inner", "Inner", "")),
    ])
}

#[test]
fn the_collections_that_are_asked_for_have_the_same_files_as_in_every_answer() {
    let world = nested();
    let all = world.rows("repo", &["list", "--sort", "id"], "notes", &["in", "id", "path"]);
    assert_eq!(all.len(), 6, "{all:?}");
    for name in ["project", "docs", "adr", "api", "inner"] {
        let own: Vec<String> = all.iter().filter(|row| row.starts_with(&format!("{name} "))).cloned().collect();
        assert!(!own.is_empty(), "{name}: {all:?}");
        let listed = world.rows("repo", &["list", "--in", name, "--sort", "id"], "notes", &["id", "path"]);
        assert_eq!(listed, own.iter().map(|row| row[name.len() + 1..].to_owned()).collect::<Vec<_>>());
    }
}

#[test]
fn a_command_that_writes_into_a_source_changes_no_file_of_another_collection() {
    let world = nested();
    let before = world.files();
    let commands: [&[&str]; 8] = [
        &["update", "adr--0001-x", "--status", "rejected"],
        &["update", "docs/adr/0001-x.md", "--append", "More."],
        &["delete", "adr--0002-use-go", "--force"],
        &["update", "0001-x", "--title", "Another title"],
        &["delete", "qp-inner", "--force"],
        &["delete", "inner--notes--qp-inner", "--force"],
        &["update", "api--call", "--tag", "x"],
        &["update", "call", "--tag", "x"],
    ];
    for args in commands {
        let answer = world.call(&[args, &["--in", "docs"]].concat());
        assert!(answer.error.is_some(), "{args:?}: {}", answer.stdout);
        assert!(world.files() == before, "{args:?}");
    }
    let message = world.refused(&["update", "0001-x", "--status", "rejected", "--in", "docs"]);
    assert!(message.contains("belongs to the collection `adr`"), "{message}");
    world.ok(&["update", "page", "--tag", "x", "--in", "docs"]);
    assert!(fs::read_to_string(world.at("repo/docs/page.md")).unwrap().contains("tags"));
}

#[test]
fn a_source_inside_a_store_is_a_finding_whatever_names_the_store_and_when() {
    let source = |path: &str| format!("[[documents]]\npath = \"{path}\"\nname = \"a\"\n");
    let store = |path: &str| format!("[[stores]]\npath = \"{path}\"\n");
    let (notes, folder) = (source("packages/a/.qipu/notes"), store("packages/a"));
    for (config, user) in [
        (format!("{notes}{folder}"), String::new()),
        (format!("{folder}{notes}"), String::new()),
        (notes.clone(), "[[stores]]\npath = \"$REPO/packages/a\"\n".to_owned()),
        (format!("{}{}", source("packages/a/plain/notes"), store("packages/a/plain")), String::new()),
    ] {
        let is_plain = config.contains("plain");
        let place = if is_plain { "packages/a/plain" } else { "packages/a/.qipu" };
        let world = World::new(&[
            ("repo/.qipu/config.toml", &config),
            (&format!("repo/{place}/config.toml"), ""),
            (&format!("repo/{place}/notes/qp-one.md"), &note("qp-one", "One", "")),
        ]);
        let repository = world.at("repo");
        fs::write(world.at("settings/qipu/config.toml"), user.replace("$REPO", repository.to_str().unwrap())).unwrap();
        let name = if is_plain { "plain" } else { "a" };
        assert_eq!(world.collections("repo"), ["project 0".to_owned(), format!("{name} 1")], "{config}");
        assert_eq!(world.codes(&["status"]), ["documents-in-store"], "{config}");
        assert_eq!(world.rows("repo", &["list"], "notes", &["id", "in"]), [format!("qp-one {name}")], "{config}");
    }
}

#[test]
fn a_folder_named_project_is_not_taken_for_the_project() {
    let world = World::new(&[
        ("home/team/project/.qipu/notes/qp-team.md", &note("qp-team", "Team", "Text.")),
        ("home/docs/page.md", "# Page\n"),
        ("data/qipu/notes/qp-user.md", &note("qp-user", "User", "")),
        (
            "settings/qipu/config.toml",
            "[[documents]]\npath = \"~/docs\"\nname = \"project\"\n[[stores]]\npath = \"~/team/project\"\n",
        ),
    ]);
    assert_eq!(world.collections("repo"), ["user 1", "project-2 1", "project-3 1"]);
    let paths = world.rows("repo", &["list"], "notes", &["path"]);
    for path in &paths {
        assert!(world.at("repo").join(path).is_file(), "{path}");
    }
    assert_eq!(paths.len(), 3);
    assert!(world.ok(&["show", "qp-team"]).contains("Text."));
    world.ok(&["update", "qp-team", "--tag", "x", "--in", "project-3"]);
    assert_eq!(world.call(&["capture", "A text", "--in", "project"]).code(), 3, "there is no store of a project");
}

/// A store that names its own notes as it is named elsewhere, and two stores beside it.
fn self_named() -> World {
    let config = "parents = false\n[[stores]]\npath = \"packages/*\"\n";
    World::new(&[
        ("repo/.qipu/config.toml", config),
        ("repo/.qipu/notes/t.md", "---\nid: t\ntitle: Target\n---\nx\n"),
        (
            "repo/.qipu/notes/s.md",
            "---\nid: s\ntitle: Src\nlinks:\n  - type: supports\n    id: \"root:t\"\n---\nsee [[root:Target]]\n",
        ),
        ("repo/.qipu/notes/p.md", "---\nid: p\ntitle: Own\n---\nsee [[project:Target#Part]]\n"),
        ("repo/packages/a/.qipu/config.toml", ""),
        ("repo/packages/a/.qipu/notes/o.md", "---\nid: o\ntitle: Other\n---\nx\n"),
    ])
}

#[test]
fn a_note_that_its_own_store_names_by_another_name_is_not_deleted() {
    let world = self_named();
    for (folder, args) in [
        ("repo", &["delete", "t"][..]),
        ("repo/packages/a", &["delete", "root:t", "--in", "root"]),
        ("repo/packages/a", &["delete", "root:t", "--in", "root", "--dry-run"]),
    ] {
        let error = world.call_in(folder, args).error.unwrap_or_else(|| panic!("{args:?} in {folder} deletes it"));
        assert!(error.message.contains("2 notes link to"), "{args:?} in {folder}: {error}");
    }
}

#[test]
fn links_by_another_name_of_the_own_store_follow_a_note() {
    for folder in ["repo", "repo/packages/a"] {
        let world = self_named();
        let to: &[&str] = if folder == "repo" { &[] } else { &["--in", "root"] };
        let name = if folder == "repo" { "t" } else { "root:t" };
        world.ok_in(folder, &[&["update", name, "--title", "New Title"], to].concat());
        let text = |id: &str| fs::read_to_string(world.at(&format!("repo/.qipu/notes/{id}.md"))).unwrap();
        assert!(text("s").contains("see [[root:New Title]]") && text("s").contains("\"root:t\""), "{}", text("s"));
        assert!(text("p").contains("see [[project:New Title#Part]]"), "{}", text("p"));
        assert!(!world.ok(&["doctor"]).contains("broken link"), "{folder}");
    }
    let world = self_named();
    assert!(world.ok(&["dump", "--note", "s", "--max-hops", "3", "-"]).contains("notes=3"));
    assert!(world.ok(&["link", "add", "s", "supports", "t"]).contains("unchanged"));
    world.ok(&["link", "remove", "s", "supports", "t"]);
    assert!(!fs::read_to_string(world.at("repo/.qipu/notes/s.md")).unwrap().contains("root:t\""));
    world.ok(&["merge", "p", "t"]);
    assert!(!world.ok(&["doctor"]).contains("broken link"));
}

#[test]
fn a_link_to_another_store_by_title_is_recognised() {
    let world = self_named();
    let path = "repo/packages/a/.qipu/notes/o.md";
    world.write(path, "---\nid: o\ntitle: Other\nlinks:\n  - type: supports\n    id: \"root:Target\"\n---\nx\n");
    let add = world.ok_in("repo/packages/a", &["link", "add", "o", "supports", "root:t"]);
    assert!(add.contains("unchanged"), "{add}");
    world.ok_in("repo/packages/a", &["link", "remove", "o", "root:t"]);
    assert!(!fs::read_to_string(world.at(path)).unwrap().contains("supports"));
}
