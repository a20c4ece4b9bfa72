//! The base protocol of LSP 3.17 on standard input and output: messages of JSON-RPC behind headers.
//!
//! A thread reads the messages, so that a request that was cancelled meanwhile is never begun. What is no message is
//! answered, and the next one is read: a server that ends takes the unsaved state of its client with it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{Error, ErrorKind};
use crate::escape::{escape_json, one_line};
use crate::report::DiagnosticEntry;

/// The longest message that is accepted, in bytes: a document of the longest note, whose characters may be escaped.
const MAX_MESSAGE: u64 = 64 * 1024 * 1024;
/// The longest message that is skipped, in bytes. A header with a greater length is wrong, and what follows it has no begin.
const MAX_SKIPPED: u64 = 1024 * 1024 * 1024;
/// The longest line of a header, in bytes.
const MAX_HEADER: u64 = 4_096;

/// The codes of errors (JSON-RPC 2.0, section 5.1; LSP 3.17, `ErrorCodes`).
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;
pub(super) const NOT_INITIALIZED: i32 = -32002;
const REQUEST_CANCELLED: i32 = -32800;
const REQUEST_FAILED: i32 = -32803;

/// An error of a request.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ResponseError {
    code: i32,
    message: String,
}

impl ResponseError {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: one_line(&message.into()) }
    }
}

impl From<Error> for ResponseError {
    fn from(error: Error) -> Self {
        let code = if error.kind == ErrorKind::Failure { INTERNAL_ERROR } else { REQUEST_FAILED };
        let hint = error.hint.map(|hint| format!(": {hint}")).unwrap_or_default();
        Self::new(code, format!("{}{hint}", error.message))
    }
}

/// What the server waits for: messages of the client, and more.
pub(super) enum Event {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// An answer to a request of the server.
    Response,
    /// What is no message, with its answer.
    Malformed {
        id: Value,
        error: ResponseError,
    },
    /// The diagnostics of a state of the texts, by its number.
    Diagnosed(u64, Vec<DiagnosticEntry>),
    /// The client closed the connection or ended.
    Closed,
}

/// The events in their order, and the way back to the client.
pub(super) struct Connection {
    events: Receiver<Event>,
    pub(super) sender: EventSender,
    waiting: VecDeque<Event>,
    last_request: i32,
    output: RefCell<Box<dyn Write>>,
}

/// Adds events to those of the connection.
#[derive(Clone)]
pub(super) struct EventSender(Sender<Event>);

impl EventSender {
    /// Adds an event. One that nothing waits for any more is dropped.
    pub(super) fn send(&self, event: Event) {
        let _ = self.0.send(event);
    }

    /// Returns a sender without a connection, and what returns the next of its events.
    #[cfg(test)]
    pub(super) fn with_events() -> (Self, impl Fn() -> Option<Event>) {
        let (sender, events) = channel();
        (Self(sender), move || events.try_recv().ok())
    }
}

impl Connection {
    /// Starts to read standard input.
    pub(super) fn stdio() -> Result<Self, Error> {
        Self::new(|| io::stdin().lock(), Box::new(io::stdout()))
    }

    /// Starts to read an input, which is opened on the thread that reads it.
    pub(super) fn new<R: BufRead>(
        open: impl FnOnce() -> R + Send + 'static,
        output: Box<dyn Write>,
    ) -> Result<Self, Error> {
        let (sender, events) = channel();
        let messages = sender.clone();
        let read = move || {
            let mut reader = LspReader { input: open(), skipped: 0 };
            while let Ok(Some(received)) = reader.read_message() {
                if messages.send(received).is_err() {
                    return;
                }
            }
            let _ = messages.send(Event::Closed);
        };
        std::thread::Builder::new().spawn(read)?;
        let (sender, output) = (EventSender(sender), RefCell::new(output));
        Ok(Self { events, sender, waiting: VecDeque::new(), last_request: 0, output })
    }

    /// Waits for the next event, until a time if one is given; `None` when that has come. Answers malformed messages and
    /// cancelled requests.
    pub(super) fn next(&mut self, until: Option<Instant>) -> Result<Option<Event>, Error> {
        loop {
            self.waiting.extend(self.events.try_iter());
            match self.waiting.pop_front().or_else(|| self.wait(until)) {
                Some(Event::Malformed { id, error }) => self.respond::<()>(id, Err(error))?,
                Some(Event::Request { id, .. }) if self.is_cancelled(&id) => {
                    self.respond::<()>(id, Err(ResponseError::new(REQUEST_CANCELLED, "cancelled")))?;
                }
                next => return Ok(next),
            }
        }
    }

    /// Puts a request before all others.
    pub(super) fn put_back(&mut self, id: Value, method: String, params: Value) {
        self.waiting.push_front(Event::Request { id, method, params });
    }

    fn wait(&self, until: Option<Instant>) -> Option<Event> {
        match until {
            None => Some(self.events.recv().unwrap_or(Event::Closed)),
            Some(until) => match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => None,
                received => Some(received.unwrap_or(Event::Closed)),
            },
        }
    }

    fn is_cancelled(&self, id: &Value) -> bool {
        self.waiting.iter().any(|event| {
            matches!(event, Event::Notification { method, params }
                if method == "$/cancelRequest" && params.get("id") == Some(id))
        })
    }

    /// Answers a request.
    pub(super) fn respond<T: Serialize>(&self, id: Value, result: Result<T, ResponseError>) -> Result<(), Error> {
        self.write_message(&match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        })
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Error> {
        self.write_message(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Sends a request, whose answer is not waited for.
    pub(super) fn request(&mut self, method: &str, params: impl Serialize) -> Result<(), Error> {
        self.last_request += 1;
        let id = self.last_request;
        self.write_message(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    fn write_message(&self, message: &Value) -> Result<(), Error> {
        let text = escape_json(message.to_string());
        let mut out = self.output.borrow_mut();
        out.write_all(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes())?;
        Ok(out.flush()?)
    }
}

/// Reads one message after the other.
struct LspReader<R> {
    input: R,
    /// The bytes of a message that was too long, which are before the next one.
    skipped: u64,
}

impl<R: BufRead> LspReader<R> {
    /// Reads a message with its header; `None` at the end of the input, and where the next message begins nowhere.
    fn read_message(&mut self) -> io::Result<Option<Event>> {
        let malformed = |code, message: &str| {
            Ok(Some(Event::Malformed { id: Value::Null, error: ResponseError::new(code, message) }))
        };
        if self.skipped > MAX_SKIPPED {
            return Ok(None);
        }
        io::copy(&mut self.input.by_ref().take(std::mem::take(&mut self.skipped)), &mut io::sink())?;
        let Some(length) = read_header(&mut self.input)? else { return Ok(None) };
        let Some(length) = length else { return malformed(PARSE_ERROR, "the header has no valid Content-Length") };
        if length > MAX_MESSAGE {
            // It is answered before it has arrived.
            self.skipped = length;
            return malformed(INVALID_REQUEST, "the message is too long");
        }
        let mut content = Vec::new();
        if self.input.by_ref().take(length).read_to_end(&mut content)? as u64 != length {
            return Ok(None);
        }
        let Ok(message) = serde_json::from_slice(&content) else {
            return malformed(PARSE_ERROR, "the message is not JSON");
        };
        Ok(Some(parse_message(message)))
    }
}

/// Reads a header up to its blank line; `None` at the end of the input. Returns the length of the content in bytes, if the
/// header has a valid one.
#[allow(clippy::option_option, reason = "the end of the input is no header without a length")]
fn read_header(input: &mut impl BufRead) -> io::Result<Option<Option<u64>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            return Ok(Some(length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("Content-Length")
        {
            length = value.trim().parse().ok();
        }
    }
}

fn parse_message(mut message: Value) -> Event {
    let mut take = |key: &str| message.get_mut(key).map(Value::take);
    let id = take("id").filter(|id| id.is_string() || id.is_number());
    let params = take("params").unwrap_or_default();
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    match (message.get("method").and_then(Value::as_str).map(str::to_owned), id) {
        (Some(method), Some(id)) => Event::Request { id, method, params },
        (Some(method), None) => Event::Notification { method, params },
        (None, _) if is_answer => Event::Response,
        (None, id) => Event::Malformed {
            id: id.unwrap_or_default(),
            error: ResponseError::new(INVALID_REQUEST, "the message is no request"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is read of an input: methods, and the codes of errors.
    fn read_all(input: &[u8]) -> Vec<String> {
        let mut reader = LspReader { input, skipped: 0 };
        let mut all = Vec::new();
        while let Some(received) = reader.read_message().unwrap() {
            all.push(match received {
                Event::Request { id, method, .. } => format!("{method} {id}"),
                Event::Notification { method, .. } => method,
                Event::Malformed { error, .. } => error.code.to_string(),
                _ => "response".to_owned(),
            });
        }
        all
    }

    #[test]
    fn what_is_no_message_is_refused_and_the_next_one_is_read() {
        let message = |content: &str| format!("Content-Length: {}\r\n\r\n{content}", content.len());
        let input = [
            message(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#),
            message("{"),
            message("[]"),
            message(r#"{"id":2,"result":null}"#),
            "Content-Length: x\r\n\r\n".to_owned(),
            "content-length:2\r\nContent-Type: utf8\r\n\r\n{}".to_owned(),
            message(r#"{"id":{},"method":"b"}"#),
            message("\u{e9}"),
            message(r#"{"method":"c","params":{"text":"é"}}"#),
        ];
        let expected = ["a 1", "-32700", "-32600", "response", "-32700", "-32600", "b", "-32700", "c"];
        assert_eq!(read_all(input.concat().as_bytes()), expected);
        assert_eq!(read_all(b"Content-Length: 10\r\n\r\n{}"), [""; 0]);
        let long = format!("Content-Length: {}\r\n\r\n{}", MAX_MESSAGE + 1, "x".repeat(MAX_MESSAGE as usize + 1));
        assert_eq!(read_all(format!("{long}{}", input[0]).as_bytes()), ["-32600", "a 1"]);
        assert_eq!(read_all(format!("Content-Length: {}\r\n\r\n{}", u64::MAX, input[0]).as_bytes()), ["-32600"]);
        assert_eq!(read_all(format!("{}\n\n", "x".repeat(10_000)).as_bytes()).len(), 1);
    }
}
