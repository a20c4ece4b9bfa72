//! Snapshots over the fixtures: every command, in every format, without a budget and in two small ones. Each case in each
//! format is a test of its own, such as `research::context_note::json`, with the snapshot `research@context-note@json`.
//!
//! `INSTA_UPDATE=always cargo test --test all snapshots::` accepts the current answers.

use crate::support::process::call;

/// The budgets in which each case is run, in characters.
const BUDGETS: [&str; 3] = ["", "300", "2000"];

/// Defines tests: for each store its cases, each with its formats and the words of its command line, with `|` between.
macro_rules! snapshots {
    ($($store:ident { $($case:ident [$($format:ident)*] $words:literal;)* })*) => {
        $(mod $store {
            $(mod $case {
                $(#[test]
                fn $format() {
                    super::super::check(stringify!($store), stringify!($case), stringify!($format), $words);
                })*
            })*
        })*
    };
}

snapshots! {
    research {
        prime [human json records] "prime";
        context_query [json records] "context|--query|Can we just call fsync again when it fails?";
        context_query_short [human] "context|--query|Can we just call fsync again when it fails?|--limit|3";
        context_note [human json records] "context|--note|qp-h2v6|--note|qp-r7a1|--banner";
        context_tag [human json records] "context|--tag|errors|--without-body|--limit|5";
        context_moc [human json records] "context|--moc|qp-9f2t|--without-body";
        context_walk [human json records] "context|--note|qp-0k9z|--max-hops|1|--min-value|80|--without-body";
        context_filter [human json records] "context|--custom-filter|kind=decision|--with-body|--no-banner";
        context_backlinks [human json records] "context|--note|qp-p1j5|--backlinks|--without-body";
        context_scripts [human json records] "context|--note|qp-x2b7|--note|qp-u0k8|--note|qp-m5q7|--with-body";
        context_nothing [human json records] "context|--query|zzzz";
        need_decide [json]
            "context|--query|Can we just call fsync again when it fails?|--purpose|decide|--limit|4|--today|2025-03-31";
        need_decide_passages [human records prompt]
            "context|--query|Can we just call fsync again when it fails?|--purpose|decide|--abstraction|passages|--limit|3|--today|2025-03-31";
        need_verify [json records prompt]
            "context|--query|retry fsync|--purpose|verify|--abstraction|essence|--include|derivation,contradictions|--explain|--limit|5|--today|2025-03-31";
        need_verify_short [human]
            "context|--query|retry fsync|--purpose|verify|--abstraction|essence|--include|derivation,contradictions|--explain|--limit|2|--today|2025-03-31";
        need_passages [human json records prompt] "context|--query|retry fsync|--abstraction|passages|--limit|3";
        need_summary [human json records prompt] "context|--tag|errors|--abstraction|summary|--target-tokens|120";
        need_nothing [human json records prompt] "context|--query|zzzz|--purpose|answer|--today|2025-03-31";
        need_expand [human json records prompt] "context|--expand|qp-h2v6|--include|derivation,evidence,contradictions";
        question_patterns [human json records]
            "context|--query|What patterns do you see in my journals?|--today|2025-03-31";
        question_comparison [human json records]
            "context|--query|compare today's journal with last week|--today|2025-03-31|--without-body";
        question_journal [human json records] "context|--query|today's journal|--today|2025-03-31";
        question_blocks [human json records]
            "context|--query|Summarize [[Projects]] and fsync from last week|--today|2025-03-31|--blocks|matched|--limit|5";
        journal [human json records] "journal|--date|last Wednesday|--today|2025-03-31";
        search [human json records] "search|Can we just call fsync again when it fails?|--limit|4";
        search_explain [human json records] "search|torn-writes|--without|drives|checksum*|--limit|3|--explain";
        search_spelling [human json records] "search|fsyncc|postgre|--limit|2";
        search_like [human json records] "search|--like|qp-h2v6|--limit|4";
        show [human json records] "show|qp-h2v6|qp-n2g8|--links";
        list [human json records] "list|--tag|errors|--sort|value";
        list_filter [human json records]
            "list|kind = decision and (tag in (fsync, errors) or value >= 85) and not status";
        list_lines [ids paths] "list|--tag|errors|--sort|value";
        tasks [human json records] "tasks|--all";
        tasks_done [human json records] "tasks|done|qp-5m3y:114|qp-6jq0:159|--dry-run";
        tags [human json records] "status|--tags";
        status [human json records] "status";
        doctor [human json records] "doctor";
        review [human json records] "review|--today|2025-03-31|--limit|12";
        about [human json records prompt] "about|settings.toml";
        review_code [human json records] "review|--kind|code,due,orphan|--today|2026-03-31|--limit|5";
        eval [human json records] "eval|../eval/research.jsonl|--today|2025-03-31";
        export_pack [human json records] "export|pack|--note|qp-1c7q";
        import [human json records] "import|../documents/docs|--dry-run";
        capture_link [human json records]
            "capture|A thought.|--link|supports:qp-h2v6|--link|related:h2v6|--dry-run|--today|2025-03-31";
        capture_status [human json records] "capture|A thought.|--status|proposed|--dry-run|--today|2025-03-31";
        capture_by [human json records] "capture|A thought.|--by|reviewer|--dry-run|--today|2025-03-31";
        capture_session [human json records] "capture|A thought.|--session|s-1|--dry-run|--today|2025-03-31";
        capture_repeated [human json records]
            "capture|--title|retry FSYNC until it succeeds|If fsync returns `EIO` the disk was probably just busy or the cable loose. Wait a second, call it again, up to five times, and only then tell the caller. That is how our network code treats timeouts and it has served us well; a storage layer that falls over at the first hiccup will not be loved.\n\n**17 December:** no. A timeout means that nothing is known; an fsync error means that something is lost. See [[qp-r7a1]]. Kept because everybody who joins has this idea in the first week.|--dry-run|--today|2025-03-31";
        setup_list [human json records] "setup";
        setup_print [human json records] "setup|agents-md|--print";
        link_list [human json records] "link|list|qp-9f2t";
        link_tree [human json records] "link|tree|qp-7d1x|--max-hops|2|--limit|21";
        link_tree_out [human json records] "link|tree|qp-o4l9|--direction|out|--via|typed";
        link_path [human json records] "link|path|qp-0k9z|qp-q8s2";
        export_links [json] "export|links|--note|qp-o4l9|--max-hops|1";
        link_path_none [human json records] "link|path|qp-0k9z|qp-q8s2|--via|same-as";
    }
    collections {
        prime [human json records] "prime";
        context_query [human json records prompt] "context|--query|restore a backup";
        context_decide [human json records prompt] "context|--query|how is money stored?|--purpose|decide|--today|2026-03-31";
        context_moc [human json records] "context|--moc|index|--without-body";
        search [human json records] "search|backup";
        show [human json records] "show|web:index|docs:index|adr:0002-outbox|--links";
        list [human json records] "list";
        list_lines [ids paths] "list";
        link_list [human json records] "link|list|qp-k7d2m4xa";
        link_tree [human json records] "link|tree|index";
        export_links [json] "export|links";
        doctor [human json records] "doctor";
        review [human json records] "review|--today|2026-03-31";
        only [human json records] "list|--in|adr";
        link_add [human json records] "link|add|qp-k7d2m4xa|docs:guides--setup|--dry-run|--today|2026-03-31";
        capture_from [human json records] "capture|--from|docs:guides--setup|--dry-run|--today|2026-03-31";
        read_only [human json records] "update|docs:index|--tag|x|--dry-run";
    }
    hostile {
        prime [human json records] "prime";
        context_all [json] "context|--min-value|0|--with-body|--limit|27";
        context_fields [human records]
            "context|--note|links|--note|colon-title|--note|broken-yaml|--note|scalar-lists|--note|2025-03-05|--note|No-id-no-title-o8i5o3hd|--note|alias-bomb|--with-body";
        context_escapes [human records]
            "context|--note|cycle-a|--note|cycle-b|--note|deep-note|--note|duplicate-keys|--note|empty|--note|escapes|--note|forged-records|--with-body";
        context_values [human records]
            "context|--note|heading-only|--note|impossible|--note|inner-map|--note|latin-1|--note|map|--note|nulls|--with-body";
        context_texts [human records]
            "context|--note|bom-crlf|--note|only-frontmatter|--note|qp-2pr9iknr|--note|qp-u6v6iuo0|--note|summary-section|--note|twice|--note|twice~2|--with-body";
        context_forged [human json records] "context|--note|forged-records|--note|escapes|--with-body";
        question [human json records]
            "context|--query|[[forged-records]] [[escapes]] last week \u{1b}[31m 2025-02-30|--blocks|all|--limit|2|--today|2025-03-31";
        search [human json records] "search|forged escapes title|--limit|6";
        show [human json records] "show|forged-records|escapes|--links";
        list [human json records] "list";
        list_lines [ids paths] "list";
        doctor [human json records] "doctor";
        review [human json records] "review|--today|2025-03-31";
        link_list [human json records] "link|list|links";
        link_tree [human json records] "link|tree|cycle-a";
        link_path [human json records] "link|path|twice~2|deep-note";
    }
}

fn check(store: &str, case: &str, format: &str, words: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    let name = format!("{store}@{}@{format}", case.replace('_', "-"));
    insta::assert_snapshot!(name, answers_in_every_budget(store, words, format));
}

fn answers_in_every_budget(store: &str, words: &str, format: &str) -> String {
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
            let max_chars = budget.parse().unwrap_or(usize::MAX);
            assert!(answer.stdout.chars().count() <= max_chars);
        }
    }
    text
}
