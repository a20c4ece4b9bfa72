//! The write side of every command under faults: each system call fails in turn, or the process is killed before it.
//! specs/internals/reliability.md describes the rules, the injector and how to run the whole matrix.

mod durability;
mod matrix;
mod model;
mod scenarios;
mod world;

use self::matrix::{Extent, Results};
use self::model::{CHANGE, COMPLETION, Program, Step, search};
use self::scenarios::{READERS, SCENARIOS, write_base};
use self::world::{Call, Fault, World};
use crate::support::process::{call, commands_in};

/// Prints the results of a scenario, with the violations.
fn print(result: &Results) {
    let outcomes: Vec<String> = result.outcomes.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let [calls, runs, moved, bad] = [result.calls, result.runs, result.moved, result.violations.len()];
    let mut text = format!("{:30} {calls:>5} {runs:>6} {moved:>5} {bad:>4}  {}\n", result.name, outcomes.join(", "));
    result.violations.iter().for_each(|violation| text += &format!("VIOLATION {violation}\n"));
    if std::env::var_os("QIPU_FAULTS_MESSAGES").is_some() {
        result.messages.iter().for_each(|(message, cause)| text += &format!("MESSAGE {message}\n    {cause}\n"));
    }
    print!("{text}");
}

/// `QIPU_FAULTS` is the extent, `sample`, `changes` or `all`; `QIPU_FAULTS_OF` chooses commands whose names begin so.
#[test]
#[ignore = "needs cc"]
fn no_fault_leaves_a_change_in_part() {
    let [extent, filter] = ["QIPU_FAULTS", "QIPU_FAULTS_OF"].map(|name| std::env::var(name).unwrap_or_default());
    let extent = match &*extent {
        "all" => Extent::All,
        "baseline" => Extent::Baseline,
        "changes" => Extent::Changes,
        "" | "sample" => Extent::Sample,
        other => panic!("no extent: {other}"),
    };
    println!("{:30} {:>5} {:>6} {:>5} {:>4}  outcomes", "command", "calls", "runs", "moved", "bad");
    let results = matrix::run_all(extent, &filter, print);
    let sum = |of: fn(&Results) -> usize| results.iter().map(of).sum::<usize>();
    let [calls, runs, moved, bad] =
        [sum(|one| one.calls), sum(|one| one.runs), sum(|one| one.moved), sum(|one| one.violations.len())];
    println!("{:30} {calls:>5} {runs:>6} {moved:>5} {bad:>4}", "all");
    assert!(!results.is_empty());
    assert_eq!(bad, 0, "violations");
    assert!(moved * 50 <= runs, "{moved} of {runs} faults were at another call");
}

/// Nothing is passed over in silence because it could not be read: a copy of a store is whole, an import says what is missing,
/// and code counts as unchanged only if it was read.
#[test]
#[ignore = "needs cc"]
fn what_cannot_be_read_is_reported() {
    for (scenario, call, path) in [
        ("export pack", "newfstatat", "/repo/.qipu/notes"),
        ("export pack", "newfstatat", "/repo/.qipu/attachments"),
        ("import: a folder", "getdents64", "/vault"),
        ("search: writes an index", "getdents64", "/repo/.qipu/mocs"),
        ("export pack", "newfstatat", "/repo/.qipu/mocs/c.md"),
        ("review: --fix", "openat2", "/repo/src/a.rs"),
        ("export passages: --since-index", "readlink", "/home/.local"),
    ] {
        let scenario = SCENARIOS.iter().find(|one| one.name == scenario).unwrap();
        let world = World::new();
        write_base(&world);
        (scenario.prepare)(&world);
        world.save();
        world.restore();
        let run =
            |fault| world.run_with_fault(scenario.folder, (scenario.program, scenario.args), scenario.stdin, fault);
        let calls = run(None).1;
        let places: Vec<usize> =
            (0..calls.len()).filter(|at| calls[*at].name == call && calls[*at].path == path).collect();
        assert!(!places.is_empty(), "{}: no {call} of {path}", scenario.name);
        for at in places {
            // A command that waits for a file makes other calls.
            let hit = (0..matrix::ATTEMPTS).find_map(|_| {
                world.restore();
                let (ended, made) = run(Some(Fault { at: at + 1, name: "EIO", goes_on: false }));
                (made.get(at) == calls.get(at)).then_some(ended)
            });
            let ended = hit.unwrap();
            let name = path.rsplit('/').next().unwrap();
            let said = format!("{}{}", ended.stderr, ended.stdout);
            // A note whose stat fails is opened all the same.
            let pack = std::fs::read_to_string(world.at("out/new.pack")).unwrap_or_default();
            let is_packed = name == "c.md" && pack.contains("\nN c moc ");
            let is_said = said.contains(name) && said.contains("can't ");
            // A folder is first looked at for what it is, then read: it may be read whole after that.
            let is_whole = name == "vault" && said.contains("    2  notes created\n    1  attachments created\n");
            assert!(is_packed || is_whole || is_said, "{}: {call} {path}: {ended:?}", scenario.name);
        }
    }
}

/// The program's own steps keep all rules, whatever dies, fails or loses its power.
#[test]
fn no_order_of_events_leaves_a_change_in_part() {
    let found = search(&Program { change: CHANGE.to_vec(), completion: COMPLETION.to_vec() });
    assert_eq!(found.violation, None);
    assert!(found.states > 5_000, "{}", found.states);
}

/// Without one of the steps, or in another order, the search finds a rule that is broken; except that the order of the files
/// does not matter, and that the hash of a log that does not exist has no effect.
#[test]
fn no_step_of_a_change_is_superfluous() {
    let is_found = |change: &[Step], completion: &[Step]| {
        search(&Program { change: change.to_vec(), completion: completion.to_vec() }).violation.is_some()
    };
    for left_out in 1..CHANGE.len() {
        let mut change = CHANGE.to_vec();
        let step = change.remove(left_out);
        assert_eq!(is_found(&change, &COMPLETION), step != Step::RemoveWitness, "without {step:?} at {left_out}");
    }
    for second in 2..CHANGE.len() {
        let mut change = CHANGE.to_vec();
        change.swap(second - 1, second);
        let are_files = matches!(change[second - 1..=second], [Step::Exchange(_), Step::Exchange(_)]);
        assert_eq!(is_found(&change, &COMPLETION), !are_files, "{change:?}");
    }
    for left_out in 1..COMPLETION.len() {
        let mut completion = COMPLETION.to_vec();
        let step = completion.remove(left_out);
        assert_eq!(is_found(&CHANGE, &completion), step != Step::RemoveWitness, "completed without {step:?}");
    }
}

/// Returns the paths of all commands that help names, and of those that it hides.
fn commands() -> Vec<String> {
    let listed = |words: &[&str]| commands_in(&call("fixtures/research", &[words, &["--help"]].concat()).stdout);
    let first = listed(&[]);
    assert!(!first.is_empty());
    let mut below = Vec::new();
    for name in &first {
        below.extend(listed(&[name]).iter().map(|sub| format!("{name} {sub}")));
    }
    first.into_iter().chain(below).chain(["merge-driver".to_owned()]).collect()
}

/// A command that is not in the matrix changes nothing but caches.
#[test]
#[ignore = "needs cc"]
fn every_command_that_changes_files_is_in_the_matrix() {
    let tried: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name.split(':').next().unwrap()).collect();
    let is_reader =
        |command: &str| READERS.iter().any(|words| format!("{} ", words.join(" ")).starts_with(&format!("{command} ")));
    for command in commands() {
        let is_tried = tried.iter().any(|tried| *tried == command || tried.starts_with(&format!("{command} ")));
        assert!(is_tried || is_reader(&command), "{command} is neither in the matrix nor a command that only reads");
    }
    let world = World::new();
    write_base(&world);
    world.save();
    for words in READERS {
        world.restore();
        let (ended, calls) = world.run_with_fault("repo", ("qipu", words), "", None);
        assert!(ended.code <= 3, "{words:?}: {ended:?}");
        // A file without a name, by which `doctor` reads the clock of the file system, leaves nothing.
        let is_change =
            |call: &&Call| "aws".contains(call.class) && !(call.name == "openat" && world.had_folder(&call.path));
        for call in calls.iter().filter(is_change) {
            let is_in_cache =
                ["/repo/.qipu/cache", "/home/.cache/qipu"].iter().any(|cache| call.path.starts_with(cache));
            assert!(is_in_cache, "{words:?} makes {call:?}");
        }
    }
}

/// Returns the step of the model that a call is, if it is one.
fn step(call: &Call) -> Option<Step> {
    let of =
        |call: &Call| [call.path.as_str(), call.to.as_str()].map(|path| path.rsplit('/').next().unwrap().to_owned());
    let [name, to] = of(call);
    let is_in_cache = call.path.starts_with("/home/.cache/qipu/HASH");
    match (&*call.name, &*name, &*to) {
        ("flock", ".qipu", _) => Some(Step::Lock),
        ("rename" | "renameat2" | "renameat", _, "pending") => Some(Step::PutWitness),
        ("rename" | "renameat2" | "renameat", _, ".qipu-pending") => Some(Step::PutLog),
        ("renameat2", _, "a-old.md") => Some(Step::Exchange(0)),
        ("renameat2", _, "b.md") => Some(Step::Exchange(1)),
        ("fsync", "HASH", _) if is_in_cache => Some(Step::SyncCache),
        ("fsync", ".qipu", _) => Some(Step::SyncStore),
        ("fsync", "notes", _) => Some(Step::SyncNotes),
        ("unlink", ".qipu-pending", _) => Some(Step::RemoveLog),
        ("unlink", "pending", _) if is_in_cache => Some(Step::RemoveWitness),
        _ => None,
    }
}

#[test]
#[ignore = "needs cc"]
fn the_steps_of_the_model_are_those_of_the_program() {
    let world = World::new();
    write_base(&world);
    // The folder of the hash is made by the first change of several files.
    assert_eq!(
        world.run("repo", "qipu", &["update", "--yes", "--where", "tag = x", "--untag", "x", "--tag", "z"], "").code,
        0
    );
    world.save();
    let change = ("qipu", ["update", "a", "b", "--value", "7"]);
    let run = |fault| {
        world.restore();
        world.run_with_fault("repo", (change.0, &change.1), "", fault).1
    };
    let calls = run(None);
    assert_eq!(calls.iter().filter_map(step).collect::<Vec<_>>(), CHANGE);
    let second = calls.iter().position(|call| step(call) == Some(Step::Exchange(1))).unwrap();
    run(Some(Fault { at: second + 1, name: "KILL", goes_on: false }));
    let (ended, calls) = world.run_with_fault("repo", ("qipu", &["capture", "a thought"]), "", None);
    assert_eq!(ended.code, 0, "{ended:?}");
    let steps: Vec<Step> = calls.iter().filter_map(step).collect();
    assert_eq!((steps[0], &steps[1..=COMPLETION.len()]), (Step::Lock, &COMPLETION[..]));
}
