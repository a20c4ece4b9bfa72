//! Notes by their use: what each trap of a store comes to, and the laws of levels.

use std::cell::Cell;

use crate::support::generators::{self, runner};
use proptest::prelude::*;
use qipu::Screen;
use qipu::commands::run_on;
use qipu::fit::fit;
use qipu::note::Note;
use qipu::report::Report;
use qipu::request::{
    Abstraction, AssessmentOptions, Budget, ContextRequest, ExpandRequest, Format, Purpose, QuestionOptions,
    ReadCommand, RelatedKind, Score, Selectors,
};
use qipu::store::{Config, Store};
use qipu::tokens::Tokenizer;
use serde_json::Value;

fn store(notes: &[(&str, &str)]) -> Store {
    let note = |(id, text): &(&str, &str)| {
        let (fields, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let text = format!("---\nid: {id}\ntitle: Note {id}\n{fields}\n---\n\n{body}\n");
        Note::parse(&format!("notes/{id}.md"), text.into_bytes())
    };
    Store::from_notes(".qipu/".to_owned(), Config::default(), notes.iter().map(note).collect())
}

fn need(purpose: Option<Purpose>, abstraction: Abstraction) -> AssessmentOptions {
    let today = purpose.map(|_| "2025-03-05".parse().unwrap());
    AssessmentOptions { purpose, abstraction, today, ..AssessmentOptions::default() }
}

fn asked(query: &str, need: AssessmentOptions) -> ReadCommand {
    let asking = Some(QuestionOptions { is_plain: true, ..QuestionOptions::default() });
    let selection = Selectors { query: Some(query.to_owned()), asking, ..Selectors::default() };
    ReadCommand::Context(ContextRequest { selection, assessment: Some(need), ..ContextRequest::default() })
}

fn written(report: &Report, budget: Budget, format: Format) -> String {
    fit(report, budget, format, Screen::default()).unwrap()
}

fn tokens(max_tokens: usize) -> Budget {
    Budget { max_tokens: Some(max_tokens), ..Budget::default() }
}

fn json(store: &Store, command: &ReadCommand, budget: Budget) -> Value {
    serde_json::from_str(&written(&run_on(command, store).unwrap(), budget, Format::Json)).unwrap()
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["notes"].as_array().unwrap().iter().map(|note| note["id"].as_str().unwrap()).collect()
}

fn note<'a>(answer: &'a Value, id: &str) -> &'a Value {
    answer["notes"].as_array().unwrap().iter().find(|note| note["id"] == id).unwrap_or_else(|| panic!("{id}: {answer}"))
}

const ADAPTIVE: Abstraction = Abstraction::Adaptive;

#[test]
fn two_notes_rank_as_computed_by_hand_for_each_purpose() {
    // `near` says all of the question and is dense; `sure` says some of it, is reliable, and says words twice.
    let near = "type: permanent\nconfidence: 0.2\ntrust: 0.1\nupdated: 2025-03-05\n\nAlpha beta gamma delta.";
    let sure = "type: permanent\nconfidence: 0.95\ntrust: 0.9\nupdated: 2024-03-05\n\nAlpha omega omega, omega omega.";
    let other = "type: permanent\nconfidence: 0\ntrust: 0\n\nNothing of it: kappa.";
    let store = store(&[("near", near), ("sure", sure), ("other", other)]);
    let weights = [
        (Purpose::Answer, [0.30, 0.30, 0.20, 0.10, 0.05, 0.05]),
        (Purpose::Verify, [0.20, 0.40, 0.20, 0.10, 0.05, 0.05]),
        (Purpose::Explore, [0.20, 0.10, 0.10, 0.10, 0.10, 0.40]),
        (Purpose::Decide, [0.25, 0.25, 0.25, 0.15, 0.05, 0.05]),
        (Purpose::Create, [0.20, 0.10, 0.10, 0.05, 0.15, 0.40]),
    ];
    let names = ["relevance", "confidence", "trust", "recency", "density", "novelty"];
    for (purpose, weights) in weights {
        let answer = json(&store, &asked("alpha beta gamma delta", need(Some(purpose), ADAPTIVE)), Budget::default());
        let mut totals: Vec<(f64, &str)> = Vec::new();
        for id in ["near", "sure"] {
            let utility = &note(&answer, id)["utility"];
            let parts = names.map(|name| utility[name].as_f64().unwrap());
            let (confidence, trust) = if id == "near" { (0.2, 0.1) } else { (0.95, 0.9) };
            assert_eq!((parts[1], parts[2]), (confidence, trust));
            let days: f64 = if id == "near" { 0.0 } else { 365.0 };
            assert!((parts[3] - (-days / 69.0).exp2()).abs() < 1e-4);
            assert_eq!(parts[4], if id == "near" { 1.0 } else { 0.4 });
            let sum: f64 = parts.iter().zip(weights).map(|(part, weight)| part * weight).sum();
            assert!((sum - utility["total"].as_f64().unwrap()).abs() < 2e-4, "{purpose:?}: {utility}");
            totals.push((sum, id));
        }
        let first = totals.iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1;
        assert_eq!(ids(&answer)[0], first, "{purpose:?}");
    }
    let first =
        |purpose| ids(&json(&store, &asked("alpha beta", need(Some(purpose), ADAPTIVE)), tokens(4000)))[0].to_owned();
    assert_eq!((first(Purpose::Verify), first(Purpose::Explore)), ("sure".to_owned(), "near".to_owned()));
}

#[test]
fn traps_do_not_win() {
    let good = "type: permanent\nverified: true\nupdated: 2025-03-01\nsources:\n- https://a.org\n- https://b.org\n\n\
                The cache is written through, since a crash lost the write buffer twice.";
    let stuffed = format!("type: fleeting\ngenerated: true\n\n{}", "cache crash write buffer ".repeat(40));
    let notes = [
        ("good", good),
        ("stuffed", stuffed.as_str()),
        (
            "outdated",
            "type: permanent\nupdated: 2015-01-01\nvalid_until: 2020-01-01\n\nThe cache is written back after a crash.",
        ),
        ("old", "type: fleeting\nupdated: 2015-01-01\n\nA cache may lose its write buffer in a crash, some day."),
        (
            "guess",
            "type: fleeting\nconfidence: very-low\nupdated: 2025-03-01\n\nPerhaps the cache is the cause of the crash?",
        ),
        (
            "single",
            "type: literature\nupdated: 2025-03-01\nsources: https://forum.example\n\nOne post says the cache survives a crash.",
        ),
    ];
    let store = store(&notes);
    for purpose in [Purpose::Answer, Purpose::Verify, Purpose::Decide] {
        let answer = json(&store, &asked("cache crash write buffer", need(Some(purpose), ADAPTIVE)), tokens(4000));
        assert_eq!(ids(&answer)[0], "good", "{purpose:?}: {answer}");
        assert!(!ids(&answer).contains(&"outdated"), "{answer}");
        assert!(answer["selection_reasoning"].as_str().unwrap().contains("1 not valid today"), "{answer}");
        // Repeated words are not novel.
        assert!(!ids(&answer).contains(&"stuffed"), "{answer}");
        let confidence = |id: &str| note(&answer, id)["confidence"]["overall"].as_f64().unwrap();
        assert!(confidence("good") > confidence("single") && confidence("single") > confidence("guess"), "{answer}");
        let single = &note(&answer, "single")["confidence"]["corroboration"];
        assert_eq!(single.as_f64(), Some(0.4));
    }
    // Without a purpose, time plays no part.
    let command = asked("cache crash write buffer", need(None, ADAPTIVE));
    assert!(ids(&json(&store, &command, tokens(4000))).contains(&"outdated"));
    let strict = AssessmentOptions { min_confidence: Some(Score::new(0.6)), ..need(Some(Purpose::Verify), ADAPTIVE) };
    assert_eq!(ids(&json(&store, &asked("cache crash", strict), tokens(4000))), ["good"]);
}

#[test]
fn near_duplicates_are_left_out_and_contradictions_are_not() {
    let claim =
        "type: permanent\nupdated: 2025-03-01\n\nRetries with backoff keep the queue short under heavy load at night.";
    let opposed = format!(
        "{}\n\n{}",
        "type: permanent\nlinks:\n- type: contradicts\n  id: claim",
        claim.split_once("\n\n").unwrap().1
    );
    let same = "type: permanent\nlinks:\n- type: same-as\n  id: claim\n\nA queue, told in quite other words: wait longer each time.";
    let twin = "type: permanent\n\nThe queue is drained in the morning, by one worker alone.";
    let notes = [("claim", claim), ("opposed", opposed.as_str()), ("same", same), ("twin", twin), ("twin2", twin)];
    let store = store(&notes);
    let answer =
        json(&store, &asked("queue retries backoff load", need(Some(Purpose::Answer), ADAPTIVE)), tokens(4000));
    let shown = ids(&answer);
    let reasoning = answer["selection_reasoning"].as_str().unwrap();
    assert!(shown.contains(&"opposed") && shown.contains(&"claim"), "{answer}");
    assert!(!shown.contains(&"same") && shown.contains(&"twin") != shown.contains(&"twin2"), "{answer}");
    assert!(reasoning.contains("2 near-duplicates") && reasoning.contains("same of claim"), "{reasoning}");
    assert_eq!(note(&answer, "opposed")["contradiction_count"], 1);
    // A note that is left out because another contains its text counts as covered.
    assert!(answer["coverage_estimate"].as_f64().unwrap() > 0.99, "{answer}");
}

#[test]
fn a_claim_brings_its_opponent_and_what_it_comes_from() {
    let notes = [
        (
            "claim",
            "type: permanent\nlinks:\n- type: contradicts\n  id: denial\n- type: derived-from\n  id: origin\n\nZeta holds.",
        ),
        ("denial", "type: permanent\nlinks:\n- type: contradicts\n  id: claim\n\nOmicron fails."),
        ("origin", "type: literature\nlinks:\n- type: derived-from\n  id: claim\n\nMeasured in May."),
    ];
    let store = store(&notes);
    let plain = json(&store, &asked("zeta", need(Some(Purpose::Answer), ADAPTIVE)), tokens(4000));
    assert_eq!(ids(&plain), ["claim"]);
    assert_eq!(plain["contradictions_available"], true);
    let wanted = AssessmentOptions {
        include: vec![RelatedKind::Derivation, RelatedKind::Contradictions],
        ..need(Some(Purpose::Answer), ADAPTIVE)
    };
    let command = asked("zeta", wanted);
    let answer = json(&store, &command, tokens(4000));
    assert_eq!(ids(&answer), ["claim", "origin", "denial"], "{answer}");
    assert_eq!(answer["contradictions_available"], false);
    assert_eq!(answer["links"].as_array().unwrap().len(), 4, "{answer}");
    let records = written(&run_on(&command, &store).unwrap(), tokens(4000), Format::Records);
    assert!(records.contains("\nE claim contradicts denial typed\n"), "{records}");
    assert!(records.contains("\nD derived-from id=origin "), "{records}");
}

#[test]
fn a_long_note_is_shown_in_passages_where_it_does_not_fit() {
    let filler = "Other things are told here at some length, day after day.\n\n".repeat(340);
    let long =
        format!("type: permanent\nvalue: 100\n\n{filler}## Where\n\nThe needle lies in the haystack.\n\n{filler}");
    let store = store(&[("long", &long), ("short", "type: permanent\n\nA needle is thin.")]);
    let command = asked("needle haystack", need(Some(Purpose::Answer), ADAPTIVE));
    let answer = json(&store, &command, tokens(1000));
    let long = note(&answer, "long");
    assert_eq!(long["level"], "passages", "{answer}");
    assert_eq!(long["content"], "The needle lies in the haystack.", "{long}");
    assert_eq!(long["passages"][0]["path"], serde_json::json!(["Where"]), "{long}");
    assert_eq!((&long["has_more_detail"], &answer["truncated"]), (&Value::Bool(true), &Value::Bool(true)));
    assert!(answer["expandable_ids"].as_array().unwrap().contains(&Value::from("long")));
    assert_eq!(note(&json(&store, &command, Budget::default()), "long")["level"], "detailed");
}

/// A paragraph that is too long for the budget does not keep the others out of it.
#[test]
fn the_level_does_not_fall_where_the_best_block_is_long() {
    let long = format!("The power of the disk fails {}.", "word ".repeat(150));
    let others: String =
        (0..8).map(|n| format!("\n\nThe power of the disk fails {n} {}.", "else ".repeat(20))).collect();
    let store = store(&[("a", &format!("type: fleeting\n\n{long}{others}"))]);
    let report = run_on(&asked("power disk", need(Some(Purpose::Answer), ADAPTIVE)), &store).unwrap();
    let mut before = 0;
    for max_tokens in (200..1200).step_by(20) {
        let text = written(&report, tokens(max_tokens), Format::Json);
        let answer: Value = serde_json::from_str(&text).unwrap();
        if ids(&answer).is_empty() {
            assert_eq!(before, 0, "{max_tokens}: {answer}");
            continue;
        }
        let now = level(note(&answer, "a")["level"].as_str().unwrap());
        assert!(now >= before, "{max_tokens}: {answer}");
        before = now;
    }
    assert_eq!(before, level("detailed"));
}

#[test]
fn an_expansion_that_is_too_long_shows_what_fits_of_the_note_that_was_asked_for() {
    let long = (0..60).map(|n| format!("Paragraph {n} tells something else.")).collect::<Vec<_>>().join("\n\n");
    let notes = [
        ("a", format!("type: permanent\nlinks:\n- type: derived-from\n  id: b\n\n{long}")),
        ("b", "type: permanent\n\nFrom here.".to_owned()),
    ];
    let notes: Vec<(&str, &str)> = notes.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let expand = ExpandRequest { ids: vec!["a".to_owned()], include: vec![RelatedKind::Derivation], banner: None };
    let answer = json(&store(&notes), &ReadCommand::Expand(expand), tokens(500));
    assert_eq!((ids(&answer)[0], &note(&answer, "a")["level"]), ("a", &Value::from("passages")), "{answer}");
    assert!(note(&answer, "a")["content"].as_str().unwrap().starts_with("Paragraph 0 tells"), "{answer}");
    assert!(answer["expandable_ids"].as_array().unwrap().contains(&Value::from("a")));
}

#[test]
fn an_answer_without_relevant_notes_is_marked_as_such() {
    let store = store(&[("a", "type: permanent\n\nAlpha.")]);
    let command = asked("unheardof", need(Some(Purpose::Answer), ADAPTIVE));
    for format in [Format::Human, Format::Json, Format::Records, Format::Prompt] {
        let text = written(&run_on(&command, &store).unwrap(), Budget::default(), format);
        assert!(text.contains("othing known: no note has "), "{text}");
    }
    let answer = json(&store, &command, Budget::default());
    assert_eq!(answer["confidence_floor"], Value::Null);
    assert_eq!(answer["insufficient"]["reason"], "nothing known: no note has \"unheardof\"");
}

#[test]
fn an_expansion_shows_only_what_is_new() {
    let notes = [
        (
            "a",
            "type: permanent\nsummary: Short.\nlinks:\n- type: derived-from\n  id: b\n- type: contradicts\n  id: d\n\nThe whole text.",
        ),
        ("b", "type: permanent\nlinks:\n- type: derived-from\n  id: c\n\nFrom here."),
        ("c", "type: permanent\nlinks:\n- type: derived-from\n  id: a\n\nAnd there."),
        ("d", "type: permanent\n\nNot so."),
        ("e", "type: permanent\nlinks:\n- type: supports\n  id: a\n\nIndeed."),
    ];
    let store = store(&notes);
    let expand = |ids: &[&str], kinds: [bool; 3]| {
        let all = [RelatedKind::Derivation, RelatedKind::Evidence, RelatedKind::Contradictions];
        let include = all.into_iter().zip(kinds).filter(|(_, is_shown)| *is_shown).map(|(kind, _)| kind).collect();
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        json(&store, &ReadCommand::Expand(ExpandRequest { ids, include, banner: None }), tokens(500))
    };
    let shown = |answer: &Value| ids(answer).join(" ");
    assert_eq!(shown(&expand(&["a"], [false; 3])), "a");
    let mut origins = ids(&expand(&["a"], [true, false, false])).into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(origins.remove(0), "a");
    origins.sort();
    assert_eq!(origins, ["b", "c"]);
    assert_eq!(shown(&expand(&["a"], [false, true, false])), "a e");
    assert_eq!(shown(&expand(&["a"], [false, false, true])), "a d");
    // A body that a summary said already is not new.
    let nothing = expand(&["d"], [false; 3]);
    assert_eq!(
        (shown(&nothing).as_str(), &nothing["insufficient"]["reason"]),
        ("", &Value::from("there is nothing to add"))
    );
}

/// Stores of notes of very different lengths, and a budget for them.
fn cases() -> impl Strategy<Value = (Store, Vec<usize>)> {
    let words =
        prop::collection::vec(prop::sample::select(vec!["alpha", "beta", "gamma", "delta", "eps", "zeta"]), 1..60);
    let note = (words, 0_u8..100, prop::sample::select(vec!["permanent", "fleeting", "moc"]), 1_usize..8);
    (prop::collection::vec(note, 1..9), prop::collection::vec(20_usize..3000, 6)).prop_map(|(notes, budgets)| {
        let text = |(number, (words, value, kind, parts)): (usize, (Vec<&str>, u8, &str, usize))| {
            // The words that nobody asks for are the note's own, so that notes are new beside each other.
            let is_asked = |word: &str| matches!(word, "alpha" | "beta" | "gamma");
            let own = |word: &str| if is_asked(word) { word.to_owned() } else { format!("{word}{number}") };
            let words: Vec<String> = words.into_iter().map(own).collect();
            let paragraphs: Vec<String> = words
                .chunks(words.len().div_ceil(parts))
                .map(|chunk| format!("{} number {number}.", chunk.join(" ")))
                .collect();
            (format!("n{number}"), format!("type: {kind}\nvalue: {value}\n\n{}", paragraphs.join("\n\n")))
        };
        let texts: Vec<(String, String)> = notes.into_iter().enumerate().map(text).collect();
        let notes: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        (store(&notes), budgets)
    })
}

fn level(name: &str) -> usize {
    ["essence", "summary", "passages", "detailed"].iter().position(|have| *have == name).unwrap()
}

#[test]
fn the_laws_of_levels() {
    runner(150)
        .run(&(cases(), 0_usize..6), |((store, mut budgets), choice)| {
            let purpose = Purpose::ALL.get(choice).copied();
            let report = run_on(&asked("alpha beta gamma", need(purpose, ADAPTIVE)), &store).unwrap();
            let whole = written(&report, Budget::default(), Format::Json);
            let all: Value = serde_json::from_str(&whole).unwrap();
            // With room for everything, everything is detailed.
            prop_assert!(all["notes"].as_array().unwrap().iter().all(|note| note["level"] == "detailed"));
            prop_assert_eq!(&all["truncated"], false);
            let exact = Budget { max_chars: Some(whole.chars().count()), ..Budget::default() };
            prop_assert_eq!(&written(&report, exact, Format::Json), &whole);
            let Some(first) = ids(&all).first().map(|id| (*id).to_owned()) else { return Ok(()) };
            budgets.sort_unstable();
            let mut before = 0;
            for max_chars in budgets {
                let budget = Budget { max_chars: Some(max_chars), ..Budget::default() };
                let Ok(text) = fit(&report, budget, Format::Json, Screen::default()) else { continue };
                prop_assert!(text.chars().count() <= max_chars);
                prop_assert_eq!(&fit(&report, budget, Format::Json, Screen::default()).unwrap(), &text);
                let answer: Value = serde_json::from_str(&text).unwrap();
                if ids(&answer).contains(&first.as_str()) {
                    let now = level(note(&answer, &first)["level"].as_str().unwrap());
                    // A larger budget never shows less of the first note.
                    prop_assert!(
                        now >= before || note(&answer, &first)["content"].as_str().unwrap().ends_with("…[truncated]")
                    );
                    before = before.max(now);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// Returns the length of a text as a JSON string.
fn json_chars(text: &Value) -> usize {
    serde_json::to_string(text).unwrap().chars().count()
}

/// The characters by which the frame and the numbers of a note may grow with its level of detail.
const SLACK: usize = 120;

#[test]
fn each_note_is_shown_at_the_highest_level_that_fitted_at_its_turn() {
    // No note is left out for saying what others say.
    let asked = |abstraction| {
        let need =
            AssessmentOptions { novelty_threshold: Some(Score::new(0.0)), ..need(Some(Purpose::Answer), abstraction) };
        asked("alpha beta gamma", need)
    };
    let looked_at = [const { Cell::new(0) }; 3];
    runner(150)
        .run(&cases(), |(store, budgets)| {
            let at = |level| json(&store, &asked(level), Budget::default());
            let (essences, summaries, details) =
                (at(Abstraction::Essence), at(Abstraction::Summary), at(Abstraction::Detailed));
            for id in ids(&essences) {
                let chars = [&essences, &summaries, &details]
                    .map(|answer| note(answer, id)["content"].as_str().unwrap().chars().count());
                prop_assert!(chars.is_sorted(), "a lower level of {id} is longer: {chars:?}");
            }
            let report = run_on(&asked(ADAPTIVE), &store).unwrap();
            for max_chars in budgets {
                let budget = Budget { max_chars: Some(max_chars), ..Budget::default() };
                let Ok(text) = fit(&report, budget, Format::Json, Screen::default()) else { continue };
                let answer: Value = serde_json::from_str(&text).unwrap();
                let shown = ids(&answer);
                let left = max_chars - text.chars().count();
                for id in ids(&essences).into_iter().filter(|id| !shown.contains(id)) {
                    if shown.is_empty() {
                        continue;
                    }
                    // What would fit now did fit when more was left.
                    prop_assert!(json_chars(note(&essences, id)) + SLACK > left, "{id} is missing: {text}");
                    looked_at[0].update(|count: usize| count + 1);
                }
                let more = |id: &str, at: &Value| {
                    json_chars(&note(at, id)["content"]).saturating_sub(json_chars(&note(&answer, id)["content"]))
                };
                for id in shown.iter().copied() {
                    let now = note(&answer, id);
                    let value = store.notes()[store.named(id).unwrap()].value_or_default();
                    let importance = now["relevance_score"].as_f64().unwrap() / 2.0 + f64::from(value) / 200.0;
                    // A note that is cut has no use to tell of.
                    let is_new = now["utility"]["novelty"].as_f64().is_some_and(|novelty| novelty >= 0.5);
                    if now["level"] == "essence" && importance >= 0.4 && is_new {
                        prop_assert!(more(id, &summaries) + SLACK > left, "{id} deserves a summary: {text}");
                        looked_at[1].update(|count: usize| count + 1);
                    }
                }
                // Behind the last of all there is nobody to leave room for.
                let last = shown.last().copied().filter(|_| shown.len() == ids(&essences).len());
                if let Some(last) = last.filter(|last| note(&answer, last)["level"] != "detailed") {
                    prop_assert!(more(last, &details) + SLACK > left, "{last} would fit: {text}");
                    looked_at[2].update(|count: usize| count + 1);
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(looked_at.iter().all(|count| count.get() > 0), "{looked_at:?}");
}

/// Notes that turn out to be covered after the last one was shown lengthen the frame of the answer.
#[test]
fn a_larger_budget_shows_no_less() {
    let mut notes: Vec<(String, String)> = Vec::new();
    for n in 1..3 {
        notes.push((format!("a{n}"), "type: permanent\nvalue: 100\n\nfsync lost pages forever.".to_owned()));
    }
    for n in 10..25 {
        let words: Vec<String> = (0..18).map(|word| format!("word{word}of{n}")).collect();
        notes.push((format!("c{n}"), format!("type: fleeting\n\nfsync {}.", words.join(" "))));
    }
    let notes: Vec<(&str, &str)> = notes.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let report = run_on(&asked("fsync", need(Some(Purpose::Answer), ADAPTIVE)), &store(&notes)).unwrap();
    for format in [Format::Prompt, Format::Human, Format::Json, Format::Records] {
        let fits = |max_chars| {
            let budget = Budget { max_chars: Some(max_chars), ..Budget::default() };
            fit(&report, budget, format, Screen::default()).is_ok()
        };
        let least = (100..2000).find(|chars| fits(*chars)).unwrap();
        let refused: Vec<usize> = (least..least + 700).filter(|chars| !fits(*chars)).collect();
        assert!(refused.is_empty(), "{format:?} works at {least} and not at {refused:?}");
    }
}

#[test]
fn no_tokenizer_is_exceeded_in_any_format() {
    runner(12)
        .run(&(generators::stores(), 60_usize..900), |(store, max_tokens)| {
            let adaptive = need(Some(Purpose::Explore), ADAPTIVE);
            let detailed = need(None, Abstraction::Detailed);
            let plain = ReadCommand::Context(ContextRequest {
                selection: selected("fsync word 日本語"),
                ..ContextRequest::default()
            });
            for command in [asked("fsync word 日本語", adaptive), asked("fsync word item", detailed), plain] {
                let report = run_on(&command, &store).unwrap();
                for tokenizer in [Tokenizer::Cl100k, Tokenizer::O200k, Tokenizer::Estimate] {
                    for format in [Format::Human, Format::Json, Format::Records] {
                        let budget = Budget { max_tokens: Some(max_tokens), tokenizer, ..Budget::default() };
                        let Ok(text) = fit(&report, budget, format, Screen::default()) else { continue };
                        prop_assert!(tokenizer.count(&text) <= max_tokens, "{:?} {:?}\n{}", tokenizer, format, text);
                    }
                }
            }
            Ok(())
        })
        .unwrap();
}

fn selected(query: &str) -> Selectors {
    let asking = Some(QuestionOptions { is_plain: true, ..QuestionOptions::default() });
    Selectors { query: Some(query.to_owned()), asking, ..Selectors::default() }
}

/// In a prompt nothing of a note stands at the beginning of a line, where it could be a heading.
#[test]
fn no_note_forges_a_heading_in_a_prompt() {
    runner(60)
        .run(&(generators::stores(), 200_usize..4000), |(store, max_chars)| {
            let report = run_on(&asked("fsync word item", need(None, Abstraction::Detailed)), &store).unwrap();
            let budget = Budget { max_chars: Some(max_chars), ..Budget::default() };
            let text = fit(&report, budget, Format::Prompt, Screen::default()).unwrap();
            prop_assert!(text.chars().count() <= max_chars);
            for (number, line) in text.lines().enumerate() {
                let is_ours = number == 0 && line.starts_with("The following notes are")
                    || number == 1 && line == "## Relevant Knowledge (from qipu)"
                    || line.is_empty()
                    || line.starts_with("- [n")
                    || line.starts_with("- [")
                    || line.starts_with("> ")
                    || line == ">"
                    || line == "  Derived from:"
                    || line.starts_with("  - ")
                    || line.starts_with("Note: ")
                    || line.starts_with("Coverage: ")
                    || (line.starts_with("read \"") && line.contains("\" as \"") && line.ends_with('"'))
                    || line == "## Possibly Related (from qipu): a weak match"
                    || (line.starts_with("No note has ") && line.ends_with("; say so if you use it."))
                    || line.starts_with("Not in these passages: \"")
                    || line.starts_with("(n");
                prop_assert!(is_ours, "{:?} in\n{}", line, text);
            }
            Ok(())
        })
        .unwrap();
}
