//! The calls that the first specifications of qipu print, as they print them. They must always run.

use std::process::Command;

use serde_json::json;

use crate::support::mcp_client::McpClient;
use crate::support::process::call;

const RESEARCH: &str = "fixtures/research";

/// Words of a call with `|` between, and a part of the answer.
const CALLS: [(&str, &str); 30] = [
    // Context bundles.
    ("prime", "ask"),
    ("prime|--format|records", "H qipu=1 records=1 store=.qipu/ mode=prime"),
    ("context|--note|qp-h2v6", "# Qipu Context Bundle\nStore: .qipu/\n"),
    ("context|--tag|errors", "## Note: "),
    ("context|--moc|qp-9f2t", "## Note: When fsync fails (qp-9f2t)"),
    ("context|--moc|qp-9f2t|--transitive", "## Note: "),
    ("context|--query|fsync", "## Note: "),
    ("context|--note|qp-h2v6|--tag|errors|--moc|qp-9f2t|--query|fsync", "## Note: Retry fsync"),
    ("context|--min-value|80", "## Note: "),
    ("context|--custom-filter|kind=decision", "## Note: "),
    ("context|--custom-filter|kind|--custom-filter|!nosuch", "## Note: "),
    ("context|--custom-filter|updated>2025-01-01|--custom-filter|updated<=2025-12-31", "## Note: "),
    ("context|--tag|errors|--max-chars|2000", "## Note: "),
    ("context|--tag|errors|--without-body|--max-chars|2000", "## Note: "),
    ("context|--note|qp-h2v6|--backlinks", "## Note: "),
    ("context|--note|qp-h2v6|--format|human", "Type: "),
    ("context|--note|qp-h2v6|--format|json", "\"notes\":[{"),
    ("context|--note|qp-h2v6|--format|records", "H qipu=1 records=1 store=.qipu/ mode=context notes=1"),
    ("setup", "agents-md"),
    // Records, and the two steps from an index to texts.
    ("link|tree|qp-h2v6|--max-hops|2|--format|records|--max-chars|8000", "mode=link.tree root=qp-h2v6"),
    ("link|list|qp-h2v6|--format|records", "mode=link.list"),
    ("link|path|qp-h2v6|qp-9f2t|--format|records", "mode=link.path"),
    ("context|--note|qp-h2v6|--format|records|--with-body|--max-chars|16000", "\nB qp-h2v6 lines="),
    ("dump|-", "H qipu=1 pack=1"),
    // The older draft of records.
    ("link|tree|qp-h2v6|--max-depth|2|--token|--max-chars|8000", "mode=link.tree"),
    ("context|--note|qp-h2v6|--token|--with-body|--max-chars|16000", "\nB qp-h2v6 lines="),
    ("context|--note|qp-h2v6|--json|--max-tokens|4000", "\"notes\":[{"),
    // Questions for a purpose.
    (
        "context|--query|lost writes|--purpose|decide|--abstraction|summary|--max-tokens|2000|--target-tokens|1500|--include-derivations|--include-contradictions|--today|2025-03-31",
        "## Note: ",
    ),
    ("context|--query|lost writes|--abstraction|extract|--max-tokens|2000", "## Note: "),
    ("context|--expand|qp-h2v6|--include|derivation,evidence,contradictions|--max-additional-tokens|500", "qp-h2v6"),
];

#[test]
fn every_call_runs_as_it_is_printed() {
    for (words, part) in CALLS {
        let answer = call(RESEARCH, &words.split('|').collect::<Vec<_>>());
        assert!(answer.error.is_none(), "{words}: {:?}", answer.error);
        assert!(answer.stdout.contains(part), "{words}: {}", answer.stdout);
    }
}

#[test]
fn every_tool_has_the_names_and_arguments_that_were_printed() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_qipu"));
    let client = McpClient::start(server.args(["mcp", "--today", "2025-03-31"]).current_dir(RESEARCH).env_clear());
    let topic = json!({"topic": "lost writes", "purpose": "answer", "max_tokens": 2000});
    let expand = json!({"ids": ["qp-h2v6"], "include": ["derivation", "evidence", "contradictions"], "max_additional_tokens": 500});
    for (tool, arguments) in [("get_context", topic), ("expand", expand)] {
        let result = client.call(tool, arguments);
        assert_ne!(result.is_error, Some(true), "{tool}: {result:?}");
    }
    client.end();
}
