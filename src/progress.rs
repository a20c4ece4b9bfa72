//! How far a piece of work is that may take long. Whoever does it counts; whoever has a terminal tells.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

static DONE: AtomicUsize = AtomicUsize::new(0);
static WORK: Mutex<Option<(&str, usize)>> = Mutex::new(None);

/// Work that has begun; it ends when this goes.
#[derive(Debug)]
#[must_use]
pub struct Work(());

impl Drop for Work {
    fn drop(&mut self) {
        set(None);
    }
}

/// How far work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is done, as `reading notes`.
    pub name: &'static str,
    /// How many steps of it are over.
    pub done: usize,
    /// How many there are.
    pub total: usize,
}

/// Begins work of so many steps.
pub fn begin(name: &'static str, total: usize) -> Work {
    DONE.store(0, Ordering::Relaxed);
    set(Some((name, total)));
    Work(())
}

/// Notes down that a step of the work is over.
pub fn advance() {
    DONE.fetch_add(1, Ordering::Relaxed);
}

/// Returns how far the work is that is being done; none where nothing is.
pub fn now() -> Option<Progress> {
    let work = WORK.lock().ok().and_then(|work| *work);
    work.map(|(name, total)| Progress { name, done: DONE.load(Ordering::Relaxed).min(total), total })
}

fn set(work: Option<(&'static str, usize)>) {
    if let Ok(mut now) = WORK.lock() {
        *now = work;
    }
}
