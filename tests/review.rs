//! Notes that agents write wait for a person, and one worklist says what is to be looked at.

use std::fs;
use std::path::Path;

use crate::support::files::{store_of_notes, temp_dir};
use crate::support::process::{Answer, call, call_with, call_with_cache};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The environment of a session of an agent tool.
const AGENT: [(&str, &str); 1] = [("CLAUDE_CODE_SESSION_ID", "s-1")];

const HOLD: &str = "[review]\nhold = true\n";

/// Makes a store with a config, of notes with their fields and bodies.
fn store(config: &str, notes: &[(&str, &str, &str)]) -> tempfile::TempDir {
    let dir = store_of_notes(notes);
    fs::write(dir.path().join(".qipu/config.toml"), config).unwrap();
    dir
}

fn on_day(args: &[&str]) -> Vec<String> {
    args.iter().copied().chain(["--today", "2025-03-31"]).map(str::to_owned).collect()
}

fn answer(dir: &Path, args: &[&str], vars: &[(&str, &str)]) -> Answer {
    let args = on_day(args);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    call_with(dir.to_str().unwrap(), &args, "", vars)
}

fn run_as(dir: &Path, args: &[&str], vars: &[(&str, &str)]) -> String {
    let Answer { stdout, error } = answer(dir, args, vars);
    assert!(error.is_none(), "{args:?}: {error:?}");
    stdout
}

fn run(dir: &Path, args: &[&str]) -> String {
    run_as(dir, args, &[])
}

fn refusal(dir: &Path, args: &[&str], vars: &[(&str, &str)]) -> String {
    answer(dir, args, vars).error.unwrap_or_else(|| panic!("{args:?} was not refused")).message
}

fn json_of(dir: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&run(dir, &[args, &["--json"]].concat())).unwrap()
}

fn ids(dir: &Path, args: &[&str]) -> Vec<String> {
    let answer = json_of(dir, args);
    let notes = ["journals", "decisions", "mocs", "notes"].into_iter().filter_map(|key| answer[key].as_array());
    notes.flatten().map(|note| note["id"].as_str().unwrap().to_owned()).collect()
}

fn text_of(dir: &Path, id: &str) -> String {
    let files = fs::read_dir(dir.join(".qipu/notes")).unwrap().map(|entry| entry.unwrap().path());
    let path = files.into_iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(id)).unwrap();
    fs::read_to_string(path).unwrap()
}

/// Captures a note as an agent, and returns its id.
fn captured(dir: &Path, args: &[&str]) -> String {
    run_as(dir, &[&["capture", "-q"], args].concat(), &AGENT).trim().to_owned()
}

#[test]
fn what_an_agent_writes_is_a_draft_if_the_store_holds_it() {
    let dir = store(HOLD, &[]);
    let id = captured(dir.path(), &["Retries hide bugs.", "--status", "stable", "--tag", "retry"]);
    let text = text_of(dir.path(), &id);
    let expected = "status: draft\ngenerated: {by: claude-code, at: \"2025-03-31\", session: s-1}\ntags: [retry]\n";
    assert!(text.contains(expected) && !text.contains("stable") && !text.contains("generated_by"), "{text}");
    // A person who names a program as the author is not held up: the note is still that of a program.
    let by = run(dir.path(), &["capture", "-q", "By a script.", "--by", "nightly"]);
    assert!(text_of(dir.path(), by.trim()).contains("status: draft\ngenerated: {by: nightly, at: \"2025-03-31\"}\n"));
    let own = run(dir.path(), &["capture", "-q", "By a person."]);
    assert!(!text_of(dir.path(), own.trim()).contains("draft"));
    let open = store("", &[]);
    let id = captured(open.path(), &["Retries hide bugs.", "--status", "stable"]);
    let expected = "custom:\n  generated_by: claude-code\n  session: s-1\n";
    let text = text_of(open.path(), &id);
    assert!(text.contains("status: stable") && !text.contains("draft"), "{text}");
    assert!(expected.lines().all(|line| text.contains(line)), "{text}");
}

#[test]
fn a_template_can_not_release_a_draft() {
    let dir = store(HOLD, &[]);
    fs::create_dir(dir.path().join(".qipu/templates")).unwrap();
    let template = "---\nstatus: stable\nverified: true\ncustom: {status: stable, own: 1}\n---\nText: {{title}}\n";
    fs::write(dir.path().join(".qipu/templates/fleeting.md"), template).unwrap();
    let text = text_of(dir.path(), &captured(dir.path(), &["A thought."]));
    assert!(text.contains("status: draft") && !text.contains("stable") && !text.contains("verified"), "{text}");
    assert!(text.contains("own: 1"), "{text}");
}

/// A store in which a draft says most about a subject.
fn store_with_draft(config: &str) -> tempfile::TempDir {
    let draft = "title: Payment retries\ntags: [pay, decision]\ntype: decision\nstatus: draft\nupdated: 2025-03-30\n\
                 links: [{type: contradicts, id: kept}, {type: supersedes, id: kept}]\ncompacts: [kept]";
    store(
        config,
        &[
            ("draft", draft, "Retry the payment job in src/pay.rs three times, always retry."),
            (
                "kept",
                "title: Payments\ntags: [pay]\nupdated: 2025-03-01",
                "The payment job in src/pay.rs asks first.\n\nThen it waits.",
            ),
        ],
    )
}

#[test]
fn drafts_are_hidden_marked_or_like_any_other_note() {
    let asks: [&[&str]; 5] = [
        &["context", "--query", "payment job retry"],
        &["context", "--tag", "pay"],
        &["context", "--query", "payment job retry", "--purpose", "decide", "--include-contradictions"],
        &["context", "--expand", "kept", "--include", "contradictions"],
        &["prime"],
    ];
    for (config, is_hidden, is_marked) in [
        (HOLD, true, true),
        ("[review]\nhold = true\ndrafts = \"hide\"\n", true, true),
        ("[review]\nhold = true\ndrafts = \"mark\"\n", false, true),
        ("[review]\ndrafts = \"hide\"\n", true, true),
        ("", false, false),
    ] {
        let dir = store_with_draft(config);
        for ask in asks {
            let shown = ids(dir.path(), ask);
            assert!(shown.contains(&"kept".to_owned()), "{config} {ask:?}: a draft hid what was accepted: {shown:?}");
            assert_eq!(shown.contains(&"draft".to_owned()), !is_hidden, "{config} {ask:?}: {shown:?}");
        }
        let named: [&[&str]; 5] = [
            &["context", "--note", "draft"],
            &["context", "--query", "[[Payment retries]]"],
            &["context", "--custom-filter", "status=draft"],
            &["search", "payment retry"],
            &["list"],
        ];
        for args in named {
            let notes = json_of(dir.path(), args);
            let draft = notes["notes"].as_array().unwrap().iter().find(|note| note["id"] == "draft").unwrap().clone();
            assert_eq!(draft["status"] == "draft", is_marked, "{config} {args:?}: {draft}");
            let records = run(dir.path(), &[args, &["--records"]].concat());
            assert_eq!(records.contains(" status=draft"), is_marked, "{config} {args:?}: {records}");
            let human = run(dir.path(), args);
            assert_eq!(human.contains("[draft]") || human.contains("draft\n"), is_marked, "{config} {args:?}: {human}");
        }
        let prompt = run(dir.path(), &["context", "--note", "draft", "--format", "prompt"]);
        assert_eq!(prompt.contains("(draft)"), is_marked, "{prompt}");
        let hook = hook(dir.path(), "src/pay.rs");
        assert!(hook.contains("kept"), "{hook}");
        assert_eq!(hook.contains("(draft)"), !is_hidden, "{config}: {hook}");
    }
}

/// Returns the answer of a hook to an edit of a file.
fn hook(dir: &Path, file: &str) -> String {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "Edit", "session_id": "s",
        "cwd": dir.to_str().unwrap(), "tool_input": {"file_path": dir.join(file).to_str().unwrap()}});
    let args = ["hook", "claude", "PreToolUse", "--no-seen"];
    let Answer { stdout, error } = call_with(dir.to_str().unwrap(), &args, &input.to_string(), &[]);
    assert!(error.is_none(), "{error:?}");
    stdout
}

#[test]
fn a_draft_replaces_a_note_once_a_person_accepts_it() {
    let dir = store(HOLD, &[("old", "title: Retries", "Retry the payment job once.")]);
    let before = text_of(dir.path(), "old");
    let id = captured(dir.path(), &["Retry the payment job twice.", "--supersedes", "old"]);
    assert_eq!(text_of(dir.path(), "old"), before);
    assert_eq!(ids(dir.path(), &["context", "--query", "retry the payment job"]), ["old"]);
    run(dir.path(), &["update", &id, "--status", "stable", "--verified"]);
    assert_eq!(ids(dir.path(), &["context", "--query", "retry the payment job"]), [id]);
}

#[test]
fn an_agent_can_not_lift_a_draft() {
    let notes = [
        ("draft", "title: A draft\nstatus: draft", "Text of the draft."),
        ("other", "title: Another\ncustom: {status: Draft}", "Text of another draft."),
        ("kept", "title: Kept", "An accepted text."),
    ];
    let dir = store(HOLD, &notes);
    let attempts: [&[&str]; 11] = [
        &["update", "draft", "--status", "stable"],
        &["update", "kept", "other", "--status", "rejected"],
        &["update", "draft", "--set", "status=stable"],
        &["update", "draft", "--verified"],
        &["update", "other", "--verified", "false"],
        &["merge", "kept", "draft"],
        &["merge", "draft", "kept"],
        &["supersede", "draft", "kept"],
        // One of two drafts would lose who wrote it.
        &["merge", "draft", "other"],
        &["link", "add", "kept", "supersedes", "draft"],
        &["link", "add", "draft", "superseded-by", "kept"],
    ];
    let texts = || notes.map(|(id, _, _)| text_of(dir.path(), id));
    let before = texts();
    for args in attempts {
        let message = refusal(dir.path(), args, &AGENT);
        assert!(message.contains("is a draft, and an agent can't decide"), "{args:?}: {message}");
        assert_eq!(texts(), before, "{args:?}");
    }
    // The text of a draft, and what was accepted, are the agent's to change.
    run_as(dir.path(), &["update", "draft", "--append", "More."], &AGENT);
    run_as(dir.path(), &["update", "kept", "--status", "obsolete"], &AGENT);
    // A person decides.
    run(dir.path(), &["update", "draft", "--status", "stable", "--verified"]);
    let text = text_of(dir.path(), "draft");
    assert!(text.contains("\nstatus: stable\n") && text.contains("verified: true"), "{text}");
    let open = store("", &notes);
    run_as(open.path(), &["update", "draft", "other", "--status", "stable"], &AGENT);
}

#[test]
fn a_hidden_note_decides_nothing_about_an_answer() {
    let weak =
        ("weak", "title: Cheese\nupdated: 2025-03-01", "A kettle, cheese, bread, wine and the quarterly report.");
    let others: Vec<(String, String)> = (0..30)
        .map(|number| (format!("o{number}"), format!("A kettle of number {number} and another matter.")))
        .collect();
    let hidden = "Zorblax flumox kettle quibbles: the zorblax flumox kettle quibbles every Tuesday.";
    let queries = ["zorblax flumox kettle quibbles", "what does Zorblax do with a kettle?"];
    let answers = |status: &str| {
        let fields = format!("title: Zorblax\nstatus: {status}\nupdated: 2025-03-01");
        let hidden = ("hidden", fields.as_str(), hidden);
        let others = others.iter().map(|(id, body)| (id.as_str(), "title: Other\nupdated: 2025-03-01", body.as_str()));
        let dir = store(HOLD, &others.chain([weak, hidden]).collect::<Vec<_>>());
        queries.map(|query| ids(dir.path(), &["ask", query]))
    };
    for status in ["draft", "rejected"] {
        assert_eq!(answers(status), [const { Vec::<String>::new() }; 2], "{status}");
    }
    assert!(answers("stable").iter().all(|ids| ids.contains(&"hidden".to_owned())));
}

#[test]
fn a_draft_has_only_names_that_no_other_note_has() {
    let notes = [
        ("a-draft", "title: Payments\nstatus: draft", "A draft on cheese."),
        ("b-draft", "title: Retry rules\naliases: [Only mine]\nstatus: draft", "A draft on wine."),
        ("kept", "title: Retry rules\naliases: [payments]", "An accepted text."),
        ("next", "title: Next\nlinks: [{type: supersedes, id: Payments}]", "See [[Payments]], [[retry rules]]."),
    ];
    let dir = store(HOLD, &notes);
    for (name, id) in [("Payments", "kept"), ("Retry rules", "kept"), ("Only mine", "b-draft"), ("a-draft", "a-draft")]
    {
        let shown = run(dir.path(), &["show", name, "--raw"]);
        assert!(shown.contains(&format!("\nid: {id}\n")), "{name}: {shown}");
    }
    let links = run(dir.path(), &["link", "list", "next"]);
    assert!(links.contains("kept") && !links.contains("draft"), "{links}");
    let found = run(dir.path(), &["search", "accepted text", "--records"]);
    assert!(found.contains("superseded-by=next"), "{found}");
    assert_eq!(ids(dir.path(), &["context", "--query", "[[Payments]]"])[0], "kept");
}

#[test]
fn a_draft_waits_for_a_person_whatever_supersedes_it() {
    let notes = [
        ("draft", "title: A draft\nstatus: draft", "Text of the draft."),
        ("kept", "title: Kept\nlinks: [{type: supersedes, id: draft}]", "An accepted text."),
    ];
    let (dir, cache) = (store(HOLD, &notes), temp_dir());
    let all = worklist(dir.path(), cache.path(), &["--kind", "draft"]);
    assert_eq!(entries(&all), [("draft".to_owned(), "draft".to_owned())]);
    settle(dir.path(), cache.path(), &all[0]);
}

#[test]
fn an_agent_can_not_lift_a_draft_with_files() {
    let source = temp_dir();
    let accepted = |dir: &Path| {
        fs::create_dir_all(dir.join(".qipu/notes")).unwrap();
        fs::write(dir.join(".qipu/notes/draft.md"), "---\nid: draft\ntitle: A draft\nstatus: stable\n---\n\nText.\n")
            .unwrap();
    };
    accepted(source.path());
    let pack = source.path().join("pack");
    let pack = pack.to_str().unwrap();
    run(source.path(), &["dump", pack]);
    let notes = [("draft", "title: A draft\nstatus: draft", "Text.")];
    let loads: [&[&str]; 1] = [&["load", pack, "--strategy", "overwrite"]];
    for args in loads {
        let dir = store(HOLD, &notes);
        let message = refusal(dir.path(), args, &AGENT);
        assert!(message.contains("is a draft, and an agent can't decide"), "{args:?}: {message}");
        assert!(text_of(dir.path(), "draft").contains("status: draft"));
        run(dir.path(), args);
        assert!(text_of(dir.path(), "draft").contains("status: stable"), "a person may");
    }
}

#[test]
fn a_session_whose_id_is_not_valid_is_still_no_person() {
    let dir = store(HOLD, &[("draft", "title: A draft\nstatus: draft", "Text of the draft.")]);
    for id in ["x".repeat(129), "a\nb".to_owned()] {
        let vars = [("CLAUDE_CODE_SESSION_ID", id.as_str())];
        let message = refusal(dir.path(), &["update", "draft", "--status", "stable"], &vars);
        assert!(message.contains("is a draft, and an agent can't decide"), "{message}");
        let made = run_as(dir.path(), &["capture", "-q", &format!("Text {}.", id.len())], &vars);
        let text = text_of(dir.path(), made.trim());
        assert!(text.contains("status: draft\ngenerated: {by: claude-code, at: \"2025-03-31\"}\n"), "{text}");
    }
}

#[test]
fn a_line_of_a_person_is_not_added_to_a_draft() {
    let dir = store(HOLD, &[]);
    let draft = run_as(dir.path(), &["capture", "-q", "2025-03-31", "--type", "journal"], &AGENT);
    let line = run(dir.path(), &["journal", "-q", "A thought on cheese."]);
    assert_ne!(line, draft);
    assert!(!run(dir.path(), &["show", draft.trim(), "--raw"]).contains("cheese"));
    assert_eq!(run(dir.path(), &["journal", "-q", "Another thought."]), line);
}

#[test]
fn a_text_by_a_session_loses_what_vouched_for_the_old_one() {
    let fields = "title: Kept\nverified: true\nauthor: Ann\nsummary: An accepted text.";
    for (vars, is_kept) in [(&AGENT[..], false), (&[], true)] {
        let dir = store("", &[("kept", fields, "An accepted text.")]);
        run_as(dir.path(), &["update", "kept", "--tag", "x"], vars);
        assert!(text_of(dir.path(), "kept").contains("verified: true"), "a tag is no text");
        run_as(dir.path(), &["update", "kept", "--body", "Another text."], vars);
        let text = text_of(dir.path(), "kept");
        let claims = ["verified", "author", "summary"].map(|claim| text.contains(claim));
        assert_eq!(claims, [is_kept; 3], "{text}");
    }
}

#[test]
fn the_settings_are_checked() {
    for (config, line) in [
        ("[review]\nhold = \"yes\"\n", "line 2"),
        ("[review]\nhold = true\ndrafts = \"show\"\n", "line 3"),
        ("review = 1\n", "line 1"),
    ] {
        let dir = store(config, &[]);
        let error = call(dir.path().to_str().unwrap(), &["list"]).error.unwrap();
        assert!(error.kind.exit_code() == 3 && error.message.contains(line), "{config}: {}", error.message);
    }
    let dir = store("[review]\nheld = true\n", &[]);
    let found = run(dir.path(), &["doctor"]);
    assert!(found.contains("unknown setting `review.held`; known settings here: hold, drafts"), "{found}");
}

/// A text long enough to be compared with others.
const LONG: &str = "The queue keeps each job until a worker confirms it, and a job that nobody confirms within a minute is \
                    given to another worker, at most five times in all.";

/// A store with a note for each reason, in the order of the worklist.
fn reasons() -> tempfile::TempDir {
    let old = "created: 2024-01-01\nupdated: 2024-01-01";
    let linked = "links: [{type: part-of, id: hub}]";
    let fields = |more: &str| format!("{old}\n{linked}\n{more}");
    let notes = [
        ("limit-a", fields("title: Retry limit\ncustom: {limit: 3}\nstatus: stable"), "Three."),
        (
            "limit-b",
            fields("title: Retry limit\nlimit: 5\ncreated: 2024-02-01\nstatus: stable")
                .replacen("created: 2024-01-01\n", "", 1),
            "Five.",
        ),
        ("for", format!("{old}\ntitle: For\nstatus: stable\nlinks: [{{type: supports, id: hub}}]"), "It is good."),
        (
            "against",
            format!("{old}\ntitle: Against\nstatus: stable\nlinks: [{{type: contradicts, id: hub}}]"),
            "It is bad.",
        ),
        ("gone", fields("title: Gone\nvalid_until: 2025-01-31\nstatus: stable"), "Until January."),
        ("due", fields("title: Due\nstale_after: 2025-03-31\nvalue: 10\nstatus: stable"), "Look again."),
        ("draft", fields("title: Draft\nvalue: 90\nstatus: draft\ngenerated: {by: codex, at: 2025-03-01}"), "A guess."),
        ("copy-1", fields("title: The queue\nstatus: stable"), LONG),
        ("copy-2", fields("title: Jobs\nstatus: stable"), LONG),
        ("unseen", fields("title: Unseen"), "A fact about cheese."),
        ("seen", fields("title: Seen\ntags: [decision]"), "See src/pay.rs for cheese."),
        ("alone", format!("{old}\ntitle: Alone"), "A fact about cheese, alone."),
        ("quiet", format!("{old}\ntitle: Quiet\nverified: true"), "Nothing to do."),
        ("hub", "title: Hub\nstatus: stable".to_owned(), "All of it."),
        ("no", fields("title: No\nstatus: rejected\nvalid_until: 2020-01-01"), "Turned down."),
    ];
    let notes: Vec<(&str, &str, &str)> = notes.iter().map(|(id, fields, body)| (*id, fields.as_str(), *body)).collect();
    store("", &notes)
}

/// Returns the worklist of a person with a cache.
fn worklist(dir: &Path, cache: &Path, args: &[&str]) -> Vec<Value> {
    let args = [&["review", "--today", "2025-03-31", "--json"], args].concat();
    let Answer { stdout, error } = call_with_cache(dir.to_str().unwrap(), cache, &args, "");
    assert!(error.is_none(), "{error:?}");
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    answer["worklist"].as_array().unwrap().clone()
}

fn entry_of(entry: &Value) -> (String, String) {
    let text = |key: &str| entry[key].as_str().unwrap().to_owned();
    (text("kind"), text("id"))
}

fn entries(worklist: &[Value]) -> Vec<(String, String)> {
    worklist.iter().map(entry_of).collect()
}

/// Lets a hook show what is known about a file, and records that in the cache.
fn show_in_hook(dir: &Path, cache: &Path, file: &str) {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "Edit", "session_id": "s",
        "cwd": dir.to_str().unwrap(), "tool_input": {"file_path": dir.join(file).to_str().unwrap()}});
    let answer = call_with_cache(dir.to_str().unwrap(), cache, &["hook", "claude", "PreToolUse"], &input.to_string());
    assert!(answer.error.is_none() && answer.stdout.contains("cheese"), "{:?} {}", answer.error, answer.stdout);
}

#[test]
fn the_worst_reason_comes_first() {
    let (dir, cache) = (reasons(), temp_dir());
    let expected = [
        ("contradiction", "against"),
        ("contradiction", "limit-a"),
        ("due", "gone"),
        ("due", "due"),
        ("draft", "draft"),
        ("near-duplicate", "copy-2"),
        ("orphan", "alone"),
    ]
    .map(|(kind, id)| (kind.to_owned(), id.to_owned()));
    assert_eq!(entries(&worklist(dir.path(), cache.path(), &[])), expected[..6]);
    assert_eq!(entries(&worklist(dir.path(), cache.path(), &["--kind", "orphan"])), expected[6..]);
    // Without a record of what was shown, no note counts as never shown.
    show_in_hook(dir.path(), cache.path(), "src/pay.rs");
    let all = worklist(dir.path(), cache.path(), &[]);
    let never = ["alone", "unseen"].map(|id| ("never-shown".to_owned(), id.to_owned()));
    assert_eq!(entries(&all), [&expected[..6], &never].concat());
    let field = |id: &str, key: &str| all.iter().find(|entry| entry["id"] == id).unwrap()[key].clone();
    assert_eq!(field("limit-a", "reason"), "`limit` is `3` here and `5` in `limit-b`");
    assert_eq!(field("against", "reason"), "of it and `for`, one supports `hub` and one contradicts it");
    assert_eq!(
        (field("limit-a", "other"), field("limit-a", "command")),
        (json!("limit-b"), json!("qipu supersede limit-a limit-b"))
    );
    assert_eq!(field("draft", "reason"), "nobody has accepted it yet; written by codex at 2025-03-01");
    assert_eq!(field("due", "command"), "qipu update due --set stale_after=2025-06-29");
    assert_eq!(field("copy-2", "reason"), "100 % of its text is also in `copy-1`");
    let some = worklist(dir.path(), cache.path(), &["--kind", "draft,orphan", "--kind", "due", "--limit", "3"]);
    assert_eq!(entries(&some), [&expected[2..5]].concat());
    let limited = run(dir.path(), &["review", "--limit", "3"]);
    assert!(limited.ends_with("(output truncated)\n") && limited.lines().count() == 7, "{limited}");
    assert!(refusal(dir.path(), &["review", "--kind", "worst"], &[]).contains("worst"));
    assert_eq!(run(store("", &[]).path(), &["review"]), "Nothing to review.\n");
}

#[test]
fn each_command_settles_its_entry() {
    let (dir, cache) = (reasons(), temp_dir());
    show_in_hook(dir.path(), cache.path(), "src/pay.rs");
    let mut steps = 0;
    while let Some(first) = worklist(dir.path(), cache.path(), &[]).first().cloned() {
        settle(dir.path(), cache.path(), &first);
        steps += 1;
        assert!(steps < 20, "{first}");
    }
    assert!(steps >= 7, "{steps}");
}

/// Code that a note refers to is gone or has changed; without git, only the files count.
#[test]
fn changed_code_comes_before_what_is_due() {
    let (dir, cache) = (store("", &[]), temp_dir());
    fs::remove_dir(dir.path().join(".git")).unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/pay.rs"), "fn retry() {\n    three_times();\n}\n").unwrap();
    for (id, place) in [("changed", "src/pay.rs:2"), ("gone", "src/pay.rs#retry"), ("kept", "src/pay.rs:1")] {
        let text = format!("---\nid: {id}\ntitle: {id}\nstatus: stable\n---\n\nText of {id}.\n");
        fs::write(dir.path().join(format!(".qipu/notes/{id}.md")), text).unwrap();
        run(dir.path(), &["update", id, "--code", place]);
    }
    assert_eq!(worklist(dir.path(), cache.path(), &["--kind", "code-changed,code-gone"]), [Value::Null; 0]);
    fs::write(dir.path().join("src/pay.rs"), "fn again() {\n    five_times();\n}\n").unwrap();
    fs::write(dir.path().join(".qipu/notes/kept.md"), "---\nid: kept\nstale_after: 2025-01-01\n---\n").unwrap();
    let all = worklist(dir.path(), cache.path(), &["--kind", "due,code"]);
    let expected = [("code-gone", "gone"), ("code-changed", "changed"), ("due", "kept")];
    assert_eq!(entries(&all), expected.map(|(kind, id)| (kind.to_owned(), id.to_owned())));
    assert_eq!(
        (&all[1]["reason"], &all[1]["command"]),
        (&json!("`src/pay.rs:2` changed"), &json!("qipu update changed --verified true"))
    );
    settle(dir.path(), cache.path(), &all[1]);
}

/// Runs the command of an entry, after which the worklist no longer has it.
fn settle(dir: &Path, cache: &Path, entry: &Value) {
    let command = entry["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    run(dir, &words);
    let after = worklist(dir, cache, &["--limit", "100"]);
    assert!(!entries(&after).contains(&entry_of(entry)), "{command}: {after:#?}");
}

/// A note of a random store.
fn random_note() -> impl Strategy<Value = (String, String)> {
    let maybe = |texts: &[&'static str]| {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        prop::sample::select([vec![String::new(); 2], texts].concat())
    };
    let status = maybe(&[
        "status: draft",
        "status: draft",
        "custom: {status: Draft}",
        "status: rejected",
        "status: stable",
        "status: settled",
    ]);
    let day = maybe(&[
        "valid_until: 2025-01-01",
        "stale_after: 2025-03-31",
        "stale_after: 2030-01-01",
        "valid_until: 2025-03-30\nstale_after: 2025-01-01",
    ]);
    let limit = maybe(&["limit: 1", "limit: 2", "subject: S\nlimit: 3"]);
    let created = maybe(&["created: 2024-01-01", "created: 2024-05-01\nvalue: 80", "created: 2025-03-30"]);
    let kind = prop::sample::select(vec![
        "supports", "contradicts", "supersedes", "superseded-by", "related", "contradicted-by",
    ]);
    let links = prop::collection::vec((kind, 0..6_usize), 0..3);
    let body = prop::sample::select(vec![LONG, LONG, "Cheese.", "Another short text on cheese."]);
    (status, day, limit, created, 0..3_usize, links, body).prop_map(
        |(status, day, limit, created, title, links, body)| {
            let links: Vec<String> = links.iter().map(|(kind, to)| format!("{{type: {kind}, id: n{to}}}")).collect();
            let fields = [status, day, limit, created].into_iter().filter(|line| !line.is_empty());
            let fields: Vec<String> = fields.collect();
            (format!("title: Title {title}\n{}\nlinks: [{}]", fields.join("\n"), links.join(", ")), body.to_owned())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a store contains, each command of the worklist can be run and settles its entry.
    #[test]
    fn each_command_settles_its_entry_in_any_store(notes in prop::collection::vec(random_note(), 2..7)) {
        let ids: Vec<String> = (0..notes.len()).map(|number| format!("n{number}")).collect();
        let notes: Vec<(&str, &str, &str)> =
            ids.iter().zip(&notes).map(|(id, (fields, body))| (id.as_str(), fields.as_str(), body.as_str())).collect();
        let cache = temp_dir();
        let all = worklist(store("", &notes).path(), cache.path(), &["--limit", "100"]);
        for entry in &all {
            settle(store("", &notes).path(), cache.path(), entry);
        }
        // One at a time, the worklist comes to its end.
        let dir = store("", &notes);
        for _ in 0..40 {
            match worklist(dir.path(), cache.path(), &[]).first() {
                Some(first) => settle(dir.path(), cache.path(), first),
                None => return Ok(()),
            }
        }
        prop_assert!(false, "{:#?}", worklist(dir.path(), cache.path(), &[]));
    }
}

/// Two notes that supersede each other replace nothing, until one of them is merged into a third.
#[test]
fn a_note_in_a_cycle_is_not_to_be_merged() {
    let each_other = [
        ("n0", "links: [{type: supersedes, id: n2}]", "Cheese."),
        ("n1", "title: Other", LONG),
        ("n2", "links: [{type: supersedes, id: n0}]", LONG),
    ];
    let cache = temp_dir();
    let merges = |notes: &[(&str, &str, &str)]| {
        let all = worklist(store("", notes).path(), cache.path(), &["--kind", "near-duplicate"]);
        all.iter().map(|entry| entry["command"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(merges(&each_other), [""; 0]);
    let [zero, one, two] = each_other;
    assert_eq!(merges(&[("n0", "", zero.2), one, two]), ["qipu merge n1 n2"]);
}

#[test]
fn a_worklist_fits_into_every_budget() {
    let dir = reasons();
    for format in [&["--json"][..], &["--records"], &[]] {
        let whole = run(dir.path(), &[&["review"], format].concat());
        let mut last = 0;
        for budget in (40..whole.chars().count() + 40).step_by(37) {
            let max = budget.to_string();
            let args = [&["review", "--max-chars", &max], format].concat();
            let Answer { stdout, error } = answer(dir.path(), &args, &[]);
            if let Some(error) = error {
                assert!(error.message.contains("budget") || error.message.contains("max-chars"), "{}", error.message);
                continue;
            }
            let chars = stdout.chars().count();
            assert!(chars <= budget, "{budget}: {stdout}");
            last = last.max(chars);
        }
        assert!(last > whole.chars().count() / 2, "{format:?} {last}");
    }
}

#[test]
fn notes_without_links_are_listed_only_if_asked_for() {
    let dir = store(
        "",
        &[
            ("alone", "title: Alone", "Lonely words."),
            ("hub", "title: Hub\nlinks: [{type: related, id: spoke}]", ""),
            ("spoke", "title: Spoke", ""),
        ],
    );
    let captured = run(dir.path(), &["capture", "Finding about the parser", "-q"]);
    fs::write(dir.path().join(".qipu/notes/\u{d55c}\u{ad6d}.md"), "A file with an id of its path.\n").unwrap();
    let alone = |args: &[&str]| {
        let ids = run(dir.path(), &[&["review", "--format", "ids"], args].concat());
        ids.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(alone(&[]).len(), 0);
    let asked = alone(&["--kind", "orphan"]);
    assert!(asked.len() == 3 && asked.contains(&captured.trim().to_owned()), "{asked:?}");
    assert!(run(dir.path(), &["status"]).contains("    3  unlinked\n"));
}
