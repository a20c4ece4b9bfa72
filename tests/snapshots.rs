//! Snapshots over the fixtures: every command, in every format, without a budget and in two small
//! ones. One loop, so that a new format or command inherits them all.
//!
//! `INSTA_UPDATE=always cargo test --test snapshots` accepts what is there now.

#![allow(clippy::unwrap_used, clippy::panic, clippy::string_slice, missing_docs)]

mod support;

use support::process::call;

/// The questions that are asked of each store: a name, and the words of the command line, with `|` between.
const RESEARCH: [(&str, &str); 42] = [
    ("prime", "prime"),
    ("context-query", "context|--query|Can we just call fsync again when it fails?"),
    ("context-note", "context|--note|qp-h2v6|--note|qp-r7a1|--custom|--banner"),
    ("context-tag", "context|--tag|errors|--without-body|--max-notes|5"),
    ("context-moc", "context|--moc|qp-9f2t|--without-body"),
    ("context-walk", "context|--walk|qp-0k9z|--max-hops|1|--min-value|80|--without-body"),
    ("context-filter", "context|--custom-filter|kind=decision|--with-body|--no-banner"),
    ("context-backlinks", "context|qp-p1j5|--backlinks|--without-body"),
    ("context-scripts", "context|--note|qp-x2b7|--note|qp-u0k8|--note|qp-m5q7|--with-body"),
    ("context-nothing", "context|--query|zzzz"),
    (
        "need-decide",
        "context|--query|Can we just call fsync again when it fails?|--purpose|decide|--max-notes|4|--today|2025-03-31",
    ),
    (
        "need-verify",
        "context|--query|retry fsync|--purpose|verify|--abstraction|essence|--include-contradictions|--include-derivations|--explain|--max-notes|5|--today|2025-03-31",
    ),
    ("need-extract", "context|--query|retry fsync|--abstraction|extract|--max-notes|3"),
    ("need-summary", "context|--tag|errors|--abstraction|summary|--target-tokens|120"),
    ("need-nothing", "context|--query|zzzz|--purpose|answer|--today|2025-03-31"),
    ("need-expand", "context|--expand|qp-h2v6|--include|derivation,evidence,contradictions"),
    ("question-patterns", "context|--query|What patterns do you see in my journals?|--today|2025-03-31"),
    ("question-comparison", "context|--query|compare today's journal with last week|--today|2025-03-31|--without-body"),
    ("question-journal", "context|--query|today's journal|--today|2025-03-31"),
    (
        "question-blocks",
        "context|--query|Summarize [[Projects]] and fsync from last week|--today|2025-03-31|--blocks|matched|--max-notes|5",
    ),
    ("journal", "journal|--date|last Wednesday|--today|2025-03-31"),
    ("search", "search|Can we just call fsync again when it fails?|--limit|4"),
    ("search-explain", "search|torn-writes|-drives|checksum*|--limit|3|--explain"),
    ("search-spelling", "search|fsyncc|postgre|--limit|2"),
    ("related", "related|qp-h2v6|--limit|4"),
    ("show", "show|qp-h2v6|qp-n2g8|--links"),
    ("list", "list|--tag|errors|--sort|value"),
    ("inbox", "inbox"),
    ("tags", "tags"),
    ("status", "status"),
    ("doctor", "doctor"),
    ("eval", "eval|../eval/research.jsonl|--today|2025-03-31"),
    ("dump", "dump|-|--note|qp-1c7q"),
    ("import", "import|logseq|../graph|--dry-run"),
    ("setup-list", "setup"),
    ("setup-print", "setup|agents-md|--print"),
    ("link-list", "link|list|qp-9f2t"),
    ("link-tree", "link|tree|qp-7d1x|--max-hops|2|--max-fanout|4"),
    ("link-tree-out", "link|tree|qp-o4l9|--direction|out|--typed-only"),
    ("link-path", "link|path|qp-0k9z|qp-q8s2"),
    ("graph", "graph|--walk|qp-o4l9|--max-hops|1"),
    ("link-path-none", "link|path|qp-0k9z|qp-q8s2|--type|same-as"),
];

const HOSTILE: [(&str, &str); 11] = [
    ("prime", "prime"),
    ("context-all", "context|--min-value|0|--custom|--with-body|--max-notes|27"),
    ("context-forged", "context|--note|forged-records|--note|escapes|--with-body"),
    (
        "question",
        "context|--query|[[forged-records]] [[escapes]] last week \u{1b}[31m 2025-02-30|--blocks|all|--max-notes|2|--today|2025-03-31",
    ),
    ("search", "search|forged escapes title|--limit|6"),
    ("show", "show|forged-records|escapes|--links"),
    ("list", "list"),
    ("doctor", "doctor"),
    ("link-list", "link|list|links"),
    ("link-tree", "link|tree|cycle-a"),
    ("link-path", "link|path|twice~2|deep-note|--no-inversion"),
];

const FORMATS: [&str; 3] = ["human", "json", "records"];
/// What weighed notes can be shown in, too.
const PROMPT: &str = "prompt";
const BUDGETS: [&str; 3] = ["", "300", "2000"];

#[test]
fn every_command_in_every_format_and_budget() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    for (store, questions) in [("research", RESEARCH.as_slice()), ("hostile", HOSTILE.as_slice())] {
        for (name, words) in questions {
            let prompt = Some(PROMPT).filter(|_| name.starts_with("need-"));
            for format in FORMATS.into_iter().chain(prompt) {
                insta::assert_snapshot!(format!("{store}@{name}@{format}"), in_every_budget(store, words, format));
            }
        }
    }
}

fn in_every_budget(store: &str, words: &str, format: &str) -> String {
    let mut text = String::new();
    for budget in BUDGETS {
        let mut args: Vec<&str> = words.split('|').collect();
        args.extend(["--format", format]);
        if !budget.is_empty() {
            args.extend(["--max-chars", budget]);
        }
        let answer = call(&format!("fixtures/{store}"), &args);
        text.push_str(&format!("==== {}\n{}", if budget.is_empty() { "no budget" } else { budget }, answer.stdout));
        if let Some(error) = answer.error {
            text.push_str(&error.to_text(false));
        } else {
            let limit = budget.parse().unwrap_or(usize::MAX);
            assert!(answer.stdout.chars().count() <= limit);
        }
    }
    text
}
