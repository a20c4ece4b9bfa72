//! The queue of calls. A call that changes notes waits while another process holds the lock of the store; reads are
//! answered meanwhile.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::oneshot;

use super::{Call, run_change};
use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::request::ChangeRequest;
use crate::store::{Location, LockState, Store};

/// The interval between two attempts to acquire the lock: as short as the pauses of commands, which would always be first.
const RETRY_INTERVAL: Duration = Duration::from_millis(3);

/// The channel to which the answer of a call is sent.
type Reply = oneshot::Sender<Result<Value, Error>>;

/// Received calls, and the writes that wait for the lock, in the order of their arrival.
pub(super) struct CallQueue {
    received: Receiver<Call>,
    waiting: VecDeque<WaitingWrite>,
    /// The location for writes, which never wait for the lock themselves: the queue does, so that reads continue.
    location: Location,
    /// The longest time that a write waits without any progress of the holder.
    patience: Duration,
}

struct WaitingWrite {
    change: ChangeRequest,
    reply: Reply,
    /// When the lock last changed its state.
    since: Instant,
    lock: Option<LockState>,
}

impl CallQueue {
    pub(super) fn new(received: Receiver<Call>, location: &Location) -> Self {
        let (mut location, patience) = (location.clone(), location.waits.patience);
        location.waits.patience = Duration::ZERO;
        Self { received, waiting: VecDeque::new(), location, patience }
    }

    /// Returns the next call; `None` after the client has disconnected. Retries waiting writes meanwhile.
    pub(super) fn next(&mut self, env: &Env) -> Option<Call> {
        loop {
            if self.waiting.is_empty() {
                return self.received.recv().ok();
            }
            let call = self.received.recv_timeout(RETRY_INTERVAL);
            self.retry(env);
            match call {
                Ok(call) => return Some(call),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.waiting.is_empty() => return None,
                // An accepted write is completed although its answer can't be delivered.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(RETRY_INTERVAL),
            }
        }
    }

    /// Runs a write, or lets it wait behind the writes that wait already. Returns whether it was answered.
    pub(super) fn run_write(&mut self, change: ChangeRequest, reply: Reply, env: &Env) -> bool {
        self.waiting.push_back(WaitingWrite { change, reply, since: Instant::now(), lock: None });
        self.waiting.len() == 1 && self.retry(env)
    }

    /// Retries the first waiting write. Returns whether it was answered.
    fn retry(&mut self, env: &Env) -> bool {
        let Some(mut write) = self.waiting.pop_front() else { return false };
        let answer = run_change(&write.change, &self.location, env);
        if answer.as_ref().is_err_and(|error| error.kind == ErrorKind::Busy) {
            let lock = Store::lock_state(&self.location, &env.current_dir);
            if lock != write.lock {
                (write.lock, write.since) = (lock, Instant::now());
            }
            if write.since.elapsed() < self.patience {
                self.waiting.push_front(write);
                return false;
            }
        }
        // The client may have cancelled the call.
        drop(write.reply.send(answer));
        true
    }
}
