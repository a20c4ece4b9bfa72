//! A model of lock and redo log: processes that each change two files, and may die, find that a step fails, or lose the
//! power at any step. All states that can be reached are visited, breadth first.
//!
//! The steps are those of the program: a test compares [`CHANGE`] and [`COMPLETION`] with its system calls.

use std::collections::{HashSet, VecDeque};

/// The number of processes.
const PROCESSES: usize = 3;

/// A step of a process: one system call that other processes, or the disk after a loss of power, can observe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Locks the store.
    Lock,
    /// Renames the file with the hash of the log into the user's cache.
    PutWitness,
    SyncCache,
    /// Renames the log into the store.
    PutLog,
    SyncStore,
    /// Exchanges the names of the old and the new version of one of the two files.
    Exchange(usize),
    /// Exchanges them back.
    Restore(usize),
    SyncNotes,
    RemoveLog,
    RemoveWitness,
}

/// The steps of a change of two files.
pub(crate) const CHANGE: [Step; 12] = [
    Step::Lock,
    Step::SyncStore,
    Step::PutWitness,
    Step::SyncCache,
    Step::PutLog,
    Step::SyncStore,
    Step::Exchange(0),
    Step::Exchange(1),
    Step::SyncNotes,
    Step::RemoveLog,
    Step::SyncStore,
    Step::RemoveWitness,
];

/// The steps by which the next command completes a log whose first file was changed, and whose second was not.
pub(crate) const COMPLETION: [Step; 6] =
    [Step::Exchange(1), Step::SyncNotes, Step::SyncNotes, Step::RemoveLog, Step::SyncStore, Step::RemoveWitness];
/// The steps of it that each file needs that was not changed; the others come once.
const STEPS_OF_FILE: usize = 2;

/// The content of a file: a bit for each process that changed it.
type Content = u8;

/// A log: the process that wrote it, and the contents of both files before. Each content after has the bit of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Log {
    process: usize,
    old: [Content; 2],
}

impl Log {
    fn changed(&self) -> [Content; 2] {
        self.old.map(|old| old | 1 << self.process)
    }
}

/// A name in a directory: what it leads to now is last; before it what the disk may have after a loss of power.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Name<T>(Vec<T>);

impl<T: Copy + PartialEq> Name<T> {
    fn now(&self) -> T {
        *self.0.last().unwrap()
    }

    fn set(&mut self, value: T) {
        self.0.push(value);
    }

    fn sync(&mut self) {
        let now = self.now();
        self.0 = vec![now];
    }
}

/// What a process is doing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Process {
    /// It has not begun.
    Idle,
    /// It makes these steps; the next comes first. `log` is that of its own change, once that is planned. `fails`: it undoes
    /// that change.
    Running {
        steps: VecDeque<Step>,
        log: Option<Log>,
        fails: bool,
    },
    Succeeded,
    /// It failed with an error, and undid what it did.
    Failed,
    Dead,
    /// It found a log that is not its user's.
    Refused,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    files: [Name<Content>; 2],
    log: Name<Option<Log>>,
    witness: Name<Option<Log>>,
    lock: Option<usize>,
    processes: [Process; PROCESSES],
}

/// The steps of the program, or others, with which a test shows that the model finds a mistake.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) change: Vec<Step>,
    pub(crate) completion: Vec<Step>,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) states: usize,
    /// The first rule that was broken, with the steps that lead there.
    pub(crate) violation: Option<String>,
}

impl State {
    fn first() -> Self {
        let file = || Name(vec![0]);
        Self {
            files: [file(), file()],
            log: Name(vec![None]),
            witness: Name(vec![None]),
            lock: None,
            processes: [const { Process::Idle }; PROCESSES],
        }
    }

    /// Begins what a process does once it has the lock: completes a log, and plans its own change.
    fn plan(&mut self, process: usize, program: &Program) {
        let Some(log) = self.log.now() else {
            let log = Log { process, old: self.files.each_ref().map(Name::now) };
            let steps = program.change.iter().skip(1).copied().collect();
            self.processes[process] = Process::Running { steps, log: Some(log), fails: false };
            return;
        };
        if self.witness.now() != Some(log) {
            self.end(process, Process::Refused);
            return;
        }
        let now = self.files.each_ref().map(Name::now);
        let is_begun = now.iter().zip(log.changed()).any(|(now, new)| *now == new);
        let is_due = |file: usize| is_begun && now[file] == log.old[file];
        let (of_file, rest) = program.completion.split_at(STEPS_OF_FILE.min(program.completion.len()));
        let mut steps = VecDeque::new();
        for file in (0..2).filter(|file| is_due(*file)) {
            steps.push_back(Step::Exchange(file));
            steps.extend(of_file.iter().skip(1));
        }
        steps.extend(rest);
        self.processes[process] = Process::Running { steps, log: None, fails: false };
    }

    fn end(&mut self, process: usize, end: Process) {
        self.processes[process] = end;
        if self.lock == Some(process) {
            self.lock = None;
        }
    }

    /// Makes the next step of a process. Returns whether it could.
    fn step(&mut self, process: usize, program: &Program) -> bool {
        let Process::Running { steps, log, fails } = &mut self.processes[process] else { return false };
        let Some(step) = steps.front().copied() else { return false };
        if step == Step::Lock && self.lock.is_some() {
            return false;
        }
        steps.pop_front();
        // A log that is completed is that in the store.
        let (own, is_last, fails) = (*log, steps.is_empty(), *fails);
        match step {
            Step::Lock => {
                self.lock = Some(process);
                self.plan(process, program);
                return true;
            }
            Step::PutWitness => self.witness.set(own),
            Step::SyncCache => self.witness.sync(),
            Step::PutLog => self.log.set(own),
            Step::SyncStore => self.log.sync(),
            Step::Exchange(file) => {
                let log = own.or(self.log.now()).unwrap();
                self.files[file].set(log.changed()[file]);
            }
            Step::Restore(file) => self.files[file].set(own.unwrap().old[file]),
            Step::SyncNotes => self.files.iter_mut().for_each(Name::sync),
            Step::RemoveLog => self.log.set(None),
            Step::RemoveWitness => self.witness.set(None),
        }
        if is_last && own.is_some() {
            self.end(process, if fails { Process::Failed } else { Process::Succeeded });
        } else if is_last {
            self.plan(process, program);
        }
        true
    }

    /// The next step of a process fails: it undoes its change, as far as it was made. Returns whether that can happen.
    fn fail(&mut self, process: usize) -> bool {
        let Process::Running { steps, log: log @ Some(_), fails: false } = &self.processes[process] else {
            return false;
        };
        let end = [Step::SyncNotes, Step::RemoveLog, Step::SyncStore, Step::RemoveWitness];
        let has_changed = |file: usize| !steps.contains(&Step::Exchange(file));
        let undo: Vec<Step> = match steps.front() {
            // The log stays, and the change is made.
            Some(Step::RemoveLog) => {
                self.end(process, Process::Succeeded);
                return true;
            }
            Some(Step::PutLog) => Vec::new(),
            Some(Step::SyncStore) if steps.contains(&Step::RemoveLog) => vec![Step::RemoveLog, Step::SyncStore],
            Some(Step::Exchange(_) | Step::SyncNotes) => {
                let files = (0..2).rev().filter(|file| has_changed(*file)).map(Step::Restore);
                files.chain(end).collect()
            }
            _ => return false,
        };
        if undo.is_empty() {
            self.end(process, Process::Failed);
        } else {
            self.processes[process] = Process::Running { steps: undo.into(), log: *log, fails: true };
        }
        true
    }

    /// Returns the states that a loss of power can leave: each name is what it was at any time since its folder was synced.
    fn lose_power(&self) -> Vec<Self> {
        let mut states = Vec::new();
        for first in &self.files[0].0 {
            for second in &self.files[1].0 {
                for log in &self.log.0 {
                    for witness in &self.witness.0 {
                        let mut state = self.clone();
                        state.files = [Name(vec![*first]), Name(vec![*second])];
                        (state.log, state.witness) = (Name(vec![*log]), Name(vec![*witness]));
                        state.lock = None;
                        for process in &mut state.processes {
                            if matches!(process, Process::Running { .. }) {
                                *process = Process::Dead;
                            }
                        }
                        states.push(state);
                    }
                }
            }
        }
        states
    }

    /// Returns the rule that a state breaks.
    fn violation(&self, program: &Program) -> Option<&'static str> {
        if self.processes.contains(&Process::Refused) {
            return Some("a command refuses a log of its own user");
        }
        if self.lock.is_some() {
            return None;
        }
        if self.log.now().is_none() {
            return self.violation_at_rest();
        }
        // The next command completes what was left, if there is one.
        let next = self.processes.iter().position(|process| *process == Process::Idle)?;
        let mut state = self.clone();
        state.begin(next, program);
        while state.step(next, program) {}
        if state.processes[next] != Process::Succeeded {
            return Some("the next command does not succeed");
        }
        state.violation_at_rest()
    }

    fn violation_at_rest(&self) -> Option<&'static str> {
        let [first, second] = self.files.each_ref().map(Name::now);
        let succeeded = (0..PROCESSES).filter(|process| self.processes[*process] == Process::Succeeded);
        if first != second {
            return Some("a change is made in part");
        }
        let failed = (0..PROCESSES).filter(|process| self.processes[*process] == Process::Failed);
        if failed.map(|process| 1 << process).any(|bit: Content| first & bit != 0) {
            return Some("a command that failed changed a file");
        }
        succeeded.map(|process| 1 << process).any(|bit: Content| first & bit == 0).then_some("a change is lost")
    }

    fn begin(&mut self, process: usize, program: &Program) {
        let steps = program.change.iter().take(1).copied().collect();
        self.processes[process] = Process::Running { steps, log: None, fails: false };
        assert_eq!(program.change.first(), Some(&Step::Lock));
    }

    /// Returns the states that can come next, each with a word for what happens.
    fn successors(&self, program: &Program) -> Vec<(String, Self)> {
        let mut next = Vec::new();
        for process in 0..PROCESSES {
            let mut add = |what: &str, change: &dyn Fn(&mut Self) -> bool| {
                let mut state = self.clone();
                if change(&mut state) {
                    next.push((format!("{process} {what}"), state));
                }
            };
            match &self.processes[process] {
                // Processes are alike: they begin in their order.
                Process::Idle if process == 0 || self.processes[process - 1] != Process::Idle => {
                    add("begins", &|state| {
                        state.begin(process, program);
                        true
                    });
                }
                Process::Running { steps, .. } => {
                    add(&format!("{:?}", steps.front()), &|state| state.step(process, program));
                    add("fails", &|state| state.fail(process));
                    add("dies", &|state| {
                        state.end(process, Process::Dead);
                        true
                    });
                }
                _ => {}
            }
        }
        next.extend(self.lose_power().into_iter().map(|state| ("the power fails".to_owned(), state)));
        next
    }
}

/// Visits all states, until one breaks a rule.
pub(crate) fn search(program: &Program) -> Found {
    let mut visited: HashSet<State> = HashSet::from([State::first()]);
    let mut known = vec![(State::first(), None::<(usize, String)>)];
    let mut at = 0;
    while at < known.len() {
        let state = known[at].0.clone();
        if let Some(violation) = state.violation(program) {
            let mut trace = Vec::new();
            let mut from = at;
            while let Some((before, what)) = &known[from].1 {
                trace.push(what.clone());
                from = *before;
            }
            trace.reverse();
            return Found { states: known.len(), violation: Some(format!("{violation}: {}", trace.join(", "))) };
        }
        for (what, next) in state.successors(program) {
            if visited.insert(next.clone()) {
                known.push((next, Some((at, what))));
            }
        }
        at += 1;
    }
    Found { states: known.len(), violation: None }
}
