//! Notes in which a merge left a conflict, and clones in which git can't merge notes by their fields.

use std::fs;
use std::process::Command;

use crate::support::files::{path, store};
use crate::support::mcp_client::McpClient;
use crate::support::process::{call, call_with};
use crate::support::repository::Repository;
use serde_json::json;

const NOTE: &str = "---\nid: port\ntitle: Port of the server\ntype: decision\ncreated: 2025-01-01\n---\nThe server listens.\n\n\
                    <<<<<<< ours\nThe port is 8080.\n=======\nThe port is 9090.\n>>>>>>> theirs\n\n- [ ] Decide.\n";
const OTHER: &str = "---\nid: other\ntitle: Other\ntags: [x]\nlinks: [port]\n---\nSee [[Port of the server]].\n";
const MARK: &str = "unresolved merge conflict";

fn project() -> tempfile::TempDir {
    store(&[("notes/port.md", NOTE), ("notes/other.md", OTHER), ("notes/pack.md", "---\nid: pack\n---\nText.\n")])
}

#[test]
fn doctor_tells_of_a_conflict_and_repairs_nothing_in_it() {
    let dir = store(&[("notes/port.md", &NOTE.replace("id: port\n", ""))]);
    for args in [&["doctor"][..], &["doctor", "--fix"]] {
        let answer = call(path(&dir), args);
        assert_eq!(answer.code(), 3);
        assert!(answer.stdout.contains("port.md:8: a merge left a conflict here"), "{}", answer.stdout);
    }
    assert_eq!(fs::read_to_string(dir.path().join(".qipu/notes/port.md")).unwrap(), NOTE.replace("id: port\n", ""));
    // An example in a block of code is none.
    let body = NOTE.replace("<<<<<<< ours", "```diff\n<<<<<<< ours").replace(">>>>>>> theirs", ">>>>>>> theirs\n```");
    let dir = store(&[("notes/port.md", &body)]);
    let answer = call(path(&dir), &["doctor"]);
    assert!(answer.code() == 0 && !answer.stdout.contains("conflict"), "{}", answer.stdout);
}

#[test]
fn what_is_no_fence_hides_no_conflict() {
    for line in
        ["```code``` is inline ```", "A paragraph\n        ```", "- item\n\n  ```\n  code\n\nText.", "<!--\n```\n-->"]
    {
        let dir = store(&[("notes/port.md", &NOTE.replace("The server listens.\n", &format!("{line}\n")))]);
        let answer = call(path(&dir), &["doctor"]);
        assert!(
            answer.code() == 3 && answer.stdout.contains("a merge left a conflict here"),
            "{line}: {}",
            answer.stdout
        );
        assert!(call(path(&dir), &["show", "port"]).stdout.contains(MARK), "{line}");
        assert_eq!(
            call(path(&dir), &["update", "port", "--tag", "x"]).error.map(|error| error.kind.exit_code()),
            Some(3)
        );
    }
    // A field opens no block of the body.
    let text = NOTE.replace("type: decision", "summary: |\n  ```\n  code");
    assert_eq!(call(path(&store(&[("notes/port.md", &text)])), &["doctor"]).code(), 3);
}

#[test]
fn every_answer_marks_a_note_in_conflict() {
    let dir = project();
    let run = |args: &[&str]| {
        let answer = call(path(&dir), args);
        assert!(answer.error.is_none(), "{args:?}: {:?}", answer.error);
        answer.stdout
    };
    for args in [
        &["ask", "which port does the server listen on", "--max-chars", "900"][..],
        &["ask", "which port does the server listen on", "--max-chars", "900", "--format", "prompt"],
        &["context", "--note", "port"],
        &["context", "--note", "port", "--format", "prompt"],
        &["search", "port"],
        &["list"],
        &["show", "port"],
        &["link", "list", "other"],
        &["link", "tree", "other"],
        &["prime"],
    ] {
        let answer = run(args);
        assert!(answer.contains(MARK), "{args:?}: {answer}");
        if args.contains(&"prompt") {
            continue;
        }
        let json = run(&[args, &["--json"]].concat());
        assert!(json.contains("\"conflict\":true"), "{args:?}: {json}");
        let records = run(&[args, &["--records"]].concat());
        assert!(records.contains(" conflict=true"), "{args:?}: {records}");
    }
    let session = call_with(path(&dir), &["hook", "claude", "SessionStart"], "{}", &[]).stdout;
    assert!(session.contains(MARK), "{session}");
    let client =
        McpClient::start(Command::new(env!("CARGO_BIN_EXE_qipu")).arg("mcp").current_dir(dir.path()).env_clear());
    let calls = [
        ("get_context", json!({"topic": "port of the server"})),
        ("search", json!({"query": "port"})),
        ("read", json!({"ids": ["port"]})),
    ];
    for (tool, arguments) in calls {
        let answer = format!("{:?}", client.call(tool, arguments));
        assert!(answer.contains(MARK), "{tool}: {answer}");
    }
}

#[test]
fn no_command_edits_a_note_in_conflict() {
    let dir = project();
    let read = || {
        ["port", "other", "pack"].map(|id| fs::read_to_string(dir.path().join(format!(".qipu/notes/{id}.md"))).unwrap())
    };
    let before = read();
    for args in [
        &["update", "port", "--tag", "x"][..],
        &["update", "other", "port", "--body", "The port is 8080."],
        &["update", "port", "--append", "More."],
        &["update", "port", "--title", "Another title"],
        &["merge", "port", "other"],
        &["merge", "other", "port"],
        &["supersede", "port", "other"],
        &["supersede", "other", "port"],
        &["link", "add", "port", "compacts", "other"],
        &["link", "add", "port", "other"],
        &["tasks", "done", "port:15"],
        &["capture", "A text.", "--supersedes", "port"],
    ] {
        let error = call(path(&dir), args).error.unwrap_or_else(|| panic!("{args:?}"));
        assert_eq!(error.kind.exit_code(), 3, "{args:?}: {}", error.message);
        assert!(error.message.contains("a merge left a conflict in line 9"), "{args:?}: {}", error.message);
        assert_eq!(
            error.hint.as_deref(),
            Some("nothing was changed; resolve it first: `qipu update port` opens your editor"),
            "{args:?}"
        );
        assert_eq!(before, read(), "{args:?}");
    }
    // A note that only leads to it may change.
    assert_eq!(call(path(&dir), &["link", "add", "other", "supports", "port"]).code(), 0);
    // A pack replaces it as a whole, or not at all.
    let other = store(&[(
        "notes/port.md",
        "---\nid: port\ntitle: Port of the server\nupdated: 2026-01-01\n---\nIt is 8080.\n",
    )]);
    let resolved = call(path(&other), &["dump", "-"]).stdout;
    let told = call_with(path(&dir), &["load", "-", "--strategy", "merge"], &resolved, &[]).stdout;
    assert!(told.contains("not merged: can't change `port`: a merge left a conflict in line 9"), "{told}");
    assert_eq!(call_with(path(&dir), &["load", "-", "--strategy", "overwrite"], &resolved, &[]).code(), 0);
    assert_eq!(call(path(&dir), &["doctor"]).code(), 0);
}

#[test]
#[ignore = "needs git"]
fn a_clone_without_the_merge_driver_is_told_of_it() {
    let repository = Repository::new();
    repository.note("a", "links: [b]\n", "Text.");
    repository.note("b", "", "Text.");
    repository.ok(&["setup", "git"]);
    let (list, doctor) = (repository.ok(&["setup"]), repository.ok(&["doctor"]));
    assert!(
        list.contains("git: current") && !list.contains("has not registered") && !doctor.contains("driver"),
        "{list}{doctor}"
    );
    repository.git(&["add", "--all"]);
    repository.git(&["commit", "--quiet", "-m", "m"]);
    repository.git(&["clone", "--quiet", ".", "clone"]);
    let clone = repository.path("clone");
    let told = |args: &[&str]| String::from_utf8(repository.qipu_in(&clone, args).stdout).unwrap();
    let remark = "his clone has not registered the merge driver that .gitattributes of the store names, so git merges notes by lines: `qipu setup git` registers it.";
    let list = told(&["setup"]);
    assert!(list.contains("git: missing (.git/config)") && list.contains(remark), "{list}");
    let doctor = told(&["doctor"]);
    assert!(doctor.contains(&format!("warning: .qipu/.gitattributes: T{remark} (no-merge-driver)")), "{doctor}");
    assert!(repository.qipu_in(&clone, &["setup", "git"]).status.success());
    assert!(!told(&["doctor"]).contains("driver") && !told(&["setup"]).contains("has not registered"));
    // Without attributes there is nothing to register.
    fs::remove_file(clone.join(".qipu/.gitattributes")).unwrap();
    repository.git(&["-C", "clone", "config", "--unset", "merge.qipu.driver"]);
    assert!(!told(&["doctor"]).contains("driver"));
}
