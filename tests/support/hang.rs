//! Fails a test that never ends. No test measures time.

use std::panic;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The time after which work counts as hanging. It does not measure speed: a test uses an input for which a wrong algorithm
/// takes many times as long and a right one a small part of it.
const HANG_LIMIT: Duration = Duration::from_secs(100);

/// Runs work and returns its result. Fails if the work hangs.
pub(crate) fn expect_to_end<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    let worker = thread::spawn(move || sender.send(work()).unwrap());
    match receiver.recv_timeout(HANG_LIMIT) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("the work hangs"),
        Err(RecvTimeoutError::Disconnected) => panic::resume_unwind(worker.join().unwrap_err()),
    }
}
