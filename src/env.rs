//! What the process is given beside its arguments.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Opens a file for the user and waits.
pub type Editor = Box<dyn Fn(&Path) -> io::Result<()>>;

/// How a command waits for another program, and how it reports that. A test passes functions that do not sleep.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// Sleeps.
    pub pause: fn(Duration),
    /// Reports a sentence on standard error.
    pub warn: fn(&str),
    /// How long a command waits for the lock on a store.
    pub patience: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { pause: std::thread::sleep, warn: |_| (), patience: Duration::from_secs(30) }
    }
}

impl PartialEq for Waits {
    /// Ignores how a command waits: it changes no answer.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Waits {}

/// The surroundings of one call. Nothing else of the machine is looked at.
pub struct Env {
    /// The current directory, an absolute path.
    pub current_dir: PathBuf,
    /// The environment variables whose names begin with `QIPU_`.
    pub vars: BTreeMap<String, OsString>,
    /// The user's folder for what can be made again.
    pub cache_dir: Option<PathBuf>,
    /// The user's folder for settings.
    pub settings_dir: Option<PathBuf>,
    /// Reads standard input to its end.
    pub stdin: Box<dyn Fn() -> io::Result<String>>,
    /// Opens a file in the user's editor and waits until that is closed.
    pub editor: Editor,
    /// Whether standard output is a terminal.
    pub is_terminal: bool,
    /// Whether colour is wanted there: on a terminal, unless `NO_COLOR` is set, `CLICOLOR` is 0 or the terminal
    /// is dumb, and anywhere where `CLICOLOR_FORCE` is set.
    pub has_color: bool,
    /// Whether somebody sees what is written to standard error while work goes on.
    pub tells_progress: bool,
    /// How large the terminal is, where standard output is one.
    pub size: Option<TerminalSize>,
    /// The command line that shows a long text on a terminal, page by page; `None` where nobody wants that.
    pub pager: Option<OsString>,
    /// The moment of the call. Only what is written into notes depends on it.
    pub now: jiff::Timestamp,
    /// The date on the user's calendar, from which words such as `last week` count where no other
    /// today is given. Looked up only for those: finding the machine's time zone takes files.
    pub today: fn() -> Date,
    /// A random number, for the id of a new note.
    pub random: u64,
    /// Makes the thread of the call one of those that share the work, so that one less has to be begun. Only for
    /// a call that ends with its answer: later, work of other threads would wait for this one.
    pub lend_thread: fn(),
    /// How a command that writes waits for other programs.
    pub waits: Waits,
}

/// The day that counts as today: the one that is given, else the calendar's, which is looked up only when somebody asks.
#[derive(Debug, Clone, Copy)]
pub struct Today {
    given: Option<Date>,
    calendar: fn() -> Date,
}

impl Today {
    /// Makes a day of the one that is given, if any, and the user's calendar.
    pub fn new(given: Option<Date>, calendar: fn() -> Date) -> Self {
        Self { given, calendar }
    }

    /// Returns the day.
    pub fn day(self) -> Date {
        self.given.unwrap_or_else(self.calendar)
    }
}

impl Default for Today {
    fn default() -> Self {
        Self::new(None, calendar_day)
    }
}

impl PartialEq for Today {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl Eq for Today {}

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// How many columns it has.
    pub columns: usize,
    /// How many rows it has.
    pub rows: usize,
}

/// Lets a write beyond the limit for files (`ulimit -f`) fail with an error, as one on a full disk does: unhandled, the
/// signal SIGXFSZ ends the process. Programs that are started from here have the default again.
pub fn survive_file_size_limit() {
    // Where it can't be handled, the default stays.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

impl Env {
    /// Takes the surroundings of this process.
    ///
    /// # Errors
    /// When the machine gives no random number.
    pub fn of_process() -> io::Result<Self> {
        let is_terminal = io::IsTerminal::is_terminal(&io::stdout());
        Ok(Self {
            // A directory that was removed under us has no store; the command says so.
            current_dir: std::env::current_dir().unwrap_or_default(),
            vars: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .filter(|(name, value)| name.starts_with("QIPU_") && !value.is_empty())
                .collect(),
            cache_dir: cache_dir(),
            settings_dir: settings_dir(),
            stdin: Box::new(read_stdin),
            editor: Box::new(run_editor),
            now: jiff::Timestamp::now(),
            today: calendar_day,
            random: getrandom::u64().map_err(io::Error::other)?,
            is_terminal,
            has_color: has_color(is_terminal),
            tells_progress: io::IsTerminal::is_terminal(&io::stderr()) && !is_dumb(),
            size: is_terminal.then(size),
            pager: pager().filter(|_| is_terminal && !is_dumb()),
            // Where the others have begun already, it just waits for them.
            lend_thread: || drop(rayon::ThreadPoolBuilder::new().use_current_thread().build_global()),
            waits: Waits::default(),
        })
    }
}

/// Reads standard input to its end. A person at a terminal is told that input is expected, and how it ends.
fn read_stdin() -> io::Result<String> {
    if io::IsTerminal::is_terminal(&io::stdin()) {
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(io::stderr(), "Type the text, then press Enter and Ctrl-D. Ctrl-C cancels.");
    }
    io::read_to_string(io::stdin())
}

/// Returns the date on the user's calendar.
fn calendar_day() -> Date {
    jiff::Timestamp::now().to_zoned(TimeZone::system()).date()
}

/// Returns the moment, for a process that stays open.
pub fn moment() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// Returns where this machine keeps what can be made again.
fn cache_dir() -> Option<PathBuf> {
    let home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    user_dir(["XDG_CACHE_HOME", "LOCALAPPDATA"], home)
}

/// Returns where this machine keeps what its user has set.
fn settings_dir() -> Option<PathBuf> {
    let home = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    user_dir(["XDG_CONFIG_HOME", "APPDATA"], home)
}

/// Returns the folder that one of the variables names, else one in the user's home.
fn user_dir(variables: [&str; 2], in_home: &str) -> Option<PathBuf> {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    variables.into_iter().find_map(path).or_else(|| path("HOME").map(|home| home.join(in_home)))
}

/// Returns a variable's value where it has one.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn is_dumb() -> bool {
    variable("TERM").is_some_and(|name| name == "dumb")
}

/// Tells whether colour is wanted, as `NO_COLOR` and `CLICOLOR` are understood by most programs.
fn has_color(is_terminal: bool) -> bool {
    let is_off = |value: OsString| value == "0";
    let is_forced = variable("CLICOLOR_FORCE").is_some_and(|value| !is_off(value));
    let is_capable = is_terminal && !is_dumb() && !variable("CLICOLOR").is_some_and(is_off);
    variable("NO_COLOR").is_none() && (is_forced || is_capable)
}

/// Tells whether errors are told in colour: the same, of the terminal that they go to.
pub fn has_color_for_errors() -> bool {
    has_color(io::IsTerminal::is_terminal(&io::stderr()))
}

/// Returns how large the terminal is, or what most are where it does not tell.
fn size() -> TerminalSize {
    let told = terminal_size::terminal_size_of(io::stdout());
    let told = told.map(|(columns, rows)| TerminalSize { columns: columns.0.into(), rows: rows.0.into() });
    told.filter(|size| size.columns > 0 && size.rows > 0).unwrap_or(TerminalSize { columns: 80, rows: 24 })
}

/// Returns what QIPU_PAGER or PAGER say, else what shows colours everywhere. One that is set to nothing,
/// or to `cat`, is none.
fn pager() -> Option<OsString> {
    let named = std::env::var_os("QIPU_PAGER").or_else(|| std::env::var_os("PAGER"));
    Some(named.unwrap_or_else(|| "less -FRX".into())).filter(|pager| !pager.is_empty() && pager != "cat")
}

/// Runs what VISUAL or EDITOR say. They may hold arguments, so a shell takes them apart, as it does
/// for other programs that open an editor.
fn run_editor(file: &Path) -> io::Result<()> {
    let Some(editor) = variable("VISUAL").or_else(|| variable("EDITOR")) else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "neither VISUAL nor EDITOR names one"));
    };
    let mut line = editor.clone();
    line.push(" \"$@\"");
    let status = Command::new("sh").arg("-c").arg(line).arg(editor).arg(file).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("it ended with {status}"))) }
}
