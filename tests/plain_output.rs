//! Lines for scripts: fields, ids and paths of notes; nothing in a note forges a line or a field.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::files::{copy_folder, temp_dir};
use crate::support::generators::{commands, runner, stores};
use crate::support::process::{Answer, call};
use proptest::prelude::*;
use qipu::Screen;
use qipu::commands::run_on;
use qipu::fit::fit;
use qipu::report::Report;
use qipu::request::{Budget, Format, LineFormat};

const RESEARCH: &str = "fixtures/research";

fn stdout(dir: &str, args: &[&str]) -> String {
    let answer = call(dir, args);
    assert!(answer.error.is_none(), "{args:?}: {:?}", answer.error);
    answer.stdout
}

fn list(args: &[&str]) -> String {
    stdout(RESEARCH, &[&["list"], args].concat())
}

#[test]
fn fields_are_columns_and_notes_are_lines() {
    assert_eq!(
        list(&["--fields", "id,title,type,path,tags", "--sort", "title", "--limit", "2", "id in (qp-h2v6, qp-u0k8)"]),
        "qp-h2v6\tRetry fsync until it succeeds\tfleeting\t.qipu/notes/qp-h2v6-retry-fsync-until-it-succeeds.md\t\
         fsync,errors\n\
         qp-u0k8\t미리 할당해도 fdatasync가 싸지지 않는 이유\tpermanent\t.qipu/notes/qp-u0k8-preallocation.md\t\
         fsync,log,performance,ext4\n"
    );
    assert_eq!(
        list(&["--format", "ids", "--sort", "id", "--limit", "2"]),
        list(&["--fields=id", "--sort=id", "--limit=2"])
    );
    assert_eq!(list(&["--format", "paths"]).lines().count(), 56);
    assert_eq!(list(&["--format", "paths"]), list(&["--fields", "path"]));
    assert_eq!(list(&["--fields", "id,nothing,collection", "id = qp-h2v6"]), "qp-h2v6\t\tproject\n");
    assert_eq!(list(&["--fields", "status,value", "id = qp-h2v6"]), "rejected\t10\n");
    let nul = list(&["--format", "paths", "-0"]);
    assert_eq!(nul.replace('\0', "\n"), list(&["--format", "paths"]));
    assert!(nul.ends_with('\0') && !nul.contains('\n'));
}

#[test]
fn every_command_that_lists_notes_has_lines() {
    for (args, first) in [
        (&["search", "fsync fails", "--limit", "2", "--fields", "id,relevance"][..], "qp-r7a1\t0."),
        (&["search", "--like", "qp-h2v6", "--limit", "2", "--format", "ids"], "qp-"),
        (&["context", "--note", "qp-h2v6", "--format", "ids"], "qp-h2v6\n"),
        (&["ask", "fsync fails", "--fields", "id,title"], "qp-"),
        (&["show", "qp-h2v6", "--fields", "id,type"], "qp-h2v6\tfleeting\n"),
        (&["list", "--type", "fleeting", "--format", "ids", "--limit", "1"], "qp-"),
        (&["about", "settings.toml", "--format", "ids"], "qp-"),
        (&["journal", "--date", "2025-03-31", "--format", "ids"], "journal-2025-03-31\n"),
        (&["review", "--fields", "kind,id,path", "--today", "2025-03-31", "--limit", "1"], "draft\tqp-"),
    ] {
        let text = stdout(RESEARCH, args);
        assert!(text.starts_with(first), "{args:?}: {text}");
    }
}

#[test]
fn lines_that_are_left_out_are_counted_on_standard_error() {
    for (args, lines, error) in [
        (&["list", "--fields", "id", "--max-chars", "3"][..], 0, "(0 of 56 notes shown)\n"),
        (&["list", "--format", "paths", "-0", "--limit", "2"], 2, "(2 of 56 notes shown)\n"),
        (&["list", "--format", "ids", "--limit", "4", "--max-chars", "40"], 2, "(2 of 56 notes shown)\n"),
        (&["list", "--format", "ids", "--limit", "56"], 56, ""),
        (&["list", "-q", "-n", "2"], 2, "(2 of 56 notes shown)\n"),
        (&["list", "--format", "ids", "tag = nothing"], 0, "no note has the tag 'nothing'\n"),
        (&["review", "--format", "ids", "--today", "2025-03-31"], 1, ""),
        (&["search", "fsync", "--format", "ids", "--limit", "3"], 3, "(3 of 38 notes shown)\n"),
        (&["tasks", "--fields", "id", "--limit", "1"], 1, "(output truncated)\n"),
        (&["tasks", "--format", "ids", "--max-chars", "12"], 1, "(output truncated)\n"),
    ] {
        let (out, said) = said(args);
        assert_eq!((out.matches(['\n', '\0']).count(), said.as_str()), (lines, error), "{args:?}");
    }
}

/// Returns what the program writes on standard output and on standard error.
fn said(args: &[&str]) -> (String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_qipu"));
    let output = command.args(args).current_dir(RESEARCH).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_missing_field_is_empty_and_named_on_standard_error() {
    let (out, error) = said(&["list", "--fields", "id,titel", "id = qp-h2v6"]);
    assert_eq!(out, "qp-h2v6\t\n");
    assert!(error.contains("no note of the answer has the field 'titel'; did you mean 'title'?"), "{error}");
    let (out, error) = said(&["list", "--format", "ids", "fsync"]);
    assert_eq!(out, "");
    assert!(error.contains("no note has the field 'fsync'; `qipu search` finds words"), "{error}");
    assert_eq!(said(&["list", "--fields", "id,status,relevance,collection", "id = qp-h2v6"]).1, "");
    let (_, error) = said(&["list", "--fields", "id,links-to,day", "id = qp-h2v6"]);
    assert_eq!(error.matches("is only a filter, and no note of the answer has such a field").count(), 2, "{error}");
}

/// A note whose title, tags, path and fields try to be more than one line or field.
#[test]
fn nothing_in_a_note_forges_a_line_or_a_field() {
    let dir = temp_dir();
    let notes = dir.path().join(".qipu/notes");
    fs::create_dir_all(&notes).unwrap();
    fs::write(dir.path().join(".qipu/config.toml"), "parents = false\n").unwrap();
    let text = "---\nid: n\ntitle: \"a\\tb\\nqp-forged\\tc\\r\\u2028\\u0085\\e[31m\\0\"\ntags: [\"x\\ty\", \"z\\nw\"]\n\
                owner: \"one\\n two\\tthree\"\nmap: {a: 1}\n---\n";
    fs::write(notes.join("a\tb\nc.md"), text).unwrap();
    let at = dir.path().to_str().unwrap();
    for terminator in [&["--color=never"][..], &["-0"]] {
        let text = stdout(at, &[&["list", "--fields", "id,title,tags,owner,path,map"], terminator].concat());
        let (end, fields) = (text.chars().last().unwrap(), text.trim_end_matches(['\0', '\n']));
        assert_eq!(end, if terminator == ["-0"] { '\0' } else { '\n' });
        assert_eq!(fields.matches('\t').count(), 5, "{text:?}");
        assert!(!fields.contains(|c: char| c != '\t' && (c.is_control() || c == '\u{2028}')), "{text:?}");
    }
    let path = stdout(at, &["list", "--format", "paths", "-0"]);
    assert_eq!(path, ".qipu/notes/a\tb\nc.md\0", "before a NUL, a path alone is written as it is");
    assert!(Path::new(at).join(path.trim_end_matches('\0')).exists());
}

/// Every command in lines: within the budget, whole lines of the whole answer, with all fields.
#[test]
fn the_law_of_fit_holds_for_lines() {
    let cases = AtomicUsize::new(0);
    let inputs = (stores(), prop::collection::vec(0_usize..400, 4), 1..=FIELDS.len(), any::<bool>());
    runner(40)
        .run(&inputs, |(store, budgets, count, ends_with_nul)| {
            let fields = FIELDS[..count].iter().map(|field| (*field).to_owned()).collect();
            let format = LineFormat { fields, is_name: false, ends_with_nul };
            for command in commands(&store) {
                let Ok(mut report) = run_on(&command, &store) else { continue };
                report.head.lines = format.clone();
                cases.fetch_add(check_lines(&report, &budgets), Ordering::Relaxed);
            }
            Ok(())
        })
        .unwrap();
    assert!(cases.load(Ordering::Relaxed) > 3_000, "{cases:?}");
}

const FIELDS: [&str; 7] = ["id", "title", "path", "tags", "summary", "owner", "relevance"];

/// Checks an answer in each budget, and returns the number of cases.
fn check_lines(report: &Report, budgets: &[usize]) -> usize {
    let write =
        |max_chars| fit(report, Budget { max_chars, ..Budget::default() }, Format::Lines, Screen::default()).unwrap();
    let whole = write(None);
    let chars = whole.chars().count();
    let end = if report.head.lines.ends_with_nul { '\0' } else { '\n' };
    let all: BTreeSet<&str> = whole.split_inclusive(end).collect();
    let tabs = report.head.lines.fields.len() - 1;
    for budget in budgets.iter().copied().chain([chars]) {
        let text = write(Some(budget));
        assert!(text.chars().count() <= budget, "{text:?}");
        assert!(budget < chars || text == whole, "{text:?}");
        for line in text.split_inclusive(end) {
            assert!(line.ends_with(end) && line.matches('\t').count() == tabs, "{line:?}");
            // Where novelty decides, the first notes that fit decide which ones follow.
            assert!(report.candidates.is_some() || all.contains(line), "{line:?}");
        }
    }
    budgets.len() + 1
}

#[test]
fn lines_are_refused_where_they_mean_nothing() {
    let refused = |args: &[&str]| -> Answer {
        let answer = call(RESEARCH, args);
        assert_eq!((answer.code(), answer.stdout.as_str()), (2, ""), "{args:?}");
        answer
    };
    for args in [
        &["status", "--format", "ids"][..],
        &["export", "links", "--fields", "id"],
        &["doctor", "--format", "paths"],
        &["list", "-0"],
        &["list", "--fields", "id", "--json"],
        &["list", "--fields", "id", "--format", "human"],
        &["journal", "text", "--fields", "id"],
        &["list", "--fields", "id,,title"],
        &["show", "qp-h2v6", "--raw", "--fields", "id"],
    ] {
        refused(args);
    }
}

/// The pipes of specs/guide/people.md, each with the words that a person would type into fzf, and a part of what it
/// prints or changes.
const PIPES: [(&str, &str, &str); 6] = [
    ("fzf --delimiter", "retry until", "Retry fsync until it succeeds (qp-h2v6)"),
    ("xargs -0 \"$EDITOR\"", "", "id: qp-t4x8\n"),
    ("qipu update --tag decided", "", "qp-z6w1 changed "),
    ("fzf --multi", "scrubbing", "qp-5m3y changed .qipu/notes/qp-5m3y-decision-append-only-frames.md\n"),
    ("group_by(.title)", "", "3\tDecision: an append-only log of checksummed frames\n"),
    ("@tsv", "", "supported-by\tqp-q8s2\n"),
];

#[test]
#[ignore = "needs fzf and jq"]
fn documented_pipes_work() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("specs/guide/people.md")).unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let pipes: Vec<&str> = blocks.filter(|block| block.lines().count() == 1).map(str::trim_end).collect();
    assert_eq!(pipes.len(), PIPES.len(), "{pipes:?}");
    for (pipe, (part, typed, expected)) in pipes.into_iter().zip(PIPES) {
        assert!(pipe.contains(part), "{pipe}");
        let dir = temp_dir();
        copy_folder(Path::new(RESEARCH), dir.path());
        let output = pipe_in(dir.path(), pipe, typed);
        assert!(output.contains(expected), "{pipe}\n{output}");
    }
}

/// Runs a pipe in a shell that fails with any of its programs. fzf answers `typed` without a terminal.
fn pipe_in(dir: &Path, pipe: &str, typed: &str) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_qipu")).parent().unwrap();
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", &format!("set -euo pipefail\n{pipe}")]).current_dir(dir).env_clear();
    shell.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    shell.env("EDITOR", "cat").env("FZF_DEFAULT_OPTS", format!("--filter='{typed}'")).env("HOME", dir);
    let output = shell.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    // A search has a limit of its own.
    let is_expected = |line: &str| line.ends_with(" notes shown)");
    assert!(output.status.success() && error.lines().all(is_expected), "{pipe}\n{error}");
    String::from_utf8(output.stdout).unwrap()
}
