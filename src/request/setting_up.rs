//! Requests that create stores and serve agent tools, git and packages.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::budget::Budget;

/// A call of `man --dir`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManPagesRequest {
    /// The folder.
    pub dir: PathBuf,
    /// The pages: file name and text.
    pub pages: Vec<(String, String)>,
    /// Whether nothing is written, only reported.
    pub is_dry_run: bool,
}

/// A call of `prime`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrimeRequest {
    /// Whether the answer begins with the banner; `None` leaves it to the format.
    pub banner: Option<bool>,
    /// Whether this runs in a session-start hook, which must not fail.
    pub is_hook: bool,
    /// Whether only the most useful commands, the notes of the session and the latest decisions are shown.
    pub is_brief: bool,
    /// The ids of the notes that the session saved or changed, the latest last.
    pub saved: Vec<String>,
    /// The ids of the notes that the session was shown, the latest last.
    pub shown: Vec<String>,
}

/// A call of `hook`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRequest {
    /// The tool that calls it.
    pub tool: HookTool,
    /// The name of the event, in the spelling of the tool.
    pub event: String,
    /// The JSON that the tool writes to standard input.
    pub input: String,
    /// The limits of the answer.
    pub budget: Budget,
    /// What the session was shown.
    pub shown: ShownInSession,
}

/// The agent tools with hooks.
// A doc comment of a variant would become help.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookTool {
    Claude,
    Codex,
    Gemini,
    Cursor,
    Copilot,
}

/// Where a hook records what a session was shown, so that it is not shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownInSession {
    /// In a file of the session in the user's cache folder.
    InCache,
    /// In this file, relative to the current directory.
    In(PathBuf),
    /// Nowhere: the answer depends on the store and the input alone.
    Nowhere,
}

/// A call of `init`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct InitRequest {
    /// The project (default: the one that contains this folder)
    pub dir: Option<PathBuf>,
    /// Also read the Markdown in this folder, in place (repeatable)
    #[arg(long, value_name = "DIR")]
    pub documents: Vec<PathBuf>,
    /// Also read the commits of the repository when a question is asked
    #[arg(long)]
    pub commits: bool,
    /// Keep the store out of git
    #[arg(long = "stealth")]
    pub is_stealth: bool,
    /// Name the store `qipu/`, a visible folder, instead of `.qipu/`
    #[arg(long = "visible")]
    pub is_visible: bool,
    /// Trust what an existing store says about its notes: trust, confidence, verified
    #[arg(long = "trust")]
    pub is_trusted: bool,
    /// Create your own store, which is read with every project
    #[arg(long = "user", conflicts_with_all = ["dir", "documents", "commits", "is_stealth", "is_visible"])]
    pub is_user: bool,
    /// Whether nothing is changed, only shown.
    #[arg(skip)]
    pub is_dry_run: bool,
}

/// A call of `setup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupRequest {
    /// The action.
    pub action: SetupAction,
    /// Whether the project is that of the store that the call names.
    pub is_at_store: bool,
    /// Whether text that was edited by hand may be overwritten.
    pub is_forced: bool,
    /// Whether nothing is changed, only shown.
    pub is_dry_run: bool,
}

/// The actions of `setup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetupAction {
    /// List the recipes and their state in the project.
    List,
    /// Print the text of a recipe.
    Print(String),
    /// Check whether a recipe is installed and current.
    Check(String),
    /// Install a recipe; `None` for those that fit the project.
    Install(Option<String>),
    /// Remove a recipe; `None` for all that are installed.
    Remove(Option<String>),
}

impl SetupAction {
    /// Tells whether it changes files.
    pub fn changes_files(&self) -> bool {
        !matches!(self, Self::List | Self::Print(_) | Self::Check(_))
    }

    /// Returns the name of its recipe, if it names one.
    pub fn recipe(&self) -> Option<&str> {
        match self {
            Self::List => None,
            Self::Print(name) | Self::Check(name) => Some(name),
            Self::Install(name) | Self::Remove(name) => name.as_deref(),
        }
    }
}

/// A call of `merge-driver`, which writes the result to `ours`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct MergeDriverRequest {
    /// The common ancestor (%O)
    pub base: PathBuf,
    /// Our side; the result is written here (%A)
    pub ours: PathBuf,
    /// Their side (%B)
    pub theirs: PathBuf,
    /// The length of conflict markers (%L)
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 7)]
    pub marker_size: u16,
}
