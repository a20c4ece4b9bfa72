//! Measures whole processes on generated stores, from a cold start to the last byte, beside
//! ripgrep and beside a program that only lists the files: without an index (which is written then),
//! with one, and after 1 and 100 notes were edited.
//!
//! ```text
//! cargo bench --bench processes
//! cargo bench --bench processes -- 1000 10000 100000
//! ```

// A benchmark's answer goes to a person at a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "generate.rs"]
mod generate;
#[path = "measure.rs"]
mod measure;
#[path = "../support/random.rs"]
mod random;
#[path = "words.rs"]
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use generate::Store;
use measure::{Measurement, Subject, measure};

/// The default numbers of notes in the stores.
const SIZES: [usize; 2] = [1_000, 10_000];
/// A word that about a fifth of the notes hold.
const COMMON_WORD: &str = "cache";
const QUERY: &str = "crash recovery journal";
const BUDGET: [&str; 4] = ["--format", "records", "--max-chars", "8000"];
/// The most notes of a store in which hooks are measured.
const MAX_HOOK_NOTES: usize = 100_000;
/// The argument with which this program is the one that only lists files.
const LIST_AND_STAT: &str = "--list-and-stat";

const QIPU: &str = env!("CARGO_BIN_EXE_qipu");

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if let [mode, dir] = args.as_slice()
        && mode == LIST_AND_STAT
    {
        let (files, bytes) = list_and_stat(Path::new(dir))?;
        println!("{files} files, {bytes} bytes");
        return Ok(());
    }
    // `cargo test --benches` runs this too, without `--bench`, and wants no measurements.
    if has("--test") || !has("--bench") {
        return Ok(());
    }
    let sizes = args.iter().filter(|arg| *arg != "--bench").map(|arg| size(arg)).collect::<Result<Vec<_>>>()?;
    let ripgrep = find_on_path("rg");
    if ripgrep.is_none() {
        eprintln!("ripgrep (rg) is not on PATH: no ratios. Install it to see how far qipu is from it.");
    }
    for size in if sizes.is_empty() { SIZES.to_vec() } else { sizes } {
        run(size, ripgrep.as_deref())?;
    }
    Ok(())
}

fn size(arg: &str) -> Result<usize> {
    let size = arg.parse().ok().filter(|size| *size > 0);
    size.with_context(|| format!("`{arg}` is not a number of notes"))
}

fn find_on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|program| program.is_file())
}

/// Counts the files below a folder and their bytes: the least that a program without an index
/// has to do to know what there is.
fn list_and_stat(dir: &Path) -> Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let below = list_and_stat(&entry.path())?;
            (files, bytes) = (files + below.0, bytes + below.1);
        } else {
            (files, bytes) = (files + 1, bytes + entry.metadata()?.len());
        }
    }
    Ok((files, bytes))
}

/// A state of the store in which commands are measured.
struct State {
    name: &'static str,
    /// How many notes were edited since the index was written; `None` where there is no index.
    edited: Option<usize>,
}

const STATES: [State; 4] = [
    State { name: "cold: no index, it is written", edited: None },
    State { name: "warm", edited: Some(0) },
    State { name: "after 1 edited note", edited: Some(1) },
    State { name: "after 100 edited notes", edited: Some(100) },
];

/// Measures everything on a store of one size.
fn run(size: usize, ripgrep: Option<&Path>) -> Result<()> {
    let store = Store::of_size(size)?;
    let (files, bytes) = list_and_stat(&store.notes_dir().join("notes"))?;
    let (maps, map_bytes) = list_and_stat(&store.notes_dir().join("mocs"))?;
    let (files, bytes) = (files + maps, bytes + map_bytes);
    println!("\n{files} notes of {} bytes on average, in {}", bytes / files, store.dir.display());
    for state in &STATES {
        let _edits = prepare(&store, state)?;
        let subjects = subjects(&store, state, ripgrep)?;
        let measurements = measure(&subjects)?;
        let runs = measurements.first().map_or(0, Measurement::runs);
        println!("\n{} ({runs} runs each, in turn, after warm-up)\n", state.name);
        print_table(&subjects, &measurements, ripgrep.is_some());
        let index = list_and_stat(&store.cache()).map_or(0, |(_, bytes)| bytes);
        println!("index: {index} bytes, {:.2} of the notes", index as f64 / bytes as f64);
    }
    store.remove_cache();
    Ok(())
}

/// Puts the store into a state: with an index of settled notes, some of which were edited since. They are
/// as before when what is returned goes away.
fn prepare(store: &Store, state: &State) -> Result<Vec<Edit>> {
    store.remove_cache();
    let Some(edited) = state.edited else { return Ok(Vec::new()) };
    // What was written just now is read again: an index knows settled notes only.
    std::thread::sleep(Duration::from_millis(300));
    let made = Command::new(QIPU).current_dir(&store.dir).args(["search", "x"]).stdout(Stdio::null()).status()?;
    ensure!(made.success(), "`qipu search` failed");
    let edits: Result<Vec<Edit>> = store.some_notes(edited)?.into_iter().map(Edit::new).collect();
    // A little later the edits are settled too, as they are for whoever edits and then asks.
    std::thread::sleep(Duration::from_millis(300));
    edits
}

/// An edited note; it gets its text back when this goes away.
struct Edit {
    path: PathBuf,
    text: String,
}

impl Edit {
    fn new(path: PathBuf) -> Result<Self> {
        let text = fs::read_to_string(&path)?;
        fs::write(&path, format!("{text}\nAnd one more line about a crash.\n"))?;
        Ok(Self { path, text })
    }
}

impl Drop for Edit {
    fn drop(&mut self) {
        if let Err(error) = fs::write(&self.path, &self.text) {
            eprintln!("{} stays edited: {error}", self.path.display());
        }
    }
}

/// The commands in the table's order: the floor, ripgrep where there is one, qipu.
fn subjects(store: &Store, state: &State, ripgrep: Option<&Path>) -> Result<Vec<Subject>> {
    let (dir, id) = (store.dir.as_path(), store.sample_id.as_str());
    let myself = std::env::current_exe()?;
    let mut subjects = vec![Subject::new("floor: list and stat", &myself, &[LIST_AND_STAT, ".qipu"], dir)];
    if let Some(ripgrep) = ripgrep {
        let name = format!("rg -c {COMMON_WORD}");
        subjects.push(Subject::new(name, ripgrep, &["-c", COMMON_WORD, ".qipu"], dir));
    }
    let query = ["context", "--query", QUERY];
    let tree = ["link", "tree", id];
    let calls: [(&str, Vec<&str>); 8] = [
        ("qipu --version", vec!["--version"]),
        ("qipu prime", vec!["prime"]),
        ("qipu list", vec!["list"]),
        ("qipu search", vec!["search", QUERY]),
        ("qipu ask", vec!["ask", QUERY]),
        ("qipu context --query, records 8000", [&query[..], &BUDGET].concat()),
        ("qipu link tree, 2 hops, records 8000", [&tree[..], &["--max-hops", "2"], &BUDGET].concat()),
        ("qipu context --note", vec!["context", "--note", id]),
    ];
    let removed = state.edited.is_none().then(|| store.cache());
    subjects.extend(calls.iter().map(|(name, args)| {
        let subject = Subject::new(*name, Path::new(QIPU), args, dir);
        removed.iter().fold(subject, |subject, folder| subject.without(folder))
    }));
    // In a larger store they may give up before they have an answer.
    let prompts = if store.notes > MAX_HOOK_NOTES { Vec::new() } else { prompts(store)? };
    for (name, prompt, is_answered) in prompts {
        let args = ["hook", "claude", "UserPromptSubmit", "--no-seen"];
        let subject = Subject::new(name, Path::new(QIPU), &args, dir).reading(&prompt, is_answered);
        subjects.push(removed.iter().fold(subject, |subject, folder| subject.without(folder)));
    }
    Ok(subjects)
}

/// Writes the inputs of hooks: a prompt that a note answers, one that none answers, and one that is not searched for.
fn prompts(store: &Store) -> Result<Vec<(&'static str, PathBuf, bool)>> {
    let note = store.some_notes(1)?.pop().context("the store has no notes")?;
    let text = fs::read_to_string(note)?;
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).context("the note has no title")?;
    let write = |name: &str, prompt: &str| {
        let file = store.dir.join(name);
        let json = format!("{{\"session_id\":\"s\",\"prompt\":\"{}\"}}", prompt.replace(['"', '\\'], " "));
        fs::write(&file, json).map(|()| file)
    };
    let answered = format!("please look into this: {title} {title}");
    Ok(vec![
        ("qipu hook, a prompt with an answer", write("answered.json", &answered)?, true),
        ("qipu hook, a silent prompt", write("silent.json", "add a spinner to the crash page")?, false),
        ("qipu hook, a greeting", write("greeting.json", "thanks, go on")?, false),
    ])
}

fn print_table(subjects: &[Subject], measurements: &[Measurement], has_ripgrep: bool) {
    let median = |place: usize| measurements.get(place).map(Measurement::median_ms);
    let (floor, ripgrep) = (median(0), median(1).filter(|_| has_ripgrep));
    println!("{:<37} {:>9} {:>8} {:>7} {:>8} {:>8}", "command", "median ms", "min ms", "x rg", "x floor", "peak MB");
    for (subject, measurement) in subjects.iter().zip(measurements) {
        let ratio = |to: Option<f64>| number(to.filter(|_| has_ripgrep).map(|to| measurement.median_ms() / to), 2);
        println!(
            "{:<37} {:>9.1} {:>8.1} {:>7} {:>8} {:>8}",
            subject.name,
            measurement.median_ms(),
            measurement.min_ms(),
            ratio(ripgrep),
            ratio(floor),
            number(measurement.peak_mb, 1),
        );
    }
}

/// Writes a number, or `-` where there is none.
fn number(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.digits$}"))
}
