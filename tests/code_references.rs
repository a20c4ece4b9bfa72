//! References of notes to code: what `update --code`, `review`, `about` and the marks in answers do, in repositories that
//! are honest, hostile or absent. specs/internals/reliability.md has the rules.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::files::temp_dir;
use crate::support::repository::{REVIEW_CODE, Repository};

const SOURCE: &str = "use std::fs;\n\npub fn run(x: u8) {\n    work(x);\n}\n\npub fn other() {\n    run(1);\n}\n";

/// A repository with two source files and a note without references.
fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("src/a.rs", SOURCE);
    repository.write("src/b.rs", &"let line = 1;\n".repeat(30));
    repository.commit();
    repository.note("n1", "", "Text.");
    repository
}

#[test]
#[ignore = "needs git"]
fn a_reference_records_path_line_text_and_commit() {
    let repository = repository();
    let head = repository.git(&["rev-parse", "HEAD"]);
    let head = head.trim();
    let before = repository.read_note("n1");
    repository.ok(&["update", "n1", "--code", "src/a.rs#run"]);
    repository.ok(&["update", "n1", "--code", "src/a.rs:4"]);
    repository.ok(&["update", "n1", "--code", "./src/b.rs"]);
    let references = format!(
        "code:\n  - path: src/a.rs\n    symbol: run\n    line: 3\n    text: \"pub fn run(x: u8) {{\"\n    commit: {head}\n  \
         - path: src/a.rs\n    line: 4\n    text: \"    work(x);\"\n    commit: {head}\n  \
         - path: src/b.rs\n    commit: {head}\n"
    );
    let expected = before.replace("title: Note n1\n", &format!("title: Note n1\n{references}updated: 2026-11-24\n"));
    // A commit of digits alone, or that begins with 0, is quoted. The hash is that of the whole function.
    let read = || {
        let text = repository.read_note("n1").replace(&format!("\"{head}\""), head);
        let lines = text.split_inclusive('\n').filter(|line| !line.starts_with("    hash: "));
        (text.matches("    hash: ").count(), lines.collect::<String>())
    };
    let (hashes, after) = read();
    assert_eq!(hashes, 1, "{after}");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(after.contains(&references), "{after}");
    assert_eq!(sorted(&after), sorted(&expected));
    // The same reference again changes nothing; an item that is a text becomes a reference.
    repository.ok(&["update", "n1", "--code", "src/a.rs:4"]);
    assert_eq!(read(), (1, after));
    repository.note("n2", "code: [\"src/a.rs:4\"]\n", "Text.");
    repository.ok(&["update", "n2", "--code", "src/a.rs:4"]);
    assert_eq!(repository.read_note("n2").matches("src/a.rs").count(), 1);
    assert!(repository.stale().is_empty());
}

#[test]
#[ignore = "needs git"]
fn lines_with_tabs_are_recorded_as_they_are() {
    let repository = repository();
    repository.write("main.go", "func main() {\n\tgo\trun(1)\t\n}\n");
    repository.commit();
    repository.ok(&["update", "n1", "--code", "main.go:2"]);
    assert!(repository.stale().is_empty());
    repository.write("main.go", "// New.\nfunc main() {\n\tgo\trun(1)\n}\n");
    assert_eq!(repository.stale(), ["n1: code-moved: `main.go:2` is now main.go:3"]);
    repository.ok(&["review", "--kind", "code", "--fix"]);
    assert!(repository.stale().is_empty());
    repository.write("main.go", "func main() {\n    go run(1)\n}\n");
    assert_eq!(repository.stale(), ["n1: code-changed: `main.go:3` changed and is not committed"]);
}

/// A file of each language: what is before the body of `run`, a line of that body, and what is after it. Neither a comment
/// nor the form of the code is a change, and neither is a change of what is around the symbol.
const LANGUAGES: [(&str, &str, &str, &str, &str); 10] = [
    ("a.rs", "pub fn run(n: u32) -> bool {\n", "    charge(3);", "\n    true\n}\n\nfn next() {}\n", "//"),
    ("a.py", "def run(n):\n", "    charge(3)", "\n    return True\n\ndef next(): pass\n", "#"),
    ("a.js", "export const run = async (n) => {\n", "  charge(3);", "\n};\nfunction next() {}\n", "//"),
    ("a.ts", "class A {\n  run(n: number): boolean {\n", "    charge(3)", "\n  }\n  next() {}\n}\n", "//"),
    ("a.go", "func (s *S) run(n int) {\n", "\tcharge(3)", "\n}\n\nfunc next() {}\n", "//"),
    ("a.c", "int run(int n);\n\nint\nrun(int n)\n{\n", "  charge(3);", "\n}\nint next;\n", "//"),
    ("a.cpp", "bool A::run(int n) {\n", "  charge(3);", "\n}\nvoid next() {}\n", "//"),
    ("a.java", "class A {\n  public int run(int n) {\n", "    charge(3);", "\n  }\n  int next;\n}\n", "//"),
    ("a.rb", "class A\n  def run(n)\n", "    charge 3", "\n  end\n\n  def next; end\nend\n", "#"),
    ("a.sh", "run() {\n", "  charge 3", "\n}\n\nnext() { :; }\n", "#"),
];

#[test]
#[ignore = "needs git"]
fn a_reference_on_a_symbol_sees_its_body() {
    let repository = repository();
    for (path, head, line, rest, _) in LANGUAGES {
        repository.write(path, &format!("{head}{line}{rest}"));
    }
    repository.write("a.md", "# Guide\n\n## Limits of run\nThree.\n\n### Why\nIt is enough.\n\n## Next\n");
    repository.commit();
    for (path, ..) in LANGUAGES {
        repository.ok(&["update", "n1", "--code", &format!("{path}#run")]);
    }
    repository.ok(&["update", "n1", "--code", "a.md#limits-of-run"]);
    repository.ok(&["update", "n1", "--code", "a.rs:1"]);
    // A reference of an earlier version has no hash: what it was is in the history.
    let without_hashes =
        |text: &str| -> String { text.split_inclusive('\n').filter(|line| !line.starts_with("    hash: ")).collect() };
    let old = without_hashes(&repository.read_note("n1")).replace("id: n1", "id: n2");
    repository.write(".qipu/notes/n2.md", &old);
    assert_eq!(repository.ok(REVIEW_CODE), "Nothing to review.\n");
    for (path, head, line, rest, comment) in LANGUAGES {
        let code = format!("{head}{line} {comment} Three: enough.\n\n{}", rest.trim_start_matches('\n'));
        repository.write(path, &code.replace("next", "other"));
    }
    repository
        .write("a.md", "# Guide\n\n## Limits of run\nThree. <!-- Enough? -->\n\n### Why\nIt is\nenough.\n\n## Other\n");
    repository.commit();
    assert_eq!(repository.stale(), [""; 0]);
    assert!(!repository.ok(&["context", "--note", "n1", "--records"]).contains("due=code"));
    for (path, head, line, rest, _) in LANGUAGES {
        repository.write(path, &format!("{head}{}{rest}", line.replace('3', "99")));
    }
    repository.write("a.md", "# Guide\n\n## Limits of run\nThree.\n\n### Why\nIt is too much.\n\n## Next\n");
    let commit = repository.commit();
    let found = repository.stale();
    for note in ["n1", "n2"] {
        for path in
            LANGUAGES.iter().map(|language| format!("{}#run", language.0)).chain(["a.md#limits-of-run".to_owned()])
        {
            let start =
                format!("{note}: code-changed: `{path}` changed (1 line) in commit {}; it is now in ", &commit[..12]);
            assert!(found.iter().any(|found| found.starts_with(&start)), "{start}: {found:?}");
        }
    }
    assert_eq!(found.len(), 2 * (LANGUAGES.len() + 1), "a line is a line: {found:?}");
    assert!(repository.ok(&["context", "--note", "n1", "--records"]).contains("due=code"));
    repository.ok(&["update", "n1", "--verified", "true"]);
    repository.ok(&["update", "n2", "--verified", "true"]);
    assert_eq!(repository.ok(REVIEW_CODE), "Nothing to review.\n");
    assert_ne!(without_hashes(&repository.read_note("n2")), repository.read_note("n2"));
}

/// What is not compared is not said to hold.
#[test]
fn references_that_are_not_compared_are_counted() {
    let dir = temp_dir();
    fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
    fs::write(dir.path().join("a.rs"), "fn run() {\n    a();\n}\n").unwrap();
    let run = |args: &[&str]| {
        let mut qipu = Command::new(env!("CARGO_BIN_EXE_qipu"));
        let output = qipu.args(args).current_dir(dir.path()).env_clear().output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let old = "---\nid: n1\ncode:\n  - {path: a.rs, symbol: run, line: 1, text: 'fn run() {'}\n---\nSee a.rs:2.\n";
    fs::write(dir.path().join(".qipu/notes/n1.md"), old).unwrap();
    let (answer, warnings) = run(REVIEW_CODE);
    assert_eq!(answer, "Nothing to review.\n");
    assert!(warnings.starts_with("warning: 2 references could not be compared: "), "{warnings}");
    fs::write(dir.path().join(".qipu/notes/n1.md"), old.replace("See a.rs:2.", "Text.")).unwrap();
    run(&["update", "n1", "--code", "a.rs#run"]);
    assert_eq!(run(REVIEW_CODE), ("Nothing to review.\n".to_owned(), String::new()));
    fs::write(dir.path().join("a.rs"), "fn run() {\n    b();\n}\n").unwrap();
    let (answer, _) = run(REVIEW_CODE);
    assert!(answer.contains("`a.rs#run` changed; it is now in a.rs:1"), "{answer}");
}

#[test]
#[ignore = "needs git"]
fn a_reference_does_not_move_to_another_function() {
    let repository = repository();
    let (a, b) = ("impl A {\n    fn new() {\n    }\n}\n", "impl B {\n    fn new() {\n    }\n}\n");
    repository.write("n.rs", &format!("{a}{b}"));
    repository.commit();
    repository.ok(&["update", "n1", "--code", "n.rs#B::new"]);
    assert!(repository.read_note("n1").contains("line: 6"));
    let refused = repository.refused(&["update", "n1", "--code", "n.rs#C::new"]);
    assert!(refused.contains("no line of `n.rs` is recognised as `C::new`\nhint: name the line"), "{refused}");
    // Without the type, it is now in one of two lines: not fixed.
    repository.note("n2", "", "Text.");
    repository.ok(&["update", "n2", "--code", "n.rs#new"]);
    repository.write("n.rs", &format!("\n{a}{b}"));
    let perhaps = "n2: code-moved: `n.rs#new` is perhaps now n.rs:3";
    assert_eq!(repository.stale(), ["n1: code-moved: `n.rs#B::new` is now n.rs:7", perhaps]);
    let before = repository.read_note("n2");
    repository.ok(&["review", "--kind", "code", "--fix"]);
    assert_eq!((repository.stale().as_slice(), repository.read_note("n2")), ([perhaps.to_owned()].as_slice(), before));
    fs::remove_file(repository.path(".qipu/notes/n2.md")).unwrap();
    // The other line is that of `A`.
    repository.write("n.rs", a);
    assert_eq!(repository.stale(), ["n1: code-gone: `n.rs#B::new` is gone and is not committed"]);
    repository.write("n.rs", &format!("{a}{}", b.replace("()", "(x: u8)")));
    let changed = "n1: code-changed: `n.rs#B::new` changed (1 line) and is not committed; it is now in n.rs:6";
    assert_eq!(repository.stale(), [changed]);
}

#[test]
#[ignore = "needs git"]
fn a_reference_is_refused_where_it_could_not_be_found_again() {
    let repository = repository();
    repository.write("new.rs", "fn new() {}\n");
    repository.write("long.rs", &"fn a() {}\n".repeat(200_000));
    symlink("a.rs", repository.path("src/link.rs")).unwrap();
    symlink("src", repository.path("folder")).unwrap();
    repository.git(&["add", "long.rs", "src/link.rs", "folder"]);
    for (target, reason) in [
        ("src/a.rs:5", "line 5 of `src/a.rs` can't be recognised again"),
        ("src/a.rs:99", "`src/a.rs` has no line 99\nhint: its last line is 9"),
        ("src/a.rs#rum", "`src/a.rs` contains no word `rum`\nhint: similar: `run`"),
        ("new.rs:1", "`new.rs` is not a tracked file\nhint: a code reference names a regular file that git tracks"),
        ("src/link.rs:1", "`src/link.rs` is not a tracked file"),
        ("folder/a.rs:1", "`folder/a.rs` is not a tracked file"),
        ("long.rs:1", "`long.rs` is longer than 1048576 bytes"),
        ("../x.rs:1", "`../x.rs` is not a file of the project"),
        ("/etc/passwd.x:1", "`/etc/passwd.x` is not a file of the project"),
        (".git/config.x:1", "`.git/config.x:1` names no file, line or symbol"),
        ("src/a.rs:0", "`src/a.rs:0` names no file, line or symbol"),
        ("src/a.rs#a b", "`src/a.rs#a b` names no file, line or symbol"),
    ] {
        let message = repository.refused(&["update", "n1", "--code", target]);
        assert!(message.contains(reason), "{target}: {message}");
    }
    assert!(!repository.read_note("n1").contains("code:"));
}

#[test]
#[ignore = "needs git"]
fn what_merely_moved_is_fixed_and_what_changed_is_verified() {
    let repository = repository();
    for target in ["src/a.rs#run", "src/a.rs:8", "src/b.rs:3"] {
        repository.ok(&["update", "n1", "--code", target]);
    }
    repository.note(
        "n2",
        "updated: 2026-11-24\n",
        "See `src/a.rs:8` and src/a.rs#other, not src/gone.rs:3 or docs/a.md#x.",
    );
    repository.git(&["mv", "src/a.rs", "src/c.rs"]);
    repository.commit();
    repository.write("src/c.rs", &format!("// A new line.\n{}", SOURCE.replace("x: u8", "x: u16")));
    let commit = repository.commit();
    let (commit, last) = (&commit[..12], "; it is now in src/c.rs:4");
    let changed = format!("n1: code-changed: `src/a.rs#run` changed (1 line) in commit {commit}{last}");
    let expected = [
        changed.clone(),
        "n1: code-moved: `src/a.rs:8` is now src/c.rs:9".to_owned(),
        "n2: code-moved: `src/a.rs:8` is now src/c.rs:8".to_owned(),
        "n2: code-moved: `src/a.rs#other` is now src/c.rs:8".to_owned(),
    ];
    let found = repository.stale();
    assert_eq!(found[..2], expected[..2]);
    // The note is of today, so that no text is known of a file that HEAD no longer has.
    assert!(found[2..].iter().all(|found| found.starts_with("n2: code-moved: `src/a.rs")), "{found:?}");
    let strict = repository.qipu(&["review", "--kind", "code,due", "--strict"]);
    assert_eq!(strict.status.code(), Some(3));
    // A dry run shows the change and makes none.
    let before = repository.read_note("n1");
    let shown = repository.ok(&["review", "--kind", "code", "--fix", "--dry-run"]);
    assert!(shown.contains("-  - path: src/a.rs") || shown.contains("-    line: 8"), "{shown}");
    assert_eq!(repository.read_note("n1"), before);
    assert!(!repository.ok(&["doctor"]).contains("code-"));
    repository.ok(&["review", "--kind", "code", "--fix"]);
    assert_eq!(repository.stale()[0], changed);
    assert!(!repository.stale().iter().any(|found| found.starts_with("n1: code-moved")));
    let listed = repository.ok(&["review", "--kind", "code"]);
    assert_eq!(repository.ok(&["review", "--kind", "code", "--fix"]), listed);
    // Marks, in every format.
    for format in ["records", "prompt", "human", "json"] {
        let answer = repository.ok(&["context", "--note", "n1", "--format", format]);
        let mark = match format {
            "records" => " due=code",
            "json" => "\"due\":\"code\"",
            _ => "code changed",
        };
        assert!(answer.contains(mark), "{format}: {answer}");
    }
    assert!(repository.ok(&["show", "n1"]).contains("[code changed]"));
    repository.ok(&["update", "n1", "--verified", "true"]);
    assert!(!repository.stale().iter().any(|found| found.starts_with("n1")), "{:?}", repository.stale());
    assert!(!repository.ok(&["context", "--note", "n1", "--records"]).contains("due="));
}

#[test]
#[ignore = "needs git"]
fn a_permalink_names_the_line_at_its_commit() {
    let repository = repository();
    let head = repository.git(&["rev-parse", "HEAD"]);
    let link = format!("https://forge.example/o/r/blob/{}/src/a.rs", head.trim());
    repository.note("n1", "", &format!("See {link}#L3 and <{link}#L4>, and {}#L3.", link.replace("src/a", "src/z")));
    repository.write("src/a.rs", &format!("\n{}", SOURCE.replace("work(x)", "work(x, 1)")));
    assert_eq!(repository.stale(), ["n1: code-changed: `src/a.rs:4` changed and is not committed"]);
}

#[test]
#[ignore = "needs git"]
fn days_are_due_and_retired_notes_are_not_checked() {
    let repository = repository();
    repository.note("n1", "stale_after: 2026-11-24\n", "Text.");
    repository.note("n2", "status: rejected\ncode: [{path: src/a.rs, line: 3, text: gone}]\n", "Text.");
    repository.note("n3", "type: journal\n", "src/a.rs:900");
    assert_eq!(repository.stale(), ["n1: due: due since 2026-11-24"]);
    let all = repository.ok(REVIEW_CODE);
    assert_eq!(repository.ok(&[REVIEW_CODE, &["n1"]].concat()), all);
    assert_eq!(repository.ok(&[REVIEW_CODE, &["n2"]].concat()), "Nothing to review.\n");
    repository.note("n1", "code: [{path: src/a.rs, line: 3, text: gone}]\nstale_after: 2026-11-24\n", "Text.");
    let answer = repository.ok(&["context", "--note", "n1", "--records"]);
    assert!(answer.contains(" due=code,2026-11-24"), "{answer}");
}

#[test]
fn without_git_the_files_alone_decide() {
    let dir = temp_dir();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at(".qipu/notes")).unwrap();
    fs::create_dir_all(at("src")).unwrap();
    fs::write(at("src/a.rs"), format!("\n{SOURCE}")).unwrap();
    let item = |path: &str, line: usize, text: &str| format!("  - {{path: {path}, line: {line}, text: '{text}'}}\n");
    let items = [
        item("src/a.rs", 4, "pub fn run(x: u8) {"),
        item("src/a.rs", 3, "pub fn run(x: u8) {"),
        item("src/a.rs", 2, "was here"),
        item("src/gone.rs", 2, "was here"),
        item(".qipu/notes/n1.md", 2, "id: n1"),
        "  - {path: src/a.rs, symbol: run, line: 1, text: 'fn run() {'}\n".to_owned(),
        "  - {path: src/a.rs, symbol: ran, line: 1, text: 'fn ran() {'}\n".to_owned(),
        "  - src/a.rs:2\n  - src/a.rs:99\n  - src/a.rs#nothing\n  - ../up.rs:1\n  - 7\n".to_owned(),
    ];
    fs::write(at(".qipu/notes/n1.md"), format!("---\nid: n1\ncode:\n{}---\nsrc/x.rs:1\n", items.concat())).unwrap();
    let mut qipu = Command::new(env!("CARGO_BIN_EXE_qipu"));
    let output = qipu.args(REVIEW_CODE).arg("--records").current_dir(dir.path()).env_clear().output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let messages: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("reason=\"")).map(|(_, rest)| rest).collect();
    let expected = [
        "`src/gone.rs:2` is gone\"",
        "`.qipu/notes/n1.md:2` is gone\"",
        "`src/a.rs#ran` is gone\"",
        "`src/a.rs#nothing` is gone\"",
        "`src/a.rs:2` changed\"",
        "`src/a.rs#run` changed; it is now in src/a.rs:4\"",
        "`src/a.rs:99` changed\"",
        "`src/a.rs:3` is now src/a.rs:4\"",
    ];
    assert_eq!(messages.len(), expected.len(), "{text}");
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.starts_with(expected), "{message}: {expected}");
    }
}

/// A repository whose configuration and files try to have something run or read.
#[test]
#[ignore = "needs git"]
fn a_hostile_repository_runs_and_shows_nothing() {
    let repository = repository();
    let pwned = repository.path("pwned");
    let trap = repository.path("trap.sh");
    fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\n", pwned.display())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&trap, mode).unwrap();
    let trap = trap.to_str().unwrap();
    for target in ["src/a.rs#run", "src/a.rs:4", "src/b.rs:3"] {
        repository.ok(&["update", "n1", "--code", target]);
    }
    repository.write("src/a.rs", "nothing\n");
    repository.write(".gitattributes", "* diff=evil filter=evil\n");
    repository.git(&["mv", "src/b.rs", "src/z.rs"]);
    repository.commit();
    for key in [
        "core.fsmonitor", "diff.evil.textconv", "diff.evil.command", "diff.external", "filter.evil.smudge",
        "filter.evil.clean", "core.pager", "core.sshCommand", "core.editor", "log.showSignature", "gpg.program",
        "core.hooksPath", "credential.helper", "alias.rev-list", "alias.cat-file",
    ] {
        repository.git(&["config", key, trap]);
    }
    let _ = fs::remove_file(&pwned);
    let found = repository.stale();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("n1: code-gone: `src/a.rs#run` is gone in commit"), "{found:?}");
    repository.ok(&["context", "--note", "n1", "--records"]);
    repository.ok(&["doctor"]);
    assert!(!pwned.exists());
    // The environment of the caller names no other repository.
    let other = Repository::new();
    let mut command = repository.qipu_command();
    let variables =
        [("GIT_DIR", other.path(".git")), ("GIT_WORK_TREE", other.path("")), ("GIT_INDEX_FILE", other.path("x"))];
    let output =
        command.args(REVIEW_CODE).arg("--json").envs(variables).env("GIT_EXTERNAL_DIFF", trap).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), repository.ok(&[REVIEW_CODE, &["--json"]].concat()));
    assert!(!pwned.exists());
}

#[test]
#[ignore = "needs git"]
fn links_pipes_and_submodules_are_gone_and_never_read() {
    let repository = repository();
    fs::create_dir_all(repository.path("sub")).unwrap();
    repository.write("sub/x.rs", SOURCE);
    repository.commit();
    let outside = temp_dir();
    fs::write(outside.path().join("x.rs"), SOURCE).unwrap();
    let item = |path: &str| format!("  - {{path: {path}, line: 3, text: 'pub fn run(x: u8) {{'}}\n");
    let paths = ["src/a.rs", "sub/x.rs", "src/b.rs", "module", "module/x.rs", ".git/config", "../x.rs", "/etc/passwd"];
    let items: String = paths.into_iter().map(item).collect();
    repository.note("n1", &format!("code:\n{items}"), "Text.");
    fs::remove_file(repository.path("src/a.rs")).unwrap();
    assert!(Command::new("mkfifo").arg(repository.path("src/a.rs")).status().unwrap().success());
    fs::remove_dir_all(repository.path("sub")).unwrap();
    symlink(outside.path(), repository.path("sub")).unwrap();
    let head = repository.git(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{},module", head.trim());
    repository.git(&["update-index", "--add", "--cacheinfo", &entry]);
    fs::create_dir_all(repository.path("module")).unwrap();
    repository.write("module/x.rs", SOURCE);
    let found = repository.stale();
    let expected = [
        "n1: code-gone: `src/a.rs:3` is gone and is not committed",
        "n1: code-gone: `sub/x.rs:3` is gone and is not committed",
        "n1: code-gone: `module/x.rs:3` is gone",
        "n1: code-changed: `src/b.rs:3` changed",
    ];
    assert_eq!(found, expected);
    assert!(repository.ok(&["context", "--note", "n1", "--records"]).contains("due=code"));
}

#[test]
#[ignore = "needs git"]
fn every_form_of_the_index_gives_the_same_answer() {
    let repository = repository();
    repository.ok(&["update", "n1", "--code", "src/a.rs:4"]);
    repository.ok(&["update", "n1", "--code", "src/b.rs:3"]);
    repository.write("src/a.rs", "nothing\n");
    let (findings, marked) = (repository.stale(), " due=code");
    let context = || repository.ok(&["context", "--note", "n1", "--records"]);
    assert!(context().contains(marked) && findings.len() == 1, "{findings:?}");
    for version in ["2", "3", "4"] {
        repository.git(&["update-index", "--index-version", version]);
        repository.git(&["update-index", "--skip-worktree", "src/b.rs"]);
        assert!(context().contains(marked), "version {version}");
        assert_eq!(repository.stale(), findings);
    }
    // A form that is not read here: nothing is marked, and git is asked.
    repository.git(&["update-index", "--split-index"]);
    assert!(!context().contains(marked));
    assert_eq!(repository.stale(), findings);
    fs::write(repository.path(".git/index"), "DIRC").unwrap();
    assert!(!context().contains(marked));
}

#[test]
#[ignore = "needs git"]
fn about_lists_decisions_and_warnings_first_then_the_closest_reference() {
    let repository = repository();
    repository.note("n1", "value: 90\n", "The file src/a.rs is old.");
    repository.note("n2", "", "Text.");
    repository.ok(&["update", "n2", "--code", "src/a.rs#run"]);
    repository.note("n3", "", "Text.");
    repository.ok(&["update", "n3", "--code", "src/a.rs:8"]);
    repository.note("n4", "type: decision\n", "We keep `src/a.rs`.");
    repository.note("n5", "", "See src/b.rs.");
    repository.note("n6", "status: rejected\n", "See src/a.rs.");
    let ids = |args: &[&str]| -> Vec<String> {
        let answer = repository.ok(&[&["about"], args, &["--records"]].concat());
        let names = answer.lines().filter_map(|line| line.strip_prefix("N "));
        names.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["src/a.rs:8"]), ["n4", "n3", "n2", "n1"]);
    assert_eq!(ids(&["src/a.rs:1"]), ["n4", "n2", "n3", "n1"]);
    assert_eq!(ids(&["src/a.rs#run"]), ["n2"]);
    assert_eq!(ids(&["src/b.rs"]), ["n5"]);
    assert_eq!(ids(&["src/"]), ["n4", "n2", "n3", "n1", "n5"]);
    assert_eq!(ids(&["src", "--limit", "2"]), ["n4", "n2"]);
    assert_eq!(ids(&["src/none.rs"]), Vec::<String>::new());
}
