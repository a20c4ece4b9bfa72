//! Calls of the program in this process, hermetic: its own directory, variables and input.

#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use qipu::env::{Env, Size, Waits};
use qipu::error::Error;

/// What a call wrote and how it ended.
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

/// Calls the program on a terminal of so many columns.
pub(crate) fn call_on_terminal(dir: &str, args: &[&str], columns: usize, has_color: bool) -> Answer {
    let size = Some(Size { columns, rows: 1_000 });
    call_in(Env { is_terminal: true, has_color, size, ..surroundings(dir, "", &[]) }, args)
}

fn surroundings(dir: &str, stdin: &str, vars: &[(&str, &str)]) -> Env {
    let stdin = stdin.to_owned();
    Env {
        cache_dir: None,
        current_dir: Path::new(env!("CARGO_MANIFEST_DIR")).join(dir),
        vars: vars.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect::<BTreeMap<_, _>>(),
        stdin: Box::new(move || Ok(stdin.clone())),
        editor: Box::new(|_| Err(std::io::Error::other("no editor in a test"))),
        is_terminal: false,
        has_color: false,
        tells_progress: false,
        size: None,
        pager: None,
        now: jiff::Timestamp::from_second(1_750_000_000).unwrap(),
        today: || jiff::civil::date(2025, 6, 15),
        lend_thread: || (),
        // A file that a test has just made need not be left alone first.
        waits: Waits { pause: |time| std::thread::sleep(time.min(Duration::from_millis(1))), ..Waits::default() },
        random: dir.len() as u64,
    }
}

fn call_in(env: Env, args: &[&str]) -> Answer {
    let words: Vec<OsString> = ["qipu"].iter().chain(args).map(Into::into).collect();
    let mut out = Vec::new();
    let error = qipu::run(&words, &env, &mut out).err();
    Answer { stdout: String::from_utf8(out).unwrap(), error }
}
