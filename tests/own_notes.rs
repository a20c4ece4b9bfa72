//! Own notes beside documents: whose word comes first in answers, and what speaks in hooks.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::files::{copy_folder, path, store, temp_dir, write_in_store};
use crate::support::process::{Answer, call, call_with};

/// What an answer may need more beside documents: a longer count of notes.
const ROOM: usize = 60;

/// The words of the questions, none of which is a stop word or has a form of another.
const WORDS: [&str; 12] = [
    "lantern", "harbor", "pigment", "gravel", "turbine", "walnut", "granite", "saddle", "copper", "meadow", "violin",
    "anchor",
];

/// Creates a project with notes and a folder of documents, given with their names in it. `settings`: further lines of its table.
fn project(notes: &[(&str, &str)], documents: &[(String, String)], settings: &str) -> TempDir {
    let dir = store(&[]);
    fs::create_dir(dir.path().join(".git")).unwrap();
    for (id, text) in notes {
        write_in_store(dir.path(), &format!("notes/{id}.md"), format!("---\nid: {id}\n---\n{text}\n"));
    }
    if !documents.is_empty() {
        write_in_store(dir.path(), "config.toml", format!("[[documents]]\npath = \"docs\"\n{settings}\n"));
        fs::create_dir(dir.path().join("docs")).unwrap();
    }
    for (name, text) in documents {
        fs::write(dir.path().join("docs").join(name), text).unwrap();
    }
    dir
}

/// Returns what a hook adds; empty for nothing.
fn hook(dir: &Path, event: &str, input: &Value) -> String {
    let answer = call_with(dir.to_str().unwrap(), &["hook", "claude", event, "--no-seen"], &input.to_string(), &[]);
    assert_eq!(answer.code(), 0);
    if answer.stdout.is_empty() {
        return String::new();
    }
    let json: Value = serde_json::from_str(&answer.stdout).unwrap();
    json["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

fn prompt(dir: &Path, text: &str) -> String {
    hook(dir, "UserPromptSubmit", &json!({"prompt": text, "cwd": dir}))
}

fn command(dir: &Path, line: &str) -> String {
    hook(dir, "PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": line}, "cwd": dir}))
}

fn edit(dir: &Path, file: &str) -> String {
    let tool_input = json!({"file_path": dir.join(file), "old_string": "a", "new_string": "b"});
    hook(dir, "PreToolUse", &json!({"tool_name": "Edit", "tool_input": tool_input, "cwd": dir}))
}

/// Documents that repeat some words in their names, titles, headings and paragraphs.
fn documents(words: &[&str], count: usize, repeats: usize) -> Vec<(String, String)> {
    let document = |number: usize| {
        let all = words.join(" ");
        let paragraph = format!("The {all} of the {all} and a {all} again, as {all}. ").repeat(repeats);
        let text = format!("# {all} {number}\n\n{paragraph}\n\n## About the {all}\n\n{paragraph}\n");
        (format!("{}-{number}.md", words.join("-")), text)
    };
    (0..count).map(document).collect()
}

/// A note that says what is asked is in each answer that has room for it, whatever documents stand beside it: in every
/// format, with and without a purpose, and first in a search.
#[test]
fn a_full_sentence_of_an_own_note_precedes_all_documents() {
    let case = (
        prop::sample::subsequence(WORDS.to_vec(), 1..6).prop_shuffle(),
        (1_usize..9, 1_usize..6, 300_usize..2_000),
        prop::sample::select(vec![
            "It began small. We keep SENTENCE here. Then it grew.",
            "- first things\n- we keep SENTENCE\n  - others\n",
            "# Title\n\nSome words before it.\n\n> We keep SENTENCE, says she.\n",
            "We wrapped\nthis and keep\nSENTENCE over\nlines.",
        ]),
    );
    let mut runner = TestRunner::new(Config { cases: 48, ..Config::default() });
    let law = |(words, (count, repeats, budget), form): (Vec<&str>, (usize, usize, usize), &str)| {
        let said = form.replace("SENTENCE", &words.join(" with the "));
        let notes = [("qp-own", said.as_str()), ("qp-other", "Nothing of interest stands in this one.")];
        let (alone, beside) = (project(&notes, &[], ""), project(&notes, &documents(&words, count, repeats), ""));
        let question = words.join(" and ");
        for args in [
            &["ask", &question][..],
            &["ask", &question, "--json"],
            &["ask", &question, "--records"],
            &["context", "--query", &question, "--purpose", "answer"],
            &["context", "--query", &question, "--abstraction", "adaptive", "--format", "prompt"],
        ] {
            let ask = |dir: &TempDir, chars: usize| {
                call(path(dir), &[args, &["--max-chars", &chars.to_string()]].concat()).stdout
            };
            let is_shown = |answer: &str| answer.contains("qp-own");
            if is_shown(&ask(&alone, budget)) {
                let answer = ask(&beside, budget + ROOM);
                prop_assert!(is_shown(&answer), "{:?} in {}: {}", args, budget + ROOM, answer);
            }
        }
        let found = call(path(&beside), &["search", &question, "--format", "ids"]).stdout;
        prop_assert_eq!(found.lines().next(), Some("qp-own"), "{}", found);
        Ok(())
    };
    runner.run(&case, law).unwrap();
}

/// The tier of each note that is no own one is told, in every command and format for programs.
#[test]
fn answers_tell_the_tier_of_documents() {
    let page = [("backups.md".to_owned(), format!("# Backups\n\n{RULE}\n"))];
    let dir =
        project(&[("qp-rule", "Backups of the ledger database run at night, and each restore is tried.")], &page, "");
    let question = "restore backups of the ledger database";
    let calls: [&[&str]; 4] = [
        &["ask", question],
        &["context", "--query", question, "--purpose", "answer", "--max-chars", "4000"],
        &["search", question],
        &["list"],
    ];
    for args in calls {
        let json: Value = serde_json::from_str(&call(path(&dir), &[args, &["--json"]].concat()).stdout).unwrap();
        let list = ["notes", "results"].iter().find_map(|name| json[name].as_array()).unwrap();
        let tiers: Vec<(&str, Option<&str>)> =
            list.iter().map(|note| (note["title"].as_str().unwrap(), note["tier"].as_str())).collect();
        assert_eq!(tiers.len(), 2, "{args:?}: {json}");
        assert!(tiers.iter().all(|(title, tier)| (*title == "Backups") == (*tier == Some("documents"))), "{tiers:?}");
        let records = call(path(&dir), &[args, &["--records"]].concat()).stdout;
        let marked = records.lines().filter(|line| line.starts_with("N ") && line.contains(" tier=documents"));
        assert_eq!(marked.count(), 1, "{args:?}: {records}");
    }
    let status = call(path(&dir), &["status", "--json"]).stdout;
    assert!(status.contains("\"tier\":\"own\"") && status.contains("\"tier\":\"documents\""), "{status}");
}

/// A question that names a document is answered by it, though an own note has all the other words.
#[test]
fn a_question_that_names_a_document_gets_it() {
    let pages =
        [("rotation.md".to_owned(), "# Key rotation\n\nKeys are rotated each May by the harbor crew.\n".to_owned())];
    let own = ("qp-own", "When keys are rotated: the crew rotates the keys in the document whenever a key leaks.");
    let dir = project(&[own], &pages, "");
    for question in [
        "when are keys rotated according to docs/rotation.md?",
        "what does [[docs:rotation]] say: when are keys rotated",
        "according to the document \"Key rotation\", when are keys rotated?",
    ] {
        for chars in ["300", "600", "2000"] {
            let answer = call(path(&dir), &["ask", question, "--max-chars", chars]).stdout;
            assert!(answer.contains("each May"), "{question} in {chars}: {answer}");
        }
    }
}

/// Returns the ids that a search lists.
fn ids(answer: &Answer) -> Vec<String> {
    answer.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn documents_alone_and_notes_alone_keep_their_order() {
    let note = "A lantern hangs at the harbor.";
    let documents = [("a.md".to_owned(), format!("# Harbor\n\n{note} {note}\n\nMore of it.\n"))];
    let beside = project(&[("qp-note", note)], &documents, "");
    assert_eq!(ids(&call(path(&beside), &["search", "lantern harbor", "--format", "ids"]))[0], "qp-note");
    // Notes are written in this folder, so that it is no less own than the store.
    let written = project(&[("qp-note", note)], &documents, "writable = true");
    assert_eq!(ids(&call(path(&written), &["search", "lantern harbor", "--format", "ids"]))[0], "a");
}

const RULE: &str = "Backups of the ledger database must never be compressed twice: the restore tool reads one layer of \
                    compression only, and a ledger restored from two layers is empty.";
const TASK: &str = "Please compress the backups of the ledger database before the restore tool reads them.";

#[test]
fn prompts_and_commands_hear_own_notes_and_no_documents() {
    let page = [("backups.md".to_owned(), format!("# Backups\n\n{RULE}\n"))];
    let documents = project(&[("qp-other", "The harbor has a lantern.")], &page, "");
    let line = "ledger restore --backups database --compressed";
    assert_eq!(prompt(documents.path(), TASK), "");
    assert_eq!(command(documents.path(), line), "");
    // The primer of a session counts the documents all the same, and a question is answered from them.
    assert!(hook(documents.path(), "SessionStart", &json!({"source": "startup"})).contains("2 notes"));
    assert!(call(path(&documents), &["ask", TASK]).stdout.contains("two layers"));
    let written = project(&[("qp-other", "The harbor has a lantern.")], &page, "writable = true");
    let own = project(&[("qp-rule", RULE), ("qp-other", "The harbor has a lantern.")], &page, "");
    for dir in [&written, &own] {
        assert!(prompt(dir.path(), TASK).contains("two layers"));
        assert!(command(dir.path(), line).contains("two layers"));
        for line in ["ls -la", "git status", "cargo build --release", "cd docs && make test", "database"] {
            assert_eq!(command(dir.path(), line), "", "{line}");
        }
    }
}

/// A project may have decision records and no note at all.
#[test]
fn decision_records_speak_without_any_note() {
    let record = |title: &str, decision: &str| {
        format!("# {title}\n\n## Status\n\nAccepted\n\n## Context\n\nWe had to choose.\n\n## Decision\n\n{decision}\n")
    };
    let records = [
        ("0001-ledger.md".to_owned(), record("1. Backups of the ledger", RULE)),
        ("0002-lantern.md".to_owned(), record("2. Lanterns", "Each harbor has a lantern. See src/harbor/lamp.rs.")),
    ];
    let dir = project(&[], &records, "as = \"adr\"");
    assert!(prompt(dir.path(), TASK).contains("two layers"));
    assert!(command(dir.path(), "ledger restore --backups database --compressed").contains("two layers"));
    assert!(edit(dir.path(), "src/harbor/lamp.rs").contains("Each harbor has a lantern"));
    assert_eq!(prompt(dir.path(), "Rename the walnut saddle to a copper violin."), "");
}

#[test]
fn before_an_edit_documents_speak_that_name_the_file_and_decide_or_warn() {
    let warning = "---\ntags: [warning]\n---\n# Lamps\n\nNever edit src/harbor/lamp.rs by hand: it is generated.\n";
    let pages = [
        ("warning.md".to_owned(), warning.to_owned()),
        ("folder.md".to_owned(), "---\ntags: [warning]\n---\n# Folder\n\nMind what is in src/harbor/.\n".to_owned()),
        ("tour.md".to_owned(), "# Tour\n\nThe lamp is in src/harbor/lamp.rs, as switch_lamp.\n".to_owned()),
    ];
    let note = ("qp-note", "The lamp in src/harbor/lamp.rs burns oil.");
    let dir = project(&[note], &pages, "");
    let said = edit(dir.path(), "src/harbor/lamp.rs");
    assert!(said.contains("by hand") && said.contains("burns oil"), "{said}");
    assert!(!said.contains("Mind what") && !said.contains("switch_lamp"), "{said}");
    // A question about the file is answered from all of them.
    let about = call(path(&dir), &["about", "src/harbor/lamp.rs"]).stdout;
    assert!(about.contains("switch_lamp") && about.contains("Mind what"), "{about}");
}

/// What hooks say at the judged prompts does not depend on the documents of a project.
#[test]
fn judged_prompts_are_answered_alike_beside_documents() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for (prompts, notes) in [("shop.jsonl", "prompts/shop"), ("firmware.jsonl", "prompts/firmware")] {
        let prompts = root.join("prompts").join(prompts);
        let args = ["eval", prompts.to_str().unwrap(), "--prompts", "--today", "2026-11-24", "--json"];
        let dir = temp_dir();
        copy_folder(&root.join(notes), dir.path());
        fs::create_dir(dir.path().join(".git")).unwrap();
        let alone = call(path(&dir), &args).stdout;
        // As many documents as notes, on the same subjects.
        copy_folder(&root.join("prompts"), &dir.path().join("docs"));
        copy_folder(&root.join(notes).join(".qipu/notes"), &dir.path().join("docs/more"));
        let config = fs::read_to_string(dir.path().join(".qipu/config.toml")).unwrap_or_default();
        write_in_store(dir.path(), "config.toml", config + "\n[[documents]]\npath = \"docs\"\n");
        let documents = call(path(&dir), &["status", "--json"]).stdout;
        assert!(documents.contains("docs"), "{documents}");
        assert_eq!(call(path(&dir), &args).stdout, alone);
        assert!(alone.contains("\"hits\""));
    }
}
