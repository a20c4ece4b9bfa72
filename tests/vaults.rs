//! Vaults of Obsidian that are read where they lie: which files are notes, and which links lead somewhere.

use std::fs;

use crate::support::files::{path, store, temp_dir, write_in_store};
use crate::support::process::{Answer, call_with_cache};
use tempfile::TempDir;

/// A project whose store has a vault as a source.
struct Vault {
    dir: TempDir,
    cache: TempDir,
}

impl Vault {
    fn new(settings: &str, files: &[(&str, &str)]) -> Self {
        let vault = Self { dir: store(&[]), cache: temp_dir() };
        fs::create_dir_all(vault.dir.path().join("v/.obsidian")).unwrap();
        vault.set(settings);
        files.iter().for_each(|(path, text)| vault.write(path, text));
        vault
    }

    fn set(&self, settings: &str) {
        let config = format!("[[documents]]\npath = \"v\"\nas = \"obsidian\"\n{settings}\n");
        write_in_store(self.dir.path(), "config.toml", config);
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join("v").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn call(&self, args: &[&str]) -> Answer {
        call_with_cache(path(&self.dir), self.cache.path(), args, "")
    }

    fn ids(&self) -> Vec<String> {
        let listed = self.call(&["list", "--sort", "id", "--format", "ids"]);
        assert!(listed.error.is_none(), "{:?}", listed.error);
        listed.stdout.lines().map(str::to_owned).collect()
    }
}

const TEMPLATE: &str = "---\ndate: \"{{date}}\"\n---\n# {{title}}\n\n- [ ] {{title}} task\n";

#[test]
fn templates_are_no_notes_and_no_tasks() {
    let files = [
        ("Templates/Daily.md", TEMPLATE),
        ("meta/forms/Weekly.md", TEMPLATE),
        ("meta/Forms.md", "A page.\n"),
        ("Home.md", "- [ ] water the plants\n"),
    ];
    let vault = Vault::new("", &files);
    assert_eq!(vault.ids(), ["Home", "meta--Forms", "meta--forms--Weekly"]);
    vault.write(".obsidian/templates.json", "{\"folder\": \"/meta/forms/\"}");
    // The folder that the settings name, and no other; also with an index of before.
    assert_eq!(vault.ids(), ["Home", "Templates--Daily", "meta--Forms"]);
    vault.write(".obsidian/plugins/templater-obsidian/data.json", "{\"templates_folder\": \"Templates\"}");
    assert_eq!(vault.ids(), ["Home", "meta--Forms"]);
    assert_eq!(vault.call(&["tasks"]).stdout, "Home:1 [ ] water the plants (Home)\n");
    // Settings of any other form name none.
    vault.write(".obsidian/plugins/templater-obsidian/data.json", "[");
    for settings in ["{\"folder\": \"/\"}", "{\"folder\": 3}", "", "{}", "[]"] {
        vault.write(".obsidian/templates.json", settings);
        assert_eq!(vault.ids(), ["Home", "meta--Forms", "meta--forms--Weekly"], "{settings}");
    }
}

#[test]
fn a_source_excludes_what_its_settings_say() {
    let files = [("a.md", "A.\n"), ("old/b.md", "B.\n"), ("x/old/c.md", "C.\n"), ("x/d-draft.md", "D.\n")];
    let vault = Vault::new("", &files);
    assert_eq!(vault.ids(), ["a", "old--b", "x--d-draft", "x--old--c"]);
    for (exclude, ids) in [
        ("\"old\"", &["a", "x--d-draft", "x--old--c"][..]),
        ("\"/old/\"", &["a", "x--d-draft", "x--old--c"]),
        ("\"**/old\"", &["a", "x--d-draft"]),
        ("\"**/*-draft.md\", \"a.md\"", &["old--b", "x--old--c"]),
        ("\"*\"", &[]),
        ("\"../v/a.md\"", &["a", "old--b", "x--d-draft", "x--old--c"]),
    ] {
        vault.set(&format!("exclude = [{exclude}]"));
        assert_eq!(vault.ids(), ids, "{exclude}");
    }
    vault.set("writable = true\nexclude = [\"title*\"]");
    let refused = vault.call(&["capture", "--title", "Title of a page", "--in", "v"]).error.unwrap();
    assert_eq!(refused.message, "`v` would not read a new file title-of-a-page.md");
    for wrong in ["[\"[\"]".to_owned(), "[\"\"]".to_owned(), format!("[{}]", "\"a\", ".repeat(101))] {
        vault.set(&format!("exclude = {wrong}"));
        let found = vault.call(&["status", "--records"]).stdout;
        assert!(found.contains("code=documents-invalid"), "{wrong}: {found}");
    }
}

/// A link to a file of the vault by its name leads somewhere for all commands alike.
#[test]
fn files_of_a_vault_are_linked_by_name() {
    let text = "See [[Board.canvas]], [[paper.PDF#page=3|p]], [[scans/Photo.png]], [[cans/Photo.png]], [[Gone.canvas]], \
                [[.hidden.pdf]] and [[Nowhere]].\n";
    let vault = Vault::new(
        "writable = true",
        &[
            ("pages/Page.md", text),
            ("pages/Fine.md", "---\nboard: \"[[Board.canvas]]\"\n---\nOnly [[Board.canvas]].\n"),
            ("boards/Board.canvas", "{}"),
            ("boards/Paper.pdf", ""),
            ("x/scans/Photo.png", ""),
            ("x/.hidden.pdf", ""),
        ],
    );
    let lost = ["cans/Photo.png", "Gone.canvas", ".hidden.pdf", "Nowhere"];
    let found = vault.call(&["doctor", "--records"]).stdout;
    let broken: Vec<&str> = found.lines().filter(|line| line.contains("broken-link")).collect();
    assert_eq!(broken.len(), lost.len(), "{found}");
    for command in [&["show", "Page", "--links"][..], &["link", "list", "Page"]] {
        let shown = vault.call(command).stdout;
        let missing = shown.lines().filter(|line| line.contains("(missing)")).count();
        assert_eq!(missing, lost.len(), "{command:?}: {shown}");
        assert!(lost.iter().all(|name| shown.contains(&format!("(missing) {name}"))), "{command:?}: {shown}");
    }
    assert_eq!(vault.call(&["list", "broken", "--format", "ids"]).stdout, "pages--Page\n");
}

/// A reader of a page sees the pages that it embeds. What a note embeds is behind it where the note is named; a draft that the
/// store hides does not get into an answer in this way.
#[test]
fn embedded_pages_follow_the_named_one() {
    let files = [
        ("Rules.md", "First.\n\nA backup is kept for ninety days. ^r1\n\n![[Deep]]\n"),
        ("Deep.md", "Below.\n"),
        ("Plan.md", "---\nstatus: draft\n---\nNot yet.\n"),
        ("Page.md", "The rule is this: ![[Rules#^r1]] ![[Plan]] ![[Gone]] ![[pic.png]] ![[Page#x]]\n\n`![[Deep]]`\n"),
        ("Linking.md", "See [[Rules]].\n"),
    ];
    let vault = Vault::new("[review]\ndrafts = \"hide\"", &files);
    let notes = |args: &[&str]| {
        let shown = vault.call(&[args, &["--format", "ids"]].concat()).stdout;
        shown.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(notes(&["context", "--note", "Page"]), ["Page", "Rules"]);
    assert_eq!(notes(&["ask", "the rule", "--note", "Page"]), ["Page", "Rules"]);
    assert_eq!(notes(&["context", "--note", "Linking"]), ["Linking"]);
    assert_eq!(notes(&["context", "--note", "Rules", "--note", "Page"]), ["Rules", "Page", "Deep"]);
    assert!(vault.call(&["context", "--note", "Page"]).stdout.contains("ninety days"));
}

/// What a vault needs so that one can work in it: templates and canvases are no notes, links by names, aliases, headings and
/// blocks lead somewhere, a refusal says how to allow changes, and a new title renames the file with the links to it.
#[test]
fn a_vault_can_be_worked_in_where_it_lies() {
    let home = "See [[Project Plan]], [[Later|ideas]], ![[Project Plan#Goals]], [[Work/Project Plan#^ship]], \
                ![[pic.png]], [[Board.canvas]] and [map](Work/Project%20Plan.md).\n";
    let vault = Vault::new(
        "",
        &[
            ("Home.md", home),
            ("Work/Project Plan.md", "---\naliases: [PP]\n---\n## Goals\n\nShip it. ^ship\n"),
            ("Ideas/Later.md", "Builds on [[PP]].\n"),
            ("Templates/Daily.md", TEMPLATE),
            ("Work/Board.canvas", "{\"nodes\": []}"),
            ("assets/pic.png", ""),
        ],
    );
    assert_eq!(vault.ids().len(), 3, "{:?}", vault.ids());
    assert!(!vault.call(&["doctor"]).stdout.contains("broken-link"));
    let linking = |name: &str| vault.call(&["list", &format!("links-to = \"{name}\""), "--format", "ids"]).stdout;
    assert_eq!(linking("Project Plan").lines().count(), 2, "{}", linking("Project Plan"));
    let refused = vault.call(&["update", "Later", "--append", "More."]).error.unwrap();
    assert!(refused.hint.unwrap().contains("`writable = true`"));
    vault.set("writable = true");
    let renamed = vault.call(&["update", "Project Plan", "--title", "Road Map", "--in", "v"]);
    assert!(renamed.error.is_none(), "{:?}", renamed.error);
    let read = |path: &str| fs::read_to_string(vault.dir.path().join("v").join(path)).unwrap();
    assert!(read("Work/Road Map.md").contains("aliases: [PP"), "{}", read("Work/Road Map.md"));
    let now = home.replace("Project Plan", "Road Map").replace("Project%20Plan", "Road%20Map");
    assert_eq!((read("Home.md"), read("Ideas/Later.md").as_str()), (now, "Builds on [[PP]].\n"));
    assert!(!vault.call(&["doctor"]).stdout.contains("broken-link"));
}
