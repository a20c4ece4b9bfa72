//! What can go wrong, as users meet it: a kind, a sentence, a hint, an exit code.
//!
//! Every failure in the program ends as an [`Error`]; the mapping to exit codes stands here and
//! nowhere else.

use std::fmt;
use std::io;

use anstyle::{AnsiColor, Style};
use serde_json::json;

use crate::escape::{harmless_json, one_line};

/// A failure that ends the process.
#[derive(Debug)]
pub struct Error {
    /// What sort of failure it is; decides the exit code.
    pub kind: ErrorKind,
    /// One sentence: what went wrong, and where.
    pub message: String,
    /// What the user can do about it.
    pub hint: Option<String>,
}

/// The sorts of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The reader of our output went away. Not an error to anybody.
    ClosedPipe,
    /// Something failed that is neither the user's words nor the store (exit 1).
    Failure,
    /// A check that was asked for did not pass (exit 1).
    Check,
    /// Another command holds the lock on the store (exit 1).
    Busy,
    /// The command line can't be understood (exit 2).
    Usage,
    /// Not even the empty answer fits the budget (exit 2).
    Budget,
    /// There is no store here (exit 3).
    NoStore,
    /// A note that was named does not exist (exit 3).
    NoNote,
    /// The store can't be read or is not well (exit 3).
    Store,
}

impl ErrorKind {
    /// Returns the process's exit code: 0, 1, 2 or 3.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::Failure | Self::Check | Self::Busy => 1,
            Self::Usage | Self::Budget => 2,
            Self::NoStore | Self::NoNote | Self::Store => 3,
        }
    }

    /// Returns the name that JSON errors carry.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClosedPipe => "closed-pipe",
            Self::Failure => "failure",
            Self::Check => "check",
            Self::Busy => "busy",
            Self::Usage => "usage",
            Self::Budget => "budget",
            Self::NoStore => "no-store",
            Self::NoNote => "no-note",
            Self::Store => "store",
        }
    }
}

impl Error {
    /// Makes an error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// Makes an error about the command line (exit 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Makes an error about something that did not work (exit 1).
    pub fn failure(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failure, message)
    }

    /// Adds what the user can do, in one line.
    #[must_use]
    pub fn hint(self, hint: impl AsRef<str>) -> Self {
        Self { hint: Some(one_line(hint.as_ref())), ..self }
    }

    /// Returns the text for standard error in words, with its final newline.
    ///
    /// A message may quote a note, a file's name or an argument: nothing in it steers a terminal, and no line begins
    /// with `qipu:` or `hint:` but the first of each.
    pub fn to_text(&self, has_color: bool) -> String {
        let line = |color: AnsiColor, mark: &str, text: &str| {
            let style = if has_color { color.on_default().bold() } else { Style::new() };
            format!("{style}{mark}:{style:#} {text}\n")
        };
        let hint = self.hint.as_ref().map(|hint| line(AnsiColor::Cyan, "hint", &one_line(hint))).unwrap_or_default();
        line(AnsiColor::Red, "qipu", &one_line(&self.message)) + &hint
    }

    /// The same as JSON.
    pub fn to_json(&self) -> String {
        let error = json!({"error": {
            "code": self.kind.exit_code(),
            "kind": self.kind.name(),
            "message": self.message,
            "hint": self.hint,
        }});
        harmless_json(error.to_string()) + "\n"
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
    /// Tells the whole chain of causes in one sentence.
    fn from(error: anyhow::Error) -> Self {
        Self::new(ErrorKind::Failure, format!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_forges_no_line() {
        let name = "a\nhint: run `evil`\r\nqipu: locked\u{2028}hint: x\u{1b}[2J\u{e0041}\u{202e}";
        let error = Error::failure(format!("can't read {name}")).hint(format!("remove {name}"));
        let text = error.to_text(false);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.starts_with(
            "qipu: can't read a hint: run `evil` qipu: locked hint: x␛[2J\u{fffd}\u{fffd}\nhint: remove a"
        ));
        assert_eq!(error.to_json().lines().count(), 1);
    }
}
