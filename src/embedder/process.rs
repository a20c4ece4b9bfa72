//! The process of an embedder: started once for a call, asked over pipes, ended by closing its input. Its time and its
//! output are limited, and whatever it does, no call waits longer or fails.

use std::env::consts::EXE_SUFFIX;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

use super::protocol::{self, Hello};
use crate::escape::{one_line, shortened};
use crate::store::EmbedderSettings;

/// The most texts of a request: many are sent before the first answer is read.
const MAX_TEXTS: usize = 32;
/// The most bytes of a line: 32 vectors of the most dimensions in base64 are 700 kB.
const MAX_LINE: u64 = 1024 * 1024;
/// The lines that wait to be looked at.
const MAX_WAITING: usize = 4;
/// The most bytes of standard error that are looked at, and the most characters of its last line that are shown.
const MAX_ERROR: u64 = 16 * 1024;
const MAX_ERROR_CHARS: usize = 160;
/// How long the process may take to end after its input was closed, or to say why it failed.
const END_TIME: Duration = Duration::from_millis(200);
/// The time between two looks at whether it ended.
const POLL: Duration = Duration::from_millis(2);

/// A started embedder.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pipes: Pipes,
    hello: Option<Hello>,
    model: String,
    next_id: usize,
    /// Whether it may end by itself.
    is_waited_for: bool,
}

/// What the threads at the pipes of a program take and give.
#[derive(Debug)]
struct Pipes {
    /// `None` ends the thread that writes, and so closes the input.
    requests: Option<Sender<Vec<u8>>>,
    lines: Receiver<Vec<u8>>,
    last_error: Receiver<String>,
}

impl Process {
    /// Starts the program of the settings, without a shell, outside of the repository.
    ///
    /// # Errors
    /// Why it can't be started, as the rest of a sentence about it.
    pub(super) fn start(settings: &EmbedderSettings) -> Result<Self, String> {
        let mut words = settings.command.iter();
        let name = words.next().map(String::as_str).unwrap_or_default();
        let program = found(name).ok_or_else(|| format!("can't be started: {name} is not on the PATH"))?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The root of the drive: nothing in a repository is there.
        command.current_dir(std::env::temp_dir().ancestors().last().unwrap_or(Path::new("/")));
        // It is ended with the programs that it starts.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| format!("can't be started ({name}): {error}"))?;
        let Some(pipes) = pipes(&mut child) else {
            let _ = child.kill();
            return Err("can't be started: no thread".to_owned());
        };
        Ok(Self { child, pipes, hello: None, model: settings.name.clone(), next_id: 1, is_waited_for: true })
    }

    /// Returns the first line of the program, once it has come.
    ///
    /// # Errors
    /// Why there is none, as the rest of a sentence about the embedder.
    pub(super) fn hello(&mut self, deadline: Instant) -> Result<Hello, String> {
        if let Some(hello) = &self.hello {
            return Ok(hello.clone());
        }
        let hello = Hello::parse(&self.line(deadline)?, &self.model)?;
        self.hello = Some(hello.clone());
        Ok(hello)
    }

    /// Makes the vectors of texts. `deadline` returns until when the next answer may come; `is_done` gets the index of the first
    /// text of each answer, and the vectors.
    ///
    /// # Errors
    /// Why there are none, as the rest of a sentence about the embedder.
    pub(super) fn vectors(
        &mut self,
        texts: &[&str],
        deadline: &mut dyn FnMut() -> Instant,
        is_done: &mut dyn FnMut(usize, Vec<Vec<u8>>),
    ) -> Result<(), String> {
        let hello = self.hello(deadline())?;
        let texts: Vec<&str> = texts.iter().map(|text| cut(text, hello.longest_text)).collect();
        let first = self.next_id;
        for batch in texts.chunks(MAX_TEXTS) {
            let request = protocol::request(self.next_id, batch);
            self.next_id += 1;
            // If it ended, its lines say so.
            let _ = self.pipes.requests.as_ref().map(|requests| requests.send(request));
        }
        for (index, batch) in texts.chunks(MAX_TEXTS).enumerate() {
            let line = self.line(deadline())?;
            let vectors = protocol::vectors(&line, first + index, batch.len(), hello.dimensions)?;
            is_done(index * MAX_TEXTS, vectors);
        }
        Ok(())
    }

    /// Returns the next line of the program.
    fn line(&mut self, deadline: Instant) -> Result<Vec<u8>, String> {
        let time = deadline.saturating_duration_since(Instant::now());
        match self.pipes.lines.recv_timeout(time) {
            Ok(line) if line.ends_with(b"\n") => Ok(line),
            Ok(line) if line.len() as u64 >= MAX_LINE => Err("answered with a line that is too long".to_owned()),
            Ok(_) | Err(RecvTimeoutError::Disconnected) => Err(self.why_ended()),
            Err(RecvTimeoutError::Timeout) => {
                self.is_waited_for = false;
                Err("took too long".to_owned())
            }
        }
    }

    /// Returns the last line of the program's errors.
    fn why_ended(&mut self) -> String {
        let line = self.pipes.last_error.recv_timeout(END_TIME).unwrap_or_default();
        let line = one_line(&shortened(line.trim(), MAX_ERROR_CHARS));
        if line.is_empty() { "ended without an answer".to_owned() } else { format!("ended: {line}") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.pipes.requests = None;
        let deadline = Instant::now() + END_TIME;
        while self.is_waited_for && Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(POLL);
        }
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the path of a program: its name, if that is one, or where a whole path of the `PATH` has it. A relative one would
/// lead into a repository.
fn found(name: &str) -> Option<PathBuf> {
    if Path::new(name).is_absolute() {
        return Some(name.into());
    }
    let file = if name.ends_with(EXE_SUFFIX) { name.to_owned() } else { format!("{name}{EXE_SUFFIX}") };
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(&file)).find(|file| file.is_file())
}

/// Returns the first characters of a text.
fn cut(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// Starts the threads that write requests, read lines, and read errors: none of these waits for another.
fn pipes(child: &mut Child) -> Option<Pipes> {
    let (mut stdin, stdout, stderr) = (child.stdin.take()?, child.stdout.take()?, child.stderr.take()?);
    let (requests, to_write) = channel::<Vec<u8>>();
    let (read, lines) = sync_channel(MAX_WAITING);
    let (failed, last_error) = channel();
    let thread = std::thread::Builder::new;
    thread().spawn(move || to_write.iter().try_for_each(|request| stdin.write_all(&request))).ok()?;
    thread().spawn(move || read_lines(stdout, |line| read.send(line).is_ok())).ok()?;
    thread().spawn(move || failed.send(last_line(stderr))).ok()?;
    Some(Pipes { requests: Some(requests), lines, last_error })
}

/// Reads lines until one is incomplete or is not taken.
fn read_lines(stdout: ChildStdout, take: impl Fn(Vec<u8>) -> bool) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = (&mut stdout).take(MAX_LINE).read_until(b'\n', &mut line);
        let is_last = read.is_err() || !line.ends_with(b"\n");
        if !take(line) || is_last {
            return;
        }
    }
}

/// Returns the last line of the errors of a program, which is read to its end so that the program does not wait.
fn last_line(mut stderr: ChildStderr) -> String {
    let mut last = Vec::new();
    let mut part = [0; 4096];
    while let Ok(len @ 1..) = stderr.read(&mut part) {
        last.extend_from_slice(part.get(..len).unwrap_or_default());
        let beginning = last.len().saturating_sub(MAX_ERROR as usize);
        last.drain(..beginning);
    }
    let text = String::from_utf8_lossy(&last).into_owned();
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}
