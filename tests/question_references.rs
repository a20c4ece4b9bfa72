//! What a question names is always there, days are no words to search for, and what is not known is said, in every
//! format.

use std::fs;
use std::process::Command;

use crate::support::files::{store, write_in_store as write};
use crate::support::mcp_client::McpClient;
use crate::support::process::call;
use serde_json::Value;

const TODAY: &str = "2025-03-31";
const FORMATS: [&str; 4] = ["human", "json", "records", "prompt"];

fn ask(dir: &tempfile::TempDir, format: &str, args: &[&str]) -> String {
    let words = [&["--today", TODAY, "--format", format, "context"], args].concat();
    let answer = call(dir.path().to_str().unwrap(), &words);
    assert_eq!(answer.code(), 0, "{args:?}: {:?}", answer.error);
    answer.stdout
}

fn json(dir: &tempfile::TempDir, args: &[&str]) -> Value {
    serde_json::from_str(&ask(dir, "json", args)).unwrap()
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["notes"].as_array().unwrap().iter().map(|note| note["id"].as_str().unwrap()).collect()
}

/// Notes that a question may name beside many that hold its words.
fn named() -> tempfile::TempDir {
    let dir = store(&[
        ("notes/old.md", "---\nid: qp-a1b2\ntitle: Spare parts\nvalid_until: 2024-12-31\n---\nOf no use any more.\n"),
        ("notes/adr.md", "---\nid: adr-0012\ntitle: Naming of hosts\n---\nHosts have short names.\n"),
        ("notes/guides--install.md", "---\nid: guides--install\ntitle: Setting up\n---\nRun the script.\n"),
        ("notes/index.md", "---\nid: index\ntitle: Contents\n---\nAll pages.\n"),
        ("notes/plan.md", "---\nid: qp-plan\ntitle: Plan 2025-03-30\n---\nThe plan.\n"),
        ("journals/2025-03-05.md", "---\nid: j-5\ntitle: 2025-03-05\nvalid_until: 2025-03-06\n---\n- Sat still\n"),
    ]);
    for number in 0..12 {
        let text =
            format!("---\nid: qp-r{number:03}\ntitle: Renames {number}\n---\nWhat renames say, index {number}.\n");
        write(dir.path(), &format!("notes/r{number}.md"), &text);
    }
    dir
}

#[test]
fn named_notes_come_first_with_any_other_words() {
    let dir = named();
    for (query, id) in [
        ("what does qp-a1b2 say about renames", "qp-a1b2"),
        ("what does a1b2 say about renames?", "qp-a1b2"),
        ("renames in [[qp-a1b2]]", "qp-a1b2"),
        ("renames in [[Spare parts]]", "qp-a1b2"),
        ("does \"Spare parts\" allow renames", "qp-a1b2"),
        ("the Spare parts note on renames", "qp-a1b2"),
        ("is (adr-0012) about renames?", "adr-0012"),
        ("renames: guides--install.", "guides--install"),
        ("renames on 2025-03-05", "j-5"),
        ("Plan 2025-03-30", "qp-plan"),
    ] {
        for more in [&[] as &[&str], &["--purpose", "decide"], &["--purpose", "verify", "--max-tokens", "400"]] {
            let args = [&["--query", query, "--explain"][..if more.is_empty() { 2 } else { 3 }], more].concat();
            let answer = json(&dir, &args);
            assert_eq!(ids(&answer)[0], id, "{args:?}: {answer}");
            if !more.is_empty() {
                assert_eq!(answer["notes"][0]["relevance_score"], 1.0, "{args:?}: {answer}");
            }
            let is_marked = |text: &str| text.contains("expired 202") || text.contains("expired=202");
            for format in ["human", "records", "prompt"] {
                let text = ask(&dir, format, &args);
                assert!(text.contains(id), "{format}: {text}");
                assert!(!matches!(id, "qp-a1b2" | "j-5") || is_marked(&text), "{format} {args:?}: {text}");
            }
        }
    }
    let answer = json(&dir, &["--query", "what does qp-a1b2 say about renames"]);
    assert_eq!(answer["analysis"]["references"][0]["ids"][0], "qp-a1b2");
    assert_eq!(answer["analysis"]["terms"], serde_json::json!(["say", "renames"]), "an id holds no words");
}

#[test]
fn a_word_that_is_the_id_of_a_file_names_nothing() {
    let dir = named();
    for query in ["the index of renames", "renames qp-zzzz", "renames r000x", "renames 2025-03-30", "renames utf8"] {
        let answer = json(&dir, &["--query", query]);
        assert_eq!(answer["analysis"]["references"], serde_json::json!([]), "{query}");
        assert!(!ids(&answer).contains(&"qp-plan"), "{query}: {answer}");
    }
}

#[test]
fn an_id_is_named_over_mcp_too_though_it_has_expired() {
    let dir = named();
    let mut server = Command::new(env!("CARGO_BIN_EXE_qipu"));
    let client = McpClient::start(server.args(["mcp", "--today", TODAY]).current_dir(dir.path()).env_clear());
    let told = |topic: &str| {
        let answer = client.call("get_context", serde_json::json!({"topic": topic}));
        answer.content[0].as_text().unwrap().text.clone()
    };
    for topic in ["renames in qp-a1b2", "renames in [[Spare parts]]"] {
        let text = told(topic);
        let first = text.lines().find(|line| line.starts_with("- [")).unwrap();
        assert!(first.starts_with("- [qp-a1b2] (expired 2024-12-31) Spare parts"), "{text}");
    }
    let text = told("renames on 2025-03-05 and 2025-03-06");
    assert!(text.contains("- [j-5] (expired 2025-03-06)"), "{text}");
    assert!(text.contains("there is no journal of 2025-03-06"), "{text}");
    let text = told("peel a ripe mango");
    assert!(text.contains("(nothing known: no note has \"peel\", \"ripe\", \"mango\")"), "{text}");
}

#[test]
fn a_day_without_a_journal_is_reported_and_not_searched_for() {
    let dir = named();
    for (query, day) in [("renames on 2025-03-07", "2025-03-07"), ("renames yesterday", "2025-03-30")] {
        for format in FORMATS {
            for more in [&[] as &[&str], &["--purpose", "answer"]] {
                let text = ask(&dir, format, &[&["--query", query], more].concat());
                assert_eq!(text.matches(&format!("there is no journal of {day}")).count(), 1, "{format}: {text}");
            }
        }
        assert_eq!(json(&dir, &["--query", query])["analysis"]["terms"], serde_json::json!(["renames"]), "{query}");
    }
    let of_month = json(&dir, &["--query", "renames in May 2023"]);
    assert_eq!(of_month["analysis"]["terms"], serde_json::json!(["renames"]));
    assert_eq!(of_month["analysis"]["periods"][0]["journals"], 0);
    for format in FORMATS {
        let text = ask(&dir, format, &["--query", "what happened on 2025-03-07?"]);
        let says = "othing was searched for: the question names only days, and they have no journal";
        assert!(text.contains(says), "{format}: {text}");
        assert!(text.contains("there is no journal of 2025-03-07"), "{format}: {text}");
    }
    let filtered = json(&dir, &["--query", "2025-03-05 renames", "--min-value", "90"]);
    assert!(filtered["analysis"]["warnings"].to_string().contains("no journal of 2025-03-05 matches"), "{filtered}");
}

#[test]
fn a_month_without_a_year_means_the_latest_that_has_notes() {
    let note = |id: &str, day: &str| {
        format!("---\nid: {id}\ntitle: Trip {id}\ncreated: {day}T10:00:00Z\n---\nWe went camping by the lake.\n")
    };
    let files = [("notes/a.md", note("qp-may", "2022-05-04")), ("notes/b.md", note("qp-june", "2021-06-04"))];
    let dir = store(&files.each_ref().map(|(path, text)| (*path, text.as_str())));
    write(dir.path(), "notes/c.md", note("qp-old", "2019-06-30"));
    let first = |question: &str| ids(&json(&dir, &["--query", question]))[0].to_owned();
    assert_eq!(first("camping in June"), "qp-june");
    assert_eq!(first("camping in May"), "qp-may");
    assert_eq!(first("camping in June 2019"), "qp-old");
    // A day that no year names is looked for in the years before too, relative days are not.
    assert_eq!(first("camping on June 30"), "qp-old");
    let by_words = first("camping");
    assert_eq!(first("camping last month"), by_words);
}

#[test]
fn a_period_does_not_drown_the_topic() {
    let dir = store(&[
        ("notes/a.md", "---\nid: a\ntitle: Broker\n---\nThe broker drops messages.\n"),
        ("notes/b.md", "---\nid: b\ntitle: Queue\n---\nA queue stands before the broker.\n"),
    ]);
    for day in 10..=30 {
        let said = if day == 12 { "Restarted the broker" } else { "Watered plants" };
        let text = format!("---\nid: j-{day}\ntitle: 2025-03-{day}\n---\n- {said}\n");
        write(dir.path(), &format!("journals/2025-03-{day}.md"), &text);
    }
    let first = |more: &[&str]| {
        let answer = json(&dir, &[&["--query", "what about the broker in March?"], more].concat());
        ids(&answer).into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(first(&[])[..4], ["j-12", "a", "b", "j-30"]);
    assert_eq!(first(&["--max-chars", "3000"])[..3], ["j-12", "a", "b"]);
    let by_use = first(&["--purpose", "answer"]);
    let silent = by_use.iter().position(|id| id.starts_with("j-") && id != "j-12").unwrap_or(3);
    assert!(silent >= 3, "{by_use:?}");
    let plain = json(&dir, &["--query", "what did we do in March?"]);
    assert_eq!(ids(&plain)[..2], ["j-30", "j-29"], "without a topic all journals count alike");
    let general = json(&dir, &["--query", "what did I work on in March?"]);
    assert_eq!(ids(&general)[..2], ["j-30", "j-29"], "that something was done is no topic");
}

#[test]
fn unknown_topics_are_reported_unless_any_hit_is_accepted() {
    let dir = store(&[]);
    for number in 0..30 {
        let text = format!(
            "---\nid: n{number}\ntitle: Sync {number}\n---\nThe kernel writes page {number} of the file.\n\n\
             A name is a matter of the directory. {}\n",
            "Segments are sealed and checked in the order of their numbers. ".repeat(8)
        );
        write(dir.path(), &format!("notes/n{number}.md"), &text);
    }
    write(dir.path(), "notes/rare.md", format!("---\nid: rare\n---\nA heron. {}\n", "kernel page ".repeat(2_000)));
    let query = "How do we renew certificates, name the pricing of a vendor and hire cooks abroad?";
    for format in FORMATS {
        for more in [&[] as &[&str], &["--purpose", "answer"], &["--max-chars", "900"], &["--with-body"]] {
            let args = [&["--query", query], more].concat();
            if format == "prompt" && more.contains(&"--with-body") {
                continue;
            }
            let text = ask(&dir, format, &args);
            assert!(
                text.contains("othing known: no note has ")
                    && text.contains("; 30 notes have other words of the question"),
                "{format} {more:?}: {text}"
            );
            assert!(!text.contains("Full relevant context"), "{text}");
        }
        write(dir.path(), "config.toml", "[context]\nmin-relevance = 0\n");
        let any = ask(&dir, format, &["--query", query]);
        write(dir.path(), "config.toml", "");
        assert!(any.contains("Sync") && !any.contains("othing known"), "{format}: {any}");
        let none = ask(&dir, format, &["--query", "xylophone"]);
        assert!(none.contains("othing known: no note has "), "{format}: {none}");
    }
    let records = ask(&dir, "records", &["--query", query]);
    assert!(records.contains("\nW insufficient \"nothing known: no note has "), "{records}");
    assert!(records.starts_with("H qipu=1 records=1 store=.qipu/ mode=context notes=0 matched=0 "), "{records}");
    assert!(json(&dir, &["--query", query])["insufficient"]["reason"].is_string());
    for query in ["heron", "herron", "the heron", "kernel page", "#sync", "Sync 3"] {
        assert!(!ids(&json(&dir, &["--query", query])).is_empty(), "{query} is known");
    }
    let mixed = ask(&dir, "prompt", &["--query", &format!("[[Sync 3]] {query}")]);
    assert!(mixed.contains("- [n3] ") && !mixed.contains("othing known"), "{mixed}");
    assert!(!mixed.contains("Full relevant context included"), "hits were held back: {mixed}");
    write(dir.path(), "config.toml", "[context]\nmin-relevance = 0\n");
    assert!(!ids(&json(&dir, &["--query", query])).is_empty(), "the config switches it off too");
    let found = call(dir.path().to_str().unwrap(), &["search", query]).stdout;
    assert!(found.contains("Sync"), "a search shows all hits: {found}");
}

#[test]
fn an_answer_that_omits_nothing_is_marked_as_complete() {
    let dir = store(&[
        ("notes/a.md", "---\nid: a\ntitle: Heron\n---\nA heron stands in water.\n"),
        ("notes/b.md", "---\nid: b\ntitle: Heron nests\n---\nThe nest of a heron is large.\n"),
        ("notes/c.md", "---\nid: c\ntitle: Heron counts\nvalid_until: 2024-01-01\n---\nWe saw a heron once.\n"),
    ]);
    let full = "Full relevant context included.";
    let says = |args: &[&str]| ask(&dir, "prompt", &[&["--query", "heron"], args].concat());
    let by_use = says(&["--purpose", "answer"]);
    assert!(!by_use.contains("[c]") && !by_use.contains(full), "one has expired: {by_use}");
    fs::remove_file(dir.path().join(".qipu/notes/c.md")).unwrap();
    assert!(says(&[]).contains(full), "{}", says(&[]));
    for held_back in
        [["--limit", "1"], ["--where", "confidence > 0.9"], ["--since", "yesterday"], ["--max-chars", "260"]]
    {
        assert!(!says(&held_back).contains(full), "{held_back:?}: {}", says(&held_back));
    }
}

#[test]
fn limits_apply_after_validity_and_confidence() {
    let dir = store(&[]);
    for number in 0..140 {
        let text = format!(
            "---\nid: x{number:03}\ntitle: Heron heron\nvalid_until: 2024-01-01\nconfidence: 0.1\n---\nheron heron\n"
        );
        write(dir.path(), &format!("notes/x{number}.md"), &text);
    }
    let filler = "Some other words of a longer text, to be read in full. ".repeat(12);
    for number in 0..10 {
        let text = format!("---\nid: ok{number}\ntitle: Report {number}\n---\nOnce a heron. {number} {filler}\n");
        write(dir.path(), &format!("notes/ok{number}.md"), &text);
    }
    let count = |args: &[&str]| {
        let answer = json(&dir, &[&["--query", "heron"], args].concat());
        ids(&answer).iter().filter(|id| id.starts_with("ok")).count()
    };
    assert_eq!(count(&[]), 10, "what no longer holds comes last, and then the ten are taken");
    write(dir.path(), "config.toml", "[context]\nnovelty-threshold = 0\n");
    assert_eq!(count(&["--where", "confidence >= 0.3"]), 10);
    assert_eq!(count(&["--purpose", "answer"]), 10);
    assert_eq!(count(&["--purpose", "answer", "--limit", "3"]), 3);
}

#[test]
fn patterns_and_comparisons_in_prompts_are_whole_or_reported_as_missing() {
    let dir = store(&[]);
    for day in 1..=28 {
        let text =
            format!("---\nid: j-{day:02}\ntitle: 2025-03-{day:02}\ntags: [daily, plan]\n---\n- Planned (a) work\n");
        write(dir.path(), &format!("journals/2025-03-{day:02}.md"), &text);
    }
    for (query, name, line) in [
        ("compare 2025-03-03 with 2025-03-05", "comparison", "\nComparison:\n  A: "),
        ("what patterns are in my journals", "patterns", "\nPatterns:\n  - "),
    ] {
        let (mut was_whole, mut was_missing) = (false, false);
        let whole = ask(&dir, "prompt", &["--query", query]);
        let of = |text: &str| text.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect::<Vec<_>>();
        for budget in (250..2_500).step_by(90) {
            let words = ["--today", TODAY, "--format", "prompt", "--max-chars", &budget.to_string(), "context"];
            let answer = call(dir.path().to_str().unwrap(), &[&words[..], &["--query", query]].concat());
            if answer.code() != 0 {
                continue;
            }
            let text = answer.stdout;
            assert!(text.chars().count() <= budget, "{text}");
            let says = text.contains(&format!("(no room for the {name})")) || text.contains(" patterns)\n");
            let has_all = of(&text).iter().filter(|line| of(&whole).contains(line)).count() >= of(&whole).len();
            if text.contains(line) {
                assert!(has_all || says, "{budget}: {text}");
                was_whole |= has_all;
            } else {
                was_missing |= says;
            }
            assert!(!(has_all && says), "{budget}: {text}");
        }
        assert!(was_whole && was_missing, "{query}: whole {was_whole}, missing {was_missing}");
    }
}

/// Notes on command lines, and one on something else.
fn command_lines() -> tempfile::TempDir {
    store(&[
        (
            "notes/kill.md",
            "---\nid: kill\ntitle: Stopping the server\n---\nNever use kill -9 on the server: it loses the write-ahead log.\n",
        ),
        (
            "notes/rm.md",
            "---\nid: rm\ntitle: Deleting folders\n---\nNobody may use `rm -rf` in scripts; use the trash helper.\n",
        ),
        ("notes/ssl.md", "---\nid: ssl\ntitle: Linker\n---\nld: cannot find -lssl means that libssl-dev is missing.\n"),
        (
            "notes/yaml.md",
            "---\nid: yaml\ntitle: Parser errors\n---\nThe error unknown tag:yaml.org comes from an old parser.\n",
        ),
        (
            "notes/plant.md",
            "---\nid: plant\ntitle: Plants\ntags: [green]\n---\nThe office plant is watered on Fridays.\n",
        ),
    ])
}

/// Every way to ask takes all words as they are.
#[test]
fn questions_about_command_lines_are_answered_everywhere() {
    let dir = command_lines();
    let at = dir.path().to_str().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_qipu"));
    let client = McpClient::start(server.args(["mcp", "--today", TODAY]).current_dir(dir.path()).env_clear());
    for (question, id) in [
        ("may I use kill -9 on the server", "kill"),
        ("is rm -rf allowed in scripts", "rm"),
        ("ld: cannot find -lssl", "ssl"),
        ("\"cannot find\" \"lssl\"", "ssl"),
        ("unknown tag:yaml.org -parser", "yaml"),
        ("unknown tag:green from the parser", "yaml"),
    ] {
        let calls = [
            vec!["ask", question, "--json"],
            vec!["context", "--query", question, "--json"],
            vec!["context", "--query", question, "--plain", "--json"],
            vec!["export", "links", "--query", question],
        ];
        for args in calls {
            let answer = call(at, &args);
            assert_eq!(answer.code(), 0, "{args:?}: {:?}", answer.error);
            let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
            assert_eq!(ids(&answer).first(), Some(&id), "{args:?}");
        }
        let words = question.split(' ').collect::<Vec<_>>();
        let answer: Value = serde_json::from_str(&call(at, &[&["ask", "--json"], &words[..]].concat()).stdout).unwrap();
        assert_eq!(ids(&answer).first(), Some(&id), "without quotes: {question}");
        for (tool, arguments) in [
            ("get_context", serde_json::json!({"topic": question})),
            ("read", serde_json::json!({"ids": [id], "query": question})),
        ] {
            let answer = client.call(tool, arguments);
            let text = &answer.content[0].as_text().unwrap().text;
            assert!(
                text.contains(&format!("notes/{id}.md"))
                    || text.contains(&format!("[{id}]"))
                    || text.contains(&format!("({id})")),
                "{question}: {text}"
            );
        }
    }
    let found = client.call("search", serde_json::json!({"query": "server log", "without": ["kill"]}));
    assert!(!found.content[0].as_text().unwrap().text.contains("Stopping"), "{found:?}");
    assert!(
        call(at, &["search", "--", "-rf"]).stdout.contains("Deleting")
            && !call(at, &["search", "--", "-rf"]).stdout.contains("Plants")
    );
}

/// A name that no note has is a warning, and the rest of the question is answered as without it.
#[test]
fn a_name_that_no_note_has_takes_no_answer_away() {
    let dir = command_lines();
    for question in ["kill -9 on the server", "office plant", "rm -rf in scripts", "cannot find -lssl"] {
        let expected = json(&dir, &["--query", question]);
        assert!(!ids(&expected).is_empty(), "{question}");
        for name in ["[[Nowhere at all]]", "[[Zeppelin|the airship]]", "[[2025-03-05]]", "[[server zeppelin hangar]]"] {
            for query in [format!("{name} {question}"), format!("{question} {name}?")] {
                let answer = json(&dir, &["--query", &query]);
                assert_eq!(ids(&answer).first(), ids(&expected).first(), "{query}");
                let warnings = answer["analysis"]["warnings"].to_string();
                assert!(warnings.contains("unresolved reference: "), "{query}: {warnings}");
            }
        }
    }
}

/// Patterns without room are counted, and only an answer that shows none says that there is no room for them.
#[test]
fn patterns_without_room_are_counted() {
    let dir = store(&[]);
    let tags: Vec<String> = (0..25).map(|tag| format!("t{tag}")).collect();
    for day in 1..=28 {
        let head = format!("---\nid: j-{day:02}\ntitle: 2025-03-{day:02}\ntags: [{}]\n---\n", tags.join(", "));
        write(dir.path(), &format!("journals/2025-03-{day:02}.md"), head + "- Worked\n");
    }
    let query = "recurring topics in my journals";
    let all = json(&dir, &["--query", query])["patterns"].as_array().unwrap().len();
    for (format, line) in [("json", "{\"kind\":"), ("records", "\nD pattern "), ("human", "\n- "), ("prompt", "\n  - ")]
    {
        let (mut has_some, mut has_none) = (false, false);
        for budget in (150..700).step_by(10).chain((700..4_000).step_by(120)) {
            let words =
                ["--today", TODAY, "--format", format, "--max-chars", &budget.to_string(), "context", "--query"];
            let answer = call(dir.path().to_str().unwrap(), &[&words[..], &[query]].concat());
            if answer.code() != 0 {
                continue;
            }
            let text = answer.stdout.split("\n## Note").next().unwrap().split("\n\n- [").next().unwrap().to_owned();
            let shown = text.matches(line).count();
            let left_out = (1..all).find(|count| {
                text.contains(&format!("no room for {count} of {all} patterns"))
                    || text.contains(&format!("\"patterns_without_room\":{count},"))
            });
            let says_none = text.contains("no room for the patterns") || text.contains("\"no_room\":[\"patterns\"]");
            match (shown, left_out) {
                (0, None) => has_none |= says_none,
                (shown, Some(count)) => {
                    assert!(
                        shown > 0 && shown + count == all && !says_none,
                        "{format} {budget}: {shown} {count} {text}"
                    );
                    has_some = true;
                }
                (shown, None) => assert!(shown == all && !says_none, "{format} {budget}: {shown} {text}"),
            }
        }
        assert!(has_some && has_none, "{format}: {has_some} {has_none}");
    }
}
