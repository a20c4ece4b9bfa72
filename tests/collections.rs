//! Random stores and sources: their notes, ids, findings and links are those of an independent model that follows
//! specs/reference/settings.md and specs/internals/reliability.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::collection_model::{self, Outcome};
use crate::support::files::temp_dir;
use crate::support::layouts::{Layout, ROOT};
use crate::support::process::{Answer, User, call_of_user};
use rayon::prelude::*;
use serde_json::Value;

/// How many layouts are compared.
const LAYOUTS: u64 = 1_000;
/// How many of the layouts that differ are described.
const REPORTS: usize = 12;

/// A layout in a temporary folder.
struct World {
    layout: Layout,
    dir: tempfile::TempDir,
}

impl World {
    fn new(layout: Layout) -> Self {
        let dir = temp_dir();
        let world = Self { layout, dir };
        fs::create_dir(world.root()).unwrap();
        world.layout.write(&world.root());
        world
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(ROOT)
    }

    fn call(&self, args: &[&str]) -> Answer {
        self.call_of(args, None)
    }

    /// Calls the program with a cache for the indexes of sources, outside of the layout.
    fn call_with_cache(&self, args: &[&str]) -> Answer {
        self.call_of(args, Some(self.dir.path().join("cache")))
    }

    fn call_of(&self, args: &[&str], cache: Option<PathBuf>) -> Answer {
        let root = self.root();
        let flags = self.layout.flags(root.to_str().unwrap());
        let args: Vec<&str> = args.iter().copied().chain(flags.iter().map(String::as_str)).collect();
        let user = User { settings: root.join("settings"), data: root.join("data"), home: root.join("home"), cache };
        call_of_user(root.join(&self.layout.current_dir).to_str().unwrap(), &user, &args)
    }

    /// Returns a path of an answer from the layout's folder.
    fn path(&self, path: &str) -> String {
        let root = self.root();
        let path = root.join(&self.layout.current_dir).join(path);
        let mut names: Vec<&str> = Vec::new();
        for name in path.strip_prefix(&root).unwrap_or(Path::new("?")).to_str().unwrap().split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                name => names.push(name),
            }
        }
        names.join("/")
    }

    /// Asks the program for all that the model tells.
    fn outcome(&self) -> Outcome {
        let answer = |args: &[&str]| -> Result<Value, String> {
            let Answer { stdout, error } = self.call(args);
            match error {
                Some(error) if stdout.is_empty() => Err(error.kind.name().to_owned()),
                _ => Ok(serde_json::from_str(&stdout).unwrap()),
            }
        };
        let places = match answer(&["status", "--json"]) {
            Ok(places) => places,
            Err(error) => return Outcome { error: Some(error), ..Outcome::default() },
        };
        let rows = |value: &Value, key: &str| value[key].as_array().unwrap().clone();
        let collections: Vec<Value> = rows(&places, "collections");
        let line_of = |row: &Value| {
            let kind = row["as"].as_str().unwrap_or("store");
            format!("{} {kind} {} {}", text(row, "name"), self.path(text(row, "path")), row["notes"])
        };
        let list = match answer(&["list", "--sort", "id", "--json"]) {
            Ok(list) => list,
            Err(error) => return Outcome { error: Some(error), ..Outcome::default() },
        };
        let only = collections.first().map_or("", |row| text(row, "name"));
        let line_of_note = |note: &Value| {
            let store = note["in"].as_str().unwrap_or(only);
            format!("{store} {} {} {:?}", text(note, "id"), self.path(text(note, "path")), text(note, "title"))
        };
        let graph = match answer(&["export", "links"]) {
            Ok(graph) => graph,
            Err(error) => return Outcome { error: Some(error), ..Outcome::default() },
        };
        let paths: BTreeMap<String, String> = rows(&graph, "notes")
            .iter()
            .map(|note| (text(note, "id").to_owned(), self.path(text(note, "path"))))
            .collect();
        let link_of = |link: &Value| format!("{} -> {}", paths[text(link, "from")], paths[text(link, "to")]);
        let findings = rows(&answer(&["doctor", "--json"]).unwrap(), "findings");
        let broken = findings.iter().filter(|finding| finding["code"] == "broken-link").map(|finding| {
            let target = text(finding, "message").split('`').nth(1).unwrap();
            format!("{} -> {target}", self.path(text(finding, "path")))
        });
        Outcome {
            collections: collections.iter().map(line_of).collect(),
            notes: rows(&list, "notes").iter().map(line_of_note).collect(),
            findings: rows(&places, "findings").iter().map(|finding| text(finding, "code").to_owned()).collect(),
            links: rows(&graph, "links").iter().map(link_of).collect(),
            broken: broken.collect(),
            error: None,
        }
    }
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("no {key}: {row}"))
}

/// Numbers equal lines, so that each is another one.
fn counted(lines: Vec<String>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let number = |line: String| {
        let count = counts.entry(line.clone()).or_default();
        *count += 1;
        if *count == 1 { line } else { format!("{line} ({count})") }
    };
    lines.into_iter().map(number).collect()
}

/// Returns what the model and the program say differently; `None` if they agree.
fn difference(layout: &Layout) -> Option<String> {
    let (expected, found) = (collection_model::outcome(layout), World::new(layout.clone()).outcome());
    if expected == found {
        return None;
    }
    let (expected, found) = (expected.lines(), found.lines());
    let only = |mark: &str, one: &[String], other: &[String]| -> String {
        one.iter().filter(|line| !other.contains(line)).map(|line| format!("{mark} {line}\n")).collect()
    };
    let (expected, found) = (counted(expected), counted(found));
    let text = format!("{}{}", only("model:  ", &expected, &found), only("program:", &found, &expected));
    Some(if text.is_empty() { format!("order:\n{expected:#?}\n{found:#?}\n") } else { text })
}

/// Removes parts of a layout as long as the model and the program still differ.
fn smallest(mut layout: Layout) -> Layout {
    while let Some(smaller) = layout.smaller().into_iter().find(|smaller| difference(smaller).is_some()) {
        layout = smaller;
    }
    layout
}

/// A second answer, from the index, is the first one, and that without an index; budgets are kept; nothing is written.
#[test]
fn answers_are_the_same_with_and_without_an_index() {
    for seed in 0..LAYOUTS / 10 {
        let world = World::new(Layout::random(seed));
        let before = files(&world.root());
        for args in
            [&["list"][..], &["search", "alpha see"], &["context", "--query", "alpha see", "--max-chars", "700"]]
        {
            let plain = world.call(&[args, &["--no-index"]].concat()).stdout;
            assert!(args[0] != "context" || plain.chars().count() <= 700, "seed {seed}: {plain}");
            for _ in 0..2 {
                assert_eq!(world.call_with_cache(args).stdout, plain, "seed {seed}: {args:?}");
            }
        }
        let after: Vec<_> = files(&world.root())
            .into_iter()
            .filter(|(path, _)| !path.contains("/.qipu/cache/") && !path.contains("/qipu/cache/"))
            .collect();
        assert_eq!(after, before, "seed {seed}");
    }
}

/// Returns the files of a folder with their contents.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let all = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = all.filter(|entry| entry.file_type().is_file());
    files.map(|entry| (entry.path().to_str().unwrap().to_owned(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn the_notes_and_links_of_random_layouts_are_those_of_the_model() {
    let seeds: Vec<u64> = match std::env::var("QIPU_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (0..LAYOUTS).collect(),
    };
    let failed: Vec<u64> = seeds.into_par_iter().filter(|seed| difference(&Layout::random(*seed)).is_some()).collect();
    let report = |seed: &u64| {
        let layout = smallest(Layout::random(*seed));
        format!("seed {seed}\n{}{}", layout.describe(), difference(&layout).unwrap_or_default())
    };
    let reports: Vec<String> = failed.iter().take(REPORTS).map(report).collect();
    assert!(failed.is_empty(), "{} layouts differ: {failed:?}\n\n{}", failed.len(), reports.join("\n"));
}
