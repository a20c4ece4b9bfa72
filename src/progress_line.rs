//! Shows the progress of long work on standard error, if that is a terminal.

use std::io::{self, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::env::Env;
use crate::progress::{self, Progress};

/// The time before progress is first shown.
const DELAY: Duration = Duration::from_millis(500);
/// The time between two updates.
const INTERVAL: Duration = Duration::from_millis(100);
/// Clears the line (ECMA-48: carriage return, erase in line).
const CLEAR: &str = "\r\u{1b}[K";

/// The thread that shows progress. Dropping this ends the thread and clears the line.
pub(crate) struct ProgressReporter(Option<(Sender<()>, JoinHandle<()>)>);

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// Starts to show the progress of this call; does nothing unless standard error is a terminal.
pub(crate) fn begin(env: &Env) -> ProgressReporter {
    if !env.tells_progress {
        return ProgressReporter(None);
    }
    let (sender, receiver) = channel();
    let watch = move || {
        let mut is_shown = false;
        let mut wait = DELAY;
        while receiver.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            wait = INTERVAL;
            if let Some(progress) = progress::now() {
                print(&format!("{CLEAR}{}", line(progress)));
                is_shown = true;
            } else if is_shown {
                // Cleared only once, since an editor may use the terminal now.
                print(CLEAR);
                is_shown = false;
            }
        }
        if is_shown {
            print(CLEAR);
        }
    };
    // Without a thread, the work is done without a progress line.
    ProgressReporter(Builder::new().spawn(watch).ok().map(|thread| (sender, thread)))
}

/// Returns the line for a progress.
fn line(progress: Progress) -> String {
    let Progress { name, done, total } = progress;
    let percent = (done * 100).checked_div(total).unwrap_or(100);
    format!("{name}: {done} of {total} ({percent} %)")
}

/// Writes to standard error.
fn print(text: &str) {
    let mut stderr = io::stderr();
    // Without standard error, there is no progress line.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_told_in_steps_and_percent() {
        assert_eq!(line(Progress { name: "reading notes", done: 50, total: 200 }), "reading notes: 50 of 200 (25 %)");
        assert_eq!(line(Progress { name: "writing files", done: 0, total: 0 }), "writing files: 0 of 0 (100 %)");
    }
}
