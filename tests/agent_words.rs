//! What an agent writes stands as an agent's: no command of a session brings its words under the word of a person.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::files::{store_of_notes, temp_dir, write_in_store};
use crate::support::mcp_client::McpClient;
use crate::support::process::{Answer, User, call_in_session, call_of_user, trust};
use proptest::prelude::*;
use serde_json::{Value, json};

const HOLD: &str = "[review]\nhold = true\n";
const DAY: &str = "2025-03-31";

const FORMATS: [&[&str]; 4] = [&[], &["--json"], &["--records"], &["--format", "prompt"]];

/// A text with check marks that are none of a task, and the words by which an agent exchanges them.
const CODE: &str = "Run `grep '[ ]'` never, nor [X](x.md).\n\n    - [x] deploy\n\nIndex a[x]b.\n\n- [ ] deploy `[ ]`";
const SWAPS: [[&str; 2]; 5] = [
    ["'[ ]'", "'[x]'"],
    ["[X](x.md)", "[x](x.md)"],
    ["    - [x] deploy", "    - [ ] deploy"],
    ["a[x]b", "a[X]b"],
    ["`[ ]`", "`[x]`"],
];

/// A project with a store, the folders of its user, and files for `load` and `import`.
struct World {
    project: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl World {
    fn new(config: &str) -> Self {
        let vouched = "status: stable\nverified:\n  - {by: \"human:ann\", at: 2025-01-01}";
        let fields = |more: &str| format!("{vouched}\n{more}");
        let notes = [
            (
                "n-rule",
                fields("title: Deploy rule\ntags: [deploy]\nsummary: Use make."),
                "Deploy the job with make.\n\n## Steps\n\nRun it.",
            ),
            (
                "n-other",
                fields("title: Deploy notes\ntags: [deploy]\ntype: decision"),
                "Deploy the job on Mondays, see [[Deploy rule]].",
            ),
            (
                "n-plan",
                fields("title: Plan\nlinks: [{type: related, id: n-rule}]"),
                "- [ ] deploy the job\n- [x] think",
            ),
            (
                "n-map",
                fields("title: Map\ntype: moc\ncompacts: [n-plan]"),
                "[[n-rule]] and [[n-other]], to deploy the job.",
            ),
            ("n-code", fields("title: Search"), CODE),
            ("n-today", format!("title: \"{DAY}\"\ntype: journal"), "- deploy the job"),
            (
                "n-held",
                "title: Deploy later\nstatus: draft\ngenerated: {by: codex, at: 2025-03-01}".to_owned(),
                "Deploy the job, perhaps.",
            ),
        ]
        .map(|(id, fields, body)| (id.to_owned(), fields, body.to_owned()));
        let project = store_of_notes(&notes);
        fs::write(
            project.path().join(".qipu/config.toml"),
            format!("{config}[[documents]]\npath = \"docs\"\nwritable = true\n"),
        )
        .unwrap();
        write_in_store(project.path(), "notes/n-plain.md", "---\ntitle: A plain: note\n---\nDeploy the job.\n");
        let docs = project.path().join("docs");
        fs::create_dir(&docs).unwrap();
        fs::write(docs.join("guide.md"), "# Guide\n\nHow to deploy the job.\n").unwrap();
        let world = Self { project, home: temp_dir() };
        trust(&world.user().settings, &[world.path().canonicalize().unwrap().join(".qipu")]);
        assert!(call_of_user(world.dir(), &world.user(), &["init", "--user"]).error.is_none());
        world
    }

    fn path(&self) -> &Path {
        self.project.path()
    }

    fn dir(&self) -> &str {
        self.path().to_str().unwrap()
    }

    fn user(&self) -> User {
        let [settings, data, home] = ["settings", "data", "home"].map(|name| self.home.path().join(name));
        User { settings, data, home, cache: None }
    }

    /// Calls a command as a person.
    fn run(&self, args: &[&str]) -> String {
        let Answer { stdout, error } = call_of_user(self.dir(), &self.user(), &[args, &["--today", DAY]].concat());
        assert!(error.is_none(), "{args:?}: {error:?}");
        stdout
    }

    /// Calls a command as an agent.
    fn act(&self, args: &[&str], words: &str) -> Result<String, String> {
        let Answer { stdout, error } =
            call_in_session(self.dir(), &self.user(), &[args, &["--today", DAY]].concat(), words);
        error.map_or(Ok(stdout), |error| Err(error.message))
    }

    /// Calls a tool over MCP.
    fn call(&self, tool: &str, arguments: Value) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qipu"));
        let client = McpClient::start(command.arg("mcp").current_dir(self.path()).env_clear());
        client.call(tool, arguments);
        client.end();
    }

    /// Returns the ids of the notes in the store.
    fn ids(&self) -> Vec<String> {
        self.run(&["list", "--in", "project", "--format", "ids"]).lines().map(str::to_owned).collect()
    }

    fn text_of(&self, id: &str) -> String {
        self.run(&["show", id, "--raw"])
    }

    /// Makes a pack of a note from another store.
    fn pack(&self, id: &str, fields: &str, body: &str) -> String {
        let other = store_of_notes(&[(id, fields, body)]);
        let pack = self.home.path().join("pack");
        let pack = pack.to_str().unwrap();
        let dumped = call_of_user(other.path().to_str().unwrap(), &self.user(), &["dump", pack, "--store", ".qipu"]);
        assert!(dumped.error.is_none(), "{:?}", dumped.error);
        pack.to_owned()
    }

    /// Makes a vault of one page.
    fn vault(&self, text: &str) -> String {
        let vault = self.home.path().join("vault");
        fs::create_dir_all(vault.join(".obsidian")).unwrap();
        fs::write(vault.join("Page.md"), text).unwrap();
        vault.to_str().unwrap().to_owned()
    }
}

/// A command of an agent: its kind, and the notes that it is about.
type Step = (usize, usize, usize);

const KINDS: usize = 41;

/// Carries out a step with words that nobody else writes. Whether it is refused does not matter here.
fn take(world: &World, (kind, first, second): &Step, word: &str) {
    let ids = world.ids();
    let (a, b) = (ids[first % ids.len()].as_str(), ids[second % ids.len()].as_str());
    let text = format!("Deploy the job with {word}.");
    let text = text.as_str();
    let custom = format!("note={word}");
    let status = format!("status={word}");
    let url = format!("https://{word}.example/");
    let task = format!("{a}:{}", 8 + second % 8);
    let pack = if *kind == 32 {
        world.pack(a, &format!("status: stable\ntitle: {text}\nverified: true"), text)
    } else {
        String::new()
    };
    let vault = if *kind == 33 {
        world.vault(&format!("---\nstatus: stable\n---\n# {text}\n\n{text}\n"))
    } else {
        String::new()
    };
    let strategy = ["skip", "overwrite", "merge"][second % 3];
    let args: Vec<&str> = match kind {
        0 => vec!["capture", text],
        1 => vec!["capture", text, "--status", "stable", "--tag", word, "--summary", text],
        2 => vec!["capture", text, "--by", "human:ann"],
        3 => vec!["capture", text, "--in", "user", "--link", "supersedes:project:n-rule"],
        4 => vec!["capture", text, "--in", "user"],
        5 => vec!["capture", text, "--in", "docs"],
        6 => vec!["capture", "--title", text, "--body", text, "--by", "human:ann"],
        7 => vec!["capture", "--title", text, "--body", text, "--set", "verified=true"],
        8 => vec!["capture", text, "--supersedes", a],
        9 => vec!["update", a, "--title", text],
        10 => vec!["update", a, "--summary", text],
        11 => vec!["update", a, "--type", word],
        12 => vec!["update", a, "--tag", word],
        13 => vec!["update", a, "--source", &url],
        14 => vec!["update", a, "--set", &custom],
        15 => vec!["update", a, "--set", &status],
        16 => vec!["update", a, "--status", "stable", "--body", text],
        17 => vec!["update", a, "--body", text, "--verified"],
        18 => vec!["update", a, "--append", text],
        19 => vec!["update", a, "--replace", "Deploy the job", text],
        20 => vec!["update", a, "--section", "Steps", "--body", text],
        21 => vec!["update", a],
        22 => vec!["capture", "--title", text],
        23 => vec!["update", a, "--title", text],
        24 => vec!["merge", a, b],
        25 => vec!["supersede", a, b],
        26 => vec!["link", "add", a, "compacts", b],
        27 => vec!["update", a, "--code", "docs/guide.md"],
        28 => vec!["link", "add", a, "supports", b],
        29 => vec!["link", "remove", a, b],
        30 => vec!["journal", text],
        31 => vec!["tasks", "done", &task],
        32 => vec!["load", &pack, "--strategy", strategy],
        33 => vec!["import", &vault],
        34 => vec!["delete", a, "--force"],
        35 => vec!["update", "--where", "tag = deploy", "--untag", "deploy", "--tag", word],
        36 => vec!["doctor", "--fix"],
        37 => vec!["update", a, "--status", ["obsolete", "stable", "draft"][second % 3]],
        38 => {
            let [old, new] = SWAPS[second % SWAPS.len()];
            vec!["update", "n-code", "--replace", old, new]
        }
        39 => return world.call("update", json!({"id": a, "text": text})),
        _ => return world.call("capture", json!({"text": text, "supersedes": [a]})),
    };
    let _ = world.act(&args, text);
}

/// Expects that an answer contains words of an agent only in what it marks as a draft.
fn expect_marked(answer: &str, ids: &[String], words: &[String], what: &str) {
    if let Ok(value) = serde_json::from_str::<Value>(answer) {
        return expect_marked_json(&value, false, words, what);
    }
    // The mark stands in the line that names the note. Other lines name the note by its id, or stand below such a line.
    let (mut marked, mut is_marked) = (HashSet::new(), false);
    for line in answer.lines() {
        let named: Vec<&String> = ids.iter().filter(|id| line.contains(id.as_str())).collect();
        if line.contains("draft") {
            marked.extend(named.clone());
        }
        if !named.is_empty() || line.starts_with("# ") {
            is_marked = named.iter().any(|id| marked.contains(*id));
        }
        let is_agents = words.iter().any(|word| line.to_lowercase().contains(word));
        assert!(is_marked || !is_agents, "{what}: `{line}` in\n{answer}");
    }
}

fn expect_marked_json(value: &Value, is_marked: bool, words: &[String], what: &str) {
    match value {
        Value::String(text) => {
            let is_agents = words.iter().any(|word| text.to_lowercase().contains(word));
            assert!(is_marked || !is_agents, "{what}: {text}");
        }
        Value::Array(items) => items.iter().for_each(|item| expect_marked_json(item, is_marked, words, what)),
        Value::Object(fields) => {
            let is_note = ["id", "to"].iter().any(|id| fields.contains_key(*id)) && fields.contains_key("title");
            let is_marked = if is_note { fields.get("status") == Some(&json!("draft")) } else { is_marked };
            fields.values().for_each(|field| expect_marked_json(field, is_marked, words, what));
        }
        _ => {}
    }
}

/// Expects that a note still has the text that a person accepted, byte for byte but for the mark of its task.
fn expect_code(world: &World) {
    // An agent may delete it.
    if world.ids().iter().any(|id| id == "n-code") {
        let text = world.text_of("n-code");
        let ticked = CODE.replace("- [ ] deploy `", "- [x] deploy `");
        assert!([CODE, &ticked].iter().any(|code| text.trim_end().ends_with(code)), "{text}");
    }
}

/// Expects that no answer shows a word of an agent as if a person had accepted it. Each of the questions is answered in one
/// format, all of them in [`FORMATS`] turns.
fn expect_held(world: &World, words: &[String], turn: usize) {
    expect_code(world);
    let ids: Vec<String> = world.run(&["list", "--format", "ids"]).lines().map(str::to_owned).collect();
    let asks: [&[&str]; 11] = [
        &["ask", "deploy the job"],
        &["ask", "what happened today"],
        &["context", "--query", "deploy the job with"],
        &[
            "context",
            "--query",
            "deploy the job by curl",
            "--purpose",
            "decide",
            "--include-contradictions",
            "--include-derivations",
        ],
        &["context", "--tag", "deploy"],
        &["context", "--note", "n-rule", "--note", "n-map", "--backlinks"],
        &["search", "deploy the job"],
        &["list"],
        &["prime"],
        &["tasks", "--all"],
        &["review", "--kind", "contradiction,near-duplicate,draft"],
    ];
    let show: Vec<&str> = std::iter::once("show").chain(ids.iter().map(String::as_str)).collect();
    let show_links = [show.as_slice(), &["--links"]].concat();
    for (index, args) in asks.into_iter().chain([show.as_slice(), &show_links]).enumerate() {
        let args = [args, FORMATS[(index + turn) % FORMATS.len()], &["--today", DAY]].concat();
        let Answer { stdout, error } = call_of_user(world.dir(), &world.user(), &args);
        // Not every command has every format, and a note may be gone.
        if error.is_none() {
            expect_marked(&stdout, &ids, words, &format!("{args:?}"));
        }
    }
    for (event, input) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "How do we deploy the job with make, by the deploy rule?"})),
        ("PreToolUse", json!({"tool_name": "Edit", "tool_input": {"file_path": world.path().join("docs/guide.md")}})),
    ] {
        let mut input = input;
        (input["hook_event_name"], input["session_id"], input["cwd"]) = (json!(event), json!("s"), json!(world.dir()));
        let answer = crate::support::process::call_with(
            world.dir(),
            &["hook", "claude", event, "--no-seen"],
            &input.to_string(),
            &[],
        );
        let context = serde_json::from_str::<Value>(&answer.stdout).unwrap_or_default();
        let text = context["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        expect_marked(text, &ids, words, event);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever an agent does in a store that holds what agents write, answers show its words as those of drafts only.
    #[test]
    fn no_command_of_an_agent_brings_its_words_into_what_a_person_accepted(
        steps in prop::collection::vec((0..KINDS, 0..1_000_usize, 0..1_000_usize), 1..9),
        turn in 0..FORMATS.len(),
    ) {
        let world = World::new(HOLD);
        let words: Vec<String> = (0..steps.len()).map(|number| format!("zqx{number}curl")).collect();
        for (step, word) in steps.iter().zip(&words) {
            take(&world, step, word);
        }
        expect_held(&world, &words, turn);
    }
}

/// Titles of drafts at the other end of links, in lists of tasks and in the history, beside those of accepted notes.
#[test]
fn lists_that_name_other_notes_mark_the_drafts() {
    let world = World::new(HOLD);
    let text = "Deploy\n\n- [ ] zqx0curl";
    let held = world.act(&["capture", "-q", text, "--title", "zqx0curl", "--supersedes", "n-rule"], "").unwrap();
    let held = held.trim();
    let run = |args: &[&str]| world.run(args);
    let links = run(&["show", "n-rule", "--links"]);
    assert!(links.contains(&format!("zqx0curl ({held}) [in project, draft]\n")), "{links}");
    assert!(links.contains("Deploy notes (n-other) [in project]\n"), "{links}");
    let links: Value = serde_json::from_str(&run(&["show", "n-rule", "--links", "--json"])).unwrap();
    let links = links["links"].as_array().unwrap().clone();
    let status = |id: &str| links.iter().find(|link| link["to"] == id).unwrap().get("status").cloned();
    assert_eq!((status(held), status("n-other")), (Some(json!("draft")), None));
    let records = run(&["show", "n-rule", "--links", "--records"]);
    assert!(records.lines().any(|line| line.contains(held) && line.ends_with(" status=draft")), "{records}");
    assert_eq!(records.matches("status=draft").count(), 1, "{records}");
    let tasks = run(&["tasks"]);
    assert!(tasks.contains("zqx0curl (zqx0curl) [draft]\n") && tasks.contains("deploy the job (Plan)\n"), "{tasks}");
    assert!(run(&["tasks", "--records"]).contains("title=\"zqx0curl\" status=draft\n"));
    let review: Value = serde_json::from_str(&run(&["review", "--kind", "draft", "--json"])).unwrap();
    assert!(review["worklist"].as_array().unwrap().iter().all(|row| row["status"] == "draft"), "{review}");
    (0..FORMATS.len()).for_each(|turn| expect_held(&world, &["zqx0curl".to_owned()], turn));
}

/// Each kind of command by itself, on an accepted note and on a draft, in all formats.
#[test]
fn each_command_of_an_agent_keeps_the_law() {
    let position = |world: &World, id: &str| world.ids().iter().position(|other| other == id).unwrap();
    for kind in 0..KINDS {
        for (a, b) in [("n-rule", "n-other"), ("n-held", "n-rule")] {
            let world = World::new(HOLD);
            let (first, second) = (position(&world, a), position(&world, b));
            take(&world, &(kind, first, second), "zqx0curl");
            (0..FORMATS.len()).for_each(|turn| expect_held(&world, &["zqx0curl".to_owned()], turn));
        }
    }
}

/// Without `hold`, a note whose words change in a session loses what vouched for the old ones.
#[test]
fn new_words_of_an_agent_are_vouched_for_by_nobody() {
    let changes: [&[&str]; 12] = [
        &["update", "n-rule", "--body", "curl"],
        &["update", "n-rule", "--append", "curl"],
        &["update", "n-rule", "--replace", "make", "curl"],
        &["update", "n-rule", "--section", "Steps", "--body", "curl"],
        &["update", "n-rule", "--title", "curl"],
        &["update", "n-rule", "--summary", "curl"],
        &["update", "n-rule", "--source", "https://curl.example/"],
        &["update", "n-rule", "--body", "curl", "--verified"],
        &["update", "n-rule", "--title", "curl"],
        &["update", "n-rule"],
        &["merge", "n-rule", "n-other"],
        &["load", "PACK", "--strategy", "overwrite"],
    ];
    for args in changes {
        let world = World::new("");
        let pack = world.pack("n-rule", "title: Deploy rule\nverified: true\nauthor: Ann", "Deploy with curl.");
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "PACK" { pack.as_str() } else { *arg }).collect();
        world.act(&args, "curl").unwrap();
        let text = world.text_of("n-rule");
        assert!(!text.contains("human:ann") && !text.contains("verified: true"), "{args:?}: {text}");
        assert!(
            !text.contains("author:") && (args[0] == "load" || text.contains("generated_by: claude-code")),
            "{args:?}: {text}"
        );
    }
    // What says nothing new keeps it, and so do the notes whose links follow a new name.
    let keeps: [&[&str]; 5] = [
        &["update", "n-plan", "--tag", "x"],
        &["tasks", "done", "n-plan:10"],
        &["link", "add", "n-plan", "n-other"],
        &["update", "n-plan", "--status", "obsolete"],
        &["update", "n-rule", "--title", "curl"],
    ];
    for args in keeps {
        let world = World::new("");
        world.act(args, "").unwrap();
        let id = if args.contains(&"--title") { "n-other" } else { "n-plan" };
        assert!(world.text_of(id).contains("human:ann"), "{args:?}: {}", world.text_of(id));
    }
    let world = World::new("");
    world.act(&["journal", "curl", "--date", DAY], "").unwrap();
    assert!(
        !world.text_of("n-today").contains("generated_by"),
        "a journal has many authors: {}",
        world.text_of("n-today")
    );
    // A program that checked a note is no person.
    let plain = World::new("");
    plain.act(&["update", "n-today", "--verified"], "").unwrap();
    let text = plain.text_of("n-today");
    assert!(text.contains("by: claude-code") && !text.contains("verified: true"), "{text}");
}

/// Under `hold` too, a draft keeps its old title as an alias, but not that of an accepted note.
#[test]
fn a_draft_that_an_agent_renames_takes_no_name() {
    let world = World::new(HOLD);
    let accepted = world.text_of("n-rule");
    assert!(world.act(&["update", "n-rule", "--title", "Ours"], "").is_err());
    assert_eq!(world.text_of("n-rule"), accepted);
    for title in ["Deploy notes", "Deploy last"] {
        world.act(&["update", "n-held", "--title", title], "").unwrap();
    }
    let draft = world.text_of("n-held");
    assert!(draft.contains("aliases: [Deploy later]\n") && draft.contains("status: draft\n"), "{draft}");
    assert!(world.run(&["show", "Deploy notes"]).contains("n-other"));
}

/// Only the check mark of a task is no word.
#[test]
fn check_marks_outside_of_tasks_are_words() {
    for [old, new] in SWAPS {
        let world = World::new(HOLD);
        let error = world.act(&["update", "n-code", "--replace", old, new], "").unwrap_err();
        assert!(error.contains("an agent can't change what"), "{new}: {error}");
        expect_code(&world);
        world.act(&["update", "n-code", "--replace", "- [ ] deploy `", "- [X] deploy `"], "").unwrap();
        let world = World::new("");
        world.act(&["update", "n-code", "--replace", old, new], "").unwrap();
        assert!(!world.text_of("n-code").contains("human:ann"), "{new}");
    }
}

/// Names that are shown as that of a person.
const PERSONS: [&str; 6] = [
    "Human: Ann",
    "hum\u{200b}an:ann",
    "\u{feff}human\u{2060}:\u{ad}ann",
    "human\u{ff1a}ann",
    "\u{ff48}\u{ff55}\u{ff4d}\u{ff41}\u{ff4e}:ann",
    "\u{ff28}UMAN\u{fe55}ann",
];

#[test]
fn an_agent_writes_as_no_person_by_other_characters() {
    let world = World::new(HOLD);
    for name in PERSONS {
        let error = world.act(&["capture", "Text", "--by", name], "").expect_err(name);
        assert!(error.contains("an agent can't write as"), "{name}: {error}");
        for origin in ["generated: {by: NAME}", "generated_by: NAME", "generated-by: NAME"] {
            let origin = origin.replace("NAME", &format!("\"{name}\""));
            let pack = world.pack("packed", &format!("title: Packed\nstatus: draft\n{origin}"), "Deploy with curl.");
            let error = world.act(&["load", &pack], "").expect_err(&origin);
            assert!(error.contains("an agent can't decide"), "{origin}: {error}");
        }
    }
    world.act(&["capture", "Text", "--by", "humanoid:ann"], "").unwrap();
}

#[test]
fn an_agent_is_no_person() {
    let world = World::new("");
    for args in [
        &["capture", "Text", "--by", "human:ann"][..],
        &["capture", "Text", "--by", "Human: Ann"],
        &["capture", "--title", "Text", "--by", "human:ann"],
        &["capture", "--title", "Text", "--set", "author=Ann"],
        &["update", "n-rule", "--set", "trust=1"],
        &["update", "n-rule", "--set", "generated_by=human:ann"],
        &["capture", "Text", "--allow-secret"],
        &["init", "--trust"],
    ] {
        let error = world.act(args, "").expect_err(&format!("{args:?}"));
        assert!(error.contains("an agent can't"), "{args:?}: {error}");
    }
    // A person may.
    world.run(&["capture", "--title", "Another", "--set", "author=Ann"]);
    world.run(&["capture", "Text", "--by", "human:ann"]);
}

#[test]
fn files_of_a_session_bring_no_word_of_a_person() {
    let world = World::new("");
    let pack =
        world.pack("packed", "title: Packed\nverified: true\nauthor: Ann\ncustom: {trust: 1}", "Deploy with curl.");
    world.act(&["load", &pack], "").unwrap();
    let text = world.text_of("packed");
    assert!(!["verified", "author", "trust"].iter().any(|field| text.contains(field)), "{text}");
    // The same words keep what was said of them.
    let same = world.pack("n-other", "title: Deploy notes", "Deploy with curl.");
    world.run(&["load", &same, "--strategy", "overwrite"]);
    world.run(&["update", "n-other", "--verified"]);
    let same = world.pack("n-other", "title: Deploy notes\nverified: true\ntags: [more]", "Deploy with curl.");
    world.act(&["load", &same, "--strategy", "overwrite"], "").unwrap();
    assert!(world.text_of("n-other").contains("verified: true"), "{}", world.text_of("n-other"));
    let vault = world.vault("---\nauthor: Ann\nverified: true\n---\n# Page\n\nText.\n");
    let imported = world.act(&["import", &vault, "--dry-run"], "").unwrap();
    assert!(!imported.contains("verified") && !imported.contains("author"), "{imported}");
    assert!(world.run(&["import", &vault, "--dry-run"]).contains("author: Ann"));
}

#[test]
fn the_store_of_the_user_takes_no_word_from_a_project_that_holds() {
    let world = World::new(HOLD);
    let error = world.act(&["capture", "Deploy with curl", "--in", "user"], "").unwrap_err();
    assert!(error.contains("an agent can't write to `user`"), "{error}");
    // In a source of the project, it is a draft of the project.
    world.act(&["capture", "Deploy with curl", "--in", "docs"], "").unwrap();
    assert!(!world.run(&["ask", "how do we deploy by curl?"]).contains("with curl"));
    // What depends on the project has no name there.
    for name in ["project:n-rule", "n-rule", "docs:guide"] {
        let link = format!("supersedes:{name}");
        let args = ["capture", "Mine", "--in", "user", "--link", &link, "--today", DAY];
        assert!(call_of_user(world.dir(), &world.user(), &args).error.is_some(), "{name}");
    }
    let note =
        "---\nid: mine\ntitle: Mine\nlinks: [{type: supersedes, id: \"project:n-rule\"}]\n---\nSee [[docs:guide]].\n";
    fs::write(world.home.path().join("data/qipu/notes/mine.md"), note).unwrap();
    assert!(!world.run(&["list", "--records"]).contains("superseded-by"));
    let links = world.run(&["link", "list", "user:mine"]);
    assert!(links.contains("(missing) docs:guide"), "{links}");
}

#[test]
fn review_says_what_a_draft_replaces() {
    let world = World::new(HOLD);
    let held = world.act(&["capture", "-q", "Deploy by hand", "--supersedes", "n-rule"], "").unwrap();
    let review = world.run(&["review", "--kind", "draft"]);
    let line = review.lines().find(|line| line.contains(held.trim())).unwrap();
    assert!(line.contains("accepted, it replaces `n-rule` (Deploy rule)"), "{review}");
}

#[test]
fn a_day_means_no_journal_that_is_a_hidden_draft() {
    let world = World::new(HOLD);
    world.act(&["journal", "Moved the zorblax."], "").unwrap();
    world.act(&["journal", "Moved it back to the zorblax."], "").unwrap();
    for question in ["what happened today", &format!("[[{DAY}]]"), &format!("compare {DAY} with 2025-03-30")] {
        let answer = world.run(&["ask", question]);
        assert!(!answer.contains("zorblax"), "{question}: {answer}");
    }
    // Both lines are in one draft, and that of a person in the journal of the person.
    world.run(&["journal", "A line of my own."]);
    assert!(world.text_of("n-today").contains("A line of my own."));
    let drafts = world.run(&["list", "--type", "journal", "--where", "status = draft", "--format", "ids"]);
    assert_eq!(drafts.lines().count(), 1, "{drafts}");
    assert!(world.text_of(drafts.trim()).matches("zorblax").count() == 2);
}
