//! Standard input and output as lines of JSON-RPC. A line that is no JSON is answered here, with -32700 (JSON-RPC
//! 2.0, section 5.1): the SDK passes over it, and the client would wait for ever.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader, ReadBuf};

/// The longest line that is read, in bytes, its end included; the SDK reads none that is longer.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// What a line gets that can't be read. Its id is unknown.
const PARSE_ERROR: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}\n";

/// Hands on the lines that are JSON, and answers the others.
pub(super) struct Lines<R, W> {
    from: BufReader<R>,
    answers: W,
    line: Vec<u8>,
    /// How much of a whole line was handed on; `None` while a line is being read.
    given: Option<usize>,
    is_too_long: bool,
}

impl<R: AsyncRead, W: Write> Lines<R, W> {
    pub(super) fn new(from: R, answers: W) -> Self {
        Self { from: BufReader::new(from), answers, line: Vec::new(), given: None, is_too_long: false }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.is_too_long |= self.line.len() + bytes.len() > MAX_LINE;
        if self.is_too_long {
            self.line.clear();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    /// Ends a line: it is handed on, or answered.
    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_too_long) || !is_json(&self.line) {
            self.line.clear();
            self.answers.write_all(PARSE_ERROR)?;
            return self.answers.flush();
        }
        self.given = Some(0);
        Ok(())
    }
}

/// Tells whether a line holds a JSON value, or nothing.
fn is_json(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.is_empty() || serde_json::from_slice::<Value>(line).is_ok()
}

impl<R: AsyncRead + Unpin, W: Write + Unpin> AsyncRead for Lines<R, W> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let lines = self.get_mut();
        let given = loop {
            if let Some(given) = lines.given {
                break given;
            }
            let read = ready!(Pin::new(&mut lines.from).poll_fill_buf(context))?;
            let end = read.iter().position(|byte| *byte == b'\n').map(|place| place + 1);
            let some = read.get(..end.unwrap_or(read.len())).unwrap_or_default().to_vec();
            if some.is_empty() {
                return Poll::Ready(Ok(()));
            }
            Pin::new(&mut lines.from).consume(some.len());
            lines.add(&some);
            if end.is_some() {
                lines.end_line()?;
            }
        };
        let rest = lines.line.get(given..).unwrap_or_default();
        let some = rest.get(..to.remaining()).unwrap_or(rest);
        to.put_slice(some);
        if some.len() < rest.len() {
            lines.given = Some(given + some.len());
        } else {
            lines.given = None;
            lines.line.clear();
        }
        Poll::Ready(Ok(()))
    }
}

/// Writes each message in one go, so that no other can come between its parts.
pub(super) struct Whole<W>(pub(super) W);

impl<W: Write + Unpin> AsyncWrite for Whole<W> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.get_mut().0.write_all(bytes).map(|()| bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.get_mut().0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// Returns what is handed on of some input, and how many lines are answered.
    fn read(input: &[u8]) -> (Vec<u8>, usize) {
        let (mut given, mut answers) = (Vec::new(), Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(Lines::new(input, &mut answers).read_to_end(&mut given)).unwrap();
        assert!(answers.chunks(PARSE_ERROR.len()).all(|answer| answer == PARSE_ERROR));
        (given, answers.len() / PARSE_ERROR.len())
    }

    #[test]
    fn lines_that_are_no_json_are_answered_and_the_others_handed_on() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth) + "\n";
        for good in ["{}\n", "\n", "\r\n", " [1]\r\n", "\u{feff}{}\n", &nested(100), "{\"a\":\"\\ud83d\\ude00\"}\n"] {
            assert_eq!(read(good.as_bytes()), (good.as_bytes().to_vec(), 0), "{good}");
        }
        for bad in ["garbage\n", "{\n", "{\"a\":\"\\ud83d\"}\n", "{} {}\n", "1e999\n", &nested(200)] {
            assert_eq!(read(bad.as_bytes()), (Vec::new(), 1), "{bad}");
        }
        assert_eq!(read(b"\"\xff\"\n{\"id\":1}\n\x00\n{\"id\":2}\nrest"), (b"{\"id\":1}\n{\"id\":2}\n".to_vec(), 2));
    }

    #[test]
    fn long_lines_are_answered_once_and_take_no_room() {
        let mut input = vec![b' '; 2 * MAX_LINE];
        input.extend_from_slice(b"\n{}\n");
        assert_eq!(read(&input), (b"{}\n".to_vec(), 1));
    }
}
