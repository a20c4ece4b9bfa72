//! Runs what the documents show: the examples of README.md and `specs/` in a real shell, and compares their output; the
//! commands that `prime`, the recipes and the help texts teach.
//!
//! `QIPU_UPDATE_DOCS=1 cargo test --test all docs::` writes outputs that changed into README.md and into `specs/`, and leaves
//! those that are true, cut ones included.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::files::{copy_folder, temp_dir};
use crate::support::process::{call, call_with, commands_in, trust};
use crate::support::schema;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A shell that remembers its directory between commands.
struct Shell {
    /// The directory, and the file in which the shell writes it down.
    dir: PathBuf,
    place: PathBuf,
    /// Where it makes temporary files.
    temporary: PathBuf,
}

impl Shell {
    fn new(temporary: &Path, folder: &str) -> Self {
        Self { dir: temporary.join(folder), place: temporary.join("place"), temporary: temporary.to_path_buf() }
    }

    /// Runs a command line and returns what it writes to both outputs.
    fn run(&mut self, line: &str) -> String {
        let bin = Path::new(env!("CARGO_BIN_EXE_qipu")).parent().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let script = format!("exec 2>&1\n{line}\npwd > '{}'", self.place.display());
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(&self.dir).env_clear();
        command.env("HOME", self.place.with_file_name(""));
        command.env("XDG_CONFIG_HOME", self.place.with_file_name(".config"));
        command.env("XDG_DATA_HOME", self.place.with_file_name(".data"));
        // The commits of an example have the same ids in every run.
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Ines").env(format!("GIT_{who}_EMAIL"), "ines@example.org");
            command.env(format!("GIT_{who}_DATE"), "2026-03-02T10:00:00Z");
        }
        let output = command.env("PATH", path).env("TMPDIR", &self.temporary).output();
        self.dir = PathBuf::from(fs::read_to_string(&self.place).unwrap().trim_end());
        String::from_utf8(output.unwrap().stdout).unwrap()
    }
}

/// Returns the text with the commands of every `console` block run in a folder of a copy of the fixtures; without a
/// folder, in a checkout alone. An output stays as it is written where that is true; else it is replaced by the real
/// one.
fn with_outputs(text: &str, folder: &str) -> String {
    let tmp = temp_dir();
    copy_own_memory(&tmp.path().join("qipu"));
    // A reader of README.md has no more than a clone, named `qipu`.
    if !folder.is_empty() {
        for name in ["research", "eval", "prompts"] {
            copy_folder(&Path::new(ROOT).join("fixtures").join(name), &tmp.path().join("fixtures").join(name));
        }
        // The reader's own store.
        let research = tmp.path().canonicalize().unwrap().join("fixtures/research/.qipu");
        trust(&tmp.path().join(".config"), &[research]);
    }
    let mut shell = Shell::new(tmp.path(), if folder.is_empty() { "qipu" } else { folder });
    let mut out = String::new();
    let mut in_block = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(&format!("{line}\n"));
        match line {
            "```console" => in_block = true,
            "```" if in_block => in_block = false,
            _ => {}
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| in_block) else { continue };
        let mut command = command.to_owned();
        let word =
            command.split_once("<<'").and_then(|(_, rest)| rest.split_once('\'')).map(|(word, _)| word.to_owned());
        while word.as_ref().is_some_and(|word| !command.ends_with(&format!("\n{word}"))) {
            let next = lines.next().unwrap();
            out.push_str(&format!("{next}\n"));
            command.push_str(&format!("\n{next}"));
        }
        let mut written = String::new();
        while let Some(next) = lines.next_if(|next| *next != "```" && !next.starts_with("$ ")) {
            written.push_str(&format!("{next}\n"));
        }
        let output = shell.run(&command);
        check_schema(&command, &output);
        out.push_str(if same_but_cut(&written, &output).is_ok() { &written } else { &output });
    }
    out
}

/// An answer in JSON conforms to its schema, whatever the page cuts.
fn check_schema(command: &str, output: &str) {
    let begins = ["{\"schema\":", "{\"banner\":", "{\"error\":"];
    if command.contains("json") && begins.iter().any(|begin| output.starts_with(begin)) {
        let mut values = serde_json::Deserializer::from_str(output).into_iter();
        let answer = values.next().unwrap().unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(schema::errors(&answer), Vec::<String>::new(), "{command}");
    }
}

/// Copies the memory of this repository, and the files to which its notes refer.
fn copy_own_memory(to: &Path) {
    copy_folder(&Path::new(ROOT).join(".qipu"), &to.join(".qipu"));
    for folder in ["notes", "mocs"] {
        for note in fs::read_dir(to.join(".qipu").join(folder)).unwrap() {
            let note = fs::read_to_string(note.unwrap().path()).unwrap();
            let paths = note
                .lines()
                .take_while(|line| !line.is_empty())
                .filter_map(|line| line.strip_prefix("  - path: "))
                .map(|path| path.trim_matches('"'));
            for path in paths {
                fs::create_dir_all(to.join(path).parent().unwrap()).unwrap();
                fs::copy(Path::new(ROOT).join(path), to.join(path)).unwrap();
            }
        }
    }
}

/// Compares a page with what its commands print, and returns the first difference. Where `QIPU_UPDATE_DOCS` is set, a
/// page that differs is rewritten instead.
fn check_page(path: &Path, folder: &str) -> Result<usize, String> {
    let page = fs::read_to_string(path).unwrap();
    let commands = page.matches("\n$ ").count();
    let true_page = if commands == 0 { page.clone() } else { with_outputs(&page, folder) };
    if page == true_page {
        return Ok(commands);
    }
    if std::env::var_os("QIPU_UPDATE_DOCS").is_some() {
        fs::write(path, true_page).unwrap();
        return Ok(commands);
    }
    let difference = same_but_cut(&page, &true_page).err().unwrap_or("only line ends differ".to_owned());
    Err(format!("{}\n{difference}", path.display()))
}

#[test]
fn readme_shows_what_happens() {
    let commands =
        check_page(&Path::new(ROOT).join("README.md"), "").unwrap_or_else(|difference| panic!("{difference}"));
    assert!(commands >= 8, "only {commands} examples found");
}

/// Compares what a page says with what happened, except for the ids that notes get at random and for what the page
/// cuts: `…` in a line stands for any characters, a line `…` for any number of lines.
fn same_but_cut(said: &str, happened: &str) -> Result<(), String> {
    let random = regex::Regex::new("qp-[0-9a-z]{8}").unwrap();
    let mut happened = happened.lines();
    let mut skips = false;
    for said in said.lines() {
        if said == "…" {
            skips = true;
            continue;
        }
        let is_same = |line: &&str| {
            let (said, line) = (random.replace_all(said, "qp-*"), random.replace_all(line, "qp-*"));
            let pattern = regex::escape(&said).replace('…', ".*");
            said == line || (said.contains('…') && regex::Regex::new(&format!("^{pattern}$")).unwrap().is_match(&line))
        };
        let found = if skips { happened.find(is_same) } else { happened.next() };
        if !found.as_ref().is_some_and(is_same) {
            return Err(format!("said:     {said}\nhappened: {}", found.unwrap_or("(nothing)")));
        }
        skips = false;
    }
    happened.next().filter(|_| !skips).map_or(Ok(()), |line| Err(format!("not said: {line}")))
}

/// Returns the Markdown files of a folder and of the folders in it, sorted by path.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let found = paths.into_iter().flat_map(|path| match path.is_dir() {
        true => pages(&path),
        false => vec![path],
    });
    found.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Each page of the specification has examples of its own: they begin in a fresh copy of the demo store.
#[test]
fn specifications_show_what_happens() {
    let paths = pages(&Path::new(ROOT).join("specs"));
    let pages: Vec<_> = paths.iter().map(|path| check_page(path, "fixtures/research")).collect();
    let wrong: Vec<_> = pages.iter().filter_map(|page| page.clone().err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let count: usize = pages.into_iter().flatten().sum();
    assert!(count >= 60, "only {count} examples found");
}

/// The most words of a document; together, documents have at most `MAX_WORDS`.
const LENGTHS: [(&str, usize); 15] = [
    ("README.md", 1_300),
    ("AGENTS.md", 500),
    ("CONTRIBUTING.md", 1_100),
    ("SECURITY.md", 900),
    ("CHANGELOG.md", 500),
    ("specs/README.md", 300),
    ("specs/glossary.md", 500),
    ("specs/guide/start.md", 900),
    ("specs/guide/notes.md", 1_300),
    ("specs/guide/finding.md", 1_200),
    ("specs/guide/agents.md", 1_200),
    ("specs/guide/documents.md", 1_000),
    ("specs/guide/staying-true.md", 1_300),
    ("specs/guide/people.md", 800),
    ("specs/guide/help.md", 800),
];
const MAX_WORDS: usize = 45_000;

/// Nobody reads more than this, and a maintainer has to keep all of it true.
#[test]
fn documents_are_short() {
    let root = Path::new(ROOT);
    let words = |path: &Path| fs::read_to_string(path).unwrap().split_whitespace().count();
    for (page, most) in LENGTHS {
        let count = words(&root.join(page));
        assert!(count <= most, "{page} has {count} words, at most {most} are wanted");
    }
    assert!(fs::read_to_string(root.join("README.md")).unwrap().lines().count() <= 160, "README.md has over 160 lines");
    let top = LENGTHS.iter().map(|(page, _)| root.join(page)).filter(|page| !page.starts_with(root.join("specs")));
    let count: usize = top.chain(pages(&root.join("specs"))).map(|page| words(&page)).sum();
    assert!(count <= MAX_WORDS, "the documents have {count} words");
}

/// Words for which specs/glossary.md has another one, that a user meets nowhere else, or that belong to the code.
const BANNED: &str = "adjacency|anchors?|assessments?|authority|banners?|bundles?|candidates?|collections?|compaction|\
    concepts?|diagnostics?|dialects?|edges?|excerpts?|expired|extracts?|fragments?|freshness|hidden|managed section|\
    map of content|named query|obsolete|outdated|prior state|primers?|provenance|representative|snapshots?|stale|\
    successors?|transpose|turned down|verdicts?|withheld|worklists?";

/// The guide speaks the language of the glossary. Code, which has names such as `status: obsolete`, is not prose.
#[test]
fn guide_uses_the_terms_of_the_glossary() {
    let banned = regex::Regex::new(&format!(r"(?i)\b({BANNED})\b")).unwrap();
    let code = regex::Regex::new(r"(?s)```.*?\n```|`[^`\n]+`|\]\([^)]*\)").unwrap();
    for page in pages(&Path::new(ROOT).join("specs/guide")) {
        let text = fs::read_to_string(&page).unwrap();
        let prose = code.replace_all(&text, "");
        let found: Vec<&str> = banned.find_iter(&prose).map(|found| found.as_str()).collect();
        assert!(found.is_empty(), "{}: {found:?}", page.display());
    }
}

/// Commands that README.md, AGENTS.md and CONTRIBUTING.md give to developers are those that CI runs.
#[test]
fn developers_commands_are_run_by_ci() {
    let ci = fs::read_to_string(Path::new(ROOT).join(".ci/run")).unwrap();
    let mut count = 0;
    for name in ["README.md", "AGENTS.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
        let mut in_block = false;
        for line in text.lines() {
            match line {
                "```sh" => in_block = true,
                "```" => in_block = false,
                command if in_block => {
                    count += 1;
                    // CI installs into a folder that it removes, and lets a command run beside others.
                    let runs = |line: &str| {
                        line.strip_prefix(command).is_some_and(|rest| {
                            rest.is_empty() || rest == " --root \"$installed\"" || rest.starts_with(" > \"$logs/")
                        })
                    };
                    assert!(ci.lines().map(str::trim).any(runs), "{name}: `{command}` is not in .ci/run");
                }
                _ => {}
            }
        }
    }
    assert!(count >= 6, "only {count} commands found");
}

/// Runs a command line as a document teaches it, with its placeholders filled in.
fn run_taught(line: &str) {
    // What follows on the next lines.
    let word = line.split_once("<<'").map(|(_, word)| word.trim_end_matches('\''));
    let line = word.map_or(line.to_owned(), |word| format!("{line}\nthought\n{word}"));
    let line = line.as_str();
    let filled = line
        .replace("\"WORDS\"", "fsync")
        .replace("'TEXT'", "thought")
        .replace(" OLD NEW", " qp-h2v6 qp-9f2t")
        .replace(" OLD", " qp-q8s2")
        .replace(" DIGEST", " qp-7d1x")
        .replace(" ID:LINE", " qp-5m3y:114")
        .replacen(" ID ID", " qp-h2v6 qp-9f2t", 1)
        .replacen("link add ID", "link add qp-h2v6", 1)
        .replace(" ID", " qp-9f2t")
        .replace(":ID", ":qp-9f2t")
        .replace(" TAG", " errors")
        .replace(" PATH", " src/main.rs")
        .replace("'OLD'", "'wrong turns included'");
    let tmp = temp_dir();
    fs::create_dir_all(tmp.path().join("vault/.obsidian")).unwrap();
    fs::write(tmp.path().join("vault/A page.md"), "Text.\n").unwrap();
    let project = tmp.path().join("project");
    match filled.starts_with("qipu init") {
        true => fs::create_dir_all(&project).unwrap(),
        false => copy_folder(&Path::new(ROOT).join("fixtures/research"), &project),
    }
    if line.contains("eval questions.jsonl") {
        let question = r#"{"question": "fsync", "answers": {"patterns": "fsync"}}"#;
        fs::write(project.join("questions.jsonl"), question).unwrap();
    }
    if line.contains("< input.json") {
        fs::write(project.join("input.json"), r#"{"prompt": "May I call fsync again after EIO?"}"#).unwrap();
    }
    if filled.contains("src/main.rs") {
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(project.join("src/main.rs"), format!("fn main() {{\n{}}}\n", "    work();\n".repeat(20))).unwrap();
    }
    if line.contains("--from docs/guide.md") {
        fs::create_dir_all(project.join("docs")).unwrap();
        fs::write(project.join("docs/guide.md"), "# Guide\n\n## Install\n\nRun it.\n").unwrap();
        let config = project.join(".qipu/config.toml");
        let documents = "\n[[documents]]\npath = \"docs\"\n";
        fs::write(&config, fs::read_to_string(&config).unwrap() + documents).unwrap();
    }
    if line.contains("load notes.pack") || line.contains("import notes.pack") {
        assert_eq!(call(project.to_str().unwrap(), &["dump", "notes.pack"]).code(), 0);
    }
    if line.starts_with("qipu delete ID") && !line.contains("--force") {
        // Notes that no others link to.
        fs::write(project.join(".qipu/notes/a.md"), "---\nid: qp-a\n---\n").unwrap();
        fs::write(project.join(".qipu/notes/b.md"), "---\nid: qp-b\n---\n").unwrap();
    }
    let filled = if line == "qipu delete ID ID" { "qipu delete qp-a qp-b".to_owned() } else { filled };
    if line.contains("--all-detected") {
        Command::new("git").args(["init", "-q"]).current_dir(&project).status().unwrap();
    }
    if line.starts_with("qipu history") || line.starts_with("qipu diff") {
        commit_often(&project);
    }
    let bin = Path::new(env!("CARGO_BIN_EXE_qipu")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    // The last of a pipe may be a program that reads the answer, such as `man`.
    let script = match filled.rsplit_once(" | ") {
        Some((line, last)) if !last.starts_with("qipu") => line.to_owned(),
        _ => filled,
    };
    let script = script.replace("git log -1 --format=%B", "echo thought");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(&project).env_clear().env("PATH", path).stdin(Stdio::null());
    if script.contains("--documents docs") {
        fs::create_dir_all(project.join("docs")).unwrap();
    }
    let output = command.output().unwrap();
    // A browser has nothing to fill here, and a server nobody to serve; `tests/browse.rs`, `tests/mcp.rs` and `tests/lsp.rs` have.
    if script.starts_with("qipu browse") {
        assert_eq!(output.status.code(), Some(2), "{line}");
        return assert!(String::from_utf8_lossy(&output.stderr).contains("terminal"), "{line}");
    }
    if ["qipu mcp", "qipu lsp"].contains(&script.as_str()) {
        return assert!(output.status.success() && output.stdout.is_empty(), "{line}");
    }
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(!output.stdout.is_empty(), "{line} says nothing");
}

/// Makes a repository of a project, with commits of long ago and two tags.
fn commit_often(project: &Path) {
    let commit = "git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m m";
    let script = format!(
        "git init -q && git add . && for n in 1 2 3 4 5 6; do {commit}; done && git tag v1.0 HEAD~1 && git tag v2.0"
    );
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", &script]).current_dir(project).env("GIT_COMMITTER_DATE", "2025-03-05T12:00:00Z");
    assert!(shell.status().unwrap().success());
}

/// Returns the command lines in a text: what begins with `qipu ` after a mark, up to its end.
fn taught(text: &str) -> Vec<String> {
    text.split('`').filter(|piece| piece.starts_with("qipu ")).map(str::to_owned).collect()
}

/// The texts from which agents learn to use qipu, each with the least number of commands in it.
fn teachers() -> Vec<(&'static str, String, usize)> {
    let print = |recipe| call("fixtures/research", &["setup", recipe, "--print"]).stdout;
    let prime = call("fixtures/research", &["prime"]).stdout;
    let recipes = ["agents-md", "codex", "gemini", "cursor", "copilot"].map(|recipe| (recipe, print(recipe), 9));
    [("prime", prime, 8), ("claude", print("claude"), 12)].into_iter().chain(recipes).collect()
}

#[test]
fn every_command_that_prime_and_recipes_teach_runs() {
    let mut lines: Vec<String> = Vec::new();
    for (name, text, least) in teachers() {
        let taught = taught(&text);
        assert!(taught.len() >= least, "{name} teaches {taught:?}");
        lines.extend(taught);
    }
    lines.sort();
    lines.dedup();
    assert!(lines.len() >= 13, "{lines:?}");
    lines.iter().for_each(|line| run_taught(line));
}

/// Agents learn when to look from each text, and from the MCP server.
#[test]
fn every_text_for_agents_says_when_to_look() {
    let when = "Before you change code, configuration, a dependency or a schedule, and before you call a change done,";
    for (name, text, _) in teachers() {
        assert!(text.replace('\n', " ").contains(when), "{name}: {text}");
    }
    let skill = call("fixtures/research", &["setup", "claude", "--print"]).stdout;
    assert!(
        skill.contains("Use it before changing code, configuration, a dependency or a schedule, and before calling")
    );
}

/// What the taught command saves is seen in the next session, before an edit of its file, before a command that it names, and by
/// who asks about the file.
#[test]
fn what_agents_are_taught_to_save_is_seen_where_it_should_be() {
    let (_, section, _) = teachers().into_iter().find(|(name, ..)| *name == "agents-md").unwrap();
    let line = taught(&section).into_iter().find(|line| line.starts_with("qipu capture")).unwrap();
    for kind in ["decision", "warning", "finding", "how-to", "convention"] {
        assert!(section.contains(kind), "{kind} is not taught");
        let project = temp_dir();
        let dir = project.path().to_str().unwrap();
        assert_eq!(call(dir, &["init"]).code(), 0);
        fs::create_dir_all(project.path().join("src")).unwrap();
        fs::write(project.path().join("src/main.rs"), "fn main() {}\n").unwrap();
        let text = "Never run `migrate down` on the audit table.";
        let filled = line.replace("--type decision", &format!("--type {kind}")).replace(" TAG", " db");
        let filled = filled.replace(" PATH", " src/main.rs").replace(" --link supports:ID", "");
        let bin = Path::new(env!("CARGO_BIN_EXE_qipu")).parent().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        let script = format!("{filled}\n{text}\nQIPU_END\n");
        let saved = shell.args(["-c", &script]).current_dir(dir).env_clear().env("PATH", path).output().unwrap();
        assert!(saved.status.success(), "{kind}: {}", String::from_utf8_lossy(&saved.stderr));
        assert!(call(dir, &["prime"]).stdout.contains("audit table"), "{kind}: not in the primer");
        assert!(call(dir, &["about", "src/main.rs"]).stdout.contains("audit table"), "{kind}: not found by its file");
        let hook = |input: serde_json::Value| {
            call_with(dir, &["hook", "claude", "PreToolUse", "--no-seen"], &input.to_string(), &[]).stdout
        };
        let file = project.path().join("src/main.rs");
        let edit = hook(serde_json::json!({"tool_name": "Edit", "cwd": dir, "tool_input": {
            "file_path": file, "old_string": "a", "new_string": "b"}}));
        assert!(edit.contains("audit table"), "{kind}: not before an edit: {edit}");
        let command =
            serde_json::json!({"tool_name": "Bash", "cwd": dir, "tool_input": {"command": "migrate down --env prod"}});
        let command = hook(command);
        let is_rule = ["decision", "warning"].contains(&kind);
        assert!(!is_rule || command.contains("audit table"), "{kind}: not before a command");
    }
}

/// Every command has examples in its help, and each of them runs; so do the ten tasks of the program's help.
#[test]
fn every_example_in_help_runs() {
    let help = |words: &[&str]| call("fixtures/research", &[words, &["--help"]].concat()).stdout;
    let main = help(&[]);
    let mut lines: Vec<String> = Vec::new();
    let mut take = |text: &str, mark: &str| {
        let (_, examples) = text.split_once(mark).unwrap_or_else(|| panic!("no examples in {text}"));
        let found = examples.lines().map(str::trim).filter(|line| line.contains("qipu ")).map(str::to_owned);
        let before = lines.len();
        lines.extend(found);
        assert!(lines.len() > before, "{text}");
    };
    take(&main, "Common tasks:\n");
    let first = call("fixtures/research", &[]).stdout.replace("`qipu help` lists everything.", "");
    take(&first, "Read today's journal, or add a line\n");
    let commands = commands_in(&main);
    assert!(commands.len() >= 28, "{commands:?}");
    for command in &commands {
        let text = help(&[command]);
        take(&text, "\nExamples:\n");
        commands_in(&text).iter().for_each(|below| {
            take(&help(&[command, below]), "\nExamples:\n");
        });
    }
    let tasks = lines.iter().take_while(|line| !line.contains("--hook")).count();
    assert!(tasks >= 10 && lines.len() >= 60, "{lines:?}");
    lines.sort();
    lines.dedup();
    lines.iter().for_each(|line| run_taught(line));
}

/// Prose below a command's help breaks where the line is full, or behind a sentence.
#[test]
fn paragraphs_in_help_are_not_ragged() {
    let help = |words: &[&str]| call("fixtures/research", &[words, &["--help"]].concat()).stdout;
    let mut count = 0;
    for command in commands_in(&help(&[])) {
        let text = help(&[&command]);
        let (prose, _) = text.split_once("\nExamples:\n").unwrap();
        let lines: Vec<&str> = prose.lines().collect();
        let width = lines.iter().map(|line| line.chars().count()).max().unwrap();
        for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with(char::is_alphanumeric))) {
            let next = pair[1].split(' ').next().unwrap();
            let is_full = pair[0].chars().count() + 1 + next.chars().count() > width.min(100);
            assert!(is_full || pair[0].ends_with(['.', ':']), "{command}: {pair:?}");
            count += 1;
        }
    }
    assert!(count >= 3, "{count}");
}

/// The most important of the primer stands in its first 2,000 characters, and all of it in 8,000.
#[test]
fn prime_is_short_and_begins_with_what_matters() {
    for format in ["human", "records", "json"] {
        let text = call("fixtures/research", &["prime", "--format", format]).stdout;
        assert!(text.chars().count() <= 8_000);
        let beginning: String = text.chars().take(2_000).collect();
        for needed in [
            "memory, not a task list",
            "qipu ask",
            "words that the answer would use",
            ".qipu/",
            "fsync",
            "journal-2025-03-31",
        ] {
            assert!(beginning.contains(needed), "{format}: {needed} comes late");
        }
    }
}
