//! Commits as notes, against `git log`: after any changes of a repository, the ones that are found, and what is said of
//! them, are what git says; and a cache that has grown makes no difference.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use proptest::prelude::*;
use proptest::sample::Index;

use crate::support::commit_repository::{CommitRepository, REPO, name};
use crate::support::generators::runner;

/// The word that every message has.
const WORD: &str = "wombat";
const MAX_FILES: usize = 64;

/// What happens to a repository.
#[derive(Debug, Clone, Copy)]
enum Step {
    Commit,
    /// One with a body and trailers, of another author.
    CommitWithBody,
    CommitOfBot,
    CommitOfManyFiles,
    Amend,
    Revert,
    Branch,
    Checkout,
    Detach,
    Merge,
    CherryPick,
    Rebase,
    Rename,
    Tag,
    AnnotatedTag,
    TagOfTag,
    DeleteTag,
    PackRefs,
    Replace,
    Graft,
    Worktree,
    Clone,
    Fetch,
    Prune,
}

fn steps() -> impl Strategy<Value = Vec<(Step, Index)>> {
    use Step::{
        Amend, AnnotatedTag, Branch, Checkout, CherryPick, Clone, Commit, CommitOfBot, CommitOfManyFiles,
        CommitWithBody, DeleteTag, Detach, Fetch, Graft, Merge, PackRefs, Prune, Rebase, Rename, Replace, Revert, Tag,
        TagOfTag, Worktree,
    };
    let step = prop::sample::select(vec![
        Commit, CommitWithBody, CommitOfBot, CommitOfManyFiles, Amend, Revert, Branch, Checkout, Detach, Merge, Merge,
        CherryPick, Rebase, Rename, Tag, Tag, AnnotatedTag, TagOfTag, DeleteTag, PackRefs, Replace, Graft, Worktree,
        Clone, Fetch, Prune,
    ]);
    prop::collection::vec((step, any::<Index>()), 6..11)
}

/// A repository in the course of its changes, with the folders beside it that share its history.
struct Histories {
    repository: CommitRepository,
    folders: Vec<String>,
    count: usize,
}

/// What is said of a commit: subject, day, release and files.
type Said = (String, String, String, String);

impl Histories {
    fn new() -> Self {
        Self { repository: CommitRepository::new(), folders: vec![REPO.to_owned()], count: 0 }
    }

    fn git(&self, args: &[&str]) -> String {
        self.repository.git(args)
    }

    /// Runs git, which may refuse, and takes back what it left half done.
    fn try_git(&self, args: &[&str]) {
        if !self.repository.try_git(REPO, args, b"").status.success() {
            self.repository.try_git(REPO, &[args[0], "--abort"], b"");
            self.git(&["reset", "--quiet", "--hard"]);
        }
    }

    fn lines(&self, args: &[&str]) -> Vec<String> {
        self.git(args).lines().map(str::to_owned).collect()
    }

    /// Returns one of all commits.
    fn some(&self, place: Index) -> String {
        let all = self.lines(&["rev-list", "--all", "HEAD"]);
        all[place.index(all.len())].clone()
    }

    fn commit(&mut self, body: &str, options: &[&str]) {
        self.count += 1;
        let count = self.count;
        self.repository.write(&format!("src/f{}.rs", count % 7), &format!("fn f{count}() {{}}\n"));
        if count.is_multiple_of(4) {
            self.repository.write(&format!("a folder/\u{e4} {count}.txt"), "text");
        }
        let message = format!("change {count}: the {WORD} at {}\n{body}", count * 7 % 5);
        self.repository.commit_with(&message, options);
    }

    fn take(&mut self, (step, place): (Step, Index)) {
        self.repository.wait();
        self.count += 1;
        let number = self.count.to_string();
        let some = self.some(place);
        let tags = self.lines(&["tag", "--list"]);
        let tag = (!tags.is_empty()).then(|| tags[place.index(tags.len())].clone());
        match step {
            Step::Commit => self.commit("", &[]),
            Step::CommitWithBody => {
                let body = "\nSince it is slow.\n\nSigned-off-by: A <a@b.c>\nChange-Id: I1\n";
                self.commit(body, &["--author", "B <b@example.org>", "--date", "2020-02-03T23:30:00-0800"]);
            }
            Step::CommitOfBot => self.commit("", &["--author", "renovate[bot] <b@example.org>"]),
            Step::CommitOfManyFiles => {
                let files = MAX_FILES - 1 + place.index(4);
                (0..files).for_each(|file| self.repository.write(&format!("many/{file}"), &number));
                self.repository.commit(&format!("many files of the {WORD} {number}"));
            }
            Step::Amend => self.commit("\nAmended.", &["--amend"]),
            Step::Revert => self.try_git(&["revert", "--no-edit", &some]),
            Step::Branch => drop(self.git(&["checkout", "--quiet", "-b", &format!("b{number}"), &some])),
            Step::Checkout => {
                let all = self.lines(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
                // A linked working tree may have it.
                self.try_git(&["checkout", "--quiet", &all[place.index(all.len())]]);
            }
            Step::Detach => drop(self.git(&["checkout", "--quiet", "--detach", &some])),
            Step::Merge => {
                self.try_git(&["merge", "--quiet", "--no-ff", "-X", "ours", "-m", &format!("merge {WORD}"), &some]);
            }
            Step::CherryPick => self.try_git(&["cherry-pick", "--allow-empty", &some]),
            Step::Rebase => self.try_git(&["rebase", "--quiet", "-X", "ours", &some]),
            Step::Rename => {
                let files = self.lines(&["ls-files", "src"]);
                if let Some(file) = files.first() {
                    self.git(&["mv", file, &format!("src/moved{number}.rs")]);
                }
                self.repository.commit(&format!("move the {WORD} {number}"));
            }
            Step::Tag => drop(self.git(&["tag", &format!("v{number}"), &some])),
            Step::AnnotatedTag => drop(self.git(&["tag", "-a", "-m", WORD, &format!("a/{number}"), &some])),
            Step::TagOfTag => {
                let target = tag.unwrap_or_else(|| format!("{some}^{{tree}}"));
                self.git(&["tag", "-a", "-m", WORD, &format!("t{number}"), &target]);
            }
            Step::DeleteTag => tag.iter().for_each(|tag| drop(self.git(&["tag", "--delete", tag]))),
            Step::PackRefs => drop(self.git(&["pack-refs", "--all"])),
            Step::Replace => drop(self.git(&["replace", "--force", "HEAD", &some])),
            Step::Graft => {
                let text = if place.index(3) == 0 { String::new() } else { format!("{some}\n") };
                self.repository.write(".git/info/grafts", &text);
            }
            Step::Worktree => self.add_worktree(&some, &number),
            Step::Clone => self.add_clone(place.index(25) + 1, &number),
            Step::Fetch => self.fetch(place),
            Step::Prune => {
                self.git(&["reflog", "expire", "--expire=now", "--all"]);
                self.git(&["gc", "--quiet", "--prune=now"]);
            }
        }
    }

    fn add_worktree(&mut self, some: &str, number: &str) {
        let folder = format!("linked{number}");
        let path = self.repository.world.at(&folder);
        self.git(&["worktree", "add", "--quiet", "--detach", path.to_str().unwrap(), some]);
        self.folders.push(folder);
    }

    fn add_clone(&mut self, depth: usize, number: &str) {
        let folder = format!("clone{number}");
        let (from, to) = (self.repository.world.at(REPO), self.repository.world.at(&folder));
        let url = format!("file://{}", from.display());
        // A server sends no parents that it lacks.
        self.repository.write(".git/info/grafts", "");
        self.git(&["clone", "--quiet", &format!("--depth={depth}"), &url, to.to_str().unwrap()]);
        self.repository.world.write(&format!("{folder}/.qipu/config.toml"), "[history]\ncommits = true\n");
        fs::create_dir_all(to.join(".qipu/notes")).unwrap();
        self.folders.push(folder);
    }

    /// Fetches more into the clones.
    fn fetch(&self, place: Index) {
        for folder in self.folders.iter().filter(|folder| folder.starts_with("clone")) {
            let git = |args: &[&str]| self.repository.try_git(folder, args, b"");
            let more = if place.index(2) == 0 { "--deepen=3" } else { "--unshallow" };
            git(&["fetch", "--quiet", "--tags", more]);
            git(&["reset", "--quiet", "--hard", "FETCH_HEAD"]);
        }
    }

    /// Returns what git says of the commits up to a revision.
    fn expected(&self, folder: &str, revision: &str) -> BTreeMap<String, Said> {
        let git = |args: &[&str]| self.repository.git_in(folder, args);
        if git(&["rev-list", "--all", "--max-count=1"]).is_empty() {
            return BTreeMap::new();
        }
        let format = "--format=%x01%H%x02%an%x02%s%x02%ad%x02";
        let log = ["-c", "core.quotePath=false", "log", "--no-merges", "--name-only", "--no-renames", format];
        let log = git(&[&log[..], &["--date=iso-strict", revision, "--"]].concat());
        let mut releases = HashMap::new();
        for tag in git(&["tag", "--sort=refname", "--sort=creatordate"]).lines() {
            let listed = self.repository.try_git(folder, &["rev-list", &format!("refs/tags/{tag}^{{commit}}")], b"");
            for id in String::from_utf8(listed.stdout).unwrap().lines() {
                releases.entry(id.to_owned()).or_insert_with(|| tag.to_owned());
            }
        }
        let commits = log.split('\u{1}').skip(1).filter_map(|commit| {
            let fields: Vec<&str> = commit.split('\u{2}').collect();
            let [id, author, subject, date, files] = fields.as_slice() else { panic!("{commit}") };
            let files: Vec<&str> = files.lines().filter(|file| !file.is_empty()).collect();
            let files = if files.len() > MAX_FILES { String::new() } else { files.join(",") };
            let release = releases.get(*id).cloned().unwrap_or_default();
            let said = ((*subject).to_owned(), (*date).to_owned(), release, files);
            (!author.ends_with("[bot]")).then(|| (name(id), said))
        });
        commits.collect()
    }

    fn answer(&self, folder: &str, cache: Option<&str>, args: &[&str]) -> String {
        let answer = self.repository.world.call_of_user(folder, cache, args);
        assert!(answer.error.is_none(), "{args:?}: {:?}", answer.error);
        answer.stdout
    }

    /// Returns what is said of the commits that are found.
    fn found(&self, folder: &str, cache: Option<&str>, more: &[&str]) -> BTreeMap<String, Said> {
        let search = ["search", WORD, "--in", "commits", "-n", "1000"];
        let args = [&search[..], &["--fields", "id,title,created,release,code"], more].concat();
        let answer = self.answer(folder, cache, &args);
        let rows = answer.lines().map(|line| {
            let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
            let [id, subject, date, release, files] = fields.try_into().unwrap();
            (id, (subject, date, release, files))
        });
        rows.collect()
    }

    /// Expects what git says in each folder, with and without the cache that has grown.
    fn check(&self, step: &str, is_last: bool) {
        for folder in &self.folders {
            let expected = self.expected(folder, "HEAD");
            assert_eq!(self.found(folder, Some("grown"), &[]), expected, "{folder} after {step}");
            let shown: Vec<&str> = expected.keys().take(2).map(String::as_str).collect();
            let questions = [
                vec!["search", WORD, "--records"],
                vec!["ask", "why change", WORD, "amended"],
                vec!["ask", "slow", WORD, "--in", "commits", "--json"],
                [vec!["show"], shown].concat(),
            ];
            let questions = questions.iter().filter(|question| question.len() > 1);
            let questions: Vec<_> = if is_last { questions.collect() } else { questions.take(2).collect() };
            for question in questions {
                let without = self.answer(folder, None, &[question, &["--no-index"][..]].concat());
                for cache in ["grown", "empty"] {
                    let with = self.answer(folder, Some(cache), question);
                    assert_eq!(with, without, "{question:?} in {folder} with the {cache} cache after {step}");
                }
                let _ = fs::remove_dir_all(self.repository.world.at("empty"));
            }
        }
    }

    /// Expects the ancestors of a revision, and the releases that git itself finds.
    fn check_earlier(&self, place: Index) {
        let some = self.some(place);
        let at = ["--at", &some];
        let expected = self.expected(REPO, &some);
        assert_eq!(self.found(REPO, Some("grown"), &at), expected, "at {some}");
        assert_eq!(self.found(REPO, None, &[&at[..], &["--no-index"]].concat()), expected, "at {some}");
        for (id, (_, _, release, _)) in expected {
            let id = id.trim_start_matches("commits:");
            let tags = self.lines(&["tag", "--contains", id, "--sort=refname", "--sort=creatordate"]);
            assert_eq!(tags.first().cloned().unwrap_or_default(), release, "{id}");
        }
    }
}

#[test]
#[ignore = "git"]
fn commits_are_those_of_git_after_any_changes() {
    runner(20)
        .run(&(steps(), any::<Index>(), 0_usize..4), |(steps, place, few)| {
            let mut histories = Histories::new();
            histories.check("the beginning", true);
            // From 16 on, an index is kept.
            (0..if few == 0 { 3 } else { 17 }).for_each(|_| histories.commit("", &[]));
            histories.check("the first commits", false);
            for (number, step) in steps.iter().enumerate() {
                histories.take(*step);
                histories.check(&format!("{:?}", &steps[..=number]), number + 1 == steps.len());
            }
            histories.check_earlier(place);
            Ok(())
        })
        .unwrap();
}
