//! Settings that name collections: what `init` suggests for them, and which folders they mean.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use std::fs;
use std::path::Path;

use support::process::{Answer, User, call_of_user};

fn write(place: &Path, path: &str, text: &str) {
    let path = place.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Calls the program of a user whose folders are in the same place.
fn call(place: &Path, args: &[&str]) -> Answer {
    let at = |name: &str| place.join(name);
    let user = User { settings: at("settings"), data: at("data"), home: at("home"), cache: None };
    call_of_user(place.to_str().unwrap(), &user, args)
}

fn run(place: &Path, args: &[&str]) -> String {
    let Answer { stdout, error } = call(place, args);
    assert!(error.is_none(), "{args:?}: {error:?}");
    stdout
}

#[test]
fn the_lines_that_init_prints_make_the_store_read_the_folder() {
    for (folder, marker) in [
        ("docs", ""),
        ("Notes [work]", ".obsidian/x.json"),
        ("a \"b\"  \\c", ".obsidian/x.json"),
        ("n\u{202e}x", ".obsidian/x.json"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().canonicalize().unwrap();
        write(&place, ".git/HEAD", "");
        write(&place, &format!("{folder}/page.md"), "# Page\n");
        if !marker.is_empty() {
            write(&place, &format!("{folder}/{marker}"), "");
        }
        let printed = run(&place, &["init"]);
        let lines = printed.lines().skip_while(|line| line.trim() != "[[sources]]");
        let lines: Vec<&str> = lines.take_while(|line| line.starts_with(' ')).collect();
        assert_eq!(lines.len(), 3, "{folder}: {printed}");
        // A path with a wildcard is read as a glob: what is printed is the name.
        let parsed: toml::Value = toml::from_str(&lines.join("\n")).unwrap();
        assert_eq!(parsed["sources"][0]["path"].as_str(), Some(folder), "{printed}");
        write(&place, ".qipu/config.toml", &lines.join("\n"));
        let listed = run(&place, &["where"]);
        assert!(
            folder.contains('[') || listed.lines().any(|line| line.trim_start().starts_with("1  ")),
            "{folder}: {listed}"
        );
    }
}

#[test]
fn a_store_inside_a_project_counts_before_the_files_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().canonicalize().unwrap();
    for beside in ["config.toml", "notes/x.md", "mocs/x.md", "journals/x.md"] {
        let (name, _) = beside.split_once(['.', '/']).unwrap();
        write(&place, &format!("site-{name}/{beside}"), "# A file of the site\n");
        write(&place, &format!("site-{name}/.qipu/notes/n.md"), "# In the store\n");
        let listed = run(&place, &["list", "--store", &format!("site-{name}")]);
        assert!(listed.contains("In the store") && !listed.contains("of the site"), "{listed}");
        write(&place, ".qipu/config.toml", &format!("[[stores]]\npath = \"site-{name}\"\n"));
        assert!(run(&place, &["list"]).contains("In the store"), "{beside}");
    }
}
