//! How long a running server takes to answer: `cargo bench --bench server -- 1000 10000`.
//!
//! Two hundred questions for each kind of call, one after the other over the SDK's own client, in stores
//! made for this run. Prints medians and 99th percentiles in milliseconds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

const QUERIES: usize = 200;
const WORDS: [&str; 40] = [
    "cache",
    "crash",
    "recovery",
    "journal",
    "queue",
    "retry",
    "backoff",
    "lock",
    "thread",
    "index",
    "page",
    "write",
    "buffer",
    "flush",
    "disk",
    "network",
    "timeout",
    "latency",
    "budget",
    "token",
    "parser",
    "escape",
    "merge",
    "branch",
    "commit",
    "review",
    "deploy",
    "rollback",
    "schema",
    "migration",
    "backup",
    "restore",
    "shard",
    "replica",
    "leader",
    "vote",
    "clock",
    "drift",
    "limit",
    "quota",
];

/// A generator of numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }

    /// Small numbers come more often, as words do.
    fn word(&mut self) -> &'static str {
        let (a, b) = (self.next(WORDS.len()), self.next(WORDS.len()));
        WORDS[a.min(b)]
    }
}

fn make_store(root: &Path, notes: usize) {
    let mut numbers = Numbers(42);
    for number in 0..notes {
        let folder = root.join(format!(".qipu/notes/{:03}", number / 100));
        fs::create_dir_all(&folder).unwrap();
        let mut text =
            |count: usize| {
                (0..count)
                    .map(|_| {
                        if numbers.next(3) == 0 {
                            format!("w{}", numbers.next(5000))
                        } else {
                            numbers.word().to_owned()
                        }
                    })
                    .collect::<Vec<_>>()
                    .join(" ")
            };
        let paragraphs: Vec<String> = (0..6).map(|_| text(30)).collect();
        let (title, body) = (text(4), paragraphs.join(".\n\n"));
        let kind = ["permanent", "fleeting", "literature"][numbers.next(3)];
        let link = ["supports", "derived-from", "contradicts", "related"][numbers.next(4)];
        let other = numbers.next(notes);
        let note = format!(
            "---\nid: n{number}\ntitle: {title}\ntype: {kind}\nupdated: 2025-0{}-11\nlinks:\n- type: {link}\n  id: n{other}\n---\n\n{body}.\n",
            1 + number % 9
        );
        fs::write(folder.join(format!("n{number}.md")), note).unwrap();
    }
}

async fn time(
    client: &RunningService<RoleClient, ()>,
    mut arguments: impl FnMut(&mut Numbers) -> (&'static str, Value),
) -> Vec<f64> {
    let mut numbers = Numbers(7);
    let mut times = Vec::new();
    for _ in 0..QUERIES {
        let (tool, arguments) = arguments(&mut numbers);
        let request = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
        let start = Instant::now();
        let result = client.call_tool(request).await.unwrap();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        assert_eq!(result.is_error, Some(false), "{result:?}");
    }
    times.sort_by(f64::total_cmp);
    times
}

async fn bench(notes: usize) {
    let tmp = tempfile::tempdir().unwrap();
    make_store(tmp.path(), notes);
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_qipu"));
    command.arg("mcp").current_dir(tmp.path());
    let client = ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap();
    let topic = |numbers: &mut Numbers| format!("{} {} {}", numbers.word(), numbers.word(), numbers.word());
    // The first call opens the store.
    time(&client, |numbers| ("search", json!({"query": topic(numbers)}))).await;
    let kinds: [(&str, Vec<f64>); 3] = [
        (
            "query",
            time(&client, |numbers| ("get_context", json!({"topic": topic(numbers), "abstraction": "summary"}))).await,
        ),
        ("query, adaptive", time(&client, |numbers| ("get_context", json!({"topic": topic(numbers)}))).await),
        (
            "expansion",
            time(&client, |numbers| {
                let ids = [format!("n{}", numbers.next(notes)), format!("n{}", numbers.next(notes))];
                ("expand", json!({"ids": ids, "include": ["derivation", "evidence", "contradictions"]}))
            })
            .await,
        ),
    ];
    for (name, times) in kinds {
        println!("| {notes} | {name} | {:.1} | {:.1} |", times[QUERIES / 2], times[QUERIES * 99 / 100]);
    }
    client.cancel().await.unwrap();
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1000, 10_000] } else { sizes };
    println!("| notes | call | P50 ms | P99 ms |\n|---|---|---|---|");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    sizes.into_iter().for_each(|notes| runtime.block_on(bench(notes)));
}
