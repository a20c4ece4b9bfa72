//! Runs a scenario with every fault at every call, and checks what each run left.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::durability;
use super::scenarios::{Rule, SCENARIOS, Scenario, write_base};
use super::world::{Call, Ended, Fault, Files, World};

/// How much of the matrix is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All commands without a fault.
    Baseline,
    /// The calls that change files of some commands, with some faults; the others without one.
    Sample,
    /// Every fault at the calls that change files, of all commands.
    Changes,
    /// Every fault at every call of all commands.
    All,
}

/// Calls that a signal may interrupt, and that are then made again.
const RESTARTABLE: [&str; 16] = [
    "open", "openat", "openat2", "creat", "read", "pread64", "readv", "write", "pwrite64", "writev", "ftruncate",
    "fsync", "fdatasync", "flock", "fchmod", "fchown",
];

/// The results of a scenario.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) name: &'static str,
    pub(crate) calls: usize,
    pub(crate) runs: usize,
    /// The number of runs in which another call had the fault: threads make calls in any order, and how long a command waits
    /// for a file that an editor has just saved depends on the time. What they leave is checked as well.
    pub(crate) moved: usize,
    /// The number of runs by their outcome.
    pub(crate) outcomes: BTreeMap<&'static str, usize>,
    pub(crate) violations: Vec<String>,
    /// The error messages, each with a fault that caused it.
    pub(crate) messages: BTreeMap<String, String>,
}

impl Results {
    /// Adds the results of the same scenario with other faults.
    fn and(mut self, other: Self) -> Self {
        self.runs += other.runs;
        self.moved += other.moved;
        other.outcomes.into_iter().for_each(|(name, count)| *self.outcomes.entry(name).or_default() += count);
        self.violations.extend(other.violations);
        self.messages.extend(other.messages);
        self
    }
}

/// What a scenario does without a fault.
struct Baseline {
    calls: Vec<Call>,
    ended: Ended,
    before: Files,
    after: Files,
    /// What crashed commands left before.
    left_before: usize,
    /// The states after the next command, from `before` and from `after`.
    allowed: Vec<Files>,
    /// The answer of the next command.
    next: Ended,
}

/// In so many worlds, side by side, a scenario has its faults: most of the time, commands wait until a file that was just written
/// counts as complete.
const WORLDS: usize = 4;

/// So often a command is run until its fault is at the call: one that waits makes other calls.
pub(crate) const ATTEMPTS: usize = 20;

/// Runs a scenario.
fn run(scenario: &Scenario, extent: Extent) -> Results {
    let worlds = if extent == Extent::Baseline { 1 } else { WORLDS };
    let parts: Vec<Results> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..worlds).map(|part| scope.spawn(move || run_part(scenario, extent, part))).collect();
        running.into_iter().map(|part| part.join().unwrap()).collect()
    });
    parts.into_iter().reduce(Results::and).unwrap()
}

/// Runs a scenario with one of so many faults as there are worlds.
fn run_part(scenario: &Scenario, extent: Extent, part: usize) -> Results {
    let world = World::new();
    write_base(&world);
    (scenario.prepare)(&world);
    world.save();
    let baseline = baseline(scenario, &world);
    let mut results = Results { name: scenario.name, calls: baseline.calls.len(), ..Results::default() };
    if scenario.rule != Rule::OnlyCache && part == 0 {
        let findings = durability::findings(&baseline.calls, |path| world.had_folder(path));
        results.violations.extend(findings.into_iter().map(|finding| format!("{}: {finding}", scenario.name)));
    }
    let mut number = 0;
    for (index, call) in baseline.calls.iter().enumerate() {
        for (name, goes_on) in faults(call, extent) {
            number += 1;
            if number % WORLDS != part {
                continue;
            }
            let fault = Fault { at: index + 1, name, goes_on };
            let (ended, calls) = run_with_fault_at(call, scenario, &world, fault);
            results.runs += 1;
            let described = format!(
                "{}: call {} {} {} {}, {}{}",
                scenario.name,
                fault.at,
                call.name,
                call.path,
                call.to,
                name,
                if goes_on { " from there on" } else { "" }
            );
            results.moved += usize::from(calls.get(index) != Some(call));
            let call = calls.get(index).unwrap_or(call);
            if ended.code != 0 && ended.code != 137 {
                let first = ended.stderr.lines().find(|line| line.starts_with("qipu: ")).unwrap_or_default();
                results.messages.entry(first.to_owned()).or_insert_with(|| described.clone());
            }
            let failed = if goes_on { calls.get(index..).unwrap_or_default() } else { std::slice::from_ref(call) };
            let checked = Check { scenario, world: &world, baseline: &baseline, call, failed, fault, ended: &ended };
            match checked.outcome() {
                Ok(outcome) => *results.outcomes.entry(outcome).or_default() += 1,
                Err(what) => {
                    let said = format!("{} {}", ended.stderr.trim(), ended.stdout.trim());
                    let shown = format!("{described}: {what}\n    exit {}: {}", ended.code, said.trim());
                    results.violations.push(shown.replace('\n', "\n    "));
                }
            }
        }
    }
    results
}

/// Runs the command until the fault is at a call.
fn run_with_fault_at(call: &Call, scenario: &Scenario, world: &World, fault: Fault) -> (Ended, Vec<Call>) {
    let mut attempts = 0;
    loop {
        world.restore();
        let (ended, calls) = run_once(scenario, world, Some(fault));
        attempts += 1;
        if calls.get(fault.at - 1) == Some(call) || attempts == ATTEMPTS {
            return (ended, calls);
        }
    }
}

fn run_once(scenario: &Scenario, world: &World, fault: Option<Fault>) -> (Ended, Vec<Call>) {
    world.run_with_fault(scenario.folder, (scenario.program, scenario.args), scenario.stdin, fault)
}

/// Runs the command that must work whatever happened before.
fn run_next(scenario: &Scenario, world: &World) -> Ended {
    match scenario.rule {
        Rule::AllOrNothing | Rule::Server => world.run("repo", "qipu", scenario.next, ""),
        Rule::Merge => {
            // A merge that failed, if it did.
            let _ = world.run("repo", "git", &["merge", "--abort"], "");
            world.run("repo", "git", scenario.args, "")
        }
        Rule::EachFile | Rule::OnlyCache => world.run(scenario.folder, scenario.program, scenario.args, scenario.stdin),
    }
}

fn baseline(scenario: &Scenario, world: &World) -> Baseline {
    world.restore();
    let mut before = world.files();
    let left_before = world.leftovers(&mut before).len();
    let mut allowed = vec![state_after_next(scenario, world).0];
    world.restore();
    let (ended, calls) = run_once(scenario, world, None);
    assert_eq!(ended.code, 0, "{}: {ended:?}", scenario.name);
    let mut after = world.files();
    let left = world.leftovers(&mut after);
    assert!(left.len() <= left_before, "{}: {left:?}", scenario.name);
    let (state, next) = state_after_next(scenario, world);
    allowed.push(state);
    Baseline { calls, ended, before, after, left_before, allowed, next }
}

fn state_after_next(scenario: &Scenario, world: &World) -> (Files, Ended) {
    let ended = run_next(scenario, world);
    assert_eq!(ended.code, 0, "{}: {ended:?}", scenario.name);
    let mut files = world.files();
    world.leftovers(&mut files);
    (files, ended)
}

/// Returns the faults that a call can have, and whether later calls fail too.
fn faults(call: &Call, extent: Extent) -> Vec<(&'static str, bool)> {
    if extent == Extent::Sample {
        let names: &[&str] = match (call.class, &*call.name) {
            ('a', "write") => &["ENOSPC", "EINTR", "SHORT", "KILL"],
            ('a', _) => &["ENOSPC", "EINTR", "KILL"],
            ('w' | 's', _) => &["EIO", "EINTR", "KILL"],
            ('l', _) => &["EINTR", "KILL"],
            _ => &[],
        };
        return names.iter().map(|name| (*name, false)).collect();
    }
    if extent == Extent::Baseline || extent == Extent::Changes && "rc".contains(call.class) {
        return Vec::new();
    }
    let (once, on): (&[&str], &[&str]) = match (call.class, &*call.name) {
        ('o', _) => (&["ENOSPC", "EIO", "EINTR", "SHORT", "KILL"], &[]),
        ('a', "write" | "pwrite64") => (&["ENOSPC", "EIO", "EINTR", "SHORT", "KILL"], &["ENOSPC", "EROFS", "FULL"]),
        ('a', _) => (&["ENOSPC", "EIO", "EACCES", "EINTR", "KILL"], &["ENOSPC", "EROFS"]),
        ('w', "renameat2" | "renameat" | "rename") => {
            (&["ENOSPC", "EIO", "EACCES", "EINTR", "EINVAL", "KILL"], &["EROFS"])
        }
        ('w', _) => (&["EIO", "EACCES", "EINTR", "KILL"], &["EROFS"]),
        ('s', _) => (&["EIO", "ENOSPC", "EINTR", "EINVAL", "KILL"], &["EROFS"]),
        ('l', _) => (&["EINTR", "ENOLCK", "EIO", "KILL"], &[]),
        ('c', _) => (&["EIO"], &[]),
        (_, "openat" | "openat2" | "open") => (&["EIO", "EACCES", "EINTR", "EMFILE"], &[]),
        (_, "read" | "pread64") => (&["EIO", "EINTR", "SHORT"], &[]),
        _ => (&["EIO", "EACCES"], &[]),
    };
    once.iter().map(|name| (*name, false)).chain(on.iter().map(|name| (*name, true))).collect()
}

/// A run with a fault, to be checked.
struct Check<'a> {
    scenario: &'a Scenario,
    world: &'a World,
    baseline: &'a Baseline,
    call: &'a Call,
    /// The calls that can have caused an error: the same, or those from it on.
    failed: &'a [Call],
    fault: Fault,
    ended: &'a Ended,
}

impl Check<'_> {
    fn is_killed(&self) -> bool {
        self.fault.name == "KILL"
    }

    /// Returns what the run did.
    ///
    /// # Errors
    /// Says which rule it broke.
    fn outcome(&self) -> Result<&'static str, String> {
        self.check_end()?;
        let mut files = self.world.files();
        let left = self.world.leftovers(&mut files);
        // A file that can't be removed stays; everything else is cleaned up by a command that lives.
        // A temporary folder is listed before it is removed.
        let is_removal = self.call.name.starts_with("unlink") || self.call.path.starts_with("/tmp/.tmp");
        let may_leave = self.is_killed() || self.fault.goes_on || is_removal;
        if !may_leave && left.len() > self.baseline.left_before {
            return Err(format!("left {left:?}"));
        }
        let is_partial = self.check_files(&files)?;
        let outcome = match self.scenario.rule {
            Rule::AllOrNothing => self.all_or_nothing(&files)?,
            Rule::EachFile => self.each_file(&files)?,
            Rule::OnlyCache => self.only_cache()?,
            Rule::Server => self.server(&files)?,
            Rule::Merge => self.merge(&files)?,
        };
        self.check_repaired(&left)?;
        Ok(if is_partial && self.scenario.rule == Rule::AllOrNothing { "partial, then completed" } else { outcome })
    }

    /// Checks the exit code and the error message.
    fn check_end(&self) -> Result<(), String> {
        let Ended { code, stderr, .. } = self.ended;
        // The standard library asserts that a list of a folder can be closed, which no file system refuses.
        let is_of_std = self.call.name == "close" && stderr.contains("unexpected error during closedir");
        if is_of_std {
            return Ok(());
        }
        if stderr.contains("panicked at") || stderr.contains("stack backtrace") {
            return Err("it panicked".to_owned());
        }
        let is_git = self.scenario.rule == Rule::Merge;
        match code {
            137 if self.is_killed() && !is_git => return Ok(()),
            0 if self.is_killed() && !is_git => return Err("it lived".to_owned()),
            0..=3 => {}
            _ if is_git => {}
            _ => return Err("no exit code of the program".to_owned()),
        }
        if *code == 0 || is_git {
            return Ok(());
        }
        if self.fault.name == "EINTR" && RESTARTABLE.contains(&&*self.call.name) {
            return Err("an interrupted call is to be made again".to_owned());
        }
        if !stderr.lines().any(|line| line.starts_with("qipu: ")) {
            return Err("no error message".to_owned());
        }
        // `doctor` fails because of what it found; that it could not remove a file is a warning.
        let is_message = |line: &&str| line.starts_with("qipu: ") || line.starts_with("warning: ");
        let mut message = stderr.lines().filter(is_message).collect::<Vec<_>>().join("\n");
        if self.scenario.name.starts_with("doctor") {
            message += &self.ended.stdout;
        }
        self.check_message(&message)
    }

    /// Whether the fault is in reading a file that the answer names: the command does the rest.
    fn is_skipped(&self) -> bool {
        let said = format!("{}{}", self.ended.stdout, self.ended.stderr);
        let is_named =
            self.names().iter().any(|name| said.contains(name)) || said.contains("the project's folder can't be read");
        "rc".contains(self.call.class) && is_named
    }

    /// Whether files differ from others only in the commits that they name: the repository counts as another user's, and the
    /// project as one without git.
    fn is_without_git(&self, files: &Files, others: &Files) -> bool {
        let is_hidden = self.fault.name == "EACCES" && self.call.path.ends_with("/.git");
        let without_commits = |files: &Files| -> Files {
            let lines = |text: &String| {
                text.split_inclusive('\n').filter(|line| !line.trim_start().starts_with("commit: ")).collect()
            };
            files.iter().map(|(path, text)| (path.clone(), lines(text))).collect()
        };
        is_hidden && without_commits(files) == without_commits(others)
    }

    /// The names in the paths of the calls that can have caused an error.
    fn names(&self) -> Vec<&str> {
        let paths = self.failed.iter().flat_map(|call| [&call.path, &call.to]);
        let names = paths.flat_map(|path| path.rsplit('/').take(2));
        names.filter(|name| !name.is_empty() && !name.starts_with(".qipu-tmp")).collect()
    }

    /// An error, or a warning before it, names the file, the folder or the command that failed.
    fn check_message(&self, error: &str) -> Result<(), String> {
        let mut names = self.names();
        if self.failed.iter().any(|call| call.path.contains("/.qipu-tmp-X/")) {
            // A folder that gets its name at the end; the user knows that name.
            names.extend(self.scenario.args.last().and_then(|path| path.rsplit('/').next()));
        }
        // A call for the root of the world has no name, and one for the current folder concerns a path that the user
        // knows by another; a folder whose parent is another user's is none of ours.
        let is_above = names.is_empty() && error.contains("(os error");
        // What can't be compared with its old version counts as changed; the error names the note.
        let is_compared = error.contains(".md changed in the meantime; nothing was done");
        let is_of_another = self.fault.name == "EACCES"
            && self.call.path.ends_with("/.qipu")
            && error.contains("no store in this folder or its parents");
        let is_start = self.call.path.trim_matches('/') == self.scenario.folder
            && (error.contains("(os error") || error.contains("the project"));
        if is_above || is_of_another || is_compared || is_start || names.iter().any(|name| error.contains(name)) {
            Ok(())
        } else {
            Err(format!("the error names none of {names:?}"))
        }
    }

    /// Checks that each file has its content from before or from after. Returns whether there are some of both.
    fn check_files(&self, files: &Files) -> Result<bool, String> {
        let states = [&self.baseline.before, &self.baseline.after];
        let known = states.into_iter().chain(&self.baseline.allowed);
        let known: Vec<&Files> = known.collect();
        for (path, text) in files {
            // A renamed note gets its new content before its new name; a run that can go on ends with both.
            let is_partial = self.is_killed() || self.fault.goes_on;
            // A link is written with the id `b` in place of the title `B` or the alias `Old` if that might be the title of a
            // note that can't be read.
            let is_read = "rc".contains(self.call.class);
            let by_id = |text: &str| text.replace("[[B", "[[b").replace("[[Old", "[[b");
            let is_known = |state: &&Files| {
                let has_links_by_id = |known: &String| is_read && by_id(known) == by_id(text);
                state.get(path).is_some_and(|known| known == text || has_links_by_id(known))
                    || (is_partial && state.values().any(|known| known == text))
            };
            // What is made of the notes that can be read: a picture, or a note with links to others that are not imported.
            let is_made = !self.baseline.before.contains_key(path) && self.is_skipped();
            let is_without_git = || known.iter().any(|state| self.is_without_git(files, state));
            let is_allowed = is_made || is_without_git() || self.is_conflict(path, text);
            if !known.iter().any(is_known) && !is_allowed {
                let new = self.baseline.after.get(path);
                return Err(format!("{path} is neither old nor new: {text:?}, not {new:?}"));
            }
        }
        for path in self.baseline.before.keys().filter(|path| !files.contains_key(*path)) {
            // A renamed file may be under either name.
            if known.iter().all(|state| state.contains_key(path)) {
                return Err(format!("{path} is lost"));
            }
        }
        Ok(*files != self.baseline.before && *files != self.baseline.after)
    }

    /// Whether a file is the note that git merged by lines, since qipu could not: with the lines of both sides.
    fn is_conflict(&self, path: &str, text: &str) -> bool {
        let is_note = self.scenario.rule == Rule::Merge && self.ended.code == 1 && path.ends_with("/a-old.md");
        is_note
            && [&self.baseline.before, &self.baseline.after].iter().all(|state| {
                let whole = state[path].lines().filter(|line| !line.starts_with("tags: "));
                whole
                    .chain(["<<<<<<< ours", "tags: [x, theirs] # kept", ">>>>>>> theirs"])
                    .all(|line| text.lines().any(|had| had == line))
            })
            && text.contains("tags: [x, ours")
    }

    fn all_or_nothing(&self, files: &Files) -> Result<&'static str, String> {
        let is_new = *files == self.baseline.after;
        if self.ended.code == 0 && !is_new && !self.is_skipped() && !self.is_without_git(files, &self.baseline.after) {
            return Err(format!("it succeeded with {}", difference(&self.baseline.after, files)));
        }
        let next = run_next(self.scenario, self.world);
        if next.code != 0 {
            return Err(format!("the next command fails: {}", next.stderr));
        }
        let mut then = self.world.files();
        let left = self.world.leftovers(&mut then);
        if left.iter().any(|path| path.ends_with("pending")) {
            return Err(format!("the next command left {left:?}"));
        }
        let is_allowed = |state: &Files| then == *state || self.is_without_git(&then, state);
        if !self.baseline.allowed.iter().any(is_allowed) && !self.is_skipped() {
            let last = self.baseline.allowed.last().unwrap();
            return Err(format!("after the next command: {}", difference(last, &then)));
        }
        Ok(match (self.ended.code, is_new) {
            (0, true) => "done",
            (0, false) => "done but for what can't be read",
            (137, true) => "killed, new",
            (137, false) => "killed, old",
            (_, true) if self.baseline.before == self.baseline.after => "failed, old",
            (_, true) => "failed, new",
            (_, false) => "failed, old",
        })
    }

    fn each_file(&self, files: &Files) -> Result<&'static str, String> {
        let is_new = *files == self.baseline.after;
        // `init` makes a store though it can't list it as trusted, and names the command that does.
        let is_warned = self.ended.stderr.contains("the new store is not trusted");
        if self.ended.code == 0 && !is_new && !is_warned && !self.is_skipped() {
            return Err(format!("it succeeded with {}", difference(&self.baseline.after, files)));
        }
        if !is_new {
            let again = if is_warned {
                self.world.run(self.scenario.folder, "qipu", &["init", "--trust"], "")
            } else {
                run_next(self.scenario, self.world)
            };
            let mut then = self.world.files();
            self.world.leftovers(&mut then);
            if again.code != 0 || then != self.baseline.after {
                let difference = difference(&self.baseline.after, &then);
                return Err(format!("the same command again: {}, {difference}", again.stderr));
            }
        }
        Ok(match self.ended.code {
            0 if is_warned => "done in part, with a warning",
            0 => "done",
            137 => "killed",
            _ if is_new => "failed, new",
            _ => "failed, old or in part",
        })
    }

    fn only_cache(&self) -> Result<&'static str, String> {
        let is_change = "awsl".contains(self.call.class);
        if is_change && !self.is_killed() && self.ended.code != 0 && self.scenario.rule == Rule::OnlyCache {
            return Err("a cache that can't be written makes it fail".to_owned());
        }
        // What can't be read is missing in the answer, and named.
        let is_partial = !is_change && (self.is_skipped() || self.scenario.name == "hook");
        let is_same = self.ended.stdout == self.baseline.ended.stdout;
        if self.ended.code == 0 && !is_same && !is_partial {
            return Err(format!("another answer: {}", self.ended.stdout));
        }
        let next = run_next(self.scenario, self.world);
        let is_same = self.scenario.name == "hook"
            || [&self.baseline.next, &self.baseline.ended].iter().any(|known| next.stdout == known.stdout);
        if next.code != 0 || !is_same {
            return Err(format!("the next command answers {} {}{}", next.code, next.stdout, next.stderr));
        }
        Ok(match self.ended.code {
            0 => "done",
            137 => "killed",
            _ => "failed",
        })
    }

    /// Each request has an answer; what was answered without an error was done.
    fn server(&self, files: &Files) -> Result<&'static str, String> {
        let (before, after) = (&self.baseline.before, &self.baseline.after);
        let created = after.keys().find(|path| !before.contains_key(*path)).unwrap();
        let changed = "repo/.qipu/notes/a-old.md";
        let is_done = [files.get(created) == after.get(created), files[changed] == after[changed]];
        if self.call.class != 'o' && !self.is_killed() {
            for (request, is_done) in [(2, is_done[0]), (3, is_done[1])] {
                let begin = format!("{{\"jsonrpc\":\"2.0\",\"id\":{request},");
                let answer = self.ended.stdout.lines().find(|line| line.starts_with(&begin));
                let answer = answer.ok_or_else(|| format!("request {request} has no answer"))?;
                let is_error = answer.contains("\"isError\":true") || answer.contains("\"error\":");
                if !is_error && !is_done {
                    return Err(format!("request {request} succeeded and did nothing: {answer}"));
                }
            }
            if self.ended.code != 0 {
                return Err("the server ended".to_owned());
            }
        }
        let next = run_next(self.scenario, self.world);
        if next.code != 0 {
            return Err(format!("the next command fails: {}", next.stderr));
        }
        Ok(match is_done {
            [true, true] => "done",
            [false, false] => "neither",
            _ => "one of two",
        })
    }

    /// A merge without a conflict has the text of both sides; else the merge can be made again.
    fn merge(&self, files: &Files) -> Result<&'static str, String> {
        let note = "repo/.qipu/notes/a-old.md";
        let is_new = files[note] == self.baseline.after[note];
        if self.ended.code == 0 && !is_new {
            return Err(format!("a wrong merge: {}", files[note]));
        }
        if self.ended.code != 0 {
            let again = run_next(self.scenario, self.world);
            let then = self.world.files();
            if again.code != 0 || then.get(note) != self.baseline.after.get(note) {
                return Err(format!("the merge can't be made again: {again:?}"));
            }
        }
        Ok(if self.ended.code == 0 { "done" } else { "failed" })
    }

    /// Checks that `doctor --fix` removes what the run left, and finds no error in what it did not.
    fn check_repaired(&self, left: &[String]) -> Result<(), String> {
        let is_rare = self.is_killed() || self.fault.goes_on || !left.is_empty();
        if !is_rare || matches!(self.scenario.rule, Rule::OnlyCache | Rule::EachFile | Rule::Merge) {
            return Ok(());
        }
        let doctor = self.world.run("repo", "qipu", &["doctor", "--fix"], "");
        let mut then = self.world.files();
        // In caches and sources, temporary files are removed after an hour; what is outside of the project is the user's.
        let is_kept =
            |path: &String| path.contains("/cache/") || path.starts_with("repo/docs/") || path.starts_with("out/");
        let left: Vec<String> = self.world.leftovers(&mut then).into_iter().filter(|path| !is_kept(path)).collect();
        if doctor.code != 0 || !left.is_empty() {
            return Err(format!("doctor --fix leaves {left:?}: {} {}{}", doctor.code, doctor.stdout, doctor.stderr));
        }
        Ok(())
    }
}

/// Describes how a state differs from the one that was expected.
fn difference(expected: &Files, found: &Files) -> String {
    let mut text = String::new();
    for path in expected.keys().chain(found.keys()) {
        let (expected, found) = (expected.get(path), found.get(path));
        if expected != found && !text.contains(path) {
            let _ = write!(text, "{path}: {found:?}, not {expected:?}; ");
        }
    }
    text
}

/// Runs all scenarios whose names begin with one of some texts, separated by commas, on as many threads as there are processors.
/// `finished` gets the results of each.
pub(crate) fn run_all(extent: Extent, filter: &str, finished: fn(&Results)) -> Vec<Results> {
    let is_chosen = |scenario: &&Scenario| filter.split(',').any(|name| scenario.name.starts_with(name));
    let chosen: Vec<&Scenario> = SCENARIOS.iter().filter(is_chosen).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let take = || chosen.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    let one = |scenario: &Scenario| {
        let is_left_out = extent == Extent::Sample && !scenario.is_in_sample;
        let results = run(scenario, if is_left_out { Extent::Baseline } else { extent });
        finished(&results);
        results
    };
    let work = || std::iter::from_fn(|| Some(one(take()?))).collect::<Vec<_>>();
    let threads = std::thread::available_parallelism().map_or(1, Into::into) + 1;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}
