//! The commits of a piece of code: those that touched a file or a folder, and the one that last wrote a line.
//!
//! Only plumbing and `git blame` of a commit are run. `git blame` of the working tree would run the filters that
//! `.gitattributes` and the configuration name, and `git log` reads settings of its own; so a line of the working tree is
//! first found in the commit.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use similar::DiffOp;

use super::plain_file::{open_plain, read_whole};
use super::plumbing::{Repository, is_object_id};
use crate::diff::operations;

/// The longest time that git takes for one path or line, in all its calls.
const MAX_TIME: Duration = Duration::from_secs(3);
/// The most commits of a path that are read, the latest ones.
const MAX_COMMITS: usize = 1_000;
/// A commit that changed more files, such as one that formats all code, did not write a line if another one did.
const MAX_FILES: usize = 50;
/// How many such commits are skipped for a line.
const MAX_SKIPPED: usize = 5;
/// The longest file of the working tree whose lines are found in the commit, in bytes, and the most lines if it was changed:
/// comparing two such files takes about .3 s at most.
const MAX_FILE: u64 = 1024 * 1024;
const MAX_LINES: usize = 20_000;
/// The file that lists commits to be skipped (git-blame(1), `--ignore-revs-file`), the most bytes of it, and the most commits:
/// they must fit in the 32,767 characters of a command line of Windows.
const IGNORED: &str = ".git-blame-ignore-revs";
const MAX_IGNORED_LEN: u64 = 64 * 1024;
const MAX_IGNORED: usize = 500;

/// A commit that touched a path.
#[derive(Debug)]
struct TouchingCommit {
    id: String,
    /// Whether git knows no parent of it: the first commit, or that before which a shallow clone has none.
    is_first: bool,
    /// The bytes of its message below the subject, without trailers.
    body_len: usize,
}

impl Repository {
    /// Returns the ids of the commits that touched a file, also under its former names, or a folder of the project; no
    /// merges. Those with the longest messages come first, then the newest. None for a path that the history does not know.
    pub(in crate::store) fn commits_of_path(&self, path: &str) -> Vec<String> {
        let Some(mut path) = self.full_path(path) else { return Vec::new() };
        let deadline = Instant::now() + MAX_TIME;
        let (mut found, mut revision) = (Vec::new(), self.revision().to_owned());
        while found.len() < MAX_COMMITS {
            let some = self.touching(&path, &revision, MAX_COMMITS - found.len(), deadline);
            let Some(first) = some.last() else { break };
            let parent = format!("{}^", first.id);
            let former = self.name_before(&first.id, &path, deadline);
            found.extend(some);
            let Some(former) = former else { break };
            (revision, path) = (parent, former);
        }
        // In a shallow clone, the earliest commits seem to add all files.
        let is_shallow = found.iter().any(|commit| commit.is_first) && self.is_shallow();
        found.retain(|commit| !(is_shallow && commit.is_first));
        found.sort_by_key(|commit| Reverse(commit.body_len));
        found.into_iter().map(|commit| commit.id).collect()
    }

    /// Returns the id of the commit that last wrote a line of a file, a number from 1 in the file as it is read. Skipped
    /// are the commits that the project lists for that, those of more than [`MAX_FILES`] files, and merges, if git finds
    /// an earlier one. `None` for a line that is not committed, or whose commit a shallow clone lacks.
    pub(in crate::store) fn commit_of_line(&self, path: &str, line: usize) -> Option<String> {
        let path = self.full_path(path)?;
        let deadline = Instant::now() + MAX_TIME;
        let line = if self.commit.is_some() { line } else { self.committed_line(&path, line, deadline)? };
        let (mut ignored, mut found) = (self.ignored_commits(deadline), None);
        for _ in 0..=MAX_SKIPPED {
            let Some((id, is_first)) = self.last_writer(&path, line, &ignored, deadline) else { break };
            let is_last = is_first || ignored.contains(&id) || !self.is_skipped(&id, deadline);
            found = Some(id.clone());
            if is_last {
                break;
            }
            ignored.push(id);
        }
        found
    }

    /// Returns a path in the repository, from one in the project; `None` if it is not that of a file or folder in it.
    fn full_path(&self, path: &str) -> Option<String> {
        let path = format!("{}{}", self.prefix, path.trim_end_matches('/'));
        let is_name = |name| !matches!(name, "" | "." | "..");
        match path.trim_end_matches('/') {
            "" => Some(".".to_owned()),
            path => (path.split('/').all(is_name) && !path.contains('\0')).then(|| path.to_owned()),
        }
    }

    /// Lists the commits that touched a path, by the name that it has now, the newest first.
    fn touching(&self, path: &str, revision: &str, count: usize, deadline: Instant) -> Vec<TouchingCommit> {
        let count = format!("--max-count={count}");
        let list = |format: &str| {
            let args = ["rev-list", "--no-merges", "--encoding=UTF-8", &count, format, revision, "--", path];
            self.run_until(&args, Vec::new(), deadline)
        };
        // Without the messages if they are too long.
        let output = list("--format=%x00%H %P%x00%b%x00").or_else(|| list("--format=%x00%H %P%x00%x00"));
        let output = output.unwrap_or_default();
        // Before each commit stands a line of its own; git writes a message up to its first zero.
        let fields: Vec<_> = output.split(|byte| *byte == 0).skip(1).map(String::from_utf8_lossy).collect();
        let commits = fields.chunks(3).filter_map(|fields| {
            let [ids, body, _] = fields else { return None };
            let (id, parents) = ids.split_once(' ').filter(|(id, _)| is_object_id(id))?;
            Some(TouchingCommit { id: id.to_owned(), is_first: parents.is_empty(), body_len: len_of_body(body) })
        });
        commits.collect()
    }

    /// Returns the name from which a commit renamed a file.
    fn name_before(&self, id: &str, path: &str, deadline: Instant) -> Option<String> {
        let options = ["-r", "-z", "-M50%", "-l1000", "--name-status", "--diff-filter=R", "--no-commit-id"];
        let safe = ["--ignore-submodules=all", "--no-ext-diff", "--no-textconv", "-O/dev/null", id, "--"];
        let output = self.run_until(&[&["diff-tree"], &options[..], &safe].concat(), Vec::new(), deadline)?;
        let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        let renames = fields.chunks_exact(3).find(|fields| fields[2] == path.as_bytes());
        String::from_utf8(renames?[1].to_owned()).ok()
    }

    /// Returns the number in the checked-out commit of a line of the working tree; `None` if it is not there.
    fn committed_line(&self, path: &str, line: usize, deadline: Instant) -> Option<usize> {
        let old = self.run_until(&["cat-file", "blob", &format!("HEAD:{path}")], Vec::new(), deadline)?;
        let new = read_whole(open_plain(&self.root.join(path)).ok()?, MAX_FILE).ok()?;
        if old == new { Some(line) } else { line_before(&old, &new, line) }
    }

    /// Reads the ids of the commits that the project lists to be skipped; those that the repository lacks are left out.
    fn ignored_commits(&self, deadline: Instant) -> Vec<String> {
        let text = match &self.commit {
            Some(id) => self.run_until(&["cat-file", "blob", &format!("{id}:{IGNORED}")], Vec::new(), deadline),
            None => open_plain(&self.root.join(IGNORED)).and_then(|file| read_whole(file, MAX_IGNORED_LEN)).ok(),
        };
        let text = text.filter(|text| text.len() as u64 <= MAX_IGNORED_LEN).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let ids = text.lines().filter_map(|line| line.split('#').next()).map(str::trim).filter(|id| is_object_id(id));
        let names: String = ids.take(MAX_IGNORED).flat_map(|id| [id, "^{commit}\n"]).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let output = self.run_until(&["cat-file", "--batch-check"], names.into_bytes(), deadline).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let known = output.lines().filter_map(|line| line.split_once(" commit ")).map(|(id, _)| id.to_owned());
        known.filter(|id| is_object_id(id)).collect()
    }

    /// Returns the commit that last wrote a line, but for those that are ignored if git finds an earlier one; and whether it
    /// is the first of all.
    fn last_writer(&self, path: &str, line: usize, ignored: &[String], deadline: Instant) -> Option<(String, bool)> {
        let range = format!("-L{line},{line}");
        let ignored: Vec<String> = ignored.iter().map(|id| format!("--ignore-rev={id}")).collect();
        // The empty name of a file takes back those that the configuration names.
        let mut args = vec!["-c", "diff.algorithm=myers", "blame", "-w", "--porcelain", "--no-textconv"];
        args.extend(["--no-progress", "--ignore-revs-file=", &range]);
        args.extend(ignored.iter().map(String::as_str));
        args.extend([self.revision(), "--", path]);
        let output = self.run_until(&args, Vec::new(), deadline)?;
        let output = String::from_utf8_lossy(&output);
        let mut header = output.lines().take_while(|line| !line.starts_with('\t'));
        let id = header.next()?.split(' ').next().filter(|id| is_object_id(id))?;
        // In a shallow clone, the earliest commits seem to write all lines.
        let is_first = header.any(|line| line == "boundary");
        (!is_first || !self.is_shallow()).then(|| (id.to_owned(), is_first))
    }

    /// Whether a commit changed too many files, or is a merge: of that, git lists none.
    fn is_skipped(&self, id: &str, deadline: Instant) -> bool {
        let args = ["diff-tree", "-r", "--root", "-z", "--name-only", "--no-renames", "--no-commit-id", id, "--"];
        let output = self.run_until(&args, Vec::new(), deadline);
        let files = output.map(|output| output.iter().filter(|byte| **byte == 0).count());
        files.is_some_and(|files| !(1..=MAX_FILES).contains(&files))
    }
}

/// Counts the bytes of the text below the subject of a message, without blanks around it and the trailers at its end.
fn len_of_body(body: &str) -> usize {
    let body = body.trim();
    let last = body.rfind("\n\n").map_or(0, |end| end + 2);
    let (text, last) = body.split_at(last);
    let is_trailers = !last.starts_with([' ', '\t']) && last.lines().all(is_trailer);
    if is_trailers { text.trim_end().len() } else { body.len() }
}

/// Whether a line is a trailer (git-interpret-trailers(1)), or goes on with one.
fn is_trailer(line: &str) -> bool {
    let is_key = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_pair = line.split_once(": ").is_some_and(|(key, _)| is_key(key));
    is_pair || line.starts_with([' ', '\t']) || line.starts_with("(cherry picked from commit ")
}

/// Returns the number in an old text of a line of a new one; `None` if it is not in it. Blanks do not count.
fn line_before(old: &[u8], new: &[u8], line: usize) -> Option<usize> {
    let index = line.checked_sub(1)?;
    let line_ends = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
    if line_ends(old).max(line_ends(new)) > MAX_LINES {
        return None;
    }
    let [old, new] = [old, new].map(|text| -> Vec<Vec<u8>> {
        let without_blanks = |line: &[u8]| line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        text.split(|byte| *byte == b'\n').map(without_blanks).collect()
    });
    operations(&old, &new).into_iter().find_map(|operation| match operation {
        DiffOp::Equal { old_index, new_index, len } if (new_index..new_index + len).contains(&index) => {
            Some(old_index + index - new_index + 1)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// A repository in a temporary folder, in which each commit is a second later than the one before.
    struct CodeRepository {
        dir: tempfile::TempDir,
        seconds: Cell<u32>,
    }

    impl CodeRepository {
        fn new() -> Self {
            let repository = Self { dir: tempfile::tempdir().unwrap(), seconds: Cell::new(1_700_000_000) };
            repository.git("init --quiet --initial-branch=main");
            repository
        }

        fn git(&self, words: &str) -> String {
            git_in(self.dir.path(), &words.split(' ').collect::<Vec<_>>(), self.seconds.get())
        }

        fn path(&self, path: &str) -> std::path::PathBuf {
            self.dir.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            fs::write(self.path(path), text).unwrap();
        }

        /// Commits everything with a message, and returns the id.
        fn commit(&self, message: &str) -> String {
            self.git("add --all");
            self.seconds.set(self.seconds.get() + 1);
            git_in(self.dir.path(), &["commit", "--quiet", "--allow-empty", "-m", message], self.seconds.get());
            self.git("rev-parse HEAD")
        }

        /// Writes files and commits them.
        fn commit_of(&self, files: &[(&str, &str)], message: &str) -> String {
            files.iter().for_each(|(path, text)| self.write(path, text));
            self.commit(message)
        }

        /// Sets up programs for all files that leave a trace.
        fn set_traps(&self) {
            let trap = format!("touch {}; cat", self.path("pwned").display());
            for key in [
                "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv",
                "diff.evil.command", "diff.external", "core.fsmonitor", "core.pager", "gpg.program", "alias.blame",
            ] {
                git_in(self.dir.path(), &["config", key, &trap], 0);
            }
            self.git("config log.showSignature true");
            self.write(".git/info/attributes", "* filter=evil diff=evil\n");
            self.write(".gitattributes", "* filter=evil diff=evil\n");
        }

        fn opened(&self) -> Repository {
            opened(self.dir.path())
        }

        fn of_path(&self, path: &str) -> Vec<String> {
            self.opened().commits_of_path(path)
        }

        fn of_line(&self, path: &str, line: usize) -> Option<String> {
            self.opened().commit_of_line(path, line)
        }
    }

    fn opened(root: &Path) -> Repository {
        Repository { root: root.canonicalize().unwrap(), prefix: String::new(), commit: None }
    }

    fn git_in(dir: &Path, words: &[&str], seconds: u32) -> String {
        let mut command = Command::new("git");
        command.current_dir(dir).args(words).env("HOME", dir).env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@example.org");
            command.env(format!("GIT_{who}_DATE"), format!("@{seconds} +0000"));
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    const CODE: &str = "fn start() {\n    run();\n}\n\nfn stop() {\n    halt();\n}\n";

    #[test]
    #[ignore = "git"]
    fn renames_are_followed_and_long_messages_first() {
        let repository = CodeRepository::new();
        let first = repository.commit_of(&[("old/a.rs", CODE), ("b.rs", "b\n")], "Add\n\nA reason of some length.");
        let trailers = "Change\n\nSigned-off-by: A very long name indeed <a@example.org>\nRefs: 1";
        let second = repository.commit_of(&[("old/a.rs", &CODE.replace("run", "walk"))], trailers);
        repository.commit_of(&[("b.rs", "c\n")], "Elsewhere\n\nThe longest reason of all of them here.");
        fs::create_dir(repository.path("new")).unwrap();
        repository.git("mv old/a.rs new/c.rs");
        let moved = repository.commit_of(&[("new/c.rs", &CODE.replace("halt", "end"))], "Move\n\nShort.");
        repository.git("checkout --quiet -b side");
        let side = repository.commit_of(&[("new/c.rs", CODE)], "Side");
        repository.git("checkout --quiet main");
        repository.commit_of(&[("b.rs", "d\n")], "Other");
        repository.git("merge --quiet --no-ff -m A\u{a0}merge side");
        let all = [&first, &moved, &side, &second].map(String::as_str);
        assert_eq!(repository.of_path("new/c.rs"), all);
        // A folder is not followed.
        assert_eq!(repository.of_path("new"), [moved.as_str(), &side]);
        assert_eq!(repository.of_path("new/"), [moved.as_str(), &side]);
        assert_eq!(repository.of_path("old"), [first.as_str(), &moved, &second]);
        assert_eq!(repository.of_path("").len(), 6);
        let at_second = Repository { commit: Some(second.clone()), ..repository.opened() };
        assert_eq!(at_second.commits_of_path("old/a.rs"), [first.as_str(), &second]);
        assert_eq!(at_second.commits_of_path("new/c.rs"), [""; 0]);
        let in_new = Repository { prefix: "new/".to_owned(), ..repository.opened() };
        assert_eq!(in_new.commits_of_path("c.rs"), all);
        assert_eq!(in_new.commits_of_path(""), [moved.as_str(), &side]);
        assert_eq!(in_new.commit_of_line("c.rs", 6), Some(side));
    }

    #[test]
    #[ignore = "git"]
    fn paths_are_taken_as_they_are_written() {
        let repository = CodeRepository::new();
        let names = ["-p", "--all", ":(top)x", ":/", "*", "[ab]", "a", "HEAD", "d/:b", "q\"ö\n"];
        let ids = names.map(|name| repository.commit_of(&[(name.trim_end_matches('/'), "x\n")], "Add"));
        for (name, id) in names.into_iter().zip(ids) {
            assert_eq!(repository.of_path(name), [id.as_str()], "{name}");
            assert_eq!(repository.of_line(name.trim_end_matches('/'), 1), Some(id), "{name}");
        }
        for outside in ["../a", "/etc/passwd", "d/../a", "./a", "d//:b", "none", "a\0", ".git/HEAD", "[a]", "?"] {
            assert_eq!(repository.of_path(outside), [""; 0], "{outside}");
            assert_eq!(repository.of_line(outside, 1), None, "{outside}");
        }
        assert_eq!([0, 2, usize::MAX].map(|line| repository.of_line("a", line)), [None, None, None]);
        assert_eq!([repository.of_line("d", 1), repository.of_line("", 1)], [None, None]);
    }

    #[test]
    #[ignore = "git"]
    fn a_line_is_that_of_the_working_tree() {
        let repository = CodeRepository::new();
        let first = repository.commit_of(&[("a.rs", CODE)], "Add");
        let second = repository.commit_of(&[("a.rs", &CODE.replace("halt", "end"))], "Change");
        let of_lines = || [1, 2, 3, 6, 7, 8].map(|line| repository.of_line("a.rs", line));
        let [one, two] = [first, second].map(Some);
        assert_eq!(of_lines(), [one.clone(), one.clone(), one.clone(), two.clone(), one.clone(), None]);
        // A new line above, and one that is only indented.
        let text =
            CODE.replace("halt", "end").replace("    run", "  run").replace("start() {\n", "start() {\n    new();\n");
        repository.write("a.rs", &text.replace('\n', "\r\n"));
        assert_eq!(of_lines(), [one.clone(), None, one.clone(), one.clone(), two.clone(), one.clone()]);
        repository.git("add a.rs");
        assert_eq!(repository.of_line("a.rs", 2), None, "a staged line is not committed");
        let committed = Repository { commit: Some("HEAD".to_owned()), ..repository.opened() };
        assert_eq!(committed.commit_of_line("a.rs", 6), two);
        fs::remove_file(repository.path("a.rs")).unwrap();
        assert_eq!(repository.of_line("a.rs", 1), None);
    }

    #[test]
    #[ignore = "git"]
    fn commits_of_form_are_skipped() {
        let repository = CodeRepository::new();
        let reason = repository.commit_of(&[("a.rs", CODE)], "Add\n\nFor a reason.");
        let names: Vec<String> = (0..MAX_FILES).map(|number| format!("f/{number}")).collect();
        for round in 0..=MAX_SKIPPED {
            names.iter().for_each(|name| repository.write(name, &round.to_string()));
            let text = CODE.replace("run()", &format!("run({round})"));
            repository.commit_of(&[("a.rs", &text)], "Format");
            let expected = if round < MAX_SKIPPED { reason.clone() } else { repository.git("rev-parse HEAD~5") };
            assert_eq!(repository.of_line("a.rs", 2), Some(expected), "{round}");
        }
        // A file that these commits alone wrote.
        assert_eq!(repository.of_line("f/1", 1), Some(repository.git("rev-parse HEAD")));
        let small = repository.commit_of(&[("a.rs", &CODE.replace("run()", "run(9)"))], "Small");
        assert_eq!(repository.of_line("a.rs", 2), Some(small.clone()));
        let before = Repository { commit: Some(small.clone()), ..repository.opened() };
        repository.write(IGNORED, &format!("# comment\n\n{small} # form\nno id\n{}\n", "0".repeat(40)));
        assert_ne!(repository.of_line("a.rs", 2), Some(small.clone()), "the list need not be committed");
        let listed = repository.commit("List");
        assert_eq!(before.commit_of_line("a.rs", 2), Some(small.clone()));
        let after = Repository { commit: Some(listed), ..repository.opened() };
        assert_ne!(after.commit_of_line("a.rs", 2), Some(small));
    }

    #[test]
    #[ignore = "git"]
    fn a_shallow_clone_lacks_the_first_commits() {
        let repository = CodeRepository::new();
        repository.commit_of(&[("a.rs", CODE)], "Add");
        let second = repository.commit_of(&[("b.rs", CODE)], "Other");
        let third = repository.commit_of(&[("a.rs", &CODE.replace("halt", "end"))], "Change");
        let clone = tempfile::tempdir().unwrap();
        let url = format!("file://{}", repository.dir.path().display());
        git_in(clone.path(), &["clone", "--quiet", "--depth=2", &url, "."], 0);
        let shallow = opened(clone.path());
        assert_eq!(shallow.commits_of_path("a.rs"), [third.as_str()]);
        assert_eq!(shallow.commits_of_path("b.rs"), [""; 0]);
        assert_eq!([1, 6].map(|line| shallow.commit_of_line("a.rs", line)), [None, Some(third)]);
        assert_eq!(repository.of_line("b.rs", 1), Some(second));
        assert_eq!(CodeRepository::new().of_path("a.rs"), [""; 0], "no commit yet");
    }

    #[cfg(unix)]
    #[test]
    #[ignore = "git"]
    fn no_list_of_ignored_commits_stops_the_answer() {
        let repository = CodeRepository::new();
        let id = repository.commit_of(&[("a.rs", CODE)], "Add");
        let later = repository.commit_of(&[("a.rs", &CODE.replace("run()", "run(1)"))], "Format");
        let list = repository.path(IGNORED);
        let answer = || repository.of_line("a.rs", 2);
        let tree = repository.git("rev-parse HEAD^{tree}");
        for text in ["\0\u{1b}[2J\n", "--output=pwned\n", &format!("{tree}\n"), &"a".repeat(70_000)] {
            fs::write(&list, text).unwrap();
            assert_eq!(answer(), Some(later.clone()), "{text:.20}");
        }
        fs::write(&list, format!("{}{}\n", format!("{}\n", "0".repeat(40)).repeat(1_000), id)).unwrap();
        assert_eq!(answer(), Some(later.clone()), "more than are read");
        fs::File::create(&list).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(answer(), Some(later.clone()));
        fs::remove_file(&list).unwrap();
        fs::write(repository.path("ids"), format!("{later}\n")).unwrap();
        std::os::unix::fs::symlink("ids", &list).unwrap();
        assert_eq!(answer(), Some(later.clone()));
        fs::remove_file(&list).unwrap();
        assert!(Command::new("mkfifo").arg(&list).status().unwrap().success());
        assert_eq!(answer(), Some(later.clone()));
        fs::remove_file(&list).unwrap();
        fs::create_dir(&list).unwrap();
        assert_eq!(answer(), Some(later.clone()));
        // The list that the configuration names does not count.
        repository.git("config blame.ignoreRevsFile ids");
        assert_eq!(answer(), Some(later));
    }

    #[test]
    #[ignore = "git"]
    fn nothing_that_the_repository_names_is_run() {
        let repository = CodeRepository::new();
        let first = repository.commit_of(&[("a.rs", CODE)], "Add");
        repository.git("mv a.rs b.rs");
        let second = repository.commit_of(&[("b.rs", &CODE.replace("halt", "end"))], "Move");
        repository.set_traps();
        repository.write("b.rs", &format!("// new\n{}", CODE.replace("halt", "end")));
        let _ = fs::remove_file(repository.path("pwned"));
        assert_eq!(repository.of_path("b.rs"), [second.as_str(), &first]);
        assert_eq!([1, 2, 7].map(|line| repository.of_line("b.rs", line)), [None, Some(first), Some(second.clone())]);
        let at_commit = Repository { commit: Some(second.clone()), ..repository.opened() };
        assert_eq!(at_commit.commit_of_line("b.rs", 6), Some(second));
        assert!(!repository.path("pwned").exists());
        // The traps work.
        repository.git("blame b.rs");
        assert!(repository.path("pwned").exists());
    }

    #[test]
    fn trailers_are_no_part_of_a_message() {
        for (body, text) in [
            ("", ""),
            ("Text.\n", "Text."),
            ("\nText.\n\nSigned-off-by: A\n", "Text."),
            ("Signed-off-by: A\nRefs: 1\n  and 2\n", ""),
            ("Text.\n\nSo: this\nis text.", "Text.\n\nSo: this\nis text."),
            ("Text.\n\n  code: 1\n  code: 2\n", "Text.\n\n  code: 1\n  code: 2"),
            ("Text.\n\n(cherry picked from commit abc)", "Text."),
        ] {
            assert_eq!(len_of_body(body), text.len(), "{body}");
        }
    }

    #[test]
    fn a_line_is_found_in_an_older_text() {
        let of = |old: &str, new: &str, line| line_before(old.as_bytes(), new.as_bytes(), line);
        assert_eq!([1, 2, 3, 4].map(|line| of("a\nb\nc", "x\na\n  b\nz", line)), [None, Some(1), Some(2), None]);
        let long = "a\n".repeat(MAX_LINES);
        assert_eq!(of(&long, &format!("b\n{long}"), 2), None);
        assert_eq!([of("a", "a", 0), of("a", "a", 2), of("", "a", 1)], [None; 3]);
    }
}
