//! Pages a long text on a terminal with the user's pager.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::env::{Env, TerminalSize};

/// The exit codes of a shell that can't start a program (POSIX, Shell Command Language 2.8.2).
const NOT_STARTED: [i32; 2] = [126, 127];

/// Shows a text in the pager if it is longer than the screen. Returns whether it was shown: not if there is no pager or it
/// can't be started.
pub(crate) fn show(text: &str, env: &Env) -> bool {
    match (&env.pager, env.size) {
        (Some(pager), Some(size)) if is_longer(text, size) => run(pager, text),
        _ => false,
    }
}

/// Tells whether a text does not fit on a screen together with the next prompt.
fn is_longer(text: &str, size: TerminalSize) -> bool {
    let rows = text.lines().map(|line| shown_chars(line).div_ceil(size.columns.max(1)).max(1));
    rows.sum::<usize>() >= size.rows
}

/// Counts the characters of a line without escape sequences for colour.
fn shown_chars(line: &str) -> usize {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().map_or(0, |plain| plain.chars().count());
    parts.fold(first, |count, part| count + part.split_once('m').map_or(0, |(_, plain)| plain.chars().count()))
}

/// Runs a pager. It may have arguments, so a shell splits them. Returns whether it was started.
fn run(pager: &OsStr, text: &str) -> bool {
    // The pager handles Ctrl-C; this process must not end before it.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Default::default());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(pager).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LESSCHARSET", "utf-8"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            shell.env(name, value);
        }
    }
    let Ok(mut child) = shell.spawn() else {
        return false;
    };
    // A pager that is closed early does not read the rest: no failure.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(text.as_bytes()));
    let status = child.wait().ok().and_then(|status| status.code());
    !status.is_some_and(|code| NOT_STARTED.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_long_when_it_leaves_no_row_for_the_prompt() {
        let size = TerminalSize { columns: 10, rows: 4 };
        assert!(!is_longer("1\n2\n3\n", size));
        assert!(is_longer("1\n2\n3\n4\n", size));
        assert!(is_longer(&format!("1\n{}\n", "x".repeat(30)), size));
        assert!(!is_longer(&format!("1\n{}\n", "日".repeat(10)), size));
        assert!(!is_longer(&"\u{1b}[1;33mword\u{1b}[0m\n".repeat(3), size));
    }

    #[test]
    #[cfg(unix)]
    fn a_pager_that_can_not_be_started_has_shown_nothing() {
        assert!(!run(OsStr::new("/nowhere/pager 2>/dev/null"), "text"));
        assert!(run(OsStr::new("cat >/dev/null"), "text"));
        assert!(run(OsStr::new("true"), &"text\n".repeat(100_000)), "left early");
    }
}
