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
/// How many words of a note's title are asked for, and the tokens of an answer.
const WORDS: usize = 3;
const TOKENS: usize = 2_000;

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

/// The times of calls in milliseconds, sorted: until the answer came, and of all processors for the server.
struct Times {
    elapsed: Vec<f64>,
    processor: Vec<f64>,
}

/// Calls a tool about each note.
fn time(client: &McpClient, asked: &[Asked], tool: &str, arguments: impl Fn(&Asked) -> Value) -> Times {
    let mut times = Times { elapsed: Vec::new(), processor: Vec::new() };
    for asked in asked {
        let arguments = arguments(asked);
        let (start, before) = (Instant::now(), processor_ms(client));
        let result = client.call(tool, arguments);
        times.elapsed.push(start.elapsed().as_secs_f64() * 1e3);
        times.processor.extend(processor_ms(client).zip(before).map(|(after, before)| after - before));
        assert_eq!(result.is_error, Some(false), "{result:?}");
    }
    [&mut times.elapsed, &mut times.processor].into_iter().for_each(|times| times.sort_by(f64::total_cmp));
    times
}

/// Returns the time that the threads of a server took of the processors so far; `None` on other systems than Linux.
fn processor_ms(client: &McpClient) -> Option<f64> {
    let tasks = fs::read_dir(format!("/proc/{}/task", client.server.id())).ok()?.filter_map(Result::ok);
    let of_task = |task: fs::DirEntry| {
        let stat = fs::read_to_string(task.path().join("schedstat")).ok()?;
        stat.split_whitespace().next()?.parse::<f64>().ok()
    };
    Some(tasks.filter_map(of_task).sum::<f64>() / 1e6)
}

/// Formats the median and the 99th percentile; `-` without times.
fn percentiles(times: &[f64]) -> String {
    let at =
        |percent: usize| times.get(times.len() * percent / 100).map_or("-".to_owned(), |time| format!("{time:.1}"));
    format!("{} | {}", at(50), at(99))
}

fn bench(notes: usize) {
    let store = Store::of_size(notes).unwrap();
    let asked = asked(&store);
    let client = McpClient::start(Command::new(env!("CARGO_BIN_EXE_qipu")).arg("mcp").current_dir(&store.dir));
    let query = |asked: &Asked| json!({"topic": asked.topic, "abstraction": "summary"});
    let of_tokens = |asked: &Asked| json!({"topic": asked.topic, "max_tokens": TOKENS});
    let include = ["derivation", "evidence", "contradictions"];
    // The first call opens the store.
    time(&client, &asked[..1], "get_context", query);
    let kinds = [
        ("2,000 tokens", time(&client, &asked, "get_context", of_tokens)),
        ("query", time(&client, &asked, "get_context", query)),
        ("query, adaptive", time(&client, &asked, "get_context", |asked| json!({"topic": asked.topic}))),
        ("expansion", time(&client, &asked, "expand", |asked| json!({"ids": [asked.id], "include": include}))),
    ];
    for (name, times) in kinds {
        println!("| {notes} | {name} | {} | {} |", percentiles(&times.elapsed), percentiles(&times.processor));
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
    println!("| notes | call | P50 ms | P99 ms | processor P50 ms | P99 ms |\n|---|---|---|---|---|---|");
    sizes.into_iter().for_each(bench);
}
