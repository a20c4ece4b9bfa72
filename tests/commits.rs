//! Commits beside notes: where they are silent, in which order they come, and what is said of a piece of code.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::commit_repository::{CommitRepository, REPO, name};
use crate::support::generators::runner;
use crate::support::mcp_client::McpClient;
use crate::support::process::{User, call_in_session, call_with};

const REASON: &str = "The parser of the wombat reads each line twice, since the first pass counts the brackets and the \
    second one takes them away. One pass was tried and was slower, for the buffer grew with every bracket that it \
    met, and `parse_wombat` had to begin again at each of them.";
const CODE: &str = "fn parse_wombat() {\n    first();\n    second();\n}\n";

/// A repository with notes and commits that have the same words.
fn repository() -> CommitRepository {
    let repository = CommitRepository::new();
    repository.write("src/a.rs", CODE);
    repository.commit(&format!("Read the wombat twice\n\n{REASON}"));
    repository.git(&["tag", "v1.0"]);
    repository.write("src/a.rs", &CODE.replace("second", "third"));
    repository.commit("Rename the second pass of the wombat\n\n- [ ] a task of the wombat #tag\n\n[[n1]]");
    repository.note("n1", "The parser of the wombat", "The wombat parser belongs to [[n2]], see `src/a.rs:1`.");
    repository.note("n2", "A second note", "Of the wombat. See [[missing]].\n\n- [ ] open");
    repository.write(".qipu/journals/2025-06-14.md", "The wombat slept.\n");
    repository
}

/// Returns what a call prints, and its error.
fn answer(repository: &CommitRepository, args: &[&str], stdin: &str) -> String {
    let answer = call_with(repository.world.at(REPO).to_str().unwrap(), args, stdin, &[]);
    format!("{}{:?}", answer.stdout, answer.error)
}

#[test]
#[ignore = "git"]
fn commits_are_silent_where_they_are_not_asked_for() {
    let repository = repository();
    let input =
        json!({"session_id": "s", "prompt": "why does the parser of the wombat read each line twice?"}).to_string();
    let calls: [&[&str]; 22] = [
        &["list"],
        &["list", "--json"],
        &["list", "type = commit"],
        &["list", "--format", "paths"],
        &["prime"],
        &["prime", "--records"],
        &["review"],
        &["review", "--json"],
        &["review", "--kind", "code,due"],
        &["doctor"],
        &["doctor", "--json"],
        &["link", "list", "n1"],
        &["link", "tree", "n1"],
        &["link", "path", "n1", "n2"],
        &["export", "links"],
        &["export", "page"],
        &["export", "passages"],
        &["export", "pack"],
        &["tasks"],
        &["journal"],
        &["hook", "claude", "SessionStart", "--no-seen"],
        &["hook", "claude", "UserPromptSubmit", "--no-seen"],
    ];
    let all = |is_on| {
        repository.switch(is_on);
        calls.map(|args| answer(&repository, args, if args[0] == "hook" { &input } else { "" }))
    };
    for ((with, without), args) in all(true).iter().zip(all(false)).zip(calls) {
        assert_eq!(*with, without, "{args:?}");
    }
    let status = |is_on| {
        repository.switch(is_on);
        let text = answer(&repository, &["status"], "");
        let mut json: Value = serde_json::from_str(&repository.ok(&["status", "--json"])).unwrap();
        let rows = json["collections"].as_array_mut().unwrap();
        let is_commits = |row: &Value| row["name"] == "commits";
        let commits = rows.iter().find(|row| is_commits(row)).map(|row| row["notes"].clone());
        rows.retain(|row| !is_commits(row));
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("commits (history)")).collect();
        (commits, json, lines.join("\n"), text.contains("    2  commits (history)\n"))
    };
    let ((commits, json, text, is_said), (none, without, text_without, is_said_without)) =
        (status(true), status(false));
    assert_eq!((json, text), (without, text_without));
    assert_eq!((commits, none, is_said, is_said_without), (Some(json!(2)), None, true, false));
}

fn mcp(repository: &CommitRepository) -> McpClient {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qipu"));
    command.arg("mcp").current_dir(repository.world.at(REPO)).env_clear().env("PATH", std::env::var("PATH").unwrap());
    McpClient::start(command.env("HOME", repository.world.at("home")))
}

#[test]
#[ignore = "git"]
fn the_server_offers_no_commit_and_finds_those_of_now() {
    let repository = repository();
    let resources = || {
        let client = mcp(&repository);
        let all = client.request("resources/list", &json!({}));
        let read = client.request("resources/read", &json!({"uri": "qipu://n1"}));
        client.end();
        (all, read)
    };
    let with = resources();
    repository.switch(false);
    assert_eq!(with, resources());
    repository.switch(true);
    let client = mcp(&repository);
    let found = |word: &str| format!("{:?}", client.call("search", json!({"query": word})));
    assert!(found("brackets").contains("Read the wombat twice"), "{}", found("brackets"));
    assert!(!found("zanzibar").contains("Name the island"));
    let later = repository.commit("Name the island zanzibar");
    assert!(found("zanzibar").contains(&name(&later)), "{}", found("zanzibar"));
    repository.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    assert!(!found("zanzibar").contains(&name(&later)), "{}", found("zanzibar"));
    repository.note("n3", "Zanzibar", "An own note of zanzibar.");
    assert!(found("zanzibar").contains("n3"));
    client.end();
}

/// A program in place of git leaves a trace.
#[test]
#[ignore = "git"]
fn a_store_without_history_starts_no_git() {
    let repository = repository();
    repository.write("../bin/git", "#!/bin/sh\ntouch \"$HOME/started\"\nexit 1\n");
    fs::set_permissions(repository.world.at("bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qipu"));
        command.args(args).current_dir(repository.world.at(REPO)).env_clear().env("HOME", repository.world.at("bin"));
        let path = format!("{}:{}", repository.world.at("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).output().unwrap();
        let started = repository.world.at("bin/started");
        let is_started = started.exists();
        let _ = fs::remove_file(started);
        is_started
    };
    repository.switch(false);
    for args in [
        &["ask", "why is the wombat read twice"][..],
        &["search", "wombat"],
        &["context", "--query", "wombat"],
        &["show", "n1"],
        &["about", "src/a.rs:1"],
        &["about", "src/a.rs"],
        &["list"],
        &["prime"],
        &["status"],
        &["link", "list", "n1"],
        &["hook", "claude", "UserPromptSubmit"],
        &["doctor"],
    ] {
        assert!(!run(args), "{args:?} starts git");
    }
    repository.switch(true);
    assert!(run(&["ask", "why is the wombat read twice"]), "the trap works");
    for args in [&["list"][..], &["prime"], &["hook", "claude", "UserPromptSubmit"], &["link", "list", "n1"]] {
        assert!(!run(args), "{args:?} starts git");
    }
}

/// Own notes beside a number of commits with the same words.
fn crowd(commits: usize) -> CommitRepository {
    let repository = CommitRepository::new();
    for number in 0..3 * commits {
        if number % 3 > 0 {
            repository
                .commit(&format!("Change {number}\n\nA lamp of the house number {number} was dark, and glows again."));
            continue;
        }
        let more = ["the parser", "its buffer", "each bracket", "the cache"][number / 3 % 4];
        let message = format!(
            "Read the wombat twice for {more} {number}\n\nSince the wombat parser reads {more} twice, {more} is slow \
             in case {number}.\n\nThe wombat has {number} brackets, and {more} counts them.\n"
        );
        repository.commit(&message);
    }
    repository.note(
        "own",
        "The wombat is read twice",
        "We read the wombat twice, since the parser counts brackets first.",
    );
    repository.note("other", "Buffers", "The buffer of the parser grows. The wombat needs none.");
    repository
}

/// Returns the ids of the notes of an answer in their order.
fn shown(answer: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let name = line.strip_prefix("## ").or_else(|| line.strip_prefix("N "))?.split(' ').next()?;
        Some(name.trim_start_matches(".qipu/notes/").trim_end_matches(".md").to_owned())
    };
    let mut ids: Vec<String> = answer.lines().filter_map(of_line).collect();
    ids.dedup();
    ids
}

const QUESTION: &str = "why does the parser read the wombat twice";

#[test]
#[ignore = "git"]
fn an_own_note_is_first_and_in_each_answer() {
    let repository = crowd(200);
    for format in ["human", "records", "prompt", "json"] {
        for chars in ["500", "700", "1000", "2000", "4000", "20000"] {
            let answer = repository.ok(&["ask", QUESTION, "--max-chars", chars, "--format", format]);
            // JSON of 500 characters has no room for all of it.
            let part = if chars == "500" { "The wombat is read twice" } else { "counts brackets first" };
            assert!(answer.contains(part), "{format} {chars}: {answer}");
            assert!(answer.chars().count() <= chars.parse().unwrap(), "{format} {chars}: {answer}");
            if ["human", "records"].contains(&format) {
                assert_eq!(shown(&answer).first().map(String::as_str), Some("own"), "{chars}: {answer}");
            }
            assert!(chars.len() < 5 || answer.contains("commits:"), "{format} {chars}: {answer}");
        }
    }
    // A search goes by relevance, but no number of commits pushes a note out.
    let found = repository.ok(&["search", QUESTION, "-n", "51", "--format", "ids"]);
    assert!(found.lines().any(|id| id == "own"), "{found}");
}

#[test]
#[ignore = "git"]
fn budgets_are_exact_and_a_larger_one_keeps_the_first_of_a_smaller_one() {
    let repository = crowd(60);
    let formats = prop::sample::select(vec!["human", "records", "json", "prompt"]);
    runner(40)
        .run(&(formats, 60_usize..3_000, 1_usize..3_000, any::<bool>()), |(format, chars, more, is_question)| {
            let answer = |chars: usize| {
                let chars = chars.to_string();
                let words = if is_question { ["ask", QUESTION] } else { ["search", "wombat parser buffer"] };
                let args =
                    [&words[..], &["--max-chars", &chars, "--format", if is_question { format } else { "records" }]];
                repository.call(None, &args.concat())
            };
            let smaller = answer(chars);
            prop_assert!(smaller.stdout.chars().count() <= chars, "{} {}: {}", format, chars, smaller.stdout);
            if smaller.error.is_some() {
                return Ok(());
            }
            let larger = answer(chars + more);
            prop_assert!(larger.error.is_none(), "{} works and {} does not", chars, chars + more);
            prop_assert!(larger.stdout.chars().count() <= chars + more);
            if !is_question {
                return Ok(());
            }
            let (few, many) = (shown(&smaller.stdout), shown(&larger.stdout));
            // At most three of those behind the run had room where more had not.
            let kept = few.iter().take(few.len().saturating_sub(3).max(1));
            for id in kept {
                prop_assert!(many.contains(id), "{} of {} is not in {}", id, smaller.stdout, larger.stdout);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
#[ignore = "git"]
fn what_is_said_of_code_has_its_commits() {
    let repository = repository();
    let first = repository.git(&["rev-parse", "HEAD~1"]).trim().to_owned();
    let second = repository.head();
    repository.commit_of("src/b.rs", "fn other() {}\n", "Add something else\n\nOf the wombat.");
    let about = |place: &str| repository.ok(&["about", place, "--format", "ids"]);
    let both = format!("n1\n{}\n{}\n", name(&first), name(&second));
    assert_eq!(about("src/a.rs"), both);
    assert_eq!(about("src/a.rs:2"), format!("n1\n{}\n", name(&first)));
    assert_eq!(about("src/a.rs:3"), format!("n1\n{}\n", name(&second)));
    assert_eq!(about("src/none.rs"), "");
    repository.git(&["mv", "src/a.rs", "src/c.rs"]);
    let moved = repository.commit("Move the parser");
    let of_moved = about("src/c.rs");
    for id in [&first, &second, &moved] {
        assert!(of_moved.contains(&name(id)), "{of_moved}");
    }
    // Relative to the folder of the call, and in a linked working tree as of what is checked out there.
    let in_src = repository.world.answer_in("repo/src", &["about", "b.rs", "--format", "ids"]);
    assert_eq!(in_src, format!("{}\n", name(&repository.git(&["rev-parse", "HEAD~1"]))));
    let linked = repository.world.at("linked");
    repository.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap(), &first]);
    let in_linked = |args: &[&str]| repository.world.answer_in("linked", args);
    assert_eq!(in_linked(&["about", "src/a.rs", "--format", "ids"]), format!("n1\n{}\n", name(&first)));
    assert_eq!(in_linked(&["about", "src/a.rs:3", "--format", "ids"]), format!("n1\n{}\n", name(&first)));
    assert!(!in_linked(&["search", "wombat"]).contains(&name(&second)));
    repository.switch(false);
    assert_eq!(about("src/b.rs"), "");
}

#[test]
#[ignore = "git"]
fn a_note_is_made_of_a_commit() {
    let repository = repository();
    let first = repository.git(&["rev-parse", "HEAD~1"]).trim().to_owned();
    let at = |path: &str| repository.world.at(path);
    let user = User { settings: at("settings"), data: at("data"), home: at("home"), cache: None };
    for is_on in [true, false] {
        repository.switch(is_on);
        let dir = at(REPO);
        let args = ["capture", "--from", &name(&first), "-q"];
        let by_person = repository.ok(&args);
        let by_agent = call_in_session(dir.to_str().unwrap(), &user, &args, "");
        assert!(by_agent.error.is_none(), "{by_agent:?}");
        let raw = |id: &str| repository.ok(&["show", id.trim(), "--raw"]);
        for (text, is_draft) in [(raw(&by_person), false), (raw(&by_agent.stdout), true)] {
            assert!(text.contains("Read the wombat twice") && text.contains(REASON), "{text}");
            assert!(text.contains(&name(&first)) && text.contains("src/a.rs"), "{text}");
            assert_eq!(text.contains("status: draft"), is_draft, "{text}");
        }
    }
    let unknown = repository.call(None, &["capture", "--from", "commits:000000000000"]);
    assert!(unknown.error.is_some() && unknown.stdout.is_empty());
    assert!(Path::new(&at("repo/.qipu/notes")).read_dir().unwrap().count() == 6);
}

#[test]
#[ignore = "git"]
fn a_commit_has_many_names_and_only_what_asks_reads_it() {
    let repository = repository();
    let id = repository.git(&["rev-parse", "v1.0"]).trim().to_owned();
    let short = name(&id);
    for named in [format!("commits:{id}"), format!("commits:{}", id.to_uppercase()), format!("commits:{}", &id[..7])] {
        let shown: Value = serde_json::from_str(&repository.ok(&["show", &named, "--json"])).unwrap();
        let note = &shown["notes"][0];
        assert_eq!(
            (&note["id"], &note["release"], &note["files"]),
            (&json!(short), &json!("v1.0"), &json!(["src/a.rs"]))
        );
    }
    let wrong = format!("commits:{}0", &id[..39]);
    assert!(answer(&repository, &["show", &wrong], "").contains("no such note"));
    // A command that asks nothing reads none, whatever it names.
    for args in [&["list"][..], &["review"], &["export", "links"], &["status"]] {
        let with = [args, &["--store", "commits"]].concat();
        assert_eq!(answer(&repository, &with, ""), answer(&repository, args, ""), "{args:?}");
    }
    for args in [["update", "--value", "3"], ["link", "add", "n1"]] {
        let words: Vec<&str> = if args[0] == "update" {
            vec!["update", &short, "--value", "3"]
        } else {
            vec!["link", "add", "n1", &short]
        };
        assert!(answer(&repository, &words, "").contains("is a commit, which this command neither changes nor links"));
    }
    assert!(answer(&repository, &["about", "src/none.rs", "--in", "commits"], "").contains("No note names it."));
    // Two projects of a repository have their own names of files.
    repository.write("sub/b.rs", "fn b() {}\n");
    repository.commit("Add the badger\n\nIt digs.");
    let last = repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repository.ok(&["init", "sub", "--commits"]);
    let files = |args: &[&str]| {
        let shown: Value = serde_json::from_str(&repository.ok(args)).unwrap();
        shown["notes"][0]["files"].clone()
    };
    let named = format!("commits:{last}");
    assert_eq!(files(&["show", &named, "--json"]), json!(["sub/b.rs"]));
    assert_eq!(files(&["show", &named, "--json", "--store", "sub/.qipu"]), json!(["b.rs"]));
}

#[test]
#[ignore = "git"]
fn a_tag_of_nothing_leaves_commits_without_releases() {
    let repository = repository();
    fs::write(repository.world.at(REPO).join(".git/refs/tags/bad"), "1".repeat(40)).unwrap();
    let found = answer(&repository, &["ask", "why is each line of the wombat read twice", "--in", "commits"], "");
    assert!(found.contains("the first pass counts the brackets"), "{found}");
}

#[test]
#[ignore = "git"]
fn a_linked_worktree_inside_the_main_one_is_a_project_of_its_own() {
    let repository = repository();
    repository.git(&["worktree", "add", "--quiet", "-b", "side", "trees/side"]);
    repository.write("trees/side/src/z.rs", "fn z() {}\n");
    repository.write("trees/side/.qipu/config.toml", "[history]\ncommits = true\n");
    fs::create_dir_all(repository.world.at("repo/trees/side/.qipu/notes")).unwrap();
    repository.git_in("repo/trees/side", &["add", "src/z.rs"]);
    repository.git_in("repo/trees/side", &["commit", "--quiet", "-m", "Add the zebra\n\nIt has stripes."]);
    let last = repository.git_in("repo/trees/side", &["rev-parse", "HEAD"]);
    let there = repository.world.at("repo/trees/side");
    let shown = call_with(there.to_str().unwrap(), &["show", &format!("commits:{}", last.trim()), "--json"], "", &[]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["notes"][0]["files"], json!(["src/z.rs"]));
}
