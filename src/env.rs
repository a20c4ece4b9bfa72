//! The environment of the process: everything it is given beside its arguments.

mod stdin;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;

pub use stdin::{MAX_STDIN_BYTES, Stdin};

/// Opens a file in the user's editor and waits until it is closed.
pub type Editor = Box<dyn Fn(&Path) -> io::Result<()>>;

/// How a command waits for another program, and how it reports that. A test passes functions that do not sleep.
#[derive(Debug, Clone, Copy)]
pub struct WaitPolicy {
    /// Sleeps.
    pub pause: fn(Duration),
    /// Reports a sentence on standard error.
    pub warn: fn(&str),
    /// How long a command waits for the lock on a store.
    pub patience: Duration,
    /// How long a hook waits for its input.
    pub input: Duration,
}

/// How long a hook waits for its input: tools write it before or while they start the hook.
pub const INPUT_TIMEOUT: Duration = Duration::from_secs(1);

impl Default for WaitPolicy {
    fn default() -> Self {
        Self { pause: std::thread::sleep, warn: |_| (), patience: Duration::from_secs(30), input: INPUT_TIMEOUT }
    }
}

impl PartialEq for WaitPolicy {
    /// Ignores how a command waits: it changes no answer.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for WaitPolicy {}

/// The variables in which agent tools give the shell commands that they run the id of the session, each with the name of
/// the tool. Sources: the pages of Claude Code on environment variables and of Gemini CLI on hooks, Codex's pull request 10096,
/// and the Azure CLI, which reads that of Copilot CLI.
const SESSION_VARIABLES: [(&str, &str); 4] = [
    ("CLAUDE_CODE_SESSION_ID", "claude-code"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_SESSION_ID", "gemini-cli"),
    ("COPILOT_AGENT_SESSION_ID", "copilot-cli"),
];

/// The variables in which agent tools give their hooks the folder of the project. Gemini CLI, Cursor and Copilot CLI set that
/// of Claude Code too.
const PROJECT_VARIABLES: [&str; 4] =
    ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR", "COPILOT_PROJECT_DIR"];

/// The variable with Claude Code's folder for what belongs to its user.
const CLAUDE_DIR: &str = "CLAUDE_CONFIG_DIR";

/// The most characters of the id of a session, and of the name of an author.
const MAX_NAME: usize = 128;

/// A session of an agent tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSession {
    /// The tool.
    pub tool: &'static str,
    /// The id that the tool gave the session; `None` if it is not valid as a name.
    pub id: Option<String>,
}

/// The environment of one call. No other state of the machine is read.
pub struct Env {
    /// The current directory, an absolute path.
    pub current_dir: PathBuf,
    /// The environment variables whose names begin with `QIPU_`, and those with the session, the project or the user's folder
    /// of an agent tool.
    pub vars: BTreeMap<String, OsString>,
    /// The name of the user's account.
    pub user: Option<String>,
    /// The user's folder for data that can be rebuilt.
    pub cache_dir: Option<PathBuf>,
    /// The user's folder for settings.
    pub settings_dir: Option<PathBuf>,
    /// The user's folder for data that can't be made again.
    pub data_dir: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Standard input.
    pub stdin: Stdin,
    /// Opens a file in the user's editor and waits until it is closed; `None` if no editor is set.
    pub editor: Option<Editor>,
    /// Whether standard output is a terminal.
    pub is_terminal: bool,
    /// Whether standard output has colour: on a terminal, unless `NO_COLOR` is set, `CLICOLOR` is 0 or the terminal is
    /// dumb; and anywhere if `CLICOLOR_FORCE` is set.
    pub has_color: bool,
    /// Whether progress is shown on standard error: it is a terminal.
    pub tells_progress: bool,
    /// The size of the terminal; `None` if standard output is none.
    pub size: Option<TerminalSize>,
    /// The command line that pages a long text on a terminal; `None` if there is no pager.
    pub pager: Option<OsString>,
    /// The time of the call. Only text that is written into notes depends on it.
    pub now: jiff::Timestamp,
    /// Returns the date on the user's calendar, from which phrases such as `last week` count if no other date is given.
    /// Called only for those: finding the machine's time zone reads files.
    pub today: fn() -> Date,
    /// A random number, for the id of a new note.
    pub random: u64,
    /// Whether the process ends with the answer to this call, so that memory is not freed and the current thread may join
    /// the pool of worker threads.
    pub is_only_call: bool,
    /// How a command that writes waits for other programs.
    pub waits: WaitPolicy,
}

/// The day that counts as today: a given one, else that of the calendar, which is looked up at each use.
#[derive(Debug, Clone, Copy)]
pub struct Today {
    given: Option<Date>,
    calendar: fn() -> Date,
}

impl Today {
    /// Combines the given day, if any, with the user's calendar.
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

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// The number of columns.
    pub columns: usize,
    /// The number of rows.
    pub rows: usize,
}

/// Lets a write beyond the file size limit (`ulimit -f`) fail with an error, like one on a full disk, instead of ending the
/// process with SIGXFSZ. Child processes have the default again.
pub fn survive_file_size_limit() {
    // If no handler can be registered, the default stays.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

impl Env {
    /// Returns the session of the agent tool that runs this call, by the first of [`SESSION_VARIABLES`] with a valid id,
    /// else by the first that is set: a tool whose id can't be stored is still no person.
    pub fn agent_session(&self) -> Option<AgentSession> {
        let set = SESSION_VARIABLES.iter().filter_map(|(variable, tool)| {
            let value = self.vars.get(*variable).filter(|value| !value.is_empty())?;
            Some(AgentSession { tool, id: value.to_str().and_then(|id| parse_name(id).ok()) })
        });
        set.min_by_key(|session| session.id.is_none())
    }

    /// Returns the folders of the project that agent tools give, by [`PROJECT_VARIABLES`].
    pub fn project_dirs(&self) -> impl Iterator<Item = PathBuf> {
        let dirs = PROJECT_VARIABLES.iter().filter_map(|variable| self.vars.get(*variable)).map(PathBuf::from);
        dirs.filter(|dir| dir.is_absolute())
    }

    /// Returns Claude Code's folder for what belongs to its user.
    pub fn claude_dir(&self) -> Option<PathBuf> {
        let named = self.vars.get(CLAUDE_DIR).map(PathBuf::from);
        named.filter(|dir| dir.is_absolute()).or_else(|| Some(self.home.as_ref()?.join(".claude")))
    }

    /// Reads the environment of this process.
    ///
    /// # Errors
    /// If the machine has no source of random numbers.
    pub fn of_process() -> io::Result<Self> {
        let is_terminal = io::IsTerminal::is_terminal(&io::stdout());
        let is_mac = cfg!(target_os = "macos");
        let (caches, settings, data) = if is_mac {
            ("Library/Caches", "Library/Application Support", "Library/Application Support")
        } else {
            (".cache", ".config", ".local/share")
        };
        Ok(Self {
            // A current directory that was deleted has no store; the command reports that.
            current_dir: std::env::current_dir().unwrap_or_default(),
            vars: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .filter(|(name, value)| is_read(name) && !value.is_empty())
                .collect(),
            user: variable("USER").or_else(|| variable("USERNAME")).and_then(|name| name.into_string().ok()),
            cache_dir: user_dir(["XDG_CACHE_HOME", "LOCALAPPDATA"], caches),
            settings_dir: user_dir(["XDG_CONFIG_HOME", "APPDATA"], settings),
            data_dir: user_dir(["XDG_DATA_HOME", "APPDATA"], data),
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            stdin: Stdin::of_process(),
            editor: editor(),
            now: jiff::Timestamp::now(),
            today: calendar_day,
            random: getrandom::u64().map_err(io::Error::other)?,
            is_terminal,
            has_color: has_color(is_terminal),
            tells_progress: io::IsTerminal::is_terminal(&io::stderr()) && !is_dumb(),
            size: is_terminal.then(size),
            pager: pager().filter(|_| is_terminal && !is_dumb()),
            is_only_call: true,
            waits: WaitPolicy::default(),
        })
    }

    /// Adds the current thread to the pool of worker threads, so that one less has to be started. Only for a call that
    /// ends with its answer: the work of other threads may wait for this one. Has no effect if the pool runs already.
    pub fn join_thread_pool(&self) {
        if self.is_only_call {
            let _ = rayon::ThreadPoolBuilder::new().use_current_thread().build_global();
        }
    }
}

fn is_read(variable: &str) -> bool {
    let of_session = SESSION_VARIABLES.iter().map(|(name, _)| *name);
    variable.starts_with("QIPU_")
        || of_session.chain(PROJECT_VARIABLES).chain([CLAUDE_DIR]).any(|name| name == variable)
}

/// Parses a name that another program or a user gives: 1 to [`MAX_NAME`] characters without control characters, trimmed.
pub(crate) fn parse_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let is_valid = !name.is_empty() && name.chars().count() <= MAX_NAME && !name.contains(char::is_control);
    let expected = || format!("expected 1 to {MAX_NAME} characters without control characters");
    if is_valid { Ok(name.to_owned()) } else { Err(expected()) }
}

/// Returns the date on the user's calendar.
fn calendar_day() -> Date {
    jiff::Timestamp::now().to_zoned(TimeZone::system()).date()
}

/// Returns the current time, for a process that stays open, as [`in_seconds`] formats it.
pub fn now() -> String {
    in_seconds(jiff::Timestamp::now())
}

/// Formats a time in whole seconds, as notes store it (RFC 3339).
pub fn in_seconds(time: jiff::Timestamp) -> String {
    jiff::Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

/// Returns the folder that one of the variables names, else the one in the user's home.
fn user_dir(variables: [&str; 2], in_home: &str) -> Option<PathBuf> {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    variables.into_iter().find_map(path).or_else(|| path("HOME").map(|home| home.join(in_home)))
}

/// Returns the value of a variable; `None` if it is unset or empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Tells whether the terminal can't move its cursor.
fn is_dumb() -> bool {
    variable("TERM").is_some_and(|name| name == "dumb")
}

/// Tells whether there is colour, by `NO_COLOR` (no-color.org) and `CLICOLOR` (bixense.com/clicolors).
fn has_color(is_terminal: bool) -> bool {
    let is_off = |value: OsString| value == "0";
    let is_forced = variable("CLICOLOR_FORCE").is_some_and(|value| !is_off(value));
    let is_capable = is_terminal && !is_dumb() && !variable("CLICOLOR").is_some_and(is_off);
    variable("NO_COLOR").is_none() && (is_forced || is_capable)
}

/// Tells whether errors have colour: by the same rules, for standard error.
pub fn has_color_for_errors() -> bool {
    has_color(io::IsTerminal::is_terminal(&io::stderr()))
}

/// Returns the size of the terminal, or 80 × 24 if it is unknown.
fn size() -> TerminalSize {
    let size = terminal_size::terminal_size_of(io::stdout());
    let size = size.map(|(columns, rows)| TerminalSize { columns: columns.0.into(), rows: rows.0.into() });
    size.filter(|size| size.columns > 0 && size.rows > 0).unwrap_or(TerminalSize { columns: 80, rows: 24 })
}

/// Returns the pager of `QIPU_PAGER` or `PAGER`, else `less`; `None` if that is empty or `cat`.
fn pager() -> Option<OsString> {
    let named = std::env::var_os("QIPU_PAGER").or_else(|| std::env::var_os("PAGER"));
    Some(named.unwrap_or_else(|| "less -FRX".into())).filter(|pager| !pager.is_empty() && pager != "cat")
}

/// Returns the editor of `VISUAL` or `EDITOR`. These may contain arguments, so a shell splits them, as for git (git-var(1)).
fn editor() -> Option<Editor> {
    let editor = variable("VISUAL").or_else(|| variable("EDITOR"))?;
    let mut line = editor.clone();
    line.push(" \"$@\"");
    Some(Box::new(move |file| {
        let status = Command::new("sh").arg("-c").arg(&line).arg(&editor).arg(file).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("the editor failed ({status})"))) }
    }))
}
