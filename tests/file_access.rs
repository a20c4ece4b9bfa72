//! No command changes, makes or opens for writing anything outside of the store, the user's cache and the targets that
//! it is told, whatever links stand in the store; and none opens what such a link leads to. The real binary runs under
//! strace(1), which tells every system call.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use crate::support::files::temp_dir;
use crate::support::process::{call, commands_in};
use regex::Regex;
use serde_json::{Value, json};

/// The system calls that open, make, change or remove something that has a path.
const CALLS: &str = "open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,renameat2,unlink,unlinkat,\
    rmdir,link,linkat,symlink,symlinkat,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,\
    utimensat,setxattr,lsetxattr,fsetxattr";

/// More notes than a store has that gets no index.
const NOTES: usize = 300;

/// How long a command may take, in seconds: one that waits for a pipe would take for ever.
const PATIENCE: &str = "60";

/// Commands that write nowhere but into the store, in an order in which each finds what it changes.
const IN_STORE: [&[&str]; 50] = [
    &["ask", "alpha"],
    &["prime"],
    &["hook", "claude", "UserPromptSubmit"],
    &["context", "--query", "alpha", "--records"],
    &["about", "src/a.rs:12"],
    &["search", "alpha"],
    &["search", "--like", "n1"],
    &["link", "list", "n1"],
    &["link", "tree", "n1"],
    &["link", "path", "n1", "n2"],
    &["export", "page"],
    &["export", "links"],
    &["show", "n1"],
    &["show", "n2", "--raw"],
    &["journal"],
    &["browse"],
    &["list"],
    &["list", "--type", "fleeting"],
    &["list", "tag = x and linked-from = n1", "--format", "paths", "-0"],
    &["status", "--tags"],
    &["tasks"],
    &["tasks", "done", "n13:8"],
    &["status"],
    &["status"],
    &["doctor"],
    &["review"],
    &["history", "n1"],
    &["history", "--since", "HEAD"],
    &["doctor", "--fix"],
    &["review", "--kind", "code", "--fix"],
    &["eval", "questions.jsonl"],
    &["capture", "a thought"],
    &["capture", "--title", "A title", "--type", "fleeting"],
    &["journal", "an entry"],
    &["update", "n4", "--tag", "new"],
    &["link", "add", "n4", "supports", "n5"],
    &["link", "remove", "n4", "n5"],
    &["update", "n6", "--title", "Another title"],
    &["merge", "n7", "n8"],
    &["link", "add", "n9", "compacts", "n10"],
    &["supersede", "n12", "n4"],
    &["update", "n4", "--code", "src/a.rs:1"],
    &["update", "--yes", "--where", "tag = x", "--untag", "x", "--tag", "z"],
    &["delete", "n11", "--force"],
    &["export", "pack"],
    &["export", "passages"],
    &["import", "../vault"],
    &["completions", "bash"],
    &["man"],
    &["help"],
];

/// A folder with a project in it, and much around it that is none of its business.
struct World {
    dir: tempfile::TempDir,
    name: &'static str,
}

impl World {
    fn new(name: &'static str) -> Self {
        let dir = temp_dir();
        let world = Self { dir, name };
        for folder in ["repo/.git", "repo/.qipu/attachments", "repo/.qipu/templates", "cache", "tmp", "out", "vault"] {
            fs::create_dir_all(world.at(folder)).unwrap();
        }
        for folder in ["repo/.qipu/notes", "fresh/.git", "outside/cache", "outside/folder"] {
            fs::create_dir_all(world.at(folder)).unwrap();
        }
        for number in 0..NOTES {
            let text = format!(
                "---\nid: n{number}\ntitle: Note {number}\ntags: [x]\n---\nalpha word{number} [[n1]]\n\n- [ ] open\n"
            );
            world.write(&format!("repo/.qipu/notes/n{number}.md"), &text);
        }
        world.write("repo/.qipu/attachments/a.txt", "attached");
        world.write("repo/questions.jsonl", "{\"question\": \"alpha\", \"answers\": {\"ids\": \"n1\"}}\n");
        world.write("vault/page.md", "A page of a vault.");
        for side in ["ours", "base", "theirs"] {
            world.write(&format!("out/{side}.md"), &format!("# Title\n\n{side}\n"));
        }
        for file in ["victim.md", "victim.txt", "config.toml", "folder/inner.md", "cache/notes.index"] {
            world.write(&format!("outside/{file}"), "language = \"en\"\n");
        }
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.at(path), text).unwrap();
    }

    /// Puts a link into the store, in place of anything there.
    fn link(&self, path: &str, target: &str) {
        let path = self.at(&format!("repo/.qipu/{path}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).ok();
        symlink(self.at(target), path).unwrap();
    }

    fn pipe(&self, path: &str) {
        let made = Command::new("mkfifo").arg(self.at(&format!("repo/.qipu/{path}"))).status().unwrap();
        assert!(made.success());
    }

    /// Returns what is outside: for each path its text, where it leads, its mode and when it changed.
    fn outside(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)> {
        let entries = walkdir::WalkDir::new(self.at("outside")).into_iter().map(Result::unwrap);
        let look = |entry: walkdir::DirEntry| {
            let found = entry.metadata().unwrap();
            let text = if found.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            (entry.into_path(), (text, found.mode(), found.mtime(), found.mtime_nsec()))
        };
        entries.map(look).collect()
    }

    /// Runs a command under strace with lines on its standard input, each once the one before was answered.
    /// Returns its exit code.
    fn run(&self, args: &[&str], targets: &[&str]) -> i32 {
        self.run_with(args, targets, |_, _| {})
    }

    /// Runs a command as [`World::run`] does. `talk`: writes its input and reads from its output.
    fn run_with(
        &self,
        args: &[&str],
        targets: &[&str],
        talk: impl FnOnce(&mut ChildStdin, &mut BufReader<ChildStdout>),
    ) -> i32 {
        let trace = self.at("trace");
        let mut command = Command::new("timeout");
        command.args(["-k", "1", PATIENCE, "strace", "--seccomp-bpf", "-f", "-y", "-qq", "-s", "4096"]);
        command.args(["-e", &format!("trace={CALLS}"), "-o"]).arg(&trace).arg(env!("CARGO_BIN_EXE_qipu")).args(args);
        let dir = if args.first() == Some(&"init") { "fresh" } else { "repo" };
        command.current_dir(self.at(dir)).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("XDG_CACHE_HOME", self.at("cache")).env("TMPDIR", self.at("tmp")).env("HOME", self.at("cache"));
        command.env("EDITOR", "true").env("LC_ALL", "C.UTF-8");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("strace and timeout are needed");
        let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        talk(&mut input, &mut output);
        drop(input);
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        let code = child.wait().unwrap().code();
        assert!(code.is_some_and(|code| code < 100), "{} {args:?} ended with {code:?}", self.name);
        let own = ["repo/.qipu", "cache", "tmp"].iter().chain(targets).map(|path| self.at(path));
        let allowed: Vec<PathBuf> = own.chain(["/dev/null", "/dev/tty"].map(PathBuf::from)).collect();
        let calls = fs::read_to_string(trace).unwrap();
        let calls = Calls::of(&calls, &self.at(dir));
        for path in &calls.changed {
            assert!(
                allowed.iter().any(|allowed| path.starts_with(allowed)),
                "{} {args:?} writes to {path:?}",
                self.name
            );
        }
        let outside = self.at("outside");
        for path in &calls.opened {
            assert!(!path.starts_with(&outside), "{} {args:?} opens {path:?}", self.name);
        }
        code.unwrap()
    }

    /// Runs all commands. Returns the exit codes of those that write into the store alone.
    fn run_all(&self) -> Vec<i32> {
        let before = self.outside();
        let codes = IN_STORE.iter().map(|args| self.run(args, &[])).collect();
        self.run(&["export", "pack", "../out/all.pack"], &["out"]);
        let changes = ["../out/changes.ndjson", "--since-index", "../out/exported.state"];
        self.run(&[["export", "passages"].as_slice(), &changes].concat(), &["out"]);
        self.run(&["import", "../out/all.pack"], &[]);
        self.run(&["export", "page", "../out/page.html"], &["out"]);
        self.run(&["man", "--dir", "../out/man"], &["out"]);
        let merge = ["../out/base.md", "../out/ours.md", "../out/theirs.md"];
        self.run(&[["merge-driver"].as_slice(), &merge].concat(), &["out"]);
        self.run(&["setup", "agents-md"], &["repo"]);
        self.run(&["init"], &["fresh"]);
        self.serve();
        self.edit();
        assert!(self.outside() == before, "{}: something outside changed", self.name);
        codes
    }

    /// Calls every kind of tool of the server, one of them twice: the second call asks whether the store changed.
    fn serve(&self) {
        let call = |id: u32, tool: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
        let lines = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
                "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            call(2, "search", json!({"query": "alpha"})),
            call(3, "search", json!({"query": "alpha"})),
            call(4, "get_context", json!({"topic": "alpha"})),
            call(5, "expand", json!({"ids": ["n1"]})),
            call(6, "capture", json!({"text": "a thought"})),
            call(7, "link", json!({"from": "n1", "to": "n2", "type": "supports"})),
            call(8, "search", json!({"query": "alpha"})),
        ];
        self.run_with(&["mcp"], &[], |input, output| {
            for line in lines {
                writeln!(input, "{line}").unwrap();
                if line.get("id").is_some() {
                    let mut answer = String::new();
                    assert!(output.read_line(&mut answer).unwrap() > 0, "{}: no answer to {line}", self.name);
                }
            }
        });
    }

    /// Opens a note in the language server, changes its text, and asks for what is written nowhere: a new title.
    fn edit(&self) {
        let uri = format!("file://{}", self.at("repo/.qipu/notes/n1.md").display());
        let text = "---\nid: n1\ntitle: Other\n---\n\n[[n2]]\n";
        let document = json!({"uri": uri, "languageId": "markdown", "version": 1, "text": text});
        let position = json!({"line": 2, "character": 8});
        let root = format!("file://{}", self.at("repo").display());
        let messages = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"rootUri": root, "capabilities": {}}}),
            json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "textDocument/rename",
                "params": {"textDocument": {"uri": uri}, "position": position, "newName": "New"}}),
            json!({"jsonrpc": "2.0", "id": 3, "method": "shutdown"}),
            json!({"jsonrpc": "2.0", "method": "exit"}),
        ];
        let code = self.run_with(&["lsp"], &[], |input, _| {
            for message in messages.iter().map(Value::to_string) {
                write!(input, "Content-Length: {}\r\n\r\n{message}", message.len()).unwrap();
            }
        });
        assert_eq!(code, 0, "{}", self.name);
    }
}

/// What system calls came to.
struct Calls {
    /// The real paths that were opened.
    opened: BTreeSet<PathBuf>,
    /// Those that were opened for writing, and those that were made, changed or removed.
    changed: BTreeSet<PathBuf>,
}

impl Calls {
    /// Reads what strace wrote.
    fn of(text: &str, dir: &Path) -> Self {
        let (mut opened, mut changed) = (BTreeSet::new(), BTreeSet::new());
        let result = Regex::new(r"\) += (-?\d+)(?:<(.*)>)?(?: .*)?$").unwrap();
        let writes = Regex::new(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_TMPFILE").unwrap();
        for line in whole_lines(text) {
            let Some((name, rest)) = line.split_once('(') else { continue };
            let Some(found) = result.captures(&line) else { continue };
            if found[1].starts_with('-') {
                continue;
            }
            if name.starts_with("open") || name == "creat" {
                let path = PathBuf::from(found.get(2).map_or("", |path| path.as_str()));
                if writes.is_match(rest) || name == "creat" {
                    changed.insert(path.clone());
                }
                opened.insert(path);
            } else {
                changed.extend(paths(rest, dir));
            }
        }
        Self { opened, changed }
    }
}

/// Puts calls together that other threads interrupted, and takes the number of the process away.
fn whole_lines(text: &str) -> Vec<String> {
    let (mut begun, mut lines) = (BTreeMap::new(), Vec::new());
    for line in text.lines() {
        let (process, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        if let Some(first) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(process, first);
        } else if let Some((_, rest)) = call.split_once(" resumed>").filter(|_| call.starts_with("<...")) {
            lines.push(format!("{}{rest}", begun.remove(process).unwrap()));
        } else {
            lines.push(call.to_owned());
        }
    }
    lines
}

/// Returns the real paths that a call names: a text and the folder before it, or an open file.
fn paths(call: &str, dir: &Path) -> Vec<PathBuf> {
    let path = Regex::new(r#"(?:(?:AT_FDCWD|\d+)<([^>]*)>(?:, )?)?"((?:[^"\\]|\\.)*)"|\d+<([^>]*)>"#).unwrap();
    let real = |found: regex::Captures<'_>| {
        if let Some(open) = found.get(3) {
            return PathBuf::from(open.as_str());
        }
        let folder = found.get(1).map_or(dir, |folder| Path::new(folder.as_str()));
        let whole = folder.join(&found[2]);
        let above = whole.parent().unwrap();
        // A folder that was deleted meanwhile contained no link.
        above.canonicalize().unwrap_or_else(|_| above.to_path_buf()).join(whole.file_name().unwrap_or_default())
    };
    path.captures_iter(call).map(real).collect()
}

#[test]
#[ignore = "needs strace"]
fn writes_stay_inside_a_store_without_links() {
    let world = World::new("plain");
    let codes = world.run_all();
    for (args, code) in IN_STORE.iter().zip(codes) {
        // There is no terminal, no file that git tracks, and no commit.
        let is_refused = ["browse", "history"].contains(&args[0]) || args.contains(&"--code");
        assert_eq!(code != 0, is_refused, "{args:?} ended with {code}");
    }
    assert!(world.at("repo/.qipu/cache/notes.index").is_file() && world.at("repo/AGENTS.md").is_file());
    assert!(world.at("out/all.pack").is_file() && world.at("out/page.html").is_file());
    assert!(world.at("out/man").is_dir() && world.at("fresh/.qipu/config.toml").is_file());
    // Every command that help names is among those that ran.
    let others = ["setup", "init", "mcp", "lsp"];
    let listed = commands_in(&call("fixtures/research", &["--help"]).stdout);
    assert!(!listed.is_empty());
    for name in listed {
        let is_run = IN_STORE.iter().any(|args| args[0] == name) || others.contains(&&*name);
        assert!(is_run, "{name} is not tried");
    }
}

#[test]
#[ignore = "needs strace"]
fn folders_that_are_links_are_not_followed() {
    let world = World::new("folders");
    world.link("mocs", "outside/folder");
    world.link("journals", "outside/folder");
    world.link("notes/folder", "outside/folder");
    world.link("notes/victim.md", "outside/victim.md");
    world.link("notes/dead.md", "outside/none.md");
    world.link("attachments", "outside/folder");
    world.link("templates", "outside/folder");
    world.link("cache", "outside/cache");
    world.pipe("notes/pipe.md");
    world.run_all();
    assert!(!world.at("outside/none.md").exists());
}

#[test]
#[ignore = "needs strace"]
fn files_that_are_links_are_neither_followed_nor_waited_for() {
    let world = World::new("files");
    for file in [".gitignore", "notes.index", "links.index", "folders.index", ".qipu-tmp-aaaaaa"] {
        world.link(&format!("cache/{file}"), "outside/victim.txt");
    }
    for number in 1..9 {
        world.link(&format!("cache/watch-{number}-1"), "outside/victim.txt");
    }
    world.link("attachments/b.txt", "outside/victim.txt");
    world.link("attachments/folder", "outside/folder");
    world.link("templates/fleeting.md", "outside/victim.md");
    world.link(".gitignore", "outside/victim.txt");
    world.pipe("attachments/pipe");
    world.run_all();
}

#[test]
#[ignore = "needs strace"]
fn settings_locks_and_lists_that_are_links_are_refused() {
    for (file, is_pipe) in [("config.toml", false), (".lock", false), (".qipu-pending", false), ("config.toml", true)] {
        let world = World::new(file);
        if is_pipe {
            world.pipe(file)
        } else {
            world.link(file, "outside/config.toml")
        }
        let before = world.outside();
        for args in [["list", "--records"], ["search", "alpha"], ["capture", "a thought"], ["doctor", "--fix"]] {
            world.run(&args, &[]);
        }
        assert!(world.outside() == before, "{file}: something outside changed");
    }
}
