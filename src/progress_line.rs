//! Tells on standard error, where that is a terminal, how far work is that takes longer than half a second.

use std::io::{self, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::env::Env;
use crate::progress::{self, Progress};

/// How long work may take before anything is said.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a line stands before it is written anew.
const PACE: Duration = Duration::from_millis(100);
/// Takes away what stands on the line.
const CLEAR: &str = "\r\u{1b}[K";

/// Somebody who watches the work. When this goes, nothing of it is left on the terminal.
pub(crate) struct ProgressReporter(Option<(Sender<()>, JoinHandle<()>)>);

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// Watches the work of this call, where somebody sees it.
pub(crate) fn begin(env: &Env) -> ProgressReporter {
    if !env.tells_progress {
        return ProgressReporter(None);
    }
    let (sender, receiver) = channel();
    let watch = move || {
        let mut has_told = false;
        let mut wait = PATIENCE;
        while receiver.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            wait = PACE;
            if let Some(progress) = progress::now() {
                tell(&format!("{CLEAR}{}", line(progress)));
                has_told = true;
            } else if has_told {
                // An editor may have the terminal now: the line is taken away once.
                tell(CLEAR);
                has_told = false;
            }
        }
        if has_told {
            tell(CLEAR);
        }
    };
    // A machine without room for a thread does the work all the same.
    ProgressReporter(Builder::new().spawn(watch).ok().map(|thread| (sender, thread)))
}

fn line(progress: Progress) -> String {
    let Progress { name, done, total } = progress;
    let percent = (done * 100).checked_div(total).unwrap_or(100);
    format!("{name}: {done} of {total} ({percent} %)")
}

fn tell(text: &str) {
    let mut stderr = io::stderr();
    // Nobody is left to tell when standard error is gone.
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
