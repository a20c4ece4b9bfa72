//! `qipu tasks`: which items of which notes are listed, in every format; and ticking them off.

use std::fs;
use std::path::Path;

use crate::support::files::temp_dir;
use crate::support::generators::runner;
use crate::support::process::call;
use proptest::prelude::*;

const PLAN: &str = "---\nid: plan\ntitle: The plan\ntags: [work]\nupdated: 2025-03-02\n---\n\n- [ ] first\n  - [x] nested\n\
                    * [ ] second\n\n```\n- [ ] code\n```\n\n> 1. [ ] quoted\n";
const OTHER: &str =
    "---\nid: other\ntitle: Other\nupdated: 2025-03-01\nowner: ann\n---\n<!--\n- [ ] hidden\n-->\n+ [ ] third\r\n";

fn store() -> tempfile::TempDir {
    let dir = temp_dir();
    write(dir.path(), ".qipu/config.toml", "parents = false\n[[documents]]\npath = \"docs\"\n");
    write(dir.path(), ".qipu/notes/plan.md", PLAN);
    write(dir.path(), ".qipu/notes/other.md", OTHER);
    write(dir.path(), "docs/guide.md", "# Guide\n\n- [ ] fourth\n");
    dir
}

fn write(dir: &Path, path: &str, text: &str) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn stdout(dir: &Path, args: &[&str]) -> String {
    let answer = call(dir.to_str().unwrap(), args);
    assert!(answer.error.is_none(), "{args:?}: {:?}", answer.error);
    answer.stdout
}

#[test]
fn open_tasks_of_all_collections_are_listed_with_their_lines() {
    let dir = store();
    let tasks = |args: &[&str]| stdout(dir.path(), &[&["tasks"], args].concat());
    assert_eq!(
        tasks(&[]),
        "plan:8 [ ] first (The plan)\nplan:10 [ ] second (The plan)\nplan:16 [ ] quoted (The plan)\n\
         other:10 [ ] third (Other)\nguide:3 [ ] fourth (Guide)\n"
    );
    assert_eq!(tasks(&["--done"]), "plan:9 [x] nested (The plan)\n");
    assert_eq!(
        tasks(&["--all", "--tag", "work", "--fields", "id,line,done,text"]),
        "plan\t8\tfalse\tfirst\nplan\t9\ttrue\tnested\nplan\t10\tfalse\tsecond\nplan\t16\tfalse\tquoted\n"
    );
    assert_eq!(tasks(&["--where", "owner = ann", "--format", "paths"]), format!("{}\n", ".qipu/notes/other.md"));
    assert_eq!(tasks(&["--in", "docs", "--format", "ids"]), "guide:3\n");
    assert!(tasks(&["--where", "ownr = ann"]).ends_with("no note has the field 'ownr'; did you mean 'owner'?\n"));
    assert_eq!(
        tasks(&["--limit", "1", "--records"]),
        "H qipu=1 records=1 store=.qipu/ mode=tasks truncated=true\nD task id=plan line=8 done=false text=\"first\" \
         title=\"The plan\"\n"
    );
    let json: serde_json::Value = serde_json::from_str(&tasks(&["--json", "--tag", "work"])).unwrap();
    assert_eq!(
        json["tasks"][2],
        serde_json::json!({"id": "plan", "line": 16, "done": false, "text": "quoted", "title": "The plan"})
    );
}

#[test]
fn a_task_is_done_by_one_character() {
    let dir = store();
    let file = |path: &str| fs::read_to_string(dir.path().join(path)).unwrap();
    let done = |args: &[&str]| call(dir.path().to_str().unwrap(), &[&["tasks", "done"], args].concat());
    let dry = done(&["The plan:8", "--dry-run"]);
    assert!(dry.stdout.contains("\n-- [ ] first\n+- [x] first\n"), "{}", dry.stdout);
    assert_eq!(file(".qipu/notes/plan.md"), PLAN);

    let answer = done(&["plan:8", "other:10", "plan:16", "plan:8"]);
    assert_eq!(
        answer.stdout, "plan changed .qipu/notes/plan.md\nother changed .qipu/notes/other.md\n",
        "{:?}",
        answer.error
    );
    assert_eq!(file(".qipu/notes/plan.md"), PLAN.replace("[ ] first", "[x] first").replace("[ ] quoted", "[x] quoted"));
    assert_eq!(file(".qipu/notes/other.md"), OTHER.replace("[ ] third", "[x] third"));
    assert_eq!(done(&["plan:8"]).stdout, "plan unchanged .qipu/notes/plan.md\n");
    assert_eq!(done(&["plan:10", "-q"]).stdout, "plan\n");
}

#[test]
fn listed_names_are_those_that_are_ticked_off() {
    let dir = store();
    let listed = stdout(dir.path(), &["tasks", "--in", "project", "--format", "ids"]);
    assert_eq!(listed, "plan:8\nplan:10\nplan:16\nother:10\n");
    let done: Vec<&str> = ["tasks", "done"].into_iter().chain(listed.lines()).collect();
    stdout(dir.path(), &done);
    assert_eq!(stdout(dir.path(), &["tasks", "--in", "project"]), "No task matches.\n");
    assert_eq!(stdout(dir.path(), &["tasks", "--done", "--format", "ids", "-0", "--limit", "1"]), "plan:8\0");
}

#[test]
fn a_line_without_a_task_changes_nothing() {
    let dir = store();
    let done = |args: &[&str]| call(dir.path().to_str().unwrap(), &[&["tasks", "done"], args].concat()).error.unwrap();
    for (target, code, message) in [
        ("plan:13", 1, "line 13 of `plan` is not a task"),
        ("plan:99", 1, "line 99 of `plan` is not a task"),
        ("other:8", 1, "line 8 of `other` is not a task"),
        ("nobody:1", 3, "no such note: `nobody` in .qipu/"),
        ("plan", 2, "`plan` is not ID:LINE"),
        ("plan:0", 2, "`plan:0` is not ID:LINE"),
        (":3", 2, "`:3` is not ID:LINE"),
    ] {
        let error = done(&["plan:8", target]);
        assert_eq!((error.kind.exit_code(), error.message.as_str()), (code, message));
        assert_eq!(fs::read_to_string(dir.path().join(".qipu/notes/plan.md")).unwrap(), PLAN, "{target}");
    }
    // The folder is a source, which is only read.
    assert_eq!(
        done(&["guide:3"]).message,
        "`docs:guide` belongs to the collection `docs`, which this command does not change"
    );
    assert!(call(dir.path().to_str().unwrap(), &["tasks", "--all", "done", "plan:8"]).error.is_some());
}

#[test]
fn a_writable_source_is_ticked_off_with_to() {
    let dir = store();
    write(dir.path(), ".qipu/config.toml", "parents = false\n[[documents]]\npath = \"docs\"\nwritable = true\n");
    let answer = call(dir.path().to_str().unwrap(), &["tasks", "done", "guide:3", "--in", "docs"]);
    assert_eq!(answer.stdout, "guide changed docs/guide.md\n", "{:?}", answer.error);
    assert_eq!(fs::read_to_string(dir.path().join("docs/guide.md")).unwrap(), "# Guide\n\n- [x] fourth\n");
}

/// Lines of markdown that lists, quotes, code and comments are made of.
fn line() -> impl Strategy<Value = String> {
    let marker = prop::sample::select(vec![
        "- ", "* ", "+ ", "1. ", "2) ", "> ", "> - ", "```", "<!--", "-->", "    ", "\t", "",
    ]);
    let indent = prop::sample::select(vec!["", "  ", "    "]);
    let task = prop::sample::select(vec![
        "[ ] a", "[x] b", "[X] c", "[\t] d", "[ ]", "[y] e", "[ ](f)", "text", "`[ ]`", "é [ ] g",
    ]);
    (indent, marker, task).prop_map(|(indent, marker, task)| format!("{indent}{marker}{task}"))
}

/// What is listed can be ticked off, changes by one byte, and leaves the other tasks where they are.
#[test]
fn every_listed_task_can_be_done() {
    let texts = (prop::collection::vec(line(), 1..30), any::<bool>());
    runner(60)
        .run(&texts, |(lines, has_crlf)| {
            check_every_task(&lines.join(if has_crlf { "\r\n" } else { "\n" }));
            Ok(())
        })
        .unwrap();
}

fn check_every_task(body: &str) {
    let dir = temp_dir();
    write(dir.path(), ".qipu/config.toml", "parents = false\n");
    write(dir.path(), ".qipu/notes/n.md", &format!("---\nid: n\n---\n{body}\n"));
    let file = || fs::read(dir.path().join(".qipu/notes/n.md")).unwrap();
    let lines = |flag: &str| -> Vec<String> {
        stdout(dir.path(), &["tasks", flag, "--fields", "line"]).lines().map(str::to_owned).collect()
    };
    let (mut open, all) = (lines("--limit=100"), lines("--all"));
    while let Some(line) = open.first() {
        let before = file();
        stdout(dir.path(), &["tasks", "done", &format!("n:{line}")]);
        let after = file();
        assert_eq!(before.len(), after.len());
        assert_eq!(before.iter().zip(&after).filter(|(a, b)| a != b).count(), 1, "{body}");
        let left = lines("--limit=100");
        assert_eq!(left, open[1..], "{body}");
        open = left;
    }
    assert_eq!(lines("--all"), all, "{body}");
}
