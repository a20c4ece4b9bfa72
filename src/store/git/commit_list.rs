//! The commits that count as records: those from a commit back to the first, without merges and those of programs, each with
//! the first release that has it.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::plumbing::Repository;
use crate::note::hash_in;

/// The most commits, the latest ones.
const MAX_COMMITS: usize = 200_000;

/// The digits of a time in seconds: those of the year 5138.
const TIME_DIGITS: usize = 11;

/// The names of authors that are programs, besides those that end in `[bot]`.
const BOTS: [&str; 12] = [
    "allcontributors", "dependabot", "dependabot-preview", "github-actions", "greenkeeper", "k8s-ci-robot",
    "pre-commit-ci", "pyup-bot", "renovate", "renovate-bot", "semantic-release-bot", "snyk-bot",
];

/// The parents of commits.
type Parents = HashMap<String, Vec<String>>;

/// The commits up to one.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct CommitList {
    /// The id of the last commit.
    pub(in crate::store) tip: String,
    /// Those that count, by their paths.
    commits: Vec<CountedCommit>,
    /// The tags from the oldest on.
    tags: Vec<CommitTag>,
}

/// A tag of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CommitTag {
    name: String,
    /// The id of the commit.
    id: String,
    /// Whether the commit is the last one of the list or an ancestor of it: then the tag has no commit that comes later.
    is_listed: bool,
}

/// A commit that counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct CountedCommit {
    /// The time of the committer in seconds, in [`TIME_DIGITS`] digits, a hyphen and the id. In this order, which is about that
    /// of the history, git unpacks trees five times faster than in that of ids.
    path: String,
    /// The position of the first release with it, from 1; 0 for none.
    release: u32,
    /// Whether it has no parent, or the repository lacks it: then it seems to add all files.
    is_first: bool,
}

/// What the record of a commit depends on beside the commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::store) struct CommitState<'l> {
    /// The name of the first release that has it.
    pub(in crate::store) release: Option<&'l str>,
    /// Whether it has no parent, or the repository lacks it.
    pub(in crate::store) is_first: bool,
}

/// A commit as git lists it.
struct ListedCommit {
    id: String,
    path: String,
    /// Whether it is on the left side of a comparison.
    is_left: bool,
    parents: Vec<String>,
    is_of_bot: bool,
}

impl CommitList {
    /// Lists the commits up to one; `None` if git fails.
    pub(in crate::store) fn read(repository: &Repository, tip: &str) -> Option<Self> {
        let listed = list(repository, &[tip])?;
        // A tag of a commit that is missing leaves commits without releases, not an answer without commits.
        let tags = tags(repository).unwrap_or_default();
        let mut all = Self { tip: tip.to_owned(), commits: Vec::new(), tags };
        all.add(&listed);
        let parents: Parents = listed.into_iter().map(|commit| (commit.id, commit.parents)).collect();
        all.tags.iter_mut().for_each(|tag| tag.is_listed = parents.contains_key(&tag.id));
        all.set_releases(repository, parents, tip);
        Some(all)
    }

    /// Lists the commits up to another one, with the same tags, by those that came and went; `None` if git fails.
    pub(in crate::store) fn moved(&self, repository: &Repository, tip: &str) -> Option<Self> {
        let listed = list(repository, &["--left-right", &format!("{}...{tip}", self.tip)])?;
        let mut all = Self { tip: tip.to_owned(), ..self.clone() };
        let (gone, new): (Vec<ListedCommit>, Vec<_>) = listed.into_iter().partition(|commit| commit.is_left);
        let gone: HashSet<String> = gone.into_iter().map(|commit| commit.id).collect();
        all.commits.retain(|commit| !gone.contains(hash_in(&commit.path)));
        all.add(&new);
        let parents: Parents = new.into_iter().map(|commit| (commit.id, commit.parents)).collect();
        let is_new: HashSet<String> = parents.keys().cloned().collect();
        all.set_releases(repository, parents, &self.tip);
        for tag in &mut all.tags {
            tag.is_listed = (tag.is_listed && !gone.contains(&tag.id)) || is_new.contains(&tag.id);
        }
        (all.commits.len() < MAX_COMMITS).then_some(all)
    }

    fn add(&mut self, listed: &[ListedCommit]) {
        let counted = listed.iter().filter(|commit| commit.parents.len() < 2 && !commit.is_of_bot);
        let new = |commit: &ListedCommit| {
            let is_first = commit.parents.is_empty();
            CountedCommit { path: commit.path.clone(), release: 0, is_first }
        };
        self.commits.extend(counted.map(new));
        self.commits.sort_unstable();
    }

    /// Iterates over the paths of the commits that count, ascending, each with its state.
    pub(in crate::store) fn commits(&self) -> impl Iterator<Item = (&str, CommitState<'_>)> {
        self.commits.iter().map(|commit| (commit.path.as_str(), self.state_of(commit)))
    }

    /// Returns the state of the commit with a path.
    pub(in crate::store) fn state(&self, path: &str) -> Option<CommitState<'_>> {
        let position = self.commits.binary_search_by(|commit| commit.path.as_str().cmp(path)).ok()?;
        Some(self.state_of(&self.commits[position]))
    }

    fn state_of(&self, commit: &CountedCommit) -> CommitState<'_> {
        let position = usize::try_from(commit.release).ok().and_then(|release| release.checked_sub(1));
        let release = position.and_then(|position| self.tags.get(position)).map(|tag| tag.name.as_str());
        CommitState { release, is_first: commit.is_first }
    }

    /// Sets the release of the commits whose parents are given: that of the first tag from which a way leads to it. `known`
    /// is the commit whose ancestors have their releases, or are among the given ones.
    fn set_releases(&mut self, repository: &Repository, mut parents: Parents, known: &str) {
        if self.tags.is_empty() || parents.is_empty() {
            return;
        }
        // A tag of another branch has the commits that both have.
        let tips = self.tags.iter().filter(|tag| !tag.is_listed).flat_map(|tag| [tag.id.as_str(), "\n"]);
        let tips: String = tips.collect();
        let input = format!("{tips}^{known}\n");
        let list = || repository.run(&["rev-list", "--stdin", "--parents"], input.into_bytes(), Instant::now());
        let others = if tips.is_empty() { None } else { list() }.unwrap_or_default();
        for line in String::from_utf8_lossy(&others).lines() {
            let mut words = line.split(' ').map(str::to_owned);
            let Some(id) = words.next() else { continue };
            parents.insert(id, words.collect());
        }
        let mut releases: HashMap<String, u32> = HashMap::new();
        for (release, tag) in (1..).zip(&self.tags) {
            let mut waiting = vec![tag.id.clone()];
            while let Some(id) = waiting.pop() {
                // Each is visited from the first tag only.
                let Some(above) = parents.remove(&id) else { continue };
                releases.insert(id, release);
                waiting.extend(above);
            }
        }
        for commit in &mut self.commits {
            if let Some(release) = releases.get(hash_in(&commit.path)) {
                commit.release = *release;
            }
        }
    }
}

/// Lists commits with their parents and whether their author is a program.
fn list(repository: &Repository, range: &[&str]) -> Option<Vec<ListedCommit>> {
    let count = format!("--max-count={MAX_COMMITS}");
    let args = [&["rev-list", &count, "--format=%P%x00%an%x00%ae%x00%ct", "--encoding=UTF-8"], range, &["--"]].concat();
    let output = repository.run(&args, Vec::new(), Instant::now())?;
    let output = String::from_utf8_lossy(&output);
    let mut lines = output.lines();
    let mut listed = Vec::new();
    // Each commit has two lines: `commit ID`, then what the format says.
    while let Some((name, fields)) = lines.next().zip(lines.next()) {
        let name = name.strip_prefix("commit ")?;
        let id = name.trim_start_matches(['<', '>']).to_owned();
        let mut fields = fields.split('\0');
        let parents = fields.next()?.split_whitespace().map(str::to_owned).collect();
        let is_of_bot = is_bot(fields.next()?, fields.next()?);
        let time: u64 = fields.next()?.parse().unwrap_or_default();
        let path = format!("{time:0TIME_DIGITS$}-{id}");
        listed.push(ListedCommit { id, path, is_left: name.starts_with('<'), parents, is_of_bot });
    }
    Some(listed)
}

fn is_bot(name: &str, address: &str) -> bool {
    let name = name.trim().to_lowercase();
    name.ends_with("[bot]") || address.contains("[bot]@") || BOTS.contains(&name.as_str())
}

/// Returns the tags of commits, the oldest first.
fn tags(repository: &Repository) -> Option<Vec<CommitTag>> {
    let format = "--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname) %(refname:strip=2)";
    let args = ["for-each-ref", "--sort=refname", "--sort=creatordate", format, "refs/tags"];
    let output = repository.run(&args, Vec::new(), Instant::now())?;
    let output = String::from_utf8_lossy(&output);
    let tag = |line: &str| {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let [kind, id, peeled_kind, peeled, name] = words.as_slice() else { return None };
        let commit = [(kind, id), (peeled_kind, peeled)].into_iter().find(|(kind, _)| **kind == "commit");
        commit.map(|(_, id)| CommitTag { name: (*name).to_owned(), id: (*id).to_owned(), is_listed: false })
    };
    Some(output.lines().filter_map(tag).collect())
}
