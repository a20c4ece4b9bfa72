//! Recipes: what is installed is checked, and taken out again to the byte, whatever the user's own files
//! look like.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::files::temp_dir;
use crate::support::process::{Answer, User, call, call_of_user};
use crate::support::world::World;
use tempfile::TempDir;

const RECIPES: [&str; 7] = ["agents-md", "claude", "codex", "gemini", "cursor", "copilot", "mcp"];

fn project(files: &[(&str, &str)]) -> TempDir {
    let dir = temp_dir();
    fs::create_dir(dir.path().join(".git")).unwrap();
    for (path, text) in files {
        let file = dir.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    dir
}

/// Files a user may have, in the odd forms that people give them.
fn own_files() -> Vec<(&'static str, &'static str)> {
    vec![
        ("AGENTS.md", "# Mine\r\n\r\nno line end"),
        ("CLAUDE.md", "a\n\n\n"),
        ("GEMINI.md", ""),
        (
            ".claude/settings.json",
            "// mine\n{ // c, }\n    \"model\": \"opus\",\n    \"hooks\": { \"Stop\": [], \"PreToolUse\": [ ] }, // e\n}\n// end",
        ),
        (
            ".codex/hooks.json",
            "{\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"date\"}]}]}}",
        ),
        (".gemini/settings.json", "{\r\n\t\"theme\": \"x\"\r\n}\r\n"),
        (".cursor/hooks.json", "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"date\"}]}}"),
        (
            ".github/hooks/qipu.json",
            "{\r\n  \"version\": 1,\r\n  \"hooks\": {\r\n    \"sessionStart\": []\r\n  }\r\n}\r\n",
        ),
        (".cursor/rules/mine.mdc", "---\nx: y\n---\n"),
        (".cursor/rules/qipu.mdc", "---\nalwaysApply: false\n---\nmy own words"),
        (".github/copilot-instructions.md", "Be brief."),
        (".mcp.json", "// mine\n{ // c\n\t\"mcpServers\": {\n\t\t\"o\": { \"command\": \"x\" }, // d\n\t},\n}"),
        (".cursor/mcp.json", "{}"),
        (".vscode/mcp.json", "{\r\n    \"inputs\": [],\r\n    \"servers\": {\r\n    }\r\n}\r\n"),
        ("opencode.jsonc", "/* mine */ { \"theme\": \"x\" , }\n\n"),
    ]
}

fn answer(dir: &TempDir, words: &str) -> Answer {
    call(dir.path().to_str().unwrap(), &words.split(' ').collect::<Vec<_>>())
}

fn run(dir: &TempDir, words: &str) -> String {
    let answer = answer(dir, words);
    assert_eq!(answer.code(), 0, "{words}: {:?}", answer.error);
    answer.stdout
}

fn tree(dir: &Path) -> BTreeMap<String, Option<String>> {
    let entries = walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap);
    let look = |entry: walkdir::DirEntry| {
        let inside = entry.path().strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
        (inside, entry.file_type().is_file().then(|| fs::read_to_string(entry.path()).unwrap()))
    };
    entries.map(look).collect()
}

#[test]
fn an_installed_recipe_is_removed_to_the_byte() {
    for files in [Vec::new(), own_files()] {
        for recipe in RECIPES {
            let dir = project(&files);
            let before = tree(dir.path());
            assert_eq!(answer(&dir, &format!("setup {recipe} --check")).code(), 1, "{recipe}");
            assert!(run(&dir, &format!("setup {recipe} --dry-run")).contains("\n+"), "{recipe}");
            assert_eq!(tree(dir.path()), before, "{recipe}: a dry run wrote something");
            assert!(run(&dir, &format!("setup {recipe}")).starts_with(&format!("{recipe}: installed")));
            let installed = tree(dir.path());
            assert!(run(&dir, &format!("setup {recipe} --check")).contains(": current ("));
            assert!(run(&dir, &format!("setup {recipe}")).contains(": current ("));
            assert_eq!(tree(dir.path()), installed, "{recipe}: twice is once");
            assert!(!run(&dir, &format!("setup {recipe} --print")).is_empty());
            assert!(run(&dir, &format!("setup {recipe} --remove")).contains(": removed ("));
            assert_eq!(tree(dir.path()), before, "{recipe}");
            assert!(run(&dir, &format!("setup {recipe} --remove")).contains(": missing ("), "{recipe}");
            assert_eq!(tree(dir.path()), before, "{recipe}");
        }
    }
}

/// Settings as people write them; `m` and `l` are the keys of the map and of a list in it that a recipe extends.
const SETTINGS: [&str; 30] = [
    "",
    "\n",
    "{}",
    "{ }",
    "{\n}",
    "{\n}\n",
    "{\"a\":1}",
    "{ \"a\": 1 }\n",
    "{\n  \"a\": 1\n}\n",
    "{\r\n\t\"a\": 1,\r\n}\r\n",
    "// mine\n{ // c, }\n  // d\n  \"a\": [1, /* x */ 2],\n  \"b\": {}, // e\n}\n// end",
    "{\n\n\n    \"a\": 1}",
    "{\"m\":{}}",
    "{\"m\": { }}",
    "{\"m\": {\"o\": []}}",
    "{\n  \"m\": {}\n}\n",
    "{\n  \"m\": {\n  }\n}\n",
    "{\n  \"m\": {\n    \"o\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
    "{\n  \"m\": { // none yet\n  } , \"n\": { \"qipu\": 1 } }",
    "{\n  \"m\": {\n    \"l\": []\n  }\n}",
    "{\n  \"m\": {\n    \"l\": [\n      {\"hooks\": [{\"command\": \"date\"}]}\n    ]\n  }\n}\n",
    "{\n  \"m\": { /* none yet */ \"l\": [ ] } }",
    "/* only a comment */\n",
    "{\"m\": {\"SessionStart\": [ ], \"sessionStart\": [], \"PreToolUse\":[]}}",
    "// mine\r\n{\r\n  \"m\": { /* none yet */ }, // c\r\n}\r\n",
    "{\"m\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}]}}\n",
    "{\n  \"version\": 1,\n  \"m\": {\n    \"SubagentStart\": [\n    ],\n    \"Stop\": []\n  }\n}",
    "{\n\t\"mcpServers\": {},\n}\n",
    "{\n\t\"hooks\": {},\n}\n",
    "{\"m\": {}, \"other\": {\"m\": 1}}",
];

#[test]
fn settings_in_any_form_come_back_to_the_byte() {
    for (recipe, path, map, list) in [
        ("claude", ".claude/settings.json", "hooks", "SessionStart"),
        ("codex", ".codex/hooks.json", "hooks", "UserPromptSubmit"),
        ("gemini", ".gemini/settings.json", "hooks", "SessionStart"),
        ("cursor", ".cursor/hooks.json", "hooks", "sessionStart"),
        ("copilot", ".github/hooks/qipu.json", "hooks", "sessionStart"),
        ("mcp", ".mcp.json", "mcpServers", "l"),
        ("mcp", "opencode.json", "mcp", "l"),
    ] {
        for settings in SETTINGS {
            let text = settings.replace("\"m\"", &format!("\"{map}\"")).replace("\"l\"", &format!("\"{list}\""));
            let dir = project(&[(path, &text)]);
            let before = tree(dir.path());
            run(&dir, &format!("setup {recipe}"));
            let installed = fs::read_to_string(dir.path().join(path)).unwrap();
            assert!(run(&dir, &format!("setup {recipe} --check")).contains(": current ("), "{recipe} {installed}");
            run(&dir, &format!("setup {recipe} --remove"));
            assert_eq!(tree(dir.path()), before, "{recipe} {installed}");
        }
        let dir = project(&[]);
        fs::write(dir.path().join("GEMINI.md"), "").unwrap();
        if path == "opencode.json" {
            continue;
        }
        run(&dir, &format!("setup {recipe}"));
        let file = dir.path().join(path);
        let added = fs::read_to_string(&file).unwrap().replacen("{\n", "{\n  \"model\": \"x\",\n", 1);
        fs::write(&file, added).unwrap();
        run(&dir, &format!("setup {recipe} --remove"));
        let rest: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(rest["model"], "x", "{recipe} {rest}");
        assert!(rest.get(map).is_none(), "{recipe} {rest}");
    }
}

#[test]
fn text_around_a_section_stays() {
    let dir = project(&[("AGENTS.md", "mine")]);
    let file = dir.path().join("AGENTS.md");
    let edit = |change: &dyn Fn(String) -> String| {
        let text = change(fs::read_to_string(&file).unwrap());
        fs::write(&file, &text).unwrap();
        text
    };
    run(&dir, "setup agents-md");
    edit(&|text| format!("top\n{text}below\n"));
    assert!(run(&dir, "setup agents-md").contains(": current ("));
    run(&dir, "setup agents-md --remove");
    assert_eq!(fs::read_to_string(&file).unwrap(), "top\nmine\nbelow\n");
    // Small edits beside it are no reason to write it again.
    edit(&|_| "# Mine\n".to_owned());
    run(&dir, "setup agents-md");
    let cut = edit(&|text| text.replacen("# Mine\n\n", "# Mine\n", 1).trim_end().to_owned());
    assert!(run(&dir, "setup agents-md").contains(": current ("));
    assert_eq!(fs::read_to_string(&file).unwrap(), cut);
    edit(&|text| text + "\nBelow it.\n");
    run(&dir, "setup agents-md --remove");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Mine\nBelow it.\n");
    // What only looks like a marker is the user's.
    let quoted = "see <!-- qipu:begin --> in docs\n```\n<!-- qipu:begin version=1 -->\nx\n<!-- qipu:end -->\n```\n";
    edit(&|_| quoted.to_owned());
    run(&dir, "setup agents-md");
    run(&dir, "setup agents-md --remove");
    assert_eq!(fs::read_to_string(&file).unwrap(), quoted);
}

#[test]
fn recipes_that_share_a_file_leave_each_other_alone() {
    for files in [Vec::new(), own_files()] {
        let dir = project(&files);
        let before = tree(dir.path());
        RECIPES.iter().for_each(|recipe| drop(run(&dir, &format!("setup {recipe}"))));
        for recipe in RECIPES {
            assert!(run(&dir, &format!("setup {recipe} --check")).contains("current"), "{recipe}");
        }
        for (number, recipe) in RECIPES.iter().enumerate() {
            run(&dir, &format!("setup {recipe} --remove"));
            for rest in &RECIPES[number + 1..] {
                assert!(run(&dir, &format!("setup {rest} --check")).contains("current"), "{recipe} took {rest} along");
            }
        }
        let rest: Vec<_> = tree(dir.path()).into_iter().filter(|file| before.get(&file.0) != Some(&file.1)).collect();
        assert_eq!(rest, [], "something is left");
    }
}

#[test]
fn manual_edits_are_not_overwritten() {
    for (recipe, path, old, new) in [
        ("claude", "CLAUDE.md", "qipu prime", "qipu list"),
        ("claude", ".claude/settings.json", "startup|resume|clear|compact|fork", "startup"),
        ("claude", ".claude/settings.json", "claude PreCompact", "claude PreCompact --verbose"),
        ("codex", ".codex/hooks.json", "\"timeout\": 5", "\"timeout\": 50"),
        ("cursor", ".cursor/hooks.json", "cursor sessionStart", "cursor stop"),
        ("copilot", ".github/hooks/qipu.json", "\"bash\"", "\"cwd\": \"x\", \"bash\""),
        ("codex", ".agents/skills/qipu/SKILL.md", "Before you change", "Before you read"),
        ("mcp", ".mcp.json", "[\"mcp\"]", "[\"mcp\", \"--verbose\"]"),
        ("gemini", ".gemini/settings.json", "gemini BeforeAgent", "gemini BeforeAgent --max-chars 900"),
        ("cursor", ".cursor/rules/qipu.mdc", "look up what", "never look up what"),
    ] {
        let dir = project(&[]);
        let before = tree(dir.path());
        run(&dir, &format!("setup {recipe}"));
        let file = dir.path().join(path);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replacen(old, new, 1)).unwrap();
        let edited = tree(dir.path());
        let check = answer(&dir, &format!("setup {recipe} --check"));
        assert!(check.code() == 1 && check.stdout.contains("edited"), "{recipe}: {}", check.stdout);
        assert!(check.error.unwrap().hint.unwrap().contains("--force"), "{recipe}");
        for words in ["", " --remove"] {
            let refused = answer(&dir, &format!("setup {recipe}{words}"));
            assert!(refused.code() == 1 && refused.error.unwrap().message.contains("by hand"), "{recipe}{words}");
            assert_eq!(tree(dir.path()), edited, "{recipe}{words}");
        }
        run(&dir, &format!("setup {recipe} --force"));
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{recipe}");
        fs::write(&file, text.replacen(old, new, 1)).unwrap();
        run(&dir, &format!("setup {recipe} --remove --force"));
        assert_eq!(tree(dir.path()), before, "{recipe}");
    }
}

#[test]
fn the_recipes_that_fit_are_found_and_installed() {
    let dir = project(&[("CLAUDE.md", "x\n"), (".cursorrules", "y\n")]);
    let list = run(&dir, "setup");
    let fitting: Vec<_> = list.lines().filter(|line| line.ends_with("; fits this project")).collect();
    assert!(
        fitting.len() == 2 && fitting[0].starts_with("claude: missing") && fitting[1].starts_with("cursor"),
        "{list}"
    );
    let done = run(&dir, "setup --all-detected");
    assert_eq!(done.lines().filter(|line| line.contains(": installed (")).count(), 2, "{done}");
    let files = [
        "changed CLAUDE.md",
        "created .claude/settings.json",
        "created .cursor/rules/qipu.mdc",
        "created .cursor/hooks.json",
    ];
    assert!(files.iter().all(|file| done.contains(&format!("\n{file}\n"))), "{done}");
    let last = "\ncreated .claude/skills/qipu/SKILL.md\n\nThere is no store yet: `qipu init` creates one.\n";
    assert!(done.ends_with(last), "{done}");
    assert!(
        dir.path().join(".claude/skills/qipu/SKILL.md").exists() && dir.path().join(".cursor/rules/qipu.mdc").exists()
    );
    let json: serde_json::Value = serde_json::from_str(&run(&dir, "setup --json")).unwrap();
    assert_eq!((&json["recipes"][1]["fits"], &json["recipes"][2]["fits"]), (&true.into(), &false.into()));
}

#[test]
fn invalid_setups_are_refused_without_writing() {
    for (recipe, path, text, said) in [
        ("claude", ".claude/settings.json", "{\"hooks\": 3}", "`hooks` is not an object"),
        ("claude", ".claude/settings.json", "not json", "not JSON"),
        ("mcp", ".mcp.json", "[1]", "not a JSON object"),
        ("mcp", ".vscode/mcp.json", "{\"servers\": []}", "`servers` is not an object"),
        ("mcp", "opencode.json", "{\"mcp\": {\"qipu\": {\"enabled\": false}}}", "by hand"),
        ("claude", ".claude/settings.json", "{\"hooks\": {}, \"hooks\": {}}", "`hooks` occurs 2 times"),
        ("claude", ".claude/settings.json", "{\"hooks\": {\"SessionStart\": {}}}", "`SessionStart` is not an array"),
        (
            "claude",
            ".claude/settings.json",
            "{\"hooks\": {\"SessionStart\": [], \"SessionStart\": []}}",
            "occurs 2 times",
        ),
        ("claude", ".claude/settings.json", "{", "not JSON"),
        ("claude", ".claude/settings.json", &"[".repeat(100_000), "not JSON"),
        ("mcp", ".mcp.json", &"[".repeat(100_000), "not JSON"),
        ("mcp", ".mcp.json", "{\"mcpServers\": {\"qipu\": 1, \"qipu\": 2}}", "`qipu` occurs 2 times"),
        ("mcp", ".mcp.json", "{\"mcpServers\": {\"qipu\": 1 /* c */}}", "by hand"),
        ("gemini", "GEMINI.md", "<!-- qipu:begin version=1 -->\nhalf\n", "damaged"),
        ("gemini", "GEMINI.md", "<!-- qipu:end -->\ntext\n<!-- qipu:begin version=1 -->\n", "damaged"),
        (
            "gemini",
            "GEMINI.md",
            "<!-- qipu:begin -->\n# My own rules\n<!-- qipu:begin -->\nx\n<!-- qipu:end -->\n",
            "damaged",
        ),
        (
            "gemini",
            "GEMINI.md",
            "<!-- qipu:begin -->\nx\n<!-- qipu:end -->\n\n<!-- qipu:begin -->\nx\n<!-- qipu:end -->\n",
            "damaged",
        ),
        ("gemini", "GEMINI.md", "<!-- qipu:begin -->\nx\n<!-- qipu:end --> my words\n", "damaged"),
    ] {
        let dir = project(&[(path, text)]);
        let before = tree(dir.path());
        let refused = answer(&dir, &format!("setup {recipe}"));
        assert_eq!((refused.code(), refused.stdout.as_str()), (1, ""), "{recipe}");
        assert!(refused.error.unwrap().to_text(false).contains(said), "{recipe}: {said}");
        assert_eq!(tree(dir.path()), before, "{recipe}");
    }
    let dir = project(&[]);
    let outside = temp_dir();
    symlink(outside.path(), dir.path().join(".cursor")).unwrap();
    assert_eq!(answer(&dir, "setup cursor").code(), 1);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// Returns the one server of qipu that a file names, under a tool's key.
fn server(dir: &TempDir, path: &str, key: &str) -> serde_json::Value {
    let text = fs::read_to_string(dir.path().join(path)).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    settings[key]["qipu"].clone()
}

#[test]
fn each_tool_gets_the_server_in_its_own_format() {
    let plain = serde_json::json!({"command": "qipu", "args": ["mcp"]});
    let dir = project(&[]);
    run(&dir, "setup mcp");
    assert_eq!(tree(dir.path()).keys().collect::<Vec<_>>(), ["", ".git", ".mcp.json"], "no sign of any tool");
    assert_eq!(server(&dir, ".mcp.json", "mcpServers"), plain);
    let signs = [(".cursorrules", ""), (".vscode/settings.json", "{}"), ("GEMINI.md", ""), (".opencode/a.md", "")];
    let dir = project(&signs);
    let before = tree(dir.path());
    run(&dir, "setup mcp");
    for (path, key) in
        [(".mcp.json", "mcpServers"), (".cursor/mcp.json", "mcpServers"), (".gemini/settings.json", "mcpServers")]
    {
        assert_eq!(server(&dir, path, key), plain, "{path}");
    }
    let typed = serde_json::json!({"type": "stdio", "command": "qipu", "args": ["mcp"]});
    assert_eq!(server(&dir, ".vscode/mcp.json", "servers"), typed);
    let local = serde_json::json!({"type": "local", "command": ["qipu", "mcp"], "enabled": true});
    assert_eq!(server(&dir, "opencode.json", "mcp"), local);
    fs::write(dir.path().join(".vscode/mcp.json"), "{}").unwrap();
    let check = answer(&dir, "setup mcp --check");
    assert_eq!(check.error.unwrap().message, "the server in .vscode/mcp.json is missing");
    run(&dir, "setup mcp");
    run(&dir, "setup mcp --remove");
    fs::remove_file(dir.path().join(".vscode/mcp.json")).unwrap();
    assert_eq!(tree(dir.path()), before);
    // An empty folder would go with the file that is made in it.
    let dir = project(&[]);
    fs::create_dir(dir.path().join(".vscode")).unwrap();
    let before = tree(dir.path());
    run(&dir, "setup mcp");
    run(&dir, "setup mcp --remove");
    assert_eq!(tree(dir.path()), before);
}

/// Sets recipes up in each order, and takes them out in another.
fn in_any_order<const N: usize>(recipes: [&str; N], project: impl Fn() -> TempDir) {
    let orders = orders(&recipes);
    for (number, order) in orders.iter().enumerate() {
        // Two recipes are taken out in both orders, more in one that is far from that of the way in.
        let backs = if N == 2 { vec![0, 1] } else { vec![(number * 5 + 1) % orders.len()] };
        for back in backs.into_iter().map(|at| &orders[at]) {
            let dir = project();
            let before = tree(dir.path());
            order.iter().for_each(|recipe| drop(run(&dir, &format!("setup {recipe}"))));
            for (number, recipe) in back.iter().enumerate() {
                assert!(run(&dir, &format!("setup {recipe} --remove")).contains("removed"), "{order:?} {back:?}");
                for rest in &back[number + 1..] {
                    let check = run(&dir, &format!("setup {rest} --check"));
                    assert!(check.contains("current"), "{order:?} {back:?}: {recipe} took {rest} along");
                }
            }
            assert_eq!(tree(dir.path()), before, "{order:?} {back:?}");
        }
    }
}

fn orders<'a>(words: &[&'a str]) -> Vec<Vec<&'a str>> {
    if words.is_empty() {
        return vec![Vec::new()];
    }
    let begun_with = |at: usize| {
        let rest = [&words[..at], &words[at + 1..]].concat();
        orders(&rest).into_iter().map(move |order| [vec![words[at]], order].concat())
    };
    (0..words.len()).flat_map(begun_with).collect()
}

#[test]
fn a_hook_and_a_server_in_one_file_are_installed_and_removed_in_any_order() {
    let settings = ".gemini/settings.json";
    for own in [
        vec![("GEMINI.md", "x\n")],
        vec![(settings, "")],
        vec![(settings, "// mine\n")],
        vec![(settings, "{}")],
        vec![(settings, "{\n}\n")],
        vec![(settings, "{\n  \"hooks\": {},\n  \"mcpServers\": {\n  }\n}\n")],
        vec![(settings, "{ \"mcpServers\": {\"o\": {}}, \"hooks\": {\"SessionStart\": []} }")],
    ] {
        in_any_order(["gemini", "mcp"], || project(&own));
    }
}

/// Makes a project in which two files of instructions lead to a third.
fn linked(there: &str, links: [&str; 2]) -> TempDir {
    let dir = project(&[(there, "# Mine\n\nno line end"), (".gemini/settings.json", "{}")]);
    links.iter().for_each(|name| symlink(there, dir.path().join(name)).unwrap());
    dir
}

#[test]
fn recipes_whose_files_are_one_file_share_its_section() {
    in_any_order(["claude", "gemini", "codex", "agents-md"], || linked("AGENTS.md", ["CLAUDE.md", "GEMINI.md"]));
    in_any_order(["claude", "gemini", "agents-md"], || linked("CLAUDE.md", ["AGENTS.md", "GEMINI.md"]));
    let dir = project(&[("AGENTS.md", "")]);
    symlink("AGENTS.md", dir.path().join("CLAUDE.md")).unwrap();
    ["claude", "agents-md"].iter().for_each(|recipe| drop(run(&dir, &format!("setup {recipe}"))));
    let text = fs::read_to_string(dir.path().join("AGENTS.md")).unwrap();
    assert_eq!(text.matches("qipu:begin").count(), 1, "{text}");
    // Skills may be shared as well.
    in_any_order(["claude", "codex"], || {
        let dir = project(&[(".agents/skills/mine/SKILL.md", "x"), (".claude/x", "")]);
        symlink("../.agents/skills", dir.path().join(".claude/skills")).unwrap();
        dir
    });
}

#[test]
fn existing_folders_stay_and_created_ones_are_removed() {
    let with_folder = |folder: &str, files: &[(&str, &str)]| {
        let dir = project(files);
        fs::create_dir(dir.path().join(folder)).unwrap();
        dir
    };
    in_any_order(["copilot", "cursor"], || with_folder(".github", &[]));
    in_any_order(["cursor", "mcp"], || with_folder(".cursor", &[]));
    in_any_order(["cursor", "mcp"], || project(&[(".cursorrules", "x")]));
    in_any_order(["cursor", "mcp"], || with_folder(".cursor", &[(".cursorrules", "x")]));
    in_any_order(["gemini", "mcp"], || with_folder(".gemini", &[]));
    in_any_order(["gemini", "mcp"], || with_folder(".gemini", &[("GEMINI.md", "x")]));
    in_any_order(["gemini", "mcp"], || project(&[("GEMINI.md", "x")]));
    in_any_order(["mcp", "claude"], || with_folder(".vscode", &[]));
    in_any_order(["claude", "codex"], || with_folder(".claude", &[(".agents/x", "")]));
}

/// The section had stored that the folder is made, and the command ended before the file in it was written.
#[test]
fn the_folder_of_an_interrupted_installation_is_removed() {
    for (recipe, folder) in [("claude", ".claude"), ("codex", ".codex"), ("gemini", ".gemini")] {
        let dir = project(&[("AGENTS.md", "# Mine\n")]);
        let before = tree(dir.path());
        run(&dir, &format!("setup {recipe}"));
        fs::remove_dir_all(dir.path().join(folder)).unwrap();
        fs::create_dir(dir.path().join(folder)).unwrap();
        run(&dir, &format!("setup {recipe}"));
        run(&dir, &format!("setup {recipe} --remove"));
        assert_eq!(tree(dir.path()), before, "{recipe}");
    }
}

/// A link that came with a repository must not lead to files of version control, of the store, or outside.
#[test]
fn links_to_files_that_are_no_instructions_are_refused() {
    let targets = [".git", ".GIT", ".git/hooks", ".hg", "data", ".qipu", ".qipu/notes", "qipu/notes", "../outside"];
    for target in targets {
        for (recipe, link) in [
            ("agents-md", "AGENTS.md"),
            ("claude", "CLAUDE.md"),
            ("claude", ".claude"),
            ("claude", ".claude/skills"),
            ("claude", ".claude/settings.json"),
            ("codex", ".agents"),
            ("gemini", ".gemini/settings.json"),
            ("cursor", ".cursor/rules"),
            ("copilot", ".github"),
            ("copilot", ".github/hooks/qipu.json"),
            ("cursor", ".cursor/hooks.json"),
            ("mcp", ".mcp.json"),
            ("mcp", ".vscode/mcp.json"),
        ] {
            let outside = project(&[]);
            fs::create_dir(outside.path().join("outside")).unwrap();
            let dir = outside.path().join("project");
            for folder in [".git/hooks", ".GIT", ".hg", "data/objects", "data/refs", ".qipu/notes", "qipu/notes"] {
                fs::create_dir_all(dir.join(folder)).unwrap();
            }
            for file in ["data/HEAD", ".vscode/x", "qipu/config.toml", ".qipu/config.toml"] {
                fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
                fs::write(dir.join(file), "").unwrap();
            }
            // A file is linked to a file in there.
            let is_file = link.rsplit('/').next().unwrap().trim_start_matches('.').contains('.');
            let goal = if is_file { format!("{target}/config.md") } else { target.to_owned() };
            if is_file {
                fs::write(dir.join(&goal), "").unwrap();
            }
            let link = dir.join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(dir.join(&goal), &link).unwrap();
            let before = tree(outside.path());
            for words in ["", " --dry-run", " --force", " --check", " --remove"] {
                let refused =
                    call(dir.to_str().unwrap(), &format!("setup {recipe}{words}").split(' ').collect::<Vec<_>>());
                assert_eq!(refused.code(), 1, "{recipe}{words}: {} -> {goal}", link.display());
            }
            assert_eq!(tree(outside.path()), before, "{recipe}: {} -> {goal}", link.display());
        }
    }
}

#[test]
fn all_recipes_are_removed_at_once() {
    for files in [Vec::new(), own_files()] {
        let dir = project(&files);
        let before = tree(dir.path());
        assert_eq!(run(&dir, "setup --remove"), "\nqipu is not set up here.\n");
        RECIPES.iter().for_each(|recipe| drop(run(&dir, &format!("setup {recipe}"))));
        assert!(run(&dir, "setup --remove --dry-run").contains("\n-"));
        let told = run(&dir, "setup --remove");
        assert_eq!(told.matches(": removed (").count(), RECIPES.len(), "{told}");
        assert_eq!(tree(dir.path()), before);
    }
}

#[test]
fn a_project_without_agents_is_reported() {
    let dir = project(&[]);
    assert!(run(&dir, "setup --all-detected").contains("`qipu setup agents-md`"));
    let dir = project(&[("AGENTS.md", "x")]);
    assert!(!run(&dir, "setup --all-detected").contains("No agent tool"));
}

/// Settings that look like ours and run something else are never called current.
#[test]
fn forged_settings_are_not_current() {
    let forms = [("qipu hook claude SessionStart", "startup|resume|clear|compact|fork")];
    let entries = forms.map(|(command, matcher)| {
        let matcher = format!(r#""matcher":"{matcher}""#);
        let ours = format!(r#"{{"type":"command","command":"{command}"}}"#);
        [
            format!(r#"{{{matcher},"hooks":[{{"type":"command","command":"{command}; evil"}}]}}"#),
            format!(r#"{{{matcher},"hooks":[{ours},{{"type":"command","command":"evil"}}]}}"#),
            format!(r#"{{{matcher},"hooks":[{{"type":"command","command":"{command}","command":"evil"}}]}}"#),
            format!(r#"{{{matcher},"hooks":[{{"type":"command","command":"{command}","c\u006fmmand":"evil"}}]}}"#),
            format!(r#"{{{matcher},"hooks":[{ours}],"hooks":["evil"]}}"#),
            format!(r#"{{{matcher},"hooks":[{{"type":"command","command":"{command}","env":"evil"}}]}}"#),
        ]
    });
    for entry in entries.iter().flatten() {
        let dir = project(&[]);
        run(&dir, "setup claude");
        let text = format!(r#"{{"hooks":{{"SessionStart":[{entry}]}}}}"#);
        fs::write(dir.path().join(".claude/settings.json"), text).unwrap();
        assert_eq!(answer(&dir, "setup claude --check").code(), 1, "{entry}");
        assert_eq!(answer(&dir, "setup claude").code(), 1, "{entry}");
    }
    for servers in [
        r#"{"qipu":{"command":"evil","args":["mcp"]}}"#,
        r#"{"qipu":{"command":"qipu","args":["mcp"],"env":{"LD_PRELOAD":"./evil.so"}}}"#,
        r#"{"qipu":{"command":"qipu","args":["mcp"]},"qipu":{"command":"evil"}}"#,
        r#"{"qipu":{"command":"qipu","args":["mcp"]},"q\u0069pu":{"command":"evil"}}"#,
        r#"{"qipu":{"command":"qipu","args":["mcp"],"c\u006fmmand":"evil"}}"#,
    ] {
        let dir = project(&[(".mcp.json", &format!(r#"{{"mcpServers":{servers}}}"#))]);
        assert_eq!(answer(&dir, "setup mcp --check").code(), 1, "{servers}");
        assert_eq!(answer(&dir, "setup mcp").code(), 1, "{servers}");
    }
}

#[test]
fn recipes_set_up_concurrently_are_all_installed() {
    let recipes = ["agents-md", "codex"];
    let dir = project(&[("AGENTS.md", "# Mine\n\ntext\n")]);
    let before = tree(dir.path());
    for words in ["", " --remove"] {
        std::thread::scope(|scope| {
            for recipe in recipes {
                let dir = &dir;
                scope.spawn(move || run(dir, &format!("setup {recipe}{words}")));
            }
        });
        for recipe in recipes {
            let is_there = answer(&dir, &format!("setup {recipe} --check")).code() == 0;
            assert_eq!(is_there, words.is_empty(), "{recipe}{words}");
        }
    }
    assert_eq!(tree(dir.path()), before);
}

#[test]
fn no_claude_md_is_created_that_hides_agents_md() {
    let section = |dir: &TempDir, path: &str| {
        fs::read_to_string(dir.path().join(path)).is_ok_and(|text| text.contains("qipu:begin"))
    };
    for (files, path) in [
        (vec![("AGENTS.md", "# Mine\n")], "AGENTS.md"),
        (vec![("AGENTS.md", "")], "AGENTS.md"),
        (vec![], "CLAUDE.md"),
        (vec![("CLAUDE.md", "x")], "CLAUDE.md"),
        (vec![("CLAUDE.md", "x"), ("AGENTS.md", "# Mine\n")], "CLAUDE.md"),
        (vec![("CLAUDE.md", "@AGENTS.md\n\nx"), ("AGENTS.md", "# Mine\n")], "AGENTS.md"),
        (vec![("CLAUDE.md", "See @./AGENTS.md\n"), ("AGENTS.md", "# Mine\n")], "AGENTS.md"),
        (vec![("CLAUDE.md", "Read AGENTS.md.\n"), ("AGENTS.md", "# Mine\n")], "CLAUDE.md"),
        (vec![("CLAUDE.md", "@AGENTS.md\n")], "CLAUDE.md"),
        (vec![("CLAUDE.md", "`a` @AGENTS.md <!-- b -->\n"), ("AGENTS.md", "# Mine\n")], "AGENTS.md"),
        // Claude Code finds no import in code or in a comment.
        (vec![("CLAUDE.md", "```\n@AGENTS.md\n```\n"), ("AGENTS.md", "# Mine\n")], "CLAUDE.md"),
        (vec![("CLAUDE.md", "x\n\n    @AGENTS.md\n"), ("AGENTS.md", "# Mine\n")], "CLAUDE.md"),
        (vec![("CLAUDE.md", "` @AGENTS.md `\n"), ("AGENTS.md", "# Mine\n")], "CLAUDE.md"),
        (vec![("CLAUDE.md", "<!--\n@AGENTS.md\n-->\n"), ("AGENTS.md", "# Mine\n")], "CLAUDE.md"),
        (vec![("CLAUDE.md", "a <!-- @AGENTS.md --> b\n"), ("AGENTS.md", "# Mine\n")], "CLAUDE.md"),
        (vec![(".claude/CLAUDE.md", "x"), ("AGENTS.md", "# Mine\n")], "CLAUDE.md"),
    ] {
        let dir = project(&files);
        let before = tree(dir.path());
        let told = run(&dir, "setup claude");
        assert!(told.starts_with(&format!("claude: installed ({path}): ")), "{files:?}: {told}");
        for other in ["CLAUDE.md", "AGENTS.md"] {
            assert_eq!(section(&dir, other), other == path, "{files:?}: {other}");
        }
        assert!(run(&dir, "setup claude --check").contains("current"));
        // The list names all files that were written, and no others.
        let changed =
            tree(dir.path()).into_iter().filter(|(path, text)| text.is_some() && before.get(path) != Some(text));
        let changed: Vec<String> = changed.map(|(path, _)| path).collect();
        let written = told.lines().skip(1).take_while(|line| !line.is_empty());
        let mut listed: Vec<&str> = written.filter_map(|line| Some(line.split_once(' ')?.1)).collect();
        listed.sort_unstable();
        assert_eq!(listed, changed, "{told}");
        assert!(run(&dir, "setup claude --remove").starts_with(&format!("claude: removed ({path})")));
        assert_eq!(tree(dir.path()), before, "{files:?}");
    }
}

/// A CLAUDE.local.md is one user's own: it changes neither the file of the section nor its state, and a remark names the
/// line that imports AGENTS.md.
#[test]
fn a_claude_local_md_that_hides_agents_md_gets_a_remark() {
    let remark = "Claude Code does not read AGENTS.md beside your CLAUDE.local.md: a line `@AGENTS.md` in \
                  CLAUDE.local.md imports it.";
    let agents = ("AGENTS.md", "# Mine\n");
    for (files, path, is_hidden) in [
        (vec![agents, ("CLAUDE.local.md", "x\n")], "AGENTS.md", true),
        (vec![agents, ("CLAUDE.local.md", "`@AGENTS.md`\n")], "AGENTS.md", true),
        (vec![agents, ("CLAUDE.local.md", "@AGENTS.md\n")], "AGENTS.md", false),
        (vec![agents, ("CLAUDE.local.md", "x\n"), ("CLAUDE.md", "@AGENTS.md\n")], "AGENTS.md", false),
        (vec![agents, ("CLAUDE.local.md", "x\n"), ("CLAUDE.md", "x\n")], "CLAUDE.md", false),
        (vec![agents], "AGENTS.md", false),
        (vec![("CLAUDE.local.md", "x\n")], "CLAUDE.md", false),
    ] {
        let dir = project(&files);
        let before = tree(dir.path());
        assert!(!answer(&dir, "setup claude --check").stdout.contains(remark), "there is no section");
        let told = run(&dir, "setup claude");
        assert!(told.starts_with(&format!("claude: installed ({path})")), "{told}");
        for told in [told, run(&dir, "setup claude"), run(&dir, "setup claude --check")] {
            assert_eq!(told.contains(remark), is_hidden, "{files:?}: {told}");
        }
        assert!(!run(&dir, "setup cursor").contains(remark), "it is about another recipe");
        run(&dir, "setup --remove");
        assert_eq!(tree(dir.path()), before);
    }
    let dir = project(&[agents]);
    symlink("AGENTS.md", dir.path().join("CLAUDE.local.md")).unwrap();
    assert!(!run(&dir, "setup claude").contains(remark), "it is AGENTS.md");
    // A file that can't be read is no reason to fail.
    let dir = project(&[agents]);
    symlink("/nowhere/CLAUDE.md", dir.path().join("CLAUDE.local.md")).unwrap();
    assert!(run(&dir, "setup claude").contains(remark));
}

#[test]
fn a_claude_md_of_ours_that_comes_to_hide_agents_md_is_replaced() {
    let reason = "Claude Code does not read AGENTS.md beside CLAUDE.md";
    let dir = project(&[]);
    let before = tree(dir.path());
    run(&dir, "setup claude");
    fs::write(dir.path().join("AGENTS.md"), "# Mine\n").unwrap();
    let check = answer(&dir, "setup claude --check");
    assert!(check.stdout.starts_with("claude: stale (AGENTS.md)"), "{}", check.stdout);
    assert_eq!(check.error.unwrap().message, format!("the section in CLAUDE.md is stale: {reason}"));
    assert!(run(&dir, "setup claude --dry-run").contains("deleted CLAUDE.md"));
    let told = run(&dir, "setup claude");
    assert!(told.contains("\ndeleted CLAUDE.md\nchanged AGENTS.md\n"), "{told}");
    assert!(!dir.path().join("CLAUDE.md").exists() && run(&dir, "setup claude --check").contains("current"));
    // A CLAUDE.md of the user's hides the section: it moves back.
    fs::write(dir.path().join("CLAUDE.md"), "mine\n").unwrap();
    let check = answer(&dir, "setup claude --check").error.unwrap();
    assert_eq!(check.message, format!("the section in CLAUDE.md is stale: {reason}"));
    run(&dir, "setup claude");
    assert_eq!(fs::read_to_string(dir.path().join("AGENTS.md")).unwrap(), "# Mine\n");
    assert!(run(&dir, "setup claude --check").contains("current"));
    run(&dir, "setup claude --remove");
    assert_eq!(fs::read_to_string(dir.path().join("CLAUDE.md")).unwrap(), "mine\n");
    ["CLAUDE.md", "AGENTS.md"].iter().for_each(|file| fs::remove_file(dir.path().join(file)).unwrap());
    assert_eq!(tree(dir.path()), before, "settings and folders are removed as well");
    // An edited section is not moved without --force.
    run(&dir, "setup claude");
    let text = fs::read_to_string(dir.path().join("CLAUDE.md")).unwrap().replace("look up what", "never look up what");
    fs::write(dir.path().join("CLAUDE.md"), text).unwrap();
    fs::write(dir.path().join("AGENTS.md"), "").unwrap();
    assert!(answer(&dir, "setup claude --check").stdout.starts_with("claude: edited"));
    assert!(answer(&dir, "setup claude").error.unwrap().message.contains("by hand"));
    run(&dir, "setup claude --force");
    assert!(!dir.path().join("CLAUDE.md").exists());
}

#[test]
fn recipes_installed_together_hide_no_agents_md() {
    let dir = project(&[(".claude/x", ""), (".codex/x", "")]);
    let before = tree(dir.path());
    run(&dir, "setup --all-detected");
    assert!(dir.path().join("AGENTS.md").exists() && !dir.path().join("CLAUDE.md").exists());
    for recipe in ["claude", "codex"] {
        assert!(run(&dir, &format!("setup {recipe} --check")).contains("current"));
    }
    run(&dir, "setup --remove");
    assert_eq!(tree(dir.path()), before);
}

/// Another recipe that creates AGENTS.md leaves a CLAUDE.md of ours alone: both files have the section. When AGENTS.md gets
/// more than that, the call is named that moves the section there. All is removed to the byte, in each order, whether the
/// section was moved or not.
#[test]
fn an_agents_md_beside_a_claude_md_of_ours_is_reported() {
    let remark = "\nClaude Code does not read AGENTS.md beside CLAUDE.md: `qipu setup claude` moves the section to the \
                  other file.\n";
    for files in [vec![], vec![(".claude/settings.json", "{}\n"), (".codex/hooks.json", "{\"hooks\": {}}")]] {
        for is_moved in [false, true] {
            for order in [["claude", "codex"], ["codex", "claude"]] {
                let dir = project(&files);
                let before = tree(dir.path());
                let agents = dir.path().join("AGENTS.md");
                run(&dir, "setup claude");
                let claude = fs::read_to_string(dir.path().join("CLAUDE.md")).unwrap();
                for recipe in ["codex", "agents-md"] {
                    let told = run(&dir, &format!("setup {recipe}"));
                    assert!(!told.contains("Claude Code does not read"), "{told}");
                    assert!(run(&dir, "setup claude --check").contains("current"));
                }
                assert_eq!(fs::read_to_string(dir.path().join("CLAUDE.md")).unwrap(), claude);
                let section = fs::read_to_string(&agents).unwrap();
                if is_moved {
                    fs::write(&agents, format!("# Mine\n\n{section}")).unwrap();
                    let told = run(&dir, "setup codex");
                    assert!(told.contains(remark), "{told}");
                    assert!(run(&dir, "setup claude").contains("deleted CLAUDE.md"));
                    assert!(!run(&dir, "setup codex").contains("CLAUDE.md"));
                }
                order
                    .iter()
                    .chain(&["agents-md"])
                    .for_each(|recipe| drop(run(&dir, &format!("setup {recipe} --remove"))));
                if is_moved {
                    assert_eq!(fs::read_to_string(&agents).unwrap().trim_end(), "# Mine");
                    fs::remove_file(&agents).unwrap();
                }
                assert_eq!(tree(dir.path()), before, "{files:?} {is_moved} {order:?}");
            }
        }
    }
    // Nothing is said of a recipe that is not installed, or that another version wrote.
    let dir = project(&[("CLAUDE.md", "mine\n")]);
    assert!(!run(&dir, "setup codex").contains("Claude Code"));
    run(&dir, "setup claude");
    let file = dir.path().join(".claude/settings.json");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("PreCompact", "Other")).unwrap();
    assert!(!run(&dir, "setup codex").contains("Claude Code"));
}

#[test]
fn a_claude_md_with_more_than_our_section_stays() {
    for more in ["mine\n", "@AGENTS.md\n"] {
        let dir = project(&[]);
        run(&dir, "setup claude");
        let file = dir.path().join("CLAUDE.md");
        let text = fs::read_to_string(&file).unwrap() + more;
        fs::write(&file, &text).unwrap();
        fs::write(dir.path().join("AGENTS.md"), "# Mine\n").unwrap();
        assert!(run(&dir, "setup claude --check").contains("current"), "{more}");
        assert!(run(&dir, "setup claude").contains(": current ("));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    // Links are one file, which hides nothing.
    for (there, link) in [("AGENTS.md", "CLAUDE.md"), ("CLAUDE.md", "AGENTS.md")] {
        let dir = project(&[(there, "# Mine\n")]);
        symlink(there, dir.path().join(link)).unwrap();
        let before = tree(dir.path());
        for state in ["installed", "current"] {
            assert!(run(&dir, "setup claude").starts_with(&format!("claude: {state} (CLAUDE.md)")));
            assert!(run(&dir, "setup claude --check").contains("current"));
        }
        assert!(dir.path().join(link).is_symlink());
        run(&dir, "setup claude --remove");
        assert_eq!(tree(dir.path()), before);
    }
}

#[test]
fn sections_name_the_store_of_the_project() {
    for (folder, name) in [("qipu/notes", "`qipu/`"), (".qipu/notes", "`.qipu/`"), ("other", "`.qipu/`")] {
        let dir = project(&[]);
        fs::create_dir_all(dir.path().join(folder)).unwrap();
        for recipe in ["agents-md", "claude", "cursor"] {
            let told = run(&dir, &format!("setup {recipe}"));
            assert_eq!(told.contains("There is no store yet: `qipu init`"), folder == "other", "{told}");
            assert!(run(&dir, &format!("setup {recipe} --check")).contains("current"));
        }
        let text = fs::read_to_string(dir.path().join("AGENTS.md")).unwrap();
        assert!(text.contains(name) && text.contains(&format!("{}notes/`", name.trim_end_matches('`'))), "{text}");
        assert!(run(&dir, "setup agents-md --print").contains(name));
    }
    // A store that is moved makes them stale.
    let dir = project(&[(".qipu/notes/a.md", "x")]);
    run(&dir, "setup agents-md");
    fs::rename(dir.path().join(".qipu"), dir.path().join("qipu")).unwrap();
    assert!(answer(&dir, "setup agents-md --check").stdout.starts_with("agents-md: stale"));
    run(&dir, "setup agents-md");
    run(&dir, "setup agents-md --check");
}

fn json(dir: &TempDir, path: &str) -> serde_json::Value {
    let text = fs::read_to_string(dir.path().join(path)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn tools_without_a_recipe_get_an_answer() {
    let dir = project(&[]);
    for tool in ["aider", "cline", "junie", "opencode", "windsurf", "zed"] {
        let refused = answer(&dir, &format!("setup {tool}")).error.unwrap();
        assert_eq!(
            refused.to_text(false),
            format!("qipu: {tool} reads AGENTS.md\nhint: `qipu setup agents-md` writes it\n")
        );
    }
    run(&dir, "setup agents-md");
    assert!(answer(&dir, "setup claud").error.unwrap().hint.unwrap().starts_with("recipes: agents-md, claude, "));
}

/// A repository may bring the link.
#[test]
fn no_answer_is_written_through_a_link_out_of_the_project() {
    let (dir, outside) = (project(&[(".qipu/notes/a.md", "x\n")]), temp_dir());
    fs::create_dir(outside.path().join("own")).unwrap();
    symlink(outside.path(), dir.path().join("out")).unwrap();
    for words in [
        "man --dir out",
        "man --dir out/man1",
        "export page out/page.html",
        "export links out/links.json",
        "export passages out/passages.ndjson",
        "dump out/all.pack",
        "export passages --since-index out/state",
    ] {
        let error = answer(&dir, words).error.unwrap();
        assert!(error.message.starts_with("a symbolic link leads out"), "{words}: {}", error.message);
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    // A link that stays inside, and a path that names the place itself.
    fs::create_dir(dir.path().join("docs")).unwrap();
    symlink("docs", dir.path().join("in")).unwrap();
    run(&dir, "man --dir in/man1");
    assert!(dir.path().join("docs/man1/qipu.1").exists());
    run(&dir, &format!("man --dir {}/own", outside.path().display()));
    assert!(outside.path().join("own/qipu.1").exists());
}

/// Checks a skill by the rules of <https://agentskills.io/specification>.
fn expect_skill(text: &str, folder: &str) {
    let (head, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let mut fields = BTreeMap::new();
    for line in head.lines() {
        let (key, value) = line.split_once(": ").unwrap();
        assert!(!value.contains(": ") && !value.contains(" #"), "the value is a plain scalar of YAML: {value}");
        assert!(fields.insert(key, value).is_none(), "{key} twice");
    }
    let allowed = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
    assert!(fields.keys().all(|key| allowed.contains(key)), "{fields:?}");
    let (name, description) = (fields["name"], fields["description"]);
    assert_eq!(name, folder, "the name is that of the folder");
    assert!((1..=64).contains(&name.len()) && !name.starts_with('-') && !name.ends_with('-') && !name.contains("--"));
    assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
    assert!((1..=1024).contains(&description.chars().count()), "{description}");
    assert!(body.lines().count() < 500 && !body.trim().is_empty());
}

#[test]
fn skills_follow_the_specification_of_agent_skills() {
    let dir = project(&[]);
    for (recipe, path) in [("claude", ".claude/skills/qipu/SKILL.md"), ("codex", ".agents/skills/qipu/SKILL.md")] {
        run(&dir, &format!("setup {recipe}"));
        expect_skill(&fs::read_to_string(dir.path().join(path)).unwrap(), "qipu");
    }
}

/// Every hook is installed at an event of its tool, with a command that names both.
#[test]
fn hooks_name_their_tool_and_event() {
    let dir = project(&[]);
    for (tool, path, events) in [
        (
            "claude",
            ".claude/settings.json",
            &["SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStart", "PreCompact"][..],
        ),
        ("codex", ".codex/hooks.json", &["SessionStart", "UserPromptSubmit", "SubagentStart"]),
        ("gemini", ".gemini/settings.json", &["SessionStart", "BeforeAgent", "PreCompress"]),
        ("cursor", ".cursor/hooks.json", &["sessionStart", "preCompact"]),
        ("copilot", ".github/hooks/qipu.json", &["sessionStart", "subagentStart"]),
    ] {
        run(&dir, &format!("setup {tool}"));
        let settings = json(&dir, path);
        assert_eq!(settings["hooks"].as_object().unwrap().keys().collect::<Vec<_>>(), events, "{tool}");
        for event in events {
            let [element] = settings["hooks"][event].as_array().unwrap().as_slice() else { panic!("{tool} {event}") };
            let handler = element["hooks"].get(0).unwrap_or(element);
            let command = handler.get("command").or(handler.get("bash")).unwrap();
            assert_eq!(command, &format!("qipu hook {tool} {event}"));
        }
    }
    let page = include_str!("../specs/reference/hooks-mcp-setup.md");
    let table = page.lines().skip_while(|line| !line.starts_with("| event | `claude`")).skip(2);
    let table: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
    for (column, path) in [
        (2, ".claude/settings.json"),
        (3, ".codex/hooks.json"),
        (4, ".gemini/settings.json"),
        (5, ".cursor/hooks.json"),
        (6, ".github/hooks/qipu.json"),
    ] {
        let cells = table.iter().filter_map(|row| row.split('|').nth(column));
        let bold = cells.filter_map(|cell| cell.trim().strip_prefix("**`")?.strip_suffix("`**"));
        let settings = json(&dir, path);
        assert_eq!(
            bold.collect::<Vec<_>>(),
            settings["hooks"].as_object().unwrap().keys().collect::<Vec<_>>(),
            "{path}"
        );
    }
    let matcher = |path: &str, event: &str| json(&dir, path)["hooks"][event][0]["matcher"].clone();
    assert_eq!(matcher(".codex/hooks.json", "SessionStart"), "startup|resume|clear|compact");
    assert_eq!(matcher(".claude/settings.json", "SessionStart"), "startup|resume|clear|compact|fork");
    assert_eq!(matcher(".claude/settings.json", "PreToolUse"), "Edit|Write|MultiEdit|NotebookEdit|Bash");
}

#[test]
fn files_that_git_ignores_are_named() {
    let dir = project(&[(".gitignore", ".claude/\n*.toml\n!keep.toml\n")]);
    fs::create_dir_all(dir.path().join(".git")).unwrap();
    let told = run(&dir, "setup claude");
    let remark = "\ngit ignores .claude/settings.json, .claude/skills/qipu/SKILL.md: other clones of this project will \
                  not get what was written there.\n";
    assert!(told.contains(remark), "{told}");
    assert!(!run(&dir, "setup claude").contains("git ignores"), "nothing was written");
    assert!(!run(&dir, "setup agents-md").contains("git ignores"), "AGENTS.md is not ignored");
}

/// A project with notes of Claude Code's own in the folder of a user, or in another with `CLAUDE_CONFIG_DIR`.
fn with_memory(project: &str, claude_dir: &str) -> World {
    let world = World::empty();
    world.write(&format!("{project}/.git/HEAD"), "");
    world.write(&format!("{project}/.qipu/notes/a.md"), "Text.\n");
    let name: String = world.at(project).to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    world.write(&format!("{claude_dir}/projects/{name}/memory/MEMORY.md"), "# Index\n\nThe wombat sleeps.\n");
    world
}

/// Returns the settings that an answer offers, as a file.
fn offered(answer: &str) -> Option<String> {
    let (lines, _) = answer.split_once("add the lines `")?.1.split_once("` to ~/")?;
    Some(format!("{}\n", lines.replace("`, `", "\n").replace("` and `", "\n")))
}

#[test]
fn setup_offers_the_memory_that_claude_code_keeps_on_the_project() {
    let world = with_memory("home/my_app", "home/.claude");
    fs::create_dir_all(world.at("home/settings")).unwrap();
    let user =
        User { settings: world.at("home/settings"), data: world.at("data"), home: world.at("home"), cache: None };
    let run = |folder: &str, args: &str| {
        let answer = call_of_user(world.at(folder).to_str().unwrap(), &user, &args.split(' ').collect::<Vec<_>>());
        assert!(answer.error.is_none(), "{args}: {:?}", answer.error);
        answer.stdout
    };
    let user_files = || (tree(&world.at("home/settings")), tree(&world.at("home/.claude")));
    let before = user_files();
    for call in ["setup claude", "setup claude", "setup claude --force"] {
        let told = run("home/my_app", call);
        let line = told.lines().last().unwrap();
        assert!(line.starts_with("Claude Code keeps notes of its own on this project. "), "{told}");
        assert!(line.ends_with("` to ~/settings/qipu/config.toml."), "{told}");
        assert!(offered(line).unwrap().ends_with("\nfor = [\"~/my_app\"]\n"), "{told}");
    }
    let answer: serde_json::Value = serde_json::from_str(&run("home/my_app", "setup claude --json")).unwrap();
    let text = answer["text"][0].as_str().unwrap().to_owned();
    assert!(run("home/my_app", "setup claude --records").contains(&format!("\nD about {text}\n")));
    for other in ["setup claude --dry-run", "setup claude --check", "setup claude --print", "setup cursor", "setup"] {
        assert!(offered(&run("home/my_app", other)).is_none(), "{other}");
    }
    assert_eq!(user_files(), before, "the offer writes nothing");

    // What is offered is read in the project alone, and then no longer offered; so is what the user limited to another one.
    let settings = offered(&text).unwrap();
    world.write("home/other/.git/HEAD", "");
    world.write("home/other/.qipu/notes/a.md", "Text.\n");
    for (settings, is_read) in [
        (settings.clone(), true),
        (settings.replace("~/my_app", "~/other"), false),
        ("[[documents]]\npath = \"~/.claude/projects/*/memory/*.md\"\n".to_owned(), true),
    ] {
        world.write("home/settings/qipu/config.toml", &settings);
        assert_eq!(run("home/my_app", "list").contains("MEMORY"), is_read, "{settings}");
        assert!(offered(&run("home/my_app", "setup claude")).is_none(), "{settings}");
    }
    world.write("home/settings/qipu/config.toml", &settings);
    assert!(!run("home/other", "list").contains("MEMORY"));
    assert!(offered(&run("home/other", "setup claude")).is_none());
}

#[test]
fn the_memory_of_claude_code_is_offered_where_it_is() {
    // In the folder that the variable names, outside of the user's home.
    let world = with_memory("work/a \u{202e}b", "claude");
    let claude = world.at("claude");
    let setup = |folder: &str, claude: &str| {
        let answer = world.call_with_vars(folder, None, &["setup", "claude"], &[("CLAUDE_CONFIG_DIR", claude)]);
        assert!(answer.error.is_none(), "{:?}", answer.error);
        answer.stdout
    };
    let told = setup("work/a \u{202e}b", claude.to_str().unwrap());
    let (lines, _) =
        told.split_once("add the lines `[[documents]]`, `path = \"").unwrap().1.split_once("` to $XDG").unwrap();
    assert!(lines.starts_with(claude.to_str().unwrap()) && lines.ends_with("/work/a \\U0000202Eb\"]"), "{told}");
    for other in ["claude", "/nowhere", ""] {
        assert!(!setup("work/a \u{202e}b", other).contains("keeps notes"), "{other}");
    }
    // A linked working tree has the memory of the main one.
    let world = with_memory("home/app", "home/.claude");
    let told = |folder: &str| world.answer_in(folder, &["setup", "claude"]);
    let tree = world.at("home/app/.git/worktrees/tree");
    world.write("home/app/.git/worktrees/tree/commondir", "../..\n");
    let linked = world.at("home/linked/.git");
    world.write("home/app/.git/worktrees/tree/gitdir", &format!("{}\n", linked.display()));
    world.write("home/linked/.git", &format!("gitdir: {}\n", tree.display()));
    world.write("home/app/package/package.json", "{}");
    for folder in ["home/linked", "home/app/package", "home/app"] {
        assert!(told(folder).contains("`for = [\"~/app\"]`"), "{folder}: {}", told(folder));
    }
    fs::remove_dir_all(world.at("home/app/.git")).unwrap();
    assert!(world.answer_in("home/app", &["setup", "--all-detected"]).contains("`for = [\"~/app\"]`"));
    // Without a document, or in settings that are not valid, nothing is offered.
    world.write("settings/qipu/config.toml", "documents = 3\n");
    assert!(!told("home/app").contains("keeps notes"));
    world.write("settings/qipu/config.toml", "");
    let memory =
        fs::read_dir(world.at("home/.claude/projects")).unwrap().next().unwrap().unwrap().path().join("memory");
    fs::rename(memory.join("MEMORY.md"), memory.join("memory.txt")).unwrap();
    assert!(!told("home/app").contains("keeps notes"));
    fs::rename(&memory, memory.with_file_name("moved")).unwrap();
    assert!(!told("home/app").contains("keeps notes"));
}
