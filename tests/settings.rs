//! Settings that name collections: what `init` suggests for them, and which folders they mean.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

use support::world::World;

#[test]
fn the_lines_that_init_prints_make_the_store_read_the_folder() {
    for (folder, marker) in [
        ("docs", ""),
        ("Notes [work]", ".obsidian/x.json"),
        ("a \"b\"  \\c", ".obsidian/x.json"),
        ("n\u{202e}x", ".obsidian/x.json"),
    ] {
        let world = World::empty();
        world.write(".git/HEAD", "");
        world.write(&format!("{folder}/page.md"), "# Page\n");
        if !marker.is_empty() {
            world.write(&format!("{folder}/{marker}"), "");
        }
        let printed = world.answer_in("", &["init"]);
        let lines = printed.lines().skip_while(|line| line.trim() != "[[sources]]");
        let lines: Vec<&str> = lines.take_while(|line| line.starts_with(' ')).collect();
        assert_eq!(lines.len(), 3, "{folder}: {printed}");
        // A path with a wildcard is read as a glob: what is printed is the name.
        let parsed: toml::Value = toml::from_str(&lines.join("\n")).unwrap();
        assert_eq!(parsed["sources"][0]["path"].as_str(), Some(folder), "{printed}");
        world.write(".qipu/config.toml", &lines.join("\n"));
        let listed = world.answer_in("", &["where"]);
        assert!(
            folder.contains('[') || listed.lines().any(|line| line.trim_start().starts_with("1  ")),
            "{folder}: {listed}"
        );
    }
}

#[test]
fn a_store_inside_a_project_counts_before_the_files_beside_it() {
    let world = World::empty();
    for beside in ["config.toml", "notes/x.md", "mocs/x.md", "journals/x.md"] {
        let (name, _) = beside.split_once(['.', '/']).unwrap();
        world.write(&format!("site-{name}/{beside}"), "# A file of the site\n");
        world.write(&format!("site-{name}/.qipu/notes/n.md"), "# In the store\n");
        let listed = world.answer_in("", &["list", "--store", &format!("site-{name}")]);
        assert!(listed.contains("In the store") && !listed.contains("of the site"), "{listed}");
        world.write(".qipu/config.toml", &format!("[[stores]]\npath = \"site-{name}\"\n"));
        assert!(world.answer_in("", &["list"]).contains("In the store"), "{beside}");
    }
}
