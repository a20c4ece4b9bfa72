//! Calls of git's plumbing. A repository is untrusted: nothing that its configuration names is run, no object is fetched,
//! and output and time are limited.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::tracked_files::{REGULAR_MODES, TrackedFiles};
use super::worktree::has_own_repository;
use crate::error::Error;

/// The most bytes of the answer to one call, and the longest time that all calls for one command take together.
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;
pub(super) const MAX_TIME: Duration = Duration::from_secs(10);

/// Options before the command: no pager, no lock, literal paths, and nothing of the repository's configuration that runs
/// a program.
const OPTIONS: [&str; 13] = [
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "protocol.allow=never",
];
/// The only variables of the environment that git gets, beside those that are set here.
const KEPT_VARIABLES: [&str; 6] = ["PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SYSTEMROOT", "TEMP"];
const SET_VARIABLES: [(&str, &str); 6] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Before any `protocol.NAME.allow` of the repository.
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
];

/// The working tree of a repository, and the folder of the project in it.
#[derive(Debug)]
pub(in crate::store) struct Repository {
    /// The folder with `.git`.
    pub(in crate::store) root: PathBuf,
    /// The path of the project's folder below it, empty or with `/` at its end.
    pub(in crate::store) prefix: String,
    /// The id of the commit whose files are read; `None` for the working tree.
    pub(in crate::store) commit: Option<String>,
}

impl Repository {
    /// Returns the folder of the project.
    pub(in crate::store) fn project_folder(&self) -> PathBuf {
        self.root.join(self.prefix.trim_end_matches('/'))
    }

    /// Returns the regular files that git tracks, or `None` if git fails.
    pub(in crate::store) fn tracked(&self) -> Option<TrackedFiles> {
        let output = self.run(&["ls-files", "-z", "--stage", "--full-name"], Vec::new(), Instant::now())?;
        let regular = output.split(|byte| *byte == 0).filter_map(|line| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let (meta, path) = (std::str::from_utf8(line.get(..tab)?).ok()?, line.get(tab + 1..)?);
            let mode = u32::from_str_radix(meta.get(..6)?, 8).ok()?;
            (REGULAR_MODES.contains(&mode) && meta.ends_with(" 0")).then_some(path)
        });
        Some(TrackedFiles::of_paths(regular, &self.prefix))
    }

    /// Returns the commit whose files are read, or that is checked out; `None` if there is none.
    pub(in crate::store) fn head(&self) -> Option<String> {
        self.peeled(self.revision())
    }

    /// Returns the name of the commit with which its history begins.
    pub(in crate::store) fn revision(&self) -> &str {
        self.commit.as_deref().unwrap_or("HEAD")
    }

    /// Returns the id of the commit that a revision names, in any form that git knows (gitrevisions(7)); `None` for a name
    /// that git does not know, or of something else than a commit.
    pub(super) fn commit_of(&self, revision: &str) -> Option<String> {
        // An option, or a list of several revisions, is no name of one.
        if revision.is_empty() || revision.starts_with(['-', '^']) || revision.contains(char::is_control) {
            return None;
        }
        // Two calls, for behind `:/TEXT` all is part of the text.
        self.peeled(&self.object_of(revision)?)
    }

    /// Returns the id of the commit that a name of it, or of a tag of it, means.
    fn peeled(&self, name: &str) -> Option<String> {
        self.object_of(&format!("{name}^{{commit}}"))
    }

    /// Returns the error of a repository that git does not read, for whatever reason; `None` if it does.
    pub(in crate::store) fn refused(&self) -> Option<Error> {
        if !has_own_repository(&self.root) {
            let error = Error::failure("the file `.git` names a repository that does not know this folder");
            return Some(error.hint("`git worktree repair` or `git submodule absorbgitdirs` there makes it known"));
        }
        let answer = self.run(&["rev-parse", "--git-dir"], Vec::new(), Instant::now());
        let error = || Error::failure("git is not installed, or refuses to read this repository");
        answer.is_none().then(|| error().hint("`git status` in its folder says why"))
    }

    /// Whether the repository lacks the beginning of its history.
    pub(super) fn is_shallow(&self) -> bool {
        let output = self.run(&["rev-parse", "--is-shallow-repository"], Vec::new(), Instant::now());
        output.is_some_and(|output| output.starts_with(b"true"))
    }

    /// Returns the id of the object that a revision names.
    fn object_of(&self, revision: &str) -> Option<String> {
        let output = self.run(&["rev-parse", "--verify", "--quiet", revision], Vec::new(), Instant::now())?;
        let id = String::from_utf8(output).ok()?.trim().to_owned();
        is_object_id(&id).then_some(id)
    }

    /// Runs git and returns its output; `None` if it fails, writes more than [`MAX_OUTPUT`] bytes, or takes longer than
    /// [`MAX_TIME`] since `started`.
    pub(in crate::store) fn run(&self, args: &[&str], input: Vec<u8>, started: Instant) -> Option<Vec<u8>> {
        self.run_until(args, input, started + MAX_TIME)
    }

    /// Runs git as [`Repository::run`] does, up to a moment.
    pub(super) fn run_until(&self, args: &[&str], input: Vec<u8>, deadline: Instant) -> Option<Vec<u8>> {
        let mut child = start(&self.root, args).ok()?;
        let output = exchange(&mut child, input, deadline.saturating_duration_since(Instant::now()));
        // After a complete answer, the child ends by itself; after a timeout or an error it must be killed.
        if output.is_none() {
            let _ = child.kill();
        }
        let status = child.wait().ok()?;
        output.filter(|_| status.success())
    }
}

/// Starts git in a working tree, with pipes to its input and from its output. A file `.git`, which an archive may bring,
/// must not make it read another repository.
pub(in crate::store) fn start(root: &Path, args: &[&str]) -> std::io::Result<Child> {
    if !has_own_repository(root) {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    let kept = KEPT_VARIABLES.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    Command::new("git")
        .args(OPTIONS)
        .arg("-C")
        .arg(root)
        .args(args)
        .env_clear()
        .envs(kept)
        .envs(SET_VARIABLES)
        // A damaged `.git` does not make a repository further up answer.
        .env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// Whether a text is the whole name of an object: 40 or 64 hexadecimal digits.
pub(super) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Writes the input of a child and reads its output, each in a thread of its own, so that neither waits for the other.
fn exchange(child: &mut Child, input: Vec<u8>, time: Duration) -> Option<Vec<u8>> {
    let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
    let (sender, receiver) = channel();
    std::thread::Builder::new().spawn(move || drop(stdin.write_all(&input))).ok()?;
    std::thread::Builder::new()
        .spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(MAX_OUTPUT + 1).read_to_end(&mut bytes);
            let is_whole = read.is_ok() && bytes.len() as u64 <= MAX_OUTPUT;
            let _ = sender.send(is_whole.then_some(bytes));
        })
        .ok()?;
    receiver.recv_timeout(time).ok()?
}
