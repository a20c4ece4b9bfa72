//! Programs on a pseudoterminal: that of Python, since the standard library of Rust has none.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

use crate::support::files::temp_dir;

/// Runs a program on a terminal. For each step it waits for the first text and then types the second. At the end it prints
/// a line with the exit code, then all output of the program. It kills a program that hangs for a minute.
const DRIVER: &str = r#"
import fcntl, json, os, pty, select, struct, sys, termios, time
rows, columns, steps, command = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(command[0], command)
seen, at, end = b"", 0, time.time() + 60
while time.time() < end:
    if steps and steps[0][0].encode() in seen[at:]:
        at = seen.index(steps[0][0].encode(), at) + len(steps[0][0].encode())
        os.write(fd, steps.pop(0)[1].encode())
    if not select.select([fd], [], [], 0.05)[0]:
        continue
    try:
        more = os.read(fd, 65536)
    except OSError:
        break
    if not more:
        break
    seen += more
else:
    os.kill(pid, 9)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(str(code).encode() + b"\n" + seen)
"#;

/// The output of a program on a terminal, and its exit code.
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) code: i32,
}

/// Runs a program on a terminal of `size` (rows, columns), with the given variables and a minimal environment.
pub(crate) fn run(
    dir: &Path,
    vars: &[(&str, &str)],
    size: (u16, u16),
    steps: &[(&str, &str)],
    command: &[&str],
) -> Shown {
    let bin = Path::new(env!("CARGO_BIN_EXE_qipu")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let job = serde_json::json!([size.0, size.1, steps, command]).to_string();
    let home = temp_dir();
    let mut python = Command::new("python3");
    python.args(["-c", DRIVER, &job]).current_dir(dir).env_clear().env("PATH", path).env("TERM", "xterm");
    python.env("HOME", home.path()).envs(vars.iter().copied());
    let output = python.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (code, text) = text.split_once('\n').unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    Shown { text: text.to_owned(), code: code.parse().unwrap() }
}
