//! The programs that tests drive besides qipu. A test whose program is missing fails: one that passed would have tried
//! nothing.

use std::process::{Command, Stdio};

/// Fails where a program is not installed.
pub(crate) fn expect_installed(program: &str) {
    let mut look = Command::new("sh");
    let found = look.args(["-c", "command -v \"$0\"", program]).stdout(Stdio::null()).status();
    let is_there = found.is_ok_and(|status| status.success());
    assert!(is_there, "{program} is not installed: AGENTS.md lists the programs that the tests need");
}
