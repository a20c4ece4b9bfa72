//! The folder in which a scenario runs: a project with a store, a user's home, and files to import; and what is in it
//! after a run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use crate::support::files::temp_dir;
use regex::Regex;

/// The seconds after which a process is killed that waits for ever. timeout(1) then ends with code 124.
const PATIENCE: &str = "60";

/// Files by their paths in the world. Ids and paths that differ between runs are replaced.
pub(crate) type Files = BTreeMap<String, String>;

/// The end of a process.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    /// The exit code; 128 plus the signal for one that was killed.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A counted system call of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// See `injector.c`.
    pub(crate) class: char,
    /// Its paths in the world; random parts are replaced.
    pub(crate) path: String,
    pub(crate) to: String,
}

/// A fault at one call, or from one on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    /// The number of the call, from 1.
    pub(crate) at: usize,
    pub(crate) name: &'static str,
    /// Whether later calls fail too.
    pub(crate) goes_on: bool,
}

/// The folder of a scenario: `live` is used by runs, `saved` is what each begins with.
pub(crate) struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { dir: temp_dir() };
        fs::create_dir(world.live()).unwrap();
        world
    }

    pub(crate) fn live(&self) -> PathBuf {
        self.dir.path().join("live")
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.live().join(path)
    }

    /// Writes a file, and makes the folders above it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Saves the state that runs begin with. All its files are old: none counts as being saved by another program.
    pub(crate) fn save(&self) {
        for entry in walkdir::WalkDir::new(self.live()).into_iter().map(Result::unwrap) {
            if entry.file_type().is_file() {
                let file = File::options().write(true).open(entry.path()).unwrap();
                file.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
            }
        }
        fs::rename(self.live(), self.dir.path().join("saved")).unwrap();
    }

    /// Forgets what was saved, so that `live` can be saved.
    pub(crate) fn discard_saved(&self) {
        fs::remove_dir_all(self.dir.path().join("saved")).unwrap();
    }

    /// Begins a run: `live` is what was saved.
    pub(crate) fn restore(&self) {
        let _ = fs::remove_dir_all(self.live());
        copy(&self.dir.path().join("saved"), &self.live());
    }

    /// Whether a folder was there when a run began. `path`: as in a call.
    pub(crate) fn had_folder(&self, path: &str) -> bool {
        self.dir.path().join("saved").join(path.trim_start_matches('/')).is_dir()
    }

    /// Runs a program in a folder of the world, with a text on its standard input.
    pub(crate) fn run(&self, folder: &str, program: &str, args: &[&str], stdin: &str) -> Ended {
        self.wait(self.command(folder, program).args(args), stdin)
    }

    /// Runs a program with a fault in a call of `qipu`. Returns the calls too.
    pub(crate) fn run_with_fault(
        &self,
        folder: &str,
        (program, args): (&str, &[&str]),
        stdin: &str,
        fault: Option<Fault>,
    ) -> (Ended, Vec<Call>) {
        let log = self.dir.path().join("log");
        let fault = fault.unwrap_or(Fault { at: 0, name: "none", goes_on: false });
        let mut command = self.command(folder, INJECTOR.to_str().unwrap());
        command.arg(&log).arg(self.live()).args(["qipu", &fault.at.to_string(), fault.name]);
        command.arg(if fault.goes_on { "on" } else { "once" });
        command.arg(if program == "qipu" { env!("CARGO_BIN_EXE_qipu") } else { program }).args(args);
        let ended = self.wait(&mut command, stdin);
        let calls = fs::read_to_string(log).unwrap();
        // The injector of a program that hung is killed, perhaps in the middle of a line.
        let whole = calls.rsplit_once('\n').map_or("", |(whole, _)| whole);
        (ended, whole.lines().map(|line| self.call(line)).collect())
    }

    fn call(&self, line: &str) -> Call {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, name, class, path, to] = fields[..] else { panic!("{line}") };
        let shown =
            |path: &str| if class == "o" { "standard output".to_owned() } else { self.normalized(&without_dots(path)) };
        Call { name: name.to_owned(), class: class.chars().next().unwrap(), path: shown(path), to: shown(to) }
    }

    fn command(&self, folder: &str, program: &str) -> Command {
        let program = if program == "qipu" { env!("CARGO_BIN_EXE_qipu") } else { program };
        let mut command = Command::new("timeout");
        command.args(["-k", "1", PATIENCE, program]);
        let binaries = Path::new(env!("CARGO_BIN_EXE_qipu")).parent().unwrap();
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
        command.current_dir(self.at(folder)).env_clear().env("PATH", path).env("HOME", self.at("home"));
        command.env("TMPDIR", self.at("tmp")).env("LC_ALL", "C.UTF-8").env("QIPU_TODAY", "2025-03-01");
        // One worker thread: calls come in the same order in each run.
        command.env("RAYON_NUM_THREADS", "1").env("RUST_BACKTRACE", "1");
        command.env("EDITOR", "printf 'A line of the editor.\\n' >>");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@example.org");
            command.env(format!("GIT_{who}_DATE"), "2025-02-01T00:00:00Z");
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    fn wait(&self, command: &mut Command, stdin: &str) -> Ended {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        // A process that was killed reads nothing.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let read = |stream: &mut dyn Read| {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            self.normalized(&String::from_utf8_lossy(&bytes))
        };
        // What commands print here is shorter than a pipe is.
        let (stdout, stderr) = std::thread::scope(|scope| {
            let stderr = scope.spawn(move || read(&mut err));
            (read(&mut out), stderr.join().unwrap())
        });
        let status = child.wait().unwrap();
        use std::os::unix::process::ExitStatusExt;
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap());
        Ended { code, stdout, stderr }
    }

    /// Replaces what differs between runs and worlds: the path of the world, random ids and temporary names.
    pub(crate) fn normalized(&self, text: &str) -> String {
        static RANDOM: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"\bqp-[a-z0-9]{8}\b|\.qipu-(tmp|kept)-[A-Za-z0-9]{6}|\b[0-9a-f]{16,64}\b|#[0-9]+ \(deleted\)| folders=[0-9]+|\.tmp[A-Za-z0-9]{6}\b|\.merge_file_[A-Za-z0-9]{6}\b")
                .unwrap()
        });
        let text = text.replace(&*self.live().to_string_lossy(), "");
        let named = |found: &regex::Captures<'_>| match &found[0] {
            id if id.starts_with("qp-") => "qp-ID".to_owned(),
            name if name.starts_with(".qipu-") => format!("{}X", &name[..name.len() - 6]),
            name if name.starts_with(".tmp") => ".tmpX".to_owned(),
            name if name.starts_with(".merge_file_") => ".merge_file_X".to_owned(),
            // The section of `setup` says how many folders it made, of which an earlier attempt may have made some.
            name if name.starts_with(" folders=") => String::new(),
            name if name.starts_with('#') => "UNNAMED".to_owned(),
            _ => "HASH".to_owned(),
        };
        RANDOM.replace_all(&text, named).into_owned()
    }

    /// Returns the files of a run, without those that may differ at any time: caches, locks, and what git keeps.
    pub(crate) fn files(&self) -> Files {
        let mut files = Files::new();
        for entry in walkdir::WalkDir::new(self.live()).sort_by_file_name().into_iter().map(Result::unwrap) {
            let path = entry.path().strip_prefix(self.live()).unwrap().to_str().unwrap().to_owned();
            let is_of_git = path.contains(".git/") && path != "repo/.git/config";
            let is_cache = path.starts_with("home/.cache/") || path.starts_with("repo/.qipu/cache/");
            if entry.file_type().is_file() && !is_of_git && !is_cache && entry.file_name() != ".lock" {
                let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
                files.insert(self.normalized(&path), self.normalized(&text));
            }
        }
        files
    }

    /// Removes the files from a list that only crashed commands leave, and returns their paths. A cache counts too.
    pub(crate) fn leftovers(&self, files: &mut Files) -> Vec<String> {
        let is_leftover =
            |path: &str| path.contains(".qipu-tmp-") || path.contains("/.tmp") || path.ends_with(".qipu-pending");
        let mut found: Vec<String> = files.keys().filter(|path| is_leftover(path)).cloned().collect();
        files.retain(|path, _| !is_leftover(path));
        for entry in walkdir::WalkDir::new(self.at("repo/.qipu/cache")).into_iter().filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(".qipu-tmp-") {
                found.push(format!("repo/.qipu/cache/{}", self.normalized(&name)));
            }
        }
        found
    }
}

/// Resolves `..` in a path; there are no links in a world.
fn without_dots(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            ".." => drop(names.pop()),
            "." => {}
            name => names.push(name),
        }
    }
    names.join("/")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
            let file = File::options().write(true).open(&to).unwrap();
            file.set_modified(path.metadata().unwrap().modified().unwrap()).unwrap();
        }
    }
}

/// The compiled injector.
static INJECTOR: LazyLock<PathBuf> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/injector.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("injector");
    let built =
        Command::new("cc").args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(source).status();
    assert!(built.expect("needs cc").success());
    program
});
