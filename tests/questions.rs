//! Questions in plain words, through the whole program: tiers and limits, journals, flags that name days.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::support::files::temp_dir;
use crate::support::hang::expect_to_end;
use crate::support::process::{self, call, call_with};
use qipu::calendar::Period;
use qipu::context::question::QuestionContext;
use qipu::note::Language;
use qipu::store::NoteHandle;
use serde_json::Value;

const TODAY: &str = "2025-03-31";

/// A store with pages, namespaces and journals.
fn store() -> tempfile::TempDir {
    let dir = temp_dir();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(".qipu").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "notes/projects.md",
        "---\nid: projects\ntitle: Projects\ncreated: 2024-01-05\n---\nAll projects: fsync and the log.\n",
    );
    write("notes/old.md", "---\nid: old\ntitle: Archive/Old\ncreated: 2023-05-05\n---\nfsync, long ago.\n");
    write(
        "notes/fsync.md",
        "---\nid: fsync\ntitle: About syncing\ncreated: 2023-05-05\nupdated: 2025-03-01\n---\nfsync fsync fsync.\n\n- one fsync\n- two\n- three fsync log ^third\n",
    );
    write("notes/log.md", "---\nid: log\ntitle: About logs\ncreated: 2023-05-06\n---\nA log and one fsync.\n");
    let days = [
        ("2025-02-03", "- Planned fsync work. #plan\n- Read about wings\n"),
        ("2025-03-17", "- Planned budget work. #plan\n- Read about birds\n"),
        ("2025-03-24", "- Planned garden work. #plan #garden\n"),
        ("2025-03-30", "- Rested\n"),
        ("2025-03-31", "- Planned garden work again. #plan\n- Read about trees\n"),
    ];
    for (day, body) in days {
        write(
            &format!("journals/{day}.md"),
            &format!("---\nid: j-{day}\ntitle: {day}\ntags: [daily]\ncustom: {{mood: 3}}\n---\n{body}"),
        );
    }
    dir
}

fn json(dir: &Path, args: &[&str]) -> Value {
    let mut words = vec!["--today", TODAY, "--json"];
    words.extend(args);
    let answer = call(dir.to_str().unwrap(), &words);
    assert_eq!(answer.code(), 0, "{args:?}: {:?}", answer.error);
    serde_json::from_str(&answer.stdout).unwrap()
}

fn ask(args: &[&str]) -> Value {
    let dir = store();
    let mut words = vec!["context"];
    words.extend(args);
    json(dir.path(), &words)
}

fn ids(answer: &Value) -> String {
    let ids = answer["notes"].as_array().unwrap().iter().map(|note| note["id"].as_str().unwrap());
    ids.collect::<Vec<_>>().join(" ")
}

fn code(args: &[&str]) -> u8 {
    call(store().path().to_str().unwrap(), args).code()
}

/// The whole table of phrases, asked of the binary under three time zones.
#[test]
fn the_table_of_phrases_is_the_same_under_every_time_zone() {
    let table: Vec<(&str, &str)> =
        include_str!("../src/calendar/phrases.tsv").lines().filter_map(|line| line.split_once('\t')).collect();
    assert!(table.len() > 60);
    for zone in ["UTC", "America/Chicago", "Asia/Tokyo"] {
        for (phrase, expected) in &table {
            let output = Command::new(env!("CARGO_BIN_EXE_qipu"))
                .args(["context", "--query", phrase, "--today", TODAY, "--json", "--limit", "1", "--without-body"])
                .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/research"))
                .env("TZ", zone)
                .output()
                .unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            let dates = answer["analysis"]["dates"]
                .as_array()
                .unwrap()
                .iter()
                .map(|date| date["date"].as_str().unwrap().to_owned());
            let periods = answer["analysis"]["periods"].as_array().unwrap().iter().map(|period| {
                format!("{}..{}", period["from"].as_str().unwrap_or_default(), period["to"].as_str().unwrap())
            });
            let said: Vec<String> = dates.chain(periods).collect();
            assert_eq!(said.join(" "), *expected, "{phrase:?} under {zone}");
        }
    }
}

#[test]
fn named_pages_come_first_then_days_then_hits_before_journals_off_topic() {
    let answer = ask(&["--query", "fsync since last week, 2025-02-03 and [[Projects]]"]);
    assert_eq!(ids(&answer), "projects j-2025-02-03 fsync log old j-2025-03-31 j-2025-03-30 j-2025-03-24");
    let answer = ask(&["--query", "Summarize [[Projects]] from last week", "--limit", "1"]);
    assert_eq!((ids(&answer).as_str(), answer["truncated"].as_bool()), ("projects", Some(true)));
    let answer = ask(&["--query", "today's journal and \"About logs\""]);
    assert!(ids(&answer).starts_with("log j-2025-03-31"), "{}", ids(&answer));
    let answer = ask(&["--query", "the projects page", "--note", "old"]);
    assert!(ids(&answer).starts_with("old projects"), "{}", ids(&answer));
}

#[test]
fn the_analysis_is_shown_in_every_format() {
    let query = "compare [[Projects]] c++ (why last week 2025-02-30 [[Nope]]";
    let answer = ask(&["--query", query]);
    let analysis = &answer["analysis"];
    assert_eq!(analysis["references"], serde_json::json!([{"text": "Projects", "ids": ["projects"]}]));
    assert_eq!(
        analysis["periods"],
        serde_json::json!([{"text": "last week", "from": "2025-03-24", "to": "2025-03-31", "journals": 3}])
    );
    assert_eq!(analysis["warnings"].as_array().unwrap().len(), 2);
    assert_eq!(analysis["intents"], serde_json::json!([]));
    let dir = store();
    let call = |format| {
        call(dir.path().to_str().unwrap(), &["--today", TODAY, "--format", format, "context", "--query", query]).stdout
    };
    let records = call("records");
    assert_eq!(records.lines().filter(|line| line.starts_with("D analysis ")).count(), 5, "{records}");
    let human = call("human");
    assert_eq!(human.lines().filter(|line| line.starts_with("Understood: ")).count(), 1, "{human}");
    for format in ["records", "human"] {
        let plain =
            process::call(dir.path().to_str().unwrap(), &["--format", format, "context", "--query", "fsync log"])
                .stdout;
        assert!(!plain.contains("analysis") && !plain.contains("Understood"), "words alone are not told: {plain}");
    }
    assert_eq!(ask(&["--query", "fsync the log"])["analysis"]["terms"], serde_json::json!(["fsync", "log"]));
    assert!(ask(&["--query", "last week", "--plain"])["analysis"].is_null());
    assert_eq!(ask(&["--query", "monthly marching may"])["analysis"]["dates"], serde_json::json!([]));
}

#[test]
fn limits_apply_without_a_budget_and_what_they_cut_is_counted() {
    let dir = store();
    for number in 0..20 {
        let text = format!("---\nid: n{number:02}\ntitle: N\n---\n{}", "- fsync\n".repeat(60));
        fs::write(dir.path().join(format!(".qipu/notes/n{number:02}.md")), text).unwrap();
    }
    let ask = |args: &[&str]| {
        let mut words = vec!["context"];
        words.extend(args);
        json(dir.path(), &words)
    };
    let shape = |answer: &Value| {
        let notes = answer["notes"].as_array().unwrap();
        let blocks: Vec<usize> = notes.iter().map(|note| note["blocks"].as_array().map_or(0, Vec::len)).collect();
        (
            notes.len(),
            blocks.iter().sum::<usize>(),
            blocks.into_iter().max().unwrap_or_default(),
            answer["truncated"].as_bool().unwrap(),
        )
    };
    assert_eq!(shape(&ask(&["--query", "fsync"])), (10, 0, 0, true));
    // The query is the id of a note with 4 blocks, which comes first.
    assert_eq!(shape(&ask(&["--query", "fsync", "--blocks", "all"])), (3, 100, 50, true));
    assert_eq!(shape(&ask(&["--query", "fsync", "--limit", "3"])).0, 3);
    let set = |lines: &str| fs::write(dir.path().join(".qipu/config.toml"), format!("[context]\n{lines}")).unwrap();
    set("search-limit = 2\n");
    assert_eq!(shape(&ask(&["--query", "fsync last week"])), (5, 0, 0, true));
    set("max-blocks-per-note = 2\n");
    assert_eq!(shape(&ask(&["--query", "fsync", "--blocks", "top", "--limit", "4"])), (4, 8, 2, true));
    set("max-blocks = 7\n");
    assert_eq!(shape(&ask(&["--query", "fsync", "--blocks", "matched", "--limit", "4"])).1, 7);
    assert_eq!(shape(&ask(&["--query", "fsync", "--blocks", "all", "--max-chars", "99999"])).1, 7, "with a budget too");
    set("");
    let unlimited = ask(&["--query", "fsync", "--blocks", "all", "--max-chars", "999999"]);
    assert!(shape(&unlimited).0 > 20 && shape(&unlimited).1 > 1200 && !shape(&unlimited).3);
    set("max-blocks-per-note = 5\n");
    assert_eq!(shape(&ask(&["--note", "n00", "--blocks", "all"])), (1, 5, 5, true));
    set("max-notes = 2\nmax-blocks-per-note = 3\nmax-blocks = 4\n");
    assert_eq!(shape(&ask(&["--query", "fsync", "--blocks", "all"])), (2, 4, 3, true));
    assert_eq!(code(&["context", "--query", "fsync", "--limit", "0"]), 2);
}

#[test]
fn hits_below_the_least_relevance_or_outside_the_period_are_omitted() {
    let all = ask(&["--query", "fsync"]);
    let dir = store();
    let some = json(dir.path(), &["ask", "fsync", "--min-relevance", "0.5"]);
    assert!(some["matched"].as_u64().unwrap() <= all["matched"].as_u64().unwrap());
    let named = json(dir.path(), &["ask", "zzzz [[Projects]]", "--min-relevance", "1"]);
    assert_eq!(ids(&named), "projects", "references are no hits");
    for bad in ["1.5", "-0.1", "x", "NaN"] {
        assert_eq!(code(&["ask", "fsync", &format!("--min-relevance={bad}")]), 2, "{bad}");
    }
    assert_eq!(ids(&ask(&["--query", "fsync", "--since", "this year"])), "fsync j-2025-02-03");
    assert_eq!(ids(&ask(&["--query", "fsync", "--since", "in March", "--until", "yesterday"])), "fsync");
    assert_eq!(ids(&ask(&["--query", "last week", "--since", "2025-03-30"])), "j-2025-03-31 j-2025-03-30");
    let answer = ask(&["--query", "last week", "--until", "2025-03-01"]);
    assert_eq!(answer["analysis"]["periods"][0]["journals"], 0);
    for words in [&["list"][..], &["search", "fsync"], &["ask", "fsync"], &["context", "--query", "fsync"]] {
        for bad in ["2025-02-30", "soon", "last weekend", ""] {
            let args: Vec<&str> = words.iter().copied().chain(["--since", bad]).collect();
            assert_eq!(code(&args), 2, "{args:?}");
        }
    }
    let dir = store();
    assert_eq!(
        ids(&json(dir.path(), &["list", "--since", "last week", "--sort", "id"])),
        "j-2025-03-24 j-2025-03-30 j-2025-03-31"
    );
    assert_eq!(ids(&json(dir.path(), &["search", "fsync", "--until", "before 2023-06-01"])), "log old");
}

#[test]
fn excluded_namespaces_win_over_search_and_references_but_not_over_note() {
    let dir = store();
    let exclude = |name: &str| {
        let setting = format!("[context]\nexclude-namespaces = [\"{name}\"]\n");
        fs::write(dir.path().join(".qipu/config.toml"), setting).unwrap();
    };
    exclude("archive");
    let answer = json(dir.path(), &["context", "--query", "fsync [[Archive/Old]]"]);
    assert!(!ids(&answer).contains("old"));
    assert_eq!(
        answer["analysis"]["warnings"],
        serde_json::json!(["Archive/Old is omitted: its namespace is excluded"])
    );
    exclude("ARCHIVE");
    assert!(!ids(&json(dir.path(), &["context", "--query", "fsync"])).contains("old"));
    let answer = json(dir.path(), &["context", "--query", "fsync", "--note", "old"]);
    assert!(ids(&answer).starts_with("old "));
    exclude("private");
    let private = "---\nid: j-x\ntitle: 2025-03-27\nnamespace: private\ntags: [secret]\n---\n- Planned a secret\n";
    fs::write(dir.path().join(".qipu/journals/2025-03-27.md"), private).unwrap();
    let ask = |query: &str| json(dir.path(), &["context", "--query", query]);
    let answer = ask("2025-03-27");
    let warning = "a journal of 2025-03-27 is omitted: its namespace is excluded";
    assert_eq!((ids(&answer).as_str(), &answer["analysis"]["warnings"]), ("", &serde_json::json!([warning])));
    let answer = ask("last week");
    assert_eq!((answer["analysis"]["periods"][0]["journals"].as_u64(), answer["matched"].as_u64()), (Some(3), Some(3)));
    assert!(!ask("what patterns are in my journals")["patterns"].to_string().contains("secret"));
    assert!(!ask("compare 2025-03-27 with today")["comparison"].to_string().contains("secret"));
}

#[test]
fn days_without_journals_favour_notes_created_then() {
    let answer = ask(&["--query", "fsync log in May 2023"]);
    assert_eq!(answer["analysis"]["periods"][0]["journals"], 0);
    assert_eq!(answer["analysis"]["terms"], serde_json::json!(["fsync", "log"]), "the period is no word");
    assert!(ids(&answer).starts_with("log"), "{}", ids(&answer));
}

#[test]
fn comparisons_show_shared_and_distinct_content() {
    let answer = ask(&["--query", "compare today's journal with 2025-03-24"]);
    let comparison = &answer["comparison"];
    assert_eq!(comparison["similarity"], 0.71, "{comparison}");
    assert_eq!(comparison["shared"]["tags"], serde_json::json!(["daily", "plan"]));
    assert_eq!(comparison["shared"]["fields"], serde_json::json!(["mood"]));
    assert_eq!(comparison["only_a"]["keywords"], serde_json::json!(["read", "trees"]));
    assert_eq!(comparison["only_b"]["tags"], serde_json::json!(["garden"]));
    assert_eq!((&comparison["a"]["blocks"], &comparison["b"]["journals"]), (&Value::from(2), &Value::from(1)));
    assert_eq!(ids(&answer), "j-2025-03-31 j-2025-03-24");
    let answer = ask(&["--query", "compare last month with last week"]);
    assert_eq!(
        (&answer["comparison"]["a"]["journals"], &answer["comparison"]["b"]["journals"]),
        (&Value::from(1), &Value::from(3))
    );
}

#[test]
fn patterns_are_counted_once_a_journal() {
    let answer = ask(&["--query", "What patterns do you see in my journals?"]);
    let patterns = answer["patterns"].as_array().unwrap();
    let said = |kind: &str| {
        let of_kind = patterns.iter().filter(|pattern| pattern["kind"] == kind);
        of_kind
            .map(|pattern| format!("{}:{}", pattern["pattern"].as_str().unwrap(), pattern["count"]))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(said("tag"), "daily:5 plan:4");
    assert_eq!(said("topic"), "planned:4 garden:2");
    assert_eq!(said("opening"), "planned garden work:2");
    assert_eq!(said("weekday"), "Monday:4");
    assert_eq!(patterns[1]["dates"], serde_json::json!(["2025-03-31", "2025-03-24", "2025-03-17"]));
    assert_eq!(answer["analysis"]["periods"][0]["journals"], 5);
    assert_eq!(ids(&answer), "");
    let count = |args: &[&str]| {
        let answer = ask(args);
        let daily = answer["patterns"].as_array().unwrap().iter().find(|pattern| pattern["pattern"] == "daily");
        daily.map_or(0, |pattern| pattern["count"].as_u64().unwrap())
    };
    let question = ["--query", "what patterns are in my journals"];
    assert_eq!(count(&question), 5);
    assert_eq!(count(&[&question[..], &["--until", "yesterday"]].concat()), 4);
    assert_eq!(count(&[&question[..], &["--since", "tomorrow"]].concat()), 0);
    let answer = ask(&["--query", "patterns in 2025-02"]);
    assert_eq!(answer["analysis"]["warnings"], serde_json::json!(["patterns need at least two journals; there are 1"]));
    assert_eq!(answer["patterns"], serde_json::json!([]));
}

#[test]
fn journal_shows_a_day_and_adds_to_it() {
    let dir = store();
    let path = dir.path().to_str().unwrap();
    let journal = |args: &[&str]| {
        let mut words = vec!["--today", TODAY, "journal"];
        words.extend(args);
        call_with(path, &words, "from stdin\n", &[])
    };
    assert!(journal(&[]).stdout.contains("Planned garden work again"));
    assert!(journal(&["--date", "last Monday"]).stdout.starts_with("2025-03-24"));
    assert_eq!(journal(&["--date", "2025-03-29"]).stdout, "There is no journal of 2025-03-29.\n");
    let file = dir.path().join(".qipu/journals/2025-03-31.md");
    let before = fs::read_to_string(&file).unwrap();
    let hint = journal(&["--date", "last week"]).error.unwrap().hint.unwrap();
    assert!(hint.contains("one day") && !hint.contains("last week"), "{hint}");
    assert!(journal(&["A thought", "--dry-run"]).stdout.contains("+- A thought"));
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_eq!(journal(&["A thought\nof two lines"]).code(), 0);
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.ends_with("- Read about trees\n- A thought\n  of two lines\n"), "{after}");
    assert!(after.contains("updated: 2025-03-31"));
    assert_eq!(journal(&["-", "--date", "2025-03-29"]).code(), 0);
    assert_eq!(journal(&["--date", "2025-03-29", "second"]).code(), 0);
    let shown = journal(&["--date", "2025-03-29"]).stdout;
    assert!(shown.contains("- from stdin\n- second\n") && shown.contains(".qipu/journals/"), "{shown}");
    for args in [["--date", "last week"], ["--date", "soon"], ["--date", "2025-02-30"], ["", "--dry-run"]] {
        assert_eq!(journal(&args).code(), 2, "{args:?}");
    }
    fs::write(dir.path().join(".qipu/journals/2025-03-28.md"), "Text without a list\n\n```\nopen\n").unwrap();
    let answer = journal(&["--date", "2025-03-28", "lost"]);
    assert!(answer.error.unwrap().message.contains("inside a code block"));
}

#[test]
fn journals_of_a_period_are_summarised_if_their_text_is_not_shown() {
    let dir = store();
    let answer =
        call(dir.path().to_str().unwrap(), &["--today", TODAY, "context", "--query", "last week", "--records"]);
    assert!(answer.stdout.contains("\nS j-2025-03-24 Planned garden work. #plan #garden\n"), "{}", answer.stdout);
    assert!(
        answer.stdout.contains("\nS j-2025-03-31 Planned garden work again. #plan · Read about trees\n"),
        "{}",
        answer.stdout
    );
}

#[test]
fn a_named_day_is_shown_with_its_journals_in_every_format() {
    let dir = store();
    let call = |format: &str, query: &str| {
        let words = ["--today", TODAY, "--format", format, "context", "--query", query];
        call(dir.path().to_str().unwrap(), &words).stdout
    };
    let answer: Value = serde_json::from_str(&call("json", "fsync on 2025-03-06")).unwrap();
    assert_eq!(answer["analysis"]["dates"][0]["journals"], 0);
    assert!(
        call("records", "fsync on 2025-03-06").contains("D analysis date=\"2025-03-06\" day=2025-03-06 journals=0\n")
    );
    for format in ["human", "prompt"] {
        let text = call(format, "fsync on 2025-03-06 and [[Nope]] fsyncc");
        assert!(text.contains("2025-03-06 = 2025-03-06; "), "{format}: {text}");
        assert!(text.contains("there is no journal of 2025-03-06"), "{format}: {text}");
        assert!(text.contains("unresolved reference: Nope"), "{format}: {text}");
        assert!(text.contains("read \"fsyncc\" as \"fsync\""), "{format}: {text}");
    }
    let text = call("prompt", "what did I do last week?");
    assert!(text.contains("\nUnderstood: last week = 2025-03-24 to 2025-03-31, 3 journals\n\n- "), "{text}");
    assert!(!call("prompt", "fsync log").contains("Understood"), "words alone are not told");
    let named = json(dir.path(), &["context", "--query", "what did I do on [[2025-03-24]]"]);
    assert_eq!((ids(&named).as_str(), named["matched"].as_u64()), ("j-2025-03-24", Some(1)));
}

#[test]
fn findings_are_no_notes_in_a_prompt() {
    let dir = store();
    for day in ["2025-03-03", "2025-03-04", "2025-03-05"] {
        let text = "---\ntags: [\"\\u202etag\"]\ncustom: {\"k\\u202e\": v}\n---\nword \u{202e}evil body here\n";
        fs::write(dir.path().join(format!(".qipu/journals/{day}.md")), text).unwrap();
    }
    let ask = |query: &str, more: &[&str]| {
        let words = ["--today", TODAY, "context", "--query", query, "--format", "prompt"];
        call(dir.path().to_str().unwrap(), &[&words, more].concat()).stdout
    };
    for more in [&[] as &[&str], &["--purpose", "answer"]] {
        let patterns = ask("what patterns are in my journals", more);
        assert!(patterns.contains("\n\nPatterns:\n  - tag daily: 5 ("), "{patterns}");
        assert!(!patterns.contains("no note answers") && !patterns.contains("\n- tag"), "{patterns}");
        let comparison = ask("compare 2025-03-03 with 2025-03-05", more);
        assert!(comparison.contains("\n\nComparison:\n  A: 2025-03-03 ("), "{comparison}");
        assert!(comparison.contains("\n- [") && !comparison.contains("\n\n\n"), "{comparison}");
        assert!(![patterns, comparison].concat().contains('\u{202e}'));
    }
}

#[test]
fn a_comparison_that_does_not_fit_is_reported() {
    let dir = store();
    let mut was_told = [false; 4];
    for (told, (format, words)) in was_told.iter_mut().zip([
        ("human", "There is no room for the comparison.\n"),
        ("json", ",\"no_room\":[\"comparison\"]"),
        ("records", "\nW no room for the comparison\n"),
        ("prompt", "(no room for the comparison)\n"),
    ]) {
        for budget in (500..2_400).step_by(100) {
            let args = ["--today", TODAY, "--format", format, "--max-chars", &budget.to_string(), "context", "--query"];
            let query = "compare last week with the week before";
            let answer = call(dir.path().to_str().unwrap(), &[&args as &[&str], &[query]].concat()).stdout;
            let has_comparison =
                ["Similarity:", "D comparison", "\"comparison\":{"].iter().any(|mark| answer.contains(mark));
            assert!(!(has_comparison && answer.contains(words)), "{answer}");
            *told |= answer.contains(words);
        }
    }
    assert_eq!(was_told, [true; 4]);
}

#[test]
fn top_keeps_the_best_blocks_of_all_notes_and_no_empty_note() {
    let dir = store();
    let write = |id: &str, body: &str| {
        fs::write(dir.path().join(format!(".qipu/notes/{id}.md")), format!("---\nid: {id}\ntitle: {id}\n---\n{body}"))
            .unwrap();
    };
    write("best", &format!("torn frame checksum, all of it\n\n{}", "a torn page\n\n".repeat(30)));
    write("other", &format!("- outer\n  - inner checksum of a torn frame\n{}", "- torn\n".repeat(40)));
    write("torn", "The title alone says it.\n");
    let ask = |args: &[&str]| {
        let words = ["context", "--query", "torn frame checksum"];
        json(dir.path(), &[&words, args].concat())
    };
    let blocks = |answer: &Value| {
        let notes = answer["notes"].as_array().unwrap().iter();
        notes.flat_map(|note| note["blocks"].as_array().unwrap().clone()).collect::<Vec<_>>()
    };
    let top = ask(&["--blocks", "top", "--max-chars", "1600"]);
    assert_eq!((ids(&top).contains("best"), ids(&top).contains("other")), (true, true), "{top}");
    let least = blocks(&top).iter().map(|block| block["score"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert!(least > 0.0 && top["truncated"] == true);
    let best = blocks(&top).iter().filter(|block| block["text"].as_str().unwrap().contains("frame")).count();
    assert_eq!(best, 2, "the best blocks of both are there: {top}");
    assert!(blocks(&top).iter().any(|block| block["depth"] == 2));
    for choice in ["top", "matched"] {
        let answer = ask(&["--blocks", choice]);
        assert!(!ids(&answer).contains("torn "), "no note without a block: {}", ids(&answer));
        assert!(answer["notes"].as_array().unwrap().iter().all(|note| !note["blocks"].as_array().unwrap().is_empty()));
        let named = json(dir.path(), &["context", "--query", "frame [[Projects]]", "--blocks", choice]);
        assert!(ids(&named).starts_with("projects"), "what is named keeps its place: {named}");
    }
    fs::write(dir.path().join(".qipu/config.toml"), "[context]\nmax-blocks = 2\n").unwrap();
    let two = ask(&["--blocks", "top"]);
    assert_eq!(
        (blocks(&two).len(), two["notes"].as_array().unwrap().len(), &two["truncated"]),
        (2, 2, &Value::from(true))
    );
    let answer = json(dir.path(), &["context", "--query", "last week", "--blocks", "top"]);
    assert!(blocks(&answer).is_empty() && ids(&answer).contains("j-2025-03-24"), "{answer}");
    for bad in
        [["--purpose", "answer"], ["--abstraction", "summary"], ["--include", "evidence"], ["--format", "prompt"]]
    {
        let words = ["context", "--query", "torn", "--blocks", "top", bad[0], bad[1]];
        let error = call(dir.path().to_str().unwrap(), &words).error.unwrap();
        assert!(error.hint.unwrap().contains("--abstraction passages"), "{bad:?}");
    }
}

#[test]
fn the_config_accepts_what_the_flags_accept() {
    let dir = store();
    let ask = |settings: &str, args: &[&str]| {
        fs::write(dir.path().join(".qipu/config.toml"), format!("[context]\n{settings}\n")).unwrap();
        json(dir.path(), &[&["context", "--query", "fsync"], args].concat())
    };
    for (setting, flags) in [
        ("blocks = \"top\"", ["--blocks", "top"]),
        ("blocks = \"matched\"", ["--blocks", "matched"]),
        ("since = \"last 30 days\"", ["--since", "last 30 days"]),
        ("until = \"2025-02-28\"", ["--until", "2025-02-28"]),
    ] {
        let (by_setting, by_flag) = (ask(setting, &[]), ask("", &flags));
        assert_eq!(by_setting, by_flag, "{setting}");
        assert_ne!(by_flag, ask("", &[]), "{setting}");
    }
    let answer = ask("blocks = \"top\"\nsearch-limit = 1", &["--with-body"]);
    assert_eq!((ids(&answer).split(' ').count(), answer["notes"][0]["blocks"].is_null()), (1, true), "flags win");
    assert!(ask("blocks = \"top\"", &["--purpose", "answer"])["notes"][0]["level"].is_string());
    fs::write(dir.path().join(".qipu/config.toml"), "[context]\nmax_notes = 2\n").unwrap();
    let found = call(dir.path().to_str().unwrap(), &["doctor", "--records"]).stdout;
    assert!(found.contains("code=unknown-setting path=.qipu/config.toml line=2 "), "{found}");
    assert!(found.contains("unknown setting `context.max_notes`"), "{found}");
}

/// A context of notes for questions, on a fixed day and for all days of notes.
fn question_context(notes: &[Arc<NoteHandle>]) -> QuestionContext<'_> {
    let window = Period { from: None, to: jiff::civil::Date::MAX };
    let today = jiff::civil::date(2025, 3, 31);
    QuestionContext { notes, language: Language::English, today, window, journals: None, is_hidden: &|_| false }
}

/// A quadratic algorithm would take 10¹⁰ steps and more for most of the texts.
#[test]
fn questions_of_any_text_are_understood_in_linear_time() {
    for unit in [
        "[[", "]]", "[[a]]", "\"", "the page ", "page called ", "last ", "today ", "between ", "compare ", "2025-",
        "the week before ", "“", "' ", "patterns ", "日本", "a-", "1 ", "\u{301}", "journal ",
    ] {
        let notes = [("notes/a.md", "Projects"), ("notes/b.md", "The Daily"), ("journals/2025-03-31.md", "2025-03-31")]
            .map(|(path, title)| Arc::new(NoteHandle::parse(path, format!("---\ntitle: {title}\n---\n").into_bytes())));
        expect_to_end(move || question_context(&notes).parse(&unit.repeat(500_000 / unit.len())).terms.len());
    }
}

/// An algorithm that is quadratic in the notes would take 10¹⁰ steps for each question.
#[test]
fn questions_among_a_hundred_thousand_notes_are_understood_in_linear_time() {
    let note = |ordinal: usize| {
        let day = jiff::civil::date(1800, 1, 1).checked_add(jiff::Span::new().days(ordinal as i64)).unwrap();
        let (folder, title) = if ordinal.is_multiple_of(3) {
            ("journals", day.to_string())
        } else {
            ("notes", format!("A title of some words {ordinal}"))
        };
        let text = format!("---\nid: qp-{ordinal:06}\ntitle: \"{title}\"\naliases: [other {ordinal}]\n---\nText.\n");
        Arc::new(NoteHandle::parse(&format!("{folder}/qp-{ordinal:06}-file.md"), text.into_bytes()))
    };
    let notes: Vec<Arc<NoteHandle>> = (0..100_000).map(note).collect();
    expect_to_end(move || {
        for text in [
            "plain words about syncing",
            "compare today's journal with last week",
            "[[A title of some words 77]] and the Projects page since 2025-02-03",
        ] {
            for _ in 0..5 {
                let question = question_context(&notes).parse(text);
                assert!(!question.terms.is_empty() || question.comparison.is_some());
            }
        }
    });
}
