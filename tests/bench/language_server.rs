//! How long `qipu lsp` takes to answer, and how much memory it keeps: `cargo bench --bench language_server -- 10000`.
//!
//! Each edit changes the title of an open note, and the next request follows at once. Prints medians and 99th percentiles in
//! milliseconds, and the resident memory after one and ten thousand edits.

#![allow(
    clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::string_slice, missing_docs
)]

#[path = "../support/files.rs"]
mod files;
#[path = "generate.rs"]
#[expect(dead_code, reason = "the other benchmark needs more of it")]
mod generate;
#[path = "../support/lsp_client.rs"]
#[allow(dead_code, reason = "tests need more of it")]
mod lsp_client;
#[path = "../support/random.rs"]
mod random;
#[path = "words.rs"]
mod words;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use generate::Store;
use lsp_client::LspClient;

const REQUESTS: usize = 1_000;
const EDITS: usize = 10_000;
/// After so many edits, the texts rest until their diagnostics are there.
const EDITS_BETWEEN_RESTS: usize = 500;

/// A note that is open, with the line in which links are typed.
struct OpenNote {
    path: String,
    text: String,
    last_line: usize,
}

impl OpenNote {
    fn open(client: &mut LspClient, root: &Path, file: &Path) -> Self {
        let path = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let text = format!("{}\n[[st", fs::read_to_string(file).unwrap().trim_end());
        client.open(&path, &text);
        Self { last_line: text.matches('\n').count(), path, text }
    }

    /// Changes the title, as typing does.
    fn edit(&self, client: &mut LspClient, count: usize) {
        let line = self.text.lines().position(|line| line.starts_with("title:")).unwrap();
        let position = |column: usize| json!({"line": line, "character": column});
        let range = json!({"start": position(0), "end": position(10_000)});
        client.change(&self.path, Some(range), &format!("title: Note in the making {count}"));
    }

    fn ask(&self, client: &mut LspClient, method: &str, line: usize, column: usize) -> (Value, f64) {
        let start = Instant::now();
        let result = client.at(method, &self.path, line, column);
        (result, start.elapsed().as_secs_f64() * 1e3)
    }
}

fn print_row(notes: usize, name: &str, mut times: Vec<f64>, cpu_ms: f64) {
    times.sort_by(f64::total_cmp);
    let (median, last) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("| {notes} | {name} | {median:.1} | {last:.1} | {:.1} |", cpu_ms / times.len() as f64);
}

/// Returns the CPU time of a process in milliseconds, which other programs hardly change; 0 where the system does not tell.
fn cpu_ms(process: u32) -> f64 {
    const TICK_MS: f64 = 10.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.split(' ').collect::<Vec<_>>()).unwrap_or_default();
    let ticks = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) * TICK_MS
}

/// Returns the resident memory of a process in MB; 0 where the system does not tell.
fn resident_mb(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kb = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    kb.and_then(|kb| kb.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

fn bench(notes: usize) {
    let store = Store::of_size(notes).unwrap();
    // The server writes an index, and edits are never saved.
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    files::copy_folder(&store.dir, &root);
    let mut client = LspClient::start(&root, false);
    let paths = store.some_notes(3).unwrap();
    let open = |path: &std::path::PathBuf| root.join(path.strip_prefix(&store.dir).unwrap());
    let notes_open: Vec<OpenNote> = paths.iter().map(|path| OpenNote::open(&mut client, &root, &open(path))).collect();
    let note = &notes_open[0];
    let line = note.last_line;
    note.ask(&mut client, "textDocument/completion", line, 4);
    let typing = |client: &mut LspClient, method: &str, is_edited: bool, with_diagnostics: bool, at: (usize, usize)| {
        let time = |count: usize| {
            if is_edited {
                note.edit(client, count);
            }
            // So that diagnostics are computed meanwhile.
            if with_diagnostics && count.is_multiple_of(20) {
                std::thread::sleep(Duration::from_millis(260));
            }
            note.ask(client, method, at.0, at.1).1
        };
        (0..REQUESTS).map(time).collect::<Vec<_>>()
    };
    let process = client.server.id();
    for (name, method, is_edited, with_diagnostics, at) in [
        ("completion", "textDocument/completion", false, false, (line, 4)),
        ("completion after an edit", "textDocument/completion", true, false, (line, 4)),
        ("the same, and diagnostics", "textDocument/completion", true, true, (line, 4)),
        ("hover after an edit", "textDocument/hover", true, false, (2, 8)),
        ("references after an edit", "textDocument/references", true, false, (2, 8)),
    ] {
        let before = cpu_ms(process);
        let times = typing(&mut client, method, is_edited, with_diagnostics, at);
        print_row(notes, name, times, cpu_ms(process) - before);
    }
    let start = Instant::now();
    note.edit(&mut client, 0);
    client.diagnostics_of(&note.path);
    println!("| {notes} | diagnostics after an edit | {:.0} | | |", start.elapsed().as_secs_f64() * 1e3);
    for count in 1..=EDITS {
        note.edit(&mut client, count);
        note.ask(&mut client, "textDocument/completion", line, 4);
        if count % EDITS_BETWEEN_RESTS == 0 {
            client.diagnostics_of(&note.path);
        }
        if [EDITS / 10, EDITS / 2, EDITS].contains(&count) {
            println!("| {notes} | resident MB after {count} edits | {:.0} | | |", resident_mb(process));
        }
    }
    assert!(client.stop());
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs this too, without `--bench`, and wants no measurements.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let sizes: Vec<usize> = args.iter().filter_map(|size| size.parse().ok()).collect();
    println!("| notes | answer | P50 ms | P99 ms | CPU ms |\n|---|---|---|---|---|");
    (if sizes.is_empty() { vec![1_000, 10_000] } else { sizes }).into_iter().for_each(bench);
}
