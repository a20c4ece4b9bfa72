//! Reads objects from one process of git, by default the contents of blobs from `git cat-file --batch` (git-cat-file(1),
//! "BATCH OUTPUT").
//!
//! A thread writes the names of objects and another reads their contents, so that git unpacks the blobs that were announced
//! while others are parsed.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::plumbing::{MAX_TIME, start};

/// The most bytes of announced blobs that wait to be read, unless a reader waits for one behind them.
const MAX_WAITING: usize = 64 * 1024 * 1024;
/// The longest line before a blob: name, type and size.
const MAX_HEADER: u64 = 256;

/// An object, by its hexadecimal name, and how many of its bytes are wanted.
pub(super) type WantedBlob = (String, u64);

/// The bytes of an object; `None` if the repository lacks it.
pub(super) type ReadAnswer = Option<Vec<u8>>;

/// How a process of git is asked for objects, and how it answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReaderProtocol {
    pub(super) args: &'static [&'static str],
    /// What follows the name of an object.
    pub(super) name_end: &'static str,
    /// Reads the answer for an object: `None` if it is not in the documented form, `Some(None)` if the repository lacks it.
    pub(super) read: fn(&mut BufReader<ChildStdout>, &WantedBlob) -> Option<ReadAnswer>,
}

/// That of blobs.
pub(super) const BLOBS: ReaderProtocol = ReaderProtocol {
    args: &["cat-file", "--batch"],
    name_end: "\n",
    read: |output, wanted| {
        Some(read_object(output, wanted)?.filter(|(kind, _)| kind == "blob").map(|(_, content)| content))
    },
};

/// A process of git that reads objects.
#[derive(Debug)]
pub(super) struct BlobReader {
    child: Child,
    names: Sender<Vec<WantedBlob>>,
    shared: Arc<SharedBlobs>,
}

#[derive(Debug, Default)]
struct SharedBlobs {
    state: Mutex<BlobState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct BlobState {
    /// What git was asked for and has not answered, in the order of its answers.
    wanted: VecDeque<WantedBlob>,
    /// What git was asked for, and how often it is still to be read: several files may have the same content.
    asked: HashMap<WantedBlob, usize>,
    /// The answers that nobody took yet; `None` for an object that is no blob, or that the repository lacks.
    read: HashMap<WantedBlob, Option<Vec<u8>>>,
    /// The bytes in `read`.
    len: usize,
    /// The number of readers that wait.
    readers: usize,
    /// Whether git ended, or its answer could not be parsed.
    is_ended: bool,
}

impl BlobState {
    /// Expects a blob to be read once more. Returns whether git is to be asked for it.
    fn expect(&mut self, blob: &WantedBlob) -> bool {
        let times = self.asked.entry(blob.clone()).or_default();
        *times += 1;
        *times == 1
    }

    /// Returns the answer for a blob, if it is there, and frees it if it is not to be read again.
    fn take(&mut self, blob: &WantedBlob) -> Option<Option<Vec<u8>>> {
        let times = self.asked.get_mut(blob).filter(|_| self.read.contains_key(blob))?;
        *times -= 1;
        if *times > 0 {
            return self.read.get(blob).cloned();
        }
        self.asked.remove(blob);
        let read = self.read.remove(blob)?;
        self.len -= read.as_ref().map_or(0, Vec::len);
        Some(read)
    }
}

impl SharedBlobs {
    fn lock(&self) -> MutexGuard<'_, BlobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BlobReader {
    /// Starts git for a repository.
    pub(super) fn new(root: &Path, protocol: ReaderProtocol) -> io::Result<Self> {
        let mut child = start(root, protocol.args)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let shared = Arc::new(SharedBlobs::default());
        let (sender, receiver): (Sender<Vec<WantedBlob>>, Receiver<_>) = channel();
        std::thread::Builder::new().spawn(move || {
            for names in receiver {
                let lines: String = names.iter().flat_map(|(object, _)| [object, protocol.name_end]).collect();
                // If git has ended, the other thread finds that out.
                if stdin.write_all(lines.as_bytes()).is_err() {
                    return;
                }
            }
        })?;
        let of_thread = Arc::clone(&shared);
        std::thread::Builder::new().spawn(move || read_all(BufReader::new(stdout), protocol, &of_thread))?;
        Ok(Self { child, names: sender, shared })
    }

    /// Announces blobs, which are then read in this order.
    pub(super) fn announce(&self, blobs: impl Iterator<Item = WantedBlob>) {
        let mut state = self.shared.lock();
        let new: Vec<WantedBlob> = blobs.filter(|blob| state.expect(blob)).collect();
        self.request(&mut state, new);
    }

    /// Asks git for blobs. Names are sent in the order in which they are wanted, for the state is locked.
    fn request(&self, state: &mut BlobState, blobs: Vec<WantedBlob>) {
        state.wanted.extend(blobs.iter().cloned());
        // The other end is there as long as git runs.
        let _ = self.names.send(blobs);
    }

    /// Reads a blob, at most `limit` bytes of it.
    ///
    /// # Errors
    /// If the repository lacks it, it is no blob, or git ends or is silent for [`MAX_TIME`].
    pub(super) fn read(&self, object: &str, limit: u64) -> io::Result<Vec<u8>> {
        let blob = (object.to_owned(), limit);
        let mut state = self.shared.lock();
        loop {
            if let Some(read) = state.take(&blob) {
                self.shared.changed.notify_all();
                return read.ok_or_else(|| io::Error::other("git has no such file in its repository"));
            }
            if state.is_ended {
                return Err(io::Error::other("git does not read it"));
            }
            if !state.asked.contains_key(&blob) && state.expect(&blob) {
                self.request(&mut state, vec![blob.clone()]);
            }
            state.readers += 1;
            self.shared.changed.notify_all();
            let (woken, timeout) =
                self.shared.changed.wait_timeout(state, MAX_TIME).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.readers -= 1;
            state.is_ended |= timeout.timed_out();
        }
    }
}

impl Drop for BlobReader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.shared.lock().is_ended = true;
        self.shared.changed.notify_all();
    }
}

/// Reads the answers of git until it ends.
fn read_all(mut output: BufReader<ChildStdout>, protocol: ReaderProtocol, shared: &SharedBlobs) {
    // An object was asked for before git answers.
    let begins = |output: &mut BufReader<ChildStdout>| output.fill_buf().is_ok_and(|bytes| !bytes.is_empty());
    while begins(&mut output) {
        let Some(wanted) = shared.lock().wanted.front().cloned() else { break };
        let Some(content) = (protocol.read)(&mut output, &wanted) else { break };
        let mut state = shared.lock();
        state.wanted.pop_front();
        state.len += content.as_ref().map_or(0, Vec::len);
        state.read.insert(wanted, content);
        shared.changed.notify_all();
        while state.len > MAX_WAITING && state.readers == 0 && !state.is_ended {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
    shared.lock().is_ended = true;
    shared.changed.notify_all();
}

/// Reads one answer of `cat-file --batch`: the type of the object, and its bytes as far as they are wanted; `Some(None)` if
/// the repository lacks it, `None` if the answer is not in the documented form.
pub(super) fn read_object(
    output: &mut BufReader<ChildStdout>,
    (_, limit): &WantedBlob,
) -> Option<Option<(String, Vec<u8>)>> {
    let mut header = Vec::new();
    output.by_ref().take(MAX_HEADER).read_until(b'\n', &mut header).ok()?;
    let header = std::str::from_utf8(header.strip_suffix(b"\n")?).ok()?;
    let words: Vec<&str> = header.split(' ').collect();
    let (kind, size) = match words.as_slice() {
        [_, "missing"] => return Some(None),
        [_, kind, size] => (*kind, size.parse::<u64>().ok()?),
        _ => return None,
    };
    let mut content = Vec::new();
    output.by_ref().take(size.min(*limit)).read_to_end(&mut content).ok()?;
    // The rest of a long object, and the line end behind it.
    let rest = size - content.len() as u64 + 1;
    (io::copy(&mut output.by_ref().take(rest), &mut io::sink()).ok()? == rest).then_some(())?;
    Some(Some((kind.to_owned(), content)))
}
