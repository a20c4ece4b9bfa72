//! The index is derived data: after any changes of notes and of the index, answers equal those from the files alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::files::{rebuild_index, temp_dir};
use crate::support::generators;
use crate::support::process::call;
use proptest::prelude::*;

/// The number of times, 50 ms apart, that running children are polled before they count as hanging.
const MAX_POLLS: usize = 2_000;

/// Waits until the stat of a file that was just written is no longer racy: files may share their timestamps with the index
/// until then, and are read again.
fn settle() {
    std::thread::sleep(Duration::from_millis(150));
}

/// Something that happens to a store.
#[derive(Debug, Clone)]
enum Event {
    /// A note gets a text; of the same length as any other with that letter.
    Write(usize, char),
    /// The file of a note is replaced by another one with the same modification time.
    Swap(usize, char),
    Delete(usize),
    Rename(usize, usize),
    /// A note goes into a folder among others.
    Move(usize, usize),
    /// A folder takes another one's name, or goes away with all that is in it.
    Folder(usize, Option<usize>),
    /// Nothing, for longer than a file is young.
    Rest,
    /// The index is rebuilt, while the files are settled or still racy.
    Rebuild(bool),
    /// A byte of one of the files of the index is another.
    Flip(usize, prop::sample::Index),
    /// One of the files ends early.
    Cut(usize, prop::sample::Index),
    /// An earlier version of one of the files is restored.
    Restore(usize),
    /// One of the files is not there, or a folder is in its place.
    Remove(usize, bool),
}

impl Event {
    /// Whether it may change what the files say; the others happen to the index alone.
    fn changes_notes(&self) -> bool {
        use Event::{Delete, Folder, Move, Rename, Swap, Write};
        matches!(self, Write(..) | Swap(..) | Delete(_) | Rename(..) | Move(..) | Folder(..))
    }
}

fn event() -> impl Strategy<Value = Event> {
    let note = 0_usize..5;
    let letter = prop::sample::select(vec!['a', 'b', 'c']);
    let file = 0..FILES.len();
    let folder = 0..FOLDERS.len();
    prop_oneof![
        4 => (note.clone(), letter.clone()).prop_map(|(note, letter)| Event::Write(note, letter)),
        2 => (note.clone(), letter).prop_map(|(note, letter)| Event::Swap(note, letter)),
        1 => note.clone().prop_map(Event::Delete),
        1 => (note.clone(), note.clone()).prop_map(|(from, to)| Event::Rename(from, to)),
        2 => (note, folder.clone()).prop_map(|(note, folder)| Event::Move(note, folder)),
        1 => (folder.clone(), prop::option::of(folder)).prop_map(|(from, to)| Event::Folder(from, to)),
        2 => Just(Event::Rest),
        3 => any::<bool>().prop_map(Event::Rebuild),
        1 => (file.clone(), any::<prop::sample::Index>()).prop_map(|(file, place)| Event::Flip(file, place)),
        1 => (file.clone(), any::<prop::sample::Index>()).prop_map(|(file, place)| Event::Cut(file, place)),
        1 => file.clone().prop_map(Event::Restore),
        1 => (file, any::<bool>()).prop_map(|(file, leaves_folder)| Event::Remove(file, leaves_folder)),
    ]
}

fn text(note: usize, letter: char) -> String {
    format!(
        "---\nid: n{note}\ntitle: Title {letter}\ntype: {}\ntags: [{letter}]\nvalue: 5{}\nlinks: [n{}]\ncustom: {{k: [{letter}, ~]}}\n---\n\
         Body {letter} of the note. [[n{}]]\n\n1. [[n{}]]\n2. [[n4]]\n\nTitles and bodies: {}\n",
        if note == 3 { "moc" } else { "idea" },
        letter as u32 % 10,
        (note + 1) % 5,
        letter as usize % 5,
        letter as usize % 3,
        ["letters", "lettering", "Lettered"][letter as usize % 3]
    )
}

/// The files of the index.
const FILES: [&str; 3] = ["notes.index", "links.index", "folders.index"];

/// Folders for notes.
const FOLDERS: [&str; 4] = ["notes/a", "notes/a/b", "notes/c", "journals"];

/// The first of each of these files that there was.
type Old = [Vec<u8>; FILES.len()];

fn happen(dir: &Path, event: &Event, old: &Old) {
    let file = |note: &usize| dir.join(format!(".qipu/notes/n{note}.md"));
    let path = |file: &usize| dir.join(".qipu/cache").join(FILES[*file]);
    let change = |file: &usize, change: &dyn Fn(&mut Vec<u8>)| {
        if let Ok(mut bytes) = fs::read(path(file)) {
            change(&mut bytes);
            fs::write(path(file), bytes).unwrap();
        }
    };
    match event {
        Event::Write(note, letter) => fs::write(file(note), text(*note, *letter)).unwrap(),
        Event::Swap(note, letter) => {
            let new = dir.join("new");
            fs::write(&new, text(*note, *letter)).unwrap();
            if let Ok(old) = fs::metadata(file(note)).and_then(|old| old.modified()) {
                fs::File::options().append(true).open(&new).unwrap().set_modified(old).unwrap();
            }
            fs::rename(new, file(note)).unwrap();
        }
        Event::Delete(note) => drop(fs::remove_file(file(note))),
        Event::Rename(from, to) => drop(fs::rename(file(from), file(to))),
        Event::Move(note, folder) => {
            let folder = dir.join(".qipu").join(FOLDERS[*folder]);
            fs::create_dir_all(&folder).unwrap();
            drop(fs::rename(file(note), folder.join(format!("n{note}.md"))));
        }
        Event::Folder(from, to) => {
            let from = dir.join(".qipu").join(FOLDERS[*from]);
            match to {
                Some(to) => drop(fs::rename(from, dir.join(".qipu").join(FOLDERS[*to]))),
                None => drop(fs::remove_dir_all(from)),
            }
        }
        Event::Rest => settle(),
        Event::Rebuild(settled) => {
            if *settled {
                happen(dir, &Event::Rest, old);
            }
            if path(&0).is_dir() {
                fs::remove_dir(path(&0)).unwrap();
            }
            rebuild_index(dir);
        }
        Event::Flip(file, place) => change(file, &|bytes| {
            let place = place.index(bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= 4;
            }
        }),
        Event::Cut(file, place) => change(file, &|bytes| bytes.truncate(place.index(bytes.len().max(1)))),
        Event::Restore(file) if path(file).is_dir() || old[*file].is_empty() => {}
        Event::Restore(file) => fs::write(path(file), &old[*file]).unwrap(),
        Event::Remove(file, leaves_folder) => {
            let path = path(file);
            if path.is_file() {
                fs::remove_file(&path).unwrap();
            }
            if *leaves_folder && !path.exists() {
                fs::create_dir_all(&path).unwrap();
            }
        }
    }
}

/// Returns a call of the binary in a directory, without the environment of this process.
fn binary(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qipu"));
    command.args(args).current_dir(dir).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn output(dir: &Path, args: &[&str]) -> String {
    let output = binary(dir, args).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the output of a call, and whether it failed.
fn answer(path: &str, args: &[&str]) -> (String, bool) {
    let answer = call(path, args);
    (answer.stdout, answer.error.is_some())
}

const QUESTIONS: [&[&str]; 16] = [
    &["prime", "--json"],
    &["list", "--sort", "id", "--json"],
    &["context", "--min-value", "0", "--with-body", "--records"],
    &["context", "--query", "note b", "--max-chars", "700", "--records"],
    &["link", "tree", "n0", "--json"],
    &["link", "list", "n1", "--json"],
    &["export", "links"],
    &["show", "n1", "--links"],
    &["doctor", "--json"],
    &["review", "--json"],
    &["search", "body b title", "--json", "--explain"],
    &["search", "\"body b\" -c", "--json"],
    &["search", "bodies titel lette*", "--json"],
    &["search", "the of", "--json"],
    &["search", "--like", "n2", "--json"],
    &["status", "--tags"],
];

#[test]
fn answers_equal_those_without_an_index_after_any_events() {
    generators::runner(25)
        .run(&prop::collection::vec(event(), 4..14), |events| {
            // Not in memory: what an index trusts depends on the file system.
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
            let path = dir.path().to_str().unwrap();
            let (mut old, mut right) = (Old::default(), Vec::new());
            for note in 0..4 {
                happen(dir.path(), &Event::Write(note, 'a'), &old);
            }
            happen(dir.path(), &Event::Rebuild(true), &old);
            for event in &events {
                for (old, file) in old.iter_mut().zip(FILES).filter(|(old, _)| old.is_empty()) {
                    *old = fs::read(dir.path().join(".qipu/cache").join(file)).unwrap_or_default();
                }
                happen(dir.path(), event, &old);
                if event.changes_notes() || right.is_empty() {
                    right = QUESTIONS.map(|words| answer(path, &[words, &["--no-index"]].concat())).to_vec();
                }
                for (words, right) in QUESTIONS.into_iter().zip(&right) {
                    prop_assert_eq!(&answer(path, words), right, "{:?} after {:?}", words, event);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// The index is used, or the test above shows nothing.
#[test]
fn settled_notes_are_not_read_again() {
    let dir = temp_dir();
    fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
    let path = dir.path().to_str().unwrap();
    for note in 0..5 {
        fs::write(dir.path().join(format!(".qipu/notes/n{note}.md")), text(note, 'a')).unwrap();
    }
    assert!(!call(path, &["status"]).stdout.contains("index"));
    settle();
    rebuild_index(dir.path());
    assert!(call(path, &["status"]).stdout.contains("    5  indexed\n"));
    fs::write(dir.path().join(".qipu/notes/n0.md"), text(0, 'b')).unwrap();
    assert!(call(path, &["status"]).stdout.contains("    4  indexed\n"));
}

/// What is kept of folders is used, or the test above shows little. On other systems they are listed each time.
#[cfg(target_os = "linux")]
#[test]
fn unchanged_folders_are_not_listed_again() {
    let dir = large_store_in_memory();
    let dir = dir.path();
    for name in ["a/b/c.md", "a/other.md", "z.md"] {
        let path = dir.join(".qipu/notes").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("---\nid: {}\n---\nText.\n", name.replace(['/', '.'], "-"))).unwrap();
    }
    fs::create_dir(dir.join(".qipu/mocs")).unwrap();
    let listed = || {
        let told = binary(dir, &["list", "--verbose"]).stderr(Stdio::piped()).output().unwrap();
        String::from_utf8(told.stderr).unwrap().contains("folders listed")
    };
    rebuild_index(dir);
    assert!(listed(), "young folders are");
    settle();
    rebuild_index(dir);
    assert_eq!((listed(), listed(), listed()), (true, false, false));
    // Written to is another thing than made.
    fs::write(dir.join(".qipu/notes/m7.md"), "---\nid: m7\n---\nOtherwise.\n").unwrap();
    assert!(!listed());
    let changes: [&dyn Fn(&Path); 9] = [
        &|notes| fs::write(notes.join("a/b/new.md"), "---\nid: new\n---\nNew.\n").unwrap(),
        &|notes| fs::rename(notes.join("z.md"), notes.join("y.md")).unwrap(),
        &|notes| fs::remove_file(notes.join("a/b/new.md")).unwrap(),
        &|notes| fs::rename(notes.join("a/b"), notes.join("b")).unwrap(),
        &|notes| fs::remove_dir_all(notes.join("b")).unwrap(),
        &|notes| fs::create_dir_all(notes.join("empty/and/deep")).unwrap(),
        &|notes| std::os::unix::fs::symlink("/etc", notes.join("elsewhere")).unwrap(),
        // In the place of a note.
        &|notes| fs::rename(notes.join("elsewhere"), notes.join("m8.md")).unwrap(),
        &|notes| fs::remove_file(notes.join("m9.md")).and_then(|()| fs::create_dir(notes.join("m9.md"))).unwrap(),
    ];
    for change in changes {
        change(&dir.join(".qipu/notes"));
        let list = |words: &[&str]| output(dir, &[&["list", "--json"], words].concat());
        assert_eq!(list(&[]), list(&["--no-index"]));
        settle();
        // It may have been known already, where the call before came late.
        listed();
        assert!(!listed());
        assert_eq!(list(&[]), list(&["--no-index"]));
    }
}

/// A store so large that an index is kept of it.
fn large_store() -> tempfile::TempDir {
    filled(temp_dir())
}

/// Returns the same store on a filesystem with reliable directory times, whichever has the temporary files.
#[cfg(target_os = "linux")]
fn large_store_in_memory() -> tempfile::TempDir {
    filled(tempfile::tempdir_in("/dev/shm").unwrap())
}

fn filled(dir: tempfile::TempDir) -> tempfile::TempDir {
    fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
    for note in 0..300 {
        let text = format!("---\nid: m{note}\ntitle: Note {note}\n---\nA word{note} of [[m{}]].\n", (note * 7) % 300);
        fs::write(dir.path().join(format!(".qipu/notes/m{note}.md")), text).unwrap();
    }
    dir
}

#[test]
fn readers_and_writers_see_completed_writes() {
    let rounds: usize = std::env::var("QIPU_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let dir = large_store();
    let path = dir.path();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..10 {
            let is_over = &is_over;
            scope.spawn(move || {
                let questions: [&[&str]; 4] = [&["search", "word7"], &["list"], &["link", "tree", "m7"], &["prime"]];
                for question in questions.into_iter().cycle().skip(reader) {
                    assert!(!output(path, question).is_empty());
                    if reader == 0 {
                        rebuild_index(path);
                    }
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        let writers = [0, 1].map(|writer| {
            scope.spawn(move || {
                for round in 0..rounds {
                    let id = format!("m{}", writer + 2 * (round % 50));
                    let word = format!("written{writer}x{round}");
                    output(path, &["update", &id, "--summary", &format!("Now {word}")]);
                    let found = output(path, &["search", &word]);
                    assert!(found.starts_with(&format!("{id} ")), "{word}: {found}");
                }
            })
        });
        let results = writers.map(|writer| writer.join());
        is_over.store(true, Ordering::Relaxed);
        results.into_iter().for_each(|result| result.unwrap());
    });
}

#[test]
fn an_index_of_a_read_only_store_is_written_to_the_user_cache() {
    let (dir, cache) = (large_store(), temp_dir());
    // A file in place of the folder: not even root can write an index there.
    fs::write(dir.path().join(".qipu/cache"), "").unwrap();
    settle();
    let with = |args: &[&str]| {
        let mut command = binary(dir.path(), args);
        let output = command.env("XDG_CACHE_HOME", cache.path()).stdout(Stdio::piped()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let without = output(dir.path(), &["search", "word7"]);
    assert_eq!(with(&["search", "word7"]), without);
    let kept = fs::read_dir(cache.path().join("qipu")).unwrap().next().unwrap().unwrap().path().join("notes.index");
    assert!(kept.is_file());
    assert_eq!(with(&["search", "word7"]), without);
    // Both are on one file system, so that they have one clock.
    assert!(with(&["status"]).contains("  300  indexed\n"));
}

/// Whichever block of the index is damaged, what is answered and planned is what the files say.
#[test]
fn commands_that_write_trust_no_corrupt_index_either() {
    let dir = large_store();
    settle();
    output(dir.path(), &["search", "word7"]);
    let file = dir.path().join(".qipu/cache/notes.index");
    let good = fs::read(&file).unwrap();
    let commands: [&[&str]; 3] = [
        &["prime"],
        &["dump", "-"],
        &["update", "m1", "--title", "Another name", "--dry-run", "--today", "2025-03-05"],
    ];
    let right = commands.map(|command| output(dir.path(), &[command, &["--no-index"]].concat()));
    for place in (0..good.len()).step_by(4096) {
        for (command, right) in commands.iter().zip(&right) {
            let mut bad = good.clone();
            bad[place] ^= 1;
            fs::write(&file, bad).unwrap();
            assert_eq!(&output(dir.path(), command), right, "{command:?} {place}");
        }
    }
}

#[test]
fn verbose_timings_go_to_stderr() {
    let dir = large_store();
    let told = binary(dir.path(), &["search", "word7", "--verbose"]).stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8(told.stderr).unwrap();
    for phase in ["notes read", "index written", "words found", "fit"] {
        assert!(told.contains(phase), "{told}");
    }
    assert!(told.lines().all(|line| line.contains(" ms ")), "{told}");
}

#[cfg(unix)]
#[test]
fn notes_with_names_outside_utf8_keep_their_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = large_store();
    for (name, word) in [(b"caf\xe9.md".as_slice(), "latin"), ("caf\u{fffd}.md".as_bytes(), "replaced")] {
        let path = dir.path().join(".qipu/notes").join(OsStr::from_bytes(name));
        fs::write(path, format!("---\nid: {word}\ntitle: T {word}\n---\nText of {word}.\n")).unwrap();
    }
    // Folders too: one that is shown as the other is, and one with a name that other systems would take apart.
    for (folder, word) in [(b"\xff".as_slice(), "below"), ("\u{fffd}".as_bytes(), "beside"), (b"a\\b", "apart")] {
        let folder = dir.path().join(".qipu/notes").join(OsStr::from_bytes(folder));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("in\\it.md"), format!("---\nid: {word}\n---\nText of {word}.\n")).unwrap();
    }
    settle();
    for question in [["show", "latin"], ["show", "replaced"], ["search", "latin"], ["list", "--json"]] {
        let without = output(dir.path(), &[question[0], question[1], "--no-index"]);
        for _ in 0..3 {
            assert_eq!(output(dir.path(), &question), without);
        }
        assert!(question[0] == "list" || without.contains(question[1]));
    }
    let folders = || fs::metadata(dir.path().join(".qipu/cache/folders.index")).and_then(|found| found.modified()).ok();
    let before = folders();
    output(dir.path(), &["list"]);
    assert_eq!(folders(), before, "what can't be known is not written again and again");
}

/// What could not be looked at whole is not noted down again and again: here files whose paths are too long to be
/// opened.
#[cfg(target_os = "linux")]
#[test]
fn notes_beyond_the_path_length_limit_are_skipped() {
    let dir = large_store_in_memory();
    let cache = dir.path().join(".qipu/cache");
    let mut folder = dir.path().join(".qipu/notes");
    while folder.as_os_str().len() < 3_850 {
        folder.push("d".repeat(200));
    }
    fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "echo text > $0.md", &"n".repeat(247)]).current_dir(folder);
    assert!(command.status().unwrap().success());
    settle();
    let list = output(dir.path(), &["list", "--no-index"]);
    let looks = || {
        assert_eq!(output(dir.path(), &["list"]), list);
        ["notes.index", "folders.index"]
            .map(|file| fs::metadata(cache.join(file)).and_then(|found| found.modified()).ok())
    };
    looks();
    let second = looks();
    assert_eq!((second, looks()), (second, second));
    assert!(second.iter().all(Option::is_some));
}

/// However many folders there are, few are open at once.
#[cfg(unix)]
#[test]
fn many_folders_are_listed_with_few_descriptors() {
    let dir = temp_dir();
    for number in 0..400 {
        let folder = dir.path().join(format!(".qipu/notes/d{number}"));
        fs::create_dir_all(folder.join("deeper")).unwrap();
        fs::write(folder.join("x.md"), format!("---\nid: x{number}\n---\nText.\n")).unwrap();
    }
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64 && exec \"$0\" list --no-index", env!("CARGO_BIN_EXE_qipu")]);
    let output = command.current_dir(dir.path()).env_clear().output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 400);
}

#[cfg(unix)]
#[test]
fn a_cache_folder_that_is_a_link_is_not_followed() {
    let (dir, elsewhere) = (large_store(), temp_dir());
    std::os::unix::fs::symlink(elsewhere.path(), dir.path().join(".qipu/cache")).unwrap();
    output(dir.path(), &["search", "word7"]);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    let dir = large_store();
    fs::create_dir(dir.path().join(".qipu/cache")).unwrap();
    let target = elsewhere.path().join("made");
    std::os::unix::fs::symlink(&target, dir.path().join(".qipu/cache/.gitignore")).unwrap();
    output(dir.path(), &["search", "word7"]);
    assert!(!target.exists());
}

#[test]
fn an_index_is_not_rewritten_for_files_that_stay_racy() {
    let dir = large_store();
    let later = std::time::SystemTime::now() + Duration::from_secs(3_600);
    for note in 0..150 {
        let file = fs::File::options().append(true).open(dir.path().join(format!(".qipu/notes/m{note}.md"))).unwrap();
        file.set_modified(later).unwrap();
    }
    settle();
    output(dir.path(), &["list"]);
    let index = dir.path().join(".qipu/cache/notes.index");
    let written = fs::metadata(&index).unwrap().modified().unwrap();
    output(dir.path(), &["list"]);
    assert_eq!(fs::metadata(&index).unwrap().modified().unwrap(), written);
}

#[test]
fn an_unreadable_index_is_rebuilt() {
    let dir = large_store();
    settle();
    let right = output(dir.path(), &["search", "word7"]);
    let index = dir.path().join(".qipu/cache/notes.index");
    let mut bytes = fs::read(&index).unwrap();
    // Of the words, which are the last sections: what is read of each is checked when it is.
    let end = bytes.len() - 4096;
    bytes[end / 2..end].iter_mut().step_by(1024).for_each(|byte| *byte ^= 1);
    fs::write(&index, &bytes).unwrap();
    assert_eq!(output(dir.path(), &["search", "word7"]), right);
    assert!(fs::read(&index).ok() != Some(bytes));
    assert_eq!(output(dir.path(), &["search", "word7"]), right);
}

/// Returns what a search with `--verbose` reports about links.
fn told_of_links(dir: &Path) -> String {
    let told = binary(dir, &["search", "word7", "--verbose"]).stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8(told.stderr).unwrap();
    let phases = ["links resolved", "links written", "links taken from the index"];
    phases.into_iter().filter(|phase| told.contains(phase)).collect::<Vec<_>>().join(", ")
}

/// A large store whose links are kept, and the file that they are in.
fn store_with_kept_links() -> (tempfile::TempDir, PathBuf) {
    let dir = large_store();
    settle();
    rebuild_index(dir.path());
    told_of_links(dir.path());
    let file = dir.path().join(".qipu/cache/links.index");
    (dir, file)
}

/// The links of all notes, as they are kept and as the notes say.
fn assert_links_are_those_of_the_notes(dir: &Path) {
    for question in [["export", "links"].as_slice(), &["link", "tree", "m8", "--json"], &["list", "not links-to"]] {
        assert_eq!(output(dir, question), output(dir, &[question, &["--no-index"]].concat()), "{question:?}");
    }
}

#[test]
fn links_are_resolved_once() {
    let dir = large_store();
    let dir = dir.path();
    let index = dir.join(".qipu/cache/links.index");
    settle();
    output(dir, &["search", "word7", "--no-index"]);
    assert_eq!(told_of_links(dir), "links resolved");
    assert_eq!(told_of_links(dir), "links resolved, links written");
    assert_eq!(told_of_links(dir), "links taken from the index");
    assert_links_are_those_of_the_notes(dir);
    // One note that is not as the index knows it may change what every other link means; twice, at once.
    for other in ["m9", "m8"] {
        let text = format!("---\nid: m7\ntitle: Seven\n---\nOf [[{other}]].\n");
        fs::write(dir.join(".qipu/notes/m7.md"), text).unwrap();
        assert_eq!(told_of_links(dir), "links resolved, links written");
        assert_eq!(told_of_links(dir), "links taken from the index");
        assert_links_are_those_of_the_notes(dir);
    }
    fs::remove_file(dir.join(".qipu/notes/m7.md")).unwrap();
    assert_eq!(told_of_links(dir), "links resolved, links written");
    assert_links_are_those_of_the_notes(dir);
    assert!(output(dir, &["link", "list", "m1"]).contains("m7"), "it leads nowhere now");
    // What belongs to an index goes with it.
    assert!(index.is_file());
    rebuild_index(dir);
    assert!(!index.exists());
}

#[test]
fn cached_links_of_another_index_are_not_used() {
    let (dir, index) = store_with_kept_links();
    let dir = dir.path();
    let old = fs::read(&index).unwrap();
    // As long as the old one, and in the same place.
    fs::write(dir.join(".qipu/notes/m1.md"), "---\nid: m1\ntitle: Note 1\n---\nA word1 of [[m9]].\n").unwrap();
    settle();
    rebuild_index(dir);
    fs::write(&index, &old).unwrap();
    assert_links_are_those_of_the_notes(dir);
    assert_ne!(fs::read(&index).unwrap(), old, "links were not kept again");
    assert_eq!(told_of_links(dir), "links taken from the index");
}

#[test]
fn unreadable_cached_links_are_resolved_again() {
    let (dir, index) = store_with_kept_links();
    let dir = dir.path();
    let good = fs::read(&index).unwrap();
    for place in (0..good.len()).step_by(good.len() / 8) {
        let mut bad = good.clone();
        bad[place] ^= 1;
        for bad in [&bad, &good[..place]] {
            fs::write(&index, bad).unwrap();
            assert_links_are_those_of_the_notes(dir);
        }
    }
    // Nothing is removed, and no other file harmed, where a folder or a link is in its place.
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    assert_links_are_those_of_the_notes(dir);
    assert!(index.is_dir());
}

/// With many threads on few cores, a thread that waits must not take work that another one waits for.
#[test]
fn threads_of_one_call_do_not_deadlock() {
    let dir = temp_dir();
    fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
    for note in 0..1000 {
        let words: String = (0..60).map(|word| format!("word{} ", (note * 31 + word * word * 7) % 3000)).collect();
        let text = format!("---\nid: m{note}\ntitle: Note {note}\ntags: [a]\n---\n{words}[[m{}]]\n", (note * 7) % 1000);
        fs::write(dir.path().join(format!(".qipu/notes/m{note}.md")), text).unwrap();
    }
    let calls: [&[&str]; 4] = [
        &["context", "--tag", "a", "--purpose", "explore", "--max-chars", "4000", "--no-index"],
        &["context", "--query", "word7", "--abstraction", "adaptive", "--max-tokens", "900", "--no-index"],
        &["search", "--like", "m7", "--no-index"],
        &["search", "word7 word9", "--no-index"],
    ];
    let start = |call: &[&str]| binary(dir.path(), call).env("RAYON_NUM_THREADS", "64").spawn().unwrap();
    let mut running: Vec<_> = [0, 1, 0, 0, 2, 0, 0, 3].repeat(3).into_iter().map(|call| start(calls[call])).collect();
    for _ in 0..MAX_POLLS {
        running.retain_mut(|child| child.try_wait().unwrap().map(|status| assert!(status.success())).is_none());
        if running.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    running.iter_mut().for_each(|child| child.kill().unwrap());
    panic!("{} calls never ended", running.len());
}
