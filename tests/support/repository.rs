//! A git repository with a store, in which git and the real binary run without the user's configuration.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::files::temp_dir;

/// A repository in a temporary folder.
pub(crate) struct Repository {
    dir: tempfile::TempDir,
}

impl Repository {
    pub(crate) fn new() -> Self {
        let repository = Self { dir: temp_dir() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        fs::create_dir_all(repository.path(".qipu/notes")).unwrap();
        repository
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a note with these fields and this body.
    pub(crate) fn note(&self, id: &str, fields: &str, body: &str) {
        let text = format!("---\nid: {id}\ntitle: Note {id}\n{fields}---\n{body}\n");
        self.write(&format!(".qipu/notes/{id}.md"), &text);
    }

    pub(crate) fn read_note(&self, id: &str) -> String {
        fs::read_to_string(self.path(&format!(".qipu/notes/{id}.md"))).unwrap()
    }

    /// Runs git and returns what it prints.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_with(args, b"")
    }

    pub(crate) fn git_with(&self, args: &[&str], input: &[u8]) -> String {
        let output = run(command("git", self.dir.path()).args(args), input);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Commits everything but the store, and returns the id of the commit.
    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "--all", "--", ".", ":!.qipu"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "m"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    pub(crate) fn qipu(&self, args: &[&str]) -> Output {
        run(self.qipu_command().args(args), b"")
    }

    /// Returns a call of a program in the repository.
    pub(crate) fn command(&self, program: &str) -> Command {
        command(program, self.dir.path())
    }

    pub(crate) fn qipu_command(&self) -> Command {
        command(env!("CARGO_BIN_EXE_qipu"), self.dir.path())
    }

    /// Runs qipu in another folder, with the home of this repository.
    pub(crate) fn qipu_in(&self, dir: &Path, args: &[&str]) -> Output {
        run(self.qipu_command().current_dir(dir).args(args), b"")
    }

    /// Runs qipu and returns what it prints.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.qipu(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs qipu, which must fail, and returns its message.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let output = self.qipu(args);
        assert!(!output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Returns what is to be looked at of code and days, as `id: kind: reason`.
    pub(crate) fn stale(&self) -> Vec<String> {
        let answer: serde_json::Value =
            serde_json::from_str(&self.ok(&[REVIEW_CODE, &["--limit", "1000", "--json"]].concat())).unwrap();
        let findings = answer["worklist"].as_array().unwrap().iter().map(|finding| {
            let [id, kind, reason] = ["id", "kind", "reason"].map(|name| finding[name].as_str().unwrap());
            format!("{id}: {kind}: {reason}")
        });
        findings.collect()
    }
}

/// Lists the references to code that no longer hold, and the notes that are due.
pub(crate) const REVIEW_CODE: &[&str] = &["review", "--kind", "code,due"];

fn command(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env_clear().env("PATH", std::env::var("PATH").unwrap());
    command.env("HOME", dir.join("no-home")).env("QIPU_TODAY", "2026-11-24");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@example.org");
    }
    command
}

fn run(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that reads nothing may close its end first.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}
