//! Tests only: a process is killed at every point of a write, and no change is made in part.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::env::{Env, WaitPolicy};

/// The number of points that the process has passed.
static PASSED: AtomicUsize = AtomicUsize::new(0);
const POINT: &str = "QIPU_TEST_DIES_AT";
const DIR: &str = "QIPU_TEST_DIR";
const WORDS: &str = "QIPU_TEST_WORDS";

/// A point of a write; aborts the process if it is the chosen one.
pub(crate) fn here() {
    let at = std::env::var(POINT).ok().and_then(|at| at.parse().ok());
    if at == Some(PASSED.fetch_add(1, Ordering::Relaxed)) {
        std::process::abort();
    }
}

/// One command in a process of its own, which may abort; does nothing in an ordinary test run.
#[test]
fn child() {
    let (Ok(dir), Ok(words)) = (std::env::var(DIR), std::env::var(WORDS)) else { return };
    let waits = WaitPolicy { pause: |_| (), ..WaitPolicy::default() };
    let env = Env { current_dir: dir.into(), random: 7, is_only_call: false, waits, ..Env::of_process().unwrap() };
    let words: Vec<_> = words.split('\n').map(Into::into).collect();
    crate::run(&words, &env, &mut Vec::new()).unwrap();
}

/// Runs a command in a child process that aborts at the point `dies_at`. Returns whether it completed.
fn call(dir: &Path, words: &[&str], dies_at: Option<usize>) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crash_tests::child"]).env(DIR, dir).env(WORDS, words.join("\n"));
    command.env("XDG_CACHE_HOME", dir.join("cache"));
    command.env(POINT, dies_at.map_or(String::new(), |at| at.to_string()));
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

const NOTES: [(&str, &str); 4] = [
    ("notes/a-old.md", "---\nid: a\ntitle: Old\ntags: [x] # kept\n---\nBody of a.\n"),
    ("notes/b.md", "---\nid: b\ntitle: B\n---\nSee [[Old]] and [a](a-old.md).\n"),
    ("mocs/c.md", "---\nid: c\ntitle: C\nlinks:\n- {type: supports, id: a}\n---\n[[Old|label]] [[b]]\n"),
    ("notes/d.md", "No frontmatter, [[b]].\n"),
];

fn store() -> tempfile::TempDir {
    store_in(tempfile::tempdir().unwrap(), &NOTES)
}

/// Creates a store of notes in a folder.
pub(crate) fn store_in(dir: tempfile::TempDir, notes: &[(&str, &str)]) -> tempfile::TempDir {
    for (path, text) in notes {
        let file = dir.path().join(".qipu").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    dir
}

/// Returns the files that are not hidden.
fn files(dir: &Path) -> Vec<(String, String)> {
    all_files(dir).into_iter().filter(|(path, _)| !path.starts_with('.') && !path.contains("/.")).collect()
}

/// Returns the files of a store but for its lock, with their content, sorted by path.
pub(crate) fn all_files(dir: &Path) -> Vec<(String, String)> {
    let root = dir.join(".qipu");
    let entries = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().map(Result::unwrap);
    let found = entries.filter(|entry| entry.file_type().is_file() && entry.file_name() != ".lock").map(|entry| {
        let path = entry.path().strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        (path, fs::read_to_string(entry.path()).unwrap())
    });
    found.collect()
}

#[test]
fn a_death_at_any_point_leaves_old_or_new_files_and_the_next_writer_finishes() {
    let calls: [&[&str]; 7] = [
        &["qipu", "update", "a", "--tag", "new", "--today", "2025-03-01"],
        &["qipu", "update", "a", "b", "c", "--value", "7", "--today", "2025-03-01"],
        &["qipu", "update", "a", "--title", "Another title", "--today", "2025-03-01"],
        &["qipu", "update", "--where", "tag = x", "--untag", "x", "--tag", "y", "--today", "2025-03-01"],
        &["qipu", "delete", "a", "--force"],
        &["qipu", "delete", "a", "c", "--force"],
        &["qipu", "capture", "a thought", "--today", "2025-03-01"],
    ];
    for words in calls {
        let whole = store();
        let before = files(whole.path());
        assert!(call(whole.path(), words, None), "{words:?}");
        let after = files(whole.path());
        let mut points = 0;
        let (mut nothing, mut everything) = (0, 0);
        loop {
            let dir = store();
            let lived = call(dir.path(), words, Some(points));
            let seen = files(dir.path());
            for (path, text) in &seen {
                let mut known = before.iter().chain(&after);
                assert!(known.any(|(_, known)| known == text), "{words:?} died at {points}: {path}: {text}");
            }
            for (path, _) in &before {
                let is_gone = !seen.iter().any(|(have, _)| have == path);
                assert!(!is_gone || !after.iter().any(|(have, _)| have == path), "{path} is lost at {points}");
            }
            // What the next writer finds is all or nothing; a note that is created changes no other.
            assert!(call(dir.path(), &["qipu", "link", "add", "d", "b", "--today", "2025-03-02"], None));
            let finished: Vec<_> = files(dir.path()).into_iter().filter(|(path, _)| path != "notes/d.md").collect();
            let of = |files: &[(String, String)]| {
                files.iter().filter(|(path, _)| path != "notes/d.md").cloned().collect::<Vec<_>>()
            };
            nothing += usize::from(finished == of(&before));
            everything += usize::from(finished == of(&after));
            assert!(finished == of(&before) || finished == of(&after), "{words:?} at {points}: {finished:#?}");
            if lived {
                break;
            }
            points += 1;
        }
        assert!(points >= 2 && nothing >= 1 && everything >= 1, "{words:?}: {points} points, {nothing} {everything}");
    }
}

/// Creates a store and a source beside it, whose documents have a tag.
fn documents() -> tempfile::TempDir {
    let config = "[[documents]]\npath = \"docs\"\nwritable = true\n";
    let page = "---\ntags: [x] # kept\n---\nText.\n";
    let files = [("config.toml", config), ("../docs/a.md", page), ("../docs/b.md", page), ("../docs/sub/c.md", page)];
    store_in(tempfile::tempdir().unwrap(), &files)
}

/// Returns the documents that are not hidden, with their content, sorted by path.
fn texts_of_documents(dir: &Path) -> Vec<(String, String)> {
    let entries = walkdir::WalkDir::new(dir.join("docs")).sort_by_file_name().into_iter().map(Result::unwrap);
    let found = entries.filter(|entry| entry.file_type().is_file()).map(|entry| {
        let name = entry.file_name().to_str().unwrap().to_owned();
        // A temporary file may stay, and nothing else.
        assert!(!name.starts_with('.') || name.starts_with(".qipu-tmp-"), "{name}");
        (name, fs::read_to_string(entry.path()).unwrap())
    });
    found.filter(|(name, _)| !name.starts_with('.')).collect()
}

#[test]
fn a_death_while_documents_change_leaves_old_or_new_files_and_the_next_writer_finishes() {
    let words =
        ["qipu", "update", "--where", "tag = x", "--untag", "x", "--tag", "y", "--in", "docs", "--today", "2025-03-01"];
    let whole = documents();
    let before = texts_of_documents(whole.path());
    assert!(call(whole.path(), &words, None));
    let after = texts_of_documents(whole.path());
    assert_ne!(before, after);
    let (mut points, mut nothing, mut everything) = (0, 0, 0);
    loop {
        let dir = documents();
        let lived = call(dir.path(), &words, Some(points));
        // The next writer creates a document, and changes no other.
        assert!(call(
            dir.path(),
            &["qipu", "capture", "--title", "New", "--in", "docs", "--today", "2025-03-02"],
            None
        ));
        let found = texts_of_documents(dir.path());
        let finished: Vec<_> = found.into_iter().filter(|(name, _)| name != "new.md").collect();
        nothing += usize::from(finished == before);
        everything += usize::from(finished == after);
        assert!(finished == before || finished == after, "died at {points}: {finished:#?}");
        if lived {
            break;
        }
        points += 1;
    }
    assert!(nothing > 0 && everything > 1, "died at {points} points: {nothing} {everything}");
}
