//! The commit hook: `.ci/commit-msg` accepts a subject with one area and a body, and nothing else.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::files::temp_dir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const SUBJECT: &str = "search: reuse the interner across batches";

/// Returns what the hook says against a message, or nothing if it accepts it.
fn refusal(message: &str) -> Option<String> {
    let dir = temp_dir();
    let file = dir.path().join("message");
    fs::write(&file, message).unwrap();
    let output = Command::new(Path::new(ROOT).join(".ci/commit-msg")).arg(&file).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), error.is_empty(), "{error}");
    (!output.status.success()).then_some(error)
}

#[test]
fn messages_with_one_area_and_a_body_are_accepted() {
    let longest = format!("docs: {}", "ä".repeat(66));
    for message in [
        format!("{SUBJECT}\n\nA table per batch was filled again.\n"),
        format!("{longest}\n\nWhy.\n\nSigned-off-by: A <a@example.org>\n"),
        format!("{SUBJECT}\n\nWhy.\n# Please enter the commit message.\n"),
        format!("{SUBJECT}\n\nWhy.\n# ------------------------ >8 ------------------------\ndiff --git a/a b/a\n"),
        "Merge branch 'x'\n".to_owned(),
        "Revert \"search: x\"\n".to_owned(),
        format!("fixup! {SUBJECT}\n"),
    ] {
        assert_eq!(refusal(&message), None, "{message}");
    }
}

#[test]
fn other_messages_are_refused_with_what_to_change() {
    for (message, expected) in [
        ("reuse the interner\n\nWhy.\n".to_owned(), "one area"),
        ("search, store: reuse it\n\nWhy.\n".to_owned(), "one area"),
        ("Search: reuse it\n\nWhy.\n".to_owned(), "one area"),
        ("search:reuse it\n\nWhy.\n".to_owned(), "one area"),
        (String::new(), "one area"),
        (format!("search: {}\n\nWhy.\n", "x".repeat(65)), "72 characters"),
        (format!("{SUBJECT}\nWhy.\n"), "second line"),
        (SUBJECT.to_owned(), "body"),
        (format!("{SUBJECT}\n\n# a comment\n"), "body"),
        (format!("{SUBJECT}\n\nSigned-off-by: A <a@example.org>\n"), "body"),
        (format!("{SUBJECT}\n\n# ------------------------ >8 ------------------------\ndiff\n"), "body"),
    ] {
        let refusal = refusal(&message).unwrap_or_else(|| panic!("accepted: {message}"));
        assert!(refusal.contains(expected), "{message}: {refusal}");
    }
}

#[test]
#[ignore = "needs git"]
fn git_calls_the_hook_after_its_installation() {
    let dir = temp_dir();
    let succeeds = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(dir.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command.output().unwrap().status.success()
    };
    let git =
        |args: &[&str]| succeeds("git", &[&["-c", "user.name=a", "-c", "user.email=a@example.org"], args].concat());
    assert!(git(&["init", "-q"]));
    fs::create_dir(dir.path().join(".ci")).unwrap();
    for name in ["commit-msg", "install-hooks"] {
        fs::copy(Path::new(ROOT).join(".ci").join(name), dir.path().join(".ci").join(name)).unwrap();
    }
    for _ in 0..2 {
        assert!(succeeds("sh", &[".ci/install-hooks"]));
    }
    assert!(!git(&["commit", "-q", "--allow-empty", "-m", SUBJECT]));
    assert!(git(&["commit", "-q", "--allow-empty", "-m", SUBJECT, "-m", "Why."]));
}
