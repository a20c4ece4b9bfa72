//! Standard input: a text to its end, or one JSON value as soon as it is whole.

use std::io::{self, Cursor, IsTerminal, Read, Write};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The most bytes that are read from standard input: as many as a note may have.
pub const MAX_STDIN_BYTES: u64 = 16 * 1024 * 1024;

/// The bytes that are read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Opens a reader of standard input.
type Open = Box<dyn Fn() -> Box<dyn Read + Send>>;

/// Standard input of a call.
pub struct Stdin {
    open: Open,
    is_terminal: bool,
}

impl Stdin {
    /// Returns that of this process.
    pub fn of_process() -> Self {
        Self { is_terminal: io::stdin().is_terminal(), ..Self::opened_by(|| Box::new(io::stdin())) }
    }

    /// Returns an input that a function opens.
    pub fn opened_by(open: impl Fn() -> Box<dyn Read + Send> + 'static) -> Self {
        Self { open: Box::new(open), is_terminal: false }
    }

    /// Returns an input with a text.
    pub fn of_text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::opened_by(move || Box::new(Cursor::new(text.clone())))
    }

    /// Returns a terminal on which nothing is typed.
    pub fn of_terminal() -> Self {
        Self { is_terminal: true, ..Self::of_text("") }
    }

    /// Tells whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Reads the input to its end. On a terminal, prints first that input is expected and how it ends.
    ///
    /// # Errors
    /// If it can't be read, is not UTF-8, or longer than [`MAX_STDIN_BYTES`].
    pub fn read_to_end(&self) -> io::Result<String> {
        if self.is_terminal {
            // Without standard error, the prompt is lost.
            let _ = writeln!(io::stderr(), "Type the text, then press Enter and Ctrl-D. Ctrl-C cancels.");
        }
        let mut text = String::new();
        if (self.open)().take(MAX_STDIN_BYTES + 1).read_to_string(&mut text)? as u64 > MAX_STDIN_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it is longer than {MAX_STDIN_BYTES} bytes"),
            ));
        }
        Ok(text)
    }

    /// Reads the first JSON object or list, and nothing behind it: agent tools may keep the pipe of a hook open. Returns what
    /// was read if there is none, and an empty text if neither has arrived after `patience`. A terminal has none: a tool
    /// that passes its own on to a hook writes nothing there.
    pub fn read_json(&self, patience: Duration) -> String {
        if self.is_terminal {
            return String::new();
        }
        let (sender, receiver) = channel();
        let mut reader = (self.open)();
        // A read can't be interrupted: the thread ends with the process. A tool that writes more, such as a line end, does not
        // find the pipe closed while the answer is made.
        let worker = std::thread::Builder::new().spawn(move || {
            // Sending fails if the receiver has given up.
            let _ = sender.send(first_json(&mut reader));
            let _ = io::copy(&mut reader, &mut io::sink());
        });
        let bytes = worker.ok().and_then(|_| receiver.recv_timeout(patience).ok());
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }
}

/// Reads up to the end of the first JSON value, or of what can't be one.
fn first_json(mut reader: impl Read) -> Vec<u8> {
    let (mut scanner, mut text, mut chunk) = (JsonScanner::default(), Vec::new(), vec![0; CHUNK_BYTES]);
    while text.len() as u64 <= MAX_STDIN_BYTES {
        let new = match reader.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            length => chunk.get(..length.unwrap_or_default()).unwrap_or_default(),
        };
        let end = scanner.end(new);
        text.extend_from_slice(new.get(..end.unwrap_or(new.len())).unwrap_or_default());
        if end.is_some() || new.is_empty() {
            break;
        }
    }
    text
}

/// Finds the end of the first JSON value of bytes that arrive in parts, by its brackets alone (RFC 8259): the parser decides
/// whether they are valid. A value without brackets ends with its first byte.
#[derive(Default)]
struct JsonScanner {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl JsonScanner {
    /// Returns the end of the value in the next bytes; `None` if it goes on.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        bytes.iter().position(|byte| self.is_last(*byte)).map(|last| last + 1)
    }

    fn is_last(&mut self, byte: u8) -> bool {
        if self.is_in_string {
            self.is_in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            // White space, and a byte order mark.
            b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf => return false,
            b'"' => self.is_in_string = self.depth > 0,
            _ => {}
        }
        self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a byte at a time, and then fails the test instead of waiting.
    struct OpenPipe(Cursor<Vec<u8>>);

    impl Read for OpenPipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.read(&mut buffer[..1])?;
            assert!(length > 0, "read behind the value");
            Ok(length)
        }
    }

    #[test]
    fn nothing_behind_the_first_value_is_read() {
        for (text, rest) in [
            ("{}", ""),
            ("\u{feff} \r\n{\"a\":[{\"b\":\"}\\\"]\\\\\"}]}", " {}"),
            ("[1,[\"[\"]]", "x"),
            ("n", "ull"),
            ("\"", "{}"),
            ("}", "{}"),
        ] {
            let pipe = OpenPipe(Cursor::new(format!("{text}{rest}").into_bytes()));
            assert_eq!(String::from_utf8(first_json(pipe)).unwrap(), text);
        }
        for unfinished in ["", " ", "{\"a\":", "{\"}"] {
            assert_eq!(first_json(unfinished.as_bytes()), unfinished.as_bytes());
        }
    }
}
