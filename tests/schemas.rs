//! The schemas of `specs/schema/` describe the real answers: those of the snapshots, whose fields are all described and mostly
//! required, and those of the commands that no snapshot shows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::files::{copy_folder, temp_dir};
use crate::support::process::call;
use crate::support::schema::{SCHEMAS, errors, schema_name};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the answers of the snapshots in JSON, each with the file.
fn snapshot_answers() -> Vec<(String, Value)> {
    let files = fs::read_dir(Path::new(ROOT).join("tests/snapshots")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.to_str().unwrap().ends_with("@json.snap")).collect();
    files.sort();
    let mut answers = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        for part in text.split("==== ").skip(1) {
            let (_, answer) = part.split_once('\n').unwrap();
            if answer.starts_with('{') {
                // A failed check follows its answer.
                let mut values = serde_json::Deserializer::from_str(answer).into_iter();
                answers.push((name.clone(), values.next().unwrap().unwrap()));
            }
        }
    }
    answers
}

#[test]
fn every_answer_of_the_snapshots_conforms_to_the_schema_of_its_kind() {
    let answers = snapshot_answers();
    assert!(answers.len() > 150, "only {} answers found", answers.len());
    for (name, answer) in answers {
        let errors = errors(&answer);
        assert!(errors.is_empty(), "{name}: {}", errors.join("\n"));
    }
}

/// A field that is misspelt, has a wrong type or is unknown is noticed, wherever it is in an answer.
#[test]
fn a_wrong_field_does_not_conform() {
    let mut changes = 0;
    for (name, answer) in snapshot_answers() {
        for pointer in members(&answer, "") {
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            // Custom fields and the parts of a score are open.
            if parent.contains("/custom") || parent.contains("/explain") {
                continue;
            }
            let mut renamed = answer.clone();
            let object = renamed.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            let value = object.remove(field).unwrap();
            object.insert(format!("{field}-x"), value);
            assert!(!errors(&renamed).is_empty(), "{name}: {pointer} may be renamed");
            let mut retyped = answer.clone();
            *retyped.pointer_mut(&pointer).unwrap() = json!([[[]]]);
            assert!(!errors(&retyped).is_empty(), "{name}: {pointer} may have any type");
            changes += 1;
        }
    }
    assert!(changes > 3_000, "only {changes} changes");
}

/// Returns the pointers of all members of objects; of an array those of its first item.
fn members(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::Object(object) => object
            .iter()
            .flat_map(|(name, member)| {
                let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                let inner = members(member, &pointer);
                [pointer].into_iter().chain(inner)
            })
            .collect(),
        Value::Array(items) => items.first().map(|item| members(item, &format!("{at}/0"))).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Command lines for the schemas that no snapshot reaches, in a copy of `fixtures/research`.
const OTHERS: &[&str] = &[
    "init --store elsewhere/.qipu",
    "capture A-thought. --tag x",
    "capture --title A-title --dry-run",
    "update qp-h2v6 --tag x",
    "update qp-h2v6 --title Another-title",
    "supersede qp-h2v6 qp-r7a1",
    "merge qp-1c7q qp-e5r1 --dry-run",
    "delete qp-1c7q --force --dry-run",
    "journal A-line. --today 2025-04-01",
    "journal --today 2025-04-01",
    "link add qp-n2g8 related qp-1c7q",
    "link remove qp-n2g8 related qp-1c7q",
    "export page page.html",
    "export links links.json",
    "export passages passages.ndjson",
    "export pack all.pack",
    "import all.pack",
    "man --dir pages",
    "setup agents-md --dry-run",
    "setup agents-md",
    "search zzzz",
    "show qp-h2v6 --raw",
    "ask fsync --note qp-h2v6",
    "doctor --fix",
    "review --kind code --fix",
];

#[test]
fn answers_of_other_commands_conform_too() {
    let folder = temp_dir();
    copy_folder(&Path::new(ROOT).join("fixtures/research"), folder.path());
    let mut seen: BTreeSet<String> = snapshot_answers().iter().map(|(_, answer)| schema_name(answer)).collect();
    for line in OTHERS {
        let mut words: Vec<&str> = line.split(' ').collect();
        words.push("--json");
        let answer = call(folder.path().to_str().unwrap(), &words);
        assert!(answer.error.is_none(), "{line}: {:?}", answer.error);
        let json: Value = serde_json::from_str(&answer.stdout).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(errors(&json), Vec::<String>::new(), "{line}");
        seen.insert(schema_name(&json));
    }
    let error = call(folder.path().to_str().unwrap(), &["show", "nosuch", "--json"]).error.unwrap().to_json();
    assert_eq!(errors(&serde_json::from_str(&error).unwrap()), Vec::<String>::new());
    // The two read commits; `tests/docs.rs` shows them.
    seen.extend(["error", "definitions", "history", "history.notes"].map(str::to_owned));
    let all: BTreeSet<String> = SCHEMAS.keys().cloned().collect();
    assert_eq!(all.difference(&seen).collect::<Vec<_>>(), Vec::<&String>::new(), "no answer uses these schemas");
}
