//! Files of projects and other programs: settings of agent tools, vaults and bundles, packs, code that notes refer to.

use std::fs;

use sha2::{Digest, Sha256};

use super::input::Input;
use super::world::{Outcome, World, expect_no_control};

/// The files that recipes edit, each with a recipe that does.
const EDITED: [(&str, &str); 17] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("cursor", ".cursor/hooks.json"),
    ("copilot", ".github/hooks/qipu.json"),
    ("mcp", ".mcp.json"),
    ("mcp", ".cursor/mcp.json"),
    ("mcp", ".vscode/mcp.json"),
    ("opencode", "opencode.jsonc"),
    ("opencode", "opencode.json"),
    ("aider", ".aider.conf.yml"),
    ("codex", ".codex/config.toml"),
    ("agents-md", "AGENTS.md"),
    ("claude", "CLAUDE.md"),
    ("gemini", "GEMINI.md"),
    ("cursor", ".cursor/rules/qipu.mdc"),
    ("zed", ".rules"),
];

/// Expects that a call that failed wrote nothing, and returns whether it succeeded.
fn is_done(world: &World, args: &[&str]) -> (bool, Outcome) {
    let before = world.tree();
    let outcome = world.call(args, "");
    expect_no_control(&outcome.text);
    if !outcome.is_ok() {
        assert_eq!(world.tree(), before, "{args:?} failed and wrote something");
    }
    (outcome.is_ok(), outcome)
}

/// Whatever a tool's file looks like: a recipe is installed once, what is not its own stays, and removed it leaves the bytes
/// that were there.
pub(crate) fn setup(data: &[u8]) {
    let mut input = Input::new(data);
    let (recipe, path) = input.choose(&EDITED);
    let text = input.bytes();
    let world = World::with_store(&[]);
    world.write(path, text);
    let before = world.tree();
    let (_, preview) = is_done(&world, &["setup", recipe, "--dry-run"]);
    assert_eq!(world.tree(), before, "a dry run wrote something");
    let (is_installed, _) = is_done(&world, &["setup", recipe]);
    if !is_installed {
        assert!(!preview.is_ok(), "the dry run promised what is refused");
        return;
    }
    let installed = world.tree();
    let (is_current, check) = is_done(&world, &["setup", recipe, "--check"]);
    assert!(is_current, "{recipe}: {}", check.text);
    assert!(is_done(&world, &["setup", recipe]).0);
    assert_eq!(world.tree(), installed, "twice is once");
    let has_own = text.windows(4).any(|window| window.eq_ignore_ascii_case(b"qipu"));
    let (is_removed, removal) = is_done(&world, &["setup", recipe, "--remove"]);
    if !has_own {
        assert!(is_removed, "what was installed can't be removed: {}", removal.text);
        assert_eq!(world.tree(), before, "{recipe} {path} is not as it was");
    }
}

/// Names of files in a folder of Markdown.
const PAGES: [&str; 6] = [
    "pages/One page.md",
    "daily/2025-03-05.md",
    "concepts/two.mdx",
    "Deep/Über Ordner/three.md",
    "index.md",
    "pic.png",
];

/// Any folder is imported, or refused without a trace; it stays, and a second import changes nothing.
pub(crate) fn import(data: &[u8]) {
    let mut input = Input::new(data);
    let is_vault = input.choose(&["obsidian", "markdown"]) == "obsidian";
    let world = World::with_store(&[]);
    if is_vault {
        world.write("source/.obsidian/app.json", b"{}");
    }
    for (part, path) in input.parts(PAGES.len()).into_iter().zip(PAGES) {
        world.write(&format!("source/{path}"), part);
    }
    let outside = world.tree_outside_store();
    let before = world.tree();
    let is_promised = is_done(&world, &["import", "source", "--dry-run"]).0;
    assert_eq!(world.tree(), before, "a dry run wrote something");
    let (is_imported, first) = is_done(&world, &["import", "source"]);
    assert_eq!(is_imported, is_promised, "{:?}", first.error.map(|error| error.message));
    assert_eq!(world.tree_outside_store(), outside, "the source changed");
    if !is_imported {
        return;
    }
    let imported = world.tree();
    let again = world.call(&["import", "source"], "");
    assert_eq!(world.tree(), imported, "a second import changed something: {}", again.text);
    let list = world.call(&["list", "--json"], "");
    assert!(list.is_ok() && serde_json::from_str::<serde_json::Value>(&list.text).is_ok(), "{}", list.text);
}

/// A pack is what it is written as; loading one writes to the store alone, and a second time nothing.
pub(crate) fn pack(data: &[u8]) {
    let mut input = Input::new(data);
    let strategy = input.choose(&["skip", "rename", "overwrite", "merge"]);
    let has_own_end = input.number(4) == 3;
    let mut bytes = input.bytes().to_vec();
    if !has_own_end {
        let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.extend(format!("END sha256={digest}\n").into_bytes());
    }
    let parsed = qipu::pack::parse(&bytes);
    match &parsed {
        Ok(pack) => assert_eq!(qipu::pack::write(pack).trim_end().as_bytes(), bytes.trim_ascii_end()),
        Err(error) => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!(error.line <= lines && !error.reason.is_empty(), "line {} of {lines}", error.line);
        }
    }
    let world = World::with_store(&[("notes/a.md", b"---\nid: a\ntitle: A\n---\nText of [[b]].\n")]);
    fs::write(world.project().join("x.pack"), &bytes).unwrap();
    let outside = world.tree_outside_store();
    let (is_loaded, _) = is_done(&world, &["load", "x.pack", "--strategy", strategy]);
    assert!(!is_loaded || parsed.is_ok(), "what is no pack was loaded");
    assert_eq!(world.tree_outside_store(), outside, "something was written outside of the store");
    if is_loaded && matches!(strategy, "skip" | "overwrite" | "merge") {
        let loaded = world.tree();
        let again = world.call(&["load", "x.pack", "--strategy", strategy], "");
        assert_eq!(world.tree(), loaded, "a second time changed something: {}", again.text);
    }
}

/// References to code are checked whatever they are and whatever the code is; what `--fix` wrote it does not write again.
pub(crate) fn stale(data: &[u8]) {
    let mut input = Input::new(data);
    let format = input.choose(&["human", "json", "records"]);
    let parts = input.parts(4);
    let part = |index: usize| parts.get(index).copied().unwrap_or_default();
    let fields = [b"---\nid: a\ntitle: A\ncode:\n".as_slice(), part(0), b"\n---\n", part(1)].concat();
    let world = World::with_store(&[("notes/a.md", &fields), ("notes/b.md", part(1))]);
    world.write("src/a.rs", part(2));
    world.write("src/b.py", part(3));
    let before = world.tree();
    let answer = world.call(&["review", "--kind", "code,due", "--format", format], "");
    expect_no_control(&answer.text);
    assert_eq!(world.call(&["review", "--kind", "code,due", "--format", format], "").text, answer.text);
    assert_eq!(world.tree(), before);
    for target in ["src/a.rs", "src/b.py:1", "src/a.rs#main", "src/"] {
        expect_no_control(&world.call(&["about", target, "--max-chars", "800"], "").text);
    }
    if is_done(&world, &["review", "--kind", "code", "--fix"]).0 {
        let fixed = world.tree();
        world.call(&["review", "--kind", "code", "--fix"], "");
        assert_eq!(world.tree(), fixed, "what was fixed was fixed again");
    }
}
