//! The order in which calls are answered: one that changes notes while another process holds the lock on the store
//! waits, and lets others go first.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::tools::Task;
use super::{Answer, Call, change};
use crate::env::Env;
use crate::error::{Error, ErrorKind};

/// How long passes between two attempts to change notes.
const PAUSE: Duration = Duration::from_millis(25);

/// Where an answer goes.
type Reply = oneshot::Sender<Result<Answer, Error>>;

/// Calls that came, and those that wait for the lock, the first of them first.
pub(super) struct Calls {
    received: Receiver<Call>,
    waiting: VecDeque<(Task, Reply, Instant)>,
    /// How long a call waits at most.
    patience: Duration,
}

impl Calls {
    pub(super) fn new(received: Receiver<Call>, patience: Duration) -> Self {
        Self { received, waiting: VecDeque::new(), patience }
    }

    /// Returns the next call; `None` when the client is gone. Answers those that wait in between.
    pub(super) fn next(&mut self, env: &Env) -> Option<Call> {
        loop {
            if self.waiting.is_empty() {
                return self.received.recv().ok();
            }
            let call = self.received.recv_timeout(PAUSE);
            self.retry(env);
            match call {
                Ok(call) => return Some(call),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.waiting.is_empty() => return None,
                // What was accepted is done, though nobody is there to hear of it.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Answers a call that changes notes, or lets it wait behind those that do so already. Returns whether it was
    /// answered.
    pub(super) fn write(&mut self, task: Task, reply: Reply, env: &Env) -> bool {
        self.waiting.push_back((task, reply, Instant::now()));
        self.waiting.len() == 1 && self.retry(env)
    }

    /// Tries the first call that waits. Returns whether it was answered.
    fn retry(&mut self, env: &Env) -> bool {
        let Some((task, reply, since)) = self.waiting.pop_front() else { return false };
        let answer = change(&task, env);
        let is_busy = answer.as_ref().is_err_and(|error| error.kind == ErrorKind::Busy);
        if is_busy && since.elapsed() < self.patience {
            self.waiting.push_front((task, reply, since));
            return false;
        }
        // Nobody may be listening any more.
        drop(reply.send(answer));
        true
    }
}
