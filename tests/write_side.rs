//! Commands that change notes, in process: digests, merges, editing, repairs.

#![allow(clippy::unwrap_used, clippy::panic, clippy::string_slice, missing_docs)]

mod process;

use std::fs;

use process::call;

fn store(notes: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in notes {
        let file = dir.path().join(".qipu").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    dir
}

fn path(dir: &tempfile::TempDir) -> &str {
    dir.path().to_str().unwrap()
}

fn text(dir: &tempfile::TempDir, file: &str) -> String {
    fs::read_to_string(dir.path().join(".qipu").join(file)).unwrap()
}

/// The notes of records, in their order.
fn names(records: &str) -> Vec<&str> {
    let notes = records.lines().filter(|line| line.starts_with("N ") || line.starts_with("M "));
    notes.map(|line| line.split(' ').nth(1).unwrap()).collect()
}

fn lines<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(prefix)).collect()
}

fn digests() -> tempfile::TempDir {
    store(&[
        ("notes/a.md", "---\nid: a\ntitle: A\nvalue: 90\ntags: [t]\n---\nApple. [[x]]\n"),
        ("notes/b.md", "---\nid: b\ntitle: B\nvalue: 80\ntags: [t]\n---\nApple. [[a]] [[y]]\n"),
        ("notes/c.md", "---\nid: c\ntitle: C\nvalue: 70\ntags: [t]\n---\nApple.\n"),
        ("notes/d.md", "---\nid: d\ntitle: The digest\n---\nWhat a and b say.\n"),
        ("notes/x.md", "---\nid: x\ntitle: X\nlinks: [{type: supports, id: b}]\n---\n"),
        ("notes/y.md", "---\nid: y\ntitle: Y\n---\n[[z]]\n"),
        ("notes/z.md", "---\nid: z\ntitle: Z\nupdated: 2025-03-01\n---\n"),
    ])
}

#[test]
fn a_digest_stands_for_its_notes_until_it_is_undone() {
    let dir = digests();
    let run = |args: &[&str]| call(path(&dir), args);
    let tagged = ["context", "--tag", "t", "--records"];
    let before = run(&tagged).stdout;
    assert_eq!(names(&before), ["a", "b", "c"]);
    assert_eq!(run(&["compact", "d", "a", "b", "--today", "2025-03-31"]).stdout, "d changed .qipu/notes/d.md\n");
    assert!(text(&dir, "notes/d.md").contains("updated: 2025-03-31\n") && text(&dir, "notes/d.md").contains("[a, b]"));
    assert_eq!(run(&["compact", "d", "b"]).stdout, "d unchanged .qipu/notes/d.md\n");

    let bundle = run(&tagged).stdout;
    assert_eq!(names(&bundle), ["d", "c"], "at the place of the first of its notes");
    assert_eq!(lines(&bundle, "D compacted"), ["D compacted a from=d", "D compacted b from=d"]);
    assert_eq!(names(&run(&["context", "--tag", "t", "--records", "--no-compaction"]).stdout), ["a", "b", "c"]);
    let named = run(&["context", "--note", "b", "--note", "c", "--records"]).stdout;
    assert_eq!(names(&named), ["b", "d", "c"], "a note that is named is shown, and its digest too");
    assert_eq!(names(&run(&["context", "--query", "apple", "--records"]).stdout), ["c", "d"]);
    assert_eq!(names(&run(&["context", "--moc", "b", "--records"]).stdout), ["d", "y"]);

    let tree = run(&["link", "tree", "a", "--records"]).stdout;
    assert_eq!(names(&tree), ["d", "x", "y", "z"], "the digest has the links of its notes");
    assert_eq!(
        lines(&tree, "E "),
        ["E d related x inline", "E d supported-by x virtual", "E d related y inline", "E y related z inline"]
    );
    assert_eq!(lines(&tree, "D compacted").len(), 2);
    assert_eq!(
        names(&run(&["link", "tree", "a", "--no-compaction", "--max-hops", "1", "--records"]).stdout),
        ["a", "b", "x"]
    );
    assert_eq!(names(&run(&["link", "path", "x", "z", "--records"]).stdout), ["x", "d", "y", "z"]);
    assert!(run(&["link", "list", "d"]).stdout.starts_with("The digest (d) [stands for a, b]\n"));
    let json = run(&["context", "--tag", "t", "--json"]).stdout;
    assert!(json.contains("\"compacts\":[\"a\",\"b\"]"), "{json}");

    let primed = run(&["prime", "--records"]).stdout;
    assert!(!names(&primed).contains(&"a") && names(&primed).contains(&"d"), "{primed}");
    assert!(names(&run(&["prime", "--records", "--no-compaction"]).stdout).contains(&"a"));

    assert_eq!(run(&["delete", "a"]).code(), 1, "a digest refers to it");
    assert_eq!(run(&["compact", "--undo", "d", "a", "b"]).code(), 0);
    assert_eq!(run(&tagged).stdout, before);
}

#[test]
fn digests_stand_for_digests_but_not_in_a_circle() {
    let dir = digests();
    let run = |args: &[&str]| call(path(&dir), args);
    assert_eq!((run(&["compact", "d", "a"]).code(), run(&["compact", "c", "d"]).code()), (0, 0));
    let bundle = run(&["context", "--tag", "t", "--records"]).stdout;
    assert_eq!(names(&bundle), ["c", "b"]);
    assert_eq!(lines(&bundle, "D compacted"), ["D compacted d from=c"]);
    assert_eq!(names(&run(&["context", "--note", "a", "--records"]).stdout), ["a", "c"]);
    for refused in [["compact", "a", "c"], ["compact", "a", "a"], ["compact", "z", "a"]] {
        let answer = run(&refused);
        assert_eq!(answer.code(), 2, "{refused:?}: {}", answer.stdout);
    }
    // What people write by hand is read as far as it makes sense, and doctor tells the rest.
    fs::write(dir.path().join(".qipu/notes/a.md"), "---\nid: a\ntitle: A\ntags: [t]\ncompacts: [c, nobody]\n---\n")
        .unwrap();
    assert_eq!(names(&run(&["context", "--tag", "t", "--records"]).stdout), ["b", "a"], "the first by id wins");
    let findings = run(&["doctor"]).stdout;
    assert_eq!(findings.matches("broken-digest").count(), 2, "{findings}");
}
