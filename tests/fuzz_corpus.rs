//! Replays what the fuzz targets found, and their corpora, in an ordinary build. `fuzz/run` looks for more.

#[path = "../fuzz/targets/mod.rs"]
mod targets;

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// The most bytes of an input, and of all.
const MAX_INPUT: u64 = 4 * 1024;
const MAX_CORPUS: u64 = 600 * 1024;

/// The folders of inputs, each with a folder for each target.
const FOLDERS: [&str; 2] = ["fuzz/corpus", "fuzz/found"];

/// Returns the entries of a folder in their order; none if there is no folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn replay(name: &str) {
    let target = targets::find(name).unwrap();
    let inputs = FOLDERS.iter().flat_map(|folder| entries(&Path::new(folder).join(name)));
    let mut count = 0;
    for path in inputs {
        let input = fs::read(&path).unwrap();
        assert!(catch_unwind(|| target(&input)).is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count >= 3, "only {count} inputs");
}

/// Makes a test for each target.
macro_rules! replays {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*

        const REPLAYED: &[&str] = &[$(stringify!($name)),*];
    };
}

replays! {
    arguments changes config dates disk edits eval filters frontmatter hooks ids import index lsp markdown mcp merge pack
    query records redo_log secrets setup stale store
}

#[test]
fn every_target_is_replayed_and_documented() {
    let names: Vec<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, REPLAYED);
    let target = regex::Regex::new(r"\n///.*\npub\(crate\) fn \w+\(\w+: &\[u8\]\)").unwrap();
    let sources = entries(Path::new("fuzz/targets")).into_iter().map(|path| fs::read_to_string(path).unwrap());
    let documented: usize = sources.map(|source| target.find_iter(&source).count()).sum();
    assert_eq!(documented, names.len(), "the comment of a target states its laws");
    for folder in FOLDERS {
        let folders = entries(Path::new(folder));
        let found: BTreeSet<&str> = folders.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert!(found.iter().all(|name| names.contains(name)), "{found:?}");
    }
}

#[test]
fn inputs_are_small() {
    let folders = FOLDERS.iter().flat_map(|folder| entries(Path::new(folder)));
    let sizes: Vec<(PathBuf, u64)> = folders
        .flat_map(|folder| entries(&folder))
        .map(|path| (path.clone(), path.metadata().unwrap().len()))
        .collect();
    let large: Vec<_> = sizes.iter().filter(|(_, size)| *size > MAX_INPUT).collect();
    assert!(large.is_empty(), "{large:?}");
    let all: u64 = sizes.iter().map(|(_, size)| size).sum();
    assert!(all <= MAX_CORPUS, "{all} bytes");
}
