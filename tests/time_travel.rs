//! Answers from earlier commits: each is what the same command answers in a checkout of that commit, byte for byte, and
//! nothing is written for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::files::temp_dir;
use crate::support::git_history::{History, PROJECT};
use crate::support::process::trusted_line;
use crate::support::random::Random;
use crate::support::repository::Repository;
use serde_json::Value;

/// Every command that reads notes, in several forms.
const READING: [&str; 46] = [
    "prime",
    "ask parser budget --max-chars 3000",
    "context --query parser --format records --max-chars 4000",
    "context --query parser --purpose decide --explain --json",
    "context --query parser --purpose verify --max-tokens 800 --format prompt",
    "context --note qp-f1 --note qp-f2 --with-body",
    "context --tag graph --backlinks --explain",
    "context --note qp-f3 --max-hops 2 --json --max-chars 9000",
    "about src/a.rs",
    "about src/a.rs:2 --json",
    "search parser --explain",
    "search index cache --json",
    "search invoise --records",
    "search --like qp-f1",
    "link list qp-f1 --json",
    "link tree qp-f2",
    "link path qp-f1 qp-f2 --records",
    "export page",
    "export links",
    "show qp-f1",
    "show qp-f2 --links --json",
    "show qp-f3 --raw",
    "show qp-own",
    "journal",
    "list",
    "list --json",
    "list --type permanent --sort value --records",
    "list not links-to and not linked-from",
    "list --since 2026-03-01 --until 2026-06-01",
    "list tag = graph or linked-from = qp-f1 --format paths",
    "tasks --all --json",
    "status --tags --json",
    "status",
    "status --in project",
    "status --json",
    "review",
    "review --json",
    "doctor",
    "doctor --json",
    "dump -",
    "dump - --tag graph",
    "list --store docs",
    "list --store . --json",
    "status --store packages/a",
    "context --expand qp-f1 --include derivation,evidence",
    "eval ../../questions.jsonl",
];

/// The number of answers of each command that were no errors.
type Answered = BTreeMap<&'static str, usize>;

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// Returns exit code, output and errors.
fn answer(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Returns all files below a folder: their sizes and times, which a write changes.
fn snapshot(dir: &Path) -> BTreeMap<PathBuf, (u64, i64, i64, i64)> {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    let stat = |entry: walkdir::DirEntry| {
        let metadata = fs::symlink_metadata(entry.path()).unwrap();
        let times = (metadata.len(), metadata.mtime(), metadata.mtime_nsec(), metadata.ctime_nsec());
        (entry.into_path(), times)
    };
    entries.map(stat).collect()
}

/// Compares the answers of all commands at a commit with those in a checkout of it.
fn expect_same(history: &History, checkout: &Path, commit: &str, folder: &str, answered: &mut Answered) {
    let here = history.path(folder);
    // From nothing: git does not make the folder of a submodule again that it takes for unchanged.
    history.git_in(checkout, &["read-tree", "--empty"]);
    history.git_in(checkout, &["clean", "--quiet", "-ffdx"]);
    history.git_in(checkout, &["checkout", "--quiet", "--force", "--detach", commit]);
    if !here.is_dir() || !checkout.join(folder).is_dir() {
        return;
    }
    // Trust is in a folder, and each checkout makes another one.
    let stores = [history.path(".qipu"), checkout.join(".qipu")].into_iter().filter(|store| store.is_dir());
    let trusted: String = stores.map(|store| trusted_line(&store)).collect();
    fs::write(history.home().join(".config/qipu/trusted-stores"), trusted).unwrap();
    for command in READING {
        let expected = history.qipu_in(&checkout.join(folder), &words(command));
        let at = [words(command).as_slice(), &["--at", commit]].concat();
        let found = history.qipu_in(&here, &at);
        assert_eq!(answer(&found), answer(&expected), "qipu {command} in `{folder}` at {commit}");
        *answered.entry(command).or_default() += usize::from(!found.stdout.is_empty());
    }
}

fn expect_history(seed: u64, init: &[&str]) -> Answered {
    let mut history = History::new(seed, 9, init);
    let checkout = history.clone_to("clone");
    let question = "{\"question\": \"parser budget\", \"answers\": {\"patterns\": \"parser\"}}\n";
    fs::write(history.root().join("questions.jsonl"), question).unwrap();
    // What is not committed is in no answer.
    history.change_some();
    history.git(&["add", "--all"]);
    history.change_some();
    let before = snapshot(&history.path(""));
    let mut answered = Answered::new();
    for commit in &history.commits {
        expect_same(&history, &checkout, commit, "", &mut answered);
    }
    for folder in ["src", "packages/a", "docs"] {
        expect_same(&history, &checkout, &history.commits[5], folder, &mut answered);
    }
    assert_eq!(snapshot(&history.path("")), before, "something was written");
    assert_eq!(history.path("").file_name().unwrap(), PROJECT);
    answered
}

#[test]
#[ignore = "git"]
fn every_answer_is_that_in_a_checkout() {
    let mut answered = Answered::new();
    let both = std::thread::scope(|scope| {
        [1, 2].map(|seed| scope.spawn(move || expect_history(seed, &[]))).map(|one| one.join().unwrap())
    });
    for (command, answers) in both.into_iter().flatten() {
        *answered.entry(command).or_default() += answers;
    }
    // Equal errors would prove little.
    let silent: Vec<_> = answered.iter().filter(|(_, answers)| **answers == 0).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
#[ignore = "git"]
fn every_answer_is_that_in_a_checkout_of_a_repository_with_long_hashes() {
    expect_history(4, &["--object-format=sha256"]);
}

/// The notes of a store, by id.
type Notes = BTreeMap<String, SimpleNote>;

/// A note as this test writes it.
#[derive(Debug, Clone, PartialEq)]
struct SimpleNote {
    folder: &'static str,
    file: usize,
    title: usize,
    status: &'static str,
    supersedes: Option<String>,
    paragraphs: Vec<usize>,
}

impl SimpleNote {
    fn path(&self) -> String {
        format!("{}/f{}.md", self.folder, self.file)
    }

    fn text(&self, id: &str) -> String {
        let link = |old: &String| format!("links:\n  - {{type: supersedes, id: {old}}}\n");
        let link = self.supersedes.as_ref().map_or_else(String::new, link);
        let paragraphs: String = self.paragraphs.iter().map(|number| format!("\nParagraph {number}.\n")).collect();
        let (title, status) = (self.title, self.status);
        format!("---\nid: {id}\ntitle: Title {title}\nstatus: {status}\n{link}---\n# Part\n{paragraphs}")
    }

    /// Returns the lines for what changed since another version, in the order of the product.
    fn changes_since(&self, old: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        if old.path() != self.path() {
            lines.push(format!("file: {} → {}", old.path(), self.path()));
        }
        if old.title != self.title {
            lines.push(format!("title: Title {} → Title {}", old.title, self.title));
        }
        if old.status != self.status {
            lines.push(format!("status: {} → {}", old.status, self.status));
        }
        let link = |old: &String| format!("type: supersedes, id: {old}");
        match (&old.supersedes, &self.supersedes) {
            (None, Some(new)) => lines.push(format!("links: added {}", link(new))),
            (Some(old), Some(new)) if old != new => lines.push(format!("links: {} → {}", link(old), link(new))),
            (Some(old), None) => lines.push(format!("links: removed {}", link(old))),
            _ => {}
        }
        // Paragraphs are only added at the end or removed there.
        let shared = old.paragraphs.iter().zip(&self.paragraphs).take_while(|(a, b)| a == b).count();
        lines.extend(
            old.paragraphs[shared..].iter().map(|number| format!("block under Part: removed Paragraph {number}.")),
        );
        lines.extend(
            self.paragraphs[shared..].iter().map(|number| format!("block under Part: added Paragraph {number}.")),
        );
        lines
    }
}

/// A repository with a history of notes, and the notes after each commit.
struct SimpleHistory {
    repository: Repository,
    commits: Vec<(String, Notes)>,
}

impl SimpleHistory {
    fn new(seed: u64, commits: usize) -> Self {
        let (repository, mut random) = (Repository::new(), Random::new(seed));
        let (mut notes, mut made) = (Notes::new(), Vec::new());
        let mut counter = 0;
        while made.len() < commits {
            for _ in 0..random.between(1, 4) {
                counter += 1;
                change_notes(&mut notes, &mut random, counter);
            }
            write_notes(&repository, &notes);
            repository.git(&["add", "--all"]);
            repository.git(&["commit", "--quiet", "--allow-empty", "-m", "m"]);
            made.push((repository.git(&["rev-parse", "HEAD"]).trim().to_owned(), notes.clone()));
        }
        Self { repository, commits: made }
    }

    /// Returns what `history` must say of a note: commit, action, file and changes, the latest first.
    fn expected_history(&self, id: &str) -> Vec<(String, &'static str, String, Vec<String>)> {
        let mut versions = Vec::new();
        let none = Notes::new();
        for (index, (commit, notes)) in self.commits.iter().enumerate() {
            let before = index.checked_sub(1).map_or(&none, |before| &self.commits[before].1).get(id);
            let version = match (before, notes.get(id)) {
                (None, Some(new)) => ("created", new.path(), Vec::new()),
                (Some(old), None) => ("deleted", old.path(), Vec::new()),
                (Some(old), Some(new)) if old.path() != new.path() => ("renamed", new.path(), new.changes_since(old)),
                (Some(old), Some(new)) if old != new => ("changed", new.path(), new.changes_since(old)),
                _ => continue,
            };
            versions.push((commit[..12].to_owned(), version.0, version.1, version.2));
        }
        versions.reverse();
        versions
    }
}

fn change_notes(notes: &mut Notes, random: &mut Random, counter: usize) {
    let id = format!("qp-s{:02}", random.below(12));
    let older = (random.chance(30)).then(|| format!("qp-s{:02}", random.below(12))).filter(|older| *older < id);
    let Some(note) = notes.get_mut(&id) else {
        let folder = ["notes", "mocs", "notes/deep"][random.below(3)];
        let note = SimpleNote {
            folder,
            file: counter,
            title: counter,
            status: "stable",
            supersedes: older,
            paragraphs: vec![0],
        };
        notes.insert(id, note);
        return;
    };
    match random.below(8) {
        0 => drop(notes.remove(&id)),
        1 | 2 => note.file = counter,
        3 => note.title = counter,
        4 => note.status = ["stable", "obsolete", "open"][random.below(3)],
        5 => note.supersedes = older.or(note.supersedes.take()),
        6 if note.paragraphs.len() > 1 => drop(note.paragraphs.pop()),
        _ => note.paragraphs.push(counter),
    }
}

fn write_notes(repository: &Repository, notes: &Notes) {
    fs::remove_dir_all(repository.path(".qipu")).unwrap();
    fs::create_dir_all(repository.path(".qipu/notes")).unwrap();
    for (id, note) in notes {
        repository.write(&format!(".qipu/{}", note.path()), &note.text(id));
    }
}

fn json(output: &str) -> Value {
    serde_json::from_str(output).unwrap()
}

fn lines(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "git"]
fn a_history_lists_each_change_of_a_note() {
    for seed in 1..=4 {
        let history = SimpleHistory::new(seed, 30);
        let (_, now) = history.commits.last().unwrap();
        assert!(now.len() > 5, "{now:?}");
        for id in now.keys() {
            let answer = json(&history.repository.ok(&["history", id, "--json", "--limit", "100"]));
            let versions = answer["versions"].as_array().unwrap().iter();
            let found = versions.map(|version| {
                assert_eq!((text(&version["author"]), version["time"].is_string()), ("a".to_owned(), true));
                let [commit, action, file] = ["commit", "action", "file"].map(|name| text(&version[name]));
                (commit, action, file, lines(&version["changes"]))
            });
            let expected = history.expected_history(id).into_iter();
            let expected = expected.map(|(commit, action, file, changes)| (commit, action.to_owned(), file, changes));
            assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "seed {seed}, {id}");
        }
    }
}

#[test]
#[ignore = "git"]
fn a_difference_lists_each_note_that_came_went_or_changed() {
    let rank = ["created", "deleted", "superseded", "restored", "retitled", "renamed", "changed"];
    for seed in 11..=13 {
        let history = SimpleHistory::new(seed, 16);
        for ((first, old), (second, new)) in
            history.commits.iter().flat_map(|from| history.commits.iter().map(move |to| (from, to))).step_by(7)
        {
            let is_superseded = |notes: &Notes, id: &String| {
                notes.contains_key(id) && notes.values().any(|note| note.supersedes.as_ref() == Some(id))
            };
            let ids: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let mut expected: Vec<(String, String, Vec<String>)> = Vec::new();
            for id in ids {
                let (action, changes) = match (old.get(id), new.get(id)) {
                    (None, _) => ("created", Vec::new()),
                    (_, None) => ("deleted", Vec::new()),
                    (Some(before), Some(after)) => {
                        let action = match (is_superseded(old, id), is_superseded(new, id)) {
                            (false, true) => "superseded",
                            (true, false) => "restored",
                            _ if before.title != after.title => "retitled",
                            _ if before.path() != after.path() => "renamed",
                            _ if before != after => "changed",
                            _ => continue,
                        };
                        (action, after.changes_since(before))
                    }
                };
                expected.push((action.to_owned(), id.clone(), changes));
            }
            expected.sort_by_key(|(action, _, _)| rank.iter().position(|name| name == action));
            let answer = json(&history.repository.ok(&["history", "--since", first, "--until", second, "--json"]));
            let found = answer["differences"].as_array().unwrap().iter();
            let found = found.map(|note| (text(&note["action"]), text(&note["id"]), lines(&note["changes"])));
            assert_eq!(found.collect::<Vec<_>>(), expected, "seed {seed}, {first} {second}");
        }
    }
}

/// A repository with two commits of one note, of 2026-03-05 and 2026-03-07, each at noon in UTC.
fn two_commits() -> Repository {
    let repository = Repository::new();
    for (day, text) in [("05", "one"), ("07", "two")] {
        repository.note("qp-a", "", text);
        repository.git(&["add", "--all"]);
        let date = format!("2026-03-{day}T12:00:00Z");
        let mut commit = repository.command("git");
        let commit = commit.args(["commit", "--quiet", "-m", text]).env("GIT_COMMITTER_DATE", &date);
        assert!(commit.env("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z").status().unwrap().success());
    }
    repository
}

#[test]
#[ignore = "git"]
fn a_date_means_the_last_commit_until_its_end() {
    let repository = two_commits();
    let at = |date: &str| repository.ok(&["show", "qp-a", "--at", date]);
    for date in
        ["2026-03-05", "2026-03-06", "2026-03-07T11:59:59Z", "2026-03-05 12:00", "6 March 2026", "HEAD~1", "HEAD^0~1"]
    {
        assert!(at(date).contains("one"), "{date}");
    }
    // The end of 7 March in UTC, whatever the time zone of the commit.
    for date in
        ["2026-03-07", "2026-03-07T12:00:00Z", "2026-03-07T14:00:00+02:00", "yesterday", "last month", "main", "@"]
    {
        assert!(at(date).contains("two"), "{date}");
    }
    repository.git(&["branch", "yesterday", "HEAD~1"]);
    assert!(at("yesterday").contains("two"), "a date is no branch");
    assert!(at("refs/heads/yesterday").contains("one"));
    let early = repository.refused(&["list", "--at", "2026-03-04"]);
    assert!(early.contains("no commit is as old as `2026-03-04`"), "{early}");
}

/// A folder of the user that counts in some projects only does so at an earlier commit too, and in linked working trees.
#[test]
#[ignore = "git"]
fn a_folder_for_one_project_counts_at_a_commit() {
    let repository = two_commits();
    let other = two_commits();
    let (linked, wiki) = (other.path("linked"), other.path("wiki"));
    repository.git(&["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    let root = repository.path("").canonicalize().unwrap();
    let settings = format!("[[documents]]\npath = {wiki:?}\nfor = [{root:?}]\n");
    repository.write("no-home/.config/qipu/config.toml", &settings);
    other.write("wiki/page.md", "# Page\n");
    for (dir, is_read) in [(repository.path(""), true), (linked, true), (other.path(""), false)] {
        for args in [&["list"][..], &["list", "--at", "HEAD"], &["list", "--at", "HEAD~1"]] {
            let listed = String::from_utf8(repository.qipu_in(&dir, args).stdout).unwrap();
            assert!(listed.contains("qp-a"), "{dir:?} {args:?}: {listed}");
            assert_eq!(listed.contains("Page"), is_read, "{dir:?} {args:?}: {listed}");
        }
    }
}

#[test]
#[ignore = "git"]
fn a_difference_may_begin_before_the_first_note() {
    let repository = two_commits();
    let actions = |from: &str, today: &str| {
        let answer = json(&repository.ok(&["history", "--since", from, "--until", "HEAD", "--today", today, "--json"]));
        let found = answer["differences"].as_array().unwrap().iter();
        (answer["from"].is_null(), found.map(|note| text(&note["action"])).collect::<Vec<_>>())
    };
    let list = |action: &str| vec![action.to_owned()];
    // Several days count from before the first of them, one day from its end.
    assert_eq!(actions("last week", "2026-03-13"), (false, list("changed")));
    assert_eq!(actions("7d", "2026-03-13"), (false, list("changed")));
    assert_eq!(actions("7d", "2026-03-14"), (false, Vec::new()));
    assert_eq!(actions("last week", "2026-03-14"), (false, list("changed")));
    assert_eq!(actions("March 2026", "2026-03-14"), (true, list("created")));
    assert_eq!(actions("2020-01-01", "2026-03-14"), (true, list("created")));
    // A commit without a store.
    repository.git(&["checkout", "--quiet", "--orphan", "empty"]);
    repository.git(&["rm", "--quiet", "-r", "--cached", "."]);
    repository.git(&["commit", "--quiet", "--allow-empty", "-m", "nothing"]);
    repository.git(&["checkout", "--quiet", "--force", "main"]);
    assert_eq!(actions("empty", "2026-03-14"), (false, list("created")));
    let clone = repository.path("shallow");
    let source = format!("file://{}", repository.path("").display());
    repository.git(&["clone", "--quiet", "--depth", "1", &source, clone.to_str().unwrap()]);
    let refused = repository.refused(&["history", "--since", "2020-01-01", "--store", clone.to_str().unwrap()]);
    assert!(refused.contains("no commit is as old") && refused.contains("--unshallow"), "{refused}");
}

#[test]
#[ignore = "git"]
fn a_name_of_no_commit_is_refused() {
    let repository = two_commits();
    let tree = repository.git(&["rev-parse", "HEAD^{tree}"]);
    let blob = repository.git(&["rev-parse", "HEAD:.qipu/notes/qp-a.md"]);
    let names = [
        "-x",
        "--exec=touch x",
        "HEAD:.qipu",
        "HEAD:",
        "^HEAD",
        "HEAD..HEAD",
        "HEAD HEAD",
        "",
        " ",
        "@{upstream}",
        "nope",
        "HEAD~9",
        "HEAD\nHEAD",
        ":/nothing",
        tree.trim(),
        blob.trim(),
        "0000000000000000000000000000000000000000",
    ];
    for name in names {
        let at = format!("--at={name}");
        let output = repository.qipu(&["list", &at]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{name:?}: {message}");
        assert!(message.contains("git knows no commit"), "{name:?}: {message}");
    }
    repository.git(&["tag", "-a", "-m", "a tag", "v1", "HEAD~1"]);
    assert!(repository.ok(&["show", "qp-a", "--at", "v1"]).contains("one"));
    // The text of a message, to which nothing may be added.
    repository.git(&["commit", "--quiet", "--allow-empty", "-m", "a message"]);
    assert!(repository.ok(&["show", "qp-a", "--at", ":/a message"]).contains("two"));
}

/// Several files with the same content are read once, and each gets it.
#[test]
#[ignore = "git"]
fn copies_of_a_file_are_all_read() {
    let repository = Repository::new();
    for number in 0..40 {
        repository.write(&format!("docs/{number}.md"), &format!("# Title\n\nText {}.\n", number / 10));
    }
    repository.write(".qipu/notes/a.md", "---\nid: a\n---\nx\n");
    repository.write(".qipu/config.toml", "[[documents]]\npath = \"docs\"\n");
    repository.git(&["add", "."]);
    repository.git(&["commit", "--quiet", "-m", "one"]);
    for command in ["list", "list --json", "search text --limit 40 --json"] {
        let at = [words(command), vec!["--at", "HEAD"]].concat();
        assert_eq!(repository.ok(&at), repository.ok(&[words(command), vec!["--no-index"]].concat()), "{command}");
    }
}

#[test]
#[ignore = "git"]
fn commands_that_do_more_than_read_refuse_it() {
    let repository = two_commits();
    let before = snapshot(&repository.path(""));
    let commands = [
        "capture text",
        "capture --title title",
        "update qp-a --tag x",
        "delete qp-a",
        "update qp-a --title title",
        "update qp-a",
        "link add qp-a qp-a",
        "doctor --fix",
        "review --kind code --fix",
        "journal text",
        "update --where tag --tag b",
        "init",
        "setup",
        "mcp",
        "browse",
        "load x",
        "import x",
        "export passages",
        "hook claude SessionStart",
    ];
    for command in commands {
        let output = repository.qipu(&[words(command).as_slice(), &["--at", "HEAD~1"]].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        // A hook never fails.
        let code = if command.starts_with("hook") { 0 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{command}: {message}");
        let is_form = message.contains("--at works only with commands that read notes");
        assert!(is_form || message.contains("takes no --at"), "{command}: {message}");
    }
    assert_eq!(snapshot(&repository.path("")), before);
}

#[test]
#[ignore = "git"]
fn without_a_commit_or_a_working_tree_there_is_nothing_to_read() {
    let empty = Repository::new();
    for command in ["list --at HEAD", "list --at today", "history --since HEAD"] {
        assert!(empty.refused(&words(command)).contains("there is no commit here yet"), "{command}");
    }
    empty.write(".qipu/notes/a.md", "---\nid: a\n---\nx\n");
    assert!(empty.refused(&["history", "a"]).contains("there is no commit here yet"));
    let repository = two_commits();
    assert!(repository.refused(&["list", "--at", "2001-01-01"]).contains("git log --reverse"));
    let bare = temp_dir();
    repository.git(&["clone", "--quiet", "--bare", ".", bare.path().to_str().unwrap()]);
    let output = repository.qipu_in(bare.path(), &["list", "--at", "HEAD"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no git repository here"), "{output:?}");
    let shallow = bare.path().join("shallow");
    let url = format!("file://{}", repository.path("").display());
    repository.git(&["clone", "--quiet", "--depth", "1", &url, shallow.to_str().unwrap()]);
    let shown = repository.qipu_in(&shallow, &["show", "qp-a", "--at", "HEAD"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("two"));
    let output = repository.qipu_in(&shallow, &["show", "qp-a", "--at", "2026-03-05"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("fetch --unshallow"), "{output:?}");
    let without_git =
        repository.qipu_command().args(["list", "--at", "HEAD"]).env("PATH", bare.path()).output().unwrap();
    assert_eq!(without_git.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&without_git.stderr).contains("git is not installed"), "{without_git:?}");
    // A repository that git refuses, as one of another owner, is not one without a commit.
    for args in [&["history", "qp-a"][..], &["history", "--since", "HEAD"], &["list", "--at", "HEAD"]] {
        let refused = repository.qipu_command().args(args).env("PATH", bare.path()).output().unwrap();
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(message.contains("refuses to read this repository"), "{args:?}: {message}");
    }
}

/// Adds a tree of entries to a repository without the checks of git: mode, name and object of each. Returns its name.
fn raw_tree(repository: &Repository, entries: &[(&str, &str, &str)]) -> String {
    let mut bytes = Vec::new();
    for (mode, name, object) in entries {
        let object: Vec<u8> =
            (0..object.len()).step_by(2).map(|at| u8::from_str_radix(&object[at..at + 2], 16).unwrap()).collect();
        bytes.extend([mode.as_bytes(), b" ", name.as_bytes(), b"\0", &object].concat());
    }
    repository.git_with(&["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], &bytes).trim().to_owned()
}

#[test]
#[ignore = "git"]
fn a_hostile_commit_leads_nowhere_and_runs_nothing() {
    let repository = two_commits();
    let blob = |text: &str| repository.git_with(&["hash-object", "-w", "--stdin"], text.as_bytes()).trim().to_owned();
    let note = blob("---\nid: qp-evil\ntitle: Evil\n---\nx\n");
    let notes = raw_tree(
        &repository,
        &[
            ("100644", "../../up.md", &note),
            ("100644", "..", &note),
            ("100644", "good.md", &blob("---\nid: qp-good\n---\ngood\n")),
            ("120000", "link.md", &blob("/etc/passwd")),
        ],
    );
    let store = raw_tree(&repository, &[("40000", "notes", &notes)]);
    let config = blob("[core]\n\tfsmonitor = touch pwned\n");
    let git = raw_tree(&repository, &[("100644", "config", &config)]);
    let attributes = blob("* filter=evil diff=evil ident\n");
    let root = raw_tree(
        &repository,
        &[("40000", ".git", &git), ("100644", ".gitattributes", &attributes), ("40000", ".qipu", &store)],
    );
    let commit = repository.git(&["commit-tree", "-m", "evil", &root]).trim().to_owned();
    for (key, value) in [
        ("filter.evil.smudge", "touch pwned"),
        ("diff.evil.textconv", "touch pwned"),
        ("core.fsmonitor", "touch pwned"),
        ("core.hooksPath", "."),
        ("core.pager", "touch pwned"),
    ] {
        repository.git(&["config", key, value]);
    }
    let before = snapshot(&repository.path(""));
    let listed = repository.ok(&["list", "--at", &commit]);
    assert!(listed.contains("qp-good") && !listed.contains("qp-evil") && !listed.contains("root:"), "{listed}");
    assert!(repository.qipu(&["doctor", "--at", &commit]).status.code().is_some());
    repository.ok(&["history", "qp-a"]);
    repository.ok(&["history", "--since", &commit, "--until", "HEAD"]);
    assert_eq!(snapshot(&repository.path("")), before, "something was written or run");
}

#[test]
#[ignore = "git"]
fn a_huge_note_is_cut_and_a_missing_one_is_named() {
    let repository = two_commits();
    let huge = format!("---\nid: qp-huge\ntitle: Huge\n---\n{}", "word ".repeat(4 * 1024 * 1024));
    repository.write(".qipu/notes/huge.md", &huge);
    repository.write(".qipu/attachments/big.bin", &"0".repeat(20 * 1024 * 1024));
    repository.git(&["add", "--all"]);
    repository.git(&["commit", "--quiet", "-m", "huge"]);
    for command in ["list", "doctor", "show qp-huge --json", "dump -"] {
        let expected = repository.qipu(&words(command));
        let found = repository.qipu(&[words(command).as_slice(), &["--at", "HEAD"]].concat());
        assert!(answer(&found) == answer(&expected), "{command}");
    }
    let object = repository.git(&["rev-parse", "HEAD:.qipu/notes/huge.md"]);
    let (folder, file) = object.trim().split_at(2);
    fs::remove_file(repository.path(&format!(".git/objects/{folder}/{file}"))).unwrap();
    let output = repository.qipu(&["list", "--at", "HEAD"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("qp-a"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("notes/huge.md"), "{output:?}");
}

#[test]
#[ignore = "git"]
fn the_history_of_a_hostile_commit_forges_nothing() {
    let repository = two_commits();
    repository.note("qp-a", "status: \"a\\nD version commit=forged\"\n", "x\u{1b}[31m\n\nD version commit=forged");
    repository.git(&["add", "--all"]);
    let author = "Eve\u{1b}[31m\u{202e} D version";
    let mut commit = repository.command("git");
    assert!(commit.args(["commit", "--quiet", "-m", "x"]).env("GIT_AUTHOR_NAME", author).status().unwrap().success());
    for format in ["--format=human", "--records", "--json"] {
        for command in [vec!["history", "qp-a"], vec!["history", "--since", "HEAD~1"]] {
            let shown = repository.ok(&[command.as_slice(), &[format]].concat());
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
            let forged = shown.lines().filter(|line| line.starts_with("D version commit=forged")).count();
            assert_eq!(forged, 0, "{shown}");
        }
    }
    let whole = repository.ok(&["history", "qp-a"]).chars().count();
    for budget in (0..=whole + 5).step_by(7) {
        let output = repository.qipu(&["history", "qp-a", "--max-chars", &budget.to_string()]);
        assert!(String::from_utf8_lossy(&output.stdout).chars().count() <= budget, "{output:?}");
    }
    assert!(repository.ok(&["history", "qp-a", "--limit", "2", "--records"]).lines().count() == 3);
}

#[test]
#[ignore = "git"]
fn a_history_begins_with_what_is_not_committed() {
    let repository = two_commits();
    let actions = || {
        let answer = json(&repository.ok(&["history", "qp-a", "--json"]));
        let versions = answer["versions"].as_array().unwrap().iter();
        versions.map(|version| (text(&version["action"]), version["commit"].is_null())).collect::<Vec<_>>()
    };
    let change = |action: &str, is_open| (action.to_owned(), is_open);
    assert_eq!(actions(), [change("changed", false), change("created", false)]);
    repository.note("qp-a", "", "three");
    assert_eq!(actions().first(), Some(&change("changed", true)));
    fs::rename(repository.path(".qipu/notes/qp-a.md"), repository.path(".qipu/notes/b.md")).unwrap();
    assert_eq!(actions(), [change("renamed", true), change("changed", false), change("created", false)]);
    repository.git(&["add", "--all"]);
    assert_eq!(actions(), [change("renamed", true), change("changed", false), change("created", false)]);
    repository.note("qp-new", "", "new");
    let answer = json(&repository.ok(&["history", "qp-new", "--json"]));
    assert_eq!(answer["versions"][0]["action"], "created");
    // At a commit, there is nothing else.
    assert_eq!(
        json(&repository.ok(&["history", "qp-a", "--json", "--at", "HEAD~1"]))["versions"].as_array().unwrap().len(),
        1
    );
}
