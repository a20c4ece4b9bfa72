//! A git repository whose commits are read, with a store that git ignores.

#![allow(dead_code, clippy::unwrap_used)]

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::process::Answer;
use super::world::World;

/// The folder of the repository.
pub(crate) const REPO: &str = "repo";
/// The seconds of the first commit: 2026-03-01T08:00:00Z.
const FIRST: i64 = 1_772_352_000;

/// A repository in which each commit is ten thousand seconds later than the one before.
pub(crate) struct CommitRepository {
    pub(crate) world: World,
    seconds: Cell<i64>,
}

impl CommitRepository {
    /// Makes a repository without a commit, whose store reads commits.
    pub(crate) fn new() -> Self {
        let repository = Self { world: World::empty(), seconds: Cell::new(FIRST) };
        repository.write(".qipu/config.toml", "[history]\ncommits = true\n");
        fs::create_dir_all(repository.world.at("repo/.qipu/notes")).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.write(".git/info/exclude", ".qipu\n");
        repository
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.world.write(&format!("{REPO}/{path}"), text);
    }

    /// Writes a note of the store.
    pub(crate) fn note(&self, id: &str, title: &str, body: &str) {
        self.write(&format!(".qipu/notes/{id}.md"), &format!("---\nid: {id}\ntitle: {title}\n---\n{body}\n"));
    }

    /// Runs git and returns what it prints.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(REPO, args)
    }

    pub(crate) fn git_in(&self, folder: &str, args: &[&str]) -> String {
        let output = self.try_git(folder, args, b"");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn try_git(&self, folder: &str, args: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new("git");
        command.current_dir(self.world.at(folder)).args(args).env_clear().env("PATH", std::env::var("PATH").unwrap());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Ann").env(format!("GIT_{who}_EMAIL"), "ann@example.org");
            command.env(format!("GIT_{who}_DATE"), format!("@{} +0900", self.seconds.get()));
        }
        command.env("HOME", self.world.at("home")).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_NO_REPLACE_OBJECTS", "1");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that reads nothing may close its end first.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// Lets time pass.
    pub(crate) fn wait(&self) {
        self.seconds.set(self.seconds.get() + 10_000);
    }

    /// Commits everything with a message, and returns the id.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.commit_with(message, &[])
    }

    pub(crate) fn commit_with(&self, message: &str, options: &[&str]) -> String {
        self.wait();
        self.git(&["add", "--all"]);
        self.git(&[&["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m", message], options].concat());
        self.head()
    }

    /// Writes a file and commits it.
    pub(crate) fn commit_of(&self, path: &str, text: &str, message: &str) -> String {
        self.write(path, text);
        self.commit(message)
    }

    /// Makes a commit of bytes, whatever they are, on the one that is checked out; its tree is that of the index.
    pub(crate) fn commit_of_bytes(&self, fields: &[u8], message: &[u8]) -> String {
        self.wait();
        self.git(&["add", "--all"]);
        let tree = self.git(&["write-tree"]);
        let parent = self.try_git(REPO, &["rev-parse", "--verify", "--quiet", "HEAD"], b"").stdout;
        let mut bytes = format!("tree {tree}").into_bytes();
        if !parent.is_empty() {
            bytes.extend([b"parent ", parent.as_slice()].concat());
        }
        bytes.extend([fields, b"\n", message].concat());
        let made = self.try_git(REPO, &["hash-object", "-t", "commit", "--stdin", "-w", "--literally"], &bytes);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let id = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        self.git(&["update-ref", "HEAD", &id]);
        id
    }

    /// Returns the fields of an author and a committer, as a commit has them.
    pub(crate) fn authors(&self, name: &str) -> Vec<u8> {
        let seconds = self.seconds.get();
        let line = |who: &str| format!("{who} {name} <ann@example.org> {seconds} +0900\n");
        (line("author") + &line("committer")).into_bytes()
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Answers a call that must succeed, without a cache.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.world.answer_in(REPO, args)
    }

    /// Answers a call with a cache.
    pub(crate) fn call(&self, cache: Option<&str>, args: &[&str]) -> Answer {
        self.world.call_of_user(REPO, cache, args)
    }

    /// Switches the commits on or off.
    pub(crate) fn switch(&self, is_on: bool) {
        self.write(".qipu/config.toml", if is_on { "[history]\ncommits = true\n" } else { "" });
    }

    pub(crate) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.world.at("").join(path).exists()
    }
}

/// Returns how a commit is named in answers.
pub(crate) fn name(id: &str) -> String {
    format!("commits:{}", &id[..12])
}
