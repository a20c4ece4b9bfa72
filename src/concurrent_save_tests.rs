//! Tests only: another program saves a note at every point of a command, and no save is lost.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::crash_tests::{all_files, store_in};
use crate::env::{Env, WaitPolicy};
use crate::error::Error;

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
pub(crate) type Program = Box<dyn FnMut(Point)>;

thread_local! {
    static PROGRAM: RefCell<Option<Program>> = const { RefCell::new(None) };
}

/// Calls the other program of this thread, if there is one.
pub(crate) fn here(point: Point) {
    if let Some(mut program) = PROGRAM.take() {
        program(point);
        PROGRAM.set(Some(program));
    }
}

/// Runs `work` with another program, which is dropped afterwards.
pub(crate) fn beside<T>(program: Program, work: impl FnOnce() -> T) -> T {
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
    let dir = store_in(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap(), &NOTES);
    // Every command waits for them, however long this machine takes until it begins: all calls pass the same points.
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3_600);
    for (path, _) in NOTES {
        File::options().write(true).open(dir.path().join(".qipu").join(path)).unwrap().set_modified(later).unwrap();
    }
    dir
}

/// Runs a command together with another program.
fn call(dir: &Path, words: &[&str], program: Program) -> Result<(), Error> {
    let waits = WaitPolicy { pause: |_| here(Point::Pause), ..WaitPolicy::default() };
    let cache_dir = Some(dir.join("cache"));
    let env =
        Env { current_dir: dir.into(), cache_dir, random: 7, is_only_call: false, waits, ..Env::of_process().unwrap() };
    let words: Vec<_> = words.iter().map(Into::into).collect();
    beside(program, || crate::run(&words, &env, &mut Vec::new()))
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
    &["qipu", "rename", "a", "Another title", "--today", "2025-03-01"],
    &["qipu", "tags", "rename", "x", "y", "--today", "2025-03-01"],
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
