//! The rules of the source that the compiler does not check: imports point downwards, modules hold no cycles, files are
//! read and written in one place, each type has a name of its own, functions stay short, and names and comments are in the
//! language of specs/internals/terms.md. There are no exceptions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::support::imports::Crate;

/// The modules of each layer, the lowest first.
const LAYERS: [&[&str]; 9] = [
    &["codec", "diff", "env", "escape", "timings", "progress", "tokens"],
    &["note", "calendar", "error", "secrets", "warnings"],
    &["store"],
    &["report"],
    &["code_refs", "embedder", "filter", "graph", "search", "pack"],
    &["request"],
    &["cli", "context", "render", "setup", "hooks"],
    &["commands", "fit", "complete"],
    &["lib", "main", "mcp", "lsp", "browse", "eval", "export", "pager", "progress_line", "hook_runner"],
];

/// The folders of `src/store`, the lowest first.
const STORE_FOLDERS: [&str; 6] = ["git", "fs", "index", "collections", "notes", "writes"];

/// The only modules that some modules may import.
const RESTRICTED: [(&str, &[&str]); 2] = [
    ("render", &["report", "note", "escape", "tokens"]),
    ("fit", &["report", "render", "request", "error", "escape", "tokens"]),
];

/// The most lines of a function.
const MAX_FUNCTION_LINES: usize = 60;

/// The most lines of a file, with its unit tests.
const MAX_FILE_LINES: usize = 600;

/// The most times that a renderer names a kind of report: `report/layout.rs` declares what each kind shows.
const MAX_KINDS: usize = 5;

/// Words and phrases that only this project uses; specs/internals/terms.md has the terms in their place.
const BANNED: [(&str, &str); 14] = [
    ("phrase: somebody, whoever", r"//.*\b([Ss]omebody|[Ww]hoever)\b"),
    ("phrase: of which, that which", r"//.*\b(of which|that which)\b"),
    ("phrase: is told, are told", r"//.*\b(is|are) told\b"),
    ("phrase: stands for, stand for", r"//.*\bstands? for\b"),
    ("phrase: passed over, come by", r"//.*\b(passed over|come by|comes by)\b"),
    ("phrase: looks as it did", r"//.*\b(looks?|looked) (as it did|so)\b"),
    ("phrase: made anew, at hand", r"//.*\b(made anew|written anew|at hand)\b"),
    ("phrase: says something, says nothing", r"//.*\bsays? (something|nothing)\b"),
    ("name: is_it, is_told, are_there", r"\b(is_it|is_told|are_there)\b"),
    ("index: place", r"\bplaces?: (usize|u32|&usize|Vec<usize>|\[usize)"),
    ("index: number", r"\bnumbers?: (usize|u32|&usize|Vec<usize>)"),
    ("index: at", r"\bat: (usize|u32|&usize)"),
    ("index: note: usize", r"\bnote: usize"),
    ("match on a boolean", r"=>?\s*match [^{;]*\{\s*true\s*=>"),
];

/// A source file: its path below `src`, its top-level module, and its text, whole and without its unit tests.
struct Source {
    path: PathBuf,
    module: String,
    whole: String,
    text: String,
}

impl Source {
    /// Returns the path of its module in the crate, such as `note::merge::field`.
    fn module_path(&self) -> Vec<String> {
        let parts = self.path.with_extension("");
        let parts = parts.components().map(|part| part.as_os_str().to_str().unwrap().to_owned());
        parts.filter(|part| part != "mod" && part != "lib").collect()
    }
}

/// Returns the folder of sources: that of this package, or another one whose counts are to be printed.
fn source_folder() -> PathBuf {
    let package = || Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    std::env::var_os("QIPU_SOURCE").map_or_else(package, PathBuf::from)
}

fn sources() -> Vec<Source> {
    let src = source_folder();
    let files = walkdir::WalkDir::new(&src).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    let sources = files.map(|entry| {
        let path = entry.path().strip_prefix(&src).unwrap().to_path_buf();
        let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = first.trim_end_matches(".rs").to_owned();
        let whole = fs::read_to_string(entry.path()).unwrap();
        let text = whole.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
        Source { path, module, whole, text }
    });
    let is_product = |source: &Source| !source.path.ends_with("tests.rs") && !source.text.starts_with("//! Tests only");
    sources.filter(is_product).collect()
}

fn layer(module: &str) -> usize {
    LAYERS.iter().position(|modules| modules.contains(&module)).unwrap_or_else(|| panic!("no layer for {module}"))
}

fn parse(sources: &[Source]) -> Crate {
    Crate::parse(sources.iter().map(|source| (source.module_path(), source.whole.as_str())))
}

/// Returns the files that each file uses, but for those that hold it or that it holds: a module's own file may use its parts,
/// and they may use what it defines.
fn imports(sources: &[Source]) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let files = parse(sources);
    let is_apart = |file: &Vec<String>, own: &Vec<String>| !own.starts_with(file) && !file.starts_with(own);
    let imports = files.imports().into_iter();
    imports
        .map(|(own, files)| (own.clone(), files.into_iter().filter(|file| is_apart(file, own)).cloned().collect()))
        .collect()
}

#[test]
fn imports_point_downwards() {
    let mut seen = 0;
    for (own, files) in imports(&sources()) {
        // `src/lib.rs`
        let Some(module) = own.first() else { continue };
        for target in files.iter().map(|file| &file[0]).filter(|target| *target != module) {
            seen += 1;
            let own = own.join("::");
            assert!(layer(target) < layer(module), "{own} imports {target}, which is not below {module}");
        }
    }
    assert!(seen > 50, "only {seen} imports found: are the patterns still right?");
}

/// The file of `store` itself only re-exports.
#[test]
fn in_the_store_folders_import_only_lower_ones() {
    let folder = |file: &[String]| match file {
        [store, folder, ..] if store == "store" => {
            let position = STORE_FOLDERS.iter().position(|name| name == folder);
            Some(position.unwrap_or_else(|| panic!("{} is in no folder", file.join("::"))))
        }
        _ => None,
    };
    let mut seen = 0;
    for (own, files) in imports(&sources()) {
        for target in &files {
            let (Some(lower), Some(upper)) = (folder(target), folder(&own)) else { continue };
            seen += 1;
            let (own, target) = (own.join("::"), target.join("::"));
            assert!(lower <= upper, "{own} imports {target}, which is in a higher folder");
        }
    }
    assert!(seen > 100, "only {seen} imports found: are the patterns still right?");
}

/// What a layer re-exports counts as its own here.
#[test]
fn renderers_and_fit_name_few_modules() {
    let sources = sources();
    let files = parse(&sources);
    for (module, allowed) in RESTRICTED {
        let own: Vec<&Source> = sources.iter().filter(|source| source.module == module).collect();
        assert!(own.len() > 5, "only {} files in {module}", own.len());
        for source in own {
            let own = source.module_path();
            for target in files.named(&own).filter_map(|named| named.first()).filter(|target| *target != module) {
                assert!(allowed.contains(&target.as_str()), "{own:?} may not import {target}");
            }
        }
    }
}

#[test]
fn documents_show_the_same_layers() {
    let row = Regex::new(r"(?m)^\| (\d) \| ([^|]+) \|").unwrap();
    let module = Regex::new(r"`([a-z_]+)(?:\.rs|/)`").unwrap();
    for page in ["AGENTS.md", "specs/internals/architecture.md"] {
        let text = fs::read_to_string(page).unwrap();
        let mut shown = vec![BTreeSet::new(); LAYERS.len()];
        for found in row.captures_iter(&text) {
            let layer: usize = found[1].parse().unwrap();
            shown[layer].extend(module.captures_iter(&found[2]).map(|module| module[1].to_owned()));
        }
        for (layer, modules) in LAYERS.iter().enumerate() {
            let expected: BTreeSet<String> = modules.iter().map(|module| (*module).to_owned()).collect();
            assert_eq!(shown[layer], expected, "layer {layer} in {page}");
        }
    }
}

/// Returns the groups of files that import one another in a circle, each group in order.
fn cycles() -> BTreeSet<Vec<String>> {
    let imported = imports(&sources());
    let reaches = |from: &Vec<String>| {
        let (mut reached, mut waiting) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = waiting.pop() {
            for file in imported.get(&next).into_iter().flatten() {
                if reached.insert(file.clone()) {
                    waiting.push(file.clone());
                }
            }
        }
        reached
    };
    let reached: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
        imported.keys().map(|file| (file, reaches(file))).collect();
    let in_circle = imported.keys().filter(|file| reached[file].contains(*file));
    let group = |file: &Vec<String>| -> Vec<String> {
        let both = reached[file].iter().filter(|other| reached.get(other).is_some_and(|back| back.contains(file)));
        both.map(|file| file.join("::")).collect()
    };
    in_circle.map(group).collect()
}

#[test]
fn no_files_import_one_another_in_a_circle() {
    assert_eq!(cycles(), BTreeSet::new());
}

#[test]
fn files_are_read_and_written_in_the_store() {
    let names_files = Regex::new(r"\b(std::fs|fs::|File::|read_dir|OpenOptions)\b").unwrap();
    let others = sources().into_iter().filter(|source| source.module != "store" && names_files.is_match(&source.text));
    let others: Vec<String> = others.map(|source| source.path.to_str().unwrap().replace('\\', "/")).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Returns the names that several types share, with the number of types.
fn shared_names() -> Vec<(String, usize)> {
    let definition = Regex::new(r"(?m)^\s*(?:pub(?:\([a-z ]+\))? )?(?:struct|enum|trait|type) ([A-Z]\w+)").unwrap();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources() {
        // Types inside an `impl` belong to their trait.
        for found in definition.captures_iter(&source.text).filter(|found| !found[0].contains("    type ")) {
            *counts.entry(found[1].to_owned()).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 1).collect()
}

#[test]
fn each_type_has_a_name_of_its_own() {
    assert_eq!(shared_names(), []);
}

/// Returns the number of lines of the longest function.
fn longest_function(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let start = Regex::new(r"^(\s*)(?:pub(?:\([a-z ]+\))? )?(?:const |async |unsafe )*fn ").unwrap();
    let length = |(first, line): (usize, &&str)| {
        let indent = start.captures(line)?[1].to_owned();
        // A method of a trait may have no body: its signature ends with `;`.
        let ends = |line: &str| line == "}" || (line.ends_with(';') && !line.starts_with(' '));
        let end = lines.iter().skip(first).position(|line| line.strip_prefix(indent.as_str()).is_some_and(ends))?;
        Some(end + 1)
    };
    lines.iter().enumerate().filter_map(length).max().unwrap_or_default()
}

fn counts() -> Vec<(String, usize)> {
    let sources = sources();
    let of = |pattern: &str| {
        let pattern = Regex::new(pattern).unwrap();
        sources.iter().map(|source| pattern.find_iter(&source.text).count()).sum::<usize>()
    };
    let mut counts: Vec<(String, usize)> =
        BANNED.iter().map(|(name, pattern)| ((*name).to_owned(), of(pattern))).collect();
    counts.push(("names that several types share".to_owned(), shared_names().len()));
    let longest = sources.iter().map(|source| longest_function(&source.text)).max();
    counts.push(("lines of the longest function".to_owned(), longest.unwrap_or_default()));
    // `Mode` and `ReportKind` are former names of kinds of reports.
    let kinds = Regex::new(r"\b(layout::[A-Z]|ReportKind::|Mode::)").unwrap();
    for file in ["human", "json", "prompt", "records"] {
        let source = sources.iter().find(|source| source.path == Path::new("render").join(format!("{file}.rs")));
        let count = source.map_or(0, |source| kinds.find_iter(&source.text).count());
        counts.push((format!("kinds of reports in render/{file}.rs"), count));
    }
    counts
}

/// Prints the counts of the sources in the folder `QIPU_SOURCE`; tests/counts.sh compares those of two commits.
#[test]
#[ignore = "prints and checks nothing"]
#[allow(clippy::print_stdout)]
fn print_counts() {
    let files = walkdir::WalkDir::new(source_folder()).into_iter().map(|entry| entry.unwrap().into_path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let lines: usize = files.map(|path| fs::read_to_string(path).unwrap().lines().count()).sum();
    let types: usize = shared_names().iter().map(|(_, count)| count).sum();
    for (name, count) in counts() {
        println!("{count:>7}  {name}");
    }
    println!("{types:>7}  types with a shared name\n{lines:>7}  lines of src");
}

#[test]
fn the_language_of_the_source_is_that_of_the_field() {
    for (name, count) in counts() {
        let most = match name.as_str() {
            "lines of the longest function" => MAX_FUNCTION_LINES,
            _ if name.starts_with("kinds of reports") => MAX_KINDS,
            _ => 0,
        };
        assert!(count <= most, "{name}: {count}, at most {most}");
    }
}

#[test]
fn files_are_short() {
    for source in sources() {
        let lines = source.whole.lines().count();
        assert!(lines <= MAX_FILE_LINES, "{:?} has {lines} lines, at most {MAX_FILE_LINES}", source.path);
    }
}

#[test]
fn files_open_with_what_they_are_for() {
    for source in sources() {
        assert!(source.text.starts_with("//! "), "{:?} does not say what it is for", source.path);
    }
}

#[test]
fn budgets_and_formats_stay_in_their_modules() {
    for Source { module, path, text, .. } in sources() {
        // These parse what a tool sends, as `cli` parses arguments.
        if !matches!(module.as_str(), "cli" | "request" | "fit" | "mcp" | "hooks") {
            assert!(!text.contains("max_chars") && !text.contains("max_tokens"), "{path:?} names the budget");
        }
        if !matches!(module.as_str(), "cli" | "render" | "mcp" | "hooks") {
            assert!(!text.contains("Format::"), "{path:?} branches on the format");
        }
    }
}

/// Each interface has words of its own for what helps. Commands of git, and comments of files that `init` writes, may have
/// flags.
#[test]
fn messages_of_the_store_name_no_flag() {
    let text = Regex::new(r#""(?:[^"\\]|\\.)*""#).unwrap();
    let flag = Regex::new(r#"[\s`"]--[a-z]"#).unwrap();
    let of_git = Regex::new("`git [^`]*`").unwrap();
    for source in sources().iter().filter(|source| source.module == "store" && !source.path.starts_with("store/git")) {
        let code =
            source.text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        for found in text.find_iter(&code).flat_map(|text| text.as_str().lines()) {
            let is_comment = found.trim_start_matches(['"', ' ']).starts_with('#');
            assert!(
                is_comment || !flag.is_match(&of_git.replace_all(found, "")),
                "{:?} names a flag: {found}",
                source.path
            );
        }
    }
}

#[test]
fn main_is_short() {
    let main = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/main.rs")).unwrap();
    assert!(main.lines().count() <= 50);
}
