//! A note that another one replaces never comes before its successor, and what was turned down is shown only on request.

use std::fs;
use std::path::Path;

use crate::support::files::store_of_notes as store;
use crate::support::process::{Answer, call, call_with};
use proptest::prelude::*;
use serde_json::{Value, json};

fn run(dir: &Path, args: &[&str]) -> String {
    let args: Vec<&str> = args.iter().copied().chain(["--today", "2025-03-31"]).collect();
    let Answer { stdout, error } = call(dir.to_str().unwrap(), &args);
    assert!(error.is_none(), "{args:?}: {error:?}");
    stdout
}

fn ids(dir: &Path, args: &[&str]) -> Vec<String> {
    let answer = run(dir, &[args, &["--json"]].concat());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let notes = ["journals", "decisions", "mocs", "notes"].into_iter().filter_map(|key| answer[key].as_array());
    notes.flatten().map(|note| note["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_successor_stands_in_and_says_so_in_every_format() {
    let dir = store(&[
        ("old", "title: Sessions in Redis\nvalue: 90\nstatus: superseded", "Sessions are kept in redis, all sessions."),
        ("new", "title: Where logins live\nlinks: [{type: supersedes, id: old}]", "A table of Postgres."),
        ("other", "title: Redis", "Redis is a cache of sessions."),
    ]);
    let query = ["context", "--query", "sessions kept in redis"];
    assert_eq!(ids(dir.path(), &query)[..1], ["new"]);
    assert!(!ids(dir.path(), &query).contains(&"old".to_owned()));
    let of = |format: &[&str]| run(dir.path(), &[&query[..], format].concat());
    assert!(of(&["--records"]).contains(" supersedes=old\n"), "{}", of(&["--records"]));
    assert!(of(&["--json"]).contains("\"supersedes\":[\"old\"]"), "{}", of(&["--json"]));
    assert!(of(&[]).contains("[supersedes old]"), "{}", of(&[]));
    assert!(of(&["--format", "prompt"]).contains("[new] (supersedes old) "), "{}", of(&["--format", "prompt"]));
    assert_eq!(ids(dir.path(), &["search", "sessions kept in redis"]), ["new", "other", "old"]);
    let found = run(dir.path(), &["search", "sessions kept in redis", "--records"]);
    assert!(found.contains(" status=superseded superseded-by=new\n"), "{found}");
    // A note that is named is shown.
    for named in [&["context", "--note", "old"][..], &["context", "--query", "[[Sessions in Redis]]"]] {
        assert_eq!(ids(dir.path(), named)[..1], ["old"], "{named:?}");
    }
    assert_eq!(ids(dir.path(), &["context", "--custom-filter", "status=superseded"]), ["old"]);
}

#[test]
fn what_was_turned_down_is_shown_on_request_or_as_a_contradiction() {
    let dir = store(&[
        (
            "no",
            "title: Retry the payment\nstatus: rejected\ntags: [pay]\nupdated: 2025-03-30",
            "Retry the payment job.",
        ),
        (
            "was",
            "title: Pay by cheque\nstatus: deprecated\ntags: [pay]\nupdated: 2025-03-30",
            "A payment job of paper.",
        ),
        (
            "yes",
            "title: Ask first\ntags: [pay]\nlinks: [{type: contradicts, id: no}]",
            "Ask before a payment job runs.",
        ),
    ]);
    assert_eq!(ids(dir.path(), &["context", "--query", "payment job"]), ["yes", "no"]);
    assert_eq!(ids(dir.path(), &["context", "--tag", "pay"]), ["yes", "no"]);
    assert_eq!(ids(dir.path(), &["prime"]), Vec::<String>::new());
    assert_eq!(ids(dir.path(), &["context", "--query", "Pay by cheque"]), ["yes", "was", "no"]);
    assert_eq!(ids(dir.path(), &["context", "--custom-filter", "status=deprecated"]), ["was"]);
    assert_eq!(ids(dir.path(), &["context", "--note", "was"]), ["was"]);
    assert_eq!(ids(dir.path(), &["search", "payment"]).len(), 3);
}

#[test]
fn a_note_that_is_due_is_marked_and_less_fresh() {
    let dir = store(&[
        ("a", "title: A\nupdated: 2025-03-30\nstale_after: 2025-03-31", "Alpha."),
        ("b", "title: B\nupdated: 2025-03-30\nstale_after: 2025-04-01", "Alpha beta."),
    ]);
    let answer = run(dir.path(), &["context", "--note", "a", "--note", "b", "--purpose", "answer", "--json"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let fresh = |id: &str| {
        let note = answer["notes"].as_array().unwrap().iter().find(|note| note["id"] == id).unwrap();
        (note["due"].as_str().map(str::to_owned), note["confidence"]["temporal_freshness"].as_f64().unwrap())
    };
    assert_eq!(fresh("a"), (Some("2025-03-31".to_owned()), 0.1));
    assert!(fresh("b").0.is_none() && fresh("b").1 > 0.9);
    let listed = run(dir.path(), &["list"]);
    assert!(listed.contains("A [due since 2025-03-31]") && !listed.contains("B ["), "{listed}");
}

fn read(dir: &Path, id: &str) -> String {
    fs::read_to_string(dir.join(format!(".qipu/notes/{id}.md"))).unwrap()
}

#[test]
fn supersede_writes_both_notes_or_neither() {
    let dir = store(&[
        ("old", "title: Old # mine\nmine: [kept]", "Text of old."),
        ("new", "title: New", "Text of new."),
        ("newer", "title: Newer\nstatus: settled", "Text."),
        ("no", "status: rejected", "Text."),
        ("draft", "status: draft", "Nothing."),
    ]);
    let dir = dir.path();
    let shown = run(dir, &["supersede", "Old", "New", "--dry-run"]);
    assert!(shown.contains("+custom:") && shown.contains("+  - type: supersedes\n+    id: old"), "{shown}");
    assert!(!read(dir, "old").contains("superseded") && !read(dir, "new").contains("supersedes"));
    assert_eq!(run(dir, &["supersede", "Old", "New", "-q"]), "new\nold\n");
    let (old, new) = (read(dir, "old"), read(dir, "new"));
    assert!(old.contains("title: Old # mine\nmine: [kept]\n") && old.contains("\n  status: superseded\n"), "{old}");
    assert!(new.contains("supersedes") && new.ends_with("\nText of new.\n"), "{new}");
    let again = run(dir, &["supersede", "old", "new"]);
    assert!(again.contains("new unchanged") && again.contains("old unchanged"), "{again}");
    assert_eq!((read(dir, "old"), read(dir, "new")), (old, new));
    // Without its successor, the note does not come back unnoticed.
    for args in [&["link", "remove", "new", "old", "--dry-run"][..], &["delete", "new", "--force", "--dry-run"]] {
        let shown = run(dir, args);
        assert!(
            shown.contains("old.md: its status is still superseded, but no note supersedes it any more"),
            "{shown}"
        );
    }
    // A chain; the status of a note that has one at the top is changed there.
    run(dir, &["supersede", "new", "newer"]);
    assert_eq!(ids(dir, &["context", "--query", "Text of old"]), ["newer"]);
    for (args, reason) in [
        (["new", "new"], "a note can't supersede itself"),
        (["newer", "old"], "`old` can't supersede `newer`, which supersedes it"),
        (["new", "old"], "`old` can't supersede `new`, which supersedes it"),
        (["old", "newer"], "`new` already supersedes `old`"),
        (["newer", "no"], "`no` can't supersede a note: its status is rejected"),
        (["newer", "draft"], "`draft` can't supersede a note: its status is draft"),
        (["newer", "nothing"], "no such note: `nothing`"),
    ] {
        let before = (read(dir, args[0]), read(dir, "newer"));
        let error = call(dir.to_str().unwrap(), &["supersede", args[0], args[1]]).error.unwrap();
        assert!(error.to_string().contains(reason), "{args:?}: {error}");
        assert_eq!((read(dir, args[0]), read(dir, "newer")), before);
    }
}

#[test]
fn a_note_is_created_with_what_it_replaces() {
    let dir = store(&[
        ("a", "title: A\nstatus: stable", "Alpha text."),
        ("b", "title: B", "Beta text."),
        ("c", "title: C", "Gamma text."),
    ]);
    let dir = dir.path();
    let id = run(dir, &["capture", "-q", "Delta text.", "--supersedes", "A", "--supersedes", "b", "--supersedes", "a"]);
    let id = id.trim();
    assert_eq!(id.lines().count(), 1, "{id}");
    assert!(read(dir, "a").contains("\nstatus: superseded\n") && read(dir, "b").contains("  status: superseded\n"));
    assert_eq!(ids(dir, &["context", "--query", "alpha text"]), [id, "c"]);
    // A draft replaces nothing until it is accepted.
    let args =
        ["capture", "--title", "Draft", "-q", "--body", "Gamma delta.", "--status", "draft", "--supersedes", "c"];
    let draft = run(dir, &args).trim().to_owned();
    assert!(!read(dir, "c").contains("superseded"));
    assert!(ids(dir, &["context", "--query", "gamma text"]).contains(&"c".to_owned()));
    run(dir, &["update", &draft, "--status", "stable"]);
    assert!(!ids(dir, &["context", "--query", "gamma text"]).contains(&"c".to_owned()));
    let refused = ["capture", "Text.", "--status", "rejected", "--supersedes", "c"];
    let error = call(dir.to_str().unwrap(), &refused).error.unwrap();
    assert!(error.to_string().contains("can't supersede a note: its status is rejected"), "{error}");
}

/// A note of a random store: its status, value, count of the word that is searched for, and links.
#[derive(Debug, Clone)]
struct Random {
    status: Option<&'static str>,
    value: u8,
    words: usize,
    /// The type, the number of the target, and whether its title names it. A number above those of notes names nothing.
    links: Vec<(&'static str, usize, bool)>,
}

fn random() -> impl Strategy<Value = Random> {
    let status = prop::sample::select(vec![
        None,
        None,
        None,
        Some("draft"),
        Some("rejected"),
        Some("superseded"),
        Some("settled"),
    ]);
    let kind = prop::sample::select(vec!["supersedes", "superseded-by", "supersedes", "related"]);
    let links = prop::collection::vec((kind, 0..14_usize, any::<bool>()), 0..3);
    (status, 0..100_u8, 0..4_usize, links).prop_map(|(status, value, words, links)| Random {
        status,
        value,
        words,
        links,
    })
}

/// Returns the pairs of a replaced note and its successor that count, by the rules of specs/reference/notes-and-links.md.
fn succession(notes: &[Random]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (place, note) in notes.iter().enumerate() {
        for (kind, target, _) in note.links.iter().filter(|(_, target, _)| *target < notes.len() && *target != place) {
            match *kind {
                "supersedes" => pairs.push((*target, place)),
                "superseded-by" => pairs.push((place, *target)),
                _ => {}
            }
        }
    }
    pairs.retain(|(_, new)| !matches!(notes[*new].status, Some("draft" | "rejected")));
    let mut reaches = vec![vec![false; notes.len()]; notes.len()];
    pairs.iter().for_each(|(old, new)| reaches[*old][*new] = true);
    for via in 0..notes.len() {
        for from in 0..notes.len() {
            for to in 0..notes.len() {
                reaches[from][to] |= reaches[from][via] && reaches[via][to];
            }
        }
    }
    pairs.retain(|(old, new)| !reaches[*new][*old]);
    pairs
}

fn written(notes: &[Random]) -> Vec<(String, String, String)> {
    let note = |(place, note): (usize, &Random)| {
        let mut fields =
            format!("title: Title {place}\nvalue: {}\ntags: [t]\nupdated: 2025-03-{:02}", note.value, 1 + place);
        fields.extend(note.status.map(|status| format!("\nstatus: {status}")));
        if !note.links.is_empty() {
            fields.push_str("\nlinks:");
        }
        for (kind, target, by_title) in &note.links {
            let target = if *by_title { format!("Title {target}") } else { format!("n{target:02}") };
            fields.push_str(&format!("\n- {{type: {kind}, id: '{target}'}}"));
        }
        let body = format!("{}Text w{place}a w{place}b about cells in src/cells.rs.", "storage ".repeat(note.words));
        (format!("n{place:02}"), fields, body)
    };
    notes.iter().enumerate().map(note).collect()
}

/// Returns what a hook adds to an edit of `src/cells.rs`.
fn edit_hook(dir: &Path) -> String {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "Edit", "session_id": "s",
        "cwd": dir.to_str().unwrap(), "tool_input": {"file_path": dir.join("src/cells.rs").to_str().unwrap()}});
    let args = ["hook", "claude", "PreToolUse", "--no-seen", "--today", "2025-03-31"];
    let Answer { stdout, error } = call_with(dir.to_str().unwrap(), &args, &input.to_string(), &[]);
    assert!(error.is_none(), "{error:?}");
    stdout
}

#[test]
fn a_hook_shows_the_successor_alone() {
    let dir = store(&[
        ("old", "title: Old\ntags: [decision]", "Cells in src/cells.rs are locked."),
        ("new", "title: New\nlinks: [{type: supersedes, id: old}]", "Cells in src/cells.rs are atomic."),
    ]);
    let shown = edit_hook(dir.path());
    assert!(shown.contains("(new)") && shown.contains("supersedes old") && !shown.contains("locked"), "{shown}");
}

/// The commands, and whether each leaves replaced notes out.
const COMMANDS: [(&[&str], bool); 16] = [
    (&["search", "storage cells"], false),
    (&["search", "storage", "--limit", "3"], false),
    (&["search", "--like", "n00"], false),
    (&["list"], false),
    (&["list", "--sort", "value"], false),
    (&["list", "--sort", "title", "--limit", "4"], false),
    (&["context", "--query", "storage cells"], true),
    (&["context", "--query", "storage", "--max-chars", "600"], true),
    (&["context", "--query", "storage cells", "--purpose", "answer"], true),
    (&["context", "--query", "storage", "--purpose", "decide", "--max-tokens", "300"], true),
    (&["context", "--query", "storage", "--purpose", "explore", "--include-derivations"], true),
    (&["context", "--tag", "t"], true),
    (&["context", "--tag", "t", "--limit", "2"], true),
    (&["ask", "storage cells", "--max-chars", "2000"], true),
    (&["prime"], true),
    (&["about", "src/cells.rs"], true),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_replaced_note_never_comes_before_its_successor(
        notes in prop::collection::vec(random(), 2..12),
        turn in 0..2_usize,
    ) {
        let dir = store(&written(&notes));
        let pairs = succession(&notes);
        // Each store takes every other command.
        for (args, leaves_out) in COMMANDS.into_iter().skip(turn).step_by(2) {
            let shown = ids(dir.path(), args);
            let place = |note: usize| shown.iter().position(|id| *id == format!("n{note:02}"));
            for (old, new) in &pairs {
                let Some(old_place) = place(*old) else { continue };
                prop_assert!(!leaves_out, "{args:?} shows {old}: {shown:?} {pairs:?}");
                prop_assert!(place(*new).is_none_or(|place| place < old_place), "{args:?}: {shown:?} {pairs:?}");
                let has_successor = pairs.iter().any(|(_, new)| place(*new).is_some_and(|place| place < old_place));
                let is_listed = args[0] == "search" && args[1] != "--like";
                prop_assert!(!is_listed || has_successor, "{args:?} {old}: {shown:?} {pairs:?}");
            }
        }
        let shown = edit_hook(dir.path());
        for (old, _) in &pairs {
            prop_assert!(!shown.contains(&format!("(n{old:02})")), "{shown} {pairs:?}");
        }
    }
}
