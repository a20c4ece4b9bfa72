//! A project in a temporary folder, with the folders of a user beside it: one for each thread, emptied for each input.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use qipu::env::{Env, Stdin, WaitPolicy};
use qipu::error::{Error, ErrorKind};

/// The day that counts as today.
pub(crate) const TODAY: jiff::civil::Date = jiff::civil::date(2025, 3, 7);

/// What a call returned.
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) error: Option<Error>,
}

impl Outcome {
    pub(crate) fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        self.error.as_ref().map(|error| error.kind)
    }
}

/// A folder that is removed with its thread.
struct TempFolder(PathBuf);

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

thread_local! {
    static FOLDER: OnceCell<TempFolder> = const { OnceCell::new() };
}

/// The number of folders that this process has made.
static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// A project in an empty folder.
pub(crate) struct World {
    root: PathBuf,
}

impl World {
    /// Empties the folder of this thread.
    pub(crate) fn empty() -> Self {
        let root = FOLDER.with(|folder| {
            let make = || {
                let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
                let memory = Path::new("/dev/shm");
                let parent = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
                let parent = std::env::var_os("QIPU_FUZZ_FOLDER").map_or(parent, PathBuf::from);
                TempFolder(parent.join(format!("qipu-fuzz-{}-{number}", std::process::id())))
            };
            folder.get_or_init(make).0.clone()
        });
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("project")).unwrap();
        Self { root }
    }

    /// Makes a project with a store that has these files.
    pub(crate) fn with_store(files: &[(&str, &[u8])]) -> Self {
        let world = Self::empty();
        fs::create_dir_all(world.project().join(".qipu/notes")).unwrap();
        files.iter().for_each(|(path, bytes)| world.write(&format!(".qipu/{path}"), bytes));
        world
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Returns the path of the user's folder for caches.
    pub(crate) fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Returns all that is in the folders of the project and its user, without locks and derived data. Folders have no
    /// bytes.
    pub(crate) fn tree(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut all = BTreeMap::new();
        let mut left = vec![self.root.clone()];
        while let Some(folder) = left.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                let name = path.strip_prefix(&self.root).unwrap().to_string_lossy().into_owned();
                if name == "cache" || name == "project/.qipu/cache" || name.ends_with("/.lock") {
                    continue;
                }
                let is_folder = entry.file_type().unwrap().is_dir();
                all.insert(name, (!is_folder).then(|| fs::read(&path).unwrap()));
                if is_folder {
                    left.push(path);
                }
            }
        }
        all
    }

    /// Returns [`World::tree`] without the store.
    pub(crate) fn tree_outside_store(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        self.tree().into_iter().filter(|(name, _)| !name.starts_with("project/.qipu")).collect()
    }

    /// Returns the environment of a call in the project.
    pub(crate) fn env(&self, stdin: &str) -> Env {
        Env {
            current_dir: self.project(),
            vars: BTreeMap::new(),
            user: Some("fuzz".to_owned()),
            cache_dir: Some(self.cache()),
            settings_dir: Some(self.root.join("settings")),
            data_dir: Some(self.root.join("data")),
            home: Some(self.root.join("home")),
            stdin: Stdin::of_text(stdin),
            editor: None,
            is_terminal: false,
            has_color: false,
            tells_progress: false,
            size: None,
            pager: None,
            now: jiff::Timestamp::from_second(1_741_348_800).unwrap(),
            today: || TODAY,
            random: 7,
            is_only_call: false,
            // A process that another thread forks has the locks of this one until it runs its program.
            waits: WaitPolicy {
                pause: |_| std::thread::yield_now(),
                warn: |_| (),
                patience: Duration::from_secs(3600),
                input: Duration::from_secs(100),
            },
        }
    }

    /// Calls the program, checks what holds for every call, and returns the outcome.
    pub(crate) fn call<S: AsRef<str>>(&self, args: &[S], stdin: &str) -> Outcome {
        let words = std::iter::once("qipu").chain(args.iter().map(AsRef::as_ref));
        let words: Vec<OsString> = words.map(OsString::from).collect();
        let mut out = Vec::new();
        let result = qipu::run(&words, &self.env(stdin), &mut out);
        let text = String::from_utf8(out).unwrap_or_else(|error| panic!("{words:?} wrote {error}"));
        let root = self.root.to_string_lossy();
        assert!(!text.contains(&*root), "{words:?} shows an absolute path: {text}");
        for line in qipu::warnings::take_lines() {
            expect_no_control(&line);
            assert!(!line.contains('\n'), "{line:?}");
        }
        let error = result.err();
        if let Some(error) = &error {
            expect_no_control(&error.to_text(false));
            let json = error.to_json();
            serde_json::from_str::<serde_json::Value>(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
            expect_no_control(&json);
        }
        Outcome { text, error }
    }
}

/// Expects a text that changes nothing on a terminal but its lines.
pub(crate) fn expect_no_control(text: &str) {
    let steers = |c: char| (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}');
    assert!(!text.contains(steers), "a control character: {text:?}");
    assert_eq!(super::answer_laws::hidden(text), Vec::<char>::new(), "{text:?}");
}
