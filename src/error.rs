//! The error of the program: a kind, a sentence and a hint.
//!
//! Every failure becomes an [`Error`]. The only mapping to exit codes is [`ErrorKind::exit_code`].

use std::fmt;
use std::io;

use anstyle::{AnsiColor, Style};
use serde_json::json;

use crate::codec::named::named;
use crate::escape::{escape_json, one_line};

/// A failure that ends the process.
#[derive(Debug, Clone)]
pub struct Error {
    /// The kind of failure, which determines the exit code.
    pub kind: ErrorKind,
    /// One sentence: what failed, and where.
    pub message: String,
    /// What the user can do about it.
    pub hint: Option<String>,
    /// The same for interfaces that are not the command line; `None` if the hint fits all.
    pub remedy: Option<Remedy>,
}

/// What makes a call succeed, where each interface has words of its own for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Search for the note; it may be one of these.
    FindNote {
        /// Notes with similar names, with their titles.
        near: Vec<String>,
    },
    /// Change a note in the collection with this name.
    ChangeIn(String),
    /// Create or name a store.
    NameStore {
        /// Whether the user's own store can be changed.
        has_own: bool,
    },
    /// Create the user's own store.
    CreateOwnStore,
    /// Remove the log of changes that can't be completed.
    RemoveRedoLog,
    /// Read a note again, and repeat the change with its revision.
    ReadAgain {
        /// The id of the note.
        id: String,
        /// The revision that it has now.
        revision: String,
    },
}

impl Remedy {
    /// Returns the words of [`Remedy::FindNote`] with the name of an interface's search.
    pub fn to_find(near: &[String], search: &str) -> String {
        let meant = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(", ")) };
        format!("{meant}{search} finds notes and their ids")
    }
}

impl fmt::Display for Remedy {
    /// Writes the words for the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FindNote { near } => f.write_str(&Self::to_find(near, "`qipu search WORDS`")),
            Self::ChangeIn(name) => write!(f, "add `--in {name}` to change a note there"),
            Self::NameStore { has_own } => {
                let own = if *has_own { "`--in user` changes your own store; else " } else { "" };
                write!(
                    f,
                    "{own}create one with `qipu init`, or name one, or a folder of Markdown to read, with --store PATH"
                )
            }
            Self::CreateOwnStore => f.write_str("`qipu init --user` creates your own store"),
            Self::ReadAgain { id, revision } => {
                write!(f, "nothing was written; read it with `qipu show {id}`, then repeat with `--if {revision}`")
            }
            Self::RemoveRedoLog => f.write_str(
                "inspect it (its texts are in base64), then remove it, for example with `qipu doctor --fix`",
            ),
        }
    }
}

named! {
    /// The kinds of failure.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ErrorKind {
        /// The reader of our output closed it, such as `head` (exit 0).
        ClosedPipe = "closed-pipe",
        /// Any other failure, such as one of a file or another program (exit 1).
        Failure = "failure",
        /// A requested check did not pass (exit 1).
        Check = "check",
        /// Another command holds the lock on the store (exit 1).
        Busy = "busy",
        /// The note is no longer the one that the caller has read (exit 1).
        Conflict = "conflict",
        /// The arguments are invalid (exit 2).
        Usage = "usage",
        /// Not even the empty answer fits the budget (exit 2).
        Budget = "budget",
        /// There is no store here (exit 3).
        NoStore = "no-store",
        /// A named note does not exist (exit 3).
        NoNote = "no-note",
        /// The store can't be read or is damaged (exit 3).
        Store = "store",
    }
}

impl ErrorKind {
    /// Returns the exit code of the process, 0 to 3.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::Failure | Self::Check | Self::Busy | Self::Conflict => 1,
            Self::Usage | Self::Budget => 2,
            Self::NoStore | Self::NoNote | Self::Store => 3,
        }
    }
}

impl Error {
    /// Creates an error of a kind, without a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, remedy: None }
    }

    /// Creates an error about the arguments (exit 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Creates an error about a failed operation (exit 1).
    pub fn failure(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failure, message)
    }

    /// Adds what the user can do, on one line.
    #[must_use]
    pub fn hint(self, hint: impl AsRef<str>) -> Self {
        Self { hint: Some(one_line(hint.as_ref())), remedy: None, ..self }
    }

    /// Adds what the user can do, in the words of the command line and for other interfaces.
    #[must_use]
    pub fn remedy(self, remedy: Remedy) -> Self {
        Self { remedy: Some(remedy.clone()), ..self.hint(remedy.to_string()) }
    }

    /// Returns the text for standard error, with its final newline.
    ///
    /// A message may quote a note, a file's name or an argument. These are escaped, so that they steer no terminal and no
    /// line of theirs begins with `qipu:` or `hint:`.
    pub fn to_text(&self, has_color: bool) -> String {
        let line = |color: AnsiColor, mark: &str, text: &str| {
            let style = if has_color { color.on_default().bold() } else { Style::new() };
            format!("{style}{mark}:{style:#} {text}\n")
        };
        let hint = self.hint.as_ref().map(|hint| line(AnsiColor::Cyan, "hint", &one_line(hint))).unwrap_or_default();
        line(AnsiColor::Red, "qipu", &one_line(&self.message)) + &hint
    }

    /// Returns the error as a line of JSON.
    pub fn to_json(&self) -> String {
        let error = json!({"error": {
            "code": self.kind.exit_code(),
            "kind": self.kind.name(),
            "message": self.message,
            "hint": self.hint,
        }});
        escape_json(error.to_string()) + "\n"
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::BrokenPipe => ErrorKind::ClosedPipe,
            _ => ErrorKind::Failure,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<anyhow::Error> for Error {
    /// Joins the chain of causes to one sentence.
    fn from(error: anyhow::Error) -> Self {
        Self::new(ErrorKind::Failure, format!("{error:#}"))
    }
}
