//! What an answer says of itself: whether it is one, which words it lacks, and where it goes on.

use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::files::{path, store};
use crate::support::process::call;

const RESEARCH: &str = "fixtures/research";
const TODAY: [&str; 2] = ["--today", "2025-03-31"];

/// Questions to [`lamps`] that have an answer without one word, hardly an answer, and none.
const LACKING: &str = "does the lantern at the harbor rotate";
const WEAK: &str = "does the lantern at the harbor burn mangoes";
const UNKNOWN: &str = "mangoes and papayas of the harbor";

/// A store of four short notes.
fn lamps() -> TempDir {
    store(&[
        ("notes/qp-lamp.md", "---\nid: qp-lamp\ntitle: Lamps\n---\nThe lantern at the harbor burns oil.\n"),
        ("notes/qp-wheel.md", "---\nid: qp-wheel\ntitle: Wheels\n---\nA turbine can rotate in gravel.\n"),
        ("notes/qp-horse.md", "---\nid: qp-horse\ntitle: Horses\n---\nA saddle is made of leather and walnut.\n"),
        ("notes/qp-metal.md", "---\nid: qp-metal\ntitle: Metals\n---\nCopper and granite meet in the meadow.\n"),
    ])
}

fn ask(dir: &str, question: &str, flags: &[&str]) -> String {
    let answer = call(dir, &[&["ask", question][..], flags].concat());
    assert_eq!(answer.code(), 0, "{question} {flags:?}: {:?}", answer.error);
    answer.stdout
}

fn ask_json(dir: &str, question: &str) -> Value {
    serde_json::from_str(&ask(dir, question, &["--json"])).unwrap()
}

#[test]
fn people_are_told_how_well_notes_match() {
    let dir = lamps();
    let lacking = ask(path(&dir), LACKING, &[]);
    assert!(lacking.starts_with("## .qipu/notes/qp-lamp.md Lamps\nThe lantern"), "{lacking}");
    let end = "\n\nNot in these passages: \"rotate\".\nalso: .qipu/notes/qp-wheel.md Wheels\n";
    assert!(lacking.ends_with(end), "{lacking}");
    let weak = ask(path(&dir), WEAK, &[]);
    assert!(weak.starts_with("Weak match: no note has \"mangoes\".\n\n## .qipu/notes/qp-lamp.md Lamps\n"), "{weak}");
    let unknown = ask(path(&dir), UNKNOWN, &[]);
    let reason = "Nothing known: no note has \"mangoes\", \"papayas\"; 1 note has other words of the question";
    assert!(unknown.starts_with(&format!("{reason} (`qipu search` shows it).\n")), "{unknown}");
    for answer in [lacking, weak, unknown] {
        assert!(!answer.contains("Insufficient") && !answer.contains("Coverage"), "{answer}");
    }
}

#[test]
fn programs_are_told_how_well_notes_match() {
    let dir = lamps();
    for (question, level, missing, unknown, notes) in [
        (LACKING, "answer", json!(["rotate"]), json!([]), 1),
        (WEAK, "weak", json!([]), json!(["mangoes"]), 1),
        (UNKNOWN, "nothing", json!([]), json!(["mangoes", "papayas"]), 0),
    ] {
        let answer = ask_json(path(&dir), question);
        let matched = &answer["match"];
        assert_eq!(matched["level"], level, "{question}");
        assert_eq!((&matched["missing"], &matched["unknown"]), (&missing, &unknown), "{question}");
        assert!((0.0..=1.0).contains(&matched["score"].as_f64().unwrap()));
        assert_eq!(answer["notes"].as_array().unwrap().len(), notes, "{question}");
        let reason = answer["insufficient"]["reason"].as_str();
        assert_eq!(reason.is_some(), notes == 0, "{question}: {reason:?}");
        assert!(reason.is_none_or(|reason| reason.starts_with("nothing known: no note has \"mangoes\"")));
    }
    let also = &ask_json(path(&dir), LACKING)["also"];
    let wheel = json!([{"id": "qp-wheel", "path": ".qipu/notes/qp-wheel.md", "title": "Wheels"}]);
    assert_eq!(also, &wheel);
}

#[test]
fn records_say_how_well_notes_match() {
    let dir = lamps();
    let records = |question| ask(path(&dir), question, &["--records"]);
    let has = |answer: &str, pattern: &str| Regex::new(&format!("(?m)^{pattern}$")).unwrap().is_match(answer);
    let lacking = records(LACKING);
    assert!(has(&lacking, r"D match level=answer score=0\.\d\d missing=rotate unknown=-"), "{lacking}");
    assert!(has(&lacking, r#"N qp-lamp .* path=\.qipu/notes/qp-lamp\.md"#), "{lacking}");
    assert!(has(&lacking, r#"D also id=qp-wheel path=\.qipu/notes/qp-wheel\.md title="Wheels""#), "{lacking}");
    let weak = records(WEAK);
    assert!(has(&weak, r"W weak score=0\.\d\d missing=- unknown=mangoes"), "{weak}");
    assert!(!weak.contains("D match level"), "{weak}");
    let unknown = records(UNKNOWN);
    assert!(has(&unknown, r"D match level=nothing score=0\.\d\d missing=- unknown=mangoes,papayas"), "{unknown}");
    assert!(has(&unknown, r#"W insufficient "nothing known: no note has .*""#), "{unknown}");
}

#[test]
fn prompts_say_how_well_notes_match() {
    let dir = lamps();
    let prompt = |question| ask(path(&dir), question, &["--format", "prompt"]);
    let lacking = prompt(LACKING);
    assert!(lacking.contains("\n## Relevant Knowledge (from qipu)\n"), "{lacking}");
    assert!(lacking.contains("\nNot in these passages: \"rotate\".\n"), "{lacking}");
    assert!(lacking.lines().last().unwrap().starts_with("Coverage: ~"), "{lacking}");
    let weak = prompt(WEAK);
    assert!(weak.contains("\n## Possibly Related (from qipu): a weak match\n\nNo note has \"mangoes\". "), "{weak}");
    assert!(!weak.contains("Coverage") && !weak.contains("Relevant Knowledge"), "{weak}");
    let unknown = prompt(UNKNOWN);
    assert!(unknown.contains("\n(nothing known: no note has \"mangoes\", \"papayas\"; "), "{unknown}");
    assert!(!unknown.contains("Coverage"), "{unknown}");
}

/// One rule for all commands that take a question.
#[test]
fn commands_agree_on_how_well_notes_match() {
    let dir = lamps();
    for question in [LACKING, WEAK, UNKNOWN] {
        let level = ask_json(path(&dir), question)["match"]["level"].clone();
        let asked = ["--query", question];
        let purpose = ["--query", question, "--purpose", "decide"];
        for (command, args) in [("search", &[question][..]), ("context", &asked[..]), ("context", &purpose[..])] {
            let answer = call(path(&dir), &[&[command], args, &["--json"]].concat()).stdout;
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["match"]["level"], level, "{command} {args:?}");
        }
    }
    // A search lists notes all the same.
    let found = call(path(&dir), &["search", UNKNOWN]).stdout;
    assert!(found.starts_with("Nothing known: no note has \"mangoes\", \"papayas\". "), "{found}");
    assert!(found.contains("qp-lamp"), "{found}");
}

#[test]
fn how_well_notes_match_does_not_depend_on_the_budget() {
    for question in [
        "may I call fsync again after EIO",
        "which compression does the log use",
        "fsyncc after crash",
        "what did we decide about fsync last week?",
        "zucchini fsync error retry",
        "mango peel fsync",
    ] {
        let args = ["ask", question, "--json", TODAY[0], TODAY[1]];
        let all: Value = serde_json::from_str(&call(RESEARCH, &args).stdout).unwrap();
        for budget in [300, 400, 500, 700, 1_000, 1_400, 2_000, 2_800, 5_600, 8_000] {
            let answer = call(RESEARCH, &[&args[..], &["--max-chars", &budget.to_string()]].concat());
            if answer.code() == 2 {
                assert!(budget < 600, "{question}: {budget}");
                continue;
            }
            let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
            // The least frames have no room for words.
            for field in ["level", "score", "unknown"].into_iter().take(if budget < 1_000 { 2 } else { 3 }) {
                assert_eq!(answer["match"][field], all["match"][field], "{question}: {field} in {budget}");
            }
        }
    }
}

/// A passage of an answer for people.
#[derive(Debug)]
struct Shown {
    path: String,
    text: String,
}

/// Returns the passages of an answer for people, without summaries, which are no part of the file's text.
fn passages(answer: &str) -> Vec<Shown> {
    let head = Regex::new(r"^(?:## (\.qipu/\S+\.md)(?::\d+-\d+)? |… \d+-\d+(?: ›|$))").unwrap();
    let mut all: Vec<Shown> = Vec::new();
    for line in answer.lines() {
        if let Some(found) = head.captures(line) {
            let path = found.get(1).map_or_else(|| all.last().unwrap().path.clone(), |path| path.as_str().to_owned());
            all.push(Shown { path, text: String::new() });
        } else if ["also: ", "more: ", "Not in these passages: "].iter().any(|start| line.starts_with(start)) {
            break;
        } else if let Some(last) = all.last_mut().filter(|_| !line.starts_with("Summary: ")) {
            last.text.push_str(&format!("{line}\n"));
        }
    }
    all.iter_mut().for_each(|shown| shown.text = shown.text.trim().to_owned());
    all
}

/// Returns each page of an answer.
fn pages(dir: &str, question: &str, chars: &str) -> Vec<String> {
    let more = Regex::new(r"(?m)^more: --after (\d+)$").unwrap();
    let mut pages = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let next: Vec<&str> = after.iter().flat_map(|after| ["--after", after]).collect();
        let page = ask(dir, question, &[&TODAY[..], &["--max-chars", chars], &next].concat());
        pages.push(page.clone());
        assert!(pages.len() < 40, "{question}: there is no last page");
        let Some(found) = more.captures(&page) else { return pages };
        let number = |text: &str| text.parse::<usize>().unwrap();
        assert!(after.is_none_or(|after| number(&after) < number(&found[1])), "{question}: {page}");
        after = Some(found[1].to_owned());
    }
}

/// Pages show what a large answer shows, and nothing again but what was cut.
#[test]
fn pages_show_everything_once() {
    for question in [
        "which compression does the log use",
        "torn write checksum",
        "fsyncc after crash",
        "what did we decide about fsync last week?",
        "may I call fsync again after EIO",
        "when is a rename durable?",
    ] {
        let pages: Vec<Vec<Shown>> = pages(RESEARCH, question, "1000").iter().map(|page| passages(page)).collect();
        assert!(pages.len() > 1, "{question}");
        for (index, page) in pages.iter().enumerate() {
            for shown in page {
                // Of a note whose summary is shown, there is no text.
                let is_again = |before: &&Shown| {
                    !shown.text.is_empty() && before.path == shown.path && before.text.contains(&shown.text)
                };
                let again = pages[..index].iter().flatten().find(is_again);
                assert!(again.is_none(), "{question}: page {} shows {shown:?} again", index + 1);
            }
        }
        // A cut passage begins and ends within a line.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let paged: String = pages.iter().flatten().map(|shown| words(&shown.text) + "\n").collect();
        for shown in passages(&ask(RESEARCH, question, &[&TODAY[..], &["--max-chars", "4000"]].concat())) {
            // A whole note has headings, too.
            for line in shown.text.lines().filter(|line| !line.starts_with('#')) {
                let line = words(line);
                let mut sentences = line.split_inclusive(". ").map(str::trim);
                let lost = sentences.find(|sentence| !paged.contains(sentence));
                assert_eq!(lost, None, "{question}: no page shows it of {shown:?}");
            }
        }
    }
}

/// The rest of a passage that no page has room for is on the next pages.
#[test]
fn pages_show_the_rest_of_a_passage() {
    let text = "The mill grinds barley on Mondays. Its wheel was mended by the smith. The weir needs a gate.\n";
    let dir = store(&[("notes/mill.md", text)]);
    let pages = pages(path(&dir), "who mended the wheel of the mill", "120").concat();
    for sentence in text.trim().split_inclusive(". ").map(str::trim) {
        assert_eq!(pages.matches(sentence).count(), 1, "{sentence}: {pages}");
    }
}

/// What a small answer shows first is in every larger one. The rest of a small one may be what had room where more had not.
#[test]
fn a_larger_budget_loses_nothing_of_the_run() {
    for question in
        ["may I call fsync again after EIO", "fsync error retry abort process", "zucchini fsync error retry"]
    {
        let answer =
            |chars: usize| ask(RESEARCH, question, &[&TODAY[..], &["--max-chars", &chars.to_string()]].concat());
        let answers: Vec<String> = (400..=6_000).step_by(400).map(answer).collect();
        for (index, smaller) in answers.iter().enumerate() {
            let first = passages(smaller).into_iter().next().unwrap();
            // The line that opens code is not shown above more of it.
            let start = first.text.lines().find(|line| !line.starts_with("```")).unwrap();
            assert!(!start.is_empty(), "{question}: {smaller}");
            for larger in &answers[index..] {
                assert!(larger.contains(start), "{question}: {start}\nis not in\n{larger}");
            }
        }
    }
}

/// A larger answer shows the notes of a smaller one, however many more notes it is chosen from.
#[test]
fn a_large_budget_shows_the_notes_of_a_smaller_one() {
    for question in ["may I call fsync again after EIO", "which compression does the log use", "sqlite journal"] {
        let answer = |chars: &str| ask(RESEARCH, question, &[&TODAY[..], &["--max-chars", chars]].concat());
        let smaller = answer("8000");
        for chars in ["16000", "100000", "400000"] {
            let shown: Vec<String> = passages(&answer(chars)).into_iter().map(|shown| shown.path).collect();
            for note in passages(&smaller) {
                assert!(shown.contains(&note.path), "{question}: {} is not among {shown:?}", note.path);
            }
        }
    }
}

/// The next page is told by the characters of those before, in every format.
#[test]
fn every_format_tells_the_next_page() {
    let question = "torn write checksum";
    let flags = |format| [&TODAY[..], &["--max-chars", "1000", "--format", format]].concat();
    assert!(ask(RESEARCH, question, &flags("human")).ends_with("\nmore: --after 1000\n"));
    assert!(ask(RESEARCH, question, &flags("records")).ends_with("\nD more after=1000\n"));
    assert!(ask(RESEARCH, question, &flags("prompt")).contains("\nmore: --after 1000\n"));
    let answer: Value = serde_json::from_str(&ask(RESEARCH, question, &flags("json"))).unwrap();
    assert_eq!(answer["more"]["after"], 1_000);
}

/// Whoever reads page after page comes to the last one, in every format and for every size of a page.
#[test]
fn pages_end() {
    let more = Regex::new(r#"(?m)^more: --after (\d+)$|^D more after=(\d+)$|"more":\{"after":(\d+)\}"#).unwrap();
    for (format, chars, question) in [
        ("human", "40", "torn write checksum"),
        ("human", "300", "torn write checksum"),
        ("json", "1000", "torn write checksum"),
        ("json", "4000", "may I call fsync again after EIO"),
        ("records", "1000", "torn write checksum"),
        ("prompt", "1000", "torn write checksum"),
    ] {
        let flags = [&TODAY[..], &["--format", format, "--max-chars", chars]].concat();
        let (mut after, mut pages) = (0_usize, 0);
        loop {
            let next = after.to_string();
            let page = ask(RESEARCH, question, &[&flags[..], &["--after", &next]].concat());
            let Some(found) = more.captures(&page) else { break };
            let number: usize = found.iter().skip(1).flatten().next().unwrap().as_str().parse().unwrap();
            assert!(number > after, "{format}, {chars}: {number} does not follow {after}: {page}");
            (after, pages) = (number, pages + 1);
            assert!(pages < 100, "{format}, {chars}: the pages get nowhere: {page}");
        }
    }
}
