//! Hermetic calls of the program in this process: each has its own directory, variables and input.

#![allow(dead_code, clippy::unwrap_used)]

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use qipu::env::{Env, Stdin, TerminalSize, WaitPolicy};
use qipu::error::Error;

/// The output and the error of a call.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) stdout: String,
    pub(crate) error: Option<Error>,
}

impl Answer {
    /// Returns the exit code of the call.
    pub(crate) fn code(&self) -> u8 {
        self.error.as_ref().map_or(0, |error| error.kind.exit_code())
    }
}

/// Calls the program in a directory, relative to the repository's root.
pub(crate) fn call(dir: &str, args: &[&str]) -> Answer {
    call_with(dir, args, "", &[])
}

/// Calls the program with a text on standard input and with variables.
pub(crate) fn call_with(dir: &str, args: &[&str], stdin: &str, vars: &[(&str, &str)]) -> Answer {
    call_in(surroundings(dir, stdin, vars), args)
}

/// Returns the names of the commands that a help text lists.
pub(crate) fn commands_in(help: &str) -> Vec<String> {
    let list = ["Commands:\n", "\nStart here\n"].iter().find_map(|head| help.split_once(head));
    let list = list.map_or("", |(_, list)| list.split("\n\n").next().unwrap());
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("    "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).filter(|name| name != "help").collect()
}

/// Calls the program on a terminal with a number of columns.
pub(crate) fn call_on_terminal(dir: &str, args: &[&str], columns: usize, has_color: bool) -> Answer {
    let size = Some(TerminalSize { columns, rows: 1_000 });
    call_in(Env { is_terminal: true, has_color, size, ..surroundings(dir, "", &[]) }, args)
}

/// Returns a folder of user settings that trusts the fixtures, so that the confidence that their notes state counts.
fn trusting_fixtures() -> PathBuf {
    // Once per process: the threads of a test binary would replace the same file.
    static SETTINGS: LazyLock<PathBuf> = LazyLock::new(|| {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").canonicalize().unwrap();
        let stores = ["graph", "hostile", "languages", "research"].map(|name| fixtures.join(name).join(".qipu"));
        let settings = Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings");
        trust(&settings, &stores);
        settings
    });
    SETTINGS.clone()
}

/// Writes the list of trusted stores in a folder of user settings, unless it is equal already.
pub(crate) fn trust(settings: &Path, stores: &[PathBuf]) {
    let list = settings.join("qipu/trusted-stores");
    let text: String = stores.iter().filter(|store| store.is_dir()).map(|store| trusted_line(store)).collect();
    if fs::read_to_string(&list).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    let new = list.with_extension(std::process::id().to_string());
    fs::write(&new, text).unwrap();
    fs::rename(new, list).unwrap();
}

/// Returns the line of the list for a store: the identity of its folder, and its path.
pub(crate) fn trusted_line(store: &Path) -> String {
    let metadata = fs::symlink_metadata(store).unwrap();
    let since_1970 = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).ok();
    let created = metadata.created().ok().and_then(since_1970).map_or(0, |time| time.as_nanos());
    #[cfg(unix)]
    let (device, inode) =
        (std::os::unix::fs::MetadataExt::dev(&metadata), std::os::unix::fs::MetadataExt::ino(&metadata));
    #[cfg(not(unix))]
    let (device, inode) = (0, 0);
    format!("{device}:{inode}:{created} {}\n", store.display())
}

/// Calls the program with a folder for the user's settings.
pub(crate) fn call_with_settings(dir: &str, settings: &Path, args: &[&str]) -> Answer {
    call_in(Env { settings_dir: Some(settings.to_path_buf()), ..surroundings(dir, "", &[]) }, args)
}

/// The folders of a user.
pub(crate) struct User {
    pub(crate) settings: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) cache: Option<PathBuf>,
}

/// Calls the program with the folders of a user.
pub(crate) fn call_of_user(dir: &str, user: &User, args: &[&str]) -> Answer {
    call_with_user_and_vars(dir, user, args, &[])
}

/// Calls the program with the folders of a user and with variables.
pub(crate) fn call_with_user_and_vars(dir: &str, user: &User, args: &[&str], vars: &[(&str, &str)]) -> Answer {
    call_in(surroundings_of_user(dir, user, vars), args)
}

fn surroundings_of_user(dir: &str, user: &User, vars: &[(&str, &str)]) -> Env {
    Env {
        settings_dir: Some(user.settings.clone()),
        data_dir: Some(user.data.clone()),
        home: Some(user.home.clone()),
        cache_dir: user.cache.clone(),
        ..surroundings(dir, "", vars)
    }
}

/// Calls the program of a user in a session of an agent tool. The editor adds `words` to the file.
pub(crate) fn call_in_session(dir: &str, user: &User, args: &[&str], words: &str) -> Answer {
    let words = words.to_owned();
    let edit = move |path: &Path| fs::write(path, format!("{}\n{words}\n", fs::read_to_string(path)?));
    let session = [("CLAUDE_CODE_SESSION_ID", "s-1")];
    call_in(
        Env { editor: Some(Box::new(edit)), stdin: Stdin::of_terminal(), ..surroundings_of_user(dir, user, &session) },
        args,
    )
}

/// Calls the program on a terminal with an editor.
pub(crate) fn call_with_editor(
    dir: &str,
    args: &[&str],
    editor: impl Fn(&Path) -> std::io::Result<()> + 'static,
) -> Answer {
    call_in(Env { editor: Some(Box::new(editor)), stdin: Stdin::of_terminal(), ..surroundings(dir, "", &[]) }, args)
}

/// Calls the program with a folder for the user's cache and a text on standard input.
pub(crate) fn call_with_cache(dir: &str, cache: &Path, args: &[&str], stdin: &str) -> Answer {
    call_in(Env { cache_dir: Some(cache.to_path_buf()), ..surroundings(dir, stdin, &[]) }, args)
}

/// Calls the program with another output, and returns the error.
pub(crate) fn call_into(dir: &str, args: &[&str], out: &mut dyn Write) -> Option<Error> {
    let words: Vec<OsString> = ["qipu"].iter().chain(args).map(Into::into).collect();
    qipu::run(&words, &surroundings(dir, "", &[]), out).err()
}

fn surroundings(dir: &str, stdin: &str, vars: &[(&str, &str)]) -> Env {
    // The store of this repository is that of a folder above the fixtures.
    let is_fixture =
        dir.starts_with("fixtures/") && Path::new(env!("CARGO_MANIFEST_DIR")).join(dir).join(".qipu").is_dir();
    let store = is_fixture.then(|| ("QIPU_STORE".to_owned(), OsString::from(".qipu")));
    Env {
        user: None,
        cache_dir: None,
        data_dir: None,
        home: None,
        settings_dir: dir.starts_with("fixtures/").then(trusting_fixtures),
        current_dir: Path::new(env!("CARGO_MANIFEST_DIR")).join(dir),
        vars: store.into_iter().chain(vars.iter().map(|(name, value)| ((*name).to_owned(), value.into()))).collect(),
        stdin: Stdin::of_text(stdin),
        editor: None,
        is_terminal: false,
        has_color: false,
        tells_progress: false,
        size: None,
        pager: None,
        now: jiff::Timestamp::from_second(1_750_000_000).unwrap(),
        today: || jiff::civil::date(2025, 6, 15),
        is_only_call: false,
        // A test waits at most a millisecond between two attempts.
        waits: WaitPolicy {
            // A machine under load may start the thread that reads late.
            input: Duration::from_secs(100),
            pause: |time| std::thread::sleep(time.min(Duration::from_millis(1))),
            ..WaitPolicy::default()
        },
        random: dir.len() as u64,
    }
}

fn call_in(env: Env, args: &[&str]) -> Answer {
    let words: Vec<OsString> = ["qipu"].iter().chain(args).map(Into::into).collect();
    let mut out = Vec::new();
    let error = qipu::run(&words, &env, &mut out).err();
    Answer { stdout: String::from_utf8(out).unwrap(), error }
}
