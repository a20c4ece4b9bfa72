//! `qipu eval`: the judged set over `fixtures/research` with the least it must reach, and what the command says of
//! hits, misses and false answers in small stores.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::files::temp_dir;
use crate::support::process::{Answer, call, call_with};
use serde_json::Value;

/// The least that the judged set must reach: a name, the budget, the value. A change that makes answers better raises
/// them, so that a later one can't undo it unseen.
const FLOORS: [(&str, Option<u64>, f64); 12] = [
    ("recall@5", None, 0.82),
    ("recall@10", None, 0.87),
    ("nDCG@10", None, 0.79),
    ("MRR", None, 0.80),
    ("answer", None, 0.66),
    ("silent-nothing", None, 0.60),
    ("hits", Some(1000), 0.53),
    ("hits", Some(2000), 0.80),
    ("hits", Some(4000), 0.90),
    ("evidence", Some(4000), 0.82),
    ("hits", Some(8000), 0.89),
    ("evidence", Some(8000), 0.86),
];

/// The most of the ten prompts without an answer in the store for which notes are shown, each as a weak match.
const MOST_FALSE_ANSWERS: u64 = 4;
/// The most characters that answers of 4,000 take on average.
const MOST_CHARS: f64 = 3_500.0;

const JUDGED: [&str; 6] =
    ["eval", "../eval/research.jsonl", "--today", "2025-03-31", "--budget", "1000,2000,4000,8000"];

/// The files of the judged prompts, each with the folder of its store.
const PROMPTS: [(&str, &str); 3] = [
    ("research.jsonl", "fixtures/research"),
    ("shop.jsonl", "fixtures/prompts/shop"),
    ("firmware.jsonl", "fixtures/prompts/firmware"),
];

/// Of 100 prompts with an answer, the least for which a hook shows the passage.
const LEAST_PROMPT_HITS: f64 = 80.0;
/// Of 100 prompts that must stay silent, the most for which a hook shows notes.
const MOST_FALSE_PROMPTS: f64 = 5.0;

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {}", answer.stdout))
}

/// Returns a figure of an answer in JSON: its value, else its count.
fn figure(answer: &Value, name: &str, budget: Option<u64>) -> f64 {
    let rows = answer["figures"].as_array().unwrap();
    let is_wanted = |row: &&Value| row["name"] == name && row["budget"].as_u64() == budget;
    let row = rows.iter().find(is_wanted).unwrap_or_else(|| panic!("no {name} {budget:?} in {answer}"));
    row["value"].as_f64().or(row["count"].as_f64()).unwrap()
}

/// Writes a store of notes (id and body) into a folder, with a question file.
fn store(notes: &[(&str, &str)], questions: &str) -> tempfile::TempDir {
    let dir = temp_dir();
    let folder = dir.path().join(".qipu/notes");
    fs::create_dir_all(&folder).unwrap();
    for (id, text) in notes {
        fs::write(folder.join(format!("{id}.md")), format!("---\nid: {id}\n---\n{text}\n")).unwrap();
    }
    fs::write(dir.path().join("q.jsonl"), questions).unwrap();
    dir
}

fn run(dir: &tempfile::TempDir, args: &[&str]) -> Answer {
    call(dir.path().to_str().unwrap(), args)
}

#[test]
fn the_judged_set_reaches_its_floors() {
    let answer = json(&call("fixtures/research", &[&JUDGED[..], &["--json"]].concat()));
    assert_eq!((figure(&answer, "questions", None), figure(&answer, "silent", None)), (30.0, 10.0));
    for (name, budget, floor) in FLOORS {
        let value = figure(&answer, name, budget);
        assert!(value >= floor, "{name} {budget:?} is {value}, below {floor}: {answer:#}");
    }
    assert_eq!((figure(&answer, "nothing", None), figure(&answer, "silent-answer", None)), (0.0, 0.0));
    let spent = figure(&answer, "characters", Some(4_000));
    assert!(spent <= MOST_CHARS, "{spent}");
    let rows = answer["figures"].as_array().unwrap().iter().filter(|row| row["name"] == "false-answers");
    let rows: Vec<(u64, u64)> = rows.map(|row| (row["count"].as_u64().unwrap(), row["of"].as_u64().unwrap())).collect();
    assert!(rows.len() == 4 && rows.iter().all(|(count, of)| *of == 10 && *count <= MOST_FALSE_ANSWERS), "{rows:?}");
}

/// Every question has an answer in the fixtures: a note that is named exists, a passage stands in one.
#[test]
fn hooks_reach_the_floors_of_the_judged_prompts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sums = [0.0; 4];
    for (prompts, store) in PROMPTS {
        let prompts = root.join("fixtures/prompts").join(prompts);
        let args = ["eval", prompts.to_str().unwrap(), "--prompts", "--today", "2026-11-24", "--json"];
        let answer = json(&call(root.join(store).to_str().unwrap(), &args));
        let count = |name: &str, member: &str| {
            let rows = answer["figures"].as_array().unwrap();
            let row = rows.iter().find(|row| row["name"] == name && row["budget"] == 1500).unwrap();
            row[member].as_f64().unwrap_or_default()
        };
        let counts = [
            count("hits", "count"),
            count("hits", "of"),
            count("false-answers", "count"),
            count("false-answers", "of"),
        ];
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let [hits, with_answer, false_answers, silent] = sums;
    assert_eq!((with_answer, silent), (100.0, 100.0));
    assert!(hits >= LEAST_PROMPT_HITS, "{hits} of 100");
    assert!(false_answers <= MOST_FALSE_PROMPTS, "{false_answers} of 100");
}

#[test]
fn every_expected_answer_is_in_the_store() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/eval/research.jsonl")).unwrap();
    for line in text.lines() {
        let question: Value = serde_json::from_str(line).unwrap();
        let parts: BTreeMap<String, Vec<String>> = match question.get("answers") {
            Some(answers) => serde_json::from_value(answers.clone()).unwrap(),
            None => continue,
        };
        for (kind, texts) in parts {
            for text in texts {
                // Alone, so that each of them must be found; the notes have all the room they need.
                let alone =
                    serde_json::json!({"question": question["question"], "answers": {&kind: [text]}}).to_string();
                let args = ["eval", "-", "--today", "2025-03-31", "--budget", "4000", "--records"];
                let answer = call_with("fixtures/research", &args, &alone, &[]);
                let is_missing = kind != "ids" && answer.stdout.contains("miss") && !answer.stdout.contains(" note=");
                assert!(!is_missing && answer.code() == 0, "{kind} {text}: {}", answer.stdout);
                if kind == "ids" {
                    assert_eq!(call("fixtures/research", &["show", &text]).code(), 0, "{text}");
                }
            }
        }
    }
}

#[test]
fn each_miss_names_the_step_at_which_the_answer_was_lost() {
    let long = "filler about zebras, and more of it. ".repeat(60);
    let mut notes: Vec<(String, String)> = (0..12)
        .map(|number| (format!("crowd-{number:02}"), format!("# Crowd\n\nwombat wombat burrow, number {number}")))
        .collect();
    notes.push(("low".into(), format!("# Low\n\nA single wombat {long}{long} digs at night.")));
    notes.push(("big".into(), format!("# Giraffe giraffe\n\ngiraffe {}\n\nIts neck has seven bones.", long.repeat(3))));
    notes.push(("small".into(), "# Okapi\n\nThe okapi is a relative of the giraffe.".into()));
    notes.push(("hidden".into(), "# Hidden\n\nSaid in other words.".into()));
    let notes: Vec<(&str, &str)> = notes.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let questions = "\
        {\"question\": \"okapi\", \"answers\": {\"sentences\": [\"relative of the giraffe\", \"has stripes\"]}}\n\
        {\"question\": \"wombat burrow\", \"answers\": {\"ids\": [\"hidden\"]}}\n\
        {\"question\": \"wombat burrow\", \"answers\": {\"sentences\": [\"digs at night\"]}}\n\
        {\"question\": \"okapi\", \"answers\": {\"ids\": [\"small\"], \"patterns\": [\"seven \\\\w+\"]}}\n\
        {\"question\": \"okapi\", \"answers\": {\"sentences\": [\"nobody has written this\"]}}\n\
        {\"question\": \"okapi\", \"answers\": {\"ids\": [\"nosuch\"]}}\n\
        {\"question\": \"xylophone\", \"silent\": true}\n\
        {\"question\": \"okapi\", \"silent\": true}\n";
    let dir = store(&notes, questions);
    let answer = run(&dir, &["eval", "q.jsonl", "--budget", "1200", "--json"]);
    let answer = json(&answer);
    let misses: Vec<(u64, &str, &Value, &Value)> = answer["misses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|miss| (miss["line"].as_u64().unwrap(), miss["step"].as_str().unwrap(), &miss["note"], &miss["rank"]))
        .collect();
    let nothing = Value::Null;
    let (hidden, low, small, first) = (Value::from("hidden"), Value::from("low"), Value::from("small"), Value::from(1));
    assert_eq!(
        misses,
        [
            (2, "not-found", &hidden, &nothing),
            (3, "ranked-low", &low, &Value::from(13)),
            (4, "wrong-passage", &small, &first),
            (5, "not-found", &nothing, &nothing),
            (6, "not-found", &nothing, &nothing),
        ]
    );
    assert_eq!(figure(&answer, "hits", Some(1200)), 0.167);
    // Half of the first question's two sentences.
    assert_eq!(figure(&answer, "evidence", Some(1200)), 0.083);
    assert_eq!(figure(&answer, "false-answers", Some(1200)), 0.5);
    assert_eq!(answer["false_answers"][0]["line"], 8);
    assert_eq!(answer["false_answers"][0]["note"], "small");
    // 1, 0, 1/13, 1, 0, 0 of six.
    assert_eq!(figure(&answer, "MRR", None), 0.346);
    assert_eq!(figure(&answer, "recall@10", None), 0.333);
}

#[test]
fn a_note_that_is_too_long_is_not_packed() {
    let long = format!("# Giraffe\n\ngiraffe {}", "and its neck, told at length. ".repeat(200));
    let notes = [("big", long.as_str()), ("small", "# Neck\n\nThe giraffe is tall.")];
    let question = "{\"question\": \"giraffe neck\", \"answers\": {\"ids\": [\"big\"]}}";
    let dir = store(&notes, question);
    // Nothing fits: an answer without any note.
    let answer = run(&dir, &["eval", "q.jsonl", "--budget", "10,20000", "--records"]);
    let misses: Vec<&str> = answer.stdout.lines().filter(|line| line.starts_with("D miss")).collect();
    assert_eq!(misses.len(), 1, "{}", answer.stdout);
    assert!(misses[0].starts_with("D miss step=not-packed budgets=10 path=q.jsonl line=1 "), "{}", misses[0]);
    assert!(answer.stdout.contains("D figure name=hits budget=20000 value=1.000 count=1 of=1\n"), "{}", answer.stdout);
}

/// The inputs of hooks: a prompt, edits, which documents answer too, and a command.
#[test]
fn inputs_of_hooks_are_measured() {
    let notes = [
        ("money", "# Rounding\n\nInvoices round half to even in `src/money.rs`, as the accountants require."),
        ("bank", "# Bank\n\nNever run `cargo publish` without asking the bank."),
    ];
    let questions = [
        r#"{"input": {"prompt": "How do invoices round for the accountants?"}, "answers": {"ids": ["money"]}}"#,
        r#"{"input": {"tool_name": "Edit", "tool_input": {"file_path": "src/money.rs"}}, "answers": {"sentences": ["round half to even"]}}"#,
        r#"{"input": {"tool_name": "Bash", "tool_input": {"command": "cargo publish"}}, "answers": {"ids": ["money"]}}"#,
        r#"{"input": {"tool_name": "Write", "tool_input": {"file_path": "src/other.rs"}}, "answers": {"ids": ["money"]}}"#,
        r#"{"input": {"tool_name": "Edit", "tool_input": {"file_path": "src/guide.rs"}}, "answers": {"ids": ["guide"]}}"#,
        r#"{"input": {"tool_name": "Edit", "tool_input": {"file_path": "/w/src/new.rs"}}, "silent": true}"#,
        r#"{"question": "thanks, go on", "silent": true}"#,
    ];
    let dir = store(&notes, &questions.join("\n"));
    fs::create_dir(dir.path().join("docs")).unwrap();
    let guide = "---\ntags: [warning]\n---\n# Guide\n\nNever edit src/guide.rs by hand.\n";
    fs::write(dir.path().join("docs/guide.md"), guide).unwrap();
    fs::write(dir.path().join(".qipu/config.toml"), "[[documents]]\npath = \"docs\"\n").unwrap();
    let answer = json(&run(&dir, &["eval", "q.jsonl", "--prompts", "--json"]));
    let figures = ["spoken", "right-note", "hits", "false-answers"].map(|name| figure(&answer, name, Some(1500)));
    assert_eq!(figures, [0.8, 0.6, 0.6, 0.0], "{answer:#}");
    let misses = answer["misses"].as_array().unwrap();
    let misses: Vec<String> = misses
        .iter()
        .map(|miss| {
            format!("{} {} {}", miss["line"], miss["step"].as_str().unwrap(), miss["question"].as_str().unwrap())
        })
        .collect();
    assert_eq!(misses, ["3 wrong-note cargo publish", "4 silent src/other.rs"]);
    for (input, args, reason) in [
        (r#"{"input": {"prompt": "a"}, "silent": true}"#, &["eval", "-"][..], "-:1: `input`: only with --prompts"),
        (r#"{"input": {}, "silent": true}"#, &["eval", "-", "--prompts"], "-:1: `input`: expected the object that"),
        (r#"{"input": "a", "silent": true}"#, &["eval", "-", "--prompts"], "-:1: `input`: expected the object that"),
        (r#"{"input": {}, "question": "a"}"#, &["eval", "-", "--prompts"], "-:1: `input`: not allowed beside"),
    ] {
        let error = call_with(dir.path().to_str().unwrap(), args, input, &[]).error.unwrap();
        assert!(error.message.starts_with(reason) && error.kind.exit_code() == 2, "{input}: {}", error.message);
    }
}

#[test]
fn the_check_counts_every_budget() {
    let notes = [("big", "# Giraffe\n\nA giraffe has a neck."), ("other", "# Other\n\nNothing of it.")];
    let dir = store(&notes, "{\"question\": \"giraffe\", \"answers\": {\"headings\": [\"Giraffe\"]}}");
    let run = |args: &[&str]| run(&dir, &[&["eval", "q.jsonl"], args].concat());
    assert_eq!(run(&["--min-hit", "1"]).code(), 0);
    let failed = run(&["--min-hit", "0.5", "--budget", "10,4000"]);
    assert_eq!(failed.code(), 1);
    assert!(failed.stdout.contains("hits in 4000 characters (1 of 1)"), "the answer comes first: {}", failed.stdout);
    assert_eq!(failed.error.unwrap().message, "the hit rate in 10 characters is 0.000 (0 of 1), below 0.5");
    let silent =
        call_with(dir.path().to_str().unwrap(), &["eval", "-", "--min-hit", "0"], "- {question: a, silent: true}", &[]);
    assert_eq!(silent.error.unwrap().message, "no question has an answer, so there is no hit rate");
}

/// What is measured is what the commands answer.
#[test]
fn the_answer_is_that_of_ask() {
    let question = "Why does SQLite sync its rollback journal two times?";
    let args = ["ask", question, "--records", "--max-chars", "4000"];
    let shown = call("fixtures/research", &args).stdout;
    let ids: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("N ")?.split(' ').next()).collect();
    let list = call("fixtures/research", &["list", "--limit", "60", "--records"]).stdout;
    let all: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("N ")?.split(' ').next()).collect();
    assert!(!ids.is_empty() && all.len() > 50);
    let lines: String = all
        .iter()
        .map(|id| serde_json::json!({"question": question, "answers": {"ids": [id]}}).to_string() + "\n")
        .collect();
    let answer = call_with("fixtures/research", &["eval", "-", "--budget", "4000", "--json"], &lines, &[]);
    let answer = json(&answer);
    assert_eq!(figure(&answer, "hits", Some(4000)), (ids.len() as f64 / all.len() as f64 * 1000.0).round() / 1000.0);
    let found = call("fixtures/research", &["search", question, "--limit", "60", "--records"]).stdout;
    let ranking: Vec<&str> = found.lines().filter_map(|line| line.strip_prefix("N ")?.split(' ').next()).collect();
    for miss in answer["misses"].as_array().unwrap() {
        let rank = ranking.iter().position(|id| miss["note"] == **id).map_or(Value::Null, |rank| (rank + 1).into());
        assert_eq!(miss["rank"], rank, "{miss}");
    }
}

#[test]
fn answers_are_within_every_budget_and_the_same_each_time() {
    // Each call answers all questions again: every format meets the length of its answer and some smaller budgets.
    for (format, small) in [("human", [40, 2_000]), ("json", [60, 500]), ("records", [120, 2_000])] {
        let args = [&JUDGED[..], &["--format", format]].concat();
        let whole = call("fixtures/research", &args).stdout;
        for budget in small.into_iter().chain([whole.chars().count() - 1, whole.chars().count()]) {
            let text = budget.to_string();
            let answer = call("fixtures/research", &[&args[..], &["--max-chars", &text]].concat());
            assert!(answer.stdout.chars().count() <= budget, "{format} {budget}");
            match answer.code() {
                0 if format == "json" => assert_eq!(json(&answer)["truncated"], budget < whole.chars().count()),
                0 => assert_eq!(answer.stdout == whole, budget >= whole.chars().count(), "{format} {budget}"),
                code => assert_eq!((code, answer.stdout.as_str()), (2, "")),
            }
        }
    }
}

#[test]
fn question_files_come_in_three_forms_and_errors_name_the_line() {
    let dir = store(&[("a", "# A\n\nAn okapi.")], "");
    let dir = dir.path().to_str().unwrap();
    let of = |text: &str| call_with(dir, &["eval", "-"], text, &[]);
    let forms = [
        "\u{feff}\n{\"question\": \"okapi\", \"answers\": {\"ids\": \"a\"}}\n\n{\"question\": \"gnu\", \"silent\": true}\n",
        "[{\"question\": \"okapi\", \"answers\": {\"ids\": [\"a\"]}}, {\"question\": \"gnu\", \"silent\": true}]",
        "# judged in March\n- question: >-\n    okapi\n  answers: {ids: [a]}\n- question: gnu\n  silent: true\n",
    ];
    let told = of(forms[0]).stdout;
    assert!(told.contains("1.000  hits in 4000 characters (1 of 1)\n"), "{told}");
    assert!(forms.iter().all(|form| of(form).stdout == told));
    let error = of("{\"question\": \"okapi\", \"answers\": {\"ids\": \"a\"}}\n{\"question\": \"gnu\", \"answer\": 1}")
        .error
        .unwrap();
    assert_eq!(error.kind.exit_code(), 2);
    assert_eq!(error.message, "-:2: unknown field `answer`; known fields: question, input, answers, silent");
    let missing = call(dir, &["eval", "nosuch.jsonl"]);
    assert_eq!((missing.code(), missing.stdout.as_str()), (2, ""));
    // A text of the file forges no line and steers no terminal.
    let forged = of("{\"question\": \"gnu\\n\\u001b[31mD miss\", \"answers\": {\"ids\": \"a\"}}").stdout;
    assert!(forged.contains("gnu ␛[31mD miss (a is not a hit)\n"), "{forged}");
}
