//! Counts the steps of work that may take long, for a progress line on a terminal.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

static DONE: AtomicUsize = AtomicUsize::new(0);
static WORK: Mutex<Option<(&str, usize)>> = Mutex::new(None);

/// A guard for work in progress, which ends when it is dropped.
#[derive(Debug)]
#[must_use]
pub struct ProgressGuard(());

impl Drop for ProgressGuard {
    fn drop(&mut self) {
        set(None);
    }
}

/// The progress of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The name of the work, such as `reading notes`.
    pub name: &'static str,
    /// The number of finished steps, at most `total`.
    pub done: usize,
    /// The number of steps.
    pub total: usize,
}

/// Begins work of `total` steps. Replaces work that is still in progress.
pub fn begin(name: &'static str, total: usize) -> ProgressGuard {
    DONE.store(0, Ordering::Relaxed);
    set(Some((name, total)));
    ProgressGuard(())
}

/// Records the end of a step.
pub fn advance() {
    DONE.fetch_add(1, Ordering::Relaxed);
}

/// Returns the current progress; `None` without work.
pub fn now() -> Option<Progress> {
    let work = WORK.lock().ok().and_then(|work| *work);
    work.map(|(name, total)| Progress { name, done: DONE.load(Ordering::Relaxed).min(total), total })
}

fn set(work: Option<(&'static str, usize)>) {
    if let Ok(mut now) = WORK.lock() {
        *now = work;
    }
}
