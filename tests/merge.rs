//! Two sides of a note come together: through real git and the real binary, and as laws of the
//! pure function behind them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::files::temp_dir;
use crate::support::generators;
use proptest::prelude::*;
use qipu::note::Note;
use qipu::note::merge::{MergeTexts, merge};

/// A repository with a store, and the note that both sides change.
struct Repository {
    dir: tempfile::TempDir,
    /// What git finds on its PATH.
    path: String,
}

const NOTE: &str = ".qipu/notes/qp-a1 the note.md";

fn binary_path() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_qipu")).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

impl Repository {
    /// Makes a repository in which git merges notes by qipu, with a first commit.
    fn new(note: &str) -> Self {
        let repository = Self::without_setup();
        repository.ok("qipu", &["init"]);
        repository.ok("qipu", &["setup", "git"]);
        repository.write(note);
        repository.commit("base");
        repository
    }

    fn without_setup() -> Self {
        let dir = tempfile::Builder::new().prefix("a b").tempdir().unwrap();
        let repository = Self { dir, path: binary_path() };
        repository.ok("git", &["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    fn file(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn run(&self, program: &str, args: &[&str]) -> Output {
        let program = if program == "qipu" { env!("CARGO_BIN_EXE_qipu") } else { program };
        let mut command = Command::new(program);
        command.args(args).current_dir(self.dir.path()).env_clear().env("PATH", &self.path);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@example.org");
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
        command.output().unwrap()
    }

    fn ok(&self, program: &str, args: &[&str]) -> String {
        let output = self.run(program, args);
        assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn write(&self, text: &str) {
        fs::create_dir_all(self.file(".qipu/notes")).unwrap();
        fs::write(self.file(NOTE), text).unwrap();
    }

    fn read(&self) -> String {
        fs::read_to_string(self.file(NOTE)).unwrap()
    }

    fn commit(&self, message: &str) {
        self.ok("git", &["add", "--all"]);
        self.ok("git", &["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// Commits one text on a branch `theirs`, the other on `main`, where it ends.
    fn fork(&self, ours: &str, theirs: &str) {
        self.ok("git", &["checkout", "--quiet", "-b", "theirs"]);
        self.write(theirs);
        self.commit("theirs");
        self.ok("git", &["checkout", "--quiet", "main"]);
        self.write(ours);
        self.commit("ours");
    }

    /// Merges `theirs`. Returns whether that caused no conflict.
    fn merges(&self) -> bool {
        let output = self.run("git", &["merge", "--quiet", "-m", "merged", "theirs"]);
        let unmerged = self.ok("git", &["ls-files", "--unmerged"]);
        assert_eq!(output.status.success(), unmerged.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        output.status.success()
    }
}

/// Merges two sides of a text through real git.
fn merged(base: &str, ours: &str, theirs: &str) -> (bool, String) {
    let repository = Repository::new(base);
    repository.fork(ours, theirs);
    (repository.merges(), repository.read())
}

const BASE: &str = "---\nid: qp-a1\ntitle: The note\ntags: [a, b] # mine\nlinks:\n  - type: supports\n    id: qp-b2\n\
                    updated: 2025-01-01\n---\nFirst paragraph.\n\nSecond paragraph.\n\nThird paragraph.\n";

#[test]
#[ignore = "needs git"]
fn changes_of_two_branches_to_one_note_are_merged() {
    let repository = Repository::new(BASE);
    for id in ["qp-c3", "qp-d4"] {
        fs::write(repository.file(&format!(".qipu/notes/{id}.md")), format!("---\nid: {id}\n---\n")).unwrap();
    }
    repository.commit("others");
    let change = |tag: &str, link: &str, day: &str, paragraph: &str| {
        repository.ok("qipu", &["update", "qp-a1", "--tag", tag, "--tag", "both", "--today", day]);
        repository.ok("qipu", &["link", "add", "qp-a1", "refines", link, "--today", day]);
        repository.ok("qipu", &["update", "qp-a1", "--set", &format!("{tag}=1"), "--today", day]);
        repository.write(&repository.read().replace(paragraph, &format!("{paragraph} New.")));
        repository.commit(tag);
    };
    repository.ok("git", &["checkout", "--quiet", "-b", "theirs"]);
    change("theirs", "qp-c3", "2025-03-03", "Third paragraph.");
    repository.ok("git", &["checkout", "--quiet", "main"]);
    change("ours", "qp-d4", "2025-02-02", "First paragraph.");
    assert!(repository.merges());
    assert_eq!(
        repository.read(),
        "---\nid: qp-a1\ntitle: The note\ntags: [a, b, ours, both, theirs] # mine\nlinks:\n  - type: supports\n    id: qp-b2\n  \
         - type: refines\n    id: qp-d4\n  - type: refines\n    id: qp-c3\nupdated: 2025-03-03\ncustom:\n  ours: 1\n  \
         theirs: 1\n---\nFirst paragraph. New.\n\nSecond paragraph.\n\nThird paragraph. New.\n"
    );
    repository.ok("qipu", &["doctor"]);
}

#[test]
#[ignore = "needs git"]
fn lists_are_sets() {
    let tags = |tags: &str| BASE.replace("[a, b]", tags);
    for (ours, theirs, result) in [
        ("[a, b, x]", "[a, b, x]", "[a, b, x]"),
        ("[a, b, x]", "[x, a, b]", "[a, b, x]"),
        ("[a]", "[a, b, x]", "[a, x]"),
        ("[a, b, x]", "[b]", "[b, x]"),
        ("[a, x]", "[b, y]", "[x, y]"),
        ("[a, x]", "[]", "[x]"),
        ("[]", "[a, b, c]", "[c]"),
        ("[a, b, 7]", "\n  - a\n  - b\n  - \"7\"\n  - 'c: d'", "[a, b, 7, \"c: d\"]"),
        ("a, b, c", "[a, b, d]", "[a, b, c, d]"),
    ] {
        assert_eq!(merged(BASE, &tags(ours), &tags(theirs)), (true, tags(result)), "{ours} {theirs}");
    }
}

#[test]
#[ignore = "needs git"]
fn a_true_conflict_is_marked_and_nothing_else() {
    let ours = BASE.replace("The note", "Our note").replace("[a, b]", "[a, b, ours]").replace("Second", "2nd");
    let theirs = BASE.replace("The note", "Their note").replace("[a, b]", "[a, b, theirs]").replace("qp-b2", "qp-c3");
    let (is_clean, text) = merged(BASE, &ours, &theirs);
    assert!(!is_clean);
    assert_eq!(
        text,
        "---\nid: qp-a1\n<<<<<<< ours\ntitle: Our note\n=======\ntitle: Their note\n>>>>>>> theirs\ntags: [a, b, ours, theirs] # mine\n\
         links:\n  - type: supports\n    id: qp-c3\nupdated: 2025-01-01\n---\nFirst paragraph.\n\n2nd paragraph.\n\nThird paragraph.\n"
    );
    let removed = BASE.replace("title: The note\n", "");
    let (is_clean, text) = merged(BASE, &removed, &theirs);
    assert!(!is_clean);
    assert!(text.contains("\n<<<<<<< ours\n=======\ntitle: Their note\n>>>>>>> theirs\n"), "{text}");
    let (ours, theirs) = (BASE.replace("First", "Our").replace("[a, b]", "[b]"), BASE.replace("First", "Their"));
    let (is_clean, text) = merged(BASE, &ours, &theirs);
    assert!(!is_clean);
    let (front, body) = text.split_once("---\nFirst").unwrap_or_else(|| text.split_once("\n---\n").unwrap());
    assert!(!front.contains("<<<<") && front.contains("tags: [b] # mine"), "{front}");
    assert!(body.starts_with("<<<<<<< ours\nOur paragraph.\n=======\nTheir paragraph.\n>>>>>>> theirs\n"), "{body}");
}

/// The result contains what each side wrote, or git reports a conflict.
#[test]
#[ignore = "needs git"]
fn nothing_of_either_side_is_lost_silently() {
    let front = |yaml: &str| format!("---\nid: qp-a1\n{yaml}---\nBody\n");
    for (base, ours, theirs, result) in [
        (
            "tags:\n- a\n",
            "tags:\n- a # IMPORTANT why\n",
            "tags:\n- a\n- b\n",
            Some("tags:\n- a # IMPORTANT why\n- b\n"),
        ),
        (
            "tags:\n- a\n",
            "tags:\n- a\n- b\n",
            "tags:\n- a # IMPORTANT why\n",
            Some("tags:\n- a # IMPORTANT why\n- b\n"),
        ),
        (
            "custom:\n  # old\n  a: 1\n",
            "custom:\n  # new\n  a: 1\n",
            "custom:\n  # old\n  a: 2\n",
            Some("custom:\n  # new\n  a: 2\n"),
        ),
        ("custom:\n  # old\n  a: 1\n", "custom:\n  # ours\n  a: 1\n", "custom: {a: 2} # theirs\n", None),
        ("mine: [1, 2]\n", "mine: [1, 2, 2]\n", "mine: [1, 2, 1]\n", Some("mine: [1, 2, 2, 1]\n")),
        ("steps: [a, b, c]\n", "steps: [c, b, a]\n", "steps: [a, c]\n", None),
        // Places far enough apart for git.
        (
            "steps:\n- a\n- b\n- c\n- d\n- e\n",
            "steps:\n- b\n- c\n- d\n- e\n",
            "steps:\n- a\n- b\n- c\n- d2\n- e\n",
            Some("steps:\n- b\n- c\n- d2\n- e\n"),
        ),
        (
            "sources:\n- url: https://x.org\n",
            "sources:\n- url: https://x.org\n  title: X\n",
            "sources:\n- url: https://x.org\n  accessed: 2025-01-01\n",
            Some("sources:\n- url: https://x.org\n  title: X\n  accessed: 2025-01-01\n"),
        ),
        (
            "links:\n- type: t\n  id: b\n",
            "links:\n- type: t\n  id: b\n  why: x\n",
            "links:\n- type: t\n  id: b\n  why: y\n",
            None,
        ),
    ] {
        let (is_clean, text) = merged(&front(base), &front(ours), &front(theirs));
        assert_eq!(is_clean, result.is_some(), "{text}");
        match result {
            Some(result) => assert_eq!(text, front(result)),
            None => {
                let has_all = |side: &str| side.lines().all(|line| text.contains(line));
                assert!(text.contains("<<<<<<< ours\n") && has_all(ours) && has_all(theirs), "{text}");
            }
        }
    }
}

/// Git pairs a renamed file with its old one when half of it is the same; of a short note less is.
#[test]
#[ignore = "needs git"]
fn a_renamed_short_note_needs_an_option_of_git() {
    let note = |tags: &str| format!("---\nid: qp-a1\ntitle: A\ntags: [{tags}]\n---\n");
    for (words, is_found) in [(&["merge", "theirs"][..], false), (&["merge", "-X", "find-renames=20%", "theirs"], true)]
    {
        let repository = Repository::new(&note("a"));
        repository.ok("git", &["checkout", "--quiet", "-b", "theirs"]);
        fs::rename(repository.file(NOTE), repository.file(".qipu/notes/qp-a1 new.md")).unwrap();
        let renamed = note("a, theirs").replace("title: A", "title: A name that says more than before");
        fs::write(repository.file(".qipu/notes/qp-a1 new.md"), renamed).unwrap();
        repository.commit("theirs");
        repository.ok("git", &["checkout", "--quiet", "main"]);
        repository.write(&note("a, ours"));
        repository.commit("ours");
        let output = repository.run("git", words);
        assert_eq!(output.status.success(), is_found, "{words:?}: {}", String::from_utf8_lossy(&output.stdout));
        if is_found {
            assert!(repository.ok("qipu", &["show", "qp-a1", "--records"]).contains("a,ours,theirs"));
        } else {
            assert!(String::from_utf8_lossy(&output.stdout).contains("CONFLICT (modify/delete)"));
        }
    }
}

#[test]
#[ignore = "needs git"]
fn rebase_and_cherry_pick_merge_as_merge_does() {
    let ours = BASE.replace("[a, b]", "[a, b, ours]").replace("2025-01-01", "2025-02-02");
    let theirs = BASE.replace("[a, b]", "[b, theirs]").replace("2025-01-01", "2025-03-03");
    for (words, tags) in
        [(["cherry-pick", "theirs"], "[b, ours, theirs] # mine"), (["rebase", "theirs"], "[b, theirs, ours] # mine")]
    {
        let repository = Repository::new(BASE);
        repository.fork(&ours, &theirs);
        repository.ok("git", &words);
        let text = repository.read();
        assert!(text.contains(tags) && text.contains("updated: 2025-03-03\n"), "{words:?}: {text}");
    }
}

#[test]
#[ignore = "needs git"]
fn a_note_that_both_sides_added_is_merged() {
    let repository = Repository::new("");
    fs::remove_file(repository.file(NOTE)).unwrap();
    repository.commit("no note");
    let made = |tag: &str, day: &str| {
        format!("---\nid: qp-a1\ntags: [both, {tag}]\ncreated: {day}\nupdated: {day}\n---\nThe same.\n")
    };
    repository.fork(&made("ours", "2025-02-02"), &made("theirs", "2025-03-03"));
    assert!(repository.merges());
    let wanted =
        "---\nid: qp-a1\ntags: [both, ours, theirs]\ncreated: 2025-02-02\nupdated: 2025-03-03\n---\nThe same.\n";
    assert_eq!(repository.read(), wanted);
}

/// What is no note by fields comes out as git alone would merge it.
#[test]
#[ignore = "needs git"]
fn files_without_frontmatter_are_merged_by_lines() {
    let plain = "one\n\ntwo\n\nthree\n";
    let no_yaml = "---\ntitle: a: b\ntags: [x\n---\none\n\ntwo\n\nthree\n";
    let twice = "---\ntags: [x]\ntags: [x]\n---\none\n\ntwo\n\nthree\n";
    for base in [plain, no_yaml, twice] {
        let (ours, theirs) = (base.replace("one", "ours"), base.replace("three", "theirs"));
        assert_eq!(merged(base, &ours, &theirs), (true, ours.replace("three", "theirs")));
        let (is_clean, text) = merged(base, &ours, &base.replace("one", "other"));
        assert!(!is_clean);
        assert!(text.contains("<<<<<<< ours\nours\n=======\nother\n>>>>>>> theirs\n"), "{text}");
    }
}

#[test]
#[ignore = "needs git"]
fn line_ends_are_ours() {
    let dos = |text: &str| text.replace('\n', "\r\n");
    let ours = dos(&BASE.replace("[a, b]", "[a, b, ours]"));
    let theirs = BASE.replace("[a, b]", "[a, b, theirs]").replace("Third", "3rd").replace("qp-b2", "qp-c3");
    let wanted = dos(&theirs.replace("theirs]", "ours, theirs]"));
    assert_eq!(merged(&dos(BASE), &ours, &dos(&theirs)), (true, wanted.clone()));
    assert_eq!(merged(BASE, &ours, &theirs), (true, wanted));
}

#[test]
#[ignore = "needs git"]
fn without_qipu_git_merges_as_it_does() {
    for fails in [false, true] {
        let mut repository = Repository::new(BASE);
        let ours = BASE.replace("[a, b]", "[a, b, ours]");
        repository.fork(&ours, &BASE.replace("Third", "3rd"));
        let folder = temp_dir();
        if fails {
            let script = folder.path().join("qipu");
            fs::write(&script, "#!/bin/sh\nexit 2\n").unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        }
        repository.path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        assert!(repository.merges());
        assert_eq!(repository.read(), ours.replace("Third", "3rd"));
    }
}

#[test]
#[ignore = "needs git"]
fn the_driver_is_quiet_and_keeps_the_mode() {
    let repository = Repository::without_setup();
    let write = |name: &str, text: &[u8]| fs::write(repository.file(name), text).unwrap();
    write("base", BASE.as_bytes());
    write("ours", BASE.replace("[a, b]", "[a]").as_bytes());
    write("theirs", BASE.replace("[a, b]", "[b]").as_bytes());
    fs::set_permissions(repository.file("ours"), fs::Permissions::from_mode(0o750)).unwrap();
    let output = repository.run("qipu", &["merge-driver", "base", "ours", "theirs"]);
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
    assert_eq!(fs::read_to_string(repository.file("ours")).unwrap(), BASE.replace("[a, b]", "[]"));
    assert_eq!(fs::metadata(repository.file("ours")).unwrap().permissions().mode() & 0o777, 0o750);

    write("base", b"x\n");
    write("ours", b"\xff ours\n");
    write("theirs", b"theirs\n");
    let output = repository.run("qipu", &["merge-driver", "--marker-size=9", "base", "ours", "theirs"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "qipu: 1 conflict remains\n");
    let text = fs::read(repository.file("ours")).unwrap();
    assert_eq!(text, b"<<<<<<<<< ours\n\xff ours\n=========\ntheirs\n>>>>>>>>> theirs\n");

    let long = [BASE.replace("Third", "3rd").as_bytes(), &b"a line\n".repeat(3_000_000)].concat();
    write("base", &[BASE.as_bytes(), &b"a line\n".repeat(3_000_000)].concat());
    write("ours", &long);
    write("theirs", &[BASE.replace("First", "1st").as_bytes(), &b"a line\n".repeat(3_000_000)].concat());
    let output = repository.run("qipu", &["merge-driver", "base", "ours", "theirs"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read(repository.file("ours")).unwrap().starts_with(b"---\nid: qp-a1\ntitle: The note\n"));

    write("ours", b"\0binary\n");
    for (name, wanted) in [("theirs", "binary"), ("nowhere", "nowhere")] {
        let output = repository.run("qipu", &["merge-driver", "base", "ours", name]);
        assert_eq!(output.status.code(), Some(3));
        assert!(String::from_utf8_lossy(&output.stderr).contains(wanted));
        assert_eq!(fs::read(repository.file("ours")).unwrap(), b"\0binary\n");
    }
}

#[test]
#[ignore = "needs git"]
fn setup_says_if_git_fails() {
    let repository = Repository::without_setup();
    repository.ok("qipu", &["init"]);
    repository.ok("qipu", &["setup", "git"]);
    let config = repository.file(".git/config");
    let whole = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{whole}[broken\n")).unwrap();
    let output = repository.run("qipu", &["setup", "git", "--remove"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("git can't read merge.qipu"), "{told}");
    fs::write(&config, whole).unwrap();
    repository.ok("qipu", &["setup", "git", "--remove"]);
    assert!(!fs::read_to_string(&config).unwrap().contains("qipu"));
}

#[test]
#[ignore = "needs git"]
fn setup_installs_and_removes_the_merge_driver() {
    let foreign = "[merge \"other\"]\n\tdriver = cat %A\n";
    for before in [None, Some(""), Some("*.png binary"), Some("# qipu: mine\r\n*.md merge=union\r\n"), Some("a\n\n\n")]
    {
        let repository = Repository::without_setup();
        repository.ok("qipu", &["init"]);
        let (attributes, config) = (repository.file(".qipu/.gitattributes"), repository.file(".git/config"));
        let old_config = fs::read_to_string(&config).unwrap() + foreign;
        fs::write(&config, &old_config).unwrap();
        if let Some(text) = before {
            fs::write(&attributes, text).unwrap();
        }
        let state = || {
            let output = repository.run("qipu", &["setup", "git", "--check"]);
            (
                output.status.code(),
                String::from_utf8(output.stdout).unwrap().split_whitespace().nth(1).unwrap().to_owned(),
            )
        };
        assert_eq!(state(), (Some(1), "missing".to_owned()));
        assert!(repository.ok("qipu", &["setup", "git"]).starts_with("git: installed (.qipu/.gitattributes)"));
        assert_eq!(state(), (Some(0), "current".to_owned()));
        let files = || (fs::read_to_string(&attributes).ok(), fs::read_to_string(&config).unwrap());
        let installed = files();
        assert!(repository.ok("qipu", &["setup", "git"]).starts_with("git: current"));
        assert_eq!(files(), installed, "twice is once");
        for path in ["notes/a.md", "notes/deep/er/ä b.md", "mocs/a.md", "journals/2025/a.md"] {
            let path = format!(".qipu/{path}");
            let said = repository.ok("git", &["-c", "core.quotePath=false", "check-attr", "merge", "--", &path]);
            assert_eq!(said, format!("{path}: merge: qipu\n"));
        }
        assert!(
            !repository.ok("git", &["check-attr", "merge", "--", "notes/a.md", ".qipu/config.toml"]).contains("qipu\n")
        );
        repository.ok("git", &["config", "merge.qipu.driver", "old %A"]);
        assert_eq!(state(), (Some(1), "stale".to_owned()));
        assert!(repository.ok("qipu", &["setup", "git"]).starts_with("git: updated"));
        assert_eq!(files(), installed);
        repository.ok("git", &["config", "--unset", "merge.qipu.driver"]);
        assert_eq!(state(), (Some(1), "missing".to_owned()));
        assert!(repository.ok("qipu", &["setup", "git"]).starts_with("git: installed"));
        assert!(repository.ok("qipu", &["setup", "git", "--remove"]).starts_with("git: removed"));
        assert_eq!(files(), (before.map(str::to_owned), old_config));
        assert!(repository.ok("qipu", &["setup", "git", "--remove"]).starts_with("git: missing"));
    }
}

/// The settings are shown as the commands they are; what is shown works.
#[test]
#[ignore = "needs git"]
fn a_dry_run_of_setup_git_shows_commands_for_the_settings() {
    let repository = Repository::without_setup();
    repository.ok("qipu", &["init"]);
    let config = || fs::read_to_string(repository.file(".git/config")).unwrap();
    let before = config();
    let shown = |words: &[&str]| {
        let said = repository.ok("qipu", &[&["setup", "git", "--dry-run"], words].concat());
        let (files, commands) = said.split_once("changed .git/config\n").unwrap_or((&said, ""));
        assert!(!commands.contains("@@") && !commands.contains("+++"), "{commands}");
        (files.to_owned(), commands.to_owned())
    };
    let (files, install) = shown(&[]);
    assert!(files.starts_with("created .qipu/.gitattributes\n--- /dev/null\n"), "{files}");
    assert!(install.starts_with("git config merge.qipu.name 'notes of qipu"), "{install}");
    assert_eq!((config(), repository.file(".qipu/.gitattributes").exists()), (before.clone(), false));
    repository.ok("sh", &["-c", &install]);
    let installed = config();
    assert_eq!(shown(&[]).1, "", "only the file is missing");
    repository.ok("qipu", &["setup", "git"]);
    assert_eq!(config(), installed);
    repository.ok("git", &["config", "--add", "merge.qipu.driver", "old"]);
    let (files, update) = shown(&[]);
    assert!(files.is_empty() && update.starts_with("git config --replace-all merge.qipu.driver '"), "{files}{update}");
    repository.ok("sh", &["-c", &update]);
    assert_eq!(config(), installed);
    let (_, removal) = shown(&["--remove"]);
    assert_eq!(removal, "git config --unset-all merge.qipu.name\ngit config --unset-all merge.qipu.driver\n");
    repository.ok("sh", &["-c", &removal]);
    repository.ok("qipu", &["setup", "git", "--remove"]);
    assert_eq!(config(), before);
}

#[test]
#[ignore = "needs git"]
fn setup_git_reports_what_is_missing() {
    let repository = Repository::without_setup();
    let fails = |code: i32, wanted: &str| {
        let output = repository.run("qipu", &["setup", "git"]);
        assert_eq!(output.status.code(), Some(code));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(wanted), "{said}");
    };
    fails(3, "qipu init");
    assert!(repository.ok("qipu", &["setup"]).contains("git: missing (.qipu/.gitattributes)"));
    repository.ok("qipu", &["init"]);
    fs::rename(repository.file(".git"), repository.file("elsewhere")).unwrap();
    fails(1, "git init");
    assert!(!repository.file(".qipu/.gitattributes").exists(), "nothing is written by halves");
    assert!(repository.ok("qipu", &["setup"]).contains("git: missing"));
    assert!(repository.ok("qipu", &["setup", "git", "--remove"]).contains("git: missing"));
    let printed = repository.ok("qipu", &["setup", "git", "--print"]);
    fs::rename(repository.file("elsewhere"), repository.file(".git")).unwrap();
    let (_, commands) = printed.split_once("\n\n").unwrap();
    repository.ok("sh", &["-c", commands]);
    let printed_config = fs::read_to_string(repository.file(".git/config")).unwrap();
    repository.ok("qipu", &["setup", "git"]);
    assert_eq!(fs::read_to_string(repository.file(".git/config")).unwrap(), printed_config, "what is printed works");
}

/// Setting up in a worktree, with the store in a project below the repository's root.
#[test]
#[ignore = "needs git"]
fn setup_works_in_worktrees_and_for_stores_below_the_root() {
    let repository = Repository::without_setup();
    fs::create_dir_all(repository.file("sub")).unwrap();
    repository.ok("qipu", &["init", "sub"]);
    repository.commit("base");
    repository.ok("git", &["worktree", "add", "--quiet", "tree"]);
    repository.ok("qipu", &["setup", "git", "--store", "tree/sub"]);
    assert!(repository.file("tree/sub/.qipu/.gitattributes").exists());
    assert!(repository.ok("git", &["config", "--local", "merge.qipu.driver"]).contains("qipu merge-driver"));
}

/// Ways to write one field, on any side.
const FORMS: [&[&str]; 9] = [
    &["id: n1\n"],
    &["title: One\n", "title: 'Two' # why\n", "title: >-\n  folded\n  lines\n", "title: |+\n  kept\n\n"],
    &[
        "tags: [a, b]\n",
        "tags: [ b , 'c' ,]\n",
        "tags:\n  - a # one\n  - d\n",
        "tags:\n- c\n\n- b\n",
        "tags: e\n",
        "tags: []\n",
        "tags:\n",
        "tags: [\n  a, # one\n  f\n]\n",
    ],
    &[
        "links: []\n",
        "links:\n- type: supports\n  id: x\n",
        "links:\n  - {type: supports, id: x}\n  - id: y # c\n    type: related\n",
        "links: [{type: supports, id: z}]\n",
        "links: y\n",
    ],
    &[
        "custom:\n  a: 1 # c\n  b: [1, 2]\n",
        "custom: {a: 1, c: x}\n",
        "custom: {}\n",
        "custom:\n    d: {x: y}\n    b: [2, 3]\n",
    ],
    &["updated: 2025-01-01\n", "updated: 2025-03-01T10:00:00Z # late\n", "updated: never\n"],
    &["created: 2025-01-01\n", "created: '2024-01-01'\n"],
    &["mine: &x [1, 2]\n", "mine: !tag 007\n", "mine: |-\n  raw: text\n  # no comment\n", "mine: ~\n"],
    &[
        "more: *x\n", "more: [p]\n", "more: 1\n", "more: [q, s, p]\n", "more:\n  - r # c\n", "more: [p, q]\n",
        "more: [q, r]\n", "'more': {a: b}\n",
    ],
];
const BETWEEN: [&str; 5] = ["", "", "# a comment\n", "\n", "# two\n# lines\n\n"];

fn front() -> impl Strategy<Value = String> {
    let fields =
        FORMS.map(|forms| (0_u8..4, prop::sample::select(forms.to_vec()), prop::sample::select(BETWEEN.to_vec())));
    (fields.to_vec(), any::<[bool; 2]>(), any::<prop::sample::Index>()).prop_map(|(fields, [crlf, rotate], by)| {
        let mut pieces: Vec<String> = fields
            .into_iter()
            .filter(|(die, ..)| *die > 0)
            .map(|(_, form, between)| format!("{between}{form}"))
            .collect();
        if rotate && !pieces.is_empty() {
            let by = by.index(pieces.len());
            pieces.rotate_left(by);
        }
        let text = format!("---\n{}---\nBody\n", pieces.concat());
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

/// What a merge by lines does where no two sides differ from the base: `None` where they do.
fn by_lines(merged: MergeTexts) -> Option<String> {
    let MergeTexts { base, ours, theirs } = merged;
    match () {
        () if theirs == base || theirs == ours => Some(ours),
        () if ours == base => Some(theirs),
        () => None,
    }
}

/// Returns the content of a note, independent of its spelling.
fn meaning(text: &str) -> String {
    let note = Note::parse("notes/n.md", text.as_bytes().to_vec());
    let lists = |mut texts: Vec<String>| {
        texts.sort();
        texts
    };
    let links = note.links.iter().map(|link| format!("{} {}", link.kind, link.target)).collect();
    let mut custom: Vec<_> = note.custom.iter().chain(&note.unknown).collect();
    custom.sort_by(|a, b| a.0.cmp(&b.0));
    format!(
        "{} {:?} {:?} {:?} {:?} {custom:?} {:?}",
        note.title,
        lists(note.tags.clone()),
        lists(links),
        note.updated.as_ref().map(|stamp| stamp.as_str()),
        note.created.as_ref().map(|stamp| stamp.as_str()),
        note.body().replace("\r\n", "\n")
    )
}

#[test]
fn a_side_that_did_nothing_changes_nothing() {
    let by_fields = std::cell::Cell::new(0);
    generators::runner(3000)
        .run(&(front(), front()), |(base, side)| {
            for (base, ours, theirs) in [(&base, &side, &base), (&base, &side, &side), (&side, &side, &side)] {
                if let Ok(merged) = merge(base, ours, theirs) {
                    prop_assert_eq!(&by_lines(merged), &Some(ours.clone()));
                    by_fields.set(by_fields.get() + 1);
                }
            }
            if let Ok(merged) = merge(&base, &base, &side) {
                let text = by_lines(merged);
                prop_assert_eq!(text.as_deref().map(meaning), Some(meaning(&side)), "{:?}\n{}\n{}", text, base, side);
            }
            Ok(())
        })
        .unwrap();
    assert!(by_fields.get() > 5000, "only {} could be told apart", by_fields.get());
}

fn link_names(note: &Note) -> Vec<String> {
    note.links.iter().map(|link| format!("{} {}", link.kind, link.target)).collect()
}

#[test]
fn tags_and_links_are_merged_as_sets_and_nothing_of_ours_is_lost() {
    let (by_fields, clean, conflicts) = (std::cell::Cell::new(0), std::cell::Cell::new(0), std::cell::Cell::new(0));
    generators::runner(3000)
        .run(&(front(), front(), front()), |(base, ours, theirs)| {
            let Ok(merged) = merge(&base, &ours, &theirs) else { return Ok(()) };
            let note = |text: &str| Note::parse("notes/n.md", text.as_bytes().to_vec());
            let sides = [note(&base), note(&ours), note(&theirs)];
            let texts = [&merged.base, &merged.ours, &merged.theirs];
            for (index, of) in
                [|note: &Note| note.tags.clone(), link_names as fn(&Note) -> Vec<String>].into_iter().enumerate()
            {
                let have = texts.map(|text| of(&note(text)));
                if have.iter().any(|other| *other != have[0]) {
                    // Comments at the items are a reason to disagree.
                    conflicts.set(conflicts.get() + 1);
                    continue;
                }
                let names: &[&str] = match index {
                    0 => &["a", "b", "c", "d", "e", "f"],
                    _ => &["supports x", "supports z", "related y"],
                };
                for name in names.iter().map(|name| (*name).to_owned()) {
                    let [b, o, t] = sides.each_ref().map(|note| of(note).contains(&name));
                    let wanted = if b { o && t } else { o || t };
                    prop_assert_eq!(have[0].contains(&name), wanted, "{}\n{}\n{}\n{}", name, base, ours, theirs);
                }
            }
            for text in texts {
                prop_assert_eq!(note(text).body().replace('\r', ""), "Body\n");
            }
            if let Some(clean) = by_lines(merged.clone()) {
                for comment in ["# why", "# one", "# c", "# late"].into_iter().filter(|text| !base.contains(text)) {
                    let is_written = ours.contains(comment) || theirs.contains(comment);
                    prop_assert!(
                        !is_written || clean.contains(comment),
                        "{}\n{}\n{}\n{}\n{}",
                        comment,
                        base,
                        ours,
                        theirs,
                        clean
                    );
                }
            }
            for line in ours.lines().filter(|line| line.starts_with('#') && !base.contains(line)) {
                prop_assert!(merged.ours.contains(line), "{} is lost", line);
            }
            let unknown = |note: &Note| note.unknown.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
            for key in unknown(&sides[1]).iter().filter(|key| !unknown(&sides[0]).contains(key)) {
                prop_assert!(unknown(&note(&merged.ours)).contains(key), "{} is lost", key);
            }
            by_fields.set(by_fields.get() + 1);
            clean.set(clean.get() + usize::from(by_lines(merged).is_some()));
            Ok(())
        })
        .unwrap();
    let (by_fields, clean) = (by_fields.get(), clean.get());
    assert!(by_fields > 1500 && clean > 50, "only {by_fields} could be told apart, {clean} without a conflict");
    assert!(conflicts.get() < by_fields / 3, "{} lists of {by_fields} notes stayed apart", conflicts.get());
}

/// What theirs says of the life of a note is not true of a text that ours changed: it is left to a person.
#[test]
fn the_life_of_a_note_is_merged_by_a_person() {
    let base = "---\nid: a\ntags: [x]\ncustom:\n  k: 1\n---\nBody\n";
    let with = |fields: &str| base.replace("custom:", &format!("{fields}custom:"));
    let ours = base.replace("[x]", "[x, y]");
    for theirs in [
        with("status: superseded\n"),
        with("superseded-by: b\n"),
        with("valid_until: 2025-01-01\n"),
        with("stale_after: 2025-01-01\n"),
        with("verified: true\n"),
        with("verified:\n- by: human:ann\n"),
        with("generated: {by: x}\n"),
        with("links: [{type: superseded-by, id: b}]\n"),
        base.replace("k: 1\n", "k: 1\n  status: rejected\n"),
    ] {
        let merged = merge(base, &ours, &theirs).unwrap();
        let is_given = |text: &str| {
            text.contains("superseded")
                || text.contains("rejected")
                || text.contains("2025")
                || text.contains("verified")
                || text.contains("generated")
        };
        assert!(!is_given(&merged.ours) && !is_given(&merged.base) && is_given(&merged.theirs), "{merged:?}");
        assert!(
            [&merged.ours, &merged.base, &merged.theirs].iter().all(|text| text.contains("tags: [x, y]")),
            "{merged:?}"
        );
        // What ours says stays, and a side that changed nothing takes what the other says.
        let kept = merge(base, &theirs, &ours).unwrap();
        assert!(by_lines(kept).is_some_and(|text| is_given(&text)));
        let taken = merge(base, base, &theirs).unwrap();
        assert_eq!(by_lines(taken).map(|text| meaning(&text)), Some(meaning(&theirs)));
    }
    // Who verified it on both sides is not the sum of both.
    let verified = |by: &str| with(&format!("verified:\n- by: human:ann\n{by}"));
    let merged = merge(&verified(""), &verified("- by: human:bo\n"), &verified("- by: human:cy\n")).unwrap();
    assert!(!merged.ours.contains("human:cy") && merged.theirs.contains("human:cy"), "{merged:?}");
    // A link of another kind is merged as ever, and so are other fields under `custom`.
    let theirs = base.replace("k: 1\n", "k: 2\n  status: rejected\n");
    let merged = merge(base, &ours, &theirs).unwrap();
    assert!(
        merged.ours.contains("k: 2") && merged.base.contains("k: 2") && !merged.ours.contains("status"),
        "{merged:?}"
    );
}

#[test]
fn any_texts_can_be_merged() {
    generators::runner(400)
        .run(&(generators::files(), generators::hostile_text()), |(files, text)| {
            let mut texts: Vec<String> =
                files.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).take(3).collect();
            texts.push(format!("---\nid: a\ntags: [{text}]\n---\n{text}"));
            texts.push(text);
            for base in &texts {
                for side in &texts {
                    if let Ok(merged) = merge(base, side, base) {
                        prop_assert_eq!(&by_lines(merged), &Some(side.clone()));
                    }
                    let _ = merge(base, side, &texts[0]);
                }
            }
            Ok(())
        })
        .unwrap();
}
