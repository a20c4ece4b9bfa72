//! The history of files, by git's plumbing.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

use super::plumbing::Repository;
use super::source_text::SourceText;
use super::tracked_files::REGULAR_MODES;

/// The most commits that are read, the latest ones.
const MAX_COMMITS: usize = 5_000;
/// The objects that one call reads, and the most bytes of all objects that a command reads at once.
const OBJECTS_PER_CALL: usize = 1_000;
const MAX_TEXT: usize = 256 * 1024 * 1024;

/// The first-parent history of the checked-out commit, or of the one whose files are read: commits with the regular files that each changed.
#[derive(Debug)]
pub struct GitHistory<'r> {
    repository: &'r Repository,
    /// The commits, the latest first. Before them stands, without an id, what is staged if the working tree is read.
    pub commits: Vec<FileCommit>,
    started: Instant,
}

/// A commit and its changes, relative to its first parent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileCommit {
    /// The hexadecimal digits; empty for what is staged.
    pub id: String,
    /// The time of the committer, in seconds since 1970.
    pub time: i64,
    /// The changes of regular files.
    pub changes: Vec<BlobChange>,
}

/// A change of a file: its path and content before and after it. Both are `None` where there was no regular file in the
/// project; two different paths are a rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobChange {
    /// The file before the change.
    pub before: Option<Blob>,
    /// The file after the change.
    pub after: Option<Blob>,
}

/// A path in the project, and the name of the object with the content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Blob {
    /// The path, with `/` between names.
    pub path: String,
    /// The hexadecimal digits of the object.
    pub object: String,
}

impl<'r> GitHistory<'r> {
    /// Reads the history. `paths`: the files whose changes are wanted, without renames; `None` for all, with renames.
    pub(in crate::store) fn read(repository: &'r Repository, paths: Option<&[String]>) -> Option<Self> {
        let started = Instant::now();
        let count = format!("--max-count={MAX_COMMITS}");
        let list = ["rev-list", "--first-parent", "--parents", "--timestamp", &count, repository.revision(), "--"];
        let list = String::from_utf8(repository.run(&list, Vec::new(), started)?).ok()?;
        let mut commits = vec![FileCommit { time: i64::MAX, ..FileCommit::default() }];
        let mut input = String::new();
        for line in list.lines() {
            let mut words = line.split(' ');
            let (time, id) = (words.next()?.parse().ok()?, words.next()?.to_owned());
            input.push_str(&id);
            words.take(1).for_each(|parent| input.extend([" ", parent]));
            input.push('\n');
            commits.push(FileCommit { id, time, changes: Vec::new() });
        }
        let mut history = Self { repository, commits, started };
        let full: Vec<String> = paths.unwrap_or_default().iter().map(|path| repository.prefix.clone() + path).collect();
        let renames = if paths.is_none() { ["-M50%", "-l1000"] } else { ["--no-renames", "-l1000"] };
        let with_paths = |first: &[&'static str]| -> Vec<&str> {
            let options = ["-r", "--raw", "-z", "--no-abbrev", "--no-ext-diff", "--no-textconv", "-O/dev/null"];
            let paths = full.iter().map(String::as_str);
            first.iter().copied().chain(options).chain(renames).chain(["--"]).chain(paths).collect()
        };
        let of_commits = with_paths(&["diff-tree", "--stdin", "--root", "--ignore-submodules=all"]);
        let changes = repository.run(&of_commits, input.into_bytes(), started)?;
        if repository.commit.is_none() {
            let mut staged = with_paths(&["diff-index", "--cached", "--ignore-submodules=all"]);
            let end = staged.iter().position(|word| *word == "--")?;
            staged.insert(end, "HEAD");
            history.add_changes(&repository.run(&staged, Vec::new(), started)?);
        }
        history.add_changes(&changes);
        Some(history)
    }

    /// Parses raw differences: ids of commits, and behind each the changes (git-diff-tree, "Raw output format").
    fn add_changes(&mut self, raw: &[u8]) {
        let positions: HashMap<String, usize> =
            self.commits.iter().enumerate().map(|(position, commit)| (commit.id.clone(), position)).collect();
        let mut commit = 0;
        let mut tokens = raw.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        while let Some(token) = tokens.next() {
            let Some(meta) = token.strip_prefix(':') else {
                commit = positions.get(token.trim()).copied().unwrap_or(commit);
                continue;
            };
            let words: Vec<&str> = meta.split(' ').collect();
            let [old_mode, new_mode, old, new, status] = words.as_slice() else { return };
            let Some(path) = tokens.next() else { return };
            let target = if status.starts_with(['R', 'C']) { tokens.next() } else { None };
            let before = self.blob(old_mode, old, &path);
            let after = self.blob(new_mode, new, target.as_deref().unwrap_or(&path));
            if before.is_some() || after.is_some() {
                self.commits[commit].changes.push(BlobChange { before, after });
            }
        }
    }

    fn blob(&self, mode: &str, object: &str, path: &str) -> Option<Blob> {
        let is_regular = u32::from_str_radix(mode, 8).is_ok_and(|mode| REGULAR_MODES.contains(&mode));
        let path = path.strip_prefix(&self.repository.prefix)?.to_owned();
        is_regular.then(|| Blob { path, object: object.to_owned() })
    }

    /// Returns what a placeholder of git-log(1) gives for each commit, by its id: `%ae` the e-mail address of its author, `%an`
    /// the name.
    pub(in crate::store) fn authors(
        &self,
        commits: HashSet<&str>,
        placeholder: &str,
    ) -> Option<HashMap<String, String>> {
        if commits.is_empty() {
            return Some(HashMap::new());
        }
        let input = commits.iter().flat_map(|id| [id.as_bytes(), b"\n"]).collect::<Vec<_>>().concat();
        let format = format!("--format=%H {placeholder}");
        let args = ["rev-list", "--no-walk=unsorted", "--stdin", &format];
        let output = self.repository.run(&args, input, self.started)?;
        // A name is in the encoding of its commit.
        let output = String::from_utf8_lossy(&output);
        // Each commit has two lines: `commit ID`, then what the format says.
        let lines = output.lines().filter(|line| !line.starts_with("commit "));
        Some(lines.filter_map(|line| line.split_once(' ')).map(|(id, mail)| (id.to_owned(), mail.to_owned())).collect())
    }

    /// Returns the name of the object in which a commit has the file, for [`GitHistory::contents`].
    pub fn object_name(&self, commit: &str, path: &str) -> String {
        format!("{commit}:{}{path}", self.repository.prefix)
    }

    /// Reads files by the names of their objects, within [`MAX_TEXT`]; those that are not there, not files or beyond the
    /// limits are left out.
    pub fn contents(&self, names: &BTreeSet<String>) -> HashMap<String, SourceText> {
        let (mut contents, mut room) = (HashMap::new(), MAX_TEXT);
        let names: Vec<&String> = names.iter().collect();
        for some in names.chunks(OBJECTS_PER_CALL) {
            let input = some.iter().flat_map(|name| [name.as_bytes(), b"\n"]).collect::<Vec<_>>().concat();
            let output = self.repository.run(&["cat-file", "--batch", "--buffer"], input, self.started);
            let output = output.filter(|output| output.len() <= room).unwrap_or_default();
            room -= output.len();
            let rest = Cell::new(output.as_slice());
            let objects = some.iter().filter_map(|name| Some(((*name).clone(), SourceText::new(next_object(&rest)?))));
            contents.extend(objects);
        }
        contents
    }
}

/// Splits the first object from the output of `cat-file --batch`: a line with name, type and size, then its bytes.
fn next_object<'o>(rest: &Cell<&'o [u8]>) -> Option<&'o [u8]> {
    let bytes = rest.get();
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (header, behind) = (std::str::from_utf8(bytes.get(..end)?).ok()?, bytes.get(end + 1..)?);
    rest.set(behind);
    let mut words = header.rsplit(' ');
    let size: usize = words.next()?.parse().ok()?;
    let kind = words.next()?;
    let content = behind.get(..size)?;
    rest.set(behind.get(size + 1..)?);
    (kind == "blob").then_some(content)
}
