//! The house's rules that a compiler does not check: imports go downwards, files say what they
//! are for, the budget and the formats stay in their rooms.

#![allow(clippy::unwrap_used, clippy::panic, clippy::string_slice, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The rooms by floor, the lowest first.
const FLOORS: [&[&str]; 5] = [
    &["note", "calendar", "env", "error", "escape", "parts", "phases", "progress", "tokens", "warnings"],
    &["store", "graph", "search", "pack", "report", "request"],
    &["cli", "context", "render", "setup", "import"],
    &["commands", "fit", "complete"],
    &["lib", "main", "mcp", "browse", "eval", "pager", "watch"],
];

/// Arrows between rooms of one floor: plain types that a request is made of.
const ARROWS: [(&str, &str); 8] = [
    ("request", "store"),
    ("request", "graph"),
    ("request", "report"),
    ("error", "escape"),
    ("warnings", "escape"),
    ("parts", "note"),
    ("note", "escape"),
    ("calendar", "escape"),
];

/// What a room may see of the floors below it, where that is not everything.
const BARS: [(&str, &[&str]); 2] = [
    ("render", &["report", "note", "escape", "tokens"]),
    ("fit", &["report", "render", "request", "error", "escape", "tokens"]),
];

fn sources() -> Vec<(String, PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = walkdir::WalkDir::new(&src).sort_by_file_name().into_iter().map(Result::unwrap);
    files
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "rs"))
        .map(|entry| {
            let inside = entry.path().strip_prefix(&src).unwrap();
            let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
            let room = first.trim_end_matches(".rs").to_owned();
            (room, inside.to_path_buf(), fs::read_to_string(entry.path()).unwrap())
        })
        .filter(|(_, _, text)| !text.starts_with("//! Tests only"))
        .collect()
}

fn floor(room: &str) -> usize {
    FLOORS.iter().position(|rooms| rooms.contains(&room)).unwrap_or_else(|| panic!("no floor for {room}"))
}

/// The part of a file that is not tests.
fn product(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap()
}

#[test]
fn imports_go_downwards() {
    let import = Regex::new(r"\bcrate::(?:\{|([a-z_]+))").unwrap();
    let mut seen = 0;
    for (room, path, text) in sources() {
        let is_top_level = path.components().count() == 1;
        assert!(!is_top_level || !product(&text).contains("super::"), "{path:?} hides an import behind `super`");
        for found in import.captures_iter(product(&text)) {
            let target = found.get(1).unwrap_or_else(|| panic!("{path:?}: one `use crate::…` a room")).as_str();
            if target == room || room == "lib" {
                continue;
            }
            seen += 1;
            let goes_down = floor(target) < floor(&room);
            let is_arrow = ARROWS.contains(&(room.as_str(), target));
            assert!(goes_down || is_arrow, "{path:?} imports {target}, which is not below {room}");
            if let Some((_, allowed)) = BARS.iter().find(|(barred, _)| *barred == room) {
                assert!(allowed.contains(&target), "{path:?} may not see {target}");
            }
        }
    }
    assert!(seen > 50, "only {seen} imports found: is the pattern still right?");
}

#[test]
fn files_open_with_what_they_are_for() {
    for (_, path, text) in sources() {
        assert!(text.starts_with("//! "), "{path:?} does not say what it is for");
    }
}

#[test]
fn budgets_and_formats_stay_in_their_rooms() {
    for (room, path, text) in sources() {
        let text = product(&text);
        // What stays open takes the words of a call by itself, as `cli` does.
        if !matches!(room.as_str(), "cli" | "request" | "fit" | "mcp") {
            assert!(!text.contains("max_chars") && !text.contains("max_tokens"), "{path:?} speaks of the budget");
        }
        if !matches!(room.as_str(), "cli" | "render" | "mcp") {
            assert!(!text.contains("Format::"), "{path:?} switches on the format");
        }
    }
}

#[test]
fn main_is_short() {
    let main = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs")).unwrap();
    assert!(main.lines().count() <= 50);
}
