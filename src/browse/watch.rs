//! Reopens the store in the background after a change on disk, so that no key waits for it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::commands;
use crate::store::{self, Location, Store};

/// The least pause between two scans of the files.
const MIN_PAUSE: Duration = Duration::from_secs(2);

/// The factor by which the pause after a scan is at least longer than the scan.
const PAUSE_FACTOR: u32 = 50;

/// Opens a store with its text index, so that the first search need not, then scans its files regularly and reopens the
/// store after a change. The thread ends when the receiver is dropped.
pub(super) fn watch(location: Location, current_dir: PathBuf) -> Receiver<Store> {
    let (sender, receiver) = channel();
    let work = move || {
        let mut known_state = None;
        let mut pause = Duration::ZERO;
        loop {
            std::thread::sleep(pause);
            let start = Instant::now();
            let state = store::fingerprint(&location, &current_dir).ok();
            pause = MIN_PAUSE.max(start.elapsed() * PAUSE_FACTOR);
            // A store that can't be read now may be readable at the next scan.
            if state.is_none() || state == known_state {
                continue;
            }
            let Ok(store) = commands::open_to_search(&location, &current_dir) else { continue };
            known_state = state;
            if sender.send(store).is_err() {
                return;
            }
        }
    };
    // If no thread can be started, the user still has the key that reopens the store.
    std::thread::Builder::new().spawn(work).ok();
    receiver
}
