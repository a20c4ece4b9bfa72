//! Tests only: another program saves a note at every point of a command, and no save is lost.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::crash_tests::{all_files, store_in};
use crate::env::{Env, WaitPolicy};
use crate::error::{Error, ErrorKind};
use crate::note::Revision;
use crate::store::{HELD, QUIET_IN_TESTS};

/// A point of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// It reads a note that it changes.
    Read,
    /// It waits for other programs.
    Pause,
    /// It is between two steps of a write.
    Write,
}

/// Another program, called at every point.
pub(crate) type OtherProgram = Box<dyn FnMut(Point)>;

thread_local! {
    static PROGRAM: RefCell<Option<OtherProgram>> = const { RefCell::new(None) };
}

/// Calls the other program of this thread, if there is one. No command waits for one while it has a lock.
pub(crate) fn here(point: Point) {
    assert!(point != Point::Pause || HELD.get() == 0, "a command sleeps and holds a lock");
    if let Some(mut program) = PROGRAM.take() {
        program(point);
        PROGRAM.set(Some(program));
    }
}

/// Runs `work` with another program, which is dropped afterwards.
pub(crate) fn beside<T>(program: OtherProgram, work: impl FnOnce() -> T) -> T {
    PROGRAM.set(Some(program));
    let done = work();
    drop(PROGRAM.take());
    done
}

/// The words that every save contains.
const WORDS: &str = "A person's words.";
const SAVED: &str = "---\nid: a\ntitle: Old\n---\nA person's words.\n";

const NOTES: [(&str, &str); 3] = [
    ("notes/a-old.md", "---\nid: a\ntitle: Old\ntags: [x] # kept\n---\nBody of a.\n"),
    ("notes/b.md", "---\nid: b\ntitle: B\n---\nSee [[Old]] and [a](a-old.md).\n"),
    ("mocs/c.md", "---\nid: c\ntitle: C\ntags: [x]\nlinks:\n- {type: supports, id: a}\n---\n[[Old|label]] [[b]]\n"),
];

/// The file of the first note, and its name after `rename`.
const FILE: &str = "notes/a-old.md";
const RENAMED: &str = "a-another-title.md";

/// How another program saves.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Save {
    /// It writes a temporary file and renames it.
    ByRename,
    /// It truncates the file, and writes it so many points later; within a pause at the latest.
    InPlace(usize),
    /// It appends to the file.
    Append,
    /// It creates the file that `rename` is about to create.
    Renamed,
}

/// A program that saves a file at a point.
pub(crate) struct SavingProgram {
    file: PathBuf,
    text: &'static str,
    save: Save,
    /// The points until it begins.
    left: usize,
    open: Option<File>,
    /// Whether it has begun; it never does if the folder of its file is missing at that point.
    pub(crate) has_begun: bool,
}

impl SavingProgram {
    pub(crate) fn new(file: PathBuf, text: &'static str, save: Save, left: usize) -> Self {
        Self { file, text, save, left, open: None, has_begun: false }
    }

    pub(crate) fn at(&mut self, point: Point) {
        match (&self.open, self.left) {
            (Some(_), 0) => self.write(),
            // A save in place takes less time than a command waits.
            (Some(_), _) if point == Point::Pause => self.write(),
            (None, 0) if self.file.parent().is_some_and(Path::is_dir) => self.begin(),
            _ => {}
        }
        self.left = self.left.wrapping_sub(1);
    }

    fn begin(&mut self) {
        self.has_begun = true;
        match self.save {
            Save::ByRename => {
                let new = self.file.with_extension("saved");
                fs::write(&new, self.text).unwrap();
                fs::rename(new, &self.file).unwrap();
            }
            Save::InPlace(gap) => {
                self.open = Some(File::create(&self.file).unwrap());
                self.left = gap;
                if gap == 0 {
                    self.write();
                }
            }
            Save::Append => {
                let mut file = File::options().append(true).create(true).open(&self.file).unwrap();
                file.write_all(self.text.as_bytes()).unwrap();
            }
            Save::Renamed => fs::write(self.file.with_file_name(RENAMED), self.text).unwrap(),
        }
    }

    fn write(&mut self) {
        if let Some(mut file) = self.open.take() {
            file.write_all(self.text.as_bytes()).unwrap();
        }
    }
}

impl Drop for SavingProgram {
    fn drop(&mut self) {
        self.write();
    }
}

/// Creates a store, in memory if the system has a folder for that: thousands of calls would wait for a disk.
fn store() -> tempfile::TempDir {
    store_in(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap(), &NOTES)
}

/// Counts a wait for a program that saves. One for the lock is no point of the command: a process that another test forks has
/// the locks of this one for a moment.
fn pause(time: Duration) {
    if time > Duration::from_millis(4) { here(Point::Pause) } else { std::thread::sleep(time) }
}

/// Runs a command together with another program.
fn call(dir: &Path, words: &[&str], program: OtherProgram) -> Result<(), Error> {
    let waits = WaitPolicy { pause, ..WaitPolicy::default() };
    let cache_dir = Some(dir.join("cache"));
    let env =
        Env { current_dir: dir.into(), cache_dir, random: 7, is_only_call: false, waits, ..Env::of_process().unwrap() };
    let words: Vec<_> = words.iter().map(Into::into).collect();
    // What was just saved stays so, however long this machine takes: all calls pass the same points.
    QUIET_IN_TESTS.set(Some(Duration::from_secs(3_600)));
    let result = beside(program, || crate::run(&words, &env, &mut Vec::new()));
    QUIET_IN_TESTS.set(None);
    result
}

/// Returns the points of a command while no other program saves.
fn points(words: &[&str]) -> Vec<Point> {
    let (dir, points) = (store(), std::rc::Rc::new(RefCell::new(Vec::new())));
    let noted = std::rc::Rc::clone(&points);
    call(dir.path(), words, Box::new(move |point| noted.borrow_mut().push(point))).unwrap();
    points.take()
}

const CALLS: [&[&str]; 6] = [
    &["qipu", "update", "a", "--tag", "new", "--today", "2025-03-01"],
    &["qipu", "update", "b", "a", "c", "--value", "7", "--today", "2025-03-01"],
    &["qipu", "update", "a", "--title", "Another title", "--today", "2025-03-01"],
    &["qipu", "update", "--where", "tag = x", "--untag", "x", "--tag", "y", "--today", "2025-03-01"],
    &["qipu", "merge", "b", "a", "--today", "2025-03-01"],
    &["qipu", "delete", "a", "--force"],
];

const SAVES: [Save; 7] = [
    Save::ByRename,
    Save::Append,
    Save::Renamed,
    Save::InPlace(0),
    Save::InPlace(1),
    Save::InPlace(3),
    Save::InPlace(usize::MAX),
];

#[test]
fn no_save_of_another_program_is_lost_whenever_it_comes() {
    let (mut done, mut refused) = (0, 0);
    for words in CALLS {
        let points = points(words);
        let last_read = points.iter().rposition(|point| *point == Point::Read).unwrap();
        for (save, at) in SAVES.iter().flat_map(|save| (0..points.len()).map(move |at| (*save, at))) {
            let dir = store();
            let mut editor = SavingProgram::new(dir.path().join(".qipu").join(FILE), SAVED, save, at);
            let result = call(dir.path(), words, Box::new(move |point| editor.at(point)));
            let now = all_files(dir.path());
            let context = || format!("{words:?}, {save:?} at {at} of {points:?}: {result:?}\n{now:#?}");
            // What `delete` has read is what it removes.
            let was_read = words.contains(&"delete") && at <= last_read;
            let is_kept = now.iter().any(|(path, text)| !path.contains("/.") && text.contains(WORDS));
            assert!(is_kept || (was_read && result.is_ok()), "lost: {}", context());
            assert!(!now.iter().any(|(path, _)| path.contains(".qipu-")), "left over: {}", context());
            if result.is_err() {
                for (path, text) in NOTES.iter().filter(|(path, _)| *path != FILE) {
                    assert!(now.contains(&((*path).into(), (*text).into())), "half done: {}", context());
                }
                refused += 1;
            } else {
                done += 1;
            }
        }
    }
    assert!(done > 100 && refused > 100, "{done} done, {refused} refused");
}

#[test]
fn a_change_of_a_revision_is_never_made_to_another_text() {
    let revision = Revision::of(NOTES[0].1.as_bytes()).to_string();
    let words = ["qipu", "update", "a", "--append", "Added.", "--if", &revision];
    let (points, mut conflicts) = (points(&words), 0);
    let saves = [Save::ByRename, Save::Append, Save::InPlace(0), Save::InPlace(1), Save::InPlace(3)];
    for (save, at) in saves.iter().flat_map(|save| (0..points.len()).map(move |at| (*save, at))) {
        let dir = store();
        let mut editor = SavingProgram::new(dir.path().join(".qipu").join(FILE), SAVED, save, at);
        let result = call(dir.path(), &words, Box::new(move |point| editor.at(point)));
        let now = all_files(dir.path());
        let (_, text) = now.iter().find(|(path, _)| path.ends_with(FILE)).unwrap();
        let is_mixed = text.contains("Added.") && text.find(WORDS).is_some_and(|at| at < text.find("Added.").unwrap());
        assert!(!is_mixed, "{save:?} at {at} of {points:?}: {result:?}\n{text}");
        conflicts += usize::from(result.is_err_and(|error| error.kind == ErrorKind::Conflict));
    }
    assert!(conflicts > 10, "{conflicts}");
}

/// Makes all files and folders old, so that nobody can be saving them.
fn age(dir: &Path) {
    for entry in walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap) {
        File::open(entry.path()).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
}

/// Returns how often a command waits while another program saves one file, and its result.
fn pauses(words: &[&str], (file, text): (&str, &str)) -> (usize, Result<(), Error>) {
    let (dir, count) = (store(), std::rc::Rc::new(std::cell::Cell::new(0)));
    let pack = dir.path().join("all.pack");
    let attached = dir.path().join(".qipu/attachments/x.bin");
    fs::create_dir_all(attached.parent().unwrap()).unwrap();
    fs::write(&attached, "packed").unwrap();
    fs::write(dir.path().join(".qipu/notes/d.md"), "---\nid: d\n---\n![x](../attachments/x.bin)\n").unwrap();
    call(dir.path(), &["qipu", "dump", pack.to_str().unwrap()], Box::new(|_| ())).unwrap();
    fs::write(&attached, "other").unwrap();
    age(dir.path());
    let saved = dir.path().join(".qipu").join(file);
    fs::create_dir_all(saved.parent().unwrap()).unwrap();
    // Twice, so that only the file is new and not its folder.
    fs::write(&saved, text).unwrap();
    age(saved.parent().unwrap());
    fs::write(&saved, text).unwrap();
    let noted = std::rc::Rc::clone(&count);
    let program = move |point| noted.set(noted.get() + usize::from(point == Point::Pause));
    let words: Vec<&str> =
        words.iter().map(|word| if *word == "PACK" { pack.to_str().unwrap() } else { word }).collect();
    let result = call(dir.path(), &words, Box::new(program));
    (count.get(), result)
}

#[test]
fn a_command_waits_only_for_the_notes_that_its_plan_depends_on() {
    let [a, b, c] = NOTES;
    let journal = ("journals/j.md", "---\nid: j\ntype: journal\n---\nx\n");
    let (empty, attached) = (("notes/empty.md", ""), ("attachments/x.bin", "saved"));
    for (words, saved, expected) in [
        (&["update", "a", "--tag", "new"][..], a, 1),
        (&["update", "a", "--tag", "new"], b, 0),
        (&["update", "a", "--tag", "x"], a, 1),
        (&["update", "a", "--tag", "new"], empty, 1),
        (&["update", "a", "--tag", "new"], attached, 0),
        (&["link", "add", "b", "c"], a, 0),
        (&["link", "add", "b", "c"], b, 1),
        (&["link", "add", "b", "c"], c, 1),
        (&["capture", "A thought."], a, 0),
        (&["journal", "A thought."], a, 0),
        (&["journal", "A thought."], journal, 1),
        (&["supersede", "b", "c"], a, 0),
        (&["delete", "b", "--force"], a, 0),
        (&["delete", "b", "--force"], b, 1),
        (&["review", "--kind", "code", "--fix"], a, 0),
        // They depend on all notes.
        (&["delete", "d"], a, 1),
        (&["update", "a", "--title", "Another title"], b, 1),
        (&["merge", "b", "a"], c, 1),
        (&["update", "--where", "tag = x", "--untag", "x", "--tag", "y"], b, 1),
        (&["doctor", "--fix"], b, 1),
        (&["load", "PACK", "--strategy", "overwrite"], a, 1),
        (&["load", "PACK", "--strategy", "overwrite"], attached, 1),
        // Readers and dry runs never wait.
        (&["list"], a, 0),
        (&["update", "a", "--title", "Another title", "--dry-run"], a, 0),
    ] {
        let words: Vec<&str> = ["qipu"].iter().chain(words).copied().collect();
        let (count, result) = pauses(&words, saved);
        assert_eq!(count, expected, "{words:?} beside {saved:?}: {result:?}");
        result.unwrap();
    }
    // A note that is not found may be the one that is being saved.
    let (count, result) = pauses(&["qipu", "update", "nowhere", "--tag", "x"], a);
    assert_eq!((count, result.unwrap_err().kind), (1, ErrorKind::NoNote));
}

/// A command sleeps only without a lock, in every thread.
fn sleep(time: Duration) {
    assert_eq!(HELD.get(), 0);
    std::thread::sleep(time);
}

#[test]
fn no_change_of_many_writers_is_lost_or_fails_beside_a_program_that_saves_all_the_time() {
    const WRITERS: usize = 8;
    const CHANGES: usize = 6;
    let dir = store();
    let root = dir.path();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let saver = || {
        let mut saver = SavingProgram::new(root.join(".qipu").join(FILE), SAVED, Save::ByRename, 0);
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            saver.begin();
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let writer = |writer: usize| {
        for change in 0..CHANGES {
            let tag = format!("tag-{writer}-{change}");
            let waits = WaitPolicy { pause: sleep, ..WaitPolicy::default() };
            let env = Env {
                current_dir: root.into(),
                cache_dir: Some(root.join("cache")),
                is_only_call: false,
                waits,
                ..Env::of_process().unwrap()
            };
            let words = ["qipu", "update", "b", "--tag", &tag].map(Into::into);
            crate::run(&words, &env, &mut Vec::new()).unwrap();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(saver);
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| {
                scope.spawn({
                    let writer = &writer;
                    move || writer(number)
                })
            })
            .collect();
        let results: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(results.iter().all(Result::is_ok));
    });
    let text = fs::read_to_string(root.join(".qipu/notes/b.md")).unwrap();
    let tags = (0..WRITERS).flat_map(|writer| (0..CHANGES).map(move |change| format!("tag-{writer}-{change}")));
    assert_eq!(tags.filter(|tag| !text.contains(tag)).collect::<Vec<_>>(), [] as [String; 0], "{text}");
}
