//! Random histories of a git repository with a store: notes, documents, code, settings, symbolic links, branches.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::random::Random;
use crate::support::files::temp_dir;

/// The folder of the repository: a clone has the same name elsewhere, for names of folders are in answers.
pub(crate) const PROJECT: &str = "shop";
/// The seconds of the first commit: 2026-03-01T08:00:00Z.
const FIRST: i64 = 1_772_352_000;

const CONFIGS: [&str; 8] = [
    "",
    "[[documents]]\npath = \"docs\"\n",
    "[[documents]]\npath = \"docs/**/*.md\"\nname = \"d\"\n[[stores]]\npath = \"packages/*\"\n",
    "parents = false\nlanguage = \"de\"\n[[documents]]\npath = \"linked\"\n[[documents]]\npath = \"missing\"\n",
    "[review]\nhold = true\ndrafts = \"mark\"\n[link-types]\nimplements = \"implemented-by\"\n",
    "[trust.hosts]\n\"example.org\" = 0.9\n[[documents]]\npath = \"../outside\"\n[[documents]]\npath = \".\"\nas = \"markdown\"\n",
    "[worktrees]\nshare = true\n[[documents]]\npath = \"docs/d[1].md\"\n[[documents]]\npath = \"vault\"\nas = \"obsidian\"\n",
    "not = [valid\n",
];
const WORDS: [&str; 16] = [
    "parser", "budget", "graph", "index", "cache", "deploy", "release", "token", "merge", "lock", "query", "render",
    "shop", "billing", "invoice", "customer",
];
const NOTE_FOLDERS: [&str; 4] = ["notes", "notes/deep/er", "mocs", "journals"];

/// A repository with a random history, and the user's home.
pub(crate) struct History {
    dir: tempfile::TempDir,
    random: Random,
    seconds: i64,
    /// The ids of the commits of the first-parent history and of merged branches, the oldest first.
    pub(crate) commits: Vec<String>,
}

impl History {
    /// Makes a history with a number of commits at least.
    pub(crate) fn new(seed: u64, commits: usize, init: &[&str]) -> Self {
        let dir = temp_dir();
        let mut history = Self { dir, random: Random::new(seed), seconds: FIRST, commits: Vec::new() };
        fs::create_dir_all(history.path("")).unwrap();
        history.git(&[&["init", "--quiet", "--initial-branch=main"], init].concat());
        history.write_home();
        history.write(".qipu/config.toml", CONFIGS[1].as_bytes());
        history.write("src/a.rs", b"fn start() {\n    run();\n}\n\nfn stop() {\n    halt();\n}\n");
        for number in 0..10 {
            let id = format!("qp-f{number}");
            let text = history.note_text(&id);
            history.write(&format!(".qipu/notes/{id}.md"), text.as_bytes());
        }
        history.write_document();
        history.write_package();
        history.commit();
        while history.commits.len() < commits {
            if history.random.chance(15) {
                history.merge_a_branch();
            } else {
                history.change_some();
                history.commit();
            }
        }
        history
    }

    fn write_home(&self) {
        let settings = "[trust.authors]\n\"ann@example.org\" = 0.9\n\"bob@example.org\" = 0.2\n";
        self.write_at(&self.home().join(".config/qipu/config.toml"), settings.as_bytes());
        let note = "---\nid: qp-own\ntitle: My own parser\n---\nThe parser that I like.\n";
        self.write_at(&self.home().join(".local/share/qipu/notes/qp-own.md"), note.as_bytes());
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join("origin").join(PROJECT).join(path)
    }

    /// Clones the repository and returns the folder of the working tree.
    pub(crate) fn clone_to(&self, name: &str) -> PathBuf {
        let target = self.root().join(name).join(PROJECT);
        self.git(&["clone", "--quiet", "--no-local", ".", target.to_str().unwrap()]);
        target
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.path(""), args)
    }

    pub(crate) fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        let output = self.command("git", dir).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn qipu_in(&self, dir: &Path, args: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_qipu"), dir).args(args).output().unwrap()
    }

    fn command(&self, program: &str, dir: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(dir).env_clear().env("PATH", std::env::var("PATH").unwrap()).stdin(Stdio::null());
        let author = if self.commits.len().is_multiple_of(3) { "bob" } else { "ann" };
        for who in ["AUTHOR", "COMMITTER"] {
            let email = format!("{author}@example.org");
            command.env(format!("GIT_{who}_NAME"), author).env(format!("GIT_{who}_EMAIL"), email);
            command.env(format!("GIT_{who}_DATE"), format!("@{} +0200", self.seconds));
        }
        command.env("HOME", self.home()).env("QIPU_TODAY", "2026-11-24").env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        self.write_at(&self.path(path), bytes);
    }

    fn write_at(&self, path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn commit(&mut self) {
        self.seconds += self.random.between(60, 200_000) as i64;
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "a change"]);
        self.commits.push(self.git(&["rev-parse", "HEAD"]).trim().to_owned());
    }

    fn merge_a_branch(&mut self) {
        let from = self.commits[self.random.below(self.commits.len())].clone();
        self.git(&["checkout", "--quiet", "--detach", &from]);
        self.change_some();
        self.commit();
        let branch = self.commits.last().unwrap().clone();
        self.git(&["checkout", "--quiet", "main"]);
        self.seconds += 60;
        let merge = ["merge", "--quiet", "--no-ff", "-X", "ours", "-m", "a merge", &branch];
        let merged = self.command("git", &self.path("")).args(merge).output().unwrap();
        if !merged.status.success() {
            // A file that one side deleted: what is there counts.
            self.git(&["add", "--all"]);
            self.git(&["commit", "--quiet", "--no-edit", "--allow-empty"]);
        }
        self.commits.push(self.git(&["rev-parse", "HEAD"]).trim().to_owned());
    }

    /// Changes some files of the working tree.
    pub(crate) fn change_some(&mut self) {
        for _ in 0..self.random.between(1, 5) {
            match self.random.below(16) {
                0..=3 => self.create_note(),
                4..=6 => self.edit_note(),
                7 => self.move_note(),
                8 => self.delete_file(),
                9 => {
                    let config = self.random.choice(&CONFIGS).to_owned();
                    self.write(".qipu/config.toml", config.as_bytes());
                }
                10 | 11 => self.write_document(),
                12 => self.edit_code(),
                13 => self.link(),
                14 => self.write_package(),
                _ => self.write_oddity(),
            }
        }
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.random.choice(&WORDS)).collect::<Vec<_>>().join(" ")
    }

    fn id(&mut self) -> String {
        format!("qp-{}{}", self.random.choice(&["n", "f", "f"]), self.random.below(10))
    }

    fn create_note(&mut self) {
        let (id, folder) = (format!("qp-n{}", self.random.below(10)), self.random.choice(&NOTE_FOLDERS).to_owned());
        let text = self.note_text(&id);
        self.write(&format!(".qipu/{folder}/{id}.md"), text.as_bytes());
    }

    fn note_text(&mut self, id: &str) -> String {
        let mut fields = format!("id: {id}\ntitle: The {}\n", self.words(2));
        let kind = self.random.choice(&["fleeting", "permanent", "literature", "moc", "decision"]);
        fields += &format!("type: {kind}\nstatus: {}\n", self.random.choice(&["draft", "stable", "obsolete", "open"]));
        fields += &format!("tags: [{}, {}]\n", self.random.choice(&WORDS), self.random.choice(&WORDS));
        fields += &format!("created: 2026-0{}-11\nvalue: {}\n", self.random.between(1, 9), self.random.below(100));
        let (other, third, kind) =
            (self.id(), self.id(), self.random.choice(&["supports", "supersedes", "contradicts"]));
        fields += &format!("links:\n  - {{type: {kind}, id: {other}}}\n");
        if self.random.chance(30) {
            fields += &format!("compacts: [{third}]\nsources:\n  - url: https://example.org/{other}\n");
        }
        if self.random.chance(40) {
            fields += &format!("code:\n  - src/a.rs:{}\nverified: {}\n", self.random.between(1, 9), "2026-04-01");
        }
        let (first, second) = (self.words(12), self.words(20));
        let line = self.random.between(1, 9);
        format!(
            "---\n{fields}---\n# Why\n\n{first}. See [[{third}]] and `src/a.rs:{line}`.\n\n## How\n\n{second}; \
             [file](../attachments/a.txt), [doc](../../docs/d1.md) and {{{{{other}}}}}.\n"
        )
    }

    /// Returns a tracked file below a folder, at random.
    fn some_file(&mut self, folder: &str) -> Option<String> {
        let list = self.git(&["ls-files", "--", folder]);
        let files: Vec<&str> = list.lines().filter(|path| !path.starts_with('"')).collect();
        (!files.is_empty()).then(|| self.random.choice(&files).to_owned())
    }

    fn edit_note(&mut self) {
        let Some(path) = self.some_file(".qipu/notes") else { return };
        let Ok(text) = fs::read_to_string(self.path(&path)) else { return };
        let text = match self.random.below(3) {
            0 => text.replace("status: draft", "status: stable"),
            1 => text.replace("# Why\n", &format!("# Why\n\n{}\n", self.words(6))),
            _ => text + &format!("\n{}\n", self.words(8)),
        };
        if !self.path(&path).is_symlink() {
            self.write(&path, text.as_bytes());
        }
    }

    fn move_note(&mut self) {
        let Some(path) = self.some_file(".qipu") else { return };
        let target = format!(".qipu/notes/moved-{}.md", self.random.below(5));
        if self.path(&path).exists() && path.ends_with(".md") {
            fs::rename(self.path(&path), self.path(&target)).unwrap_or_default();
        }
    }

    fn delete_file(&mut self) {
        let folder = self.random.choice(&[".qipu", "docs", "src"]).to_owned();
        if let Some(path) = self.some_file(&folder) {
            fs::remove_file(self.path(&path)).unwrap_or_default();
        }
    }

    fn write_document(&mut self) {
        let name = self.random.choice(&["d1", "d2", "deep/d3", "d[1]", "ignored", "index"]).to_owned();
        let text =
            format!("# Guide to {}\n\n{}, [next](d2.md).\n\n## More\n\n{}\n", name, self.words(10), self.words(9));
        let folder = self.random.choice(&["docs", "docs", "vault"]).to_owned();
        self.write(&format!("{folder}/{name}.md"), text.as_bytes());
        if self.random.chance(30) {
            let patterns = self.random.choice(&["ignored.md\n", "deep/\n", "", "*.md\n!d1.md\n"]).to_owned();
            let file = self.random.choice(&["docs/.gitignore", ".gitignore"]).to_owned();
            self.write(&file, patterns.as_bytes());
            // git itself must not ignore what is to be committed.
            self.git(&["add", "--force", "--", &folder]);
        }
    }

    fn edit_code(&mut self) {
        let path = self.path("src/a.rs");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let text = match self.random.below(3) {
            0 => format!("// {}\n{text}", self.words(3)),
            1 => text.replace("run();", &format!("run_{}();", self.random.below(9))),
            _ => text + "fn more() {}\n",
        };
        self.write("src/a.rs", text.as_bytes());
    }

    fn link(&mut self) {
        let links = [
            ("docs", "linked"),
            ("../../src/a.rs", ".qipu/notes/link.md"),
            ("../notes", ".qipu/mocs/link"),
            ("../../outside", "docs/out"),
            ("d1.md", "docs/link.md"),
            (".qipu", "packages/b/.qipu"),
        ];
        let (target, path) = links[self.random.below(links.len())];
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        let _ = symlink(target, self.path(path));
    }

    fn write_package(&mut self) {
        let (id, package) = (self.id(), self.random.choice(&["a", "c"]).to_owned());
        let text = self.note_text(&id);
        self.write(&format!("packages/{package}/.qipu/notes/{id}.md"), text.as_bytes());
        self.write(&format!("packages/{package}/Cargo.toml"), b"[package]\n");
    }

    fn write_oddity(&mut self) {
        match self.random.below(7) {
            0 => self.write(".qipu/notes/broken.md", b"---\nid: [broken\n---\ntext\n"),
            1 => self.write(".qipu/notes/line\nend.md", b"---\r\ntitle: Line ends\r\n---\r\nof DOS\r\n"),
            2 => self.write(".qipu/attachments/a.txt", b"an attachment\n"),
            3 => self.write(".qipu/templates/decision.md", b"---\ntags: [x]\n---\n"),
            4 => self.write("docs/binary.md", b"a\0b"),
            5 => self.write(".qipu/.qipu-tmp-abcdef", b"left over"),
            _ => {
                let id = self.commits.last().cloned().unwrap_or_else(|| "1".repeat(40));
                if id.len() == 40 {
                    self.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{id},docs/sub")]);
                    fs::create_dir_all(self.path("docs/sub")).unwrap();
                }
            }
        }
    }
}
