//! What the process is given beside its arguments.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Opens a file for the user and waits.
pub type Editor = Box<dyn Fn(&Path) -> io::Result<()>>;

/// The surroundings of one call. Nothing else of the machine is looked at.
pub struct Env {
    /// The current directory, an absolute path.
    pub current_dir: PathBuf,
    /// The environment variables whose names begin with `QIPU_`.
    pub vars: BTreeMap<String, OsString>,
    /// The user's folder for what can be made again.
    pub cache_dir: Option<PathBuf>,
    /// Reads standard input to its end.
    pub stdin: Box<dyn Fn() -> io::Result<String>>,
    /// Opens a file in the user's editor and waits until that is closed.
    pub editor: Editor,
    /// Whether standard output is a terminal.
    pub is_terminal: bool,
    /// Whether colour is wanted there: on a terminal, unless `NO_COLOR` is set, and anywhere where
    /// `CLICOLOR_FORCE` is.
    pub has_color: bool,
    /// The moment of the call. Only what is written into notes depends on it.
    pub now: jiff::Timestamp,
    /// The date on the user's calendar, from which words such as `last week` count where no other
    /// today is given. Looked up only for those: finding the machine's time zone takes files.
    pub today: fn() -> Date,
    /// A random number, for the id of a new note.
    pub random: u64,
}

impl Env {
    /// Takes the surroundings of this process.
    ///
    /// # Errors
    /// When the machine gives no random number.
    pub fn of_process() -> io::Result<Self> {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        let is_terminal = io::IsTerminal::is_terminal(&io::stdout());
        let has_color = !is_set("NO_COLOR") && (is_terminal || is_set("CLICOLOR_FORCE"));
        Ok(Self {
            // A directory that was removed under us has no store; the command says so.
            current_dir: std::env::current_dir().unwrap_or_default(),
            vars: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .filter(|(name, value)| name.starts_with("QIPU_") && !value.is_empty())
                .collect(),
            cache_dir: cache_dir(),
            stdin: Box::new(|| io::read_to_string(io::stdin())),
            editor: Box::new(run_editor),
            now: jiff::Timestamp::now(),
            today: || jiff::Timestamp::now().to_zoned(TimeZone::system()).date(),
            random: getrandom::u64().map_err(io::Error::other)?,
            is_terminal,
            has_color,
        })
    }
}

/// Returns the moment, for a process that stays open.
pub fn moment() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// Returns where this machine keeps what can be made again.
fn cache_dir() -> Option<PathBuf> {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    let of_home = || path("HOME").map(|path| path.join(home));
    path("XDG_CACHE_HOME").or_else(|| path("LOCALAPPDATA")).or_else(of_home)
}

/// Runs what VISUAL or EDITOR say. They may hold arguments, so a shell takes them apart, as it does
/// for other programs that open an editor.
fn run_editor(file: &Path) -> io::Result<()> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let Some(editor) = set("VISUAL").or_else(|| set("EDITOR")) else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "neither VISUAL nor EDITOR names one"));
    };
    let mut line = editor.clone();
    line.push(" \"$@\"");
    let status = Command::new("sh").arg("-c").arg(line).arg(editor).arg(file).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("it ended with {status}"))) }
}
