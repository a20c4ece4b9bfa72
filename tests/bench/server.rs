//! How long a running server takes to answer: `cargo bench --bench server -- 1000 10000`.
//!
//! Two hundred questions for each kind of call, one after the other over its pipes, in generated
//! stores. Prints medians and 99th percentiles in milliseconds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[path = "generate.rs"]
#[expect(dead_code, reason = "the other benchmark needs more of it")]
mod generate;
#[path = "../support/mcp_client.rs"]
mod mcp_client;
#[path = "../support/random.rs"]
mod random;
#[path = "words.rs"]
mod words;

use std::fs;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use generate::Store;
use mcp_client::McpClient;

const QUERIES: usize = 200;
/// How many words of a note's title are asked for.
const WORDS: usize = 3;

/// A note that questions are about.
struct Asked {
    id: String,
    topic: String,
}

/// Takes notes from all over a store.
fn asked(store: &Store) -> Vec<Asked> {
    let asked = store.some_notes(QUERIES).unwrap().into_iter().map(|path| {
        let text = fs::read_to_string(path).unwrap();
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        let topic =
            field("title:").replace([':', '"'], " ").split_whitespace().take(WORDS).collect::<Vec<_>>().join(" ");
        Asked { id: field("id:"), topic }
    });
    asked.collect()
}

/// Calls a tool about each note; returns the times it took, sorted.
fn time(client: &McpClient, asked: &[Asked], tool: &str, arguments: impl Fn(&Asked) -> Value) -> Vec<f64> {
    let mut times = Vec::new();
    for asked in asked {
        let arguments = arguments(asked);
        let start = Instant::now();
        let result = client.call(tool, arguments);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        assert_eq!(result.is_error, Some(false), "{result:?}");
    }
    times.sort_by(f64::total_cmp);
    times
}

fn bench(notes: usize) {
    let store = Store::of_size(notes).unwrap();
    let asked = asked(&store);
    let client = McpClient::start(Command::new(env!("CARGO_BIN_EXE_qipu")).arg("mcp").current_dir(&store.dir));
    let query = |asked: &Asked| json!({"topic": asked.topic, "abstraction": "summary"});
    let include = ["derivation", "evidence", "contradictions"];
    // The first call opens the store.
    time(&client, &asked[..1], "get_context", query);
    let kinds = [
        ("query", time(&client, &asked, "get_context", query)),
        ("query, adaptive", time(&client, &asked, "get_context", |asked| json!({"topic": asked.topic}))),
        ("expansion", time(&client, &asked, "expand", |asked| json!({"ids": [asked.id], "include": include}))),
    ];
    for (name, times) in kinds {
        println!("| {notes} | {name} | {:.1} | {:.1} |", times[times.len() / 2], times[times.len() * 99 / 100]);
    }
    client.end();
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs this too, without `--bench`, and wants no measurements.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let sizes: Vec<usize> = args.iter().filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1000, 10_000] } else { sizes };
    println!("| notes | call | P50 ms | P99 ms |\n|---|---|---|---|");
    sizes.into_iter().for_each(bench);
}
