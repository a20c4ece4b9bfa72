//! The revision of a note: reading gives it, and a change that names another one is refused.

use std::fs;

use serde_json::Value;

use crate::support::files::{path, store};
use crate::support::process::{Answer, call};
#[cfg(unix)]
use crate::support::repository::Repository;

const NOTE: &str = "---\nid: a\ntitle: Status\n---\nFirst.\n";

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).unwrap()
}

fn shown(dir: &tempfile::TempDir) -> String {
    json(&call(path(dir), &["show", "a", "--json"]))["notes"][0]["revision"].as_str().unwrap().to_owned()
}

fn text(dir: &tempfile::TempDir) -> String {
    fs::read_to_string(dir.path().join(".qipu/notes/a.md")).unwrap()
}

#[test]
fn each_way_to_read_a_note_gives_the_same_revision() {
    let dir = store(&[("notes/a.md", NOTE)]);
    let run = |args: &[&str]| call(path(&dir), args).stdout;
    let revision = shown(&dir);
    assert_eq!(revision, "129652beffda");
    let records = run(&["show", "a", "--records"]);
    assert!(records.contains(&format!(" revision={revision}\nB a lines=1\n")), "{records}");
    let bundle = run(&["context", "--note", "a", "--with-body", "--json"]);
    assert!(bundle.contains(&format!("\"revision\":\"{revision}\"")), "{bundle}");
    // They are read by people, or have no room for it.
    for args in [
        &["show", "a"][..],
        &["list", "--json"],
        &["search", "first", "--json"],
        &["ask", "first", "--json"],
        &["context", "--note", "a", "--json"],
        &["context", "--note", "a", "--with-body", "--records"],
    ] {
        assert!(!run(args).to_lowercase().contains("revision"), "{args:?}");
    }
    // A file that is not UTF-8 is not shown as it is.
    fs::write(dir.path().join(".qipu/notes/a.md"), b"---\nid: a\n---\n\xff\n").unwrap();
    assert!(!run(&["show", "a", "--json"]).contains("revision"));
}

#[test]
fn a_change_that_names_another_revision_is_refused() {
    let dir = store(&[("notes/a.md", NOTE)]);
    let run = |args: &[&str]| call(path(&dir), args);
    let read = shown(&dir);
    let first = run(&["update", "a", "--body", "Second.", "--if", &read, "--json"]);
    let next = json(&first)["changes"][0]["revision"].as_str().unwrap().to_owned();
    assert_eq!(next, shown(&dir));
    let written = text(&dir);
    for args in [
        &["update", "a", "--body", "Third."][..],
        &["update", "a", "--replace", "First", "Third"],
        &["update", "a", "--tag", "x", "--dry-run"],
        &["update", "Status", "--title", "Another"],
        &["delete", "a"],
        &["delete", "a", "--force"],
    ] {
        let error = run(&[args, &["--if", &read]].concat()).error.unwrap();
        assert_eq!((error.kind.name(), error.kind.exit_code()), ("conflict", 1), "{args:?}");
        assert_eq!(error.message, format!("`a` is no longer revision {read}: it is {next} now"));
        let hint = format!("nothing was written; read it with `qipu show a`, then repeat with `--if {next}`");
        assert_eq!(error.hint.as_ref(), Some(&hint));
        assert_eq!(text(&dir), written, "{args:?}");
    }
    let records = run(&["update", "a", "--append", "Third.", "--if", &next.to_uppercase(), "--records"]).stdout;
    assert!(records.contains(&format!(" revision={} from=a\n", shown(&dir))), "{records}");
    let unchanged = run(&["update", "a", "--append", "Third.", "--if", &next]);
    assert_eq!(unchanged.code(), 1);
    assert_eq!(run(&["delete", "a", "--if", &shown(&dir)]).stdout, "a deleted .qipu/notes/a.md\n");
}

#[test]
fn a_wrong_revision_and_several_notes_are_wrong_calls() {
    let dir = store(&[("notes/a.md", NOTE), ("notes/b.md", "---\nid: b\n---\n")]);
    let error = |args: &[&str]| {
        let error = call(path(&dir), args).error.unwrap();
        assert_eq!(error.kind.exit_code(), 2, "{args:?}: {error:?}");
        error.message
    };
    let revision = shown(&dir);
    for wrong in ["1", "129652beffd", "129652beffdaa", "129652beffdx", "HEAD"] {
        let expected = "expected the 12 hexadecimal digits of `revision` in `qipu show ID --json`";
        let message = error(&["update", "a", "--tag", "x", "--if", wrong]);
        assert_eq!(message, format!("invalid value '{wrong}' for '--if <REV>': {expected}"));
        assert!(error(&["delete", "a", "--if", wrong]).ends_with(expected));
    }
    assert_eq!(error(&["update", "a", "b", "--tag", "x", "--if", &revision]), "a revision is for one note");
    assert_eq!(error(&["delete", "a", "b", "--if", &revision]), "a revision is for one note");
    error(&["update", "--where", "tag = x", "--tag", "y", "--if", &revision]);
    assert_eq!(error(&["update", "a", "--if", &revision]), "nothing to change");
    assert_eq!(text(&dir), NOTE);
}

/// The check and the write are one step: of writers that have read the same text, one writes.
#[test]
fn of_many_writers_with_one_revision_one_writes() {
    let dir = store(&[("notes/a.md", NOTE)]);
    let revision = shown(&dir);
    let write = |number: usize| {
        let added = format!("By {number}.");
        call(path(&dir), &["update", "a", "--append", &added, "--if", &revision]).error.map(|error| error.kind.name())
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8).map(|number| scope.spawn(move || write(number))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_none()).count(), 1, "{results:?}");
    assert!(results.iter().flatten().all(|kind| *kind == "conflict"), "{results:?}");
    assert_eq!(text(&dir).matches("By ").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_refusal_says_what_changed_since_a_committed_revision() {
    let repository = Repository::new();
    repository.note("a", "", "One.\n\nTwo.");
    repository.git(&["add", "--all"]);
    repository.git(&["commit", "--quiet", "-m", "m"]);
    let read = json_of(&repository.qipu(&["show", "a", "--json"]).stdout)["notes"][0]["revision"].clone();
    let refused = || {
        let output = repository.qipu(&["update", "a", "--tag", "y", "--if", read.as_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap().lines().next().unwrap().to_owned()
    };
    repository.note("a", "tags: [x]\nstatus: draft\n", "One.\n\nThree.\n\nFour.");
    assert!(refused().ends_with(" now; changed since: tags, status, the text (+3 −1 lines)"), "{}", refused());
    repository.git(&["commit", "--quiet", "--all", "-m", "m"]);
    repository.note("a", "", "One.\n\nTwo.\n");
    assert!(refused().ends_with(" now; changed since: the text (+1 −0 lines)"), "{}", refused());
}

#[cfg(unix)]
fn json_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}
