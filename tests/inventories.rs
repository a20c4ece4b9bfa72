//! specs/internals/releases.md lists each direct dependency with its features, and each file that depends on the system.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use toml::{Table, Value};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

const PAGE: &str = "specs/internals/releases.md";

/// Returns the features of a dependency in the words of the page.
fn features(specification: &Value) -> String {
    let names = specification.get("features").and_then(Value::as_array).into_iter().flatten();
    let names = names.map(|name| format!("`{}`", name.as_str().unwrap()));
    let has_default = specification.get("default-features").and_then(Value::as_bool).unwrap_or(true);
    let all: Vec<String> = has_default.then(|| "default".to_owned()).into_iter().chain(names).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// Returns the crates of the page with their features: `clap (default, `derive`); strsim` in the second column of a table.
/// Without brackets, a crate has its default features.
fn listed_crates(page: &str) -> Vec<(String, String)> {
    let (_, section) = page.split_once("\n## Dependencies\n").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let crates = rows.filter(|(task, _)| *task != "for").flat_map(|(_, crates)| crates.split("; "));
    let parts = crates.map(|listed| match listed.split_once(" (") {
        Some((name, features)) => (name.to_owned(), features.strip_suffix(')').unwrap().to_owned()),
        None => (listed.to_owned(), "default".to_owned()),
    });
    parts.collect()
}

/// The first specification of a crate counts.
#[test]
fn the_page_of_dependencies_lists_each_of_them() {
    let manifest: Table = read("Cargo.toml").parse().unwrap();
    let targets = manifest["target"].as_table().unwrap().values().map(|target| &target["dependencies"]);
    let tables = [&manifest["dependencies"]].into_iter().chain(targets).chain([&manifest["dev-dependencies"]]);
    let mut expected = BTreeMap::new();
    for (name, specification) in tables.flat_map(|table| table.as_table().unwrap()) {
        let name = specification.get("package").and_then(Value::as_str).unwrap_or(name);
        expected.entry(name.to_owned()).or_insert_with(|| features(specification));
    }
    let listed = listed_crates(&read(PAGE));
    assert_eq!(listed.len(), expected.len(), "a crate is listed twice or not at all");
    assert_eq!(listed.into_iter().collect::<BTreeMap<_, _>>(), expected);
}

/// Else cargo compiles for the tests a second time all that depends on a crate with other features, the program among it.
#[test]
fn crates_for_tests_enable_no_features_in_those_of_the_program() {
    let crates = |edges: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "tree", "--offline", "--locked", "--no-dedupe", "--prefix", "none", "--format", "{p} {f}", "--edges",
        ]);
        let output = cargo.arg(edges).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect::<BTreeSet<String>>()
    };
    let [program, all] = ["normal,build", "normal,build,dev"].map(crates);
    assert!(program.len() > 100, "{program:?}");
    let other: Vec<&String> = program.difference(&all).collect();
    assert!(other.is_empty(), "enable in Cargo.toml what the crates for tests do: {other:?}");
}

/// Returns the versions of crates in a lock file, and the crates on which qipu depends there.
fn locked(path: &str) -> (BTreeMap<String, BTreeSet<String>>, BTreeSet<String>) {
    let lock: Table = read(path).parse().unwrap();
    let (mut versions, mut uses) = (BTreeMap::<String, BTreeSet<String>>::new(), BTreeSet::new());
    for package in lock["package"].as_array().unwrap() {
        let text = |key: &str| package[key].as_str().unwrap().to_owned();
        versions.entry(text("name")).or_default().insert(text("version"));
        if text("name") == "qipu" {
            let names = package["dependencies"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
            // A version follows if there are several.
            uses = names.map(|name| name.split(' ').next().unwrap().to_owned()).collect();
        }
    }
    (versions, uses)
}

/// What is fuzzed is what is shipped. A change of `Cargo.toml` also needs
/// `cp Cargo.lock fuzz && cargo metadata --manifest-path fuzz/Cargo.toml`.
#[test]
fn the_fuzz_targets_have_the_versions_of_the_program() {
    let (program, all_uses) = locked("Cargo.lock");
    let (fuzzed, uses) = locked("fuzz/Cargo.lock");
    let other = fuzzed.iter().filter(|(name, found)| program.get(*name).is_some_and(|all| !found.is_subset(all)));
    assert_eq!(other.collect::<Vec<_>>(), []);
    let manifest: Table = read("Cargo.toml").parse().unwrap();
    let for_tests = manifest["dev-dependencies"].as_table().unwrap();
    let expected: BTreeSet<String> = all_uses.into_iter().filter(|name| !for_tests.contains_key(name)).collect();
    assert_eq!(uses, expected);
}

#[test]
fn the_page_of_systems_lists_each_file_that_depends_on_one() {
    let conditions = r"\bcfg(_attr)?!?\((not\(|any\()*(unix|windows|target_)";
    let interfaces = r"\bstd::os::|\brustix::|\bsignal_hook::|\bMAIN_SEPARATOR\b";
    let depends = Regex::new(&format!("{conditions}|{interfaces}")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for entry in walkdir::WalkDir::new(root.join("src")) {
        let path = entry.unwrap().into_path();
        if path.extension().is_none_or(|extension| extension != "rs") || path.ends_with("crash_tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let is_code = |line: &str| !line.trim_start().starts_with("//");
        if product.lines().any(|line| is_code(line) && depends.is_match(line)) {
            found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
        }
    }
    found.insert("src/store/fs/dir_handle/portable.rs".to_owned());
    let page = read(PAGE);
    let (_, list) = page.split_once("These files depend on the system").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let (in_src, in_store) = list.split_once("in `src/store/`:").unwrap();
    let names = |list: &str, folder: &str| {
        let names = list.split('`').filter(|name| name.ends_with(".rs"));
        names.map(|name| format!("{folder}{name}")).collect::<Vec<_>>()
    };
    let listed = [names(in_src, "src/"), names(in_store, "src/store/")].concat();
    assert_eq!(listed.into_iter().collect::<BTreeSet<String>>(), found);
}
