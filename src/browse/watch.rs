//! Opens the store in the background, whenever it changed on disk, so that no key waits for that.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::commands;
use crate::store::{self, Location, Store};

/// How long nobody looks at the files at least.
const REST: Duration = Duration::from_secs(2);

/// How much longer than a look the rest after it is.
const SHARE: u32 = 50;

/// Opens a store with the words of its texts, so that the first search need not; then looks at its files from
/// time to time, and opens it again when one changed.
pub(super) fn watch(location: Location, current_dir: PathBuf) -> Receiver<Store> {
    let (sender, receiver) = channel();
    let work = move || {
        let mut before = None;
        let mut rest = Duration::ZERO;
        loop {
            std::thread::sleep(rest);
            let start = Instant::now();
            let now = store::look(&location, &current_dir).ok();
            rest = REST.max(start.elapsed() * SHARE);
            // A store that can't be read just now may be there again soon.
            if now.is_none() || now == before {
                continue;
            }
            let Ok(store) = commands::open_to_search(&location, &current_dir) else { continue };
            before = now;
            if sender.send(store).is_err() {
                return;
            }
        }
    };
    // A machine without room for a thread has the key that reads the store again.
    std::thread::Builder::new().spawn(work).ok();
    receiver
}
