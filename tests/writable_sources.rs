//! Commands that change documents where they lie: only in a source that is writable, only the bytes concerned, and not in a
//! file whose fields are not YAML.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::files::{path, store, temp_dir, write_in_store};
use crate::support::process::{Answer, call_with_cache, call_with_editor};
use tempfile::TempDir;

const PAGE: &str =
    "---\r\ntitle: A page   # keep\r\ntags: [x]\r\nweird:   {k:  v}\r\n---\r\n\r\nSee [b](b.md)  and *more*.\r\n";
const PLAIN: &str = "# B heading\n\nText  alpha.  \n";
const NESTED: &str = "---\ntitle: 'C'\ntags:\n    - x\nlastmod: 2020-01-01\n---\nBody [a](../a.md)";
const TOML: &str = "+++\ntitle = \"T\"\ntags = [\"x\"]\n+++\n\n# Section\n\nText alpha [o](o.md).\n";
const LOGSEQ: &str = "title:: A page\ntags:: x\n\n- Text alpha.\n";
const NYGARD: &str = "# 1. Use X\n\nDate: 2020-01-05\n\n## Status\n\nAccepted\n\n## Context\n\nText alpha.\n";
const OTHER: &str = "---\ntitle: Other\n---\nText.\n";

/// Files by their paths in the folder of the source.
type Tree = BTreeMap<String, Vec<u8>>;

/// A project with a store, and a source named `docs`.
struct Project {
    dir: TempDir,
    cache: TempDir,
}

impl Project {
    fn new(dialect: &str, settings: &str, documents: &[(&str, &str)]) -> Self {
        let dir = store(&[("notes/n.md", "---\nid: n\ntitle: Note\n---\n[guide](../../docs/b.md)\n")]);
        let config = format!("[[documents]]\npath = \"docs\"\nas = \"{dialect}\"\n{settings}\n");
        write_in_store(dir.path(), "config.toml", config);
        fs::write(dir.path().join("code.rs"), "fn run() {}\n").unwrap();
        for (path, text) in documents {
            let path = dir.path().join("docs").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { dir, cache: temp_dir() }
    }

    /// Creates a project with documents that may be changed.
    fn of_documents() -> Self {
        Self::new("markdown", "writable = true", &[("a.md", PAGE), ("b.md", PLAIN), ("sub/c.mdx", NESTED)])
    }

    fn call(&self, args: &[&str]) -> Answer {
        call_with_cache(path(&self.dir), self.cache.path(), args, "")
    }

    /// Changes the source with a command, on a fixed day.
    fn change(&self, args: &[&str]) -> Answer {
        self.call(&[args, &["--in", "docs", "--today", "2025-01-01"]].concat())
    }

    fn tree(&self) -> Tree {
        tree(&self.dir.path().join("docs"))
    }

    /// Expects that a command is refused before it changes anything.
    fn expect_refused(&self, args: &[&str], code: u8, message: &str) {
        let before = self.tree();
        for args in [args.to_vec(), [args, &["--dry-run"]].concat()] {
            let answer = self.change(&args);
            let error = answer.error.as_ref().unwrap_or_else(|| panic!("{args:?}: {}", answer.stdout)).to_string();
            assert!(error.starts_with(message), "{args:?}: {error}");
            assert_eq!((answer.code(), answer.stdout.as_str()), (code, ""), "{args:?}");
            assert!(answer.error.unwrap().hint.is_some(), "{args:?}: {error}");
            assert!(self.tree() == before, "{args:?}");
        }
    }
}

fn tree(folder: &Path) -> Tree {
    let files =
        walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let named = files.map(|entry| {
        let path = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        (path, fs::read(entry.path()).unwrap())
    });
    named.collect()
}

/// A part of a file before and after a change; a file with the whole text before and none after is deleted.
type Part = (&'static str, &'static str, &'static str);

/// The line of a change before the end of the frontmatter of a page.
const STAMP: Part = ("a.md", "v}\r\n", "v}\r\nupdated: 2025-01-01\r\n");

/// The commands that change documents, each with the parts that it changes and no others.
fn changes() -> Vec<(Vec<&'static str>, Vec<Part>)> {
    let front = |text: &'static str| ("b.md", "# B", text);
    vec![
        (vec!["update", "a", "--tag", "y"], vec![("a.md", "[x]", "[x, \"y\"]"), STAMP]),
        (vec!["update", "a", "--untag", "x"], vec![("a.md", "[x]", "[]"), STAMP]),
        (vec!["update", "a", "--title", "New"], vec![("a.md", "A page ", "New "), STAMP]),
        (vec!["update", "a", "--replace", "more", "less"], vec![("a.md", "more", "less"), STAMP]),
        (vec!["update", "a", "--append", "End."], vec![("a.md", "*more*.\r\n", "*more*.\r\n\r\nEnd.\r\n"), STAMP]),
        (vec!["update", "b", "--append", "End."], vec![("b.md", "alpha.  \n", "alpha.  \n\nEnd.\n")]),
        (vec!["update", "b", "--replace", "alpha", "beta"], vec![("b.md", "alpha", "beta")]),
        (vec!["update", "b", "--body", "New."], vec![("b.md", PLAIN, "New.\n")]),
        (vec!["update", "b", "--section", "B heading", "--body", "New."], vec![("b.md", "Text  alpha.  \n", "New.\n")]),
        (vec!["update", "b", "--summary", "S"], vec![front("---\nsummary: S\nupdated: 2025-01-01\n---\n# B")]),
        (
            vec!["update", "b", "--status", "obsolete"],
            vec![front("---\nstatus: obsolete\nupdated: 2025-01-01\n---\n# B")],
        ),
        (vec!["update", "a", "--title", "New"], vec![("a.md", "A page ", "New "), STAMP]),
        (
            vec!["update", "--where", "tag = x", "--untag", "x", "--tag", "z"],
            vec![
                ("a.md", "[x]", "[z]"),
                ("sub/c.mdx", "- x\nlastmod: 2020-01-01\n", "- z\nlastmod: 2020-01-01\nupdated: 2025-01-01\n"),
                STAMP,
            ],
        ),
        (
            vec!["link", "add", "a", "supports", "b"],
            vec![("a.md", "v}\r\n", "v}\r\nlinks:\r\n  - type: supports\r\n    id: b\r\nupdated: 2025-01-01\r\n")],
        ),
        (
            vec!["link", "add", "b", "n"],
            vec![front("---\nlinks:\n  - type: related\n    id: \"project:n\"\nupdated: 2025-01-01\n---\n# B")],
        ),
        (vec!["link", "add", "b", "compacts", "a"], vec![front("---\ncompacts: [a]\nupdated: 2025-01-01\n---\n# B")]),
        (
            vec!["supersede", "b", "a"],
            vec![
                front("---\nstatus: superseded\nupdated: 2025-01-01\n---\n# B"),
                ("a.md", "v}\r\n", "v}\r\nlinks:\r\n  - type: supersedes\r\n    id: b\r\nupdated: 2025-01-01\r\n"),
            ],
        ),
        (vec!["update", "b", "--code", "code.rs:1"], vec![front("---\ncode:\n  - path: code.rs\n    line: 1\n")]),
        (vec!["delete", "b", "--force"], vec![("b.md", PLAIN, "")]),
        (
            vec!["merge", "b", "a"],
            vec![("a.md", PAGE, ""), ("sub/c.mdx", "../a.md", "../b.md"), front("---\naliases: [A page, a]\n")],
        ),
    ]
}

/// Expects a tree in which parts of files changed, and nothing else. A part that ends with an open line is a beginning.
fn expect_changed(before: &Tree, after: &Tree, parts: &[Part], args: &[&str]) {
    let mut expected = before.clone();
    for (path, from, to) in parts {
        let text = String::from_utf8(expected[*path].clone()).unwrap();
        assert!(text.contains(from), "{args:?}: {text}");
        expected.insert((*path).to_owned(), text.replacen(from, to, 1).into_bytes());
    }
    expected.retain(|_, text| !text.is_empty());
    assert_eq!(expected.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{args:?}");
    for (path, text) in &expected {
        let [expected, after] = [text, &after[path]].map(|bytes| String::from_utf8(bytes.clone()).unwrap());
        let is_open = parts.iter().any(|(of, from, to)| of == path && *from == "# B" && !to.ends_with(from));
        if is_open {
            let begin = parts.iter().find(|(of, ..)| of == path).unwrap().2;
            assert!(after.starts_with(begin) && after.contains(PLAIN), "{args:?}: {after}");
        } else {
            assert_eq!(expected, after, "{args:?}");
        }
    }
}

#[test]
fn each_command_changes_its_bytes_and_no_others() {
    for (args, parts) in changes() {
        let project = Project::of_documents();
        let (before, of_store) = (project.tree(), tree(&project.dir.path().join(".qipu")));
        let dry = project.change(&[&args[..], &["--dry-run"]].concat());
        assert_eq!(dry.code(), 0, "{args:?}: {:?}", dry.error);
        assert!(project.tree() == before, "{args:?}");
        let answer = project.change(&args);
        assert_eq!(answer.code(), 0, "{args:?}: {:?}", answer.error);
        assert!(answer.stdout.contains(" docs/"), "{args:?}: {}", answer.stdout);
        expect_changed(&before, &project.tree(), &parts, &args);
        assert!(tree(&project.dir.path().join(".qipu")) == of_store, "{args:?}: the store is as it was");
        // The change is read again, from the index and without it.
        let [warm, cold] = [&[][..], &["--no-index"]].map(|more| {
            let answer = project
                .call(&[&["context", "--note", "n", "--max-hops", "3", "--records", "--with-body"][..], more].concat());
            assert_eq!(answer.code(), 0, "{args:?}: {:?}", answer.error);
            answer.stdout
        });
        assert_eq!(warm, cold, "{args:?}");
    }
}

#[test]
fn a_change_can_be_taken_back_to_the_byte() {
    let undone: [[&[&str]; 2]; 3] = [
        [&["link", "add", "sub--c.mdx", "supports", "a"], &["link", "remove", "sub--c.mdx", "a"]],
        [&["link", "add", "sub--c.mdx", "compacts", "a"], &["link", "remove", "sub--c.mdx", "compacts", "a"]],
        [
            &["update", "--where", "tag = x", "--untag", "x", "--tag", "y"],
            &["update", "--where", "tag = y", "--untag", "y", "--tag", "x"],
        ],
    ];
    for [change, back] in undone {
        let project = Project::of_documents();
        let before = project.tree();
        for args in [change, back] {
            let answer = project.change(args);
            assert_eq!(answer.code(), 0, "{args:?}: {:?}", answer.error);
        }
        let after = String::from_utf8(project.tree()["sub/c.mdx"].clone()).unwrap();
        let after = after.replace("updated: 2025-01-01\n", "").replace("\"x\"", "x");
        assert_eq!(after.replace("links: []\n", "").replace("compacts: []\n", ""), NESTED, "{change:?}");
        assert_eq!(project.tree()["b.md"], before["b.md"]);
    }
}

#[test]
fn a_new_document_is_named_by_its_title_and_has_no_id() {
    let project = Project::of_documents();
    let before = project.tree();
    for (args, file) in [
        (&["capture", "--title", "A new page!"][..], "a-new-page.md"),
        (&["capture", "--title", "A new page"], "a-new-page-2.md"),
        (&["capture", "A thought.\n\nMore."], "a-thought.md"),
        (&["capture", "--title", "../../evil"], "evil.md"),
        (&["capture", "--title", ".hidden"], "hidden.md"),
        (&["capture", "--title", "-"], "note.md"),
        (&["journal", "An entry"], "2025-01-01.md"),
    ] {
        let answer = project.change(args);
        let id = file.trim_end_matches(".md");
        assert_eq!(answer.stdout.lines().next().unwrap(), format!("{id} created docs/{file}"), "{:?}", answer.error);
        let text = String::from_utf8(project.tree()[file].clone()).unwrap();
        assert!(text.starts_with("---\ntitle: ") && !text.contains("\nid:"), "{text}");
    }
    assert_eq!(project.change(&["journal", "Another"]).stdout, "2025-01-01 changed docs/2025-01-01.md\n");
    let after = project.tree();
    assert_eq!(after.len(), before.len() + 7, "{:?}", after.keys());
    assert!(before.iter().all(|(path, text)| after[path] == *text));
    assert_eq!(project.call(&["list", "--in", "docs"]).stdout.lines().count(), 10);
    // A file that the source would not read is not created.
    for (path, ignored) in [("docs/*.mdx", ""), ("docs/b.md", ""), ("docs", "*-page.md\n"), ("docs/page*", "")] {
        let config = format!("[[documents]]\npath = \"{path}\"\nname = \"docs\"\nwritable = true\n");
        write_in_store(project.dir.path(), "config.toml", config);
        fs::write(project.dir.path().join("docs/.gitignore"), ignored).unwrap();
        let message = "`docs` would not read a new file other-page.md";
        project.expect_refused(&["capture", "--title", "Other page"], 2, message);
    }
}

#[test]
fn a_file_with_toml_is_refused_in_every_dialect() {
    let commands: [&[&str]; 19] = [
        &["update", "t", "--tag", "y"],
        &["update", "t", "--untag", "x"],
        &["update", "t", "--title", "N"],
        &["update", "t", "--summary", "s"],
        &["update", "t", "--status", "stable"],
        &["update", "t", "--set", "k=v"],
        &["update", "t", "--verified"],
        &["update", "t", "--body", "b"],
        &["update", "t", "--append", "b"],
        &["update", "t", "--replace", "alpha", "beta"],
        &["update", "t", "--section", "Section", "--body", "b"],
        &["update", "o", "t", "--value", "5"],
        &["update", "t", "--title", "N"],
        &["merge", "t", "o"],
        &["link", "add", "t", "compacts", "o"],
        &["supersede", "t", "o"],
        &["supersede", "o", "t"],
        &["link", "add", "t", "o"],
        &["update", "--where", "tag = x", "--untag", "x", "--tag", "y"],
    ];
    for dialect in ["markdown", "obsidian", "logseq", "okf", "adr"] {
        let project = Project::new(dialect, "writable = true", &[("t.md", TOML), ("o.md", OTHER)]);
        for args in commands {
            project.expect_refused(
                args,
                3,
                "can't change `t`: its frontmatter is TOML, and fields are written as YAML",
            );
        }
        project.expect_refused(&["update", "t", "--code", "code.rs:1"], 3, "can't change `t`: its frontmatter is TOML");
        // It may be deleted, and its content may move to another file.
        assert_eq!(project.change(&["merge", "o", "t"]).code(), 0, "{dialect}");
        let merged = String::from_utf8(project.tree()["o.md"].clone()).unwrap();
        assert!(merged.contains("tags: [x]") && merged.contains("Text alpha") && !merged.contains("+++"), "{merged}");
    }
    // In a store, `+++` is text.
    let project = Project::new("markdown", "", &[("b.md", "")]);
    write_in_store(project.dir.path(), "notes/t.md", TOML);
    assert_eq!(project.call(&["update", "t", "--tag", "y"]).code(), 0);
}

#[test]
fn frontmatter_is_not_put_before_properties_of_logseq() {
    let documents = [("pages/t.md", LOGSEQ), ("pages/o.md", "- Text alpha.\n"), ("pages/y.md", OTHER)];
    let project = Project::new("logseq", "writable = true", &documents);
    let message = "can't change `pages--t`: its fields are properties of Logseq";
    for change in [&["--tag", "y"][..], &["--title", "N"], &["--set", "k=v"], &["--summary", "s"]] {
        project.expect_refused(&[&["update", "pages--t"], change].concat(), 3, message);
    }
    project.expect_refused(&["link", "add", "pages--t", "pages--o"], 3, message);
    project.expect_refused(&["supersede", "pages--t", "pages--o"], 3, message);
    project.expect_refused(&["merge", "pages--t", "pages--o"], 3, message);
    assert_eq!(project.change(&["update", "pages--t", "--replace", "alpha", "beta"]).code(), 0);
    let text = |path: &str| String::from_utf8(project.tree()[path].clone()).unwrap();
    assert_eq!(text("pages/t.md"), LOGSEQ.replace("alpha", "beta"));
    for page in ["pages--o", "pages--y"] {
        assert_eq!(project.change(&["update", page, "--tag", "y"]).code(), 0);
    }
    assert!(
        text("pages/o.md").starts_with("---\ntags: [\"y\"]\n") && text("pages/o.md").ends_with("---\n- Text alpha.\n")
    );
    assert!(text("pages/y.md").starts_with("---\ntitle: Other\ntags: [\"y\"]\n"));
}

#[test]
fn the_status_in_the_text_of_a_decision_is_not_contradicted() {
    let forms = [
        NYGARD,
        "# 1. Use X\n\n* Status: accepted\n\nText alpha.\n",
        "# 1. Use X\n\nStatus: proposed\n\nText alpha.\n",
        "---\ntags: [x]\n---\n# 1. Use X\n\n**Status**: accepted\n\nText alpha.\n",
    ];
    for form in forms {
        let other = "---\nstatus: accepted\n---\n# 2. Use Y\n";
        let project = Project::new("adr", "writable = true", &[("0001-x.md", form), ("0002-y.md", other)]);
        let message = "can't change `0001-x`: its status is in the text, and a field would contradict it";
        project.expect_refused(&["update", "0001-x", "--status", "rejected"], 3, message);
        project.expect_refused(&["supersede", "0001-x", "0002-y"], 3, message);
        for args in [
            &["update", "0001-x", "--tag", "y"][..],
            &["update", "0001-x", "--replace", "alpha", "beta"],
            &["link", "add", "0001-x", "0002-y"],
            &["update", "0002-y", "--status", "deprecated"],
        ] {
            assert_eq!(project.change(args).code(), 0, "{args:?}: {form}");
        }
        let text = String::from_utf8(project.tree()["0001-x.md"].clone()).unwrap();
        assert!(text.contains(&form.replace("alpha", "beta")[form.find("# 1").unwrap()..]), "{text}");
        let shown = project.call(&["show", "0002-y", "--json"]).stdout;
        assert!(shown.contains("deprecated") && !shown.contains("accepted"), "{shown}");
    }
}

#[test]
fn a_source_that_is_not_writable_is_never_changed() {
    let project = Project::new("markdown", "", &[("a.md", PAGE), ("b.md", PLAIN), ("sub/c.mdx", NESTED)]);
    let message = "the documents `docs` are only read";
    let mut commands: Vec<Vec<&str>> = changes().into_iter().map(|(args, _)| args).collect();
    let pack = project.dir.path().join("pack");
    assert_eq!(project.call(&["dump", pack.to_str().unwrap()]).code(), 0);
    let more: [&[&str]; 7] = [
        &["capture", "text"],
        &["capture", "--title", "Title"],
        &["journal", "An entry"],
        &["link", "remove", "b", "compacts", "a"],
        &["link", "remove", "a", "b"],
        &["load", pack.to_str().unwrap()],
        &["import", "docs"],
    ];
    commands.extend(more.map(<[&str]>::to_vec));
    for args in &commands {
        project.expect_refused(args, 2, message);
    }
    let hint = project.change(&["capture", "text"]).error.unwrap().hint.unwrap();
    assert!(hint.contains("`writable = true`"), "{hint}");
    // Without --to, the error names the collection of the note.
    for (args, _) in changes().into_iter().filter(|(args, _)| !args.contains(&"--where")) {
        let answer = project.call(&args);
        let error = answer.error.unwrap();
        assert!(error.to_string().contains("belongs to the collection `docs`"), "{args:?}: {error}");
        assert_eq!(error.kind.exit_code(), 2);
        let hint = error.hint.unwrap();
        assert_eq!(hint, "it is only read: add `writable = true` to it in config.toml of project", "{args:?}");
    }
    let error = project.call(&["capture", "text", "--in", "nosuch"]).error.unwrap();
    assert!(error.to_string().contains("`nosuch`") && error.hint.unwrap().contains("project, docs"));
}

#[test]
fn changes_of_one_document_at_once_lose_nothing() {
    const LINES: usize = 15;
    let project = Project::of_documents();
    std::thread::scope(|scope| {
        for name in ["left", "right"] {
            let project = &project;
            scope.spawn(move || {
                for number in 0..LINES {
                    let answer = project.change(&["update", "b", "--append", &format!("{name} {number}")]);
                    assert_eq!(answer.code(), 0, "{:?}", answer.error);
                }
            });
        }
    });
    let tree = project.tree();
    let mut lines: Vec<&str> =
        std::str::from_utf8(&tree["b.md"]).unwrap().strip_prefix(PLAIN).unwrap().lines().collect();
    lines.retain(|line| !line.is_empty());
    let mut expected: Vec<String> = (0..2 * LINES).map(|n| format!("{} {}", ["left", "right"][n % 2], n / 2)).collect();
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    assert_eq!(tree.len(), 3, "{:?}", tree.keys());
}

#[test]
fn packs_and_imports_go_into_stores() {
    let project = Project::of_documents();
    let pack = project.dir.path().join("pack");
    assert_eq!(project.call(&["dump", pack.to_str().unwrap()]).code(), 0);
    let message = "`docs` are documents, and this command changes only stores";
    project.expect_refused(&["load", pack.to_str().unwrap()], 2, message);
    let vault = temp_dir();
    fs::create_dir(vault.path().join(".obsidian")).unwrap();
    fs::write(vault.path().join("page.md"), "Text.").unwrap();
    project.expect_refused(&["import", path(&vault)], 2, message);
}

#[test]
fn what_a_person_edits_is_kept_to_the_byte() {
    for (name, old, added) in [("b", PLAIN, "more\n"), ("t", TOML, "more\n"), ("y", OTHER, "more\n")] {
        let project = Project::new("markdown", "writable = true", &[(&format!("{name}.md"), old)]);
        let editor = |file: &Path| fs::write(file, fs::read_to_string(file)? + "more\n");
        let args = ["update", name, "--in", "docs", "--today", "2025-01-01"];
        let answer = call_with_editor(path(&project.dir), &args, editor);
        assert!(answer.error.is_none() && !answer.stdout.contains("warning"), "{answer:?}");
        let stamped = if name == "y" { old.replace("Other\n", "Other\nupdated: 2025-01-01\n") } else { old.to_owned() };
        let after = String::from_utf8(project.tree()[&format!("{name}.md")].clone()).unwrap();
        assert_eq!(after, format!("{stamped}{added}"));
    }
}

/// A page of Obsidian is its file: that gets the new name, and the links that name it do too. A page with a title of its own
/// keeps the file, and the links name that.
#[test]
fn a_rename_in_a_vault_renames_the_file() {
    let text = "Text.\n\n## Part\n";
    let linking = "---\nup: \"[[Beta Note|above]]\"\n---\nSee ![[Beta Note#Part]], [[beta note|it]], [[Beta Note.md]] and \
                   [it](Beta%20Note.md#part).\n";
    let renamed = "---\nup: \"[[Gamma|above]]\"\n---\nSee ![[Gamma#Part]], [[Gamma|it]], [[Gamma]] and \
                   [it](Gamma.md#part).\n";
    for (note, new) in [
        (text.to_owned(), text.to_owned()),
        (format!("---\ntitle: Beta Note\n---\n{text}"), format!("---\ntitle: Gamma\n---\n{text}")),
    ] {
        let project = Project::new("obsidian", "writable = true", &[("Beta Note.md", &note), ("a.md", linking)]);
        let answer = project.call(&["update", "Beta Note", "--title", "Gamma", "--in", "docs"]);
        assert!(answer.error.is_none(), "{:?}", answer.error);
        assert!(answer.stdout.starts_with("Gamma renamed docs/"), "{}", answer.stdout);
        let tree = project.tree();
        let of = |path: &str| String::from_utf8(tree[path].clone()).unwrap();
        assert_eq!(tree.keys().collect::<Vec<_>>(), ["Gamma.md", "a.md"]);
        let without_date = |text: String| text.lines().filter(|line| !line.starts_with("updated:")).count();
        assert_eq!((of("a.md"), without_date(of("Gamma.md"))), (renamed.to_owned(), new.lines().count()));
        assert!(new.lines().all(|line| of("Gamma.md").contains(line)), "{}", of("Gamma.md"));
        let links = project.call(&["show", "a", "--links", "--json"]).stdout;
        assert!(links.contains("Gamma") && !links.contains("\"target\""), "{links}");
    }
    // In a folder, also where links name that; an alias stays.
    let linking = "See [[sub/Beta|b]], [[beta]] and [[Bee]].\n";
    let documents = [("sub/Beta.md", "---\naliases: [Bee]\n---\nText.\n"), ("a.md", linking), ("Gamma.md", "Other.\n")];
    let project = Project::new("obsidian", "writable = true", &documents);
    project.change(&["update", "Beta", "--title", "Gamma"]);
    assert_eq!(
        fs::read_to_string(project.dir.path().join("docs/a.md")).unwrap().replace("[[sub/Gamma]]", "X"),
        "See [[sub/Gamma|b]], X and [[Bee]].\n"
    );
    // What can't be the name of a page, or is that of another, is refused.
    for title in ["a/b", "a:b", "What?", "a#b", "a|b", "[a]", ".a", "a^b", "a\u{202e}b"] {
        project.expect_refused(
            &["update", "a", "--title", title],
            2,
            "the file of a page of Obsidian can't have this title",
        );
    }
    project.expect_refused(&["update", "a", "--title", "Gamma"], 1, "docs/Gamma.md exists already");
    // With a title of its own beside the name, the file stays.
    let linking = "See [[Beta Note]] and [[Old title]].\n";
    let page = format!("---\ntitle: Old title\n---\n{text}");
    let project = Project::new("obsidian", "writable = true", &[("Beta Note.md", &page), ("a.md", linking)]);
    project.change(&["update", "Beta Note", "--title", "Gamma"]);
    let linking = fs::read_to_string(project.dir.path().join("docs/a.md")).unwrap();
    assert_eq!(linking, "See [[Beta Note]] and [[Beta Note]].\n");
    // A page of Logseq has the name of its title.
    let project =
        Project::new("logseq", "writable = true", &[("Beta Note.md", "Text.\n"), ("a.md", "See [[Beta Note]].\n")]);
    project.change(&["update", "Beta Note", "--title", "Gamma"]);
    assert_eq!(fs::read_to_string(project.dir.path().join("docs/a.md")).unwrap(), "See [[Gamma]].\n");
}

/// Other applications know no fields in fields: what has an effect is written where they show it.
#[test]
fn a_status_is_written_at_the_top_of_a_document() {
    let documents =
        [("old.md", "Text.\n"), ("new.md", "Text.\n"), ("own.md", "---\ncustom: {status: open}\n---\nText.\n")];
    let project = Project::new("obsidian", "writable = true", &documents);
    let text = |path: &str| fs::read_to_string(project.dir.path().join("docs").join(path)).unwrap();
    project.change(&["supersede", "old", "new"]);
    assert_eq!(text("old.md"), "---\nstatus: superseded\nupdated: 2025-01-01\n---\nText.\n");
    project.change(&["update", "new", "--status", "stable", "--set", "valid_until=2030-01-01"]);
    let fields = text("new.md");
    assert!(fields.contains("\nstatus: stable\n") && fields.contains("\nvalid_until: \"2030-01-01\"\n"), "{fields}");
    project.change(&["update", "own", "--status", "done"]);
    assert!(text("own.md").starts_with("---\ncustom: {status: done}\n"), "{}", text("own.md"));
    let made = project.change(&["capture", "A text", "--status", "draft", "--title", "Made"]);
    assert!(made.error.is_none() && text("made.md").contains("\nstatus: draft\n"), "{}", text("made.md"));
    assert!(!text("made.md").contains("custom"), "{}", text("made.md"));
}
