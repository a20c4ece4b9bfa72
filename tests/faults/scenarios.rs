//! The commands of the matrix: what each begins with, and what must hold after a fault.

use super::matrix::ATTEMPTS;
use super::world::World;

/// What must hold after a fault, in addition to the rules for all commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// All files have their old content, or all have the new one, once the next command has run.
    AllOrNothing,
    /// Each file has its old content or the new one, and the same command completes the rest.
    EachFile,
    /// A fault in a change of the cache changes neither the answer nor the exit code.
    OnlyCache,
    /// The lines are requests to a server, which answers each and stays.
    Server,
    /// The program is `git merge`: a merge without conflict has the right text.
    Merge,
}

/// A command with what it begins with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    /// The command by its path below `qipu`, with a remark behind a colon if there are several of it.
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) args: &'static [&'static str],
    pub(crate) stdin: &'static str,
    /// The command that must work whatever happened before, for [`Rule::AllOrNothing`] and [`Rule::Server`].
    pub(crate) next: &'static [&'static str],
    pub(crate) rule: Rule,
    /// Changes the world before it is saved.
    pub(crate) prepare: fn(&World),
    /// Whether it is part of the sample.
    pub(crate) is_in_sample: bool,
}

const BASE: Scenario = Scenario {
    name: "",
    program: "qipu",
    folder: "repo",
    args: &[],
    stdin: "",
    next: &["capture", "The text of the next.", "--title", "Next probe"],
    rule: Rule::AllOrNothing,
    prepare: |_| (),
    is_in_sample: false,
};

const fn notes(name: &'static str, args: &'static [&'static str]) -> Scenario {
    Scenario { name, args, ..BASE }
}

const fn sampled(name: &'static str, args: &'static [&'static str]) -> Scenario {
    Scenario { name, args, is_in_sample: true, ..BASE }
}

const fn files(name: &'static str, args: &'static [&'static str]) -> Scenario {
    Scenario { name, args, rule: Rule::EachFile, ..BASE }
}

const fn cache(name: &'static str, args: &'static [&'static str], prepare: fn(&World)) -> Scenario {
    Scenario { name, args, rule: Rule::OnlyCache, prepare, ..BASE }
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    sampled("capture", &["capture", "a thought", "--link", "supports:a"]),
    notes("create", &["capture", "--title", "A new title", "--type", "moc", "--body", "Text."]),
    notes("journal", &["journal", "an entry"]),
    Scenario { prepare: with_journal, ..notes("journal: a second entry", &["journal", "an entry"]) },
    notes("update: a field", &["update", "a", "--tag", "new"]),
    notes("update: --append", &["update", "a", "--append", "More."]),
    notes("update: --replace", &["update", "a", "--replace", "Body of", "Text of"]),
    notes("update: --section", &["update", "a", "--section", "Part", "--body", "More."]),
    notes("update: --body", &["update", "a", "--body", "-"]),
    notes("update: no change", &["update", "a", "--tag", "x"]),
    notes("update: accept", &["update", "f", "--status", "stable", "--verified"]),
    sampled("update: three notes", &["update", "a", "b", "c", "--value", "7"]),
    Scenario { prepare: with_pending, ..sampled("capture: after a crash", &["capture", "a thought"]) },
    sampled("rename", &["update", "a", "--title", "Another title"]),
    notes("merge", &["merge", "b", "a"]),
    notes("compact", &["link", "add", "c", "compacts", "a", "b"]),
    notes("supersede", &["supersede", "a", "b"]),
    Scenario { prepare: with_git, ..notes("anchor", &["update", "a", "--code", "src/a.rs:2"]) },
    notes("delete", &["delete", "a", "d", "--force"]),
    notes("update --where", &["update", "--yes", "--where", "tag = x", "--untag", "x", "--tag", "y"]),
    Scenario {
        prepare: with_documents,
        next: NEXT_DOCUMENT,
        ..notes(
            "update --where: documents",
            &["update", "--yes", "--where", "tag = x", "--untag", "x", "--tag", "y", "--in", "docs"],
        )
    },
    notes("tasks done", &["tasks", "done", "e:7"]),
    notes("link add", &["link", "add", "d", "supports", "b"]),
    notes("link remove", &["link", "remove", "c", "a"]),
    Scenario { prepare: with_defects, ..notes("doctor: --fix", &["doctor", "--fix"]) },
    Scenario { prepare: with_pending, ..notes("doctor: --fix after a crash", &["doctor", "--fix"]) },
    Scenario { prepare: with_moved_code, ..notes("review: --fix", &["review", "--kind", "code", "--fix"]) },
    Scenario { prepare: with_pack, ..notes("import", &["import", "../out/all.pack"]) },
    Scenario { prepare: with_pack, ..notes("import: merge", &["import", "../out/all.pack", "--strategy", "merge"]) },
    Scenario { prepare: with_vault, ..notes("import: a folder", &["import", "../vault"]) },
    Scenario { folder: "fresh", ..files("init", &["init"]) },
    files("setup: agents-md", &["setup", "agents-md"]),
    files("setup: claude", &["setup", "claude"]),
    Scenario { prepare: with_setup, ..files("setup: --remove", &["setup", "claude", "--remove"]) },
    Scenario { prepare: with_git, ..files("setup: git", &["setup", "git"]) },
    files("export pack", &["export", "pack", "../out/new.pack"]),
    files("export passages", &["export", "passages", "../out/new.ndjson"]),
    files("export passages: --since-index", &["export", "passages", "--since-index", "../out/new.state"]),
    files("export page", &["export", "page", "../out/page.html"]),
    files("man: --dir", &["man", "--dir", "../out/man"]),
    Scenario { rule: Rule::Server, stdin: MCP, ..notes("mcp", &["mcp"]) },
    Scenario { rule: Rule::Merge, program: "git", prepare: with_branches, ..notes("merge-driver", MERGE) },
    Scenario { stdin: HOOK, ..cache("hook", &["hook", "claude", "UserPromptSubmit"], |_| ()) },
    cache("search: writes an index", &["search", "alpha"], with_many),
    cache("search: updates an index", &["search", "alpha"], with_old_index),
    cache("context: writes an index", &["context", "--query", "alpha", "--records"], with_many),
];

/// Commands that change nothing but the cache; a test compares that with their system calls. `browse` needs a terminal; its
/// changes are those of `update`.
pub(crate) const READERS: &[&[&str]] = &[
    &["prime"],
    &["ask", "alpha"],
    &["context", "--query", "alpha"],
    &["about", "src/a.rs"],
    &["search", "alpha"],
    &["search", "--like", "a"],
    &["link", "list", "a"],
    &["link", "tree", "a"],
    &["link", "path", "c", "a"],
    &["export", "page"],
    &["export", "links"],
    &["show", "a"],
    &["journal"],
    &["browse"],
    &["list"],
    &["list", "--type", "fleeting"],
    &["tags"],
    &["tasks"],
    &["status"],
    &["status"],
    &["review"],
    &["history", "a"],
    &["history", "--since", "HEAD"],
    &["doctor"],
    &["eval", "questions.jsonl"],
    &["export", "pack"],
    &["export", "passages"],
    &["setup"],
    &["lsp"],
    &["completions", "bash"],
    &["man"],
    &["help"],
];

/// The log of a source is completed by the next command that changes a document of it.
const NEXT_DOCUMENT: &[&str] = &["capture", "--title", "Next probe", "--in", "docs"];

const MERGE: &[&str] = &["merge", "--quiet", "-m", "merged", "theirs"];

const HOOK: &str = r#"{"session_id": "s1", "hook_event_name": "UserPromptSubmit", "cwd": ".", "prompt": "Is alpha written through by the first note or by the second?"}"#;

/// Requests to create, change and read, and a second creation, which must succeed whatever failed before.
const MCP: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"capture","arguments":{"text":"A first thought."}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"update","arguments":{"id":"a","append":"More."}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"search","arguments":{"query":"alpha"}}}"#,
    "\n",
);

/// Writes what every scenario begins with.
pub(crate) fn write_base(world: &World) {
    for folder in ["repo/.git", "fresh/.git", "home/.config", "tmp", "out", "repo/.qipu/templates"] {
        std::fs::create_dir_all(world.at(folder)).unwrap();
    }
    let note = |path: &str, id: &str, fields: &str, body: &str| {
        world.write(&format!("repo/.qipu/{path}"), &format!("---\nid: {id}\n{fields}---\n{body}"));
    };
    note("notes/a-old.md", "a", "title: Old\ntags: [x] # kept\n", "Body of a, alpha.\n\n## Part\n\nText.\n");
    note("notes/b.md", "b", "title: B\ntags:\n- x\n", "See [[Old]] and [a](a-old.md), alpha beta.\n");
    note("mocs/c.md", "c", "title: C\ntype: moc\nlinks:\n- {type: supports, id: a}\n", "[[Old|label]] [[b]]\n");
    note("notes/d.md", "d", "title: D\n", "Alone, with ![a picture](../attachments/a.txt).\n");
    note("notes/e.md", "e", "title: Tasks\n", "Tasks:\n\n- [ ] open #x\n");
    note("notes/f.md", "f", "title: Draft\nstatus: draft\n", "Nobody read it.\n");
    world.write("repo/.qipu/attachments/a.txt", "attached");
    world.write("repo/.qipu/config.toml", "language = \"en\"\n");
    world.write("repo/.qipu/.gitignore", "/cache/\n/.lock\n.qipu-*\n");
    world.write("repo/src/a.rs", "fn main() {\n    first();\n}\n");
    world.write("repo/questions.jsonl", "{\"question\": \"alpha\", \"answers\": {\"ids\": \"a\"}}\n");
    world.write("repo/AGENTS.md", "# Mine\n");
    world.write("out/mine.txt", "mine");
}

fn ok(world: &World, program: &str, args: &[&str]) {
    let ended = world.run("repo", program, args, "");
    assert_eq!(ended.code, 0, "{program} {args:?}: {ended:?}");
}

fn with_git(world: &World) {
    std::fs::remove_dir_all(world.at("repo/.git")).unwrap();
    ok(world, "git", &["init", "--quiet", "--initial-branch=main"]);
    commit(world);
}

fn commit(world: &World) {
    ok(world, "git", &["add", "--all"]);
    ok(world, "git", &["commit", "--quiet", "-m", "m"]);
}

fn with_journal(world: &World) {
    ok(world, "qipu", &["journal", "the first entry"]);
}

/// Leaves a redo log that was begun: a command was killed between two files.
fn with_pending(world: &World) {
    world.save();
    world.restore();
    let (_, calls) = world.run_with_fault(
        "repo",
        ("qipu", &["update", "--yes", "--where", "tag = x", "--untag", "x", "--tag", "y"]),
        "",
        None,
    );
    let mut exchanges = calls.iter().enumerate().filter(|(_, call)| call.name == "renameat2").map(|(at, _)| at + 1);
    let second = exchanges.nth(1).unwrap();
    let fault = super::world::Fault { at: second, name: "KILL", goes_on: false };
    let is_left = (0..ATTEMPTS).any(|_| {
        world.restore();
        let (ended, _) = world.run_with_fault(
            "repo",
            ("qipu", &["update", "--yes", "--where", "tag = x", "--untag", "x", "--tag", "y"]),
            "",
            Some(fault),
        );
        ended.code == 137 && world.at("repo/.qipu/.qipu-pending").is_file()
    });
    assert!(is_left);
    world.discard_saved();
}

fn with_documents(world: &World) {
    world.write("repo/.qipu/config.toml", "[[documents]]\npath = \"docs\"\nwritable = true\n");
    for page in ["docs/a.md", "docs/b.md", "docs/sub/c.md"] {
        world.write(&format!("repo/{page}"), "---\ntags: [x] # kept\n---\nText.\n");
    }
}

fn with_defects(world: &World) {
    let notes = ["---\nid: h\ntitle: Colons: needed\n---\n[[a]]\n", "---\ntitle: No id\n---\n[[a]]\n"];
    for (number, text) in notes.iter().enumerate() {
        world.write(&format!("repo/.qipu/notes/defect{number}.md"), text);
    }
    world.write("repo/.qipu/notes/.qipu-tmp-aaaaaa", "left");
}

fn with_moved_code(world: &World) {
    with_git(world);
    ok(world, "qipu", &["update", "a", "--code", "src/a.rs:2"]);
    ok(world, "qipu", &["update", "b", "--code", "src/a.rs:2"]);
    commit(world);
    world.write("repo/src/a.rs", "// A line above.\nfn main() {\n    first();\n}\n");
    commit(world);
}

fn with_pack(world: &World) {
    ok(world, "qipu", &["export", "pack", "../out/all.pack"]);
    world.write("repo/.qipu/notes/b.md", "---\nid: b\ntitle: B\n---\nAnother text.\n");
    for gone in ["notes/a-old.md", "notes/d.md", "attachments/a.txt"] {
        std::fs::remove_file(world.at("repo/.qipu").join(gone)).unwrap();
    }
}

fn with_vault(world: &World) {
    std::fs::create_dir_all(world.at("vault/.obsidian")).unwrap();
    world.write("vault/One.md", "A page with [[Two]] and ![[picture.png]].\n");
    world.write("vault/folder/Two.md", "---\ntags: [x]\n---\nThe second page.\n");
    world.write("vault/picture.png", "picture");
}

fn with_setup(world: &World) {
    ok(world, "qipu", &["setup", "claude"]);
}

/// Makes so many notes that the store gets an index.
fn with_many(world: &World) {
    for number in 0..300 {
        let text = format!("---\nid: n{number}\ntitle: Note {number}\n---\nalpha word{number} [[n1]]\n");
        world.write(&format!("repo/.qipu/notes/n{number}.md"), &text);
    }
}

fn with_old_index(world: &World) {
    with_many(world);
    ok(world, "qipu", &["search", "alpha"]);
    for number in 0..100 {
        world.write(&format!("repo/.qipu/notes/n{number}.md"), "---\nid: m\ntitle: M\n---\nalpha again\n");
    }
}

/// Makes two branches that change a note in different ways, which qipu merges.
fn with_branches(world: &World) {
    with_git(world);
    ok(world, "qipu", &["setup", "git"]);
    commit(world);
    ok(world, "git", &["checkout", "--quiet", "-b", "theirs"]);
    ok(world, "qipu", &["update", "a", "--tag", "theirs", "--append", "Theirs."]);
    commit(world);
    ok(world, "git", &["checkout", "--quiet", "main"]);
    ok(world, "qipu", &["update", "a", "--tag", "ours"]);
    commit(world);
}
